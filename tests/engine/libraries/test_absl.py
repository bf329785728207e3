"""absl: parameterized tests."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import facts_of

WRAPPED_CASES = """
    import functools
    import jax
    from absl.testing import parameterized

    def logged(test):
        @functools.wraps(test)
        def wrapper(*args, **kwargs):
            return test(*args, **kwargs)
        return wrapper

    def plain(test):
        def wrapper(*args, **kwargs):
            return test(*args, **kwargs)
        return wrapper

    class CasesTest(parameterized.TestCase):
        @parameterized.named_parameters(("jit", jax.jit), ("vmap", jax.vmap))
        @logged
        @logged
        def test_one(self, transform):
            transform(lambda x: x + 1)(1.0)

        @parameterized.parameters(jax.jit, jax.vmap)
        @plain
        def test_other(self, transform):
            transform(lambda x: x + 1)(1.0)
"""


def test_the_cases_of_a_test_are_those_of_what_its_decorators_wrap(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"program_test.py": WRAPPED_CASES})
    found = facts["CasesTest.test_one.<locals>.<lambda>"]
    assert found.staged == "yes"
    assert found.params == {"x": "traced"}
    # Without `functools.wraps` it is not known what the wrapper does with its arguments.
    assert facts["CasesTest.test_other.<locals>.<lambda>"].staged == "unknown"
