"""What a test provokes on purpose says nothing of the code that raises."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import expected, findings_in, reported

VALIDATE = """
    import numpy as np

    def validate(x):
        values = np.asarray(x){mark}
        if values.ndim != 1:
            raise ValueError("not a vector")
"""
PROVOKED = """
    import jax
    import jax.numpy as jnp
    import pytest
    from core import validate

    def test_tracers_are_refused():
        def under_jit(x):
            validate(x)
            return x

        with pytest.raises(jax.errors.TracerArrayConversionError):
            jax.jit(under_jit)(jnp.ones(3))

    def test_lists_are_refused():
        with pytest.raises(ValueError):
            validate(jnp.ones((3, 3)))
"""
MEANT = """
    import jax
    import jax.numpy as jnp
    from core import validate

    @jax.jit
    def step(x):
        validate(x)
        return x

    step(jnp.ones(3))
"""


@pytest.mark.parametrize("order", ["tests first", "program first"])
@pytest.mark.parametrize("program", ["", MEANT])
def test_an_error_that_a_test_provokes_is_no_finding(tmp_path: Path, program: str, order: str) -> None:
    mark = "  # finding: tracer-to-numpy" if program else ""
    files = {"core.py": VALIDATE.format(mark=mark), "tests/test_core.py": PROVOKED}
    if program:
        name = "a_program.py" if order == "program first" else "tests/z_program.py"
        files[name] = program
    assert reported(findings_in(tmp_path, files)) == expected(files)


def test_a_module_that_is_first_imported_there_is_reported(tmp_path: Path) -> None:
    files = {
        "late.py": """
            import jax
            import jax.numpy as jnp

            @jax.jit
            def f(x):
                if x.sum() > 0:  # finding: tracer-branch
                    return x
                return -x

            f(jnp.ones(3))
        """,
        "test_late.py": """
            import pytest

            def test_import():
                with pytest.raises(ImportError):
                    import late
        """,
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


XFAIL = """
    import jax
    import jax.numpy as jnp
    import pytest

    {decorator}
    def test_gradient():
        assert jax.grad(lambda v: v * int(v))(jnp.array(3.0)) == 1.0
        assert jax.jit(lambda v: v * int(v))(3.0) == 1.0{mark}
"""


@pytest.mark.parametrize(
    ("decorator", "mark"),
    [
        ('@pytest.mark.xfail(reason="not yet", strict=False)', ""),
        ('@pytest.mark.skipif(False, reason="slow")', "  # finding: tracer-concretization"),
    ],
)
def test_a_test_that_is_known_to_fail(tmp_path: Path, decorator: str, mark: str) -> None:
    files = {"test_gradient.py": XFAIL.format(decorator=decorator, mark=mark)}
    assert reported(findings_in(tmp_path, files)) == expected(files)


MOCKED = """
    from functools import partial
    from unittest import mock

    import jax
    import jax.numpy as jnp
    import pytest

    @partial(jax.jit, donate_argnums=0)
    def step(x):
        return x + 1

    def test_patched():
        x = jnp.ones(3)
        with mock.patch.object(jax, "jit"):
            step(x)
        assert x.sum() == 3

    def test_set(monkeypatch):
        x = jnp.ones(3)
        monkeypatch.setattr("jax.jit", lambda f, **_: f)
        step(x)
        assert x.sum() == 3

    class TestSteps:
        def setup_method(self):
            self.x = mock.MagicMock()

        def test_step(self):
            step(self.x)
            assert self.x.shape == (3,)
            return self.x + 1

    def test_real():
        x = jnp.ones(3)
        step(x)
        assert x.sum() == 3  # finding: use-after-donation
"""


def test_nothing_is_claimed_of_what_a_test_replaces(tmp_path: Path) -> None:
    files = {"tests/test_steps.py": MOCKED}
    assert reported(findings_in(tmp_path, files)) == expected(files)


def test_what_a_text_binds_that_is_executed_is_not_known(tmp_path: Path) -> None:
    files = {
        "made.py": """
            import jax
            import jax.numpy as jnp

            def made(source, name):
                names = {"jit": jax.jit}
                exec(source, globals(), names)
                return names[name]

            def looked_up(name):
                names = {"jit": jax.jit}
                return names[name]

            x = jnp.ones(3)
            made("def double(x): return 2 * x", input())(x)
            looked_up("jit")(x)  # finding: transform-of-result
        """
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


# Ways to say that a call fails, each of `number`, which the test file itself has.
CALLED = {
    "with": "with self.assertRaises(TypeError):\n            jax.jit(number)(1.0)",
    "a lambda": "self.assertRaises(TypeError, lambda: jax.jit(number)(1.0))",
    "a pattern first": 'self.assertRaisesRegex(TypeError, "float", lambda: jax.jit(number)(1.0))',
    "of NumPy": "np.testing.assert_raises(TypeError, lambda: jax.jit(number)(1.0))",
    "the function and its arguments": "pytest.raises(TypeError, jax.jit(number), 1.0)",
    "a nested function": "def run():\n            jax.jit(number)(1.0)\n\n        self.assertRaises(TypeError, run)",
}
NUMBERS = """
import unittest

import jax
import numpy as np
import pytest


def number(x):
    return float(x){mark}


class TestNumbers(unittest.TestCase):
    def test_it_fails(self):
        {call}
"""


@pytest.mark.parametrize("call", CALLED.values(), ids=CALLED)
def test_a_call_that_is_to_fail_is_no_finding(tmp_path: Path, call: str) -> None:
    files = {"test_numbers.py": NUMBERS.format(call=call, mark="")}
    assert findings_in(tmp_path, files) == []


@pytest.mark.parametrize("call", CALLED.values(), ids=CALLED)
def test_the_same_call_in_another_test_is(tmp_path: Path, call: str) -> None:
    program = NUMBERS.format(call=call, mark="  # finding: tracer-concretization")
    files = {"test_numbers.py": f"{program}\n    def test_it_works(self):\n        jax.jit(number)(1.0)\n"}
    assert reported(findings_in(tmp_path, files)) == expected(files)
