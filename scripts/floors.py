"""Print the oldest versions that pyproject.toml allows, one pin per line, for ``pip -c``.

Read off the ``>=`` themselves, so that what ``make floors`` tests is what the project promises.
"""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
groups = [project["dependencies"], *project["optional-dependencies"].values()]
print(*(need.replace(">=", "==") for group in groups for need in group if ">=" in need), sep="\n")
