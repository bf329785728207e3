"""When a key that is used twice is a warning: the repeated numbers are seen to meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Severity
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.random.key_reuse import KeyReuse

_CROPS = """
import jax

@jax.jit
def augment(key, images):
    keys = jax.random.split(key, images.shape[0])
    return jax.vmap(lambda key, image: image + jax.random.normal(key, image.shape))(keys, images)

def outer(key, images):
    return inner(key, images)

def inner(key, images):
    return augment(key, images)
"""
_ONCE = """
def batch(key, images):
    order = jax.random.permutation(key, len(images))
    return CALLED(key, images[:8]), order
"""
_LOOP = """
def batches(key, images):
    for start in range(0, 1024, 8):
        yield CALLED(key, images[start : start + 8])
"""


@pytest.mark.parametrize(
    ("use", "called", "severity"),
    [
        (_ONCE, "augment", Severity.WARNING),  # a jitted function that splits the key itself
        (_ONCE, "outer", Severity.INFO),  # something that draws far inside
        (_LOOP, "augment", Severity.WARNING),
        (_LOOP, "outer", Severity.WARNING),  # each iteration repeats the numbers
    ],
)
def test_numbers_that_meet_are_a_warning(use: str, called: str, severity: Severity) -> None:
    text = _CROPS + use.replace("CALLED", called)
    source = source_from_bytes(text.encode(), Path("program.py"), "program.py")
    assert [one.severity for one in analyze([source], [KeyReuse()]).findings] == [severity]
