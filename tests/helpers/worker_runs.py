"""Runs one program in a real worker and collects what the worker says."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from jaxlint_runtime.protocol.jobs import Capture, Job, Known, Launch, Until
from jaxlint_runtime.request import Request
from jaxlint_runtime.verify import Verification
from jaxlint_runtime.workers.process import WorkerProcess
from jaxlint_runtime.workers.process_group import Starter

# Two jitted functions that may donate.
TWO_FUNCTIONS = """
import jax, jax.numpy as jnp

@jax.jit
def first(average, sample):
    return average + 0.1 * (sample - average)

@jax.jit
def second(average, sample):
    return average + 0.2 * (sample - average)

a = b = jnp.zeros((256, 256))
for step in range(6):
    a, b = first(a, jnp.ones((256, 256)) * step), second(b, jnp.ones((256, 256)) * step)
"""


@dataclass
class Outcome:
    """Events by kind, and what the program printed."""

    events: list[dict[str, Any]] = field(default_factory=list)
    output: bytes = b""

    @property
    def captured(self) -> dict[str, Any]:
        return next(event for event in self.events if event["is"] == "captured")

    @property
    def ending(self) -> dict[str, Any]:
        return dict(self.captured["ending"])

    @property
    def functions(self) -> dict[str, dict[str, Any]]:
        return {function["function"]: function for function in self.captured["functions"]}


def run_job(
    job: Job,
    folder: Path,
    patience: float = 300.0,
    starter: Starter | None = None,
    memory_limit: int = 4 * 2**30,
    **environment: str,
) -> Outcome:
    """Run a job to `done`; Death passes through."""
    outcome = Outcome()

    def output(stream: str, data: bytes) -> None:
        outcome.output += data

    worker = WorkerProcess(
        job,
        python=sys.executable,
        folder=str(folder),
        environment={**os.environ, "JAX_PLATFORMS": "cpu", **environment},
        memory_limit=memory_limit,
        output=output,
        starter=starter,
    )
    with worker:
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            event = worker.next_event(0.2)
            if event is None:
                continue
            outcome.events.append(event)
            if event["is"] == "captured":
                worker.send(Known())
            if event["is"] in ("done", "error"):
                return outcome
    raise AssertionError(f"not done in {patience} s: {outcome.events} {outcome.output!r}")


def run_source(folder: Path, source: str, *arguments: str, **options: Any) -> Outcome:
    """Write a program and run it, without trying candidates."""
    program = folder / "program.py"
    program.write_text(textwrap.dedent(source))
    until = Until(**{name: options.pop(name) for name in ("calls", "settle", "run_for") if name in options})
    launch = Launch("script", str(program), arguments, (str(folder),))
    return run_job(Capture(launch, until=until, **options), folder)


def project_of(folder: Path, source: str, monkeypatch: Any) -> Path:
    """A project of one program, `program.py`, in `folder`, which becomes the working directory."""
    (folder / "program.py").write_text(source)
    (folder / "pyproject.toml").touch()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    return folder.resolve()


def moved(result: dict[str, Any], before: Path, after: Path) -> dict[str, Any]:
    """A result about a program in one folder, as if the program lay in another."""
    found: dict[str, Any] = json.loads(json.dumps(result).replace(str(before), str(after)))
    return found


def imported(path: Path, name: str) -> ModuleType:
    """The module of a file, run under `name`."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verify_source(folder: Path, source: str, *arguments: str, **options: Any) -> Verification:
    """Write a program, run it and try the candidates, as the command does; results are in `document`."""
    program = folder / "program.py"
    program.write_text(textwrap.dedent(source))
    options.setdefault("seconds", 0.3)
    verification = Verification(
        Request(kind="script", target=str(program), arguments=tuple(arguments), **options), examine=False
    )
    verification.run()
    return verification


def results_of(verification: Verification) -> dict[str, dict[str, Any]]:
    """The results by candidate, of programs with one function."""
    return {result["candidate"]: result for _, result in verification.document.results}
