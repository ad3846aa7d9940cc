"""Help as plain text, options under their panels: for a terminal, a log or a screen reader."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

_WIDEST = 27  # columns of a flag and its value; what is wider has its help on the next line


class PlainHelpCommand(TyperCommand):
    """A command whose `--help` is plain text."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{**settings, "rich_markup_mode": None})

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] PATH...`; what may be left out stands in brackets."""
        pieces = ["[OPTIONS]"]
        for parameter in self.get_params(ctx):
            if isinstance(parameter, TyperArgument):
                name = _shown(parameter, ctx)
                pieces.append(name if parameter.required else f"[{name}]")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments first, then options: those without a panel, then panel by panel."""
        panels: dict[str, list[tuple[str, str]]] = {"Options": []}
        for parameter in self.get_params(ctx):
            if getattr(parameter, "hidden", False):
                continue
            panel = getattr(parameter, "rich_help_panel", None) or "Options"
            panels.setdefault(panel, []).append((_shown(parameter, ctx), _meaning(parameter, ctx)))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows, col_max=_WIDEST)


class PlainHelpGroup(TyperGroup):
    """A command with commands, whose `--help` is plain text with the whole first sentence of each."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands in their order; click would cut what does not fit into a line."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(1000)) for name, command in self.commands.items()]
            )


def _shown(parameter: Any, ctx: Any) -> str:
    """`-o, --out DIR`, or an argument's name."""
    if isinstance(parameter, TyperArgument):
        name = parameter.metavar or parameter.name.upper()
        return name if parameter.nargs == 1 or name.endswith("...") else f"{name}..."
    flags = ", ".join(sorted(parameter.opts, key=len))
    return flags if parameter.is_flag else f"{flags} {value_name(parameter, ctx)}"


def value_name(option: TyperOption, ctx: Any) -> str:
    """What an option takes: `DIR`, or its choices as in `atx|setext`."""
    return option.metavar or option.display_type(ctx).strip("<>")


def _meaning(parameter: Any, ctx: Any) -> str:
    if parameter.name == "help":
        return "Show this; [defaults] stand in brackets."
    ends = []
    if isinstance(parameter.show_default, str):
        ends.append(parameter.show_default)
    elif parameter.show_default and not getattr(parameter, "is_flag", False):
        default = parameter.get_default(ctx, call=False)
        ends += [] if default is None else [f"{default:g}" if isinstance(default, float) else str(default)]
    if parameter.required and isinstance(parameter, TyperOption):
        ends.append("required")
    if getattr(parameter, "show_envvar", False) and parameter.envvar:
        ends.append(f"or {parameter.envvar}")
    return " ".join([parameter.help or "", *(f"[{end}]" for end in ends)])
