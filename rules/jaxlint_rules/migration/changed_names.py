"""What the rules on removed and on deprecated names share: from a name in the program to a report with its fix."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.jaxapi.history import NEWEST, ApiChange, Target, describe_replacement
from jaxlint.jaxapi.rewrites import is_unsafe, rename_parameters

if TYPE_CHECKING:
    from jaxlint.staging.events import NameEvent


class ImportedNames:
    """What was said of each file's imports, so that one cause is not reported again at every use."""

    def __init__(self) -> None:
        # By file and local name: the dotted name imported, and whether it was reported with a fix, without, or left
        # alone because the program guards against its absence.
        self._imports: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._reported: set[ast.AST] = set()

    def remember_import(self, path: str, alias: ast.alias, qualified: str, how: str) -> None:
        """`how`: "guarded", "fixed" or "reported"."""
        bound = alias.asname or (alias.name.partition(".")[0] if qualified == alias.name else alias.name)
        self._imports.setdefault((path, bound), []).append((qualified, how))

    def remember_use(self, node: ast.AST) -> None:
        self._reported.add(node)

    def covers(self, path: str, node: ast.AST, qualified: str, *, fixable: bool) -> bool:
        """Whether this use has been dealt with: by a shorter part of it, or by a report on its import."""
        if node in self._reported:
            return True
        if isinstance(node, ast.Attribute) and node.value in self._reported:
            self._reported.add(node)
            return True
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        for imported, how in self._imports.get((path, root.id), ()):
            if f"{qualified}.".startswith(f"{imported}.") and (how != "reported" or not fixable):
                return True
        return False


def fix_for(change: ApiChange, target: Target, path: str, span: Any, old: str) -> FixRequest | None:
    """The rewrite of the place `span`, which writes `old`: `change` is about that name or about a module above it."""
    parameters = rename_parameters(change, target)
    if parameters is None:
        return None
    rest = old[len(change.name) :]
    if rest:
        if set(parameters) - {"old", "new", "module", "alternative"}:
            return None
        parameters = {**parameters, "old": old, "new": parameters["new"] + rest, "alternative": None}
    safety = Safety.UNSAFE if is_unsafe(change) else Safety.SAFE
    message = f"Replace {old} by {parameters['new']}" if parameters["new"] else f"Replace {old}"
    return FixRequest(safety, message, (Step("rename-api", path, span, parameters),))


def advice(change: ApiChange, fix: FixRequest | None) -> str:
    """What to do, as the end of a message."""
    if fix is not None:
        new = fix.steps[0].parameters.get("new")
        if isinstance(new, str) and new and "expression" not in fix.steps[0].parameters:
            return f"use {new}"
    return describe_replacement(change)


def target_text(specifier: str | None) -> str:
    """The target, as the end of a reason."""
    if specifier is None:
        return f"the code is checked against jax {NEWEST}, the newest release known here"
    return f"the code is to run on jax {specifier}"


def is_written_name(event: NameEvent) -> bool:
    """Whether the event's node is a place that can be reported: a name that is read, or an import."""
    return isinstance(event.node, (ast.Name, ast.Attribute, ast.alias))
