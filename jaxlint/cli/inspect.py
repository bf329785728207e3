"""`jaxlint inspect`: which functions and parameters are traced according to the analysis, and why."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from jaxlint.cli.common import FAILED, report_problems
from jaxlint.cli.options import RunOptions, file_options
from jaxlint.engine import read_sources
from jaxlint.places import shown_line
from jaxlint.report.escaping import escaped, shown_name, wellformed

if TYPE_CHECKING:
    from jaxlint.engine import CheckResult
    from jaxlint.source import SourceFile
    from jaxlint.staging.analysis import Analysis
    from jaxlint.staging.inspection import FunctionFacts


@click.command("inspect")
@click.option("--function", "wanted", metavar="NAME", help="Only functions of this (qualified) name.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="How to show the functions (text).",
)
@click.option("--calls", is_flag=True, help="Also show the calls that pass a tracer to each parameter.")
@click.option("--arrays", is_flag=True, help="Show the shape and dtype of each variable instead.")
@click.option("--no-cache", is_flag=True, hidden=True, expose_value=False)  # nothing is cached here
@file_options
def command(options: RunOptions, wanted: str | None, output_format: str, calls: bool, arrays: bool) -> None:
    """Show which functions JAX traces, which of their parameters are tracers, and why.

    PATHs are files or folders. Exits with 0, or 2 when a file could not be read.
    """
    from jaxlint.staging.inspection import inspect_files

    options.config.check()
    sources, context, result = read_sources(
        options.paths, options.config, stdin=options.stdin, jobs=options.jobs
    )
    if arrays:
        analysis = _show_arrays(sources, context, wanted, output_format)
        _finish(result, analysis)
        return
    facts, analysis = inspect_files(sources, context, calls)
    if wanted is not None:
        facts = [f for f in facts if f.qualname == wanted or f.qualname.rpartition(".")[2] == wanted]
    read = {source.display: source for source in sources}
    if output_format == "json":
        records = []
        for fact in facts:
            cell, line, reason = shown_line(fact.path, fact.line, fact.reason, read)
            records.append(
                fact.record() | {"line": line, "reason": reason} | ({"cell": cell} if cell else {})
            )
        click.echo(json.dumps(wellformed(records), indent=1))
    else:
        for fact in facts:
            cell, line, reason = shown_line(fact.path, fact.line, fact.reason, read)
            path = fact.path if cell is None else f"{fact.path}:cell {cell}"
            basis = " (by convention)" if fact.basis == "convention" else ""
            verdict = {"yes": f"traced{basis}", "no": "not traced", "unknown": "unknown"}[fact.staged]
            click.echo(f"{shown_name(path)}:{line} {escaped(f'{fact.qualname}: {verdict}, {reason}')}")
            for name, kind in fact.params.items():
                click.echo(escaped(f"    {name}: {kind}{_given(fact, name, read)}"))
        if wanted is not None and not facts:
            click.echo(f"no function in these files is named {wanted!r}")
        elif wanted is None:
            click.echo(_count(facts))
    _finish(result, analysis)


def _finish(result: CheckResult, analysis: Analysis) -> None:
    sys.stdout.flush()
    report_problems([*result.errors, *analysis.errors], result.warnings)
    if result.errors or analysis.errors:
        sys.exit(FAILED)


def _show_arrays(
    sources: Sequence[SourceFile], context: Sequence[SourceFile], wanted: str | None, output_format: str
) -> Analysis:
    """The facts about arrays, line by line."""
    from jaxlint.staging.inspection.arrays import inspect_arrays

    facts, analysis = inspect_arrays(sources, context)
    if wanted is not None:
        facts = [f for f in facts if wanted in (f.function, f.function.rpartition(".")[2])]
    read = {source.display: source for source in sources}
    records = []
    for fact in facts:
        cell, line, _ = shown_line(fact.path, fact.line, "", read)
        if output_format == "json":
            records.append(fact.record() | {"line": line} | ({"cell": cell} if cell else {}))
            continue
        path = fact.path if cell is None else f"{fact.path}:cell {cell}"
        click.echo(f"{shown_name(path)}:{line}:{fact.column + 1} {escaped(f'{fact.name}: {fact.written()}')}")
    if output_format == "json":
        click.echo(json.dumps(wellformed(records), indent=1))
    return analysis


def _count(facts: Sequence[FunctionFacts]) -> str:
    """The summary below the functions: their number by verdict."""
    verdicts = Counter(fact.staged for fact in facts)
    functions = "1 function" if len(facts) == 1 else f"{len(facts)} functions"
    return (
        f"{functions}: {verdicts['yes']} traced, {verdicts['no']} not traced, {verdicts['unknown']} unknown."
    )


def _given(fact: FunctionFacts, name: str, read: Mapping[str, SourceFile]) -> str:
    """The text ", passed at train.py:40" for a parameter with known calls."""
    places = []
    for call in (fact.calls or {}).get(name, []):
        if call is not None:
            cell, line, _ = shown_line(call.path, call.line, "", read)
            places.append(f"{call.path}:{line}" if cell is None else f"{call.path}:cell {cell}:{line}")
    return ", passed at " + ", ".join(dict.fromkeys(places)) if places else ""
