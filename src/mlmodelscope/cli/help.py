"""How help looks: names, then sentences as wide as a terminal of 80 columns allows, and nothing that is cut.

typer's own pages put names, short names, types and texts into four columns. At 80 columns nineteen are left for the
text, and examples end in an ellipsis.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from typer.core import TyperCommand, TyperGroup

from mlmodelscope.cli.server_choice import is_served

Row = tuple[str, str]
_KEEP = "\N{NO-BREAK SPACE}"
_WIDE_NAME = 26
"""A longer name has a line to itself."""
_VALUES = {"int": "N", "integer": "N", "float": "NUMBER", "path": "FILE", "file": "FILE"}
_SERVER = (
    ("--server URL", "Work on this server (or MLMODELSCOPE_SERVER)."),
    ("--token TOKEN", "Who you are there (or MLMODELSCOPE_TOKEN)."),
)


class HelpCommand(TyperCommand):
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return _usage(self.params)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_parameters(self.get_params(ctx), ctx, formatter)


class HelpGroup(TyperGroup):
    sections: dict[str, Sequence[str]] | None = None
    """Headings with the commands below them; without, all commands below one."""

    default: str | None = None
    """The command that is meant by a word that is none, such as the name of a record."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if self.default is not None and args and not get_close_matches(args[0], self.commands, 1):
            args = [self.default, *args]
        return super().resolve_command(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        is_needed = self.no_args_is_help or not self.invoke_without_command
        return [*_usage(self.params), "COMMAND ..." if is_needed else "[COMMAND ...]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections = self.sections or {"Commands": list(self.commands)}
        for title, names in sections.items():
            rows = [(name, _about(self.commands[name])) for name in names if name in self.commands]
            _write_section(formatter, title, rows, max(map(len, self.commands), default=0))
        _write_parameters(self.get_params(ctx), ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """They stand above the options."""


def _usage(parameters: Iterable[Any]) -> list[str]:
    return ["[OPTIONS]", *(_in_usage(each) for each in parameters if each.param_type_name == "argument")]


def _in_usage(argument: Any) -> str:
    """`MODEL`, `[DATASET]`, `(MODEL | --log LOG)`: one of two must be there."""
    name = _argument_name(argument)
    if "|" in (argument.metavar or ""):
        return f"({argument.metavar})"
    return name if argument.required else f"[{name}]"


def _argument_name(argument: Any) -> str:
    name = str(argument.metavar or argument.name).split(" |")[0].strip("[].").upper()
    return name if argument.nargs == 1 else f"{name}..."


def _about(command: Any) -> str:
    return " ".join((command.short_help or command.help or "").split("\n\n")[0].split())


def _write_parameters(parameters: Iterable[Any], ctx: Any, formatter: Any) -> None:
    shown = [each for each in parameters if not getattr(each, "hidden", False)]
    arguments = [(_argument_name(each), _sentence(each)) for each in shown if each.param_type_name == "argument"]
    options = [(_option_name(each), _sentence(each)) for each in shown if each.param_type_name == "option"]
    if is_served(_words(ctx)):
        options[-1:-1] = _SERVER  # before --help
    _write_section(formatter, "Arguments", arguments)
    _write_section(formatter, "Options", options)


def _words(ctx: Any) -> list[str]:
    """The verb, and the verb of the verb; whatever the program itself is called."""
    return [*_words(ctx.parent), ctx.info_name] if ctx.parent is not None else []


def _option_name(option: Any) -> str:
    name = ", ".join(sorted(option.opts, key=lambda each: not each.startswith("--")))
    if option.secondary_opts:
        return f"{name} / {', '.join(option.secondary_opts)}"
    return name if option.is_flag or option.count else f"{name} {_value(option)}"


def _value(option: Any) -> str:
    """What stands behind an option, in one word."""
    if option.metavar:
        return str(option.metavar)
    kind, choices = _type(option)
    if choices:
        spelled = "|".join(choices)
        return spelled if len(spelled) <= 20 else "NAME"
    return _VALUES.get(kind, "TEXT")


def _type(parameter: Any) -> tuple[str, list[str]]:
    """(its name, what it may be), as older and newer versions of typer tell it."""
    told = getattr(parameter, "type_descriptor", None)
    if told is None:
        return str(parameter.type.name).split()[0], [_spell(each) for each in getattr(parameter.type, "choices", ())]
    if get_origin(told.annotation) is Literal:
        return "text", [_spell(each) for each in get_args(told.annotation)]
    found = next(iter(get_args(told.annotation)), told.annotation)
    is_choice = isinstance(found, type) and issubclass(found, Enum)
    return getattr(found, "__name__", "text").lower(), [_spell(each) for each in found] if is_choice else []


def _sentence(parameter: Any) -> str:
    """What it is for, what it may be where its name does not say so, and what it is by default."""
    parts = [parameter.help or ""]
    choices = _type(parameter)[1]
    if choices and not all(each in f"{parameter.help}{_option_value(parameter)}" for each in choices):
        parts.append(f"One of {', '.join(choices)}.")
    default = _default(parameter)
    if default:
        parts.append(f"[default:{_KEEP}{default}]")
    if getattr(parameter, "show_envvar", False) and parameter.envvar:
        parts.append(f"[variable:{_KEEP}{parameter.envvar}]")
    if parameter.param_type_name == "option" and parameter.required:
        parts.append("[required]")
    return " ".join(filter(None, parts))


def _option_value(parameter: Any) -> str:
    return _value(parameter) if parameter.param_type_name == "option" else ""


def _default(parameter: Any) -> str:
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    found = parameter.default
    if not parameter.show_default or found is None or callable(found) or found in ("", [], ()):
        return ""
    if isinstance(found, bool):
        names = parameter.opts if found else parameter.secondary_opts
        return str(names[0]).lstrip("-") if parameter.secondary_opts else ""
    return ", ".join(map(_spell, found)) if isinstance(found, list | tuple) else _spell(found)


def _spell(value: Any) -> str:
    return str(value.value if isinstance(value, Enum) else value)


def _write_section(formatter: Any, title: str, rows: Sequence[Row], least: int = 0) -> None:
    if not rows:
        return
    first = max(least, *(len(name) for name, _ in rows if len(name) <= _WIDE_NAME), 0) + 4
    formatter.write(f"\n{title}:\n")
    for name, text in rows:
        lines = textwrap.wrap(text, formatter.width - first, break_on_hyphens=False, break_long_words=False)
        if len(name) + 4 > first or not lines:
            formatter.write(f"  {name}\n")
        else:
            formatter.write(f"  {name.ljust(first - 4)}  {lines.pop(0)}\n".replace(_KEEP, " "))
        for line in lines:
            formatter.write(f"{' ' * first}{line}\n".replace(_KEEP, " "))
