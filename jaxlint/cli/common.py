"""The common part of the commands: how a failure is shown, and where a report may go."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import click

from jaxlint.report.escaping import escaped
from jaxlint.source.file import SourceError
from jaxlint.source.journal import half_done, put_back
from jaxlint.source.read import shown_path
from jaxlint.state import StateError

FINDINGS, FAILED, INTERRUPTED = 1, 2, 130  # exit codes; 0 is nothing to report


_LONGEST = 4_000  # characters of a message line; file names may be as long


def said(message: str) -> str:
    """A message as one readable line without terminal control characters: a clone may have put any text into it."""
    text = escaped(message)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 500]} ... {text[-400:]}"


class Failure(click.ClickException):
    """The run itself failed: one line on stderr, exit code 2."""

    exit_code = FAILED

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"error: {said(self.message)}", file=file or sys.stderr)


def report_problems(errors: Iterable[SourceError], warnings: Iterable[str] = ()) -> None:
    """Writes each as one line on stderr."""
    for warning in warnings:
        click.echo(f"warning: {said(warning)}", err=True)
    for error in errors:
        click.echo(f"error: {said(str(error))}", err=True)


def put_back_half_done(paths: Iterable[str | Path]) -> None:
    """Restores what an interrupted command left half-written around `paths`, and reports it on stderr. Raises
    Failure."""
    try:
        for path in put_back(Path(one) for one in paths or (".",)):
            click.echo(
                f"put back the original of {escaped(path)}: a command that wrote it was interrupted",
                err=True,
            )
    except StateError as error:
        click.echo(f"warning: {escaped(str(error))}", err=True)
    except SourceError as error:
        raise Failure(str(error)) from None


def say_half_done(paths: Iterable[str | Path]) -> None:
    """Reports on stderr what an interrupted command left half-written around `paths`; writes nothing."""
    try:
        for one in half_done(Path(path) for path in paths or (".",)):
            if one.files:
                names = ", ".join(shown_path(Path(path)) for path in sorted(one.files)[:3])
                more = f" and {len(one.files) - 3} more" if len(one.files) > 3 else ""
                click.echo(
                    f"warning: an interrupted command left files half-written ({escaped(names)}{more}); "
                    f"`jaxlint fix` on them puts the originals back",
                    err=True,
                )
    except StateError as error:
        click.echo(f"warning: {escaped(str(error))}", err=True)


def check_folder_of(report: Path | None) -> None:
    """Raises Failure, before any work is done, if a report cannot be written."""
    if report is None:
        return
    if not report.absolute().parent.is_dir():
        raise Failure(f"{report}: there is no such folder to write the report to")
    check_link_of(report)


def check_link_of(output: Path) -> None:
    """Raises Failure for a link below the current folder that leads out of it: a clone may have put it there."""
    here = Path.cwd()
    if output.absolute().is_relative_to(here):
        behind = Path(os.path.realpath(output))
        if behind.exists() and not (behind.is_file() or behind.is_dir()):  # opening a pipe would block
            raise Failure(f"{output}: not a regular file; pipe standard output into it")
        if not behind.is_relative_to(os.path.realpath(here)):
            raise Failure(f"{output}: a link that leads out of this folder, to {behind}; name that itself")


def write_report_file(path: Path, text: str, what: str = "the report") -> None:
    """Writes `text` to a file. On failure it prints the text to stdout, so that nothing is lost, and raises Failure."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        click.echo(text, nl=False)
        raise Failure(f"{path}: cannot be written ({error.strerror}); {what} is above") from None
