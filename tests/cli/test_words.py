"""The words of the command line: whatever a message names as an option is one."""

import ast
import functools
import re
from pathlib import Path

import pytest

import flagstone
from flagstone.cli import console
from flagstone.cli.console import as_option
from flagstone.cli.help import GENERAL
from flagstone.cli.verbs import VERBS
from flagstone.errors import InputError, Parameter, ReplicabilityWarning
from flagstone.estimators import contracts

SOURCE = Path(flagstone.__file__).parent

#: Functions that make a Parameter of the name they are given first.
NAMING = {
    "Parameter",
    "check_reading",
    "check_share",
    "positive",
    "at_least",
    "_check_threshold",
    "_number",
}

#: Parameters that no command can get wrong: of functions on guarantees, of the private learner,
#: and of estimators. Only who writes Python meets them.
PYTHON_ONLY = {
    "alpha",
    "certify",
    "classes",
    "failure",
    "first",
    "levels",
    "mattering_rows",
    "max_disagreements",
    "n_features",
    "n_pilot",
    "n_rows",
    "on_bottom",
    "out_of_field",
    "outliers",
    "outside",
    "p_in",
    "p_out",
    "rank",
    "runs",
    "sets",
    "shards",
    "skipped",
    "start",
    "starts",
    "t",
    "threshold",
}


def options() -> set[str]:
    """Every option of every verb, and of the command itself."""
    found = {"-h", *(flag for flags in GENERAL for flag in re.findall(r"--[a-z-]+", flags))}
    for verb in VERBS.values():
        for option in verb.options.values():
            found.update(option.names)
    return found


@functools.cache
def trees() -> dict[str, ast.Module]:
    """The parsed source, by the names of its files."""
    files = sorted(SOURCE.rglob("*.py"))
    return {str(path.relative_to(SOURCE)): ast.parse(path.read_text()) for path in files}


def named_parameters() -> set[str]:
    """The names of all parameters that messages speak of."""
    names = set(contracts.PARAMETERS)
    for tree in trees().values():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called in NAMING and isinstance(node.args[0], ast.Constant):
                names.add(node.args[0].value)
    return names


def test_every_parameter_that_a_message_speaks_of_is_an_option():
    known, found = options(), named_parameters()
    assert {"t_min", "t_max", "rho", "eps", "contamination", "choice", "fit_intercept"} <= found
    missing = {name for name in found if as_option(Parameter(name)) not in known}
    assert missing == PYTHON_ONLY


def test_every_translation_is_needed_and_leads_to_an_option():
    for name, option in console._OPTIONS.items():
        assert option in options(), name


def test_every_name_of_a_parameter_is_a_text():
    """Only the functions listed above hand a name on, so the search above misses none."""
    for file, tree in trees().items():
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "Parameter":
                    continue
                first = node.args[0]
                handed_on = isinstance(first, ast.Name) and (
                    function.name in NAMING or file == "estimators/contracts.py"
                )
                assert isinstance(first, ast.Constant) or handed_on, (file, node.lineno)


def test_only_the_command_line_speaks_of_options():
    for file, tree in trees().items():
        if file.startswith(
            ("cli/", "frames/cli/", "frames/text.py", "paper/cli.py", "plots/svg.py")
        ):
            continue
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        docs = [ast.get_docstring(n, False) for n in ast.walk(tree) if isinstance(n, documented)]
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and node.value not in docs
            ):
                found = re.search(r"(?<![\w-])--[a-z][a-z-]+", node.value)
                assert found is None, (file, node.lineno, found)


def test_every_option_in_a_text_of_the_source_exists():
    known = options()
    for file, tree in trees().items():
        if file == "plots/svg.py":
            continue  # CSS calls its colours --ink, --grid, …
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", node.value):
                    assert option in known, (file, node.lineno, option)


@pytest.mark.parametrize(
    ("parameter", "shell", "python"),
    [
        (Parameter("t_max"), "--t-max", "t_max"),
        (Parameter("t_max", "paper"), "--t-max paper", "t_max='paper'"),
        (Parameter("fit_intercept", True), "--intercept", "fit_intercept=True"),
        (Parameter("overwrite", True), "--force", "overwrite=True"),
        (Parameter("as", "masks"), "--as masks", "as='masks'"),
        (Parameter("columns", "-a b"), "--columns '-a b'", "columns='-a b'"),
        (
            Parameter("encode", {"a": "bits:3", "b c": "levels:no,yes"}),
            "--encode a=bits:3 --encode 'b c=levels:no,yes'",
            "encode={'a': 'bits:3', 'b c': 'levels:no,yes'}",
        ),
        (Parameter("columns", ["a", "b"]), "--columns a --columns b", "columns=['a', 'b']"),
        (Parameter("random_state", 0), "--seed 0", "random_state=0"),
    ],
)
def test_a_parameter_is_said_in_the_words_of_the_door(parameter, shell, python):
    assert as_option(parameter) == shell
    for kind in (InputError, ReplicabilityWarning):
        message = kind("use ", parameter, " instead")
        assert message.worded(as_option) == f"use {shell} instead"
        assert str(message) == f"use {python} instead"


def test_texts_that_look_like_parameters_are_left_alone(run, place):
    """Names of files and columns come through as they are, whatever they are called."""
    (place / "t_max=1.csv").write_text("fit_intercept,t_min\n1,5\n")
    done = run("constraints", "t_max=1.csv", "-e", "t_min=element")
    assert done.code == 1
    assert "t_max=1.csv line 2, column 't_min': 5 is not an element" in done.err
