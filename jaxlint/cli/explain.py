"""`jaxlint explain`: one rule's page."""

from __future__ import annotations

import sys

import click

from jaxlint.cli.common import Failure
from jaxlint.cli.completion import complete_rules
from jaxlint.registry import UnknownRule
from jaxlint.report.styled import wants_colour
from jaxlint.rule_page import page_of


@click.command("explain")
@click.argument("rules", metavar="RULE...", nargs=-1, required=True, shell_complete=complete_rules)
def command(rules: tuple[str, ...]) -> None:
    """Explain a RULE, given by code or name: what it finds, why it matters, an example, the fix."""
    try:
        pages = [page_of(key) for key in rules]
    except UnknownRule as error:
        raise Failure(str(error)) from None
    text = "\n".join(pages)
    if wants_colour(sys.stdout):
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        click.echo(text, nl=False)
