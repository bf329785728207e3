"""What separates the warnings of a file of a project that are worth telling from the others: independent iterations, small networks,
reads that come after a store, and two rules about one formula. Each comes with its look-alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jaxlint.config import load_config
from jaxlint.engine import check
from jaxlint.finding import Severity

INFO, WARNING, ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR

_JIT = """
import jax
import jax.numpy as jnp
import problems

def solve(x, start):
    @jax.jit
    def step(y):
        return y - 0.1 * jax.grad(lambda z: jnp.sum((z - x) ** 2))(y)
    for _ in range(500):
        start = step(start)
    return start

def main(x, start):
    found = []
    for problem in problems.read():
        LOOP
    return found, start
"""
_WIDTHS = """# a transformer
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
import data

class Net(nn.Module):
    hidden_size: int = SIZE

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = nn.Dense(WIDTH)(x)
        return nn.Dense(data.num_classes)(x)

net = Net()
tx = optax.adam(1e-3)

@jax.jit
def step(params, moments, x):
    grads = jax.grad(lambda p: jnp.mean(net.apply(p, x)))(params)
    updates, moments = tx.update(grads, moments, params)
    return optax.apply_updates(params, updates), moments

def main(params):
    moments = tx.init(params)
    for x in data.batches():
        params, moments = step(params, moments, x)
    return params
"""
_STORED = """
import jax
import jax.numpy as jnp

class Cell:
    def gate(self, x):
        return jax.nn.sigmoid(x @ self.weights)

    def forward(self, x, weights):
        self.weights, self.bias = weights
        return self.gate(x) + self.bias

cell = Cell()

@jax.jit
def loss(weights, x):
    return jnp.sum(cell.forward(x, weights))

loss((jnp.ones((3, 3)), jnp.ones(3)), jnp.ones(3))
MORE
"""
_FORMULA = """
import jax
import jax.numpy as jnp

@jax.jit
def loss(x):
    p = jax.nn.sigmoid(x)
    return jnp.sum(jnp.log(p) + jnp.log1p(-ARGUMENT))

jax.grad(loss)(jnp.ones(3))
"""
_SELECTED = """
import jax
import jax.numpy as jnp

def when(number):
    def apply(x, key, i):
        return jax.lax.cond(TEST, lambda a: a + jax.random.normal(key, a.shape), lambda a: a, x)
    return apply

@jax.jit
def jitter(x, key):
    first = when(0)
    for i in range(4):
        x = first(x, key, i)
    return x

jitter(jnp.ones(3), jax.random.key(0))
"""
_WORDS = """
import jax
import optax
import jax.numpy as jnp
from flax import nnx
import data
IMPORT

@jax.jit
def step(params, moments, x):
    grads = jax.grad(lambda p: data.loss(p, x))(params)
    updates, moments = tx.update(grads, moments, params)
    return optax.apply_updates(params, updates), moments

tx = optax.adam(1e-3)
params = data.init()
moments = tx.init(params)
for x in data.batches():
    params, moments = step(params, moments, x)
"""


def levels(folder: Path, text: str, name: str) -> list[Severity]:
    file = folder / "program.py"
    file.write_text(text)
    found = check([file], load_config([file]).with_options(severity=INFO), use_cache=False).findings
    return [one.severity for one in found if one.name == name]


@pytest.mark.parametrize(
    ("loop", "severity"),
    [
        ("found.append(solve(x, start))", INFO),  # each solves a problem of its own
        ("start = solve(x, start)", WARNING),  # each goes on from the one before
    ],
)
def test_independent_iterations_may_compile(tmp_path: Path, loop: str, severity: Severity) -> None:
    assert levels(tmp_path, _JIT.replace("LOOP", loop), "jit-in-loop") == [severity]


@pytest.mark.parametrize(
    ("size", "width", "severity"),
    [
        ("64", "self.hidden_size", INFO),
        ("512", "self.hidden_size", WARNING),
        ("64", "2 * self.hidden_size", INFO),
        ("64", "8 * self.hidden_size", WARNING),
        ("64", "data.size", WARNING),  # nothing says how wide this layer is
    ],
)
def test_the_widths_that_are_written_down_count(
    tmp_path: Path, size: str, width: str, severity: Severity
) -> None:
    text = _WIDTHS.replace("SIZE", size).replace("WIDTH", width)
    assert levels(tmp_path, text, "missing-donation") == [severity]


@pytest.mark.parametrize(
    ("imported", "severity"), [("from jax import pmap", INFO), ("devices = jax.sharding", WARNING)]
)
def test_what_is_only_imported_says_nothing(tmp_path: Path, imported: str, severity: Severity) -> None:
    assert levels(tmp_path, _WORDS.replace("IMPORT", imported), "missing-donation") == [severity]


def test_a_comment_about_donation_has_decided(tmp_path: Path) -> None:
    text = _WORDS.replace("IMPORT", "devices = jax.sharding").replace(
        "@jax.jit", "# do not donate: the target network reads it\n@jax.jit"
    )
    assert levels(tmp_path, text, "missing-donation") == [INFO]


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ("", WARNING),
        ("cell.forward(jnp.ones(3), (jnp.ones((3, 3)), jnp.ones(3)))\nprint(cell.weights)", WARNING),
        ("print(cell.weights)", ERROR),
        ("print(cell.gate(jnp.ones(3)))", ERROR),
    ],
)
def test_a_tracer_that_each_use_stores_first_fails_nothing(
    tmp_path: Path, more: str, severity: Severity
) -> None:
    found = levels(tmp_path, _STORED.replace("MORE", more), "tracer-leak")
    assert found
    assert (ERROR in found) == (severity is ERROR)


@pytest.mark.parametrize(("argument", "both"), [("p", False), ("jax.nn.sigmoid(2 * x)", True)])
def test_one_formula_is_told_once(tmp_path: Path, argument: str, both: bool) -> None:
    text = _FORMULA.replace("ARGUMENT", argument)
    told = [
        severity
        for name in ("unstable-logsumexp", "reached-singularity")
        for severity in levels(tmp_path, text, name)
        if severity is WARNING
    ]
    assert len(told) == 1 + both


@pytest.mark.parametrize(("test", "count"), [("i == number", 0), ("x[0] > 0", 1)])
def test_a_key_of_one_iteration_does_not_repeat(tmp_path: Path, test: str, count: int) -> None:
    assert len(levels(tmp_path, _SELECTED.replace("TEST", test), "key-reuse")) == count


@pytest.mark.parametrize(
    ("first", "second", "count"), [("[:, 0]", "[:, 1]", 0), ("[:, 0]", "[:, 0]", 1), ("[:, 0]", "[:, i]", 1)]
)
def test_parts_of_one_split_of_many_keys(tmp_path: Path, first: str, second: str, count: int) -> None:
    text = f"""
import jax

def both(keys, i):
    a = jax.vmap(jax.random.split)(keys){first}
    b = jax.vmap(jax.random.split)(keys){second}
    return a, b

both(jax.random.split(jax.random.key(0), 3), 1)
"""
    assert len(levels(tmp_path, text, "key-reuse")) == count


@pytest.mark.parametrize(("steps", "severity"), [("10000", INFO), ("10", WARNING), ("n", WARNING)])
def test_the_steps_that_are_open_when_a_clock_stops(tmp_path: Path, steps: str, severity: Severity) -> None:
    text = f"""
import time
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return jnp.tanh(x @ x)

def main(x, n):
    start = time.time()
    for _ in range({steps}):
        x = step(x)
    print(time.time() - start)
    return x

main(jnp.ones((9, 9)), 3)
"""
    assert levels(tmp_path, text, "unsynced-timing") == [severity]


@pytest.mark.parametrize(("shape", "count"), [("(len(i), 3)", 0), ("(3,)", 1)])
def test_items_made_many_at_a_time(tmp_path: Path, shape: str, count: int) -> None:
    text = f"""
import jax
from torch.utils.data import Dataset

class Points(Dataset):
    def __getitem__(self, i):
        return jax.random.normal(self.key, {shape})
"""
    assert len(levels(tmp_path, text, "jax-in-dataset")) == count


@pytest.mark.parametrize(("rate", "count"), [("", 0), (", dropout_p=0.0", 0), (", dropout_p=0.1", 1)])
def test_a_layer_that_drops_nothing_draws_nothing(tmp_path: Path, rate: str, count: int) -> None:
    text = f"""
import equinox as eqx
import jax
import jax.numpy as jnp

class Block(eqx.Module):
    attention: eqx.nn.MultiheadAttention

    def __init__(self, key):
        self.attention = eqx.nn.MultiheadAttention(2, 8{rate}, key=key)

    def __call__(self, x, key):
        return self.attention(x, x, x, key=key)

class Net(eqx.Module):
    blocks: list

    def __init__(self, key):
        self.blocks = [Block(one) for one in jax.random.split(key, 3)]

    def __call__(self, x, key):
        for block in self.blocks:
            x = block(x, key=key)
        return x

run = eqx.filter_jit(lambda net, x, key: net(x, key))
run(Net(jax.random.key(0)), jnp.ones((3, 8)), jax.random.key(1))
"""
    assert len(levels(tmp_path, text, "key-reuse")) == count


_EAGER = """
import jax
import jax.numpy as jnp
import optax
from data import unknown

tx = optax.adam(1e-3)

def step(params, moments, x):
    grads = jax.grad(lambda p: jnp.mean(p * x))(params)
    updates, moments = tx.update(grads, moments, params)
    return optax.apply_updates(params, updates), moments

def train(params, batches, compiled):
    moments = tx.init(params)
    for x in batches:
        try:
            CALL
        except TypeError:
            HANDLER
    return params

train(jnp.ones(3), [jnp.ones(3)] * 9000, unknown)
"""


@pytest.mark.parametrize(
    ("call", "handler", "severity"),
    [
        (
            "params, moments = compiled(params, moments, x)",
            "params, moments = step(params, moments, x)",
            INFO,
        ),
        ("params, moments = step(params, moments, x)", "raise", WARNING),
    ],
)
def test_what_runs_after_a_failure_costs_little(
    tmp_path: Path, call: str, handler: str, severity: Severity
) -> None:
    text = _EAGER.replace("CALL", call).replace("HANDLER", handler)
    assert (WARNING in levels(tmp_path, text, "eager-update")) == (severity is WARNING)


@pytest.mark.parametrize(
    ("folder", "severity"),
    [("backups", INFO), ("legacy_scripts", INFO), ("not_used", INFO), ("scripts", WARNING)],
)
def test_folders_that_nobody_runs(tmp_path: Path, folder: str, severity: Severity) -> None:
    (tmp_path / folder).mkdir()
    text = _EAGER.replace("CALL", "params, moments = step(params, moments, x)").replace("HANDLER", "raise")
    assert levels(tmp_path / folder, text, "eager-update") == [severity]


@pytest.mark.parametrize(("imported", "severity"), [("data", INFO), ("math", WARNING)])
def test_64_bits_in_a_project_are_habit(tmp_path: Path, imported: str, severity: Severity) -> None:
    text = f"import {imported}\nimport jax.numpy as jnp\n\nsteps = jnp.zeros(3, dtype=jnp.float64)\n"
    assert levels(tmp_path, text, "float64-without-x64") == [severity]


_PRINTED = """
import random

import data
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    CALL
    return jnp.sin(x)

step(jnp.ones(3))
"""


@pytest.mark.parametrize(("call", "severity"), [("print(x)", INFO), ("x = x * random.random()", WARNING)])
def test_a_print_while_tracing_may_be_meant(tmp_path: Path, call: str, severity: Severity) -> None:
    assert levels(tmp_path, _PRINTED.replace("CALL", call), "impure-call") == [severity]


_READS = """
import data
import jax
import jax.numpy as jnp

@jax.jit
def step(state, x):
    return state + x, jnp.sum(state * x)

@jax.jit
def distance(state, x):
    return jnp.sum((state - x) ** 2)

def train(state, losses):
    for batch in data.batches():
        BODY
    return state, losses
"""


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("state, loss = step(state, batch); losses.append(float(loss) + 1)", WARNING),
        ("out = step(state, batch); state = out[0]; losses.append(float(out[1]) + 1)", WARNING),
        (
            "new, loss = step(state, batch); state = state - 0.1 * new; losses.append(float(loss) + 1)",
            WARNING,
        ),
        (
            "state, loss = step(state, batch); error = distance(state, batch); losses.append(float(error) + 1)",
            INFO,
        ),
    ],
)
def test_waits_for_what_the_step_gives(tmp_path: Path, body: str, severity: Severity) -> None:
    text = _READS.replace("BODY", body)
    assert levels(tmp_path, text, "host-sync-in-loop") == [severity]


@pytest.mark.parametrize(("rows", "severity"), [("6", INFO), ("100", WARNING)])
def test_a_determinant_of_few_rows_stays_in_range(tmp_path: Path, rows: str, severity: Severity) -> None:
    text = f"import data\nimport jax.numpy as jnp\n\nprint(jnp.log(jnp.linalg.det(0.1 * jnp.eye({rows}))))\n"
    assert levels(tmp_path, text, "unstable-logdet") == [severity]


@pytest.mark.parametrize(
    ("name", "severity"), [("jax_tutorial", INFO), ("optax_101", INFO), ("train", WARNING)]
)
def test_notebooks_that_teach(tmp_path: Path, name: str, severity: Severity) -> None:
    text = _EAGER.replace("CALL", "params, moments = step(params, moments, x)").replace("HANDLER", "raise")
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
    file = tmp_path / f"{name}.ipynb"
    file.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    found = check([file], load_config([file]).with_options(severity=INFO), use_cache=False).findings
    assert [one.severity for one in found if one.name == "eager-update"] == [severity]


@pytest.mark.parametrize(("later", "count"), [("loss = jnp.zeros(3)", 0), ("", 0)])
def test_a_global_that_is_a_function_first(tmp_path: Path, later: str, count: int) -> None:
    text = f"""
import jax
import jax.numpy as jnp

def loss(params):
    return jnp.mean(params)

def fit(params):
    @jax.jit
    def step(params):
        return params - jax.grad(loss)(params)
    return step(params)

fit(jnp.ones(3))
{later}
"""
    assert len(levels(tmp_path, text, "transform-of-result")) == count


def test_a_global_that_is_an_array_alone(tmp_path: Path) -> None:
    text = "import jax\nimport jax.numpy as jnp\n\nloss = jnp.zeros(())\n\ndef fit(x):\n    return jax.grad(loss)(x)\n\nfit(jnp.ones(3))\n"
    assert levels(tmp_path, text, "transform-of-result") == [ERROR]


_KEYS = """
import data
import jax

def reset(key):
    return jax.random.normal(key, (3,))

def sample(state, key):
    return state + jax.random.normal(key, (3,))

def main(key):
    FIRST
    return sample(state, key) if data.ready else jax.numpy.mean(sample(state, key))

print(main(jax.random.key(0)))
"""


@pytest.mark.parametrize(
    ("first", "severity"),
    [
        ("state = reset(key)", INFO),  # both draw somewhere
        ("state = jax.random.normal(key, (3,))", WARNING),
    ],
)
def test_two_calls_that_draw_somewhere(tmp_path: Path, first: str, severity: Severity) -> None:
    assert levels(tmp_path, _KEYS.replace("FIRST", first), "key-reuse")[:1] == [severity]


_FAILED = """
import data
import jax
import jax.numpy as jnp

def layer(x):
    key = jax.random.key(0)
    try:
        return data.run(x)
    except ValueError:
        return jax.random.normal(key, x.shape) + jax.random.normal(key, x.shape)

print(layer(jnp.ones(3)))
"""


def test_what_runs_after_a_failure_is_advice(tmp_path: Path) -> None:
    assert levels(tmp_path, _FAILED, "key-reuse") == [INFO]
    elsewhere = _FAILED.replace("except ValueError:", "finally:").replace(
        "return data.run(x)", "x = data.run(x)"
    )
    assert levels(tmp_path, elsewhere, "key-reuse") == [WARNING]


def test_a_notebook_is_no_program_by_itself(tmp_path: Path) -> None:
    text = "import jax.numpy as jnp\n\nsteps = jnp.zeros(3, dtype=jnp.float64)\n"
    cell = {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
    file = tmp_path / "train.ipynb"
    file.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    found = check([file], load_config([file]).with_options(severity=INFO), use_cache=False).findings
    assert [one.severity for one in found if one.name == "float64-without-x64"] == [INFO]


@pytest.mark.parametrize(("name", "severity"), [("models.net", INFO), ("models.other", WARNING)])
def test_a_file_that_another_imports_by_a_path_of_its_own(
    tmp_path: Path, name: str, severity: Severity
) -> None:
    for folder in ("models", "experiments"):
        (tmp_path / folder).mkdir()
    net, run = tmp_path / "models" / "net.py", tmp_path / "experiments" / "run.py"
    net.write_text("import jax.numpy as jnp\n\nsteps = jnp.zeros(3, dtype=jnp.float64)\n")
    run.write_text(f"import sys\n\nsys.path.append('..')\nfrom {name} import steps\n")
    files = [net, run]
    found = check(files, load_config(files).with_options(severity=INFO), use_cache=False).findings
    assert [one.severity for one in found if one.name == "float64-without-x64"] == [severity]
