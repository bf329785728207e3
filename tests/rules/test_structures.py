"""When two types count as different is held against what JAX accepts as branches and as a carry."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.tracing.branch_mismatch import BranchMismatch
from jaxlint_rules.tracing.carry_mismatch import CarryMismatch

VALUES = [
    "0",
    "0.0",
    "True",
    "None",
    "jnp.int32(1)",
    "jnp.float32(1)",
    "jnp.bfloat16(1)",
    "jnp.zeros(3)",
    "(0, 0.0)",
    "[0, 0.0]",
    "{'a': 0.0}",
]
PAIRS = list(itertools.product(VALUES, VALUES))
HEAD = "import jax.numpy as jnp\nfrom jax import lax\n"


def accepted(code: str) -> bool:
    try:
        exec(code, {})
    except (TypeError, ValueError):
        return False
    return True


def reported(rule: type, code: str, folder: Path) -> bool:
    return bool(analyze([source_from_bytes(code.encode(), folder / "p.py", "p.py")], [rule()]).findings)


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_branches(left: str, right: str, tmp_path: Path) -> None:
    code = f"{HEAD}lax.cond(True, lambda: {left}, lambda: {right})\n"
    assert reported(BranchMismatch, code, tmp_path) == (not accepted(code))


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_carry(left: str, right: str, tmp_path: Path) -> None:
    code = f"{HEAD}lax.while_loop(lambda c: False, lambda c: {right}, {left})\n"
    assert reported(CarryMismatch, code, tmp_path) == (not accepted(code))
