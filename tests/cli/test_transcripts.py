"""One transcript per verb: what its examples print, word for word.

Other tests assert values. After a change of wording, write the transcripts again and read the
difference: ``python -m tests.cli.test_transcripts``.
"""

import contextlib
import io
import re
import shlex
import shutil
import tempfile
from pathlib import Path

import pytest

from flagstone.cli import main
from flagstone.cli.help import OVERVIEW_EXAMPLES
from flagstone.cli.verbs import VERBS

ROOT = Path(__file__).parents[2]
TRANSCRIPTS = Path(__file__).parent / "transcripts"
#: What differs from run to run.
_TIMES = re.compile(r"\b\d+(\.\d+)? (s|seconds)\b")


def transcript(examples):
    """Return commands and what they print, run one after the other in this folder."""
    parts = []
    for example in examples:
        words = shlex.split(example)
        assert words[0] == "flagstone"
        out, err = io.StringIO(), io.StringIO()
        printed = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        with printed[0], printed[1], pytest.raises(SystemExit) as end:
            main(words[1:])
        assert end.value.code == 0, (example, err.getvalue())
        said = _TIMES.sub("# s", err.getvalue() + out.getvalue())
        parts.append(f"$ {example}\n{said}")
    return "\n".join(parts)


@contextlib.contextmanager
def folder_of_examples():
    """Work in a fresh folder with the files that the commands read."""
    with tempfile.TemporaryDirectory() as name:
        examples = Path(name) / "examples"
        shutil.copytree(ROOT / "examples", examples, ignore=shutil.ignore_patterns("*.py"))
        with contextlib.chdir(name):
            yield


def transcripts():
    """Return the transcript of each verb; later verbs use what earlier examples wrote."""
    with folder_of_examples():
        return {name: transcript(verb.examples) for name, verb in VERBS.items()}


def test_examples_print_what_the_transcripts_say():
    known = {name: (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8") for name in VERBS}
    assert transcripts() == known


def test_examples_of_the_overview_work():
    with folder_of_examples():
        transcript(OVERVIEW_EXAMPLES)


if __name__ == "__main__":
    for name, text in transcripts().items():
        (TRANSCRIPTS / f"{name}.txt").write_text(text, encoding="utf-8")
