"""Lists of the host's rows that the program makes arrays of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.capture.function_identity import Project
from jaxlint_runtime.capture.host_rows import RowsOfHost

HERE = Path(__file__).parent
ROW = np.ones(3)


def noted(*values: Any, counting: bool = True, path: str | Path = HERE) -> list[tuple[int, str, bool]]:
    rows = RowsOfHost(Project([path]), counting=lambda: counting)
    array = rows.wrap(jnp.array)
    for value in values:
        assert array(value).shape == jnp.array(value).shape
    return [(one.calls, one.function, one.seconds > 0) for one in rows.found()]


@pytest.mark.parametrize(
    ("values", "calls"),
    [
        (([ROW] * 9, (ROW,) * 12), 2),
        (([0.5] * 9,), 1),
        (([np.float64(0.5), 1.5] * 9,), 1),
        (([ROW] * 3,), 0),  # few
        (([1] * 9,), 0),  # integers may have more than 32 bits
        (([ROW.astype(int)] * 9,), 0),
        (([True] * 9,), 0),
        (([ROW.astype(np.float32), *[ROW] * 9],), 0),
        (([jnp.ones(3)] * 9,), 0),
        ((ROW,), 0),
        (([ROW] * 9, ROW), 0),  # the same place is given something else
    ],
)
def test_rows_of_one_kind(values: tuple[Any, ...], calls: int) -> None:
    assert noted(*values) == ([(calls, "noted", True)] if calls else [])


def test_calls_elsewhere_and_while_nothing_is_counted() -> None:
    assert noted([ROW] * 9, counting=False) == noted([ROW] * 9, path="/somewhere/else") == []


def test_the_function_stays_what_it_is() -> None:
    rows = RowsOfHost(Project([HERE]), counting=lambda: True)
    array = rows.wrap(jnp.array)
    assert array.__name__ == jnp.array.__name__
    assert array([ROW] * 9, dtype=jnp.bfloat16).dtype == jnp.bfloat16
    with pytest.raises(TypeError):
        array()
