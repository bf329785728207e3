"""A counter of Python keeps the dtype of a narrow array, and an array of numbers does not: such loops stay where the program may have one."""

from __future__ import annotations

import pytest

from .test_empty_loops import HEAD, edited

FRACTIONS = "ys = []\n    for i in range(n):\n        ys.append(w * (i / n))\n    return jnp.stack(ys)"
STEPS = "for i, x in enumerate(xs):\n        w = w * 0.5 + x / (i + 1)\n    return w"
LISTED = "return jnp.stack([w * 0.5**i for i in range(n)])"
INDEXED = "return jnp.stack([jnp.where(xs == i, w, 0.0) + w[i] for i in range(n)])"
ADDED = "total = 0.0\n    for x in xs:\n        total = total + jnp.sin(x)\n    return total"


@pytest.mark.parametrize(
    ("codemod", "body", "counts"),
    [
        ("for-to-vmap", FRACTIONS, True),
        ("for-to-scan", STEPS, True),
        ("stack-to-vmap", LISTED, True),
        ("stack-to-vmap", INDEXED, False),
        ("for-to-vmap", ADDED, True),
        ("for-to-scan", ADDED, False),
    ],
)
@pytest.mark.parametrize(
    ("chosen", "narrow"),
    [
        ("dtype = jnp.float32", False),
        ("dtype = jnp.bfloat16 if name else jnp.float32", True),
        ("dtype = jnp.dtype(name)", True),
        ("dtype = getattr(jnp, name)", True),
        ("dtype = 'uint8'", True),
        ("dtype = jnp.zeros(2).dtype", False),
        ("dtype = xs.dtype", True),
    ],
)
def test_narrow_arrays_meet_python_numbers(codemod: str, body: str, counts: bool, chosen: str, narrow: bool) -> None:  # fmt: skip
    text = (
        f"{HEAD}def f(xs, n, w):\n    {body}\n\n\n"
        f"def main(name, xs):\n    {chosen}\n    return f(jnp.ones(3, dtype=dtype), 3, jnp.ones(4, dtype=dtype))\n"
    )
    new = edited(codemod, text, sums=codemod == "for-to-vmap" and body is ADDED)
    assert ("narrow" in new) == (counts and narrow), new
    assert new.startswith("import") or "narrow" in new or "another dtype" in new
