"""Jitted update steps that keep the old state alive beside the new one."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from jaxlint.api import (
    CallEvent,
    Module,
    Reporter,
    Rule,
    StagedReturnEvent,
    TransformEvent,
    concerns,
    imports_more,
)
from jaxlint.api.syntax import cache, dotted, nodes_of
from jaxlint.api.tables import DIFFERENTIATION
from jaxlint.api.values import (
    Array,
    BoundMethod,
    ExternalObject,
    Function,
    Instance,
    NumpyArray,
    Origin,
    Partial,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
    shape_of,
)
from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint_rules._loops import host_loops
from jaxlint_rules._main_loops import gets_the_same, is_key
from jaxlint_rules._names import unpacked
from jaxlint_rules._purpose import says
from jaxlint_rules.memory._ownership import donated_arguments, is_kept, is_stored, rebound_later
from jaxlint_rules.memory._states import holds_much, is_large, is_record
from jaxlint_rules.memory._uses import are_all_uses, begins_as_another, is_aliased, is_public
from jaxlint_rules.memory._weights import (
    BARE,
    PLAINLY_SMALL,
    Networks,
    has_many_weights,
    has_small_agents,
    is_small,
    seldom_small,
)

_UPDATES = re.compile(r"step|update|train|learn")
_DECIDED = re.compile(r"donat", re.IGNORECASE)  # a comment speaks of it
_KINDS = frozenset({"jit", "nnx.jit", "filter_jit", "pmap"})
_STATE = re.compile(r"cache|^kv|buffer|state|params|memory$|replay")  # names of values that a program keeps
_KEPT = re.compile(r"cache|^kv|buffer|memory$|replay")  # those that no gradient updates


@dataclass(slots=True)
class _Call:
    """One call of the step: the arguments that its statement rebinds, and whether it runs in a loop."""

    module: Module
    node: ast.Call
    rebound: dict[int, str]
    in_loop: bool
    repeats: bool  # in a loop that does not visibly have few iterations
    numbers: set[int]  # arguments that are numbers, whose buffers are not worth donating
    bound: bool  # by an object, whose method it is
    later: set[int] = field(default_factory=set)  # arguments that a later statement rebinds
    aliased: set[int] = field(default_factory=set)
    shared: set[int] = field(default_factory=set)  # those that begin as a value that is read later
    kept: set[int] = field(default_factory=set)  # arguments that other code may still read
    large: set[int] = field(default_factory=set)  # arguments that are seen to be large, or named so
    much: set[int] = field(default_factory=set)  # those that are seen to be
    seen: set[int] = field(default_factory=set)  # arguments whose fields are all known
    bare: set[int] = field(default_factory=set)  # weights that are felt without moments of an optimiser
    small: set[int] = field(default_factory=set)  # networks whose layers are all known and narrow
    whole: bool = False  # it gets the same data in each iteration of its loop
    arguments_die: bool = False  # none of its arguments can be read again: rebound, numbers, or host arrays


@dataclass(slots=True)
class _Candidate:
    event: TransformEvent
    updated: set[str] = field(default_factory=set)  # parameters that are returned with the same shape
    gradient: bool = False
    tree: bool = False  # the result is mapped over a pytree: a program's state
    names: list[str] = field(default_factory=list)
    calls: dict[ast.AST, _Call] = field(default_factory=dict)
    inlined: bool = False  # traced code calls it, where a donation does nothing
    in_place: list[int] = field(default_factory=list)  # nnx modules and optimisers that it updates
    donated: frozenset[int | str] = frozenset()  # arguments that it donates already, by position or name
    weights: set[str] = field(default_factory=set)  # parameters by which it differentiates


class MissingDonation(Rule):
    """A jitted update step does not donate its state.

    ## What it does
    Finds jitted functions that return a new version of an argument (parameters, optimizer state, a
    carry) and do not donate it, although their callers rebind the argument to the result, at once or
    in a later statement before anything reads it again. Also finds steps under `nnx.jit` that update a
    model and its optimizer, and training steps that donate one argument and forget another.

    ## Why is this bad?
    Without donation, the old and the new state are alive at the same time: the step needs memory
    for both and allocates new buffers.

    ## Example
    ```python
    @jax.jit
    def step(params, batch): ...

    for batch in batches:
        params = step(params, batch)
    ```

    ## Use instead
    ```python
    @functools.partial(jax.jit, donate_argnums=0)
    def step(params, batch): ...
    ```

    ## Fix safety
    Unsafe: donation deletes the buffer, so any other name that holds it (a target network, a copy
    kept for comparison) raises `RuntimeError` when it is used. `jaxlint verify --apply` writes the
    fix only after the program ran with it. `eqx.filter_jit` donates the arrays of all its
    arguments. It gets a fix only if each call rebinds every argument, or passes numbers and NumPy
    arrays, of which only the device copy is donated.

    ## When not to fix
    Keep it if you still need the old state, or if memory is plentiful and the step is long.

    Not named: arguments that other code may still read, such as a parameter whose caller reads it
    again, an attribute that another method returns, and state that the loop stores. If nothing else
    is left, the finding is advice. So is a step without a gradient whose state is small or of
    unknown size, a step that no visible code calls, and one in a notebook, where a cell that runs
    twice would read what was donated, and one of agents that act on numbers, whose networks are small.
    If the file that calls the step imports more than JAX and its tools, as an example does not, a
    step is advice as well where all layers or arrays of its network are seen and take less than 40
    MB with two moments of an optimiser, and where nothing shows that they take more: no layer or
    array that is seen, no several devices, and in its files and what they import no word of models
    many layers deep, as transformers, residual networks and U-nets. The words do not count where
    these files write down how wide all layers are, and none is as wide as 256. So is a step there
    that gives back its weights alone, without a state of an optimiser, unless they are seen to take
    4 MB: who subtracts gradients by hand trains small networks. So is a step whose comment speaks
    of donation.
    In such a file it is advice too where a call keeps its argument, where the state begins as a value
    that is read later (`local = shared`), which donation would delete, and where the weights stay and
    only the state of their optimiser could be donated.
    A step that only compiled code calls is not reported. A step that gets the same data in each
    iteration, as a fit does, is advice as well, unless its state is seen to be large.

    ## References
    - [JAX: buffer donation](https://docs.jax.dev/en/latest/buffer_donation.html)
    """

    code = "JAX601"
    name = "missing-donation"
    category = "memory"
    severity = Severity.WARNING
    fixable = "unsafe"
    proof = "donation"

    def __init__(self) -> None:
        self.candidates: dict[ast.AST, _Candidate] = {}
        self.differentiated: dict[
            ast.AST, set[Origin]
        ] = {}  # by which values a step takes gradients, by what makes it a step
        self.networks = Networks()

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        transformed = event.transformed
        if transformed.kind not in _KINDS or event.frame.stage.staged or event.frame.module.is_test:
            return
        given = donated_arguments(transformed)
        if given is not None:
            self.candidates.setdefault(event.node, _Candidate(event, donated=given))

    def on_staged_return(self, event: StagedReturnEvent, report: Reporter) -> None:
        candidate = self.candidates.get(event.transformed.node)
        if candidate is None:
            return
        candidate.names = list(event.parameters)
        if event.transformed.kind == "nnx.jit" and event.takes_gradient:
            candidate.in_place = _updated_in_place(event.function.node, candidate.names)
        candidate.gradient = candidate.gradient or event.takes_gradient
        origins = {
            origin: name
            for name, value in event.parameters.items()
            if (origin := _origin_of(value)) is not None
        }
        by = self.differentiated.get(event.transformed.why.node, ()) if event.transformed.why.node else ()
        candidate.weights |= {origins[one] for one in by if one in origins}
        returned = (
            event.value.items if isinstance(event.value, TupleValue) and event.value.items else [event.value]
        )
        for part in returned:
            like = _shares_shape_with(part)
            if like is not None and like in origins:
                candidate.updated.add(origins[like])
                candidate.tree = candidate.tree or not isinstance(part, Array) or part.tree

    @concerns(callees=("Transformed", "BoundMethod", "Partial", "ExternalObject"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee
        if isinstance(callee, ExternalObject):
            self.networks.note(event)
            return
        if isinstance(callee, Transformed) and callee.kind in DIFFERENTIATION:
            self.note_gradient(callee, event)
            return
        bound = isinstance(callee, BoundMethod)
        first = 0  # the position of the first argument that the call passes
        if isinstance(callee, BoundMethod):
            callee, first = callee.function, 1
        elif isinstance(callee, Partial):
            first, callee = len(callee.args), callee.function
        if (
            not isinstance(callee, Transformed)
            or callee.kind not in _KINDS
            or not isinstance(event.node, ast.Call)
        ):
            return
        candidate = self.candidates.get(callee.node)
        if candidate is None:
            return
        if event.frame.stage.staged:
            candidate.inlined = True
            return
        module, node = event.frame.module, event.node
        parent = event.assignment()
        targets: set[str] = set()
        if isinstance(parent, ast.Assign) and parent.value is node:
            for target in parent.targets:
                for part in unpacked(target):
                    targets.add(dotted(part))
        later = rebound_later(parent, event.frame.owner) if parent is not None else frozenset[str]()
        rebound = {
            position: dotted(argument)
            for position, argument in enumerate(node.args, first)
            if dotted(argument) and dotted(argument) in targets | later
        }
        known = candidate.calls.get(node)
        numbers = {position for position, value in enumerate(event.args, first) if shape_of(value) == ()}
        large = {position for position, value in enumerate(event.args, first) if is_large(value)}
        if known is not None:
            numbers |= known.numbers  # the loop's result for it is a number too
            large |= known.large
        rebound = {position: name for position, name in rebound.items() if position not in numbers}
        frames = [event.frame, *event.frame.callers()] if event.frame.is_called() else [event.frame]
        call = _Call(
            module,
            node,
            rebound,
            any(one.loops for one in frames),
            any(host_loops(one) for one in frames),
            numbers,
            bound,
            {position for position, name in rebound.items() if name not in targets},
        )
        owner = event.frame.function.node if event.frame.function is not None else module.tree
        call.aliased = {position for position, name in rebound.items() if is_aliased(name, owner)}
        call.shared = {position for position, name in rebound.items() if begins_as_another(name, owner)}
        call.large = large
        call.much = {
            position
            for position, value in enumerate(event.args, first)
            if holds_much(value) or has_many_weights(value, PLAINLY_SMALL)
        }
        call.seen = {position for position, value in enumerate(event.args, first) if is_record(value)}
        call.small = {position for position, value in enumerate(event.args, first) if is_small(value)}
        call.small &= set(rebound)
        call.large |= {
            position for position, value in enumerate(event.args, first) if has_many_weights(value)
        }
        call.bare = {
            position for position, value in enumerate(event.args, first) if has_many_weights(value, BARE)
        }
        if known is not None:
            call.bare |= known.bare
            call.small |= known.small  # what the loop gives back has the same shapes
            call.much |= known.much
        call.whole = gets_the_same(node, rebound.values(), event.frame)
        call.kept = {
            position
            for position, name in rebound.items()
            if is_kept(name, node, event.frame) or is_stored(name, event.frame)
        }
        call.arguments_die = not node.keywords and all(
            position in rebound or isinstance(value, Static | NumpyArray)
            for position, value in enumerate(event.args, first)
        )
        if known is None or call.in_loop or not known.in_loop:
            candidate.calls[node] = call  # what a loop shows counts more than the function alone

    def note_gradient(self, gradient: Transformed, event: CallEvent) -> None:
        """Records by which values compiled code takes a gradient."""
        numbers = constant(gradient.options["argnums"]) if "argnums" in gradient.options else 0
        given = [
            event.args[number]
            for number in (numbers if isinstance(numbers, tuple) else (numbers,))
            if isinstance(number, int) and -1 < number < len(event.args)
        ]
        found = {origin for origin in map(_origin_of, given) if origin is not None}
        for link in event.frame.stage.why.chain() if event.frame.stage.why is not None else ():
            if link.node is not None:
                self.differentiated.setdefault(link.node, set()).update(found)

    def finish(self, report: Reporter) -> None:
        """Decides once all calls have been seen."""
        for candidate in self.candidates.values():
            self.decide(candidate, report)

    def decide(self, candidate: _Candidate, report: Reporter) -> None:
        calls = list(candidate.calls.values())
        if candidate.in_place:
            if any(call.repeats for call in calls) or not calls:
                names = [candidate.names[position] for position in candidate.in_place]
                self.tell(candidate, candidate.in_place, names, calls, report)
            return
        looped = [c for c in calls if c.rebound and c.in_loop]
        stepped = [c for c in calls if _of_self(c)] if candidate.gradient and not looped else []
        if looped or stepped:
            wanted = set.intersection(*(set(call.rebound) for call in looped), *map(_of_self, stepped))
        elif not calls and not candidate.inlined and candidate.gradient and candidate.updated:
            wanted = {i for i, name in enumerate(candidate.names) if name in candidate.updated}
        else:
            return
        target = candidate.event.transformed.target
        back = _returned_unchanged(target.node) if isinstance(target, Function) else frozenset()
        wanted = {
            i
            for i in wanted
            if i >= len(candidate.names) or not (is_key(candidate.names[i]) or candidate.names[i] in back)
        }
        if candidate.donated:
            if not candidate.gradient or not looped:
                return  # who donates one argument knows of it; a part of what is trained is easily forgotten
            known = dict(enumerate(candidate.names))
            wanted = {i for i in wanted if not candidate.donated & {i, known.get(i, i)}}
        kept = {i for i in wanted if i < len(candidate.names) and _STATE.search(candidate.names[i].lower())}
        if not candidate.gradient and not candidate.updated:
            # The result may be anything, but its callers use it like this; values that they keep may be read again.
            wanted = kept = kept.difference(*(call.aliased for call in calls))
        if not wanted:
            return
        worth = wanted
        if not candidate.gradient:  # no optimiser state is beside it: a filter's mean, an environment
            large = set[int]().union(*(call.large for call in calls))
            named_so = {
                i for i in wanted if i < len(candidate.names) and _KEPT.search(candidate.names[i].lower())
            }
            seen = set[int].intersection(*(call.seen for call in calls)) if calls else set[int]()
            worth = wanted & (large | (named_so - seen))
        elif (
            looped
            and not stepped
            and candidate.event.transformed.kind != "pmap"
            and all(call.whole for call in looped)
        ):
            worth = wanted & set[int]().union(*(call.large for call in calls))
        worth = worth.difference(*(call.kept for call in calls))
        advice = not worth
        wanted = worth or wanted
        if candidate.event.transformed.kind == "filter_jit" and not (looped or stepped):
            return
        named = _UPDATES.search(candidate.event.transformed.label.lower())
        if not ((candidate.gradient and calls) or candidate.tree or named or kept):
            return  # `x = solve(x)`: its argument may have any size, and is rarely a program's state
        if not candidate.gradient and any(call.module is not candidate.event.frame.module for call in calls):
            return  # a helper in several files: some of them may need its argument
        positions = sorted(wanted)
        names = [candidate.names[i] if i < len(candidate.names) else f"argument {i}" for i in positions]
        if candidate.updated and not looped and not stepped:
            names = [n for n in names if n in candidate.updated] or names
        self.tell(candidate, positions, names, calls, report, Severity.INFO if advice else None)

    def tell(
        self,
        candidate: _Candidate,
        positions: list[int],
        names: list[str],
        calls: list[_Call],
        report: Reporter,
        severity: Severity | None = None,
    ) -> None:
        event: TransformEvent = candidate.event
        report.event = event
        if not calls or event.frame.module.source.path.suffix == ".ipynb":
            severity = (
                Severity.INFO
            )  # who keeps the arguments is unknown; a cell that runs twice reads them again
        if severity is None and (
            has_small_agents(event.frame.module) or self.is_light(candidate, names, calls, report)
        ):
            severity = Severity.INFO
        if severity is None and says(event.frame, event.decorator or event.node, _DECIDED):
            severity = Severity.INFO
        label = event.transformed.label
        quoted = " and ".join(f"`{name}`" for name in names)
        lines = [
            str(call.node.lineno)
            if call.module is event.frame.module
            else f"{call.module.display}:{call.node.lineno}"
            for call in sorted(calls, key=lambda call: (call.module.display, call.node.lineno))
        ]
        if candidate.in_place:
            where = f"it updates {quoted} in place, which allocates new arrays"
        elif calls:
            seen = "every loop seen" if any(call.in_loop for call in calls) else "the method that calls it"
            where = f"{seen} rebinds {'it' if len(names) == 1 else 'them'} (line{'s' * (len(lines) > 1)} {', '.join(lines)})"
        else:
            where = f"it differentiates and returns new {quoted}; no call is visible here"
        place = event.decorator or event.node
        equinox = event.transformed.kind == "filter_jit"
        # Equinox donates the arrays of all arguments, or of all but the first.
        donated: dict[str, object] = {"donate": "all"} if equinox else {"argnums": positions}
        step = Step("add-donation", report.path, report.span(place), donated)
        # A method may be called through any object.
        complete = bool(calls) and not any(call.bound for call in calls)
        complete = complete and are_all_uses(event.node, event.frame.module, {call.node for call in calls})
        aliased = any((call.aliased | call.kept | call.shared) & set(positions) for call in calls)
        kept = not candidate.in_place and any(
            not set(positions) <= set(call.rebound) - call.later for call in calls
        )
        report(
            place,
            f"{quoted} of `{label}` {'is' if len(names) == 1 else 'are'} not donated: old and new buffers coexist; donate {'it' if len(names) == 1 else 'them'}",
            reason=f"{event.transformed.why.explain(report.module)}; {where}",
            # A call that keeps its argument, under its name or in a list, would find the buffer deleted.
            fix=None
            if kept
            or aliased
            or candidate.donated
            or (equinox and not all(call.arguments_die for call in calls))
            else FixRequest(Safety.UNSAFE, "Donate all arrays" if equinox else f"Donate {quoted}", (step,)),
            severity=severity,
            # donation would delete what other code reads, or frees the smaller part
            shown=bool(candidate.in_place)
            or (
                all(set(positions) <= set(call.rebound) - call.shared for call in calls)
                and not self.gives_back_moments_alone(candidate, names)
            ),
            function=label,
            data={
                "argnums": positions,
                "callers": [f"{call.module.display}:{call.node.lineno}" for call in calls],
                "callers_complete": complete and not kept,
                "aliased": aliased,
                "public": is_public(event),
            },
        )

    def has_weights_alone(self, candidate: _Candidate, names: list[str], calls: list[_Call]) -> bool:
        """Whether a step gives back the weights by which it differentiates, and no state of an optimiser beside them, as
        lessons do that subtract the gradients by hand. Not if they are seen to be large, or another argument is donated."""
        if candidate.in_place or candidate.donated or not set(names) <= candidate.weights:
            return False
        large = any(call.bare & set(call.rebound) for call in calls)
        return not large and not self.networks.is_large(candidate.event.transformed.why, BARE)

    @staticmethod
    def gives_back_moments_alone(candidate: _Candidate, names: list[str]) -> bool:
        """Whether the weights by which a step differentiates stay, and only the state of their optimiser can be donated."""
        return not candidate.donated and bool(candidate.weights) and candidate.weights.isdisjoint(names)

    def is_light(self, candidate: _Candidate, names: list[str], calls: list[_Call], report: Reporter) -> bool:
        """Whether a step is seen to train a small network, or nothing shows that it is large, in a program that is no mere example."""
        event = candidate.event
        if not calls or not all(
            imports_more(call.module.tree) or not report.project.is_program(call.module) for call in calls
        ):
            return False
        if self.has_weights_alone(candidate, names, calls):
            return True
        if all(call.small for call in calls) or self.networks.is_small(event.transformed.why):
            return True
        if any(call.much & set(call.rebound) for call in calls) or self.networks.is_large(
            event.transformed.why, PLAINLY_SMALL
        ):
            return False
        return not seldom_small(
            [event.frame.module, *(call.module for call in calls)], report.project.imports
        )


def _origin_of(value: Value) -> Origin | None:
    return value.origin if isinstance(value, (Array, Unknown, Instance)) else None


def _of_self(call: _Call) -> set[int]:
    """The arguments that are attributes of an object whose method rebinds them: `self.state =
    self.step(self.state)`. The method is called repeatedly, wherever the loop is.
    """
    return {position for position, name in call.rebound.items() if name.startswith("self.")}


def _updated_in_place(function: ast.AST, names: list[str]) -> list[int]:
    """The positions of a model and its optimiser in a step that calls `optimizer.update(model, grads)`, or `optimizer.update(grads)`
    of an optimiser that holds its model; empty otherwise."""
    for call in nodes_of(function, ast.Call):
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "update" or call.keywords:
            continue
        owner = dotted(call.func.value)
        if len(call.args) == 2:
            found = {owner, dotted(call.args[0])}
            if len(found) == 2 and found <= set(names):
                return sorted(names.index(name) for name in found)
        elif len(call.args) == 1 and owner in names and "grad" in dotted(call.args[0]).lower():
            return sorted(names.index(name) for name in {owner, "model"} & set(names))
    return []


@cache
def _returned_unchanged(function: ast.AST) -> frozenset[str]:
    """The names that a function returns unchanged, beside new values."""
    returned = [
        node.value.elts for node in nodes_of(function, ast.Return) if isinstance(node.value, ast.Tuple)
    ]
    names = {part.id for parts in returned for part in parts if isinstance(part, ast.Name)}
    stored = {node.id for node in nodes_of(function, ast.Name) if isinstance(node.ctx, ast.Store)}
    return frozenset(names - stored)


def _shares_shape_with(value: Value) -> object:
    """The parameter whose shapes `value` has."""
    if isinstance(value, Array):
        like = (
            value.like if value.role != "grad" else None
        )  # returned beside the parameters, not in their place
        return like.root() if like is not None else None
    if isinstance(value, Instance) and value.origin is not None:
        return value.origin
    return None
