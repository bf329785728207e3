"""The command: `python -m benchmarks.cluster.placements --write benchmarks/results/cluster.md`.

How the search over 64 placements of a train step takes less time with more jobs, measured on this machine and computed for more jobs
than it has cores. Engines that are not installed are left out.
"""

from __future__ import annotations

import argparse
import bisect
import datetime
import functools
import importlib
import importlib.util
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import jax

from benchmarks.pages import page_of_figures, put
from jaxlint_runtime import verify
from jaxlint_runtime.compat import CompileRequest
from jaxlint_runtime.engines.choosing import parse_workers
from jaxlint_runtime.lowering.function_versions import capture
from jaxlint_runtime.model import JitOptions
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.protocol.jobs import Shard
from jaxlint_runtime.protocol.placements import PlacementAnswer, PlacementQuestion
from jaxlint_runtime.protocol.worker_events import Event, Optimised, Optimising
from jaxlint_runtime.request import Request
from jaxlint_runtime.sharding import compiling, placed_program, placement_score, shard_function
from jaxlint_runtime.sharding.compiling import Devices, Elsewhere, Here, Jobs
from jaxlint_runtime.sharding.mesh import parse_mesh, simulate
from jaxlint_runtime.sharding.placement_search import Placement, Search
from jaxlint_runtime.targets import parse
from jaxlint_runtime.verify import Verification

START = "<!-- placements -->"
MESH = parse_mesh("data=4,model=2")
AXES = tuple(zip(MESH.names, MESH.sizes, strict=True))
FIRST, CONSTRAINED = 54, 12  # at most; 64 placements in all, of which ten have constraints on activations
SECONDS = 3600.0  # so that the clock ends no search
ENGINES = (None, "local:1", "local:2", "submitit:cluster=local,jobs=2,timeout_min=60", "ray:jobs=2")
ON_PAPER = (1, 2, 4, 8, 16, 32, 64)
SOURCE = """
import jax

import {name} as program

step = jax.jit(program.train_step, donate_argnums=0)
state, x = program.example()
for _ in range(3):
    state, loss = step(state, x)
"""


@dataclass(frozen=True, slots=True)
class Took:
    """One search: its seconds, those of all processes' CPUs with the run of the program, and what it found."""

    workers: str
    seconds: float
    cpu: float
    found: str


class _Timed(Verification):
    """A run whose search is timed."""

    began = 0.0
    took = 0.0

    def hear(self, event: Event) -> None:
        """Notes when the search begins and ends."""
        if isinstance(event, Optimising):
            self.began = time.monotonic()
        elif isinstance(event, Optimised):
            self.took = time.monotonic() - self.began
        super().hear(event)


def measure(program: Path, workers: str | None) -> Took:
    """One run of the command's function."""
    chosen = None if workers is None else parse_workers(workers, 600.0)
    request = Request(
        "script", str(program), calls=2, mesh=AXES, seconds=SECONDS, timeout=SECONDS, workers=chosen
    )
    before = _cpu()
    run = _Timed(request, examine=False)
    run.run()
    ((_, sharding),) = run.document.shardings
    found = repr([(one["name"], one["score"], one["chosen"]) for one in sharding["placements"]])
    took = Took(
        f"none, {sharding['tried']} placements" if workers is None else workers.partition(",timeout")[0],
        run.took,
        _cpu() - before,
        f"{sharding['tried']} {found}",
    )
    print(took, file=sys.stderr, flush=True)
    return took


def _cpu() -> float:
    """Seconds of CPU of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# ---- on paper ----


@dataclass
class _Timing(Here):
    """Lowers as usual, and notes the seconds."""

    seconds: dict[Placement, float] = field(default_factory=dict)

    def request(self, placement: Placement, devices: Devices) -> CompileRequest | None:
        """The request, timed."""
        begun = time.process_time()
        try:
            return super().request(placement, devices)
        finally:
            self.seconds[placement] = time.process_time() - begun


def searched(here: Here, compiler: Elsewhere, devices: Devices) -> Search:
    """The search of the command, with a compiler."""
    search = Search(
        here.classes, MESH, lambda placement: compiler.figures(placement, devices), FIRST, SECONDS
    )
    search.constraints = CONSTRAINED
    search.expecting = lambda placements: compiler.expect(placements, devices)
    named = search.named()
    assert named[0].figures is not None
    scale = placement_score.scale(parse("cpu"), "float32", None, named[0].figures)
    search.constrain(search.improve(named, scale.score), scale.score)
    return search


@dataclass
class Paper:
    """Jobs on a clock of their own: each question goes to the first free job, and takes as long as it was measured to take."""

    jobs: int
    costs: Mapping[Placement, tuple[float, float]]  # seconds to lower, seconds to compile
    answers: Mapping[Placement, PlacementAnswer]
    clock: float = 0.0
    free: list[float] = field(default_factory=list)  # when each job is
    ends: list[tuple[float, int]] = field(default_factory=list)  # of what was asked
    asked: dict[int, Placement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.free = [0.0] * self.jobs
        values = list(self.costs.values())
        self.mean = tuple(sum(one[n] for one in values) / len(values) for n in (0, 1))
        self._last: Placement | None = None

    def request(self, placement: Placement, devices: Devices) -> CompileRequest:
        """Takes the time of lowering."""
        self.clock += self.costs.get(placement, self.mean)[0]
        self._last = placement
        return CompileRequest(b"", b"", ())

    def send(self, question: PlacementQuestion) -> None:
        """Gives the question to the first free job."""
        assert self._last is not None
        self.asked[question.number] = self._last
        begins = max(self.clock, self.free.pop(0))
        end = begins + self.costs.get(self._last, self.mean)[1]
        bisect.insort(self.free, end)
        bisect.insort(self.ends, (end, question.number))

    def receive(self) -> PlacementAnswer:
        """The answer that is ready first."""
        end, number = self.ends.pop(0)
        self.clock = max(self.clock, end)
        known = self.answers.get(self.asked[number], PlacementAnswer(number, reason="never used"))
        return replace(known, number=number)

    def is_waiting(self) -> bool:
        """Whether an answer is ready."""
        return bool(self.ends) and self.ends[0][0] <= self.clock


def on_paper(name: str) -> tuple[dict[int, tuple[float, int]], float, float]:
    """For each number of jobs the seconds of the search and the placements compiled, from one search that is timed here; and the means
    of lowering and compiling one placement."""
    program = importlib.import_module(name)
    captured = capture(program.train_step, *program.example(), options=JitOptions(donate_argnums=(0,)))
    here = _Timing(*shard_function._staged(Reference(captured, Settings(target="cpu"))), MESH)
    devices = Devices(parse("cpu"), placed_program.mesh_for(MESH, parse("cpu")))
    questions: list[PlacementQuestion] = []
    answers: dict[Placement, PlacementAnswer] = {}
    seconds: dict[Placement, float] = {}

    def receive() -> PlacementAnswer:
        question = questions.pop(0)
        placement = list(here.seconds)[question.number]
        begun = time.process_time()
        answers[placement] = compiling.answer(question)
        seconds[placement] = time.process_time() - begun
        return answers[placement]

    first = Elsewhere(here, Jobs(1, questions.append, receive, lambda: False, {}))
    first.expect = lambda placements, devices: None  # type: ignore[method-assign] # only what is tried
    search = searched(here, first, devices)
    costs = {one: (here.seconds[one], took) for one, took in seconds.items()}
    found: dict[int, tuple[float, int]] = {}
    for jobs in ON_PAPER:
        paper = Paper(jobs, costs, answers)
        again = Elsewhere(_Lowering(here, paper), Jobs(jobs, paper.send, paper.receive, paper.is_waiting, {}))
        repeated = searched(here, again, devices)
        assert [one.placement for one in repeated.tried] == [one.placement for one in search.tried]
        found[jobs] = paper.clock, len(paper.asked)
    means = [sum(one[n] for one in costs.values()) / len(costs) for n in (0, 1)]
    return found, means[0], means[1]


class _Lowering(Here):
    """A `Here` whose lowering only takes time on paper."""

    def __init__(self, here: Here, paper: Paper) -> None:
        super().__init__(here.step, here.classes, here.shape)
        self._paper = paper

    def request(self, placement: Placement, devices: Devices) -> CompileRequest:
        """Takes the time of lowering."""
        return self._paper.request(placement, devices)


# ---- the page ----


def paper_table(found: Mapping[int, tuple[float, int]], lowering: float, compile_seconds: float) -> str:
    """What is computed, as it stands on the page."""
    one = found[1][0]
    lines = [
        f"Computed from one search in one process: {lowering:.2f} s of CPU to lower a placement, {compile_seconds:.2f} s to compile it, on "
        "average.",
        "",
        "| jobs | seconds | times as fast as one job | placements compiled |",
        "| ---: | ---: | ---: | ---: |",
    ]
    lines += [f"| {n} | {took:.0f} | {one / took:.1f} | {count} |" for n, (took, count) in found.items()]
    return "\n".join(lines)


def main() -> None:
    """Measure, and print or write the page's figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=page_of_figures, help="the page whose figures are replaced")
    parser.add_argument("--program", default="benchmarks.sharding.programs.experts")
    parser.add_argument("--paper", action="store_true", help="only what is computed, in this process")
    options = parser.parse_args()
    if options.paper:
        print(paper_table(*on_paper(options.program)))
        return
    engines = [
        one
        for one in ENGINES
        if one is None or importlib.util.find_spec(one.partition(":")[0]) or "local" in one[:5]
    ]
    os.environ["PYTHONPATH"] = os.getcwd()  # for the program
    verify.Shard = functools.partial(Shard, compiles=FIRST)  # type: ignore[misc,assignment]
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "train.py"
        program.write_text(SOURCE.format(name=options.program), encoding="utf-8")
        rows = [measure(program, engine) for engine in engines]
    assert len({row.found for row in rows}) == 1, "the results differ"
    environment = dict(os.environ)
    simulate(environment, AXES)
    command = [sys.executable, "-m", "benchmarks.cluster.placements", "--paper", "--program", options.program]
    paper = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = [
        f"{datetime.date.today().isoformat()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"jax {jax.__version__}, the step of {options.program} on the mesh {MESH}; {os.getloadavg()[2]:.0f} processes wanted the cores.",
        "",
        "| `--workers` | seconds of the search | seconds of CPU, with the program |",
        "| --- | ---: | ---: |",
        *(f"| {row.workers} | {row.seconds:.0f} | {row.cpu:.0f} |" for row in rows),
        "",
        paper,
    ]
    if options.write is None:
        print("\n".join(lines))
    else:
        put(options.write, "\n".join(lines), START)


if __name__ == "__main__":
    main()
