"""Runs programs of JAX one after the other, each in a fork of a process that has imported JAX but computed nothing: a run costs no import.

`python -m benchmarks.robustness.forked` reads a request as a line of JSON and answers with the exit status.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

SECONDS = 900  # that a program, or a command on it, may take; far more than any needs, since the machine may be busy
_LOADED = ("jax", "jax.numpy", "numpy", "optax", "flax.linen", "flax.nnx", "flax.training.train_state", "equinox")  # fmt: skip


class Forks:
    """The process that forks; it ends with this one, which holds its input open."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        command = [sys.executable, "-m", "benchmarks.robustness.forked"]
        self._server = subprocess.Popen(
            command, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(
        self, folder: Path, name: str, arguments: Sequence[str], settings: Mapping[str, str], beside: Path
    ) -> tuple[int, str, str]:
        """Exit status, standard output and standard error of `python name arguments` in a folder; `beside` is one for these.

        Raises TimeoutError if it did not end: two runs that were cut off would look the same.
        """
        request = [str(folder), name, list(arguments), dict(settings), str(beside)]
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        status = int(self._server.stdout.readline())
        if status == -signal.SIGALRM:
            raise TimeoutError(f"{name} {' '.join(arguments)} did not end within {SECONDS} s")
        out, err = ((beside / one).read_text("utf-8", "replace") for one in ("out", "err"))
        return status, out, err


def _requests() -> Iterator[list[object]]:
    for line in sys.stdin:
        yield json.loads(line)


def _serve() -> None:
    for name in _LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for request in _requests():
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            _be_the_program(*request)  # type: ignore[arg-type]
        _, ended = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(ended)}\n")
        sys.stdout.flush()


def _be_the_program(
    folder: str, name: str, arguments: list[str], settings: dict[str, str], beside: str
) -> None:
    os.chdir(folder)
    os.environ.update(settings)
    for number, stream in ((1, "out"), (2, "err")):
        file = os.open(str(Path(beside, stream)), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv, sys.path[0] = [name, *arguments], folder
    status = 0
    try:
        runpy.run_path(name, run_name="__main__")
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve()
