"""Runs in one of several processes after the program has ended: proves the candidates of the functions whose
arrays span processes.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import jax

from jaxlint_runtime.across.agreement import Agreement
from jaxlint_runtime.across.local_shards import spans
from jaxlint_runtime.across.shared_reference import SharedProver, SharedReference
from jaxlint_runtime.capture.run_program import Ending
from jaxlint_runtime.capture.session import Session
from jaxlint_runtime.lowering.function_versions import StagingError
from jaxlint_runtime.model import CapturedFunction, Result, Status
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.candidate_search import search
from jaxlint_runtime.proof.live_prover import opening, whole
from jaxlint_runtime.protocol.jobs import Known
from jaxlint_runtime.protocol.launch_records import KNOWN, read_known
from jaxlint_runtime.protocol.worker_events import Decided, Event, Note, Optimised, Optimising, Progress

_LOOK = 0.1  # seconds
_DEFAULT = ("donation", "remat")  # other candidates are tried on request


class Proving:
    """The proofs of one process. `tell` passes an event to the command, which only reads those of process 0."""

    def __init__(self, session: Session, shared: Path, tell: Callable[[Event], None]) -> None:
        self._session = session
        self._shared = shared
        self._agreement = Agreement.here()
        self._tell = tell if self._agreement.process == 0 else lambda event: None

    def run(self, ending: Ending, seconds: float, versions: dict[str, str]) -> None:
        """Reports the results of the run, and proves candidates until none is left."""
        self._tell(self._session.summary(ending, seconds, versions))
        functions = self._common(self._session.functions(self._known()))
        alone = sum(not one.spanning for one in functions)
        if alone:
            word = "function runs" if alone == 1 else "functions run"
            self._tell(
                Note(
                    f"{alone} jitted {word} in each process separately and {'was' if alone == 1 else 'were'} not tried"
                )
            )
        for target in self._session.targets():
            for one in functions:
                if one.spanning:
                    self._function(one.captured, target)

    def _known(self) -> Known:
        """The facts from the source; the command sends them once it knows which files were loaded."""
        path = self._shared / KNOWN
        while not path.exists():
            time.sleep(_LOOK)
        return read_known(path.read_text(encoding="utf-8"))

    def _common(self, functions: list[CapturedFunction]) -> list[_Common]:
        """The functions that all processes have called and stored, in the same order everywhere."""
        mine = {_name(one): one for one in functions if one.call is not None}
        with self._agreement.step("functions"):
            everywhere = self._agreement.gather(sorted(mine))
            names = [name for name in everywhere[0] if all(name in others for others in everywhere)]
            spanning = self._agreement.gather([_spans(mine[name]) for name in names])
        return [_Common(mine[name], any(said)) for name, *said in zip(names, *spanning, strict=True)]

    def _function(self, captured: CapturedFunction, target: str) -> None:
        place = captured.qualname, captured.path, captured.line, target
        self._tell(Optimising(*place))
        for result in self._results(captured, target):
            self._tell(Decided(target, result))
        self._tell(Optimised(*place))

    def _results(self, captured: CapturedFunction, target: str) -> Iterator[Result]:
        trying = self._session.job.trying
        settings = Settings(
            target=target,
            transforms=trying.transforms if trying.transforms is not None else _DEFAULT,
            costs=trying.costs,
            memory_limit=trying.device_memory,
            progress=lambda message: self._tell(Progress(message)),
        )
        if trying.seconds is not None:
            settings = replace(settings, seconds=trying.seconds)
        program = SharedReference(captured, settings, self._agreement)
        problem = None
        try:
            with self._agreement.step(f"{captured.path}:{captured.line}:{captured.qualname}"):
                yield from opening(program)
        except StagingError as error:
            problem = f"the original {error}"
        except Exception as error:  # the other processes wait for the message of this one
            traceback.print_exc()
            problem = f"the original could not be run: {type(error).__name__}: {error}"
        said = next((one for one in self._agreement.gather(problem) if one is not None), None)
        if said is not None:
            yield whole(program, Status.FAILED, said)
            return
        yield from search(
            SharedProver(program), settings.transforms, settings.memory_limit, settings.progress
        )


@dataclass(frozen=True, slots=True)
class _Common:
    """A function that all processes have called. `spanning`: with arrays that span processes."""

    captured: CapturedFunction
    spanning: bool


def _name(captured: CapturedFunction) -> str:
    return f"{captured.path}:{captured.line}:{captured.qualname}:{captured.call_number}"


def _spans(captured: CapturedFunction) -> bool:
    call = captured.call
    return call is not None and any(map(spans, jax.tree.leaves((call.args, call.kwargs))))
