"""What a caller may ask of the optimiser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TRANSFORMS = ("donation", "remat", "bf16", "kernels", "cross_entropy", "fusions", "microbatch")
ASKED = ("fp16",)  # tried on a function only where it is asked for
LAST_RESORT = (
    "microbatch",
)  # tried only where they are asked for, or where nothing else fits the memory limit
SOURCE = "source"  # stands for edits of the source (`rewrites`)
ENVIRONMENT = (
    "settings"  # stands for settings of JAX (`rewrites.environment_variables`); only where it is asked for
)
EAGER = "eager"  # stands for a comparison with the program operation by operation; only where it is asked for
PROGRAM = (SOURCE, ENVIRONMENT, EAGER)  # what is tried on the whole program


def _silent(message: Any) -> None:
    """Drop a message."""


def _silent_of_two(name: str, value: Any) -> None:
    """Drop a name and what it names."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How far to go for one function.

    `target` is a name that `targets.parse` accepts. `seconds` bounds the timing of one candidate, compile time
    apart. `magnitudes` are the factors by which floating inputs are scaled for the extra value checks, each with
    a small perturbation drawn from `seed`; the captured values themselves are always checked.
    """

    target: str = "cpu"
    transforms: tuple[str, ...] = TRANSFORMS
    seconds: float = 6.0
    seed: int = 0
    magnitudes: tuple[float, ...] = (1.0, 0.1)
    memory_limit: int | None = (
        None  # bytes that the function may need; the fastest version that fits is combined
    )
    costs: bool = False  # begin with a result on what the function costs as it is
    measure: bool = True  # False: values and compiler figures only, nothing is timed
    progress: Callable[[str], None] = _silent
    inspected: Callable[[str, Any], None] = (
        _silent_of_two  # told each version (name, `Staged`) whose figures are reported
    )
    constants: Callable[[list[dict[str, Any]]], None] = _silent  # told the large arrays that it captures
