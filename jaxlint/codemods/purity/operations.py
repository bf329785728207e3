"""What operators, displays, items and calls of what lies outside of the program give."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxlint.codemods.purity import known
from jaxlint.codemods.purity.options import option_of
from jaxlint.codemods.purity.program import File, FunctionNode
from jaxlint.codemods.purity.values import (
    ARRAY,
    NONE,
    NOTHING,
    NUMBER,
    NUMPY,
    TEXT,
    TYPE,
    Box,
    Cls,
    Ext,
    Fn,
    Inst,
    Made,
    Method,
    Plain,
    Unknown,
    Value,
    Values,
    Wrapped,
    one,
    unknown,
)

if TYPE_CHECKING:
    from jaxlint.codemods.purity.program import Program

_STATIC = {
    "shape": "tuple",
    "ndim": "number",
    "size": "number",
    "dtype": "type",
    "itemsize": "number",
    "nbytes": "number",
}
_OPTIONS = Made("argparse.Namespace")
_TO_NUMBERS = frozenset(
    {
        "int",
        "float",
        "bool",
        "complex",
        "len",
        "ord",
        "hash",
        "round",
        "id",
        "abs",
        "isinstance",
        "hasattr",
        "callable",
        "issubclass",
        "all",
        "any",
    }
)
_TO_TEXT = frozenset({"str", "repr", "format", "chr", "hex", "oct", "bin", "ascii"})
_LEAVING = ("jax.tree.map", "jax.tree.map_with_path")

# Objects of libraries that keep what they are made of, under the names of the keywords, and the methods that give another of their kind.
HOLDERS = ("flax.training.train_state.",)
RENEWING = frozenset({"apply_gradients", "replace", "_replace"})


class Operations:
    """The part of `Meaning` that knows Python's operators and the libraries."""

    program: Program

    def of(self, node: ast.expr | None, file: File) -> Values:
        raise NotImplementedError

    def attribute(self, value: Value, name: str) -> Values:
        raise NotImplementedError

    def returned(self, function: FunctionNode, file: File) -> Values:
        raise NotImplementedError

    def name_of(self, node: ast.expr, file: File) -> str:
        raise NotImplementedError

    def external_bases(self, cls: Cls, depth: int = 0) -> set[str]:
        raise NotImplementedError

    def fields(self, cls: Cls, depth: int = 0) -> list[str]:
        raise NotImplementedError

    # Literals and displays

    def of_Constant(self, node: ast.Constant, file: File) -> Values:
        if node.value is None:
            return one(NONE)
        return one(TEXT if isinstance(node.value, (str, bytes)) else NUMBER)

    def of_JoinedStr(self, node: ast.JoinedStr, file: File) -> Values:
        return one(TEXT)

    def of_Lambda(self, node: ast.Lambda, file: File) -> Values:
        return one(Fn(node, file))

    def of_Tuple(self, node: ast.Tuple | ast.List, file: File) -> Values:
        kind = "tuple" if isinstance(node, ast.Tuple) else "list"
        if any(isinstance(item, ast.Starred) for item in node.elts):
            rest: Values = NOTHING
            for item in node.elts:
                rest |= (
                    self.elements(self.of(item.value, file))
                    if isinstance(item, ast.Starred)
                    else self.of(item, file)
                )
            return one(Box(kind, None, rest))
        return one(Box(kind, tuple(self.of(item, file) for item in node.elts), NOTHING))

    of_List = of_Tuple

    def of_Set(self, node: ast.Set, file: File) -> Values:
        rest: Values = NOTHING
        for item in node.elts:
            rest |= self.of(item, file)
        return one(Box("set", None, rest))

    def of_Dict(self, node: ast.Dict, file: File) -> Values:
        rest: Values = NOTHING
        keys: list[object] = []
        items: list[Values] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                rest |= self.elements_of_dict(self.of(value, file))
            elif isinstance(key, ast.Constant):
                keys.append(key.value)
                items.append(self.of(value, file))
            else:
                rest |= self.of(value, file)
        return one(Box("dict", tuple(items), rest, tuple(keys)))

    def elements_of_dict(self, values: Values) -> Values:
        found: Values = NOTHING
        for value in values:
            found |= value.parts() if isinstance(value, Box) else unknown()
        return found

    def of_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, file: File) -> Values:
        kind = {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "iterator")
        return one(Box(kind, None, self.of(node.elt, file)))

    of_SetComp = of_ListComp
    of_GeneratorExp = of_ListComp

    def of_DictComp(self, node: ast.DictComp, file: File) -> Values:
        return one(Box("dict", None, self.of(node.value, file)))

    def of_IfExp(self, node: ast.IfExp, file: File) -> Values:
        return self.of(node.body, file) | self.of(node.orelse, file)

    def of_NamedExpr(self, node: ast.NamedExpr, file: File) -> Values:
        return self.of(node.value, file)

    def of_BoolOp(self, node: ast.BoolOp, file: File) -> Values:
        found: Values = NOTHING
        for value in node.values:
            found |= self.of(value, file)
        return found

    def of_Starred(self, node: ast.Starred, file: File) -> Values:
        return self.elements(self.of(node.value, file))

    # Operators

    def of_BinOp(self, node: ast.BinOp, file: File) -> Values:
        return self.joined_by(node.op, self.of(node.left, file), self.of(node.right, file))

    def joined_by(self, operator: ast.operator, left: Values, right: Values) -> Values:
        """What an operator gives of two operands, in all pairs."""
        found: Values = NOTHING
        for first in left:
            for second in right:
                found |= self._pair(operator, first, second)
        return found

    def _pair(self, operator: ast.operator, first: Value, second: Value) -> Values:
        both = (first, second)
        if ARRAY in both and not any(isinstance(each, Inst) for each in both):
            return one(ARRAY)
        if any(isinstance(each, Unknown) for each in both):
            return unknown()
        if NUMPY in both:
            return one(NUMPY)
        if TEXT in both:
            return one(TEXT)
        boxes = [each for each in both if isinstance(each, Box)]
        if boxes:
            rest: Values = NOTHING
            for box in boxes:
                rest |= box.parts()
            return one(Box(boxes[0].kind, None, rest))
        if all(each == NUMBER for each in both):
            return one(NUMBER)
        return unknown()

    def of_UnaryOp(self, node: ast.UnaryOp, file: File) -> Values:
        return one(NUMBER) if isinstance(node.op, ast.Not) else self.of(node.operand, file)

    def of_Compare(self, node: ast.Compare, file: File) -> Values:
        if all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            return one(NUMBER)
        found = self.of(node.left, file)
        for right in node.comparators:
            found = self.joined_by(ast.Add(), found, self.of(right, file))
        return frozenset(
            NUMBER if each in (TEXT, NONE) or isinstance(each, Box) else each for each in found
        ) or one(NUMBER)

    # Items and attributes

    def of_Subscript(self, node: ast.Subscript, file: File) -> Values:
        holders = self.of(node.value, file)
        found: Values = NOTHING
        for holder in holders:
            if isinstance(holder, Method) and holder.name == "at":
                found |= one(Method(holder.receiver, "at"))
            elif holder in (ARRAY, NUMPY):
                found |= one(holder)
            elif holder == TEXT:
                found |= one(TEXT)
            elif isinstance(holder, Box):
                found |= self._item(holder, node)
            elif isinstance(holder, (Ext, Cls)):
                found |= one(holder)  # a generic class
            else:
                found |= unknown(ast.unparse(node)[:40])
        return found

    def _item(self, holder: Box, node: ast.Subscript) -> Values:
        index = node.slice
        if isinstance(index, ast.Slice):
            return one(Box(holder.kind, None, holder.parts()))
        if (
            isinstance(index, ast.UnaryOp)
            and isinstance(index.op, ast.USub)
            and isinstance(index.operand, ast.Constant)
        ):
            if holder.items and holder.kind != "dict" and isinstance(index.operand.value, int):
                if index.operand.value <= len(holder.items):
                    return holder.items[-index.operand.value] | holder.rest
        if isinstance(index, ast.Constant):
            if holder.kind == "dict":
                if holder.items and index.value in holder.keys:
                    return holder.items[holder.keys.index(index.value)] | holder.rest
            elif holder.items and isinstance(index.value, int) and index.value < len(holder.items):
                return holder.items[index.value] | holder.rest
        return holder.parts()

    def item_at(self, values: Values, index: int, count: int, *, starred: bool = False) -> Values:
        """The part of what is unpacked that the target at `index` of `count` gets."""
        found: Values = NOTHING
        for value in values:
            if (
                isinstance(value, Box)
                and value.items is not None
                and len(value.items) == count
                and not starred
            ):
                found |= value.items[index] | value.rest
            else:
                found |= self.elements(one(value))
        return found

    def elements(self, values: Values) -> Values:
        """What iterating gives."""
        found: Values = NOTHING
        for value in values:
            if value in (ARRAY, NUMPY):
                found |= one(value)
            elif value == TEXT:
                found |= one(TEXT)
            elif isinstance(value, Box):
                found |= one(TEXT) if value.kind == "dict" else value.parts()
            elif isinstance(value, Inst) and any(
                "NamedTuple" in base for base in self.external_bases(value.cls)
            ):
                for name in self.fields(value.cls):
                    found |= self.attribute(value, name)
            else:
                found |= unknown()
        return found

    def leaves(self, values: Values) -> Values:
        """The leaves of pytrees."""
        found: Values = NOTHING
        for value in values:
            if isinstance(value, Box):
                found |= self.leaves(value.parts())
            elif isinstance(value, Inst):
                for name in self.fields(value.cls):
                    found |= self.attribute(value, name)
            elif value != NONE:
                found |= one(value)
        return found

    def of_Attribute(self, node: ast.Attribute, file: File) -> Values:
        if name := self.name_of(node, file):
            return one(Ext(name))
        found: Values = NOTHING
        for value in self.of(node.value, file):
            found |= self.attribute(value, node.attr)
        return found

    def attribute_of_object(self, value: Value, name: str) -> Values:
        """An attribute of an array, a container, or an object of a library."""
        if value in (ARRAY, NUMPY):
            if name in _STATIC:
                kind = _STATIC[name]
                return (
                    one(Box("tuple", None, one(NUMBER)))
                    if kind == "tuple"
                    else one(Plain(kind) if kind != "type" else TYPE)
                )
            return one(value) if name in ("T", "mT", "real", "imag", "flat") else one(Method(value, name))
        if value == _OPTIONS:
            return option_of(self.program, name)
        if isinstance(value, Made) and (given := self._given_to_maker(value.name, name)):
            return given
        if isinstance(value, (Box, Made, Plain)):
            return one(Method(value, name))
        if isinstance(value, (Wrapped, Fn)):
            return one(Method(value, name))
        return unknown(f".{name}")

    def _given_to_maker(self, maker: str, name: str) -> Values:
        """What `TrainState.create(apply_fn=model.apply)` gives as `state.apply_fn`: all that the program's calls name so."""
        if not maker.startswith(HOLDERS):
            return NOTHING
        cls = maker.removesuffix(".create")
        calls = self.program.calls
        found: Values = NOTHING
        for file, call in (*calls.get("create", ()), *calls.get(cls.rpartition(".")[2], ())):
            if self.name_of(call.func, file).removesuffix(".create") == cls:
                for keyword in call.keywords:
                    if keyword.arg == name:
                        found |= self.of(keyword.value, file)
        return found

    # Calls

    def of_Call(self, node: ast.Call, file: File) -> Values:
        found: Values = NOTHING
        for callee in self.of(node.func, file):
            found |= self.result(callee, node, file)
        return found

    def result(self, callee: Value, node: ast.Call, file: File, depth: int = 0) -> Values:
        """What a call of `callee` gives."""
        if isinstance(callee, Fn):
            return self.returned(callee.node, callee.file)
        if isinstance(callee, Cls):
            return one(Inst(callee))
        if isinstance(callee, Ext):
            return self._of_external(callee.name, node, file)
        if isinstance(callee, Method):
            return self._of_method(callee, node, file)
        if isinstance(callee, Inst):
            found: Values = NOTHING
            for function in self.attribute(callee, "__call__"):
                found |= (
                    self.returned(function.node, function.file) if isinstance(function, Fn) else unknown()
                )
            return found
        if isinstance(callee, Wrapped) and callee.how == "jax.vjp":
            return one(Box("tuple", None, one(ARRAY)))
        if isinstance(callee, Wrapped) and depth < 6:
            inner: Values = NOTHING
            for each in callee.inner:
                inner |= self.result(each, node, file, depth + 1)
            return self._of_transformed(callee, inner, node)
        if isinstance(callee, Made):
            if callee.name.startswith(("flax.linen.", "flax.nnx.", "haiku.", "equinox.nn.")):
                return (
                    one(ARRAY)
                    if not callee.name.endswith(("Cell", "RNN", "LSTM", "GRU"))
                    else one(Box("tuple", None, one(ARRAY)))
                )
            if callee.name.startswith("optax."):
                return one(ARRAY)  # a schedule
        return unknown(ast.unparse(node.func)[:40])

    def _of_transformed(self, callee: Wrapped, inner: Values, node: ast.Call) -> Values:
        name = callee.how.rpartition(".")[2]
        if callee.how not in known.GRADIENTS:
            if "vmap" in name:
                return frozenset(ARRAY if each in (NUMBER, NUMPY) else each for each in inner)
            return inner
        if name in ("jacfwd", "jacrev", "hessian", "jacobian"):
            return one(ARRAY)
        gradients = one(Box("dict", None, one(ARRAY))) | one(ARRAY)
        aux = bool(callee.given)
        if "value_and_grad" in name:
            return one(Box("tuple", (inner, gradients), NOTHING))
        return one(Box("tuple", (gradients, self.item_at(inner, 1, 2)), NOTHING)) if aux else gradients

    def _of_external(self, name: str, node: ast.Call, file: File) -> Values:
        given = [self.of(argument, file) for argument in node.args if not isinstance(argument, ast.Starred)]
        first = given[0] if given else NOTHING
        if name in ("functools.partial", "jax.tree_util.Partial"):
            return one(Wrapped(name, first, len(node.args) - 1))
        if name in known.TRANSFORMS:
            wrapped: list[Values] = [first] if first else []
            if not wrapped and node.keywords:
                return one(Wrapped("functools.partial", one(Ext(name))))
            aux = any(each.arg == "has_aux" for each in node.keywords)
            return one(Wrapped(name, wrapped[0] if wrapped else unknown(), int(aux)))
        if name in _LEAVING:
            results: Values = NOTHING
            for function in first:
                results |= self.result(function, node, file)
            return self._like(
                given[1] if (len(given) > 1 and "path" not in name) or len(given) > 1 else unknown(), results
            )
        if name in ("jax.tree.leaves",):
            return one(Box("list", None, self.leaves(first)))
        if name == "jax.lax.scan":
            return self._of_scan(first, given, node, file)
        if name in (
            "jax.lax.cond",
            "jax.lax.switch",
            "jax.lax.while_loop",
            "jax.lax.fori_loop",
            "jax.lax.map",
        ):
            return one(ARRAY) | one(Box("tuple", None, one(ARRAY)))
        if known.gives_array(name):
            return one(ARRAY)
        if name.startswith("numpy.") and not name.startswith("numpy.random."):
            last = name.rpartition(".")[2]
            if last in ("float32", "float64", "int32", "int64", "asarray", "array") or known.computes(name):
                return one(ARRAY) if ARRAY in first and last in ("sum", "mean", "max", "min") else one(NUMPY)
        if name.startswith("math."):
            return one(NUMBER)
        if "." not in name:
            return self._of_builtin(name, first, given, node, file)
        if name in ("copy.copy", "copy.deepcopy", "dataclasses.replace"):
            return first
        if name in ("optax.apply_updates", "equinox.apply_updates", "optax.incremental_update"):
            return self._like(first, one(ARRAY))
        if name == "jax.vjp":
            called = one(Wrapped("jax.vjp", NOTHING))
            values: Values = NOTHING
            for function in first:
                values |= self.result(function, node, file)
            return one(Box("tuple", (values, called), NOTHING))
        if name in ("flax.core.freeze", "flax.core.unfreeze"):
            return first
        if name == "jax.device_put" or name == "jax.block_until_ready":
            return frozenset(ARRAY if each in (NUMPY, NUMBER) else each for each in first)
        if name in ("collections.OrderedDict", "collections.defaultdict"):
            return one(Box("dict", None, unknown()))
        return one(Made(name))

    def _like(self, tree: Values, leaf: Values) -> Values:
        """A tree of the same structure with other leaves."""
        found: Values = NOTHING
        for value in tree:
            if isinstance(value, Box):
                items = (
                    tuple(self._like(item, leaf) for item in value.items) if value.items is not None else None
                )
                found |= one(Box(value.kind, items, self._like(value.rest, leaf), value.keys))
            else:
                found |= leaf
        return found or leaf

    def _of_scan(self, functions: Values, given: list[Values], node: ast.Call, file: File) -> Values:
        carry = given[1] if len(given) > 1 else unknown()
        return one(
            Box(
                "tuple",
                (
                    frozenset(ARRAY if each in (NUMBER, NUMPY) else each for each in carry),
                    one(ARRAY) | one(NONE),
                ),
                NOTHING,
            )
        )

    def _of_builtin(
        self, name: str, first: Values, given: list[Values], node: ast.Call, file: File
    ) -> Values:
        if name == "abs" or name == "round":
            return first
        if name in _TO_NUMBERS:
            return one(NUMBER)
        if name in _TO_TEXT:
            return one(TEXT)
        if name == "range":
            return one(Box("iterator", None, one(NUMBER)))
        if name == "zip":
            return one(
                Box(
                    "iterator", None, one(Box("tuple", tuple(self.elements(each) for each in given), NOTHING))
                )
            )
        if name == "enumerate":
            return one(Box("iterator", None, one(Box("tuple", (one(NUMBER), self.elements(first)), NOTHING))))
        if name in ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "filter"):
            source = given[1] if name == "filter" and len(given) > 1 else first
            kind = {
                "frozenset": "set",
                "sorted": "list",
                "reversed": "iterator",
                "iter": "iterator",
                "filter": "iterator",
            }.get(name, name)
            return one(Box(kind, None, self.elements(source) if given else NOTHING))
        if name == "dict":
            rest = self.elements_of_dict(first) if given else NOTHING
            items = tuple(self.of(each.value, file) for each in node.keywords if each.arg)
            return one(Box("dict", items, rest, tuple(each.arg for each in node.keywords if each.arg)))
        if name in ("sum", "max", "min"):
            parts = (
                self.elements(first)
                if len(given) == 1 or name == "sum"
                else frozenset().union(*given)
                if given
                else NOTHING
            )
            return parts | (one(NUMBER) if name == "sum" and ARRAY not in parts else NOTHING)
        if name in ("divmod", "pow"):
            return first
        if name == "map":
            found: Values = NOTHING
            for function in first:
                found |= self.result(function, node, file)
            return one(Box("iterator", None, found))
        if name == "type":
            return one(TYPE)
        return unknown(f"{name}(...)") if name not in known.BUILTINS else one(Made(name))

    def _of_method(self, callee: Method, node: ast.Call, file: File) -> Values:
        """What a call of a method gives, by what has it."""
        receiver, name = callee.receiver, callee.name
        if receiver in (ARRAY, NUMPY):
            if name == "item":
                return one(NUMBER)
            return one(Box("list", None, one(NUMBER))) if name == "tolist" else one(receiver)
        if receiver == TEXT:
            return (
                one(NUMBER)
                if name in ("count", "find", "index") or name.startswith(("is", "starts", "ends"))
                else one(TEXT)
            )
        if isinstance(receiver, Box):
            return self._of_container(receiver, name, node, file)
        if isinstance(receiver, Wrapped) and receiver.how.startswith("haiku."):
            if name == "init":
                return one(Box("dict", None, one(ARRAY)))
            inner: Values = NOTHING
            for function in receiver.inner:
                inner |= self.result(function, node, file)
            return inner
        if isinstance(receiver, Made):
            return self._of_made(receiver.name, name, node)
        if isinstance(receiver, Inst):
            return self._of_inst(receiver, name, node)
        return unknown(f".{name}()")

    def _of_container(self, receiver: Box, name: str, node: ast.Call, file: File) -> Values:
        """What a method of a container gives."""
        if name in ("get", "pop", "popleft", "setdefault"):
            parts = receiver.parts()
            for argument in node.args[1:]:
                parts |= self.of(argument, file)
            return parts | (one(NONE) if name == "get" and len(node.args) < 2 else NOTHING)
        if name == "items":
            return one(Box("iterator", None, one(Box("tuple", (one(TEXT), receiver.parts()), NOTHING))))
        if name == "values":
            return one(Box("iterator", None, receiver.parts()))
        if name == "keys":
            return one(Box("iterator", None, one(TEXT)))
        if name == "copy":
            return one(receiver)
        if name in ("index", "count"):
            return one(NUMBER)
        return one(NONE) if name in known.CHANGING else unknown()

    def _of_inst(self, receiver: Inst, name: str, node: ast.Call) -> Values:
        """What a method gives that a class of the project has from a library."""
        if name in ("replace", "_replace", "apply_gradients", "create"):
            return one(receiver)
        bases = self.external_bases(receiver.cls)
        if name == "apply" and any(base.startswith("flax.linen") for base in bases):
            found: Values = NOTHING
            for function in self.attribute(receiver, "__call__"):
                found |= (
                    self.returned(function.node, function.file) if isinstance(function, Fn) else unknown()
                )
            if any(each.arg == "method" for each in node.keywords):
                return unknown()
            if any(each.arg in ("mutable", "capture_intermediates") for each in node.keywords):
                return one(Box("tuple", (found, one(ARRAY)), NOTHING))
            return found
        if name == "init":
            return one(Box("dict", None, one(ARRAY)))
        return unknown(f".{name}()")

    def _of_made(self, made: str, name: str, node: ast.Call) -> Values:
        if made == "argparse.ArgumentParser" and name == "parse_args":
            return one(_OPTIONS)
        if made.startswith(HOLDERS) and name in RENEWING:
            return one(Made(made))
        if made.startswith("optax."):
            if name == "update":
                return one(
                    Box(
                        "tuple",
                        (one(Box("dict", None, one(ARRAY))), one(Box("tuple", None, one(ARRAY)))),
                        NOTHING,
                    )
                )
            return one(Box("tuple", None, one(ARRAY)))
        if made.startswith(("flax.linen.", "haiku.")) and name in ("apply", "init"):
            return one(ARRAY) if name == "apply" else one(Box("dict", None, one(ARRAY)))
        if made.startswith(("distrax.", "jax.")):
            return one(ARRAY)
        if made == "numpy.random.default_rng" or made == "numpy.random.RandomState":
            return one(NUMPY)
        return unknown(f".{name}()")
