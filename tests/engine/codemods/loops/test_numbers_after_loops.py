"""A counter of Python is a Python number after a loop of the host, too; one in a loop that is traced stays what it is there."""

from __future__ import annotations

import pytest

from tests.engine.codemods.conftest import Rewrite

LOOP = "import jax\nimport jax.numpy as jnp\n\n\ndef fit(x, most):\n    steps = {start}\n    while «jnp.sum(x) > 1.0»:\n        x = x / 2\n        steps += {more}\n    return x, steps\n"


@pytest.mark.parametrize(("start", "more", "kind"), [("0", "1", "int"), ("0.0", "0.5", "float")])
def test_a_counter_is_a_number_again(rewrite: Rewrite, start: str, more: str, kind: str) -> None:
    text = LOOP.format(start=start, more=more)
    new = rewrite("while-to-while-loop", text, host=True, numbers=True)
    assert f"    steps = {kind}(steps)\n    return x, steps\n" in new
    assert "(steps)\n" not in rewrite("while-to-while-loop", text, host=True)


def test_numbers_of_two_kinds_are_refused(rewrite: Rewrite) -> None:
    answer = rewrite("while-to-while-loop", LOOP.format(start="0", more="0.5"), host=True, numbers=True)
    assert "`steps` is a Python number" in answer


def test_the_number_of_an_early_end_is_one_again(rewrite: Rewrite) -> None:
    text = "import jax.numpy as jnp\n\n\ndef fit(x):\n    for count in range(100):\n        if «jnp.sum(x) < 1.0»:\n            break\n        x = x / 2\n    return x, count\n"
    new = rewrite("break-to-while-loop", text, numbers=True)
    assert "    count = int(count)\n    return x, count\n" in new


def test_a_sum_of_arrays_stays_one(rewrite: Rewrite) -> None:
    text = "import jax.numpy as jnp\n\n\ndef fit(xs):\n    total = 0.0\n    for x in «xs»:\n        total = total + jnp.sum(x)\n    return total\n"
    new = rewrite("for-to-scan", text, numbers=True)
    assert "float(" not in new
