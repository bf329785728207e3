"""The original's results on the captured inputs and on varied ones, with which versions are compared."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.lowering.function_versions import Staged, StagingError, Version
from jaxlint_runtime.programs.captured_program import Program
from jaxlint_runtime.proof import equivalence
from jaxlint_runtime.proof.equivalence import Comparison, Outcome
from jaxlint_runtime.proof.float64 import widened
from jaxlint_runtime.proof.paired_timing import Subject

_SLOW_CALL_SECONDS = 2.0  # slower functions are checked on the captured inputs only


class Reference(Program):
    """A program with the results of its original, each part computed on demand."""

    @functools.cached_property
    def draws(self) -> list[list[Any]]:
        """The inputs for comparisons: those captured first, then varied ones."""
        magnitudes = self.settings.magnitudes if self.is_quick else ()
        values = [leaf.value for leaf in self.bound.leaves]
        return equivalence.draws(values, magnitudes, self.settings.seed)

    @functools.cached_property
    def references(self) -> list[Outcome]:
        """The original's results for each draw."""
        return [self._first, *(self.outcome(self._original, values) for values in self.draws[1:])]

    @functools.cached_property
    def telling(self) -> list[int]:
        """Numbers of the draws for comparisons: the captured inputs, and those for which the original is finite."""
        return [n for n, reference in enumerate(self.references) if not n or _finite(reference)]

    @functools.cached_property
    def lost(self) -> str | None:
        """The first output that only contains NaN on each of them, so that it cannot distinguish versions."""
        paths = [equivalence.lost(self.references[n]) for n in self.telling]
        return paths[0] if all(paths) else None

    @functools.cached_property
    def deterministic(self) -> bool:
        """Whether two runs of the original on the captured inputs agree in every bit."""
        return equivalence.identical(self.references[0], self.outcome(self._original, self.draws[0]))

    @functools.cached_property
    def _original(self) -> Staged:
        if self.runner == self.target:
            return self.baseline
        return self.runnable(self.version)

    @property
    def original(self) -> Staged:
        """The original for the device that computes the values."""
        return self._original

    @functools.cached_property
    def is_quick(self) -> bool:
        """Whether a call takes little enough time for further draws."""
        return self._seconds_per_call < _SLOW_CALL_SECONDS

    def agreed(self, value: Any) -> Any:
        """The common decision of all processes of the program; here there is only this process."""
        return value

    @property
    def call_seconds(self) -> float:
        """Seconds of one call of the original, including both transfers."""
        return self._seconds_per_call

    @functools.cached_property
    def _first(self) -> Outcome:
        return self.outcome(self._original, [leaf.value for leaf in self.bound.leaves])

    @functools.cached_property
    def _seconds_per_call(self) -> float:
        self._first  # noqa: B018 - compiled and warmed up by it
        start = time.perf_counter()
        self.outcome(self._original, [leaf.value for leaf in self.bound.leaves])
        return time.perf_counter() - start

    def outcome(self, staged: Staged, values: Sequence[Any], changes: bool = True) -> Outcome:
        """Runs a version on fresh copies of `values` and returns its results on the host.

        `changes`: outputs that are new values of inputs are compared by their change.
        """
        args, kwargs = self.bound.dynamic(function_versions.placed(self.bound, values, staged.target))
        result = jax.block_until_ready(staged.compiled(*args, **kwargs))
        starts = {}
        if changes:
            starts = {u.output: equivalence.host(values[u.input]) for u in self.updates if u.distance}
        return self.read(staged, result, starts)

    def read(self, staged: Staged, result: Any, starts: Mapping[int, np.ndarray]) -> Outcome:
        """The results of a version, on the host."""
        return equivalence.outcome(result, starts)

    def rounded(self, values: Sequence[Any], dtype: str) -> Outcome:
        """The original's results for inputs rounded in `dtype`."""
        moved = equivalence.rounded_inputs(values, dtype, self.settings.seed + 1)
        return self.outcome(self._original, moved)

    def rounding(self, staged: Staged, values: Sequence[Any], like: Outcome) -> Outcome | None:
        """The results of `staged` in double precision, in the form of `like`; None if that cannot be computed.

        The distance between the two shows how much rounding matters in this program.
        """
        if self.runner.platform != "cpu" or not self.is_quick:
            return None
        try:
            given = [_as_is(value, leaf.aval) for value, leaf in zip(values, self.bound.leaves, strict=True)]
            found = self.widened(staged, given)
        except Exception:  # a kernel, a callback, a dtype without a wider one
            return None
        return Outcome(tuple(found), like.paths, like.groups, like.starts)

    def widened(self, staged: Staged, values: Sequence[Any]) -> list[np.ndarray]:
        """The outputs of a version in float64. Raises any error of an operation that cannot be evaluated so."""
        return widened(staged.jaxpr, values)

    def check(self, staged: Staged, dtype: str | None) -> Comparison:
        """Compares a version, on the device that computes the values, with the original on every draw.

        `dtype` is the coarsest dtype of the version, None if every bit must be the same.
        """
        comparisons = []
        for number in self.telling:
            values, reference = self.draws[number], self.references[number]
            result = self.outcome(staged, values)
            if dtype is None and self.deterministic:
                if equivalence.identical(reference, result):
                    comparisons.append(equivalence.unchanged(reference))
                    continue
                exact = equivalence.compare(reference, result, 0.0)
                if exact.problem is None:
                    exact = Comparison(exact.numerics, "not the same bits")
                    exact.numerics.passed = False
                comparisons.append(exact)
            else:
                coarsest = dtype or self.dtype
                wide = self._exact(number, values) if coarsest == self.dtype else None
                comparisons.append(
                    equivalence.compare(
                        reference,
                        result,
                        equivalence.calibrated(coarsest, reference, wide)
                        if wide
                        else equivalence.tolerance(coarsest),
                        rounded=wide or self.rounded(values, coarsest),
                    )
                )
        return equivalence.worst(comparisons)

    def compared(
        self, version: Version, dtype: str | None, staged: Staged | None = None
    ) -> tuple[Comparison, Comparison | None]:
        """Compares a version with the original: values, and gradients for the dtype `dtype`.

        `staged` is the version on the device that computes the values, if it exists already. Candidates that only
        differ in the target's treatment share a version, which runs once.
        """
        key = (version.function, dtype)
        if key not in self._compared:
            values = self.check(staged or self.runnable(version), dtype)
            checked = values.problem is None and dtype is not None
            self._compared[key] = (
                values,
                self.check_gradients(version, dtype) if checked and dtype else None,
            )
        values, gradients = self._compared[key]
        return Comparison(replace(values.numerics), values.problem), gradients

    @functools.cached_property
    def _compared(self) -> dict[Any, tuple[Comparison, Comparison | None]]:
        return {}

    @functools.cached_property
    def _exacts(self) -> dict[int, Outcome | None]:
        return {}

    def _exact(self, number: int, values: Sequence[Any]) -> Outcome | None:
        """The original in double precision on one draw."""
        if self.dtype != "float32":
            return None
        if number not in self._exacts:
            self._exacts[number] = self.rounding(self._original, values, self.references[number])
        return self._exacts[number]

    @property
    def calibrated(self) -> bool:
        """Whether tolerances follow from the program in double precision."""
        return any(found is not None for found in self._exacts.values())

    def check_gradients(self, version: Version, dtype: str) -> Comparison | None:
        """Compares the gradients of a version, from `equivalence.gradient`, with those of the original.

        None if the original has none: it differentiates inside, has no floating results, or cannot be differentiated.
        """
        if self.differentiates or not any(_inexact(leaf) for leaf in self.references[0].leaves):
            return None
        values = self.draws[0]
        original = self.gradients(self.version)
        try:
            reference = self.outcome(original, values, changes=False)
        except StagingError:
            return None  # such as a loop without a fixed number of iterations
        if not any(leaf.size for leaf in reference.leaves):
            return None
        wide = self.rounding(original, values, reference) if dtype == self.dtype == "float32" else None
        moved = equivalence.rounded_inputs(values, dtype, self.settings.seed + 1)
        return equivalence.compare(
            reference,
            self.outcome(self.gradients(version), values, changes=False),
            equivalence.calibrated(dtype, reference, wide) if wide else equivalence.tolerance(dtype),
            rounded=wide or self.outcome(original, moved, changes=False),
        )

    def gradients(self, version: Version) -> Staged:
        """A version's gradients, on the device that computes the values."""
        function = equivalence.gradient(version.function, self.settings.seed)
        options = replace(version.options, donate_argnums=(), donate_argnames=())
        return self.runnable(Version(functools.wraps(version.function)(function), options))

    def subject(self, staged: Staged, fresh: Sequence[bool]) -> Subject:
        """A version for timing. The leaves marked `fresh` are copied for each call, outside the clock."""
        arrays = function_versions.placed(
            self.bound, [leaf.value for leaf in self.bound.leaves], staged.target
        )
        compiled = staged.compiled

        def prepare() -> Any:
            leaves = [array.copy() if new else array for array, new in zip(arrays, fresh, strict=True)]
            return self.bound.dynamic(leaves)

        def run(arguments: Any) -> Any:
            args, kwargs = arguments
            return compiled(*args, **kwargs)

        copied = sum(array.nbytes for array, new in zip(arrays, fresh, strict=True) if new)
        return Subject(run, prepare, copied)


def _as_is(value: Any, aval: Any) -> Any:
    """A host value in the program's dtype."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype != aval.dtype:
        return np.asarray(value).astype(aval.dtype)
    return value


def _inexact(leaf: np.ndarray) -> bool:
    return bool(jax.numpy.issubdtype(leaf.dtype, jax.numpy.floating))


def _finite(outcome: Outcome) -> bool:
    return all(np.isfinite(leaf).all() for leaf in outcome.leaves if leaf.dtype.kind in "fc")
