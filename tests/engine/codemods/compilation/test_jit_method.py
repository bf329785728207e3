"""`jit-method`."""

from __future__ import annotations

import contextlib
import io

import pytest

PROGRAM = """import jax
import jax.numpy as jnp


class Trainer:
    def __init__(self, rate):
        self.rate = rate
        self.params = jnp.zeros(3)
        self.losses = []

    # one pass over the batches
    def train_epoch(self, batches):
        \"\"\"The last loss.\"\"\"
        def loss_fn(params, x):
            # weighted
            return self.scale() * jnp.sum((params - x) ** 2)

        scale = 1.0

        @jax.jit
        def «step»(params, x):
            loss, grads = jax.value_and_grad(loss_fn)(params, x)
            return params - self.rate * grads, loss

        for x in batches:
            self.params, loss = step(self.params, x)
        return scale * float(loss)

    def scale(self):
        return 0.5


trainer = Trainer(0.1)
for _ in range(3):
    print(trainer.train_epoch([jnp.ones(3), jnp.arange(3.0)]))
"""

WRITTEN = """    @functools.partial(jax.jit, static_argnums=0)
    def _jitted_step(self, params, x):
        def loss_fn(params, x):
            # weighted
            return self.scale() * jnp.sum((params - x) ** 2)

        loss, grads = jax.value_and_grad(loss_fn)(params, x)
        return params - self.rate * grads, loss

    # one pass over the batches
    def train_epoch(self, batches):
        \"\"\"The last loss.\"\"\"
        scale = 1.0

        for x in batches:
            self.params, loss = self._jitted_step(self.params, x)
        return scale * float(loss)
"""


def output(program: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(program.replace("«", "").replace("»", ""), {"__name__": "__main__"})
    return out.getvalue()


def changed(*pairs: tuple[str, str]) -> str:
    text = PROGRAM
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_the_nested_function_becomes_a_method(rewrite):
    after = rewrite("jit-method", PROGRAM)
    assert WRITTEN in after
    assert "import functools\n" in after
    assert output(after) == output(PROGRAM)


@pytest.mark.parametrize(
    ("pairs", "written"),
    [
        ((("@jax.jit", "@jax.jit(donate_argnums=(0,))"),), "@functools.partial(jax.jit, static_argnums=0, donate_argnums=(1,))"),
        ((("@jax.jit", "@functools.partial(jax.jit, static_argnums=1)"), ("import jax\n", "import functools\n\nimport jax\n"), ("[jnp.ones(3), jnp.arange(3.0)]", "[1, 2]")), "@functools.partial(jax.jit, static_argnums=(0, 2))"),
        ((("@jax.jit", "@functools.partial(jax.jit, donate_argnames='params')"), ("import jax\n", "import functools\n\nimport jax\n")), "@functools.partial(jax.jit, static_argnums=0, donate_argnames='params')"),
        ((("(params, x):\n            loss, grads", "(\n            params,\n            x,\n        ):\n            '''One step.'''\n            loss, grads"),), "    def _jitted_step(self, \n        params,\n        x,\n    ):\n        '''One step.'''\n        def loss_fn"),
        ((("    def scale(", "    def _jitted_step(self): ...\n\n    def scale("),), "def _jitted_step_2(self, params, x)"),
    ],
)  # fmt: skip
def test_other_forms(rewrite, pairs: tuple[tuple[str, str], ...], written: str):
    before = changed(*pairs)
    after = rewrite("jit-method", before)
    assert written in after
    assert output(after) == output(before)


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ((("self.rate * grads", "scale * grads"),), "it reads `scale`, which each call makes again"),
        ((("self.rate * grads", "float(len(batches)) * grads"),), "it reads `batches`, which each call makes again"),
        ((("            return params - self", "            self.losses = loss\n            return params - self"),), "it passes `self` to other code, or sets its attributes"),
        ((("self.scale()", "weight(self)"), ("class Trainer", "def weight(one):\n    return one.rate\n\n\nclass Trainer")), "it passes `self` to other code, or sets its attributes"),
        ((("@jax.jit\n", "@jax.jit\n        @jax.named_call\n"),), "the function has other decorators, or none"),
        ((("        return scale * float(loss)", "        self.kept = step\n        return scale * float(loss)"),), "the method does more with `step` than call it"),
        ((("        return scale * float(loss)", "        print(loss_fn(self.params, x))\n        return scale * float(loss)"),), "the method uses `loss_fn` as well"),
        ((("class Trainer", "@dataclasses.dataclass\nclass Trainer"), ("import jax\n", "import dataclasses\n\nimport jax\n")), "`Trainer` may not compare by identity"),
        ((("    def scale(", "    def __eq__(self, other):\n        return True\n\n    def scale("),), "the class defines `__eq__`, so different objects may count as the same static argument"),
        ((("@jax.jit", "@jax.jit(in_shardings=None)"),), "`in_shardings` may count the arguments"),
    ],
)  # fmt: skip
def test_what_is_left_alone(rewrite, pairs: tuple[tuple[str, str], ...], reason: str):
    assert rewrite("jit-method", changed(*pairs)) == f"refused: {reason}"


@pytest.mark.parametrize(
    "pairs",
    [
        (("        return scale * float(loss)", "        self.rate = self.rate * 0.9\n        return scale * float(loss)"),),
        (("trainer = Trainer(0.1)\n", "trainer = Trainer(0.1)\ntrainer.rate = 0.2\n"), ("for _ in range(3):\n", "for _ in range(3):\n    trainer.rate *= 0.5\n")),
        (("            return params - self", "            print('traced')\n            return params - self"),),
    ],
)  # fmt: skip
def test_what_each_call_may_read_anew_is_left_alone(rewrite, pairs: tuple[tuple[str, str], ...]):
    assert rewrite("jit-method", changed(*pairs)).startswith("refused: ")


def test_the_program_as_it_is_passes_the_strict_checks(rewrite):
    assert WRITTEN in rewrite("jit-method", PROGRAM)
