"""Print the oldest versions that pyproject.toml allows, one pin per line, for ``pip -c``.

Read off the ``>=`` themselves, so that what ``make floors`` tests is what the project promises.
"""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
groups = [project["dependencies"], *project["optional-dependencies"].values()]
for need in (need for group in groups for need in group if ">=" in need):
    name, version = need.split(">=")
    print(f"{name.partition('[')[0]}=={version}")  # a constraint has no extras
