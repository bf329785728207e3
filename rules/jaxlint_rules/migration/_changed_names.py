"""The common part of the rules on removed and deprecated names: from a name in the program to a finding with its fix."""

from __future__ import annotations

import ast
from dataclasses import replace

from jaxlint.api import NameEvent, Reporter
from jaxlint.api.releases import (
    PACKAGES,
    ApiChange,
    Target,
    describe_replacement,
    known_names,
    lookup,
    rename_parameters,
    risk,
)
from jaxlint.api.syntax import cache, dotted, is_never_evaluated, nodes_of
from jaxlint.finding import FixRequest, Safety, Severity, Span, Step


class ImportedNames:
    """The findings about each file's imports, so that one cause is not reported again at every use."""

    def __init__(self) -> None:
        # By file and local name: the imported dotted name, and whether it was reported with a fix, without one, or
        # left alone because the program guards against its absence.
        self._imports: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._reported: set[ast.AST] = set()

    def remember_import(self, path: str, alias: ast.alias, qualified: str, how: str) -> None:
        """`how`: "guarded", "fixed" or "reported"."""
        bound = alias.asname or (alias.name.partition(".")[0] if qualified == alias.name else alias.name)
        self._imports.setdefault((path, bound), []).append((qualified, how))

    def claim(
        self, event: NameEvent, report: Reporter, change: ApiChange, target: Target
    ) -> tuple[bool, FixRequest | None]:
        """Whether to report this place for `change`, and its fix. The answer is recorded either way."""
        node, qualified = event.node, event.qualified
        if event.is_optional():
            if isinstance(node, ast.alias):
                self.remember_import(report.path, node, qualified, "guarded")
            return False, None
        tested = _in_type_tests(event)
        fix = fix_for(change, target, report.path, report.span(node), qualified, tested=tested)
        if fix is not None and _leads_nowhere(event, fix):
            fix = None
        if isinstance(node, ast.alias):
            if fix is None and target.lacks(change):
                fix = drop_unused(event, report)
            elif fix is not None:
                fix = _keep_name(event, fix, report)
            self.remember_import(report.path, node, qualified, "fixed" if fix else "reported")
        elif self.covers(report.path, node, qualified, fixable=fix is not None):
            return False, None
        self._reported.add(node)
        return True, fix

    def covers(self, path: str, node: ast.AST, qualified: str, *, fixable: bool) -> bool:
        """Whether this use is already handled: by a shorter part of it, or by a finding about its import."""
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


def fix_for(
    change: ApiChange, target: Target, path: str, span: Span, old: str, *, tested: bool = False
) -> FixRequest | None:
    """The rewrite of the place `span`, which contains `old`. `change` is about that name or about an enclosing
    module.

    `tested`: the name is in an `isinstance`.
    """
    parameters = rename_parameters(change, target)
    if parameters is None:
        return None
    rest = old[len(change.name) :]
    if rest:
        if set(parameters) - {"old", "new", "module", "alternative"}:
            return None
        new = parameters["new"] + rest
        later = lookup(new)
        if later is not None and target.lacks(later):
            parameters = rename_parameters(later, target)
            if parameters is None:
                return None
            parameters = {**parameters, "old": old}
        elif not _is_there(new):
            return None
        else:
            parameters = {**parameters, "old": old, "new": new, "alternative": None}
    danger = risk(change)
    if tested and parameters.pop("type_tests", True) is False:
        danger = "it is also the type of tracers"
    safety = Safety.UNSAFE if danger else Safety.SAFE
    message = f"Replace `{old}` with `{parameters['new']}`" if parameters["new"] else f"Replace `{old}`"
    if danger:
        message += f"; {danger}"
    return FixRequest(safety, message, (Step("rename-api", path, span, parameters),))


def drop_unused(event: NameEvent, report: Reporter) -> FixRequest | None:
    """The imported name has no replacement; if nothing in the file uses it, its import can be removed."""
    alias, tree = event.node, event.frame.module.tree
    assert isinstance(alias, ast.alias)
    if alias.name == "*" or event.frame.module.source.path.name == "__init__.py":
        return None
    statement = event.frame.module.parents.get(alias)
    bound = alias.asname or alias.name
    dotted = isinstance(statement, ast.Import) and not alias.asname
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value == bound:
            return None
        if dotted and isinstance(node, ast.Attribute) and ast.unparse(node) == bound:
            return None
        if not dotted and isinstance(node, ast.Name) and node.id == bound:
            return None
    step = Step(
        "rename-api", report.path, report.span(alias), {"old": event.qualified, "new": "", "unused": True}
    )
    return FixRequest(Safety.SAFE, f"Remove the unused import of `{event.qualified}`", (step,))


def _keep_name(event: NameEvent, fix: FixRequest, report: Reporter) -> FixRequest:
    """The same fix; if other project files import the name from this one, the name stays importable."""
    alias, module = event.node, event.frame.module
    assert isinstance(alias, ast.alias)
    bound, own = alias.asname or alias.name, module.name.rpartition(".")[2]
    for other in report.project.files_with(bound, own):
        if other is module:
            continue
        for node in nodes_of(other.tree, ast.ImportFrom):
            if (node.module or "").rpartition(".")[2] != own:
                continue
            if any(one.name in (bound, "*") for one in node.names):
                (step,) = fix.steps
                return replace(fix, steps=(replace(step, parameters={**step.parameters, "shared": True}),))
    return fix


def _leads_nowhere(event: NameEvent, fix: FixRequest) -> bool:
    """Whether the new name is a module that lacks what the program reads from it."""
    above = event.frame.module.parents.get(event.node)
    new = fix.steps[0].parameters.get("new")
    return (
        isinstance(above, ast.Attribute)
        and isinstance(new, str)
        and new in known_names
        and not _is_there(f"{new}.{above.attr}")
    )


def _is_there(qualified: str) -> bool:
    """Whether the newest JAX has the name, as far as its modules are known."""
    place = known_names.split(qualified)
    if (
        place is None
        or not known_names(place[0]).there
        or place[1].startswith("_")
        or known_names(place[0]).is_open_now
    ):
        return True
    return known_names.what_became_of(qualified) == "there"


def advice(change: ApiChange, fix: FixRequest | None) -> str:
    """What to do, as the end of a message."""
    if fix is not None:
        parameters = fix.steps[0].parameters
        if parameters.get("unused"):
            return "remove the unused import"
        new = parameters.get("new")
        if isinstance(new, str) and new and not {"expression", "template"} & set(parameters):
            return f"use `{new}`"
    return describe_replacement(change)


def target_text(specifier: str | None, package: str = "jax") -> str:
    """The target, as the end of a reason."""
    name, newest = PACKAGES[package]
    if specifier is None:
        return f"checked against {name} {newest}, the newest release known"
    return f"checked against {name} {specifier}"


class SpelledNames:
    """Separates places where a file spells out a JAX name from places where a variable happens to hold the object."""

    def __init__(self) -> None:
        self._bound: dict[ast.AST, dict[str, set[str]]] = {}  # by module: the meanings of its imports

    def is_written(self, event: NameEvent) -> bool:
        """Whether the event's node is an import, or a name that means `event.qualified` through the file's imports."""
        node = event.node
        if isinstance(node, ast.alias):
            statement = event.frame.module.parents.get(node)
            if not isinstance(statement, ast.ImportFrom):
                return True
            # A name that another project file imported from JAX must be changed there.
            package = (statement.module or "").partition(".")[0]
            return not statement.level and package == event.qualified.partition(".")[0]
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return False
        tree = event.frame.module.tree
        if tree not in self._bound:
            self._bound[tree] = _imported_names(tree)
        meanings = self._bound[tree].get(node.id, set())
        rest = "".join(f".{attribute}" for attribute in reversed(attributes))
        return any(meaning + rest == event.qualified for meaning in meanings)

    def meaning(self, node: ast.expr, tree: ast.AST) -> str:
        """The dotted name in an expression such as an annotation; "" if there is none or several."""
        text = (
            node.value
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            else ast.unparse(node)
        )
        root, dot, rest = text.partition(".")
        if tree not in self._bound:
            self._bound[tree] = _imported_names(tree)
        meanings = self._bound[tree].get(root, set())
        return next(iter(meanings)) + dot + rest if len(meanings) == 1 else ""

    def uses(self, tree: ast.AST, qualified: str) -> list[ast.expr]:
        """The places of a file that spell out the dotted name, by its imports."""
        if tree not in self._bound:
            self._bound[tree] = _imported_names(tree)
        bound = self._bound[tree]
        spellings = {
            name + qualified[len(meaning) :]
            for name, meanings in bound.items()
            for meaning in meanings
            if f"{qualified}.".startswith(f"{meaning}.")
        }
        return [node for node in _reads_of_names(tree) if dotted(node) in spellings]


@cache
def _reads_of_names(tree: ast.AST) -> tuple[ast.Name | ast.Attribute, ...]:
    """The names and attributes that a file reads, in the order of their lines."""
    named: list[ast.Name | ast.Attribute] = [*nodes_of(tree, ast.Name), *nodes_of(tree, ast.Attribute)]
    read = [node for node in named if isinstance(node.ctx, ast.Load)]
    return tuple(sorted(read, key=lambda node: (node.lineno, node.col_offset)))


def _imported_names(tree: ast.AST) -> dict[str, set[str]]:
    """The meanings of names by all absolute imports of a file."""
    found: dict[str, set[str]] = {}
    for plain in nodes_of(tree, ast.Import):
        for alias in plain.names:
            top = alias.name.partition(".")[0]
            found.setdefault(alias.asname or top, set()).add(alias.name if alias.asname else top)
    for node in nodes_of(tree, ast.ImportFrom):
        if node.module and not node.level:
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, set()).add(f"{node.module}.{alias.name}")
    return found


_TYPE_TESTS = {"isinstance", "issubclass", "assertIsInstance", "assertNotIsInstance"}


def _in_type_tests(event: NameEvent) -> bool:
    """Whether the name, or its import, is used in an `isinstance`."""
    node, module = event.node, event.frame.module
    if isinstance(node, ast.alias):
        bound = node.asname or node.name
        return any(
            isinstance(part, ast.Name) and part.id == bound
            for call in nodes_of(module.tree, ast.Call)
            if _called(call) in _TYPE_TESTS
            for argument in call.args[1:]
            for part in ast.walk(argument)
        )
    for around in module.ancestors(node):
        if isinstance(around, ast.Call):
            return _called(around) in _TYPE_TESTS
        if not isinstance(around, (ast.Tuple, ast.BinOp)):
            return False
    return False


def _called(call: ast.Call) -> str:
    return getattr(call.func, "attr", None) or getattr(call.func, "id", None) or ""


def severity_of_name(event: NameEvent) -> Severity | None:
    """A warning for a name in an annotation that Python does not evaluate: only a reader of type hints fails there."""
    module = event.frame.module
    never = not event.is_import and is_never_evaluated(event.node, module.tree, module.parents.get)
    return Severity.WARNING if never else None
