"""`jaxlint check`: findings, read from the source alone."""

from __future__ import annotations

import sys

import click

from jaxlint.cli.common import FAILED, FINDINGS, Progress, report_problems, undo_half_done
from jaxlint.cli.options import RunOptions, run_options
from jaxlint.engine import check
from jaxlint.places import shown
from jaxlint.report import MACHINE_FORMATS, TEXT_FORMATS, write_report


@click.command("check")
@run_options
@click.option(
    "--output-format",
    type=click.Choice([*TEXT_FORMATS, *MACHINE_FORMATS]),
    default=TEXT_FORMATS[0],
    help="How to show the findings (full).",
)
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of showing them.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
def command(options: RunOptions, output_format: str, statistics: bool, exit_zero: bool) -> None:
    """Report what makes JAX programs slow, big or wrong, from their source alone.

    PATHs are files, folders, or `-` for standard input; the current folder when left out. Exits with 0 when there is
    nothing to report, 1 when there are findings, 2 when something could not be checked.
    """
    undo_half_done(options.paths)
    with Progress() as progress:
        result = check(
            options.paths,
            options.config,
            stdin=options.stdin,
            use_cache=options.use_cache,
            jobs=options.jobs,
            resolve_fixes=True,
            progress=progress,
        )
        result.findings = shown(result.findings, result.sources)
    if output_format in TEXT_FORMATS:
        from jaxlint.report import text

        if statistics:
            text.write_statistics(result, sys.stdout)
        else:
            text.write_text(result, sys.stdout, concise=output_format == "concise")
    elif statistics and output_format == "json":
        import json

        from jaxlint.report.json_report import statistics_records
        from jaxlint.report.text import statistics as count

        click.echo(json.dumps(statistics_records(count(result.findings)), indent=2))
    else:
        write_report(output_format, result, sys.stdout)
    sys.stdout.flush()
    report_problems(result.errors, result.warnings)
    if result.errors:
        sys.exit(FAILED)
    if result.findings and not exit_zero:
        sys.exit(FINDINGS)
