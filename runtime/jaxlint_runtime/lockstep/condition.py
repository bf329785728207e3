"""Finds the `if` or loop of the source that separated two processes, from their call stacks and the text alone."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from jaxlint_runtime.lockstep.order import Places
from jaxlint_runtime.protocol.launch_records import Place

Read = Callable[[str], str | None]  # the text of a file
# Words that distinguish processes, in names of functions, attributes and variables.
_TELLING = ("process_index", "process_id", "host_id", "rank", "is_main_process", "is_primary", "is_master")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_EXITS = frozenset({"exit", "_exit", "quit"})
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Condition:
    """A statement that one process is in and the other is not. `sure`: found in the same call of one function."""

    path: str
    line: int
    text: str
    inside: int  # 0: the first of the two stacks is in it, 1: the second
    sure: bool
    telling: bool  # its test depends on the process number
    leaves: bool = False  # a branch of it ends the function, the loop or the program

    @property
    def loops(self) -> bool:
        """Whether it is a loop that one process has left."""
        return self.text.startswith(("for ", "while "))


@dataclass(frozen=True, slots=True)
class _Block:
    """A statement around a line, and the branch that contains the line."""

    node: ast.stmt
    branch: str


def condition(first: Places, second: Places | None, read: Read, exits: bool = False) -> Condition | None:
    """The statement that separated two stacks. The second stack is None if its process has ended; `exits`: by `os._exit`."""
    other: Places = second or ()
    at = next((n for n, pair in enumerate(zip(first, other, strict=False)) if pair[0] != pair[1]), -1)
    if second is not None and at < 0 and len(first) == len(other):
        return None
    found: list[Condition] = []
    deeper = 0
    if second is not None and at >= 0 and _same_function(first[at], other[at]):
        found += _in_one_call(first[at], other[at], read)
        deeper = at + 1
    elif second is not None:
        deeper = len(other) if at < 0 else at
    for side, stack in ((0, first), (1, other)):
        for place in reversed(stack[deeper:]):
            found += _around(place, side, read)
    # A process that reached its end has usually finished its iterations, whatever else could have ended it.
    through = second is None and not exits
    return min(
        found, key=lambda one: (not one.telling or (one.leaves and through), not one.sure), default=None
    )


def _same_function(one: Place, other: Place) -> bool:
    return (one.path, one.function) == (other.path, other.function)


def _in_one_call(one: Place, other: Place, read: Read) -> Iterator[Condition]:
    """The statements around one of two lines of a function and not around the other, those of the earlier line first."""
    tree = _tree(one.path, read)
    if tree is None:
        return
    ways = _blocks(tree, one.line), _blocks(tree, other.line)
    for side in sorted((0, 1), key=lambda n: (one, other)[n].line):
        own, its = ways[side], ways[1 - side]
        for block in own:
            if block not in its and _decides(block.node):
                yield _condition(tree, one.path, block.node, side, sure=True)


def _around(place: Place, side: int, read: Read) -> Iterator[Condition]:
    """Statements that may have kept other processes from a line: those around it, loops first, and those
    beside it that leave and depend on the process number.
    """
    tree = _tree(place.path, read)
    if tree is None:
        return
    blocks = [block.node for block in _blocks(tree, place.line) if _decides(block.node)]
    blocks.reverse()
    for node in sorted(blocks, key=lambda node: isinstance(node, ast.If)):
        yield _condition(tree, place.path, node, side, sure=False)
    for node in _leaving(tree, place):
        if _tells(tree, node.test):
            found = _condition(tree, place.path, node, 1 - side, sure=False)
            yield dataclasses.replace(found, leaves=True)


def _blocks(tree: ast.Module, line: int) -> list[_Block]:
    """The compound statements around a line in the innermost function, the outermost first."""
    found: list[_Block] = []
    body: list[ast.stmt] = tree.body
    while True:
        node = _at(body, line)
        if node is None:
            return found
        if isinstance(node, _SCOPES):
            if line < node.body[0].lineno:  # at a decorator or a default
                return found
            found, body = [], node.body
            continue
        branch, body = _branch(node, line)
        if branch:
            found.append(_Block(node, branch))


def _begin(node: ast.stmt) -> int:
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])


def _branch(node: ast.stmt, line: int) -> tuple[str, list[ast.stmt]]:
    """The branch of a statement that contains a line; "" if the line is in its head."""
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None) or []
        if body and _begin(body[0]) <= line <= (body[-1].end_lineno or 0):
            return name, body
    for number, part in enumerate((*getattr(node, "handlers", ()), *getattr(node, "cases", ()))):
        if part.body[0].lineno <= line <= (part.body[-1].end_lineno or 0):
            return str(number), part.body
    return "", []


def _decides(node: ast.stmt) -> bool:
    """Whether a statement may take different branches in two processes."""
    if isinstance(node, ast.If):
        return "__name__" not in {one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)}
    return isinstance(node, ast.For | ast.While | ast.Match)


def _leaving(tree: ast.Module, place: Place) -> Iterator[ast.If]:
    """Each `if` near a line that ends the function, the iteration or the program, the nearest first.

    It precedes the line, or follows it in the same loop, so that the previous iteration passed it.
    """
    bodies: list[tuple[list[ast.stmt], bool]] = [(tree.body, False)]
    looping = False
    while True:
        node = _at(bodies[-1][0], place.line)
        if node is None:
            break
        if isinstance(node, _SCOPES):
            bodies, looping = [(node.body, False)], False
        else:
            looping = looping or isinstance(node, ast.For | ast.While)
            bodies.append((_branch(node, place.line)[1], looping))
    for body, again in reversed(bodies):
        for node in reversed(body):
            if again or (node.end_lineno or 0) < place.line:
                yield from (one for one in _ifs(node) if _leaves(one.body) or _leaves(one.orelse))


def _at(body: list[ast.stmt], line: int) -> ast.stmt | None:
    return next((one for one in body if _begin(one) <= line <= (one.end_lineno or one.lineno)), None)


def _ifs(node: ast.stmt) -> Iterator[ast.If]:
    """A statement and the statements in it, without the bodies of functions."""
    if isinstance(node, ast.If):
        yield node
    if not isinstance(node, _SCOPES):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from _ifs(child)


def _leaves(body: list[ast.stmt]) -> bool:
    last = body[-1] if body else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return bool(_names(last.value.func) & _EXITS)
    return isinstance(last, ast.Return | ast.Continue | ast.Break | ast.Raise)


def _condition(tree: ast.Module, path: str, node: ast.stmt, side: int, sure: bool) -> Condition:
    text, asked = _head(node)
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 4] + " ..."
    return Condition(path, node.lineno, shown, side, sure, _tells(tree, asked))


def _head(node: ast.stmt) -> tuple[str, ast.expr]:
    """The head of a statement that `_decides`: its text, and its test."""
    if isinstance(node, ast.For):
        return f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}", node.iter
    if isinstance(node, ast.Match):
        return f"match {ast.unparse(node.subject)}", node.subject
    assert isinstance(node, ast.If | ast.While)
    return f"{'if' if isinstance(node, ast.If) else 'while'} {ast.unparse(node.test)}", node.test


def _tells(tree: ast.Module, asked: ast.expr) -> bool:
    """Whether an expression depends on the process number, directly or through variables."""
    made = [
        (names, target.id)
        for one in ast.walk(tree)
        if isinstance(one, ast.Assign) and (names := _names(one.value))
        for target in one.targets
        if isinstance(target, ast.Name)
    ]
    telling = set(_TELLING)
    while new := {target for names, target in made if names & telling} - telling:
        telling |= new
    return bool(_names(asked) & telling)


def _names(node: ast.expr) -> set[str]:
    inside = list(ast.walk(node))
    return {one.id for one in inside if isinstance(one, ast.Name)} | {
        one.attr for one in inside if isinstance(one, ast.Attribute)
    }


def _tree(path: str, read: Read) -> ast.Module | None:
    text = read(path)
    try:
        return None if text is None else ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):  # it was edited since, or is not a Python file
        return None
