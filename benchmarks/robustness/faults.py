"""`fix` in processes that are killed, find no room on the disk, or are not alone: no byte of a file may be lost."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.robustness import documents, encode, seeds
from benchmarks.robustness.cases import Case
from benchmarks.robustness.pool import Warm, read, write
from benchmarks.robustness.properties import last_frames
from benchmarks.robustness.seeds import ROOT
from tests.helpers.marks import plain

Files = dict[str, bytes]
Failure = tuple[Case, str, str]

_PATIENCE = 300.0  # seconds for a process, on a machine that has other work
_TRIALS_OF_ONE = 24  # with the same files
_ROUNDS = 4  # of looking for files that fixes bring to rest


@dataclass(frozen=True, slots=True)
class Done:
    """How a process ended."""

    code: int
    out: str
    err: str


@dataclass(slots=True)
class Subject:
    """Files to fix, and what they are when that is done."""

    name: str
    original: Files
    safe: Files
    unsafe: Files
    both: Files  # unsafe after safe
    seconds: float = 1.0  # that one run takes
    events: dict[bool, int] = field(
        default_factory=dict
    )  # that change files, with the unsafe fixes or without

    def fixed(self, unsafe: bool) -> Files:
        """What `fix` makes of the original."""
        return self.unsafe if unsafe else self.safe


class Trials:
    """One trial after the other, of each kind in turn."""

    def __init__(self, folder: Path, seed: str, warm: Warm) -> None:
        self.root = folder / "faults"
        self.root.mkdir(exist_ok=True)
        self.warm = warm
        self.rng = Random(f"faults:{seed}")
        self.seed = seed
        self.tried = 0
        self._subject: Subject | None = None
        self._kinds: list[tuple[str, Callable[[Subject], list[tuple[str, str]]]]] = [
            ("kills at an event", self.kill_at_event),
            ("kills at a moment", self.kill_at_moment),
            ("kills at an event", self.kill_at_event),
            ("files cut short", self.short_files),
            ("runs at once", self.at_once),
            ("kills at a moment", self.kill_at_moment),
            ("full disks", self.full_disk),
            ("full outputs", self.full_output),
        ]
        if not can_mount():
            self._kinds = [kind for kind in self._kinds if kind[0] != "full disks"]

    def next(self) -> tuple[str, list[Failure]]:
        """The kind of the next trial, and what failed in it."""
        if self._subject is None or self.tried % _TRIALS_OF_ONE == 0:
            self._subject = self.subject()
        name, trial = self._kinds[self.tried % len(self._kinds)]
        self.tried += 1
        subject = self._subject
        found = trial(subject)
        case = Case(f"{subject.name}, trial {self.tried}", name, subject.original, (name,))
        return name, [(case, kind, message) for kind, message in found]

    def subject(self) -> Subject:
        """Some files with findings that `fix` mends, of several kinds, sizes and line ends, one run of which leaves nothing to do."""
        for _ in range(50):
            files = self._files()
            safe = self._fixed(files, False)
            unsafe = self._fixed(files, True)
            both = self._fixed(safe, True)
            resting = all(
                self._fixed(one, way) == one
                for one, way in ((safe, False), (unsafe, True), (both, True), (unsafe, False))
            )
            if unsafe != files and resting:
                subject = Subject(f"{self.seed}-{self.tried}", files, safe, unsafe, both)
                started = time.monotonic()
                self._run(self._placed(files), ["fix", "--unsafe-fixes", "."])
                subject.seconds = time.monotonic() - started
                return subject
        raise RuntimeError("no files were found that fixes bring to rest")

    # ---- trials ----

    def kill_at_event(self, subject: Subject) -> list[tuple[str, str]]:
        """SIGKILL just before one of the events that change files: each of them is as likely."""
        unsafe = self.rng.random() < 0.7
        arguments = self._arguments(unsafe)
        if unsafe not in subject.events:
            folder = self._placed(subject.original)
            read_end, write_end = os.pipe()
            self._run(
                folder,
                ["0", str(self.warm.folder), *arguments],
                program=killer(),
                pass_fds=(write_end,),
                extra={"KILLER_COUNT": str(write_end)},
            )
            os.close(write_end)
            with open(read_end, "rb") as counted:
                subject.events[unsafe] = len(counted.read())
        at = self.rng.randint(1, max(1, subject.events[unsafe]))
        folder = self._placed(subject.original)
        done = self._run(folder, [str(at), str(self.warm.folder), *arguments], program=killer())
        return self._killed(subject, folder, unsafe, done, f"killed at event {at}")

    def kill_at_moment(self, subject: Subject) -> list[tuple[str, str]]:
        """SIGKILL at some moment, most often in the second half, where files are written."""
        unsafe = self.rng.random() < 0.7
        folder = self._placed(subject.original)
        after = subject.seconds * (
            self.rng.uniform(0.5, 1.05) if self.rng.random() < 0.8 else self.rng.random()
        )
        done = self._run(folder, self._arguments(unsafe), kill_after=after)
        return self._killed(subject, folder, unsafe, done, f"killed after {after:.2f} s")

    def short_files(self, subject: Subject) -> list[tuple[str, str]]:
        """No file may be written beyond some size, as under `ulimit -f`."""
        unsafe = self.rng.random() < 0.7
        largest = max(len(data) for data in subject.fixed(unsafe).values())
        limit = self.rng.choice(
            (0, 1, 100, largest // 2, largest - 1, largest + 10, self.rng.randint(0, largest + 1))
        )
        folder = self._placed(subject.original)
        done = self._run(folder, self._arguments(unsafe), file_limit=max(limit, 0))
        return self._no_room(subject, folder, unsafe, done, f"no file beyond {limit} bytes")

    def full_disk(self, subject: Subject) -> list[tuple[str, str]]:
        """The folder lies on a small disk of its own, with a little room left, or none, or no inodes."""
        unsafe = self.rng.random() < 0.7
        source, disk, result = (
            self._placed(files, name)
            for files, name in ((subject.original, "source"), ({}, "disk"), ({}, "result"))
        )
        size = sum(-(-len(data) // 4096) * 4 + 4 for data in subject.original.values()) + self.rng.choice(
            (0, 4, 8, 40)
        )
        inodes = self.rng.choice((0, 0, 0, len(subject.original) + 3))
        script = (
            'mount -t tmpfs -o "$1" none "$2" && cp -r "$3"/. "$2" || exit 77; cd "$2"; shift; '
            "{ dd if=/dev/zero of=filler bs=1024 count=$((RANDOM % 64)) status=none || true; } 2>/dev/null; "
            'out=$3; shift 3; "$@"; code=$?; rm -f filler; cp -r . "$out"; exit $code'
        )
        options = f"size={size}k" + (f",nr_inodes={inodes}" if inodes else "")
        command = [
            "unshare",
            "-rm",
            "bash",
            "-c",
            script,
            "trial",
            options,
            str(disk),
            str(source),
            str(result),
            *jaxlint(),
            *self._arguments(unsafe),
        ]
        done = self._run(source, [], program=command)
        if done.code == 77:
            return []
        return self._no_room(subject, result, unsafe, done, f"a disk with {options}")

    def full_output(self, subject: Subject) -> list[tuple[str, str]]:
        """What the command prints, or its report, cannot be written."""
        folder = self._placed(subject.original)
        command = self.rng.choice(
            (
                ["check", "."],
                ["check", "--output-format", "json", "."],
                ["fix", "."],
                ["check", "-o", "/dev/full", "."],
            )
        )
        with open("/dev/full", "w") as full:
            done = self._run(folder, command, stdout=full)
        found = self._odd(done, f"{' '.join(command)} > /dev/full")
        if done.code == 0:
            found.append(("silent failure", f"{' '.join(command)} > /dev/full: exit code 0"))
        return found + self._whole(
            folder, [subject.original, subject.safe], f"{' '.join(command)} > /dev/full"
        )

    def at_once(self, subject: Subject) -> list[tuple[str, str]]:
        """Two or three commands over the same files."""
        folder = self._placed(subject.original)
        ways = self.rng.choice(
            (
                (False, False),
                (True, True),
                (True, True, True),
                (True, False),
                (False, None),
                (True, None, None),
            )
        )
        commands = [["check", "."] if way is None else self._arguments(way) for way in ways]
        started = [self._start(folder, command) for command in commands]
        ended = [self._end(process) for process in started]
        what = " beside ".join(" ".join(command) for command in commands)
        found = [problem for done in ended for problem in self._odd(done, what)]
        if True in ways and False in ways:
            states = [subject.safe, subject.unsafe, subject.both]
        else:
            states = [subject.fixed(bool(ways[0]))]
        return found + self._whole(folder, states, what)

    # ---- what has to hold ----

    def _killed(
        self, subject: Subject, folder: Path, unsafe: bool, done: Done, what: str
    ) -> list[tuple[str, str]]:
        fixed = subject.fixed(unsafe)
        found = self._whole(folder, [subject.original, fixed], what, temporary=True)
        if done.code != -signal.SIGKILL:
            found += self._odd(done, what)
        for path in folder.rglob(".*.tmp"):
            path.unlink()
        for command in (["check", "."], [*self._arguments(unsafe)]):
            code, _, err = self.warm.call(folder, command)
            found += self._odd(Done(code, "", err), f"{what}, then {command[0]}")
        if not found and read(folder) != fixed:
            found.append(
                ("lost work", f"{what}: the next fix does not finish it: {_different(read(folder), fixed)}")
            )
        return found

    def _no_room(
        self, subject: Subject, folder: Path, unsafe: bool, done: Done, what: str
    ) -> list[tuple[str, str]]:
        fixed = subject.fixed(unsafe)
        found = self._odd(done, what) + self._whole(folder, [subject.original, fixed], what)
        if read(folder) != fixed and (done.code != 2 or "error:" not in done.err):
            found.append(
                (
                    "silent failure",
                    f"{what}: exit code {done.code}, not all files are fixed: {done.err[:200]}",
                )
            )
        return found

    def _whole(
        self, folder: Path, states: Sequence[Files], what: str, temporary: bool = False
    ) -> list[tuple[str, str]]:
        """Each file is one of those that it may be, and there are no others."""
        found = []
        here = read(folder)
        for path in states[0]:
            if here.get(path) not in [state[path] for state in states]:
                found.append(
                    (
                        "lost bytes",
                        f"{what}: {path}: {len(here.get(path, b''))} bytes, none of {[len(state[path]) for state in states]}",
                    )
                )
        stray = [path for path in here if path not in states[0] and not (temporary and path.endswith(".tmp"))]
        if stray:
            found.append(("stray file", f"{what}: {stray}"))
        return found

    def _odd(self, done: Done, what: str) -> list[tuple[str, str]]:
        """No traceback, and an exit code that means something."""
        if (
            "Traceback" in done.err
            or "Exception ignored" in done.err
            or "internal error" in done.err + done.out
        ):
            return [("crash", f"{what}: {last_frames(done.err)}")]
        if done.code not in (0, 1, 2):
            return [("crash", f"{what}: exit code {done.code}: {done.err[-200:]}")]
        return []

    # ---- files and processes ----

    def _files(self) -> Files:
        rng = self.rng
        fixable = [seed.text for seed in seeds.examples() if seed.text in _fixable()]
        files: Files = {}
        for number in range(rng.choice((1, 2, 3, 5))):
            text = rng.choice(fixable)
            if rng.random() < 0.3:
                text += "".join(f"# {'line ' * 12}{n}\n" for n in range(rng.choice((20, 2000, 8000))))
            data = encode.plain(text)
            if rng.random() < 0.3:
                data = data.replace(b"\n", b"\r\n")
            if rng.random() < 0.2:
                data = b"\xef\xbb\xbf" + data
            files[f"m{number}.py"] = data
        if rng.random() < 0.3:
            files["n.ipynb"] = encode.plain(documents.notebook(rng, rng.choice(fixable)))
        if rng.random() < 0.3:
            files["p.md"] = encode.plain(f"# Page\n\n```python\n{rng.choice(fixable)}```\n")
        return files

    def _fixed(self, files: Files, unsafe: bool) -> Files:
        folder = self._placed(files, "expected")
        self.warm.call(folder, self._arguments(unsafe))
        return read(folder)

    @staticmethod
    def _arguments(unsafe: bool) -> list[str]:
        return ["fix", *(["--unsafe-fixes"] if unsafe else []), "."]

    def _placed(self, files: Mapping[str, bytes], name: str = "trial") -> Path:
        folder = self.root / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        write(folder, files)
        return folder

    def _run(self, folder: Path, arguments: Sequence[str], **how: Any) -> Done:
        kill_after = how.pop("kill_after", None)
        process = self._start(folder, arguments, **how)
        if kill_after is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(kill_after)
            process.kill()
        return self._end(process)

    def _start(
        self,
        folder: Path,
        arguments: Sequence[str],
        *,
        program: Sequence[str] = (),
        extra: Mapping[str, str] | None = None,
        file_limit: int | None = None,
        stdout: Any = subprocess.PIPE,
        pass_fds: Sequence[int] = (),
    ) -> subprocess.Popen[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        environment |= {
            "HOME": str(self.warm.home),
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "rules", ROOT / "runtime"))),
            **(extra or {}),
        }
        limit = (
            None
            if file_limit is None
            else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
        )
        return subprocess.Popen(
            [*(program or jaxlint()), *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            pass_fds=pass_fds,
            preexec_fn=limit,
        )

    @staticmethod
    def _end(process: subprocess.Popen[str]) -> Done:
        try:
            out, err = process.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return Done(-signal.SIGALRM, out or "", f"no end within {_PATIENCE:.0f} s")
        return Done(process.returncode, out or "", err)


def jaxlint() -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "jaxlint"]


def killer() -> list[str]:
    """The command line that ends itself."""
    return [sys.executable, str(Path(__file__).with_name("killer.py"))]


def can_mount() -> bool:
    """Whether a small disk can be had without being the superuser of the machine."""
    if shutil.which("unshare") is None:
        return False
    done = subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
    )
    return done.returncode == 0


def _fixable() -> frozenset[str]:
    from jaxlint.registry import all_rules

    return frozenset(
        plain(example.code) for rule in all_rules() for example in rule.examples if example.fixed is not None
    )


def _different(here: Files, there: Files) -> list[str]:
    return sorted(path for path in {*here, *there} if here.get(path) != there.get(path))
