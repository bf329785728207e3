"""Edits that run all at once: which of them fit beside each other, and which is at fault if the program raises."""

from __future__ import annotations

import ast
import difflib
import os
from collections.abc import Iterator, Mapping, Sequence

from jaxlint.finding import FixRequest
from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.proposals import Rewrite
from jaxlint_runtime.rewrites.tried_edit import edited, ways_of
from jaxlint_runtime.source_analysis.findings import Foreseen

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def fitting(
    rewrites: Sequence[Rewrite], fixes: Sequence[FixRequest], current: Mapping[str, SourceFile]
) -> tuple[list[Rewrite], dict[str, SourceFile]]:
    """The edits, or their alternatives, that can be written beside `fixes` and each other, and the files with them."""
    members: list[Rewrite] = []
    sources = dict(current)
    for one in rewrites:
        for way in ways_of(one):
            found = edited([*fixes, *way.fixes], current)
            if not isinstance(found, str):
                members, sources, fixes = [*members, way], found, [*fixes, *way.fixes]
                break
    return members, sources


def without_errors(
    members: list[Rewrite],
    sources: dict[str, SourceFile],
    current: Mapping[str, SourceFile],
    foreseen: Foreseen,
) -> tuple[list[Rewrite], dict[str, SourceFile]]:
    """The edits without those that check foresees an error of, and the files with them; none if that is not enough."""
    if not foreseen.new_error(sources):
        return members, sources
    sound = []
    for one in members:
        alone = edited(one.fixes, current)
        if not isinstance(alone, str) and not foreseen.new_error(alone):
            sound.append(one)
    members, sources = fitting(sound, [], current)
    return ([], sources) if foreseen.new_error(sources) else (members, sources)


def blamed(
    members: Sequence[Rewrite],
    current: Mapping[str, SourceFile],
    sources: Mapping[str, SourceFile],
    frames: Sequence[tuple[str, int]],
) -> list[Rewrite]:
    """The edits that wrote the innermost of the `frames` (file and line) that is not as it was; none if all are.

    `current`: the files before the edits; `sources`: with all of them. A line of a function whose decorators an edit changed counts
    as that edit's.
    """
    names = {os.path.realpath(source.path): name for name, source in sources.items()}
    for path, line in reversed(frames):
        name = names.get(os.path.realpath(path))
        if name is None or name not in current or current[name].text == sources[name].text:
            continue
        old, new = current[name].text.splitlines(), sources[name].text.splitlines()
        changes = _changes(old, new)
        for number in (line, *_heads(sources[name].text, line)):
            spans = [(first, last) for first, last, made in changes if number in made]
            found = [
                one for one in members if spans and _wrote(one, name, new[number - 1], spans[0], current)
            ]
            if found:
                return found
    return []


def _changes(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, range]]:
    """The places of the old text that changed, and the lines of the new one that replace them."""
    found = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(i, j, range(first + 1, last + 1)) for tag, i, j, first, last in found if tag != "equal"]


def _heads(text: str, line: int) -> Iterator[int]:
    """The lines of the decorators of the functions around a line, from the inside out."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    for node in sorted(around, key=lambda one: -one.lineno):
        yield from (one.lineno for one in node.decorator_list)


def _wrote(
    one: Rewrite, name: str, line: str, span: tuple[int, int], current: Mapping[str, SourceFile]
) -> bool:
    """Whether an edit alone writes a line at a place of the old text."""
    alone = edited(one.fixes, current)
    if isinstance(alone, str) or name not in alone:
        return False
    old, new = current[name].text.splitlines(), alone[name].text.splitlines()
    return any(
        first <= span[1] and span[0] <= last and line.strip() in {new[number - 1].strip() for number in made}
        for first, last, made in _changes(old, new)
    )
