"""`verify` on programs and in surroundings that go wrong: exit code, a line that says what happened, nothing left behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import psutil  # type: ignore[import-untyped]

from benchmarks.robustness.faults import can_mount, killer
from benchmarks.robustness.pool import read
from benchmarks.robustness.seeds import ROOT

_MARK = "JAXLINT_FAULT"
_PATIENCE = 400.0
_QUICK = ("--transform", "donation", "--timing", "0.1")
_HOLDS = "the temporary folder holds"
_SETTLE_S = 5.0  # that processes have to be gone after the command
# A program deletes nothing but what lies in the folder that was made for its run, whatever else has gone wrong by then.
_REMOVE = """
def remove(folder):
    import os, shutil
    own = os.path.realpath(os.environ["JAXLINT_FAULT_FOLDER"])
    assert os.path.realpath(folder).startswith(own + os.sep) and os.path.exists(own + "/made-for-a-fault")
    shutil.rmtree(folder, ignore_errors=True)
"""
CALLS = """
import atexit, ctypes, gc, io, os, resource, signal, subprocess, sys, threading, time
import jax, jax.numpy as jnp

@jax.jit
def step(x):
    return (x * 2).sum()

for i in range(5):
    step(jnp.ones(8))
"""
_EDITED = ("first.py", "second.py")
_TWO_FILES = {
    "first.py": """import jax.numpy as jnp


def mixed(x):
    y = jnp.tanh(x) * 0.5 + jnp.sin(x) * jnp.cos(2 * x)
    return y - jnp.mean(y) + 0.1 * jnp.exp(-(y**2))
""",
    "second.py": """import jax.numpy as jnp


def normed(x):
    centred = x - jnp.mean(x)
    size = jnp.sqrt(jnp.mean(centred**2) + 1e-6)
    return jnp.clip(centred / size, -3.0, 3.0)
""",
    "main.py": """import jax.numpy as jnp

from first import mixed
from second import normed

x = jnp.linspace(-1.0, 1.0, 64)
for _ in range(400):
    x = normed(mixed(x))
print("x", x[:4])
""",
}
BARE = "import atexit, ctypes, gc, io, os, resource, signal, subprocess, sys, threading, time\n"


@dataclass(frozen=True, slots=True)
class Program:
    """What a program does after (or, with `start`, instead of) a few calls of a jitted function, and what verify has to say."""

    name: str
    source: str
    code: int  # exit code of verify
    says: str  # in the ending or the errors of the report
    start: str = CALLS
    options: tuple[str, ...] = ()
    spare: bool = False  # left to the long run


PROGRAMS = (
    Program("crash at import", "import broken", 2, "raised ZeroDivisionError", BARE),
    Program("segfault before any call", "ctypes.string_at(0)", 2, "SIGSEGV", BARE),
    Program("os._exit before any call", "os._exit(7)", 2, "os._exit(7)", BARE, spare=True),
    Program(
        "abort in a thread",
        "threading.Thread(target=os.abort).start(); time.sleep(60)",
        0,
        "SIGABRT",
        spare=True,
    ),
    Program("kills itself", "os.kill(os.getpid(), signal.SIGKILL)", 0, "SIGKILL", spare=True),
    Program("kills its group", "os.killpg(0, signal.SIGTERM)", 0, "SIGTERM", spare=True),
    Program(
        "ignores signals",
        "for n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: time.sleep(1)",
        0,
        "stopped the program",
        options=("--for", "1"),
    ),
    Program(
        "daemons without its environment",
        """
        mark = os.environ["JAXLINT_FAULT"]
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                null = os.open(os.devnull, os.O_RDWR)
                for fd in range(3): os.dup2(null, fd)
                os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)", mark], {})
            os._exit(0)
        time.sleep(1)
        """,
        0,
        "the program finished",
    ),
    Program(
        "a daemon that holds its output",
        "subprocess.Popen(['sleep', '300'], start_new_session=True)",
        0,
        "the program finished",
        spare=True,
    ),
    Program(
        "binary floods",
        "for n in range(40):\n    os.write(1, os.urandom(250_000)); os.write(2, b'\\x1b[31m\\0\\xff' * 50_000)\nos.write(1, b'x' * 5_000_000)",
        0,
        "the program finished",
    ),
    Program(
        "hangs at exit", "atexit.register(lambda: time.sleep(300))", 0, "the program finished", spare=True
    ),
    Program(
        "a thread that never ends",
        "threading.Thread(target=lambda: time.sleep(300)).start()",
        0,
        "stopped the program",
        options=("--for", "1"),
    ),
    Program("closes its descriptors", "os.closerange(0, 3)\nprint('x' * 100_000)", 0, ""),
    Program("closes all descriptors", "os.closerange(0, 150)\nstep(jnp.ones(9))", 0, "", spare=True),
    Program(
        "replaces its streams",
        "class Bad:\n    def __getattr__(self, name): raise RuntimeError(name)\nsys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Bad()",
        0,
        "the program finished",
    ),
    Program("deletes what it was", "remove(os.getcwd())", 2, "is gone"),
    Program(
        "deletes its temporary folder",
        "remove(os.environ['TMPDIR'])",
        0,
        "the program finished",
        spare=True,
    ),
    Program(
        "changes its folder",
        "os.mkdir('d'); os.chdir('d'); os.rmdir('../d')",
        0,
        "the program finished",
        spare=True,
    ),
    Program(
        "clears its environment and modules",
        "os.environ.clear(); sys.modules.clear(); sys.path.clear(); sys.meta_path.clear()",
        0,
        "",
        spare=True,
    ),
    Program(
        "an exit status that is text",
        "sys.exit('no \\x1b[31m data\\nat all')",
        0,
        "exit status 1",
        spare=True,
    ),
    Program("an odd exit status", "sys.exit(2**70)", 0, "exit status", spare=True),
    Program(
        "an exit status that cannot be shown",
        "class E:\n    def __str__(self): raise ValueError\n    __repr__ = __str__\nsys.exit(E())",
        0,
        "exit status 1",
    ),
    Program(
        "its own kind of exit", "class Stop(SystemExit): pass\nraise Stop(5)", 0, "exit status 5", spare=True
    ),
    Program("its own interrupt", "raise KeyboardInterrupt", 0, "KeyboardInterrupt"),
    Program(
        "its own base exception",
        "class Odd(BaseException):\n    def __str__(self): raise self\nraise Odd",
        0,
        "Odd",
    ),
    Program("recursion", "def f(): f()\nf()", 0, "RecursionError", spare=True),
    Program(
        "deep recursion",
        "sys.setrecursionlimit(10**9)\ndef f(): return [f() for _ in (1,)]\nf()",
        0,
        "",
        spare=True,
    ),
    Program(
        "its own handlers",
        "signal.signal(signal.SIGTERM, lambda *_: None); signal.signal(signal.SIGINT, lambda *_: None); signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01); signal.signal(signal.SIGALRM, lambda *_: None)\ntime.sleep(0.5)",
        0,
        "the program finished",
    ),
    Program("an alarm", "signal.alarm(1); time.sleep(30)", 0, "SIGALRM", spare=True),
    Program("few descriptors", "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))", 0, "", spare=True),
    Program(
        "no file may grow", "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))", 0, "the program finished"
    ),
    Program(
        "little time",
        "resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass",
        0,
        "SIG",
        spare=True,
    ),
    Program(
        "little memory",
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\nx = bytearray(2**31)",
        0,
        "MemoryError",
        spare=True,
    ),
    Program(
        "goes on as its child",
        "if os.fork(): os._exit(0)\nstep(jnp.ones(8)); print('child'); sys.exit(3)",
        0,
        "os._exit(0)",
        spare=True,
    ),
    Program(
        "many forks", "for _ in range(30):\n    if os.fork() == 0: time.sleep(300)", 0, "the program finished"
    ),
    Program(
        "stops itself",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        0,
        "--timeout",
        options=("--timeout", "15"),
        spare=True,
    ),
)


@dataclass(slots=True)
class Found:
    """One run of verify and what does not hold of it."""

    name: str
    code: int
    said: str
    report: dict[str, Any]
    problems: list[str]
    seconds: float
    versions: list[str] = field(
        default_factory=list
    )  # "old", "new" or "neither" of files that were being edited


def run(program: Program, folder: Path) -> Found:
    """Run verify on the program in a new folder, and look at what it says and leaves."""
    project = folder / "project"
    project.mkdir()
    (project / "broken.py").write_text("1 / 0\n")
    (folder / "made-for-a-fault").touch()
    (project / "program.py").write_text(_REMOVE + program.start + textwrap.dedent(program.source) + "\n")
    found = verify(program.name, folder, project, [*_QUICK, "--quiet", *program.options, "program.py"])
    if found.code != program.code:
        found.problems.append(f"exit code {found.code}, not {program.code}: {found.said[-300:]}")
    ending = (found.report.get("program") or {}).get("ending") or {}
    told = " ".join([ending.get("message", ""), *found.report.get("errors", ()), *_error_lines(found)])
    if program.says not in told:
        found.problems.append(f"it does not say {program.says!r}: {told!r}")
    return found


def _error_lines(found: Found) -> list[str]:
    return [line for line in found.said.splitlines() if line.startswith("error: ")]


def verify(
    name: str,
    folder: Path,
    project: Path,
    arguments: Sequence[str],
    *,
    environment: dict[str, str] | None = None,
    meddle: Callable[[subprocess.Popen[str]], None] | None = None,
    prefix: Sequence[str] = (),
    program: Sequence[str] = (sys.executable, "-m", "jaxlint"),
    json_report: bool = True,
) -> Found:
    """The command in a session of its own. No process of it, and nothing in its temporary folder, may be left."""
    scratch = folder / "tmp"
    scratch.mkdir(exist_ok=True)
    mark = uuid.uuid4().hex
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "rules", ROOT / "runtime")))
    given = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "TMPDIR": str(scratch),
        _MARK: mark,
        "JAXLINT_FAULT_FOLDER": str(folder),
        "PYTHONPATH": paths,
    }
    given |= environment or {}
    form = ["--output-format", "json"] if json_report else []
    started = time.monotonic()
    process = subprocess.Popen(
        [*prefix, *program, "verify", *form, *arguments],
        cwd=project,
        env={key: value for key, value in given.items() if value},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    if meddle is not None:
        meddle(process)
    problems = []
    try:
        out, err = process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        problems.append(f"no end within {_PATIENCE:.0f} s")
    report: dict[str, Any] = {}
    with contextlib.suppress(ValueError):
        report = json.loads(out)
    if "jaxlint_runtime" in err and "Traceback" in err:
        problems.append(f"a traceback of its own: {err[-400:]}")
    left = _left(mark)
    if left:
        problems.append(f"processes are left: {left}")
    if scratch.exists() and list(scratch.iterdir()):
        problems.append(f"{_HOLDS} {sorted(path.name for path in scratch.iterdir())}")
    return Found(name, process.returncode, err, report, problems, time.monotonic() - started)


def _left(mark: str) -> list[str]:
    """Processes that carry the mark some seconds later; they are ended."""
    deadline = time.monotonic() + _SETTLE_S
    while True:
        left = [one for one in psutil.process_iter() if _carries(one, mark)]
        if not left or time.monotonic() > deadline:
            break
        time.sleep(0.2)
    told = []
    for process in left:
        with contextlib.suppress(psutil.Error):
            told.append(f"{process.pid} {' '.join(process.cmdline())[:80]}")
            process.kill()
    return told


def _carries(process: psutil.Process, mark: str) -> bool:
    """In its environment, or, where it gave that away, as an argument."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return mark in process.cmdline() or process.environ().get(_MARK) == mark
    except (psutil.Error, OSError):
        return False


def interrupted(folder: Path, rng: Random, longest: float) -> Found:
    """Ctrl-C at some moment: SIGINT to the group of the command, once or again and again."""
    project = folder / "project"
    project.mkdir()
    (project / "program.py").write_text(CALLS + "time.sleep(2)\n")
    after = rng.uniform(0.05, longest)
    times = rng.choice((1, 1, 1, 2, 5))

    def meddle(process: subprocess.Popen[str]) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
        for _ in range(times):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
                time.sleep(rng.uniform(0.0, 0.4))

    found = verify(
        f"Ctrl-C after {after:.2f} s, {times} times",
        folder,
        project,
        ["--quiet", "--transform", "donation,source", "program.py"],
        meddle=meddle,
    )
    at_start = found.code == -signal.SIGINT and not found.said  # while modules are loaded, as any program
    if found.code not in (0, 130) and not at_start:
        found.problems.append(f"exit code {found.code}: {found.said[-400:]}")
    if "Traceback" in found.said:
        found.problems.append(f"a traceback: {found.said[-500:]}")
    return found


def killed(folder: Path, rng: Random, longest: float) -> Found:
    """The command line itself is killed: its workers see that, and put things in order."""
    project = _project(folder)
    after = rng.uniform(0.5, longest)

    def meddle(process: subprocess.Popen[str]) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
        process.kill()

    found = verify(
        f"SIGKILL after {after:.2f} s", folder, project, ["--quiet", *_QUICK, "program.py"], meddle=meddle
    )
    if found.code not in (0, -signal.SIGKILL):
        found.problems.append(f"exit code {found.code}: {found.said[-400:]}")
    _next_run_removes(found, folder)
    return found


def _next_run_removes(found: Found, folder: Path) -> None:
    """Where a run is killed while it has no worker, nobody can put things in order but the next run: let it, and look again."""
    if any(problem.startswith(_HOLDS) for problem in found.problems):
        paths = os.pathsep.join(map(str, (ROOT, ROOT / "rules", ROOT / "runtime")))
        again = "from jaxlint_runtime.workers.cleanup import cleaned_up\nwith cleaned_up(): pass\n"
        environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "PYTHONPATH": paths}
        subprocess.run([sys.executable, "-c", again], env=environment, check=True)
        if not list((folder / "tmp").iterdir()):
            found.problems = [problem for problem in found.problems if not problem.startswith(_HOLDS)]


def killed_while_writing(folder: Path, at: int) -> Found:
    """The command line is killed at its `at`-th event that changes files, from that on that makes the journal of an edit over two files.

    Each file is then the old one or the new one, and after the next command both are of one version. `code` says whether it came so far.
    """
    project, state = folder / "project", folder / "state"
    project.mkdir()
    for name, source in _TWO_FILES.items():
        (project / name).write_text(source)
    (project / "pyproject.toml").touch()
    old = read(project)
    found = verify(
        f"SIGKILL at event {at} of writing",
        folder,
        project,
        ["--quiet", "--transform", "source", "--apply", "--allow-dirty", "main.py"],
        environment={
            "XDG_STATE_HOME": str(state),
            "KILLER_FROM": f"{os.sep}journals{os.sep}",
            "JAXLINT_CACHE_DIR": str(folder / "cache"),
        },
        program=[*killer(), str(at), str(folder)],
    )
    _next_run_removes(found, folder)
    left = read(project)
    edited = {
        name: f"import jax\n{old[name].decode()}".replace("def ", "@jax.jit\ndef ").encode()
        for name in _EDITED
    }
    found.versions = [
        "old" if left[one] == old[one] else "new" if left[one] == edited[one] else "neither"
        for one in _EDITED
    ]
    if "neither" in found.versions:
        found.problems.append(f"a file is neither the old nor the new one: {found.versions}")
    again = subprocess.run(
        [sys.executable, "-m", "jaxlint", "fix", "."],
        cwd=project,
        env={**os.environ, "XDG_STATE_HOME": str(state)},
        capture_output=True,
        text=True,
        check=False,
    )
    after = read(project)
    whole = (old, {**old, **edited})
    if after not in whole:
        found.problems.append(
            f"after the next command the files are not of one version: {found.versions}, {sorted(after)}, {again.stderr}"
        )
    journals = list((state / "jaxlint" / "journals").iterdir())
    if any(path.suffix == ".json" for path in journals):
        found.problems.append(f"a journal is left: {journals}")
    return found


def without_home(folder: Path) -> Found:
    """HOME is not set, and, where this may be tried, the user is in no list of users either."""
    prefix = (
        ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"] if os.geteuid() == 0 else []
    )
    project = _project(folder)
    if prefix:
        (folder / "tmp").mkdir()
        for path in (folder, project, folder / "tmp"):
            path.chmod(0o777)
        if (
            not all(parent.stat().st_mode & 0o001 for parent in folder.parents)
            or shutil.which("setpriv") is None
        ):
            prefix = []
    return _fine(
        verify(
            "no HOME",
            folder,
            project,
            ["--quiet", *_QUICK, "program.py"],
            environment={"HOME": ""},
            prefix=prefix,
        )
    )


def read_only(folder: Path) -> Found:
    """The project lies on a disk that cannot be written to."""
    project = _project(folder)
    script = 'mount --bind . . && mount -o remount,ro,bind . && cd "$PWD" && exec "$@"'
    prefix = ["unshare", "-rm", "bash", "-c", script, "read-only"]
    return _fine(
        verify(
            "a folder that is read-only", folder, project, ["--quiet", *_QUICK, "program.py"], prefix=prefix
        )
    )


def little_room(folder: Path, kilobytes: int) -> Found:
    """The temporary folder is a disk of a few KB."""
    project = _project(folder)
    script = 'mount -t tmpfs -o "size=$1" none "$TMPDIR" && shift && exec "$@"'
    prefix = ["unshare", "-rm", "bash", "-c", script, "little-room", f"{kilobytes}k"]
    return _fine(
        verify(
            f"temporary folder of {kilobytes} KB",
            folder,
            project,
            ["--quiet", *_QUICK, "program.py"],
            prefix=prefix,
        )
    )


def no_room(folder: Path) -> Found:
    """No file may be written anywhere: one line says so."""
    project = _project(folder)
    script = "import resource, os, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); os.execv(sys.argv[1], sys.argv[1:])"
    found = verify(
        "no room at all",
        folder,
        project,
        ["--quiet", *_QUICK, "program.py"],
        prefix=[sys.executable, "-c", script],
    )
    if found.code != 2 or len(_error_lines(found)) != 1 or "TMPDIR" not in found.said:
        found.problems.append(f"exit code {found.code}: {found.said[-400:]}")
    return found


def _project(folder: Path) -> Path:
    project = folder / "project"
    project.mkdir()
    (project / "program.py").write_text(CALLS)
    return project


def _fine(found: Found) -> Found:
    if found.code != 0:
        found.problems.append(f"exit code {found.code}: {found.said[-400:]}")
    elif not found.report["runs"][0]["results"]:
        found.problems.append(f"no function was looked at: {found.said[-400:]}")
    return found


class Rounds:
    """One run of verify after the other, for the long run."""

    def __init__(self, folder: Path, seed: str) -> None:
        self.folder = folder
        self.rng = Random(f"verify:{seed}")
        self.tried = 0
        mounts = [read_only, lambda at: little_room(at, self.rng.choice((8, 64, 400)))] if can_mount() else []
        self._surroundings: list[Callable[[Path], Found]] = [without_home, no_room, *mounts]

    def next(self) -> tuple[str, Found]:
        """In turn: a program, Ctrl-C, a kill, now and then while files are written, a surrounding."""
        with tempfile.TemporaryDirectory(
            prefix="verify-", dir=self.folder, ignore_cleanup_errors=True
        ) as name:
            turn, self.tried = self.tried, self.tried + 1
            if turn % 2 == 0:
                return "programs under verify", run(PROGRAMS[turn // 2 % len(PROGRAMS)], Path(name))
            if turn % 4 == 1:
                return "verify interrupted", interrupted(Path(name), self.rng, 12.0)
            if turn % 16 == 11:
                return "verify killed while it writes", killed_while_writing(
                    Path(name), self.rng.randint(1, 8)
                )
            if turn % 8 == 3:
                return "verify killed", killed(Path(name), self.rng, 12.0)
            return "verify without room or home", self._surroundings[turn // 8 % len(self._surroundings)](
                Path(name)
            )
