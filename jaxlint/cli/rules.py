"""`jaxlint rules`: the list of rules."""

from __future__ import annotations

import json
import sys

import click

from jaxlint.registry import all_rules
from jaxlint.report.styled import wants_colour
from jaxlint.rule import Rule


@click.command("rules")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to show them (text)."
)
def command(output_format: str) -> None:
    """List the rules."""
    rules = all_rules()
    if output_format == "json":
        click.echo(json.dumps([record(rule) for rule in rules], indent=2))
    elif wants_colour(sys.stdout):
        _table(rules)
    else:
        for rule in rules:
            click.echo(
                f"{rule.code}  {rule.name:<28} {rule.category:<14} {rule.severity:<8} {_fix(rule):<7} {rule.summary()}"
            )


def record(rule: type[Rule]) -> dict[str, object]:
    """A rule as data for other tools."""
    return {
        "code": rule.code,
        "name": rule.name,
        "category": rule.category,
        "severity": str(rule.severity),
        "fixable": rule.fixable,
        "preview": rule.preview,
        "proof": rule.proven_by(),
        "summary": rule.summary(),
    }


def _fix(rule: type[Rule]) -> str:
    return rule.fixable or "-"


def _table(rules: tuple[type[Rule], ...]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    wide = console.width >= 120
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Code", "Name", *(("Category", "Severity", "Fix") if wide else ())):
        table.add_column(heading, no_wrap=True)
    table.add_column("What it finds")
    styles = {"error": "red", "warning": "yellow", "info": "blue"}
    for rule in rules:
        name = f"{rule.name} (preview)" if rule.preview else rule.name
        style = styles[rule.severity]
        facts = [Text(rule.category), Text(rule.severity, style), Text(_fix(rule))] if wide else []
        table.add_row(Text(rule.code, style), Text(name), *facts, Text(rule.summary()))
    console.print(table)
