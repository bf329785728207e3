"""The one notation for what a program should say: marks at the ends of its lines, and a header for the program as a whole.

    # source: google/flax#4085
    # missed: the length is only known where the function is called

    import jax
    ...
    if x > 0:  # finding
    if x > 0:  # finding: tracer-branch, key-reuse
    jax.jit(f)(x)  # finding-also
    for row in x:  # finding-other
    case 0:  # finding-missed

`# finding` is where a finding has to stand, of the rules that are named, if any are. `# finding-also` is another place
for it that is as good. `# finding-other` is a finding that is right and not what the program is about, `# finding-missed` a mistake in the midst of
others that is not found. A header is the
comments before anything else, each a word, a colon and a text; who reads the marks says which words there are.
A mark or a header that is not well formed is an error, with its file and line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

_RULE = r"[a-z0-9]+(?:-[a-z0-9]+)*"
# A comment that begins with one of the kinds; a word that only begins like one ("findings") is prose.
_ANY_MARK = re.compile(r"[ \t]*#[ \t]*(?=finding(?![\w]))(?P<said>[^\n]*?)[ \t]*$")
_MARK = re.compile(rf"(?P<kind>finding(?:-also|-other|-missed)?)(?:: (?P<rules>{_RULE}(?:, {_RULE})*))?")
_HEADER = re.compile(r"# (?P<key>[a-z-]+):(?: (?P<text>.*))?")


class BadMark(ValueError):
    """A mark or a header that says nothing that is understood."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What the end of one line says."""

    line: int
    kind: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Marked:
    """A program with its marks. `plain` is its text without them, line by line the same; `about` is its header."""

    plain: str
    marks: tuple[Mark, ...]
    about: Mapping[str, str]

    def lines(self, kind: str = "finding") -> set[int]:
        """The lines with a mark of this kind."""
        return {mark.line for mark in self.marks if mark.kind == kind}


def read_marks(text: str, name: str = "program.py", *, header: Collection[str] = ()) -> Marked:
    """The marks of a program, and its header where one is read: `header` are the words that may stand in it."""
    lines = text.split("\n")
    about = _header(lines, name, header) if header else {}
    marks, plain = [], []
    for number, line in enumerate(lines, 1):
        found = _ANY_MARK.search(line)
        if found is None:
            plain.append(line)
            continue
        mark = _MARK.fullmatch(found["said"])
        if mark is None:
            raise BadMark(f"{name}:{number}: `# {found['said']}` is no mark; see {__name__}")
        marks.append(Mark(number, mark["kind"], tuple(mark["rules"].split(", ")) if mark["rules"] else ()))
        plain.append(line[: found.start()])
    return Marked("\n".join(plain), tuple(marks), about)


def _header(lines: list[str], name: str, words: Collection[str]) -> dict[str, str]:
    about: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        found = _HEADER.fullmatch(line)
        if found is None:
            break
        if found["key"] not in words or found["key"] in about or not (found["text"] or "").strip():
            known = ", ".join(sorted(words))
            raise BadMark(f"{name}:{number}: `{line}`: a header has each of {known} once at most, and a text")
        about[found["key"]] = found["text"].strip()
    return about


def plain(text: str, name: str = "program.py") -> str:
    """The program without its marks."""
    return read_marks(text, name).plain
