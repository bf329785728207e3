"""The code of a Slurm or Ray job: runs the process of its errand, and passes on its messages."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

from jaxlint_runtime.protocol.errands import Errand
from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.protocol.worker_events import Done, Error
from jaxlint_runtime.workers.cleanup import own_folder
from jaxlint_runtime.workers.errand_process import ErrandProcess

_LOOK = 0.2  # seconds
# These say which devices of its machine the program used. This machine has its own.
_OF_THE_MACHINE = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_", "TPU_")


def relay(
    errand: Errand,
    say: Callable[[list[bytes]], None],
    wanted: Callable[[], bool],
    questions: Callable[[], list[bytes]],
) -> None:
    """Runs an errand in a separate process. `wanted` is called regularly: whether anyone still waits for it. `questions` are new ones
    for an errand that is asked some."""
    own = {
        name: value for name, value in errand.left.environment.items() if not name.startswith(_OF_THE_MACHINE)
    }
    errand = dataclasses.replace(errand, left=dataclasses.replace(errand.left, environment=own))
    with own_folder() as name:
        process = ErrandProcess(encode(errand), Path(name))
        try:
            while (end := process.ended()) is None:
                if not wanted():
                    return
                if errand.placing is not None and (asked := questions()):
                    process.ask(asked)
                _pass(process, say)
                time.sleep(_LOOK)
            _pass(process, say)
        finally:
            process.group.close()
    # only now, since the job may be ended once it has sent this
    say([encode(Error(f"its process {end}") if end else Done()).rstrip()])


def _pass(process: ErrandProcess, say: Callable[[list[bytes]], None]) -> None:
    lines = process.take()
    if lines:
        say(lines)
