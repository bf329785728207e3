"""chex: its dataclasses, and the contexts that replace JAX's transformations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jaxlint.staging.evaluator.external_models import Entered, contexts
from jaxlint.staging.evaluator.scopes import FakePmaps, Staged, Unjitted
from jaxlint.staging.values.class_models import PYTREE, decorator, test_members
from jaxlint.staging.values.stage import HOST

decorator("chex.dataclass", PYTREE, freezes="told")
decorator("chex.mappable_dataclass", PYTREE, freezes="told")
test_members({"variant": "chex.variant"})  # of `chex.variants`


@contexts("fake_jit", "*.fake_jit")
@contextmanager
def fake_jit(entered: Entered) -> Iterator[None]:
    """`jit` does nothing."""
    with Staged(entered.frame, HOST), Unjitted(entered.machine, 1):
        yield


@contexts("fake_pmap", "*.fake_pmap", "fake_pmap_and_jit", "*.fake_pmap_and_jit")
@contextmanager
def fake_pmap(entered: Entered) -> Iterator[None]:
    """`jit` does nothing, and `pmap` neither compiles nor hashes."""
    with fake_jit(entered), FakePmaps(entered.machine, 1):
        yield
