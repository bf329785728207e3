"""Evaluating expressions: names, operators, containers, attributes, subscripts."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from jaxlint.jaxapi.dtypes import promote
from jaxlint.jaxapi.names import JAX_FAMILY
from jaxlint.staging import events
from jaxlint.staging.datamodel import UNARY
from jaxlint.staging.frame import MAX_LOOPS, MAX_UNROLLED, Frame, Loop
from jaxlint.staging.gradients import flow_in
from jaxlint.staging.machine import Machine
from jaxlint.staging.operations import OPERATORS, dtype_of
from jaxlint.staging.stage import Why
from jaxlint.staging.statements import truth
from jaxlint.staging.syntax_facts import asks_for_rank, attribute_tests, dotted, is_version_test
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    Array,
    AtIndexer,
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    ModuleValue,
    NumpyArray,
    Origin,
    Partial,
    Reading,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    find_array,
    hashable,
    in_turn,
    is_none,
    join,
    join_all,
)

_BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bin",
        "bool",
        "bytes",
        "callable",
        "chr",
        "complex",
        "dict",
        "dir",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "hasattr",
        "hash",
        "hex",
        "id",
        "input",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "locals",
        "globals",
        "map",
        "max",
        "min",
        "next",
        "object",
        "oct",
        "open",
        "ord",
        "pow",
        "print",
        "property",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "staticmethod",
        "classmethod",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
    ]
)
_PLAIN_MODULES = ("builtins", "numpy", "numbers", "typing", "collections")
_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp, ast.Constant, ast.JoinedStr)
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_ORDERINGS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


Built = TypeVar("Built")


class Expressions(Machine):
    """The expression half of the interpreter."""

    def eval(self, node: ast.expr, frame: Frame, store: bool = False) -> Value:
        self.steps += 1
        handler = _HANDLERS.get(type(node))
        return UNKNOWN if handler is None else handler(self, node, frame)

    # -- leaves

    def eval_constant(self, node: ast.Constant, frame: Frame) -> Value:
        return Static(node.value)

    def eval_name(self, node: ast.Name, frame: Frame) -> Value:
        found = frame.scope.lookup(node.id)
        if found is None:
            return self.unbound_name(node, frame)
        value = found[0]
        if type(value) is External and self.wants_names:
            self.name_event(value, node, frame)
        if frame.dead:
            self.check_read(node, frame)
        return value

    def unbound_name(self, node: ast.Name, frame: Frame) -> Value:
        if node.id in _BUILTINS:
            return External(f"builtins.{node.id}")
        for name, value in frame.scope.module_scope().variables.items():
            if name.startswith("*") and isinstance(value, External):
                found = External(f"{value.name}.{node.id}")
                self.name_event(found, node, frame)
                return found
        return UNKNOWN

    def eval_joinedstr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.eval(part.value, frame)
                if part.format_spec is not None:
                    self.eval(part.format_spec, frame)
                    spec = part.format_spec
                    empty = isinstance(spec, ast.JoinedStr) and not spec.values
                    if not empty and part.conversion == -1:
                        self.convert(value, part.value, "format", frame)
                        continue
                self.convert(value, part.value, "str", frame)
        return Static(kind="str")

    def eval_lambda(self, node: ast.Lambda, frame: Frame) -> Value:
        return self.make_function(node, frame)

    # -- operators

    def eval_boolop(self, node: ast.BoolOp, frame: Frame) -> Value:
        how = "and" if isinstance(node.op, ast.And) else "or"
        results: list[Value] = []
        before = frame.snapshot()
        guards = 0  # `hasattr(jax, "x") and jax.x`
        for position, operand in enumerate(node.values):
            value = self.eval(operand, frame)
            last = position == len(node.values) - 1
            if not last and self.is_shim(operand, frame):
                frame.import_guard += 1
                guards += 1
            if not last:
                self.test(value, operand, how, frame)
                known = truth(value)
                if known is not None:
                    if known == (how == "or"):
                        results.append(value)
                        break  # the rest never runs
                    continue
                self.narrow(operand, how == "and", frame)
            results.append(value)
        frame.import_guard -= guards
        frame.scope.variables = before.variables | {
            k: v for k, v in frame.scope.variables.items() if k not in before.variables
        }
        if len(results) == 1:
            return results[0]
        result = join_all(results)
        if truth(results[-1]) is (how == "or"):  # whichever operand it stops at, this is what it says
            return _decided(result, how == "or")
        return result

    def eval_unaryop(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.eval(node.operand, frame)
        if isinstance(node.op, ast.Not):
            self.test(value, node.operand, "not", frame)
            known = truth(value)
            return Static(kind="bool") if known is None else Static(not known)
        answer = self.special(value, UNARY[type(node.op)], [], node, frame)
        if answer is not None:
            return answer
        const = constant(value)
        if isinstance(const, (int, float)) and isinstance(node.op, ast.USub):
            return Static(-const)
        if find_array(value, depth=1) is not None:
            result = self.array_result(frame, [value], node, like=value)
            self.made_by(result, OPERATORS[type(node.op)], [value], {}, node, frame)
            return result
        return (
            NumpyArray()
            if isinstance(value, NumpyArray)
            else UNKNOWN
            if isinstance(value, Unknown)
            else Static()
        )

    def eval_binop(self, node: ast.BinOp, frame: Frame) -> Value:
        left = self.eval(node.left, frame)
        right = self.eval(node.right, frame)
        return self.binary(left, right, node.op, node, frame)

    def binary(self, left: Value, right: Value, op: ast.operator, node: ast.AST, frame: Frame) -> Value:
        """The value of `left op right`."""
        if isinstance(left, Instance) or isinstance(right, Instance):
            answer = self.operate(left, op, right, node, frame)
            if answer is not None:
                return answer
        if isinstance(left, Static) and isinstance(op, ast.Mod) and _is_text(left):
            for part in right.elements() if isinstance(right, TupleValue) else [right]:
                numeric = isinstance(left.const, str) and _numeric_format(left.const)
                self.convert(part, node, "format" if numeric else "str", frame)
            return Static(kind="str")
        if isinstance(op, ast.BitOr) and _is_type(left) and _is_type(right):
            return TupleValue([*_members(left), *_members(right)])
        if isinstance(op, ast.Add) and _may_concatenate(left, right):
            return UNKNOWN  # `[first] + states`, where the states may be a list
        if isinstance(op, ast.Mult):
            sequence, count = (right, left) if isinstance(left, Array) else (left, right)
            repeats = isinstance(sequence, (ListValue, TupleValue)) or _is_text(sequence)
            if repeats and isinstance(count, Array) and count.staged and not count.tree:
                # What only arrives as a sequence may be of a class with a product of its own.
                if isinstance(node, ast.BinOp) and isinstance(
                    node.left if count is right else node.right, _DISPLAYS
                ):
                    self.emit("shape", events.ShapeEvent(node, frame, count, "*", "the repetition"))
                return UNKNOWN
        if isinstance(left, (Array, AtIndexer)) or isinstance(right, (Array, AtIndexer)):
            like = left if isinstance(left, Array) else right if isinstance(left, Static) else None
            like = None if isinstance(op, ast.MatMult) else like
            result = self.array_result(frame, [left, right], node, like=like)
            self.made_by(result, OPERATORS[type(op)], [left, right], {}, node, frame)
            return result
        if isinstance(left, Static) and isinstance(right, Static):
            if isinstance(left, Reading) and isinstance(right, Reading) and isinstance(op, ast.Sub):
                return self.elapsed(right, left, node, frame)
            return _fold(left, right, op)
        if isinstance(op, ast.Add):
            if isinstance(left, TupleValue) and isinstance(right, TupleValue):
                if left.items is not None and right.items is not None:
                    return TupleValue([*left.items, *right.items])
                return TupleValue(None, join_all([*left.elements(), *right.elements()]))
            if isinstance(left, ListValue) and isinstance(right, ListValue):
                if left.items is not None and right.items is not None:
                    return ListValue([*left.items, *right.items], stage=frame.stage)
                return ListValue(None, join_all([*left.elements(), *right.elements()]), stage=frame.stage)
        if isinstance(op, ast.Mult):
            for sequence, count in ((left, right), (right, left)):
                if isinstance(sequence, (ListValue, TupleValue)):
                    number = constant(count)
                    if (
                        isinstance(number, int)
                        and sequence.items is not None
                        and 0 <= number * len(sequence.items) <= 64
                    ):
                        items = sequence.items * number
                        return (
                            ListValue(items, join_all(items))
                            if isinstance(sequence, ListValue)
                            else TupleValue(items)
                        )
                    element = join_all(sequence.elements())
                    if isinstance(sequence, ListValue):
                        return ListValue(None, element)
                    return TupleValue(None, element)
        if isinstance(op, ast.BitOr) and isinstance(left, DictValue) and isinstance(right, DictValue):
            return DictValue({**left.items, **right.items}, right.element or left.element, frame.stage)
        if isinstance(left, NumpyArray) or isinstance(right, NumpyArray):
            other = right if isinstance(left, NumpyArray) else left
            if isinstance(other, Unknown):
                return UNKNOWN
            one, two = dtype_of(left), dtype_of(right)
            weak = one.endswith("*") or two.endswith("*") or one == two
            return NumpyArray(dtype=promote(one, two, wide=True) if weak else "")
        return UNKNOWN

    def eval_compare(self, node: ast.Compare, frame: Frame) -> Value:
        left = self.eval(node.left, frame)
        result: Value = UNKNOWN
        known = self.asks_for_tracer_type(node, frame)
        if known is not None:
            return Static(known)
        for position, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.eval(comparator, frame)
            result = self.compare_pair(left, right, op, node, frame)
            if position < len(node.ops) - 1:
                self.test(result, node, "chained comparison", frame)
            left = right
        return result

    def asks_for_tracer_type(self, node: ast.Compare, frame: Frame) -> bool | None:
        """What `type(x) is DynamicJaxprTracer` and its like give; None for any other test."""
        asked, op = node.left, node.ops[0]
        if len(node.ops) > 1 or not isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            return None
        if not (isinstance(asked, ast.Call) and dotted(asked.func) == "type" and len(asked.args) == 1):
            return None
        kind = self.eval(node.comparators[0], frame)
        if not (isinstance(kind, External) and kind.name.endswith("Tracer")):
            return None
        value = self.eval(asked.args[0], frame)
        if not isinstance(value, Array) or not value.staged or not value.certain:
            return None
        return isinstance(op, (ast.Is, ast.Eq))

    def compare_pair(self, left: Value, right: Value, op: ast.cmpop, node: ast.AST, frame: Frame) -> Value:
        """The value of one comparison."""
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = _identical(left, right)
            if same is None:
                return Static(kind="bool")
            return Static(same if isinstance(op, ast.Is) else not same)
        if isinstance(op, (ast.In, ast.NotIn)):
            return self.membership(left, right, op, node, frame)
        if isinstance(left, Instance) or isinstance(right, Instance):
            answer = self.compare_instances(left, op, right, node, frame)
            if answer is not None:
                return answer
        if any(isinstance(side, Static) and side.kind == "treedef" for side in (left, right)):
            return Static(kind="bool")  # Python compares structures
        if _is_text(left) or _is_text(right) or is_none(left) or is_none(right):
            # An array and a string or None are never equal: a plain False, not an array.
            array = left if isinstance(left, Array) else right
            if isinstance(array, Array):
                text = right if array is left else left
                if array.why is not None and array.why.parameter and isinstance(constant(text), str):
                    self.emit("text_comparison", events.TextComparisonEvent(node, frame, array))
                return Static(kind="bool")
        if isinstance(left, (Array, AtIndexer)) or isinstance(right, (Array, AtIndexer)):
            other = right if isinstance(left, Array) else left
            if isinstance(other, (TupleValue, DictValue, External, ClassValue, Function)):
                return Static(kind="bool")
            result = self.array_result(frame, [left, right], node, role="bool")
            self.made_by(result, OPERATORS[type(op)], [left, right], {}, node, frame)
            return result
        one, two = constant(left), constant(right)
        if one is not MISSING and two is not MISSING:
            try:
                if isinstance(op, ast.Eq):
                    return Static(bool(one == two))
                if isinstance(op, ast.NotEq):
                    return Static(bool(one != two))
                return Static(bool(_ORDERINGS[type(op)](one, two)))
            except Exception:
                return Static(kind="bool")
        if isinstance(left, NumpyArray) or isinstance(right, NumpyArray):
            return UNKNOWN if isinstance(left, Unknown) or isinstance(right, Unknown) else NumpyArray()
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return UNKNOWN
        return Static(kind="bool")

    def membership(self, item: Value, container: Value, op: ast.cmpop, node: ast.AST, frame: Frame) -> Value:
        answer = self.special(container, "__contains__", [item], node, frame)
        if answer is not None:
            self.test(answer, node, "in", frame)
            return Static(kind="bool")
        if isinstance(container, DictValue) or (
            isinstance(container, ListValue) and container.kind in ("set", "frozenset")
        ):
            self.convert(item, node, "hash", frame)
            if isinstance(container, ListValue):
                return Static(kind="bool")
        if isinstance(container, DictValue):
            const = constant(item)
            if const is not MISSING and container.element is None:
                try:
                    known = const in container.items
                except TypeError:
                    return Static(kind="bool")
                if known:
                    return Static(isinstance(op, ast.In))
            return Static(kind="bool")
        if isinstance(container, Array) and not container.tree:
            result = self.array_result(frame, [container], node, role="bool")
            self.test(result, node, "in", frame)
        elif isinstance(item, Array) and not item.tree and isinstance(container, (ListValue, TupleValue)):
            numbers = [p for p in container.elements() if isinstance(p, (Static, Array)) and not _is_text(p)]
            if numbers:
                self.test(self.array_result(frame, [item], node, role="bool"), node, "in", frame)
        elif isinstance(container, (ListValue, TupleValue)) and container.items is not None:
            const, options = constant(item), constant(container)
            if const is not MISSING and options is not MISSING:
                return Static((const in options) == isinstance(op, ast.In))
        return Static(kind="bool")

    def eval_ifexp(self, node: ast.IfExp, frame: Frame) -> Value:
        test = self.eval(node.test, frame)
        self.test(test, node.test, "conditional expression", frame)
        known = truth(test)
        if self.is_shim(node.test, frame):
            frame.import_guard += 1
            chosen = join(self.eval(node.body, frame), self.eval(node.orelse, frame))
            frame.import_guard -= 1
            return chosen
        if known is not None:
            return self.eval(node.body if known else node.orelse, frame)
        before = frame.snapshot()
        doubt = asks_for_rank(node.test)
        frame.doubt += doubt
        self.narrow(node.test, True, frame)
        body = self.eval(node.body, frame)
        used = frame.used
        frame.restore(before)
        self.narrow(node.test, False, frame)
        orelse = self.eval(node.orelse, frame)
        frame.doubt -= doubt
        used = {**used, **frame.used}
        frame.restore(before)
        frame.used = used
        return join(body, orelse)

    def is_shim(self, test: ast.expr, frame: Frame) -> bool:
        """Whether a test asks which version of a library there is, or which names it has."""
        if is_version_test(test):
            return True
        return any(
            isinstance(self.eval(asked, frame), (External, ModuleValue)) for asked in attribute_tests(test)
        )

    def narrow(self, test: ast.expr, outcome: bool, frame: Frame) -> None:
        """Refines variables by what a test says of them."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow(test.operand, not outcome, frame)
        elif isinstance(test, ast.Name):
            self.narrow_truth(test.id, outcome, frame)
        elif isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == outcome:
                for operand in test.values:
                    self.narrow(operand, outcome, frame)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
            right = test.comparators[0]
            if isinstance(right, ast.Constant) and right.value is None:
                if (isinstance(test.ops[0], (ast.Is, ast.Eq)) and outcome) or (
                    isinstance(test.ops[0], (ast.IsNot, ast.NotEq)) and not outcome
                ):
                    self.rebind(test.left.id, Static(None), frame)
        elif isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance":
            self.narrow_isinstance(test, outcome, frame)
        elif isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "hasattr":
            attribute = test.args[1] if len(test.args) == 2 else None
            arraylike = isinstance(attribute, ast.Constant) and attribute.value in (
                "shape",
                "dtype",
                "ndim",
                "aval",
            )
            if arraylike and not outcome and isinstance(test.args[0], ast.Name):
                self.rebind(test.args[0].id, Static(), frame)  # without a shape it is no array
        elif (
            isinstance(test, ast.Call)
            and isinstance(test.func, (ast.Name, ast.Attribute))
            and outcome
            and len(test.args) == 1
            and isinstance(test.args[0], ast.Name)
        ):
            name = test.func.id if isinstance(test.func, ast.Name) else test.func.attr
            if name in ("is_concrete", "isscalar", "callable", "is_scalar"):
                self.rebind(test.args[0].id, Static(), frame)

    def narrow_truth(self, name: str, outcome: bool, frame: Frame) -> None:
        """A setting that was tested is what the test said, in the functions made here, too."""
        found = frame.scope.variables.get(name)
        if found is not None:
            self.rebind(name, _decided(found, outcome), frame)

    def narrow_isinstance(self, test: ast.Call, outcome: bool, frame: Frame) -> None:
        if len(test.args) != 2 or not isinstance(test.args[0], ast.Name):
            return
        found = frame.scope.lookup(test.args[0].id)
        if found is None:
            return
        names = list(test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]])
        kinds = [member for name in names for member in _members(self.eval(name, frame))]
        if (
            outcome
            and isinstance(found[0], Array)
            and not any(map(_is_array_type, kinds))
            and (any(type(kind) is Unknown or _is_foreign(kind) for kind in kinds))
        ):
            self.rebind(test.args[0].id, replace(found[0], certain=False), frame)
            return
        plain = all(
            isinstance(kind, External)
            and (kind.name.startswith("builtins.") or kind.name.startswith(("numpy.", "numbers.")))
            for kind in kinds
        )
        tracers = all(isinstance(kind, External) and kind.name.endswith("Tracer") for kind in kinds)
        if (outcome and plain) or (not outcome and tracers):
            if isinstance(found[0], (Array, Unknown)):
                containers = any(
                    isinstance(k, External) and k.name.partition(".")[2] in ("list", "tuple", "dict")
                    for k in kinds
                )
                self.rebind(test.args[0].id, UNKNOWN if containers else Static(), frame)
        elif outcome and len(kinds) == 1 and isinstance(kinds[0], ClassValue) and type(found[0]) is Unknown:
            self.rebind(test.args[0].id, self.some_instance(kinds[0], found[0], frame), frame)

    def some_instance(self, cls: ClassValue, value: Unknown, frame: Frame) -> Value:
        """An instance of which only the class is known, after a test that asked for it."""
        if cls.kind in ("enum", "namedtuple"):
            return value
        leaf = Array(True, frame.stage.why, tree=True, certain=False) if frame.stage.abstract else None
        instance = Instance(cls, {}, True, value.origin, ready=True, staged=leaf)
        for owner in cls.mro():
            for name, member in owner.namespace.items():
                if not isinstance(member, (Function, Transformed, Partial, ClassValue)):
                    instance.fields[name] = UNKNOWN  # instances may have their own
        return instance

    def rebind(self, name: str, value: Value, frame: Frame) -> None:
        if name in frame.scope.variables:
            frame.scope.variables[name] = value

    # -- containers

    def eval_tuple(self, node: ast.Tuple, frame: Frame) -> Value:
        items, known = self.sequence_items(node.elts, frame)
        return TupleValue(items) if known else TupleValue(None, join_all(items))

    def eval_list(self, node: ast.List, frame: Frame) -> Value:
        items, known = self.sequence_items(node.elts, frame)
        return ListValue(items if known else None, join_all(items), depth=frame.depth, stage=frame.stage)

    def eval_set(self, node: ast.Set, frame: Frame) -> Value:
        items, known = self.sequence_items(node.elts, frame)
        for part, item in zip(node.elts, items, strict=False):
            self.convert(item, part, "hash", frame)
        return ListValue(items if known else None, join_all(items), kind="set", stage=frame.stage)

    def sequence_items(self, nodes: list[ast.expr], frame: Frame) -> tuple[list[Value], bool]:
        items: list[Value] = []
        known = True
        for node in nodes:
            if isinstance(node, ast.Starred):
                inner = self.eval(node.value, frame)
                if isinstance(inner, (TupleValue, ListValue)) and inner.items is not None:
                    items.extend(inner.items)
                else:
                    known = False
                    items.append(self.element_of(inner, node, frame))
            else:
                items.append(self.eval(node, frame))
        return items, known

    def eval_dict(self, node: ast.Dict, frame: Frame) -> Value:
        result = DictValue({}, None, frame.stage)
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.eval(item, frame)
            if key is None:
                more = value.element if isinstance(value, DictValue) else self.element_of(value, item, frame)
                if isinstance(value, DictValue):
                    result.items.update(value.items)
                if more is not None:
                    result.element = more if result.element is None else join(result.element, more)
                continue
            named = self.eval(key, frame)
            self.convert(named, key, "hash", frame)
            const = constant(named)
            if const is not MISSING and hashable(const):
                result.items[const] = value
            else:
                result.element = value if result.element is None else join(result.element, value)
        return result

    def comprehension(self, node: Any, frame: Frame, build: Callable[[], Value]) -> Value:
        """Evaluates the generators of a comprehension, then `build` twice, as a loop body."""
        variables = frame.scope.variables
        frame.scope.variables = dict(variables)
        loops = 0
        iterables: list[tuple[ast.comprehension, Value]] = []
        total: int | None = 1
        for generator in node.generators:
            iterable = self.eval(generator.iter, frame)
            trips = self.trip_count(iterable)
            total = total * trips if total is not None and trips is not None else None
            loop = Loop(generator, "comprehension", len(frame.guards), trips=trips)
            frame.loops.append(loop)
            loops += 1
            iterables.append((generator, iterable))
            self.bind_generator(generator, iterable, frame)
        result = build()
        for loop in frame.loops[len(frame.loops) - loops :]:
            loop.second = True
        if total != 1 and len(frame.loops) <= MAX_LOOPS:
            for generator, iterable in iterables:
                self.bind_generator(generator, iterable, frame)
            result = join(result, build())
        if not frame.stage.staged:
            for loop, (generator, iterable) in zip(frame.loops[-loops:], iterables, strict=True):
                self.emit("iteration", events.IterationEvent(generator.iter, frame, loop, iterable))
        del frame.loops[len(frame.loops) - loops :]
        frame.scope.variables = variables
        return result

    def bind_generator(self, generator: ast.comprehension, iterable: Value, frame: Frame) -> None:
        self.assign(generator.target, self.element_of(iterable, generator.iter, frame), frame, generator)
        for condition in generator.ifs:
            self.test(self.eval(condition, frame), condition, "comprehension condition", frame)
            self.narrow(condition, True, frame)

    def unrolled(
        self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, frame: Frame, build: Callable[[], Built]
    ) -> list[Built] | None:
        """The items of a comprehension over a short sequence that is known item by item; None for any other."""
        generator = node.generators[0]
        if (
            len(node.generators) != 1
            or generator.ifs
            or not isinstance(generator.iter, (ast.Name, ast.Tuple, ast.List))
        ):
            return None
        iterable = self.eval(generator.iter, frame)
        items = iterable.items if isinstance(iterable, (ListValue, TupleValue)) else None
        if not items or len(items) > MAX_UNROLLED or len(frame.loops) >= MAX_LOOPS:
            return None
        variables = frame.scope.variables
        frame.scope.variables = dict(variables)
        loop = Loop(generator, "comprehension", len(frame.guards), trips=len(items))
        frame.loops.append(loop)
        results = []
        for item in items:
            self.assign(generator.target, item, frame, generator)
            results.append(build())
            loop.second = True
        frame.loops.pop()
        frame.scope.variables = variables
        return results

    def eval_listcomp(self, node: ast.ListComp | ast.SetComp, frame: Frame) -> Value:
        def build() -> Value:
            return self.eval(node.elt, frame)

        known = self.unrolled(node, frame, build) if isinstance(node, ast.ListComp) else None
        if known is not None:
            return ListValue(known, join_all(known), stage=frame.stage)
        element = self.comprehension(node, frame, build)
        return ListValue(None, element, "set" if isinstance(node, ast.SetComp) else "list", stage=frame.stage)

    def eval_generator(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        def build() -> Value:
            return self.eval(node.elt, frame)

        known = self.unrolled(node, frame, build)
        if known is not None:
            return ListValue(known, join_all(known), "generator", stage=frame.stage)
        element = self.comprehension(node, frame, build)
        return ListValue(None, element, "generator", stage=frame.stage)

    def eval_dictcomp(self, node: ast.DictComp, frame: Frame) -> Value:
        def entry() -> tuple[Value, Value]:
            key = self.eval(node.key, frame)
            self.convert(key, node.key, "hash", frame)
            return key, self.eval(node.value, frame)

        known = self.unrolled(node, frame, entry)
        if known is not None and all(isinstance(constant(key), str) for key, _ in known):
            return DictValue({constant(key): value for key, value in known}, None, frame.stage)
        if known is not None:
            return DictValue({}, join_all([value for _, value in known]), frame.stage)
        return DictValue({}, self.comprehension(node, frame, lambda: entry()[1]), frame.stage)

    def eval_starred(self, node: ast.Starred, frame: Frame) -> Value:
        return self.eval(node.value, frame)

    def eval_namedexpr(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self.eval(node.value, frame)
        self.assign(node.target, value, frame, node)
        return value

    def eval_yield(self, node: ast.Yield, frame: Frame) -> Value:
        self.ledger.serial += 1
        frame.facts["yield"] = self.ledger.serial  # a region of clocks around it times what runs meanwhile
        frame.yields.append(self.eval(node.value, frame) if node.value is not None else Static(None))
        return UNKNOWN

    def eval_yieldfrom(self, node: ast.YieldFrom, frame: Frame) -> Value:
        frame.yields.append(self.element_of(self.eval(node.value, frame), node, frame))
        return UNKNOWN

    def eval_await(self, node: ast.Await, frame: Frame) -> Value:
        self.eval(node.value, frame)
        return UNKNOWN

    def eval_slice(self, node: ast.Slice, frame: Frame) -> Value:
        bounds: list[Value] = []
        for part in (node.lower, node.upper, node.step):
            bounds.append(self.eval(part, frame) if part is not None else Static(None))
        return ExternalObject("builtins.slice", bounds, node=node)

    def element_of(self, value: Value, node: ast.AST, frame: Frame) -> Value:
        """What iterating over `value` gives."""
        if isinstance(value, (ListValue, TupleValue)):
            # Each element is an object of its own, whatever they have in common.
            return self.fresh(value.element if value.items is None else in_turn(value.items))
        if isinstance(value, DictValue):
            keys = [Static(key) for key in value.items]
            return (
                join_all(keys) if keys and value.element is None else Static(kind="key") if keys else Static()
            )
        if isinstance(value, Array):
            return Array(
                value.staged,
                value.why,
                tree=value.tree,
                certain=value.certain,
                origin=Origin("element"),
                role=value.role,
                jitted=value.jitted,
                flow=value.flow,
            )
        if isinstance(value, ExternalObject) and value.name == "builtins.range":
            if any(find_array(arg, True) for arg in value.args):
                return UNKNOWN
            return Static(kind="int")
        if isinstance(value, NumpyArray):
            return NumpyArray()
        if isinstance(value, Static):
            return Static(kind="str" if _is_text(value) else "")
        if isinstance(value, Instance):
            result = self.special(value, "__iter__", [], node, frame)
            if isinstance(result, Instance):
                result = self.special(result, "__next__", [], node, frame)
                return UNKNOWN if result is None else result
            if result is None:
                result = self.special(value, "__getitem__", [Static(kind="int")], node, frame)
                return UNKNOWN if result is None else result
            return self.element_of(result, node, frame)
        return Unknown(Origin("element"))

    # -- attributes and subscripts

    def array_result(
        self,
        frame: Frame,
        inputs: list[Value],
        node: ast.AST,
        *,
        role: str = "",
        like: Value | None = None,
        name: str = "",
    ) -> Array:
        """The array that an array operation on `inputs` gives here: a tracer if one goes in or the stage is abstract."""
        first = None
        device = None
        for value in inputs:
            found = find_array(value)
            if found is not None and found.staged:
                if found.certain:
                    first = found
                    break
                first = first or found
            elif found is not None and (device is None or not device.certain):
                device = found
        origin = like.like or like.origin if isinstance(like, Array) else None
        jitted = next((a.jitted for a in (first, device) if a is not None and a.jitted), "")
        if first is not None and (first.certain or not frame.stage.abstract or not frame.stage.certain):
            result = Array(True, first.why, certain=first.certain, role=role, like=origin)
        elif frame.stage.abstract:
            # An array function gives a tracer here whatever goes in; an operator only when one side is an array.
            what = f"`{name}` runs" if name else "the operation runs"
            why = Why(f"{what} under `{frame.stage.kind}`", cause=frame.stage.why)
            certain = frame.stage.certain and (
                bool(name) or (first is None and device is not None and device.certain)
            )
            result = Array(True, why, certain=certain, role=role, like=origin)
        else:
            # What an operator makes of something that is only likely an array is no more certain.
            certain = bool(name) or device is None or device.certain
            result = Array(
                False,
                certain=certain,
                role=role,
                like=origin,
                jitted=jitted,
                why=device.why if device is not None else None,
            )
        if self.differentiating:
            result.flow = flow_in(inputs)
        return result


def _may_concatenate(left: Value, right: Value) -> bool:
    pairs = ((left, right), (right, left))
    return any(isinstance(a, (ListValue, TupleValue)) and isinstance(b, Array) and b.tree for a, b in pairs)


def _decided(value: Value, outcome: bool) -> Value:
    """A plain or unknown value of which a test has said what it is."""
    if type(value) is Static and value.const is MISSING:
        return Static(kind=value.kind, one_of=value.one_of, truth=outcome)
    if type(value) is Unknown:
        return Unknown(value.origin, value.flow, True) if outcome else Static(truth=False)
    return value


def _members(kind: Value) -> list[Value]:
    """The types that the second argument of `isinstance` stands for."""
    return kind.elements() if isinstance(kind, TupleValue) else [kind]


def _is_array_type(kind: Value) -> bool:
    return isinstance(kind, External) and kind.name.partition(".")[0] in JAX_FAMILY


def _is_foreign(kind: Value) -> bool:
    """Whether a type is of a library that is not known, whose instances are no tracers."""
    return isinstance(kind, External) and kind.name.partition(".")[0] not in (*JAX_FAMILY, *_PLAIN_MODULES)


def _is_type(value: Value) -> bool:
    """Whether a value is a type, or several, in the way `isinstance` takes them."""
    if isinstance(value, TupleValue):
        return bool(value.items) and all(map(_is_type, value.items or ()))
    return isinstance(value, (External, ClassValue)) or is_none(value)


def _is_text(value: Value) -> bool:
    return isinstance(value, Static) and (
        isinstance(value.const, (str, bytes)) or value.kind in ("str", "key")
    )


def _numeric_format(text: str) -> bool:
    """Whether a %-format has a conversion that needs a number."""
    plain = text.replace("%%", "")
    return any(
        chunk.lstrip("0123456789.+-# ")[:1] in ("d", "f", "g", "e", "i", "x", "F", "G", "E")
        for chunk in plain.split("%")[1:]
    )


def _identical(left: Value, right: Value) -> bool | None:
    """What `left is right` gives; arrays and containers are never None, True or False."""
    if is_none(right) or is_none(left):
        other = left if is_none(right) else right
        if is_none(other):
            return True
        if isinstance(other, Static):
            return None if other.const is MISSING and not other.kind else False
        if isinstance(other, Array):
            return None if other.tree or not other.certain else False
        return None if isinstance(other, Unknown) else False
    modules = ("numpy", "jax.numpy")  # that a function may be given: `if np_ is jnp:`
    if type(left) is External and type(right) is External and {left.name, right.name} <= {*modules}:
        return left.name == right.name
    if isinstance(left, Static) and isinstance(right, Static):
        if left.const is MISSING or right.const is MISSING:
            return None
        return bool(
            left.const is right.const or (type(left.const) is type(right.const) and left.const == right.const)
        )
    if isinstance(left, Array) and isinstance(right, Static) and right.const is not MISSING and not left.tree:
        return False
    return None


def _fold(left: Static, right: Static, op: ast.operator) -> Value:
    """Arithmetic on constants, kept small."""
    one, two = left.const, right.const
    action = _ARITHMETIC.get(type(op))
    numbers = (int, float)
    if (
        action is not None
        and isinstance(one, numbers)
        and isinstance(two, numbers)
        and abs(one) < 1e9
        and abs(two) < 1e9
    ):
        try:
            return Static(action(one, two))
        except (ArithmeticError, ValueError, TypeError):
            return Static()
    if _is_text(left) and _is_text(right) and isinstance(op, ast.Add):
        return Static(kind="str")
    kinds = {left.kind or type(one).__name__, right.kind or type(two).__name__}
    integral = kinds == {"int"} and not isinstance(op, ast.Div)
    return Static(kind="int" if integral else "")


_HANDLERS: dict[type[ast.expr], Callable[[Any, Any, Frame], Value]] = {
    ast.Constant: Expressions.eval_constant,
    ast.Name: Expressions.eval_name,
    ast.JoinedStr: Expressions.eval_joinedstr,
    ast.Lambda: Expressions.eval_lambda,
    ast.BoolOp: Expressions.eval_boolop,
    ast.UnaryOp: Expressions.eval_unaryop,
    ast.BinOp: Expressions.eval_binop,
    ast.Compare: Expressions.eval_compare,
    ast.IfExp: Expressions.eval_ifexp,
    ast.Tuple: Expressions.eval_tuple,
    ast.List: Expressions.eval_list,
    ast.Set: Expressions.eval_set,
    ast.Dict: Expressions.eval_dict,
    ast.ListComp: Expressions.eval_listcomp,
    ast.SetComp: Expressions.eval_listcomp,
    ast.GeneratorExp: Expressions.eval_generator,
    ast.DictComp: Expressions.eval_dictcomp,
    ast.Starred: Expressions.eval_starred,
    ast.NamedExpr: Expressions.eval_namedexpr,
    ast.Yield: Expressions.eval_yield,
    ast.YieldFrom: Expressions.eval_yieldfrom,
    ast.Await: Expressions.eval_await,
    ast.Slice: Expressions.eval_slice,
}


def register(node: type[ast.expr], handler: Callable[[Any, Any, Frame], Value]) -> None:
    """Lets the modules that know calls, attributes and subscripts add their handlers without an import cycle."""
    _HANDLERS[node] = handler
