"""Names that a rewrite needs, as the file spells them: existing imports are reused, missing ones are added."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from jaxlint.codemods.source.name_scopes import Binding, Names, Scope
from jaxlint.codemods.source.site import Refused, Site

ImportStatement = ast.Import | ast.ImportFrom

# How a module is imported where a file does not import it yet.
_CUSTOMARY = {"jax.numpy": "jnp", "numpy": "np"}


@dataclass(frozen=True, slots=True)
class NewImport:
    """`import module [as alias]`, or with `name` `from module import name [as alias]`."""

    module: str
    name: str | None = None
    alias: str | None = None

    @property
    def bound(self) -> str:
        """The name that the import binds."""
        return self.alias or self.name or self.module.partition(".")[0]

    @property
    def means(self) -> str:
        """The dotted name that it then refers to."""
        if self.name:
            return f"{self.module}.{self.name}"
        return self.module if self.alias else self.bound

    @property
    def part(self) -> str:
        """The text after `import`."""
        spelled = self.name or self.module
        return f"{spelled} as {self.alias}" if self.alias and self.alias != spelled else spelled

    @property
    def statement(self) -> str:
        return f"from {self.module} import {self.part}" if self.name else f"import {self.part}"


@dataclass(slots=True)
class ImportChanges:
    """The import changes of the steps on one file.

    `added` goes to the top of the module. `moved` maps the alias of an existing import to its replacement at the same
    place, None for nothing.
    """

    added: dict[NewImport, None] = field(default_factory=dict)
    moved: dict[ast.alias, NewImport | None] = field(default_factory=dict)

    def all_new(self) -> Iterator[NewImport]:
        yield from self.added
        yield from (new for new in self.moved.values() if new)

    def unbound(self) -> set[str]:
        """Names that are unbound once the aliases have moved."""
        old = {alias.asname or alias.name.partition(".")[0] for alias in self.moved}
        return old - {new.bound for new in self.all_new()}

    def update(self, other: ImportChanges) -> None:
        self.added.update(other.added)
        self.moved.update(other.moved)


def reference(
    site: Site, changes: ImportChanges, target: str, at: ast.AST, *, module: str | None = None
) -> str:
    """The source text for the dotted name `target` at the node `at`.

    `module` names a submodule that must be imported explicitly for `target` to exist. Missing imports are added to
    `changes`. Raises Refused if a name is shadowed at that place or already taken.
    """
    names = site.names
    scope = names.scope_at(at)
    found = _best_binding(names, scope, target, at)
    if found is None:
        return _through_new_import(site, changes, target, at, module)
    bound, means = found
    if module and not f"{means}.".startswith(f"{module}.") and not _imports_module(names, module):
        changes.added[_checked(names, scope, NewImport(module))] = None
    return bound + target[len(means) :]


def _best_binding(names: Names, scope: Scope, target: str, at: ast.AST) -> tuple[str, str] | None:
    """The visible import that covers most of `target`: its name and its meaning."""
    root = at.id if isinstance(at, ast.Name) else None
    best: tuple[str, str] | None = None
    visible: Scope | None = scope
    while visible is not None:
        for name in names.imports_in(visible):
            bindings = visible.bindings[name]
            means = names.meaning_of(name, scope)
            if (
                means is None
                or scope.resolve(name) is not visible
                or not f"{target}.".startswith(f"{means}.")
            ):
                continue
            # A function runs after the whole module: it also sees imports below it.
            late = visible is names.module and not _runs_with_the_module(scope)
            if name != root and not all(
                is_unconditional(names, b) and (late or _is_before(b, at)) for b in bindings
            ):
                continue
            if best is None or len(means) > len(best[1]):
                best = name, means
        visible = visible.parent
    return best


def _through_new_import(
    site: Site, changes: ImportChanges, target: str, at: ast.AST, module: str | None
) -> str:
    parent = target.rpartition(".")[0]
    customary = next((m for m in _CUSTOMARY if parent == m or parent.startswith(f"{m}.")), None)
    if customary:
        new = NewImport(customary, alias=_CUSTOMARY[customary])
    else:
        new = NewImport(module or target.partition(".")[0])
    _checked(site.names, site.names.scope_at(at), new)
    changes.added[new] = None
    return new.bound + target[len(new.means) :]


def _checked(names: Names, scope: Scope, new: NewImport) -> NewImport:
    """`new`, if its name is free in the module and not shadowed in `scope`. Raises Refused."""
    home = scope.resolve(new.bound)
    if home is not None and home is not names.module:
        if names.meaning_of(new.bound, scope) != new.means:
            raise Refused(f"a local name `{new.bound}` hides the import that the rewrite needs")
    elif home is not None and {b.qualified for b in home.bindings[new.bound]} != {new.means}:
        raise Refused(f"the module already uses the name `{new.bound}` for something else")
    return new


def _imports_module(names: Names, module: str) -> bool:
    """Whether the file imports the submodule `module` in a place that every function can rely on."""
    for bindings in names.module.bindings.values():
        for binding in bindings:
            alias = binding.alias
            if alias is None or not is_unconditional(names, binding):
                continue
            if isinstance(binding.statement, ast.Import):
                imported = alias.name
            else:
                imported = binding.qualified or ""
                if binding.statement is not None and binding.statement.module == module:
                    return True
            if imported == module or imported.startswith(f"{module}."):
                return True
    return False


def is_unconditional(names: Names, binding: Binding) -> bool:
    """Whether the import is directly in its module or function, not under an `if` or `try`."""
    if binding.statement is None:
        return False
    return isinstance(
        names.parents.get(binding.statement), (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)
    )


def _runs_with_the_module(scope: Scope) -> bool:
    current: Scope | None = scope
    while current is not None:
        if isinstance(current.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        current = current.parent
    return True


def _is_before(binding: Binding, at: ast.AST) -> bool:
    assert binding.statement is not None
    return binding.statement.lineno <= getattr(at, "lineno", 0)


def import_statements(names: Names) -> Iterator[ImportStatement]:
    """The imports directly in the module's body."""
    for statement in names.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement
