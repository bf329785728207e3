"""jax.random: keys that are used up, split and folded, held against JAX."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest

from tests.helpers.projects import expected, findings_in, reported

PROGRAMS = {
    "a key that is used up": """
        import jax

        def draw(key):
            a = jax.random.normal(key, (2,))
            b = jax.random.uniform(key, (2,))  # finding: key-reuse
            return a + b

        draw(jax.random.key(0))
    """,
    "keys of their own": """
        import jax

        def draw(key):
            first, second = jax.random.split(key)
            a = jax.random.normal(first, (2,))
            b = jax.random.uniform(second, (2,))
            for step in range(3):
                a = a + jax.random.normal(jax.random.fold_in(b_key, step), (2,))
            return a + b

        b_key = jax.random.key(1)
        draw(jax.random.key(0))
    """,
    "a key that was split already": """
        import jax

        def draw(key):
            first, second = jax.random.split(key)
            a = jax.random.normal(key, (2,))  # finding: key-reuse
            return a + jax.random.normal(first, (2,)) + jax.random.normal(second, (2,))

        draw(jax.random.key(0))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_reports_what_is_marked_and_nothing_else(name: str, tmp_path: Path) -> None:
    files = {"program.py": PROGRAMS[name]}
    assert reported(findings_in(tmp_path, files)) == expected(files)


def test_what_is_drawn_twice_from_one_key_depends_on_each_other() -> None:
    """The same key gives the same numbers; the parts of a split key give others."""
    key = jax.random.key(0)
    first, second = jax.random.split(key)
    assert (jax.random.normal(key, (4,)) == jax.random.normal(key, (4,))).all()
    assert not (jax.random.normal(first, (4,)) == jax.random.normal(second, (4,))).any()
    assert not (jax.random.normal(jax.random.fold_in(key, 1), (4,)) == jax.random.normal(key, (4,))).any()
