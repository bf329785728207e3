"""What the commands share: how a failure is said, and how a long step shows that it is alive."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import click

from jaxlint.report.escaping import escaped
from jaxlint.source.file import SourceError
from jaxlint.source.journal import half_done, put_back
from jaxlint.source.read import shown_path
from jaxlint.state import StateError

FINDINGS, FAILED = 1, 2  # exit codes; 0 is nothing to report


class Failure(click.ClickException):
    """The run itself failed: one line on stderr, exit code 2."""

    exit_code = FAILED

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"error: {escaped(self.message)}", file=file or sys.stderr)


def report_problems(errors: Iterable[SourceError], warnings: Iterable[str] = ()) -> None:
    """Writes each as one line on stderr."""
    for warning in warnings:
        click.echo(f"warning: {escaped(warning)}", err=True)
    for error in errors:
        click.echo(f"error: {escaped(str(error))}", err=True)


def put_back_half_done(paths: Iterable[str | Path]) -> None:
    """Puts back what an interrupted command left half-written around `paths`, and says so on stderr. Raises Failure."""
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
    """Says on stderr what an interrupted command left half-written around `paths`; writes nothing."""
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
    """Raises Failure, before any work is done, where a report cannot be written."""
    if report is None:
        return
    if not report.absolute().parent.is_dir():
        raise Failure(f"{report}: there is no such folder to write the report to")
    check_link_of(report)


def check_link_of(output: Path) -> None:
    """Raises Failure for a link below the current folder, where a clone may have put it, that leads out of it."""
    here = Path.cwd()
    if output.absolute().is_relative_to(here):
        behind = Path(os.path.realpath(output))
        if not behind.is_relative_to(os.path.realpath(here)):
            raise Failure(f"{output}: a link that leads out of this folder, to {behind}; name that itself")


def write_report_file(path: Path, text: str, what: str = "the report") -> None:
    """Writes `text` to a file. Raises Failure; then it stands on stdout, so that nothing is lost."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        click.echo(text, nl=False)
        raise Failure(f"{path}: cannot be written ({error.strerror}); {what} is above") from None


class Progress:
    """Says on a terminal what is being done, once that takes longer than `delay` seconds. Use as a context."""

    def __init__(self, delay: float = 1.5, *, quiet: bool = False) -> None:
        self.delay = delay
        self.quiet = quiet
        self.message = ""
        self.shown = False
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty() and not self.quiet:
            self._timer = threading.Timer(self.delay, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer:
            self._timer.cancel()
        with self._lock:
            if self.shown:
                sys.stderr.write("\r\033[K")
                sys.stderr.flush()
                self.shown = False

    def __call__(self, message: str) -> None:
        self.message = message
        if self.shown:
            self._show()

    def _show(self) -> None:
        with self._lock:
            self.shown = True
            sys.stderr.write(f"\r\033[K{self.message} ...")
            sys.stderr.flush()
