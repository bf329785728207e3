"""Fixes of code that fails are not safe in files that run functions in order to see them fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jaxlint.finding import Finding, Safety
from jaxlint.registry import all_rules
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze

FAILS = """import jax
import numpy as np

@jax.jit
def positive(x, y):
    return x > 0 and y > 0

"""
ATTEMPT = """
def attempt(f, *args):
    try:
        return f(*args)
    except {}:
        return "failed"
"""
EXPECTED = {
    "any": ATTEMPT.format("Exception"),
    "its base class": ATTEMPT.format("jax.errors.JAXTypeError as error"),
    "its class, of a method": "def run(case):\n    try:\n        case.run()\n    except jax.errors.ConcretizationTypeError:\n        pass\n",
    "a table": "def run(name):\n    try:\n        {'positive': positive}[name](1, 2)\n    except TypeError:\n        pass\n",
    "a test": "import pytest\ndef check(f):\n    with pytest.raises(TypeError):\n        f(1, 2)\n",
}
NOT_EXPECTED = {
    "nothing": "",
    "another error": ATTEMPT.format("OSError"),
    "known functions": "def read(path):\n    return open(path)\ntry:\n    print(read('a'))\nexcept Exception:\n    pass\n",
}


def safety(code: str, **others: str) -> Safety:
    """Of the fix in `code`. `others`: the other files of the project, by stem."""
    texts = {"program": code, **others}
    sources = [
        source_from_bytes(text.encode(), Path(f"{name}.py"), f"{name}.py") for name, text in texts.items()
    ]
    rules = [rule() for rule in all_rules() if rule.code == "JAX101"]
    found: list[Finding] = [one for one in analyze(sources, rules).findings if one.path == "program.py"]
    (fix,) = [one.fix for one in found if one.span.line == 6]
    assert fix is not None
    return fix.safety


@pytest.mark.parametrize("rest", EXPECTED.values(), ids=EXPECTED)
def test_a_fix_is_not_safe_where_the_error_may_be_expected(rest: str) -> None:
    assert safety(FAILS + rest) is Safety.UNSAFE


@pytest.mark.parametrize("rest", NOT_EXPECTED.values(), ids=NOT_EXPECTED)
def test_a_fix_is_safe_where_nothing_expects_the_error(rest: Any) -> None:
    assert safety(FAILS + rest) is Safety.SAFE


CALLER = """import jax
from program import positive

try:
    positive(1, 2)
except {}:
    print("not for tracers")
"""


@pytest.mark.parametrize(
    "error", ["jax.errors.TracerBoolConversionError", "jax.errors.ConcretizationTypeError"]
)
def test_a_fix_is_not_safe_where_another_file_names_the_error(error: str) -> None:
    assert safety(FAILS, main=CALLER.format(error)) is Safety.UNSAFE


def test_a_fix_is_safe_where_another_file_catches_something_else() -> None:
    assert safety(FAILS, main=CALLER.format("OSError")) is Safety.SAFE
