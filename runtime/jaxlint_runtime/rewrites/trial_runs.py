"""Runs whole versions of the program in separate processes, each in a scratch copy of its project."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jaxlint.source.file import SourceFile
from jaxlint.source.write import encode_text
from jaxlint_runtime.capture.reached_code import Place
from jaxlint_runtime.capture.truncation import in_words
from jaxlint_runtime.protocol import jobs as protocol
from jaxlint_runtime.protocol.worker_events import Compared, Error, Event, Ran
from jaxlint_runtime.rewrites.side_effects import Leavings, add_outside, collect, snapshot
from jaxlint_runtime.run import Run
from jaxlint_runtime.spent import EDITED
from jaxlint_runtime.workers.following import Deadline, follow
from jaxlint_runtime.workers.process_group import Death
from jaxlint_runtime.workers.scratch_copy import Scratch, scratch_copy
from jaxlint_runtime.workers.starting import start_worker

# without jit: sums in another order, and no other difference
OTHER_ROUNDING = {"XLA_FLAGS": (os.environ.get("XLA_FLAGS", "") + " --xla_disable_hlo_passes=fusion").strip()}
WITHOUT_JIT = {"JAX_DISABLE_JIT": "1"}
# Computations and draws without an explicit dtype are in float64, in both versions.
IN_DOUBLE = {"JAX_ENABLE_X64": "1"}
_LEFT = "left"  # folder with a run's files, beside the results of its functions
_MOST_ERRORS = 4 * 2**20  # bytes of error output that are stored


@dataclass(slots=True)
class Trial:
    """One run. Times in seconds, sizes in bytes; `failure` says in one line why the other fields are invalid."""

    failure: str | None = None
    run_s: float = 0.0
    compile_s: float = 0.0
    cpu_s: float = 0.0  # of all threads
    peak_bytes: int | None = None
    compiles: int = 0
    printed: str = ""
    left: Leavings = field(default_factory=Leavings)  # files and error output
    functions: dict[str, dict[str, Any]] = field(default_factory=dict)
    compared: Compared | None = None
    outside: list[tuple[str, int]] = field(default_factory=list)  # as in `Ran`
    gone: list[str] = field(default_factory=list)
    missed: dict[str, frozenset[Place]] = field(
        default_factory=dict
    )  # code that it did not reach, by real path
    status: int = 0
    late: bool = False  # it was ended since it took too long
    cut: tuple[str, str, int] | None = None  # where it was cut off (`capture.truncation`)
    died: bool = False  # its process, or nothing is known of it
    frames: list[tuple[str, int]] = field(default_factory=list)  # where it raised, the innermost last
    earlier: str = ""  # the date of the run of `verify` that it belongs to, if it is not this one

    @property
    def total_s(self) -> float:
        return self.run_s + self.compile_s


def with_missed(sources: Mapping[str, SourceFile], trial: Trial) -> dict[str, SourceFile]:
    """The files of a run, with the code that it did not reach."""
    return {
        name: replace(source, missed=trial.missed.get(os.path.realpath(source.path)))
        for name, source in sources.items()
    }


def both_missed(one: Trial, other: Trial) -> dict[str, frozenset[Place]]:
    """The code that neither of two runs of the same texts reached."""
    return {
        path: one.missed.get(path, places) & other.missed.get(path, places)
        for path, places in (one.missed | other.missed).items()
    }


def may_fork(run: Run) -> bool:
    """Whether the runs of a program may be forked: the drivers of other devices may not survive it."""
    return (run.document.device or "").startswith("cpu")


class Trials:
    """Runs of one program. `observe` names the functions whose results are stored, by real path and qualified
    name.

    `forked`: if that makes no difference; runs with different settings all need fresh processes. `cut` is
    where each of them is cut off (`Trial.cut`), if the program is too long to run to its end.
    """

    def __init__(
        self,
        run: Run,
        observe: Sequence[tuple[str, str]],
        preload: Sequence[str],
        folder: Path,
        forked: bool = True,
    ) -> None:
        self._run = run
        self._observe = observe
        self._preload = list(preload)
        self._forked = forked and may_fork(run)
        self.folder = folder
        self.cut: tuple[str, str, int] | None = None
        self._number = 0

    def run(
        self,
        sources: Mapping[str, SourceFile],
        limit: float,
        references: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
        keep: bool = True,
        dtype: str | None = None,
        cut_after: float | None = None,
        purpose: str = EDITED,
    ) -> tuple[Trial, Path]:
        """Runs the program with these texts, for at most `limit` seconds; its results are stored in the returned
        folder.

        `dtype`: the dtype of the texts' computations, whose rounding is allowed in the comparison with `references`.
        `cut_after`: seconds after which it may be cut off at the end of a call. `purpose`: what its time counts for.
        """
        with self._run.spent.phase(purpose):
            return self._in_copy(sources, limit, references, environment, keep, dtype, cut_after)

    def _in_copy(
        self,
        sources: Mapping[str, SourceFile],
        limit: float,
        references: Sequence[Path],
        environment: Mapping[str, str] | None,
        keep: bool,
        dtype: str | None,
        cut_after: float | None,
    ) -> tuple[Trial, Path]:
        self._number += 1
        record = self.folder / str(self._number)
        record.mkdir()
        with scratch_copy(self._run.request.project()) as scratch:
            for source in sources.values():
                path = Path(scratch.to_copy(os.path.realpath(source.path)))
                if path.exists():
                    path.write_bytes(encode_text(source, source.text))
            temporary = scratch.folder.parent / (
                "temporary" if scratch.root.name != "temporary" else "temporary files"
            )
            temporary.mkdir()
            own = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
            before = snapshot(scratch.folder) if keep else {}
            trial, errors = self._attempt(
                scratch,
                limit,
                record if keep else None,
                references,
                {**own, **(environment or {})},
                dtype,
                cut_after,
                [os.path.realpath(source.path) for source in sources.values()] if keep else [],
            )
            places = {str(temporary): "<temporary folder>", str(scratch.folder): str(scratch.root)}
            for place, known in places.items():
                trial.printed, errors = trial.printed.replace(place, known), errors.replace(place, known)
            if keep and trial.failure is None:
                (record / _LEFT).mkdir()
                roots = {"": (scratch.folder, before), "<temporary folder>": (temporary, {})}
                trial.left = collect(roots, record / _LEFT, errors, places)
                beside = {str(scratch.folder.parent): str(scratch.root.parent)}
                add_outside(trial.left, trial.outside, trial.gone, beside)
        if self.cut is not None and trial.failure is None and trial.cut != self.cut:
            trial.failure = f"it never reached {in_words(self.cut)}, where the original was cut off"
        return trial, record

    def _attempt(
        self,
        scratch: Scratch,
        limit: float,
        record: Path | None,
        references: Sequence[Path],
        environment: Mapping[str, str],
        dtype: str | None,
        cut_after: float | None,
        files: Sequence[str],
    ) -> tuple[Trial, str]:
        observed = self._observe if record else ()
        if self.cut is not None and self.cut[0]:
            observed = observed or [self.cut[:2]]
        job = protocol.Trial(
            launch=self._run.request.launch(),
            observe=tuple(observed),
            files=tuple(files),
            preload=tuple(self._preload),
            record=str(record) if record else None,
            references=tuple(map(str, references)),
            dtype=dtype,
            cut_after=cut_after if self.cut is None else None,
            cut_at=self.cut,
            inside=(str(scratch.folder), environment["TMPDIR"], str(self.folder)),
        )
        printed, errors = bytearray(), bytearray()

        def output(stream: str, data: bytes) -> None:
            if stream == "stdout":
                printed.extend(data)
            elif len(errors) < _MOST_ERRORS:
                errors.extend(data)

        trial = Trial("it reported nothing", died=True)
        deadline = Deadline.within(self._run.request, limit, f"took longer than {limit:.0f} s")

        def hear(event: Event) -> None:
            nonlocal trial
            if isinstance(event, Ran):
                trial = _read(event)

        with start_worker(
            self._run.request, job, scratch, output, environment, may_fork=self._forked
        ) as worker:
            try:
                last = follow(worker, hear, lambda: [deadline], scratch)
                if isinstance(last, Error):
                    trial = Trial(last.message, died=True)
            except Death as death:
                trial = Trial(f"it {death}", late=deadline.passed, died=True)
        trial.printed = printed.decode(errors="replace")
        return trial, errors.decode(errors="replace")


def _read(event: Ran) -> Trial:
    ending = event.ending
    return Trial(
        failure=None if ending.how == "finished" or event.cut else ending.message,
        frames=event.frames,
        run_s=event.run_s,
        compile_s=event.compile_s,
        cpu_s=event.cpu_s,
        peak_bytes=event.peak_bytes,
        compiles=event.compiles,
        functions={entry["qualname"]: entry for entry in event.functions},
        compared=event.compared,
        outside=event.outside,
        gone=event.gone,
        missed={one["path"]: frozenset(tuple(place) for place in one["places"]) for one in event.missed},
        status=ending.status,
        cut=event.cut,
    )
