"""What nobody runs, or only tries out, is told as advice: archives, the demonstration below a library module, benchmarks. So are
repeated random numbers that deceive nobody, and waits in loops whose iterations take long."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.config import load_config
from jaxlint.engine import check
from jaxlint.finding import Severity
from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.benchmarking.timing_includes_compile import TimingIncludesCompile
from jaxlint_rules.precision.float64_without_x64 import Float64WithoutX64
from jaxlint_rules.random.discarded_split import DiscardedSplit
from jaxlint_rules.random.key_reuse import KeyReuse
from jaxlint_rules.transfer.host_sync_in_loop import HostSyncInLoop

INFO, WARNING = Severity.INFO, Severity.WARNING

_TWICE = """
import jax

def layer(x):
    return x * 2

if __name__ == "__main__":
    key = jax.random.key(0)
    noisy = layer(jax.random.normal(key, (3,))) + jax.random.normal(key, (3,))
    print(noisy)
"""


@pytest.mark.parametrize(
    ("path", "in_package", "told"),
    [
        ("run.py", False, True),
        ("layers.py", True, False),  # the demonstration of a module that is imported
        ("demo/run.py", False, True),  # what a user runs
        ("older_models.py", False, True),
        ("benchmarks/run.py", False, False),
        ("benchmark.py", False, False),
        ("decode_benchmark_sweep.py", False, False),
        ("workbench.py", False, True),
        ("archive/run.py", False, False),
        ("run_backup.py", False, False),
    ],
)
def test_where_random_numbers_deceive_nobody(tmp_path: Path, path: str, in_package: bool, told: bool) -> None:
    file = tmp_path / "project" / path
    file.parent.mkdir(parents=True)
    file.write_text(_TWICE)
    if in_package:
        (file.parent / "__init__.py").write_text("")
    found = check([file], load_config([file]), use_cache=False).findings
    assert [one.name for one in found] == (["key-reuse"] if told else [])


def test_a_loop_below_a_library_module_is_its_program(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    file = tmp_path / "train.py"
    once = "print(layer(jax.random.normal(key, (3,))), jax.random.normal(key, (3,)))"
    for loop, told in (
        ("x = layer(x + jax.random.normal(key, (3,))) + jax.random.normal(key, (3,))", True),
        (once, False),
    ):  # only repeated
        program = _TWICE.partition("    noisy")[0]
        file.write_text(f"{program}    x = 0\n    for epoch in range(3):\n        {loop}\n")
        found = check([file], load_config([file]), use_cache=False).findings
        assert ("key-reuse" in [one.name for one in found]) is told


_MODEL = """
import equinox as eqx
import jax

class Net(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.LAYER

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.first = eqx.nn.Linear(3, 3, key=k1)
        self.second = eqx.nn.LAYER(ARGUMENTS)

    def __call__(self, x, key):
        x = self.first(x, key=key)
        x = self.second(x, key=key)
        return x * jax.random.bernoulli(key, 0.5, x.shape)
"""
_USES = """
import jax
import jax.numpy as jnp

def evaluate(x, key):
    return x + jax.random.normal(key, (3,))

class Model:
    def __init__(self, key):
        self.w = jax.random.normal(key, (3,))

def start(key):
    return Model(key)

def run(key, train, test):
    FIRST
    SECOND
    return one, other
"""


def _uses(first: str, second: str) -> str:
    return _USES.replace("FIRST", first).replace("SECOND", second)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        # Linear layers take a key and ignore it; dropout draws.
        (_MODEL.replace("LAYER", "Linear").replace("ARGUMENTS", "3, 3, key=k2"), []),
        (_MODEL.replace("LAYER", "Dropout").replace("ARGUMENTS", "0.5"), [WARNING]),
        # The weights are drawn once; what is split off later differs from them.
        (_uses("one = Model(key)", "other = jax.random.split(key, 3)"), [INFO]),
        (_uses("one = Model(key)", "other = jax.random.normal(key, (3,))"), [WARNING]),
        # A function that hands the key on is not seen to split it.
        (_uses("one = start(key)", "key, other = jax.random.split(key)"), [INFO]),
        (
            _uses(
                "one = jax.random.normal(key, (3,))",
                "key = jax.random.split(key, 1)[0]\n    other = one * jax.random.normal(key, (3,))",
            ),
            [INFO],
        ),
        (_uses("one, other = jax.random.split(key)", "key, other = jax.random.split(key)"), [WARNING]),
        # Each error is right alone.
        (_uses("one = evaluate(train, key)", "other = evaluate(test, key)"), [INFO]),
        (_uses("one = evaluate(train, key)", "other = evaluate(2 * train, key)"), [WARNING]),
        # Of the second draw only the shape is read.
        (
            _uses(
                "one = evaluate(train, key)",
                "like = evaluate(2 * train, key)\n    other = jnp.ones(like.shape)",
            ),
            [],
        ),
        # An initialisation reads the shapes of its inputs.
        (
            _uses(
                "x = jax.random.normal(key, (3,)); t = jax.random.uniform(key); f = lambda x, t: x * t",
                "one = train.init(key, x, t); other = 1",
            ),
            [],
        ),
        # No number is drawn.
        (
            _uses(
                "one = evaluate(train, key)", "other = jax.eval_shape(lambda x: evaluate(2 * x, key), test)"
            ),
            [],
        ),
    ],
)
def test_keys_whose_numbers_do_not_meet(program: str, said: list[Severity]) -> None:
    assert _said(program, KeyReuse) == said


def test_a_split_that_asks_what_its_argument_is() -> None:
    asks = "import jax\n\ndef is_key(x):\n    try:\n        jax.random.split(x)\n        return True\n    except Exception:\n        return False\n"
    lost = "import jax\n\ndef draw(key):\n    jax.random.split(key)\n    return jax.random.normal(key)\n"
    assert _said(asks, DiscardedSplit) == []
    assert _said(lost, DiscardedSplit) == [WARNING]


@pytest.mark.parametrize(("dtype", "said"), [("int_", [INFO]), ("int64", [WARNING])])
def test_the_default_dtype_by_its_name(dtype: str, said: list[Severity]) -> None:
    program = f"import jax.numpy as jnp\n\ndef count(x):\n    return jnp.sum(x).astype(jnp.{dtype})\n"
    assert _said(program, Float64WithoutX64) == said


_LOOP = """
import jax
from solvers import integrate

@jax.jit
def NAME(state, forcing):
    return BODY

def run(state, ITEMS):
    seen = []
    for item in ITEMS:
        state = NAME(state, item)
        seen.append(float(state))
    return seen
"""


@pytest.mark.parametrize(
    ("name", "body", "items", "said"),
    [
        ("advance", "integrate(state, forcing)", "forcings", [INFO]),  # it may take any time
        (
            "advance",
            "state * 0.9 + forcing",
            "forcings",
            [WARNING],
        ),  # the device is through before the host asks
        ("advance", "integrate(state, forcing)", "batches", [WARNING]),
        ("train_step", "integrate(state, forcing)", "forcings", [WARNING]),
    ],
)
def test_waits_beside_a_step_that_takes_long(name: str, body: str, items: str, said: list[Severity]) -> None:
    program = _LOOP.replace("NAME", name).replace("BODY", body).replace("ITEMS", items)
    assert _said(program, HostSyncInLoop) == said


def _said(program: str, rule: type[Rule]) -> list[Severity]:
    source = source_from_bytes(program.encode(), Path("program.py"), "program.py")
    return [finding.severity for finding in analyze([source], [rule()]).findings]


_MEASURED = """
import jax

def NAME(xs):
    key = jax.random.key(0)
    def step(x):
        return jax.random.normal(key, x.shape) + jax.random.normal(key, x.shape)
    return [step(x) for x in xs]
"""


@pytest.mark.parametrize(("name", "severity"), [("benchmark_steps", INFO), ("bench", INFO), ("run", WARNING)])
def test_what_a_function_that_measures_draws_is_advice(name: str, severity: Severity) -> None:
    source = source_from_bytes(_MEASURED.replace("NAME", name).encode(), Path("program.py"), "program.py")
    assert [one.severity for one in analyze([source], [KeyReuse()]).findings] == [severity]


_RUN = """
import time, jax, jax.numpy as jnp

def train(w):
    def step(w, _):
        BODY
    return jax.lax.scan(step, w, None, 1000)

train = jax.jit(jax.vmap(train))
begun = time.time()
jax.block_until_ready(train(jnp.ones((8, 3))))
print(f"time: {time.time() - begun:.2f} s")
"""


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        (
            "return jax.lax.scan(lambda w, _: (w * 2, None), w, None, 100)",
            INFO,
        ),  # loops in a loop: a whole training
        ("return w * 2, None", WARNING),
    ],
)
def test_a_clock_around_a_whole_training_is_advice(body: str, severity: Severity) -> None:
    source = source_from_bytes(_RUN.replace("BODY", body).encode(), Path("program.py"), "program.py")
    assert [one.severity for one in analyze([source], [TimingIncludesCompile()]).findings] == [severity]
