"""Assignments that nothing reads: live variables, computed backwards from the end of a function's body."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from jaxlint.syntax.facts import FunctionNode, walk
from jaxlint.syntax.memo import cache

Names = frozenset[str]
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_CHANGING = frozenset({"append", "extend", "insert", "update", "setdefault", "add"})
_ROUNDS = 4  # passes over a loop, until the variables that it reads from the previous iteration are known


@cache
def unread_statements(function: FunctionNode) -> frozenset[ast.stmt]:
    """The assignments to a variable, and the changes of its contents, after which the function does not read the
    variable.

    Changes are `x[i] = value`, `x.name = value` and `x.append(value)`. Reads in nested functions count at any time.
    """
    if isinstance(function, ast.Lambda):
        return frozenset()
    found = _Liveness(_read_elsewhere(function))
    found.block(function.body, frozenset())
    return frozenset(found.unread)


@cache
def dead_after(body: FunctionNode | ast.Module) -> dict[ast.stmt, frozenset[str]]:
    """For each assignment of the result of a call, the variables that the call reads and nothing reads again: they are bound anew
    before, or never read. At module level other code may read them later; what functions mention does not count as dead.
    """
    if isinstance(body, ast.Lambda):
        return {}
    found = _Liveness(_read_elsewhere(body))
    found.block(body.body, frozenset())
    return {
        statement: _loads(statement) - live - found.always for statement, live in found.live_after.items()
    }


@cache
def unread_results(function: FunctionNode) -> dict[ast.stmt, Names]:
    """For each assignment of the result of a call, also of its parts, the variables bound there that the function does not read
    afterwards."""
    if isinstance(function, ast.Lambda):
        return {}
    found = _Liveness(_read_elsewhere(function))
    found.block(function.body, frozenset())
    return found.unread_parts


def changed_variable(statement: ast.stmt) -> str:
    """The variable whose contents a statement changes, or ""."""
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        place = targets[0] if len(targets) == 1 else None
        return _root(place) if isinstance(place, (ast.Subscript, ast.Attribute)) else ""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _CHANGING:
        return _root(call.func.value)
    return ""


def _root(place: ast.AST) -> str:
    while isinstance(place, (ast.Subscript, ast.Attribute)):
        place = place.value
    return place.id if isinstance(place, ast.Name) else ""


def _read_elsewhere(function: FunctionNode | ast.Module) -> Names:
    """The names that nested functions mention, and names that are not local to the function."""
    found: set[str] = set()
    for node in walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        elif isinstance(node, _DEFINITIONS) and node is not function:
            found.update(part.id for part in walk(node) if isinstance(part, ast.Name))
    return frozenset(found)


def _loads(*nodes: ast.AST | None) -> Names:
    return frozenset(
        part.id
        for node in nodes
        if node is not None
        for part in walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    )


def _stored(node: ast.AST) -> Names:
    return frozenset(
        part.id for part in walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    )


@dataclass(slots=True)
class _Liveness:
    """Liveness of one function. `always`: read elsewhere; `after` and `again`: live after and at the head of the
    enclosing loops."""

    always: Names
    unread: set[ast.stmt] = field(default_factory=set)
    live_after: dict[ast.stmt, Names] = field(default_factory=dict)  # for assignments of a call's result
    unread_parts: dict[ast.stmt, Names] = field(default_factory=dict)  # for the same assignments
    after: list[Names] = field(default_factory=list)
    again: list[Names] = field(default_factory=list)
    handlers: Names = frozenset()  # names that error handlers read

    def block(self, statements: list[ast.stmt], live: Names) -> Names:
        for statement in reversed(statements):
            live = self.statement(statement, live | self.handlers)
        return live

    def statement(self, node: ast.stmt, live: Names) -> Names:
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)):
            return self.assignment(node, live)
        if isinstance(node, ast.If):
            return _loads(node.test) | self.block(node.body, live) | self.block(node.orelse, live)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self.loop(node, live)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return _loads(*node.items) | self.block(node.body, live)
        if isinstance(node, (ast.Try, ast.TryStar)):
            return self.handled(node, live)
        if isinstance(node, ast.Match):
            return _loads(node.subject, *(case.guard for case in node.cases)).union(
                live, *(self.block(case.body, live) for case in node.cases)
            )
        if isinstance(node, (ast.Return, ast.Raise)):
            return _loads(node) | self.handlers
        if isinstance(node, ast.Break):
            return self.after[-1] if self.after else live
        if isinstance(node, ast.Continue):
            return self.again[-1] if self.again else live
        return live | _loads(node)

    def assignment(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr, live: Names) -> Names:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        written = targets[0] if len(targets) == 1 else None
        name = written.id if isinstance(written, ast.Name) else changed_variable(node)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            bound = frozenset[str]().union(*map(_stored, node.targets))
            self.live_after[node] = self.live_after.get(node, frozenset()) | (live - bound)
            self.unread_parts[node] = self.unread_parts.get(node, bound) - live - self.always
        if name:
            if name in live or name in self.always:
                self.unread.discard(node)
            else:
                self.unread.add(node)
        if name and not isinstance(written, ast.Name):
            # An expression that only changes the variable does not read it.
            call = node.value
            parts = (
                [call]
                if written is not None
                else [*getattr(call, "args", ()), *getattr(call, "keywords", ())]
            )
            index = written.slice if isinstance(written, ast.Subscript) else None
            return live | _loads(*parts, index)
        bound = frozenset[str]().union(*(_stored(target) for target in targets if target is not None))
        read = _loads(node) | (bound if isinstance(node, ast.AugAssign) and name in live else frozenset())
        return (live - bound) | read

    def loop(self, node: ast.For | ast.AsyncFor | ast.While, live: Names) -> Names:
        after = self.block(node.orelse, live) | live
        head, before = after, None
        asked = _loads(node.test) if isinstance(node, ast.While) else frozenset()
        bound = frozenset() if isinstance(node, ast.While) else _stored(node.target)
        for _ in range(_ROUNDS):
            if head == before:
                break
            before = head
            self.after.append(after)
            self.again.append(head | asked)
            inside = self.block(node.body, head | asked)
            self.after.pop()
            self.again.pop()
            head = after | asked | (inside - bound)
        return head | (frozenset() if isinstance(node, ast.While) else _loads(node.iter))

    def handled(self, node: ast.Try | ast.TryStar, live: Names) -> Names:
        final = self.block(node.finalbody, live)
        handlers = frozenset(final).union(*(self.block(handler.body, final) for handler in node.handlers))
        outer, self.handlers = self.handlers, self.handlers | handlers
        try:
            return self.block(node.body, self.block(node.orelse, final) | handlers)
        finally:
            self.handlers = outer
