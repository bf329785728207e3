"""Keeps a warm worker at hand, and turns its death into a failure of the case that it was at."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.robustness.cases import Case
from benchmarks.robustness.properties import last_frames
from benchmarks.robustness.seeds import ROOT
from benchmarks.robustness.worker import SECONDS

_CASES = 400  # after which a worker is replaced
_RESIDENT_MB = 600.0  # beyond which it is, so that what it keeps is not taken for what a file needs
_WALL = 15 * SECONDS  # without an answer, on a machine that has other work; a case is several commands


@dataclass(slots=True)
class Verdict:
    """What a worker said of a case, or how it died over it."""

    failures: list[tuple[str, str]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    peak_mb: float = 0.0
    seconds: float = 0.0
    longest: float = 0.0


class Warm:
    """One worker, started when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"  # where journals and caches of the user lie
        self.served = 0
        self.deaths = 0
        self._process: subprocess.Popen[str] | None = None
        self._said = folder / "worker.err"

    def judge(self, case: Case, number: int = 0, seconds: float = SECONDS) -> Verdict:
        """Write the files of a case to a new folder and have them judged; a command may take so many seconds."""
        with tempfile.TemporaryDirectory(prefix="case-", dir=self.folder, ignore_cleanup_errors=True) as name:
            write(Path(name), case.files)
            return self._ask({"folder": name, "options": case.options, "number": number, "seconds": seconds})

    def call(self, folder: Path, arguments: Sequence[str]) -> tuple[int, str, str]:
        """One command in a folder: exit code and what it said. Raises RuntimeError when the worker dies of it."""
        line = self._exchange({"folder": str(folder), "call": list(arguments)})
        if line is None:
            raise RuntimeError(f"the worker died of {list(arguments)}: {self._said.read_text()[-2000:]}")
        answer = json.loads(line)
        return answer["code"], answer["out"], answer["err"]

    def close(self) -> None:
        """End the worker."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()

    def __enter__(self) -> Warm:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, request: Mapping[str, Any]) -> Verdict:
        line = self._exchange(request)
        if line is None:
            return self._death(request)
        answer = json.loads(line)
        self.served += 1
        if self.served % _CASES == 0 or answer["resident_mb"] > _RESIDENT_MB:
            self.close()
        return Verdict(
            [(kind, message) for kind, message in answer["failures"]],
            answer["counts"],
            answer["peak_mb"],
            answer["seconds"],
            answer["longest"],
        )

    def _exchange(self, request: Mapping[str, Any]) -> str | None:
        process = self._process or self._start()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        return self._line(process)

    def _start(self) -> subprocess.Popen[str]:
        self.home.mkdir(exist_ok=True)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
            "HOME": str(self.home),
            "TMPDIR": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "PYTHONHASHSEED": "0",
        }
        with self._said.open("w") as said:
            self._process = process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.robustness.worker"],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )
        line = self._line(process)
        if line != "ready\n":
            process.kill()
            raise RuntimeError(f"the worker did not start: {self._said.read_text()[-2000:]}")
        return process

    def _line(self, process: subprocess.Popen[str]) -> str | None:
        """The next line of the worker; None when it is gone, or has to be killed for saying nothing."""
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], _WALL)
        if not ready:
            process.kill()
            process.wait()
            return None
        return process.stdout.readline() or None

    def _death(self, request: Mapping[str, Any]) -> Verdict:
        assert self._process is not None
        status = self._process.wait()
        said = self._said.read_text(errors="replace")
        self.close()
        self.deaths += 1
        if -status in (signal.SIGPROF, signal.SIGKILL):
            limit = request.get("seconds", SECONDS) if -status == signal.SIGPROF else _WALL
            return Verdict([("hang", f"more than {limit:g} s in {_deepest(said)}")], longest=limit)
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return Verdict([("death", f"{how}: {_deepest(said) or last_frames(said)}")])


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """The files of a case."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def read(folder: Path) -> dict[str, bytes]:
    """The files below a folder, less caches."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and ".jaxlint_cache" not in path.relative_to(folder).parts
    }


def copied(source: Path, target: Path) -> Path:
    """A copy of a folder, in place of what was there."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target


def _deepest(said: str) -> str:
    """The innermost lines of jaxlint in a trace that faulthandler wrote."""
    lines = said.splitlines()
    own = [line.strip() for line in lines if "/jaxlint" in line or "libcst" in line]
    return " < ".join(_short(line) for line in own[:3])


def _short(line: str) -> str:
    path, _, rest = line.partition('", line ')
    return f"{os.path.basename(path)}:{rest}"
