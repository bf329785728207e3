"""Whether a host function, call or loop may be traced by JAX. Each codemod that traces eager code asks here."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity.closed_over import ClosedOver
from jaxlint.codemods.purity.concretization import Traced
from jaxlint.codemods.purity.effects import Effects
from jaxlint.codemods.purity.function_objects import FunctionObjects
from jaxlint.codemods.purity.host_arrays import HostArrays
from jaxlint.codemods.purity.host_numbers import HostNumbers
from jaxlint.codemods.purity.jax_settings import values_checked
from jaxlint.codemods.purity.jit_arguments import JitArguments
from jaxlint.codemods.purity.jit_results import WORDS, check_results, returned_expressions
from jaxlint.codemods.purity.loop_carries import Carried
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.problems import Problem, Region
from jaxlint.codemods.purity.program import File, FunctionNode, Program, function_around, parameters, reaching
from jaxlint.codemods.purity.rebuilt_results import Rebuilt
from jaxlint.codemods.purity.unreached import unreached
from jaxlint.codemods.purity.values import (
    ARRAY,
    NONE,
    NUMBER,
    NUMPY,
    TEXT,
    TYPE,
    Box,
    Cls,
    Fn,
    Inst,
    Made,
    Method,
    Place,
    Plain,
    Unknown,
    Value,
    Values,
    Wrapped,
    leaves_of,
    one,
    unknown,
)
from jaxlint.codemods.registry import Draft
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.source.text_edits import shown_source
from jaxlint.finding import Step

_KINDS = {
    "ArrayImpl": ARRAY, "ndarray": NUMPY, "int": NUMBER, "float": NUMBER, "bool": NUMBER, "complex": NUMBER, "str": TEXT,
    "NoneType": NONE, "type": TYPE,
}  # fmt: skip
_BOXES = {
    "dict": "dict",
    "list": "list",
    "tuple": "tuple",
    "set": "set",
    "FrozenDict": "dict",
    "OrderedDict": "dict",
}
_DEPTH = 4
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)
_LIBRARIES = ("optax.", "flax.", "haiku.", "equinox.", "distrax.", "chex.")


def program_and_file(draft: Draft) -> tuple[Program, File]:
    program = draft.program()
    try:
        return program, program.file(draft.site.source.display)
    except KeyError:
        raise Refused("the file cannot be read") from None


def may_be_jitted(
    draft: Draft, function: ast.FunctionDef, step: Step, transform: str, static: Sequence[str]
) -> None:
    """Raises Refused if a function of the codemod's file must not be jitted, judging by the source and a run."""
    if draft.strict is None:
        return
    must_be_reached(draft, function.body)
    program, file = program_and_file(draft)
    spans = step.parameters.get("rewritten", ())
    check_jitted(
        program,
        file,
        file.same(function),
        transform=transform,
        static=static,
        seen=_entries(step, "arguments"),
        skipped=_inside(file, spans if isinstance(spans, list | tuple) else ()),
    )


def _inside(file: File, spans: Iterable[Sequence[int]]) -> frozenset[ast.AST]:
    """The nodes between two places of the source, each given as line and column of `ast`."""
    found: set[ast.AST] = set()
    for line, column, end_line, end_column in spans:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.expr | ast.stmt) and (line, column) <= (node.lineno, node.col_offset):
                if (node.end_lineno or 0, node.end_col_offset or 0) <= (end_line, end_column):
                    found.update(ast.walk(node))
    for node in ast.walk(file.tree):
        if isinstance(node, ast.If | ast.While | ast.IfExp) and node.test in found:
            found.add(node)
    return frozenset(found)


def may_be_compiled(draft: Draft, call: ast.Call, step: Step, transform: str) -> None:
    """Raises Refused if the callee of a call in the codemod's file must not be jitted, judging by the source and a
    run."""
    if draft.strict is None:
        return
    must_be_reached(draft, [call])
    program, file = program_and_file(draft)
    check_call(program, file, file.same(call), transform=transform, seen=_entries(step, "arguments"))


def check_outlined(
    draft: Draft,
    step: Step,
    text: str,
    line: int,
    transform: str,
    static: Sequence[str] = (),
    *,
    nodes: Sequence[ast.AST],
    looped: bool = False,
) -> None:
    """Raises Refused if the new function that a codemod wrote from statements must not be jitted.

    `text`: the file with the function, at `line`, and its call, without the jit. A static object of a method is read only at
    the first call. `nodes`: the statements, or the expression; `looped`: they become the body of a loop of JAX.
    """
    if draft.strict is None:
        return
    must_be_reached(draft, nodes, looped=looped)
    program = draft.program().with_text(draft.site.source.display, text)
    try:
        file = program.file(draft.site.source.display)
    except KeyError:
        raise Refused("the file with the function would not parse") from None
    functions = [node for node in ast.walk(file.tree) if isinstance(node, ast.FunctionDef)]
    (function,) = [node for node in functions if node.lineno == line]
    arguments, variables = _entries(step, "arguments"), _entries(step, "variables")
    name = str(step.parameters.get("function", "")).rpartition(".")[2]
    around = [node for node in functions if node.name == name]
    hints = hints_of(arguments, around[0], program) if len(around) == 1 else {}
    taken = {one.arg for one in parameters(function)}
    seen = [entry for entry in variables if entry.get("name") in taken]
    above = file.names.parents.get(function)
    own = Cls(above, file) if isinstance(above, ast.ClassDef) else None
    check_jitted(program, file, function, transform=transform, static=static, seen=seen, hints=hints, own=own)


def _entries(step: Step, name: str) -> Sequence[Mapping[str, object]]:
    """The arguments and variables of a run, as a step stores them."""
    found = step.parameters.get(name, ())
    return found if isinstance(found, list | tuple) else ()


def may_be_staged(draft: Draft, nodes: Sequence[ast.AST], *, lifted: bool = False) -> None:
    """Raises Refused if statements or expressions of the codemod's file must not be evaluated once, under a trace."""
    if draft.strict is None:
        return
    if nodes:
        must_be_reached(draft, nodes, looped=True)
        program, file = program_and_file(draft)
        check_nodes(program, file, [file.same(node) for node in nodes], strict=draft.strict, nnx=lifted)


def must_be_reached(draft: Draft, nodes: Sequence[ast.AST], *, looped: bool = False) -> None:
    """Raises Refused if a run of the program is known, and code that would be traced with `nodes` was not reached by it."""
    if not draft.strict:
        return
    program, file = program_and_file(draft)
    own = [file.same(node) for node in nodes]
    for what in unreached(PossibleValues(program), [(own, file)], looped=looped):
        raise Refused(what)


def may_be_carried(draft: Draft, names: Sequence[str], loop: ast.AST) -> None:
    """Raises Refused if a carried variable may change its dtype on a path that a run did not take."""
    if draft.strict:
        program, file = program_and_file(draft)
        for what in Carried(PossibleValues(program)).problems(names, file.same(loop), file):
            raise Refused(what)


def begins_as_array(draft: Draft, name: str, loop: ast.AST) -> bool:
    """Whether a variable holds an array of JAX before a loop, on all paths; true where no promise is made for those that no run took."""
    if not draft.strict:
        return True
    program, file = program_and_file(draft)
    possible, own = PossibleValues(program), set(ast.walk(file.same(loop)))
    scope = file.names.scope_at(file.same(loop)).resolve(name)
    bindings = (
        [one for one in scope.bindings.get(name, ()) if one.node not in own] if scope is not None else []
    )
    values = [possible.of_binding(one, Place(file, scope, name)) for one in bindings if scope is not None]
    return bool(values) and all(leaves_of(one) == {ARRAY} for one in values)


def may_be_rows(draft: Draft, iterable: ast.expr) -> None:
    """Raises Refused if the iterable of a loop may be a list or an iterator on a path that a run did not take."""
    if not draft.strict or not isinstance(iterable, ast.Name):
        return
    program, file = program_and_file(draft)
    for value in _runs_over(file.same(iterable), file, PossibleValues(program), 0):
        if value == TEXT:
            raise Refused(f"`{iterable.id}` may be a string, which has no rows for JAX")
        if isinstance(value, Box):
            kind = "an iterator" if value.kind == "iterator" else f"a {value.kind}"
            raise Refused(f"`{iterable.id}` may be {kind}, which has no rows for JAX")


def _runs_over(node: ast.expr, file: File, possible: PossibleValues, depth: int) -> Iterator[Value]:
    """The possible values of an expression at its place: for a variable its reaching definitions, for a parameter the
    arguments."""
    scope = file.names.scope_at(node).resolve(node.id) if isinstance(node, ast.Name) else None
    if not isinstance(node, ast.Name) or scope is None:
        yield from possible.of(node, file)
        return
    for binding in reaching(scope, node, file):
        function = function_around(binding.node, file)
        if not isinstance(binding.node, ast.arg) or function is None or depth >= _DEPTH:
            yield from possible.of_binding(binding, Place(file, scope, node.id))
            continue
        for given, other in possible.call_sites.arguments_for(function, binding.node, file):
            if isinstance(given, ast.expr):
                yield from _runs_over(given, other, possible, depth + 1)


def may_be_kept(draft: Draft, node: ast.AST, loop: ast.AST) -> None:
    """Raises Refused if a function that each iteration jits reads values that change meanwhile, on a path that a run
    did not take.

    `node`: its definition, or the call that jits it.
    """
    if not draft.strict:
        return
    program, file = program_and_file(draft)
    possible = PossibleValues(program)
    own, around = file.same(node), file.same(loop)
    jitted = [(own, file)] if isinstance(own, FUNCTIONS) else []
    for argument in own.args[:1] if isinstance(own, ast.Call) else []:
        called = [one for each in possible.of(argument, file) for one in _called_functions(each, possible)]
        jitted += [(one.node, one.file) for one in called]
    for function, home in jitted:
        traced = Traced(possible)
        traced.start(function, home, frozenset())  # type: ignore[arg-type]
        for what in ClosedOver(possible).changing_in(around, traced.functions, function):
            raise Refused(f"the function {what}; a compiled function keeps the first value")


def hints_of(
    entries: Iterable[Mapping[str, object]], function: FunctionNode, program: Program
) -> dict[tuple[FunctionNode, str], Values]:
    """The arguments of a function in a run (`describe` of the runtime), as values."""
    found: dict[tuple[FunctionNode, str], Values] = {}
    for entry in entries:
        values = _seen(entry, program)
        if values:
            found[(function, str(entry["name"]).lstrip("*"))] = values
    return found


def _seen(entry: Mapping[str, object], program: Program) -> Values:
    kind = str(entry.get("type", ""))
    if kind in _KINDS:
        return one(_KINDS[kind])
    if kind in program.classes:
        return frozenset(Inst(Cls(node, file)) for file, node in program.classes[kind])
    module = str(entry.get("module", ""))
    holds = entry.get("holds")
    parts: Values = (
        frozenset(_KINDS.get(str(name), Unknown(str(name))) for name in holds)
        if isinstance(holds, list | tuple) and holds
        else unknown()
    )
    if kind in _BOXES:
        return one(Box(_BOXES[kind], None, parts))
    if module.startswith(_LIBRARIES):
        public = module.replace("._src", "")
        if (
            isinstance(holds, list | tuple)
            and holds
            and not module.startswith(("flax.training", "flax.linen", "flax.nnx.training", "haiku"))
        ):
            return one(Box("tuple", None, parts))  # the state of an optimiser
        if module.startswith("flax.training"):
            return one(Made(f"{module}.{kind}"))
        part = "linen." if ".linen" in module else "nnx." if ".nnx" in module else ""
        return one(Made(f"{public.partition('.')[0]}.{part}{kind}"))
    return frozenset()


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
) -> None:
    """Raises Refused if jitting a function might change the program's behaviour on any of its paths.

    `seen`: its arguments in a run; `hints`: those of other functions; `own`: the class of its first argument, if that is
    the static object of a method.
    """
    possible = PossibleValues(program, {**(hints or {}), **hints_of(seen, function, program)})
    region = Region(function, frozenset(), transform == "flax.nnx.jit")
    for problem in Effects(possible, region).of_function(function, file):
        raise Refused(_told(problem))
    not_traced = set(static) | (
        _no_arrays(function, possible, file) if transform == "equinox.filter_jit" else set()
    )
    traced = Traced(possible, skipped=skipped)
    traced.start(function, file, not_traced)
    for what in ClosedOver(possible).changing(traced.functions, function):
        raise Refused(f"it {what}; a compiled function keeps the first value")
    if own is not None:
        for what in ClosedOver(possible).of_object(own, traced.functions):
            raise Refused(f"it {what}; a compiled method keeps the first value")
    filtered = transform == "equinox.filter_jit"
    for what in JitArguments(possible).problems(function, file, set(static), filtered=filtered):
        raise Refused(what)
    for what in FunctionObjects(possible).problems(function, file):
        raise Refused(what)
    for what in traced.problems():
        raise Refused(what)
    _check_computed(possible, traced, file, function, seen)
    check_results(possible, file, function, seen, set(static))
    for what in HostArrays(possible, traced, function, _dtypes(seen)).problems(file):
        raise Refused(what)


def _check_computed(
    possible: PossibleValues,
    traced: Traced,
    file: File,
    function: FunctionNode,
    seen: Iterable[Mapping[str, object]],
) -> None:
    """Raises Refused if the program would notice that Python numbers become arrays, or that arguments and results are
    rebuilt."""
    types = {str(entry["name"]): str(entry.get("type", "")) for entry in seen}
    for what in HostNumbers(possible, traced, function, types).problems(file):
        raise Refused(what)
    for what in Rebuilt(possible).problems(function, file, returned_expressions(function)):
        raise Refused(what)


def _dtypes(seen: Iterable[Mapping[str, object]]) -> dict[str, set[str]]:
    """The dtypes of a function's parameters in a run, for parameters whose dtypes the run has all seen."""
    found: dict[str, set[str]] = {}
    for entry in seen:
        leaves = entry.get("leaves")
        if isinstance(leaves, list | tuple) and leaves and "more_leaves" not in entry:
            found[str(entry["name"])] = {str(leaf.get("dtype", "?")) for leaf in leaves}
    return found


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
    for what in Rebuilt(possible).lost(carried):
        raise Refused(what)
    if strict:
        for what in values_checked(possible):
            raise Refused(f"it {what}")
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
    program: Program, file: File, call: ast.Call, *, transform: str, seen: Iterable[Mapping[str, object]] = ()
) -> None:
    """Raises Refused if the callee of a call must not be jitted at that call."""
    around = function_around(call, file)
    possible = PossibleValues(program, hints_of(seen, around, program) if around is not None else {})
    region = Region(call, frozenset(), transform == "flax.nnx.jit")
    effects = Effects(possible, region)
    called = ast.copy_location(ast.Call(call.func, [], []), call)
    file.names.parents.setdefault(called, file.names.parents.get(call, file.tree))
    for problem in effects.of_callee(called, file):
        raise Refused(_told(problem))
    traced = Traced(possible)
    outside = ClosedOver(possible)
    functions: dict[ast.AST, File] = {}
    for value in possible.of(call.func, file):
        for function in _called_functions(value, possible):
            assert isinstance(function.node, FUNCTIONS)
            own = (
                {parameters(function.node)[0].arg}
                if function.receiver is not None and parameters(function.node)
                else set()
            )
            traced.start(function.node, function.file, own)
            functions.update(traced.functions)
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
    for what in outside.changing(functions, call):
        raise Refused(f"it {what}; a compiled function keeps the first value")
    for what in traced.problems():
        raise Refused(what)


def _called_functions(value: Value, possible: PossibleValues, depth: int = 0) -> list[Fn]:
    if isinstance(value, Fn):
        return [value]
    if isinstance(value, Wrapped) and depth < 5:
        return [found for inner in value.inner for found in _called_functions(inner, possible, depth + 1)]
    if isinstance(value, Method) and isinstance(value.receiver, Inst):
        return [
            found
            for each in possible.attribute(value.receiver, "__call__")
            for found in _called_functions(each, possible, depth + 1)
        ]
    if isinstance(value, Inst):
        return [
            found
            for each in possible.attribute(value, "__call__")
            for found in _called_functions(each, possible, depth + 1)
        ]
    return []


def _number_type(statement: ast.AST | None) -> str:
    """The type name of the number that an assignment, or a loop over a range, gives to its variable."""
    if isinstance(statement, ast.For) and isinstance(statement.iter, ast.Call):
        return "int" if getattr(statement.iter.func, "id", "") == "range" else ""
    value = getattr(statement, "value", None)
    return type(value.value).__name__ if isinstance(value, ast.Constant) else ""


def python_type(draft: Draft, name: str, node: ast.AST) -> str:
    """The type of a variable: "int", "float" or "bool" for a variable that only holds such Python numbers; "" for
    anything else.

    Raises Refused if it holds numbers of unknown type.
    """
    program, file = program_and_file(draft)
    scope = file.names.scope_at(file.same(node)).resolve(name)
    if scope is None:
        return ""
    possible = PossibleValues(program)
    if possible.of_place(Place(file, scope, name)) != one(NUMBER):
        return ""
    kinds = {_number_type(file.names.parents.get(binding.node)) for binding in scope.bindings[name]}
    if len(kinds) == 1 and (kind := kinds.pop()):
        return kind
    raise Refused(f"`{name}` is a Python number, which the loop would return as an array")
