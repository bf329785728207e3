"""`jaxlint upgrade`: the migration of a project to newer releases of JAX and its neighbours."""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO

import click

from jaxlint.cli.common import (
    FAILED,
    FINDINGS,
    Failure,
    put_back_half_done,
    report_problems,
    say_half_done,
)
from jaxlint.cli.options import RunOptions, file_options
from jaxlint.cli.progress import Progress
from jaxlint.places import position
from jaxlint.report.diffs import write_diffs
from jaxlint.report.escaping import escaped, shown_name, wellformed
from jaxlint.report.json_report import finding_record
from jaxlint.report.styled import Printer
from jaxlint.upgrade.project import Left, Upgrade, api_of, upgrade
from jaxlint.upgrade.targets import aims


@click.command("upgrade")
@file_options
@click.option(
    "--to",
    "wanted",
    multiple=True,
    metavar="RELEASE",
    help="The releases to move to, such as jax==0.12 or 'jax>=0.10' (the newest known); may be repeated.",
)
@click.option(
    "--unsafe-fixes", is_flag=True, help="Also make rewrites that may change what the program does."
)
@click.option("--diff", is_flag=True, help="Show what would change; write nothing.")
@click.option(
    "--check",
    "only_check",
    is_flag=True,
    help="Write nothing; exit with 1 when something would change or is left to do by hand.",
)
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to show it (text)."
)
def command(
    options: RunOptions,
    wanted: tuple[str, ...],
    unsafe_fixes: bool,
    diff: bool,
    only_check: bool,
    output_format: str,
) -> None:
    """Move a project to newer releases of jax, flax, optax, chex, haiku and orbax.

    Rewrites the sources and notebooks in PATHs (by default the current folder), and raises the requirements in the
    project's files. Then lists the remaining findings, with advice. Exits with 0 when none is left, 1 when some are
    (with --check and --diff: or a file would change), 2 when something could not be read or written.
    """
    if options.stdin is not None:
        raise Failure("upgrade needs the files of a project; name them instead of `-`")
    targets = aims(wanted)
    writes = not (diff or only_check)
    (put_back_half_done if writes else say_half_done)(options.paths)
    with Progress() as progress:
        done = upgrade(
            options.paths, options.config, targets, unsafe=unsafe_fixes, jobs=options.jobs, observer=progress
        )
    changes = done.changes
    if writes:
        done.write()
    left = done.left()
    if output_format == "json":
        json.dump(wellformed(record(done, left)), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        if diff:
            write_diffs(done.texts(), sys.stdout)
        _write(done, left, sys.stderr if diff else sys.stdout, would=not writes)
    sys.stdout.flush()
    report_problems(done.errors, done.rewriting.checked.warnings)
    if done.errors:
        sys.exit(FAILED)
    if left or done.pins.left or (changes and not writes):
        sys.exit(FINDINGS)


def record(done: Upgrade, left: list[Left]) -> dict[str, Any]:
    """The upgrade as data for other tools."""
    pins = (("raised", done.pins.raised), ("left", done.pins.left))
    return {
        "version": 1,
        "targets": {aim.package: aim.specifier for aim in done.used},
        "rewritten": [{"api": api, "count": count} for api, count in done.rewritten()],
        "files": [path for path, _, _ in done.texts()],
        "requirements": {
            name: [
                {
                    "path": pin.path,
                    "line": pin.line,
                    "before": pin.before,
                    "after": pin.after,
                    "reason": pin.problem,
                }
                for pin in found
            ]
            for name, found in pins
        },
        "left": [
            {**finding_record(one.finding), "api": api_of(one.finding), "refused": one.reason or None}
            for one in left
        ],
    }


def _write(done: Upgrade, left: list[Left], stream: TextIO, *, would: bool) -> None:
    printer = Printer(stream)
    used = ", ".join(map(str, done.used)) or "no known package"
    printer.line([("Upgrade to ", ""), (used, "bold"), (".", "")])
    counts = done.rewritten()
    verb = "Would rewrite" if would else "Rewrote"
    if counts:
        places = _count(sum(number for _, number in counts), "place")
        files = _count(len({one.path for one in done.rewriting.result.applied}), "file")
        printer.line([(f"{verb} {places} in {files}:", "bold")])
        for api, number in counts:
            printer.line([(f"  {number:>4} x ", ""), (escaped(api), "green")])
    if done.pins.raised:
        verb = "Would raise" if would else "Raised"
        printer.line([(f"{verb} {_count(len(done.pins.raised), 'requirement')}:", "bold")])
        for pin in done.pins.raised:
            printer.line(
                [
                    (f"  {shown_name(pin.path)}:{pin.line}: ", "dim"),
                    (escaped(f"{pin.before} -> {pin.after}"), ""),
                ]
            )
    if not (counts or done.pins.raised):
        printer.line([("Nothing to rewrite.", "")])
    _write_left(done, left, printer)


def _write_left(done: Upgrade, left: list[Left], printer: Printer) -> None:
    number = len(left) + len(done.pins.left)
    if not number:
        printer.line([("Nothing is left.", "")])
        return
    printer.line([(f"{_count(number, 'place')} left:", "bold")])
    by_api: dict[str, list[Left]] = {}
    for one in left:
        by_api.setdefault(one.finding.message, []).append(one)
    for message, places in sorted(by_api.items(), key=lambda item: (-len(item[1]), item[0])):
        printer.line([("  ", ""), (escaped(message), "yellow")])
        reasons = dict.fromkeys(one.reason for one in places if one.reason)
        for reason in reasons:
            printer.line([(f"    not rewritten: {escaped(reason)}", "")])
        for one in places:
            printer.line([(f"    {shown_name(one.finding.path)}{position(one.finding)}", "dim")])
    for pin in done.pins.left:
        printer.line(
            [(f"  {shown_name(pin.path)}:{pin.line}: ", "dim"), (escaped(f"{pin.before}: {pin.problem}"), "")]
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
