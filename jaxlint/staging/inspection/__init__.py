"""The analysis's belief about each function: traced or not, the kind of each parameter, and the reason."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from jaxlint.source import SourceError, SourceFile
from jaxlint.staging.analysis import Analysis, assume_calls, build, run
from jaxlint.staging.evaluator.deep_stack import with_deep_stack
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.function_records import FunctionRecord, Observation
from jaxlint.staging.inspection.parameters import gets_tracers, parameter_facts
from jaxlint.staging.interpreter import Interpreter
from jaxlint.staging.listeners import Listeners
from jaxlint.staging.module import Module
from jaxlint.staging.reach.tracer_sources import CallSite, TracerSources
from jaxlint.staging.reach.unknown_receivers import Receivers
from jaxlint.staging.values import Function, Scope
from jaxlint.staging.values.labels import label_of
from jaxlint.staging.values.pytrees import tracer_in
from jaxlint.syntax.facts import all_parameters, name_loads


@dataclass(slots=True)
class FunctionFacts:
    """One function, over all contexts that the analysis evaluated.

    `qualname` is Python's `__qualname__`, `line` its `co_firstlineno` (the first decorator). `staged` is "yes", "no"
    or "unknown"; `basis` distinguishes a visible transformation ("visible") from a framework's convention
    ("convention"). `params` maps names to "traced", "static" or "unknown", for calls under a trace if there are any.
    `calls`, if requested, maps them to the calls that pass tracers.
    """

    path: str
    qualname: str
    line: int
    staged: str
    basis: str | None
    params: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    calls: dict[str, list[CallSite | None]] | None = None

    def record(self) -> dict[str, object]:
        """The facts as JSON data. `traced` also has its former name `staged`."""
        facts = asdict(self)
        facts["traced"] = self.staged
        if self.calls is None:
            del facts["calls"]
        else:
            for call in (call for calls in facts["calls"].values() for call in calls if call is not None):
                call["traced"] = call["staged"]
        return facts


def inspect_files(
    files: Sequence[SourceFile], context: Sequence[SourceFile] = (), calls: bool = False
) -> tuple[list[FunctionFacts], Analysis]:
    """The facts of every function in `files`, by path and line, and the files that failed.

    `calls`: include the calls that pass tracers to parameters.
    """
    interpreter = observing(files, context)
    interpreter.tracer_sources = TracerSources() if calls else None
    result = evaluated(interpreter)
    return functions_in(interpreter), result


def observing(files: Sequence[SourceFile], context: Sequence[SourceFile]) -> Interpreter:
    """An interpreter that keeps each context of a function."""
    interpreter = build(files, Listeners())
    interpreter.observes = True
    interpreter.project.add_context(context)
    return interpreter


def evaluated(interpreter: Interpreter) -> Analysis:
    """Evaluates the files of an interpreter. Returns what failed."""
    result = Analysis()
    with_deep_stack(lambda: run(interpreter, result))
    with_deep_stack(lambda: assume_calls(interpreter, result))
    result.errors.extend(interpreter.errors)
    return result


def functions_in(interpreter: Interpreter) -> list[FunctionFacts]:
    """The facts of every function in the evaluated files, by path and line."""
    _spread_hosted(interpreter)
    facts = [fact for module in interpreter.project.targets for fact in facts_of(module, interpreter)]
    return sorted(facts, key=lambda fact: (fact.path, fact.line))


def _spread_hosted(interpreter: Interpreter) -> None:
    """The callees of a function on the host run on the host too, if they were evaluated for another caller first."""
    stack = [record for record in interpreter.part(FunctionCalls).records.values() if record.hosted]
    while stack:
        for record in stack.pop().host_calls:
            if not record.hosted:
                record.hosted = True
                stack.append(record)


def facts_of(module: Module, interpreter: Interpreter) -> list[FunctionFacts]:
    """The facts about one file's functions, evaluated or not."""
    try:
        tree = module.tree
    except SourceError:
        return []  # reported by the run that could not read it
    found: list[FunctionFacts] = []

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                name = prefix + getattr(child, "name", "<lambda>")
                found.append(facts(module, child, name, interpreter))
                if isinstance(interpreter.tracer_sources, TracerSources):
                    found[-1].calls = {
                        name: interpreter.tracer_sources.of(child, name) for name in found[-1].params
                    }
                body = child.body if isinstance(child.body, list) else [child.body]
                inside = set(map(id, body))
                for part in ast.iter_child_nodes(child):
                    # Decorators and defaults are evaluated outside the function.
                    holder = ast.Expr(part) if isinstance(part, ast.expr) else ast.Module([part], [])  # type: ignore[list-item]
                    visit(holder, f"{name}.<locals>." if id(part) in inside else prefix)
            elif isinstance(child, ast.ClassDef):
                visit(child, f"{prefix}{child.name}.")
            else:
                visit(child, prefix)

    with_deep_stack(lambda: visit(tree, ""))
    return found


def facts(
    module: Module,
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    qualname: str,
    interpreter: Interpreter,
) -> FunctionFacts:
    """The facts about a function, joined over its contexts."""
    record = interpreter.part(FunctionCalls).records.get(node)
    decorators = getattr(node, "decorator_list", [])
    line = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    names = [parameter.arg for parameter in all_parameters(node)]
    if record is None or not record.observations:
        return FunctionFacts(
            module.display,
            qualname,
            line,
            "unknown",
            None,
            dict.fromkeys(names, "unknown"),
            "no call of it was found",
        )
    staged, basis, entry = _staging(record, module, interpreter)
    reason = _because(entry, record, module, interpreter) if isinstance(entry, Observation) else entry
    seen = [o for o in record.observations if o.stage.staged == (staged == "yes")]
    if basis == "visible":
        certain = [o for o in seen if o.stage.certain] or seen
        likely = [o for o in seen if not o.stage.within("convention") and gets_tracers(o.bound)]
        seen = certain
        if likely and not any(gets_tracers(o.bound) for o in certain):
            seen = likely  # a certain enclosing stage that passes it no tracer is weaker evidence
            reason = _because(likely[0], record, module, interpreter)
    contexts = [o.bound for o in seen]
    called = [o.bound for o in seen if o.context != "creation"]
    params = parameter_facts(record, contexts, called, interpreter.part(Receivers).annotated)
    if staged == "yes" and not any(map(gets_tracers, contexts)) and not _runs_on_tracers(record, names):
        # A helper that only creates shapes, or reads settings: JAX traces around it, not through it.
        staged, basis, reason = (
            "unknown",
            None,
            f"it gets no tracers, though it runs while JAX traces: {reason}",
        )
    return FunctionFacts(module.display, qualname, line, staged, basis, params, reason)


def _staging(
    record: FunctionRecord, module: Module, interpreter: Interpreter
) -> tuple[str, str | None, Observation | str]:
    """Whether it is traced, on which basis, and the context that shows it, or the words to use instead."""
    # The best reason is the place where tracers are passed.
    entered = sorted(record.observations, key=lambda seen: not gets_tracers(seen.bound))
    staged = [o for o in entered if o.stage.staged]
    for entry in staged:
        if entry.stage.certain:
            return "yes", "visible", entry
    on_host = record.hosted
    staged_too = not on_host or _in_some_stage(record)
    for entry in staged:
        # One of several functions that a name may mean: some run traces it.
        if entry.stage.within("primitive") or (not entry.stage.within("convention") and staged_too):
            return "yes", "visible", entry
    for entry in staged:
        # A test calls the functions that it defines directly. So do layers, and functions with visible calls on the
        # host. (Haiku layers and their callees cannot: the caller of a layer is transformed.)
        plainly = on_host and not _is_layer(record.function) and not _is_for_layers(record, interpreter)
        if entry.stage.within("convention") and not module.is_test and not plainly:
            return "yes", "convention", entry
    calls = [o.stage for o in record.observations if o.context == "call"]
    if calls and all(stage.certain for stage in calls):
        return "no", None, "every call found runs on the host"
    return "unknown", None, "no call found shows how it runs"


def _is_layer(function: Function) -> bool:
    return function.cls is not None and function.cls.kind == "haiku"


def _is_for_layers(record: FunctionRecord, interpreter: Interpreter) -> bool:
    """Whether only haiku layers are seen to call a module's function on the host."""
    if not record.function.scope.is_module or record.called_by_modules:
        return False
    callers = [
        known for known in interpreter.part(FunctionCalls).records.values() if record in known.host_calls
    ]
    return bool(callers) and all(_is_layer(known.function) for known in callers)


def _in_some_stage(record: FunctionRecord) -> bool:
    """Whether a probable stage passes it tracers. Code that also runs on the host runs there too, in nine of ten
    cases."""
    names = [parameter.arg for parameter in all_parameters(record.function.node)]
    filled = names[:1] if record.function.name == "__init__" else []  # it contains nothing yet
    return any(
        o.stage.staged
        and not o.stage.within("convention")
        and gets_tracers({name: value for name, value in o.bound.items() if name not in filled})
        for o in record.observations
    )


def _because(entry: Observation, record: FunctionRecord, module: Module, interpreter: Interpreter) -> str:
    """The transformation that traces it, and the calls from there to it."""
    stage = entry.stage
    why = stage.why.explain(module) if stage.why is not None else f"it runs under {stage.kind}"
    names = [label_of(record.function)]
    outer: FunctionRecord | None = record
    while outer is not None and not outer.is_target and entry.caller is not None and len(names) < _MOST_CALLS:
        outer = interpreter.part(FunctionCalls).records.get(entry.caller)
        inside = [o for o in outer.observations if o.stage is stage] if outer is not None else []
        if outer is None or not inside:
            break
        names.append(label_of(outer.function))
        entry = inside[0]
    if outer is None or not outer.is_target or len(names) == 1:
        return why
    return f"{why}; call path: {' -> '.join(f'`{name}`' for name in reversed(names))}"


_MOST_CALLS = 8  # calls in a reason


def _runs_on_tracers(record: FunctionRecord, names: list[str]) -> bool:
    """Whether a function captured tracers, or is traced itself and has no parameters."""
    if record.is_target and not names:
        return True
    read = {part.id for part in name_loads(record.function.node)}
    scopes = [record.function.scope]
    ran = [frame.scope.parent for frame in (record.last, record.last_staged) if frame is not None]
    scopes += [scope for scope in ran if scope is not None]  # from the closures that ran last
    for closed_over in scopes:
        scope: Scope | None = closed_over
        while scope is not None and not scope.is_module:
            if any(tracer_in(value) is not None for name, value in scope.variables.items() if name in read):
                return True
            scope = scope.parent
    return False
