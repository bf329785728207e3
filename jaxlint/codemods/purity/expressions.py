"""The values of literals, displays, operators, items and attributes of containers."""

from __future__ import annotations

import ast

from jaxlint.codemods.purity.argparse_options import option_of
from jaxlint.codemods.purity.known_functions import CONSTANTS
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.value_queries import ValueQueries
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

_STATIC = {
    "shape": "tuple",
    "ndim": "number",
    "size": "number",
    "dtype": "type",
    "itemsize": "number",
    "nbytes": "number",
}
OPTIONS = Made("argparse.Namespace")
# Library objects that store their arguments under the names of the keywords.
HOLDERS = ("flax.training.train_state.",)


class Expressions:
    """The values of expressions other than names and calls."""

    def __init__(self, possible: ValueQueries) -> None:
        self.possible, self.program = possible, possible.program

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
                    self.elements(self.possible.of(item.value, file))
                    if isinstance(item, ast.Starred)
                    else self.possible.of(item, file)
                )
            return one(Box(kind, None, rest))
        return one(Box(kind, tuple(self.possible.of(item, file) for item in node.elts), NOTHING))

    of_List = of_Tuple

    def of_Set(self, node: ast.Set, file: File) -> Values:
        rest: Values = NOTHING
        for item in node.elts:
            rest |= self.possible.of(item, file)
        return one(Box("set", None, rest))

    def of_Dict(self, node: ast.Dict, file: File) -> Values:
        rest: Values = NOTHING
        keys: list[object] = []
        items: list[Values] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                rest |= self.elements_of_dict(self.possible.of(value, file))
            elif isinstance(key, ast.Constant):
                keys.append(key.value)
                items.append(self.possible.of(value, file))
            else:
                rest |= self.possible.of(value, file)
        return one(Box("dict", tuple(items), rest, tuple(keys)))

    def elements_of_dict(self, values: Values) -> Values:
        found: Values = NOTHING
        for value in values:
            found |= value.parts() if isinstance(value, Box) else unknown()
        return found

    def of_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, file: File) -> Values:
        kind = {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "iterator")
        return one(Box(kind, None, self.possible.of(node.elt, file)))

    of_SetComp = of_ListComp

    of_GeneratorExp = of_ListComp

    def of_DictComp(self, node: ast.DictComp, file: File) -> Values:
        return one(Box("dict", None, self.possible.of(node.value, file)))

    def of_IfExp(self, node: ast.IfExp, file: File) -> Values:
        return self.possible.of(node.body, file) | self.possible.of(node.orelse, file)

    def of_NamedExpr(self, node: ast.NamedExpr, file: File) -> Values:
        return self.possible.of(node.value, file)

    def of_BoolOp(self, node: ast.BoolOp, file: File) -> Values:
        found: Values = NOTHING
        for value in node.values:
            found |= self.possible.of(value, file)
        return found

    def of_Starred(self, node: ast.Starred, file: File) -> Values:
        return self.elements(self.possible.of(node.value, file))

    # Operators

    def of_BinOp(self, node: ast.BinOp, file: File) -> Values:
        return self.joined(self.possible.of(node.left, file), self.possible.of(node.right, file))

    def joined(self, left: Values, right: Values) -> Values:
        """The result of any operator for two operands, over all pairs."""
        found: Values = NOTHING
        for first in left:
            for second in right:
                found |= _of_pair(first, second)
        return found

    def of_UnaryOp(self, node: ast.UnaryOp, file: File) -> Values:
        return one(NUMBER) if isinstance(node.op, ast.Not) else self.possible.of(node.operand, file)

    def of_Compare(self, node: ast.Compare, file: File) -> Values:
        if all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            return one(NUMBER)
        found = self.possible.of(node.left, file)
        for right in node.comparators:
            found = self.joined(found, self.possible.of(right, file))
        return frozenset(
            NUMBER if each in (TEXT, NONE) or isinstance(each, Box) else each for each in found
        ) or one(NUMBER)

    # Items and attributes

    def of_Subscript(self, node: ast.Subscript, file: File) -> Values:
        holders = self.possible.of(node.value, file)
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
        """The part of an unpacked value for the target at `index` of `count`."""
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
        """The values that iteration yields."""
        found: Values = NOTHING
        for value in values:
            if value in (ARRAY, NUMPY):
                found |= one(value)
            elif value == TEXT:
                found |= one(TEXT)
            elif isinstance(value, Box):
                found |= one(TEXT) if value.kind == "dict" else value.parts()
            elif isinstance(value, Inst) and any(
                "NamedTuple" in base for base in self.possible.external_bases(value.cls)
            ):
                for name in self.possible.fields(value.cls):
                    found |= self.possible.attribute(value, name)
            else:
                found |= unknown()
        return found

    def contents(self, given: Values) -> Values:
        """The values put into a container, or mapped over, one by one: of a dict its values, of others their
        elements."""
        found: Values = NOTHING
        for value in given:
            is_dict = isinstance(value, Box) and value.kind == "dict"
            found |= self.elements_of_dict(one(value)) if is_dict else self.elements(one(value))
        return found

    def leaves(self, values: Values) -> Values:
        """The leaves of pytrees."""
        found: Values = NOTHING
        for value in values:
            if isinstance(value, Box):
                found |= self.leaves(value.parts())
            elif isinstance(value, Inst):
                for name in self.possible.fields(value.cls):
                    found |= self.possible.attribute(value, name)
            elif value != NONE:
                found |= one(value)
        return found

    def of_Attribute(self, node: ast.Attribute, file: File) -> Values:
        if name := self.possible.name_of(node, file):
            return one(NUMBER if name in CONSTANTS else Ext(name))
        found: Values = NOTHING
        for value in self.possible.of(node.value, file):
            found |= self.possible.attribute(value, node.attr)
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
        if isinstance(value, Method) and value.name == "at" and value.receiver == ARRAY:
            return one(Method(ARRAY, name))  # `x.at[0].set`
        if value == OPTIONS:
            return option_of(self.program, name)
        if isinstance(value, Made) and (given := self._given_to_maker(value.name, name)):
            return given
        if isinstance(value, (Box, Made, Plain)):
            return one(Method(value, name))
        if isinstance(value, (Wrapped, Fn)):
            return one(Method(value, name))
        return unknown(f".{name}")

    def _given_to_maker(self, maker: str, name: str) -> Values:
        """The value of `state.apply_fn` after `TrainState.create(apply_fn=model.apply)`: all values that the
        program's calls pass under that name."""
        if not maker.startswith(HOLDERS):
            return NOTHING
        cls = maker.removesuffix(".create")
        calls = self.program.calls
        found: Values = NOTHING
        for file, call in (*calls.get("create", ()), *calls.get(cls.rpartition(".")[2], ())):
            if self.possible.name_of(call.func, file).removesuffix(".create") == cls:
                for keyword in call.keywords:
                    if keyword.arg == name:
                        found |= self.possible.of(keyword.value, file)
        return found


def _of_pair(first: Value, second: Value) -> Values:
    """The result of an operator for two operands."""
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
