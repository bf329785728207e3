"""The memo of one function over all contexts in which it was evaluated."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import NamedTuple

from jaxlint.staging.evaluator.call_sizes import MAX_VARIANTS, Sizes
from jaxlint.staging.values import (
    CONTENT,
    MISSING,
    DictValue,
    Function,
    Instance,
    Origin,
    Scope,
    Static,
    Value,
    constant,
    find_array,
    is_none,
)
from jaxlint.staging.values.buffers import ArgumentEffects
from jaxlint.staging.values.demands import Demand
from jaxlint.staging.values.fingerprint import functions_in, summary_key
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.ledger import Effect
from jaxlint.staging.values.stage import Stage
from jaxlint.staging.values.writes import Writes, own
from jaxlint.syntax.facts import makes_functions

COARSE_AFTER = (
    16  # evaluations of one function before values captured by its arguments are no longer distinguished
)


MANY = 60  # evaluations of one function over all closures


CLOSURES = 8


FACTORY_FACTOR = 4  # additional ones for a function that returns functions


MAX_CONTEXTS = 100  # evaluations of one function, per closure, before its results become unknown


MAX_HANDED = 250  # the same for calls that pass it other functions than before


MAX_OBSERVATIONS = 40  # contexts of one function that `inspect` joins, for each way of being traced


MAX_ALL_CONTEXTS = 1000  # the same over all closures of one def


class Observation(NamedTuple):
    """One context in which a function was evaluated."""

    stage: Stage
    bound: dict[str, Value]
    context: str
    caller: ast.AST | None  # the function that called it
    guessed: bool  # a method call on something unknown may mean it


class FunctionRecord:
    """The memo of one def over all contexts."""

    __slots__ = (
        "active",
        "argument_effects",
        "called_by_modules",
        "closures",
        "coarse",
        "coarse_after",
        "demands",
        "differentiating",
        "donations",
        "effects",
        "function",
        "given",
        "had",
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
        "outside_loops",
        "passed",
        "reached",
        "rough",
        "runs",
        "sizes",
        "stale",
        "variants",
        "writes",
    )

    def __init__(self, function: Function) -> None:
        self.function = function
        # The number of a context, so that its long key is looked up only once.
        self.numbers: dict[object, int] = {}
        # Context -> result, the parameters whose keys it consumed, whether it used keys of an enclosing function, and
        # the origins of the arguments.
        self.memo: dict[int, tuple[Value, tuple[int, ...], bool, tuple[Origin | None, ...]]] = {}
        self.effects: dict[int, Effect] = {}  # context -> what the call adds to the ledger of dispatches
        self.writes: dict[int, Writes] = {}  # context -> what the call writes to its arguments
        self.donations: dict[int, ArgumentEffects] = {}  # context -> which arguments the call donates
        self.demands: dict[
            int, tuple[Demand, ...]
        ] = {}  # context -> what the call demands of its module's caller
        self.differentiating: set[int] = set()  # contexts in a trace that take a gradient
        self.made: dict[int, int] = {}  # context -> the start of the call that created the result
        self.argument_effects: ArgumentEffects | None = None  # from the last call
        self.closures: dict[int, int] = {}  # contexts by captured scope
        # Once there are many contexts: function arguments, and which parameters receive tracers.
        self.given: set[tuple[int, ...]] = set()
        # For a function that makes functions, only the values captured by its arguments distinguish calls.
        self.makes = makes_functions(function.node)
        self.coarse_after = COARSE_AFTER * (FACTORY_FACTOR if self.makes else 1)
        self.coarse: dict[object, int] = {}  # coarse key -> key of `memo`
        self.rough: dict[object, int] = {}  # the same for coarser keys
        self.had: dict[str, object] = {}  # the constant that a parameter has received; MISSING for several
        self.stale: set[int] = set()  # contexts below which something raised, so far once
        self.outside_loops: set[int] = (
            set()
        )  # contexts on the host that no loop runs, as far as calls were seen
        self.sizes: dict[int, Sizes] = {}  # context -> the shapes of its arrays, where some are known
        self.variants = 0  # contexts that differ from another one by such shapes alone
        self.active = 0
        self.runs = 0
        self.host_calls: set[FunctionRecord] = set()  # its callees on the host, if it runs there
        self.called_by_modules = False  # on the host, outside any function
        self.hosted = False  # the analysis saw a call by the program on the host
        self.reached = False  # by a call with a known receiver
        self.is_target = False  # a transformation received the function itself
        self.last: Frame | None = None
        self.last_staged: Frame | None = None
        self.observations: list[Observation] = []
        self.observed: dict[
            tuple[bool, bool], int
        ] = {}  # observations by whether it is traced, and whether that is certain
        self.passed: set[tuple[bool, str]] = set()  # parameters that received tracers in later calls

    def variant(
        self, key: int, context: tuple[object, ...], sizes: Sizes
    ) -> tuple[int | None, tuple[object, ...]]:
        """The key and the context for arrays of these sizes, if `context` was evaluated with others."""
        if self.sizes.get(key) == sizes:
            return key, context
        other = (*context, sizes)
        known = self.numbers.get(other)
        if known is None and self.variants >= MAX_VARIANTS:
            return key, context
        self.variants += known is None
        return known, other

    def contexts(self, scope: Scope) -> int:
        """The number of contexts of the closure over `scope`."""
        return self.closures.get(scope.serial, 0)

    def number(
        self, context: object, scope: Scope, stage: Stage, bound: dict[str, Value], coarse: object = None
    ) -> int:
        """The key in `memo` for a context that is new. `coarse`: its `coarse_key`, if that is at hand."""
        key = self.numbers[context] = len(self.memo)
        seen = self.closures[scope.serial] = self.contexts(scope) + 1
        if 2 * seen > self.coarse_after:  # most functions never need these
            self.coarse[coarse or self.coarse_key(scope, stage, bound)] = key
        if self.is_everywhere():
            self.rough[_rough_key(scope, stage, bound)] = key
        for name, value in bound.items():
            if isinstance(value, Static) and self.had.setdefault(name, value.const) != value.const:
                self.had[name] = MISSING
        return key

    def has_had_alone(self, name: str, value: Value) -> bool:
        """Whether a parameter has received the constant `value` in all evaluated contexts."""
        return isinstance(value, Static) and value.const is not MISSING and self.had.get(name) == value.const

    def coarse_key(self, scope: Scope, stage: Stage, bound: dict[str, Value]) -> object:
        """The same for contexts with arguments of the same source, whatever they captured."""
        makes = self.makes
        return (
            scope.serial,
            stage.key,
            # Functions keep the constants that they are given as options.
            *[summary_key(value, coarse=not (makes and _is_option(value))) for value in bound.values()],
        )

    def is_everywhere(self) -> bool:
        """Whether the program creates many closures of it and calls them in many ways, like those of a combinator."""
        return len(self.memo) >= MANY and len(self.closures) >= CLOSURES

    def alike(self, scope: Scope, stage: Stage, bound: dict[str, Value]) -> int | None:
        """The key of a memoised context with the same function arguments and tracers for the same parameters."""
        return self.rough.get(_rough_key(scope, stage, bound))

    def is_full(self, scope: Scope, bound: dict[str, Value]) -> bool:
        """Whether new contexts with these arguments are no longer evaluated."""
        seen = self.contexts(scope)
        if len(self.memo) >= MAX_ALL_CONTEXTS or seen >= MAX_HANDED:
            return True
        if seen < MAX_CONTEXTS:
            return False
        given, traced = _functions_and_tracers(bound)
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
            # The first calls were all alike; this one may be the first that passes a tracer for some parameter.
            for name, value in bound.items():
                if (stage.certain, name) not in self.passed and find_array(value, True, 2) is not None:
                    self.passed.add((stage.certain, name))
                    news = True
        if news:
            self.observed[kind] = seen + 1
            if caller is not None and caller.context == "creation" and stage.staged:
                context = caller.context  # its signature determines its arguments
            by = caller.function.node if caller is not None and caller.function is not None else None
            self.observations.append(
                Observation(stage, self.parameters_on_entry(bound), context, by, guessed)
            )

    def parameters_on_entry(self, bound: dict[str, Value]) -> dict[str, Value]:
        """The parameters before the function runs. It may fill empty arguments: an object, or the dict of remaining
        keyword arguments."""
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


def _is_option(value: Value) -> bool:
    """Whether it is a constant or holds only constants."""
    if isinstance(value, DictValue):
        return value.element is None and all(map(_is_option, value.items.values()))
    return constant(value) is not MISSING


def _rough_key(scope: Scope, stage: Stage, bound: dict[str, Value]) -> object:
    absent = tuple(is_none(value) for value in bound.values())
    return (scope.serial, stage.key, absent, *_functions_and_tracers(bound))


def _functions_and_tracers(bound: dict[str, Value]) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Which function arguments a call passes, and which parameters receive tracers."""
    functions = tuple(part for value in bound.values() for part in functions_in(value))
    return functions, tuple(find_array(value, True, 2) is not None for value in bound.values())
