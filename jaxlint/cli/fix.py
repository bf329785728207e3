"""`jaxlint fix`: rewrites what the codemods can rewrite."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping
from typing import TextIO

import click

from jaxlint import engine
from jaxlint.cli.common import FAILED, FINDINGS, put_back_half_done, report_problems, say_half_done
from jaxlint.cli.options import RunOptions, run_options
from jaxlint.cli.progress import Progress
from jaxlint.finding import Severity
from jaxlint.fixes import FixResult
from jaxlint.narrowing.run import Narrowing
from jaxlint.places import position, shown
from jaxlint.report.diffs import write_diffs
from jaxlint.report.escaping import escaped, shown_name
from jaxlint.report.styled import Printer
from jaxlint.rewriting import rewrite, write_texts
from jaxlint.source import SourceFile
from jaxlint.source.write import encode_text

# A range of releases in the reason of a finding: `checked against jax >=0.1.55`.
_ASKED = re.compile(r"checked against ([\w-]+ [<>~][^;`]*)")


@click.command("fix")
@run_options
@click.option("--diff", is_flag=True, help="Show what would change; write nothing.")
@click.option("--unsafe-fixes", is_flag=True, help="Also make fixes that may change what the program does.")
@click.option("-q", "--quiet", is_flag=True, help="Show only remaining findings and errors.")
def command(options: RunOptions, diff: bool, unsafe_fixes: bool, quiet: bool) -> None:
    """Apply the fixes that keep a program's results, and list the remaining findings.

    PATHs are files, folders, or `-` for standard input, whose new text goes to standard output; by default the
    current folder. Exits with 0 when nothing is left to report, 1 when findings remain (with --diff: when something
    would change), 2 when something could not be checked or written.
    """
    narrowing = Narrowing.of(options.config)
    if diff or options.stdin is not None:
        say_half_done(options.paths)
    else:
        put_back_half_done(options.paths)
    with Progress(quiet=quiet) as progress:
        done = rewrite(
            options.paths,
            options.config,
            stdin=options.stdin,
            unsafe=unsafe_fixes,
            use_cache=options.use_cache,
            jobs=options.jobs,
            observer=progress,
        )
    checked, result, errors = done.checked, done.result, done.errors
    piped = _piped(options, checked.sources)
    report = sys.stderr if piped else sys.stdout
    if diff:
        texts = sorted(result.texts.items())
        write_diffs(((path, checked.sources[path].file_text, text) for path, text in texts), sys.stdout)
        if not quiet:
            _write_summary(result, sys.stderr, would=True)
            _write_held_by_requirements(result, sys.stderr)
    else:
        errors += write_texts(checked.sources, result, options.config.root, but=piped)
        if narrowing.baseline is not None:
            result.remaining = narrowing.baseline.split(result.remaining, result.sources).new
        if piped:
            source = checked.sources[piped]
            output = sys.stdout.buffer
            output.write(encode_text(source, result.texts.get(piped, source.file_text)))
            output.flush()
        if not quiet:
            _write_summary(result, report)
        _write_remaining(result, report)
        if not quiet:
            _write_held_by_requirements(result, report)
    sys.stdout.flush()
    report_problems(engine.once_each(errors), () if quiet else checked.warnings)
    if errors:
        sys.exit(FAILED)
    if result.texts if diff else result.remaining:
        sys.exit(FINDINGS)


def _piped(options: RunOptions, sources: Mapping[str, SourceFile]) -> str | None:
    """The path of standard input among the sources."""
    if options.stdin is None:
        return None
    shown = options.stdin.filename or engine.STDIN_DISPLAY
    return shown if shown in sources else None


def _write_summary(result: FixResult, stream: TextIO, *, would: bool = False) -> None:
    """The number of fixed findings by file and rule."""
    printer = Printer(stream)
    if not result.applied:
        printer.line([("Nothing to fix." if not result.remaining else "Nothing could be fixed.", "")])
        return
    verb = "Would fix" if would else "Fixed"
    files = len({finding.path for finding in result.applied})
    text = f"{verb} {_count(len(result.applied), 'finding')} in {_count(files, 'file')}:"
    printer.line([(text, "bold")])
    counts = Counter((finding.path, finding.code, finding.name) for finding in result.applied)
    shown = ""
    for (path, code, name), number in sorted(counts.items()):
        if path != shown:
            printer.line([(f"  {shown_name(path)}", "")])
            shown = path
        printer.line([(f"    {number} x ", ""), (code, "green"), (f" {name}", "")])


def _write_remaining(result: FixResult, stream: TextIO) -> None:
    """The remaining findings, with the reason why each was not fixed."""
    if not result.remaining:
        return
    printer = Printer(stream)
    reasons = {id(one.finding): one.reason for one in (*result.refused, *result.held_back)}
    printer.line([(f"{_count(len(result.remaining), 'finding')} left:", "bold")])
    for original, finding in zip(result.remaining, shown(result.remaining, result.sources), strict=True):
        printer.line(
            [
                (f"  {shown_name(finding.path)}", "bold"),
                (f"{position(finding)}: ", "dim"),
                (
                    f"{finding.severity} {finding.code}",
                    "red" if finding.severity is Severity.ERROR else "yellow",
                ),
                (f" {escaped(finding.message)} ", ""),
                (f"[{finding.name}]", "dim"),
            ]
        )
        reason = reasons.get(id(original))
        if reason:
            printer.line([(f"    not fixed: {escaped(reason)}", "")])


def _write_held_by_requirements(result: FixResult, stream: TextIO) -> None:
    """Names the command for removed names that have no rewrite for all releases that the project asks for."""
    said = {id(one.finding) for one in (*result.refused, *result.held_back)}
    left = [one for one in result.remaining if one.category == "migration" and id(one) not in said]
    asked = sorted({match[1] for one in left if (match := _ASKED.search(one.reason)) is not None})
    if asked:
        text = f"A replacement must exist in all of {' and '.join(asked)}; `jaxlint upgrade` raises the requirement and rewrites."
        Printer(stream).line([(escaped(text), "")])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
