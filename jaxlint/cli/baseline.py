"""`jaxlint baseline`: writes known findings to a file, and removes those that are gone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from jaxlint.cli.common import FAILED, FINDINGS, Failure, check_folder_of, report_problems
from jaxlint.cli.options import RunOptions, run_options
from jaxlint.cli.progress import Progress
from jaxlint.config import ConfigError
from jaxlint.engine import CheckResult, check
from jaxlint.narrowing.baseline import (
    DEFAULT_NAME,
    Baseline,
    entries_of,
    place_of,
    read_baseline,
    write_baseline,
)
from jaxlint.narrowing.run import seen_beside
from jaxlint.report.escaping import escaped
from jaxlint.source.file import SourceError
from jaxlint.source.read import shown_path


@click.command("baseline")
@run_options
@click.option(
    "--baseline",
    "given",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"The file (the setting `baseline`, else {DEFAULT_NAME} in the project).",
)
@click.option("--update", is_flag=True, help="Remove findings that are gone, and add none.")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit with 1 when --update would.")
def command(options: RunOptions, given: Path | None, update: bool, only_check: bool) -> None:
    """Write today's findings to a baseline file, which `check --baseline` hides.

    PATHs are files or folders; by default the current folder. An existing baseline only shrinks: --update removes
    the entries of findings that are gone, and follows renamed files. Exits with 0, with 1 when --check finds
    entries that are gone, and with 2 when something could not be checked or written.
    """
    if options.stdin is not None:
        raise Failure("a baseline needs files; name them instead of `-`")
    place = place_of(options.config, given) or options.config.root / DEFAULT_NAME
    check_folder_of(place)
    before = None
    if update or only_check:
        before = read_baseline(place)
    elif os.path.lexists(place):
        raise Failure(
            f"{shown_path(place)}: already exists; update it with --update, or delete it to start over"
        )
    missing = [path for path in options.paths if not os.path.lexists(path)]
    if before is None and missing:
        raise Failure(
            f"{shown_path(Path(missing[0]))}: no such file or folder; name the file of the baseline with --baseline"
        )
    with Progress() as progress:
        result = check(
            options.paths,
            options.config,
            use_cache=options.use_cache,
            jobs=options.jobs,
            resolve_fixes=True,  # like `check`, so that both share the cache
            observer=progress,
        )
    try:
        if before is None:
            said, gone = _begin(place, result, options), 0
        else:
            said, gone = _shrink(before, result, options, write=not only_check)
    except SourceError as error:
        raise Failure(str(error)) from None
    click.echo(escaped(said))
    report_problems(result.errors, result.warnings)
    if result.errors:
        sys.exit(FAILED)
    if only_check and gone:
        sys.exit(FINDINGS)


def _begin(place: Path, result: CheckResult, options: RunOptions) -> str:
    entries = entries_of(result.findings, result.sources, place.parent)
    write_baseline(place, entries)
    files = len({entry.path for entry in entries})
    said = f"Wrote {_count(len(entries), 'finding')} of {_count(files, 'file')} to {shown_path(place)}."
    try:
        used = place_of(options.config)
    except ConfigError:
        used = None
    if used != place:
        said += f" Use it: `jaxlint check --baseline {shown_path(place)}`, or the setting `baseline`."
    return said


def _shrink(before: Baseline, result: CheckResult, options: RunOptions, *, write: bool) -> tuple[str, int]:
    split = seen_beside(before, result, options.config, options.paths)
    shown, gone = shown_path(before.path), len(split.stale)
    after = sorted([*split.kept, *split.unseen])
    known = set(before.entries)
    moved = len([entry for entry in split.kept if entry not in known])
    if write and after != list(before.entries):
        write_baseline(before.path, after)
    verb = "Removed" if write else "Would remove"
    said = f"{verb} {_count(gone, 'entry')} from {shown}; {len(after)} left."
    if moved:
        said += f" {_count(moved, 'entry')} {'was' if moved == 1 else 'were'} for code that has moved."
    shown_by_check = set(map(id, result.findings))  # the others are below the severity limit
    new = sum(id(finding) in shown_by_check for finding in split.new)
    if new:
        said += f" {_count(new, 'finding')} {'is' if new == 1 else 'are'} not in it."
    return said, gone


def _count(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"
