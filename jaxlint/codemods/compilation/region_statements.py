"""The statements that a region may hold, and what they bind."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from jaxlint.codemods.compilation.region_values import is_append, runs_over_few, runs_over_leaves
from jaxlint.codemods.source.site import Site
from jaxlint.finding import Span

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign)
NNX = "flax.nnx.jit"
_MOST_TURNS = 16  # of a loop that a trace writes out


def may_hold(statement: ast.stmt, transform: str, *, wide: bool = False) -> bool:
    """Whether a region may contain this kind of statement: an assignment, the definition of a loss, or a call whose
    changes `nnx.jit` carries.

    `wide`: also a loop over the leaves of a tree or over a few things, which is written out under a trace, and at its end a
    `return`.
    """
    if grows(statement):  # each length would be another program
        return False
    if transform == NNX and isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call)  # `optimizer.update(model, grads)`
    if wide and isinstance(statement, ast.Return):
        return statement.value is not None
    if wide and isinstance(statement, ast.For):
        over = runs_over_leaves(statement) or runs_over_few(statement)
        return over and all(_may_be_in_loop(one, transform) for one in statement.body)
    return isinstance(statement, (*_SIMPLE, ast.FunctionDef))


def _may_be_in_loop(statement: ast.stmt, transform: str) -> bool:
    if isinstance(statement, ast.For):
        return may_hold(statement, transform, wide=True)
    return (isinstance(statement, _SIMPLE) and not grows(statement)) or is_append(statement)


def written_out(statements: Sequence[ast.stmt]) -> Iterator[tuple[ast.For, list[ast.For]]]:
    """The loops of a region over something else than leaves, each with the loops of the region around it."""
    waiting: list[tuple[ast.stmt, list[ast.For]]] = [(one, []) for one in statements]
    while waiting:
        one, around = waiting.pop()
        if isinstance(one, ast.For):
            if not runs_over_leaves(one):
                yield one, around
            waiting += [(inner, [*around, one]) for inner in one.body]


def runs_often(statements: Sequence[ast.stmt], lengths: Mapping[str, object]) -> str:
    """Why a loop of a region must not be written out; "" if each runs a few times. `lengths`: how often loops ran, by what they run
    over."""
    for loop, around in written_out(statements):
        turns = 1
        for one in (*around, loop):
            length = lengths.get(ast.unparse(one.iter))
            if not isinstance(length, int):
                return "how often its loop runs is unknown"
            turns *= length
        if turns > _MOST_TURNS:
            return f"its loop runs {turns} times, and each turn would be compiled"
    return ""


def grows(statement: ast.stmt) -> bool:
    """Whether a statement makes an array longer, as in `xs = jnp.append(xs, x)` and `xs = jnp.concatenate([xs[order], x])`."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    call, target = statement.value, statement.targets[0]
    if not call.args or not isinstance(target, ast.Name) or not isinstance(call.func, ast.Attribute):
        return False
    parts = call.args if call.func.attr == "append" else getattr(call.args[0], "elts", ())
    joins = call.func.attr in ("append", "concatenate", "vstack", "hstack") and len(parts) > 1
    return joins and any(_is_all_of(one, target.id) for one in parts)


def _is_all_of(node: ast.expr, name: str) -> bool:
    """Whether a part is a whole variable, or its rows in another order: a slice may keep the length as it is."""
    if isinstance(node, ast.Subscript):
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return _is_all_of(node.value, name) and not any(
            isinstance(one, ast.Slice) and (one.lower or one.upper) for one in indices
        )
    return isinstance(node, ast.Name) and node.id == name


def statements_at(site: Site, span: Span) -> list[ast.stmt]:
    """The statements that begin and end with a span; none if the span is something else."""
    for node in ast.walk(site.tree):
        for block in ("body", "orelse", "finalbody"):
            found = getattr(node, block, None)
            if not isinstance(found, list):
                continue
            inside = [one for one in found if isinstance(one, ast.stmt) and _lies_in(site.span(one), span)]
            if inside and site.across(inside) == span:
                return inside
    return []


def name_of_value(node: ast.expr) -> str:
    """The name of a function that computes an expression: from the first function that it calls."""
    called = node.func if isinstance(node, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return f"compute_{name}" if name else "compute"


def _lies_in(one: Span, other: Span) -> bool:
    return (other.line, other.column) <= (one.line, one.column) and (one.end_line, one.end_column) <= (
        other.end_line,
        other.end_column,
    )


def targets_of(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.For):
        return [statement.target, *(target for one in statement.body for target in targets_of(one))]
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, (ast.AugAssign, ast.AnnAssign)) else []


def binds_names(target: ast.expr, me: str) -> bool:
    """Whether a target is a variable, an attribute of the object `me`, or several of these."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(binds_names(one, me) for one in target.elts)
    if isinstance(target, ast.Starred):
        return binds_names(target.value, me)
    if isinstance(target, ast.Attribute):
        return bool(me) and isinstance(target.value, ast.Name) and target.value.id == me
    return isinstance(target, ast.Name)


def stores_attributes(statement: ast.stmt) -> bool:
    return any(
        isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) for one in ast.walk(statement)
    )
