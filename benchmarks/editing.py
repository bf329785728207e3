"""How soon an editor is answered after a change, and whether the answer is that of a run from the beginning.

    python -m benchmarks.editing FOLDER [--files 8] [--changes 12] [--seed 0] [FILE ...]

Each change is made to the last text of a file, as in an editor, nothing is saved, and the file is examined within its project. `first` is the time until the first
findings are shown, `whole` until the files that use it have been looked at, too; `anew` is the time of a run from the beginning, as the server did it before.
All are seconds of processor time. Findings are compared with those of the run from the beginning; the first ones also in the edited lines alone (`early`).
`folder` is a project: one with a `pyproject.toml`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from multiprocessing import Pipe
from pathlib import Path

from jaxlint.server import warmed
from jaxlint.server.checking import Checked, Checker
from jaxlint.server.documents import TextDocument
from jaxlint.server.examiner import Apart
from jaxlint.server.warmed import edited

_JITTED = "\n\n@jax.jit\ndef added(value, other):\n    return value if value > 0 else other\n"
_PARAMETER = re.compile(r"^( *)def \w+\((?:self, )?(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """One change, with the seconds until it was answered. `same`: as a run from the beginning answers it. `early`: the
    findings of edited lines that the whole answer has, and how many of them were shown first."""

    file: str
    kind: str
    first: float
    whole: float
    anew: float
    findings: int
    same: bool
    early: tuple[int, int]


def changed(text: str, kind: str, rng: random.Random) -> str:
    """The text after one change, which need not be Python any more."""
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    if kind == "comment":
        return "\n".join([*lines[:at], *lines[at : at + 1], "", *lines[at + 1 :]])
    if kind == "delete":
        return "\n".join([*lines[:at], *lines[at + 1 :]])
    if kind == "double":
        return "\n".join([*lines[: at + 1], *lines[at:]])
    if kind == "number":
        return re.sub(r"\b\d+\b", lambda found: str(rng.choice([0, 1, 2, int(found[0])])), text, count=40)
    if kind == "import":
        return "import jax\n" + text
    if kind == "function":
        return text + _JITTED
    found = list(_PARAMETER.finditer(text))
    if not found:
        return text + "\n"
    chosen = rng.choice(found)
    body = text.find(":\n", chosen.end()) + 2
    indent = chosen[1] + "    "
    return (
        text[:body] + f"{indent}if {chosen[2]} > 0:\n{indent}    {chosen[2]} = -{chosen[2]}\n" + text[body:]
    )


KINDS = ("comment", "branch", "function", "double", "number", "delete", "branch", "import")


def answer(checked: Checked) -> list[object]:
    """What an editor shows and offers."""
    return [*checked.findings, *map(str, checked.errors)]


def anew(document: TextDocument) -> tuple[list[object], float]:
    """What a run from the beginning gives, in a process of its own that has read the project, and its seconds."""
    ours, theirs = Pipe()

    def work() -> None:
        checker = Checker()
        checker.task(document)  # reads the project
        started = time.process_time()
        found = answer(checker.check(document))
        theirs.send((found, time.process_time() - started))

    pid = warmed.fork(work)
    found, seconds = ours.recv()
    warmed.end(pid)
    return found, seconds


def changes_of(path: Path, number: int, rng: random.Random, examiner: Apart) -> Iterable[Change]:
    """Makes changes to a file one after the other; what is no Python is taken back by the next."""
    text = path.read_text()
    examiner.check(TextDocument(path.as_uri(), path, text), (), lambda early: None)
    for index in range(number):
        kind = KINDS[index % len(KINDS)]
        new = changed(text, kind, rng)
        document = TextDocument(path.as_uri(), path, new)
        shown: list[Checked] = []
        found = examiner.check(document, (), shown.append)
        assert found is not None
        whole = examiner.costs[-1]
        expected, cold = anew(document)
        same = answer(found) == expected
        first, last = edited(text, new)
        there, at_first = (
            {one.code for one in checked.in_module if first <= one.span.line < last}
            for checked in (found, *(shown or [found])[:1])
        )
        early = len(there), len(there & at_first)
        yield Change(str(path), kind, examiner.costs[0], whole, cold, len(found.findings), same, early)
        if not found.errors:
            text = new


def files_of(folder: Path, number: int, rng: random.Random) -> list[Path]:
    """Some files that use JAX, from the whole of the project."""
    found = [path for path in sorted(folder.rglob("*.py")) if "jax" in path.read_text(errors="replace")]
    return rng.sample(found, min(number, len(found)))


def spread(seconds: list[float]) -> str:
    """Median, nine tenths, and the longest."""
    ordered = sorted(seconds)
    nine = ordered[min(len(ordered) * 9 // 10, len(ordered) - 1)]
    return f"{statistics.median(ordered):.2f} / {nine:.2f} / {ordered[-1]:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("file", type=Path, nargs="*")
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--changes", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    examiner = Apart()
    files = options.file or files_of(options.folder.resolve(), options.files, rng)
    made: list[Change] = []
    for path in files:
        some = list(changes_of(path.resolve(), options.changes, rng, examiner))
        made += some
        shown = [spread([getattr(one, name) for one in some]) for name in ("first", "whole", "anew")]
        differ = sum(not one.same for one in some)
        print(f"{path}: first {shown[0]}, whole {shown[1]}, anew {shown[2]} s, {differ} differ", flush=True)
    shown = [spread([getattr(one, name) for one in made]) for name in ("first", "whole", "anew")]
    print(f"{len(made)} changes in {len(files)} files (median / nine tenths / longest):")
    there, at_first = (sum(one.early[index] for one in made) for index in (0, 1))
    print(f"of {there} findings in edited lines, {at_first} were among the first")
    print(
        f"first {shown[0]}, whole {shown[1]}, anew {shown[2]} s; {sum(not one.same for one in made)} differ"
    )
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in made]))


if __name__ == "__main__":
    main()
