"""A program that replaces functions of a library is not compiled where it calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source import SourceFile

PROGRAM = """
import sys
import importlib
from unittest import mock
import jax
import jax.numpy as jnp
import numpy as np

def counted(function):
    return function

class Options:
    pass

def instead(module, name, function):
    setattr(module, name, function)

def tried(options, name):
    {written}

def bent(x):
    y = jnp.tanh(x)
    return y * 2.0

def settled(x):
    for _ in range(9):
        x = jnp.tanh(x) + 0.1
    return x

print(bent(jnp.ones(3)))
tried(Options(), sys.argv[-1])
print(settled(bent(jnp.ones(3))))
"""

REPLACED = [
    "jnp.tanh = counted(jnp.tanh)",
    "setattr(jnp, name, counted)",
    "setattr(jnp, 'tanh', counted)",
    "setattr(jax.numpy, name, counted)",
    "instead(jnp, name, counted)",
    "module = jnp; module.tanh = counted",
    "setattr(sys.modules['jax.numpy'], name, counted)",
    "setattr(importlib.import_module('jax.numpy'), name, counted)",
    "mock.patch('jax.numpy.tanh', counted).start()",
    "mock.patch.object(jnp, name, counted).start()",
]
OTHERS = [
    "pass",
    "jnp.sin = counted(jnp.sin)",
    "setattr(jnp, 'sin', counted)",
    "setattr(np, name, counted)",
    "setattr(options, name, 1)",
    "options.tanh = 1",
    "mock.patch('numpy.tanh', counted).start()",
]


def refusal(codemod: str, written: str) -> str | None:
    text = PROGRAM.format(written=written)
    lines = text.splitlines()
    line = "def bent" if codemod == "add-jit" else "for _ in range(9)"
    first = next(number for number, one in enumerate(lines, 1) if line in one)
    span = Span(first, 1, first, 4) if codemod == "add-jit" else Span(first, 14, first, 22)
    arguments = [{"name": "x", "type": "ArrayImpl", "leaves": [{}]}]
    step = Step(codemod, "program.py", span, {"arguments": arguments})
    source = SourceFile(Path("program.py"), "program.py", text, "utf-8", False, "")
    plan = Workspace({"program.py": source}, strict=True).plan(FixRequest(Safety.UNSAFE, "Jit", (step,)))
    return plan if isinstance(plan, str) else None


@pytest.mark.parametrize("codemod", ["add-jit", "for-to-scan"])
@pytest.mark.parametrize("written", REPLACED)
def test_a_replaced_function_is_not_compiled(codemod: str, written: str) -> None:
    reason = refusal(codemod, written)
    assert reason is not None
    assert "`jax.numpy.tanh`, which" in reason
    assert "set at program.py:" in reason


@pytest.mark.parametrize("codemod", ["add-jit", "for-to-scan"])
@pytest.mark.parametrize("written", OTHERS)
def test_others_are(codemod: str, written: str) -> None:
    assert refusal(codemod, written) is None
