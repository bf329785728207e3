"""Calls: evaluating arguments, finding the callee, and evaluating project functions in the caller's context."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from jaxlint.jaxapi.names import canonical
from jaxlint.staging import events
from jaxlint.staging.evaluator.binding import Binding, binds, doubt_switches, join_open, lacks_arguments
from jaxlint.staging.evaluator.expressions import register
from jaxlint.staging.evaluator.failures import Contained
from jaxlint.staging.evaluator.scopes import (
    NOTHING,
    Active,
    Beside,
    Choosing,
    Doubting,
    Guessing,
    KeysAside,
    Provoking,
    Staged,
)
from jaxlint.staging.evaluator.type_parameters import seen_in_signature, type_parameters
from jaxlint.staging.listeners import hand
from jaxlint.staging.project import Module
from jaxlint.staging.tracking.keys import STREAMS, key_origins
from jaxlint.staging.tracking.timing import Effect
from jaxlint.staging.values import (
    ANSWER,
    CONTENT,
    MISSING,
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
    Origin,
    Partial,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    as_answer,
    constant,
    find_array,
    in_turn,
    is_none,
    join,
    join_all,
    member_kind,
    rough_stand_in,
    stand_in,
    unknown_of,
)
from jaxlint.staging.values.copies import copied, holds_made
from jaxlint.staging.values.fingerprint import functions_in, summary_key
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.scope import Scope
from jaxlint.staging.values.stage import Stage
from jaxlint.staging.values.writes import (
    Path,
    State,
    Writes,
    mutable_parts,
    own,
    put_back,
    repeat,
    writes_since,
)
from jaxlint.syntax.facts import (
    FunctionNode,
    all_parameters,
    calls_what_fails,
    captured_flags,
    defaults_of,
    dotted,
    is_left_open,
    is_left_to_heirs,
    last_name,
    makes_functions,
)
from jaxlint.syntax.memo import cache

if TYPE_CHECKING:
    from jaxlint.staging.tracking.buffers import Handed

MAX_DEPTH = 28
MAX_RUNS = 40  # evaluations of one function whose results may not be remembered
WIDEN_AFTER = 5  # evaluations of one function before numbers are no longer told apart
COARSE_AFTER = (
    16  # evaluations of one function before what its arguments have captured is no longer told apart
)
MANY = 60  # evaluations of one function over all closures
CLOSURES = 8
FEW = 2  # evaluations per closure then, before calls count as the same that agree in the functions and tracers they hand over
FACTORY_FACTOR = 4  # more of them of a function that gives functions
MAX_CONTEXTS = 100  # evaluations of one function, per closure, before its results are taken as unknown
MAX_HANDED = 250  # the same for calls that hand it other functions than those before
MAX_OBSERVATIONS = 40  # contexts of one function that `inspect` unites, for each way of being staged
MAX_ALL_CONTEXTS = 1000  # the same over all closures of one def


# What libraries call their own question whether a value is a tracer.
_ASKS_FOR_TRACER = frozenset({"is_abstract", "is_tracer", "is_traced", "is_jax_tracer", "_is_tracer"})


class Calls(Binding):
    """The calling half of the interpreter."""

    def eval_call(self, node: ast.Call, frame: Frame) -> Value:
        called = node.func
        base: Value | None = None
        if type(called) is ast.Attribute:
            base = self.eval(called.value, frame)
            callee = self.attribute_of(base, called, frame)
        else:
            if type(called) is ast.Call:
                self.on_the_spot[called] = node
            callee = self.eval(called, frame)
        args: list[Value] = []
        for argument in node.args:
            if type(argument) is ast.Starred:
                inner = self.eval(argument.value, frame)
                if isinstance(inner, (TupleValue, ListValue)) and inner.items is not None:
                    args.extend(inner.items)
                elif type(inner) is TupleValue and inner.tail is not None:
                    args.extend([*inner.head, StarArgument(self.fresh(inner.tail))])
                else:
                    args.append(StarArgument(self.element_of(inner, argument, frame)))
            else:
                args.append(self.eval(argument, frame))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.eval(keyword.value, frame)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif type(value) is DictValue:
                for key, item in value.items.items():
                    if isinstance(key, str) and key in value.optional:
                        kwargs[OptionalName(key)] = item if binds(callee) else join(item, UNKNOWN)
                    elif isinstance(key, str):
                        kwargs[key] = item
                if value.element is not None:
                    kwargs["**"] = join_open(kwargs.get("**"), value.element)
            else:
                kwargs["**"] = join_open(kwargs.get("**"), self.element_of(value, keyword, frame))
        if kwargs:
            if "rngs" in kwargs and dotted(called).rpartition(".")[2] in ("apply", "apply_fn"):
                self.use_streams(kwargs["rngs"], node, frame)
            if "seed" in kwargs and isinstance(callee, (ExternalMethod, Unknown)):
                self.use_seed(kwargs["seed"], node, frame)
        if frame.module.is_test and len(args) > 1 and calls_what_fails(node):
            return self.provoke(args, kwargs, node, frame)
        possible = None
        staged = frame.stage.staged
        if staged and isinstance(callee, (Unknown, Array)):
            if type(called) is ast.Attribute and base is not None:
                possible = self.call_on_unknown(base, called.attr, args, kwargs, node, frame)
            if possible is None:
                possible = self.call_on_unknown(callee, "__call__", args, kwargs, node, frame)
            if possible is None:
                self.unresolved.add(called.attr if type(called) is ast.Attribute else "__call__")
        result = possible if possible is not None else self.call_value(callee, args, kwargs, node, frame)
        if len(args) == 1 and last_name(called) in _ASKS_FOR_TRACER:
            asked = find_array(args[0], True)
            if asked is not None and asked.certain:
                result = Static(True)
        if not staged:
            self.note_waiting(node, callee, args)
            if self.donates:
                self.donate_arguments(callee, args, kwargs, node, frame)
        if self.wants_calls and self.reports(frame):
            name = canonical(callee.name) if type(callee) is External else ""
            discarded = frame.statement is node
            hearers = self.listeners.of("discarded call" if discarded else "call", name or type(callee))
            if hearers:
                hand(hearers, events.CallEvent(node, frame, callee, name, args, kwargs, result, discarded))
        return result

    def provoke(self, args: list[Value], kwargs: dict[str, Value], node: ast.Call, frame: Frame) -> Value:
        """`assertRaises(Error, function, *args)`, or with a pattern before the function: calls it, as in a `with`."""
        kinds = (Function, BoundMethod, Transformed, Partial, ClassValue)
        called = next((i for i, value in enumerate(args) if i > 0 and isinstance(value, kinds)), None)
        if called is not None:
            with Provoking(self, frame.module):
                self.call_value(args[called], args[called + 1 :], kwargs, node, frame)
        return UNKNOWN

    def call_value(
        self,
        callee: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
    ) -> Value:
        """The result of calling `callee`."""
        if type(callee) is External:
            return self.call_external(callee, args, kwargs, node, frame)
        if type(callee) is Function:
            if callee.cached:
                return self.call_cached(callee, args, kwargs, node, frame)
            return self.call_function(callee, args, kwargs, node, frame, frame.stage)
        if type(callee) is BoundMethod:
            return self.call_value(callee.function, [callee.receiver, *args], kwargs, node, frame)
        if type(callee) is ExternalMethod:
            return self.call_method(callee, args, kwargs, node, frame)
        if type(callee) is Transformed:
            return self.call_transformed(callee, args, kwargs, node, frame)
        if type(callee) is Partial:
            merged = {**callee.kwargs, **kwargs}
            return self.call_value(callee.function, [*callee.args, *args], merged, node, frame)
        if type(callee) is ClassValue:
            return self.instantiate(callee, args, kwargs, node, frame)
        if type(callee) is Instance:
            method = self.module_call_method(callee)
            if isinstance(method, (Function, Transformed)):
                receiver = [] if member_kind(method) == "staticmethod" else [callee]
                return self.call_value(method, [*receiver, *args], kwargs, node, frame)
            return self.opaque_call([*args, *kwargs.values()], node, frame)
        if type(callee) is ExternalObject:
            return self.call_external_object(callee, args, kwargs, node, frame)
        if type(callee) is Choice:
            return self.call_choice(callee, args, kwargs, node, frame)
        if type(callee) is Array and callee.staged:
            # A part of a tree, and a function: what it has captured went into the stage with the tree.
            return self.opaque_call([callee, *args, *kwargs.values()], node, frame)
        if isinstance(callee, Unknown) and callee.made_of:
            return self.call_made_of(callee, args, kwargs, node, frame)
        given = [*args, *kwargs.values()]
        self.hand_over(given, node, frame)
        result = unknown_of(given)
        if frame.stage.staged and result is UNKNOWN and any(find_array(part, True) for part in given):
            return ANSWER
        return result

    def call_choice(
        self, callee: Choice, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """Each option is called, as in branches of its own."""
        results: list[Value] = []
        before, after = dict(frame.used), dict(frame.used)
        stage = frame.stage
        if stage.staged and (not callee.every or frame.guarded_in_loop()):
            stage = replace(stage, certain=False)  # which of them it is depends on the run
        # Which of several objects gets a function decides whether that is ever staged. Of the functions of a table, a
        # test beside the call may choose those that take what it gives: `if "parallel" in name: method(keys, x)`.
        methods = not callee.every and all(isinstance(option, BoundMethod) for option in callee.options)
        guessed = (
            frame.guarded_in_loops()
            if callee.every
            else methods and any(isinstance(value, Function) for value in args)
        )
        with Staged(frame, stage), Choosing(self), Guessing(self, guessed):
            for option in callee.options:
                # Which of several functions of a library it is decides what they are to be given.
                unsure = not callee.every and isinstance(option, External)
                with KeysAside(frame, dict(before)), Beside(self, unsure):
                    results.append(self.call_value(option, args, kwargs, node, frame))
                    after.update(frame.used)
        frame.used = after
        return in_turn(results) if callee.every else join_all(results)

    def call_cached(
        self, callee: Function, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
    ) -> Value:
        """The result of calling what `functools.cache` has wrapped: its arguments are hashed, its result is kept."""
        given = [*args, *kwargs.values()]
        if frame.stage.staged:
            for value in given:
                self.convert(value, node, "hash", frame)
        owner = args[0] if callee.kind == "property" and args else None  # which keeps the result
        outside = isinstance(owner, Instance) and self.made_outside(owner, frame)
        kept = owner is None or outside
        asked = frame.stage.staged and outside  # perhaps by the host before, and then nothing is run here
        with Doubting(frame) if asked else NOTHING:
            result = self.call_function(callee, args, kwargs, node, frame, frame.stage)
        if kept and all(find_array(value, True) is None for value in given):
            self.tell_cached_tracer(callee, result, frame)  # a tracer would not even be looked up
        return result

    def opaque_call(self, inputs: list[Value], node: ast.AST, frame: Frame) -> Value:
        """The result of something unknown that is likely to compute with what it is given."""
        self.hand_over(inputs, node, frame)
        found = next((a for a in map(find_array, inputs) if a is not None), None)
        if found is None:
            return UNKNOWN
        answer = frame.stage.staged and found.staged
        return Array(found.staged, found.why, tree=True, certain=False, jitted=found.jitted, answer=answer)

    # -- project functions

    def tell_cached_tracer(self, function: Function, result: Value, frame: Frame) -> None:
        """What a cached function makes under a trace stays in its cache, and is a tracer there."""
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
            self.emit("leak", events.LeakEvent(caching, frame, result, where))

    def call_function(
        self,
        function: Function,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        frame: Frame,
        stage: Stage,
        context: str = "call",
    ) -> Value:
        """Evaluates a project function on these arguments, in `stage`. Memoised by what the arguments look like."""
        bound = self.bind(function, args, kwargs, frame)
        if bound is None:
            return UNKNOWN
        if frame.guards and isinstance(node, ast.Call):
            doubt_switches(function, bound, args, node)
        if lacks_arguments(function, args, kwargs):
            with Guessing(self):
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
        if self.givers is not None and stage.staged:
            self.givers.note(function.node, bound, node, caller)
        record.handed = None
        provoked = self.provoking is not None
        elsewhere = provoked and self.provoking is not function.module
        record.reached = record.reached or not (self.guessing or elsewhere)
        if caller is not None and caller.function is not None and not self.custom_rules:
            self.edges.setdefault(caller.function.node, set()).add(function.node)
        if self.observes and not stage.staged and caller is not None:
            if caller.function is not None:
                self.records[caller.function.node].host_calls.add(record)
            else:
                record.called_by_modules = True
        # What a guess evaluated reported nothing, so that it does not stand for a call that is seen.
        guessed = self.guessing > 0
        scope_key = (
            function.scope.serial,
            decided_flags(function),
            function.stand_in,
            guessed or provoked,
            self.parameter_flow,
        )
        summaries = [summary_key(value) for value in bound.values()]
        context_key = (scope_key, stage.key, *summaries)
        key = record.numbers.get(context_key)
        seen = record.contexts(function.scope) if key is None else 0
        if key is None and seen >= WIDEN_AFTER:
            # Called with ever more numbers: what holds for any of them. One that was the same so far stays what it is.
            given = bound
            bound = {n: v if record.has_had_alone(n, v) else widened(v) for n, v in bound.items()}
            summaries = [
                known if value is given[name] else summary_key(value)
                for (name, value), known in zip(bound.items(), summaries, strict=True)
            ]
            exact, context_key = context_key, (scope_key, stage.key, *summaries)
            key = record.numbers.get(context_key)
            if key is not None:
                record.numbers[exact] = key  # so that the same call finds it at once
        stood_in: Callable[[Value], Value] | None = None  # of what another call gave
        if key is None and seen >= record.coarse_after:
            key, stood_in = record.similar(function.scope, stage, bound), stand_in
        if key is None and seen >= FEW and record.is_everywhere():
            key, stood_in = record.alike(function.scope, stage, bound), rough_stand_in
        known = record.memo[key] if key is not None and key not in record.stale else None
        if key is not None and known and (not known[2] or record.active or record.runs > MAX_RUNS):
            if self.observes and context == "call" and not record.hosted and stage.runs:
                record.observe(stage, bound, context, caller, guessed)  # so far it was only entered like this
            return self.repeat_call(record, key, stood_in, bound, node, caller)
        if (
            record.active >= 2
            or depth_below(caller) > MAX_DEPTH
            or record.is_full(function.scope, bound)
            or self.exhausted()
        ):
            if self.observes:
                record.observe(stage, bound, context, caller, guessed)
            return (
                self.opaque_call(list(bound.values()), node or function.node, caller) if caller else UNKNOWN
            )
        if self.observes:
            record.observe(stage, bound, context, caller, guessed)
        if key is None:
            key = record.number(context_key, function.scope, stage, bound)
        return self.evaluate_call(record, key, function, bound, node, caller, stage, context)

    def repeat_call(
        self,
        record: FunctionRecord,
        key: int,
        stood_in: Callable[[Value], Value] | None,
        bound: dict[str, Value],
        node: ast.AST | None,
        caller: Frame | None,
    ) -> Value:
        """What a remembered call gave and did, in terms of this one; `stood_in` where it was but a similar call."""
        result, consumed, _, then = record.memo[key]
        aligned = stood_in is not rough_stand_in  # the parts of its arguments are those of this call
        if key in record.writes:
            repeat(record.writes[key], bound)
        record.handed = record.donations.get(key)
        if caller is not None and node is not None:
            if consumed and aligned and not self.guessing:
                self.use_again(consumed, bound, record.function, node, caller)
            self.ledger.replay(record.effects.get(key), node, caller)
        born = record.made.get(key)
        if born is not None:
            result = copied(result, born)  # each call makes its own
        if result is not UNKNOWN and isinstance(result, (Array, Unknown, TupleValue, DictValue)):
            passed = key_origins(bound) if aligned else []
            result = self.renewed(result, dict(zip(then, passed, strict=False)))
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
        """Evaluates the body, and remembers under `key` what it gave and did."""
        for name, value in bound.items():
            if type(value) is Array and value.origin is None:
                bound[name] = value.known_as(Origin(name))  # so that results can be said to be like it
        nested = not function.scope.is_module and not function.scope.is_class
        scope = Scope(function.scope, stage=stage)
        frame = Frame(function, function.module, scope, stage, caller, node, depth_below(caller), context)
        scope.variables.update(type_parameters(function.node))
        scope.variables.update(bound)
        consumed: tuple[int, ...]
        origins = key_origins(bound)
        frame.inherited.update(origin for origin in origins if origin is not None)
        record.memo[key] = (UNKNOWN, (), False, ())  # a recursive call of the same kind is unknown
        record.runs += 1
        frame.born = Origin("frame").serial
        before, spans = self.ledger.serial, self.ledger.spans
        mutable = mutable_parts(bound)
        result: Value = UNKNOWN
        with Contained(self, function.module, frame) as attempt:
            finished = False
            with Active(record), Beside(self) if function.stand_in else NOTHING:
                result = self.run_body(function, frame)
            finished = True
        if not finished:
            self.take_back(mutable, before)
            frame.used.clear()
        if attempt.failed and key not in record.stale:
            record.stale.add(key)  # asked again, it may be known; asked once more, it stays what it is then
        else:
            record.stale.discard(key)
        written = writes_since(mutable) if mutable else None
        if written:
            record.writes[key] = written
        if frame.used and function.cls is not None:
            self.tell_unrenewed(function, frame, bound)
        flat, consumed = origins, ()
        enclosing: list[Origin] = []  # keys of an enclosing function: each call uses them up again
        if frame.used:
            flat = key_origins(bound)  # streams of keys may have been drawn from meanwhile
            consumed = tuple(
                i for i, origin in enumerate(flat) if origin is not None and origin in frame.used
            )
            enclosing = [o for o in frame.used if _is_of_enclosing(o, frame)] if nested else []
        kept = result
        if holds_made(result, frame.born):
            record.made[key] = frame.born
            kept = copied(
                result, frame.born
            )  # whoever called changes what it gets, and not what is remembered
        record.memo[key] = (kept, consumed, bool(enclosing), tuple(flat))
        effect = self.ledger.effect_since(before, spans)
        if effect is not None:
            record.effects[key] = effect
        record.last = frame
        if stage.staged:
            record.last_staged = frame
        record.handed = self.handed_by(frame)
        if record.handed is not None:
            record.donations[key] = record.handed
        if frame.used and caller is not None and node is not None and not self.guessing:
            for origin in list(frame.used):
                if origin in frame.inherited or origin.parent in frame.inherited or origin in enclosing:
                    self.use_key(origin, node, caller, function.name, origin in enclosing)
        return result

    def take_back(self, mutable: dict[Path, tuple[Value, State]], serial: int) -> None:
        """What a call did before it raised: to its arguments, to what the device computes, and on its way into a stage."""
        put_back(mutable)
        self.ledger.forget(serial)
        self.crossing = []

    def use_again(
        self,
        consumed: tuple[int, ...],
        bound: dict[str, Value],
        function: Function,
        node: ast.AST,
        caller: Frame,
    ) -> None:
        """Uses up the keys at these positions of the arguments, as a remembered call of the function did."""
        flat = key_origins(bound)
        for position in consumed:
            origin = flat[position] if position < len(flat) else None
            if origin is None and 0 < position < len(flat):
                owner = flat[position - 1]  # a stream of a key that this call is the first to use
                origin = owner.child(STREAMS) if owner is not None and position % 2 else None
            if origin is not None:
                self.use_key(origin, node, caller, function.name)

    def renewed(self, value: Value, given: dict[Origin | None, Origin | None], depth: int = 3) -> Value:
        """A memoised result in terms of this call's arguments; keys that the function made are fresh at each call."""
        if type(value) is Array:
            origin, like = value.origin, value.like
            if origin is not None:
                origin = given[origin] if origin in given else Origin(origin.name, batch=origin.batch)
            if like is not None:
                like = given.get(like) or given.get(like.root()) or like
            if origin is value.origin and like is value.like and value.made is None:
                return value
            result = value.known_as(origin) if origin is not None else replace(value, origin=None)
            result.like, result.made = like, None  # it was made of other arguments
            return result
        if type(value) is Unknown and value.origin is not None:
            origin = given.get(value.origin) or Origin(value.origin.name)
            return Unknown(origin, value.flow, made_of=value.made_of, answer=value.answer)
        if depth > 0 and type(value) is TupleValue and value.items is not None:
            items = [self.renewed(part, given, depth - 1) for part in value.items]
            return TupleValue(items, value.element, value.cls, value.exact)
        if depth > 0 and type(value) is DictValue and value.items:
            known = {key: self.renewed(part, given, depth - 1) for key, part in value.items.items()}
            return DictValue(known, value.element, value.stage, value.optional)
        return value

    def run_body(self, function: Function, frame: Frame) -> Value:
        body = function.node.body
        if type(function.node) is ast.Lambda:
            assert isinstance(body, ast.expr)
            result = self.eval(body, frame)
            frame.returns.append(result)
            return result
        assert isinstance(body, list)
        if function.cls is not None and frame.stage.staged and is_left_to_heirs(function.node):
            self.call_heirs(function, frame)
            self.unresolved.add(function.name)
            return self.opaque_call(list(frame.scope.variables.values()), function.node, frame)
        if self.exec_block(body, frame):
            if function.cls is not None and is_left_open(function.node):
                if frame.stage.staged:
                    self.unresolved.add(function.name)
                return UNKNOWN  # what a subclass has instead may give anything
            frame.returns.append(Static(None))
        if frame.yields:
            kind = "steps" if "steps" in frame.facts else "generator"
            return ListValue(None, join_all(frame.yields), kind, stage=frame.stage)
        if isinstance(function.node, ast.AsyncFunctionDef):
            return UNKNOWN
        values = list(frame.returns)
        if len(values) > 1:
            # `return None` at the end of a function that also returns something is mostly a fall-through.
            values = [v for v in values if not (isinstance(v, Static) and v.const is None)] or values
        result = join_all(values)  # unknown where it only raises, as an abstract method does
        return as_answer(result) if "answered" in frame.facts and len(values) > 1 else result

    def make_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, frame: Frame
    ) -> Function:
        """The function value of a def or lambda evaluated in `frame`."""
        name = getattr(node, "name", "<lambda>")
        scope = frame.scope
        prefix = ""
        if scope.is_class:
            cls = frame.facts.get("class")
            prefix = f"{cls.qualname}." if isinstance(cls, ClassValue) else ""
        elif frame.function is not None:
            prefix = f"{frame.function.qualname}.<locals>."
        cls_value = frame.facts.get("class") if scope.is_class else None
        function = Function(
            node, frame.module, scope, prefix + name, cls_value if isinstance(cls_value, ClassValue) else None
        )
        for parameter, default in defaults_of(node):
            function.defaults[parameter.arg] = self.eval(default, frame)
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
        """Evaluates an annotation for the names it uses."""
        if self.wants_names and not isinstance(node, ast.Constant):
            self.eval(node, frame)


def _is_of_enclosing(origin: Origin, frame: Frame) -> bool:
    """Whether a key is older than the activation `frame`, which was not handed it; its parts may be seen first there."""
    handed = origin in frame.inherited or origin.parent in frame.inherited
    return origin.root().serial < frame.born and not handed


def decided_flags(function: Function) -> tuple[bool | None, ...]:
    """What is known of the flags that a closure tests: one that is called in two branches of a test is not the same in both."""
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
    """`captured_flags`, of what has an `if` at all."""
    lines = module.lines[node.lineno - 1 : node.end_lineno]
    return captured_flags(node) if any("if" in line for line in lines) else ()


def widened(value: Value) -> Value:
    """The value without the number or the dtype that it is known to be."""
    if isinstance(value, Static) and type(value.const) in (int, float):
        return Static(kind=type(value.const).__name__)
    if type(value) is Array and value.dtype:
        return replace(value, dtype="")
    return value


class Observation(NamedTuple):
    """One context in which a function was seen."""

    stage: Stage
    bound: dict[str, Value]
    context: str
    caller: ast.AST | None  # the function that called it
    guessed: bool  # it is one that a call of a method of something unknown may mean


class FunctionRecord:
    """What is known of one def over all contexts."""

    __slots__ = (
        "active",
        "called_by_modules",
        "closures",
        "coarse",
        "coarse_after",
        "donations",
        "effects",
        "function",
        "given",
        "had",
        "handed",
        "host_calls",
        "hosted",
        "is_target",
        "last",
        "last_staged",
        "made",
        "makes",
        "memo",
        "numbers",
        "observations",
        "observed",
        "passed",
        "reached",
        "rough",
        "runs",
        "stale",
        "writes",
    )

    def __init__(self, function: Function) -> None:
        self.function = function
        # A context's number, so that its long key is looked up but once.
        self.numbers: dict[object, int] = {}
        # Context -> result, which parameters' keys it used up, whether it used keys of an enclosing function, and the
        # origins that were passed in.
        self.memo: dict[int, tuple[Value, tuple[int, ...], bool, tuple[Origin | None, ...]]] = {}
        self.effects: dict[int, Effect] = {}  # context -> what the call does to the ledger of dispatches
        self.writes: dict[int, Writes] = {}  # context -> what the call does to the objects that it gets
        self.donations: dict[int, Handed] = {}  # context -> what the call donates of its arguments
        self.made: dict[int, int] = {}  # context -> when the call began that made what it gives
        self.handed: Handed | None = None  # by the last call
        self.closures: dict[int, int] = {}  # contexts by the scope that was captured
        # Once there are many contexts: functions handed over, and what got tracers.
        self.given: set[tuple[int, ...]] = set()
        # Of a function that makes functions, what its arguments have captured is all that tells these apart.
        self.makes = makes_functions(function.node)
        self.coarse_after = COARSE_AFTER * (FACTORY_FACTOR if self.makes else 1)
        self.coarse: dict[object, int] = {}  # coarse key -> key of `memo`
        self.rough: dict[object, int] = {}  # the same of keys that are rougher still
        self.had: dict[str, object] = {}  # the constant that a parameter has had; MISSING for several
        self.stale: set[int] = set()  # contexts in which something below has raised, so far once
        self.active = 0
        self.runs = 0
        self.host_calls: set[FunctionRecord] = set()  # what it calls on the host, if it runs there
        self.called_by_modules = False  # on the host, outside of any function
        self.hosted = False  # a program is seen to call it on the host
        self.reached = False  # by a call whose receiver is known
        self.is_target = False  # a transformation got the function itself
        self.last: Frame | None = None
        self.last_staged: Frame | None = None
        self.observations: list[Observation] = []
        self.observed: dict[
            tuple[bool, bool], int
        ] = {}  # observations by whether staged, and whether certainly
        self.passed: set[tuple[bool, str]] = set()  # what got tracers in calls after those

    def contexts(self, scope: Scope) -> int:
        """How many contexts the closure over `scope` was seen in."""
        return self.closures.get(scope.serial, 0)

    def number(self, context: object, scope: Scope, stage: Stage, bound: dict[str, Value]) -> int:
        """The key in `memo` of a context that is seen for the first time."""
        key = self.numbers[context] = len(self.memo)
        seen = self.closures[scope.serial] = self.contexts(scope) + 1
        if 2 * seen > self.coarse_after:  # most functions never get to where these are asked for
            self.coarse[_coarse_key(scope, stage, bound, self.makes)] = key
        if self.is_everywhere():
            self.rough[_rough_key(scope, stage, bound)] = key
        for name, value in bound.items():
            if isinstance(value, Static) and self.had.setdefault(name, value.const) != value.const:
                self.had[name] = MISSING
        return key

    def has_had_alone(self, name: str, value: Value) -> bool:
        """Whether a parameter has had the constant `value` in all contexts that were evaluated."""
        return isinstance(value, Static) and value.const is not MISSING and self.had.get(name) == value.const

    def similar(self, scope: Scope, stage: Stage, bound: dict[str, Value]) -> int | None:
        """The key of a remembered context with arguments of the same source, whatever they have captured."""
        return self.coarse.get(_coarse_key(scope, stage, bound, self.makes))

    def is_everywhere(self) -> bool:
        """Whether the program makes many closures of it and calls them in many ways, as a combinator's."""
        return len(self.memo) >= MANY and len(self.closures) >= CLOSURES

    def alike(self, scope: Scope, stage: Stage, bound: dict[str, Value]) -> int | None:
        """The key of a remembered context that got the same functions, and tracers for the same parameters."""
        return self.rough.get(_rough_key(scope, stage, bound))

    def is_full(self, scope: Scope, bound: dict[str, Value]) -> bool:
        """Whether a new context with these arguments is no longer evaluated."""
        seen = self.contexts(scope)
        if len(self.memo) >= MAX_ALL_CONTEXTS or seen >= MAX_HANDED:
            return True
        if seen < MAX_CONTEXTS:
            return False
        given, traced = _handed(bound)
        call = (*given, *traced)
        if not given or call in self.given:
            return True
        self.given.add(call)
        return False

    def observe(
        self, stage: Stage, bound: dict[str, Value], context: str, caller: Frame | None, guessed: bool
    ) -> None:
        if stage.staged and caller is not None and caller.home is not stage:
            self.is_target = True
        self.hosted = self.hosted or (context == "call" and stage.runs)
        kind = (stage.staged, stage.certain)
        seen = self.observed.get(kind, 0)
        news = seen < MAX_OBSERVATIONS
        if not news and stage.staged:
            # The first calls were all alike; this one may be the first that passes a tracer somewhere.
            for name, value in bound.items():
                if (stage.certain, name) not in self.passed and find_array(value, True, 2) is not None:
                    self.passed.add((stage.certain, name))
                    news = True
        if news:
            self.observed[kind] = seen + 1
            if caller is not None and caller.context == "creation" and stage.staged:
                context = caller.context  # its arguments are what its signature says
            by = caller.function.node if caller is not None and caller.function is not None else None
            self.observations.append(Observation(stage, self.as_given(bound), context, by, guessed))

    def as_given(self, bound: dict[str, Value]) -> dict[str, Value]:
        """The parameters before the function runs, which may fill what it gets empty: an object, or the dict of the keywords that are left over."""
        given: dict[str, Value] = {}
        rest = self.function.node.args.kwarg
        held = bound.get(rest.arg) if rest is not None else None
        if rest is not None and isinstance(held, DictValue):
            given[rest.arg] = replace(held, items=dict(held.items))
        for name, value in bound.items():
            if type(value) is Instance and (not value.fields or value.fields.keys() == _CONTENT_ALONE):
                fields = {part: own(content) for part, content in value.fields.items()}
                given[name] = replace(value, fields=fields)
        return {**bound, **given} if given else bound


_CONTENT_ALONE = frozenset({CONTENT})


def depth_below(caller: Frame | None) -> int:
    """How deep a call from `caller` lies."""
    return caller.depth + 1 if caller is not None else 0


def _coarse_key(scope: Scope, stage: Stage, bound: dict[str, Value], makes: bool) -> object:
    """`makes`: functions, which keep the constants that are given as options of what they do."""
    return (
        scope.serial,
        stage.key,
        *[summary_key(value, coarse=not (makes and _is_option(value))) for value in bound.values()],
    )


def _is_option(value: Value) -> bool:
    """Whether it is a constant, or holds but constants."""
    if isinstance(value, DictValue):
        return value.element is None and all(map(_is_option, value.items.values()))
    return constant(value) is not MISSING


def _rough_key(scope: Scope, stage: Stage, bound: dict[str, Value]) -> object:
    absent = tuple(is_none(value) for value in bound.values())
    return (scope.serial, stage.key, absent, *_handed(bound))


def _handed(bound: dict[str, Value]) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """The functions that a call hands over, and which of its parameters get tracers."""
    functions = tuple(part for value in bound.values() for part in functions_in(value))
    return functions, tuple(find_array(value, True, 2) is not None for value in bound.values())


def label_of(value: Value) -> str:
    """How a user would name a function."""
    if isinstance(value, Function):
        return value.qualname.rpartition("<locals>.")[2] if value.name != "<lambda>" else "<lambda>"
    if isinstance(value, BoundMethod):
        return label_of(value.function)
    if isinstance(value, (Partial,)):
        return label_of(value.function)
    if isinstance(value, Transformed):
        return value.label
    if isinstance(value, External):
        return value.name
    if isinstance(value, ExternalMethod):
        return value.name
    if isinstance(value, (Instance, ClassValue)):
        return value.cls.name if isinstance(value, Instance) else value.name
    return "the function"


def short_source(node: ast.expr) -> str:
    """The source of an expression, cut to a readable length."""
    text = ast.unparse(node)
    return text if len(text) <= 40 else f"{text[:37]}..."


register(ast.Call, Calls.eval_call)
