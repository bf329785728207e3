"""A jitted function returns new objects: dicts sorted by key, objects rebuilt from their leaves, never an argument
itself.

If the program can notice the difference, the function is not jitted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.call_sites import steps_of
from jaxlint.codemods.purity.identity import compared, finds_no_array, searched
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, FunctionNode, function_around, parameters
from jaxlint.codemods.purity.traced_before import is_jitted
from jaxlint.codemods.purity.values import (
    ARRAY,
    NOTHING,
    NUMPY,
    Box,
    Cls,
    Ext,
    Fn,
    Inst,
    Made,
    Method,
    Unknown,
    Value,
    Values,
    Wrapped,
    leaves_of,
)
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.text_edits import shown_source

_SINGLE = frozenset({"jax.tree_util.register_pytree_node_class", "jax.tree_util.register_pytree_node", "jax.tree_util.register_pytree_with_keys", "jax.tree_util.register_pytree_with_keys_class"})  # fmt: skip
_TREES = (
    "jax.",
    "optax.",
    "chex.",
    "haiku.",
    "equinox.",
    "flax.jax_utils.",
)  # functions of these take dicts as trees and ignore their order
_ORDERLESS = frozenset({"len", "isinstance", "sorted", "set", "frozenset", "bool", "hasattr"})
_PARTS = frozenset({"enumerate", "zip", "reversed", "list", "tuple", "iter", "next"})
_FOLDING = frozenset({"sum", "max", "min", "any", "all"})
_MODELS = ("flax.", "haiku.", "equinox.")
_VIEWS = frozenset({"items", "keys", "values"})
_LOOKING = frozenset({"get", "pop", "setdefault", "copy"})
_COPYING = frozenset({"copy.copy", "copy.deepcopy"})
_ORDERED_BY_KEY = frozenset({"jax.tree.map", "jax.tree_util.tree_map"})
_ASKING = frozenset({"popitem", "__iter__", "__reversed__", "__str__", "__repr__"})
_DEPTH = 24  # each variable is examined once, so this only bounds the stack


class Rebuilt:
    """Whether a program can notice that the results or arguments of a function have been through `jit`."""

    def __init__(self, possible: PossibleValues) -> None:
        self.possible, self.program = possible, possible.program
        self._open: set[object] = set()

    def problems(self, function: FunctionNode, file: File, returned: list[ast.expr]) -> Iterator[str]:
        """The differences that the program would see, in words. `returned`: the expressions that the function
        returns."""
        values = frozenset(value for one in returned for value in self.possible.of(one, file))
        ours = {
            place
            for one in returned
            for place, part in enumerate(one.elts if isinstance(one, ast.Tuple) else [one])
            if not self._is_of_jax(part, file) and _unsorted(self.possible.of(part, file))
        }
        apart = all(map(_has_places, returned))
        given = frozenset(
            value for one in parameters(function) for value in self.possible.of_parameter(one, file)
        )
        yield from self.lost(values | given)
        for one in (
            part for whole in returned for part in (whole.elts if isinstance(whole, ast.Tuple) else [whole])
        ):
            if (why := self._given_back(one, function, file)) is not None:
                yield why
        if any(leaf in (ARRAY, NUMPY) or isinstance(leaf, Unknown) for leaf in leaves_of(values)):
            if (place := self._identity_asked(set(ast.walk(function)))) is not None:
                yield f"{place} tests whether two arrays are the same object, and `jit` returns new ones"
        scope = file.names.scope_inside(function)
        for parameter in parameters(function):
            found, complete = self.possible.call_sites.given_to(function, parameter, file)
            if _unsorted(found if complete and found else self.possible.of_parameter(parameter, file)):
                if (why := self._variable(parameter.arg, scope, file, 0)) is not None:
                    yield f"it takes a dict, whose keys `jit` sorts; {why}"
        for number in sorted(ours):
            if (why := self._results(function, file, 0, number if apart else None)) is not None:
                yield f"it returns a dict, whose keys `jit` sorts; {why}"
                return

    def carried(self, names: Iterable[ast.Name], own: Set[ast.AST], file: File) -> Iterator[str]:
        """The differences for variables carried through a JAX loop, in words. `own`: the nodes of the loop."""
        found: dict[str, ast.Name] = {name.id: name for name in names}
        for name in found.values():
            scope = file.names.scope_at(name).resolve(name.id)
            if scope is None or all(one.node in own for one in scope.bindings.get(name.id, ())):
                continue  # each iteration rebuilds it
            values = self.possible.of(name, file)
            if {ARRAY, NUMPY} & leaves_of(values) and (place := self._identity_asked(own)) is not None:
                yield f"{place} tests whether two arrays are the same object, and a JAX loop returns new ones"
            if _unsorted(values) and (why := self._after(name, scope, own, file)) is not None:
                yield f"`{name.id}` is a dict, whose keys a JAX loop sorts; {why}"

    def _after(self, name: ast.Name, scope: Scope, own: Set[ast.AST], file: File) -> str | None:
        """Where the order of a loop's result matters: in the loop, or after it."""
        first = min(node.lineno for node in own if isinstance(node, ast.stmt | ast.expr))
        loops = [one for one in file.names.ancestors(name) if isinstance(one, ast.For | ast.While)]
        once = sum(one not in own for one in loops) < 2  # no outer loop runs it again
        for other, use in self.program.uses_of(name.id, scope, file):
            before = other is file and use.lineno < first
            if once and before and file.names.scope_at(use) is file.names.scope_at(name):
                continue
            if (why := self._use(use, other, 1)) is not None:
                return why
        return None

    def lost(self, values: Values) -> Iterator[str]:
        """What program objects lose when JAX flattens them, in words: in a jitted function or in the carry of a loop."""
        for cls in {leaf.cls for leaf in leaves_of(values) if isinstance(leaf, Inst)}:
            if (name := self._left_out(cls)) is not None:
                yield f"`{name}` of a `{cls.node.name}` is not a pytree leaf, and is lost when JAX rebuilds the object"

    def _is_of_jax(self, node: ast.expr, file: File, depth: int = 0) -> bool:
        """Whether JAX, optax or a function that the program jits created a tree, and so has sorted its dicts."""
        if isinstance(node, ast.Call):
            callees = self.possible.of(node.func, file)
            return bool(callees) and all(
                (isinstance(one, Ext) and one.name.startswith(_TREES))
                or (isinstance(one, Wrapped) and one.how in known_functions.GRADIENTS)
                or is_jitted(one, self.possible)
                for one in callees
            )
        if isinstance(node, ast.Name) and depth < _DEPTH:
            scope = file.names.scope_at(node).resolve(node.id)
            for binding in scope.bindings.get(node.id, ()) if scope is not None else ():
                given = file.names.parents.get(binding.node)
                while isinstance(given, ast.Tuple):
                    given = file.names.parents.get(given)
                value = given.value if isinstance(given, ast.Assign | ast.AnnAssign) else None
                if isinstance(binding.node, ast.arg):
                    continue  # its argument; another binding decides
                if value is None or not self._is_of_jax(value, file, depth + 1):
                    return False
            return scope is not None and len(scope.bindings.get(node.id, ())) > 0
        return False

    # Objects

    def _left_out(self, cls: Cls) -> str | None:
        """An attribute of a pytree of the program that is set, and read outside its class, but lost by flattening."""
        flatten = self._flattening(cls)
        if flatten is None:
            return None
        kept = {node.attr for node in ast.walk(flatten) if isinstance(node, ast.Attribute)}
        inside = set(ast.walk(cls.node))
        for name, stores in self.program.stores.items():
            if name in kept or not any(self._is_of(store, file, cls) for file, store in stores):
                continue
            for _, load in self.program.loads.get(name, ()):
                if load not in inside:
                    return name
        return None

    def _is_of(self, store: ast.Attribute, file: File, cls: Cls) -> bool:
        return any(
            isinstance(value, Inst) and value.cls == cls for value in self.possible.of(store.value, file)
        )

    def _flattening(self, cls: Cls) -> ast.AST | None:
        for decorator in cls.node.decorator_list:
            if self.possible.name_of(decorator, cls.file) in _SINGLE:
                member = self.possible.classes.member(cls, "tree_flatten") or self.possible.classes.member(
                    cls, "tree_flatten_with_keys"
                )
                return member[1].node if member is not None else None
        for name in ("register_pytree_node", "register_pytree_with_keys"):
            for file, call in self.program.calls.get(name, ()):
                if len(call.args) > 1 and cls in self.possible.of(call.args[0], file):
                    flattens = [one for one in self.possible.of(call.args[1], file) if isinstance(one, Fn)]
                    return flattens[0].node if flattens else None
        return None

    # Identity

    def _given_back(self, node: ast.expr, function: FunctionNode, file: File) -> str | None:
        """A container that is mutated elsewhere must be the caller's own object."""
        if not isinstance(node, ast.Name):
            return None
        scope = file.names.scope_at(node).resolve(node.id)
        if scope is None or scope.node is not function or len(scope.bindings[node.id]) != 1:
            return None
        if node.id not in {one.arg for one in parameters(function)}:
            return None
        boxes = [
            one
            for one in self.possible.of(node, file)
            if isinstance(one, Box) and one.kind in ("list", "dict", "set")
        ]
        return f"it returns `{node.id}` itself, and `jit` returns a new {boxes[0].kind}" if boxes else None

    def _identity_asked(self, inside: Set[ast.AST]) -> str | None:
        for file in self.program.files:
            for node in ast.walk(file.tree):
                if (
                    node not in inside
                    and (sides := compared(node))
                    and all({ARRAY, NUMPY} & self.possible.of(side, file) for side in sides)
                    and not finds_no_array(self.possible.of(searched(node), file))
                ):
                    return f"`{shown_source(node)}` at {self.program.place(file, node)}"
        return None

    # The order of dicts

    def _results(
        self, function: FunctionNode, file: File, depth: int, place: int | None = None
    ) -> str | None:
        """Where the order of a function's result, or of the one at a place of its tuple, matters; None if it does not."""
        if (function, place) in self._open:
            return None
        self._open.add((function, place))
        for call, how, other in self.possible.call_sites.calls_of(function, file):
            steps = steps_of(how)
            if steps and all(
                step in known_functions.TRANSFORMS and not step.startswith("functools.") for step in steps
            ):
                continue  # it has been through JAX before
            if call is None or how:
                return "some of its calls are unknown"
            target = _target_at(other.names.parents.get(call), place)
            why = self._use(call, other, depth) if target is None else self._bound(target, other, depth)
            if why is not None:
                return why
        return None

    def _variable(self, name: str, scope: Scope | None, file: File, depth: int) -> str | None:
        if scope is None or depth > _DEPTH:
            return "it is passed on too far to follow"
        key = (id(scope), name)
        if key in self._open:
            return None
        self._open.add(key)
        for other, use in self.program.uses_of(name, scope, file):
            if (why := self._use(use, other, depth + 1)) is not None:
                return why
        return None

    def _use(self, node: ast.expr, file: File, depth: int) -> str | None:
        """Whether the code around an expression depends on the order of a dict in it."""
        if (values := self.possible.of(node, file)) and not _holds_dict(values):
            return None
        if depth > _DEPTH:
            return "it is passed on too far to follow"
        above = file.names.parents.get(node)
        told = f"`{shown_source(above if isinstance(above, ast.expr) else node)}` at {self.program.place(file, node)} may depend on their order"
        if isinstance(above, ast.Subscript) and above.value is node:
            return self._use(above, file, depth + 1) if isinstance(above.ctx, ast.Load) else None
        if isinstance(above, ast.Attribute):
            if above.attr not in _VIEWS | _LOOKING | _ASKING:
                return None
            call = file.names.parents.get(above)
            if not isinstance(call, ast.Call) or call.func is not above:
                return told
            if above.attr in _LOOKING:
                return self._use(call, file, depth + 1)
            return self._iterated(call, file, depth, told) if above.attr in _VIEWS else told
        if isinstance(above, ast.BinOp) and any(isinstance(one, Box) for one in values):
            return self._use(above, file, depth + 1)  # containers are joined
        if isinstance(above, ast.For | ast.comprehension) and above.iter is node:
            if _is_slice(node) or not _may_be_dict(values):
                return self._bound(above.target, file, depth)
            return self._iterated(node, file, depth, told)
        if isinstance(above, ast.Tuple | ast.List | ast.Dict):
            returned = file.names.parents.get(above)
            function = function_around(node, file)
            if isinstance(above, ast.Tuple) and isinstance(returned, ast.Return) and function is not None:
                place = above.elts.index(node) if _has_places(above) else None
                return self._results(function, file, depth + 1, place)
            return self._use(above, file, depth + 1)
        if isinstance(above, ast.Starred) and not any(
            isinstance(one, Unknown) or (isinstance(one, Box) and one.kind == "dict") for one in values
        ):
            call = file.names.parents.get(above)
            callees = self.possible.of(call.func, file) if isinstance(call, ast.Call) else NOTHING
            if callees and all(isinstance(one, Ext) and one.name in _ORDERED_BY_KEY for one in callees):
                return None
        if isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr) and above.value is node:
            targets = above.targets if isinstance(above, ast.Assign) else [above.target]
            return next((why for one in targets if (why := self._bound(one, file, depth)) is not None), None)
        if isinstance(above, ast.keyword | ast.Call):
            call = above if isinstance(above, ast.Call) else file.names.parents[above]
            assert isinstance(call, ast.Call)
            return self._handed(node, call, file, depth, told)
        if isinstance(above, ast.Return):
            function = function_around(node, file)
            return self._results(function, file, depth + 1) if function is not None else told
        return None if isinstance(above, ast.Expr | ast.Compare | ast.BinOp | ast.UnaryOp) else told

    def _iterated(self, node: ast.expr, file: File, depth: int, told: str) -> str | None:
        """Iteration over keys, values or items: whether the result depends on the order."""
        above = file.names.parents.get(node)
        owner = file.names.parents.get(above) if isinstance(above, ast.comprehension) else above
        if isinstance(owner, ast.SetComp):
            return None
        if isinstance(owner, ast.DictComp):
            return self._use(owner, file, depth + 1)
        if isinstance(owner, ast.For):
            return self._looped(owner, file, depth, told)
        call = (
            owner
            if isinstance(owner, ast.Call)
            else file.names.parents.get(owner)
            if owner is not None
            else None
        )
        if isinstance(call, ast.Call) and not call.keywords:
            if self.possible.name_of(call.func, file) in _ORDERLESS | _FOLDING:
                return None
        return told

    def _looped(self, loop: ast.For, file: File, depth: int, told: str) -> str | None:
        """A loop that fills another container key by key, or accumulates."""
        keys = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
        for statement in loop.body:
            target = (
                statement.targets[0]
                if isinstance(statement, ast.Assign)
                else getattr(statement, "target", None)
            )
            adds = isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add | ast.Mult)
            if adds and isinstance(target, ast.Name):
                continue
            by_key = (
                isinstance(target, ast.Subscript)
                and isinstance(target.slice, ast.Name)
                and target.slice.id in keys
            )
            if not by_key or not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
                return told
            name = target.value
            why = self._variable(name.id, file.names.scope_at(name).resolve(name.id), file, depth)
            if why is not None:
                return why
        return None

    def _bound(self, target: ast.expr, file: File, depth: int) -> str | None:
        if isinstance(target, ast.Name):
            if not _holds_dict(self.possible.of(target, file)):
                return None
            return self._variable(target.id, file.names.scope_at(target).resolve(target.id), file, depth)
        if isinstance(target, ast.Tuple | ast.List):
            return next(
                (why for one in target.elts if (why := self._bound(one, file, depth)) is not None), None
            )
        if isinstance(target, ast.Attribute) and not self._reads_by_text():
            return self._attribute(target, file, depth)
        return f"it is stored at {self.program.place(file, target)}"

    def _attribute(self, target: ast.Attribute, file: File, depth: int) -> str | None:
        """Where the order of the values in an attribute matters, of any object that may be the one whose attribute is set."""
        holders = self.possible.classes.holders
        objects = holders.of(target.value, file)
        key = ("attribute", target.attr, objects)
        if key in self._open:
            return None
        self._open.add(key)
        loads = holders.loads(target.attr, objects)
        return next(
            (why for other, one in loads if (why := self._use(one, other, depth + 1)) is not None), None
        )

    def _reads_by_text(self) -> bool:
        """Whether the program reads attributes by computed names."""
        calls = self.program.calls
        return "__dict__" in self.program.loads or any(
            calls.get(name) for name in ("vars", "getattr", "attrgetter")
        )

    def _takes_trees(self, receiver: object) -> bool:
        """Whether methods look parameters up by name, like those of models and optimisers."""
        if isinstance(receiver, Inst):
            return any(base.startswith(_MODELS) for base in self.possible.external_bases(receiver.cls))
        if isinstance(receiver, Wrapped):
            return receiver.how.startswith(_MODELS)
        return isinstance(receiver, Made) and receiver.name.startswith((*_TREES, *_MODELS))

    @staticmethod
    def _list_that_keeps(callee: Value, call: ast.Call) -> ast.Name | None:
        """The variable of a list whose `append` is called."""
        is_append = isinstance(callee, Method) and callee.name == "append"
        if not is_append or not isinstance(call.func, ast.Attribute):
            return None
        receiver = callee.receiver  # type: ignore[union-attr]
        is_list = isinstance(receiver, Box) and receiver.kind == "list"
        return call.func.value if is_list and isinstance(call.func.value, ast.Name) else None

    def _handed(self, node: ast.expr, call: ast.Call, file: File, depth: int, told: str) -> str | None:
        for callee in self.possible.of(call.func, file) or (Unknown(),):
            if is_jitted(callee, self.possible):
                continue  # it sorts the keys already
            for one in self._functions(callee):
                if (
                    isinstance(one, Ext)
                    and one.name in _PARTS
                    and not _may_be_dict(self.possible.of(node, file))
                ):
                    if (why := self._use(call, file, depth + 1)) is not None:
                        return why
                    continue
                if isinstance(one, Ext) and (one.name in _ORDERLESS or one.name.startswith(_TREES)):
                    continue
                if isinstance(one, Ext) and one.name in _COPYING:
                    if (why := self._use(call, file, depth + 1)) is not None:
                        return why
                    continue
                if isinstance(one, Method) and self._takes_trees(one.receiver):
                    continue
                held = self._list_that_keeps(one, call)
                if held is not None:  # its items are read wherever the list is
                    why = self._variable(held.id, file.names.scope_at(held).resolve(held.id), file, depth)
                    if why is not None:
                        return why
                    continue
                if not isinstance(one, Fn):
                    return told
                found = self._parameters_for(node, call, one, file)
                if not found:
                    return told
                inside = one.file.names.scope_inside(one.node)
                for parameter in found:
                    if (why := self._variable(parameter.arg, inside, one.file, depth)) is not None:
                        return why
        return None

    def _functions(self, callee: Value) -> list[Value]:
        """What a call runs: for an object of the program its `__call__`."""
        found: list[Value] = []
        for one in _called(callee):
            members = self.possible.attribute(one, "__call__") if isinstance(one, Inst) else NOTHING
            found += members if members and all(isinstance(each, Fn) for each in members) else [one]
        return found

    def _parameters_for(self, node: ast.expr, call: ast.Call, called: Fn, file: File) -> list[ast.arg]:
        """The parameters that a function may receive an argument by: all of them for a dict that the call unpacks by name, in any order."""
        if any(one.arg is None and one.value is node for one in call.keywords):
            dicts = [one for one in self.possible.of(node, file) if isinstance(one, Box) and not one.rest]
            keys = {key for one in dicts for key in one.keys}
            found = [one for one in parameters(called.node) if not keys or one.arg in keys]
            return [] if called.node.args.kwarg is not None else found
        parameter = self.possible.call_sites.parameter_for(node, call, called)
        return [parameter] if parameter is not None else []


def _target_at(assigned: ast.AST | None, place: int | None) -> ast.expr | None:
    """The target that takes the value at a place of a tuple, if a statement unpacks one; else None."""
    if place is None or not isinstance(assigned, ast.Assign) or len(assigned.targets) != 1:
        return None
    (target,) = assigned.targets
    if not isinstance(target, ast.Tuple) or not _has_places(target):
        return None
    return target.elts[place] if place < len(target.elts) else None


def _has_places(node: ast.expr) -> bool:
    """Whether the parts of a tuple have places that are known."""
    return isinstance(node, ast.Tuple) and not any(isinstance(one, ast.Starred) for one in node.elts)


def _called(callee: Value, depth: int = 0) -> list[Value]:
    """The function under a transformation."""
    if isinstance(callee, Wrapped) and callee.how in known_functions.TRANSFORMS and depth < _DEPTH:
        return [found for one in callee.inner for found in _called(one, depth + 1)]
    return [callee]


def _unsorted(values: Values) -> bool:
    """Whether there is a dict whose keys may be unsorted."""
    for value in values:
        if isinstance(value, Box):
            if value.kind == "dict" and (
                not value.keys or list(map(str, value.keys)) != sorted(map(str, value.keys))
            ):
                return True
            if _unsorted(value.parts()):
                return True
    return False


def _is_slice(node: ast.expr) -> bool:
    """`layers[:-1]`: no dict has slices."""
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


def _may_be_dict(values: Values) -> bool:
    return not values or any(
        isinstance(one, Unknown) or (isinstance(one, Box) and one.kind == "dict") for one in values
    )


def _holds_dict(values: Values) -> bool:
    return any(
        isinstance(value, Unknown)
        or (isinstance(value, Box) and (value.kind == "dict" or _holds_dict(value.parts())))
        for value in values
    )
