"""The options of `verify` for the program, its interpreter and its limits."""

from __future__ import annotations

import functools
import importlib.util
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import click

from jaxlint.cli.common import Failure

_Command = TypeVar("_Command", bound=Callable[..., Any])
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_CALLS = 20  # of the busiest function, before the program is stopped


class _Size(click.ParamType):
    """A number of bytes: 512MB, 16GB, 1.5g, 1000000."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", str(value), re.IGNORECASE)
        if not found:
            self.fail(f"{value!r} is not a size; write one like 512MB or 16GB", param, ctx)
        return int(float(found[1]) * _UNITS[found[2].lower()])


_OPTIONS = (
    click.argument("arguments", metavar="[PROGRAM] [-- ARGS]...", nargs=-1, type=click.UNPROCESSED),
    click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does."),
    click.option("--pytest", "tests", is_flag=True, help="Run the tests with pytest."),
    click.option("--python", metavar="PATH", help="The interpreter to run the program with (this one)."),
    click.option(
        "--calls",
        type=click.IntRange(min=0),
        help="Stop the program after N calls of its busiest jitted function; 0: run to the end. By default after 20 calls "
        "of the function that takes the most time, once a function trains and no new one appears; tests: 0.",
    ),
    click.option(
        "--for",
        "run_for",
        type=click.FloatRange(min=0),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Stop the program this long after its first jitted call; 0: run to the end.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=600.0,
        show_default=True,
        metavar="SECONDS",
        help="Time limit for the program, and then for the candidates of each function.",
    ),
    click.option(
        "--memory-limit-worker",
        "memory_limit",
        type=_Size(),
        help="Memory for the program and its children (90% of free memory).",
    ),
    click.option(
        "--memory-limit",
        "device_memory",
        type=_Size(),
        help="Memory of the device: combine the fastest versions that fit, instead of the smallest.",
    ),
    click.option(
        "--capture-bytes",
        type=_Size(),
        help="Memory for copies of the functions' inputs (a sixteenth of the free memory, at least 512 MiB).",
    ),
    click.option("--include-packages", is_flag=True, help="Also capture functions of installed packages."),
)


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The program, its interpreter, and when to stop it."""

    arguments: tuple[str, ...]
    module: str | None
    tests: bool
    python: str | None
    calls: int | None
    run_for: float
    timeout: float
    memory_limit: int | None
    device_memory: int | None
    capture_bytes: int | None
    include_packages: bool

    def for_worker(self) -> dict[str, Any]:
        """The part of a request about the program. Raises Failure, and ModuleNotFoundError if JAX is missing."""
        kind, target, rest = _program(self.arguments, self.module, self.tests)
        if self.python is None and importlib.util.find_spec("jax") is None:
            raise ModuleNotFoundError("jax is not installed", name="jax")
        calls = self.calls
        if calls is None:
            calls = 0 if self.tests else _CALLS
        return {
            "kind": kind,
            "target": target,
            "arguments": rest,
            "python": self.python or sys.executable,
            "calls": calls or None,
            "settle": self.calls is None,
            "run_for": self.run_for or None,
            "timeout": self.timeout,
            "memory_limit": self.memory_limit,
            "device_memory": self.device_memory,
            "capture_bytes": self.capture_bytes,
            "include_packages": self.include_packages,
        }


def program_options(command: _Command) -> _Command:
    """Adds the options to a command, which receives them as one `program: ProgramOptions`."""
    names = [field.name for field in fields(ProgramOptions)]

    @functools.wraps(command)
    def wrapper(**values: Any) -> Any:
        program = ProgramOptions(**{name: values.pop(name) for name in names})
        return command(program=program, **values)

    decorated: Any = wrapper
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _program(arguments: tuple[str, ...], module: str | None, tests: bool) -> tuple[str, str, tuple[str, ...]]:
    """The program: its kind, name and arguments."""
    if module is not None and tests:
        raise click.UsageError("-m and --pytest exclude each other")
    if module is not None:
        return "module", module, arguments
    if tests:
        return "pytest", "pytest", arguments
    if not arguments:
        raise click.UsageError("name the program to run: a script, -m MODULE or --pytest")
    if arguments[0].endswith(".ipynb"):
        script = "`jupyter nbconvert --to script`"
        raise Failure(f"{arguments[0]}: a notebook, which verify cannot run; convert it with {script}")
    return "script", arguments[0], arguments[1:]
