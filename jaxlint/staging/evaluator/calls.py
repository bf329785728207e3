"""Calls: evaluates arguments, finds the callee, and evaluates project functions in the caller's context."""

from __future__ import annotations

import ast
from dataclasses import replace

from jaxlint.jaxapi.names import canonical
from jaxlint.staging import events
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.classes import Classes
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.externals import Externals
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.instances import Instances
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.methods import Methods
from jaxlint.staging.evaluator.parameters import binds, join_open
from jaxlint.staging.evaluator.scopes import (
    NOTHING,
    Choosing,
    Doubting,
    ExpectingErrors,
    Guessing,
    InLibraryCode,
    Staged,
    StartingWithKeys,
)
from jaxlint.staging.listeners import hand
from jaxlint.staging.values import (
    ANSWER,
    UNKNOWN,
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
    OptionalName,
    Partial,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    find_array,
    in_turn,
    join,
    join_all,
    member_kind,
    unknown_of,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.frame import Frame
from jaxlint.syntax.facts import (
    calls_what_fails,
    last_name,
    names_stored,
)


class Calls(Part):
    """Evaluates calls."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.function_calls = machine.part(FunctionCalls)
        self.access = machine.part(Access)
        self.classes = machine.part(Classes)
        self.instances = machine.part(Instances)
        self.externals = machine.part(Externals)
        self.conversions = machine.part(Conversions)
        self.methods = machine.part(Methods)
        self.heard = machine.listeners.routes["call"]
        self.heard_discarded = machine.listeners.routes["discarded call"]
        # Calls of a call's result, as in `jit(f)(x)`, by that inner call.
        self.on_the_spot: dict[ast.AST, ast.Call] = {}

    def eval_call(self, node: ast.Call, frame: Frame) -> Value:
        """The value of a call: its parts are evaluated in Python's order, then the callee is called."""
        called = node.func
        base: Value | None = None
        if type(called) is ast.Attribute:
            base = self.machine.language.eval(called.value, frame)
            callee = self.access.attribute_of(base, called, frame)
        else:
            if type(called) is ast.Call:
                self.on_the_spot[called] = node
            callee = self.machine.language.eval(called, frame)
        args: list[Value] = []
        for argument in node.args:
            if type(argument) is ast.Starred:
                args.extend(self.unpacked(argument, frame))
            else:
                args.append(self.machine.language.eval(argument, frame))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.machine.language.eval(keyword.value, frame)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            else:
                self.unpack_mapping(value, kwargs, callee, keyword, frame)
        call = Call(args, kwargs, node, frame)
        if kwargs:
            self.machine.tracking.before_call(node, callee, call)
        if frame.module.is_test and len(args) > 1 and calls_what_fails(node):
            return self.call_expecting_error(call)
        possible = None
        staged = frame.stage.staged
        if staged and isinstance(callee, (Unknown, Array)):
            possible = self.call_unknown(base, callee, call)
        elif type(callee) is Unknown and type(called) is ast.Attribute:
            self.machine.reach.note_host_call(called.attr, call)
        result = possible if possible is not None else self.call_value(callee, call)
        if len(args) == 1 and self.machine.staging.finds_tracer(called, args[0]):
            result = Static(True)
        if not staged:
            self.machine.tracking.after_host_call(node, callee, call, result)
        name = canonical(callee.name) if type(callee) is External else ""
        discarded = frame.statement is node
        about = name or (type(callee), callee.name if type(callee) is ExternalMethod else last_name(called))
        hearers = (self.heard_discarded if discarded else self.heard).get(about)
        if hearers is None:
            hearers = self.machine.listeners.of("discarded call" if discarded else "call", about)
        if hearers and self.machine.reports(frame):
            hand(hearers, events.CallEvent(node, frame, callee, name, args, kwargs, result, discarded))
        return result

    def unpacked(self, argument: ast.Starred, frame: Frame) -> list[Value]:
        """The arguments that `*argument` stands for."""
        inner = self.machine.language.eval(argument.value, frame)
        if isinstance(inner, (TupleValue, ListValue)) and inner.items is not None:
            return inner.items
        if type(inner) is TupleValue and inner.tail is not None:
            return [*inner.head, StarArgument(fresh(inner.tail))]
        sizes = inner.measured if type(inner) is TupleValue else None
        return [StarArgument(self.machine.language.element_of(inner, argument, frame), sizes)]

    def unpack_mapping(
        self, mapping: Value, kwargs: dict[str, Value], callee: Value, keyword: ast.keyword, frame: Frame
    ) -> None:
        """Adds the entries of `**mapping` to the keyword arguments."""
        if type(mapping) is DictValue:
            for key, item in mapping.items.items():
                if isinstance(key, str) and key in mapping.optional:
                    kwargs[OptionalName(key)] = item if binds(callee) else join(item, UNKNOWN)
                elif isinstance(key, str):
                    kwargs[key] = item
            if mapping.element is not None:
                kwargs["**"] = join_open(kwargs.get("**"), mapping.element)
        else:
            element = self.machine.language.element_of(mapping, keyword, frame)
            kwargs["**"] = join_open(kwargs.get("**"), element)

    def call_unknown(self, base: Value | None, callee: Value, call: Call) -> Value | None:
        """The result of calling something unknown inside a stage; None if that is unknown too."""
        assert isinstance(call.node, ast.Call)
        called = call.node.func
        possible = None
        if type(called) is ast.Attribute and base is not None:
            possible = self.machine.reach.call_on_unknown(base, called.attr, call)
        if possible is None:
            possible = self.machine.reach.call_on_unknown(callee, "__call__", call)
        if possible is None:
            self.function_calls.unresolved.add(called.attr if type(called) is ast.Attribute else "__call__")
        return possible

    def call_expecting_error(self, call: Call) -> Value:
        """`assertRaises(Error, function, *args)`, also with a pattern before the function: calls it as in a `with`."""
        kinds = (Function, BoundMethod, Transformed, Partial, ClassValue)
        called = next((i for i, value in enumerate(call.args) if i > 0 and isinstance(value, kinds)), None)
        if called is not None:
            with ExpectingErrors(self.machine, call.frame.module):
                self.call_value(call.args[called], call.passing(call.args[called + 1 :]))
        return UNKNOWN

    def call_value(self, callee: Value, call: Call) -> Value:
        """The result of calling `callee`."""
        node, frame = call.node, call.frame
        if type(callee) is External:
            return self.externals.call_external(callee, call)
        if type(callee) is Function:
            if callee.cached:
                return self.call_cached(callee, call)
            return self.function_calls.call_function(callee, call, frame.stage)
        if type(callee) is BoundMethod:
            return self.call_value(callee.function, call.passing([callee.receiver, *call.args]))
        if type(callee) is ExternalMethod:
            return self.methods.call_method(callee, call)
        if type(callee) is Transformed:
            return self.machine.staging.call_transformed(callee, call)
        if type(callee) is Partial:
            merged = {**callee.kwargs, **call.kwargs}
            return self.call_value(callee.function, call.passing([*callee.args, *call.args], merged))
        if type(callee) is ClassValue:
            return self.classes.instantiate(callee, call)
        if type(callee) is Instance:
            method = self.instances.module_call_method(callee)
            if isinstance(method, (Function, Transformed)):
                receiver = [] if member_kind(method) == "staticmethod" else [callee]
                return self.call_value(method, call.passing([*receiver, *call.args]))
            return self.opaque_call(call.inputs, node, frame)
        if type(callee) is ExternalObject:
            return self.externals.call_external_object(callee, call)
        if type(callee) is Choice:
            return self.call_choice(callee, call)
        if type(callee) is Array and callee.staged:
            # part of a tree, and a function: the values that it captured entered the stage with the tree
            return self.opaque_call([callee, *call.inputs], node, frame)
        if isinstance(callee, Unknown) and callee.made_of:
            return self.machine.reach.call_made_of(callee, call)
        given = call.inputs
        self.machine.tracking.pass_to_unknown(given, node, frame)
        result = unknown_of(given)
        if frame.stage.staged and result is UNKNOWN and any(find_array(part, True) for part in given):
            return ANSWER
        return result

    def call_choice(self, callee: Choice, call: Call) -> Value:
        """Calls each option in a branch of its own."""
        frame = call.frame
        results: list[Value] = []
        before, after = frame.consumed.copied(), frame.consumed.copied()
        stage = frame.stage
        if stage.staged and (not callee.every or frame.guarded_in_loop()):
            stage = replace(stage, certain=False)  # the run decides which of them it is
        # The choice among several objects decides whether a function argument is ever traced. For a table of
        # functions, a test beside the call may select those that accept its arguments: `if "parallel" in name:
        # method(keys, x)`.
        methods = not callee.every and all(isinstance(option, BoundMethod) for option in callee.options)
        guessed = (
            frame.guarded_in_loops()
            if callee.every
            else methods and any(isinstance(value, Function) for value in call.args)
        )
        several = callee.every or not _is_one_in_loops(callee, call)
        with Staged(frame, stage), Choosing(self.machine, several), Guessing(self.machine, guessed):
            for option in callee.options:
                # The choice among several library functions decides what arguments they need.
                unsure = not callee.every and isinstance(option, External)
                with StartingWithKeys(frame, before.copied()), InLibraryCode(self.machine, unsure):
                    results.append(self.call_value(option, call))
                    after.update(frame.consumed)
        frame.consumed = after
        return in_turn(results) if callee.every else join_all(results)

    def call_cached(self, callee: Function, call: Call) -> Value:
        """The result of calling a function wrapped by `functools.cache`: its arguments are hashed and its result is
        kept."""
        frame = call.frame
        given = call.inputs
        if frame.stage.staged:
            for value in given:
                self.conversions.convert(value, call.node, "hash", frame)
        # the cache keeps its result
        owner = call.args[0] if callee.kind == "property" and call.args else None
        outside = isinstance(owner, Instance) and self.instances.made_outside(owner, frame)
        kept = owner is None or outside
        asked = frame.stage.staged and outside  # perhaps the host called it before, so nothing runs here
        with Doubting(frame) if asked else NOTHING:
            result = self.function_calls.call_function(callee, call, frame.stage)
        if kept and all(find_array(value, True) is None for value in given):
            self.tell_cached_tracer(callee, result, frame)  # a tracer would not be looked up at all
        return result

    def opaque_call(self, inputs: list[Value], node: ast.AST, frame: Frame) -> Value:
        """The result of an unknown function that probably computes with its arguments."""
        self.machine.tracking.pass_to_unknown(inputs, node, frame)
        found = next((a for a in map(find_array, inputs) if a is not None), None)
        if found is None:
            return UNKNOWN
        answer = frame.stage.staged and found.staged
        return Array(found.staged, found.why, tree=True, certain=False, jitted=found.jitted, answer=answer)

    # -- project functions

    def tell_cached_tracer(self, function: Function, result: Value, frame: Frame) -> None:
        """Emits an event if the result of a cached function is a tracer: it stays in the cache after the trace."""
        if (
            not (frame.stage.abstract and frame.stage.certain)
            or frame.catching
            or function.module is not frame.module
        ):
            return
        array = find_array(result, True, 1)
        decorators = getattr(function.node, "decorator_list", [])
        caching = next((d for d in decorators if "cache" in ast.unparse(d)), None)
        if array is not None and array.certain and caching is not None:
            where = f"the cache of `{function.name}`"
            self.machine.emit("leak", events.LeakEvent(caching, frame, result, where))


def _is_one_in_loops(choice: Choice, call: Call) -> bool:
    """Whether a name holds one of several compiled functions, or of several objects whose method is called, the same in each
    iteration: a test before the loops, or a setting, chose it."""
    called = call.node.func if isinstance(call.node, ast.Call) else None
    kinds = (Transformed, BoundMethod) if isinstance(called, ast.Attribute) else (Transformed,)
    while isinstance(called, ast.Attribute):
        called = called.value
    return (
        isinstance(called, ast.Name)
        and all(isinstance(option, kinds) for option in choice.options)
        and not any(called.id in names_stored(loop.node) for loop in call.frame.loops)
    )
