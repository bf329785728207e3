"""The page of all commands and options, from the command line itself."""

from __future__ import annotations

import click

from jaxlint.cli import main

INTRODUCTION = """\
# Commands

`jaxlint COMMAND --help` prints the same. Exit codes: 0 when nothing was found, 1 with findings, 2 when the run failed.
"""


def page() -> str:
    """The page in Markdown."""
    parts = [INTRODUCTION]
    with click.Context(main, info_name="jaxlint") as context:
        for name in main.list_commands(context):
            command = main.get_command(context, name)
            assert command is not None
            with click.Context(command, info_name=name, parent=context, terminal_width=80) as inner:
                parts.append(f"\n## jaxlint {name}\n\n```console\n{command.get_help(inner)}\n```\n")
    return "".join(parts)
