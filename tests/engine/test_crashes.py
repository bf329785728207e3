"""The line that a crash costs, and what is done where there is little memory."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jaxlint.crashes import described
from jaxlint.staging.evaluator.deep_stack import with_deep_stack


def _error(raised: BaseException) -> BaseException:
    try:
        raise raised
    except BaseException as error:
        return error


def test_a_bug_is_named_with_its_place() -> None:
    said = described(_error(KeyError("two\nlines")), "please report it")
    assert said.startswith("internal error (KeyError: 'two\\nlines' at test_crashes.py:")
    assert said.endswith("); please report it")


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
def test_too_little_memory_is_no_bug(error: BaseException) -> None:
    assert described(_error(error), "please report it").startswith("out of memory; raise")


def test_a_smaller_stack_is_used_where_the_large_one_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, start = [], threading.Thread.start

    def limited(thread: threading.Thread) -> None:
        sizes.append(threading.stack_size())
        if sizes[-1] > 100 << 20:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    before, depths = sys.getrecursionlimit(), []
    with_deep_stack(lambda: depths.append(sys.getrecursionlimit()))
    assert sizes == [512 << 20, 128 << 20, 32 << 20]
    assert depths == [60_000 // 16]
    assert sys.getrecursionlimit() == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="`ulimit -v` holds on Linux alone")
def test_a_limit_of_memory_costs_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import jax\n")
    command = f'ulimit -v 60000; "{sys.executable}" -P -m jaxlint check --no-cache a.py'
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2
    assert done.stderr == "error: out of memory; raise the memory limit, or check fewer files at once\n"
