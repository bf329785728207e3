"""The jobs of a worker: its first line is an `Assignment`; a measuring worker receives further lines.

Times in seconds, sizes in bytes. A place is (path, line) or (path, qualified name).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from jaxlint_runtime.protocol.json_records import Message, Plain, from_plain, one_of
from jaxlint_runtime.protocol.placements import PlacementAnswer, PlacementQuestion

RUN_FOLDER = "jaxlint-run-"  # the prefix of a run's folder of temporary files
Move = Callable[[str], str]  # maps a path of the project to that in its scratch copy


@dataclass(frozen=True, slots=True)
class Examples:
    """Functions are called with example arguments in place of running the program. `file` is None if they come from
    annotations only."""

    file: str | None
    dims: dict[str, int]


@dataclass(frozen=True, slots=True)
class Launch:
    """The program to run, and whose code counts as the user's."""

    kind: str  # "script", "module", "pytest"
    target: str
    arguments: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()  # folders of the user's code
    include_packages: bool = False
    examples: Examples | None = None
    relocated: tuple[str, str] | None = None  # the project and its copy when this runs in a scratch copy

    def moved(self, original: str, copy: str, move: Move) -> Launch:
        """The same in the scratch copy `copy` of `original`."""
        examples = self.examples
        if examples is not None and examples.file is not None:
            examples = dataclasses.replace(examples, file=move(examples.file))
        return dataclasses.replace(
            self,
            target=move(self.target) if self.kind == "script" else self.target,
            roots=tuple(map(move, self.roots)),
            examples=examples,
            relocated=(original, copy),
        )


@dataclass(frozen=True, slots=True)
class Until:
    """When the program has run long enough."""

    calls: int | None = 20  # of the busiest function; None: run to the end
    settle: bool = False  # not before the run has settled: see `capture.stop_condition`
    run_for: float | None = 60.0  # after the first captured call; None: run to the end
    whole: float | None = None  # after its start; None: no limit


@dataclass(frozen=True, slots=True)
class Trying:
    """How candidates are tried."""

    transforms: tuple[str, ...] | None = None  # None: all
    seconds: float | None = None  # for timing one candidate; None: the optimiser's default
    costs: bool = False  # also report the cost of the original functions
    device_memory: int | None = None  # memory limit of a function on the device; None: as little as possible
    dump: str | None = None  # folder for the staged programs
    trace: str | None = None  # folder for profiler traces


@dataclass(frozen=True, slots=True)
class Leave(Message):
    """Captured functions are exported, with their candidates, to a folder for the measuring processes."""

    folder: str
    skip: tuple[tuple[str, int, str], ...] = ()  # path, line and target of functions that crashed or are done


@dataclass(frozen=True, slots=True)
class Shard(Message):
    """The inputs of captured functions are placed on a mesh."""

    mesh: tuple[tuple[str, int], ...]  # names and sizes of its axes
    skip: tuple[tuple[str, int, str], ...] = ()
    compiles: int = 48  # on simulated devices, before constraints on activations are tried
    jobs: int = 0  # that compile placements on request; 0: the same process compiles them


@dataclass(frozen=True, slots=True)
class Serve(Message):
    """The candidates of the captured function are measured in the same process, for a target."""

    target: str


@dataclass(frozen=True, slots=True)
class Capture(Message):
    """Runs a program under the hooks, and then continues with its jitted functions as `then` says."""

    launch: Launch
    then: Leave | Shard | Serve | None = None  # None: only report what was seen
    until: Until = Until()
    trying: Trying = Trying()
    capture_bytes: int = 512 * 1024 * 1024
    targets: tuple[str, ...] = ()  # empty: the device that the program ran on
    flagged: tuple[tuple[str, int], ...] = ()  # places of findings: counts the functions around them
    only: tuple[tuple[str, str], ...] | None = None  # functions to examine; None: all
    undonated: bool = False  # measure `only` against themselves without their donation
    # The calls whose inputs an earlier run stored, by path and name: the same inputs need no new proof.
    calls: tuple[tuple[str, str, int], ...] = ()
    profile_server: int | None = None  # port for profiling the program while it runs

    def moved(self, original: str, copy: str, move: Move) -> Capture:
        """The same in a scratch copy."""
        then = self.then
        if isinstance(then, Leave | Shard):
            then = dataclasses.replace(
                then, skip=tuple((move(path), line, target) for path, line, target in then.skip)
            )
        return dataclasses.replace(
            self,
            launch=self.launch.moved(original, copy, move),
            then=then,
            flagged=tuple((move(path), line) for path, line in self.flagged),
            only=None if self.only is None else tuple((move(path), name) for path, name in self.only),
            calls=tuple((move(path), name, number) for path, name, number in self.calls),
        )


@dataclass(frozen=True, slots=True)
class Trial(Message):
    """Runs one version of a program from start to end, without hooks, and stores the results of its functions."""

    launch: Launch
    observe: tuple[tuple[str, str], ...] = ()  # functions whose results are stored
    files: tuple[str, ...] = ()  # of which the run tells what code it has reached
    preload: tuple[str, ...] = ()  # modules to import before the clock starts
    record: str | None = None  # folder for the stored results
    references: tuple[str, ...] = ()  # folders of other runs to compare with
    dtype: str | None = None  # the dtype that the version computes in
    cut_after: float | None = None  # seconds after which the run may be cut off
    cut_at: tuple[str, str, int] | None = None  # where it is cut off (`capture.truncation`)
    inside: tuple[str, ...] = ()  # folders whose files are found without audit events

    def moved(self, original: str, copy: str, move: Move) -> Trial:
        """The same in a scratch copy."""
        cut = self.cut_at
        return dataclasses.replace(
            self,
            launch=self.launch.moved(original, copy, move),
            observe=tuple((move(path), name) for path, name in self.observe),
            files=tuple(map(move, self.files)),
            cut_at=None if cut is None else (move(cut[0]) if cut[0] else "", *cut[1:]),
        )


@dataclass(frozen=True, slots=True)
class Measure(Message):
    """Runs no program: measures functions that other processes exported, as they are named."""

    trying: Trying = Trying()

    def moved(self, original: str, copy: str, move: Move) -> Measure:
        """It contains no paths of the project."""
        return self


@dataclass(frozen=True, slots=True)
class CompilePlacements(Message):
    """Runs no program: compiles placements, as they are asked for."""

    def moved(self, original: str, copy: str, move: Move) -> CompilePlacements:
        """It contains no paths of the project."""
        return self


Job = Capture | Trial | Measure | CompilePlacements


@dataclass(frozen=True, slots=True)
class Assignment:
    """The first line. `run_folder`: for temporary files, which are removed if the command line is killed."""

    job: Job
    run_folder: str | None = None

    @classmethod
    def from_json(cls, text: str) -> Assignment:
        """Reads it. Raises ValueError if another version wrote it."""
        return from_plain(cls, json.loads(text))


# ---- later lines ----


@dataclass(frozen=True, slots=True)
class Known(Message):
    """After the capture of a program: the findings of check, the arguments that callers no longer need, and whether
    to continue."""

    findings: list[Plain] = field(default_factory=list)
    dead_arguments: list[tuple[str, int, list[int | str]]] = field(default_factory=list)
    go_on: bool = True

    def moved(self, move: Move) -> Known:
        """The same in a scratch copy."""
        findings = [{**one, "path": move(one["path"])} for one in self.findings]
        return Known(
            findings, [(move(path), line, names) for path, line, names in self.dead_arguments], self.go_on
        )


@dataclass(frozen=True, slots=True)
class Open(Message):
    """To a measuring process: the function of this folder, whose record has this digest, is next. The answer is
    `Ready`."""

    folder: str
    target: str
    digest: str


@dataclass(frozen=True, slots=True)
class Prove(Message):
    """Prove a version with these candidates on top of those of `base`. The answer is `Proven`."""

    parts: tuple[str, ...]
    base: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TellPeaks(Message):
    """Report a target's peak figures. The answers are `Peaks`, if they are known, and `Ready`."""

    target: str


Question = Open | Prove | TellPeaks
# A line to a worker, after the first one.
Later = Known | Question | PlacementQuestion | PlacementAnswer


def read_question(text: str) -> Question:
    """A line to a measuring process. Raises ValueError."""
    found: Question = one_of((Open, Prove, TellPeaks), json.loads(text))
    return found
