"""Internal errors: each loses the evaluation at hand and becomes one line for its file."""

from __future__ import annotations

import ast
from types import TracebackType
from typing import Protocol

from jaxlint.crashes import described
from jaxlint.source import SourceError
from jaxlint.staging.module import Module
from jaxlint.staging.values.frame import Frame


class Failing(Protocol):
    """The receiver of internal errors: the machine."""

    failures: int

    def fail(self, error: Exception, module: Module, frame: Frame | None = None) -> None:
        """Records an error in a file."""


class Contained:
    """An exception inside is recorded once for its file and stops here. On its way it releases what scopes hold."""

    __slots__ = ("count", "frame", "machine", "module")

    def __init__(self, machine: Failing, module: Module, frame: Frame | None = None) -> None:
        self.machine = machine
        self.module = module
        self.frame = frame

    def __enter__(self) -> Contained:
        self.count = self.machine.failures
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception) or isinstance(error, SourceError):
            return False
        self.machine.fail(error, self.module, self.frame)
        return True

    @property
    def failed(self) -> bool:
        """Whether anything raised inside, at any depth, even if a nested block contained it."""
        return self.machine.failures != self.count


def internal_error(module: Module, error: Exception) -> SourceError:
    """An internal error as one line that names the file and asks for a report."""
    return SourceError(module.display, described(error, "please report it with this file"))


def bound_names(statement: ast.stmt) -> set[str]:
    """The names that a module statement may bind."""
    names: set[str] = set()
    for part in ast.walk(statement):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(part.name)
        elif isinstance(part, ast.alias):
            names.add(part.asname or part.name.partition(".")[0])
    return names
