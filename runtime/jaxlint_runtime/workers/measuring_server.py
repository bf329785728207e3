"""A process that proves and measures candidates: from artefacts, or, where there can be none, of the program that it has run itself.

It is told, in lines with one key:

- `open` {folder, target}: the function of this folder is next. Answer: `ready` {seconds, cost, results, over, proposed}
- `prove` {parts, base}: names of candidates. Answer: `proven` {result}
- `peaks` (a target): what it can do at most. Answer: `peaks` and `ready`
"""

from __future__ import annotations

import gc
import json
import os
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.protocol.messages import Channel, Job, to_plain


def settings_of(channel: Channel, job: Job, target: str, place: Mapping[str, Any]) -> Any:
    """The optimiser's settings for one function; what is to be told of it goes over the channel."""
    from jaxlint_runtime.settings import Settings

    options: dict[str, Any] = {"target": target, "costs": job.costs, "memory_limit": job.device_memory}
    options["progress"] = lambda message: channel.send("progress", message=message)
    options["constants"] = lambda found: channel.send(
        "constants", path=place["path"], line=place["line"], constants=found
    )
    options["inspected"] = lambda version, staged: _inspect(channel, job, place, target, version, staged)
    if job.transforms is not None:
        options["transforms"] = tuple(job.transforms)
    if job.seconds is not None:
        options["seconds"] = job.seconds
    return Settings(**options)


class Server:
    """Answers for one function at a time."""

    def __init__(self, channel: Channel, job: Job) -> None:
        self._channel = channel
        self._job = job
        self._prover: Any = None

    def run(self) -> None:
        """Answer until the other side has gone."""
        while True:
            try:
                message = json.loads(self._channel.receive())
            except EOFError:
                return
            if "open" in message:
                self._open(**message["open"])
            elif "prove" in message:
                self._prove(**message["prove"])
            elif "peaks" in message:
                tell_peaks(self._channel, message["peaks"])
                self._channel.send("ready")

    def _open(self, folder: str, target: str) -> None:
        from jaxlint_runtime.exported import artefacts

        self._prover = None
        gc.collect()
        record = artefacts.read(Path(folder))
        artefacts.configure(record.config)
        from jaxlint_runtime.exported.restored import Restored, RestoredProver

        settings = settings_of(self._channel, self._job, target, record.function)
        self.take(RestoredProver(Restored(Path(folder), record, settings)))

    def take(self, prover: Any, proposing: bool = False) -> None:
        """Stage the original of this function, and answer for it from now on."""
        from jaxlint_runtime.exported.exporting import asks_for
        from jaxlint_runtime.lowering.versions import StagingError
        from jaxlint_runtime.proof.live_prover import opening, whole
        from jaxlint_runtime.targets import TargetUnavailable

        self._prover = prover
        started = time.perf_counter()
        results: list[Result] = []
        proposed: dict[str, Any] = {}
        cost = None
        try:
            results += opening(prover.program)
            cost = prover.cost
            settings = prover.program.settings
            for name in asks_for(settings.transforms, settings.memory_limit) if proposing else ():
                proposed[name] = prover.propose(name)
            prover.prepare()
        except StagingError as error:
            results.append(whole(prover.program, Status.FAILED, f"the original {error}"))
        except TargetUnavailable as error:
            results.append(whole(prover.program, Status.FAILED, str(error)))
        except Exception as error:
            traceback.print_exc()
            text = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
            results.append(whole(prover.program, Status.FAILED, f"the optimiser stopped: {text}"))
        self._channel.send(
            "ready",
            seconds=time.perf_counter() - started,
            cost=cost,
            results=results,
            over=cost is None,
            proposed=proposed,
        )

    def _prove(self, parts: list[str], base: list[str]) -> None:
        self._channel.send("proven", result=to_plain(self._prover.prove(tuple(parts), tuple(base))))


def tell_peaks(channel: Channel, target: str) -> None:
    """What the target can do at most, for the roofline of its figures."""
    from jaxlint_runtime import targets
    from jaxlint_runtime.inspection import device_peaks

    try:
        found = device_peaks.peaks(targets.parse(target))
    except Exception:  # a figure for comparison must not cost the results
        traceback.print_exc()
        return
    if found is not None:
        channel.send("peaks", target=target, peaks=to_plain(found))


def _inspect(
    channel: Channel, job: Job, place: Mapping[str, Any], target: str, version: str, staged: Any
) -> None:
    """Tell what one version does, beyond its costs."""
    from jaxlint_runtime.inspection.dumps import dump, trace
    from jaxlint_runtime.inspection.overview import overview

    function = {"function": place["qualname"], "path": place["path"], "line": place["line"]}
    try:
        channel.send("inspected", target=target, version=version, **function, **overview(staged))
        if staged.target.compile_only and version == "original":
            tell_peaks(channel, target)  # published, so that there is no need to wait
        if job.dump is not None:
            dump(Path(job.dump), place["qualname"], place["line"], target, version, staged)
        if job.trace is not None:
            trace(Path(job.trace), place["qualname"], place["line"], target, version, staged)
    except Exception as error:
        traceback.print_exc()
        what = f"{place['qualname']}: not all could be told of {version}"
        channel.send("note", message=f"{what} ({type(error).__name__}: {error})")


def serve(channel: Channel, job: Job) -> None:
    """Measure artefacts until the other side has gone."""
    channel.send("hello", pid=os.getpid())
    Server(channel, job).run()
