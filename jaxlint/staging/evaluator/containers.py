"""Displays, comprehensions, slices and iteration."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from jaxlint.staging import events
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.narrowing import Narrowing
from jaxlint.staging.evaluator.scopes import Block, Looping, OwnVariables
from jaxlint.staging.values import (
    CONTENT,
    MISSING,
    UNKNOWN,
    Array,
    DictValue,
    ExternalObject,
    Instance,
    ListValue,
    NumpyArray,
    Origin,
    Static,
    TupleValue,
    Unknown,
    Value,
    constant,
    find_array,
    hashable,
    in_turn,
    is_answer,
    is_text,
    join,
    join_all,
    store_key,
    store_somewhere,
    update_dict,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.forms import row
from jaxlint.staging.values.frame import MAX_EXACT, MAX_LOOPS, MAX_UNROLLED, Frame, Loop
from jaxlint.staging.values.measured import joined_shapes
from jaxlint.staging.values.truth import truth

Built = TypeVar("Built")


# Containers that classes derive from, with the builtin that creates the contents.
_HOLDERS = {"builtins.list": "list", "collections.deque": "list", "builtins.dict": "dict"}


_PAIRING = frozenset({"zip", "enumerate"})
_OF_DICTS = frozenset({"items", "keys", "values"})


class Containers(Part):
    """Evaluates containers and their elements."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.data_model = machine.part(DataModel)
        self.conversions = machine.part(Conversions)
        self.narrowing = machine.part(Narrowing)

    def fill_container(self, instance: Instance, call: Call) -> None:
        """Fills an object whose class derives from a container."""
        maker = next((_HOLDERS[base] for base in instance.cls.external_bases() if base in _HOLDERS), None)
        if maker is not None:
            instance.fields[CONTENT] = self.machine.language.call_builtin(maker, call)

    def eval_tuple(self, node: ast.Tuple, frame: Frame) -> Value:
        parts: list[Value] = []  # joined into one
        items, known = self.sequence_items(node.elts, frame, parts)
        if known:
            return TupleValue(items)
        return TupleValue(None, join_all(items), measured=joined_shapes(parts))

    def eval_list(self, node: ast.List, frame: Frame) -> Value:
        items, known = self.sequence_items(node.elts, frame)
        if known:
            return ListValue(items, join_all(items), depth=frame.depth, stage=frame.stage)
        first = next(place for place, part in enumerate(node.elts) if isinstance(part, ast.Starred))
        head = tuple(items[:first])
        return ListValue(None, join_all(items), depth=frame.depth, stage=frame.stage, head=head)

    def eval_set(self, node: ast.Set, frame: Frame) -> Value:
        items, known = self.sequence_items(node.elts, frame)
        for part, item in zip(node.elts, items, strict=False):
            self.conversions.convert(item, part, "hash", frame)
        return ListValue(items if known else None, join_all(items), kind="set", stage=frame.stage)

    def sequence_items(
        self, nodes: list[ast.expr], frame: Frame, parts: list[Value] | None = None
    ) -> tuple[list[Value], bool]:
        """The items of a display, and whether their number is known. `parts` receives the joined parts."""
        items: list[Value] = []
        known = True
        for node in nodes:
            if isinstance(node, ast.Starred):
                inner = self.machine.language.eval(node.value, frame)
                if isinstance(inner, (TupleValue, ListValue)) and inner.items is not None:
                    items.extend(inner.items)
                else:
                    known = False
                    items.append(self.element_of(inner, node, frame))
                if parts is not None:
                    parts.append(inner)
            else:
                items.append(self.machine.language.eval(node, frame))
                if parts is not None:
                    parts.append(items[-1])
        return items, known

    def eval_dict(self, node: ast.Dict, frame: Frame) -> Value:
        result = DictValue({}, None, frame.stage)
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.machine.language.eval(item, frame)
            if key is None:
                given = (
                    value
                    if isinstance(value, DictValue)
                    else DictValue({}, self.element_of(value, item, frame))
                )
                update_dict(result, given, conditional=False)
                continue
            named = self.machine.language.eval(key, frame)
            self.conversions.convert(named, key, "hash", frame)
            const = constant(named)
            if const is not MISSING and hashable(const):
                store_key(result, const, value, conditional=False)
            else:
                store_somewhere(result, named, value)
        return result

    def comprehension(
        self, node: Any, frame: Frame, build: Callable[[], Value]
    ) -> tuple[Value | None, int | None]:
        """Evaluates the generators of a comprehension, then `build` twice, like a loop body; None if the loop never
        runs. The second result is the number of results, if it is known."""
        with OwnVariables(frame.scope, dict(frame.scope.variables)), Block(frame):
            return self.generate(node.generators, 1, [], frame, build)

    def generate(
        self,
        generators: Sequence[ast.comprehension],
        total: int | None,
        around: list[tuple[ast.comprehension, Loop, Value]],
        frame: Frame,
        build: Callable[[], Value],
    ) -> tuple[Value | None, int | None]:
        """Evaluates the remaining generators of a comprehension and `build`. The generators `around` run `total`
        times together."""
        if generators:
            generator, *rest = generators
            iterable = iterated(self.machine.language.eval(generator.iter, frame))
            trips = self.machine.language.trip_count(iterable)
            if trips == 0:
                return None, 0
            total = total * trips if total is not None and trips is not None else None
            loop = Loop(generator, "comprehension", len(frame.guards), trips=trips)
            with Looping(frame, loop):
                self.bind_generator(generator, iterable, frame)
                return self.generate(rest, total, [*around, (generator, loop, iterable)], frame, build)
        result = build()
        for _, loop, _ in around:
            loop.second = True
        if total != 1 and len(frame.loops) <= MAX_LOOPS:
            for generator, _, iterable in around:
                self.bind_generator(generator, iterable, frame)
            result = join(result, build())
        if not frame.stage.staged:
            for generator, loop, iterable in around:
                self.machine.emit("iteration", events.IterationEvent(generator.iter, frame, loop, iterable))
        return result, None if any(generator.ifs for generator, _, _ in around) else total

    def bind_generator(self, generator: ast.comprehension, iterable: Value, frame: Frame) -> None:
        self.machine.language.assign(
            generator.target, self.element_of(iterable, generator.iter, frame), frame, generator
        )
        for condition in generator.ifs:
            value = self.machine.language.eval(condition, frame)
            self.conversions.test(value, condition, "comprehension condition", frame)
            if frame.stage.staged and is_answer(value):
                Block.doubts_rest(frame)
            self.narrowing.narrow(condition, True, frame)

    def unrolled(
        self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, frame: Frame, build: Callable[[], Built]
    ) -> list[Built] | None:
        """The items of a comprehension over a short sequence with known items; None for any other."""
        generator = node.generators[0]
        source = generator.iter
        simple = isinstance(source, (ast.Tuple, ast.List)) or _is_plain(source)
        if len(node.generators) != 1 or not (self.machine.exact or (simple and not generator.ifs)):
            return None
        iterable = iterated(self.machine.language.eval(generator.iter, frame))
        items = self.known_items(iterable) or _keys(iterable)
        most = MAX_EXACT if self.machine.exact else MAX_UNROLLED
        if not items or len(items) > most or len(frame.loops) >= MAX_LOOPS:
            return None
        loop = Loop(generator, "comprehension", len(frame.guards), trips=len(items))
        results = []
        with OwnVariables(frame.scope, dict(frame.scope.variables)), Looping(frame, loop):
            for item in items:
                self.machine.language.assign(generator.target, item, frame, generator)
                chosen = self.is_chosen(generator, frame)
                if chosen is None:
                    return None
                if chosen:
                    results.append(build())
                loop.second = True
        return results

    def is_chosen(self, generator: ast.comprehension, frame: Frame) -> bool | None:
        """Whether all conditions hold for an item; None if that is unknown."""
        for condition in generator.ifs:
            answer = truth(self.machine.language.eval(condition, frame))
            if not answer:
                return answer
            self.narrowing.narrow(condition, True, frame)
        return True

    def eval_listcomp(self, node: ast.ListComp | ast.SetComp, frame: Frame) -> Value:
        def build() -> Value:
            return self.machine.language.eval(node.elt, frame)

        known = self.unrolled(node, frame, build) if isinstance(node, ast.ListComp) else None
        if known is not None:
            return ListValue(known, join_all(known), stage=frame.stage)
        kind = "set" if isinstance(node, ast.SetComp) else "list"
        return self.built(*self.comprehension(node, frame, build), kind, frame)

    def eval_generator(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        def build() -> Value:
            return self.machine.language.eval(node.elt, frame)

        known = self.unrolled(node, frame, build)
        if known is not None:
            return ListValue(known, join_all(known), "generator", stage=frame.stage)
        return self.built(*self.comprehension(node, frame, build), "generator", frame)

    @staticmethod
    def built(element: Value | None, length: int | None, kind: str, frame: Frame) -> ListValue:
        """The value of a comprehension that holds `element`, or nothing."""
        if element is None:
            return ListValue([], kind=kind, stage=frame.stage)
        return ListValue(None, element, kind, stage=frame.stage, length=length if kind == "list" else None)

    def eval_dictcomp(self, node: ast.DictComp, frame: Frame) -> Value:
        def entry() -> tuple[Value, Value]:
            key = self.machine.language.eval(node.key, frame)
            self.conversions.convert(key, node.key, "hash", frame)
            return key, self.machine.language.eval(node.value, frame)

        known = self.unrolled(node, frame, entry)
        if known is not None and all(isinstance(constant(key), str) for key, _ in known):
            return DictValue({constant(key): value for key, value in known}, None, frame.stage)
        if known is not None:
            return DictValue({}, join_all([value for _, value in known]), frame.stage)
        return DictValue({}, self.comprehension(node, frame, lambda: entry()[1])[0], frame.stage)

    def eval_slice(self, node: ast.Slice, frame: Frame) -> Value:
        bounds: list[Value] = []
        for part in (node.lower, node.upper, node.step):
            bounds.append(self.machine.language.eval(part, frame) if part is not None else Static(None))
        return ExternalObject("builtins.slice", bounds, node=node)

    def known_items(self, value: Value) -> list[Value] | None:
        """The items of `value`, if each is known. An exact analysis includes numbers and keys."""
        value = iterated(value)
        if isinstance(value, (ListValue, TupleValue)):
            return value.items
        if not self.machine.exact:
            return None
        if isinstance(value, DictValue):
            return _keys(value)
        if isinstance(value, ExternalObject) and value.name == "builtins.range":
            numbers = [constant(arg) for arg in value.args]
            if numbers and all(type(number) is int for number in numbers) and 0 not in numbers[2:]:
                counted = range(*numbers)
                return [Static(number) for number in counted] if len(counted) <= MAX_EXACT else None
        return None

    def element_of(self, value: Value, node: ast.AST, frame: Frame) -> Value:
        """The value of each element when iterating over `value`."""
        value = iterated(value)
        if isinstance(value, (ListValue, TupleValue)):
            # Each element is a separate object, even if elements share parts.
            return fresh(value.element if value.items is None else in_turn(value.items))
        if type(value) is DictValue:
            keys = [Static(key) for key in value.items]
            return (
                join_all(keys) if keys and value.element is None else Static(kind="key") if keys else Static()
            )
        if type(value) is Array:
            exact = self.machine.exact and not value.tree
            return Array(
                value.staged,
                value.why,
                tree=value.tree,
                # a tree may be a dict, which iterates over its keys
                certain=value.certain and not value.tree,
                origin=Origin("element"),
                role=value.role,
                jitted=value.jitted,
                dtype="" if value.tree or not value.certain else value.dtype,
                flow=value.flow,
                form=row(value) if exact else None,
            )
        if type(value) is ExternalObject and value.name == "builtins.range":
            if any(find_array(arg, True) for arg in value.args):
                return UNKNOWN
            return Static(kind="int")
        if type(value) is NumpyArray:
            return NumpyArray(dtype=value.dtype, form=row(value))
        if isinstance(value, Static):
            return Static(kind="str" if is_text(value) else "")
        if type(value) is Instance:
            result = self.data_model.special(value, "__iter__", [], node, frame)
            if result is None and CONTENT in value.fields:
                return self.element_of(value.fields[CONTENT], node, frame)
            if type(result) is Instance:
                result = self.data_model.special(result, "__next__", [], node, frame)
                return UNKNOWN if result is None else result
            if result is None:
                result = self.data_model.special(value, "__getitem__", [Static(kind="int")], node, frame)
                return UNKNOWN if result is None else result
            return self.element_of(result, node, frame)
        return Unknown(Origin("element"))


def iterated(value: Value) -> Value:
    """What a loop over `value` goes through: an object of a library may hand on the items of another."""
    while type(value) is ExternalObject and CONTENT in value.kwargs:
        value = value.kwargs[CONTENT]
    return value


def _is_plain(source: ast.expr) -> bool:
    """Whether evaluating an expression twice is the same as once: names, and their parts, items and pairs."""
    if isinstance(source, ast.Call):
        function = source.func
        if isinstance(function, ast.Attribute):
            return function.attr in _OF_DICTS and not source.args and _is_plain(function.value)
        known = isinstance(function, ast.Name) and function.id in _PAIRING and not source.keywords
        return known and all(map(_is_plain, source.args))
    while isinstance(source, (ast.Attribute, ast.Subscript)):
        if isinstance(source, ast.Subscript) and any(
            isinstance(part, (ast.Call, ast.NamedExpr, ast.Await)) for part in ast.walk(source.slice)
        ):
            return False
        source = source.value
    return isinstance(source, ast.Name)


def _keys(value: Value) -> list[Value] | None:
    """The keys of a dict, if all are known."""
    if not isinstance(value, DictValue) or value.element is not None or value.optional:
        return None
    return [Static(key) for key in value.items]
