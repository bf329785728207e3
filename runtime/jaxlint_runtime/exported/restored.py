"""A captured function from its artefacts: traced, compiled and run like any other, in a process without the user's
code."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxlint_runtime import compat, inspection
from jaxlint_runtime.exported import artefacts
from jaxlint_runtime.exported.artefacts import Input, Kept, Record
from jaxlint_runtime.inspection.updates import Update
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.lowering.function_versions import BoundCall, Leaf, Staged, StagingError, Version
from jaxlint_runtime.model import CapturedCall, CapturedFunction, JitOptions
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.candidate_proof import Plan
from jaxlint_runtime.proof.equivalence import Outcome, host
from jaxlint_runtime.proof.float64 import in_double
from jaxlint_runtime.proof.live_prover import LiveProver
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.transforms import TRANSFORMS, NotApplicable

Names = tuple[str, ...]


class Stored:
    """An exported program as a function of flat leaves, loaded at its first call."""

    def __init__(self, folder: Path, kept: Kept, role: str) -> None:
        self.kept = kept
        self.role = role
        self._folder = folder
        self.__name__ = role

    @functools.cached_property
    def _exported(self) -> Any:
        if self.role not in self.kept.files:
            raise StagingError(
                self.kept.missing.get(self.role, f"could not be lowered: its {self.role} is missing")
            )
        return artefacts.load(self._folder / self.kept.files[self.role])

    def __call__(self, *leaves: Any) -> Any:
        return self._exported.call(*leaves)


class Restored(Reference):
    """A program whose facts were recorded where it was captured."""

    def __init__(self, folder: Path, record: Record, settings: Settings) -> None:
        self._folder = folder
        self._record = record
        self._stored: dict[tuple[Names, str], Stored] = {}
        original = self._function((), "target")
        options = JitOptions(donate_argnums=_numbers(record.donated))
        leaves = tuple(_leaf(number, one) for number, one in enumerate(record.inputs))
        values = tuple(leaf.value for leaf in leaves)
        call = CapturedCall(values, {}, (tuple(leaf.aval for leaf in leaves), {}))
        captured = CapturedFunction(
            **record.function, function=original, jitted=None, options=options, call=call, calls=1
        )
        super().__init__(captured, settings)
        self.version = Version(original, options)
        self.bound = BoundCall(call, frozenset(), frozenset(), leaves, jax.tree.structure((values, {})))

    @functools.cached_property
    def updates(self) -> tuple[Update, ...]:
        """Which outputs are new values of which inputs."""
        return self._record.updates

    @functools.cached_property
    def dtype(self) -> str:
        """The coarsest floating dtype that the original computes in."""
        return self._record.dtype

    @functools.cached_property
    def differentiates(self) -> bool:
        """Whether it takes reverse-mode derivatives itself."""
        return self._record.differentiates

    @property
    def constants(self) -> tuple[inspection.Constant, ...]:
        """Arrays that it captures."""
        return self._record.constants

    def label(self, leaf: int) -> str:
        """The argument of a leaf, by its parameter name."""
        return self._record.inputs[leaf].label

    @functools.cached_property
    def _original(self) -> Staged:
        if self.runner == self.target:
            return self.baseline
        return self.runnable(Version(self._function((), "run"), self.version.options))

    @functools.cached_property
    def baseline(self) -> Staged:
        """The original for the target."""
        return self.stage(self.version)

    def stage(self, version: Version) -> Staged:
        """A version for the target, with the facts of its jaxpr."""
        return self._known(function_versions.stage(version, self.bound, self.target))

    def runnable(self, version: Version) -> Staged:
        """A version for the device that computes the values."""
        return self._known(function_versions.stage(version, self.bound, self.runner))

    def gradients(self, version: Version) -> Staged:
        """The exported gradients of a version."""
        names = next(key for key, one in self._stored.items() if one is version.function)[0]
        return self.runnable(Version(self._function(names, "gradients"), JitOptions()))

    def read(self, staged: Staged, result: Any, starts: Mapping[int, np.ndarray]) -> Outcome:
        """The results of a version, on the host; gradients are one group."""
        leaves = tuple(map(host, result))
        if _stored(staged).role == "gradients":
            return Outcome(
                leaves, tuple(f"[0][{n}]" for n in range(len(leaves))), (tuple(range(len(leaves))),)
            )
        return Outcome(leaves, *self._record.outputs, starts)

    def widened(self, staged: Staged, values: Sequence[Any]) -> list[np.ndarray]:
        """The outputs of a version in float64. Raises StagingError if that was not exported."""
        kept, role = _stored(staged).kept, f"{_stored(staged).role}.wide"
        run = Stored(self._folder, kept, role)
        return in_double(
            compat.jit(lambda *leaves: run(*leaves)), values, [leaf.aval.dtype for leaf in self.bound.leaves]
        )

    def plan(self, names: Sequence[str]) -> Plan:
        """The version with these candidates; donation is added again. Raises StagingError and NotApplicable."""
        record = self._record
        key = self.key(names)
        kept = record.versions[key]
        if "target" in kept.missing:
            raise StagingError(kept.missing["target"])
        given = [record.donated, *(record.donations[name] for name in names if name in record.donations)]
        donated = tuple(any(flags) for flags in zip(*given, strict=True))
        version = Version(self._function(key, "target"), JitOptions(donate_argnums=_numbers(donated)))
        emulated = version
        if "run" in kept.files:
            emulated = Version(self._function(key, "run"), version.options)
        return Plan(tuple(self.part(name) for name in names), version, emulated)

    def part(self, name: str) -> Any:
        """The transformation and the candidate of a name."""
        transform, candidate = self._record.candidates[name]
        return TRANSFORMS[transform], candidate

    def key(self, names: Sequence[str]) -> Names:
        """The name under which their version was exported."""
        return tuple(sorted(name for name in names if name not in self._record.donations))

    def notes(self, names: Sequence[str]) -> list[str]:
        """How parts that cannot run here were checked. Raises NotApplicable."""
        kept = self._record.versions[self.key(names)]
        if "notes" in kept.missing:
            raise NotApplicable(kept.missing["notes"])
        return kept.notes

    def _function(self, names: Names, role: str) -> Stored:
        if (names, role) not in self._stored:
            self._stored[names, role] = Stored(self._folder, self._record.versions[names], role)
        return self._stored[names, role]

    def _known(self, staged: Staged) -> Staged:
        kept = _stored(staged).kept
        if _stored(staged).role == "target":
            staged.known = kept.traced
            staged.seconds.update(kept.seconds)
        return staged


class RestoredProver(LiveProver):
    """The candidates of an exported function: `candidate_search.Prover`."""

    def __init__(self, program: Restored) -> None:
        super().__init__(program)
        self._restored = program
        self.parts = {name: program.part(name) for name in program._record.candidates}

    def plan(self, names: Sequence[str]) -> Plan:
        """The version with these candidates. Raises StagingError and NotApplicable."""
        return self._restored.plan(names)

    def evidence(self, names: Sequence[str]) -> list[str]:
        """How parts that cannot run here were checked. Raises NotApplicable."""
        return self._restored.notes(names)


def _stored(staged: Staged) -> Stored:
    function = staged.version.function
    assert isinstance(function, Stored)
    return function


def _numbers(flags: Sequence[bool]) -> tuple[int, ...]:
    return tuple(number for number, flag in enumerate(flags) if flag)


def _leaf(number: int, one: Input) -> Leaf:
    value = one.value
    if one.key is not None:
        value = jax.random.wrap_key_data(value, impl=one.key)
    dtype = value.dtype if one.key is not None else one.dtype
    place = None
    if one.placement is not None:
        place = artefacts.sharding(one.placement, jax.devices())
    aval = jax.ShapeDtypeStruct(one.shape, dtype, sharding=place, weak_type=one.weak_type)
    return Leaf(one.path, number, aval, value)
