"""The group of all verbs; a verb's module is imported when its name is asked for."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from flagstone.cli import VERBS


class _Quick:
    """Takes what is of its type as it stands: to convert anything, typer loads pydantic.

    That is what was left out, and words; numbers are converted.
    """

    def get_params(self, ctx: Any) -> Any:
        """Return all parameters, that for help included."""
        parameters: Any = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if "process_value" not in vars(parameter):
                convert = functools.partial(_taken, parameter, parameter.process_value)
                parameter.process_value = convert
        return parameters


def _taken(parameter: Any, convert: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if value is None and kind is not None and not parameter.required:
        value = () if kind == list[str] else None
    elif kind == list[str] and isinstance(value, (list, tuple)) and value:
        value = list(value)
    elif type(value) is not kind:
        return convert(ctx, value)
    return parameter.callback(ctx, parameter, value) if parameter.callback else value


class Verb(_Quick, TyperCommand):
    """A command whose help ends with examples that work as printed, and with its JSON keys."""

    examples: tuple[str, ...] = ()
    json_keys: Mapping[str, str] = MappingProxyType({})

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write examples unwrapped, so that they can be copied, and the keys of --json."""
        with formatter.section("Example" if len(self.examples) == 1 else "Examples"):
            for example in self.examples:
                formatter.write(f"  {example}\n")
        if self.json_keys:
            with formatter.section("Keys of --json"):
                formatter.write_dl(list(self.json_keys.items()))


class LazyVerbs(_Quick, TyperGroup):
    """A group that knows its verbs by name and loads one when it is needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs in the order of a user's work, not of the alphabet."""
        return list(VERBS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs without loading any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load one verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"flagstone.cli.{cmd_name}")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name=cmd_name, cls=Verb)(module.command)
        command: Any = typer.main.get_command(single)
        command.name = cmd_name
        command.examples, command.json_keys = module.EXAMPLES, module.JSON_KEYS
        return command


app = typer.Typer(
    cls=LazyVerbs,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from flagstone import __version__

        print(f"flagstone {__version__}")
        raise typer.Exit


@app.callback()
def flagstone(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Replicable answers from tables and frames: two samples, one seed, the same rule.

    Exit codes: 0 ok, 1 error, 2 usage, 3 no answer (⊥), 4 check failed / not replicable.
    """
