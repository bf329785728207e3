"""`jaxlint check`: findings, read from the source alone."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TextIO

import click

from jaxlint.cli.common import (
    FAILED,
    FINDINGS,
    Progress,
    check_folder_of,
    report_problems,
    say_half_done,
    write_report_file,
)
from jaxlint.cli.options import RunOptions, run_options
from jaxlint.engine import CheckResult, check
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
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report to a file."
)
@click.option("-q", "--quiet", is_flag=True, help="Show the findings and errors alone.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of showing them.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
def command(
    options: RunOptions,
    output_format: str,
    output: Path | None,
    quiet: bool,
    statistics: bool,
    exit_zero: bool,
) -> None:
    """Report what makes JAX programs slow, big or wrong, from their source alone.

    PATHs are files, folders, or `-` for standard input; the current folder when left out. Exits with 0 when there is
    nothing to report, 1 when there are findings, 2 when something could not be checked.
    """
    check_folder_of(output)
    say_half_done(options.paths)
    with Progress(quiet=quiet) as progress:
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
    if output is None:
        _write(result, sys.stdout, output_format, statistics, quiet)
        sys.stdout.flush()
    else:
        report = io.StringIO()
        _write(result, report, output_format, statistics, quiet)
        write_report_file(output, report.getvalue())
    report_problems(result.errors, () if quiet else result.warnings)
    if result.errors:
        sys.exit(FAILED)
    if result.findings and not exit_zero:
        sys.exit(FINDINGS)


def _write(result: CheckResult, stream: TextIO, output_format: str, statistics: bool, quiet: bool) -> None:
    """The report in the format that was asked for; if `quiet`, without the line that counts the findings."""
    if output_format in TEXT_FORMATS:
        from jaxlint.report import text

        if statistics:
            text.write_statistics(result, stream, quiet=quiet)
        else:
            text.write_text(result, stream, concise=output_format == "concise", quiet=quiet)
    elif statistics and output_format == "json":
        import json

        from jaxlint.report.json_report import statistics_records
        from jaxlint.report.text import statistics as count

        stream.write(json.dumps(statistics_records(count(result.findings)), indent=2) + "\n")
    else:
        write_report(output_format, result, stream)
