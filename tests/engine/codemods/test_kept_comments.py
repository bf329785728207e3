"""Comments of what a codemod takes out, and keys that need no split: what is kept, and what is refused."""

from __future__ import annotations

import pytest

LOOP = """\
import jax.numpy as jnp
from jax import lax


def f(x, xs):
    # above
    hs = []  # every state
    for i in range(xs.shape[0]):  # one after the other
        x = jnp.tanh(x + xs[i])  # the step
        hs.append(x)  # kept
    return jnp.stack(hs)  # all of them
"""


def loop(newline: str) -> str:
    return LOOP.replace("\n", newline).replace("range(xs.shape[0])", "«range(xs.shape[0])»")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_what_was_said_of_the_list_stays(rewrite, newline: str) -> None:
    new = rewrite("for-to-scan", loop(newline))
    assert new == newline.join(
        [
            "import jax.numpy as jnp",
            "from jax import lax",
            "",
            "",
            "def f(x, xs):",
            "    # above",
            "    # every state",
            "    # one after the other",
            "    def body_fun(x, row):",
            "        x = jnp.tanh(x + row)  # the step",
            "        return x, x",
            "",
            "    x, hs = lax.scan(body_fun, x, xs)  # kept",
            "    return hs  # all of them",
            "",
        ]
    )


def test_a_comment_that_would_silence_the_next_statement_is_not_moved(rewrite) -> None:
    marked = loop("\n").replace("# every state", "# jaxlint: ignore[JAX703]")
    assert rewrite("for-to-scan", marked) == (
        "refused: a suppression comment on the statement would move to the next one"
    )


def test_a_statement_that_is_removed_leaves_its_comments(rewrite) -> None:
    assert rewrite("remove-statement", "x = 1\n«f(\n    1,  # one\n)»  # two\ny = 2\n") == (
        "x = 1\n# one\n# two\ny = 2\n"
    )
    assert rewrite("remove-statement", "x = 1\n«f()»  # two") == "x = 1\n# two\n"


def test_a_key_that_is_renewed_where_it_is_used_up_is_not_split_before(rewrite) -> None:
    """It would be so again and again: what is used twice is the old key, on a path that does not come by here."""
    marked = "import jax\ndef f(rng, x):\n    rng, sub = «jax.random.split(rng)»\n    return g(sub, x), rng\n"
    assert rewrite("split-key", marked, key="rng").startswith("refused: `rng` already gets a new key there")
