"""`attention-call`: the statements of attention become one call that computes the same, or stay with a reason."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.engine.codemods.conftest import Rewrite

pytestmark = pytest.mark.usefixtures("compiled_quickly")

HEAD = """
import jax
import jax.numpy as jnp
import numpy as np

def attention(q, k, v):
"""


def body(text: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in text.strip().splitlines())


EINSUM = """
scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
weights = jax.nn.softmax(scores, axis=-1)
return «jnp.einsum("bhts,bshd->bthd", weights, v)»
"""
CAUSAL = """
scale = 0.3
logits = jnp.einsum("bhtd,bhsd->bhts", q, k) * scale
length = logits.shape[-1]
mask = jnp.tril(jnp.ones((length, length), bool))
logits = jnp.where(mask, logits, -1e30)
weights = jax.nn.softmax(logits.astype(jnp.float32)).astype(v.dtype)
out = «jnp.einsum("bhts,bhsd->bhtd", weights, v)»
return out * 2
"""
MATMUL = """
scores = q @ k.swapaxes(-1, -2)
scores /= jnp.sqrt(8.0)
return «jax.nn.softmax(scores) @ v» + 1
"""
KEYS_FIRST = """
return «jnp.einsum("bnij,bjnd->bind", jax.nn.softmax(jnp.einsum("bjnd,bind->bnij", k, q) * q.shape[-1] ** -0.5), v)»
"""
BTHD, BHTD = (2, 6, 3, 8), (2, 3, 6, 8)


@pytest.mark.parametrize(
    ("text", "shape", "parameters", "written"),
    [
        (EINSUM, BTHD, {}, "return jax.nn.dot_product_attention(q, k, v)"),
        (
            CAUSAL,
            BHTD,
            {"scale": 0.3, "causal": True},
            "out = jax.nn.dot_product_attention(q.swapaxes(1, 2), k.swapaxes(1, 2), v.swapaxes(1, 2), scale=0.3, is_causal=True).swapaxes(1, 2)\n    return out * 2",
        ),
        (
            MATMUL,
            BHTD,
            {},
            "return jax.nn.dot_product_attention(q.swapaxes(1, 2), k.swapaxes(1, 2), v.swapaxes(1, 2)).swapaxes(1, 2) + 1",
        ),
        (KEYS_FIRST, BTHD, {}, "return jax.nn.dot_product_attention(q, k, v)"),
    ],
    ids=["einsum", "causal", "matmul", "keys_first"],
)
def test_it_is_one_call_that_computes_the_same(rewrite: Rewrite, text, shape, parameters, written) -> None:
    marked = body(text)
    given = {"scale": 8**-0.5, "depth": 8, "causal": False, **parameters}
    found = rewrite("attention-call", marked, **given)
    assert found.partition("def attention")[2] == f"(q, k, v):\n    {written}\n"
    found = HEAD + f"    {written}\n"
    results = []
    for source in (marked.replace("«", "").replace("»", ""), found):
        names: dict[str, object] = {}
        exec(source, names)
        arrays = [jax.random.normal(jax.random.key(n), shape) for n in range(3)]
        results.append(jax.jit(names["attention"])(*arrays))
    np.testing.assert_allclose(*map(jnp.asarray, results), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (EINSUM.replace("return «", "print(scores)\nreturn «"), "`scores` is also used elsewhere"),
        (EINSUM.replace("return «", "return weights, «"), "`weights` is also used elsewhere"),
        (EINSUM.replace("scores, axis=-1", "scores + q.sum(), axis=-1"), "the call cannot apply"),
        (EINSUM.replace("axis=-1", "axis=1"), "unsupported arguments"),
        (EINSUM.replace('"bthd,bshd->bhts", q, k', '"bthd,bshd->bhts", 2 * q, k'), "is not a plain name"),
        (EINSUM.replace("weights = ", "q = q + 1\nweights = "), "reassigned in between"),
        (EINSUM.replace("bthd", "tbhd"), "does not support the axis order"),
        (
            CAUSAL.replace("jnp.tril(jnp.ones((length, length), bool))", "v[:, :, None, :, 0] > 0"),
            "the axes of the mask",
        ),
        (EINSUM.replace("jax.nn.softmax", "jax.nn.sigmoid").replace(", axis=-1", ""), "one softmax call"),
    ],
)
def test_it_says_why_not(rewrite: Rewrite, text, reason) -> None:
    found = rewrite("attention-call", body(text), scale=8**-0.5, depth=8, causal=False)
    assert found.startswith("refused: ")
    assert reason in found
