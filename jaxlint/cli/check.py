"""`jaxlint check`: findings, read from the source alone."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from jaxlint.cli.common import (
    FAILED,
    FINDINGS,
    Failure,
    check_folder_of,
    put_back_half_done,
    report_problems,
    say_half_done,
    write_report_file,
)
from jaxlint.cli.options import RunOptions, run_options
from jaxlint.cli.progress import Progress
from jaxlint.engine import CheckResult, check
from jaxlint.finding import Finding
from jaxlint.narrowing.run import Narrowing
from jaxlint.places import shown
from jaxlint.report import MACHINE_FORMATS, TEXT_FORMATS, write_report
from jaxlint.source.file import SourceFile

if TYPE_CHECKING:
    from jaxlint.report.text import TextReport


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
@click.option(
    "--baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Hide the findings in this file, which `jaxlint baseline` writes.",
)
@click.option(
    "--no-baseline", is_flag=True, help="Also show known findings, and ignore the setting `baseline`."
)
@click.option(
    "--diff",
    metavar="REV",
    help="Show findings on lines that changed since a revision of git; `main...` is where this branch left main.",
)
@click.option("--add-ignores", is_flag=True, help="Add a suppression comment to the line of each finding.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until interrupted.")
@click.option("-q", "--quiet", is_flag=True, help="Show only findings and errors.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of showing them.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
def command(
    options: RunOptions,
    output_format: str,
    output: Path | None,
    baseline: Path | None,
    no_baseline: bool,
    diff: str | None,
    add_ignores: bool,
    watch: bool,
    quiet: bool,
    statistics: bool,
    exit_zero: bool,
) -> None:
    """Report what makes JAX programs slow, big or wrong, from their source alone.

    PATHs are files, folders, or `-` for standard input; by default the current folder. Exits with 0 when there is
    nothing to report, 1 when there are findings, 2 when something could not be checked.
    """
    check_folder_of(output)
    if watch:
        from jaxlint.cli.watching import watch_and_check

        watch_and_check(options, add_ignores=add_ignores)
    if add_ignores and options.stdin is not None:
        raise Failure("--add-ignores writes to files; name them instead of `-`")
    (put_back_half_done if add_ignores else say_half_done)(options.paths)
    narrowing = Narrowing.of(
        options.config, baseline=baseline, use_baseline=not no_baseline, diff=diff, about=options.paths
    )
    live = (
        output is None
        and output_format in TEXT_FORMATS
        and not (statistics or narrowing.active or add_ignores)
    )
    with _Watching(quiet=quiet, live=live, concise=output_format == "concise") as watching:
        result = check(
            options.paths,
            options.config,
            stdin=options.stdin,
            use_cache=options.use_cache,
            jobs=options.jobs,
            resolve_fixes=True,
            observer=watching,
        )
    narrowing.apply(result, options.config, options.paths)
    if add_ignores:
        from jaxlint.cli.ignoring import ignore_all

        said = ignore_all(result, options.config.root)
        if not quiet:
            click.echo(said, err=True)
    result.findings = shown(result.findings, result.sources)
    if watching.report is not None:
        if not quiet:
            watching.report.end(result)
    else:
        _deliver(result, output, output_format, statistics, quiet)
    sys.stdout.flush()
    report_problems(result.errors, () if quiet else result.warnings)
    if result.errors:
        sys.exit(FAILED)
    if result.findings and not exit_zero:
        sys.exit(FINDINGS)


class _Watching(Progress):
    """Shows progress, and with `live` the findings as soon as they are final."""

    def __init__(self, *, quiet: bool, live: bool, concise: bool) -> None:
        super().__init__(quiet=quiet)
        self.live = live
        self.concise = concise
        self.report: TextReport | None = None

    def examines(self, sources: Mapping[str, SourceFile]) -> None:
        if self.live:
            from jaxlint.report.text import TextReport

            self.report = TextReport(sys.stdout, sources, concise=self.concise)

    def found(self, findings: Sequence[Finding]) -> None:
        if self.report is not None and findings:
            self.clear()
            self.report.add(shown(findings, self.report.sources))
            sys.stdout.flush()


def _deliver(
    result: CheckResult, output: Path | None, output_format: str, statistics: bool, quiet: bool
) -> None:
    """Writes the whole report to a file, or to standard output."""
    if output is None:
        if output_format not in TEXT_FORMATS and hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # as the formats have it
        _write(result, sys.stdout, output_format, statistics, quiet)
        return
    report = io.StringIO()
    _write(result, report, output_format, statistics, quiet)
    write_report_file(output, report.getvalue())


def _write(result: CheckResult, stream: TextIO, output_format: str, statistics: bool, quiet: bool) -> None:
    """The report in the requested format; with `quiet`, without the line that counts the findings."""
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
