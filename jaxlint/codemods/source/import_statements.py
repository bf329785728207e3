"""Import statements with other names, in their own formatting."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from jaxlint.codemods.source.imports import ImportStatement, NewImport
from jaxlint.codemods.source.site import Refused, Site


def rebuilt(site: Site, statement: ImportStatement, kept: Sequence[ast.alias | NewImport]) -> str:
    """The statement with other names, its formatting kept."""
    node = site.find(site.span(statement), cst.Import, cst.ImportFrom)
    assert isinstance(node, (cst.Import, cst.ImportFrom))
    assert not isinstance(node.names, cst.ImportStar)
    old = dict(zip(statement.names, node.names, strict=True))
    last_comma = node.names[-1].comma
    commas = [part.comma for part in node.names[:-1]]
    comma = commas[0] if commas else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    names: list[cst.ImportAlias] = []
    for index, part in enumerate(kept):
        alias = old[part] if isinstance(part, ast.alias) else _new_alias(part)
        if index == len(kept) - 1:
            alias = alias.with_changes(comma=last_comma)
        elif not isinstance(part, ast.alias) or part is statement.names[-1]:
            alias = alias.with_changes(comma=comma)
        names.append(alias)
    text = site.code(node.with_changes(names=names), site.span(statement))
    if text.count("#") < site.text(statement).count("#"):
        raise Refused("the rewrite would lose a comment inside the import statement")
    return text


def _new_alias(new: NewImport) -> cst.ImportAlias:
    statement = cst.parse_statement(new.statement)
    assert isinstance(statement, cst.SimpleStatementLine)
    parsed = statement.body[0]
    assert isinstance(parsed, (cst.Import, cst.ImportFrom))
    assert not isinstance(parsed.names, cst.ImportStar)
    return parsed.names[0]
