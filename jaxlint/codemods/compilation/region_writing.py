"""The text of a region's function and of its call."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.codemods.compilation.object_copies import opening_of
from jaxlint.codemods.compilation.region import Region
from jaxlint.codemods.compilation.region_attributes import OwnAttributes
from jaxlint.codemods.compilation.region_text import Written
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Span

_GONE = "gone"  # a line that moved


def write(region: Region, layout: Layout, name: str, copy: str = "") -> Written:
    """The function and the call, as text. `copy`: `copy.copy` as the file spells it, for a function on a copy of its object."""
    if any(layout.spans_lines_in_string(one) for one in region.nodes):
        raise Refused("a multi-line string would have to be indented")
    here, lines, span = _lines(region, layout)
    indent, head, tail, before = region.place(layout)
    unit = layout.unit(region.loops()[0]) if region.loops() else "    "  # type: ignore[arg-type]
    own = region.own
    assert own is not None
    inside = {one: own.text(one) if own.copied else own.variables[one] for one in own.set}
    moved = with_texts(region.site, lines, span.line, _texts(region, region.moved))
    names = {part.id for part in ast.walk(region.scope.node) if isinstance(part, ast.Name)}
    if region.expression is not None:
        if own.set:
            raise Refused(f"it sets `{own.text(own.set[0])}`, and would return a value alone")
        moved[0] = f"return {moved[0].lstrip()}"
    if region.ending is not None and own.set:
        number = region.statements[-1].lineno - span.line
        value = ", ".join([*inside.values(), ""])
        if own.copied:  # a method in the value may set what is handed out
            result = fresh_name(names, "result")
            moved[number] = moved[number].replace("return ", f"{result} = ", 1)
            moved.append(f"{here}return {value}{result}")
        else:
            moved[number] = moved[number].replace("return ", f"return {value}", 1)
    ahead, behind = (
        _taken_out(statements, layout, here, moved, span.line) for statements in (region.ahead, region.behind)
    )
    moved = [line for line in moved if line is not _GONE]
    body = [f"{indent}{unit}{line.removeprefix(here)}" if line.strip() else "" for line in moved]
    if own.copied:
        body[:0] = [f"{indent}{unit}{line}" for line in opening_of(own, copy)]
    parameters = [
        *(own.variables[one] for one in own.taken),
        *region.parameters,
        *region.from_host.parameters,
    ]
    if region.is_method:
        parameters, name = [own.me, *parameters], f"{own.me}.{name}"
    given = [*map(own.text, own.taken), *region.parameters, *region.from_host.texts(region.site)]
    returned = [*inside.values(), *region.results]
    results = [*map(own.text, own.set), *region.results]
    also = []
    if region.fetched is not None:
        results.append(fresh_name(names, region.name_of_fetched()))
        returned.append(_expression(region, region.fetched))
        if own.copied and own.set:
            body.append(f"{indent}{unit}{results[-1]} = {returned.pop()}")
            returned.append(results[-1])
        also.append((region.site.span(region.fetched), results[-1]))
    text = [f"{indent}def {name.rpartition('.')[2]}({', '.join(parameters)}):", *body]
    if returned and region.expression is None and region.ending is None:
        text.append(f"{indent}{unit}return {', '.join(returned)}")
    if region.expression is not None:
        call = f"{name}({', '.join(given)})"
    elif region.ending is not None and not results:
        call = here + layout.call("return ", name, given, here)
    else:
        if region.ending is not None:
            results = [*results, fresh_name(names, "result")]
        bound = f"{', '.join(results)} = " if results else ""
        call = here + layout.call(bound, name, given, here)
        if region.ending is not None:
            call += f"{layout.newline}{here}return {results[-1]}"
    call = layout.newline.join([*ahead, call, *behind])
    return Written(head, indent, text, tail, before, span, call, layout.newline, also)


def _taken_out(
    statements: Sequence[ast.stmt], layout: Layout, here: str, lines: list[str], first: int
) -> list[str]:
    """Takes statements of the host out of the region's lines, with their comments, and returns them."""
    found: list[str] = []
    for statement in statements:
        text, place = layout.block([statement], indent=here)
        assert place is not None
        found += text.split(layout.newline)[:-1]
        lines[place.line - first : place.end_line - first + 1] = [_GONE] * (place.end_line - place.line + 1)
    return found


def _texts(region: Region, nodes: Sequence[ast.AST]) -> list[tuple[ast.expr, str]]:
    """The expressions below `nodes` that another text replaces: attributes of the object, and what the host computes."""
    own = region.own
    assert own is not None
    if own.copied:
        own = OwnAttributes(region.site)  # they keep their names
    inside = {part for node in nodes for part in ast.walk(node)}
    hosted = {part for one in region.from_host.names for part in ast.walk(one)}
    found: list[tuple[ast.expr, str]] = [
        (one, own.variables[one.attr])
        for one in own.nodes
        if one in inside and one not in hosted and one.attr in own.variables
    ]
    return found + [(one, name) for one, name in region.from_host.names.items() if one in inside]


def with_texts(
    site: Site, lines: Sequence[str], first: int, texts: Sequence[tuple[ast.expr, str]]
) -> list[str]:
    """Lines of the file, from `first` on, with other texts for expressions."""
    lines = list(lines)
    for node, text in sorted(texts, key=lambda one: (one[0].lineno, one[0].col_offset), reverse=True):
        span = site.span(node)
        if span.line != span.end_line:
            raise Refused(f"`{site.text(node)}` spans several lines")
        line = lines[span.line - first]
        lines[span.line - first] = line[: span.column - 1] + text + line[span.end_column - 1 :]
    return lines


def _expression(region: Region, node: ast.expr) -> str:
    """An expression of one line as text."""
    span = region.site.span(node)
    line = region.site.lines.lines[span.line - 1]
    after = len(line) - (span.end_column - 1)
    (new,) = with_texts(region.site, [line], span.line, _texts(region, [node]))
    return new[span.column - 1 : len(new) - after]


def _lines(region: Region, layout: Layout) -> tuple[str, list[str], Span]:
    """The indentation, the moved lines, and their place."""
    site = region.site
    if region.expression is None:
        here = layout.indent(region.first)
        whole = sorted([*region.statements, *region.behind, *region.ahead], key=lambda one: one.lineno)
        text, span = layout.block(whole, indent=here)
        if span is None:
            raise Refused("there are no lines to move")
        return here, text.split(layout.newline)[:-1], span
    span = site.span(region.expression)
    lines = site.lines.lines[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = " " * (span.column - 1) + lines[0][span.column - 1 :]
    return "", lines, span
