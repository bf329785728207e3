"""Runs the rules over a project: the entry point of the staging analysis."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.finding import Finding, FixRequest, Severity, Span
from jaxlint.rule import Rule
from jaxlint.source import SourceError, SourceFile
from jaxlint.staging.consequences import Consequences, WrongStatic
from jaxlint.staging.evaluator.deep_stack import with_deep_stack
from jaxlint.staging.evaluator.failures import Contained
from jaxlint.staging.events import Event
from jaxlint.staging.evidence import severity_of
from jaxlint.staging.interpreter import Interpreter
from jaxlint.staging.listeners import Listeners
from jaxlint.staging.project import Module, Project
from jaxlint.staging.values.frame import Frame
from jaxlint.syntax import memo
from jaxlint.syntax.facts import expects_error, provokes_errors

_ROUNDS = 3  # of suppositions: what is supposed to run calls, and is handed, more
CONTEXT_STEPS = 75_000  # evaluated nodes of files that are not reported, which call what is


@dataclass(slots=True)
class Analysis:
    """Findings of the reported files, in no order; `dependencies` maps context files to their digests.

    `files` and `functions` count what has been evaluated, while that goes on.
    """

    findings: list[Finding] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)
    dependencies: dict[Path, str] = field(default_factory=dict)
    files: int = 0
    functions: int = 0


# The errors that tests of a name's absence expect.
_ABSENT = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError", "TypeError", "Exception"})


_SURENESS = (Severity.INFO, Severity.WARNING, Severity.ERROR)


class Reporter:
    """What a rule reports through, for the event at hand."""

    def __init__(
        self,
        rule: Rule,
        sink: dict[tuple[str, str, Span], Finding],
        target_jax: str | None,
        dependencies: Mapping[str, str],
        consequences: Consequences,
    ) -> None:
        self.consequences = consequences
        self.interpreter: Interpreter | None = None
        self.rule = rule
        self.sink = sink
        self.target_jax = target_jax
        self.dependencies = dependencies
        self.event: Event | None = None

    def version_of(self, package: str) -> str | None:
        """The versions of `package` that the program is to run on, as a specifier; None for the newest."""
        return self.target_jax if package == "jax" else self.dependencies.get(package)

    @property
    def module(self) -> Module:
        assert self.event is not None
        return self.event.frame.module

    @property
    def project(self) -> Project:
        """The project model, for what is said elsewhere in the program."""
        assert self.interpreter is not None
        return self.interpreter.project

    def differentiated(self, frame: Frame) -> bool:
        """Whether a gradient is taken through the function of `frame`; complete once the program is evaluated."""
        assert self.interpreter is not None
        return self.interpreter.is_differentiated(frame)

    @property
    def path(self) -> str:
        """The file at hand, as the user named it."""
        return self.module.display

    def failed(self, error: Exception) -> None:
        """The rule raised: told once for the file of the event at hand."""
        assert self.interpreter is not None
        frame = self.event.frame if self.event is not None else None
        module = frame.module if frame is not None else next(iter(self.project.targets), None)
        if module is None:
            raise error
        self.interpreter.fail(error, module, frame)

    def span(self, node: ast.AST) -> Span:
        return self.module.span(node)

    def expected_to_fail(self, node: ast.AST) -> bool:
        """Whether the test around `node` expects an error: any, or for a name that went that it is not there."""
        for ancestor in self.module.ancestors(node):
            if self.rule.category == "migration":
                # What the rest of the test needs has to be there, whatever error it provokes.
                if isinstance(ancestor, ast.With) and any(
                    expects_error(item.context_expr)
                    and any(isinstance(part, ast.Name) and part.id in _ABSENT for part in ast.walk(item))
                    for item in ancestor.items
                ):
                    return True
            elif isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)) and provokes_errors(ancestor):
                return True
        return False

    def is_provoked(self, severity: Severity) -> bool:
        """Whether an error is claimed of what a test leads to that expects one, or has other objects in the place of the program's parts."""
        assert self.event is not None
        assert self.interpreter is not None
        return (
            Severity.ERROR in (severity, self.rule.severity)
            and self.rule.category != "migration"
            and (self.interpreter.provoking is not None or self.event.frame.under_mocks())
        )

    def __call__(
        self,
        node: ast.AST,
        message: str,
        *,
        reason: str,
        severity: Severity | None = None,
        fix: FixRequest | None = None,
        data: Mapping[str, object] | None = None,
        function: str | None = None,
        cause: WrongStatic | None = None,
    ) -> None:
        """Reports `message` at `node`; of the reports of a rule at a place the surest is kept, the first of those."""
        assert self.event is not None
        if self.module.is_test and self.expected_to_fail(node):
            return
        severity = severity or self.rule.severity
        if self.is_provoked(severity):
            return
        if severity is Severity.ERROR and self.rule.follows_calls:
            severity = severity_of(self.event)
        span = self.span(node)
        key = (self.path, self.rule.code, span)
        known = self.sink.get(key)
        if known is not None and _SURENESS.index(known.severity) >= _SURENESS.index(severity):
            return
        self.consequences.note(key, self.event, cause)
        self.sink[key] = Finding(
            self.path,
            span,
            self.rule.code,
            self.rule.name,
            self.rule.category,
            severity,
            message,
            reason,
            function=function or self.event.frame.name,
            fix=fix,
            data=data or {},
        )


def analyze(
    files: Sequence[SourceFile],
    rules: Sequence[Rule],
    *,
    context: Sequence[SourceFile] = (),
    target_jax: str | None = None,
    dependencies: Mapping[str, str] | None = None,
    read: Callable[[Path], SourceFile] | None = None,
    only: Collection[Path] | None = None,
    sharing: int = 1,
    meanwhile: Callable[[Analysis], None] | None = None,
) -> Analysis:
    """Analyses `files` as one project and reports what `rules` find in them.

    Other files of the project are read when an import reaches them, or evaluated when they are among `context` and
    import one of `files`, since their calls say how its functions are used. A file that cannot be parsed is an error of the
    result, not an exception. `only`: the files to evaluate, where they are a part
    of the run (`jaxlint.staging.parts`), and `sharing` the number of parts that share the steps for context. `meanwhile` is called now and
    then with what there is so far.
    """
    sink: dict[tuple[str, str, Span], Finding] = {}
    consequences = Consequences()
    reporters = [Reporter(rule, sink, target_jax, dependencies or {}, consequences) for rule in rules]
    interpreter = build(files, Listeners(reporters), read)
    for reporter in reporters:
        reporter.interpreter = interpreter
    interpreter.project.add_context(context)
    result = Analysis()

    def work() -> None:
        run(interpreter, result, only, CONTEXT_STEPS // sharing)
        for reporter in reporters:
            finish = getattr(reporter.rule, "finish", None)
            if finish is not None:
                try:
                    finish(reporter)
                except Exception as error:
                    reporter.failed(error)

    def look() -> None:
        result.functions = len(interpreter.records)
        if meanwhile is not None:
            meanwhile(result)

    with_deep_stack(work, None if meanwhile is None else look)
    consequences.fold(sink)
    result.findings = list(sink.values())
    result.errors.extend(interpreter.errors)
    result.dependencies = dict(interpreter.project.context)
    return result


def build(
    files: Sequence[SourceFile],
    listeners: Listeners,
    read: Callable[[Path], SourceFile] | None = None,
) -> Interpreter:
    """An interpreter over `files`, with nothing evaluated yet."""
    memo.forget()
    return Interpreter(Project(files, read), listeners)


def run(
    interpreter: Interpreter,
    result: Analysis,
    only: Collection[Path] | None = None,
    context_steps: int = CONTEXT_STEPS,
) -> None:
    """Evaluates every reported file, or `only` these; a crash in one is an error of that file alone."""
    project = interpreter.project
    targets = [one for one in project.targets if only is None or one.source.path in only]
    callers = project.importers(only) if project.context else []
    interpreter.entered = {module.source.path for module in targets}
    spare = 0
    for module in [*targets, *callers]:
        if not module.reported:
            spare = spare or interpreter.steps + context_steps
            if interpreter.steps > spare:
                break
            interpreter.entered.add(module.source.path)
        try:
            if not interpreter.project.reaches_jax(module):
                # Parsed all the same, so that what cannot be read is said.
                _ = module.tree
                continue
            with Contained(interpreter, module):
                interpreter.run_target(module)
        except SourceError as error:
            if module.source.path in interpreter.targets:
                interpreter.errors.append(error)
        finally:
            result.files += module.reported


def suppose(interpreter: Interpreter, result: Analysis) -> None:
    """After `run`: evaluates what is likely called in a stage, though no call is seen."""
    for _ in range(_ROUNDS):
        for function, cls, why in list(interpreter.supposed_calls()):
            with Contained(interpreter, function.module):
                interpreter.suppose(function, cls, why)
