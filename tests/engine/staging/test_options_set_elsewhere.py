"""An option of JAX that is set in one file holds for the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import findings_in

WIDE = """
    import jax.numpy as jnp
    import package.core

    def table():
        return jnp.zeros(3, dtype=jnp.float64)
"""
ENABLES = """
    from jax import config
    config.update("jax_enable_x64", True)
"""


@pytest.mark.parametrize("folder", ["test", "tests/unit"])
@pytest.mark.parametrize(("enables", "codes"), [(ENABLES, []), ("import jax", ["JAX1001"])])
def test_tests_see_what_the_package_beside_them_sets(
    folder: str, enables: str, codes: list[str], tmp_path: Path
) -> None:
    files = {
        "package/__init__.py": "",
        "package/core.py": "import package.options",
        "package/options.py": enables,
        f"{folder}/test_table.py": WIDE,
    }
    assert [finding.code for finding in findings_in(tmp_path, files)] == codes
