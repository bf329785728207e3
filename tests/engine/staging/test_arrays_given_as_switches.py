"""An array that lands at the position of a switch: a bug, but for a path that may be for other callees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import expected, findings_in, reported

MODEL = """
    import flax.linen as nn
    import jax
    import jax.numpy as jnp

    class Plain(nn.Module):
        @nn.compact
        def __call__(self, x, mask, deterministic: bool = True):
            if deterministic:{mark}
                return x
            return x * mask

    class Crossed(nn.Module):
        @nn.compact
        def __call__(self, x, mask, encoded=None, deterministic: bool = True):
            if deterministic:
                return x + encoded
            return x * mask

    class Wrapper:
        module_class = None

        def __init__(self, config):
            self.config = config
            self.module = self.module_class()
            jax.eval_shape(self.init, jax.random.key(0))

        def init(self, key):
            x = jnp.zeros((2, 3))
            {call}

    class WrappedPlain(Wrapper):
        module_class = Plain

    class WrappedCrossed(Wrapper):
        module_class = Crossed

    def build(config):
        return WrappedPlain(config), WrappedCrossed(config)
"""
MARK = "  # finding: tracer-branch"
BRANCH = """if self.config.crossed:
                return self.module.init(key, x, x, x)
            return self.module.init(key, x, x)"""
PLAIN = "return self.module.init(key, x, x, x)"
SAME = """deterministic = jnp.zeros(())
            if self.config.crossed:
                return self.module.init(key, x, x, deterministic)
            return self.module.init(key, x, x)"""


@pytest.mark.parametrize(("call", "mark"), [(BRANCH, ""), (PLAIN, MARK), (SAME, MARK)])
def test_a_path_may_be_for_modules_that_take_an_array_there(tmp_path: Path, call: str, mark: str) -> None:
    files = {"model.py": MODEL.format(call=call, mark=mark)}
    assert reported(findings_in(tmp_path, files)) == expected(files)
