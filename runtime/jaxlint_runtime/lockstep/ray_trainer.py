"""Programs whose processes Ray's `JaxTrainer` starts: the script is the driver, and each worker calls one of its functions.

Ray starts the workers, on any machine of its cluster, and connects them. They import jaxlint from where the driver found it.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from jaxlint_runtime.capture.import_hooks import AfterImport
from jaxlint_runtime.capture.run_program import Kind, run_program
from jaxlint_runtime.capture.stop import Stopper
from jaxlint_runtime.protocol.launch_records import RankJob

_TRAINER = "ray.train.v2.jax.jax_trainer"
_LOOP = "train_loop_per_worker"


@dataclass(frozen=True, slots=True)
class Way:
    """How a worker finds the shared folder and jaxlint. `boot`: the file that lends packages, `lent` and `missing` what it lends."""

    folder: str
    boot: str
    lent: str
    missing: str


def drive(way: Way, job: RankJob) -> None:
    """Runs the script, whose trainer starts the processes. Ends this process."""
    AfterImport({_TRAINER: lambda module: _on_trainer(module, way)}).install()
    launch = job.launch
    kind = Kind(launch.kind)
    target = launch.target if kind is not Kind.SCRIPT else os.path.abspath(launch.target)
    if kind is not Kind.SCRIPT:
        sys.path.insert(0, os.getcwd())
    sys.exit(run_program(kind, target, launch.arguments, Stopper()).status)


def _on_trainer(module: ModuleType, way: Way) -> None:
    """The module with the trainer was imported: its workers take part from now on."""
    trainer: Any = module.JaxTrainer  # type: ignore[attr-defined]
    create = trainer.__init__

    @functools.wraps(create)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if args:
            args = (watched(args[0], way), *args[1:])
        elif _LOOP in kwargs:
            kwargs[_LOOP] = watched(kwargs[_LOOP], way)
        create(self, *args, **kwargs)

    trainer.__init__ = init


def watched(loop: Callable[..., Any], way: Way) -> Callable[..., Any]:
    """The function for the workers. It is pickled as code, since they do not find jaxlint by themselves: it names no module of ours."""
    folder, boot, lent, missing = way.folder, way.boot, way.lent, way.missing

    @functools.wraps(loop)
    def train_loop_per_worker(*config: Any) -> Any:
        import importlib.util

        spec: Any = importlib.util.spec_from_file_location("jaxlint_boot", boot)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.lend(lent, missing)
        from jaxlint_runtime.lockstep.ray_trainer import call_in_worker

        return call_in_worker(folder, loop, config)

    return train_loop_per_worker


def call_in_worker(folder: str, loop: Callable[..., Any], config: tuple[Any, ...]) -> Any:
    """Calls the user's function in a worker, as a process of the program."""
    from jaxlint_runtime.lockstep.rank import take_part

    return take_part(Path(folder), lambda: loop(*config))
