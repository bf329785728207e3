"""A region that holds what the fix of a finding compiles is tried before that fix."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.proposals import Rewrite
from jaxlint_runtime.rewrites.regions import from_regions
from jaxlint_runtime.rewrites.tried_edit import edited, ways_of
from jaxlint_runtime.rewrites.wider_regions import over_findings

TRAINER = """\
import jax
import jax.numpy as jnp
import numpy as np
import optax

def main(n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 3))
    params = jnp.ones(3)
    optimizer = optax.adam(1e-3)
    state = optimizer.init(params)
    for i in range(n):
        rows = rng.integers(0, 100, 8)
        loss, grads = jax.value_and_grad(lambda w, r: jnp.sum((r @ w) ** 2))(params, x[rows])
        updates, state = optimizer.update(grads, state)
        params = optax.apply_updates(params, updates)
        print(loss)

main(3)
"""


def region(tmp_path: Path) -> tuple[Rewrite, dict[str, SourceFile]]:
    path = str(tmp_path / "a.py")
    sources = {path: SourceFile(Path(path), path, TRAINER, "utf-8", False, "")}
    one = {"path": path, "function": "main", "line": 6, "calls": 1, "seconds": 9.0, "arguments": None}
    (found,) = from_regions([one], sources)
    return found, sources


def fix(path: str, line: int, **parameters: object) -> Rewrite:
    span = Span(line, 9, line, 20)
    step = Step("region-to-jit", path, span, {"around": True, "transform": "jax.jit", **parameters})
    fixes = (FixRequest(Safety.UNSAFE, "Jit the train step", (step,)),)
    return Rewrite("fix:eager-update", "JAX410", "main", path, line, "Jit the train step", fixes, 9.0)


def test_a_region_goes_before_the_fix_of_a_part_and_donates_like_it(tmp_path: Path) -> None:
    wide, sources = region(tmp_path)
    narrow = fix(wide.path, 15, donate=True)
    alone, (first,) = over_findings([narrow], [wide])
    assert alone == []
    assert list(ways_of(first))[-1] == narrow
    new = edited(first.fixes, sources)
    assert not isinstance(new, str)
    (text,) = (one.text for one in new.values())
    assert "donate_argnums" in text
    assert "loss, grads = jax.value_and_grad(" in text.partition("for i in range")[0]


def test_what_is_elsewhere_or_something_else_stays_as_it_is(tmp_path: Path) -> None:
    wide, _ = region(tmp_path)
    elsewhere = fix(wide.path, 11)
    step = dataclasses.replace(fix(wide.path, 15).fixes[0].steps[0], codemod="add-jit")
    other = dataclasses.replace(
        elsewhere, fixes=(FixRequest(Safety.UNSAFE, "Add jit", (step,)),), name="fix:missing-jit"
    )
    assert over_findings([elsewhere, other], [wide]) == ([elsewhere, other], [wide])


def test_equinox_donates_nothing_that_a_fix_would(tmp_path: Path) -> None:
    wide, _ = region(tmp_path)
    renamed = dataclasses.replace(wide, name="region-to-jit:eqx.filter_jit")
    _, (first,) = over_findings([fix(wide.path, 15, donate=True)], [renamed])
    assert first.fixes == wide.fixes
