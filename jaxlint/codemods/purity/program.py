"""The files of a program together: definitions across files, and all stores.

The answers come from the source alone and cover all paths, including those that no run took.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.source.name_scopes import Binding, Names, Scope, parameters_of
from jaxlint.codemods.source.reaching import reaching as reaching_definitions
from jaxlint.source.file import SourceError, SourceFile
from jaxlint.staging.module import Module
from jaxlint.staging.project import Project
from jaxlint.syntax.function_bodies import NESTED

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_MOST_FILES = 400
NodeT = TypeVar("NodeT", bound=ast.AST)


def _place_of(node: ast.AST) -> tuple[object, ...]:
    return (
        type(node),
        *(getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")),
    )


@dataclass(eq=False, slots=True)
class File:
    """One module of the program."""

    module: Module
    tree: ast.Module
    names: Names
    _by_place: dict[tuple[object, ...], ast.AST] = field(default_factory=dict)

    @property
    def display(self) -> str:
        return self.module.display

    def same(self, node: NodeT) -> NodeT:
        """The node of this file's tree at the place of `node`, which comes from another tree of the same text. Raises
        KeyError."""
        if not self._by_place:
            for one in ast.walk(self.tree):
                self._by_place.setdefault(_place_of(one), one)
        return self._by_place[_place_of(node)]  # type: ignore[return-value]


@functools.lru_cache(maxsize=64)
def _names_of(source: SourceFile) -> tuple[ast.Module, Names] | None:
    from jaxlint.syntax.parse import parse_source

    try:
        tree = parse_source(source)
        return tree, Names(tree)
    except (SourceError, RecursionError):
        return None


class Program:
    """The files that a codemod received, and their imports. Parsed on first use.

    `roots`: the only files to examine, with their imports, if callers and other writers are not needed.
    """

    def __init__(self, sources: Mapping[str, SourceFile], roots: Iterable[str] | None = None) -> None:
        self._sources = dict(sources)
        self._roots = list(sources if roots is None else roots)
        self._files: dict[Path, File | None] = {}
        self.memo: dict[object, Any] = {}  # caches of other modules
        self.written: Program = self  # as the user wrote it, without the text of an edit

    def with_text(self, path: str, text: str) -> Program:
        """The same program with another text for the file at `path`."""
        changed = replace(self._sources[path], text=text)
        edited = Program({**self._sources, path: changed}, self._roots)
        edited.written = self.written
        return edited

    @functools.cached_property
    def project(self) -> Project:
        """Resolves imports to files."""
        return Project(self._sources.values())

    def file(self, path: str) -> File:
        """The file at `path`. Raises KeyError if it does not parse."""
        found = self._file(self.project.by_path[self._sources[path].path])
        if found is None:
            raise KeyError(path)
        return found

    def _file(self, module: Module) -> File | None:
        path = module.source.path
        if path not in self._files:
            parsed = _names_of(module.source)
            self._files[path] = File(module, *parsed) if parsed is not None else None
        return self._files[path]

    @functools.cached_property
    def files(self) -> list[File]:
        """All files of the program: those given, and the project files that they import anywhere."""
        waiting = [self.project.by_path[self._sources[path].path] for path in self._roots]
        found: dict[Path, File] = {}
        while waiting and len(found) < _MOST_FILES:
            module = waiting.pop()
            if module.source.path in found:
                continue
            file = self._file(module)
            if file is not None:
                found[module.source.path] = file
                waiting += self._imports(file)
        return list(found.values())

    def _imports(self, file: File) -> Iterator[Module]:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if (module := self.project.find(alias.name, file.module)) is not None:
                        yield module
            elif isinstance(node, ast.ImportFrom):
                for name in ("", *(alias.name for alias in node.names)):
                    if (module := self._from(node, name, file)) is not None:
                        yield module

    def _from(self, node: ast.ImportFrom, name: str, file: File) -> Module | None:
        """The module behind a name in `from ... import name`: "" for the module that it is imported from."""
        dotted = ".".join(part for part in (node.module, name) if part)
        if node.level:
            return self.project.find_relative(node.level, dotted, file.module)
        return self.project.find(dotted, file.module) if dotted else None

    # Names

    def imported(self, binding: Binding, file: File) -> File | tuple[File, str] | None:
        """The target of an import of the project: a file, or a name in one; None for an external import."""
        statement, alias = binding.statement, binding.alias
        if isinstance(statement, ast.ImportFrom) and alias is not None:
            module = self._from(statement, alias.name, file)
            if module is not None and (whole := self._file(module)) is not None:
                return whole
            module = self._from(statement, "", file)
            if module is not None and (whole := self._file(module)) is not None:
                return whole, alias.name
            return None
        if isinstance(statement, ast.Import) and alias is not None:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            module = self.project.find(name, file.module)
            return self._file(module) if module is not None else None
        return None

    def is_external(self, name: str, file: File) -> bool:
        """Whether a dotted name is not a module or folder of the project."""
        return self.project.find(name.partition(".")[0], file.module) is None

    # Stores

    @functools.cached_property
    def stores(self) -> Mapping[str, list[tuple[File, ast.Attribute]]]:
        """Attributes that are set, deleted or augmented anywhere, by name."""
        found: dict[str, list[tuple[File, ast.Attribute]]] = {}
        for file in self.files:
            for node in ast.walk(file.tree):
                if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                    found.setdefault(node.attr, []).append((file, node))
        return found

    @functools.cached_property
    def loads(self) -> Mapping[str, list[tuple[File, ast.Attribute]]]:
        """Attributes that are read anywhere, by name."""
        found: dict[str, list[tuple[File, ast.Attribute]]] = {}
        for file in self.files:
            for node in ast.walk(file.tree):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    found.setdefault(node.attr, []).append((file, node))
        return found

    @functools.cached_property
    def classes(self) -> Mapping[str, list[tuple[File, ast.ClassDef]]]:
        """The classes of the program by name."""
        found: dict[str, list[tuple[File, ast.ClassDef]]] = {}
        for file in self.files:
            for node in ast.walk(file.tree):
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, []).append((file, node))
        return found

    @functools.cached_property
    def calls(self) -> Mapping[str, list[tuple[File, ast.Call]]]:
        """Calls anywhere, by the last part of the callee's name."""
        found: dict[str, list[tuple[File, ast.Call]]] = {}
        for file in self.files:
            for node in ast.walk(file.tree):
                if isinstance(node, ast.Call):
                    name = str(getattr(node.func, "attr", "") or getattr(node.func, "id", ""))
                    found.setdefault(name, []).append((file, node))
        return found

    def place(self, file: File, node: ast.AST) -> str:
        """The place of a node, for a reader."""
        return f"{Path(file.display).name}:{getattr(node, 'lineno', 1)}"

    def uses_of(self, name: str, scope: Scope, file: File) -> Iterator[tuple[File, ast.expr]]:
        """Every place that reads the meaning of `name` in `scope`; also in other files, if the scope is a module."""
        for use in file.names.uses_of(name, scope):
            yield file, use.name
        if scope is file.names.module:
            yield from self._foreign_uses(name, file)

    def _foreign_uses(self, name: str, file: File) -> Iterator[tuple[File, ast.expr]]:
        for other, scope, taken_as in self._taken_from.get(file, ()):
            for use in other.names.uses_of(taken_as, scope):
                above = other.names.parents.get(use.name)
                if isinstance(above, ast.Attribute) and above.attr == name:
                    yield other, above
        for other, scope, taken_as in self._taken_from.get((file, name), ()):
            yield from self.uses_of(taken_as, scope, other)

    @functools.cached_property
    def _taken_from(self) -> Mapping[File | tuple[File, str], list[tuple[File, Scope, str]]]:
        """The importers of a file, or of a name in it: where, and under which name."""
        found: dict[File | tuple[File, str], list[tuple[File, Scope, str]]] = {}
        for other in self.files:
            for scope, binding in _import_bindings(other):
                if (taken := self.imported(binding, other)) is not None:
                    found.setdefault(taken, []).append((other, scope, binding.name))
        return found


def _import_bindings(file: File) -> list[tuple[Scope, Binding]]:
    """Every name that an import of a file binds, with its scope."""
    return [
        (scope, binding)
        for scope in file.names.scopes
        for bindings in scope.bindings.values()
        for binding in bindings
        if binding.statement is not None
    ]


def own_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below `node`, including nested functions and classes but not their bodies."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, NESTED):
            yield from own_parts(child)


def parameters(function: FunctionNode) -> list[ast.arg]:
    """All parameters of a function, in the order of the signature."""
    return parameters_of(function.args)


def function_around(node: ast.AST, file: File) -> FunctionNode | None:
    """The innermost function around a node."""
    return next((above for above in file.names.ancestors(node) if isinstance(above, FUNCTIONS)), None)


def bodies(function: FunctionNode) -> Iterable[ast.AST]:
    """The parts of a function that a call evaluates."""
    return [function.body] if isinstance(function, ast.Lambda) else function.body


def reaching(scope: Scope, name: ast.Name, file: File) -> list[Binding]:
    """The bindings of a variable of `scope` that a use may see; all of them where the order is unknown, as in the module of a
    notebook, whose cells run in any order."""
    if scope is file.names.module and file.module.source.container is not None:
        return scope.bindings.get(name.id, [])
    return reaching_definitions(scope, name, file.names)


def assigned(name: ast.Name, file: File) -> list[Binding]:
    """The bindings that give a variable a value of its own where a name reads it; all of them where one of these changes the value
    before it (`x += 1`)."""
    scope = file.names.scope_at(name).resolve(name.id)
    if scope is None:
        return []
    found = reaching(scope, name, file)
    changed = any(isinstance(file.names.parents.get(one.node), ast.AugAssign) for one in found)
    return scope.bindings.get(name.id, []) if changed else found
