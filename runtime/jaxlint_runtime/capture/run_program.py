"""Runs a script, a module or a test suite as Python itself would, and reports how it ended."""

from __future__ import annotations

import contextlib
import enum
import importlib.util
import io
import os
import runpy
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxlint_runtime.capture.stop import Stopper, StopProgram

Compiler = Callable[[bytes, str], types.CodeType]


def _plain_compile(data: bytes, filename: str) -> types.CodeType:
    return compile(data, filename, "exec", dont_inherit=True)


class Kind(enum.StrEnum):
    """How the program is named."""

    SCRIPT = "script"
    MODULE = "module"
    PYTEST = "pytest"


class How(enum.StrEnum):
    """How the program ended."""

    FINISHED = "finished"  # by itself, including `sys.exit` and `os._exit`
    STOPPED = "stopped"  # by us
    RAISED = "raised"


@dataclass(frozen=True, slots=True)
class Ending:
    """How the program ended: `status` as in a shell, `message` in one line. `frames`: the files and lines outside
    packages on the way to what it raised, the innermost last."""

    how: How
    status: int
    message: str
    frames: tuple[tuple[str, int], ...] = ()


class HardExit(BaseException):
    """Replaces `os._exit` in the program's main thread, so that captured data survives."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def run_program(
    kind: Kind,
    target: str,
    arguments: Sequence[str],
    stopper: Stopper,
    compile_script: Compiler = _plain_compile,
    instead: Callable[[], tuple[int, str]] | None = None,
) -> Ending:
    """Runs it to its end or until it is stopped. Must be called in the main thread.

    `compile_script` compiles a script from its bytes and its name. `instead` is called in place of the program and
    returns an exit status and a description.
    """
    process = os.getpid()
    runners: dict[Kind, Callable[[str, Sequence[str]], int]] = {
        Kind.SCRIPT: lambda path, rest: _run_script(path, rest, compile_script),
        Kind.MODULE: _run_module,
        Kind.PYTEST: _run_pytest,
    }
    with _soft_exit(stopper):
        stopper.start()
        try:
            if instead is None:
                status = runners[kind](target, arguments)
                said = f"the program finished with exit status {status}"
            else:
                sys.argv[:] = [target, *arguments]
                status, said = instead()
            _join_threads(stopper)
            ending = Ending(How.FINISHED, status, said)
        except BaseException as error:
            ending = ending_of(error, stopper)
        finally:
            stopper.finish()
    if os.getpid() != process:  # a forked child that reached the end of the script: its work is done
        _flush()
        os._exit(ending.status)
    if ending.how is not How.STOPPED and stopper.requested and kind is Kind.PYTEST:
        ending = Ending(How.STOPPED, 0, f"stopped the tests {stopper.reason}")
    return ending


def ending_of(error: BaseException, stopper: Stopper | None = None) -> Ending:
    """How a program ended that raised this."""
    asked = stopper is not None and stopper.requested
    if stopper is not None and (
        isinstance(error, StopProgram) or (asked and isinstance(error, KeyboardInterrupt))
    ):
        return Ending(How.STOPPED, 0, f"stopped the program {stopper.reason}")
    if isinstance(error, HardExit):
        return Ending(How.FINISHED, error.status, f"the program called os._exit({error.status})")
    if isinstance(error, SystemExit):
        status = _exit_status(error.code)
        return Ending(How.FINISHED, status, f"the program finished with exit status {status}")
    _print_error(error)
    frames = _user_lines(error)
    where = f" ({frames[-1][0]}:{frames[-1][1]})" if frames else ""
    said = f"the program raised {type(error).__name__}: {_first_line(error)}{where}"
    return Ending(How.RAISED, 1, said, frames)


def _exit_status(code: Any) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    with contextlib.suppress(BaseException):  # as above
        print(code, file=sys.stderr)
    return 1


def _first_line(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:  # a user's `__str__` may raise anything
        return ""
    return text.strip().partition("\n")[0][:300]


def _user_lines(error: BaseException) -> tuple[tuple[str, int], ...]:
    """The frames outside installed packages, to where the program raised."""
    return tuple(
        (frame.filename, frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
        if "site-packages" not in frame.filename
        and not frame.filename.startswith(_HERE)
        and os.path.isfile(frame.filename)
        and frame.lineno is not None
    )


_MOST_FRAMES = 200  # of a traceback, the innermost ones
_HERE = str(Path(__file__).resolve().parents[1])


def _print_error(error: BaseException) -> None:
    """Prints the traceback like Python, without our own frames on top."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith((_HERE, "<frozen")):
        trace = trace.tb_next
    with contextlib.suppress(
        BaseException
    ):  # the program may have closed or replaced stderr, and its exceptions be odd
        traceback.print_exception(type(error), error, trace)


def _run_script(path: str, arguments: Sequence[str], compile_script: Compiler) -> int:
    sys.argv[:] = [path, *arguments]
    if os.path.isdir(path) or (not path.endswith((".py", ".pyw")) and _is_zip(path)):
        sys.path.insert(0, path)
        runpy.run_path(path, run_name="__main__")
        return 0
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    # a module of our own: runpy removes the one that it creates from sys.modules at the end
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = module
    with io.open_code(os.path.abspath(path)) as file:
        code = compile_script(file.read(), path)
    exec(code, module.__dict__)
    return 0


def _is_zip(path: str) -> bool:
    import zipfile

    return zipfile.is_zipfile(path)


def _run_module(name: str, arguments: Sequence[str]) -> int:
    sys.argv[:] = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)
    return 0


def _run_pytest(target: str, arguments: Sequence[str]) -> int:
    import pytest

    sys.argv[:] = ["pytest", *arguments]
    one_process = ["-n", "0"] if importlib.util.find_spec("xdist") is not None else []
    return int(pytest.main([*one_process, *arguments]))


def pytest_exit(message: str) -> BaseException:
    """The exception that ends a pytest session from within a test."""
    import pytest

    return pytest.exit.Exception(f"jaxlint: {message}", returncode=0)


def _join_threads(stopper: Stopper) -> None:
    """Waits for the program's own threads, like the interpreter at exit."""
    waiting = True
    while waiting:
        waiting = False
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join(0.05)
                waiting = waiting or thread.is_alive()


@contextlib.contextmanager
def _soft_exit(stopper: Stopper) -> Iterator[None]:
    """Turns `os._exit` of the program's own process into an exception in its main thread."""
    process, original = os.getpid(), os._exit

    def leave(status: int) -> Any:
        if os.getpid() != process or not stopper.running:
            original(status)
        if threading.current_thread() is threading.main_thread():
            raise HardExit(status)
        stopper.exception = lambda _: HardExit(status)
        stopper.interrupt()
        threading.Event().wait()  # the caller never returns, like with the real one

    os._exit = leave
    try:
        yield
    finally:
        os._exit = original


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
