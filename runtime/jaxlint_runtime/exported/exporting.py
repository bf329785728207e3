"""Exports one captured function and its candidates as artefacts, so that this process can end before they are
measured.

As tested with jax 0.10.2 and 0.12, `jax.export` preserves every bit of the results, precisions, source lines,
shardings, random keys, LAPACK, and Pallas in interpret mode. It drops donation, which is added again when the
artefact is jitted, and does not support callbacks. Gradients, and the program in float64, are exported as
separate programs.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export
from jax.extend import core

from jaxlint_runtime import compat
from jaxlint_runtime.exported.artefacts import Input, Kept, NotExported, Record, config, placement, write
from jaxlint_runtime.exported.content_digest import content_digest, places_in, program_digest
from jaxlint_runtime.inspection.jaxpr_facts import traced
from jaxlint_runtime.lowering.function_versions import Staged, StagingError, Version, first_line
from jaxlint_runtime.model import Proposed, Result
from jaxlint_runtime.optimiser_settings import LAST_RESORT
from jaxlint_runtime.proof import equivalence
from jaxlint_runtime.proof.candidate_proof import Plan
from jaxlint_runtime.proof.float64 import evaluation, shapes
from jaxlint_runtime.proof.live_prover import LiveProver
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.transforms import NotApplicable

_TOGETHER = 12  # combinations of candidates that are exported, those with the largest savings first
_PLATFORMS = {"gpu": "cuda"}
_CALLBACKS = "it calls back into Python"
_CUSTOM_CALL = re.compile(r'custom_call @(?:"([^"]+)"|([^\s(]+))\(')  # in StableHLO
_AT_THE_TOP = ("in_shardings", "out_shardings", "device", "backend", "compiler_options")

Names = tuple[str, ...]


def asks_for(names: Sequence[str], limit: int | None) -> list[str]:
    """The transformations to look for, those of last resort included if they may be requested."""
    from jaxlint_runtime.proof.candidate_search import asked_for_last_resort

    last = limit is not None or asked_for_last_resort(names)
    return [name for name in names if last or name not in LAST_RESORT]


@dataclass(frozen=True, slots=True)
class Proposals:
    """The candidates `proposed` by transformation, those exported `together`, and why others could not be exported
    (`refused`). `digest` is that of the record, `content` that of all that a proof depends on, `places` those of the
    original (`content_digest`)."""

    proposed: dict[str, list[Proposed] | Result] = field(default_factory=dict)
    together: list[list[str]] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    digest: str = ""
    content: str = ""
    places: list[tuple[str, int]] = field(default_factory=list)


def leave(prover: LiveProver, folder: Path, texts: bool = False) -> Proposals:
    """Writes the original and every version that the search may request to `folder`.

    `texts`: also their jaxprs and StableHLO. Raises NotExported if the original cannot be exported, and StagingError.
    """
    return _Leaving(prover, folder, texts).all()


class _Leaving:
    def __init__(self, prover: LiveProver, folder: Path, texts: bool) -> None:
        self._prover = prover
        self._program = prover.program
        self._folder = folder
        self._texts = texts
        self._numbers = itertools.count()
        self._same: dict[tuple[Any, str], str] = {}  # files of functions that several versions share
        self._digests: dict[str, str] = {}  # of the files, without places
        self._donations: dict[str, tuple[bool, ...]] = {}
        self._wide: bool = False
        self._gradients: bool = False

    def all(self) -> Proposals:
        program, prover = self._program, self._prover
        _refuse_options(program.version.options.others)
        inputs = _inputs(program)
        settings = program.settings
        proposed: dict[str, list[Proposed] | Result] = {}
        for name in asks_for(settings.transforms, settings.memory_limit):
            proposed[name] = prover.propose(name)
        candidates = [one for found in proposed.values() if not isinstance(found, Result) for one in found]
        for one in candidates:
            if one.bits:  # an exported program donates nothing: its donation is added again
                self._donations[one.name] = program.bound.donated(prover.plan([one.name]).version.options)
        others = [one for one in candidates if not one.bits]
        if others:
            self._wide = program.dtype == "float32" and program.runner.platform == "cpu"
            self._gradients = not program.differentiates
        versions: dict[Names, Kept] = {(): self._original()}
        for one in others:
            settings.progress(f"{program.captured.qualname}: lowering {one.name}")
            versions[(one.name,)] = self._version((one.name,))
        for names in self._combinations(others, versions):
            settings.progress(f"{program.captured.qualname}: lowering {' + '.join(names)}")
            versions[tuple(sorted(names))] = self._version(names)
        captured = program.captured
        record = Record(
            function={
                "qualname": captured.qualname,
                "path": captured.path,
                "line": captured.line,
                "findings": captured.findings,
            },
            target=program.target.name,
            inputs=inputs,
            donated=program.bound.donated(program.version.options),
            outputs=equivalence.layout(_result(program.baseline)),
            updates=program.updates,
            constants=program.constants,
            dtype=program.dtype,
            differentiates=bool(others) and program.differentiates,
            versions=versions,
            candidates={name: (known.name, one) for name, (known, one) in prover.parts.items()},
            donations=self._donations,
            config=config(),
        )
        digest = write(record, self._folder)
        several = [list(names) for names, kept in versions.items() if len(names) > 1 and not kept.refused]
        refused = {
            names[0]: kept.refused for names, kept in versions.items() if len(names) == 1 and kept.refused
        }
        content, places = content_digest(record, self._digests), places_in(program.baseline.jaxpr)
        return Proposals(proposed, several, refused, digest, content, places)

    def _combinations(self, found: Sequence[Proposed], versions: dict[Names, Kept]) -> list[Names]:
        """Combinations of candidates from different transformations that were exported separately and can show a gain
        on the target."""
        kinds: dict[str, list[Proposed | None]] = {}
        for one in found:
            transform = self._prover.parts[one.name][0]
            try:
                transform.shown(self._program)
            except NotApplicable:
                continue
            if not versions[(one.name,)].missing:
                kinds.setdefault(one.transform, [None]).append(one)
        chosen = [[one for one in row if one is not None] for row in itertools.product(*kinds.values())]
        several = [row for row in chosen if len(row) > 1]
        several.sort(key=lambda row: (-len(row), -sum(one.estimate for one in row)))
        in_order = [sorted(row, key=lambda one: -one.estimate) for row in several[:_TOGETHER]]
        return [tuple(one.name for one in row) for row in in_order]

    def _original(self) -> Kept:
        program = self._program
        kept = Kept()
        self._told(kept, program.baseline)
        same = program.runner == program.target
        self._file(kept, "target", program.baseline, program.target.platform)
        runnable = program.baseline
        if not same:
            runnable = program.original
            self._file(kept, "run", runnable, program.runner.platform)
        if self._wide:
            self._widened(kept, "target" if same else "run", runnable)
        if self._gradients:
            self._gradient(kept, program.version, wide=self._wide)
        return kept

    def _version(self, names: Names) -> Kept:
        """One version; if it cannot be traced, the reason is stored instead."""
        program, kept = self._program, Kept()
        try:
            plan = self._prover.plan(names)
            staged = program.stage(plan.version)
            self._told(kept, staged)
            self._file(kept, "target", staged, program.target.platform)
            self._emulated(kept, plan)
        except NotExported as reason:
            kept.refused = str(reason)
        except Exception as error:
            text = str(error) if isinstance(error, StagingError) else first_line(error)
            kept.missing["target"] = text
        try:
            kept.notes = self._prover.evidence(names)
        except NotApplicable as reason:
            kept.missing["notes"] = str(reason)
        return kept

    def _emulated(self, kept: Kept, plan: Plan) -> None:
        program = self._program
        if program.runner != program.target or plan.emulated is not plan.version:
            self._file(kept, "run", program.runnable(plan.emulated), program.runner.platform)
        if self._gradients:
            self._gradient(kept, plan.emulated)

    def _gradient(self, kept: Kept, version: Version, wide: bool = False) -> None:
        """The gradients of a version; if it has none, that is recorded."""
        program = self._program
        try:
            staged = program.gradients(version)
            self._file(kept, "gradients", staged, program.runner.platform)
        except StagingError as error:
            kept.missing["gradients"] = str(error)
            return
        if wide:
            self._widened(kept, "gradients", staged)

    def _told(self, kept: Kept, staged: Staged) -> None:
        """Records the facts of the jaxpr, for the present donation and for possible ones."""
        own = self._program.bound.donated(staged.version.options)
        more = [tuple(a or b for a, b in zip(own, given, strict=True)) for given in self._donations.values()]
        found = traced(staged, *more)
        if self._texts:
            found = replace(found, texts={stage: staged.text(stage) for stage in ("jaxpr", "stablehlo")})
        kept.traced = found
        kept.seconds["trace"] = staged.seconds["trace"]

    def _file(self, kept: Kept, role: str, staged: Staged, platform: str) -> None:
        """Exports a traced version. Raises StagingError if it cannot be traced, NotExported if it cannot be exported."""
        key = (staged.version.function, platform)
        staged.traced  # noqa: B018 - a version that cannot be traced is no matter of exporting
        start = time.perf_counter()
        if key not in self._same:
            avals = [leaf.aval for leaf in self._program.bound.leaves]
            self._same[key] = self._export(core.jaxpr_as_fun(staged.jaxpr), avals, platform)
        if role == "target":
            kept.seconds["lower"] = time.perf_counter() - start
        kept.files[role] = self._same[key]

    def _widened(self, kept: Kept, role: str, staged: Staged) -> None:
        """The program in float64, if it can be evaluated so."""
        try:
            with jax.enable_x64(True):  # type: ignore[attr-defined]
                wide = shapes([leaf.aval for leaf in self._program.bound.leaves])
                kept.files[f"{role}.wide"] = self._export(evaluation(staged.jaxpr), wide, "cpu")
        except Exception as error:  # a kernel, a callback, a dtype without a wider one
            kept.missing[f"{role}.wide"] = first_line(error)

    def _export(self, function: Callable[..., Any], avals: Sequence[Any], platform: str) -> str:
        flat = [_without_layout(aval) for aval in avals]
        try:
            made, data = _exported(function, flat, _PLATFORMS.get(platform, platform))
        except Exception as error:
            callbacks = "callback" in str(error)
            raise NotExported(_CALLBACKS if callbacks else f"jax.export: {first_line(error)}") from error
        name = f"{next(self._numbers)}.bin"
        (self._folder / name).write_bytes(data)
        self._digests[name] = program_digest(made, data)
        return name


def _exported(
    function: Callable[..., Any], avals: Sequence[Any], platform: str
) -> tuple[export.Exported, bytes]:
    """The exported program, and its serialised form. Calls of foreign code are allowed: it runs on this machine, with this version of JAX."""
    allowed: list[Any] = []
    while True:
        try:
            made = export.export(compat.jit(function), platforms=[platform], disabled_checks=allowed)(*avals)
            return made, bytes(made.serialize())
        except ValueError as error:
            names = dict.fromkeys(quoted or plain for quoted, plain in _CUSTOM_CALL.findall(str(error)))
            new = [
                one for name in names if (one := export.DisabledSafetyCheck.custom_call(name)) not in allowed
            ]
            if not new:
                raise
            allowed += new


def _without_layout(aval: Any) -> Any:
    """The shape, with a sharding if it spans several devices."""
    sharding = getattr(aval, "sharding", None)
    several = sharding is not None and len(sharding.device_set) > 1
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding if several else None)


def _refuse_options(others: dict[str, Any]) -> None:
    """Raises NotExported for options of the user's `jax.jit` that only a top-level jit supports."""
    for name in _AT_THE_TOP:
        value = others.get(name)
        if value is not None and not isinstance(value, compat.UnspecifiedSharding):
            raise NotExported(f"it is jitted with {name}")


def _result(staged: Staged) -> Any:
    """The shapes of the version's result, in its structure."""
    avals = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in staged.jaxpr.out_avals]
    return jax.tree.unflatten(jax.tree.structure(staged.traced.out_info), avals)


def _inputs(program: Reference) -> list[Input]:
    """The leaves of the captured call. Raises NotExported."""
    found = []
    for number, leaf in enumerate(program.bound.leaves):
        value, key = leaf.value, None
        if isinstance(value, jax.Array):
            if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
                key = str(jax.random.key_impl(value))
                value = jax.random.key_data(value)
            value = np.asarray(value)
        elif not isinstance(value, np.ndarray | np.generic | bool | int | float | complex):
            raise NotExported(f"{leaf.path} is a {type(value).__name__}")
        found.append(
            Input(
                path=leaf.path,
                label=program.label(number),
                value=value,
                key=key,
                shape=tuple(leaf.aval.shape),
                dtype=None if key else np.dtype(leaf.aval.dtype),
                weak_type=bool(getattr(leaf.aval, "weak_type", False)),
                placement=placement(getattr(leaf.aval, "sharding", None)),
            )
        )
    return found
