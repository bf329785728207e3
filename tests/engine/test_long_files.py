"""The work of a check grows with the length of a file, not with its square: counted in calls, since times vary."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from jaxlint.config import Config
from jaxlint.examine import Examination
from jaxlint.source import read_source

HEAD = "import jax\nimport jax.numpy as jnp\nimport optax\nimport flax.linen as nn\n"
# One more of them, with its number.
PIECES = {
    "jitted functions": """
@jax.jit
def step_{n}(state, limit):
    if state > limit:
        return limit
    return jnp.where(state > {n}, state, 0.0)
""",
    "functions that call the one before": """
def layer_{n}(x):
    return jnp.tanh(x) + (layer_{before}(x) if {n} else x)
""",
    "globals that functions set": """
RATE_{n} = {n}
def configure_{n}(value):
    global RATE_{n}
    RATE_{n} = value
@jax.jit
def scaled_{n}(x):
    return x * RATE_{n}
""",
    "jit in loops": """
for number in range({n}):
    step = jax.jit(lambda x: x + number)
    print(float(step(1.0)))
""",
    "modules": """
class Layer{n}(nn.Module):
    size: int = {n}
    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.size)(x))
""",
    "tests": """
def test_{n}():
    key = jax.random.key({n})
    x = jax.random.normal(key, (3, 4))
    assert jax.jit(lambda a: a * 2)(x).shape == (3, 4)
""",
}


def calls_of(path: Path, text: str) -> int:
    """The calls that Python makes for a check of `text`, those of C and of generators included."""
    count = 0

    def called(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    path.write_text(text)
    source = read_source(path, path.name)
    config = Config(path.parent)
    examination = Examination([source], (), config.rules(), config, resolve_fixes=True)
    counted(called, examination.run)
    return count


def counted(called: Callable[[FrameType, str, object], None], work: Callable[[], object]) -> None:
    threading.setprofile(called)  # the analysis has a thread of its own
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES)
def test_work_grows_with_the_length(piece: str, tmp_path: Path) -> None:
    def calls(pieces: int) -> int:
        text = HEAD + "".join(piece.format(n=n, before=n - 1) for n in range(pieces))
        return calls_of(tmp_path / "long.py", text)

    calls(2)  # what is loaded on first use
    empty, few, many = calls(0), calls(30), calls(120)
    assert (many - empty) / (few - empty) < 4.5  # four times as many pieces
