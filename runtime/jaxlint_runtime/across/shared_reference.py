"""The original's results in one of several processes, and candidates that all processes prove at once.

Each process compares its own shards of the results. All processes decide together, since a program that spans
them runs in all or in none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from jaxlint_runtime.across.agreement import Agreement
from jaxlint_runtime.across.local_shards import LocalShards, local, spans
from jaxlint_runtime.lowering.function_versions import Staged
from jaxlint_runtime.model import CapturedFunction, Proposed, Result, Status
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof import equivalence
from jaxlint_runtime.proof.equivalence import Comparison, Outcome
from jaxlint_runtime.proof.live_prover import LiveProver
from jaxlint_runtime.proof.paired_timing import Subject
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.protocol.json_records import from_plain, to_plain

_BAD = (Status.FAILED, Status.REJECTED, Status.NOT_APPLICABLE)  # a failure in one process counts for all


class SharedReference(Reference):
    """A program whose arrays span processes. Its captured values are `LocalShards`, or equal in all processes."""

    def __init__(self, captured: CapturedFunction, settings: Settings, agreement: Agreement) -> None:
        super().__init__(captured, settings)
        self.agreement = agreement
        leaves = [
            leaf
            if isinstance(leaf.value, LocalShards)
            else replace(leaf, aval=_anywhere(leaf.aval))  # its device belongs to one process
            for leaf in self.bound.leaves
        ]
        self.bound = replace(self.bound, leaves=tuple(leaves))

    def agreed(self, value: Any) -> Any:
        """The value of process 0."""
        return self.agreement.first(value)

    @functools.cached_property
    def draws(self) -> list[list[Any]]:
        """The captured inputs, and varied ones: processes that hold the same part receive the same values."""
        magnitudes = self.settings.magnitudes if self.is_quick else ()
        values = [leaf.value for leaf in self.bound.leaves]
        return [values, *map(self._varied, magnitudes)]

    @functools.cached_property
    def telling(self) -> list[int]:
        """Draws with finite results in all processes."""
        mine = set(super().telling)
        return [n for n in range(len(self.draws)) if self.agreement.all(n in mine)]

    @functools.cached_property
    def lost(self) -> str | None:
        """The first output that is NaN in all processes."""
        found = self.agreement.gather(super().lost)
        return found[0] if all(found) else None

    @functools.cached_property
    def deterministic(self) -> bool:
        """Whether two runs agree in every bit, in all processes."""
        return self.agreement.all(super().deterministic)

    @functools.cached_property
    def is_quick(self) -> bool:
        """Whether a call is fast enough for further draws."""
        return bool(self.agreed(super().is_quick))

    def outcome(self, staged: Staged, values: Sequence[Any], changes: bool = True) -> Outcome:
        """Runs a version in all processes; returns the shards of this one, flat."""
        args, kwargs = self.bound.dynamic(_put(values))
        result = jax.block_until_ready(staged.compiled(*args, **kwargs))
        starts: Mapping[int, np.ndarray] = {}
        if changes:
            starts = {u.output: _host(values[u.input]) for u in self.updates if u.distance}
        return self.read(staged, jax.tree.map(local, result), starts)

    def rounded(self, values: Sequence[Any], dtype: str) -> Outcome:
        """The original's results for inputs rounded in `dtype`."""
        moved = self._mapped(lambda leaf, seed: equivalence.rounded_inputs([leaf], dtype, seed)[0])
        return self.outcome(self._original, moved)

    def check(self, staged: Staged, dtype: str | None) -> Comparison:
        """The worst comparison over all processes."""
        found = self.agreement.gather(to_plain(super().check(staged, dtype)))
        return equivalence.worst([from_plain(Comparison, one) for one in found])

    def subject(self, staged: Staged, fresh: Sequence[bool]) -> Subject:
        """A version for timing."""
        arrays = jax.block_until_ready(_put([leaf.value for leaf in self.bound.leaves]))
        compiled = staged.compiled

        def prepare() -> Any:
            again = [_copied(array) if new else array for array, new in zip(arrays, fresh, strict=True)]
            return self.bound.dynamic(again)

        def run(arguments: Any) -> Any:
            args, kwargs = arguments
            return compiled(*args, **kwargs)

        new = [leaf.value for leaf, one in zip(self.bound.leaves, fresh, strict=True) if one]
        return Subject(run, prepare, sum(int(getattr(value, "nbytes", 0)) for value in new))

    def _varied(self, magnitude: float) -> list[Any]:
        return self._mapped(lambda leaf, seed: equivalence.draws([leaf], (magnitude,), seed)[1][0])

    def _mapped(self, change: Callable[[Any, int], Any]) -> list[Any]:
        """The captured values, each changed by `change(array, seed)`; processes share the seed."""
        return [
            _changed(leaf.value, change, self.settings.seed + n) for n, leaf in enumerate(self.bound.leaves)
        ]


class SharedProver(LiveProver):
    """Proves candidates in all processes. Its results are the same in each."""

    def __init__(self, program: SharedReference) -> None:
        super().__init__(program)
        self._agreement = program.agreement
        self._steps = 0

    def propose(self, transform: str) -> list[Proposed] | Result:
        """The candidates that all processes propose."""
        with self._step():
            found = super().propose(transform)
        names = None if isinstance(found, Result) else [one.name for one in found]
        said = self._agreement.gather([names, to_plain(found) if names is None else None])
        refused = next((plain for _, plain in said if plain is not None), None)
        if refused is not None:
            return from_plain(Result, refused)
        assert isinstance(found, list)
        return [one for one in found if all(one.name in names for names, _ in said)]

    def prove(self, parts: Sequence[str], base: Sequence[str]) -> Result:
        """Proves a version in all processes. A version that one process refuses is refused everywhere."""
        with self._step():
            outcome = super().prove(parts, base)
        compiles = self.program.captured.compiles
        if outcome.before is not None and not base and compiles:
            # the program has compiled the original, so JAX would not compile it again
            first = compiles[0]
            outcome.before.compile_s = first.seconds_trace + first.seconds_lower + first.seconds_compile
        return _of_all([from_plain(Result, one) for one in self._agreement.gather(to_plain(outcome))])

    def _step(self) -> Any:
        self._steps += 1
        captured = self.program.captured
        return self._agreement.step(f"{captured.path}:{captured.line}:{captured.qualname}/{self._steps}")


def _of_all(outcomes: Sequence[Result]) -> Result:
    """Combines the results of all processes: the first refusal, otherwise the result of process 0.

    Memory and compile time are the maxima over the processes.
    """
    bad = next((n for n, one in enumerate(outcomes) if one.status in _BAD), None)
    found = outcomes[bad or 0]
    if bad:
        found.reason = f"in process {bad}: {found.reason}"
    if bad is not None:
        return found
    found.evidence += f"; compared and timed in {len(outcomes)} processes at once, times of process 0"
    for side in ("before", "after"):
        costs = [cost for one in outcomes if (cost := getattr(one, side)) is not None]
        for figure in ("peak_bytes", "temp_bytes", "compile_s"):
            figures = [value for cost in costs if (value := getattr(cost, figure)) is not None]
            if figures:
                setattr(getattr(found, side), figure, max(figures))
    return found


def _changed(value: Any, change: Callable[[Any, int], Any], seed: int) -> Any:
    if isinstance(value, LocalShards):
        return value.mapped(lambda part, place: change(part, seed + place))
    return change(value, seed)


def _anywhere(aval: Any) -> Any:
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=getattr(aval, "weak_type", False))


def _put(values: Sequence[Any]) -> list[Any]:
    return [value.put() if isinstance(value, LocalShards) else value for value in values]


def _host(value: Any) -> np.ndarray:
    return value.flat() if isinstance(value, LocalShards) else equivalence.host(value)


def _copied(array: Any) -> Any:
    """A copy of this process's shards, without a program that spans processes."""
    if not isinstance(array, jax.Array) or not spans(array):
        return array.copy() if hasattr(array, "copy") else array
    parts = [shard.data.copy() for shard in array.addressable_shards]
    return jax.make_array_from_single_device_arrays(array.shape, array.sharding, parts)
