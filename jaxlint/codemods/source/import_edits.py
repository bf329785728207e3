"""Turns the import changes of a set of rewrites into edits that leave the imports tidy."""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter

from jaxlint.codemods.source.import_positions import insertions, is_there
from jaxlint.codemods.source.imports import ImportChanges, ImportStatement, NewImport, is_unconditional
from jaxlint.codemods.source.name_scopes import Binding
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.source.statement_text import is_alone, siblings, trailing_comment, whole_lines
from jaxlint.finding import Edit


def import_edits(site: Site, changes: ImportChanges, edits: Sequence[Edit]) -> list[Edit]:
    """The edits of `site`'s imports for `changes`, given the other `edits` of the file.

    Imports that those edits leave unused are removed, unless other code may rely on them.
    """
    moved = dict(changes.moved)
    for binding in _left_unused(site, changes, edits):
        if binding.alias is not None:
            moved[binding.alias] = None
    earliest = min((edit.span.line for edit in edits), default=sys.maxsize)
    missing = [new for new in changes.added if not is_there(site, new, moved, earliest)]
    inserted = insertions(site, missing, earliest)
    return _StatementEditor(site, moved, {edit.span.line for edit in inserted}).edits() + inserted


def check_movable(site: Site, statement: ImportStatement, alias: ast.alias, *, dropped: bool) -> None:
    """Raises Refused if `alias` cannot leave `statement`, or be `dropped`, without losing a comment."""
    if "#" in site.text(statement) and _has_comment(site, statement, alias):
        raise Refused("the rewrite would lose a comment inside the import statement")
    if dropped and len(statement.names) == 1 and trailing_comment(site, statement):
        raise Refused("the rewrite would lose a comment at the end of the import statement")


def _has_comment(site: Site, statement: ImportStatement, alias: ast.alias) -> bool:
    """Whether a comment refers to `alias`: on its lines, above it, or at its comma."""
    lines = site.lines.lines
    last = statement.names[-1]
    first, end = alias.lineno - 1, alias.end_lineno or alias.lineno
    if alias is last:
        first = min(first, statement.names[-2].lineno - 1 if len(statement.names) > 1 else first)
        end = statement.end_lineno or end
    own = lines[first:end]
    above = lines[first - 1] if first > statement.lineno - 1 else ""
    return any("#" in line for line in own) or above.lstrip().startswith("#")


# Imports left unused


def _left_unused(site: Site, changes: ImportChanges, edits: Sequence[Edit]) -> list[Binding]:
    names = site.names
    ranges = [site.lines.range(edit.span) for edit in edits]
    replaced = sorted((start, end) for start, end in ranges if start < end)
    written = "\n".join([edit.content for edit in edits] + [site.source.path.name])
    added = {new.bound for new in changes.added}
    added |= {new.bound for new in changes.moved.values() if new}
    lines = {line for edit in edits for line in range(edit.span.line, edit.span.end_line + 1)}
    there = [use for line in lines for use in names.uses_by_line.get(line, ())]
    touched = {use.name.id for use in there if _inside(site, use.name, replaced)}
    unused: list[Binding] = []
    for name in sorted(touched - added):
        for scope in names.homes.get(name, ()):
            bindings = scope.bindings[name]
            binding = bindings[0]
            if len(bindings) != 1:
                continue
            if binding.alias is None or binding.alias in changes.moved:
                continue
            uses = names.uses_of(name, scope)
            if not all(_inside(site, use.name, replaced) for use in uses):
                continue
            if re.search(rf"(?<![\w.]){re.escape(name)}\b", written) or _is_kept(site, binding):
                continue
            unused.append(binding)
    written_modules = [new.module for new in changes.all_new()]
    for binding in _left_unused_submodules(site, changes, replaced):
        module = binding.alias.name if binding.alias else ""
        if module not in written_modules and module not in written:
            unused.append(binding)
    return unused


def _left_unused_submodules(
    site: Site, changes: ImportChanges, replaced: Sequence[tuple[int, int]]
) -> Iterator[Binding]:
    """`import a.b.c` beside another import of `a`, if all uses of `a.b.c` are replaced."""
    names = site.names
    for name in names.imports_in(names.module):
        bindings = names.module.bindings[name]
        if len(bindings) < 2 and not any(new.bound == name for new in changes.added):
            continue
        submodules = [
            (binding, alias)
            for binding in bindings
            if (alias := binding.alias)
            and not alias.asname
            and "." in alias.name
            and alias not in changes.moved
        ]
        uses = names.uses_of(name, names.module) if submodules else []
        chains = [whole_chain(site, use.name) for use in uses]
        for binding, alias in submodules:
            own = [node for node in chains if f"{ast.unparse(node)}.".startswith(f"{alias.name}.")]
            if own and all(_inside(site, node, replaced) for node in own) and not _is_kept(site, binding):
                yield binding


def whole_chain(site: Site, node: ast.AST) -> ast.AST:
    """The whole attribute chain that begins with `node`."""
    while isinstance(parent := site.names.parents.get(node), ast.Attribute):
        node = parent
    return node


def _inside(site: Site, node: ast.AST, ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether a node is in one of the ranges, which are sorted and do not overlap."""
    start, end = site.lines.range(site.span(node))
    at = bisect_right(ranges, start, key=itemgetter(0)) - 1
    return at >= 0 and end <= ranges[at][1]


def _is_kept(site: Site, binding: Binding) -> bool:
    """Whether an import must stay though nothing in the file uses it any more."""
    statement, alias = binding.statement, binding.alias
    if statement is None or alias is None:
        return True
    return (
        site.names.is_shown(binding.name)
        or site.source.path.name == "__init__.py"
        or alias.asname == alias.name
        or not is_unconditional(site.names, binding)
        or len(siblings(site, statement)) == 1
        or bool(trailing_comment(site, statement))
        or "#" in site.text(statement)
        or not is_alone(site, statement)
    )


# Existing import statements


class _StatementEditor:
    """Rewrites import statements whose aliases move or disappear."""

    def __init__(self, site: Site, moved: dict[ast.alias, NewImport | None], inserted: set[int]) -> None:
        self.site = site
        self.inserted = inserted  # lines before which something is inserted
        self.moved = moved
        self.kept: dict[ImportStatement, list[ast.alias | NewImport]] = {}
        self.fresh: dict[ImportStatement, list[list[NewImport]]] = {}

    def edits(self) -> list[Edit]:
        statements: dict[ImportStatement, None] = {}
        for alias in self.moved:
            statement = self.site.names.parents[alias]
            assert isinstance(statement, (ast.Import, ast.ImportFrom))
            statements[statement] = None
        for statement in sorted(statements, key=lambda one: one.lineno):
            self._plan(statement)
        return [edit for statement in self.kept for edit in self._edit(statement)]

    def _plan(self, statement: ImportStatement) -> None:
        kept = self.kept.setdefault(statement, list(statement.names))
        groups: dict[tuple[str, bool], list[NewImport]] = {}
        for alias in statement.names:
            if alias not in self.moved:
                continue
            new = self.moved[alias]
            if new is None:
                kept.remove(alias)
            elif self._fits(statement, new):
                kept[kept.index(alias)] = new
            else:
                kept.remove(alias)
                groups.setdefault((new.module, bool(new.name)), []).append(new)
        for group in groups.values():
            # A trailing comment stays with the statement's replacement.
            anchored = not kept and trailing_comment(self.site, statement)
            home = None if anchored else self._home(statement, group[0])
            if home is None:
                group = [new for new in group if not self._is_written_above(statement, new)]
                if group:
                    self.fresh.setdefault(statement, []).append(group)
                continue
            present = self.kept.setdefault(home, list(home.names))
            for new in group:
                if not any(_same(part, new) for part in present):
                    _insert_sorted(present, new)

    def _is_written_above(self, statement: ImportStatement, new: NewImport) -> bool:
        """Whether another import of the same block is about to become the same one."""
        block = self.site.names.parents.get(statement)
        return any(
            new in written and self.site.names.parents.get(other) is block
            for other, groups in self.fresh.items()
            for written in groups
        )

    @staticmethod
    def _fits(statement: ImportStatement, new: NewImport) -> bool:
        if isinstance(statement, ast.Import):
            return new.name is None
        return new.name is not None and statement.module == new.module and not statement.level

    def _home(self, statement: ImportStatement, new: NewImport) -> ast.ImportFrom | None:
        """An adjacent import from the same module that can receive the new name."""
        if new.name is None:
            return None
        block = siblings(self.site, statement)
        here = block.index(statement)
        for index, other in enumerate(block):
            if not isinstance(other, ast.ImportFrom) or other is statement or other.level:
                continue
            if other.module != new.module or other.names[0].name == "*" or "#" in self.site.text(other):
                continue
            between = block[here : index + 1]
            if index < here or all(isinstance(part, (ast.Import, ast.ImportFrom)) for part in between):
                return other
        return None

    def _edit(self, statement: ImportStatement) -> list[Edit]:
        kept, fresh = self.kept[statement], self.fresh.get(statement, [])
        texts = [_rebuilt(self.site, statement, kept)] if kept else []
        texts += [_statement_text(group) for group in fresh]
        path, span = self.site.source.display, self.site.span(statement)
        alone = is_alone(self.site, statement)
        if not texts:
            if alone and len(siblings(self.site, statement)) > 1:
                return [Edit(path, whole_lines(self.site, statement, self.inserted), "")]
            texts = ["pass"]
        indent = self.site.lines.lines[span.line - 1][: span.column - 1]
        joint = self.site.lines.newline + indent if alone else "; "
        content = joint.join(texts)
        return [] if content == self.site.text(statement) else [Edit(path, span, content)]


def _rebuilt(site: Site, statement: ImportStatement, kept: Sequence[ast.alias | NewImport]) -> str:
    from jaxlint.codemods.source.import_statements import rebuilt  # with libcst, which most fixes do without

    return rebuilt(site, statement, kept)


def _statement_text(group: Sequence[NewImport]) -> str:
    first = group[0]
    if first.name is None:
        return f"import {', '.join(dict.fromkeys(new.part for new in group))}"
    return f"from {first.module} import {', '.join(dict.fromkeys(new.part for new in group))}"


def _same(part: ast.alias | NewImport, new: NewImport) -> bool:
    if isinstance(part, NewImport):
        return part == new
    return part.name == new.name and (part.asname or part.name) == new.bound


def _insert_sorted(parts: list[ast.alias | NewImport], new: NewImport) -> None:
    """Inserts `new` in order if the names are sorted, otherwise at the end."""
    keys = [_name_order(part.name or "") for part in parts]
    place = len(parts)
    if keys == sorted(keys):
        place = sum(key <= _name_order(new.name or "") for key in keys)
    parts.insert(place, new)


def _name_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, as isort has it."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name
