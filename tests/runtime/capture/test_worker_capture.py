"""Programs in a real worker: every way to jit is seen, and the program does not notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint_runtime.protocol.jobs import Capture, Launch, Until
from tests.helpers.worker_runs import run_job, run_source

ENTRY_POINTS = """
    import functools
    import jax, jax.numpy as jnp
    from jax import jit
    from flax import nnx

    x = jnp.ones(4)

    @jax.jit
    def decorated(x): return x + 1

    @functools.partial(jax.jit, static_argnames="n")
    def partial_decorated(x, n): return x * n

    @jax.jit(donate_argnums=0)
    def with_options(x): return x + 1

    @jit
    def from_import(x): return x + 2

    class Model:
        def __init__(self): self.bound = jax.jit(self.method_to_bind)
        def method_to_bind(self, x): return x + 3
        @functools.partial(jax.jit, static_argnums=0)
        def method(self, x): return x + 4
        @staticmethod
        @jax.jit
        def static(x): return x + 5
        attribute = staticmethod(jax.jit(lambda x: x + 6))

    def make(scale):
        def closure(x): return x * scale
        return jax.jit(closure, donate_argnums=(0,))

    def loss(w): return (w ** 2).sum()
    gradient = jax.jit(jax.value_and_grad(loss))

    layer = nnx.Linear(4, 4, rngs=nnx.Rngs(0))
    @nnx.jit
    def module_step(layer, x): return layer(x).sum()

    model, closure = Model(), make(2.0)
    for i in range(3):
        decorated(x); partial_decorated(x, n=2); with_options(x + 0); from_import(x)
        model.bound(x); model.method(x); Model.static(x); Model.attribute(x)
        closure(x + 0); gradient(x); module_step(layer, x)
"""


def test_every_kind_of_entry_point_is_seen(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, ENTRY_POINTS)
    assert outcome.ending["how"] == "finished", outcome.output
    calls = {name: function["calls"] for name, function in outcome.functions.items()}
    assert calls == dict.fromkeys(
        [
            "decorated",
            "partial_decorated",
            "with_options",
            "from_import",
            "Model.method_to_bind",
            "Model.method",
            "Model.static",
            "Model.<lambda>",
            "make.<locals>.closure",
            "loss",
            "module_step",
        ],
        3,
    )
    for function in outcome.functions.values():
        assert Path(function["path"]).name == "program.py"
        assert len(function["compiles"]) == 1, function
        assert function["refused"] is None
    assert outcome.functions["make.<locals>.closure"]["options"] == {"donate_argnums": [0]}
    lines = (tmp_path / "program.py").read_text().splitlines()
    assert lines[outcome.functions["decorated"]["line"] - 1] == "@jax.jit"
    assert lines[outcome.functions["loss"]["line"] - 1].startswith("def loss")


TRANSPARENT = """
    import copy, inspect, types, weakref
    import jax, jax.numpy as jnp

    @jax.jit
    def f(x, scale=2.0):
        "docs"
        return (x * scale).sum()

    class C:
        @jax.jit
        def method(x): return x
        @jax.jit
        def of_self(self): return jnp.ones(())

    assert f.__name__ == "f" and f.__doc__ == "docs" and f.__wrapped__.__name__ == "f"
    assert list(inspect.signature(f).parameters) == ["x", "scale"]
    assert isinstance(f, jax.stages.Wrapped) and callable(f)
    assert weakref.ref(f)() is f and hash(f) == hash(f) and f == f
    assert copy.deepcopy(f) is f and copy.copy(f) is f
    x = jnp.arange(3.0)
    assert f.lower(x).compile()(x) == 6.0
    assert f.trace(x).jaxpr is not None and f.eval_shape(x).shape == ()
    assert jax.grad(f)(x).tolist() == [2.0, 2.0, 2.0]
    assert jax.vmap(f)(jnp.ones((2, 3))).shape == (2,)
    assert jax.jit(f)(x) == 6.0 and jax.jit(lambda x: f(x) + 1)(x) == 7.0
    assert "f" in str(jax.make_jaxpr(f)(x))
    assert jax.export.export(f)(x).call(x) == 6.0
    assert isinstance(C().of_self, types.MethodType)
    rebuild, parts = f.__reduce_ex__(4)
    assert type(rebuild(*parts)).__name__ == "PjitFunction"
    f.extra = 1
    assert f.extra == 1
    f.clear_cache()
    try:
        f(object())
    except TypeError:
        pass
    else:
        raise AssertionError("a bad argument must raise as ever")
    try:
        f.missing
    except AttributeError:
        pass
    try:
        jax.jit(f, static_argnames="nothing")(x)
    except ValueError:
        pass
    assert jax.jit.__name__ == "jit" and "in_shardings" in inspect.signature(jax.jit).parameters
    print("transparent")
"""


def test_a_program_does_not_notice(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, TRANSPARENT)
    assert b"transparent" in outcome.output, outcome.output
    assert outcome.ending["status"] == 0
    # calls under grad, vmap and jit are traced, not run
    assert outcome.functions["f"]["inner_calls"] >= 3


RECOMPILING = """
    import functools
    import jax, jax.numpy as jnp

    class Config:
        pass

    @functools.partial(jax.jit, static_argnames=("n", "config"))
    def f(tree, x, n=1, config=None):
        return x * n

    ones = jnp.ones
    f({"a": ones(2)}, ones(3))
    f({"a": ones(2)}, ones(3))
    f({"a": ones(2)}, ones(4))
    f({"a": ones(2)}, ones(4), n=2)
    f({"a": ones(2), "b": ones(2)}, ones(4), n=2)
    f({"a": ones(2), "b": ones(2)}, 1.5, n=2)
    f({"a": ones(2)}, ones(3), config=Config())
    f({"a": ones(2)}, ones(3), config=Config())

    def g(x): return x + 1
    for _ in range(2):
        jax.jit(lambda x: g(x))(ones(3))
"""


def test_each_compile_has_its_cause(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, RECOMPILING)
    causes = [compiled["cause"] for compiled in outcome.functions["f"]["compiles"]]
    assert causes[0] == "first call"
    assert causes[1] == "`x`: float32[3] -> float32[4]"
    assert "static `n` is new: 2" in causes[2]
    assert "`tree`: the pytree structure changed: has new `tree['b']`" in causes[3]
    assert causes[4] == "`x`: float32[4] -> Python float"
    assert "static `config`" in causes[5]
    assert "static `config`" in causes[6]
    assert len(causes) == 7
    again = [compiled["cause"] for compiled in outcome.functions["<lambda>"]["compiles"]]
    assert again[0] == "first call"
    lines = (tmp_path / "program.py").read_text().splitlines()
    assert (
        f"called again (call 2, line {lines.index('    jax.jit(lambda x: g(x))(ones(3))') + 1})" in again[1]
    )
    assert all(compiled["compile_s"] > 0 for compiled in outcome.functions["f"]["compiles"])


SYNCING = """
    import jax, jax.numpy as jnp, numpy as np

    @jax.jit
    def step(w, x):
        return w - 0.1 * x, (w * x).sum()

    w, x = jnp.ones(8), jnp.ones(8)
    for i in range(10):
        w, loss = step(w, x)
        float(loss)
        if i % 5 == 0:
            np.asarray(w), loss.item(), f"{loss:.2f}", jax.device_get(w)
    jax.block_until_ready(w)
"""


def test_waits_for_the_device_are_counted_by_line(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, SYNCING)
    assert outcome.captured["step"] == "step"
    counts = {
        (sync["line"], sync["kind"]): (sync["count"], sync["per_step"]) for sync in outcome.captured["syncs"]
    }
    assert counts == {
        (11, "float(x)"): (10, 1.0),
        (13, "np.asarray(x)"): (2, 0.2),
        (13, "x.item()"): (2, 0.2),
        (13, "format(x)"): (2, 0.2),
        (13, "jax.device_get(x)"): (2, 0.2),
        (14, "jax.block_until_ready(x)"): (1, 0.1),
    }


LOOPING = """
    import sys, time
    import jax, jax.numpy as jnp

    @jax.jit
    def step(w): return w * 0.99
    @jax.jit
    def evaluate(w): return w.sum()

    w = jnp.ones(8)
    if "--evaluate" in sys.argv:
        evaluate(w)
    try:
        while True:
            w = step(w)
            time.sleep(0.002)
    finally:
        print("left in order")
"""


def test_enough_calls_end_the_program(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, LOOPING, "--evaluate", calls=7)
    assert outcome.ending == {
        "how": "stopped",
        "status": 0,
        "message": "stopped the program after 7 calls of step",
    }
    assert outcome.functions["step"]["calls"] == 7
    assert outcome.functions["step"]["captured_call"] == 7
    assert b"left in order" in outcome.output


def test_functions_that_are_never_called_are_waited_for_and_named(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, LOOPING, calls=3)
    assert (
        outcome.ending["message"] == "stopped the program after 30 calls of step; evaluate was never called"
    )


SAMPLES_FIRST = """
    import sys, time
    import jax, jax.numpy as jnp

    @jax.jit
    def sample(w, i):
        return (w * i).sum()

    w = jnp.ones(8)
    for i in range(30):
        sample(w, i)
        time.sleep(0.01)

    step = jax.jit(lambda w: w * 0.99)
    while "--train" in sys.argv:
        w = step(w)
        time.sleep(0.01)
    while True:
        sample(w, 3)
        time.sleep(0.01)
"""


def test_a_program_that_samples_before_it_trains_is_run_until_it_trains(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, SAMPLES_FIRST, "--train", settle=True)
    assert outcome.ending["message"].endswith("calls of <lambda>"), outcome.ending
    assert outcome.functions["sample"]["calls"] == 30
    assert outcome.functions["<lambda>"]["calls"] >= 20
    # while the exact number ends it in the loop before
    assert run_source(tmp_path, SAMPLES_FIRST, "--train", calls=20).functions.keys() == {"sample"}


def test_a_program_that_never_trains_is_waited_for_and_named(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, SAMPLES_FIRST, settle=True, run_for=12.0)
    assert outcome.functions["sample"]["calls"] > 30
    assert outcome.ending["message"].endswith(
        " of sample; <lambda> was never called; no function seems to train"
    )


def test_the_time_limit_ends_the_program(tmp_path: Path) -> None:
    outcome = run_source(tmp_path, LOOPING, calls=None, run_for=0.5)
    assert outcome.ending["message"] == "stopped the program 0.5 s after the first captured call"
    assert b"left in order" in outcome.output


def test_settings_that_the_program_makes_before_importing_jax_hold(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import os, sys
        assert "jax" not in sys.modules and "numpy" not in sys.modules
        assert sys.argv[1:] == ["--flag", "value"] and sys.path[0] == os.path.dirname(os.path.abspath(__file__))
        assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
        os.environ["JAX_ENABLE_X64"] = "1"
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
        import jax, jax.numpy as jnp
        print(jnp.ones(1).dtype, jax.device_count())
        """,
        "--flag",
        "value",
    )
    assert b"float64 2" in outcome.output, outcome.output


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "steps.py").write_text(
        "import jax, jax.numpy as jnp\n@jax.jit\ndef step(x):\n    return x + 1\n\n\ndef run():\n    step(jnp.ones(3))\n"
    )
    (folder / "main.py").write_text(
        "import sys\nfrom pack.steps import run\nrun()\nassert sys.argv[1] == 'a'\n"
    )
    (tmp_path / "test_steps.py").write_text(
        "from pack.steps import run\n\n\ndef test_run():\n    run()\n\n\ndef test_fails():\n    run()\n    assert 0\n"
    )
    return tmp_path


def test_a_module_runs_as_python_runs_it(package: Path) -> None:
    outcome = run_job(Capture(Launch("module", "pack.main", ("a",), (str(package),))), package)
    assert outcome.ending["status"] == 0, outcome.output
    assert outcome.functions["step"]["calls"] == 1
    assert {Path(path).name for path in outcome.captured["files"]} >= {"steps.py", "main.py"}


def test_tests_run_under_pytest(package: Path) -> None:
    launch = Launch("pytest", "pytest", ("-q", "-p", "no:cacheprovider"), (str(package),))
    outcome = run_job(Capture(launch, until=Until(calls=None)), package)
    assert outcome.ending["status"] == 1  # as pytest says: one test failed
    assert outcome.functions["step"]["calls"] == 2
    assert b"1 failed, 1 passed" in outcome.output


def test_arguments_that_grow_at_each_compile_are_named(tmp_path: Path) -> None:
    source = """
        import jax, jax.numpy as jnp

        @jax.jit
        def decode(cache, token): return jnp.concatenate([cache["k"], token]), cache["k"].sum()

        @jax.jit
        def mixed(x): return x.sum()

        cache = jnp.zeros((1, 4))
        for _ in range(6):
            cache, _ = decode({"k": cache}, jnp.ones((1, 4)))
        for n in (3, 5, 4, 6, 2):
            mixed(jnp.ones(n))
    """
    functions = run_source(tmp_path, source).functions
    (grown,) = functions["decode"]["growing"]
    assert "k" in grown.pop("place")
    assert grown == {"axis": 0, "first": 1, "last": 6, "compiles": 6}
    assert functions["mixed"]["growing"] == []
