"""`--workers submitit`: errands run as Slurm jobs, or without Slurm through submitit's executor on this
machine.

All data goes through a folder that the machines share and that only this user can read. It is removed at the
end.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from jaxlint_runtime.engines.engine import LostEngine, said_by
from jaxlint_runtime.engines.relay import relay
from jaxlint_runtime.protocol.errands import Errand, read_errand
from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.request import CannotRun, Workers
from jaxlint_runtime.workers.cleanup import remove, temporary_files_in
from jaxlint_runtime.workers.growing_file import GrowingFile, append

_MINUTES = 60  # a job may take, unless `timeout_min` says otherwise
_SIGN = 5.0  # seconds between two signs of life
_UNSIGNED = 60.0  # seconds without one, after which jobs end themselves
_LATE = 15.0  # seconds that a shared folder may take to show the last lines of a job
_FUNCTION, _EVENTS, _ASKED, _ALIVE = "function", "events.jsonl", "asked.jsonl", "alive"


class SubmititEngine:
    """Slurm jobs. Among the options, `folder` names the folder for the shared one, and `cluster` one of
    submitit's executors (`slurm`, `local`).
    """

    def __init__(self, workers: Workers) -> None:
        """Raises CannotRun."""
        import submitit

        logging.getLogger("submitit").setLevel(logging.ERROR)
        options = dict(workers.options)
        self._jobs: list[_SubmittedJob] = []
        parent = Path(options.pop("folder", os.curdir)).absolute()
        try:
            self._folder = Path(tempfile.mkdtemp(prefix=".jaxlint-jobs-", dir=parent))
        except OSError as error:
            raise CannotRun(
                f"--workers submitit: {parent} cannot be written ({error.strerror}); name a shared folder with folder=FOLDER"
            ) from None
        try:
            cluster = options.pop("cluster", None)
            self._executor: Any = submitit.AutoExecutor(folder=self._folder / "submitit", cluster=cluster)
        except Exception as error:
            self.close()
            raise CannotRun(f"--workers submitit: {said_by(error)}") from None
        self._is_slurm = self._executor.cluster == "slurm"
        self._signed = 0.0
        self.name = "Slurm" if self._is_slurm else "submitit on this machine"
        self.side_by_side = None if self._is_slurm else max(1, (os.cpu_count() or 1) // 2)
        self.pause = 0.5 if self._is_slurm else 0.1
        given = {"name": "jaxlint", "timeout_min": _MINUTES, **_numbers(options)}
        if workers.place is not None:
            given["slurm_partition"] = workers.place
        try:
            self._executor.update_parameters(**given)
        except Exception as error:
            self.close()
            raise CannotRun(f"--workers submitit: {said_by(error)}") from None
        self._gpus = {"gpus_per_node", "slurm_gpus_per_node", "slurm_gpus_per_task", "slurm_gres"} & set(
            given
        )

    def submit(self, errands: Sequence[Errand]) -> Sequence[_SubmittedJob]:
        """One array of jobs for errands that need a GPU, and one for the others."""
        made: dict[int, _SubmittedJob] = {}
        for on_gpu in (False, True):
            chosen = [n for n, one in enumerate(errands) if _runs_on_gpu(one) is on_gpu]
            if not chosen:
                continue
            try:
                folders = [self._store(errands[number]) for number in chosen]
                if not self._gpus:
                    self._executor.update_parameters(gpus_per_node=int(on_gpu))
                # jobs of this machine are ended at once: their temporary files are removed with the folder
                temporary = None if self._is_slurm else str(self._folder)
                with temporary_files_in(temporary), self._executor.batch():
                    jobs = [self._executor.submit(work, str(folder)) for folder in folders]
            except Exception as error:
                raise LostEngine(said_by(error)) from None
            for number, folder, job in zip(chosen, folders, jobs, strict=True):
                made[number] = _SubmittedJob(folder, job, _LATE if self._is_slurm else 0.0)
                self._jobs.append(made[number])
        return [made[number] for number in range(len(errands))]

    def _store(self, errand: Errand) -> Path:
        """A folder with the errand and its function, for one job."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        stored = folder / _FUNCTION
        if errand.placing is None:
            shutil.copytree(errand.left.folder, stored)
        left = dataclasses.replace(errand.left, folder=str(stored))
        (folder / "errand.json").write_bytes(encode(dataclasses.replace(errand, left=left)))
        return folder

    def look(self) -> None:
        """Writes a sign of life to a file that jobs read."""
        now = time.monotonic()
        if now - self._signed > _SIGN:
            self._signed = now
            with contextlib.suppress(OSError):
                (self._folder / _ALIVE).write_text(str(now))

    def close(self) -> None:
        """Cancels the jobs, and removes the folder."""
        for job in self._jobs:
            job.cancel()
        remove(str(self._folder))


class _SubmittedJob:
    def __init__(self, folder: Path, job: Any, late: float) -> None:
        self._folder = folder
        self._job = job
        self._late = late
        self._events = GrowingFile(folder / _EVENTS)
        self._done: float | None = None
        self._over = False

    def lines(self) -> Sequence[bytes]:
        """The lines that it has written since the last call."""
        return self._events.lines()

    def ask(self, question: bytes) -> None:
        """Passes a question on. Raises LostEngine."""
        try:
            append(self._folder / _ASKED, [question])
        except OSError as error:
            raise LostEngine(f"cannot write to its folder ({error.strerror})") from None

    def ended(self) -> str | None:
        """How it ended."""
        if not self._job.done():
            return None
        now = time.monotonic()
        self._done = self._done or now
        if now - self._done < self._late:
            return None
        self._over = True
        return f"ended in the state {self._job.state}{self._last_line()}"

    def _last_line(self) -> str:
        """The last line of its output, where Slurm and Python say why it ended."""
        with contextlib.suppress(OSError):
            lines = (self._job.stderr() or "").strip().splitlines()
            return f" ({lines[-1].strip()})" if lines else ""
        return ""

    def cancel(self) -> None:
        """Ends it."""
        if self._over:
            return
        with contextlib.suppress(Exception):
            process = getattr(self._job, "_process", None)
            if process is None:
                self._job.cancel(check=False)
                return
            # the executor of this machine does not end the child processes of a cancelled job
            root = psutil.Process(process.pid)
            for one in (*root.children(recursive=True), root):
                one.kill()
            process.wait(10)


def work(name: str) -> None:
    """The job: runs the errand in a folder, until nobody waits for it."""
    folder = Path(name)
    events, alive = folder / _EVENTS, folder.parent / _ALIVE
    seen, since = "", time.monotonic()

    def wanted() -> bool:
        nonlocal seen, since
        with contextlib.suppress(OSError):
            if (now := alive.read_text()) != seen:
                seen, since = now, time.monotonic()
        return folder.exists() and time.monotonic() - since < _UNSIGNED

    errand = read_errand((folder / "errand.json").read_text(encoding="utf-8"))
    relay(errand, lambda lines: append(events, lines), wanted, GrowingFile(folder / _ASKED).lines)


def _runs_on_gpu(errand: Errand) -> bool:
    return not errand.only_compiles and errand.left.target == "gpu"


def _numbers(options: dict[str, str]) -> dict[str, Any]:
    """The options, with whole numbers as int."""
    return {name: int(value) if value.isdigit() else value for name, value in options.items()}
