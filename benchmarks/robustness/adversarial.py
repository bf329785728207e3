"""`verify --apply` and `fix` on whole programs: what each prints, writes and ends with stays the same, or nothing is written to its source."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.corpora.present import table
from benchmarks.robustness.forked import SECONDS, Forks
from benchmarks.robustness.pool import read, write
from benchmarks.robustness.possible_edits import possible_edits
from benchmarks.robustness.seeds import ROOT
from jaxlint_runtime.rewrites.error_output import said_on_errors  # type: ignore[import-untyped]

_NOTHING = "no arguments"
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.\d+(?:e[-+]?\d+)?")
_FLAGS = re.compile(r"^# flags: (.+)$", re.MULTILINE)
_SETTING = re.compile(r"\w+=")
_CLOSE = 1e-4  # as far as an edit may move a float32 that is printed
POSSIBLE = "possible"  # each edit that verify may write, whether it gains or not
EDITS = {
    "verify": ("verify", "--apply", "--allow-dirty", "--output-format", "json"),
    "fix": ("fix",),
    "unsafe": ("fix", "--unsafe-fixes"),
    POSSIBLE: (),
}


@dataclass(slots=True)
class Ran:
    """What one run of a program left: exit status, output, files below its folder."""

    status: int
    out: str
    err: str
    files: dict[str, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One program and one edit of it: `changed` are the sources that were written, `problem` what is not the same afterwards."""

    program: str
    edit: str
    changed: tuple[str, ...]
    problem: str | None
    seconds: float


def programs(folder: Path) -> list[tuple[Path, list[tuple[str, ...]]]]:
    """Each program, with the arguments of the runs that the proof does not see.

    A program is a file of Python, or a folder with a main.py. Comments `# flags: --late` at its beginning say which arguments these are, one run each.
    The first words may be settings of the environment: `# flags: JAX_ENABLE_X64=1 --late`.
    """
    files = [path for path in folder.glob("*.py") if not path.name.startswith(("_", "test_", "conftest"))]
    return [(path, _flags(path)) for path in sorted([*files, *folder.glob("*/main.py")])]


def _flags(program: Path) -> list[tuple[str, ...]]:
    header = re.match(r"(?:#[^\n]*\n)*", program.read_text("utf-8"))
    return [tuple(shlex.split(flags)) for flags in _FLAGS.findall(header[0] if header else "")]


def run_folders(folders: Sequence[Path], edits: Sequence[str] = ("verify",), options: Sequence[str] = (), kept: Path | None = None) -> int:  # fmt: skip
    """All programs of these folders, with a table; 1 when one of them is not what it was. `options` are more for `verify`; `kept` gets the edited files."""
    outcomes = []
    for program, flags in (one for folder in folders for one in programs(folder)):
        for outcome in judge(program, flags, edits, options, kept):
            outcomes.append(outcome)
            print(
                f"{outcome.program}, {outcome.edit}: {', '.join(outcome.changed) or 'nothing'} written, "
                f"{outcome.problem or 'the same'} ({outcome.seconds:.0f} s)",
                file=sys.stderr,
                flush=True,
            )
    rows = [
        (one.program, one.edit, ", ".join(one.changed) or "nothing", one.problem or "the same", f"{one.seconds:.0f}")
        for one in outcomes
    ]  # fmt: skip
    print(table(("program", "edit", "written", "result", "s"), rows))
    return int(not outcomes or any(outcome.problem for outcome in outcomes))


def verify(program: Path, flags: Sequence[tuple[str, ...]] = ()) -> Outcome:
    """Run the program, have its changes proven and written, run it again, also with the arguments that the proof did not see."""
    (outcome,) = judge(program, flags, ("verify",))
    return outcome


def judge(
    program: Path,
    flags: Sequence[tuple[str, ...]],
    edits: Sequence[str],
    options: Sequence[str] = (),
    kept: Path | None = None,
) -> Iterator[Outcome]:
    """What each of the edits makes of the program, which is run before them once for all."""
    ways = [(), *flags]
    with tempfile.TemporaryDirectory(prefix="jaxlint-adversarial-", ignore_cleanup_errors=True) as name:
        original = Path(name, "original")
        if program.name == "main.py":
            shutil.copytree(program.parent, original)
        else:
            original.mkdir()
            shutil.copy2(program, original / program.name)
        (original / "pyproject.toml").touch()
        before = read(original)
        runs = [_run(Path(name), before, program.name, way) for way in ways]

        def judged(what: str, after: dict[str, bytes], problem: str | None) -> Outcome:
            started = time.monotonic()
            changed = tuple(sorted(path for path in before if after.get(path) != before[path]))
            if problem is None and changed:
                problem = _changed_run(Path(name), program.name, ways, runs, after, set(before))
            named = program.stem if program.name != "main.py" else program.parent.name
            if kept is not None and changed:
                write(kept / named / _as_name(what), {path: after[path] for path in changed})
            return Outcome(named, what, changed, problem, time.monotonic() - started)

        for edit in edits:
            project = Path(name, "project")
            shutil.copytree(original, project)
            if edit == POSSIBLE:
                yield from _each_possible(project, program.name, before, judged)
            else:
                more = options if edit == "verify" else ()
                done = _ended([sys.executable, "-m", "jaxlint", *EDITS[edit], *more, program.name], project)
                problem = _verify_problem(done) if edit == "verify" else _fix_problem(done)
                yield judged(edit, read(project), problem)
            shutil.rmtree(project)


def _each_possible(
    project: Path,
    name: str,
    before: dict[str, bytes],
    judged: Callable[[str, dict[str, bytes], str | None], Outcome],
) -> Iterator[Outcome]:
    """What becomes of the program with each of its possible edits: with several at once, and with each alone where these are not right."""
    found = possible_edits(project / name)
    for why in found.refused:
        print(f"    refused: {why}", file=sys.stderr)

    def made(edits: Sequence[tuple[str, tuple[Any, ...]]]) -> Outcome:
        texts = found.texts(edits) or {}
        root = os.path.realpath(project)
        new = {os.path.relpath(path, root): text.encode() for path, text in texts.items()}
        return judged(" + ".join(told for told, _ in edits), before | new, None)

    for group in found.groups():
        whole = made(group)
        for one in (
            [whole] if whole.problem is None or len(group) == 1 else map(made, ([one] for one in group))
        ):
            if (one.problem or "").startswith(f"with {_NOTHING}: "):
                print(f"    {one.edit}: the proof would see that {one.problem}", file=sys.stderr)
            else:
                yield one


def _changed_run(
    root: Path,
    name: str,
    ways: Sequence[tuple[str, ...]],
    runs: Sequence[Ran],
    after: dict[str, bytes],
    sources: set[str],
) -> str | None:
    """What the edited program does otherwise, with all of its arguments."""
    told = []
    for way, one in zip(ways, runs, strict=True):
        difference = different(one, _run(root, after, name, way), sources=sources)
        if difference is not None:
            told.append(f"with {' '.join(way) or _NOTHING}: {difference}")
    return "; ".join(told) or None


def different(before: Ran, after: Ran, sources: set[str]) -> str | None:
    """What differs between two runs: text is compared as it is, but for the last digits of numbers; None where nothing does."""
    if before.status != after.status:
        return f"exit status {after.status}, was {before.status}: {after.err[-300:]}"
    if not _same(before.out, after.out):
        return f"it prints something else: {_first_difference(before.out, after.out)}"
    said = [said_on_errors(ran.err) for ran in (before, after)]
    if not _same(*said):
        return f"it writes something else to standard error: {_first_difference(*said)}"
    mine, theirs = (
        {path: data for path, data in ran.files.items() if path not in sources} for ran in (before, after)
    )
    if set(mine) != set(theirs):
        return f"it writes other files: {sorted(set(mine) ^ set(theirs))}"
    for path in mine:
        if mine[path] != theirs[path]:
            one, other = (data.decode("utf-8", "replace") for data in (mine[path], theirs[path]))
            if b"\0" in mine[path] or not _same(one, other):
                return f"{path} differs: {_first_difference(one, other)}"
    return None


def _same(one: str, other: str) -> bool:
    if _NUMBER.sub("N", one).split() != _NUMBER.sub("N", other).split():  # NumPy pads what it prints
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(abs(float(a) - float(b)) <= _CLOSE * max(1.0, abs(float(a)), abs(float(b))) for a, b in pairs)


def _first_difference(one: str, other: str) -> str:
    for a, b in zip(one.splitlines(), other.splitlines(), strict=False):
        if not _same(a, b):
            return f"{b[:120]!r}, was {a[:120]!r}"
    return f"{len(other.splitlines())} lines, was {len(one.splitlines())}"


def _verify_problem(done: subprocess.CompletedProcess[str]) -> str | None:
    if done.returncode not in (0, 1, 2) or "Traceback" in done.stderr.partition("jaxlint_runtime")[2]:
        return f"verify: exit code {done.returncode}: {done.stderr[-300:]}"
    try:
        told: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return f"verify: no report: {done.stderr[-300:]}"
    return (
        None
        if told.get("program", {}).get("ending")
        else f"verify: the program was not run: {told.get('errors')}"
    )


def _fix_problem(done: subprocess.CompletedProcess[str]) -> str | None:
    return None if done.returncode in (0, 1) else f"fix: exit code {done.returncode}: {done.stderr[-300:]}"


def _run(root: Path, files: dict[str, bytes], name: str, arguments: tuple[str, ...]) -> Ran:
    """The program in a folder of its own, which always has the same path: it may print it."""
    folder = root / "run"
    shutil.rmtree(folder, ignore_errors=True)
    write(folder, files)
    settings = list(takewhile(_SETTING.match, arguments))
    given = dict(one.split("=", 1) for one in settings)
    words = arguments[len(settings) :]
    if any(one.startswith(("JAX_", "XLA_")) for one in given):  # which JAX reads when it is imported
        done = _ended([sys.executable, name, *words], folder, given)
        status, out, err = done.returncode, done.stdout, done.stderr
    else:
        status, out, err = _forks().run(folder, name, words, given, root)
    kept = {path: data for path, data in read(folder).items() if "__pycache__" not in path}
    return Ran(status, out, err, kept)


@functools.cache
def _forks() -> Forks:
    return Forks(_environment())


def _as_name(what: str) -> str:
    """A description as the name of a folder."""
    return re.sub(r"[^\w.-]+", "-", what)[:80]


def _ended(
    command: Sequence[str], folder: Path, settings: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**_environment(), **settings},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def _environment() -> dict[str, str]:
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "rules", ROOT / "runtime")))
    return {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}
