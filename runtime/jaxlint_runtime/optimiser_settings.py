"""The options of the optimiser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TRANSFORMS = ("donation", "remat", "bf16", "kernels", "cross_entropy", "fusions", "microbatch")
ASKED = ("fp16",)  # only tried on a function on request
LAST_RESORT = ("microbatch",)  # only tried on request, or if nothing else fits the memory limit
SOURCE = "source"  # stands for edits of the source (`rewrites`)
ENVIRONMENT = "settings"  # stands for JAX settings (`rewrites.environment_variables`); only on request
EAGER = "eager"  # stands for a comparison with eager execution; only on request
LEAST_SAVED = 2**20  # bytes that rematerialisation must save to be written
PROGRAM = (SOURCE, ENVIRONMENT, EAGER)  # candidates that are tried on the whole program


def _silent(message: Any) -> None:
    """Drops a message."""


def _silent_of_two(name: str, value: Any) -> None:
    """Drops a name and its value."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The extent of the work on one function.

    `target` is a name that `targets.parse` accepts. `seconds` bounds the timing of one candidate, without
    compilation. `magnitudes` are the factors that scale floating inputs for the additional value checks, each with a
    small perturbation drawn from `seed`; the captured values themselves are always checked.
    """

    target: str = "cpu"
    transforms: tuple[str, ...] = TRANSFORMS
    seconds: float = 6.0
    seed: int = 0
    magnitudes: tuple[float, ...] = (1.0, 0.1)
    memory_limit: int | None = (
        None  # bytes that the function may need; the fastest version that fits is combined
    )
    costs: bool = False  # begin with a result about the original function
    measure: bool = True  # False: values and compiler figures only, nothing is timed
    progress: Callable[[str], None] = _silent
    inspected: Callable[[str, Any], None] = (
        _silent_of_two  # receives each version (name, `Staged`) whose figures are reported
    )
    constants: Callable[[list[dict[str, Any]]], None] = _silent  # receives the large captured arrays
