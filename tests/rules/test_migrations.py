"""Old programs, rewritten, compute on the installed JAX what they computed on the release that they were written for."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxlint.fixes import fix_sources
from jaxlint.jaxapi.history import all_changes
from jaxlint.source import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.migration.changed_signature import ChangedSignature
from jaxlint_rules.migration.deprecated_api import DeprecatedApi
from jaxlint_rules.migration.removed_api import RemovedApi
from tests.rules.migrations import PROGRAMS, STATED

# The rows with ten or more counted uses in public code; the table has the most used ones first.
MUCH_USED = 58
RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "migrations.json").read_text()) | STATED
NAME = "program.py"


def rewritten(text: str) -> str:
    source = source_from_bytes(text.encode(), Path.cwd() / NAME, NAME)

    def check(sources):
        result = analyze([sources[NAME]], [RemovedApi(), DeprecatedApi(), ChangedSignature()])
        assert not result.errors
        return sorted(result.findings, key=lambda finding: finding.sort_key)

    result = fix_sources({NAME: source}, check, unsafe=True)
    assert not result.refused
    return result.texts[NAME]


def compare(found: Any, wanted: Any) -> None:
    if isinstance(wanted, list) and isinstance(found, (list, tuple)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            compare(one, other)
    elif wanted is None or isinstance(wanted, (str, bool)):
        assert found is wanted or found == wanted
    else:
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_rewritten(name):
    old = PROGRAMS[name][1]
    new = rewritten(old)
    assert new != old
    scope: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(new, name, "exec"), scope)
    compare(scope["result"], RECORDED[name])


def test_every_much_used_rewrite_has_a_program():
    written = "\n".join(f"{name}\n{source}" for name, (_, source) in PROGRAMS.items())
    missing = []
    for change in all_changes()[:MUCH_USED]:
        parameter = change.param if change.form == "keyword" else None
        if change.name in PROGRAMS:
            continue
        if change.rewrite != "manual" and (parameter or change.name.rpartition(".")[2]) not in written:
            missing.append((change.name, change.param))
    assert not missing
