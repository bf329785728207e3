"""Runs jaxlint with each of its processes in a session of its own: `python benchmarks/speed/apart.py check ...`.

Linux shares the processors among sessions first. On a busy machine, two processes of one session get no more of them than one does, and
nothing can be seen of what a second core is worth; two sessions get twice as much.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

from jaxlint import processes
from jaxlint.__main__ import run


def main() -> None:
    serve = processes._serve

    def apart(*arguments: Any) -> None:
        os.setsid()
        serve(*arguments)

    processes._serve = apart  # type: ignore[assignment]
    with contextlib.suppress(OSError):  # it leads a session already
        os.setsid()
    run()


if __name__ == "__main__":
    main()
