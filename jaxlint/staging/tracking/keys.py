"""PRNG keys: where each is consumed, and which ones a loop, a map or an object consumes without a new key."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import repeat

from jaxlint.jaxapi.transforms import JIT_KINDS
from jaxlint.staging import events
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    Array,
    DictValue,
    Function,
    Instance,
    Origin,
    Scope,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    innermost,
    parts_of,
)
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.keys import STREAMS
from jaxlint.syntax.facts import positional_parameters


class Keys(Part):
    """Tracks PRNG keys."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.function_calls = machine.part(FunctionCalls)
        # The calls that draw with a key themselves; a call of a function that draws with it is in `consumed` alone.
        self.drawn: dict[Origin, ast.AST] = {}

    def use_streams(self, rngs: Value, node: ast.AST, frame: Frame) -> None:
        """Records keys passed to a flax module, which folds in names: only another call with the same key
        repeats them. A call that passes parameters and only the stream for parameters draws nothing.
        """
        if isinstance(rngs, DictValue) and rngs.items.keys() == {"params"} and rngs.element is None:
            return
        values = rngs.elements() if isinstance(rngs, DictValue) else [rngs]
        origins = {value.origin for value in values if isinstance(value, (Array, Unknown))}
        for origin in origins:
            if origin is not None:
                self.use_key(origin.child(STREAMS), node, frame)

    def use_seed(self, key: Value, node: ast.Call, frame: Frame) -> None:
        """Records a key that a distribution draws from: `policy.sample(seed=key)`."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("sample", "sample_and_log_prob"):
            self.use_library_key(key, node, frame)

    def use_library_key(self, key: Value, node: ast.AST, frame: Frame) -> None:
        """Records a key that a layer, an initialiser or a distribution of a library draws from."""
        if isinstance(key, (Array, Unknown)) and key.origin is not None:
            self.use_key(key.origin, node, frame)

    def use_key(
        self, origin: Origin, node: ast.AST, frame: Frame, callee: str = "", enclosing: bool = False
    ) -> None:
        """Records that a PRNG key is consumed. A second use of the same key is reported."""
        if frame.stage.within("eval_shape"):
            return  # no number is drawn
        first = frame.consumed.get(origin)
        if first is None:
            if not _is_dropped(node, frame):
                frame.consumed[origin] = node
                if not callee:
                    self.drawn[origin] = node
            return
        how = "loop" if first is node else "again"
        if how == "loop" and enclosing:
            return  # an evaluation with a fixed key, on purpose
        self.machine.emit("key_reuse", events.KeyEvent(node, frame, origin, first, how, callee))

    def folded_later(self, part: Origin, node: ast.AST, frame: Frame) -> None:
        """Undoes the use of a key by `split` if a number that may change is folded into a part of the result.

        `fold_in(split(key)[0], step)` is another key at each step, though `key` does not change. A constant is always
        the same, and so is the result of a call like `axis_index("data")` at its place.
        """
        whole = part.split_of or (part.parent.split_of if part.parent is not None else None)
        data = node.args[1:] or [word.value for word in node.keywords] if isinstance(node, ast.Call) else []
        if whole is None or any(isinstance(value, (ast.Constant, ast.Call)) for value in data):
            return
        for owner in (frame, *frame.callers()):
            if owner.consumed.pop(whole, None) is not None:
                return

    def forget_uses(self, maker: ast.AST, frame: Frame) -> None:
        """Undoes the uses of keys inside an expression whose result is discarded."""
        inside = set(ast.walk(maker))
        for origin in [origin for origin, node in frame.consumed.items() if node in inside]:
            del frame.consumed[origin]

    # -- keys that do not change

    def tell_constant_keys(
        self,
        api: str,
        body: Value,
        before: Iterable[Origin],
        born: int,
        given: list[Value],
        node: ast.AST,
        frame: Frame,
    ) -> None:
        """Emits an event for keys older than `born` that `body`, which `api` runs many times, consumes each time.

        `given`: values that change between runs, or are another key each time. `before`: keys consumed earlier.
        """
        inner = self.body_frame(body, born)
        if inner is None:
            return
        changing = {origin.root() for value in given for origin in origins_in(value)}
        known = set(before)
        for origin, used in inner.consumed.items():
            root = origin.root()
            if root.serial < born and origin not in known and root not in changing:
                # A key that the body received as an argument belongs to the call, not to the body.
                handed = origin in inner.inherited or origin.parent in inner.inherited
                place, owner = (node, frame) if handed else (used, inner)
                drawn = self.drawn.get(origin, used)
                told = events.KeptKeyEvent(
                    place, owner, origin, "closure", api, used, drawn, node, tuple(given)
                )
                self.machine.emit("kept_key", told)

    def tell_kept_keys(self, api: str, body: Value, born: int, carry: Value, result: Value) -> None:
        """Emits an event for a key in the carry of a loop that an iteration consumes and passes on unchanged."""
        inner = self.body_frame(body, born)
        if inner is None or not inner.consumed:
            return
        carried = {origin.root() for origin in origins_in(carry)}
        for origin in origins_in(result):
            node = used_at(origin, inner)
            if node is not None and origin.root() in carried:
                self.machine.emit("kept_key", events.KeptKeyEvent(node, inner, origin, "carry", api, node))
        for before, after in _corresponding(carry, result):
            first, again = used_at(after, inner), used_at(before, inner)
            if first is not None and again is not None and after.root() not in carried:
                # Another key that was consumed too: the next iteration uses it where this one used the first.
                self.machine.emit("key_reuse", events.KeyEvent(again, inner, after, first, "again"))

    def tell_unrenewed(self, function: Function, frame: Frame, bound: dict[str, Value]) -> None:
        """Emits an event for a key that a method consumes and leaves in its object."""
        parameters = positional_parameters(function.node)
        owner = bound.get(parameters[0].arg) if parameters else None
        if isinstance(owner, Instance):
            for name, value in owner.fields.items():
                if isinstance(value, (Array, Unknown)) and value.origin is not None:
                    node = used_at(value.origin, frame)
                    if node is not None:
                        self.machine.emit(
                            "kept_key", events.KeptKeyEvent(node, frame, value.origin, "state", name, node)
                        )

    def tell_returned(self, result: Value, frame: Frame) -> None:
        """Emits an event for a key argument that is consumed and returned unchanged in a state."""
        caller = frame.caller
        inside = caller is not None and caller.function is not None and caller.stage is frame.stage
        if isinstance(result, Array) and frame.stage.staged and inside:
            return  # a part of a step, the rest of which may renew the key
        for field, origin in _kept_in(result):
            node, root = used_at(origin, frame), origin.root()
            if node is not None and (root in frame.inherited or root.serial < frame.born):
                self.machine.emit(
                    "kept_key", events.KeptKeyEvent(node, frame, origin, "returned", field, node)
                )

    def body_frame(self, body: Value, born: int) -> Frame | None:
        """The activation of a function that began after `born`; None if it was not evaluated since."""
        function = innermost(body)[0]
        record = self.function_calls.records.get(function.node) if function is not None else None
        last = record.last if record is not None else None
        return last if last is not None and last.born > born else None


def _kept_in(result: Value) -> Iterator[tuple[str, Origin]]:
    """The identities in a state, with the name of the field; "" in a plain tuple.

    A state is an object, a tuple, or a copy of a tree with some parts replaced.
    """
    if isinstance(result, Array):
        parts: Iterable[tuple[str, Value]] = [("", result)]
    elif isinstance(result, Instance):
        named = result.cls.kind != "plain"  # its methods assign new values
        parts = [(name if named else "", value) for name, value in result.fields.items()]
    elif isinstance(result, TupleValue):
        names = list(result.cls.all_fields()) if result.cls is not None else repeat("")
        parts = zip(names, result.elements(), strict=False)
    else:
        return
    for name, part in parts:
        origin = part.origin if isinstance(part, (Array, Unknown)) else None
        if origin is None:
            continue
        if part is not result:
            yield name, origin
        yield from (("", child) for child in origin.children.values() if child.parent is not origin)


def _is_dropped(node: ast.AST, frame: Frame) -> bool:
    """Whether the value being computed is discarded at once, as for a warm-up call.

    This is `_ = step(state, key)`, and `step(state, key)` as a statement if `step` is jitted and so has no other
    effect.
    """
    statement = frame.assigning
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Name) and target.id == "_" for target in statement.targets)
    if not isinstance(node, ast.Call) or _waited_for(frame.statement) is not node:
        return False
    held = frame.scope.lookup(node.func.id) if isinstance(node.func, ast.Name) else None
    return held is not None and isinstance(held[0], Transformed) and held[0].kind in JIT_KINDS


def _waited_for(node: ast.AST | None) -> ast.AST | None:
    """`x` of `jax.block_until_ready(x)` and `x.block_until_ready()`; any other expression unchanged."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return node
    if node.func.attr != "block_until_ready":
        return node
    return node.args[0] if node.args else node.func.value


def used_at(origin: Origin, frame: Frame) -> ast.AST | None:
    """Where `frame` consumed a key, or its streams."""
    node = frame.consumed.get(origin)
    streams = origin.children.get(STREAMS)
    return frame.consumed.get(streams) if node is None and streams is not None else node


def origins_in(value: Value, depth: int = 4) -> Iterator[Origin]:
    """The identities of everything in a value, objects included."""
    if isinstance(value, (Array, Unknown)):
        if value.origin is not None:
            yield value.origin
    elif depth > 0:
        if isinstance(value, Instance) and value.origin is not None:
            yield value.origin
        for part in parts_of(value):
            yield from origins_in(part, depth - 1)


def _corresponding(one: Value, other: Value, depth: int = 4) -> Iterator[tuple[Origin, Origin]]:
    """The identities at equal places of two trees."""
    if isinstance(one, (Array, Unknown)) and isinstance(other, (Array, Unknown)):
        if one.origin is not None and other.origin is not None:
            yield one.origin, other.origin
    elif depth > 0 and type(one) is type(other):
        first, second = list(parts_of(one)), list(parts_of(other))
        if len(first) == len(second):
            for part, counterpart in zip(first, second, strict=True):
                yield from _corresponding(part, counterpart, depth - 1)


def name_in(frame: Frame, origin: Origin) -> str:
    """The current function's name for a key, or for a part of one. A caller may have named it otherwise."""
    whole: Origin | None = origin
    while whole is not None and origin.name.startswith(whole.name):
        scope: Scope | None = frame.scope
        while scope is not None:
            names = [
                name
                for name, value in scope.variables.items()
                if isinstance(value, (Array, Unknown)) and value.origin is whole
            ]
            if names:
                name = whole.name if whole.name in names else names[0]
                return name + origin.name[len(whole.name) :]
            scope = scope.parent
        whole = whole.parent
    return origin.name
