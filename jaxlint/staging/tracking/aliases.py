"""Alias analysis: which names, and paths below them, may hold the same buffer."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from jaxlint.jaxapi.names import canonical
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    STATICS,
    ClassValue,
    DictValue,
    External,
    ExternalMethod,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    find_array,
)
from jaxlint.staging.values.buffers import Buffer, Held, is_at_or_below, is_below
from jaxlint.staging.values.frame import Frame
from jaxlint.syntax.facts import (
    all_parameters,
    last_name,
    loop_variables,
    place_of,
)

# Functions that return the buffers of their argument if JAX need not copy.
_SHARING = frozenset(
    """jax.numpy.asarray jax.device_put builtins.dict builtins.list builtins.tuple copy.copy
    flax.core.freeze flax.core.unfreeze flax.core.FrozenDict flax.core.frozen_dict.freeze
    flax.core.frozen_dict.unfreeze jax.lax.stop_gradient""".split()  # noqa: SIM905
)
_SHARING_METHODS = frozenset({"copy", "unfreeze", "items", "values"})  # of containers; array functions copy
_SHARING_ENDS = {"map", "tree_map", *(name.rpartition(".")[2] for name in _SHARING)}
_REPLACING = frozenset({"replace", "_replace"})
_HOLD_NOTHING = STATICS | {NumpyArray, Function, Transformed, External}


METADATA = frozenset(
    """shape dtype ndim size sharding aval weak_type nbytes itemsize is_deleted delete devices device
    apply_fn tx apply_gradients_fn graphdef config cfg""".split()  # noqa: SIM905
)


class Aliases(Part):
    """Which buffers places hold, and how bindings change that."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.function_calls = machine.part(FunctionCalls)

    def buffers_at(self, place: str, frame: Frame) -> frozenset[Buffer]:
        """The buffers that `place` may hold; a new place gets a new buffer."""
        found = frame.buffers.held.get(place)
        if found is not None:
            return found
        root = root_of(place)
        function = frame.function
        given = (
            function is not None
            and root not in frame.rebound
            and place not in frame.rebound
            and any(parameter.arg == root for parameter in all_parameters(function.node))
        )
        made = frozenset([Buffer(place, given)])
        frame.buffers = frame.buffers.holding({**frame.buffers.held, place: made})
        return made

    def known_at(self, place: str, frame: Frame) -> frozenset[Buffer]:
        """The known buffers of `place`: its own, or those from the value that contains it."""
        while place:
            found = frame.buffers.held.get(place)
            if found is not None:
                return found
            place = parent_of(place)
        return frozenset()

    def held(self, node: ast.expr, value: Value, frame: Frame) -> Held | None:
        """The buffers that a binding to `node` shares with other places; None if it is new."""
        if type(value) in _HOLD_NOTHING:
            return None
        if type(node) is ast.Call:
            return self.held_by_call(node, value, frame)
        if type(node) is ast.Attribute and node.attr in METADATA and find_array(value) is None:
            return None  # `x.shape` is numbers, whatever happens to `x`
        place = place_of(node)
        if place:
            body = frame.function.node if frame.function is not None else frame.module.tree
            if type(value) is Unknown and place in loop_variables(body):
                return None  # an epoch more likely than a batch that is kept
            below = {key[len(place) :]: b for key, b in frame.buffers.held.items() if is_below(key, place)}
            known = frame.buffers.held.get(place) or self.known_at(place, frame)
            return Held(known or self.buffers_at(place, frame), below)
        if isinstance(node, (ast.Tuple, ast.List)):
            return self.held_by_display([(f"[{i}]", part) for i, part in enumerate(node.elts)], value, frame)
        if isinstance(node, ast.Dict):
            keys = [
                (f"[{key.value!r}]" if isinstance(key, ast.Constant) else "[*]", part)
                for key, part in zip(node.keys, node.values, strict=True)
            ]
            return self.held_by_display(keys, value, frame)
        if isinstance(node, ast.IfExp):
            both = [self.held(part, value, frame) for part in (node.body, node.orelse)]
            return Held(frozenset().union(*[h.buffers for h in both if h is not None]))
        if isinstance(node, ast.NamedExpr):
            return self.held(node.value, value, frame)
        return None

    def held_by_display(self, parts: list[tuple[str, ast.expr]], value: Value, frame: Frame) -> Held | None:
        found: dict[str, frozenset[Buffer]] = {}
        for path, node in parts:
            part = _part_value(value, path)
            inner = self.held(node, part, frame) if part is not None else None
            if inner is None:
                continue
            found[path] = inner.buffers
            found.update({path + below: buffers for below, buffers in inner.parts.items()})
        return Held(frozenset().union(*found.values()), found) if found else None

    def held_by_call(self, node: ast.Call, value: Value, frame: Frame) -> Held | None:
        """The buffers that a call passes on without a copy: fields of a new object, or the same arrays."""
        function = node.func
        if 1 <= len(node.args) <= 2 and (type(function) is ast.Name or last_name(function) in _SHARING_ENDS):
            callee = self.quiet_callee(function, frame)
            name = canonical(callee.name) if isinstance(callee, External) else ""
            if name in _SHARING and len(node.args) == 1 and not node.keywords:
                return self.held(node.args[0], value, frame)
            if name == "jax.tree.map" and len(node.args) == 2 and self.shares(node.args[0], frame):
                return self.held(node.args[1], value, frame)
        if type(function) is ast.Attribute and not node.args:
            if function.attr in _SHARING_METHODS and isinstance(value, (DictValue, ListValue, Instance)):
                return self.held(function.value, value, frame)
        fields = _fields(value)
        made = self.quiet_callee(function, frame) if fields else None
        if made is not None and _makes(made, node):
            given = [
                (f".{k.arg}", k.value)
                for k in node.keywords
                if k.arg and k.arg in fields and k.arg not in METADATA  # an optimizer has no buffers
            ]
            constructor = made.lookup("__init__") if type(made) is ClassValue else None
            if isinstance(constructor, Function):
                held = self.held_by_constructor(constructor, node, frame)
                return self.held_by_display(given, value, frame) if held is None else held
            if type(made) is ClassValue:
                given += [
                    (f".{name}", part) for name, part in zip(made.all_fields(), node.args, strict=False)
                ]
            held = self.held_by_display(given, value, frame)
            if type(function) is ast.Attribute and function.attr in _REPLACING:
                return self.with_other_parts(held, place_of(function.value), fields, node, frame)
            return held
        return self.given_back(node, frame)

    @staticmethod
    def with_other_parts(
        held: Held | None, place: str, fields: Iterable[str], node: ast.Call, frame: Frame
    ) -> Held | None:
        """What `x.replace(a=b)` holds: `held`, and the other known parts of `x`, at `place`."""
        named = {keyword.arg for keyword in node.keywords}
        if not place or None in named:
            return held
        others = [f".{name}" for name in fields if name not in named]
        parts = {
            key[len(place) :]: buffers
            for key, buffers in frame.buffers.held.items()
            if is_below(key, place) and any(is_at_or_below(key[len(place) :], other) for other in others)
        }
        if not parts:
            return held
        if held is not None:
            parts.update(held.parts)
        return Held(frozenset().union(*parts.values()), parts)

    def held_by_constructor(self, function: Function, node: ast.Call, frame: Frame) -> Held | None:
        """The attributes of a new object that hold arguments of the constructor, or share a buffer."""
        record = self.function_calls.records.get(function.node)
        effects = record.argument_effects if record is not None else None
        names = [a.arg for a in [*function.node.args.posonlyargs, *function.node.args.args]]
        if effects is None or not names or any(type(part) is ast.Starred for part in node.args):
            return None
        given = dict(zip(names[1:], node.args, strict=False))
        given.update({k.arg: k.value for k in node.keywords if k.arg})
        parts: dict[str, frozenset[Buffer]] = {}
        for group in effects.together:
            made = frozenset([Buffer(group[0])])
            parts.update(
                (place.removeprefix(names[0]), made) for place in group if root_of(place) == names[0]
            )
        for place, sources in effects.kept.items():
            origins = [translated(source, given) for source in sources]
            if root_of(place) == names[0] and all(origins):
                shared = [self.known_at(one, frame) or self.buffers_at(one, frame) for one in origins]
                parts[place.removeprefix(names[0])] = frozenset().union(*shared)
        return Held(frozenset().union(*parts.values()), parts) if parts else None

    def given_back(self, node: ast.Call, frame: Frame) -> Held | None:
        """The buffers of the arguments that a project function returns, whole or in parts of its result."""
        called, receiver = self.quiet_function(node.func, frame)
        record = self.function_calls.records.get(called.node) if called is not None else None
        if called is None or record is None or record.argument_effects is None:
            return None
        names = [a.arg for a in [*called.node.args.posonlyargs, *called.node.args.args]]
        given = dict(zip(names, [*receiver, *node.args], strict=False))
        given.update({k.arg: k.value for k in node.keywords if k.arg})
        if any(type(part) is ast.Starred for part in node.args):
            return None
        found: dict[str, frozenset[Buffer]] = {}
        for path, source in record.argument_effects.returned.items():
            place = translated(source, given)
            if place:
                found[path] = self.known_at(place, frame) or self.buffers_at(place, frame)
        if not found:
            return None
        whole = frozenset().union(*found.values())
        return Held(whole, {path: buffers for path, buffers in found.items() if path})

    def quiet_function(self, node: ast.expr, frame: Frame) -> tuple[Function | None, list[ast.expr]]:
        """The project function that a call of `node` runs, and the expression of its receiver."""
        if isinstance(node, ast.Attribute):
            base = self.quiet_callee(node.value, frame)
            method = base.cls.lookup(node.attr) if type(base) is Instance else None
            if type(method) is Function and not getattr(method.node, "decorator_list", None):
                return method, [node.value]
            return None, []
        callee = self.quiet_callee(node, frame)
        return (callee, []) if type(callee) is Function else (None, [])

    def shares(self, node: ast.expr, frame: Frame) -> bool:
        """Whether a function returns its argument."""
        if isinstance(node, ast.Lambda):
            body = node.body
            names = [a.arg for a in node.args.args]
            return isinstance(body, ast.Name) and names == [body.id]
        callee = self.quiet_callee(node, frame)
        return isinstance(callee, External) and canonical(callee.name) in ("jax.numpy.asarray",)

    def quiet_callee(self, node: ast.expr, frame: Frame) -> Value | None:
        """The value of a name or attribute chain, without repeating its events."""
        if isinstance(node, ast.Name):
            found = frame.scope.lookup(node.id)
            return found[0] if found is not None else External(f"builtins.{node.id}")
        if isinstance(node, ast.Attribute):
            base = self.quiet_callee(node.value, frame)
            if type(base) is External:
                return External(f"{base.name}.{node.attr}")
            return ExternalMethod(base, node.attr) if base is not None else None
        return None

    def bind_buffers(self, target: ast.expr, held: Held | None, frame: Frame) -> None:
        """`target` was bound to the buffers `held`, or to new ones."""
        if isinstance(target, (ast.Tuple, ast.List)):
            starred = any(isinstance(part, ast.Starred) for part in target.elts)
            if held is not None and held.buffers and not held.parts and not starred:
                held = self.taken_apart(held, len(target.elts), frame)
            for position, part in enumerate(target.elts):
                if not isinstance(part, ast.Starred):
                    self.bind_buffers(part, held.part(f"[{position}]") if held else None, frame)
            return
        place = place_of(target)
        if not place or held is None or not (held.buffers or held.parts):
            return
        found = {**frame.buffers.held, **{place + path: buffers for path, buffers in held.parts.items()}}
        if held.buffers:
            found[place] = held.buffers
        frame.buffers = frame.buffers.holding(found)

    def taken_apart(self, held: Held, count: int, frame: Frame) -> Held:
        """The buffers of an object that is unpacked: one for each part; the object holds all of them."""
        (whole, *others) = held.buffers
        single = not others
        made = tuple(
            Buffer(f"{whole.place}[{i}]", single and whole.given, whole if single else None)
            for i in range(count)
        )
        if single:
            whole.parts = made
        own = frozenset(made)
        state = frame.buffers.holding(
            {
                place: buffers | own if held.buffers <= buffers else buffers
                for place, buffers in frame.buffers.held.items()
            }
        )
        gone = next((state.donated[buffer] for buffer in held.buffers if buffer in state.donated), None)
        frame.buffers = state if gone is None else state.donating(dict.fromkeys(own, gone))
        return Held(held.buffers, {f"[{i}]": frozenset([part]) for i, part in enumerate(made)})

    def bind_together(self, targets: list[ast.expr], value: Value, frame: Frame) -> None:
        """`a = b = f()`: both share their buffers."""
        places = [place_of(target) for target in targets]
        if all(places) and not isinstance(value, (Static, NumpyArray, Function, Transformed, External)):
            shared = frozenset([Buffer(places[0])])
            frame.buffers = frame.buffers.holding({**frame.buffers.held, **dict.fromkeys(places, shared)})

    def forget_place(self, place: str, frame: Frame) -> None:
        """`place` is rebound: it and its parts now hold something else."""
        if place not in frame.rebound:
            frame.rebound = frame.rebound | {place}
        frame.buffers = frame.buffers.binding(place)
        held = frame.buffers.held
        gone = {key for key in held if key == place or is_below(key, place)}
        if gone:
            lost = frozenset().union(*(held[key] for key in gone))
            around = {key for key in held if is_below(place, key)}
            left = {
                key: value - lost if key in around else value
                for key, value in held.items()
                if key not in gone
            }
            frame.buffers = frame.buffers.holding(left)

    def forget_below(self, place: str, frame: Frame) -> None:
        if place:
            for key in [key for key in frame.buffers.held if is_below(key, place)]:
                self.forget_place(key, frame)

    def share_a_buffer(self, left: str, right: str, frame: Frame) -> bool:
        """Whether two places, or parts of them, certainly hold the same buffer."""
        if not left or not right:
            return False
        one, two = self.certain_below(left, frame), self.certain_below(right, frame)
        return not one.isdisjoint(two)

    @staticmethod
    def certain_below(place: str, frame: Frame) -> set[Buffer]:
        """The buffers that `place` and its parts certainly hold."""
        held = frame.buffers.held
        return {
            buffer
            for key, buffers in held.items()
            if len(buffers) == 1 and (key == place or is_below(key, place))
            for buffer in buffers
        }

    @staticmethod
    def is_container(place: str, frame: Frame) -> bool:
        found = frame.scope.lookup(place)
        return found is not None and isinstance(found[0], (ListValue, DictValue))

    def is_static_part(self, place: str, frame: Frame) -> bool:
        """Whether a place certainly holds no array: a static field, a function, metadata."""
        root, *names = place.split(".")
        found = frame.scope.lookup(root) if root.isidentifier() else None
        value: Value | None = found[0] if found is not None else None
        for name in names:
            if name in METADATA:
                return True
            if isinstance(value, Instance):
                declared = value.cls.all_fields().get(name)
                if (declared is not None and declared.static) or isinstance(value.cls.lookup(name), Function):
                    return True
                value = value.fields.get(name)
            else:
                value = None
        return isinstance(value, (Static, NumpyArray, Function, Transformed, ClassValue, External))


def _makes(callee: Value | None, node: ast.Call) -> bool:
    """Whether a call creates an object from its keyword arguments."""
    last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return isinstance(callee, ClassValue) or last == "create" or last in _REPLACING


def _fields(value: Value) -> dict[str, Value]:
    """The fields of an object or of a named tuple."""
    if type(value) is Instance:
        return value.fields
    if type(value) is TupleValue and value.cls is not None and value.items is not None:
        return dict(zip(value.cls.all_fields(), value.items, strict=False))
    return {}


def _part_value(value: Value, path: str) -> Value | None:
    if path.startswith("."):
        return _fields(value).get(path[1:])
    if isinstance(value, (TupleValue, ListValue)) and value.items is not None and path[1:-1].isdigit():
        position = int(path[1:-1])
        return value.items[position] if position < len(value.items) else None
    if isinstance(value, DictValue):
        for key, part in value.items.items():
            if f"[{key!r}]" == path:
                return part
        return value.element
    return None


def parent_of(place: str) -> str:
    cut = max(place.rfind("."), place.rfind("["))
    return place[:cut] if cut > 0 else ""


def root_of(place: str) -> str:
    return place.partition(".")[0].partition("[")[0]


def translated(path: str, given: dict[str, ast.expr]) -> str:
    """A callee's place as a place of the caller."""
    cut = min((i for i in (path.find("."), path.find("[")) if i > 0), default=len(path))
    base = place_of(given.get(path[:cut]))
    return base + path[cut:] if base else ""
