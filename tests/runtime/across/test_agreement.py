"""What processes agree on, with threads and a dict in place of processes and JAX's coordinator."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from jaxlint_runtime import compat
from jaxlint_runtime.across.agreement import Agreement, LeftAlone


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    values: dict[str, str] = {}

    def put(key: str, value: str) -> None:
        assert key not in values, "a key is written once"
        values[key] = value

    def get(key: str, seconds: float) -> str | None:
        until = time.monotonic() + min(seconds, 0.05)
        while key not in values and time.monotonic() < until:
            time.sleep(0.001)
        return values.get(key)

    monkeypatch.setattr(compat, "put_shared", put)
    monkeypatch.setattr(compat, "get_shared", get)
    return values


def in_both(act: Callable[[Agreement], Any]) -> list[Any]:
    with ThreadPoolExecutor(2) as pool:
        return [one.result(timeout=20) for one in [pool.submit(act, Agreement(n, 2)) for n in range(2)]]


def test_all_have_the_values_of_all() -> None:
    def act(mine: Agreement) -> tuple[Any, ...]:
        with mine.step("one"):
            found = mine.gather({"process": mine.process})
        return found, mine.first(mine.process + 5), mine.all(mine.process == 0), mine.all(True)

    same = ([{"process": 0}, {"process": 1}], 5, False, True)
    assert in_both(act) == [same, same]


def test_a_process_that_leaves_a_step_is_not_waited_for() -> None:
    def act(mine: Agreement) -> tuple[str, list[Any]]:
        said = "done"
        try:
            with mine.step("one"):
                mine.gather(1)
                if mine.process == 1:
                    raise ValueError("only here")
                mine.gather(2)
        except (ValueError, LeftAlone) as error:
            said = str(error)
        return said, mine.gather(said)

    together = ["process 1 could not continue", "only here"]
    assert in_both(act) == [(together[0], together), (together[1], together)]
