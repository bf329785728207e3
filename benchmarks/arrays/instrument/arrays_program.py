"""Runs one program and records which arrays its variables were: python arrays_program.py PROGRAM OUT.json SECONDS.

SECONDS of processor time after the packages that it imports are loaded; then it is ended.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import runpy
import signal
import sys
from pathlib import Path

from arrays_watch import Watch  # type: ignore[import-not-found]


def load_packages(program: Path) -> None:
    """Imports what the program imports at its top."""
    for node in ast.parse(program.read_text()).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            importlib.import_module(name)


def main() -> None:
    program, out, seconds = sys.argv[1:]
    load_packages(Path(program))
    watch = Watch([program])
    sys.argv = [program]
    sys.path.insert(0, str(Path(program).parent))
    ended = "finished"

    def late(*_: object) -> None:
        raise TimeoutError("longer than a program may take")

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, float(seconds))
    try:
        with watch.watching(), contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(program, run_name="__main__")
    except TimeoutError:
        ended = "ended in time"
    except (Exception, SystemExit) as error:
        ended = f"{type(error).__name__}: {error}"[:200]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    Path(out).write_text(json.dumps({"ended": ended, "places": watch.record()}))


if __name__ == "__main__":
    main()
