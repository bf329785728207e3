"""Donated buffers: which names may hold an array that was donated to a jitted function.

A place is a name, or a path below one (`state.params`, `carry[0]`). Places bound to each other alias the same buffer.
The state is flow-sensitive and stored in the frame, beside its variables. It is tracked only in programs that mention
donation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from jaxlint.jaxapi.transforms import JIT_KINDS
from jaxlint.staging import events
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.tracking.aliases import METADATA, Aliases, parent_of, root_of, translated
from jaxlint.staging.values import (
    Array,
    BoundMethod,
    Choice,
    External,
    ExternalObject,
    Function,
    Instance,
    NumpyArray,
    Partial,
    Static,
    Transformed,
    Unknown,
    Value,
    constant,
    innermost,
)
from jaxlint.staging.values.buffers import ArgumentEffects, Buffer, Donation, is_at_or_below, is_below
from jaxlint.staging.values.call import Call
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
_KEEPING_METHODS = frozenset({"append", "add", "insert", "appendleft", "put"})


class Buffers(Part):
    """Tracks donated buffers."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.aliases = machine.part(Aliases)
        self.function_calls = machine.part(FunctionCalls)

    def donate(self, place: str, donation: Donation, frame: Frame) -> None:
        buffers = set(self.aliases.buffers_at(place, frame))
        for key, below in frame.buffers.held.items():
            if is_below(key, place):
                buffers |= below
        outer = self.aliases.known_at(parent_of(place), frame) if parent_of(place) else frozenset()
        state = frame.buffers
        if any(buffer in state.donated for buffer in outer):
            return
        state = state.donating({buffer: donation for buffer in buffers if buffer not in state.donated})
        wholes = {buffer.whole for buffer in buffers if buffer.whole is not None}
        gone = [whole for whole in wholes if all(part in state.donated for part in whole.parts)]
        frame.buffers = state.donating(dict.fromkeys(gone, donation)) if gone else state

    def donate_arguments(self, callee: Value, node: ast.Call, call: Call, result: Value) -> None:
        """Runs after a call that returned `result`: its donated arguments are gone."""
        args, frame = call.args, call.frame
        method = node.func if type(node.func) is ast.Attribute else None
        keeps = method is not None and method.attr in _KEEPING_METHODS and bool(args)
        if not keeps:  # most calls end here
            if type(callee) is External:
                return  # only a jitted function donates
            record = self.function_calls.records.get(callee.node) if type(callee) is Function else None
            if record is not None and record.argument_effects is None:
                return
        jitted, offset = donating(callee)
        function, receiver = called_function(callee, node)
        record = self.function_calls.records.get(function.node) if function is not None else None
        if jitted is None and not keeps and record is not None and record.argument_effects is None:
            return
        starred = next((i for i, argument in enumerate(node.args) if type(argument) is ast.Starred), None)
        if method is not None and keeps:
            if starred is None:
                self.keep(place_of(method.value), node.args[-1], args[-1], frame)
            return
        placed = node.args[:starred]  # behind a starred argument, positions are unknown
        by_name = {k.arg: (k.value, call.kwargs.get(k.arg)) for k in node.keywords if k.arg}
        if jitted is not None:
            if jitted.kind == "pmap":
                by_name = {}  # it donates by position alone
            names = self.machine.staging.signature(jitted.target)
            donated = self.donated_positions(jitted, names, offset + len(placed), by_name)
            given: list[tuple[str, str]] = []
            values: list[Value] = []
            for position, argument in enumerate(placed):
                if position + offset not in donated or _stays(args[position]):
                    continue
                if jitted.kind != "filter_jit" or not _is_loaded(argument, args[position], frame):
                    given.append((self.parameter_name(names, position + offset), place_of(argument)))
                    values.append(args[position])
            for name, (argument, value) in by_name.items():
                if name in donated and value is not None and not _stays(value):
                    given.append((name, place_of(argument)))
                    values.append(value)
            self.check_twice(jitted, node, given, frame)
            for name, place in given:
                if place:
                    donation = Donation(node, jitted, name, place)
                    self.donate(place, donation, frame)
                    self.machine.emit("donation", events.DonationEvent(node, frame, donation, values, result))
            return
        if function is None or record is None:
            if isinstance(node.func, ast.Attribute) and frame.buffers.held:
                self.aliases.forget_below(place_of(node.func.value), frame)  # a method may rebind attributes
            return
        if record.argument_effects is not None:
            self.apply_effects(record.argument_effects, function, receiver, node, placed, frame)
            for argument, value in [*zip(placed, args, strict=False), *by_name.values()]:
                if type(value) is BoundMethod and isinstance(argument, ast.Attribute):
                    self.aliases.forget_below(place_of(argument.value), frame)  # it may rebind attributes

    def apply_effects(
        self,
        effects: ArgumentEffects,
        function: Function,
        receiver: ast.expr | None,
        node: ast.Call,
        placed: list[ast.expr],
        frame: Frame,
    ) -> None:
        """Translates what a project function did to its parameters into the caller's places.

        `placed`: the arguments whose positions are known.
        """
        names = [a.arg for a in [*function.node.args.posonlyargs, *function.node.args.args]]
        passed = [*([receiver] if receiver is not None else []), *placed]
        given = dict(zip(names, passed, strict=False))
        given.update({k.arg: k.value for k in node.keywords if k.arg})
        for path, donation in effects.donated.items():
            place = translated(path, given)
            if place:
                self.donate(place, Donation(node, donation.target, donation.parameter, place), frame)
        kept: dict[str, frozenset[Buffer]] = {}
        for path, sources in effects.kept.items():
            place = translated(path, given)
            for origin in [translated(source, given) for source in sources]:
                if place and origin:
                    shared = self.aliases.known_at(origin, frame) or self.aliases.buffers_at(origin, frame)
                    kept[place] = kept.get(place, frozenset()) | shared
        for path in effects.rebound:
            place = translated(path, given)
            if place:
                self.aliases.forget_place(place, frame)
        perhaps = {translated(path, given) for path in effects.perhaps}
        for place, shared in kept.items():
            before = frame.buffers.held.get(place, frozenset()) if place in perhaps else frozenset()
            frame.buffers = frame.buffers.holding({**frame.buffers.held, place: shared | before})
        for group in effects.together:
            places = [place for place in (translated(path, given) for path in group) if place]
            made = frozenset([Buffer(path) for path in places[:1]])
            frame.buffers = frame.buffers.holding({**frame.buffers.held, **dict.fromkeys(places, made)})
        pairs = [(translated(one, given), translated(two, given)) for one, two in effects.same]
        if pairs:
            frame.buffers = frame.buffers.pairing(pair for pair in pairs if all(pair))

    def keep(self, container: str, node: ast.expr, value: Value, frame: Frame) -> None:
        """`container.append(node)`: the container also holds the buffers of `node`."""
        held = self.aliases.held(node, value, frame) if container else None
        if held is not None and held.buffers:
            known = frame.buffers.held
            both = known.get(container, frozenset()) | held.buffers
            frame.buffers = frame.buffers.holding({**known, container: both})

    def check_twice(
        self, jitted: Transformed, node: ast.Call, given: list[tuple[str, str]], frame: Frame
    ) -> None:
        """Reports one buffer in two arguments, one of which is donated, or twice in a donated argument."""
        everything = [place_of(argument) for argument in node.args]
        everything += [place_of(k.value) for k in node.keywords if k.arg]
        pairs = frame.buffers.pairs()
        for name, place in given:
            same = sum(
                other == place or self.aliases.share_a_buffer(other, place, frame) for other in everything
            )
            if place and same > 1:
                donation = Donation(node, jitted, name, place)
                self.machine.emit(
                    "donated_read", events.DonatedReadEvent(node, frame, donation, place, "twice")
                )
                return
            for pair in pairs:
                for mine, other in (pair, pair[::-1]):
                    if (
                        place
                        and is_at_or_below(mine, place)
                        and any(is_at_or_below(other, one) for one in everything if one)
                        and not self.aliases.is_static_part(mine, frame)
                        and not self.aliases.is_static_part(other, frame)
                    ):
                        donation = Donation(node, jitted, name, mine)
                        self.machine.emit(
                            "donated_read", events.DonatedReadEvent(node, frame, donation, other, "shared")
                        )
                        return

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

    def argument_effects(self, frame: Frame) -> ArgumentEffects | None:
        """What the function of `frame` did to its parameters, for its callers."""
        if frame.function is None:
            return None
        donated = {b.place: donation for b, donation in frame.buffers.donated.items() if b.given}
        parameters = {p.arg for p in all_parameters(frame.function.node)}
        state = frame.buffers if frame.left is None else frame.left.joined(frame.buffers)
        below = {place for place in frame.rebound if parent_of(place) and root_of(place) in parameters}
        kept: dict[str, frozenset[str]] = {}
        new: dict[Buffer, list[str]] = {}
        for place in below:
            buffers = state.held.get(place, frozenset())
            sources = frozenset(buffer.place for buffer in buffers if buffer.given and buffer.place != place)
            if sources:
                kept[place] = sources
            elif len(buffers) == 1 and place in state.bound:
                new.setdefault(next(iter(buffers)), []).append(place)
        effects = ArgumentEffects(
            donated=donated,
            rebound=below & state.bound,
            perhaps=below - state.bound,
            kept=kept,
            together=[sorted(places) for places in new.values() if len(places) > 1],
            same=frozenset(
                pair
                for pair in state.pairs()
                if below.intersection(pair) and {*map(root_of, pair)} <= parameters
            ),
            returned=frame.given_back or {},
        )
        if effects.same and frame.function.cls is not None:
            self.machine.emit(
                "shared_places", events.SharedPlacesEvent(frame.function.node, frame, effects.same)
            )
        return effects if donated or kept or effects.together or effects.same or effects.returned else None

    def note_given_back(self, node: ast.Return, value: Value, frame: Frame) -> None:
        """Records which parts of the result are arguments of the function, in each of its returns so far."""
        frame.left = frame.buffers if frame.left is None else frame.left.joined(frame.buffers)
        if frame.given_back == {}:
            return
        held = self.aliases.held(node.value, value, frame) if node.value is not None else None
        found = {} if held is None else {**held.parts, **({} if held.parts else {"": held.buffers})}
        given = {
            path: buffer.place
            for path, buffers in found.items()
            for buffer in buffers
            if len(buffers) == 1 and buffer.given
        }
        before = frame.given_back
        frame.given_back = given if before is None else dict(given.items() & before.items())

    # -- reading

    def check_read(self, node: ast.Name, frame: Frame) -> None:
        """A name is read while some buffer is donated."""
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
        donated = frame.buffers.donated
        dead = [donated[b] for b in self.aliases.known_at(place, frame) if b in donated]
        if not dead or isinstance(getattr(whole, "ctx", None), (ast.Store, ast.Del)):
            return
        above = parents.get(whole)
        if (
            isinstance(above, ast.Subscript)
            and above.value is whole
            and self.aliases.is_container(place, frame)
        ):
            return  # it is unknown which of its items
        how = read_as(whole, parents)
        if isinstance(above, ast.Call) and self.expects_deleted(above, frame):
            return
        if how and not self.aliases.is_static_part(place, frame):
            self.machine.emit("donated_read", events.DonatedReadEvent(whole, frame, dead[0], place, how))

    @staticmethod
    def expects_deleted(call: ast.Call, frame: Frame) -> bool:
        """Whether a call, or the `tree.map` that it is, passes its arguments to a function that tests whether they
        are deleted."""
        for part in (call.func, *call.args[:1]):
            base = part.value if isinstance(part, ast.Attribute) else part
            bound = frame.scope.lookup(base.id) if isinstance(base, ast.Name) else None
            value: Value | None = bound[0] if bound is not None else None
            if isinstance(part, ast.Attribute):
                value = value.cls.lookup(part.attr) if isinstance(value, Instance) else None
            if isinstance(value, Function) and asks_whether_deleted(value.node):
                return True
        return False


_CONTAINER_METHODS = frozenset(
    ["append", "add", "insert", "appendleft", "extend", "pop", "popleft", "clear", "remove", "replace"]
)
_HARMLESS_CALLS = frozenset(
    """isinstance len type id hasattr callable structure tree_structure eval_shape lower is_deleted delete
    append add insert appendleft put getsizeof getrefcount""".split()  # noqa: SIM905
)


def read_as(node: ast.AST, parents: Parents) -> str:
    """How an expression is read: "used", "returned", or "" if it is only bound, asked for its type, or dropped."""
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
    if isinstance(above, ast.Attribute) and above.attr in (METADATA | {"lower", "replace", "_replace"}):
        return ""
    return "used"


def _asks_leaves_harmlessly(call: ast.Call) -> bool:
    """`jax.tree.map(lambda x: x.delete(), tree)`: the function needs no buffer of its leaves."""
    function = call.args[0] if call.args else None
    body = function.body if isinstance(function, ast.Lambda) else None
    return isinstance(body, ast.Call) and last_name(body.func) in _HARMLESS_CALLS


def donating(callee: Value) -> tuple[Transformed | None, int]:
    """The jitted function behind `callee` that donates, and the number of its bound arguments."""
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


def _is_loaded(node: ast.expr, value: Value, frame: Frame) -> bool:
    """Whether an argument that the program does not donate by name is an item of something unknown: loaders mostly
    yield NumPy arrays."""
    owner = frame.function.node if frame.function is not None else frame.module.tree
    return type(value) is Unknown and isinstance(node, ast.Name) and node.id in loop_variables(owner)


def _stays(value: Value) -> bool:
    """Whether JAX copies the argument to the device, or it has no buffers, so that donation leaves the original
    intact."""
    if isinstance(value, (Static, NumpyArray, Function, Partial)):
        return True
    if isinstance(value, Array):
        return value.staged
    if isinstance(value, Choice):
        return all(map(_stays, value.options))
    if isinstance(value, ExternalObject):
        return value.name.startswith("optax.")  # an optimiser or a schedule, not its state
    return isinstance(value, Instance) and value.cls.kind == "nnx"
