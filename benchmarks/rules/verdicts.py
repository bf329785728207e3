"""Verdicts on findings: kept in a file, and found again by what the line says, wherever it has moved to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = Path(__file__).with_name("verdicts.json")
VERDICTS = ("right", "wrong", "debatable")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding stands: the rule, the repository, the file in it, and a hash of the line's text."""

    rule: str
    repository: str
    file: str
    line: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reader found: `verdict` is one of VERDICTS, `note` says why where that is not plain.

    "debatable": what the rule says holds, but a careful author could well leave the code as it is.
    """

    place: Place
    verdict: str
    note: str = ""


class BadVerdicts(Exception):
    """The file of verdicts cannot be used; the message names the file and the entry."""


def line_hash(text: str) -> str:
    """The first 12 hex digits of a line's SHA-256, its indentation left out."""
    return hashlib.sha256(text.strip().encode()).hexdigest()[:12]


def read(path: Path = FILE) -> list[Verdict]:
    """All verdicts of a file. Raises BadVerdicts when it cannot be read or an entry lacks a part."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadVerdicts(f"{path}: cannot be read as JSON: {error}") from error
    found = []
    for number, entry in enumerate(entries, 1):
        try:
            place = Place(entry["rule"], entry["repository"], entry["file"], entry["line"])
            verdict = Verdict(place, entry["verdict"], entry.get("note", ""))
        except (KeyError, TypeError) as error:
            raise BadVerdicts(f"{path}: entry {number} has no {error}") from error
        if verdict.verdict not in VERDICTS:
            raise BadVerdicts(f"{path}: entry {number}: {verdict.verdict!r} is none of {', '.join(VERDICTS)}")
        found.append(verdict)
    return found


def write(verdicts: Iterable[Verdict], path: Path = FILE) -> None:
    """Writes verdicts in a fixed order, one line each, so that a change is a line of a diff."""
    entries = sorted(
        ({**asdict(v.place), "verdict": v.verdict, **({"note": v.note} if v.note else {})} for v in verdicts),
        key=lambda e: (len(e["rule"]), e["rule"], e["repository"], e["file"], e["line"]),
    )
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    path.write_text(f"[\n{lines}\n]\n" if entries else "[]\n", encoding="utf-8")
