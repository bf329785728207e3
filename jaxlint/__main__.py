"""The console command, and `python -m jaxlint`."""

from __future__ import annotations

import os
import sys


def _leave_out_the_current_folder(as_module: bool) -> None:
    """Removes the current folder from the module search path. `python -m` puts it first, and so does an empty part of
    PYTHONPATH.

    That folder may be a clone, whose `click.py` or rule pack must not be loaded.
    """
    try:
        here = os.path.realpath(os.curdir)
    except OSError:
        print("error: the current folder does not exist any more; change to another", file=sys.stderr)
        sys.exit(2)
    if os.path.realpath(os.path.dirname(os.path.dirname(__file__))) == here:
        return  # jaxlint itself is there
    implied = int(as_module and not sys.flags.safe_path)
    if not sys.flags.ignore_environment and (given := os.environ.get("PYTHONPATH")):
        implied += given.split(os.pathsep).count("")
    for place in [place for place in sys.path if os.path.realpath(place) == here][:implied]:
        sys.path.remove(place)


_leave_out_the_current_folder(__name__ == "__main__")

import contextlib  # noqa: E402 - only now, since a clone may have one
import gc  # noqa: E402
import signal  # noqa: E402

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # An interrupt while modules load ends the process without a traceback.
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_DFL)

from jaxlint.cli import main  # noqa: E402

# Commands that only read, or write files atomically: they need no clean-up.
_PLAIN = frozenset({"check", "fix", "baseline", "upgrade", "config", "inspect", "rules", "explain"})


def _open_missing_streams() -> None:
    """Opens the standard streams that the parent process has closed: reads find nothing, writes are lost.

    Otherwise the next opened file would get the number of a stream, and prints would go into it.
    """
    given = [sys.stdin, sys.stdout, sys.stderr]
    if None not in given:
        return
    number = os.open(os.devnull, os.O_RDWR)
    while number <= 2:
        number = os.open(os.devnull, os.O_RDWR)
    os.close(number)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115 - open as long as the process
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 - open as long as the process
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115 - open as long as the process


def run() -> None:
    """Runs the command line. A plain command ends the process as soon as its output is written.

    The data of an analysis all becomes garbage at its end. Collecting it on the way and freeing it piece by piece
    took a quarter of the time of a cold check of flax and optax. (mypy ends in the same way.)
    """
    _open_missing_streams()
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if not _PLAIN.intersection(sys.argv[1:2]):
        try:
            main(prog_name="jaxlint")
        except OSError:  # standard error is full: the message cannot be shown
            os._exit(2)
        finally:
            # Python restores the default handler before it has ended. An interrupt then would replace the exit status.
            with contextlib.suppress(ValueError):
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        return
    if sys.argv[1] in ("check", "baseline") and "--watch" not in sys.argv:
        gc.disable()
    code: object = 0
    try:
        main(prog_name="jaxlint")
    except SystemExit as end:
        code = end.code
    except OSError:  # standard error is full: the message cannot be shown
        code = 2
    if not isinstance(code, int):
        sys.exit(code)  # type: ignore[arg-type]
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (
            OSError,
            ValueError,
        ):  # closed by the reader, or full: the command reports it where it matters
            code = code or 1
    os._exit(code)


if __name__ == "__main__":
    run()
