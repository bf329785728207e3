"""What follows from a wrong `static_argnums` is told with it, once, and what does not is told by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import findings_in

OFF_BY_ONE = """
    from functools import partial

    import jax
    import jax.numpy as jnp

    @partial(jax.jit, static_argnums=(0,))
    def run(x, n):
        total = jnp.zeros(n)
        for i in range(n):
            total = total.at[i].add(x[i])
        return total[: n - 1]

    run(jnp.ones(4), 4)
    run(jnp.ones(3), 3)
"""
WITH_SELF = """
    from functools import partial

    import jax
    import jax.numpy as jnp

    class Model:
        def __init__(self):
            self.apply = jax.jit(self._apply, static_argnums=2)

        def _apply(self, x, training):
            scale = 0.5 if training else 1.0
            return x * scale if training else x

    Model().apply(jnp.ones(3), True)
"""


@pytest.mark.parametrize(
    ("program", "code", "line", "named"),
    [(OFF_BY_ONE, "JAX107", 6, "`n`"), (WITH_SELF, "JAX110", 8, "`training`")],
)
def test_one_finding_speaks_of_a_wrong_position(
    program: str, code: str, line: int, named: str, tmp_path: Path
) -> None:
    (found,) = findings_in(tmp_path, {"program.py": program})
    assert (found.code, found.span.line) == (code, line)
    assert f"the function needs {named} as a Python value" in found.reason


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        # More parameters are needed than positions are wrong.
        (
            ("x, n):", "x, n, shifted=1):\n        x = -x if shifted else x"),
            {"JAX101", "JAX104", "JAX105", "JAX107"},
        ),
        (("static_argnums=(0,)", "static_argnames=()"), {"JAX104", "JAX105"}),
        (("static_argnums=(0,)", "static_argnums=(1,)"), set()),
    ],
)
def test_what_another_cause_has_is_told(change: tuple[str, str], codes: set[str], tmp_path: Path) -> None:
    program = OFF_BY_ONE.replace(*change).replace("4)\n", "4, 2)\n" if "shifted" in change[1] else "4)\n")
    assert {finding.code for finding in findings_in(tmp_path, {"program.py": program})} == codes
