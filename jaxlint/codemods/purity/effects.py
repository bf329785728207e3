"""The side effects of a part of a program and of all its callees.

Unknown code counts as an effect. A problem is `certain` if it is known what happens, and that tracing would change
it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jaxlint.codemods.facts.dataflow import root_of
from jaxlint.codemods.purity.call_effects import CallEffects
from jaxlint.codemods.purity.freshness import Freshness
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.problems import Problem, Region, is_generator, problem
from jaxlint.codemods.purity.program import File, FunctionNode, bodies, own_parts
from jaxlint.codemods.purity.values import (
    NUMPY,
    Box,
    Inst,
    Made,
    Plain,
    Unknown,
)
from jaxlint.codemods.source.text_edits import shown_source
from jaxlint.syntax.function_bodies import NESTED

_CONTEXTS = frozenset(
    {
        "jax.named_scope",
        "jax.default_matmul_precision",
        "jax.ensure_compile_time_eval",
        "jax.profiler.TraceAnnotation",
    }
)
_DUNDERS_ASIDE = frozenset(
    {
        "__init__",
        "__post_init__",
        "__repr__",
        "__str__",
        "__call__",
        "__new__",
        "__init_subclass__",
        "__hash__",
    }
)


class Effects:
    """Walks the callees of a region. One walk visits each function once."""

    def __init__(self, possible: PossibleValues, region: Region) -> None:
        self.possible, self.program, self.region = possible, possible.program, region
        self.freshness = Freshness(possible, region)
        self.calls = CallEffects(possible, self, self.freshness)
        self._seen: set[tuple[ast.AST, bool]] = set()

    def anew(self) -> Effects:
        """A walk of the same region that has visited nothing but the jitted functions of this one."""
        walk = Effects(self.possible, self.region)
        walk.calls.traced = self.calls.traced
        return walk

    def of_function(self, function: FunctionNode, file: File) -> Iterator[Problem]:
        """The side effects of a call of a function."""
        yield from self.of_call(function, file, fresh_self=False)

    def of_nodes(self, nodes: Iterable[ast.AST], file: File) -> Iterator[Problem]:
        """The side effects of statements or expressions at their place."""
        for node in nodes:
            yield from self._tree(node, file, None, fresh_self=False)

    def of_callee(self, call: ast.Call, file: File) -> Iterator[Problem]:
        """The side effects of the callee of `call`, apart from its arguments."""
        yield from self.calls.of_call(call, file, None, False)

    def of_call(self, function: FunctionNode, file: File, *, fresh_self: bool) -> Iterator[Problem]:
        """The side effects of the body of a function. `fresh_self`: its first argument was created for this call."""
        if (function, fresh_self) in self._seen:
            return
        self._seen.add((function, fresh_self))
        if isinstance(function, ast.AsyncFunctionDef):
            yield problem(self.program, "runs asynchronously", function, file, certain=True)
        for node in bodies(function):
            yield from self._tree(node, file, function, fresh_self=fresh_self)

    def _tree(
        self, node: ast.AST, file: File, function: FunctionNode | None, *, fresh_self: bool
    ) -> Iterator[Problem]:
        parts = [node] if isinstance(node, NESTED) else [node, *own_parts(node)]
        for part in parts:
            yield from self._node(part, file, function, fresh_self)

    def _node(
        self, node: ast.AST, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in node.decorator_list:
                yield from self._tree(decorator, file, function, fresh_self=fresh_self)
        elif isinstance(node, ast.Call):
            yield from self.calls.of_call(node, file, function, fresh_self)
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            if isinstance(node.ctx, ast.Load):
                yield from self._read(node, file)
            else:
                yield from self._store(node, file, function, fresh_self)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield from self._augmented(node, node.target, file, function)
        elif isinstance(node, ast.Global):
            yield from self._global(node, file, function)
        elif isinstance(node, ast.Nonlocal):
            yield from self._nonlocal(node, file, function)
        elif isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            awaits = isinstance(node, ast.Await)
            what = "awaits other code" if awaits else "makes a generator, which its caller advances"
            yield problem(self.program, what, node, file, certain=True)
        elif isinstance(node, (ast.Try, ast.TryStar)):
            if not _imports_only(node):
                yield problem(
                    self.program,
                    "catches exceptions, which compiled code does not raise",
                    node,
                    file,
                    certain=bool(node.handlers),
                )
        elif isinstance(node, ast.With):
            for item in node.items:
                called = (
                    item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
                )
                if self.possible.name_of(called, file) not in _CONTEXTS:
                    yield problem(
                        self.program,
                        "enters a context manager, which compiled code may ignore",
                        item.context_expr,
                        file,
                        certain=False,
                    )
        elif isinstance(node, ast.AsyncWith | ast.AsyncFor):
            yield problem(self.program, "runs asynchronously", node, file, certain=True)
        elif isinstance(node, ast.ClassDef):
            yield problem(self.program, "defines a class", node, file, certain=False)
        elif isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp)):
            for operand in ast.iter_child_nodes(node):
                if isinstance(operand, ast.expr):
                    yield from self._special(operand, file)
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield from self._iterated(node, file)

    # Writes

    def _global(self, node: ast.Global, file: File, function: FunctionNode | None) -> Iterator[Problem]:
        for name in node.names:
            bindings = file.names.module.bindings.get(name, ())
            if function is not None and any(function in file.names.ancestors(one.node) for one in bindings):
                what = f"changes the variable `{name}` of the module"
                yield problem(self.program, what, node, file, certain=True)

    def _nonlocal(self, node: ast.Nonlocal, file: File, function: FunctionNode | None) -> Iterator[Problem]:
        scope = file.names.scope_at(function) if function is not None else None
        for name in node.names:
            home = scope.resolve(name) if scope is not None else None
            if home is None or not self.region.encloses(home.node, file):
                yield problem(
                    self.program,
                    f"changes the variable `{name}` of an outer function",
                    node,
                    file,
                    certain=True,
                )

    def _store(
        self, node: ast.Attribute | ast.Subscript, file: File, function: FunctionNode | None, fresh_self: bool
    ) -> Iterator[Problem]:
        if self.freshness.is_fresh_holder(node.value, file, function, fresh_self):
            return
        if self.region.carries_nnx and self.is_nnx(node.value, file):
            return
        verb = "deletes" if isinstance(node.ctx, ast.Del) else "changes"
        certain = not any(isinstance(value, Unknown) for value in self.possible.of(node.value, file))
        kind = "an attribute" if isinstance(node, ast.Attribute) else "an item"
        yield problem(
            self.program,
            f"{verb} {kind} of an object that other code may see",
            node,
            file,
            certain=certain or isinstance(node.value, ast.Name),
        )

    def is_nnx(self, node: ast.expr, file: File) -> bool:
        """Whether an expression is part of a flax.nnx module, whose state the transformation carries."""
        return any(map(self.possible.is_nnx, self.possible.of(root_of(node), file)))

    def comes_from_outside(self, node: ast.expr, file: File) -> bool:
        """Whether an expression is part of a module variable, or of a variable of a function around the region."""
        root = root_of(node)
        if not isinstance(root, ast.Name):
            return False
        scope = file.names.scope_at(root).resolve(root.id)
        return scope is not None and (
            scope.node is file.tree or scope.node in file.names.ancestors(self.region.node)
        )

    def _augmented(
        self, node: ast.AugAssign, target: ast.Name, file: File, function: FunctionNode | None
    ) -> Iterator[Problem]:
        if self.freshness.fresh(target, file, function):
            return
        values = self.possible.of(target, file)
        plain = {"array", "number", "text", "none", "type"}
        if values and all(
            (isinstance(value, Plain) and value.kind in plain)
            or (isinstance(value, Box) and value.kind == "tuple")
            for value in values
        ):
            return
        certain = any(
            value == NUMPY or (isinstance(value, Box) and value.kind in ("list", "dict", "set"))
            for value in values
        )
        yield problem(
            self.program, "changes an object in place that other code may see", node, file, certain=certain
        )

    # Reads

    def _read(self, node: ast.Attribute | ast.Subscript, file: File) -> Iterator[Problem]:
        for value in self.possible.of(node.value, file):
            if not isinstance(value, Inst):
                continue
            if isinstance(node, ast.Subscript):
                yield from self.of_special_methods(value)
                continue
            for cls in self.possible.classes.heirs(value.cls):
                member = self.possible.classes.member(cls, node.attr)
                if member is not None and isinstance(member[1].node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    decorators = [shown_source(one) for one in member[1].node.decorator_list]
                    if any(one == "property" for one in decorators):
                        yield from self.of_call(member[1].node, member[0].file, fresh_self=False)
                    elif any("cached_property" in one for one in decorators):
                        yield problem(self.program, "caches its first result", node, file, certain=True)
                if (
                    special := self.possible.classes.member(cls, "__getattr__")
                    or self.possible.classes.member(cls, "__getattribute__")
                ) is not None:
                    if isinstance(special[1].node, ast.FunctionDef):
                        yield from self.of_call(special[1].node, special[0].file, fresh_self=False)

    def _special(self, operand: ast.expr, file: File) -> Iterator[Problem]:
        for value in self.possible.of(operand, file):
            if isinstance(value, Inst):
                yield from self.of_special_methods(value)

    def of_special_methods(self, value: Inst) -> Iterator[Problem]:
        """The side effects of special methods that operators and builtins call on an object."""
        for cls in self.possible.classes.heirs(value.cls):
            for statement in cls.node.body:
                if (
                    isinstance(statement, ast.FunctionDef)
                    and statement.name.startswith("__")
                    and statement.name not in _DUNDERS_ASIDE
                ):
                    yield from self.of_call(statement, cls.file, fresh_self=False)

    def _iterated(self, node: ast.For | ast.comprehension, file: File) -> Iterator[Problem]:
        for value in self.possible.of(node.iter, file):
            if isinstance(value, Inst):
                yield from self.of_special_methods(value)
            elif isinstance(value, Made) or is_generator(value):
                yield problem(
                    self.program,
                    "is a generator, which a loop advances",
                    node.iter,
                    file,
                    certain=is_generator(value),
                )


def _imports_only(node: ast.Try | ast.TryStar) -> bool:
    return all(isinstance(one, (ast.Import, ast.ImportFrom)) for one in node.body)
