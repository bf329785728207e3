"""The fixes that rules propose: codemod, place, and whether the program keeps its meaning."""

from __future__ import annotations

import ast
import re

from jaxlint.api import Frame, Module, Reporter
from jaxlint.api.syntax import may_expect_tracer_errors, span_of
from jaxlint.finding import FixRequest, Safety, Step

# The exceptions that JAX raises for tracers alone.
_ERRORS_OF_TRACERS = re.compile(r"\b(?:Tracer\w*Error|Concretization\w*Error|JAXTypeError|JAXIndexError)\b")


def propose(
    report: Reporter, node: ast.AST, codemod: str, message: str, *, safe: bool, **parameters: object
) -> FixRequest:
    """One step of `codemod` at `node`."""
    step = Step(codemod, report.path, report.span(node), parameters)
    return FixRequest(Safety.SAFE if safe else Safety.UNSAFE, message, (step,))


def declare_static(node: ast.AST | None, module: Module | None, name: str) -> FixRequest | None:
    """Makes the parameter `name` static at the jit of its function: at `node` of `module`, if that file may be
    changed."""
    return _redeclare(node, module, name, "add-static-argument", f"Make `{name}` static")


def declare_traced(node: ast.AST | None, module: Module | None, name: str) -> FixRequest | None:
    """Removes the parameter `name` from the static parameters at the jit of its function."""
    return _redeclare(node, module, name, "trace-static-argument", f"Make `{name}` traced")


def declare_fields_traced(node: ast.AST | None, module: Module | None, name: str) -> FixRequest | None:
    """Makes the numbers of an object arguments of the jitted function, in place of the object as a static one."""
    return _redeclare(node, module, name, "trace-static-fields", f"Pass the numbers of `{name}` as arrays")


def pass_as_array(node: ast.AST | None, module: Module | None, name: str) -> FixRequest | None:
    """Makes an array of the number that a call passes for the parameter `name` of a function under `eqx.filter_jit`."""
    return _redeclare(node, module, name, "array-argument", f"Pass `{name}` as an array")


def _redeclare(
    node: ast.AST | None, module: Module | None, name: str, codemod: str, message: str
) -> FixRequest | None:
    if node is None or module is None or not module.reported or not hasattr(node, "lineno"):
        return None
    span = span_of(node, module.lines)  # type: ignore[arg-type]
    return FixRequest(Safety.UNSAFE, message, (Step(codemod, module.display, span, {"name": name}),))


def only_staged(frame: Frame, report: Reporter) -> bool:
    """Whether the function of `frame` never runs on concrete values: it is decorated, or defined in one that is.

    Code that fails on a tracer then fails on every run, and no caller relies on it, unless the file may run functions
    in order to see them fail, or the project names an error of tracers.
    """
    if may_expect_tracer_errors(frame.module.tree):
        return False
    if report.project.mentions(_ERRORS_OF_TRACERS, frame.module):
        return False
    current: Frame | None = frame
    while current is not None and current.function is not None:
        caller = current.caller
        node = current.function.node
        entered = caller is not None and (caller.home is not current.home or caller.is_without_call())
        if entered and getattr(node, "decorator_list", None):
            return True
        # A function defined in a traced one, and called by it or by a transformation there.
        while caller is not None and (caller.function is None or not _is_around(caller.function.node, node)):
            caller = caller.caller
        current = caller
    return False


def _is_around(outer: ast.AST, inner: ast.AST) -> bool:
    return outer is not inner and any(part is inner for part in ast.walk(outer))
