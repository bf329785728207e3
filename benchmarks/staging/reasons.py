"""Whether the tests ran what the reason of a claim speaks of: where they did not, they say little against the claim."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.staging.join import Pair

Place = tuple[str, int]
Call = dict[str, Any]  # as `jaxlint inspect --calls` states it

_PLACE = re.compile(r"(?:at|in|by|of) (?:line |(\S+\.py):)(\d+)")
_HANDED = re.compile(r"`([^`]+)` is (?:passed to|decorated with) `([\w.]+)` at (?:line |(\S+\.py):)(\d+)")
_NEVER_RUN = re.compile(r"(?:at|in|by|of) \S+\.(?:ipynb|md):")  # tests run no notebooks
_VARIANT = "chex.variant"  # chex runs a test with jit and without: without, no transform runs


def mark_reasons(pairs: Sequence[Pair], root: Path) -> None:
    """Sets `reason_ran` of each pair that is said to be staged and was not traced, and `idle` of those that were traced."""
    run = Run(pairs, root)
    for pair in pairs:
        calls: dict[str, list[Call | None]] = pair.predicted.get("calls") or {}
        if pair.traced:
            pair.idle = {name for name in pair.wrong_parameters() if run.has_none_of(calls.get(name, []))}
        elif pair.staged:
            reasoned = run.has_reason(pair.predicted["path"], pair.predicted["reason"])
            pair.reason_ran = reasoned and not run.has_none_of(
                [call for name in calls for call in calls[name]]
            )


class Run:
    """What ran: functions, files, and from which functions JAX was seen to trace anything."""

    def __init__(self, pairs: Sequence[Pair], root: Path) -> None:
        self.root = root
        self.observed = {(pair.key[0], pair.key[1]): pair.observed for pair in pairs}
        self.functions: set[Place] = set(self.observed)
        self.files = {path for path, _ in self.functions}
        self.traced: set[Place] = {
            (pair.key[0], pair.key[1]) for pair in pairs if pair.traced or pair.observed["under"]
        }
        # Callers are recorded of calls that got tracers.
        self.tracing: set[Place] = {
            (caller["path"], caller["line"])
            for pair in pairs
            for caller in pair.observed["callers"]
            if any(name.startswith("jax._src.") for name in caller["between"])
        }
        self.trees: dict[str, ast.Module] = {}

    def tree(self, path: str) -> ast.Module:
        if path not in self.trees:
            self.trees[path] = ast.parse((self.root / path).read_bytes())
        return self.trees[path]

    def has_reason(self, own: str, reason: str) -> bool:
        """Whether every place that a reason names was run, and every transform that it names may have been."""
        if _NEVER_RUN.search(reason):
            return False
        for place in _PLACE.finditer(reason):
            path = place[1] or own
            first = enclosing_line(self.tree(path), int(place[2]))
            if path not in self.files if first is None else (path, first) not in self.functions:
                return False
        return all(
            self.may_have_traced(handed[3] or own, int(handed[4]), handed[1], handed[2])
            for handed in _HANDED.finditer(reason)
        )

    def has_none_of(self, calls: Sequence[Call | None]) -> bool:
        """Whether calls are known that are said to give tracers, and none of them was run."""
        return bool(calls) and not any(map(self.has_call, calls))

    def has_call(self, call: Call | None) -> bool:
        """Whether a call that is said to give a tracer was run, as far as one can tell: True where it cannot be told.

        One in a function that is traced there, only while JAX traced it. Lines are known of calls that got tracers.
        """
        if call is None:
            return True
        if not call["path"].endswith(".py"):
            return False  # tests run no notebooks
        first = enclosing_line(self.tree(call["path"]), call["line"])
        if first is None:
            return True
        around = self.observed.get((call["path"], first))
        if around is None or not call["staged"]:
            return around is not None
        run = {*around["lines"], *around["raised"]}
        return around["under"] > 0 or not run.isdisjoint(range(call["line"], call["end"] + 1))

    def may_have_traced(self, path: str, line: int, name: str, transform: str) -> bool:
        """Whether "`name` is passed to `transform` at `line`" happened, as far as one can tell.

        Not if `name` is a function of that file which never ran; nor, where the transform is in a branch or in a test that
        chex runs without jit too, if neither `name` was traced nor anything else from there.
        """
        tree = self.tree(path)
        handed = {(path, first) for first in handed_lines(tree, name, line)}
        if handed and handed.isdisjoint(self.functions):
            return False
        if transform != _VARIANT and not in_branch(tree, line):
            return True
        first = enclosing_line(tree, line)
        return first is None or (path, first) in self.tracing or not handed.isdisjoint(self.traced)


def enclosing_line(tree: ast.Module, line: int) -> int | None:
    """The first line, decorators included, of the innermost `def` whose body has `line`; None at module level."""
    function = _enclosing(tree, line)
    return None if function is None else _first_line(function)


def _enclosing(tree: ast.Module, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    found: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    size = 1 << 30
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            start, end = _first_line(node.body[0]), node.end_lineno or 0
            if start <= line <= end and end - start < size:
                size = end - start
                found = node
    return found


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])


def in_branch(tree: ast.Module, line: int) -> bool:
    """Whether a call of the function around `line` may leave that line out: it is in a branch, or after one that returns."""
    function = _enclosing(tree, line)
    block: list[ast.stmt] = function.body if function is not None else []
    while block:
        at = next((s for s in block if _first_line(s) <= line <= (s.end_lineno or 0)), None)
        if at is None:
            return False
        if any(
            isinstance(part, ast.Return) for before in block[: block.index(at)] for part in _own_parts(before)
        ):
            return True
        if isinstance(at, (ast.If, ast.Try, ast.Match, ast.For, ast.While)) and line >= _first_line(
            at.body[0] if not isinstance(at, ast.Match) else at.cases[0].body[0]
        ):
            return True
        block = at.body if isinstance(at, ast.With) else []
    return False


def _own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement, without those of functions that it defines."""
    stack: list[ast.AST] = [statement]
    while stack:
        at = stack.pop()
        yield at
        if not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(at))


def handed_lines(tree: ast.Module, name: str, line: int) -> list[int]:
    """The first lines of the functions in a file that "`name` is passed to a transform at `line`" may speak of."""
    name = name.rpartition(".")[2]
    if name != "<lambda>":
        return [
            _first_line(node)
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
        ]
    found: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or 0):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            found += [part.lineno for part in given if isinstance(part, ast.Lambda)]
    return found
