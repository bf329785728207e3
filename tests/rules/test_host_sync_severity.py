"""How loudly `host-sync-in-loop` speaks: a wait that is meant, or comes now and then, is advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Severity
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.transfer.host_sync_in_loop import HostSyncInLoop

_STEP = "import time, jax\n\n@jax.jit\ndef step(w, x):\n    return w - x, (w * x).sum()\n\n"
_TIMED = """
def run(w, xs):
    for x in xs:
        begun = time.time()
        w, loss = step(w, x)
        value = float(loss)
        print(value, time.time() - begun)
"""
_NOW_AND_THEN = """
def run(w, xs):
    for n, x in enumerate(xs):
        w, loss = step(w, x)
        if n % 100 == 0:
            for k in range(5):
                total = float(step(w, k)[1])
"""
_EACH = """
def run(w, xs):
    for x in xs:
        w, loss = step(w, x)
        total = float(loss)
"""


@pytest.mark.parametrize(
    ("loop", "severity"),
    [(_TIMED, Severity.INFO), (_NOW_AND_THEN, Severity.INFO), (_EACH, Severity.WARNING)],
)
def test_a_wait_that_is_meant_is_advice(loop: str, severity: Severity) -> None:
    source = source_from_bytes((_STEP + loop).encode(), Path("program.py"), "program.py")
    (finding,) = analyze([source], [HostSyncInLoop()]).findings
    assert finding.severity is severity
