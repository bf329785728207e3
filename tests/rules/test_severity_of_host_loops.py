"""How loudly rules speak of what a host loop costs: a wait that is meant, or comes now and then, and a loop that is soon
over, are advice; so are a map that is called once and layers that take more by their number."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Severity
from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.recompilation.eager_update import EagerUpdate
from jaxlint_rules.recompilation.unrolled_loop import UnrolledLoop
from jaxlint_rules.transfer.array_iteration import ArrayIteration
from jaxlint_rules.transfer.convergence_loop import ConvergenceLoop
from jaxlint_rules.transfer.host_sync_in_loop import HostSyncInLoop
from jaxlint_rules.vectorization.layer_loop import LayerLoop
from jaxlint_rules.vectorization.vmap_of_jit import VmapOfJit

_STEP = "import time, jax\n\n@jax.jit\ndef step(w, x):\n    return w - x, (w * x).sum()\n\n"
_TIMED = """
def run(w, xs):
    for x in xs:
        begun = time.time()
        w, loss = step(w, x)
        value = float(loss)
        print(value, time.time() - begun)
"""
_NOW_AND_THEN = """
def run(w, xs):
    for n, x in enumerate(xs):
        w, loss = step(w, x)
        if n % 100 == 0:
            for k in range(5):
                total = float(step(w, k)[1])
"""
_EACH = """
def run(w, xs):
    for x in xs:
        w, loss = step(w, x)
        total = float(loss)
"""


_EXPLAINED = """
def run(w, xs):
    for x in xs:
        w, loss = step(w, x)
        # COMMENT
        w = jax.block_until_ready(w)
"""
_CHECKED = "\ndef run(w, xs):\n    for x in xs:\n        w, loss = step(w, x)\n        assert TEST\n"
_STREAM = """
def run(w, xs, queue):
    for x in xs:
        w, loss = step(w, x)
        if loss == 3:
            break
        ACT
"""
_SUBSTEPS = """
class World:
    substeps: int
    def __init__(self, substeps: int = COUNT):
        self.substeps = substeps
    def step(self, x):
        for _ in range(self.substeps):
            x = x + velocity(x)
        return x

def velocity(x):
    return x @ x

@jax.jit
def advance(x):
    return World(COUNTS[0]).step(x)
"""
_BRIEF = """
settings = {"steps": COUNT}

def run(w):
    for n in range(settings["steps"]):
        w, loss = step(w, n)
        print(loss)
    return w

run(jax.numpy.ones(3))
"""
_SWEEP = """
@jax.jit
def misfit(value):
    return (value - 3.0) ** 2

def run(values):
    return [(value, float(misfit(value))) for value in values]
"""
_BATCHES = _SWEEP.replace("values", "batches")
_CHUNKS = """
@jax.jit
def chunk(w):
    return jax.lax.fori_loop(0, 100, lambda i, w: w * 0.5, w)

def run(w, end):
    for n in range(end):
        w = chunk(w)
        print(w)
"""
_HANDED_ON = """
import numpy as np
import cv2

def run(w, xs):
    for x in xs:
        w, loss = step(w, x)
        picture = np.asarray(w)
        TAKE
"""
_WAITS_FIRST = """
def run(w, xs):
    for x in xs:
        w, loss = step(w, x)
        WAIT
        print(loss)
"""
_RANKED = """
import jax.numpy as jnp

def neighbours(scores, k):
    found = {}
    for index in jnp.argsort(-scores)CUT:
        found[int(index)] = float(scores[index]) + len(found)
    return found
"""
_LONG = "    scores = jnp.zeros(4096)\n    found"
_EAGER = """
import optax

def run(w):
    opt = optax.sgd(0.1)
    state = opt.init(w)
    for n in range(COUNT):
        loss, grads = gradient(w, n)
        updates, state = opt.update(grads, state)
        w = optax.apply_updates(w, updates)
    return w

gradient = jax.jit(jax.value_and_grad(lambda w, x: (w * x).sum()))
run(jax.numpy.ones(3))
"""
_SAVES = """
def save(path, times):
    xs = jax.numpy.linspace(0.0, 1.0, times)
    with open(path, "w") as file:
        for x in xs:
            WHAT
"""
_MAPPED = """
def sweep(xs):
    mapped = jax.vmap(jax.jit(lambda x: x + 1.0))
    MORE
    return mapped(xs)
"""
_LAYERS = """
import jax.numpy as jnp

@jax.jit
def forward(layers, caches, h):
    for n, layer in enumerate(layers):
        h = h + jnp.tanh(h @ layer["w"] + TAKEN)
    return h
"""
_PERIODIC = """
def run(w, xs):
    for n, x in enumerate(xs):
        w, loss = step(w, x)
        if WHEN jax.numpy.isnan(loss):
            break
        LEAVE
        total = float(loss)
"""
_EVALUATES = """
@jax.jit
def eval_step(w, x):
    return (w * x).sum()

def measure(w, batches):
    total = 0.0
    for x in batches:
        total += float(eval_step(w, x))
    return total

def run(w, batches):
    for n, x in enumerate(batches):
        w, loss = step(w, x)
        WHEN
            print(measure(w, batches))
    return w

run(jax.numpy.ones(3), [jax.numpy.ones(3), jax.numpy.zeros(3)])
"""
_AT_THE_END = """
@jax.jit
def eval_step(w, x):
    return (w * x).sum()

def main(batches):
    w = jax.numpy.ones(3)
    FIRST
    total = 0.0
    for x in batches:
        total += float(eval_step(w, x))
    return total

main(load())
"""
_CONVERGES = """
def run(w, xs):
    n, change = 0, 1.0
    limit = COUNT
    while n < limit and change > 1e-6:
        w, loss = step(w, xs)
        change = float(loss)
        n += 1
    return w

run(jax.numpy.ones(3), jax.numpy.ones(3))
"""

# No number says when it ends.
_SETTLES = """
def run(w):
    error = jax.numpy.sum(w)
    while error > 1e-6:
        w = 0.5 * w
        error = jax.numpy.sum(w)
    return w

run(jax.numpy.ones(3))
"""


_EPOCHS = """
@jax.jit
def evaluate(w, x):
    return (w * x).sum()

def run(w, xs, held_out, epochs):
    for epoch in range(epochs):
        if TEST:
            pass
        else:
            for x in xs:
                w, loss = step(w, x)
        error = evaluate(w, held_out)
        print(f"{epoch}: {error:.3f}")
"""
_ASKED = """
def run(w, xs, config):
    for x in xs:
        w, loss = step(w, x)
        if config.OPTION:
            print(float(loss))
"""
_PROFILED = """
def run(w, xs, profile):
    for x in xs:
        w, loss = step(w, x)
        if profile:
            loss.block_until_ready()
            print(time.time())
        total = float(loss)
"""


@pytest.mark.parametrize(
    ("program", "rule", "severity"),
    [
        (_EPOCHS.replace("TEST", "epoch == 0"), HostSyncInLoop, Severity.INFO),
        (_ASKED.replace("OPTION", "use_wandb"), HostSyncInLoop, Severity.WARNING),
        (_ASKED.replace("OPTION", "verbose"), HostSyncInLoop, Severity.INFO),
        (_PROFILED, HostSyncInLoop, Severity.WARNING),
        (
            _PROFILED.replace("        total = ", "            total = "),
            HostSyncInLoop,
            Severity.INFO,
        ),
        (_TIMED, HostSyncInLoop, Severity.INFO),
        (_NOW_AND_THEN, HostSyncInLoop, Severity.INFO),
        (_EACH, HostSyncInLoop, Severity.WARNING),
        (_BRIEF.replace("COUNT", "25"), HostSyncInLoop, Severity.INFO),
        (_BRIEF.replace("COUNT", "2500"), HostSyncInLoop, Severity.WARNING),
        (_SWEEP, HostSyncInLoop, Severity.INFO),
        (_BATCHES, HostSyncInLoop, Severity.WARNING),
        (_CHUNKS, HostSyncInLoop, Severity.INFO),
        (_CHUNKS.replace("chunk", "train_step"), HostSyncInLoop, Severity.WARNING),
        (_CHUNKS.replace("chunk", "train_epoch"), HostSyncInLoop, Severity.INFO),
        (_HANDED_ON.replace("TAKE", "cv2.imwrite('now.png', picture)"), HostSyncInLoop, Severity.INFO),
        (_HANDED_ON.replace("TAKE", "kept = kept + [picture]"), HostSyncInLoop, Severity.WARNING),
        (_WAITS_FIRST.replace("WAIT", "jax.block_until_ready(w)"), HostSyncInLoop, Severity.INFO),
        (_WAITS_FIRST.replace("WAIT", "pass"), HostSyncInLoop, Severity.WARNING),
        (_EAGER.replace("COUNT", "25"), EagerUpdate, Severity.INFO),
        (_EAGER.replace("COUNT", "2500"), EagerUpdate, Severity.WARNING),
        (
            _EAGER.replace("COUNT", "2500").replace("update(grads", "update(jnp.array(grads)"),
            EagerUpdate,
            Severity.INFO,
        ),
        (_SAVES.replace("WHAT", "file.write(f'{jax.numpy.sin(x)}')"), ArrayIteration, Severity.INFO),
        (_SAVES.replace("WHAT", "total = total + jax.numpy.sin(x)"), ArrayIteration, Severity.INFO),
        (
            _SAVES.replace("WHAT", "total = total + jax.numpy.sin(x)").replace(
                "1.0, times)", "1.0, 100_000)"
            ),
            ArrayIteration,
            Severity.WARNING,
        ),
        (_RANKED.replace("CUT", "[:k]"), ArrayIteration, Severity.INFO),
        (_RANKED.replace("CUT", ""), ArrayIteration, Severity.INFO),
        (_RANKED.replace("CUT", "").replace("    found", _LONG, 1), ArrayIteration, Severity.WARNING),
        (_MAPPED.replace("MORE", "pass"), VmapOfJit, Severity.INFO),
        (_MAPPED.replace("MORE", "xs = mapped(xs)"), VmapOfJit, Severity.INFO),
        (
            _MAPPED.replace("MORE", "for _ in range(10_000):\n        xs = mapped(xs)"),
            VmapOfJit,
            Severity.WARNING,
        ),
        (_EXPLAINED, HostSyncInLoop, Severity.INFO),
        (_EXPLAINED.replace("# COMMENT", ""), HostSyncInLoop, Severity.WARNING),
        (_CHECKED.replace("TEST", "not jax.numpy.isnan(loss).item()"), HostSyncInLoop, Severity.INFO),
        (_STREAM.replace("ACT", "queue.put(x)"), HostSyncInLoop, Severity.INFO),
        (_SUBSTEPS.replace("COUNT", "2", 1), UnrolledLoop, Severity.INFO),
        (_SUBSTEPS.replace("COUNT", "200", 1), UnrolledLoop, Severity.WARNING),
        (_EVALUATES.replace("WHEN", "if n % 100 == 0:"), HostSyncInLoop, Severity.INFO),
        (_EVALUATES.replace("WHEN", "if True:"), HostSyncInLoop, Severity.WARNING),
        (
            _AT_THE_END.replace("FIRST", "for x in batches: w, loss = step(w, x)"),
            HostSyncInLoop,
            Severity.INFO,
        ),
        (_AT_THE_END.replace("FIRST", "pass"), HostSyncInLoop, Severity.WARNING),
        (_BRIEF.replace('range(settings["steps"])', "jax.numpy.arange(25)"), HostSyncInLoop, Severity.INFO),
        (
            _BRIEF.replace('range(settings["steps"])', "jax.numpy.arange(2500)"),
            HostSyncInLoop,
            Severity.WARNING,
        ),
        (_CONVERGES.replace("COUNT", "20"), ConvergenceLoop, Severity.INFO),
        (_CONVERGES.replace("COUNT", "20000"), ConvergenceLoop, Severity.WARNING),
        (_SETTLES, ConvergenceLoop, Severity.WARNING),
        (_LAYERS.replace("TAKEN", "caches[n]"), LayerLoop, Severity.INFO),
        (_LAYERS.replace("TAKEN", "1.0"), LayerLoop, Severity.INFO),
        (
            _LAYERS.replace("TAKEN", "1.0") + "\ndef build(depth: int = 24):\n    return depth\n",
            LayerLoop,
            Severity.WARNING,
        ),
    ],
)
def test_what_is_meant_or_soon_over_is_advice(program: str, rule: type[Rule], severity: Severity) -> None:
    assert _said(program, rule) == [severity]


@pytest.mark.parametrize(
    ("when", "leave", "told"),
    [
        ("n % 500 == 499 and", "if n % 100: continue", False),
        ("", "if n % 100: continue", True),
        ("n % 500 == 499 and", "pass", True),
        ("n % 500 == 499 and", "if x is None: continue", True),
    ],
)
def test_every_n_th_step_may_wait(when: str, leave: str, told: bool) -> None:
    program = _PERIODIC.replace("WHEN", when).replace("LEAVE", leave)
    assert bool(_said(program, HostSyncInLoop)) is told


def _said(program: str, rule: type[Rule]) -> list[Severity]:
    source = source_from_bytes((_STEP + program).encode(), Path("program.py"), "program.py")
    return [finding.severity for finding in analyze([source], [rule()]).findings]


_SOLVER = """
@jax.jit
def update(model, w, x):
    loss, grads = jax.value_and_grad(model)(w, x)
    return w - 0.1 * grads, loss

def run(model, w, x, limit, tolerance):
    history = []
    for _ in range(limit):
        w, loss = update(model, w, x)
        history.append(float(loss))
        WHAT
    return w, history
"""


@pytest.mark.parametrize(
    ("what", "severity"),
    [
        ("pass", Severity.WARNING),
        ("if history[-1] < tolerance: break", Severity.INFO),
        ("if converged(history[-1], tolerance): return w, history", Severity.INFO),
        ("if len(history) > 900: break", Severity.WARNING),
    ],
)
def test_a_loop_that_the_value_ends(what: str, severity: Severity) -> None:
    assert _said(_SOLVER.replace("WHAT", what), HostSyncInLoop) == [severity]
