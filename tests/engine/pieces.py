"""A program that does pieces of work in processes and prints what comes of them: `python pieces.py fork|spawn JOBS WORK`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

from jaxlint import processes

PIECES = 5


def square(piece: int, say: Callable[[object], None]) -> object:
    say(("begun", piece))
    return piece * piece


def named(piece: int, say: Callable[[object], None]) -> object:
    return os.getpid()


def killed(piece: int, say: Callable[[object], None]) -> object:
    if piece == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if piece == 3:
        os._exit(7)
    return piece


def unsendable(piece: int, say: Callable[[object], None]) -> object:
    return threading.Lock() if piece == 1 else piece


def asleep(piece: int, say: Callable[[object], None]) -> object:
    say(os.getpid())
    time.sleep(600)
    return None


def main() -> None:
    method, jobs, work = sys.argv[1], int(sys.argv[2]), globals()[sys.argv[3]]
    processes.can_fork = lambda: method == "fork"
    for report in processes.in_processes(work, [1] * PIECES, jobs):
        print(report, flush=True)


if __name__ == "__main__":
    main()
