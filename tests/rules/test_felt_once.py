"""What a program runs once, or holds few numbers, is advice: whole runs, clocks around them, and filters."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Severity
from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.benchmarking.timing_includes_compile import TimingIncludesCompile
from jaxlint_rules.memory.scan_without_remat import ScanWithoutRemat
from jaxlint_rules.random.key_not_advanced import KeyNotAdvanced
from jaxlint_rules.sharding.replicated_put import ReplicatedPut
from jaxlint_rules.vectorization.vmap_of_jit import VmapOfJit


def levels(text: str, *rules: Rule) -> dict[str, Severity]:
    source = source_from_bytes(text.encode(), Path("program.py"), "program.py")
    return {one.name: one.severity for one in analyze([source], rules).findings}


_CLOCK = """
import time, jax, jax.numpy as jnp

def update(x):
    return x * 2

x = jnp.ones(3)
start = time.time()
LOOP
x.block_until_ready()
print("time taken:", time.time() - start, "seconds")
"""


@pytest.mark.parametrize(
    ("loop", "told"),
    [
        ("for i in range(200):\n    x = jax.jit(update)(x)", False),  # a run of many steps
        ("x = jax.jit(update)(x)", True),
    ],
)
def test_the_clock_of_a_whole_run_may_include_the_compile(loop: str, told: bool) -> None:
    assert bool(levels(_CLOCK.replace("LOOP", loop), TimingIncludesCompile())) is told


_FILTER = """
import jax, jax.numpy as jnp

def loss(gains, start, inputs):
    def step(x, u):
        for w in gains:
            x = jnp.tanh(w @ x + u)
        return x, x
    return jnp.sum(jax.lax.scan(step, start, inputs)[1])

gains = [jnp.ones((SIZE, SIZE))] * 4
print(jax.grad(loss)(gains, jnp.zeros(SIZE), jnp.ones((50, SIZE))))
"""


@pytest.mark.parametrize(("size", "severity"), [("2", Severity.INFO), ("512", Severity.WARNING)])
def test_a_scan_over_the_state_of_a_filter_is_advice(size: str, severity: Severity) -> None:
    assert levels(_FILTER.replace("SIZE", size), ScanWithoutRemat()) == {"scan-without-remat": severity}


_TRAINER = """
import jax

class Trainer:
    def __init__(self, seed):
        self.rng = jax.random.key(seed)

    def draw(self):
        return jax.random.normal(self.rng, (3,))

    def train(self, steps):
        rng = self.rng
        x = jax.random.normal(rng, (3,))
        for step in range(steps):
            rng, sub = jax.random.split(rng)
            x = x + jax.random.normal(sub, (3,))
        return x

trainer = Trainer(0)
print(trainer.draw(), trainer.train(9))
"""


def test_a_method_that_holds_the_loop_runs_once() -> None:
    source = source_from_bytes(_TRAINER.encode(), Path("program.py"), "program.py")
    found = analyze([source], [KeyNotAdvanced()]).findings
    assert {one.function: one.severity for one in found} == {
        "Trainer.draw": Severity.WARNING,
        "Trainer.train": Severity.INFO,
    }


def test_what_the_docstring_says_to_replicate_is_advice() -> None:
    text = '''
import jax

def fill(caches):
    """DOC"""
    return [jax.device_put_replicated(cache, jax.devices()) for cache in caches]
'''
    for doc, severity in (("Replicates each cache.", Severity.INFO), ("Fills them.", Severity.WARNING)):
        assert levels(text.replace("DOC", doc), ReplicatedPut()) == {"replicated-put": severity}


_LEVELS = """
import jax, jax.numpy as jnp

@jax.jit
def halve(box):
    low, high = box
    middle = (low + high) / 2
    return jnp.array([[low, middle], [middle, high]])

def grid(boxes, n):
    for level in range(n):
        boxes = jax.vmap(halve)(boxes)SHAPE
    return boxes
"""


@pytest.mark.parametrize(
    ("shape", "severity"),
    [(".reshape(-1, 2)", Severity.INFO), ("[:, 0]", Severity.WARNING)],  # twice as many boxes at each level
)
def test_a_loop_that_reshapes_its_state_has_few_iterations(shape: str, severity: Severity) -> None:
    found = levels(_LEVELS.replace("SHAPE", shape), VmapOfJit())
    assert found == {"vmap-of-jit": severity}
