"""Runs the rules over a project: the entry point of the staging analysis."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.finding import Finding, Span
from jaxlint.rule import Rule
from jaxlint.source import SourceError, SourceFile
from jaxlint.staging.consequences import Consequences
from jaxlint.staging.evaluator.deep_stack import with_deep_stack
from jaxlint.staging.evaluator.failures import Contained
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.interpreter import Interpreter
from jaxlint.staging.listeners import Listeners
from jaxlint.staging.project import Project
from jaxlint.staging.reach.assumed_calls import AssumedCalls
from jaxlint.staging.reach.likely_calls import LikelyCalls
from jaxlint.staging.repeats import Repeats
from jaxlint.staging.reporter import Reporter
from jaxlint.staging.warm import OutOfTime, WarmRun
from jaxlint.syntax import memo

_ROUNDS = 3  # suppositions about entry points execute more calls and pass more arguments
CONTEXT_STEPS = 75_000  # evaluated nodes of context files, which call the reported ones


@dataclass(slots=True)
class Analysis:
    """Findings of the reported files, unordered. `dependencies` maps context files to their digests.

    `patterns`: what rules searched for in the text of all files; `read_whole`: the files that they read for it.
    `files` and `functions` count progress.
    """

    findings: list[Finding] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)
    dependencies: dict[Path, str] = field(default_factory=dict)
    patterns: set[re.Pattern[str]] = field(default_factory=set)
    read_whole: set[Path] = field(default_factory=set)
    files: int = 0
    functions: int = 0


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
    warm: WarmRun | None = None,
) -> Analysis:
    """Analyses `files` as one project and reports what `rules` find in them.

    Other files of the project are read when an import reaches them. Context files that import one of `files`
    are evaluated too, since their calls show how its functions are used. A file that cannot be parsed is an
    error in the result, not an exception. `only`: the files to evaluate if they are one part of the run
    (`jaxlint.staging.import_components`); `sharing`: how many parts share the steps for context files.
    `meanwhile` is called regularly with the partial result. `warm`: stops halfway and continues with another
    text of the one file.
    """
    sink: dict[tuple[str, str, Span], Finding] = {}
    consequences = Consequences()
    repeats = Repeats()
    reporters = [
        Reporter(rule, sink, target_jax, dependencies or {}, consequences, repeats) for rule in rules
    ]
    interpreter = build(files, Listeners(reporters, None if warm is None else warm.held), read)
    interpreter.warm = warm
    for reporter in reporters:
        reporter.program = interpreter
    interpreter.project.add_context(context)
    result = Analysis()

    def work() -> None:
        try:
            run(interpreter, result, only, CONTEXT_STEPS // sharing)
        except OutOfTime:
            return  # what rules say at the end rests on the whole file
        if warm is not None:
            warm.deliver()
        for reporter in reporters:
            finish = getattr(reporter.rule, "finish", None)
            if finish is not None:
                try:
                    finish(reporter)
                except Exception as error:
                    reporter.failed(error)

    def look() -> None:
        result.functions = len(interpreter.part(FunctionCalls).records)
        if meanwhile is not None:
            meanwhile(result)

    with_deep_stack(work, None if meanwhile is None else look)
    consequences.fold(sink)
    repeats.fold(sink)
    result.findings = list(sink.values())
    result.errors.extend(interpreter.errors)
    result.dependencies = dict(interpreter.project.context)
    result.patterns = interpreter.project.patterns
    result.read_whole = interpreter.project.read_whole
    return result


def build(
    files: Sequence[SourceFile],
    listeners: Listeners,
    read: Callable[[Path], SourceFile] | None = None,
) -> Interpreter:
    """An interpreter over `files` that has evaluated nothing yet."""
    memo.forget()
    return Interpreter(Project(files, read), listeners)


def run(
    interpreter: Interpreter,
    result: Analysis,
    only: Collection[Path] | None = None,
    context_steps: int = CONTEXT_STEPS,
) -> None:
    """Evaluates every reported file, or `only` these. A crash in one is an error of that file alone."""
    project = interpreter.project
    targets = [one for one in project.targets if only is None or one.source.path in only]
    callers = project.importers(only) if project.context else []
    # Functions that JAX cannot reach are evaluated at their calls.
    interpreter.entered = {module.source.path for module in targets if project.reaches_jax(module)}
    spare = 0
    for module in [*targets, *callers]:
        if not module.reported:
            if not spare and interpreter.warm is not None and not interpreter.warm.evaluates_importers():
                break
            spare = spare or interpreter.steps + context_steps
            if interpreter.steps > spare:
                break
            interpreter.entered.add(module.source.path)
        try:
            if not interpreter.project.reaches_jax(module):
                # Parsed anyway, so that syntax errors are reported.
                _ = module.tree
                continue
            with Contained(interpreter, module):
                interpreter.run_target(module)
        except SourceError as error:
            if module.source.path in interpreter.targets:
                interpreter.errors.append(error)
        finally:
            result.files += module.reported
    interpreter.part(LikelyCalls).run_likely_calls()


def assume_calls(interpreter: Interpreter, result: Analysis) -> None:
    """Runs after `run`: evaluates functions that a transformation likely calls, although no call is visible."""
    for _ in range(_ROUNDS):
        for function, cls, why in list(interpreter.part(AssumedCalls).supposed_calls()):
            with Contained(interpreter, function.module):
                interpreter.part(AssumedCalls).assume_calls(function, cls, why)
