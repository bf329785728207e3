"""What all tests share: programs that JAX compiled for one module of tests are dropped before the next."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _drop_compiled_programs() -> Iterator[None]:
    """A worker that keeps every executable of thousands of tests grows to several GB."""
    yield
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.clear_caches()
