"""chex: variants of tests."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import facts_of


def test_chex_gives_its_own_tests_the_variant(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        {
            "chex/__init__.py": "",
            "chex/variants.py": """
            class TestCase:
                def variant(self, *args, **kwargs):
                    raise RuntimeError("forgot to wrap a test")
        """,
            "chex/variants_test.py": """
            import jax.numpy as jnp
            from chex import variants

            class Tests(variants.TestCase):
                def test_sum(self):
                    def total(x):
                        return jnp.sum(x)
                    self.variant(total)(jnp.ones(3))
        """,
            "other_test.py": """
            import jax.numpy as jnp

            class Mine:
                def variant(self, f):
                    return f

            class Tests(Mine):
                def test_other(self):
                    def other(x):
                        return jnp.sum(x)
                    self.variant(other)(jnp.ones(3))
        """,
        },
    )
    assert facts["Tests.test_sum.<locals>.total"].staged == "yes"
    assert facts["Tests.test_other.<locals>.other"].staged == "unknown"
