"""Where a function needs the concrete value of a tracer: on all its paths, and in all its callees.

A run shows that the paths it took can be traced. It may not have taken a branch behind a flag.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass, field

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.callbacks import called_back, maker_of
from jaxlint.codemods.purity.dict_keys import all_keys, gives_keys, is_dict
from jaxlint.codemods.purity.possible_values import PossibleValues, default_of
from jaxlint.codemods.purity.program import File, FunctionNode, bodies, own_parts, parameters
from jaxlint.codemods.purity.traced_before import is_jitted
from jaxlint.codemods.purity.values import (
    ARRAY,
    NONE,
    NUMPY,
    TEXT,
    TYPE,
    Box,
    Cls,
    Ext,
    Fn,
    Inst,
    Method,
    Plain,
    Value,
    Wrapped,
    leaves_of,
)
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.text_edits import shown_source
from jaxlint.jaxapi.functions import NUMPY_DISPATCHES
from jaxlint.jaxapi.static_options import static_arguments
from jaxlint.syntax.function_bodies import NESTED

_STATIC = frozenset({"shape", "ndim", "dtype", "size", "aval", "weak_type", "sharding", "itemsize", "nbytes"})
_ASKING = frozenset({"len", "isinstance", "hasattr", "callable", "type", "getattr", "id", "issubclass"})
_NUMBERS = frozenset(
    {"float", "int", "bool", "complex", "str", "repr", "range", "hash", "chr", "ord", "bin", "hex", "format"}
)
_TESTS = frozenset({"max", "min", "any", "all", "sorted"})
_FETCHING = frozenset({"item", "tolist", "to_py", "__array__", "block_until_ready", "tobytes"})
# Attributes of arrays that raise for a tracer: where the data is stored.
NEEDS_AN_ARRAY = frozenset({"device", "devices", "sharding", "addressable_shards", "addressable_data", "global_shards", "is_fully_addressable", "is_fully_replicated", "committed", "traceback", "flat", "unsafe_buffer_pointer", "on_device_size_in_bytes", "is_deleted", "delete", "__array_interface__", "__cuda_array_interface__"})  # fmt: skip
_OF_NUMPY = frozenset({"flat", "flags", "strides", "base", "ctypes", "data"})
_STATIC_RESULTS = ("jax.tree.structure", "jax.devices", "jax.device_count", "jax.local_device_count", "jax.default_backend", "jax.numpy.shape", "jax.numpy.ndim", "jax.numpy.size",
                   "jax.numpy.result_type", "jax.numpy.issubdtype", "jax.numpy.iscomplexobj", "jax.numpy.isrealobj", "jax.numpy.finfo", "jax.numpy.iinfo", "jax.eval_shape", "jax.dtypes.", "jax.typeof",
                   "numpy.shape", "numpy.ndim", "numpy.size", "equinox.is_", "equinox.filter_eval_shape")  # fmt: skip
# NumPy functions that work on tracers: those that call a method of their argument, and those that read its shape or
# dtype.
_ON_TRACERS = NUMPY_DISPATCHES | {
    f"numpy.{name}" for name in ("shape", "ndim", "size", "result_type", "issubdtype", "iscomplexobj")
}
_FILTERS = frozenset(
    {"equinox.filter", "equinox.partition"}
)  # their second argument may be a tree of truth values
_HOST = ("numpy.", "math.", "scipy.", "cmath.", "statistics.")


@dataclass(slots=True)
class Traced:
    """The variables that hold tracers once `root` is traced, in it and all its callees. `skipped`: nodes that will be
    rewritten."""

    possible: PossibleValues
    skipped: Set[ast.AST] = field(default_factory=frozenset)
    attributes: Set[str] = field(default_factory=frozenset)  # of objects, which hold tracers
    places: set[tuple[int, str]] = field(default_factory=set)
    returning: set[ast.AST] = field(default_factory=set)  # functions that return tracers
    functions: dict[ast.AST, File] = field(default_factory=dict)
    uncompiled: dict[ast.AST, File] = field(
        default_factory=dict
    )  # reached without a call of a function that the program jits
    nodes: list[ast.AST] = field(default_factory=list)  # of a traced loop or row, with all their descendants
    _changed: bool = False
    _compiled: bool = False  # whether what is followed runs in such a function

    def start(self, root: FunctionNode, file: File, static: Set[str]) -> None:
        """Follows the data flow from the non-static parameters of `root`."""
        scope = file.names.scope_inside(root)
        self.functions[root] = self.uncompiled[root] = file
        for parameter in parameters(root):
            if parameter.arg not in static and scope is not None:
                values = self.possible.of_parameter(parameter, file)
                if not values or not all(value in (TEXT, TYPE, NONE) for value in leaves_of(values)):
                    self.places.add((id(scope), parameter.arg))
        self._settle(file)

    def start_nodes(self, nodes: Sequence[ast.AST], varying: Sequence[ast.Name], file: File) -> None:
        """Follows the data flow from `varying`, which differ between rows, if `nodes` are evaluated for all rows at
        once."""
        self.nodes = [part for node in nodes for part in ast.walk(node)]
        for name in varying:
            self._mark(file.names.scope_at(name).resolve(name.id), name.id)
        self._settle(file)

    def _settle(self, file: File) -> None:
        for _ in range(12):
            self._changed = self._compiled = False
            self._follow(self.nodes, file)
            for function in list(self.functions):
                self._compiled = function not in self.uncompiled
                self._follow(parts_of(function), self.functions[function], function)
            if not self._changed:
                break

    def evaluated(self, file: File) -> Iterator[tuple[ast.AST, File]]:
        """Each node that is evaluated under the trace. `file`: that of `nodes`."""
        for node in self.nodes:
            yield node, file
        for function, own in self.functions.items():
            for node in parts_of(function):
                yield node, own

    def problems(self) -> Iterator[str]:
        """The operations that need a concrete value, in words."""
        for function, file in self.functions.items():
            for node in parts_of(function):
                if node not in self.skipped and (what := self._needs(node, file)):
                    yield f"`{shown_source(node)}` at {self.possible.program.place(file, node)} {what}"

    # Flow

    def _mark(self, scope: Scope | None, name: str) -> None:
        if scope is not None and (id(scope), name) not in self.places:
            self.places.add((id(scope), name))
            self._changed = True

    def _follow(self, parts: Sequence[ast.AST], file: File, function: ast.AST | None = None) -> None:
        for node in parts:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value, file)
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
                self._assign(node.target, node.value, file)
            elif isinstance(node, ast.AugAssign):
                if self.is_traced(node.value, file) or self.is_traced(node.target, file):
                    self._target(node.target, file)
            elif isinstance(node, (ast.For, ast.comprehension)):
                self._iterate(node.target, node.iter, file)
            elif isinstance(node, ast.Return) and node.value is not None and function not in self.returning:
                if function is not None and self.is_traced(node.value, file):
                    self.returning.add(function)
                    self._changed = True
            elif isinstance(node, ast.Call):
                self._call(node, file)
                if (
                    isinstance(node.func, ast.Attribute)
                    and node.func.attr in known_functions.CHANGING
                    and isinstance(node.func.value, ast.Name)
                    and not self.possible.name_of(node.func, file)  # of a module: `eqx.partition`
                ):
                    if any(self.is_traced(argument, file) for argument in node.args):
                        self._target(node.func.value, file)
        if (
            isinstance(function, ast.Lambda)
            and function not in self.returning
            and self.is_traced(function.body, file)
        ):
            self.returning.add(function)
            self._changed = True

    def _assign(self, target: ast.expr, value: ast.expr, file: File) -> None:
        if (
            isinstance(target, (ast.Tuple, ast.List))
            and isinstance(value, (ast.Tuple, ast.List))
            and len(target.elts) == len(value.elts)
        ):
            for one, given in zip(target.elts, value.elts, strict=True):
                self._assign(one, given, file)
        elif self.is_traced(value, file):
            self._target(target, file)

    def _target(self, target: ast.expr, file: File) -> None:
        if isinstance(target, ast.Name):
            self._mark(file.names.scope_at(target).resolve(target.id), target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for one in target.elts:
                self._target(one, file)
        elif isinstance(target, (ast.Starred, ast.Subscript)):
            self._target(target.value, file)

    def _iterate(self, target: ast.expr, iterable: ast.expr, file: File) -> None:
        if isinstance(iterable, ast.Call) and isinstance(target, ast.Tuple):
            name = self.possible.name_of(iterable.func, file)
            if name == "enumerate" and len(target.elts) == 2 and iterable.args:
                self._iterate(target.elts[1], iterable.args[0], file)
                return
            if name == "zip" and len(target.elts) == len(iterable.args):
                for one, given in zip(target.elts, iterable.args, strict=True):
                    self._iterate(one, given, file)
                return
            if (
                isinstance(iterable.func, ast.Attribute)
                and iterable.func.attr == "items"
                and len(target.elts) == 2
            ):
                if self.is_traced(iterable.func.value, file):
                    self._target(target.elts[1], file)
                return
        if is_dict(iterable, self.possible, file):
            return  # its keys
        if self.is_traced(iterable, file):
            self._target(target, file)

    def _call(self, node: ast.Call, file: File) -> None:
        for value in self.possible.of(node.func, file):
            self._flow_into(value, node, file, every=False)
            if (made := maker_of(value)) is not None:
                for back in called_back(made):
                    self._flow_into(back, node, file, every=True)
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            for value in leaves_of(self.possible.of(argument, file)):
                if isinstance(value, Fn) and self._differentiates_first(node, file):
                    self._enter(value, node, file, True, known=_all_but_first(value, self.possible))
                elif isinstance(value, (Fn, Wrapped)):  # arguments of a transformation or loop become tracers
                    self._flow_into(value, node, file, every=True)

    def _differentiates_first(self, node: ast.Call, file: File) -> bool:
        """Whether a call is `jax.grad(f)` or the like for the first argument of `f`; JAX hands over the others as they are."""
        return (
            self.possible.name_of(node.func, file) in known_functions.GRADIENTS
            and len(node.args) == 1
            and all(one.arg == "has_aux" for one in node.keywords)
        )

    def _flow_into(self, value: Value, node: ast.Call, file: File, *, every: bool, depth: int = 0) -> None:
        around = self._compiled
        self._compiled = around or is_jitted(value, self.possible)
        try:
            self._flow_through(value, node, file, every=every, depth=depth)
        finally:
            self._compiled = around

    def _flow_through(self, value: Value, node: ast.Call, file: File, *, every: bool, depth: int) -> None:
        if isinstance(value, Wrapped) and depth < 5:
            for inner in value.inner:
                self._flow_into(inner, node, file, every=every, depth=depth + 1)
        elif isinstance(value, Fn):
            self._enter(value, node, file, every)
        elif isinstance(value, Cls):
            for name in ("__init__", "__post_init__"):
                member = self.possible.classes.member(value, name)
                if member is not None and isinstance(member[1].node, ast.FunctionDef):
                    self._enter(Fn(member[1].node, member[0].file, Inst(value)), node, file, every)
        elif isinstance(value, Inst):
            for one in self.possible.attribute(value, "__call__"):
                if isinstance(one, Fn):
                    self._enter(one, node, file, every)
        elif (
            isinstance(value, Method) and isinstance(value.receiver, Inst) and value.name in ("apply", "init")
        ):
            for one in self.possible.attribute(value.receiver, "__call__"):
                if isinstance(one, Fn):
                    every = any(self.is_traced(argument, file) for argument in node.args)
                    self._enter(one, node, file, every, known=_flags_of(node, one.node) if every else ())

    def _enter(self, value: Fn, node: ast.Call, file: File, every: bool, known: Collection[str] = ()) -> None:
        if value.node not in self.functions:
            self.functions[value.node] = value.file
            self._changed = True
        if not self._compiled and value.node not in self.uncompiled:
            self.uncompiled[value.node] = value.file
            self._changed = True
        scope = value.file.names.scope_inside(value.node)
        named = parameters(value.node)
        method = self.possible.classes.class_around(value.node, value.file) is not None
        positional = [*value.node.args.posonlyargs, *value.node.args.args][int(method) :]
        if every:
            for parameter in named[int(method) :]:
                if parameter in positional and parameter.arg not in known:
                    self._mark(scope, parameter.arg)
            return
        for index, argument in enumerate(node.args):
            if isinstance(argument, ast.Starred):
                if self.is_traced(argument.value, file):
                    for parameter in positional[index:]:
                        self._mark(scope, parameter.arg)
            elif self.is_traced(argument, file):
                target = positional[index] if index < len(positional) else value.node.args.vararg
                if target is not None:
                    self._mark(scope, target.arg)
        for keyword in node.keywords:
            if self.is_traced(keyword.value, file):
                keys = all_keys(keyword.value, self.possible, file) if keyword.arg is None else {keyword.arg}
                for parameter in named:
                    if keys is None or parameter.arg in keys:
                        self._mark(scope, parameter.arg)

    # Expressions

    def is_traced(self, node: ast.AST, file: File) -> bool:
        """Whether an expression may hold a tracer."""
        if isinstance(node, ast.Name):
            scope = file.names.scope_at(node).resolve(node.id)
            return scope is not None and (id(scope), node.id) in self.places
        if isinstance(node, (ast.Constant, *FUNCTIONS)):
            return False
        if isinstance(node, ast.Attribute):
            if node.attr in self.attributes:
                return True
            return node.attr not in _STATIC and self.is_traced(node.value, file)
        if isinstance(node, ast.Compare):
            if all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
                return False
            if isinstance(node.ops[0], (ast.In, ast.NotIn)) and isinstance(node.left, ast.Constant):
                return False
        if isinstance(node, ast.Call):
            return self._gives_traced(node, file)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self.is_traced(node.elt, file)
        if isinstance(node, ast.DictComp):
            return self.is_traced(node.value, file)
        if isinstance(node, ast.Dict):
            return any(self.is_traced(value, file) for value in node.values)
        if isinstance(node, ast.IfExp):
            return self.is_traced(node.body, file) or self.is_traced(node.orelse, file)
        return any(
            self.is_traced(child, file)
            for child in ast.iter_child_nodes(node)
            if isinstance(child, (ast.expr, ast.Slice))
        )

    def _gives_traced(self, node: ast.Call, file: File) -> bool:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        some = any(self.is_traced(argument, file) for argument in given)
        held = isinstance(node.func, ast.Attribute) and self.is_traced(node.func.value, file)
        if held and isinstance(node.func, ast.Attribute) and node.func.attr == "keys":
            return False
        values = self.possible.of(node.func, file)
        for value in values:
            if isinstance(value, Ext):
                if value.name in _ASKING or value.name.startswith(_STATIC_RESULTS):
                    continue
                if value.name == "jax.tree.map" and node.args and self._gives_static(node.args[0], file):
                    continue
                if gives_keys(node, value.name, self.possible, file):
                    continue
                if known_functions.gives_array(value.name) or some:
                    return True
            elif isinstance(value, (Fn, Wrapped)):
                inner = [value] if isinstance(value, Fn) else _functions(value)
                if any(one.node in self.returning for one in inner) or (some and not inner):
                    return True
                if isinstance(value, Wrapped) and value.how in known_functions.GRADIENTS:
                    return True
            elif isinstance(value, Plain):
                continue
            elif some or held:
                return True
        return not values and (some or held)

    def _gives_static(self, node: ast.expr, file: File) -> bool:
        """Whether a function gives Python values from tracers: `eqx.is_array`, `lambda leaf: False`."""
        values = self.possible.of(node, file)
        return bool(values) and all(
            value.name in _ASKING or value.name.startswith(_STATIC_RESULTS)
            if isinstance(value, Ext)
            else isinstance(value, Fn) and value.node not in self.returning
            for value in values
        )

    # Operations that need a concrete value

    def _needs(self, node: ast.AST, file: File) -> str:
        if isinstance(node, ast.Assert) and node.msg is not None and self.is_traced(node.msg, file):
            return "passes a tracer to an exception"
        if isinstance(node, ast.Attribute) and self.is_traced(node.value, file):
            return self._looks_up(node, file)
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            return "branches on a tracer" if self.is_traced(node.test, file) else ""
        if isinstance(node, ast.Match):  # patterns ask for a type or a value
            return "branches on a tracer" if self.is_traced(node.subject, file) else ""
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            told = [*node.exc.args, *(keyword.value for keyword in node.exc.keywords)]
            return "passes a tracer to an exception" if any(self.is_traced(one, file) for one in told) else ""  # fmt: skip
        if isinstance(node, ast.BoolOp):
            return (
                "branches on a tracer" if any(self.is_traced(one, file) for one in node.values[:-1]) else ""
            )
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return "branches on a tracer" if self.is_traced(node.operand, file) else ""
        if isinstance(node, ast.comprehension):
            return "branches on a tracer" if any(self.is_traced(one, file) for one in node.ifs) else ""
        if isinstance(node, ast.Compare) and (
            len(node.ops) > 1 or isinstance(node.ops[0], (ast.In, ast.NotIn))
        ):
            return "branches on a tracer" if self.is_traced(node, file) else ""
        if isinstance(node, ast.FormattedValue):
            return "formats a tracer into a string" if self.is_traced(node.value, file) else ""
        if isinstance(node, ast.Slice):
            bounds = [one for one in (node.lower, node.upper, node.step) if one is not None]
            return "slices by a tracer" if any(self.is_traced(one, file) for one in bounds) else ""
        if isinstance(node, ast.Subscript):
            return self._indexes(node, file)
        return self._converts(node, file) if isinstance(node, ast.Call) else ""

    def _looks_up(self, node: ast.Attribute, file: File) -> str:
        values = self.possible.of(node.value, file)
        if (node.attr in NEEDS_AN_ARRAY and ARRAY in values) or (node.attr in _OF_NUMPY and NUMPY in values):
            return "uses an attribute that a tracer does not have"
        return ""

    def _indexes(self, node: ast.Subscript, file: File) -> str:
        if not self.is_traced(node.slice, file) and not (
            not isinstance(node.ctx, ast.Load) and self._is_numpy(node.value, file)
        ):
            return ""
        values = self.possible.of(node.value, file)
        if isinstance(node.ctx, ast.Load):
            return (
                "indexes a Python container with a tracer"
                if any(isinstance(one, Box) for one in values)
                else ""
            )
        statement = file.names.parents.get(node)
        value = getattr(statement, "value", None)
        if isinstance(value, ast.expr) and self.is_traced(value, file) and self._is_numpy(node.value, file):
            return "stores a tracer in a NumPy array"
        return ""

    def _is_numpy(self, node: ast.expr, file: File) -> bool:
        return any(isinstance(one, Plain) and one.kind == "numpy" for one in self.possible.of(node, file))

    def _converts(self, node: ast.Call, file: File) -> str:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        function = node.func
        if (
            isinstance(function, ast.Attribute)
            and function.attr in _FETCHING
            and self.is_traced(function.value, file)
        ):
            return f"calls `.{function.attr}()` on a tracer"
        if not any(self.is_traced(argument, file) for argument in given):
            return ""
        name = self.possible.name_of(function, file)
        if gives_keys(node, name, self.possible, file):
            return ""
        if name in _NUMBERS:
            return "converts a tracer to a Python value"
        if name in _TESTS:
            several = len(node.args) > 1 or not all(
                isinstance(one, Plain) and one.kind == "array" for one in self.possible.of(node.args[0], file)
            )
            return "tests a tracer" if several else ""
        if name.startswith(_HOST) and name not in _ON_TRACERS:
            return "passes a tracer to host code"
        if (
            isinstance(function, ast.Attribute)
            and function.attr in ("join", "format")
            and any(one == TEXT for one in self.possible.of(function.value, file))
        ):
            return "formats a tracer into a string"
        held = not name and isinstance(function, ast.Attribute) and self.is_traced(function.value, file)
        if (name or held) and any(self.is_traced(one, file) for one in static_arguments(node, name)):
            return "passes a tracer where JAX wants a static value"
        if name == "jax.device_get":
            return "transfers a tracer to the host"
        if name in _FILTERS:
            trees = [*node.args[1:2], *(one.value for one in node.keywords if one.arg == "filter_spec")]
            if any(self.is_traced(one, file) for one in trees):
                return "passes a tracer as a filter"
        return ""


def _flags_of(call: ast.Call, function: FunctionNode) -> set[str]:
    """The parameters of a linen module's `__call__` that `apply` or `init` visibly gives a flag, a string or None."""
    if any(isinstance(one, ast.Starred) for one in call.args) or any(
        one.arg in (None, "method") for one in call.keywords
    ):
        return set()
    named = [*function.args.posonlyargs, *function.args.args][1:]
    given: dict[str, ast.expr] = {one.arg: one.value for one in call.keywords if one.arg is not None}
    given |= {one.arg: value for one, value in zip(named, call.args[1:], strict=False)}
    for parameter in named:
        if (default := default_of(function, parameter)) is not None:
            given.setdefault(parameter.arg, default)
    return {
        name
        for name, value in given.items()
        if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool | str))
    }


def _functions(value: Wrapped, depth: int = 0) -> list[Fn]:
    found: list[Fn] = []
    for inner in value.inner:
        if isinstance(inner, Fn):
            found.append(inner)
        elif isinstance(inner, Wrapped) and depth < 5:
            found += _functions(inner, depth + 1)
    return found


def parts_of(function: ast.AST) -> Sequence[ast.AST]:
    """The nodes that a function evaluates, without nested functions."""
    assert isinstance(function, FUNCTIONS)
    found: list[ast.AST] = []
    for node in bodies(function):
        found.append(node)
        if not isinstance(node, NESTED):
            found += own_parts(node)
    return found


def _all_but_first(value: Fn, possible: PossibleValues) -> set[str]:
    """The parameters of a function that a gradient for its first argument does not trace."""
    method = possible.classes.class_around(value.node, value.file) is not None
    return {one.arg for one in parameters(value.node)[int(method) + 1 :]}
