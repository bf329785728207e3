"""Programs that are made to blow up the analysis cost neither minutes nor gigabytes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
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
# Reads folders, one a line, and analyses each in a fork of itself with limits: what is imported is imported once.
LIMITS = """
import json, os, pathlib, resource, sys
from jaxlint.registry import all_rules
from jaxlint.source.read import read_source
from jaxlint.staging import analyze

def analysed(folder):
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    sources = [read_source(path, path.name) for path in sorted(pathlib.Path(folder).iterdir())]
    found = analyze(sources, [rule() for rule in all_rules()])
    usage = resource.getrusage(resource.RUSAGE_SELF)
    # `ru_maxrss` begins at what the process that started this one had; the kernel's own count does not.
    status = pathlib.Path("/proc/self/status")
    peak = [int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")] if status.exists() else []
    megabytes = (peak or [usage.ru_maxrss])[0] // 1024
    print(json.dumps([usage.ru_utime - before, megabytes, [str(e) for e in found.errors]]), flush=True)

all_rules()
for line in sys.stdin:
    child = os.fork()
    if not child:
        analysed(line.strip())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print("ended", os.waitstatus_to_exitcode(status), flush=True)
"""


@pytest.fixture(scope="module")
def limited() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", LIMITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield process
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=30) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are those of Unix")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in PROGRAMS]
)
def test_it_ends_within_its_limits(name: str, tmp_path: Path, limited: subprocess.Popen[str]) -> None:
    """20 seconds of processor time and one gigabyte, in a process that ends by itself where they are long gone."""
    for file, text in PROGRAMS[name]().items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    assert limited.stdin is not None
    assert limited.stdout is not None
    print(tmp_path, file=limited.stdin, flush=True)
    said = []
    while not (line := limited.stdout.readline()).startswith("ended"):
        assert line, "the process that runs them has ended"
        said.append(line)
    assert line == "ended 0\n"
    seconds, megabytes, errors = json.loads(said[0])
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
