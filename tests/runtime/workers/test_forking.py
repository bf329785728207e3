"""Workers that are forked from a process with JAX imported: each is like a fresh one, and dies alone."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jaxlint_runtime.protocol.jobs import Launch, Trial
from jaxlint_runtime.workers.cleanup import cleaned_up
from jaxlint_runtime.workers.forking import ForkServer, forking
from jaxlint_runtime.workers.process_group import Death, Starter
from tests.helpers.processes import left_running, running
from tests.helpers.worker_runs import Outcome, run_job

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="orphans are adopted on Linux alone"
)
CPU = {"JAX_PLATFORMS": "cpu"}
BASE = {**os.environ, **CPU}
NOWHERE = Path("/nowhere")


def server_of(project: Path, extra: dict[str, str] | None = None, **base: str) -> ForkServer | None:
    return forking(sys.executable, ("optax",), {**BASE, **base}, extra or {}, project, 2**33, 60.0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    tmp_path_factory.getbasetemp()  # or it would end with the run
    with cleaned_up():
        started = server_of(NOWHERE)
        assert started is not None
        yield started


def trial(folder: Path, source: str, starter: Starter | None, **options: Any) -> Outcome:
    program = folder / "program.py"
    program.write_text(textwrap.dedent(source))
    job = Trial(Launch("script", str(program), roots=(str(folder),)), preload=("optax",))
    return run_job(job, folder, starter=starter, **options)


def ran(outcome: Outcome) -> dict[str, object]:
    return next(event for event in outcome.events if event["is"] == "ran")


FACTS = """
    import os, sys, tempfile, psutil, jax, optax
    mark = psutil.Process().environ()["JAXLINT_WORKER"]
    print(mark == os.environ.pop("JAXLINT_WORKER"), len(mark))
    print(sorted((name, value) for name, value in os.environ.items()))
    print(os.getcwd(), tempfile.gettempdir(), os.getppid(), os.getsid(0) == os.getpid(), os.read(0, 1))
    print(jax.config.jax_compilation_cache_dir, sys.path, [stream.line_buffering for stream in (sys.stdout, sys.stderr)])
    print(jax.jit(lambda x: jax.numpy.sin(x) * 2 + 1).lower(jax.numpy.ones(9)).compile().as_text().count("fusion"))
    print(float((jax.numpy.ones((1000, 1000)) @ jax.numpy.ones((1000, 1000)))[0, 0]))
"""


def test_a_fork_is_like_a_fresh_process(server: ForkServer, tmp_path: Path) -> None:
    environment = {"TMPDIR": str(tmp_path), "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "compiled")}
    environment["XLA_FLAGS"] = "--xla_disable_hlo_passes=fusion"
    assert server_of(NOWHERE, environment) is server
    fork, fresh = (trial(tmp_path, FACTS, starter, **environment) for starter in (server, None))
    assert fork.output.decode() == fresh.output.decode()
    assert "True 32" in fork.output.decode()
    peaks = [ran(outcome)["peak_bytes"] for outcome in (fork, fresh)]
    assert all(isinstance(peak, int) and peak > 2**20 for peak in peaks)
    assert abs(peaks[0] - peaks[1]) < 24 * 2**20, peaks  # type: ignore[operator] # pages of libraries are not the program's


def test_a_fork_that_crashes_or_is_ended_costs_no_other(server: ForkServer, tmp_path: Path) -> None:
    before = running()
    assert server.pid in before
    with pytest.raises(Death, match="SIGSEGV"):
        trial(tmp_path, "import ctypes; ctypes.string_at(0)", server)
    with pytest.raises(Death, match="over the limit"):
        trial(tmp_path, "hoard = bytearray(2**29); __import__('time').sleep(60)", server, memory_limit=2**29)
    left = trial(
        tmp_path,
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\nprint('first')",
        server,
    )
    assert left.output == b"first\n"
    assert not left_running(before)


def test_settings_that_are_read_early_and_modules_of_the_project_need_a_fresh_process(
    server: ForkServer,
) -> None:
    assert server_of(NOWHERE, {"JAX_ENABLE_X64": "1"}) is None
    assert server.files is not None
    project = Path(next(file for file in server.files if "optax" in file)).parents[1]
    assert server_of(project, ANOTHER="server") is None


def test_what_must_not_be_forked(tmp_path: Path) -> None:
    (tmp_path / "prints.py").write_text("print('welcome')")
    (tmp_path / "waits.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()"
    )
    (tmp_path / "computes.py").write_text("import jax.numpy\nONE = jax.numpy.ones(1)")
    (tmp_path / "nothing.py").touch()
    source = """
        import sys
        from jaxlint_runtime.workers.fork_server import _imported
        sys.path.append(sys.argv[1])
        for name in ("nothing", "prints", "waits", "computes"):
            print(_imported([name]), flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source), str(tmp_path)],
        env={**os.environ, **CPU, "JAXLINT_WORKER": "0" * 32, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    nothing, *refused = done.stdout.splitlines()
    assert nothing == "None", done.stderr
    assert [line.removesuffix(" while they are imported") for line in refused] == [
        "its packages print",
        "its packages start threads",
        "its packages start a backend",
    ]


def test_files_that_a_package_opened_before_the_fork_are_written_to_their_end(tmp_path: Path) -> None:
    source = """
        import gc, sys
        from jaxlint_runtime.capture import trial_run
        file = open(sys.argv[1], "w")
        trial_run.note_open_files()
        gc.freeze()
        file.write("the last line")
        trial_run._end_as_python_does()
        print(open(sys.argv[1]).read())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source), str(tmp_path / "log.txt")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "the last line\n", done.stderr


def test_a_server_that_was_killed_is_not_waited_for(server: ForkServer, tmp_path: Path) -> None:
    os.kill(server.pid, 9)
    started = time.monotonic()
    assert trial(tmp_path, "print('fresh')", server).output == b"fresh\n"
    assert time.monotonic() - started < 15
    assert server_of(NOWHERE) is None
