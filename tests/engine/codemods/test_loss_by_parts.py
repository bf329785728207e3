"""`loss-by-parts`: a cross-entropy by parts of the examples is the same in value and gradient, or stays with a reason."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from .conftest import Rewrite

HEAD = """
import jax
import jax.numpy as jnp
import optax
from optax import softmax_cross_entropy_with_integer_labels as cross_entropy

def loss(params, x, labels):
"""


def body(text: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in text.strip().splitlines())


NAMED = """
h = jnp.tanh(x)
logits = h @ params["head"]
return «optax.softmax_cross_entropy_with_integer_labels(logits, labels)».mean()
"""
BIASED = """
scores = jnp.dot(x, params["head"]) + params["bias"]
weight = labels > 2
return (weight * «cross_entropy(logits=scores, labels=labels)»).sum()
"""
INLINE = """
return «optax.softmax_cross_entropy_with_integer_labels(jnp.tanh(x) @ params["head"], labels)».mean()
"""


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            NAMED,
            "h = jnp.tanh(x)\n    return jax.lax.map(jax.checkpoint(lambda part: optax.softmax_cross_entropy_with_integer_labels("
            'part[0] @ params["head"], part[1])), (h, labels), batch_size=3).mean()',
        ),
        (
            BIASED,
            "weight = labels > 2\n    return (weight * jax.lax.map(jax.checkpoint(lambda part: cross_entropy("
            'jnp.dot(part[0], params["head"]) + params["bias"], part[1])), (x, labels), batch_size=3)).sum()',
        ),
        (
            INLINE,
            "return jax.lax.map(jax.checkpoint(lambda part: optax.softmax_cross_entropy_with_integer_labels("
            'part[0] @ params["head"], part[1])), (jnp.tanh(x), labels), batch_size=3).mean()',
        ),
    ],
    ids=["named", "biased", "inline"],
)
@pytest.mark.parametrize("shape", [(8,), (8, 5)], ids=["rows", "batch and length"])
def test_it_computes_the_same(rewrite: Rewrite, text: str, written: str, shape: tuple[int, ...]) -> None:
    marked = body(text)
    found = rewrite("loss-by-parts", marked, examples=3)
    assert found == HEAD + f"    {written}\n"
    params = {"head": jax.random.normal(jax.random.key(0), (4, 7)), "bias": jnp.arange(7.0)}
    x = jax.random.normal(jax.random.key(1), (*shape, 4))
    labels = jax.random.randint(jax.random.key(2), shape, 0, 7)
    results = []
    for source in (marked.replace("«", "").replace("»", ""), found):
        names: dict[str, object] = {}
        exec(source, names)
        results.append(jax.jit(jax.value_and_grad(names["loss"]))(params, x, labels))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), *results)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (NAMED.replace(".mean()", ".mean(), logits.argmax(-1)"), "`logits` is used elsewhere"),
        (NAMED.replace("return", 'params["head"] = 2.0\nreturn'), "`params` is given another value"),
        (NAMED.replace("return", "h = 2 * h\nreturn"), "`h` is given another value"),
        (NAMED.replace('h @ params["head"]', "model(h)"), "not made by one product"),
        (NAMED.replace('h @ params["head"]', 'h @ params["head"] * 2'), "not made by one product"),
        (NAMED.replace("labels)»", "labels, axis=0)»"), "not made by one product"),
        (NAMED.replace('@ params["head"]', "@ part"), "`part` means something else"),
        (NAMED.replace('h @ params["head"]', '(h @\n        params["head"])'), "over several lines"),
    ],
)
def test_it_says_why_not(rewrite: Rewrite, text: str, reason: str) -> None:
    found = rewrite("loss-by-parts", body(text), examples=3)
    assert found.startswith("refused: ")
    assert reason in found
