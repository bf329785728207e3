"""Whether a host function, call or loop may be traced by JAX. Each codemod that traces eager code asks here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity.checks import called_functions, check_call, check_jitted, check_lent, check_nodes
from jaxlint.codemods.purity.closed_over import ClosedOver
from jaxlint.codemods.purity.concretization import Traced
from jaxlint.codemods.purity.local_variables import names_listed, variables_seen
from jaxlint.codemods.purity.loop_carries import Carried
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.problems import Region
from jaxlint.codemods.purity.program import (
    File,
    FunctionNode,
    Program,
    function_around,
    parameters,
    reaching,
)
from jaxlint.codemods.purity.rebuilding import Rebuilding
from jaxlint.codemods.purity.seen_arguments import hints_of
from jaxlint.codemods.purity.unreached import unreached
from jaxlint.codemods.purity.unseen_arguments import UnseenArguments
from jaxlint.codemods.purity.values import (
    ARRAY,
    NUMBER,
    TEXT,
    Box,
    Cls,
    Place,
    Value,
    leaves_of,
    one,
)
from jaxlint.codemods.purity.watched import watched
from jaxlint.codemods.registry import Draft
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Step

_DEPTH = 4


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
    check_code_reached(draft, function.body)
    program, file = program_and_file(draft)
    own = file.same(function)
    check_arguments_seen(draft, parameters(own), own)
    spans = step.parameters.get("rewritten", ())
    check_jitted(
        program,
        file,
        own,
        transform=transform,
        static=static,
        seen=_entries(step, "arguments"),
        skipped=_inside(file, spans if isinstance(spans, list | tuple) else ()),
    )
    check_nothing_watches(draft)


def _inside(file: File, spans: Iterable[Sequence[int]]) -> frozenset[ast.AST]:
    """The nodes between places of the source, each given as line and column of `ast`."""
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
    check_code_reached(draft, [call])
    check_arguments_seen(draft, [*call.args, *(one.value for one in call.keywords)])
    program, file = program_and_file(draft)
    static = [
        one
        for name in ("static_argnums", "static_argnames")
        for one in (step.parameters.get(name) or ())  # type: ignore[attr-defined]
    ]
    seen = _entries(step, "arguments")
    check_call(program, file, file.same(call), transform=transform, seen=seen, static=static)
    check_nothing_watches(draft)


def check_outlined(
    draft: Draft,
    step: Step,
    text: str,
    line: int,
    transform: str,
    static: Sequence[str] = (),
    *,
    nodes: Sequence[ast.AST],
    given: Sequence[ast.expr] = (),
    looped: bool = False,
    traced_before: bool = False,
    fetched: Set[str] = frozenset(),
) -> None:
    """Raises Refused if the new function that a codemod wrote from statements must not be jitted.

    `text`: the file with the function, at `line`, and its call, without the jit. A static object of a method
    is read only at the first call. `nodes`: the statements, or the expression; `given`: the expressions that
    they read and that become arguments; `looped`: they become the body of a loop of JAX; `traced_before`:
    they only call functions that the program jits; `fetched`: results of which the code around them makes a number at once.
    """
    if draft.strict is None:
        return
    check_code_reached(draft, nodes, looped=looped)
    check_variables_hidden(draft, nodes[0])
    check_arguments_seen(draft, [*given, *(_carried(nodes) if looped else ())])
    if looped:
        check_buffers_without_wait(draft, nodes)
    program = draft.program().with_text(draft.site.source.display, text)
    try:
        file = program.file(draft.site.source.display)
    except KeyError:
        raise Refused("the file with the new function would not parse") from None
    functions = [node for node in ast.walk(file.tree) if isinstance(node, ast.FunctionDef)]
    (function,) = [node for node in functions if node.lineno == line]
    arguments, variables = _entries(step, "arguments"), _entries(step, "variables")
    name = str(step.parameters.get("function", "")).rpartition(".")[2]
    around = [node for node in functions if node.name == name]
    hints = hints_of(arguments, around[0], program) if len(around) == 1 else {}
    taken = {one.arg for one in parameters(function)}
    seen = [entry for entry in variables if entry.get("name") in taken]
    above = file.names.parents.get(function)
    if draft.strict and isinstance(above, ast.Module):
        for what in names_listed(PossibleValues(program), file, line):
            raise Refused(what)
    own = Cls(above, file) if isinstance(above, ast.ClassDef) else None
    try:
        check_jitted(
            program,
            file,
            function,
            transform=transform,
            static=static,
            seen=seen,
            hints=hints,
            own=own,
            traced_before=traced_before,
            fetched=fetched,
        )
    except Refused as refusal:
        lines = [getattr(node, "lineno", 1) for node in nodes]
        names = [Path(one.display).name for one in program.files]
        if names.count(Path(draft.site.source.display).name) > 1:
            raise
        raise Refused(_at_lines_of(draft.site, str(refusal), text, min(lines, default=1))) from None
    check_nothing_watches(draft)


def _at_lines_of(site: Site, reason: str, text: str, first: int) -> str:
    """A reason with line numbers of the original file, from one about `text`, where the statements from `first` on were moved."""
    own, moved = site.lines.lines, text.splitlines()

    def line(found: re.Match[str]) -> str:
        number = int(found[2])
        said = moved[number - 1].strip() if number <= len(moved) else ""
        same = [place for place, one in enumerate(own, 1) if one.strip() == said]
        return f"{found[1]}{min(same, key=lambda place: abs(place - first), default=first)}"

    return re.sub(rf"({re.escape(Path(site.source.display).name)}:)(\d+)", line, reason)


def _entries(step: Step, name: str) -> Sequence[Mapping[str, object]]:
    """The arguments and variables of a run, as a step stores them."""
    found = step.parameters.get(name, ())
    return found if isinstance(found, list | tuple) else ()


def may_be_staged(draft: Draft, nodes: Sequence[ast.AST], *, lifted: bool = False) -> None:
    """Raises Refused if statements or expressions of the codemod's file must not be evaluated once, under a trace."""
    if draft.strict is None:
        return
    if nodes:
        check_code_reached(draft, nodes, looped=True)
        check_variables_hidden(draft, nodes[0])
        check_arguments_seen(draft, _carried(nodes))
        program, file = program_and_file(draft)
        check_nodes(program, file, [file.same(node) for node in nodes], strict=draft.strict, nnx=lifted)
        check_nothing_watches(draft)


def check_buffers_without_wait(draft: Draft, nodes: Sequence[ast.AST]) -> None:
    """Raises Refused if code that would no longer wait for JAX changes a NumPy buffer that JAX reads, or gives it one."""
    if draft.strict is None:
        return
    program, file = program_and_file(draft)
    check_lent(program, frozenset(part for node in nodes for part in ast.walk(file.same(node))))


def check_code_reached(draft: Draft, nodes: Sequence[ast.AST], *, looped: bool = False) -> None:
    """Raises Refused if a run of the program is known, and it did not reach code that would be traced with `nodes`."""
    if not draft.strict:
        return
    program, file = program_and_file(draft)
    own = [file.same(node) for node in nodes]
    for what in unreached(PossibleValues(program), [(own, file)], looped=looped):
        raise Refused(what)


def check_nothing_watches(draft: Draft) -> None:
    """Raises Refused if a run of the program is known, and the program watches its calls or warnings."""
    if draft.strict:
        for what in watched(PossibleValues(program_and_file(draft)[0])):
            raise Refused(what)


def check_variables_hidden(draft: Draft, node: ast.AST) -> None:
    """Raises Refused if the program reads the variables around a node of the codemod's file without naming them."""
    program, file = program_and_file(draft)
    strict = bool(draft.strict)
    for what in variables_seen(PossibleValues(program), file.same(node), file, strict=strict):
        raise Refused(what)


def check_arguments_seen(
    draft: Draft, given: Sequence[ast.expr | ast.arg], function: FunctionNode | None = None
) -> None:
    """Raises Refused if a run of the program is known, and an argument of compiled code may be of a kind that
    did not occur in it.

    `given`: expressions of the codemod's file, or the parameters of `function`.
    """
    if not draft.strict or draft.site.source.missed is None:
        return
    program, file = program_and_file(draft)
    possible = PossibleValues(program)
    unseen, rebuilding = UnseenArguments(possible), Rebuilding(possible, Region(file.tree, frozenset()))
    for each in given:
        if isinstance(each, ast.expr):
            problems, values = unseen.of(file.same(each), file), possible.of(file.same(each), file)
        else:
            assert function is not None
            problems = unseen.of_parameter(each, function, file)
            values = possible.of_parameter(each, file)
        for what in (*problems, *rebuilding.missed(values)):
            raise Refused(what)


def _carried(nodes: Sequence[ast.AST]) -> list[ast.expr]:
    """The first read of each variable that the nodes of a loop read and set."""
    names = [part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)]
    stored = {one.id for one in names if isinstance(one.ctx, ast.Store)}
    read = {one.id: one for one in reversed(names) if isinstance(one.ctx, ast.Load)}
    return [one for name, one in read.items() if name in stored]


def may_be_carried(
    draft: Draft,
    names: Sequence[str],
    loop: ast.AST,
    last: Sequence[tuple[str, ast.expr, ast.expr]] = (),
) -> None:
    """Raises Refused if a carried variable may change its dtype on a path that a run did not take. `last`: lists whose
    last item is carried, with its value before the loop and in it."""
    if draft.strict:
        program, file = program_and_file(draft)
        items = [(name, file.same(start), file.same(step)) for name, start, step in last]
        for what in Carried(PossibleValues(program)).problems(names, file.same(loop), file, items):
            raise Refused(what)


def begins_as_array(draft: Draft, name: str, loop: ast.AST) -> bool:
    """Whether a variable holds a JAX array before a loop, on all paths; true if the codemod makes no promise
    for paths that no run took.
    """
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
        called = [one for each in possible.of(argument, file) for one in called_functions(each, possible)]
        jitted += [(one.node, one.file) for one in called]
    for function, home in jitted:
        traced = Traced(possible)
        traced.start(function, home, frozenset())  # type: ignore[arg-type]
        for what in ClosedOver(possible).changing_in(around, traced.functions, function):
            raise Refused(f"the function {what}; a compiled function keeps the first value")


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
