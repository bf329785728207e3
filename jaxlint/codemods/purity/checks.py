"""Whether JAX may trace a function, statements or a call: raises Refused with the reason if the program might notice."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence, Set

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity.closed_over import ClosedOver
from jaxlint.codemods.purity.concretization import Traced
from jaxlint.codemods.purity.effects import Effects
from jaxlint.codemods.purity.equal_statics import EqualStatics
from jaxlint.codemods.purity.freshness import given_to_copy
from jaxlint.codemods.purity.function_objects import FunctionObjects
from jaxlint.codemods.purity.host_arrays import HostArrays
from jaxlint.codemods.purity.host_numbers import HostNumbers
from jaxlint.codemods.purity.jax_settings import promotion_chosen, values_checked
from jaxlint.codemods.purity.jit_arguments import JitArguments
from jaxlint.codemods.purity.jit_results import WORDS, check_results, returned_expressions
from jaxlint.codemods.purity.lent_buffers import LentBuffers
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.problems import Problem, Region
from jaxlint.codemods.purity.program import File, FunctionNode, Program, function_around, parameters
from jaxlint.codemods.purity.rebuilding import Rebuilding
from jaxlint.codemods.purity.rebuilt_results import Rebuilt
from jaxlint.codemods.purity.seen_arguments import dtypes_of, hints_of
from jaxlint.codemods.purity.static_objects import StaticObjects
from jaxlint.codemods.purity.values import (
    ARRAY,
    NUMPY,
    Cls,
    Fn,
    Inst,
    Made,
    Method,
    Plain,
    Unknown,
    Value,
    Values,
    Wrapped,
    leaves_of,
)
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.source.text_edits import shown_source
from jaxlint.jaxapi.optimizers import makes_optimizer

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)


def check_jitted(
    program: Program,
    file: File,
    function: FunctionNode,
    *,
    transform: str = "jax.jit",
    static: Sequence[str] = (),
    seen: Iterable[Mapping[str, object]] = (),
    skipped: Set[ast.AST] = frozenset(),
    hints: Mapping[tuple[FunctionNode, str], Values] | None = None,
    own: Cls | None = None,
    traced_before: bool = False,
    fetched: Set[str] = frozenset(),
) -> None:
    """Raises Refused if jitting a function might change the program's behaviour on any of its paths.

    `seen`: its arguments in a run; `hints`: those of other functions; `own`: the class of its first argument, if that is
    the static object of a method; `traced_before`: it only calls functions that are jitted, whose results are what `jit` returns; `fetched`: results of which its
    callers make a number at once.
    """
    possible = PossibleValues(program, {**(hints or {}), **hints_of(seen, function, program)})
    region = Region(function, frozenset(), transform == "flax.nnx.jit")
    for problem in Effects(possible, region).of_function(function, file):
        raise Refused(_told(problem))
    not_traced = set(static) | (
        _no_arrays(function, possible, file) if transform == "equinox.filter_jit" else set()
    )
    given = given_to_copy(function)
    traced = Traced(possible, skipped=skipped, attributes=given)
    traced.start(function, file, not_traced)
    # A function that the program jits has kept its first values before, and JAX reuses that trace.
    outside = traced.uncompiled
    for what in ClosedOver(possible).changing(outside, function):
        raise Refused(f"it {what}; a compiled function keeps the first value")
    if own is not None:
        for what in (
            *ClosedOver(possible).of_object(own, outside, given),
            *StaticObjects(possible).set_by_name(own, outside),
        ):
            raise Refused(f"it {what}; a compiled method keeps the first value")
    for what in StaticObjects(possible).changing(function, file, not_traced, outside):
        raise Refused(f"it {what}; a compiled function keeps the first value")
    filtered = transform == "equinox.filter_jit"
    for what in JitArguments(possible).problems(function, file, set(static), filtered=filtered):
        raise Refused(what)
    for what in FunctionObjects(possible).problems(function, file):
        raise Refused(what)
    for what in traced.problems():
        raise Refused(what)
    check_lent(program)
    if traced_before:
        return
    _check_computed(possible, traced, file, function, seen)
    check_results(possible, file, function, seen, set(static), fetched)
    for what in HostArrays(possible, traced, function, dtypes_of(seen)).problems(file):
        raise Refused(what)


def check_lent(program: Program, inside: Set[ast.AST] | None = None) -> None:
    """Raises Refused if the program changes a NumPy buffer while JAX may still read it: compiled code reads it later.

    `inside`: a loop that would no longer wait for results.
    """
    if inside is not None:
        told = list(LentBuffers(PossibleValues(program)).changing(inside))
    else:  # statements that become a function read and write the same buffers: one answer for all edits
        memo = program.written.memo
        if "lent" not in memo:
            memo["lent"] = list(LentBuffers(PossibleValues(program.written)).changing())
        told = memo["lent"]
    for what in told:
        raise Refused(what)


def _check_computed(
    possible: PossibleValues,
    traced: Traced,
    file: File,
    function: FunctionNode,
    seen: Iterable[Mapping[str, object]],
) -> None:
    """Raises Refused if the program would notice that Python numbers become arrays, or that arguments and results are rebuilt."""
    types = {str(entry["name"]): str(entry.get("type", "")) for entry in seen}
    for what in HostNumbers(possible, traced, function, types).problems(file):
        raise Refused(what)
    for what in Rebuilt(possible).problems(function, file, returned_expressions(function)):
        raise Refused(what)
    given = [possible.of_parameter(one, file) for one in parameters(function)]
    values = frozenset().union(possible.returned(function, file), *given)
    for what in (
        *Rebuilding(possible, Region(function, frozenset())).problems(values),
        *EqualStatics(possible).in_trees(values),
    ):
        raise Refused(what)


def _no_arrays(function: FunctionNode, possible: PossibleValues, file: File) -> set[str]:
    """Parameters that are never arrays, which `filter_jit` leaves static."""
    return {
        parameter.arg
        for parameter in parameters(function)
        if not any(
            isinstance(value, (Unknown, Inst, Made)) or value in (ARRAY, NUMPY)
            for value in leaves_of(possible.of_parameter(parameter, file))
        )
    }


def _told(problem: Problem) -> str:
    then = "JAX would do that once, at trace time" if problem.certain else "that may have a side effect"
    return f"{problem.reason}: {then}"


def check_nodes(
    program: Program, file: File, nodes: Sequence[ast.AST], *, strict: bool, nnx: bool = False
) -> None:
    """Raises Refused if one evaluation of `nodes` under a trace might differ from repeated evaluation.

    `strict`: also if that is merely possible.
    """
    own = frozenset(part for node in nodes for part in ast.walk(node))
    possible = PossibleValues(program)
    first = nodes[0] if nodes else file.tree
    around = function_around(first, file) or file.tree
    region = Region(around, own, nnx)
    for problem in Effects(possible, region).of_nodes(nodes, file):
        if problem.certain or strict:
            raise Refused(_told(problem))
    varying = _varying(nodes, file)
    carried = frozenset(value for name in varying for value in possible.of(name, file))
    for what in (
        *Rebuilt(possible).lost(carried),
        *Rebuilding(possible, region).problems(carried),
        *EqualStatics(possible).in_trees(carried),
    ):
        raise Refused(what)
    if strict:
        for what in (*values_checked(possible), *promotion_chosen(possible)):
            raise Refused(f"it {what}")
        check_lent(program, own)
        for what in Rebuilt(possible).carried(varying, own, file):
            raise Refused(what)
        traced = Traced(possible)
        traced.start_nodes(nodes, varying, file)
        for what in (
            *HostNumbers(possible, traced).problems(file),
            *HostArrays(possible, traced).problems(file),
        ):
            raise Refused(what)


def _varying(nodes: Sequence[ast.AST], file: File) -> list[ast.Name]:
    """The variables that nodes of a loop or comprehension set, and its iterables."""
    around = (
        next((one for one in file.names.ancestors(nodes[0]) if isinstance(one, _LOOPS)), None)
        if nodes
        else None
    )
    targets = (
        [around.target]
        if isinstance(around, ast.For)
        else [one.target for one in getattr(around, "generators", ())]
    )
    return [
        part
        for node in (*nodes, *targets)
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]


def check_call(
    program: Program,
    file: File,
    call: ast.Call,
    *,
    transform: str,
    seen: Iterable[Mapping[str, object]] = (),
    static: Sequence[int | str] = (),
) -> None:
    """Raises Refused if the callee of a call must not be jitted at that call.

    `static`: the positions and names of the arguments that are static.
    """
    around = function_around(call, file)
    possible = PossibleValues(program, hints_of(seen, around, program) if around is not None else {})
    region = Region(call, frozenset(), transform == "flax.nnx.jit")
    _check_given(possible, file, call, set(static), transform)
    effects = Effects(possible, region)
    called = ast.copy_location(ast.Call(call.func, [], []), call)
    file.names.parents.setdefault(called, file.names.parents.get(call, file.tree))
    for problem in effects.of_callee(called, file):
        raise Refused(_told(problem))
    traced = Traced(possible)
    closed_over = ClosedOver(possible)
    functions: dict[ast.AST, File] = {}
    for value in possible.of(call.func, file):
        if region.carries_nnx and possible.is_nnx(value):
            raise Refused(
                f"`{shown_source(call.func)}` is a module, whose arrays would be constants of the compiled function"
            )
        for function in called_functions(value, possible):
            assert isinstance(function.node, FUNCTIONS)
            traced.start(function.node, function.file, _not_traced(function, static))
            functions.update(traced.uncompiled)
            _check_computed(possible, traced, function.file, function.node, ())
            returned = possible.returned(function.node, function.file)
            for what in Rebuilt(possible).lost(returned):
                raise Refused(what)
            for result in leaves_of(returned):
                if isinstance(result, Plain) and result.kind in WORDS:
                    raise Refused(
                        f"`{shown_source(call.func)}` may return {WORDS[result.kind]}, which would become an array"
                    )
            for what in HostArrays(possible, traced, function.node).problems(function.file):
                raise Refused(what)
    for what in closed_over.changing(functions, call):
        raise Refused(f"it {what}; a compiled function keeps the first value")
    for what in traced.problems():
        raise Refused(what)
    check_lent(program)


def _check_given(
    possible: PossibleValues, file: File, call: ast.Call, static: Set[int | str], transform: str
) -> None:
    """Raises Refused if an argument of a call is certainly a function or an optimiser, which `jax.jit` rejects as an argument."""
    if transform != "jax.jit":
        return
    for name, given in (*enumerate(call.args), *((one.arg, one.value) for one in call.keywords)):
        values = possible.of(given, file)
        if name not in static and values and all(map(_is_function, values)):
            raise Refused(f"`{shown_source(given)}` is a function, which `jax.jit` rejects as an argument")


def _is_function(value: Value) -> bool:
    if isinstance(value, Made):
        return makes_optimizer(value.name)
    if isinstance(value, Method):
        return isinstance(value.receiver, Inst)  # others may be attributes with arrays
    return isinstance(value, Fn | Cls | Wrapped)


def _not_traced(function: Fn, static: Sequence[int | str]) -> set[str]:
    """The parameters of a called function that are no arguments of the compiled call: its receiver, and static ones."""
    names = [one.arg for one in parameters(function.node)]
    bound = names[:1] if function.receiver is not None else []
    passed = names[len(bound) :]
    chosen = {passed[one] for one in static if isinstance(one, int) and one < len(passed)}
    return {*bound, *chosen, *(one for one in static if isinstance(one, str))}


def called_functions(value: Value, possible: PossibleValues, depth: int = 0) -> list[Fn]:
    if isinstance(value, Fn):
        return [value]
    if isinstance(value, Wrapped) and depth < 5:
        return [found for inner in value.inner for found in called_functions(inner, possible, depth + 1)]
    if isinstance(value, Method) and isinstance(value.receiver, Inst):
        return [
            found
            for each in possible.attribute(value.receiver, "__call__")
            for found in called_functions(each, possible, depth + 1)
        ]
    if isinstance(value, Inst):
        return [
            found
            for each in possible.attribute(value, "__call__")
            for found in called_functions(each, possible, depth + 1)
        ]
    return []
