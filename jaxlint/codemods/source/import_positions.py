"""The positions of new imports: among similar ones, sorted, below the docstring and above their uses."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence

from jaxlint.codemods.source.imports import ImportStatement, NewImport, import_statements
from jaxlint.codemods.source.site import Site
from jaxlint.finding import Edit, Span


def is_there(site: Site, new: NewImport, moved: dict[ast.alias, NewImport | None], earliest: int) -> bool:
    """Whether the module already has that import above the line `earliest`."""
    for statement in import_statements(site.names):
        if statement.lineno >= earliest:
            break
        for alias in statement.names:
            if alias in moved:
                continue
            if isinstance(statement, ast.Import) and new.name is None:
                if alias.name == new.module and alias.asname == new.alias:
                    return True
            elif isinstance(statement, ast.ImportFrom) and not statement.level:
                bound = alias.asname or alias.name
                if f"{statement.module}.{alias.name}" == new.means and bound == new.bound and new.alias:
                    return True
    return False


def insertions(site: Site, added: Sequence[NewImport], earliest: int) -> list[Edit]:
    """One edit for each place where imports are inserted."""
    places: dict[tuple[int, bool], list[str]] = {}
    for new in sorted(added, key=lambda new: _statement_order(new.statement)):
        line, separate = _place_for(site, new, earliest)
        places.setdefault((line, separate), []).append(new.statement)
    newline = site.lines.newline
    result: list[Edit] = []
    for (line, separate), statements in sorted(places.items()):
        content = "".join(statement + newline for statement in statements)
        if separate:
            content += newline
        column = 1
        if line > len(site.lines.lines) or (line == len(site.lines.lines) and not site.lines.lines[-1]):
            if site.source.text and not site.source.text.endswith(("\n", "\r")):
                content = newline + content
                line, column = len(site.lines.lines), len(site.lines.lines[-1]) + 1
        result.append(Edit(site.source.display, Span(line, column, line, column), content))
    return result


def _place_for(site: Site, new: NewImport, earliest: int) -> tuple[int, bool]:
    """The line before which `new` goes, above the line `earliest`, and whether a blank line must follow it."""
    statements = [s for s in import_statements(site.names) if not _is_future(s)]
    statements = [s for s in statements if s.lineno < earliest]
    kin = [s for s in statements if _top(s) == new.module.partition(".")[0]]
    group = kin or [s for s in statements if _section(s) == _section(new)]
    if group:
        block = [s for s in statements if _in_block(site, s, group[0])] if kin else group
        order = _statement_order(new.statement)
        same = [s for s in block if _section(s) == _section(new)] or block
        before = [s for s in same if _statement_order(site.text(s)) <= order]
        if before:
            return _after(site, before[-1]), False
        return same[0].lineno, False
    later = [s for s in statements if _section(s) > _section(new)]
    if later:
        return later[0].lineno, True
    if statements:
        return _after(site, statements[-1]), False
    return _line_after_head(site), True


def _in_block(site: Site, statement: ImportStatement, anchor: ImportStatement) -> bool:
    """Whether no blank line separates two imports."""
    first, last = sorted((statement, anchor), key=lambda s: s.lineno)
    return all(line.strip() for line in site.lines.lines[first.lineno - 1 : last.end_lineno])


def _line_after_head(site: Site) -> int:
    """The line of the first statement after the docstring and the `__future__` imports."""
    for index, statement in enumerate(site.tree.body):
        is_docstring = (
            index == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        )
        if not (is_docstring and isinstance(statement.value.value, str)) and not _is_future(statement):  # type: ignore[attr-defined]
            return min(
                statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", [])), sys.maxsize
            )
    return len(site.lines.lines) + 1


def _after(site: Site, statement: ast.stmt) -> int:
    """The line after `statement` and after other statements on its last line."""
    end = statement.end_lineno or statement.lineno
    for other in site.tree.body:
        if statement.lineno <= other.lineno <= end:
            end = max(end, other.end_lineno or other.lineno)
    return end + 1


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _top(statement: ImportStatement) -> str:
    if isinstance(statement, ast.Import):
        return statement.names[0].name.partition(".")[0]
    return "" if statement.level else (statement.module or "").partition(".")[0]


def _section(part: ImportStatement | NewImport) -> int:
    """0: standard library, 1: other packages, 2: relative."""
    top = part.module.partition(".")[0] if isinstance(part, NewImport) else _top(part)
    if not top:
        return 2
    return 0 if top in sys.stdlib_module_names else 1


def _statement_order(text: str) -> tuple[bool, str]:
    """`import x` before `from x import y`, then by module, as isort has it."""
    words = text.split()
    return words[0] == "from", words[1].lower() if len(words) > 1 else ""
