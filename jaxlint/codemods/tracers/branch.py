"""`branch-to-select`: an `if` or a conditional expression on a tracer becomes `jnp.where` or `lax.cond`.

`jnp.where` selects single cheap values. Expensive values, and values that could bring an unwanted NaN into a gradient
(a division, a root), go into the branches of `lax.cond`, whole blocks as functions.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from jaxlint.codemods.facts.dataflow import FUNCTIONS, Facts, Flow, jumps_out
from jaxlint.codemods.facts.local_effects import check_pure
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.tracers.select import Choice, Selector, check_test, static_part
from jaxlint.finding import Span, Step

_MAX_SEPARATE = 3  # values that are selected one by one, repeating the test


@codemod("branch-to-select")
def branch_to_select(draft: Draft, step: Step) -> None:
    """The span is the test. Takes no parameters."""
    site = draft.site
    layout = Layout(site)
    test = site.find_ast(step.span, ast.expr)
    parent = site.names.parents.get(test)
    if isinstance(parent, ast.IfExp) and parent.test is test:
        check_test(layout, parent.test)
        selector = Selector(draft, layout, parent, "")
        chosen = _conditional(selector, parent)
        whole = site.span(parent)
        if layout.comments_outside(whole, chosen.kept):
            raise Refused("the rewrite would lose a comment inside the expression")
        draft.replace(whole, chosen.text)
    elif isinstance(parent, ast.If) and parent.test is test:
        check_test(layout, parent.test)
        _Branch(draft, layout, parent).rewrite()
    else:
        raise Refused("the test does not belong to an `if`")


def _conditional(selector: Selector, node: ast.IfExp) -> Choice:
    yes, no = (
        # `a if t else b if u else c` becomes one nested selection.
        _conditional(selector, side)
        if isinstance(side, ast.IfExp) and _asks_arrays(side.test)
        else selector.choice(side, "a branch")
        for side in (node.body, node.orelse)
    )
    return selector.select(node.test, yes, no)


def _asks_arrays(test: ast.expr) -> bool:
    """Whether `test` looks like a test of arrays, so that both branches may be evaluated."""
    compares = any(isinstance(part, (ast.Compare, ast.Call)) for part in ast.walk(test))
    return compares and static_part(test) is None


@dataclass(slots=True)
class _Side:
    """The code of one outcome of the test. `tail` are the statements after the `if` that belong to it."""

    own: list[ast.stmt]
    tail: list[ast.stmt]
    facts: Facts
    bound: dict[str, None]

    @property
    def statements(self) -> list[ast.stmt]:
        return [*self.own, *self.tail]


class _Branch:
    """The rewrite of one `if` statement."""

    def __init__(self, draft: Draft, layout: Layout, node: ast.If) -> None:
        self.draft, self.layout, self.node = draft, layout, node
        self.site = draft.site
        self.flow = Flow(self.site.names, self.site.names.scope_at(node))
        if self._is_elif(node):
            raise Refused("the test belongs to an `elif`; write it as an `if` inside the `else`")
        self.indent = layout.indent(node)
        self.inner = self.indent + layout.unit(node)
        self.selector = Selector(draft, layout, node, self.indent)
        self.taken = layout.identifiers(self.flow.scope)

    def rewrite(self) -> None:
        node = self.node
        body, orelse = self.flow.sequence(node.body), self.flow.sequence(node.orelse)
        for statements in (node.body, node.orelse):
            _check_jumps(statements)
            check_pure(self.site, statements, "a branch")
        if not (body.leaves or orelse.leaves):
            if _has_return([*node.body, *node.orelse]):
                raise Refused("a branch returns only on some of its paths")
            self._assignments()
            return
        rest = self.flow.rest(node)
        sides = [
            self._side(one, [] if facts.leaves else rest)
            for one, facts in ((node.body, body), (node.orelse, orelse))
        ]
        if not all(side.facts.returns for side in sides):
            raise Refused("only one path returns a value here; let both return one")
        check_pure(self.site, rest if not (body.leaves and orelse.leaves) else [], "what follows the `if`")
        self._returns(*sides)

    def _side(self, own: list[ast.stmt], tail: list[ast.stmt]) -> _Side:
        statements = [*own, *tail]
        return _Side(own, tail, self.flow.sequence(statements), self.flow.bound(statements))

    # Both return

    def _returns(self, yes: _Side, no: _Side) -> None:
        last = (yes.tail or no.tail or [self.node])[-1]
        imported = dict(self.draft.imports.added)
        values = [self._returned(side.statements) for side in (yes, no)]
        if all(value is not None for value in values):
            chosen = self.selector.select(self.node.test, values[0], values[1], "return ")  # type: ignore[arg-type]
            self._replace(chosen.text, chosen.kept, self.site.span(last))
            return
        self.draft.imports.added = imported  # for a nested selection
        operands = [
            name for name in {**yes.bound, **no.bound} if name in self._exposed(yes) | self._exposed(no)
        ]
        self._check_operands(operands)
        functions, kept, calls = "", [self.site.span(self.node.test)], []
        for side, value, name in ((yes, values[0], "true_fun"), (no, values[1], "false_fun")):
            if value is not None:
                calls.append(self._lambda(operands, value.text))
                kept += value.kept
                continue
            text, spans = self._text(side)
            name = fresh_name(self.taken, name)
            functions += f"{self._def(name, operands)}{text}{self.layout.newline}"
            calls.append(name)
            kept += spans
        cond = self._cond("return ", calls, operands)
        self._replace(
            functions.lstrip(" \t") + (self.indent if functions else "") + cond, kept, self.site.span(last)
        )

    def _returned(self, statements: Sequence[ast.stmt]) -> Choice | None:
        """The value that `statements` return, if they do nothing else."""
        if not statements:
            return None
        first = statements[0]
        if isinstance(first, ast.Return) and first.value is not None:
            return self.selector.choice(first.value, "a branch")
        if isinstance(first, ast.If) and _asks_arrays(first.test):
            sides = []
            for block in (first.body, first.orelse):
                leaves = self.flow.sequence(block).leaves
                sides.append(self._returned(block if leaves else [*block, *statements[1:]]))
            if sides[0] is not None and sides[1] is not None:
                return self.selector.select(first.test, sides[0], sides[1])
        return None

    # Both go on

    def _assignments(self) -> None:
        yes, no = self._side(self.node.body, []), self._side(self.node.orelse, [])
        results = [name for name in {**yes.bound, **no.bound} if self.flow.is_used_after(name, self.node)]
        if not results:
            raise Refused("the branches assign nothing that is used afterwards")
        self.selector.check_not_called(results, self.flow.scope)
        for name in results:
            for side in (yes, no):
                if name not in side.facts.assigned and not self.flow.is_bound_before(name, self.node):
                    raise Refused(
                        f"`{name}` may have no value on the other branch; assign one before the `if`"
                    )
        if self._separate(results):
            return
        operands = [
            name
            for name in {**yes.bound, **no.bound}
            if any(
                name in self._exposed(side)
                or (name in results and name in side.bound and name not in side.facts.assigned)
                for side in (yes, no)
            )
        ]
        self._check_operands(operands)
        given = ", ".join(results)
        functions, kept, calls = "", [self.site.span(self.node.test)], []
        for side, name in ((yes, "true_fun"), (no, "false_fun")):
            value = self._only_value(side, results)
            if value is not None:
                calls.append(self._lambda(operands, value.text))
                kept += value.kept
                continue
            text, spans = self._text(side)
            name = fresh_name(self.taken, name)
            functions += f"{self._def(name, operands)}{text}{self.inner}return {given}{self.layout.newline}"
            functions += self.layout.newline
            calls.append(name)
            kept += spans
        cond = self._cond(f"{given} = ", calls, operands)
        self._replace(
            functions.lstrip(" \t") + (self.indent if functions else "") + cond,
            kept,
            self.site.span(self.node),
        )

    def _only_value(self, side: _Side, results: list[str]) -> Choice | None:
        """The value of a branch that only assigns the single result, or binds no result."""
        if not side.bound:
            given = results[0] if len(results) == 1 else f"({', '.join(results)})"
            return Choice(given)
        values = self._values(side.statements)
        if values is not None and len(results) == 1 and set(values) == set(results):
            return values[results[0]]
        return None

    def _separate(self, results: list[str]) -> bool:
        """Selects each result in a separate line, if no line changes a variable that the next one reads."""
        sides = [self._values(block) for block in (self.node.body, self.node.orelse)]
        if len(results) > _MAX_SEPARATE or any(side is None for side in sides):
            return False
        repeated = len(results) > 1
        if repeated and any(isinstance(part, ast.Call) for part in ast.walk(self.node.test)):
            return False
        if any(name not in results for side in sides for name in side or ()):
            return False  # an intermediate value
        changed: set[str] = set()
        pairs: list[tuple[str, list[Choice]]] = []
        for name in results:
            values = [(side or {}).get(name, Choice(name)) for side in sides]
            read = self.flow.reads(self.node.test).union(*(self.flow.reads(v.node) for v in values if v.node))
            augmented = any(value.node is None and value.text != name for value in values)
            if changed & read or (augmented and changed):
                return False
            if repeated and not all(value.total for value in values):
                return False
            pairs.append((name, values))
            changed.add(name)
        lines: list[str] = []
        kept: list[Span] = []
        for name, values in pairs:
            chosen = self.selector.select(self.node.test, values[0], values[1], f"{name} = ")
            lines.append(chosen.text)
            kept += chosen.kept
        self._replace(f"{self.layout.newline}{self.indent}".join(lines), kept, self.site.span(self.node))
        return True

    def _values(self, statements: Sequence[ast.stmt]) -> dict[str, Choice] | None:
        """The values of a block that only assigns independent variables."""
        found: dict[str, Choice] = {}
        for statement in statements:
            if isinstance(statement, ast.Pass):
                continue
            if isinstance(statement, ast.AugAssign):
                target: ast.expr = statement.target
            elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target = statement.targets[0]
            else:
                return None
            if not isinstance(target, ast.Name) or target.id in found:
                return None
            if self.flow.reads(statement.value) & set(found):
                return None
            value = self.selector.choice(statement.value, "a branch")
            if isinstance(statement, ast.AugAssign):
                value = self._augmented(target.id, statement, value)
            found[target.id] = value
        return found

    def _augmented(self, name: str, statement: ast.AugAssign, value: Choice) -> Choice:
        tokens = self.site.lines.slice(
            Span(
                self.site.span(statement.target).end_line,
                self.site.span(statement.target).end_column,
                self.site.span(statement.value).line,
                self.site.span(statement.value).column,
            )
        )
        operator = tokens.partition("=")[0].strip()
        text = f"{name} {operator} {self.layout.operand(statement.value)}"
        total = value.total and isinstance(statement.op, (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr))
        return Choice(text, None, total, value.floating, value.kept)

    # Text

    def _exposed(self, side: _Side) -> set[str]:
        """Variables that the side reads before it binds them; they become arguments."""
        return side.facts.exposed & set(side.bound)

    def _check_operands(self, operands: Sequence[str]) -> None:
        for name in operands:
            if not self.flow.is_bound_before(name, self.node):
                raise Refused(f"`{name}` may have no value before the `if`; assign one")

    def _text(self, side: _Side) -> tuple[str, list[Span]]:
        """The lines of a side, indented as the body of a function."""
        unit = self.inner[len(self.indent) :]
        text, spans = "", []
        own = side.own
        after = self.site.span(self.node.test).end_line
        if own:
            elif_ = own is self.node.orelse and len(own) == 1 and self._is_elif(own[0])
            if own is self.node.orelse:
                after = max(after, self.node.body[-1].end_lineno or 0)
            part, span = self.layout.block(own, indent=self.inner, added=unit if elif_ else "", after=after)
            if elif_:
                part = part.replace(f"{self.inner}elif", f"{self.inner}if", 1)
            text += part
            spans += [span] if span else []
        if side.tail:
            end = self.site.span(self.node).end_line
            before = spans[-1].end_line if spans and not self.node.orelse else end
            part, span = self.layout.block(side.tail, indent=self.inner, added=unit, after=max(before, end))
            text += part
            spans += [span] if span else []
        return text, spans

    def _is_elif(self, node: ast.stmt) -> bool:
        return isinstance(node, ast.If) and self.site.lines.slice(self.site.span(node)).startswith("elif")

    def _def(self, name: str, operands: Sequence[str]) -> str:
        return f"{self.indent}def {name}({', '.join(operands)}):{self.layout.newline}"

    @staticmethod
    def _lambda(operands: Sequence[str], value: str) -> str:
        return f"lambda {', '.join(operands)}: {value}" if operands else f"lambda: {value}"

    def _cond(self, head: str, branches: Sequence[str], operands: Sequence[str]) -> str:
        arguments = [self.layout.argument(self.node.test), *branches, *operands]
        return self.layout.call(head, self.selector.name("jax.lax.cond"), arguments, self.indent)

    def _replace(self, text: str, kept: list[Span], last: Span) -> None:
        """Replaces the `if`, up to `last`, by `text`; comments that would be lost go above it."""
        start = self.site.span(self.node)
        end = max([(last.end_line, last.end_column), *((span.end_line, span.end_column) for span in kept)])
        whole = Span(start.line, start.column, *end)
        comments = self.layout.comments_outside(whole, kept)
        above = "".join(f"{comment}{self.layout.newline}{self.indent}" for comment in comments)
        gap = self.layout.gap_above(self.node) if text.startswith("def ") else ""
        self.draft.replace(*self.layout.with_gap(whole, gap, self.indent + above + text))


def _check_jumps(statements: Sequence[ast.stmt]) -> None:
    """Raises Refused for a `break` or `continue` out of the branch."""

    for jump in jumps_out(statements):
        if not isinstance(jump, ast.Return):
            if isinstance(jump, ast.Continue):
                raise Refused("a branch has a `continue`; put what follows the `if` into its `else`")
            raise Refused(
                "a branch leaves the loop by `break`; use lax.while_loop with the test among its conditions"
            )


def _has_return(statements: Sequence[ast.stmt]) -> bool:
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, FUNCTIONS):
            waiting.extend(ast.iter_child_nodes(node))
    return False
