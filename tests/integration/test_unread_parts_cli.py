"""What cannot be read costs what it is, and no more: through the real command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

NEW = """import jax
import jax.numpy as jnp
from flax import nnx

type Pair[
    T
] = tuple[T, T]
type Scale = float


class Layer[T: nnx.Module](nnx.Module):
    def __call__[V](self, x: V) -> V:
        return x


@jax.jit
def step[T: (jax.Array, None)](x: T, names: dict) -> T:
    label = f"{names["a"]} {
        names["b"]  # the second
    }"
    if x.sum() > 0:
        return x
    return -x


tree = jax.tree_map(lambda a: a, f"{"-".join(["a"])}" if Pair else [1])
print(f"{float(step(jnp.ones(3), {"é": jax.tree_map(abs, [1])}))}")


def shadowed[jax](x: jax.nonsense):
    return jax.nonsense(x)
"""
OLD = """import jax
import jax.numpy as jnp
from flax import nnx

Pair = (

    tuple)
Scale      = float


class Layer                   (nnx.Module):
    def __call__   (self, x: 'V') -> 'V':
        return x


@jax.jit
def step                       (x: 'T', names: dict) -> 'T':
    label = (f"{names['a']} {names['b']}"

    )
    if x.sum() > 0:
        return x
    return -x


tree = jax.tree_map(lambda a: a, f"{'-'.join(['a'])}" if Pair else [1])
print(f"{float(step(jnp.ones(3), {'é': jax.tree_map(abs, [1])}))}")


def shadowed     (x: 'jax.nonsense'):
    return None
"""


def jaxlint(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "jaxlint", *arguments],
        cwd=cwd,
        capture_output=True,
        timeout=120,
        check=False,
        encoding="utf-8",
        env={key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")},
    )


def found(name: str, cwd: Path) -> list[tuple[Any, ...]]:
    run = jaxlint("check", "--no-cache", "--output-format", "json", name, cwd=cwd)
    assert run.returncode in (0, 1), run.stderr
    report = json.loads(run.stdout)
    findings = report["findings"] if isinstance(report, dict) else report
    return [(one["code"], one["line"], one["column"], one["end_line"], one["end_column"]) for one in findings]


def test_new_syntax_has_the_findings_of_old_syntax_at_the_same_places(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text(NEW, encoding="utf-8")
    (tmp_path / "old.py").write_text(OLD, encoding="utf-8")
    new = found("new.py", tmp_path)
    assert {"JAX101"} < {code for code, *_ in new}
    assert new == found("old.py", tmp_path)


def test_new_syntax_is_fixed_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "new.py"
    path.write_text(NEW, encoding="utf-8")
    run = jaxlint("fix", "--unsafe-fixes", "--no-cache", "new.py", cwd=tmp_path)
    assert run.returncode in (0, 1), run.stderr
    after = path.read_text(encoding="utf-8")
    assert "jnp.where(x.sum() > 0, x, -x)" in after
    assert '{"é": jax.tree.map(abs, [1])}' in after
    assert NEW.partition("@jax.jit")[0] == after.partition("@jax.jit")[0]
