"""A process that proves and measures candidates: from artefacts, or, if there are none, of the program that it ran
itself.

It answers one question after the other (`protocol.jobs.Question`).
"""

from __future__ import annotations

import gc
import os
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxlint.gc_pause import no_garbage_collection
from jaxlint_runtime.model import Cost, Proposed, Result, Status
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.protocol.channel import Channel
from jaxlint_runtime.protocol.jobs import Open, Prove, TellPeaks, Trying, read_question
from jaxlint_runtime.protocol.json_records import to_plain
from jaxlint_runtime.protocol.worker_events import (
    Constants,
    Device,
    Error,
    Hello,
    Inspected,
    Note,
    OfFunction,
    Peaks,
    Progress,
    Proven,
    Ready,
)

if TYPE_CHECKING:
    from jaxlint_runtime.proof.live_prover import LiveProver


class Teller:
    """Sends the optimiser's results about one function beside its verdicts."""

    def __init__(self, channel: Channel, trying: Trying, function: OfFunction) -> None:
        self._channel = channel
        self._trying = trying
        self._function = function

    def settings(self) -> Settings:
        """The optimiser's settings, with these callbacks."""
        trying = self._trying
        options: dict[str, Any] = {}
        if trying.transforms is not None:
            options["transforms"] = trying.transforms
        if trying.seconds is not None:
            options["seconds"] = trying.seconds
        return Settings(
            target=self._function.target,
            costs=trying.costs,
            memory_limit=trying.device_memory,
            progress=lambda message: self._channel.send(Progress(message)),
            constants=self._constants,
            inspected=self._inspected,
            **options,
        )

    def _constants(self, found: list[dict[str, Any]]) -> None:
        self._channel.send(Constants(self._function.path, self._function.line, found))

    def _inspected(self, version: str, staged: Any) -> None:
        """Sends the description of one version, beyond its costs."""
        from jaxlint_runtime.inspection.dumps import dump, trace
        from jaxlint_runtime.inspection.overview import overview

        one, trying = self._function, self._trying
        try:
            self._channel.send(
                Inspected(one.function, one.path, one.line, one.target, version, overview(staged))
            )
            if staged.target.compile_only and version == "original":
                tell_peaks(self._channel, one.target)  # published, so there is no need to wait
            if trying.dump is not None:
                dump(Path(trying.dump), one.function, one.line, one.target, version, staged)
            if trying.trace is not None:
                trace(Path(trying.trace), one.function, one.line, one.target, version, staged)
        except Exception as error:
            traceback.print_exc()
            what = f"{one.function}: the report on {version} is incomplete"
            self._channel.send(Note(f"{what} ({type(error).__name__}: {error})"))


class Server:
    """Answers for one function at a time."""

    def __init__(self, channel: Channel, trying: Trying) -> None:
        self._channel = channel
        self._trying = trying
        self._prover: LiveProver | None = None

    def run(self) -> None:
        """Answers until the other side is gone."""
        while True:
            try:
                question = read_question(self._channel.receive())
            except EOFError:
                return
            match question:
                case Open(folder, target, digest):
                    self._open(Path(folder), target, digest)
                case Prove(parts, base):
                    assert self._prover is not None
                    self._channel.send(Proven(self._prover.prove(parts, base)))
                case TellPeaks(target):
                    tell_peaks(self._channel, target)
                    self._channel.send(Ready())

    def _open(self, folder: Path, target: str, digest: str) -> None:
        from jaxlint_runtime.exported import artefacts

        self._prover = None
        gc.collect()
        try:
            record = artefacts.read(folder, digest)
            artefacts.configure(record.config)
            from jaxlint_runtime.exported.restored import Restored, RestoredProver

            one = record.function
            teller = Teller(
                self._channel, self._trying, OfFunction(one["qualname"], one["path"], one["line"], target)
            )
            prover = RestoredProver(Restored(folder, record, teller.settings()))
        except artefacts.Unusable as error:
            self._channel.send(Error(str(error)))
            return
        self.take(prover)

    def take(self, prover: LiveProver, proposing: bool = False) -> None:
        """Traces the original of this function, and answers for it from now on."""
        from jaxlint_runtime.exported.exporting import asks_for
        from jaxlint_runtime.lowering.function_versions import StagingError
        from jaxlint_runtime.proof.live_prover import opening, whole
        from jaxlint_runtime.targets import TargetUnavailable

        self._prover = prover
        started = time.perf_counter()
        results: list[Result] = []
        proposed: dict[str, list[Proposed] | Result] = {}
        cost: Cost | None = None
        try:
            results += opening(prover.program)
            cost = prover.cost
            settings = prover.program.settings
            for name in asks_for(settings.transforms, settings.memory_limit) if proposing else ():
                proposed[name] = prover.propose(name)
            prover.prepare()
            self._channel.send(Device(str(prover.program.target.devices()[0].device_kind)))
        except StagingError as error:
            results.append(whole(prover.program, Status.FAILED, f"the original {error}"))
        except TargetUnavailable as error:
            results.append(whole(prover.program, Status.FAILED, str(error)))
        except Exception as error:
            traceback.print_exc()
            text = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
            results.append(whole(prover.program, Status.FAILED, f"the optimiser stopped: {text}"))
        self._channel.send(Ready(time.perf_counter() - started, cost, results, proposed))


def tell_peaks(channel: Channel, target: str) -> None:
    """Sends the target's peak figures, for the roofline."""
    from jaxlint_runtime import targets
    from jaxlint_runtime.inspection import device_peaks

    try:
        found = device_peaks.peaks(targets.parse(target))
    except Exception:  # a figure for comparison must not cost the results
        traceback.print_exc()
        return
    if found is not None:
        channel.send(Peaks(target, to_plain(found)))


def serve(channel: Channel, trying: Trying) -> None:
    """Measures artefacts until the other side is gone."""
    channel.send(Hello(os.getpid()))
    with no_garbage_collection():
        from jaxlint_runtime.exported import restored  # noqa: F401 - and JAX, and the transforms

        gc.freeze()
    Server(channel, trying).run()
