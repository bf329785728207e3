"""Reasons: the chain from a value to the transformation that traces it names the right places."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import findings_in

CASES = {
    "a decorator": (
        """
        import jax

        @jax.jit
        def f(x):
            if x > 0:
                return x
        """,
        ["the tracer comes from `x`, a parameter of `f` (`jax.jit`, line 3)"],
    ),
    "a call": (
        """
        import jax

        def f(x):
            return x if x > 0 else -x

        g = jax.jit(f)
        """,
        ["`x`, a parameter of `f` (`jax.jit`, line 6)"],
    ),
    "through two functions": (
        """
        import jax

        def low(v):
            return v if v > 0 else -v

        def middle(w):
            return low(w * 2)

        @jax.jit
        def top(x):
            return middle(x)
        """,
        ["`x`, a parameter of `top` (`jax.jit`, line 9)", "call path: `top` -> `middle` -> `low`"],
    ),
    "a method of an object": (
        """
        import jax

        class Layer:
            def __call__(self, x):
                return x if x > 0 else -x

        layer = Layer()

        @jax.jit
        def top(x):
            return layer(x)
        """,
        ["`x`, a parameter of `top`", "call path: `top` -> `Layer.__call__`"],
    ),
    "a key that a scan hands over": (
        """
        import jax

        def body(x, key):
            x = x + jax.random.normal(key)
            return x + jax.random.uniform(key), None

        def run(x, keys):
            return jax.lax.scan(body, x, keys)
        """,
        ["the first use of `key` is at line 4"],
    ),
    "a scan inside a jit": (
        """
        import jax

        @jax.jit
        def run(xs):
            def body(c, x):
                if c > 0:
                    c = c + x
                return c, None

            return jax.lax.scan(body, 0.0, xs)
        """,
        ["the scan carry of `body` (`lax.scan`, line 10) in `run` (`jax.jit`, line 3)"],
    ),
    "an array made from nothing": (
        """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(x):
            if jnp.arange(3).sum() > 2:
                return x
        """,
        ["`jnp.arange` in `f` (`jax.jit`, line 4)"],
    ),
    "vmap": (
        """
        import jax

        def f(x, y):
            return x if x > 0 else y

        g = jax.vmap(f, in_axes=(0, None))
        """,
        ["`x`, a parameter of `f` (`jax.vmap`, line 6)"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reason(name: str, tmp_path: Path) -> None:
    program, parts = CASES[name]
    (finding,) = findings_in(tmp_path, {"program.py": program})
    for part in parts:
        assert part in finding.reason


def test_places_and_functions(tmp_path: Path) -> None:
    program = """
        import jax

        class Model:
            @jax.jit
            def step(self, x):
                def inner(y):
                    return y if y > 0 else -y

                return inner(x)
    """
    (finding,) = findings_in(tmp_path, {"program.py": program})
    assert finding.function == "Model.step.<locals>.inner"
    assert (finding.span.line, finding.span.column) == (7, 25)
    assert (finding.span.end_line, finding.span.end_column) == (7, 30)
    assert finding.path == "program.py"
