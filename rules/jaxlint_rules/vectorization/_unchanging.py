"""What a loop leaves as it is: expressions that have the same value in each iteration, by purity and by what the body binds and changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import Frame
from jaxlint.api.syntax import cache, dotted, name_loads, walk
from jaxlint.api.tables import JIT_KINDS
from jaxlint.api.values import ClassValue, External, Function, Partial, Transformed, Value
from jaxlint_rules._callables import named_or_method
from jaxlint_rules._loops import loop_variables, rebound
from jaxlint_rules._names import external_name, last_name

_DEPTH = 6  # names that are followed to what the loop binds them to
_LIBRARIES = ("jax.", "numpy.", "jaxlib.", "optax.", "math.", "builtins.")
_OTHERS = ("numpy.random.", "jax.random.", "jax.debug.", "jax.experimental.", "jax.profiler.")
_CHANGING = frozenset(
    {"put", "copyto", "place", "putmask", "fill_diagonal", "device_put", "save", "load", "next", "print"}
)
_TRANSFORMING = frozenset(
    """jax.vmap jax.grad jax.value_and_grad jax.jacobian jax.jacfwd jax.jacrev jax.hessian jax.jit""".split()  # noqa: SIM905
)
# Methods of arrays that change nothing.
_METHODS = frozenset(
    """sum mean max min std var any all argmax argmin astype reshape ravel flatten transpose swapaxes squeeze dot
    conj round clip cumsum prod trace block_until_ready""".split()  # noqa: SIM905
)
_BUILTINS = frozenset(
    {"len", "float", "int", "range", "enumerate", "zip", "abs", "min", "max", "sum", "tuple", "print", "str"}
)


class Unchanging:
    """The expressions of one loop of the host that do not change."""

    def __init__(self, loop: ast.For, frame: Frame) -> None:
        self.loop = loop
        self.frame = frame
        self.varying = loop_variables(loop)

    def calls(self) -> Iterator[tuple[ast.stmt, ast.Call]]:
        """The outermost calls that each iteration runs and that compute the same, with their statements."""
        for statement in self.loop.body:
            if (
                isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr))
                and statement.value
            ):
                for call in self._outermost(statement.value):
                    yield statement, call

    def _outermost(self, node: ast.AST) -> Iterator[ast.Call]:
        if isinstance(node, ast.Call) and self.is_computed(node):
            yield node
            return
        if isinstance(
            node, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.IfExp)
        ):
            return
        for child in ast.iter_child_nodes(node):
            yield from self._outermost(child)

    def is_computed(self, node: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether an expression computes the same from the same in each iteration."""
        for part in walk(node):
            if isinstance(part, ast.Call) and not self.is_pure(part):
                return False
            if isinstance(part, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Starred)):
                return False
        bound = {
            argument.arg for part in walk(node) if isinstance(part, ast.Lambda) for argument in part.args.args
        }
        names = {name.id for name in name_loads(node)} - bound
        return bool(names) and all(self.is_same(name, depth) for name in names)

    def is_same(self, name: str, depth: int) -> bool:
        """Whether a name stands for the same value in each iteration, and nothing changes that value."""
        if name in self.varying:
            return False
        if name not in rebound(self.loop):
            return self.is_left_alone(name)
        made = _plain_bindings(self.loop).get(name)
        return (
            made is not None and depth > 0 and self.is_left_alone(name) and self.is_computed(made, depth - 1)
        )

    def is_left_alone(self, name: str) -> bool:
        """Whether the body passes a value to pure functions alone, and stores nothing in it."""
        value = self.frame.value_of(name)
        if isinstance(value, (External, Function, ClassValue, Transformed, Partial)):
            return True
        return not any(self._may_change(use) for use in _uses(self.loop).get(name, ()))

    def _may_change(self, use: ast.Name) -> bool:
        parents = self.frame.module.parents
        node: ast.AST = use
        above = parents.get(node)
        while isinstance(above, (ast.Attribute, ast.Subscript)) and above.value is node:
            if not isinstance(above.ctx, ast.Load):
                return True
            node, above = above, parents.get(above)
        if isinstance(above, ast.Call) and above.func is node and isinstance(node, ast.Attribute):
            return not self.is_pure(above)
        while isinstance(above, (ast.keyword, ast.Tuple, ast.List, ast.Dict, ast.Starred)):
            node, above = above, parents.get(above)
        if isinstance(above, ast.Call):
            return not self.is_pure(above)
        if isinstance(above, (ast.Assign, ast.AnnAssign)):
            return True  # another name for it
        return isinstance(above, (ast.AugAssign, ast.For, ast.Delete, ast.Return, ast.Yield, ast.withitem))

    def is_pure(self, call: ast.Call) -> bool:
        """Whether a call changes nothing and depends on its arguments alone."""
        function = call.func
        if any(keyword.arg == "out" for keyword in call.keywords):
            return False
        if isinstance(function, ast.Call):  # `jax.vmap(f)(xs)`
            return external_name(function.func, self.frame.scope) in _TRANSFORMING
        name = external_name(function, self.frame.scope)
        if name:
            if name in _TRANSFORMING or last_name(function) in _CHANGING:
                return name in _TRANSFORMING
            return name.startswith(_LIBRARIES) and not name.startswith(_OTHERS)
        if isinstance(function, ast.Name) and function.id in _BUILTINS:
            return self.frame.value_of(function.id) is None
        value = self.called(call)
        if isinstance(value, Transformed):
            return value.kind in JIT_KINDS and value.kind != "nnx.jit" and not _donates(value)
        if isinstance(function, ast.Attribute) and function.attr in _METHODS:
            owner = dotted(function.value)
            return not owner or not isinstance(self.frame.value_of(owner.partition(".")[0]), ClassValue)
        return False

    def called(self, call: ast.Call) -> Value | None:
        return named_or_method(call.func, self.frame)


def _donates(value: Transformed) -> bool:
    return any(key.startswith("donate") for key in value.options)


@cache
def _uses(loop: ast.AST) -> dict[str, list[ast.Name]]:
    found: dict[str, list[ast.Name]] = {}
    for statement in getattr(loop, "body", []):
        for name in name_loads(statement):
            found.setdefault(name.id, []).append(name)
    return found


@cache
def _plain_bindings(loop: ast.AST) -> dict[str, ast.expr]:
    """Names that the body binds once, in each iteration, by a plain assignment, with their values."""
    stores: dict[str, int] = {}
    for statement in getattr(loop, "body", []):
        for child in walk(statement):
            if isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
                stores[child.id] = stores.get(child.id, 0) + 1
    return {
        statement.targets[0].id: statement.value
        for statement in getattr(loop, "body", [])
        if isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and stores[statement.targets[0].id] == 1
    }
