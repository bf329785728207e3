"""Dataflow of one function: which variables a block binds, reads first, and leaves to later code.

A rewrite that turns a block into a function must know its inputs and outputs. Where paths meet, the answers err on
the side that makes the rewrite refuse.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from jaxlint.codemods.source.name_scopes import Names, Scope

NodeT = TypeVar("NodeT", bound=ast.AST)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def root_of(node: NodeT) -> NodeT | ast.expr:
    """The base of an attribute or item at any depth: `x` in `x.a[0].b`; otherwise the node itself."""
    root: NodeT | ast.expr = node
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    return root


def names_in(node: ast.AST) -> set[str]:
    """The names in a node, read or bound."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def jumps_out(statements: Iterable[ast.stmt]) -> Iterator[ast.Return | ast.Break | ast.Continue]:
    """The statements that leave this block early, in source order: `return`, and `break` or `continue` of a loop around
    it."""

    def visit(node: ast.AST, in_loop: bool) -> Iterator[ast.Return | ast.Break | ast.Continue]:
        if isinstance(node, ast.Return) or (isinstance(node, (ast.Break, ast.Continue)) and not in_loop):
            yield node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, in_loop or isinstance(node, (ast.For, ast.While)))

    for statement in statements:
        yield from visit(statement, False)


_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(slots=True)
class Facts:
    """Facts about a block: `exposed` may be read before the block binds it, `assigned` is bound on every path through
    it.

    `leaves`: no path reaches the end. `returns`: each path ends in a `return` with a value.
    """

    exposed: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    leaves: bool = False
    returns: bool = False


class Flow:
    """The variables of the function (or module) around one statement."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope

    def reads(self, node: ast.AST) -> set[str]:
        """The variables of this function that `node` reads, nested functions included."""
        found = set()
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                augmented = isinstance(self.names.parents.get(part), ast.AugAssign)
                if isinstance(part.ctx, ast.Load) or augmented:
                    if self.names.scope_at(part).resolve(part.id) is self.scope:
                        found.add(part.id)
        return found

    def bound(self, statements: Iterable[ast.AST]) -> dict[str, None]:
        """The variables of this function that `statements` may bind, in source order."""
        found: dict[str, None] = {}
        for statement in statements:
            for part in _in_order(statement):
                for name in _bound_by(part):
                    if self._is_own(part) and name not in self.scope.redirected:
                        found[name] = None
        return found

    def _is_own(self, node: ast.AST) -> bool:
        """Whether `node` binds in this function, not in a comprehension, lambda or nested function."""
        return self.names.scope_at(node) is self.scope

    # Paths

    def sequence(self, statements: Sequence[ast.stmt]) -> Facts:
        """The facts about a block."""
        facts = Facts()
        for statement in statements:
            one = self.statement(statement)
            facts.exposed |= one.exposed - facts.assigned
            facts.assigned |= one.assigned
            if one.leaves:
                facts.leaves, facts.returns = True, one.returns
                break
        return facts

    def statement(self, node: ast.stmt) -> Facts:
        if isinstance(node, ast.If):
            return self._branches(self.reads(node.test), [node.body, node.orelse])
        if isinstance(node, ast.Match):
            facts = self._branches(self.reads(node.subject), [case.body for case in node.cases])
            facts.exposed |= {name for case in node.cases for name in self.reads(case)}
            facts.assigned, facts.leaves, facts.returns = set(), False, False
            return facts
        if isinstance(node, (ast.For, ast.AsyncFor)):
            body, rest = self.sequence(node.body), self.sequence(node.orelse)
            targets = set(self.bound([node.target]))
            exposed = self.reads(node.iter) | self.reads(node.target) | (body.exposed - targets)
            return Facts(exposed | rest.exposed)
        if isinstance(node, ast.While):
            body, rest = self.sequence(node.body), self.sequence(node.orelse)
            return Facts(self.reads(node.test) | body.exposed | rest.exposed)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            reads = {name for item in node.items for name in self.reads(item)}
            body = self.sequence(node.body)
            targets = set(self.bound(node.items))
            return Facts(reads | (body.exposed - targets), targets | body.assigned, body.leaves, body.returns)
        if isinstance(node, ast.Try):
            return Facts(self.reads(node))
        facts = Facts(self.reads(node), set(self.bound([node])))
        if isinstance(node, ast.Delete):
            facts.assigned = set()
        facts.leaves = isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))
        facts.returns = isinstance(node, ast.Return) and node.value is not None
        return facts

    def _branches(self, reads: set[str], blocks: Sequence[Sequence[ast.stmt]]) -> Facts:
        all_facts = [self.sequence(block) for block in blocks]
        through = [facts.assigned for facts in all_facts if not facts.leaves]
        return Facts(
            reads.union(*(facts.exposed for facts in all_facts)),
            set.intersection(*through) if through else set(),
            all(facts.leaves for facts in all_facts),
            all(facts.returns for facts in all_facts),
        )

    # Around a statement

    def rest(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements after `statement` in its block."""
        block = self.block(statement)
        return block[block.index(statement) + 1 :]

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        parent = self.names.parents[statement]
        for name in _BLOCKS:
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    def is_bound_before(self, name: str, statement: ast.stmt) -> bool:
        """Whether `name` certainly has a value at the start of `statement`."""
        if any(
            isinstance(binding.node, ast.Name) and isinstance(binding.node.ctx, ast.Del)
            for binding in self.scope.bindings.get(name, ())
        ):
            return False
        node: ast.AST = statement
        while node in self.names.parents:
            if isinstance(node, ast.stmt):
                block = self.block(node)
                if name in self.sequence(block[: block.index(node)]).assigned:
                    return True
            parent = self.names.parents[node]
            if parent is self.scope.node:
                return any(isinstance(binding.node, ast.arg) for binding in self.scope.bindings.get(name, ()))
            if isinstance(parent, (ast.For, ast.AsyncFor)) and node in parent.body:
                if name in self.bound([parent.target]):
                    return True
            if isinstance(parent, (ast.With, ast.AsyncWith)) and name in self.bound(parent.items):
                return True
            node = parent
        return False

    def is_used_after(
        self, name: str, statement: ast.stmt, *, rest: bool = True, importable: bool = True
    ) -> bool:
        """Whether the value of `name` after `statement` may be read.

        Without `rest`, later statements in the same block do not count. `importable`: other modules may read this
        one's variables.
        """
        if self.is_captured(name, statement) or (importable and self.scope.node is self.names.tree):
            return True
        node: ast.AST = statement
        first = True
        jumps = False  # whether a `break` or `continue` may skip what follows in the loop
        while node in self.names.parents:
            parent = self.names.parents[node]
            if isinstance(node, ast.stmt) and (rest or not first):
                after = self.rest(node)
                if name in self.sequence(after).exposed:
                    return True
                certain = list(itertools.takewhile(_stays_in_loop, after))
                whole = self.sequence(certain)
                if not jumps and (name in whole.assigned or whole.leaves):
                    return False
                jumps = jumps or len(certain) < len(after)
            first = False
            if parent is self.scope.node:
                return False
            if isinstance(parent, ast.While) and name in self.reads(parent.test):
                return True
            if isinstance(parent, (ast.While, ast.For, ast.AsyncFor)):
                if name in self.sequence(parent.body).exposed or name in {
                    one for part in parent.orelse for one in self.reads(part)
                }:
                    return True
                jumps = False
            if isinstance(parent, (ast.Try, ast.ExceptHandler)) and name in self.reads(parent):
                return True
            node = parent
        return False

    def is_captured(self, name: str, statement: ast.stmt) -> bool:
        """Whether a nested function reads or binds `name`."""
        if name in self.scope.redirected:
            return True
        inside = set(ast.walk(statement))
        for use in self.names.uses_of(name, self.scope):
            if use.name not in inside and self._function_of(use.scope) is not self.scope:
                return True
        return any(
            self.names.scope_at(binding.node) is not self.scope and not isinstance(binding.node, ast.arg)
            for binding in self.scope.bindings.get(name, ())
            if isinstance(binding.node, ast.Name)
        )

    def _function_of(self, scope: Scope | None) -> Scope | None:
        while scope is not None and scope.is_comprehension and scope is not self.scope:
            scope = scope.parent
        return scope


def _stays_in_loop(statement: ast.stmt) -> bool:
    """Whether no `break` or `continue` of the loop around is in a statement: there, a variable may keep its value."""
    return not any(isinstance(one, ast.Break | ast.Continue) for one in jumps_out([statement]))


def _in_order(node: ast.AST) -> Iterable[ast.AST]:
    """`node` and its descendants, in source order."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


def _bound_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        return [node.name]
    if isinstance(node, ast.MatchMapping) and node.rest:
        return [node.rest]
    return []
