"""`jaxlint verify` on programs that do their worst: each costs a clear message, never the run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from jaxlint.report.escaping import escaped
from tests.helpers import command_line
from tests.helpers.processes import has_ended

START = """
import ctypes, io, os, subprocess, sys, threading, time
import jax, jax.numpy as jnp

@jax.jit
def step(x):
    return (x * 2).sum()

for i in range(5):
    step(jnp.ones(8))
"""


def command(*options: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "jaxlint",
        "verify",
        "--output-format",
        "json",
        "--transform",
        "donation",
        *options,
    ]


def write(folder: Path, rest: str, start: str = START) -> Path:
    path = folder / "program.py"
    path.write_text(start + textwrap.dedent(rest))
    return path


def verify(
    folder: Path, rest: str, *options: str, start: str = START, arguments: Sequence[str] = ()
) -> tuple[int, dict[str, Any], str]:
    """Exit code, report and what was said on stderr."""
    path = write(folder, rest, start)
    done = subprocess.run(
        [*command(*options), path.name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def calls(report: dict[str, Any]) -> dict[str, int]:
    return {function["function"]: function["calls"] for function in report["runs"][0]["functions"]}


def statuses(report: dict[str, Any]) -> dict[str, str]:
    return {result["function"]: result["status"] for result in report["runs"][0]["results"]}


def test_what_a_program_may_do_to_its_own_process(tmp_path: Path) -> None:
    """Forks, daemons, threads that exit, closed descriptors, another folder, no stdout, its own file gone."""
    code, report, _ = verify(
        tmp_path,
        """
        pid = os.fork()
        if pid:
            os.waitpid(pid, 0)
        else:
            for i in range(50): step(jnp.ones(8)) if False else None
        if pid:
            daemon = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
            open("daemon.pid", "w").write(str(daemon.pid))
            thread = threading.Thread(target=lambda: sys.exit(5))
            thread.start(); thread.join()
            print("x" * 3_000_000)
            os.closerange(3, 100)
            os.remove(__file__)
            os.chdir("/")
            sys.stdout = io.StringIO()
            sys.stderr = None
            print("unseen")
            sys.exit(3)
        """,
        "--quiet",
    )
    assert code == 0
    assert report["program"]["ending"]["message"] == "the program finished with exit status 3"
    assert calls(report) == {"step": 5}
    assert statuses(report) == {"step": "not-applicable"}
    assert has_ended(int((tmp_path / "daemon.pid").read_text()))


def test_os_exit_from_a_thread_keeps_what_was_captured(tmp_path: Path) -> None:
    code, report, _ = verify(tmp_path, "threading.Thread(target=os._exit, args=(4,)).start(); time.sleep(60)")
    assert code == 0
    assert report["program"]["ending"]["message"] == "the program called os._exit(4)"
    assert statuses(report) == {"step": "not-applicable"}


def test_a_crash_after_some_calls_is_followed_by_a_shorter_run(tmp_path: Path) -> None:
    code, report, said = verify(tmp_path, "ctypes.string_at(0)")
    assert code == 0
    assert report["errors"] == ["the program was killed by SIGSEGV (segmentation fault)"]
    assert "running the program again in a scratch copy" in said
    assert calls(report)["step"] in (3, 4)  # fewer than before the crash
    assert statuses(report) == {"step": "not-applicable"}


def test_an_exception_is_told_with_its_place(tmp_path: Path) -> None:
    code, report, said = verify(tmp_path, "raise ValueError('bad\\nthing')")
    assert code == 0
    line = len((tmp_path / "program.py").read_text().splitlines())
    assert report["program"]["ending"]["message"] == f"the program raised ValueError: bad (program.py:{line})"
    assert "Traceback" in said
    assert "jaxlint_runtime" not in said


def test_an_endless_loop_is_stopped(tmp_path: Path) -> None:
    code, report, _ = verify(tmp_path, "while True: pass", "--for", "1")
    assert code == 0
    assert report["program"]["ending"]["message"] == "stopped the program 1 s after the first captured call"
    assert statuses(report) == {"step": "not-applicable"}


def test_a_program_that_catches_everything_is_put_to_sleep(tmp_path: Path) -> None:
    code, report, _ = verify(
        tmp_path,
        """
        while True:
            try:
                time.sleep(0.01)
            except BaseException:
                pass
        """,
        "--for",
        "1",
    )
    assert code == 0
    assert "did not exit and was paused" in report["program"]["ending"]["message"]
    assert statuses(report) == {"step": "not-applicable"}


def test_a_program_that_never_calls_anything_runs_into_the_timeout(tmp_path: Path) -> None:
    code, report, _ = verify(tmp_path, "time.sleep(600)", "--timeout", "4", start="import time, jax\n")
    assert code == 2
    assert report["errors"] == ["the program took longer than 4 s (--timeout) and was killed"]


def test_memory_is_limited(tmp_path: Path) -> None:
    code, report, _ = verify(
        tmp_path,
        "hoard = []\nwhile True: hoard.append(bytearray(20_000_000)); time.sleep(0.01)\n",
        "--memory-limit-worker",
        "1.2GB",
        "--for",
        "30",
    )
    assert code == 0
    assert len(report["errors"]) == 1
    assert "over the limit of 1.20 GiB" in report["errors"][0]
    assert calls(report)["step"] in (3, 4)


CRASHES_LATER = """
import os, sys, threading, time
import jax, jax.numpy as jnp

mark = sys.argv[1]

def saboteur():
    while "jaxlint_runtime.exported.exporting" not in sys.modules:
        time.sleep(0.001)
    if not os.path.exists(mark):
        open(mark, "w").close()
        os.abort()

threading.Thread(target=saboteur, daemon=True).start()

@jax.jit
def fragile(x):
    return (x * 2).sum()

@jax.jit
def sound(x):
    return (x * 3).sum()

x = jnp.ones((512, 512))
for i in range(20):
    fragile(x)
    sound(jnp.ones(8))
"""


def test_a_crash_while_trying_candidates_costs_that_function_alone(tmp_path: Path) -> None:
    code, report, said = verify(tmp_path, "", arguments=[str(tmp_path / "mark")], start=CRASHES_LATER)
    assert code == 0
    assert statuses(report) == {"fragile": "failed", "sound": "not-applicable"}
    (lost,) = [result for result in report["runs"][0]["results"] if result["function"] == "fragile"]
    assert "SIGABRT" in lost["reason"]
    assert said.count("running the program again") == 1


EATS_MEMORY = """
import jax, jax.numpy as jnp
from jaxlint_runtime.lowering.function_versions import Version
from jaxlint_runtime.transforms import TRANSFORMS, Candidate, NotApplicable, Transform

class Hungry(Transform):
    name = "remat"

    def propose(self, program):
        if program.captured.qualname != "track":
            raise NotApplicable("there is nothing to eat")
        return [Candidate("remat:all", "sort 2048 copies", "", 1.0)]

    def apply(self, program, candidate, version):
        def hungry(*given):
            copies = jnp.sort(jnp.broadcast_to(given[1][:, None, :], (512, 2048, 2048)) * 1.0, axis=0)  # 8 GiB
            average, total = version.function(*given)
            return average + 0 * copies[-1, -1, :512], total
        return Version(hungry, version.options)

TRANSFORMS["remat"] = Hungry()

@jax.jit
def track(average, sample):
    return average + 0.1 * (sample[:, :512] - average), sample.sum()

@jax.jit
def sound(x):
    return (x * 3).sum()

average, sample = jnp.zeros((512, 512)), jnp.ones((512, 2048))
for i in range(20):
    average, total = track(average, sample)
    sound(jnp.ones(8))
"""


def test_a_candidate_that_eats_memory_costs_its_own_result_alone(tmp_path: Path) -> None:
    """A compiled program that allocates more than the limit, where the original is small."""
    limit = ("--transform", "donation,remat", "--memory-limit-worker", "2GB")
    code, report, _ = verify(tmp_path, "", *limit, start=EATS_MEMORY)
    assert code == 0
    assert not report["errors"]
    results = {(one["function"], one["candidate"]): one for one in report["runs"][0]["results"]}
    eater = results["track", "remat:all"]
    assert eater["status"] == "failed"
    assert "of memory, over the limit of 2.00 GiB" in eater["reason"], eater
    assert "the same bits" in results["track", "donation"]["evidence"]
    assert results["sound", "donation"]["status"] == "not-applicable"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(:\n", "the program raised SyntaxError"),
        ("import nothing_of_that_name\n", "the program raised ModuleNotFoundError"),
        ("import sys\nsys.exit('no data')\n", "exit status 1"),
    ],
    ids=["syntax", "import", "exit"],
)
def test_a_program_that_fails_before_any_call_could_not_be_run(
    tmp_path: Path, source: str, message: str
) -> None:
    code, report, _ = verify(tmp_path, "", start=source)
    assert code == 2
    assert message in report["program"]["ending"]["message"]


HOSTILE_TEXTS = """
import json, os
import jax, jax.numpy as jnp

def step(x):
    return (x * 2).sum()

step.__name__ = step.__qualname__ = "st\\x1b[2Jep[red]<b>\\n"
step = jax.jit(step)
for i in range(5):
    step(jnp.ones(8))
print("\\x1b[2Jprinted[red]")
raise ValueError("\\x1b]0;owned\\x07[bold]<script>\\napplied: everything")
"""


def test_names_and_messages_of_a_program_are_shown_as_text(tmp_path: Path) -> None:
    program = tmp_path / "a\x1b[31m[red]\nb<i>.py"
    program.write_text(HOSTILE_TEXTS)
    options = ["--transform", "donation", "--quiet", "--html", "page.html", program.name]
    done = command_line.verify(tmp_path, *options, timeout=300)
    for text in (done.stdout, done.stderr):
        assert all(escaped(line) == line for line in text.split("\n"))
        assert not any(line.startswith("applied") for line in text.splitlines())
    assert r"a\x1b[31m[red]\nb<i>.py" in done.stdout
    assert r"\x1b]0;owned\x07[bold]<script> " in done.stdout
    page = (tmp_path / "page.html").read_text()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", page)
    assert "<script" not in page
    assert "<i>.py" not in page
    assert "[bold]&lt;script&gt;" in page


def start(folder: Path, rest: str) -> subprocess.Popen[str]:
    """A run that hangs after its calls, given time to get there."""
    path = write(folder, "open('there', 'w').close()\n" + rest)
    process = subprocess.Popen(
        [*command("--for", "100"), path.name],
        # A test run in the background of a script ignores interrupts, and what it starts would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        start_new_session=True,
    )
    deadline = time.monotonic() + 300
    while not (folder / "there").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1.0)
    return process


def test_an_interrupt_gives_a_partial_report(tmp_path: Path) -> None:
    process = start(tmp_path, "time.sleep(600)")
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=120)
    report = json.loads(stdout)
    assert process.returncode == 130
    assert report["interrupted"]
    assert report["schema_version"] == 1
    assert children
    assert not psutil.wait_procs(children, timeout=60)[1]


def test_a_killed_command_line_leaves_no_worker(tmp_path: Path) -> None:
    process = start(tmp_path, "time.sleep(600)")
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate(timeout=120)
    assert children
    assert not psutil.wait_procs(children, timeout=60)[1]
