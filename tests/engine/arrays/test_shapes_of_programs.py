"""Shapes that are worked out from operations are those that JAX gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Severity
from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import Reporter, analyze
from jaxlint.staging.events import CallEvent
from jaxlint.staging.shapes.known import shape_of

EXPRESSIONS = [
    "jnp.zeros((2, 3))",
    "jnp.full(4, 1.5)",
    "jnp.arange(5)",
    "jnp.arange(4.5)",
    "jnp.arange(2, 7)",
    "jnp.arange(0.5, 3, 0.75)",
    "jnp.arange(5, 1, -2)",
    "jnp.fft.fftfreq(6)",
    "jnp.fft.rfftfreq(7, 0.5)",
    "jnp.meshgrid(jnp.ones(3), jnp.ones(4))[1]",
    "jnp.meshgrid(jnp.ones(3), jnp.ones(4), jnp.ones(2))[0]",
    "jnp.meshgrid(jnp.ones(3), jnp.ones(4), indexing='ij')[1]",
    "2j * 0.5 * jnp.ones(3)",
    "jnp.array([[1, 2], [3, 4]])",
    "jnp.zeros_like(jnp.ones((3, 1)))",
    "jnp.ones((3, 1)) * jnp.ones(4) + 1",
    "jnp.sum(jnp.ones((3, 1)))",
    "jnp.ones((3, 2)).mean()",
    "jnp.exp(jnp.ones((3,)))",
    "jnp.where(jnp.ones(3) > 0, 1.0, jnp.zeros((2, 3)))",
    "jnp.ones((4,)).at[0].set(1.0)",
    "jnp.ones((4, 2)).reshape(8)",
    "jnp.float32(3)",
    "jax.random.normal(jax.random.key(0), (2, 2))",
    "jax.random.uniform(jax.random.key(0))",
    "-jnp.ones((2,)).astype(int)",
    "2.5",
    "jnp.ones((4, 2))[1:]",
    "jnp.ones((4, 2))[::2, None, 0]",
    "jnp.ones((4, 2, 3))[..., -1]",
    "jnp.ones((4, 2))[:, -5:1]",
    "jnp.ones((4, 2)) @ jnp.ones((2, 5))",
    "jnp.ones((4, 2)) @ jnp.ones(2)",
    "jnp.ones(2) @ jnp.ones((2, 5))",
    "jnp.ones(2) @ jnp.ones(2)",
    "jnp.concatenate([jnp.ones((4, 2)), jnp.zeros((1, 2))])",
    "jnp.concatenate([jnp.ones((4, 2)), jnp.zeros((4, 1))], axis=-1)",
    "jnp.stack([jnp.ones((4, 2)), jnp.zeros((4, 2))], axis=1)",
    "jnp.append(jnp.ones((4, 2)), 1.0)",
    "jnp.ones((4, 2)).sum(axis=0)",
    "jnp.mean(jnp.ones((4, 2)), axis=-1, keepdims=True)",
    "jnp.ones((4, 2, 3)).max(axis=(0, 2))",
    "jnp.ones((4, 2)).argmax(1)",
    "jnp.transpose(jnp.ones((4, 2)))",
    "jnp.ones((4, 2)).ravel()",
    "jnp.expand_dims(jnp.ones((4, 2)), 1)",
    "jnp.outer(jnp.ones(4), jnp.ones(2))",
    "jnp.eye(3)",
    "jnp.broadcast_to(jnp.ones(2), (3, 2))",
    "jax.nn.one_hot(jnp.arange(3), 5)",
    "jnp.diff(jnp.ones(5))",
    "jnp.diff(jnp.ones(1))",
    "jnp.diff(jnp.ones((4, 2)), axis=0)",
    "jax.lax.dynamic_slice(jnp.ones(5), (1,), (2,))",
]

POOLS = [
    "nn.max_pool(jnp.ones((2, 9, 7, 3)), (2, 2))",
    "nn.avg_pool(jnp.ones((2, 9, 7, 3)), (3, 2), strides=(2, 2), padding='SAME')",
    "nnx.min_pool(jnp.ones((9, 7, 3)), (2, 2), (2, 3), ((1, 0), (0, 1)))",
    "nnx.max_pool(jnp.ones((2, 4, 9, 3)), (2,), strides=(2,))",
    "nnx.avg_pool(jnp.ones((9, 3)), (4,), count_include_pad=False)",
    "hk.max_pool(jnp.ones((2, 9, 7, 3)), (2, 2, 1), (2, 2, 1), 'VALID')",
    "hk.avg_pool(jnp.ones((2, 9, 7, 3)), (1, 3, 3, 1), (1, 2, 2, 1), padding='SAME')",
]


class Shapes(Rule):
    """Collects the shapes of what is passed to `show`."""

    code, name, category, severity = "JAX990", "shapes", "tracing", Severity.ERROR

    def __init__(self) -> None:
        self.found: list[tuple[int, ...] | None] = []

    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.args and getattr(event.callee, "name", "") == "show":
            self.found.append(shape_of(event.args[0]))


def seen_shapes(code: str, folder: Path) -> list[tuple[int, ...] | None]:
    rule = Shapes()
    analyze([source_from_bytes(code.encode(), folder / "program.py", "program.py")], [rule])
    return rule.found


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_shape_is_the_one_that_jax_gives(expression: str, tmp_path: Path) -> None:
    import jax
    import jax.numpy as jnp

    code = f"import jax\nimport jax.numpy as jnp\ndef show(x): pass\nshow({expression})\n"
    assert seen_shapes(code, tmp_path) == [jnp.shape(eval(expression, {"jax": jax, "jnp": jnp}))]


@pytest.mark.parametrize("expression", POOLS)
def test_the_shape_of_a_pool_is_the_one_that_the_library_gives(expression: str, tmp_path: Path) -> None:
    haiku = pytest.importorskip("haiku")
    flax = pytest.importorskip("flax.linen")
    import jax.numpy as jnp
    from flax import nnx

    code = "import haiku as hk\nimport jax.numpy as jnp\nfrom flax import linen as nn, nnx\n"
    names = {"hk": haiku, "nn": flax, "nnx": nnx, "jnp": jnp}
    assert seen_shapes(f"{code}def show(x): pass\nshow({expression})\n", tmp_path) == [
        eval(expression, names).shape
    ]


def test_what_is_not_known_has_no_shape(tmp_path: Path) -> None:
    code = "import jax.numpy as jnp\ndef show(x): pass\ndef f(x, n):\n    show(jnp.zeros(n))\n    show(jnp.sin(x))\n    show(x)\n"
    assert seen_shapes(code, tmp_path) == [None, None, None]


SAMPLED = """\
import random
import jax
import jax.numpy as jnp
import numpy as np
def show(x): pass
table, rewards = np.zeros((50, 4), np.float32), np.zeros(50, np.float32)
picked = random.sample(range(50), 8)
show(jnp.asarray(table[picked]))
show(jnp.asarray(rewards[random.choices(range(50), k=3)]))
show(jnp.asarray(table[random.sample([True, False], 2)]))
def loss(w, x):
    show(x)
    return (x @ w).sum()
jax.value_and_grad(loss, argnums=(0, 1))(jnp.ones(4), table[picked])
"""


def test_rows_that_a_list_of_drawn_numbers_picks(tmp_path: Path) -> None:
    """A replay buffer; a list of truths is a mask. A NumPy array keeps its shape where a gradient is taken by it."""
    assert seen_shapes(SAMPLED, tmp_path) == [(8, 4), (3,), None, (8, 4)]
