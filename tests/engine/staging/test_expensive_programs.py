"""Programs that are made to blow up the analysis cost neither minutes nor gigabytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jaxlint.staging.values import (
    MAX_WEIGHT,
    DictValue,
    ListValue,
    Static,
    TupleValue,
    bounded_weight,
    store_key,
)
from tests.helpers.expensive_programs import PROGRAMS

# Whole files of this size take seconds, and much of that is the parser's.
LONG = [name for name in PROGRAMS if "thousand_lines" in name]
LIMITS = """
import json, resource, sys
from jaxlint.registry import all_rules
from jaxlint.source.read import read_source
from jaxlint.staging import analyze

resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
for path in sys.argv[1:]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    sources = [read_source(p, p.name) for p in sorted(__import__("pathlib").Path(path).iterdir())]
    found = analyze(sources, [rule() for rule in all_rules()])
    usage = resource.getrusage(resource.RUSAGE_SELF)
    # `ru_maxrss` begins at what the process that started this one had; the kernel's own count does not.
    status = __import__("pathlib").Path("/proc/self/status")
    peak = [int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")] if status.exists() else []
    megabytes = (peak or [usage.ru_maxrss])[0] // 1024
    print(json.dumps([usage.ru_utime - before, megabytes, [str(e) for e in found.errors]]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are those of Unix")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in PROGRAMS]
)
def test_it_ends_within_its_limits(name: str, tmp_path: Path) -> None:
    """20 seconds of processor time and one gigabyte, in a process that ends by itself where they are long gone."""
    for file, text in PROGRAMS[name]().items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", LIMITS, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seconds, megabytes, errors = json.loads(done.stdout)
    assert errors == []
    assert seconds < 20
    assert megabytes < 1000


def test_containers_that_hold_too_much_are_not_known_item_by_item() -> None:
    pair: TupleValue | ListValue | DictValue = TupleValue([Static(1), Static(2)])
    for turn in range(100):
        known = pair.items
        assert pair.weight <= MAX_WEIGHT
        made = (TupleValue([pair, pair]), ListValue([pair, pair]), DictValue({"a": pair, "b": pair}))
        pair = made[turn % 3]
        if not pair.items:
            break
    assert known
    assert not pair.items


def test_what_is_put_into_a_container_counts() -> None:
    table, items = DictValue({}), ListValue([])
    held = TupleValue([Static(i) for i in range(1000)])
    for i in range(100):
        store_key(table, i, held, conditional=False)
        assert items.items is not None
        items.items.append(bounded_weight(items, held))
    assert table.items[0] is held
    assert table.items[99] is not held
    assert items.items[0] is held
    assert items.items[99] is not held
