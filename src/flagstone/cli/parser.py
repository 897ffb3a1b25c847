"""The parser of the command line: records of options and verbs in, the values of a call out.

Loads nothing heavy, so that help, completion and usage errors are instant.
The verbs and their options stand in :mod:`flagstone.cli.verbs`.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import inspect
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from flagstone.wording import closest

#: What is given without a name, and the groups of options, in the order of the help.
ARGUMENTS, INPUT, COLUMNS = "Arguments", "Input", "Columns and encoding"
RULE, OUTPUT, SCALE = "Rule and promises", "Output", "Scale"
GROUPS = (ARGUMENTS, INPUT, COLUMNS, RULE, OUTPUT, SCALE)

#: Words for values that are numbers, and between which they lie; all others are texts.
NUMBERS: dict[str, tuple[type[int] | type[float], float, float]] = {
    "NUMBER": (int, 1, math.inf),
    "BITS": (int, 1, math.inf),
    "SECONDS": (float, 0, math.inf),
    "PROBABILITY": (float, 0, 1),
    "SHARE": (float, 0, 1),
}


class CommandLineError(Exception):
    """The words of the command line cannot be read; ``path`` is the command whose help says how.

    ``option`` is an option that the verb does not have.
    """

    def __init__(self, message: str, path: str = "flagstone", option: str = "") -> None:
        super().__init__(message)
        self.path, self.option = path, option


class HelpAsked(Exception):
    """A call asks for the help of its verb: the common options, or everything."""

    def __init__(self, *, everything: bool) -> None:
        super().__init__()
        self.everything = everything


@dataclass(frozen=True)
class Option:
    """One option, or one argument, of the command line.

    >>> switch = Option("", "Allow a constant", RULE, True, name="--intercept")
    >>> file = Option("FILE", "Write the finding", OUTPUT, short="-o", name="--output")
    >>> switch.usage, file.usage, Option("[FILE...]", "A table").usage
    ('--[no-]intercept', '-o, --output FILE', '[FILE...]')
    >>> switch.names, file.names
    (('--intercept', '--no-intercept'), ('-o', '--output'))
    """

    #: The word for its value, which says its type (NUMBERS); empty for a switch. Of an argument as
    #: the usage shows it: "FILE...", or "[NAME]" if it may be left out.
    value: str
    help: str  #: One line.
    group: str = ARGUMENTS  #: One of GROUPS.
    default: Any = None  #: A switch that is off (False) can only be turned on.
    short: str = ""  #: One letter that stands for it: "-o".
    name: str = ""  #: That of its field if left out: max_rows is --max-rows.
    least: float | None = None  #: The smallest number, if not that of its word.
    choices: tuple[str, ...] = ()  #: All values that are allowed.
    many: bool = False  #: Whether it may be given several times; the verb gets a list.
    required: bool = False

    @property
    def is_argument(self) -> bool:
        """Whether it is given by its place, without a name."""
        return self.group == ARGUMENTS

    @property
    def is_two_way(self) -> bool:
        """Whether it is a switch that can be turned on and off."""
        return not self.value and self.default is not False

    @property
    def names(self) -> tuple[str, ...]:
        """All words that stand for it; none for an argument."""
        if self.is_argument:
            return ()
        if self.is_two_way:
            return (self.name, self.usage.replace("[no-]", "no-"))
        return (self.short, self.name) if self.short else (self.name,)

    @property
    def usage(self) -> str:
        """As the help shows it."""
        if self.is_argument:
            return self.value
        names = f"--[no-]{self.name[2:]}" if self.is_two_way else ", ".join(self.names)
        return f"{names} {self.value}".rstrip()

    @property
    def word(self) -> str:
        """The word for its value alone."""
        return self.value.strip("[].")

    def read(self, text: str) -> Any:
        """Return a value as typed; say what it must be otherwise."""
        if self.choices and text not in self.choices:
            raise argparse.ArgumentTypeError(
                f"must be one of {', '.join(self.choices)}, got {text!r}"
            )
        if self.value not in NUMBERS:
            return text
        kind, least, most = NUMBERS[self.value]
        least = least if self.least is None else self.least
        with contextlib.suppress(ValueError):
            value = kind(text)
            if least <= value <= most:
                return value
        name = "a whole number" if kind is int else "a number"
        limits = f"of at least {least:g}" if most == math.inf else f"between {least} and {most}"
        raise argparse.ArgumentTypeError(f"must be {name} {limits}, got {text!r}")


def option(value: str | Option, help: str = "", group: str = ARGUMENTS, **details: Any) -> Any:
    """Return an option, which several records may share, as the field of a record of options."""
    found = value if isinstance(value, Option) else Option(value, help, group, **details)
    return dataclasses.field(default=found.default, metadata={"option": found})


def switch(help: str, group: str, *, default: bool | None = False, short: str = "") -> Any:
    """Return an option without a value, as the field of a record of options."""
    return option("", help, group, default=default, short=short)


def options_of(record: Any) -> dict[str, Option]:
    """Return the options of a record, or of its class, by field.

    >>> @dataclass
    ... class Some:
    ...     max_rows: int = option("NUMBER", "Read at most this many rows", INPUT)
    >>> options_of(Some)["max_rows"].usage
    '--max-rows NUMBER'
    """
    found = {}
    for field in dataclasses.fields(record):
        known = field.metadata["option"]
        name = known.name or f"--{field.name.replace('_', '-')}"
        found[field.name] = dataclasses.replace(known, name=name)
    return found


def options_given(record: Any, fields: Iterable[str]) -> list[str]:
    """Return the options among these fields that a record has other values for, as typed.

    >>> @dataclass
    ... class Some:
    ...     force: bool = switch("Replace", OUTPUT)
    ...     intercept: bool = switch("A constant", RULE, default=True)
    >>> options_given(Some(intercept=False), ["force", "intercept", "other"])
    ['--no-intercept']
    """
    options = options_of(record)
    found = [(options[field], getattr(record, field)) for field in fields if field in options]
    return [
        known.names[1] if value is False else known.name
        for known, value in found
        if value != known.default
    ]


@dataclass(frozen=True)
class Verb:
    """One verb of the command line."""

    name: str  #: What is typed.
    summary: str  #: One line, for the list of verbs.
    #: The module and the function that do it, "module:function", imported when the verb is called.
    #: A verb whose module is not installed is not listed.
    function: str
    group: str  #: The group of verbs that it is listed in.
    examples: tuple[str, ...]  #: Commands that work as printed, from the root of a clone.
    #: The dataclass of its options, with which the function is called. Its docstring describes the
    #: verb.
    record: type
    common: str = ""  #: The options that --help lists, with spaces between; all if this is empty.
    #: What the keys of --json mean.
    json_keys: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def description(self) -> tuple[str, ...]:
        """What it does, in paragraphs."""
        return tuple(inspect.getdoc(self.record).split("\n\n"))  # type: ignore[union-attr]

    @functools.cached_property
    def options(self) -> dict[str, Option]:
        """All options and arguments, by the name of the field that they fill."""
        return options_of(self.record)

    @property
    def is_present(self) -> bool:
        """Whether its module is installed."""
        module = self.function.partition(":")[0]
        path = Path(__file__).parents[1].joinpath(*module.split(".")[1:])
        return path.with_suffix(".py").exists() or (path / "__init__.py").exists()

    def listed(self, *, everything: bool) -> list[Option]:
        """Return the options for its help: the common ones, or all."""
        return [
            option
            for option in self.options.values()
            if everything
            or option.is_argument
            or not self.common
            or not set(option.names).isdisjoint(self.common.split())
        ]

    def parse(self, words: Sequence[str]) -> Any:
        """Return the record of all options, from the words after the verb."""
        return self.record(**vars(self.parser().parse_args(self._ordered(words))))

    def parser(self) -> argparse.ArgumentParser:
        """Return the verb as a parser of the standard library."""
        parser = _Parser(
            f"flagstone {self.name}", add_help=False, allow_abbrev=False, exit_on_error=False
        )
        for dest, found in self.options.items():
            _add(parser, dest, found)
        return parser

    def _ordered(self, words: Sequence[str]) -> list[str]:
        """Return options first, each joined with its value, then ``--`` and the arguments.

        So an option may stand anywhere, and its value may begin with a dash.
        """
        known = {name: found for found in self.options.values() for name in found.names}
        options: list[str] = []
        arguments: list[str] = []
        left = iter(words)
        for word in left:
            if word == "--":
                arguments += left
            elif not word.startswith("-") or word == "-":
                arguments.append(word)
            elif word in ("-h", "--help", "--help-all"):
                raise HelpAsked(everything=word == "--help-all")
            else:
                options.append(self._joined(word, left, known))
        takes = [found for found in self.options.values() if found.is_argument]
        if len(arguments) > len(takes) and not any("..." in found.value for found in takes):
            raise self._error(self._one_too_many(arguments[len(takes)], takes))
        return [*options, "--", *arguments] if arguments else options

    def _one_too_many(self, argument: str, takes: Sequence[Option]) -> str:
        """Return the message about an argument that the verb does not take."""
        files = [f.name for f in self.options.values() if (f.group, f.value) == (INPUT, "FILE")]
        hint = f"; did you mean {files[0]} {argument}?" if files else ""
        wanted = " and ".join(found.word for found in takes) or "only options"
        return f"{self.name} takes {wanted}; {argument!r} is one argument too many{hint}"

    def _joined(self, word: str, left: Iterator[str], known: Mapping[str, Option]) -> str:
        """Return an option and its value as one word; the value may be the next word."""
        if word.startswith("--"):
            name, equals, value = word.partition("=")
        else:  # -ofile
            name, equals, value = word[:2], word[2:], word[2:]
        if name not in known:
            message = f"there is no option {name}{closest(name, known, 1)}"
            raise CommandLineError(message, f"flagstone {self.name}", option=name)
        found = known[name]
        if not found.value:
            if word.startswith("--") and equals:
                raise self._error(f"{name} takes no value, got {value!r}")
            return word
        if not equals:
            value = next(left, "--")
        if value == "--":
            raise self._error(f"{name} needs a value: {found.value}")
        return f"{found.name}={value}"

    def _error(self, message: str) -> CommandLineError:
        return CommandLineError(message, f"flagstone {self.name}")


class _Parser(argparse.ArgumentParser):
    """A parser that raises errors for its caller to print; help is made elsewhere."""

    def parse_args(self, *words: Any) -> argparse.Namespace:  # type: ignore[override]
        """Return the values of all options."""
        try:
            values: argparse.Namespace = super().parse_args(*words)
            return values
        except argparse.ArgumentError as error:
            if error.argument_name is None:  # from Python 3.13 on, of what is missing, too
                self.error(error.message)
            name = error.argument_name.split("/")[-1]
            raise CommandLineError(f"{name} {error.message}", self.prog) from error

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the words."""
        message = message.replace("the following arguments are required:", "missing:")
        raise CommandLineError(message, self.prog)


def _add(parser: argparse.ArgumentParser, dest: str, found: Option) -> None:
    """Declare an option to the parser of the standard library."""
    about: dict[str, Any] = {"help": found.help.replace("%", "%%"), "default": found.default}
    if found.value:
        about |= {"metavar": found.word, "type": found.read}
    if found.choices:
        about["choices"] = found.choices
    if found.is_argument:
        kinds = {"FILE": None, "FILE...": "+", "[FILE]": "?", "[FILE...]": "*"}
        parser.add_argument(dest, nargs=kinds[found.value.replace(found.word, "FILE")], **about)
    elif not found.value:
        # the standard library adds the name that turns a switch off
        names = found.names[:1] if found.is_two_way else found.names
        action: Any = argparse.BooleanOptionalAction if found.is_two_way else "store_true"
        parser.add_argument(*names, dest=dest, action=action, **about)
    else:
        action = "append" if found.many else "store"
        parser.add_argument(
            *found.names, dest=dest, action=action, required=found.required, **about
        )
