"""What all tests share: programs that JAX compiled for one module of tests are dropped before the next."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator

import pytest

from benchmarks.corpora.fetch import cache_folder

# Tests are of the CPU wherever they run; `make gpu` says otherwise.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

# A shell that runs the tests in the background ignores interrupts for them, and their programs would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Tests, modules and all of JAX stay to the end: the garbage collector, which took a tenth of the time, leaves them out."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.fixture(autouse=True, scope="module")
def _drop_compiled_programs() -> Iterator[None]:
    """A worker that keeps every executable of thousands of tests grows to several GB."""
    yield
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.clear_caches()


@pytest.fixture(scope="module")
def compiled_quickly() -> Iterator[None]:
    """XLA optimises as little as it can. For tests that compile much and judge neither times nor last digits."""
    import jax

    option = "jax_disable_most_optimizations"
    before = jax.config.read(option)
    jax.config.update(option, True)
    yield
    jax.config.update(option, before)


@pytest.fixture(autouse=True, scope="session")
def _own_folder_of_state() -> Iterator[None]:
    """What jaxlint keeps for a user (journals, proofs, the key of its caches) is not that of whoever runs the tests."""
    with (
        tempfile.TemporaryDirectory(prefix="jaxlint-state-") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("JAXLINT_CORPORA", str(cache_folder()))  # packages are downloaded once
        patch.setenv("XDG_STATE_HOME", folder)
        patch.setenv("XDG_CACHE_HOME", os.path.join(folder, "cache"))
        yield
