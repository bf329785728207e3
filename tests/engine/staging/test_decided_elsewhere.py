"""Errors are not claimed where other code decides: fixtures, managers and handlers that catch, decorators of libraries, constants."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import findings_in

# Nothing is found in a program; with any one of the changes beside it, something is.
PROGRAMS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "a table whose rows are for the fixture": (
        """
        import jax
        import numpy as np
        import pytest

        @jax.jit
        def loss(x, y):
            return x.sum() + y.sum()

        @pytest.fixture
        def data(request):
            return np.ones(3) * request.param["scale"], np.ones(3)

        @pytest.mark.parametrize("data", [{"model": "poisson", "scale": 1.0}], indirect=True)
        @pytest.mark.parametrize("flag, n", [("data", 3)], indirect=["flag"])
        def test_loss(data, flag, n):
            x, y = data
            loss(x, y)
            loss(flag, y)
        """,
        [(", indirect=True", ""), (', indirect=["flag"]', ""), ('indirect=["flag"]', 'indirect=["n"]')],
    ),
    "context managers that swallow what a tracer raises": (
        """
        import contextlib
        import jax
        import jax.numpy as jnp

        class Skipping:
            def __enter__(self):
                self.inner = jax.ensure_compile_time_eval()
                self.inner.__enter__()

            def __exit__(self, kind, value, trace):
                left = self.inner.__exit__(kind, value, trace)
                ours = kind is not None and issubclass(kind, jax.errors.ConcretizationTypeError)
                if left or ours:
                    return True

        @contextlib.contextmanager
        def trying():
            try:
                yield
            except jax.errors.ConcretizationTypeError:
                pass

        @jax.jit
        def checked(x):
            with Skipping():
                if not jnp.all(jnp.isfinite(x)):
                    raise ValueError("not finite")
            with trying():
                if jnp.any(x < 0):
                    raise ValueError("negative")
            return x
        """,
        [
            ("                    return True", "                    return None"),
            ("                pass\n", "                raise\n"),
            ("with trying():", "with jax.named_scope('trying'):"),
        ],
    ),
    "the methods of a constant string": (
        """
        import jax.numpy as jnp

        def started(plane, how="loop"):
            if how.lower() == "loop":
                plane[0] = 1.0
                return plane
            if how.lower().startswith("jax"):
                return plane.at[0].set(1.0)
            plane[1] = 1.0
            return plane

        started(jnp.zeros(3), how="Jax")
        """,
        [],
    ),
    "a default below two maps": (
        """
        import jax
        import jax.numpy as jnp

        def leaf(tree, bottom=False, *, wide=False):
            if bottom or wide:
                return tree * 2
            return tree

        def leaves(trees):
            return jax.vmap(jax.vmap(leaf))(trees)

        leaves(jnp.ones((2, 3, 4)))
        """,
        [("leaf))(trees)", "leaf))(trees, trees > 0)")],
    ),
    "the implementation of a key": (
        """
        from functools import partial
        import jax

        @partial(jax.jit, static_argnums=(1,))
        def drawn(data, impl):
            return jax.random.normal(jax.random.wrap_key_data(data, impl=impl))

        @jax.jit
        def twice(key):
            return drawn(jax.random.key_data(key), jax.random.key_impl(key))

        drawn(jax.random.key_data(jax.random.key(0)), jax.random.key_impl(jax.random.key(0)))
        """,
        [("jax.random.key_impl(key))", "jax.random.key_data(key))")],
    ),
    "a dtype of Python objects": (
        """
        import jax
        import jax.numpy as jnp
        import numpy as np

        def joined(parts):
            if any(part.dtype == object for part in parts):
                return np.concatenate(parts)
            return jnp.concatenate(parts)

        @jax.jit
        def both(x, y):
            return joined([x, y])
        """,
        [("dtype == object", "dtype != object"), ("dtype == object", "dtype == jnp.float32")],
    ),
    "a map that has a loop in its stead": (
        """
        import jax
        import jax.numpy as jnp
        import numpy as np

        def clipped(x):
            return np.clip(np.asarray(x), 0, 1)

        def every(rows, f):
            def one(row):
                return f(row)

            try:
                out = jax.vmap(one)(rows)
            except Exception:
                out = np.stack([f(np.asarray(row)) for row in rows])
            return out

        every(jnp.ones((3, 2)), clipped)
        """,
        [("out = np.stack([f(np.asarray(row)) for row in rows])", "raise RuntimeError('no map')")],
    ),
    "a keyword that is taken out before the rest is passed on": (
        """
        import functools
        import inspect
        import jax
        import jax.numpy as jnp

        class ByBackend:
            def __init__(self, function):
                self.function = function
                self.chooses = "backend" in inspect.signature(function).parameters

            def jitted(self, backend):
                function = functools.partial(self.function, backend=backend) if self.chooses else self.function
                return jax.jit(function)

            def __call__(self, *args, **kwargs):
                backend = kwargs.pop("backend", None)
                return self.jitted(backend)(*args, **kwargs)

        @ByBackend
        def product(w, x, *, backend=None):
            return w * x

        product(jnp.ones(2), jnp.ones(2), backend="raw")
        """,
        [('kwargs.pop("backend", None)', 'kwargs.get("backend", None)')],
    ),
    "the jit of another library": (
        """
        import jax
        import jax.numpy as jnp
        import numpy as np
        import otherlib

        @otherlib.transform.jit(static_argnums=(2,))
        def total(x, starts, n):
            def step(i, out):
                return out + starts[i]

            return jax.lax.fori_loop(0, n, step, jnp.zeros(()))

        total(jnp.ones(2), np.arange(3) * 2, 2)
        """,
        [("        @otherlib.transform.jit(static_argnums=(2,))\n", "")],
    ),
    "several functions of one name, of which a library chooses": (
        """
        from functools import partial
        import jax
        from plum import dispatch

        @dispatch
        @partial(jax.jit, static_argnames=("solver",))
        def integrate(field, start, *, solver=None):
            return field * start

        @dispatch
        @partial(jax.jit, static_argnums=(0,), static_argnames=("solver",))
        def integrate(strategy: type, field, start, *, solver=None):
            return jax.vmap(lambda one: integrate(field, one, solver=solver))(start)
        """,
        [
            (
                "@dispatch\n        @partial(jax.jit, static_argnums=(0,)",
                "@partial(jax.jit, static_argnums=(0,)",
            )
        ],
    ),
    "a helper that asks what an object has": (
        """
        import functools
        import jax
        import numpy as np

        def is_ours(cosmology):
            return hasattr(cosmology, "_omega") and hasattr(cosmology, "_space")

        class Planes:
            def ratios(self, cosmology, shifts):
                if not is_ours(cosmology):
                    np.testing.assert_equal(np.sort(shifts), shifts)
                return shifts

            @functools.partial(jax.jit, static_argnums=0)
            def delay(self, x, cosmology, shifts):
                return x * self.ratios(cosmology, shifts)
        """,
        [("if not is_ours(cosmology):", "if shifts.shape[0]:")],
    ),
    "a keyword that a subclass puts into a partial": (
        """
        import functools
        import jax
        import jax.numpy as jnp

        class Engine:
            def __init__(self, graph):
                self.step = self.stepping(graph)

            def stepping(self, graph):
                return functools.partial(self.one, temperature=3)

            @staticmethod
            def one(index, state, temperature):
                return state * temperature

            def run(self):
                return jax.lax.fori_loop(0, 3, self.step, jnp.zeros(3))

        class Biased(Engine):
            def stepping(self, graph):
                step = super().stepping(graph)
                step.keywords["graph"] = graph
                return step

            @staticmethod
            def one(index, state, temperature, graph):
                return state * temperature + graph

        Biased(jnp.ones(3)).run()
        """,
        [('                step.keywords["graph"] = graph\n', "")],
    ),
    "what a part of a module has set up in an earlier trace": (
        """
        import flax.linen as nn
        import jax
        import jax.numpy as jnp

        class Density(nn.Module):
            def setup(self):
                self.centre = jnp.zeros(3)

            def log_prob(self, x):
                return self.centre - x

        class Outer(nn.Module):
            inner: nn.Module

            def log_prob(self, x):
                return self.inner.log_prob(x)

            def __call__(self, x):
                return self.inner.log_prob(x)

        class Trainer:
            def __init__(self, model, x):
                self.model = model
                print(self.model.tabulate(jax.random.key(0), x))
                self.params = self.model.init(jax.random.key(0), x)

            def weights(self, x):
                probs = jnp.exp(self.model.apply(self.params, x, method="log_prob"))
                return probs.at[jnp.isnan(probs)].set(0.0)

        Trainer(Outer(Density()), jnp.ones(3)).weights(jnp.ones(3))
        """,
        [("            def weights(", "            @jax.jit\n            def weights(")],
    ),
    "an object of the module that gets another class": (
        """
        import jax
        import jax.numpy as jnp
        import numpy as np

        class OfNumpy:
            sin = staticmethod(np.sin)

        class OfJax(OfNumpy):
            sin = staticmethod(jnp.sin)

        backend = OfNumpy()

        def set_backend(name):
            if name == "jax":
                backend.__class__ = OfJax

        @jax.jit
        def wave(x):
            return backend.sin(x)
        """,
        [("backend.__class__ = OfJax", "print(OfJax)"), ("return backend.sin(x)", "return OfNumpy().sin(x)")],
    ),
    "a field of a carry that its annotation calls an array": (
        """
        from typing import NamedTuple
        import jax
        import jax.numpy as jnp

        class Seen(NamedTuple):
            goals: jax.Array
            scans: jax.Array

        class Carry(NamedTuple):
            observations: jax.Array
            steps: jax.Array

        def observe(steps):
            return Seen(jnp.zeros(3), steps * jnp.ones(3))

        def build():
            def rollout(carry: Carry = None):
                if not carry:
                    carry = Carry(observe(jnp.zeros(())), jnp.zeros(()))

                def step(carry):
                    return Carry(observe(carry.steps), carry.steps + 1)

                return jax.lax.while_loop(lambda carry: carry.steps < 9, step, carry)

            return jax.jit(rollout)
        """,
        [
            ("return Carry(observe(carry.steps), carry.steps + 1)", "return observe(carry.steps)"),
            ("if not carry:", "if carry.observations > 0:"),
        ],
    ),
    "a store that the constructor fills": (
        """
        from dataclasses import dataclass, field
        import jax
        import jax.numpy as jnp

        @dataclass
        class Base:
            rows: list
            store: dict = field(default_factory=dict)

            def __post_init__(self):
                self.prepared()

            def prepared(self):
                if not self.store:
                    self.store.update(rows=jnp.ones(3) * 2)
                return self.store

        class Likelihood(Base):
            def __post_init__(self):
                assert self.rows
                super().__post_init__()

            def prepared(self):
                if "mean" not in self.store:
                    super().prepared()
                    self.store["mean"] = jnp.mean(self.store["rows"]) + jnp.zeros(3)
                return self.store

            def value(self, x):
                return jnp.sum(x * self.prepared()["mean"])

        jax.jit(Likelihood([1, 2]).value)(jnp.ones(3))
        """,
        [
            ("                self.prepared()\n\n", "                pass\n\n"),
            (
                'prepared()["mean"])',
                'again()["mean"])\n\n            def again(self):\n                self.store["again"] = jnp.ones(3) * 2\n                return self.store',
            ),
        ],
    ),
    "a decorator that many functions are given to, with options of their own": (
        """
        import jax
        import jax.numpy as jnp

        def jit(function=None, /, **options):
            if function is None:
                return lambda given: jax.jit(given, **options)
            return jax.jit(function, **options)

        """
        + "".join(
            f"""
        @jit(static_argnums=({number % 4}, {(number + 1) % 4}))
        def step{number}(a, b, c, d):
            return a
"""
            for number in range(80)
        )
        + """
        @jit(static_argnums=(1, 2))
        def split(key, rows, columns, scale):
            return jax.random.split(key, rows * columns), scale * 2

        split(jax.random.key(0), 3, 4, jnp.ones(2))
        """,
        [
            (
                "@jit(static_argnums=(1, 2))\n        def split",
                "@jit(static_argnums=(2, 3))\n        def split",
            )
        ],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_claimed_of_what_is_decided_elsewhere(tmp_path: Path, name: str) -> None:
    program, _ = PROGRAMS[name]
    assert [finding.message for finding in findings_in(tmp_path, {"test_program.py": program})] == []


@pytest.mark.parametrize(
    ("name", "old", "new"), [(name, *change) for name, (_, changes) in PROGRAMS.items() for change in changes]
)
def test_what_is_certain_is_told(tmp_path: Path, name: str, old: str, new: str) -> None:
    program, _ = PROGRAMS[name]
    assert old in program
    assert findings_in(tmp_path, {"test_program.py": program.replace(old, new)})


@pytest.mark.parametrize("how", ["LOOP", "other"])
def test_the_branch_that_a_constant_string_chooses_is_read(tmp_path: Path, how: str) -> None:
    program = PROGRAMS["the methods of a constant string"][0].replace('how="Jax"', f"how={how!r}")
    assert [finding.code for finding in findings_in(tmp_path, {"test_program.py": program})] == ["JAX106"]
