"""What rules say proves them: a transformation that `jaxlint verify` has, and that takes up their findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.registry import all_rules
from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_runtime.optimiser_settings import SOURCE, TRANSFORMS
from jaxlint_runtime.rewrites.proposals import from_findings

PROVEN = [rule for rule in all_rules() if rule.proven_by()]


@pytest.mark.parametrize("rule", PROVEN, ids=lambda rule: rule.name)
def test_the_transformation_exists_and_takes_up_the_finding(rule: type[Rule], tmp_path: Path) -> None:
    if rule.proven_by() != SOURCE or not rule.fixable:
        # `missing-jit` is taken up by what the run shows: functions that run operation by operation.
        assert rule.proven_by() in (*TRANSFORMS, SOURCE)
        return
    proposed = []
    for number, example in enumerate(rule.examples):
        path = tmp_path / f"program{number}.py"
        path.write_text(example.code)
        source = source_from_bytes(example.code.encode(), path, str(path))
        proposed += from_findings(analyze([source], [rule()]).findings, {}, errors=False)
    assert {rewrite.name for rewrite in proposed} == {f"fix:{rule.name}"}
    assert all(rewrite.codemods for rewrite in proposed)


def test_costly_rules_with_a_fix_are_proven_by_running_it() -> None:
    proofs = {rule.name: rule.proven_by() for rule in PROVEN}
    assert proofs["append-loop"] == SOURCE
    assert proofs["missing-donation"] == "donation"
    assert proofs["scan-without-remat"] == "remat"
    assert proofs["naive-attention"] == "kernels"
    assert "key-reuse" not in proofs  # it changes what is drawn
