"""What one cause has is told once, and what the program shows to do no harm is advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Finding, Severity
from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.api.late_setting import LateSetting
from jaxlint_rules.memory.missing_donation import MissingDonation
from jaxlint_rules.memory.remat_whole_function import RematWholeFunction
from jaxlint_rules.numerics.unstable_logsumexp import UnstableLogsumexp
from jaxlint_rules.random.key_reuse import KeyReuse
from jaxlint_rules.recompilation.eager_update import EagerUpdate
from jaxlint_rules.recompilation.shape_varying_loop import ShapeVaryingLoop
from jaxlint_rules.transfer.convergence_loop import ConvergenceLoop
from jaxlint_rules.transfer.host_sync_in_loop import HostSyncInLoop
from jaxlint_rules.vectorization.cond_under_vmap import CondUnderVmap
from jaxlint_rules.vectorization.grad_of_jit import GradOfJit
from jaxlint_rules.vectorization.python_loop_over_batch import PythonLoopOverBatch
from jaxlint_rules.vectorization.vmap_of_jit import VmapOfJit


def _findings(text: str, *rules: Rule) -> list[Finding]:
    source = source_from_bytes(text.encode(), Path("program.py"), "program.py")
    return sorted(analyze([source], rules).findings, key=lambda one: one.sort_key)


def _levels(text: str, *rules: Rule) -> list[Severity]:
    return [one.severity for one in _findings(text, *rules)]


_LATE = """
import jax, jax.numpy as jnp
x = jnp.ones(3)
jax.config.update("jax_platform_name", "cpu")
print(x)
jax.config.update("jax_platform_name", "cpu")
"""


def test_a_slip_that_a_script_repeats_is_told_once() -> None:
    first, second = _findings(_LATE, LateSetting())
    assert (first.severity, second.severity) == (Severity.WARNING, Severity.INFO)
    assert first.reason.endswith("; the same at line 6")


_JITTER = """
import jax
def jitter(x, a, b):
    for _ in range(4):
        x = x * jax.random.uniform(a)
        x = x + jax.random.uniform(b)
    return x
"""


def test_a_slip_with_several_names_is_told_once() -> None:
    first, second = _findings(_JITTER, KeyReuse())
    assert (first.severity, second.severity) == (Severity.WARNING, Severity.INFO)
    assert first.reason.endswith("; the same at line 6")


def test_two_functions_are_told_of_each() -> None:
    head, body = _JITTER.split("        x = x * jax.random.uniform(a)\n")
    assert "uniform(b)" in body
    one = "def scale(x, a):\n    for _ in range(4):\n        x = x * jax.random.uniform(a)\n    return x\n"
    assert _levels(head + body + one, KeyReuse()) == [Severity.WARNING] * 2


_STEPS = """
import jax, optax
def run(optimizer, g, d, gs, ds, loader):
    @jax.jit
    def g_step(g, gs, x):
        grads = jax.grad(lambda g: (g["w"] * x).sum())(g)
        updates, gs = optimizer.update(grads, gs)
        return optax.apply_updates(g, updates), gs
    @jax.jit
    def d_step(d, x):
        return jax.tree.map(lambda p, q: p - q, d, jax.grad(lambda d: (d["w"] * x).sum())(d))
    for x in loader:
        g, gs = g_step(g, gs, x)
        d = d_step(d, x)
    return g, d
"""


def test_two_steps_that_are_fixed_apart_are_told_each() -> None:
    assert _levels(_STEPS, MissingDonation()) == [Severity.WARNING] * 2


_EAGER = """
import jax, optax
from data import batches
def loss(params, x):
    return ((x * params["w"]) ** 2).sum()
def train(params):
    grads_of = jax.vmap(jax.jit(jax.grad(loss)), in_axes=(None, 0))
    optimizer = optax.adam(1e-3)
    state = optimizer.init(params)
    for batch in batches:
        grads = jax.tree.map(lambda g: g.mean(0), grads_of(params, batch))
        UPDATE
    return params
train({"w": jax.numpy.ones(3)})
"""
_UPDATE = (
    "updates, state = optimizer.update(grads, state)\n        params = optax.apply_updates(params, updates)"
)


def test_rules_with_one_cure_speak_once_of_a_loop() -> None:
    both = {
        one.name: one.severity
        for one in _findings(_EAGER.replace("UPDATE", _UPDATE), EagerUpdate(), VmapOfJit())
    }
    assert both["eager-update"] is Severity.WARNING
    assert both["vmap-of-jit"] is Severity.INFO
    alone = _EAGER.replace("UPDATE", "params = jax.tree.map(lambda p, g: p - g, params, grads)")
    assert _levels(alone, VmapOfJit()) == [
        Severity.INFO
    ]  # a file of a project has to show that it takes long
    program = alone.replace("from data import batches", "import sys\nbatches = list(sys.stdin)")
    assert _levels(program, VmapOfJit()) == [Severity.WARNING]


_GRADIENT = """
import jax, optax
from data import batches
@jax.jit
def loss(params, x):
    return ((x * params["w"]) ** 2).sum()
def train(params):
    optimizer = optax.adam(1e-3)
    state = optimizer.init(params)
    for batch in batches:
        grads = jax.grad(loss)(params, batch)
        updates, state = optimizer.update(grads, state)
        params = optax.apply_updates(params, updates)
    return params
train({"w": jax.numpy.ones(3)})
"""


def test_a_gradient_beside_its_update_is_told_with_it() -> None:
    both = {one.name: one.severity for one in _findings(_GRADIENT, EagerUpdate(), GradOfJit())}
    assert both == {"eager-update": Severity.WARNING, "grad-of-jit": Severity.INFO}
    assert _levels(_GRADIENT, GradOfJit()) == [Severity.WARNING]


_ROWS = """
import jax, jax.numpy as jnp
def one(kind, a, b):
    return jax.lax.CHOICE
@jax.jit
def all(kinds, a, b):
    return jax.vmap(one)(kinds, a, b)
all(jnp.zeros(9, int), jnp.ones((9, 3, 3)), jnp.ones((9, 3)))
"""
_SOLVE = "lambda a, b: jnp.linalg.solve(a, b), lambda a, b: b, a, b"
_BOTH = "lambda a, b: jnp.linalg.solve(a, b), lambda a, b: jnp.linalg.lstsq(a, b)[0], a, b"


@pytest.mark.parametrize(
    ("choice", "severity"),
    [
        (f"cond(jnp.abs(a).max() > 1e-3, {_SOLVE})", Severity.INFO),  # solved or left
        (f"cond(jnp.abs(a).max() > 1e-3, {_BOTH})", Severity.WARNING),
        (f"cond(kind == 0, {_SOLVE})", Severity.INFO),  # rows of two kinds
        ("switch(kind, [lambda a, b: jnp.linalg.solve(a, b), lambda a, b: b], a, b)", Severity.INFO),
    ],
)
def test_rows_of_several_kinds_need_their_branch(choice: str, severity: Severity) -> None:
    assert _levels(_ROWS.replace("CHOICE", choice), CondUnderVmap()) == [severity]


_DRAWN = "x = jax.random.normal(key, (3,))\nkey, sub = jax.random.split(key)\n"
_TWICE = "x = jax.random.normal(key, (3,))\ny = jax.random.normal(key, (3,))\n"
_SHOWN = "for i in range(100):\n    x = jax.random.normal(key, (3,)) * i\n    SHOW(x)\n"


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (_DRAWN, Severity.INFO),  # no number repeats
        (_TWICE, Severity.WARNING),
        (
            "def start(key):\n    x = jax.random.normal(key, (3,))\n    return x, jax.random.split(key)\n",
            Severity.INFO,  # no number repeats, and nothing is computed from both
        ),
        (
            "def step(key):\n    x = jax.random.normal(key, (3,))\n    _, key = jax.random.split(key)\n"
            "    return x, key\n",
            Severity.INFO,  # the key is renewed
        ),
        (_SHOWN.replace("SHOW", "ax.plot"), Severity.INFO),
        (_SHOWN.replace("SHOW", "train"), Severity.WARNING),
    ],
)
def test_keys_whose_numbers_do_no_harm(text: str, severity: Severity) -> None:
    head = "import jax\nfrom model import train, ax\nkey = jax.random.key(0)\n"
    assert _levels(head + text, KeyReuse()) == [severity]


_ENCODE = """
import jax, numpy as np
@jax.jit
def encode_step(w, x):
    return w * x
def run(w, loader):
    done = []
    for x in loader:
        done.extend(np.HOST(encode_step(w, x)))
    return done
"""


@pytest.mark.parametrize(
    ("host", "severity"), [("asarray", Severity.WARNING), ("concatenate", Severity.INFO)]
)
def test_numpy_that_works_on_results_has_to_wait(host: str, severity: Severity) -> None:
    assert _levels(_ENCODE.replace("HOST", host), HostSyncInLoop()) == [severity]


_GUARDED = """
import jax, numpy as np
@jax.jit
def train_step(w, x):
    return w - x, (w * x).sum()
def run(w, loader):
    losses = []
    for x in loader:
        w, loss = train_step(w, x)
        value = float(loss)
        losses.append(value)
        GUARD
    return w, losses
"""
_DECIDES = "w = w * 0 if np.isnan(loss) else w"


@pytest.mark.parametrize(("guard", "severity"), [("pass", Severity.WARNING), (_DECIDES, Severity.INFO)])
def test_one_wait_that_decides_keeps_the_others(guard: str, severity: Severity) -> None:
    assert _levels(_GUARDED.replace("GUARD", guard), HostSyncInLoop()) == [severity]


_CAST = """
import jax
@jax.jit
def cast(state, params):
    return state + 1, params * 2
def run(state, params):
    for step in range(5000):
        state, params = cast(state, params)
    return state
"""


def test_parameters_that_no_gradient_updates_may_be_small() -> None:
    assert _levels(_CAST, MissingDonation()) == [Severity.INFO]


_GROWS = """
import jax
@jax.jit
def f(x):
    return x.sum()
class Data:
    def __init__(self):
        self.counts = {}
    def batch(self):
        self.counts["n"] += 1
        return draw(), 1
data = Data()
for i in range(100):
    x, y = data.batch()
    f(x[:, 1:])
"""


def test_a_count_in_a_dict_is_no_length() -> None:
    assert _levels(_GROWS, ShapeVaryingLoop()) == []


_PREPARED = """
import jax, jax.numpy as jnp
def stimulus(x):
    y = jnp.exp(x) * 2 + jnp.sin(x)
    return y - y.mean()
def run(loader, fit):
    for batch in loader:
        x, y = batch
        x = jax.vmap(stimulus)(x)
        fit(x, y)
"""


def test_a_fresh_batch_is_no_state() -> None:
    assert _levels(_PREPARED, VmapOfJit()) == []


_LOGGED = """
import jax
@jax.jit
def train_step(w, x):
    return w - x, (w * x).sum()
def run(w, loader):
    step = 0
    for x in loader:
        w, loss = train_step(w, x)
        if TEST:
            print(jax.tree.map(lambda one: float(one), loss), float(loss))
        step += 1
run(3.0, load())
"""


@pytest.mark.parametrize(
    ("test", "levels"),
    [
        ("step % 40 == 0", []),  # though the first step is 0
        ("not step % 40 and step", []),
        ("step % 40 != 3", [Severity.WARNING]),
        ("True", [Severity.WARNING]),
    ],
)
def test_a_wait_in_every_nth_step_costs_little(test: str, levels: list[Severity]) -> None:
    found = _levels(_LOGGED.replace("TEST", test), HostSyncInLoop())
    assert [one for one in found if one is Severity.WARNING] == levels


_ACTS = """
import jax, numpy as np
@jax.jit
def train_step(w, x):
    return w - x, (w * x).sum()
@jax.jit
def policy(w, x):
    return w * x
def run(w, env, x):
    for _ in range(5000):
        action = policy(w, x)
        x = env.step(ACTION)
        w, loss = train_step(w, x)
        print(float(loss))
"""


@pytest.mark.parametrize(
    ("action", "severity"),
    [("np.asarray(action)", Severity.INFO), ("3", Severity.WARNING)],
)
def test_a_loop_that_has_to_wait_for_the_action_waits_anyway(action: str, severity: Severity) -> None:
    assert _levels(_ACTS.replace("ACTION", action), HostSyncInLoop()) == [severity]


_SOLVER = """
import jax, jax.numpy as jnp
class Solver:
    def __init__(self, model):
        self.model = model
        self.step = jax.jit(self._step)
    def _step(self, x):
        return BODY
    def run(self, x):
        time = jnp.array(0.0)
        while time < 10.0:
            x, time = self.step(x)
        return x
Solver(load()).run(jnp.ones(3))
"""


@pytest.mark.parametrize(
    ("body", "severity"),
    [("x * 2, x.sum()", Severity.WARNING), ("self.model.advance(x), x.sum()", Severity.INFO)],
)
def test_a_wait_after_each_step_of_a_simulation_is_advice(body: str, severity: Severity) -> None:
    assert _levels(_SOLVER.replace("BODY", body), ConvergenceLoop()) == [severity]


_SAMPLED = """
import jax, jax.numpy as jnp
def pick(key, logits):
    probabilities = jax.nn.softmax(logits)
    USE
"""


@pytest.mark.parametrize(
    ("use", "severity"),
    [
        ("return jax.random.categorical(key, jnp.log(probabilities) / 2)", Severity.INFO),
        ("logs = jnp.log(probabilities); return jax.random.categorical(key, logs)", Severity.INFO),
        ("logs = jnp.log(probabilities); return jax.random.categorical(key, logs), logs", Severity.WARNING),
        ("return jnp.log(probabilities)", Severity.WARNING),
    ],
)
def test_no_draw_needs_the_logarithm_of_zero(use: str, severity: Severity) -> None:
    assert _levels(_SAMPLED.replace("USE", use), UnstableLogsumexp()) == [severity]


_TABLE = """
import jax, jax.numpy as jnp
def fill(xs, sizes):
    table = jnp.zeros(len(sizes))
    for i in range(len(sizes)):
        table = table.at[i].set(VALUE)
    return table
fill(jnp.ones((40, 3)), list(range(40)))
"""


@pytest.mark.parametrize(
    ("value", "levels"),
    [
        ("jnp.tanh(xs[i]).sum()", [Severity.WARNING]),
        ("float(xs[i, 0]) * 2", [Severity.INFO]),  # elements are moved
        ("jnp.tanh(xs[i, 0]) + xs[:i].sum()", []),  # of another size in each iteration
    ],
)
def test_a_table_whose_elements_are_moved_once_is_advice(value: str, levels: list[Severity]) -> None:
    assert _levels(_TABLE.replace("VALUE", value), PythonLoopOverBatch()) == levels


_EAGER_LOOP = """
import jax, optax

@jax.jit
def loss_and_grad(w, x):
    return jax.value_and_grad(lambda w: ((x @ w) ** 2).mean())(w)

def fit(w, batches, optimizer, state):
    losses = []
    for x in batches:
        loss, grads = loss_and_grad(w, x)
        updates, state = UPDATE
        w = optax.apply_updates(w, updates)
        WAIT
    return w, losses
"""


@pytest.mark.parametrize(
    ("update", "wait", "expected"),
    [
        ("optimizer.update(grads, state)", "print(float(loss))", [Severity.WARNING, Severity.INFO]),
        ("jax.jit(optimizer.update)(grads, state)", "print(float(loss))", [Severity.WARNING]),
        # This has a fix of its own.
        ("optimizer.update(grads, state)", "losses.append(float(loss))", [Severity.WARNING] * 2),
    ],
)
def test_a_wait_in_a_step_that_is_not_compiled_is_told_with_it(
    update: str, wait: str, expected: list[Severity]
) -> None:
    program = _EAGER_LOOP.replace("UPDATE", update).replace("WAIT", wait)
    assert _levels(program, EagerUpdate(), HostSyncInLoop()) == expected


_REMAT = """
import flax.linen as nn

def prepared(layer, remat):
    return nn.remat(layer, prevent_cse=False) if remat else layer
"""
_STACK = "import flax.linen as nn\nfrom layers import prepared\n\nlayers = nn.{}(prepared(nn.Dense, True))\n"


@pytest.mark.parametrize(("used", "told"), [("scan", False), ("vmap", True)])
def test_a_module_that_another_file_scans_needs_no_barriers(used: str, told: bool) -> None:
    files = {"layers.py": _REMAT, "stack.py": _STACK.format(used)}
    sources = [source_from_bytes(text.encode(), Path(name), name) for name, text in files.items()]
    assert bool(analyze(sources, [RematWholeFunction()]).findings) == told


def test_a_function_that_says_so_is_eager_on_purpose() -> None:
    program = _EAGER_LOOP.replace("UPDATE", "optimizer.update(grads, state)").replace("WAIT", "pass")
    assert _levels(program, EagerUpdate()) == [Severity.WARNING]
    assert _levels(program.replace("def fit", "def fit_eager"), EagerUpdate()) == [Severity.INFO]
