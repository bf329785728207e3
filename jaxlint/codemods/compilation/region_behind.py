"""Host statements between those of a region, which then follow it: `losses.append(float(loss))` between a gradient and its update. What
only reads a number of the host, as `rate = self.config["rate"]`, may come before the region.

What comes after such a statement only computes on arrays. So the host may do it later, if it neither reads what that
computes nor changes what that reads, and no handler could see the difference.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.codemods.compilation.region import Region
from jaxlint.codemods.facts.dataflow import root_of
from jaxlint.codemods.purity.effects import Effects
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.problems import Region as Searched
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import NUMBER, Cls, Ext, Fn, Inst, leaves_of
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.source.text_edits import shown_source

_MOVED = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)
_STAY = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda, ast.FunctionDef, ast.ClassDef)
_READING = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)  # fmt: skip
_CLOCKS = ("time.", "timeit.", "datetime.")
_DRAWS = ("numpy.random.", "random.")


def may_move(statement: ast.stmt) -> bool:
    """Whether a statement is of a kind that may follow a region: it binds variables, or calls something, perhaps on a condition."""
    if isinstance(statement, ast.If):
        return all(map(may_move, [*statement.body, *statement.orelse]))
    return isinstance(statement, _MOVED) and not any(isinstance(one, _STAY) for one in ast.walk(statement))


def check_behind(region: Region, possible: PossibleValues, file: File) -> None:
    """Raises Refused if a statement in `region.behind` cannot follow the region."""
    if not region.behind:
        return
    around = list(region.site.names.ancestors_below(region.first, region.scope.node))
    if any(isinstance(one, (ast.Try, ast.TryStar, ast.With)) for one in around):
        raise Refused("a handler could see that a statement of the host comes later")
    for statement in region.behind:
        if not may_move(statement):
            raise Refused("a statement between its own may end the block")
        after = [one for one in region.statements if one.lineno > statement.lineno]
        _Move(region, statement, after, possible, file).check()


def only_reads(statement: ast.stmt) -> bool:
    """Whether a statement gives a variable what attributes and items hold, or numbers computed of that."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    parts = list(ast.walk(statement.value))
    reads = any(isinstance(one, ast.Attribute | ast.Subscript) for one in parts)
    return reads and len(statement.targets) == 1 and all(isinstance(one, _READING) for one in parts)


def check_ahead(region: Region, possible: PossibleValues, file: File) -> None:
    """Raises Refused if a statement in `region.ahead` cannot come before the region: the host reads a number there, as a rate of its
    configuration, which nothing before it sets."""
    around = list(region.site.names.ancestors_below(region.first, region.scope.node)) if region.ahead else []
    if any(isinstance(one, (ast.Try, ast.TryStar, ast.With)) for one in around):
        raise Refused("a handler could see that a statement of the host comes earlier")
    for statement in region.ahead:
        if not only_reads(statement):
            raise Refused("a statement between its own does more than read")
        assert isinstance(statement, ast.Assign)
        target = statement.targets[0]
        assert isinstance(target, ast.Name)
        before = [one for one in region.statements if one.lineno < statement.lineno]
        parts = [part for one in before for part in ast.walk(one)]
        names = {one.id for one in parts if isinstance(one, ast.Name)}
        stored = {
            one.attr for one in parts if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
        }
        bound = set(region.flow.bound(before))
        for node in ast.walk(statement.value):
            if (isinstance(node, ast.Name) and node.id in bound) or getattr(node, "attr", None) in stored:
                raise Refused(f"`{shown_source(statement)}` between its statements reads what they set")
        if target.id in names | set(region.flow.bound(list(region.statements))):
            raise Refused(f"`{target.id}` is set in the middle of it, and used before")
        if leaves_of(possible.of(file.same(statement.value), file)) != {NUMBER}:
            raise Refused(f"`{shown_source(statement.value)}` may be something else than a number")
        own = file.same(statement.value)
        if any(True for _ in Effects(possible, Searched(own, frozenset())).of_nodes([own], file)):
            raise Refused(f"`{shown_source(statement.value)}` may do more than read a number")


class _Move:
    """Whether one statement may come after others."""

    def __init__(
        self,
        region: Region,
        statement: ast.stmt,
        after: Sequence[ast.stmt],
        possible: PossibleValues,
        file: File,
    ) -> None:
        self.region, self.statement, self.possible, self.file = region, statement, possible, file
        parts = [part for one in after for part in ast.walk(one)]
        self.bound = set(region.flow.bound(list(after)))
        self.read = {one.id for one in parts if isinstance(one, ast.Name)}
        self.stored = {
            one.attr for one in parts if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
        }

    def check(self) -> None:
        """Raises Refused if it may not."""
        for node in ast.walk(self.statement):
            if isinstance(node, ast.Name):
                loads = isinstance(node.ctx, ast.Load)
                if node.id in (self.bound if loads else self.bound | self.read):
                    self._refuse()
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                if node.attr in self.stored:
                    self._refuse()
            if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                if self._is_read(node):
                    self._refuse()
            elif isinstance(node, ast.Call):
                self._check_call(node)

    def _check_call(self, call: ast.Call) -> None:
        name = self.possible.name_of(self.file.same(call.func), self.file)
        if name.startswith((*_CLOCKS, *_DRAWS)):
            raise Refused(f"`{shown_source(call)}` between its statements would come later")
        if not name and isinstance(call.func, ast.Attribute) and self._is_read(call.func):
            self._refuse()
        for value in self.possible.of(self.file.same(call.func), self.file):
            if isinstance(value, Ext):
                continue
            inner = isinstance(value, Fn) and not isinstance(
                value.file.names.parents.get(value.node), ast.Module
            )
            own = isinstance(value, (Fn, Cls, Inst))
            if own and (inner or self.stored or self.region.scope is self.region.site.names.module):
                self._refuse()  # it may read what the region sets

    def _is_read(self, node: ast.AST) -> bool:
        """Whether something is part of a variable that the later statements read."""
        root = root_of(node)
        return not isinstance(root, ast.Name) or root.id in self.read

    def _refuse(self) -> None:
        raise Refused(
            f"`{shown_source(self.statement)}` between its statements cannot come later: it reads what they set, or changes what they read"
        )
