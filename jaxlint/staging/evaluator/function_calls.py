"""Calls of project functions, evaluated once for each context."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from jaxlint.staging.evaluator.call_sizes import are_known, sizes_of_call
from jaxlint.staging.evaluator.failures import Contained
from jaxlint.staging.evaluator.function_records import FunctionRecord
from jaxlint.staging.evaluator.machine import Machine, Part
from jaxlint.staging.evaluator.parameters import doubt_switches, lacks_arguments
from jaxlint.staging.evaluator.recursion import descends
from jaxlint.staging.evaluator.scopes import (
    NOTHING,
    Active,
    Guessing,
    InLibraryCode,
)
from jaxlint.staging.evaluator.type_parameters import seen_in_signature, type_parameters
from jaxlint.staging.module import Module
from jaxlint.staging.shapes.exact import exact_key, fixed
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    DictValue,
    Function,
    ListValue,
    Origin,
    Scope,
    Static,
    TupleValue,
    Unknown,
    Value,
    as_answer,
    join_all,
    rough_stand_in,
    stand_in,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.copies import copied, holds_made
from jaxlint.staging.values.demands import Demand
from jaxlint.staging.values.fingerprint import summary_key
from jaxlint.staging.values.forms import hidden_form, hide_shapes
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.keys import STREAMS, key_origins
from jaxlint.staging.values.measured import declare_sizes, unmeasured
from jaxlint.staging.values.stage import Stage
from jaxlint.staging.values.writes import (
    Path,
    State,
    mutable_parts,
    put_back,
    repeat,
    writes_since,
)
from jaxlint.syntax.facts import (
    FunctionNode,
    all_parameters,
    captured_flags,
    declared_sizes,
    defaults_of,
    is_left_open,
    is_left_to_heirs,
)
from jaxlint.syntax.memo import cache

MAX_DEPTH = 28
MAX_RUNS = 40  # evaluations of one function whose results may not be memoised
WIDEN_AFTER = 5  # evaluations of one function before numbers are no longer distinguished
# evaluations per closure after that, before calls with the same functions and tracers share a context
FEW = 2


class FunctionCalls(Part):
    """Evaluates functions and memoises their results."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.records: dict[ast.AST, FunctionRecord] = {}
        self.defined: list[Function] = []  # functions that remain to be entered
        self.edges: dict[ast.AST, set[ast.AST]] = {}  # the call graph
        self.unresolved: set[str] = set()  # methods called by traced code on unknown values

    def call_function(self, function: Function, call: Call, stage: Stage, context: str = "call") -> Value:
        """Evaluates a project function on these arguments, in `stage`. Memoised by a summary of the arguments."""
        node, frame = call.node, call.frame
        bound = self.machine.language.bind(function, call.args, call.kwargs, frame)
        if bound is None:
            return UNKNOWN
        if frame.guards and isinstance(node, ast.Call):
            doubt_switches(function, bound, call.args, node)
        if lacks_arguments(function, call.args, call.kwargs):
            with Guessing(self.machine):
                return self.run_function(function, bound, node, frame, stage, context)
        return self.run_function(function, bound, node, frame, stage, context)

    def run_function(
        self,
        function: Function,
        bound: dict[str, Value],
        node: ast.AST | None,
        caller: Frame | None,
        stage: Stage,
        context: str,
    ) -> Value:
        """Evaluates the body with parameters bound, or finds the memoised result."""
        record = self.records.get(function.node)
        if record is None:
            record = self.records[function.node] = FunctionRecord(function)
        if self.machine.arrays_seen is not None:
            bound = self.machine.arrays_seen.entered(function, bound, context, caller)
        if self.machine.tracer_sources is not None and stage.staged:
            self.machine.tracer_sources.note(function.node, bound, node, caller)
        record.argument_effects = None
        self.note_call(record, function, caller, stage)
        # The evaluation of a guess reported nothing, so a visible call cannot reuse it.
        guessed = self.machine.guessing > 0
        scope_key = self.scope_key(function, guessed)
        summaries = [summary_key(value) for value in bound.values()]
        if self.machine.exact:
            summaries += [exact_key(value) for value in bound.values()]
        context_key: tuple[object, ...] = (scope_key, stage.key, *summaries)
        key = record.numbers.get(context_key)
        sizes = () if self.machine.exact else sizes_of_call(bound)
        if key is not None and are_known(sizes):
            key, context_key = record.variant(key, context_key, sizes)
        seen = record.contexts(function.scope) if key is None and not self.machine.exact else 0
        if key is None and seen >= WIDEN_AFTER:
            bound, summaries = _without_numbers(record, bound, summaries)
            exact, context_key = context_key, (scope_key, stage.key, *summaries)
            key = record.numbers.get(context_key)
            if key is not None:
                record.numbers[exact] = key  # so that the same call finds it at once
        stood_in: Callable[[Value], Value] | None = None  # the result of another call
        coarse = None
        if key is None and seen >= record.coarse_after:
            coarse = record.coarse_key(function.scope, stage, bound)
            key, stood_in = record.coarse.get(coarse), stand_in
        if key is None and seen >= FEW and record.is_everywhere():
            key, stood_in = record.alike(function.scope, stage, bound), rough_stand_in
        known = record.memo[key] if key is not None and key not in record.stale else None
        if (
            key is not None
            and known
            and (not known[2] or record.active or record.runs > MAX_RUNS)
            and not self.shows_its_loop(record, key, stage, caller)
        ):
            if self.machine.observes and context == "call" and not record.hosted and stage.runs:
                record.observe(stage, bound, context, caller, guessed)  # so far it was only entered this way
            same = stood_in is None and None not in sizes and record.sizes.get(key) == sizes
            return self.repeat_call(record, key, stood_in, bound, node, caller, same)
        if self.machine.observes:
            record.observe(stage, bound, context, caller, guessed)
        if (
            (record.active >= 2 and not descends(function, bound, record.active, caller))
            or depth_below(caller) > MAX_DEPTH
            or record.is_full(function.scope, bound)
            or self.machine.exhausted()
        ):
            if self.machine.arrays_seen is not None:
                self.machine.arrays_seen.left_out(function)
            return (
                self.machine.language.opaque_call(list(bound.values()), node or function.node, caller)
                if caller
                else UNKNOWN
            )
        if key is None:
            key = record.number(context_key, function.scope, stage, bound, coarse)
            record.sizes[key] = sizes
        return self.evaluate_call(record, key, function, bound, node, caller, stage, context)

    def shows_its_loop(self, record: FunctionRecord, key: int, stage: Stage, caller: Frame | None) -> bool:
        """Whether a memoised call is to be evaluated once more, since a loop runs it and none ran it before: rules about costs have to
        see that loop."""
        return (
            key in record.outside_loops
            and not record.active
            and record.runs <= MAX_RUNS
            and depth_below(caller) <= MAX_DEPTH
            and not self.machine.exhausted()
            and self.is_in_loop(stage, caller)
        )

    def is_in_loop(self, stage: Stage, caller: Frame | None) -> bool:
        """Whether a loop of the host, around a call or around its callers, runs a call again and again."""
        if stage.staged or self.machine.exact or self.machine.guessing:
            return False
        return caller is not None and any(one.loops for one in (caller, *caller.callers()))

    def scope_key(self, function: Function, guessed: bool) -> tuple[object, ...]:
        """A key that distinguishes two calls with equal arguments."""
        return (
            function.scope.serial,
            () if function.scope.is_module else decided_flags(function),
            function.stand_in,
            guessed or self.machine.provoking is not None,
            self.machine.likely,
            self.machine.parameter_flow,
        )

    def note_call(
        self, record: FunctionRecord, function: Function, caller: Frame | None, stage: Stage
    ) -> None:
        """Records that the function is called, and by which caller."""
        provoking = self.machine.provoking
        elsewhere = provoking is not None and provoking is not function.module
        record.reached = record.reached or not (self.machine.guessing or elsewhere)
        if caller is None:
            return
        if caller.function is not None and not self.machine.custom_rules:
            called = self.edges.get(caller.function.node)
            if called is None:
                called = self.edges[caller.function.node] = set()
            called.add(function.node)
        if self.machine.observes and not stage.staged:
            if caller.function is not None:
                self.records[caller.function.node].host_calls.add(record)
            else:
                record.called_by_modules = True

    def repeat_call(
        self,
        record: FunctionRecord,
        key: int,
        stood_in: Callable[[Value], Value] | None,
        bound: dict[str, Value],
        node: ast.AST | None,
        caller: Frame | None,
        same: bool,
    ) -> Value:
        """The result and the effects of a memoised call, for the arguments of this call. `stood_in`: it is only
        similar. `same`: its arrays had the same shapes."""
        result, consumed, _, then = record.memo[key]
        # parts of its arguments become parts of this call's arguments
        aligned = stood_in is not rough_stand_in
        if key in record.writes:
            repeat(record.writes[key], bound)
        record.argument_effects = record.donations.get(key)
        if caller is not None and key in record.differentiating:
            caller.note_gradient()
        if caller is not None and key in record.demands and aligned:
            self.pass_demands(record.demands[key], caller)
        if caller is not None and node is not None:
            if consumed and aligned and not self.machine.guessing:
                self.use_again(consumed, bound, record.function, node, caller)
            self.machine.ledger.replay(record.effects.get(key), node, caller)
        born = record.made.get(key)
        if born is not None:
            result = copied(result, born)  # each call creates its own
            hide_shapes(result, born, fixed if same else hidden_form)
        if result is not UNKNOWN and isinstance(result, (Array, Unknown, TupleValue, DictValue, Static)):
            passed = key_origins(bound) if aligned else []
            result = self.renewed(result, dict(zip(then, passed, strict=False)), same)
        return result if stood_in is None else stood_in(result)

    def evaluate_call(
        self,
        record: FunctionRecord,
        key: int,
        function: Function,
        bound: dict[str, Value],
        node: ast.AST | None,
        caller: Frame | None,
        stage: Stage,
        context: str,
    ) -> Value:
        """Evaluates the body, and memoises its result and effects under `key`."""
        for name, value in bound.items():
            if type(value) is Array and value.origin is None:
                bound[name] = value.known_as(Origin(name))  # so that results can refer to them
        said = declared_sizes(function.node)
        if said:
            declare_sizes(bound, said)
        scope = Scope(function.scope, stage=stage)
        frame = Frame(function, function.module, scope, stage, caller, node, depth_below(caller), context)
        scope.variables.update(type_parameters(function.node))
        scope.variables.update(bound)
        origins = key_origins(bound)
        frame.inherited.update(origin for origin in origins if origin is not None)
        record.memo[key] = (UNKNOWN, (), False, ())  # a recursive call of the same kind is unknown
        record.runs += 1
        if stage.staged or self.is_in_loop(stage, caller):
            record.outside_loops.discard(key)
        else:
            record.outside_loops.add(key)
        frame.born = Origin("frame").serial
        before, spans = self.machine.ledger.serial, self.machine.ledger.spans
        mutable = mutable_parts(bound)
        result: Value = UNKNOWN
        with Contained(self.machine, function.module, frame) as attempt:
            finished = False
            with Active(record), InLibraryCode(self.machine) if function.stand_in else NOTHING:
                result = self.run_body(function, frame)
            finished = True
        if not finished:
            self.undo_effects(mutable, before)
            frame.consumed.clear()
        if attempt.failed and key not in record.stale:
            record.stale.add(key)  # the second evaluation may know it; after the third it is fixed
        else:
            record.stale.discard(key)
        written = writes_since(mutable) if mutable else None
        if written:
            record.writes[key] = written
        if frame.consumed and function.cls is not None:
            self.machine.tracking.tell_unrenewed(function, frame, bound)
        if frame.consumed:
            origins = key_origins(bound)  # keys may have been drawn from streams in the meantime
        enclosing = self.remember(record, key, function, frame, result, origins)
        effect = self.machine.ledger.effect_since(before, spans)
        if effect is not None:
            record.effects[key] = effect
        if frame.demands.found and finished:
            record.demands[key] = frame.demands.found
            if caller is not None:
                self.pass_demands(frame.demands.found, caller)
        record.last = frame
        if stage.staged:
            record.last_staged = frame
            if frame.takes_gradient:
                record.differentiating.add(key)
        record.argument_effects = (
            self.machine.tracking.argument_effects(frame)
            if frame.buffers.donated or frame.buffers.held
            else None
        )
        if record.argument_effects is not None:
            record.donations[key] = record.argument_effects
        if frame.consumed and caller is not None and node is not None and not self.machine.guessing:
            self.consume_for(caller, node, frame, function, enclosing)
        return result

    def pass_demands(self, demands: tuple[Demand, ...], caller: Frame) -> None:
        """What a called function demands is demanded by its caller, unless something else may have been called."""
        if not self.machine.guessing and not self.machine.choosing:
            caller.demand(*demands)

    def consume_for(
        self, caller: Frame, node: ast.AST, frame: Frame, function: Function, enclosing: list[Origin]
    ) -> None:
        """The keys of the caller that the call at `node` has consumed."""
        for origin in list(frame.consumed):
            if origin in frame.inherited or origin.parent in frame.inherited or origin in enclosing:
                self.machine.tracking.use_key(origin, node, caller, function.name, origin in enclosing)

    def remember(
        self,
        record: FunctionRecord,
        key: int,
        function: Function,
        frame: Frame,
        result: Value,
        origins: list[Origin | None],
    ) -> list[Origin]:
        """Memoises the result of a call and the argument keys that it consumed; returns the keys of an enclosing
        function."""
        consumed: tuple[int, ...] = ()
        enclosing: list[Origin] = []  # each call consumes them again
        if frame.consumed:
            consumed = tuple(
                i for i, origin in enumerate(origins) if origin is not None and origin in frame.consumed
            )
            nested = not function.scope.is_module and not function.scope.is_class
            enclosing = [o for o in frame.consumed if _is_of_enclosing(o, frame)] if nested else []
        kept = result
        if holds_made(result, frame.born):
            record.made[key] = frame.born
            kept = copied(result, frame.born)  # callers change their copy, not the memoised one
        record.memo[key] = (kept, consumed, bool(enclosing), tuple(origins))
        return enclosing

    def undo_effects(self, mutable: dict[Path, tuple[Value, State]], serial: int) -> None:
        """Undoes the effects of a call that raised: on its arguments, on dispatches, and on its stage."""
        put_back(mutable)
        self.machine.ledger.forget(serial)
        self.machine.crossing = []

    def use_again(
        self,
        consumed: tuple[int, ...],
        bound: dict[str, Value],
        function: Function,
        node: ast.AST,
        caller: Frame,
    ) -> None:
        """Consumes the keys at these argument positions, as a memoised call of the function did."""
        flat = key_origins(bound)
        for position in consumed:
            origin = flat[position] if position < len(flat) else None
            if origin is None and 0 < position < len(flat):
                owner = flat[position - 1]  # a stream of a key that this call uses first
                origin = owner.child(STREAMS) if owner is not None and position % 2 else None
            if origin is not None:
                self.machine.tracking.use_key(origin, node, caller, function.name)

    def renewed(
        self, value: Value, given: dict[Origin | None, Origin | None], same: bool, depth: int = 3
    ) -> Value:
        """A memoised result for the arguments of this call. Keys that the function created are new each time."""
        if type(value) is Array:
            origin, like = value.origin, value.like
            if origin is not None:
                origin = given[origin] if origin in given else Origin(origin.name, batch=origin.batch)
            if like is not None:
                like = given.get(like) or given.get(like.root()) or like
            if origin is value.origin and like is value.like and value.made is None and value.form is None:
                return value
            result = value.known_as(origin)
            form = fixed(value) if same and not value.tree else None
            result.like, result.made, result.form = like, None, form  # it was made from other arguments
            return result
        if type(value) is Static:
            return value if same else unmeasured(value)
        if type(value) is Unknown and value.measured is not None and value.origin is None:
            return UNKNOWN
        if type(value) is Unknown and value.origin is not None:
            origin = given.get(value.origin) or type(value.origin)(value.origin.name)
            return Unknown(origin, value.flow, made_of=value.made_of, answer=value.answer)
        if depth > 0 and type(value) is TupleValue and value.items is not None:
            items = [self.renewed(part, given, same, depth - 1) for part in value.items]
            return TupleValue(items, value.element, value.cls, value.exact)
        if type(value) is TupleValue and value.measured is not None:
            return TupleValue(None, value.element)
        if depth > 0 and type(value) is DictValue and value.items:
            known = {key: self.renewed(part, given, same, depth - 1) for key, part in value.items.items()}
            return DictValue(known, value.element, value.stage, value.optional)
        return value

    def run_body(self, function: Function, frame: Frame) -> Value:
        body = function.node.body
        if type(function.node) is ast.Lambda:
            assert isinstance(body, ast.expr)
            result = self.machine.language.eval(body, frame)
            frame.returns.append(result)
            return result
        assert isinstance(body, list)
        if function.cls is not None and frame.stage.staged and is_left_to_heirs(function.node):
            self.machine.reach.call_overrides(function, frame)
            self.unresolved.add(function.name)
            return self.machine.language.opaque_call(
                list(frame.scope.variables.values()), function.node, frame
            )
        if self.machine.language.exec_block(body, frame):
            if function.cls is not None and is_left_open(function.node):
                if frame.stage.staged:
                    self.unresolved.add(function.name)
                return UNKNOWN  # a subclass's version may return anything
            frame.returns.append(Static(None))
        if frame.yields:
            kind = "steps" if frame.runs_steps else "generator"
            return ListValue(None, join_all(frame.yields), kind, stage=frame.stage)
        if isinstance(function.node, ast.AsyncFunctionDef):
            return UNKNOWN
        values = list(frame.returns)
        if len(values) > 1:
            # `return None` at the end of a function that also returns a value is usually a fall-through.
            values = [v for v in values if not (isinstance(v, Static) and v.const is None)] or values
        result = join_all(values)  # unknown if it only raises, as an abstract method does
        return as_answer(result) if frame.asked_answers and len(values) > 1 else result

    def make_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, frame: Frame
    ) -> Function:
        """The function value of a def or lambda evaluated in `frame`."""
        name = getattr(node, "name", "<lambda>")
        scope = frame.scope
        prefix = ""
        if scope.is_class:
            prefix = f"{frame.making.qualname}." if frame.making is not None else ""
        elif frame.function is not None:
            prefix = f"{frame.function.qualname}.<locals>."
        function = Function(
            node, frame.module, scope, prefix + name, frame.making if scope.is_class else None
        )
        for parameter, default in defaults_of(node):
            function.defaults[parameter.arg] = self.machine.language.eval(default, frame)
        if not isinstance(node, ast.Lambda):
            with seen_in_signature(node, frame):
                for parameter in all_parameters(node):
                    if parameter.annotation is not None:
                        self.annotation(parameter.annotation, frame)
                if node.returns is not None:
                    self.annotation(node.returns, frame)
        self.defined.append(function)
        return function

    def annotation(self, node: ast.expr, frame: Frame) -> None:
        """Evaluates an annotation for the names in it."""
        if self.machine.wants_names and not isinstance(node, ast.Constant):
            self.machine.language.eval(node, frame)


def _is_of_enclosing(origin: Origin, frame: Frame) -> bool:
    """Whether a key is older than the activation `frame`, which did not receive it as an argument."""
    handed = origin in frame.inherited or origin.parent in frame.inherited
    return origin.root().serial < frame.born and not handed


def decided_flags(function: Function) -> tuple[bool | None, ...]:
    """The known flags that a closure tests. A closure called in two branches of a test differs between them."""
    if function.scope.is_module or function.scope.is_class:
        return ()
    known: list[bool | None] = []
    for name in _flags_of(function.node, function.module):
        found = function.scope.lookup(name)
        value = found[0] if found is not None else None
        const = value.const if isinstance(value, Static) else None
        known.append(const if isinstance(const, bool) else value.truth if isinstance(value, Static) else None)
    return tuple(known)


@cache
def _flags_of(node: FunctionNode, module: Module) -> tuple[str, ...]:
    """`captured_flags`, for functions that contain an `if`."""
    lines = module.lines[node.lineno - 1 : node.end_lineno]
    return captured_flags(node) if any("if" in line for line in lines) else ()


def _without_numbers(
    record: FunctionRecord, given: dict[str, Value], summaries: list[object]
) -> tuple[dict[str, Value], list[object]]:
    """Arguments of a function that is called with more and more different numbers, and their summaries,
    generalised to all of them.

    An argument that never changed is kept.
    """
    bound = {n: v if record.has_had_alone(n, v) else widened(v) for n, v in given.items()}
    return bound, [
        known if value is given[name] else summary_key(value)
        for (name, value), known in zip(bound.items(), summaries, strict=True)
    ]


def widened(value: Value) -> Value:
    """The value without its known number or dtype."""
    if isinstance(value, Static) and type(value.const) in (int, float):
        return Static(kind=type(value.const).__name__)
    if type(value) is Array and value.dtype:
        return replace(value, dtype="")
    return value


def depth_below(caller: Frame | None) -> int:
    """The depth of a call from `caller`."""
    return caller.depth + 1 if caller is not None else 0
