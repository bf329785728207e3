"""How often a loop on the host runs: by numbers, and by the sizes of the arrays that it goes through."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint.staging.analysis import Reporter
from jaxlint.staging.events import IterationEvent

HEAD = """
import jax, jax.numpy as jnp
import numpy as np

def simulate(key, steps):
    return jax.lax.scan(lambda x, k: (x + jax.random.normal(k), x), 0.0, jax.random.split(key, steps))[1]

key = jax.random.key(0)
series = simulate(key, 300)
table = np.zeros((40, 3))
def unknown(x, n):
"""


class Lengths(Rule):
    code = "JAX000"
    name = "lengths"

    def __init__(self) -> None:
        self.trips: list[int | None] = []

    def on_iteration(self, event: IterationEvent, report: Reporter) -> None:
        self.trips.append(event.loop.trips)


@pytest.mark.parametrize(
    ("loop", "trips"),
    [
        ("range(7)", 7),
        ("range(1, series.shape[0])", 299),
        ("range(len(series) // 2)", 150),
        ("series", 300),
        ("jax.random.split(key, 9)", 9),
        ("table", 40),
        ("table.T", 3),
        ("range(0, table.size, 8)", 15),
        ("range(x.shape[0])", None),
        ("range(n)", None),
        ("x", None),
        ("jax.random.split(key, n)", None),
        ("range(series.shape[0] + n)", None),
    ],
)
def test_lengths(loop: str, trips: int | None, tmp_path: Path) -> None:
    code = f"{HEAD}    for i in {loop}:\n        print(i)\n"
    rule = Lengths()
    path = tmp_path / "program.py"
    path.write_text(code)
    analysis = analyze([source_from_bytes(code.encode(), path, "program.py")], [rule])
    assert not analysis.errors
    assert rule.trips == [trips]
