"""The statements of a step loop in which the host reads values at some steps only: `if step % 100 == 0:`,
before or after the computation of the step. Such a statement is called a look.
"""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass, field

from jaxlint.codemods.facts.dataflow import Flow, jumps_out
from jaxlint.codemods.source.name_scopes import Names
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.jaxapi.functions import PROGRESS_BARS, PROGRESS_RANGES

_QUIET = frozenset({"len", "int", "float", "bool", "abs", "min", "max", "round", "isinstance"})
_TESTS = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Attribute, ast.Tuple, ast.List, ast.Set, ast.Call, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)  # fmt: skip
_WAITS = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Global, ast.Nonlocal, ast.Delete)


@dataclass(slots=True)
class HostReads:
    """The divided body of a loop. `blocks`: the host statements that run at some steps; `first`: those before
    the step; `beside`: counters that each step increments; `stops`: a look may end the loop.
    """

    loop: ast.For
    range: ast.Call
    computing: list[ast.stmt] = field(default_factory=list)
    blocks: list[ast.If] = field(default_factory=list)
    beside: list[ast.stmt] = field(default_factory=list)
    first: bool = False
    stops: bool = False

    def check(self, bound: Set[str], exposed: Set[str], flow: Flow) -> None:
        """Raises Refused unless the tests of the looks have the same results before the steps run. `bound`,
        `exposed`: variables of the steps.
        """
        target = self.loop.target
        assert isinstance(target, ast.Name)
        counted = set(flow.bound(self.beside))
        if target.id in bound | counted | set(flow.bound(self.blocks)):
            raise Refused(f"`{target.id}` is reassigned in the loop")
        for name in sorted(counted & (bound | exposed)):
            raise Refused(f"`{name}` is counted on the host, and the steps compute with it")
        for statement in self.beside:
            for name in sorted(flow.reads(statement) & bound):
                raise Refused(f"the host reads `{name}` at each step")
        earlier: set[str] = set()
        for block in self.blocks:
            reads = flow.reads(block.test)
            for name in sorted(reads & bound):
                raise Refused(f"the host reads `{name}` at each step")
            if reads & earlier or (earlier and any(isinstance(one, ast.Attribute) for one in ast.walk(block.test))):  # fmt: skip
                raise Refused("one read on the host decides when the next one happens")
            earlier |= {one.id for one in ast.walk(block) if isinstance(one, ast.Name)} - {target.id}
        asked = {name for block in self.blocks for name in flow.reads(block.test)}
        if not asked & ({target.id} | counted):
            raise Refused("the host reads a value at every step, or at none")
        for one in self.range.args:
            if flow.reads(one) & (bound | counted | set(flow.bound(self.blocks))):
                raise Refused("the bounds of the range change in the loop")


def host_reads_of(site: Site, loop: ast.For) -> HostReads:
    """Divides the body of a loop. Raises Refused."""
    over = counted_range(loop.iter, site.names)
    if over is None or len(over.args) > 2 or over.keywords:
        raise Refused("the loop does not run over a range of steps")
    if not all(is_simple(one) for one in over.args):
        raise Refused("the number of steps is computed")
    found = HostReads(loop, over)
    for statement in loop.body:
        if isinstance(statement, ast.If) and _is_look(statement, site):
            found.blocks.append(statement)
        elif _counts(statement, site):
            found.beside.append(statement)
        else:
            found.computing.append(statement)
    if not found.blocks or not found.computing:
        raise Refused("the host reads a value at no step, or nothing is computed")
    places = [loop.body.index(one) for one in found.blocks]
    steps = [loop.body.index(one) for one in found.computing]
    found.first = max(places) < min(steps)
    if not found.first and min(places) < max(steps):
        raise Refused("the host reads a value in the middle of a step")
    aside = [loop.body.index(one) for one in found.beside]
    if aside and (min(aside) < max(places) if found.first else max(aside) > min(places)):
        raise Refused(f"the host counts {'before' if found.first else 'after'} it reads a value")
    jumps = [one for block in found.blocks for one in jumps_out([block])]
    if any(isinstance(one, ast.Continue) for one in jumps):
        raise Refused("the host skips part of a step")
    found.stops = any(isinstance(one, ast.Break) for one in jumps)
    return found


def counted_range(node: ast.expr, names: Names) -> ast.Call | None:
    """The range of a loop, perhaps in a progress bar; None for any other iterable."""
    if not isinstance(node, ast.Call):
        return None
    if names.builtin(node.func) == "range":
        return node
    called = names.qualified(node.func) or ""
    if called in PROGRESS_RANGES:
        return ast.Call(node.func, node.args, [])
    if called in PROGRESS_BARS and node.args and not isinstance(node.args[0], ast.Starred):
        inner = node.args[0]
        return inner if isinstance(inner, ast.Call) and names.builtin(inner.func) == "range" else None
    return None


def in_a_bar(loop: ast.For, names: Names) -> bool:
    """Whether a loop over a range shows its progress: `for i in tqdm(range(n))`."""
    over = counted_range(loop.iter, names)
    return isinstance(loop.iter, ast.Call) and over is not None and over in loop.iter.args


def is_simple(node: ast.expr) -> bool:
    """Whether a number can be written twice."""
    return all(
        isinstance(one, ast.Name | ast.Constant | ast.Attribute | ast.BinOp | ast.operator | ast.expr_context)
        for one in ast.walk(node)
    )


def _is_look(statement: ast.If, site: Site) -> bool:
    """Whether the test of a statement only uses Python numbers, judging by its form, and its block may stay in the loop."""
    if statement.orelse or any(isinstance(one, _WAITS) for one in ast.walk(statement)):
        return False
    return _asks_little(statement.test, site)


def _asks_little(node: ast.expr, site: Site) -> bool:
    for one in ast.walk(node):
        if not isinstance(one, _TESTS):
            return False
        if isinstance(one, ast.Call) and site.names.builtin(one.func) not in _QUIET:
            return False
    return True


def _counts(statement: ast.stmt, site: Site) -> bool:
    """Whether a statement increments a variable by a constant, as in `step += 1`."""
    return (
        isinstance(statement, ast.AugAssign)
        and isinstance(statement.target, ast.Name)
        and isinstance(statement.op, ast.Add | ast.Sub)
        and isinstance(statement.value, ast.Constant)
    )
