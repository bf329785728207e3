"""How loudly rules speak of code by what it is there for, and by what is known of those who use it: a cost beside the work of
the program is advice, and so is one whose effect only an unseen caller knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jaxlint.finding import Severity
from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.api.list_argument import ListArgument
from jaxlint_rules.memory.missing_donation import MissingDonation
from jaxlint_rules.precision.float64_without_x64 import Float64WithoutX64
from jaxlint_rules.purity.captured_module import CapturedModule
from jaxlint_rules.purity.impure_call import ImpureCall
from jaxlint_rules.random.key_as_default import KeyAsDefault
from jaxlint_rules.random.key_reuse import KeyReuse
from jaxlint_rules.recompilation.jit_of_fresh_function import JitOfFreshFunction
from jaxlint_rules.recompilation.unrolled_loop import UnrolledLoop
from jaxlint_rules.tracing.same_branches import SameBranches
from jaxlint_rules.transfer.array_iteration import ArrayIteration
from jaxlint_rules.transfer.device_put_in_loop import DevicePutInLoop
from jaxlint_rules.transfer.host_sync_in_loop import HostSyncInLoop
from jaxlint_rules.vectorization.cond_under_vmap import CondUnderVmap
from jaxlint_rules.vectorization.vmap_of_jit import VmapOfJit

INFO, WARNING = Severity.INFO, Severity.WARNING

_SYNC = """
import jax
LIBRARY

@jax.jit
def train_step(w, x):
    return w - x

def NAME(w, xs):
    for x in xs:
        w = train_step(w, x)
        print(w)
"""
_DRAWS = _SYNC.replace("LIBRARY", "import matplotlib.pyplot as plt")
_OPTION = """
import jax

@jax.jit
def train_step(w, x):
    return w - x

def run(w, xs, verbose, limit):
    for x in xs:
        w = train_step(w, x)
        if TEST:
            print(w)

run(jax.numpy.ones(3), [1.0] * 1000, True, 3)
"""
_EPOCHS = """
import jax

@jax.jit
def CALLED(w):
    def body(w, _):
        return BODY(w), None
    return jax.lax.scan(body, w, None, length=100)[0]

def train_step(w):
    return w * 0.5

def attend(w):
    return w * 0.5

def run(w, xs):
    for x in xs:
        w = CALLED(w + x)
        print(w)
"""
_FILLED = """
import jax
import numpy as np

@jax.jit
def apply(x):
    return x * 2.0

def run(w, batches, out):
    for n, batch in enumerate(batches):
        LINE
"""
_STEP = """
import jax

@jax.jit
def train_step(params, x):
    grads = jax.grad(lambda p: ((p["w"] * x) ** 2).sum())(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

def run(xs):
    params = {"w": jax.numpy.ones((1000, 1000))}
    for x in xs:
        params = train_step(params, x)
    return params
"""
_MASKS = """
import jax
from models import net

def compare(params, x, key):
    def network(x):
        GIVEN

    first = network(x)
    return (first - network(x * 2.0)).sum()

def take(params, x):
    return compare(params, x, jax.random.key(0))
"""
_DUMMY = """
import jax

def make(CALLED):
    key = jax.random.key(0)
    return CALLED(key, jax.random.normal(key, (1, 28)))
"""
_FRESH = """
import jax
import jax.numpy as jnp

class Base:
    @classmethod
    def compile(cls):
        cls.step = jax.jit(cls.step, static_argnums=0)

class Derived(BASE):
    def step(self, x):
        def up(x):
            return x + 1.0
        return jax.lax.switch(jnp.int32(x > 0), [up, lambda x: x], x)

    def learn(self, x):
        for _ in range(1000):
            x = self.step(x)
        return x

Derived().learn(jax.numpy.zeros(()))
"""
_TABLE = """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def train_step(w, table):
    return w + table

def run(w, batches, parts):
    table = np.ones((100, 100))
    for HEAD:
        BODY
"""
_CASTS = """
import jax.numpy as jnp

def bits(x):
    a = jnp.rint(x).astype(jnp.uint64)
    return a << jnp.arange(8, dtype=jnp.uint64)
"""
_BRANCHES = """
import jax

def double(x):
    return x * 2.0

@jax.jit
def choose(x):
    # COMMENT
    return jax.lax.cond(x.sum() > 0, double, double, x)
"""
_CAPTURED = """
import jax
from flax import nnx

def restore(saved, model):
    nnx.update(model, saved)

def record(saved, obs):
    model = nnx.Linear(3, 4, rngs=nnx.Rngs(0))
    BEFORE

    @jax.jit
    def act(obs):
        return model(obs)

    AFTER
    return act(obs)
"""
_ALONG = """
import jax
import jax.numpy as jnp

@jax.jit
def fold(xs, w):
    total = jnp.zeros(())
    for i in range(xs.shape[0]):
        total = total + OP
    return total
"""
_MAPPED = """
import jax
import jax.numpy as jnp

def one(x):
    return jax.lax.cond(x.sum() > 0, lambda x: OP, lambda x: 2 * OP, x)

many = jax.vmap(one)(jnp.ones((5, 4, 4)))
"""
_DEFAULT = """
import jax

def NAME(path, key=jax.random.key(0)):
    return jax.random.normal(key, (3,))
"""
_NUMBER = """
import numpy as np
import jax.numpy as jnp

def scale(w):
    size = (np.sum(np.abs(w)) ** 2 / np.sum(w**2)).tolist()
    return jnp.sqrt(size)

def total():
    return jnp.sum(jnp.ones(3).tolist())
"""
_SWEEP = """
import jax
import jax.numpy as jnp

def change(x):
    y = jnp.sin(x) * jnp.cos(x)
    return y + jnp.exp(y) - x

def contexts(n, spread):
    return jax.vmap(change)(jnp.ones((n, 3)) * spread)

for n in (20, 30, 40, 50, 60):
    for k in range(1000):
        made = [contexts(k, spread) for spread in (1.0, 2.0)]
"""


@pytest.mark.parametrize(
    ("program", "rule", "said"),
    [
        (_DRAWS.replace("NAME", "plot_path"), HostSyncInLoop, [INFO]),
        (_DRAWS.replace("NAME", "run"), HostSyncInLoop, [WARNING]),
        # Nothing in the file draws, whatever the function is called.
        (_SYNC.replace("LIBRARY", "").replace("NAME", "plot_path"), HostSyncInLoop, [WARNING]),
        (_SYNC.replace("LIBRARY", "").replace("NAME", "convert_weights"), HostSyncInLoop, [INFO]),
        (_OPTION.replace("TEST", "verbose"), HostSyncInLoop, [INFO]),
        (_OPTION.replace("TEST", "limit > 2"), HostSyncInLoop, [WARNING]),
        (_EPOCHS.replace("CALLED", "advance").replace("BODY", "train_step"), HostSyncInLoop, [INFO]),
        (_EPOCHS.replace("CALLED", "train_step2").replace("BODY", "attend"), HostSyncInLoop, [WARNING]),
        (_FILLED.replace("LINE", "out[n] = np.asarray(apply(batch))"), HostSyncInLoop, [INFO]),
        (_FILLED.replace("LINE", "w = apply(w); out[n] = np.asarray(w)"), HostSyncInLoop, [WARNING]),
        (_STEP, MissingDonation, [WARNING]),
        (_STEP.partition("def run")[0], MissingDonation, [INFO]),
        (
            _MASKS.replace("GIVEN", 'return net.apply(params, x, rngs={"dropout": key})'),
            KeyReuse,
            [INFO],
        ),
        # In a file of a project two calls that both draw somewhere may mean to share their numbers.
        (_MASKS.replace("GIVEN", "return x + jax.random.normal(key, x.shape)"), KeyReuse, [INFO]),
        (_DUMMY.replace("CALLED", "init_fn"), KeyReuse, []),
        (_FRESH.replace("BASE", "Base"), JitOfFreshFunction, []),
        (_FRESH.replace("BASE", "object"), JitOfFreshFunction, [WARNING]),
        (
            _TABLE.replace("HEAD", "batch in batches").replace("BODY", "w = train_step(w, table)"),
            DevicePutInLoop,
            [WARNING],
        ),
        (
            _TABLE.replace("HEAD", "n, part in parts.items()").replace(
                "BODY", "w[n] = jnp.take(part, jnp.asarray(table))"
            ),
            DevicePutInLoop,
            [INFO],
        ),
        (_CASTS, Float64WithoutX64, [WARNING]),
        (_BRANCHES.replace("COMMENT", "the same for now"), SameBranches, []),
        (_BRANCHES.replace("COMMENT", "one or the other"), SameBranches, [WARNING]),
        (
            _CAPTURED.replace("BEFORE", "restore(saved, model)").replace("AFTER", "pass"),
            CapturedModule,
            [],
        ),
        (
            _CAPTURED.replace("BEFORE", "pass").replace("AFTER", "restore(saved, model)"),
            CapturedModule,
            [WARNING],
        ),
        (_ALONG.replace("OP", "jnp.where(xs[i] > 0, w, 0.0)"), UnrolledLoop, [INFO]),
        (_ALONG.replace("OP", "jnp.dot(xs[i], jnp.tanh(w @ xs[i]))"), UnrolledLoop, [WARNING]),
        (_MAPPED.replace("OP", "jnp.argsort(x) * 1.0"), CondUnderVmap, [INFO]),
        (_MAPPED.replace("OP", "jnp.linalg.inv(x)"), CondUnderVmap, [WARNING]),
        (_DEFAULT.replace("NAME", "download_model"), KeyAsDefault, [INFO]),
        (_DEFAULT.replace("NAME", "augment"), KeyAsDefault, [INFO]),
        (
            _DEFAULT.replace("NAME", "augment") + "\nx = augment('a', jax.random.key(1))\n",
            KeyAsDefault,
            [INFO],
        ),
        (_DEFAULT.replace("NAME", "augment") + "\nx = augment('a')\n", KeyAsDefault, [WARNING]),
        # A sum has no axes, so `tolist` gives a number.
        (_NUMBER, ListArgument, [Severity.ERROR]),
        # The variable of a comprehension is no state of the loop.
        (_SWEEP, VmapOfJit, []),
    ],
)
def test_purpose_and_use_decide_the_severity(program: str, rule: type[Rule], said: list[Severity]) -> None:
    assert _said(program, rule, "program.py") == said


@pytest.mark.parametrize(
    ("path", "said"),
    [("archive/old_run.py", [INFO]), ("plotting/run.py", [INFO]), ("src/run.py", [WARNING])],
)
def test_what_lies_beside_the_work_is_advice(path: str, said: list[Severity]) -> None:
    assert _said(_SYNC.replace("LIBRARY", "").replace("NAME", "run"), HostSyncInLoop, path) == said


_CELL = '{"cells": [{"cell_type": "code", "source": %s, "metadata": {}, "outputs": []}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


def test_a_cell_that_runs_twice_reads_what_was_donated() -> None:
    assert _said(_CELL % json.dumps(_STEP), MissingDonation, "program.ipynb") == [INFO]


def test_a_notebook_shows_at_once_what_it_prints() -> None:
    text = "import jax\n\n@jax.jit\ndef f(x):\n    print(x)\n    return x + 1\n\nf(1.0)\n"
    assert _said(text, ImpureCall, "lesson.py") == [WARNING]
    assert _said(_CELL % json.dumps(text), ImpureCall, "lesson.ipynb") == [INFO]


def test_a_loop_that_is_also_compiled_is_told_once() -> None:
    program = """
import jax
import jax.numpy as jnp

def fold(xs):
    total = jnp.zeros(())
    for i in range(xs.shape[0]):
        total = total + jnp.tanh(xs[i])
    return total

CALLED
print(fold(jnp.ones(10_000)))
"""
    assert _said(program.replace("CALLED", ""), ArrayIteration, "program.py") == [WARNING]
    assert (
        _said(program.replace("CALLED", "jax.jit(fold)(jnp.ones(100))"), ArrayIteration, "program.py") == []
    )


def _said(program: str, rule: type[Rule], path: str) -> list[Severity]:
    source = source_from_bytes(program.encode(), Path(path), path)
    return [finding.severity for finding in analyze([source], [rule()]).findings]
