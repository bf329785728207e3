"""`jaxlint check --watch`: a run for each change."""

from __future__ import annotations

import contextlib
import functools
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

import click

from jaxlint.cli.common import Failure
from jaxlint.cli.options import RunOptions
from jaxlint.config import ConfigError
from jaxlint.report.escaping import escaped
from jaxlint.source.read import shown_path
from jaxlint.watch import Snapshot, snapshot, wait_for_change


def watch_and_check(options: RunOptions, *, add_ignores: bool) -> NoReturn:
    """Runs the given command, without `--watch`, again and again.

    Each run is a separate process: it reads the settings again, and its memory is freed. Unchanged files come from
    the cache.
    """
    if options.stdin is not None:
        raise Failure("--watch needs files; name them instead of `-`")
    if add_ignores:
        raise Failure("--watch writes nothing; run --add-ignores without it")
    arguments = [argument for argument in sys.argv[1:] if argument != "--watch"]
    # `-P`: nothing is imported from the checked folder.
    command = [sys.executable, "-P", "-m", "jaxlint", *arguments]
    with _interrupts() as end_if_interrupted:
        look = functools.partial(_look, options, end_if_interrupted)
        state = look()
        while True:
            if sys.stdout.isatty():
                click.clear()
            sys.stdout.flush()
            subprocess.run(command, check=False)
            end_if_interrupted()
            click.echo("Watching for changes; Ctrl-C ends.", err=True)
            state, changes = wait_for_change(look, state)
            first = escaped(shown_path(changes[0])) if changes else "a file"
            more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
            click.echo(f"\n{time.strftime('%H:%M:%S')} {first}{more} changed", err=True)


@contextlib.contextmanager
def _interrupts() -> Iterator[Callable[[], None]]:
    """Gives a function that raises KeyboardInterrupt if Ctrl-C was pressed before.

    Python drops an exception that is raised in `__del__`, such as that of the process that has just ended.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> NoReturn:
        came.append(number)
        raise KeyboardInterrupt

    def end_if_interrupted() -> None:
        if came:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, note)
    try:
        yield end_if_interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def _look(options: RunOptions, end_if_interrupted: Callable[[], None]) -> Snapshot:
    end_if_interrupted()
    try:
        return snapshot(options.paths, options.config)
    except ConfigError:  # nested settings that are being edited; the run reports what is wrong with them
        return {}
