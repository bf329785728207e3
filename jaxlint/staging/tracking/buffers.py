"""Donated buffers: which names may hold an array that a jitted function was given to write its result into.

A place is a name, or a path below one (`state.params`, `carry[0]`). Places that were bound to each other hold the same
buffer. The bookkeeping is flow-sensitive and lives in the frame, beside its variables; it is kept only in programs that
speak of donation at all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from jaxlint.jaxapi.names import canonical
from jaxlint.jaxapi.transforms import JIT_KINDS
from jaxlint.staging import events
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    STATICS,
    Array,
    BoundMethod,
    Choice,
    ClassValue,
    DictValue,
    External,
    ExternalMethod,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Partial,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    find_array,
    innermost,
)
from jaxlint.staging.values.buffers import Buffer, Donation, Handed, Held, _is_below
from jaxlint.staging.values.constants import constant_names, constant_numbers
from jaxlint.syntax.facts import (
    all_parameters,
    arrayless_annotations,
    asks_whether_deleted,
    last_name,
    loop_variables,
    place_of,
)
from jaxlint.syntax.parents import Parents

if TYPE_CHECKING:
    from jaxlint.staging.values.frame import Frame

_DIFFERENTIATING = frozenset({"grad", "value_and_grad", "vmap"})
# What gives the buffers of its argument back, where JAX need not copy.
_SHARING = frozenset(
    """jax.numpy.asarray jax.device_put builtins.dict builtins.list builtins.tuple copy.copy
    flax.core.freeze flax.core.unfreeze flax.core.FrozenDict flax.core.frozen_dict.freeze
    flax.core.frozen_dict.unfreeze jax.lax.stop_gradient""".split()  # noqa: SIM905
)
_SHARING_METHODS = frozenset({"copy", "unfreeze", "items", "values"})  # of containers; arrays copy
_SHARING_ENDS = {"map", "tree_map", *(name.rpartition(".")[2] for name in _SHARING)}
_HOLD_NOTHING = STATICS | {NumpyArray, Function, Transformed, External}
_KEEPING_METHODS = frozenset({"append", "add", "insert", "appendleft", "put"})


class Buffers(Part):
    """The part of the interpreter that follows donated buffers."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.calls = machine.part(Calls)

    # -- places and what they hold

    def buffers_at(self, place: str, frame: Frame) -> frozenset[Buffer]:
        """The buffers that `place` may hold; a place that was not seen before gets one of its own."""
        found = frame.buffers.get(place)
        if found is not None:
            return found
        root = _root(place)
        function = frame.function
        given = (
            function is not None
            and root not in frame.rebound
            and place not in frame.rebound
            and any(parameter.arg == root for parameter in all_parameters(function.node))
        )
        made = frozenset([Buffer(place, given)])
        frame.buffers = {**frame.buffers, place: made}
        return made

    def known_at(self, place: str, frame: Frame) -> frozenset[Buffer]:
        """What `place` is known to hold: by itself, or as a part of what holds it."""
        while place:
            found = frame.buffers.get(place)
            if found is not None:
                return found
            place = _parent(place)
        return frozenset()

    def held(self, node: ast.expr, value: Value, frame: Frame) -> Held | None:
        """What a binding to `node` shares with other places; None where it is new."""
        if type(value) in _HOLD_NOTHING:
            return None
        if type(node) is ast.Call:
            return self.held_by_call(node, value, frame)
        if type(node) is ast.Attribute and node.attr in _METADATA and find_array(value) is None:
            return None  # `x.shape` is numbers, whatever becomes of `x`
        place = place_of(node)
        if place:
            body = frame.function.node if frame.function is not None else frame.module.tree
            if type(value) is Unknown and place in loop_variables(body):
                return None  # an epoch more likely than a batch that is kept
            below = {key[len(place) :]: b for key, b in frame.buffers.items() if _is_below(key, place)}
            known = frame.buffers.get(place) or self.known_at(place, frame)
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
        """What a call passes on without a copy: fields of an object that is made, or the same arrays."""
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
        if type(value) is Instance and _makes(self.quiet_callee(function, frame), node):
            given = [(f".{k.arg}", k.value) for k in node.keywords if k.arg and k.arg in value.fields]
            return self.held_by_display(given, value, frame)
        return None

    def shares(self, node: ast.expr, frame: Frame) -> bool:
        """Whether a function gives its argument back."""
        if isinstance(node, ast.Lambda):
            body = node.body
            names = [a.arg for a in node.args.args]
            return isinstance(body, ast.Name) and names == [body.id]
        callee = self.quiet_callee(node, frame)
        return isinstance(callee, External) and canonical(callee.name) in ("jax.numpy.asarray",)

    def quiet_callee(self, node: ast.expr, frame: Frame) -> Value | None:
        """The value of a name or attribute chain, without telling rules of it again."""
        if isinstance(node, ast.Name):
            found = frame.scope.lookup(node.id)
            return found[0] if found is not None else External(f"builtins.{node.id}")
        if isinstance(node, ast.Attribute):
            base = self.quiet_callee(node.value, frame)
            if type(base) is External:
                return External(f"{base.name}.{node.attr}")
            return ExternalMethod(base, node.attr) if base is not None else None
        return None

    # -- binding

    def bind_buffers(self, target: ast.expr, held: Held | None, frame: Frame) -> None:
        """`target` was bound to what `held` says, or to something new."""
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
        found = {**frame.buffers, **{place + path: buffers for path, buffers in held.parts.items()}}
        if held.buffers:
            found[place] = held.buffers
        frame.buffers = found

    def taken_apart(self, held: Held, count: int, frame: Frame) -> Held:
        """What an object holds that is unpacked: each part a buffer of its own, and the object all of them."""
        (whole, *others) = held.buffers
        single = not others
        made = tuple(
            Buffer(f"{whole.place}[{i}]", single and whole.given, whole if single else None)
            for i in range(count)
        )
        if single:
            whole.parts = made
        own = frozenset(made)
        frame.buffers = {
            place: buffers | own if held.buffers <= buffers else buffers
            for place, buffers in frame.buffers.items()
        }
        if any(buffer in frame.dead for buffer in held.buffers):
            gone = next(frame.dead[buffer] for buffer in held.buffers if buffer in frame.dead)
            frame.dead = {**frame.dead, **dict.fromkeys(own, gone)}
        return Held(held.buffers, {f"[{i}]": frozenset([part]) for i, part in enumerate(made)})

    def bind_together(self, targets: list[ast.expr], value: Value, frame: Frame) -> None:
        """`a = b = f()`: both hold the same."""
        places = [place_of(target) for target in targets]
        if all(places) and not isinstance(value, (Static, NumpyArray, Function, Transformed, External)):
            shared = frozenset([Buffer(places[0])])
            frame.buffers = {**frame.buffers, **dict.fromkeys(places, shared)}

    def forget_place(self, place: str, frame: Frame) -> None:
        """`place` is bound anew: it and what lies below hold something else now."""
        if place not in frame.rebound:
            frame.rebound = frame.rebound | {place}
        if frame.buffers:
            gone = {key for key in frame.buffers if key == place or _is_below(key, place)}
            if gone:
                lost = frozenset().union(*(frame.buffers[key] for key in gone))
                around = {key for key in frame.buffers if _is_below(place, key)}
                frame.buffers = {
                    key: value - lost if key in around else value
                    for key, value in frame.buffers.items()
                    if key not in gone
                }

    # -- donating

    def donate(self, place: str, donation: Donation, frame: Frame) -> None:
        buffers = set(self.buffers_at(place, frame))
        for key, below in frame.buffers.items():
            if _is_below(key, place):
                buffers |= below
        outer = self.known_at(_parent(place), frame) if _parent(place) else frozenset()
        if any(buffer in frame.dead for buffer in outer):
            return
        frame.dead = {**frame.dead, **{buffer: donation for buffer in buffers if buffer not in frame.dead}}
        wholes = {buffer.whole for buffer in buffers if buffer.whole is not None}
        gone = [whole for whole in wholes if all(part in frame.dead for part in whole.parts)]
        if gone:
            frame.dead = {**frame.dead, **dict.fromkeys(gone, donation)}

    def donate_arguments(
        self, callee: Value, args: list[Value], kwargs: dict[str, Value], node: ast.Call, frame: Frame
    ) -> None:
        """After a call: what it was given to write into is gone."""
        method = node.func if type(node.func) is ast.Attribute else None
        keeps = method is not None and method.attr in _KEEPING_METHODS and bool(args)
        if type(callee) is External and not keeps:
            return  # what donates is jitted
        jitted, offset = donating(callee)
        function, receiver = called_function(callee, node)
        record = self.calls.records.get(function.node) if function is not None else None
        if jitted is None and not keeps and record is not None and record.handed is None:
            return  # most calls end here
        if ast.Starred in map(type, node.args):
            return
        if method is not None and keeps:
            self.keep(place_of(method.value), node.args[-1], args[-1], frame)
            return
        by_name = {k.arg: (k.value, kwargs.get(k.arg)) for k in node.keywords if k.arg}
        if jitted is not None:
            if jitted.kind == "pmap":
                by_name = {}  # it donates by position alone
            names = self.machine.staging.signature(jitted.target)
            donated = self.donated_positions(jitted, names, offset + len(node.args), by_name)
            given: list[tuple[str, str]] = []
            for position, argument in enumerate(node.args):
                if position + offset not in donated or _stays(args[position]):
                    continue
                if jitted.kind != "filter_jit" or not _is_loaded(argument, args[position], frame):
                    given.append((self.parameter_name(names, position + offset), place_of(argument)))
            for name, (argument, value) in by_name.items():
                if name in donated and value is not None and not _stays(value):
                    given.append((name, place_of(argument)))
            self.check_twice(jitted, node, given, frame)
            for name, place in given:
                if place:
                    donation = Donation(node, jitted, name, place)
                    self.donate(place, donation, frame)
                    self.machine.emit("donation", events.DonationEvent(node, frame, donation))
            return
        if function is None or record is None:
            if isinstance(node.func, ast.Attribute) and frame.buffers:
                self.forget_below(place_of(node.func.value), frame)  # a method may bind attributes anew
            return
        if record.handed is not None:
            self.hand_back(record.handed, function, receiver, node, frame)
            for argument, value in [*zip(node.args, args, strict=False), *by_name.values()]:
                if type(value) is BoundMethod and isinstance(argument, ast.Attribute):
                    self.forget_below(place_of(argument.value), frame)  # it may bind attributes anew

    def hand_back(
        self,
        handed: Handed,
        function: Function,
        receiver: ast.expr | None,
        node: ast.Call,
        frame: Frame,
    ) -> None:
        """What a project function did to its parameters, in terms of the caller's places."""
        names = [a.arg for a in [*function.node.args.posonlyargs, *function.node.args.args]]
        passed = [*([receiver] if receiver is not None else []), *node.args]
        given = dict(zip(names, passed, strict=False))
        given.update({k.arg: k.value for k in node.keywords if k.arg})
        for path, donation in handed.donated.items():
            place = _translated(path, given)
            if place:
                self.donate(place, Donation(node, donation.target, donation.parameter, place), frame)
        for path in handed.rebound:
            place = _translated(path, given)
            if place:
                self.forget_place(place, frame)

    def keep(self, container: str, node: ast.expr, value: Value, frame: Frame) -> None:
        """`container.append(node)`: it holds what `node` does, beside the rest."""
        held = self.held(node, value, frame) if container else None
        if held is not None and held.buffers:
            frame.buffers = {
                **frame.buffers,
                container: frame.buffers.get(container, frozenset()) | held.buffers,
            }

    def forget_below(self, place: str, frame: Frame) -> None:
        if place:
            for key in [key for key in frame.buffers if _is_below(key, place)]:
                self.forget_place(key, frame)

    def check_twice(
        self, jitted: Transformed, node: ast.Call, given: list[tuple[str, str]], frame: Frame
    ) -> None:
        """The same buffer as two arguments, one of which is donated."""
        everything = [place_of(argument) for argument in node.args]
        everything += [place_of(k.value) for k in node.keywords if k.arg]
        for name, place in given:
            same = sum(other == place or self.same_buffer(other, place, frame) for other in everything)
            if place and same > 1:
                donation = Donation(node, jitted, name, place)
                self.machine.emit(
                    "donated_read", events.DonatedReadEvent(node, frame, donation, place, "twice")
                )
                return

    def same_buffer(self, left: str, right: str, frame: Frame) -> bool:
        if not left or not right:
            return False
        one, two = frame.buffers.get(left), frame.buffers.get(right)
        return one is not None and one == two and len(one) == 1

    def donated_positions(
        self, t: Transformed, names: list[str], count: int, by_name: Iterable[str]
    ) -> set[int | str]:
        """Positions and names of the parameters that `t` donates."""
        if t.kind == "filter_jit":
            how = constant(t.options.get("donate"))
            if how not in ("all", "warn", "all-except-first", "warn-except-first"):
                return set()
            function = innermost(t.target)[0]
            plain = arrayless_annotations(function.node) if function is not None else frozenset()
            given = range(1 if how.endswith("first") else 0, count)
            return {n for n in given if self.parameter_name(names, n) not in plain} | {*by_name} - plain
        numbers = constant_numbers(t.options.get("donate_argnums")) or ()
        listed = constant_names(t.options.get("donate_argnames")) or ()
        found: set[int | str] = {*listed, *(n for n, name in enumerate(names) if name in listed)}
        for number in numbers:
            position = number if number >= 0 else number + len(names)
            found.add(position)
            if position < len(names):
                found.add(names[position])
        return found

    @staticmethod
    def parameter_name(names: list[str], position: int) -> str:
        return names[position] if position < len(names) else f"argument {position}"

    def handed_by(self, frame: Frame) -> Handed | None:
        """What the function of `frame` did to its parameters, for its callers."""
        if not frame.dead:
            return None
        donated = {b.place: donation for b, donation in frame.dead.items() if b.given}
        if not donated or frame.function is None:
            return None
        parameters = {p.arg for p in all_parameters(frame.function.node)}
        below = {place for place in frame.rebound if _parent(place) and _root(place) in parameters}
        return Handed(donated, below)

    # -- reading

    def check_read(self, node: ast.Name, frame: Frame) -> None:
        """A name is read while some buffer is gone."""
        if frame.stage.staged or frame.catching:
            return
        whole: ast.AST = node
        parents = frame.module.parents
        while True:
            above = parents.get(whole)
            if isinstance(above, (ast.Attribute, ast.Subscript)) and above.value is whole and place_of(above):
                whole = above
            else:
                break
        place = place_of(whole)
        dead = [frame.dead[b] for b in self.known_at(place, frame) if b in frame.dead]
        if not dead or isinstance(getattr(whole, "ctx", None), (ast.Store, ast.Del)):
            return
        above = parents.get(whole)
        if isinstance(above, ast.Subscript) and above.value is whole and self.is_container(place, frame):
            return  # which of its items is not known
        how = read_as(whole, parents)
        if isinstance(above, ast.Call) and self.expects_deleted(above, frame):
            return
        if how and not self.is_static_part(place, frame):
            self.machine.emit("donated_read", events.DonatedReadEvent(whole, frame, dead[0], place, how))

    @staticmethod
    def expects_deleted(call: ast.Call, frame: Frame) -> bool:
        """Whether a call, or the `tree.map` that it is, hands its arguments to a function that asks whether they are gone."""
        for part in (call.func, *call.args[:1]):
            base = part.value if isinstance(part, ast.Attribute) else part
            bound = frame.scope.lookup(base.id) if isinstance(base, ast.Name) else None
            value: Value | None = bound[0] if bound is not None else None
            if isinstance(part, ast.Attribute):
                value = value.cls.lookup(part.attr) if isinstance(value, Instance) else None
            if isinstance(value, Function) and asks_whether_deleted(value.node):
                return True
        return False

    @staticmethod
    def is_container(place: str, frame: Frame) -> bool:
        found = frame.scope.lookup(place)
        return found is not None and isinstance(found[0], (ListValue, DictValue))

    def is_static_part(self, place: str, frame: Frame) -> bool:
        """Whether a place is known to hold no array: a static field, a function, metadata."""
        root, *names = place.split(".")
        found = frame.scope.lookup(root) if root.isidentifier() else None
        value: Value | None = found[0] if found is not None else None
        for name in names:
            if name in _METADATA:
                return True
            if isinstance(value, Instance):
                declared = value.cls.all_fields().get(name)
                if (declared is not None and declared.static) or isinstance(value.cls.lookup(name), Function):
                    return True
                value = value.fields.get(name)
            else:
                value = None
        return isinstance(value, (Static, NumpyArray, Function, Transformed, ClassValue, External))


_METADATA = frozenset(
    """shape dtype ndim size sharding aval weak_type nbytes itemsize is_deleted delete devices device
    apply_fn tx apply_gradients_fn graphdef config cfg""".split()  # noqa: SIM905
)
_CONTAINER_METHODS = frozenset(
    ["append", "add", "insert", "appendleft", "extend", "pop", "popleft", "clear", "remove", "replace"]
)
_HARMLESS_CALLS = frozenset(
    """isinstance len type id hasattr callable structure tree_structure eval_shape lower is_deleted delete
    append add insert appendleft put getsizeof getrefcount""".split()  # noqa: SIM905
)


def read_as(node: ast.AST, parents: Parents) -> str:
    """How an expression is read: "used", "returned", or "" where it is only bound, asked for its type, or dropped."""
    current, above = node, parents.get(node)
    while isinstance(above, (ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.keyword, ast.IfExp)):
        if isinstance(above, ast.IfExp) and above.test is current:
            return "used"
        current, above = above, parents.get(above)
    if isinstance(above, (ast.Assign, ast.AnnAssign, ast.Expr, ast.NamedExpr, ast.Delete)):
        return ""
    if isinstance(above, (ast.Return, ast.Yield)):
        return "returned"
    if isinstance(above, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in above.ops):
        return ""
    if isinstance(above, ast.Call):
        func = above.func
        last = last_name(func)
        if last in _HARMLESS_CALLS and func is not current:
            return ""
        if func is current and (last in _CONTAINER_METHODS or (last == "keys" and not above.args)):
            return ""
        if _asks_leaves_harmlessly(above):
            return ""
    while isinstance(above, ast.Subscript) and above.value is current:
        current, above = above, parents.get(above)  # `batch["inputs"][key].shape`
    if isinstance(above, ast.Attribute) and above.attr in (_METADATA | {"lower", "replace", "_replace"}):
        return ""
    return "used"


def _asks_leaves_harmlessly(call: ast.Call) -> bool:
    """`jax.tree.map(lambda x: x.delete(), tree)`: what is called of each leaf needs no buffer."""
    function = call.args[0] if call.args else None
    body = function.body if isinstance(function, ast.Lambda) else None
    return isinstance(body, ast.Call) and last_name(body.func) in _HARMLESS_CALLS


def donating(callee: Value) -> tuple[Transformed | None, int]:
    """The jitted function behind `callee` that donates, and how many of its arguments are already bound."""
    if type(callee) is Choice:
        found = [donating(option) for option in callee.options]
        return found[0] if found and all(jitted is not None for jitted, _ in found) else (None, 0)
    if type(callee) is Transformed:
        if callee.kind in JIT_KINDS and callee.kind != "nnx.jit":
            donates = any(key.startswith("donate") for key in callee.options)
            return (callee, 0) if donates else (None, 0)
        return donating(callee.target) if callee.kind in _DIFFERENTIATING else (None, 0)
    if type(callee) is Partial:
        jitted, offset = donating(callee.function)
        return jitted, offset + len(callee.args)
    if type(callee) is BoundMethod:
        jitted, offset = donating(callee.function)
        return jitted, offset + 1
    return None, 0


def called_function(callee: Value, node: ast.Call) -> tuple[Function | None, ast.expr | None]:
    """The project function that a call runs on the host, and the expression of its receiver."""
    if type(callee) is Function:
        return callee, None
    if type(callee) is BoundMethod and type(callee.function) is Function:
        return callee.function, node.func.value if isinstance(node.func, ast.Attribute) else None
    return None, None


def _makes(callee: Value | None, node: ast.Call) -> bool:
    """Whether a call makes an object from its keywords."""
    last = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return isinstance(callee, ClassValue) or last in ("create", "replace", "_replace")


def _part_value(value: Value, path: str) -> Value | None:
    if path.startswith("."):
        return value.fields.get(path[1:]) if isinstance(value, Instance) else None
    if isinstance(value, (TupleValue, ListValue)) and value.items is not None and path[1:-1].isdigit():
        position = int(path[1:-1])
        return value.items[position] if position < len(value.items) else None
    if isinstance(value, DictValue):
        for key, part in value.items.items():
            if f"[{key!r}]" == path:
                return part
        return value.element
    return None


def _parent(place: str) -> str:
    cut = max(place.rfind("."), place.rfind("["))
    return place[:cut] if cut > 0 else ""


def _root(place: str) -> str:
    return place.partition(".")[0].partition("[")[0]


def _translated(path: str, given: dict[str, ast.expr]) -> str:
    """A callee's place in terms of the caller's."""
    cut = min((i for i in (path.find("."), path.find("[")) if i > 0), default=len(path))
    base = place_of(given.get(path[:cut]))
    return base + path[cut:] if base else ""


def _is_loaded(node: ast.expr, value: Value, frame: Frame) -> bool:
    """Whether an argument that nobody named to be donated is an item of something unknown: loaders mostly give NumPy arrays."""
    owner = frame.function.node if frame.function is not None else frame.module.tree
    return type(value) is Unknown and isinstance(node, ast.Name) and node.id in loop_variables(owner)


def _stays(value: Value) -> bool:
    """Whether JAX copies the argument to the device, or it holds no buffers, so that the original is not touched."""
    if isinstance(value, (Static, NumpyArray, Function, Partial)):
        return True
    if isinstance(value, Array):
        return value.staged
    if isinstance(value, Choice):
        return all(map(_stays, value.options))
    if isinstance(value, ExternalObject):
        return value.name.startswith("optax.")  # an optimiser or a schedule, not its state
    return isinstance(value, Instance) and value.cls.kind == "nnx"
