"""The object through which a rule reports."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Protocol

from jaxlint.finding import Finding, FixRequest, Severity, Span
from jaxlint.rule import Rule
from jaxlint.staging.consequences import Consequences, WrongStatic
from jaxlint.staging.events import Event
from jaxlint.staging.evidence import (
    is_archived,
    is_beside_main_work,
    is_lesson,
    only_after_failure,
    only_measures,
    only_tries_out,
    sees_whole_program,
    severity_of,
)
from jaxlint.staging.module import Module
from jaxlint.staging.project import Project
from jaxlint.staging.repeats import Repeats
from jaxlint.staging.values import Scope, Transformed, Value
from jaxlint.staging.values.frame import Frame
from jaxlint.syntax.facts import expects_error, provokes_errors

# The errors that a test expects when a name has been removed.
_ABSENT = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError", "TypeError", "Exception"})


_SURENESS = (Severity.INFO, Severity.WARNING, Severity.ERROR)


class Program(Protocol):
    """The questions that a rule may ask about the whole program: the interpreter."""

    project: Project
    provoking: Module | None
    unjitted: int

    def fail(self, error: Exception, module: Module, frame: Frame | None = None) -> None:
        """Records an internal error in a file."""

    def is_differentiated(self, frame: Frame) -> bool:
        """Whether the program visibly differentiates the function of `frame`."""

    def signature(self, target: Value) -> list[str]:
        """The names of the parameters that a caller of `target` passes by position."""

    def static_parameters(self, t: Transformed, names: list[str]) -> tuple[set[str], bool]:
        """The parameters that are static, and whether that is certain."""


class Reporter:
    """The object through which a rule reports, for the current event."""

    program: Program  # set before the first event

    def __init__(
        self,
        rule: Rule,
        sink: dict[tuple[str, str, Span], Finding],
        target_jax: str | None,
        dependencies: Mapping[str, str],
        consequences: Consequences,
        repeats: Repeats,
    ) -> None:
        self.consequences = consequences
        self.repeats = repeats
        self.rule = rule
        self.sink = sink
        self.target_jax = target_jax
        self.dependencies = dependencies
        self.event: Event | None = None
        self.is_deaf = False  # its rule is told of nothing for now

    def version_of(self, package: str) -> str | None:
        """The versions of `package` that the program must support, as a specifier; None for the newest."""
        return self.target_jax if package == "jax" else self.dependencies.get(package)

    @property
    def module(self) -> Module:
        assert self.event is not None
        return self.event.frame.module

    @property
    def globals(self) -> Scope:
        """The variables of the current module."""
        assert self.event is not None
        return self.event.frame.scope.module_scope()

    @property
    def project(self) -> Project:
        """The project model, for facts from elsewhere in the program."""
        return self.program.project

    def differentiated(self, frame: Frame) -> bool:
        """Whether a gradient is taken through the function of `frame`; complete once the program is evaluated."""
        return self.program.is_differentiated(frame)

    def signature(self, target: Value) -> list[str]:
        """The names of the parameters that a caller of `target` passes by position."""
        return self.program.signature(target)

    def static_parameters(self, transformed: Transformed) -> tuple[set[str], bool]:
        """The static parameters of a jitted function, and whether all of them are known."""
        return self.program.static_parameters(transformed, self.signature(transformed.target))

    @property
    def compiles(self) -> bool:
        """Whether `jax.jit` compiles here: not inside `with jax.disable_jit():`."""
        return not self.program.unjitted

    @property
    def path(self) -> str:
        """The current file, as the user named it."""
        return self.module.display

    def failed(self, error: Exception) -> None:
        """Records that the rule raised: once for the file of the current event."""
        frame = self.event.frame if self.event is not None else None
        module = frame.module if frame is not None else next(iter(self.project.targets), None)
        if module is None:
            raise error
        self.program.fail(error, module, frame)

    def span(self, node: ast.AST) -> Span:
        return self.module.span(node)

    def expected_to_fail(self, node: ast.AST) -> bool:
        """Whether the test around `node` expects an error: any error, or for a removed name that the name is missing."""
        for ancestor in self.module.ancestors(node):
            if self.rule.category == "migration":
                # The rest of the test needs its names, whatever error it provokes.
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
        """Whether the test expects an error of that severity, or replaces parts of the program by other objects."""
        assert self.event is not None
        return (
            Severity.ERROR in (severity, self.rule.severity)
            and self.rule.category != "migration"
            and (self.program.provoking is not None or self.event.frame.under_mocks())
        )

    def _is_beside(self, node: ast.AST) -> bool:
        """Whether the finding does not matter in practice. In an archive or a lesson nothing matters, nor does what runs once something has failed. Beside the work of
        the program, or in code that only tries something out, costs do not matter, and repeated random
        numbers mislead nobody.
        """
        assert self.event is not None
        frame = self.event.frame
        if self.rule.category == "migration":
            return False
        if is_archived(frame.module) or is_lesson(frame.module):
            return True
        if only_after_failure(node, frame) or (self.rule.only_costs and is_beside_main_work(frame)):
            return True
        if self.rule.category == "random" and only_measures(frame):
            return True
        return (self.rule.only_costs or self.rule.category == "random") and only_tries_out(node, frame)

    def _is_assumed(self, shown: bool | None) -> bool:
        """Whether only the text of a file says that a finding matters, while what its program does around is not seen."""
        assert self.event is not None
        shown = not self.rule.needs_whole_program if shown is None else shown
        return not shown and not sees_whole_program(self.event.frame, self.project)

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
        loop: ast.AST | None = None,
        shown: bool | None = None,
        slip: object = None,
    ) -> None:
        """Reports `message` at `node`, about `loop` if not the one around it. `shown`: whether the program shows that it matters,
        without which a warning is advice in a file of a project; by default as the rule says. `slip`: what the places share that are one slip, by default their function. Of several reports of a rule at one place the surest is kept, and the first
        among equals."""
        assert self.event is not None
        if self.module.is_test and self.expected_to_fail(node):
            return
        severity = severity or self.rule.severity
        if self.is_provoked(severity):
            return
        if severity is Severity.ERROR and self.rule.follows_calls:
            severity = severity_of(self.event)
        if severity is Severity.WARNING and (self._is_beside(node) or self._is_assumed(shown)):
            severity = Severity.INFO
        span = self.span(node)
        key = (self.path, self.rule.code, span)
        known = self.sink.get(key)
        if known is not None and _SURENESS.index(known.severity) >= _SURENESS.index(severity):
            return
        self.consequences.note(key, self.event, cause)
        self.repeats.note(key, self.rule, self.event.frame, message, loop, slip)
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
