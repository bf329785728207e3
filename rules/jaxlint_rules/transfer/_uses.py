"""What the host does with a value that it waits for: whether it could read the value later."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxlint.api.syntax import dotted, walk
from jaxlint_rules._main_loops import advances
from jaxlint_rules._names import last_name, passed
from jaxlint_rules._slices import assignments, calls_in, has

# Calls that show a value, or keep it for later.
_KEEPS = re.compile(
    r"print|log|info|debug|warn|append|extend|add|record|report|push|track|set_|update|format|echo|tqdm"
    r"|^(str|float|int|bool|round|item|tolist|mean|sum|max|min|abs|isnan|isfinite|any|all|len|array|asarray|items|values|keys|get|join|device_get|observe|put)$"
)


_COPIES = frozenset({"numpy.asarray", "numpy.array", "numpy.ascontiguousarray", "numpy.copy"})  # and no more


def must_wait(node: ast.AST, loop: ast.AST, how: str) -> bool:
    """Whether the iteration itself needs an array on the host, so that it cannot be read later, and not only NumPy uses it."""
    if how.startswith("numpy.save") or _leaves_by(node, loop, asked=not how):
        return True
    if not how.startswith("numpy."):
        return False
    names = _named(node, loop)
    if not advances(loop) and (how not in _COPIES or _fills_by_chunks(node, names, loop)):
        return True
    if not advances(loop) and any(
        isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load) and has(part.value, node, names)
        for part in _parts(loop)
    ):
        return True
    return any(
        isinstance(part, (ast.For, ast.comprehension)) and has(part.iter, node, names)
        for part in _parts(loop)
    ) or any(_consumes(call, node, names, loop) for call in calls_in(loop))


def _leaves_by(node: ast.AST, loop: ast.AST, asked: bool) -> bool:
    """Whether a value that the host computes from it in the iteration decides if a loop of trials ends, or the array
    itself is `asked` in a loop that does more than compute: tokens that Python hands on until the last.
    """
    if advances(loop) and not (asked and _acts(loop)):
        return False
    names = _named(node, loop)
    return any(
        isinstance(part, ast.If)
        and any(isinstance(last, (ast.Break, ast.Return)) for last in part.body)
        and has(part.test, node, names)
        for part in _parts(loop)
    )


def _acts(loop: ast.AST) -> bool:
    """Whether the loop does something beside computing, which no `lax.while_loop` could: each iteration hands results on, or shows
    them, or the end raises."""
    ends = getattr(loop, "orelse", [])
    return any(isinstance(one, ast.Raise) for one in ends) or any(
        isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await))
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Call))
        for part in _parts(loop)
    )


def _fills_by_chunks(node: ast.AST, names: set[str], loop: ast.AST) -> bool:
    """`out[start:stop] = np.asarray(f(xs[start:stop]))`: results are moved to the host by chunks."""
    return any(
        isinstance(part, ast.Assign)
        and any(isinstance(target, ast.Subscript) for target in part.targets)
        and has(part.value, node, names)
        for part in _parts(loop)
    )


def _named(node: ast.AST, loop: ast.AST) -> set[str]:
    """The names that hold the value in the iteration; not the lists that it is appended to."""
    found: set[str] = set()
    while True:
        wider = found.union(*(targets for targets, value in assignments(loop) if has(value, node, found)))
        if wider == found:
            return found
        found = wider


def _parts(loop: ast.AST) -> Iterator[ast.AST]:
    for statement in getattr(loop, "body", []):
        yield from walk(statement)


def _consumes(call: ast.Call, node: ast.AST, names: set[str], loop: ast.AST) -> bool:
    """Whether a call works on the array: one of another library, or of NumPy where no iteration continues another."""
    made = any(part is call for part in walk(node))  # on the way to the value
    if made or any(part is node for part in walk(call.func)) or _KEEPS.search(last_name(call.func)):
        return False
    if dotted(call.func).partition(".")[0] in ("np", "numpy", "jnp", "jax") and advances(loop):
        return False
    return any(has(one, node, names) for one in passed(call))
