"""The definitions that may reach an expression, on all paths.

    state = stored() if resumed else fresh()
    state["turn"] = 0
    for batch in batches:
        state = advance(state, batch)

The `state` of the last line comes from the results of `stored`, `fresh` and `advance`, and holds 0. Functions
are entered with the arguments of the call on the path.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from jaxlint.codemods.purity.expressions import OPTIONS
from jaxlint.codemods.purity.known_functions import CHANGING, STAGING
from jaxlint.codemods.purity.possible_values import PossibleValues, default_of
from jaxlint.codemods.purity.program import (
    File,
    FunctionNode,
    function_around,
    own_parts,
    reaching,
)
from jaxlint.codemods.purity.values import ARRAY, Cls, Ext, Fn, Inst, Value, Wrapped
from jaxlint.codemods.source.name_scopes import Binding, Scope
from jaxlint.syntax.function_bodies import NESTED

_DEPTH = 8
_MOST = 2000
# Library calls whose result has parts of their arguments, or their structure.
_HANDING_ON = frozenset(
    """dict list tuple sorted reversed zip enumerate iter next max min copy.copy copy.deepcopy dataclasses.replace jax.tree.map
    jax.tree_util.tree_map optax.apply_updates equinox.apply_updates flax.core.freeze flax.core.unfreeze jax.device_put
    jax.device_get jax.block_until_ready collections.OrderedDict collections.deque itertools.chain types.SimpleNamespace
    """.split()  # noqa: SIM905
)
# Methods of arrays whose result is of the same kind as the array: also `x.at[i].set(y)`.
_OF_ARRAYS = frozenset("set add multiply divide power min max sum mean prod var std dot reshape ravel transpose squeeze swapaxes clip".split())  # fmt: skip  # noqa: SIM905
_KEEPING = frozenset({"copy", "get", "pop", "items", "values", "popleft", "setdefault", "replace", "_replace", "_asdict"})  # fmt: skip


class Definition(NamedTuple):
    """An expression that provides a value, or part of one. `is_missed`: no run has reached it, or the call that leads to it."""

    node: ast.expr
    file: File
    is_missed: bool


class _Entered(NamedTuple):
    """A call that enters a function, and the call before it."""

    function: FunctionNode
    call: ast.Call
    file: File
    before: _Entered | None
    is_missed: bool
    depth: int


@dataclass(slots=True)
class Origins:
    """`missed`: the nodes that no run has reached; `of_arrays`: also where arrays come from."""

    possible: PossibleValues
    missed: Mapping[File, frozenset[ast.AST]]
    of_arrays: bool = False
    _seen: set[tuple[object, ...]] = field(default_factory=set)

    def of(self, node: ast.expr, file: File, key: str | None = None) -> Iterator[Definition]:
        """The definitions that may reach an expression. `key`: the only item of interest, if the value is a dict."""
        yield from self._of(node, file, key, None)

    def of_parameter(
        self, parameter: ast.arg, function: FunctionNode, file: File, key: str | None = None
    ) -> Iterator[Definition]:
        """The definitions that may reach a parameter, by any call. `key`: as in `of`."""
        yield from self._of_argument(parameter, function, file, key, None)

    def _of(self, node: ast.expr, file: File, key: object, entered: _Entered | None) -> Iterator[Definition]:
        """`key`: the only item of interest, if the value is a dict."""
        if not self._is_new(node, key, entered):
            return
        walk = getattr(self, f"_of_{type(node).__name__}", None)
        is_array = not self.of_arrays and self.possible.of(node, file) == {ARRAY}
        if walk is None or is_array:
            yield self._definition(node, file, entered)
        else:
            yield from walk(node, file, key, entered)

    def _is_new(self, node: ast.AST, key: object, entered: _Entered | None) -> bool:
        mark = (node, key, entered.call if entered is not None else None)
        if mark in self._seen or len(self._seen) > _MOST:
            return False
        self._seen.add(mark)
        return True

    def _definition(self, node: ast.expr, file: File, entered: _Entered | None) -> Definition:
        return Definition(node, file, self._is_missed(node, file, entered))

    def _is_missed(self, node: ast.AST, file: File, entered: _Entered | None) -> bool:
        """Whether no run has reached an expression, or the call of its function that led there."""
        if entered is not None and entered.is_missed and function_around(node, file) is entered.function:
            return True
        missed = self.missed.get(file, frozenset())
        while node not in missed:
            if isinstance(node, ast.stmt) or (above := file.names.parents.get(node)) is None:
                return False
            node = above
        return True

    def _all(
        self, nodes: Iterable[ast.expr | None], file: File, entered: _Entered | None, key: object = None
    ) -> Iterator[Definition]:
        for node in nodes:
            if node is not None:
                yield from self._of(node, file, key, entered)

    # Parts of expressions

    def _of_IfExp(
        self, node: ast.IfExp, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        yield from self._all((node.body, node.orelse), file, entered, key)

    def _of_BoolOp(
        self, node: ast.BoolOp, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        yield from self._all(node.values, file, entered, key)

    def _of_BinOp(
        self, node: ast.BinOp, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        yield from self._all((node.left, node.right), file, entered, key)

    def _of_NamedExpr(
        self, node: ast.NamedExpr | ast.Starred, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        yield from self._of(node.value, file, key, entered)

    _of_Starred = _of_NamedExpr

    def _of_UnaryOp(
        self, node: ast.UnaryOp, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        yield from self._of(node.operand, file, None, entered)

    def _of_Tuple(
        self, node: ast.Tuple | ast.List | ast.Set, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        yield from self._all(node.elts, file, entered)

    _of_List = _of_Set = _of_Tuple

    def _of_Dict(
        self, node: ast.Dict, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        if key is None:
            yield self._definition(node, file, entered)  # for its keys
        for name, value in zip(node.keys, node.values, strict=True):
            if name is None:
                yield from self._of(value, file, key, entered)
            elif key is None or not isinstance(name, ast.Constant) or name.value == key:
                yield from self._of(value, file, None, entered)

    def _of_ListComp(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp,
        file: File,
        key: object,
        entered: _Entered | None,
    ) -> Iterator[Definition]:
        yield from self._of(node.elt, file, None, entered)

    _of_SetComp = _of_GeneratorExp = _of_ListComp

    def _of_DictComp(
        self, node: ast.DictComp, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        yield from self._all((node.key, node.value), file, entered)

    def _of_Subscript(
        self, node: ast.Subscript, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        named = node.slice.value if isinstance(node.slice, ast.Constant) else None
        yield from self._of(node.value, file, named if isinstance(named, str) else None, entered)

    def _of_Attribute(
        self, node: ast.Attribute, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        if self.possible.name_of(node, file):
            return
        holders = self.possible.classes.holders
        for other, store in holders.stores(node.attr, holders.of(node.value, file)):
            yield from self._of_target(store, other, None)
        held = self.possible.of(node.value, file)
        if not all(isinstance(one, Inst) for one in held):
            if OPTIONS in held:
                yield self._definition(node, file, entered)
            yield from self._of(node.value, file, None, entered)

    # Variables

    def _of_Name(
        self, node: ast.Name, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        scope = file.names.scope_at(node).resolve(node.id)
        if scope is None:
            return
        here = isinstance(node.ctx, ast.Load) and scope is file.names.scope_at(node)
        bindings = reaching(scope, node, file) if here else scope.bindings.get(node.id, ())
        yield from self._of_bindings(bindings, scope, file, key, entered)
        for other, use in self.possible.program.uses_of(node.id, scope, file):
            yield from self._put_in(use, other, key, entered)

    def _of_bindings(
        self, bindings: Iterable[Binding], scope: Scope, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        for binding in bindings:
            if self._is_new(binding.node, key, entered):
                yield from self._of_binding(binding, scope, file, key, entered)

    def _of_binding(
        self, binding: Binding, scope: Scope, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        node = binding.node
        if isinstance(node, ast.arg):
            function = function_around(node, file)
            if function is not None:
                yield from self._of_argument(node, function, file, key, entered)
        elif isinstance(node, ast.Name):
            yield from self._of_target(node, file, entered, key)
        elif binding.statement is not None:
            taken = self.possible.program.imported(binding, file)
            if isinstance(taken, tuple):
                home, name = taken
                module = home.names.module
                yield from self._of_bindings(module.bindings.get(name, ()), module, home, key, None)

    def _of_target(
        self, node: ast.expr, file: File, entered: _Entered | None, key: object = None
    ) -> Iterator[Definition]:
        """The definitions that an assignment, a loop or a comprehension gives to a variable or an attribute."""
        child: ast.AST = node
        above = file.names.parents.get(child)
        if (given := file.names.given(node)) is not None:
            yield from self._of(given, file, key, entered)
            return
        while isinstance(above, ast.Tuple | ast.List | ast.Starred):
            child, above = above, file.names.parents.get(above)
        if isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            yield from self._all([above.value], file, entered)
        elif isinstance(above, ast.AugAssign):
            yield from self._of(above.value, file, key, entered)
            if isinstance(node, ast.Name):
                scope = file.names.scope_at(node).resolve(node.id)
                if scope is not None:
                    yield from self._of_bindings(scope.bindings[node.id], scope, file, key, entered)
        elif isinstance(above, ast.For | ast.comprehension) and child is above.target:
            yield from self._of(above.iter, file, None, entered)
        elif isinstance(above, ast.withitem):
            yield from self._of(above.context_expr, file, None, entered)

    def _put_in(
        self, use: ast.expr, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        """The values stored in a container, through the variable that holds it."""
        above = file.names.parents.get(use)
        if isinstance(above, ast.Subscript) and above.value is use and isinstance(above.ctx, ast.Store):
            name = getattr(above.slice, "value", key)
            if key is None or name == key:
                yield from self._of_target(above, file, entered)
        elif isinstance(above, ast.Attribute) and above.attr in CHANGING:
            call = file.names.parents.get(above)
            if isinstance(call, ast.Call) and call.func is above:
                yield from self._all([*call.args, *(one.value for one in call.keywords)], file, entered)

    def _of_argument(
        self, parameter: ast.arg, function: FunctionNode, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        sites = self.possible.call_sites
        bound = self.possible.classes.class_around(function, file) is not None
        if parameter in (function.args.vararg, function.args.kwarg):
            return
        calls = (
            [(entered.call, entered.file, entered.before)]
            if entered is not None and entered.function is function
            else [(call, other, None) for call, how, other in sites.calls_of(function, file) if not how]
        )
        for call, other, before in calls:
            if call is None:
                continue
            given = sites.expression_for(call, function, parameter, bound=bound)
            if given is None:
                given, other, before = default_of(function, parameter), file, None
            if isinstance(given, ast.expr):
                yield from self._of(given, other, key, before)

    # Calls

    def _of_Call(
        self, node: ast.Call, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        given = [*node.args, *(one.value for one in node.keywords)]
        callees = self.possible.of(node.func, file)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _OF_ARRAYS and not any(isinstance(one, Fn | Ext) for one in callees):  # fmt: skip
            yield from self._all([node.func.value, *given], file, entered)
            return
        for value in callees:
            if isinstance(value, Wrapped) and value.how in STAGING:
                yield from self._returned(value.inner, node, file, key, entered)
            elif isinstance(value, Fn):
                yield from self._returned((value,), node, file, key, entered)
            elif isinstance(value, Cls) or (isinstance(value, Ext) and value.name in _HANDING_ON):
                yield self._definition(node, file, entered)
                yield from self._all(given, file, entered)
            else:
                yield self._definition(node, file, entered)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING:
            first = node.args[0] if node.args else None
            named = first.value if isinstance(first, ast.Constant) else None
            yield from self._of(node.func.value, file, named, entered)
            yield from self._all(given, file, entered)

    def _returned(
        self, values: Iterable[Value], call: ast.Call, file: File, key: object, entered: _Entered | None
    ) -> Iterator[Definition]:
        """The results of functions at a call."""
        depth = entered.depth + 1 if entered is not None else 0
        for value in values:
            if not isinstance(value, Fn) or depth > _DEPTH:
                continue
            is_missed = self._is_missed(call, file, entered)
            inside = _Entered(value.node, call, file, entered, is_missed, depth)
            if isinstance(value.node, ast.Lambda):
                yield from self._of(value.node.body, value.file, key, inside)
                continue
            for statement in value.node.body:
                parts = [] if isinstance(statement, NESTED) else [statement, *own_parts(statement)]
                for part in parts:
                    if isinstance(part, ast.Return | ast.Yield) and part.value is not None:
                        yield from self._of(part.value, value.file, key, inside)
