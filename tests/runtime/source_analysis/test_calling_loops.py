"""The loops that call functions, and how often one run of them does."""

from __future__ import annotations

from pathlib import Path

from jaxlint.source import read_source
from jaxlint_runtime.source_analysis.calling_loops import calling_loops, least_calls

PROGRAM = """
for seed in (0, 1):
    train(seed)
    for _ in range(150):
        agent.step(seed)
for n in range(steps):
    step(n)
while True:
    read()
once()
"""


def test_how_often_loops_call(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    sources = [read_source(path, str(path))]
    assert {name: line for name, (_, line) in calling_loops(sources).items()} == {
        "train": 2,
        "step": 4,  # of `agent`
        "range": 4,
        "read": 8,
    }
    least = least_calls(sources)
    assert {name: least[name] for name in ("train", "step", "read")} == {"train": 2, "step": 150, "read": 2}
    assert "once" not in least
