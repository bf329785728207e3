"""Methods of lists, sets and dicts, and stores into them."""

from __future__ import annotations

import ast

from jaxlint.jaxapi.names import canonical
from jaxlint.staging import events
from jaxlint.staging.evaluator.comparisons import Comparisons
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.datamodel import DataModel
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.values import (
    CALLABLE,
    CONTENT,
    MAX_WEIGHT,
    MISSING,
    UNKNOWN,
    Array,
    AtIndexer,
    ClassValue,
    DictValue,
    External,
    Instance,
    ListValue,
    NumpyArray,
    Scope,
    Static,
    TupleValue,
    Unknown,
    Value,
    bounded_weight,
    constant,
    find_array,
    join,
    join_all,
    spread,
    store_key,
    store_somewhere,
    update_dict,
    without_cycles,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stores import publish
from jaxlint.syntax.facts import all_parameters, nodes_of

# Methods of lists and sets that return None.
_IN_PLACE = frozenset(
    [
        "sort",
        "reverse",
        "clear",
        "remove",
        "discard",
        "update",
        "extendleft",
        "rotate",
        "difference_update",
        "intersection_update",
        "symmetric_difference_update",
    ]
)


SEARCHES = frozenset({"index", "count", "remove"})
_KEEPING_START = frozenset({"index", "count", "copy", "append", "extend"})  # the first items stay the same
_READING = frozenset({"index", "count", "copy", "sort", "reverse"})  # methods that do not change the length


class ContainerMethods(Part):
    """Changes containers, and detects leaks into them."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.data_model = machine.part(DataModel)
        self.comparisons = machine.part(Comparisons)
        self.conversions = machine.part(Conversions)

    def list_method(
        self, target: ListValue, name: str, args: list[Value], node: ast.AST, frame: Frame
    ) -> Value:
        if name not in _READING:
            target.length = None
        if name not in _KEEPING_START:
            target.head = ()
        if name in ("append", "add", "appendleft", "insert"):
            if args:
                self.check_leak(target, args[-1], node, frame)
                args = [*args[:-1], without_cycles(target, args[-1])]
                if isinstance(args[-1], Instance) and _is_of_module(node, frame):
                    publish(args[-1])
                spread(target, args[-1])
                if target.items is not None and not frame.repeats() and not frame.guards and name == "append":
                    target.items.append(bounded_weight(target, args[-1]))
                    target.element = join_all(target.items)
                    return Static(None)
                first = target.items is not None and not target.items
                known = join_all(target.elements()) if not first else args[-1]
                target.items = None
                if isinstance(known, CALLABLE) and isinstance(args[-1], Unknown):
                    target.element = known  # for a stack of functions: calls the known ones
                elif isinstance(known, Unknown) and isinstance(args[-1], (Array, *CALLABLE)):
                    target.element = args[-1]
                else:
                    target.element = join(known, args[-1])
            return Static(None)
        if name == "extend":
            self.extend_list(target, args[0] if args else UNKNOWN, node, frame)
            return Static(None)
        if name in ("pop", "popleft"):
            if args and isinstance(node, ast.Call) and find_array(args[0], True, 0) is not None:
                self.machine.emit("index", events.IndexEvent(node, frame, target, args[0], "list"))
            self.note_taken(target, node, frame)
            if target.items:
                value = target.items[-1] if name == "pop" and not args else join_all(target.items)
                target.element = join_all(target.items)
                target.items = None
                return value
            last = target.element
            return (
                fresh(last) if isinstance(last, Array) and last.role == "key" else last
            )  # each item is taken once
        if name == "copy":
            items = list(target.items) if target.items is not None else None
            return ListValue(items, target.element, target.kind, stage=frame.stage)
        if name in SEARCHES and args and target.kind == "list":
            self.comparisons.look_for(args[0], target, name, node, frame)
        if name in ("index", "count"):
            return Static(kind="int")
        if name in ("union", "intersection", "difference", "symmetric_difference"):
            return ListValue(None, join_all(target.elements()), target.kind)
        if name in ("issubset", "issuperset", "isdisjoint"):
            return Static(kind="bool")
        return Static(None) if name in _IN_PLACE else UNKNOWN

    def extend_list(self, target: ListValue, value: Value, node: ast.AST, frame: Frame) -> None:
        self.check_leak(target, value, node, frame)
        target.length = None
        if value is not target:
            value = without_cycles(target, value)  # `a.extend(a)` adds its items, not itself
        if (
            target.items is not None
            and isinstance(value, (ListValue, TupleValue))
            and value.items is not None
            and not frame.repeats()
            and not frame.guards
            and target.weight + value.weight <= MAX_WEIGHT
        ):
            target.items.extend(value.items)
            target.weight += value.weight
            target.element = join_all(target.items)
            return
        added = self.machine.language.element_of(value, node, frame)
        spread(target, added)
        elements = [*target.elements(), added]
        known = [e for e in elements if not (isinstance(e, Unknown) and e.origin is None)]
        target.items, target.element = None, join_all(known)

    def check_leak(self, container: ListValue | DictValue, value: Value, node: ast.AST, frame: Frame) -> None:
        """A tracer stored in a container from outside the innermost trace outlives that trace."""
        if not frame.stage.staged or not frame.stage.certain or frame.catching or frame.fills_what_is_made():
            return
        if isinstance(value, Instance) and value.cls.lookup("__exit__") is not None:
            return  # a context that is entered: it removes itself again
        manager = frame.function.cls if frame.function is not None else None
        if manager is not None and manager.lookup("__enter__") is not None:
            return  # the value is created on entry, which may be inside the trace
        outer: Frame | None = frame
        while outer is not None and outer.home.staged:
            if outer.function is not None and outer.function.name in ("__enter__", "push"):
                return  # a stack of handlers: `__exit__` pops it again
            outer = outer.caller
        made = container.stage
        if made is None or made is frame.stage or getattr(made, "kind", "") != "host":
            return
        array = find_array(value, True)
        if array is not None and array.certain:
            name = self.container_name(container, frame)
            if name:
                self.machine.emit("leak", events.LeakEvent(node, frame, value, name))
        elif array is None and frame.home.kind == "cond" and isinstance(value, Static):
            name = self.container_name(container, frame)  # each branch is traced, whichever runs
            if name:
                self.machine.emit("side_effect", events.SideEffectEvent(node, frame, name))

    def note_taken(self, container: ListValue, node: ast.AST, frame: Frame) -> None:
        """Traced code takes an item out of a list from outside the trace, and continues with the rest."""
        if not frame.stage.staged or not frame.stage.certain or frame.catching or frame.statement is node:
            return
        if frame.repeats() or _puts_on(node, frame):
            return  # it empties a queue, or pops what it has pushed
        stacks = ("__enter__", "__exit__", "push", "pop")
        if any(f.function is not None and f.function.name in stacks for f in (frame, *frame.callers())):
            return
        if getattr(container.stage, "kind", "") == "host" and container.stage is not frame.stage:
            name = self.container_name(container, frame)
            if name:
                self.machine.emit("side_effect", events.SideEffectEvent(node, frame, name))

    def check_outer_object(self, holder: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        """A tracer is stored in a queue or a similar object that a variable outside the trace holds."""
        array = find_array(value, True)
        if not frame.stage.staged or not frame.stage.certain or frame.catching or array is None:
            return
        scope = frame.scope.parent
        while scope is not None and array.certain:
            for name, held in scope.variables.items():
                if held is holder and self.machine.language.outlives_stage(scope, frame):
                    self.machine.emit("leak", events.LeakEvent(node, frame, value, f"the outer `{name}`"))
                    return
            scope = scope.parent

    def container_name(self, container: Value, frame: Frame) -> str:
        """The program's name for a container that outlives the trace, or "" if nothing outside holds it."""
        kind = "dict" if isinstance(container, DictValue) else getattr(container, "kind", "list")
        function = frame.function
        if function is not None and any(container is default for default in function.defaults.values()):
            return f"a default of `{function.name}`"
        current: Frame | None = frame
        while current is not None:
            scope: Scope | None = current.scope
            while scope is not None:
                for name, value in scope.variables.items():
                    if value is container:
                        if scope is current.scope and _is_parameter(name, current):
                            break  # the caller's name for it is better
                        return f"the outer {kind} `{name}`"
                    if isinstance(value, Instance) and value.cls.is_ordinary:
                        for attr, part in value.fields.items():
                            if part is container or _is_item(container, part):
                                return f"the attribute `{name}.{attr}`"
                    elif _is_item(container, value):
                        return f"the outer dict `{name}`"
                    elif isinstance(value, ClassValue) and any(
                        part is container for part in value.namespace.values()
                    ):
                        return f"an attribute of the class `{name}`"
                scope = scope.parent
            current = current.caller
        return ""

    @staticmethod
    def take_out(target: DictValue, key: object, frame: Frame) -> None:
        """The dict after `pop`: certainly without the key if it is the call's own dict of remaining keyword
        arguments."""
        rest = frame.function.node.args.kwarg if frame.function is not None else None
        own = rest is not None and frame.scope.variables.get(rest.arg) is target
        if own and not frame.guards and not frame.repeats():
            del target.items[key]
        else:
            target.optional = target.optional.union((key,))

    def dict_method(self, target: DictValue, name: str, call: Call) -> Value:
        args, node, frame = call.args, call.node, call.frame
        values = target.elements()
        if name == "values":
            each = target.element is None and not target.optional and len(values) <= 16
            return ListValue(values if each else None, join_all(values), "iterator")
        if name == "keys":
            return ListValue(None, Static(kind="key"), "iterator")
        if name == "items":
            if target.element is None and len(target.items) <= 16:
                return TupleValue([TupleValue([Static(k), v]) for k, v in target.items.items()])
            return ListValue(None, TupleValue([Static(kind="key"), join_all(values)]), "iterator")
        if name in ("get", "pop", "setdefault"):
            if args and isinstance(args[0], Array) and args[0].staged:
                self.machine.emit("index", events.IndexEvent(node, frame, target, args[0], "dict"))
            const = constant(args[0]) if args else MISSING
            known = target.items.get(const) if isinstance(const, (str, int)) else None
            default = args[1] if len(args) > 1 else Static(None)
            if known is not None:
                maybe = const in target.optional and (name != "pop" or len(args) > 1)
                if name == "pop":
                    self.take_out(target, const, frame)
                return join(known, default) if maybe else known
            if name == "setdefault":
                self.check_leak(target, default, node, frame)
                if isinstance(default, (ListValue, DictValue)):
                    default.stage = target.stage  # it lives as long as its owner
                default = without_cycles(target, default)
                target.element = default if target.element is None else join(target.element, default)
                return default
            if target.element is None and const is not MISSING:
                return default
            return join_all([*values, default]) if values else default
        if name == "update":
            for value in call.inputs:
                self.check_leak(target, value, node, frame)
            if args:
                given = args[0]
                if not isinstance(given, DictValue):  # key and value pairs
                    made = self.machine.language.call_builtin("dict", call.passing([given], {}))
                    given = made if isinstance(made, DictValue) else DictValue({}, UNKNOWN)
                update_dict(target, given, bool(frame.guards))
            if call.kwargs:
                named = {key: part for key, part in call.kwargs.items() if key != "**"}
                update_dict(target, DictValue(dict(named), call.kwargs.get("**")), bool(frame.guards))
            return Static(None)
        if name == "copy":
            return DictValue(dict(target.items), target.element, frame.stage, target.optional)
        return UNKNOWN

    def store_item(
        self,
        base: Value,
        index: Value,
        value: Value,
        target: ast.Subscript,
        node: ast.AST,
        frame: Frame,
        operator: ast.operator | None,
    ) -> None:
        """`base[index] = value`."""
        if self.data_model.special(base, "__setitem__", [index, value], node, frame) is not None:
            return
        if isinstance(base, Instance) and CONTENT in base.fields:
            base = base.fields[CONTENT]
        if isinstance(base, (Array, Unknown)) and base.origin is not None:
            base.origin.rebind(constant(index))
        if isinstance(base, External):
            if isinstance(value, CALLABLE):
                self.machine.staging.add_rule(canonical(base.name), value, node, frame)
        elif isinstance(base, Array) and (base.role != "ref" or base.is_reference):
            if isinstance(constant(index), str):
                return  # a pytree after all
            self.machine.emit("store", events.StoreEvent(node, frame, base, value, target, operator))
        elif isinstance(base, Array):
            if base.form is not None:  # a kernel's Ref of known shape
                self.machine.arrays.store_in_ref(base, index, value, node, frame)
        elif isinstance(base, AtIndexer):
            self.machine.emit("store", events.StoreEvent(node, frame, base.array, value, target, operator))
        elif isinstance(base, NumpyArray):
            if base.shares:
                self.machine.emit("store", events.StoreEvent(node, frame, base, value, target, operator))
            self.store_in_numpy(value, node, frame)
            self.conversions.read_index(index, target, frame)
        elif isinstance(base, DictValue):
            self.check_leak(base, value, node, frame)
            const = constant(index)
            if isinstance(const, (str, int)) and not isinstance(const, bool):
                # A loop that never runs stores nothing.
                maybe = frame.repeats() and (const not in base.items or const in base.optional)
                store_key(base, const, value, bool(frame.guards) or maybe)
            else:
                store_somewhere(base, index, value)
        elif isinstance(base, ListValue):
            self.check_leak(base, value, node, frame)
            if find_array(index, True, 0) is not None:
                self.machine.emit("index", events.IndexEvent(target, frame, base, index, "list"))
            self.conversions.read_index(index, target, frame)
            _store_at(base, constant(index), value, bool(frame.guards))

    def store_in_numpy(self, value: Value, node: ast.AST, frame: Frame) -> None:
        """Emits an event for a JAX array that NumPy must convert because it is stored into a NumPy array."""
        staged = find_array(value, True, 1)
        carrying = self.machine.tracking.differentiated([value]) if staged is None else None
        if staged is not None or carrying is not None:
            found = staged or carrying
            assert found is not None
            self.machine.emit("numpy", events.NumpyEvent(node, frame, found, "setitem", carrying is not None))
        elif isinstance(value, Array) and not value.tree:
            self.machine.emit("convert", events.ConvertEvent(node, frame, value, "setitem"))


def _store_at(base: ListValue, index: object, value: Value, guarded: bool) -> None:
    """Stores a value in a list at a possibly unknown index. `guarded`: the store may not happen."""
    value = without_cycles(base, value)
    if base.items is not None and isinstance(index, int) and -len(base.items) <= index < len(base.items):
        base.items[index] = join(base.items[index], value) if guarded else value
    elif base.items is not None:
        base.items = [join(known, value) for known in base.items]  # any item may be the one
    elif not isinstance(index, int):
        base.length = None  # perhaps a slice
    if base.items is None:
        base.head = ()
    base.element = join(base.element, value)


def _is_of_module(call: ast.AST, frame: Frame) -> bool:
    """Whether a function calls a method of a variable of a module: `STACK.append(self)`."""
    if frame.function is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    holder = call.func.value
    found = frame.scope.lookup(holder.id) if isinstance(holder, ast.Name) else None
    return found is not None and found[1].is_module


def _is_parameter(name: str, frame: Frame) -> bool:
    return frame.function is not None and any(p.arg == name for p in all_parameters(frame.function.node))


def _is_item(container: Value, holder: Value) -> bool:
    """Whether a dict holds the container under any key."""
    return isinstance(holder, DictValue) and any(part is container for part in holder.elements())


def _puts_on(taking: ast.AST, frame: Frame) -> bool:
    """Whether the function also appends to the list that it takes an item from."""
    if (
        frame.function is None
        or not isinstance(taking, ast.Call)
        or not isinstance(taking.func, ast.Attribute)
    ):
        return False
    place = ast.dump(taking.func.value)
    return any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "append"
        and ast.dump(call.func.value) == place
        for call in nodes_of(frame.function.node, ast.Call)
    )
