"""The first steps of a worker process: it reads its job, arranges its own end, and does the job."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from jaxlint_runtime.protocol.channel import Channel
from jaxlint_runtime.protocol.jobs import RUN_FOLDER, Assignment, Capture, CompilePlacements, Measure, Trial
from jaxlint_runtime.protocol.worker_events import Error


def main(read_fd: int, write_fd: int) -> None:
    """Does one job that arrives at `read_fd`; events go to `write_fd`."""
    channel = Channel(read_fd, write_fd)
    _prepare_process()
    try:
        assignment = Assignment.from_json(channel.receive())
    except (EOFError, ValueError) as error:
        channel.send(Error(str(error)))
        sys.exit(2)
    _end_with_parent(assignment.run_folder)
    match assignment.job:
        case Trial() as job:
            from jaxlint_runtime.capture.trial_run import run_trial

            run_trial(channel, job)
        case Measure(trying):
            from jaxlint_runtime.workers.measuring_server import serve

            serve(channel, trying)
            os._exit(0)
        case CompilePlacements():
            from jaxlint_runtime.workers.compiling_server import serve_placements

            serve_placements(channel)
            os._exit(0)
        case Capture() as job:
            from jaxlint_runtime.workers.capturing import Capturing

            Capturing(channel, job).run()


def be_rank(folder: str) -> None:
    """Runs a program as one of several processes; its job and records lie in a folder that all of them share."""
    from jaxlint_runtime.protocol.launch_records import JOB, read_job

    _prepare_process()
    shared = Path(folder)
    job = read_job((shared / JOB).read_text(encoding="utf-8"))
    _end_with_parent(job.run_folder)
    from jaxlint_runtime.lockstep.rank import run

    run(shared, job)


def drive_ray(folder: str, lent: str, missing: str) -> None:
    """Runs a script whose `JaxTrainer` starts the processes; these take part through the folder that all of them share."""
    from jaxlint_runtime.protocol.launch_records import JOB, read_job

    _prepare_process()
    shared = Path(folder)
    job = read_job((shared / JOB).read_text(encoding="utf-8"))
    _end_with_parent(job.run_folder)
    from jaxlint_runtime.lockstep.ray_trainer import Way, drive

    drive(Way(folder, str(Path(__file__).with_name("boot.py")), lent, missing), job)


def be_errand(folder: str) -> None:
    """Runs the errand in a folder, which is removed when nobody waits for it any longer."""
    _end_with_parent(folder)
    from jaxlint_runtime.workers.errand_process import do

    do(os.path.join(folder, "errand.json"))


def _prepare_process() -> None:
    """Makes this process the first victim when memory runs out, without core files, and with a readable trace when it
    crashes."""
    import resource

    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable(2, all_threads=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def _end_with_parent(run_folder: str | None) -> None:
    """Ends this process, its children and the run's temporary files if the command line was killed and cannot do it."""
    parent, mark, waiting = os.getppid(), os.environ.get("JAXLINT_WORKER", ""), threading.Event()

    def watch() -> None:
        while os.getppid() == parent:
            waiting.wait(1.0)
        if run_folder is not None and os.path.basename(run_folder).startswith(RUN_FOLDER):
            shutil.rmtree(run_folder, ignore_errors=True)
        for process in _marked(mark) if mark else ():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, name="jaxlint-parent", daemon=True).start()


def _marked(mark: str) -> Iterator[int]:
    """Other processes with the mark in their environment. Not every interpreter has psutil."""
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                with contextlib.suppress(OSError):
                    if mark.encode() in Path("/proc", name, "environ").read_bytes():
                        yield int(name)
