"""`loss-by-parts`: the cross-entropy of a product is computed for a part of the examples at a time, by `jax.lax.map`
over a checkpoint.

The computation of each row's loss, from the product on, becomes a function of one part. So the logits of all examples
never exist at once, forward or backward. A run determined the place of the product and the number of examples in a
part. Raises Refused if the logits are used elsewhere, or if the loss is not certainly computed row by row.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.memory.row_losses import RowLoss, Setting, row_loss, stored
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.source.statement_text import is_alone, siblings, whole_lines
from jaxlint.finding import Span, Step

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
_INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@codemod("loss-by-parts")
def loss_by_parts(draft: Draft, step: Step) -> None:
    """The span is the expression of the loss of each row, or the operand of the sum or mean over all rows and
    classes.

    Parameters: `examples`, the size of a part, and the fields of `Setting`.
    """
    site = draft.site
    expression = site.find_ast(step.span, ast.expr)
    assert isinstance(expression, ast.expr)
    known = {name: step.parameters[name] for name in ("rank", "layer") if name in step.parameters}
    found = row_loss(site, expression, Setting(**known))  # type: ignore[arg-type]
    _check(site, found)
    writer = _Writer(draft, found)
    rows, labels = site.text(found.rows[0]), site.text(found.labels[0])
    if found.part:
        rows = f"{writer.layout.operand(found.rows[0])}{found.part}"
    writer.move()
    mapped = reference(site, draft.imports, "jax.lax.map", expression)
    examples = int(str(step.parameters["examples"]))
    call = f"{mapped}({writer.function}, ({rows}, {labels}), batch_size={examples})"
    draft.replace(_whole(site, expression), call)


def find_losses(site: Site, line: int, setting: Setting) -> list[Span]:
    """The loss computed from the logits in a line: the first that all uses of the logits lead to, otherwise the last."""
    refused: list[Span] = []
    start = next((one for one in ast.walk(site.tree) if _is_at(one, line)), None)
    if not isinstance(start, ast.stmt):
        return []
    block = siblings(site, start)
    for statement in block[block.index(start) :]:
        below: set[ast.AST] = set()
        for node in ast.walk(statement):
            if not isinstance(node, ast.expr) or node in below or not isinstance(statement, _SIMPLE):
                continue
            try:
                found = row_loss(site, node, setting)
            except Refused:
                continue
            if found.product is None or not _covers(found.product, line):
                continue
            below |= set(ast.walk(node))
            try:
                _check(site, found)
            except Refused:
                refused = [site.span(node)]
                continue
            return [site.span(node)]
    return refused


def _is_at(node: ast.AST, line: int) -> bool:
    """Whether a statement without a block is at a line."""
    return isinstance(node, _SIMPLE) and _covers(node, line)


def _covers(node: ast.expr | ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


class _Writer:
    """Writes the function of a part, before the statement that uses the losses."""

    def __init__(self, draft: Draft, found: RowLoss) -> None:
        self.draft = draft
        self.site = draft.site
        self.found = found
        self.layout = Layout(self.site)
        self.last = _statement(self.site, found.expression)
        names = self.layout.identifiers(self.site.names.scope_at(found.expression))
        self.function, self.part = fresh_name(names, "losses"), fresh_name(names, "part")
        rows, labels = found.rows[0], found.labels[0]
        self.rows, self.labels = (
            node.id if isinstance(node, ast.Name) else fresh_name(names, wanted)
            for node, wanted in ((rows, "rows"), (labels, "labels"))
        )
        self.edits = dict(found.edits)
        for node, name in [(rows, self.rows), *((label, self.labels) for label in found.labels)]:
            if not isinstance(node, ast.Name):
                self.edits[_whole(self.site, node)] = name
        self._check_parameters()

    def _check_parameters(self) -> None:
        """Raises Refused if a parameter would shadow another value of its name."""
        plain = [node for node in (*self.found.rows, *self.found.labels) if isinstance(node, ast.Name)]
        others = [node for node in (*self.found.rows, *self.found.labels) if node not in plain]
        operands = {*plain, *(part for node in (*others, *self.found.gone) for part in ast.walk(node))}
        for statement in [*self.found.statements, self.found.expression]:
            for node in ast.walk(statement):
                if (
                    isinstance(node, ast.Name)
                    and node.id in (self.rows, self.labels)
                    and node not in operands
                ):
                    raise Refused(f"the loss also uses `{node.id}` in another way")

    def move(self) -> None:
        """Removes the statements, and writes the function that contains them."""
        moved = sorted(self.found.statements, key=lambda statement: statement.lineno)
        indent = self.layout.indent(self.last)
        checkpoint = reference(self.site, self.draft.imports, "jax.checkpoint", self.found.expression)
        lines = [
            f"@{checkpoint}",
            f"def {self.function}({self.part}):",
            f"    {self.rows}, {self.labels} = {self.part}",
        ]
        gone: set[int] = set()
        for statement in moved:
            comments = self._comments_above(statement)
            lines += [f"    {self.layout.lines[number - 1].strip()}" for number in comments]
            lines.append(f"    {self._statement_text(statement)}")
            span = whole_lines(self.site, statement, set())
            first = comments[0] if comments else span.line
            gone |= set(range(first, span.end_line))
            self.draft.replace(Span(first, 1, span.end_line, span.end_column), "")
        lines.append(f"    return {self._result()}")
        newline = self.layout.newline
        text = "".join(indent + line + newline for line in lines)
        first = min([*self._comments_above(self.last), self.last.lineno])
        self.draft.insert(first, 1, self._gap(first, gone) + text + newline)

    def _gap(self, line: int, gone: set[int]) -> str:
        """A blank line, unless there is one above `line` after the lines `gone` are removed."""
        above = next((number for number in range(line - 1, 0, -1) if number not in gone), 0)
        text = self.layout.lines[above - 1].strip() if above else ""
        return "" if not text or text.endswith(":") else self.layout.newline

    def _comments_above(self, statement: ast.stmt) -> Sequence[int]:
        """The comment lines directly above a statement."""
        first = statement.lineno
        while first > 1 and self.layout.lines[first - 2].lstrip().startswith("#"):
            first -= 1
        return range(first, statement.lineno)

    def _statement_text(self, statement: ast.stmt) -> str:
        if not is_alone(self.site, statement):
            raise Refused("a statement shares its line with another; put it on a line of its own")
        span = self.site.span(statement)
        end = len(self.layout.lines[span.end_line - 1]) + 1  # with its comment
        return self._text(Span(span.line, span.column, span.end_line, end), statement)

    def _result(self) -> str:
        """What the function returns."""
        expression = self.found.expression
        text = self._text(self.site.span(expression), expression)
        if self.found.total is not None:
            total = reference(self.site, self.draft.imports, f"jax.numpy.{self.found.total}", expression)
            return f"{total}({text}, axis=-1)"
        inner = isinstance(expression, (ast.Call, ast.Subscript))
        return text if inner or self.layout.newline not in text else f"({text})"

    def _text(self, span: Span, node: ast.AST) -> str:
        """The text of a span, edited and indented by one level."""
        if Layout.spans_lines_in_string(node):
            raise Refused("a multi-line string would have to be indented")
        lines = self.site.lines
        start, end = lines.range(span)
        parts: list[str] = []
        for inner in sorted(self.edits):
            first, last = lines.range(inner)
            if start <= first and last <= end:
                parts += [lines.text[start:first], self.edits[inner]]
                start = last
        text = "".join([*parts, lines.text[start:end]])
        return text.replace(self.layout.newline, f"{self.layout.newline}    ")


def _statement(site: Site, node: ast.AST) -> ast.stmt:
    return next(one for one in site.names.ancestors(node) if isinstance(one, ast.stmt))


def _whole(site: Site, node: ast.expr) -> Span:
    """The span of an expression, with the parentheses around it."""
    found = site.find(site.span(node), cst.BaseExpression)  # type: ignore[type-abstract]
    return site.outer_place(found)


def _check(site: Site, found: RowLoss) -> None:
    """Raises Refused if the moved code is used elsewhere, or reads values that change before the loss."""
    last = _statement(site, found.expression)
    between = site.names.ancestors_below(found.expression, last)
    if not isinstance(last, _SIMPLE) or any(isinstance(node, _INNER) for node in between):
        raise Refused("the loss has no statement of its own")
    inside = [*found.statements, found.expression]
    for statement in found.statements:
        target = statement.targets[0]
        assert isinstance(target, ast.Name)
        home = site.names.scope_at(statement).resolve(target.id)
        for use in site.names.uses_of(target.id, home) if home is not None else ():
            around = [use.name, *site.names.ancestors(use.name)]
            if not any(one in around for one in inside):
                raise Refused(f"`{target.id}` is also used elsewhere")
    _check_between(site, found, last)


def _check_between(site: Site, found: RowLoss, last: ast.stmt) -> None:
    """Raises Refused if a remaining statement changes a value that a moved one reads."""
    block = siblings(site, last)
    for moved in found.statements:
        needed = {node.id for node in ast.walk(moved.value) if isinstance(node, ast.Name)}
        stays = [
            statement
            for statement in block[block.index(moved) + 1 : block.index(last)]
            if statement not in found.statements
        ]
        for statement in stays:
            if changed := needed & stored(statement):
                raise Refused(f"`{min(changed)}` is reassigned in between")
        if stays:
            check_expression(site, moved.value, "the computation of the scores")
