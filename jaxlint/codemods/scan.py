"""`for-to-scan` and `for-to-vmap`: a Python loop over rows becomes one program for all of them.

The variables that live from one iteration to the next become the carry of a `lax.scan`; what the iterations append to lists that are
stacked afterwards becomes what it stacks. Where no iteration needs the one before, `vmap` runs them together.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from jaxlint.codemods.effects import check_expression, constant_type
from jaxlint.codemods.imports import reference
from jaxlint.codemods.layout import MAX_LINE, fresh_name
from jaxlint.codemods.loops import Loop, packed
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.rows import Rows, rows_of
from jaxlint.codemods.site import Refused
from jaxlint.codemods.statements import is_alone, whole_lines
from jaxlint.codemods.traceable import check_traceable
from jaxlint.finding import Span, Step

_STACKS = frozenset({"jax.numpy.stack", "jax.numpy.array", "jax.numpy.asarray"})
_HOST_STACKS = frozenset({"numpy.stack", "numpy.array", "numpy.asarray"})
_JOINS = frozenset({"jax.numpy.concatenate", "jax.numpy.vstack", "jax.numpy.hstack", "jax.numpy.stack"})


@codemod("for-to-scan")
def for_to_scan(draft: Draft, step: Step) -> None:
    """The span is what a `for` runs over. `layers`: it is a sequence of pytrees of one structure, which are stacked."""
    _RowLoop(draft, step).as_scan()


@codemod("for-to-vmap")
def for_to_vmap(draft: Draft, step: Step) -> None:
    """The span is what a `for` runs over, whose iterations only append to lists. Takes no parameters."""
    _RowLoop(draft, step).as_vmap()


@dataclass(slots=True)
class _Filled:
    """A list that each iteration appends one value to. `output`: what the loop of JAX calls the stacked values."""

    name: str
    made: ast.Assign | ast.AnnAssign
    first: list[ast.expr]  # what it holds before the loop
    appended: ast.stmt
    value: ast.expr
    output: str
    text: str = ""
    stacks: list[tuple[ast.Call, bool]] = field(
        default_factory=list
    )  # later calls that stack it; True: to NumPy


class _RowLoop(Loop):
    """The rewrite of one `for` over rows."""

    def __init__(self, draft: Draft, step: Step) -> None:
        iterable = draft.site.find_ast(step.span, ast.expr)
        node = draft.site.names.parents.get(iterable)
        if not isinstance(node, ast.For) or node.iter is not iterable:
            raise Refused("the span is not what a `for` statement runs over")
        appends = [one for one in node.body if _appended(one) is not None]
        super().__init__(draft, node, without=appends)
        self.loop = node
        self.rows: Rows = rows_of(
            draft, node.target, node.iter, node.body, layers=bool(step.parameters.get("layers"))
        )
        self.identifiers = self.layout.identifiers(self.flow.scope)
        self.filled = self._lists(appends)
        for one in self.filled:
            check_expression(self.site, one.value, "the loop")
        self.targets = set(self.flow.bound([node.target]))
        for name in self.targets:
            if self.flow.is_used_after(name, node) and name != "_":
                raise Refused(f"`{name}` is used after the loop")
        traced = self.targets | set(self.flow.bound(node.body))
        check_traceable(
            self.site,
            self.rows.body,
            traced,
            "the loop",
            counters=self.rows.counters,
            handled=self.rows.handled,
        )
        self.carry = self.carried(set(), self.targets | {one.name for one in self.filled})

    def as_scan(self) -> None:
        if not self.carry and not self.filled:
            raise Refused("the loop computes nothing that is used afterwards")
        body = fresh_name(self.identifiers, "body_fun")
        carry = "_" if not self.carry else self.carry[0] if len(self.carry) == 1 else self._fresh("carry")
        row, unpacking = self._parameter()
        text = f"def {body}({carry}, {row}):{self.newline}"
        text += self.unpacked(self.carry, carry) if self.carry else ""
        lines, kept = self._lines()
        text += f"{unpacking}{lines}"
        outs = packed([one.text for one in self.filled]) if self.filled else "None"
        text += self._returned([packed(self.carry) if self.carry else "None", outs])
        results = [packed(self.carry) if self.carry else "_"]
        results.append(packed([one.output for one in self.filled]) if self.filled else "_")
        over, options = self.rows.scanned()
        scan = reference(self.site, self.draft.imports, "jax.lax.scan", self.node)
        start = packed(self.carry) if self.carry else "None"
        arguments = [body, start, over, *options]
        text += f"{self.newline}{self.indent}"
        text += self.layout.call(f"{', '.join(results)} = ", scan, arguments, self.indent)
        self._finish(text, kept)

    def as_vmap(self) -> None:
        if self.carry:
            raise Refused(
                f"`{self.carry[0]}` goes from one iteration to the next, so they cannot run together"
            )
        if not self.filled:
            raise Refused("the loop appends to no list that is stacked afterwards")
        over = self.rows.mapped()
        vmap = reference(self.site, self.draft.imports, "jax.vmap", self.node)
        results = ", ".join(one.output for one in self.filled)
        if len(self.filled) == 1 and len(self.loop.body) == 1:
            function = self.rows.function(self.filled[0].value)
            text = self.layout.call(f"{results} = ", f"{vmap}({function})", over, self.indent)
            kept = [self.site.span(self.filled[0].value)]
        else:
            name = fresh_name(self.identifiers, "row_fun")
            lines, kept = self._lines()
            text = f"def {name}({', '.join(self.rows.parameters)}):{self.newline}"
            text += f"{self._unpack_rows()}{lines}{self._returned([one.text for one in self.filled])}"
            text += f"{self.newline}{self.indent}"
            text += self.layout.call(f"{results} = ", f"{vmap}({name})", over, self.indent)
        self._finish(text, kept)

    # The lists

    def _lists(self, appends: list[ast.stmt]) -> list[_Filled]:
        found: dict[str, _Filled] = {}
        for statement in appends:
            got = _appended(statement)
            assert got is not None
            name, value = got
            if name in found:
                raise Refused(f"an iteration appends to `{name}` more than once")
            made, first = self._creation(name)
            output = self._fresh(f"new_{name}") if first else name
            found[name] = _Filled(name, made, first, statement, value, output)
        for one in found.values():
            self._uses(one)
        return list(found.values())

    def _creation(self, name: str) -> tuple[ast.Assign | ast.AnnAssign, list[ast.expr]]:
        """The statement that makes the list, before the loop and in the same block, and what it begins with."""
        block = self.flow.block(self.node)
        for statement in reversed(block[: block.index(self.node)]):
            for target, value in _assigned(statement):
                if isinstance(target, ast.Name) and target.id == name:
                    assert isinstance(statement, (ast.Assign, ast.AnnAssign))
                    if isinstance(value, ast.List):
                        if any(isinstance(part, ast.Starred) for part in value.elts):
                            break
                        return statement, value.elts
                    if isinstance(value, ast.Call) and ast.unparse(value) == "list()":
                        return statement, []
            if name in self.flow.reads(statement) or name in self.flow.bound([statement]):
                break
        raise Refused(f"`{name}` is not made as a list just before the loop")

    def _uses(self, one: _Filled) -> None:
        """What becomes of the list after the loop. Raises Refused where it must stay a list."""
        if self.flow.scope.node is self.site.names.tree:
            raise Refused(f"other modules may import the list `{one.name}`")
        if one.name in self.flow.scope.redirected:
            raise Refused(f"`{one.name}` is a variable of another function")
        end = self._rebound(one.name)
        for use in self.site.names.uses_of(one.name, self.flow.scope):
            if self.site.names.parents.get(use.name) is _method(one.appended) or use.name.lineno > end:
                continue
            if (
                use.scope is not self.flow.scope
                or use.name.lineno < self.node.lineno
                or self._is_in(use.name, self.node)
            ):
                raise Refused(f"`{one.name}` is read elsewhere than after the loop")
            if any(
                isinstance(a, (ast.For, ast.While)) and a not in self._loops()
                for a in self.site.names.ancestors(use.name)
            ):
                if not self._is_stacked(one, use.name):
                    raise Refused(f"`{one.name}` is read in another loop, as a list")
                continue
            if not self._is_stacked(one, use.name) and (one.first or not self._takes_array(use.name)):
                raise Refused(f"`{one.name}` stays a list, since it is not only stacked after the loop")
        if not one.stacks and not one.first and not self._is_read(one):
            raise Refused(f"`{one.name}` is not stacked after the loop")

    def _rebound(self, name: str) -> float:
        """The last line of the statement after the loop, in its block, from which on the name means something else."""
        for statement in self.flow.rest(self.node):
            if any(isinstance(target, ast.Name) and target.id == name for target, _ in _assigned(statement)):
                return statement.end_lineno or statement.lineno
        return float("inf")

    def _is_stacked(self, one: _Filled, use: ast.Name) -> bool:
        call = self.site.names.parents.get(use)
        if not isinstance(call, ast.Call) or not call.args or call.args[0] is not use:
            return False
        name = self.site.names.qualified(call.func) or ""
        alone = len(call.args) == 1 and all(
            k.arg == "axis" and isinstance(k.value, ast.Constant) and k.value.value == 0
            for k in call.keywords
        )
        if alone and name in _STACKS | _HOST_STACKS:
            one.stacks.append((call, name in _HOST_STACKS))
            return True
        return False

    def _takes_array(self, use: ast.Name) -> bool:
        """Whether what is done with the list does the same with an array of its items."""
        parent = self.site.names.parents.get(use)
        if isinstance(parent, ast.Subscript) and parent.value is use and isinstance(parent.ctx, ast.Load):
            return constant_type(parent.slice) is int
        if isinstance(parent, ast.Call) and parent.args and parent.args[0] is use:
            name = self.site.names.qualified(parent.func)
            return name in _JOINS or (isinstance(parent.func, ast.Name) and parent.func.id == "len")
        return False

    def _is_read(self, one: _Filled) -> bool:
        uses = self.site.names.uses_of(one.name, self.flow.scope)
        return any(not self._is_in(use.name, self.node) for use in uses)

    def _loops(self) -> list[ast.AST]:
        return [one for one in self.site.names.ancestors(self.node) if isinstance(one, (ast.For, ast.While))]

    def _is_in(self, node: ast.AST, statement: ast.stmt) -> bool:
        return node is statement or statement in self.site.names.ancestors(node)

    # Text

    def _fresh(self, wanted: str) -> str:
        return fresh_name(self.identifiers, wanted)

    def _parameter(self) -> tuple[str, str]:
        """The parameter of the body that takes a row, and the line that unpacks it."""
        names, patterns = self.rows.parameters, self.rows.patterns
        if len(names) == 1:
            return names[0], self._unpack_rows()
        row = self._fresh("row")
        parts = [f"({patterns[name]})" if name in patterns else name for name in names]
        return row, f"{self.inner}{', '.join(parts)} = {row}{self.newline}"

    def _unpack_rows(self) -> str:
        return "".join(
            f"{self.inner}{pattern} = {name}{self.newline}" for name, pattern in self.rows.patterns.items()
        )

    def _lines(self) -> tuple[str, list[Span]]:
        """The body without its appends, and the spans that it was taken from; says how each appended value is written."""
        text, kept, run = "", list[Span](), list[ast.stmt]()
        after = self.site.span(self.loop.iter).end_line
        by_statement = {one.appended: one for one in self.filled}

        def flush() -> None:
            nonlocal text
            lines, span = self.layout.block(run, indent=self.inner, after=after)
            text += self.rows.rewritten(lines)
            if span is not None:
                kept.append(span)
            run.clear()

        for number, statement in enumerate(self.loop.body):
            one = by_statement.get(statement)
            if one is None:
                run.append(statement)
                continue
            flush()
            kept.append(self.site.span(one.value))
            rest = self.loop.body[number + 1 :]
            value = self.rows.rewritten(self.layout.argument(one.value))
            if "\n" in value and not value.startswith("("):
                value = f"({value})"
            if self.flow.reads(one.value) & set(self.flow.bound(rest)):
                one.text = self._fresh(f"{one.name}_row")
                text += f"{self.inner}{one.text} = {value}{self.newline}"
            else:
                one.text = value
            after = self.site.span(statement).end_line
        flush()
        return text, kept

    def _returned(self, parts: list[str]) -> str:
        line = f"{self.inner}return {', '.join(parts)}{self.newline}"
        if len(line) <= MAX_LINE or len(parts) == 1:
            return line
        inner = "".join(f"{self.inner}    {part},{self.newline}" for part in parts)
        return f"{self.inner}return ({self.newline}{inner}{self.inner}){self.newline}"

    def _finish(self, text: str, kept: list[Span]) -> None:
        for one in self.filled:
            if one.first:
                text += f"{self.newline}{self.indent}{self._joined(one)}"
        self.replace(text, [*kept, self.site.span(self.loop.iter)], self._gap(text))
        self._drop_lists()
        for one in self.filled:
            for call, to_host in one.stacks:
                self._drop_stack(one, call, to_host)

    def _gap(self, text: str) -> str:
        """What sets a function off from the statement above, the lists that go left out."""
        empty = {one.name for one in self.filled if not one.first}
        gone = {
            one.made
            for one in self.filled
            if {target.id if isinstance(target, ast.Name) else "" for target, _ in _assigned(one.made)}
            <= empty
        }
        above: ast.stmt = self.node
        block = self.flow.block(self.node)
        for statement in reversed(block[: block.index(self.node)]):
            if statement not in gone:
                break
            above = statement
        return self.layout.gap_above(above) if text.startswith("def ") else ""

    def _joined(self, one: _Filled) -> str:
        join = reference(self.site, self.draft.imports, "jax.numpy.concatenate", self.node)
        stack = reference(self.site, self.draft.imports, "jax.numpy.stack", self.node)
        return self.layout.call(f"{one.name} = ", join, [f"[{stack}({one.name}), {one.output}]"], self.indent)

    def _drop_lists(self) -> None:
        """Removes the statements that make empty lists."""
        empty = {one.name for one in self.filled if not one.first}
        for made in dict.fromkeys(one.made for one in self.filled if not one.first):
            left = [
                (self.site.text(target), self.layout.argument(value))
                for target, value in _assigned(made)
                if not (isinstance(target, ast.Name) and target.id in empty)
            ]
            if left:
                targets, values = (", ".join(parts) for parts in zip(*left, strict=True))
                self.draft.replace(self.site.span(made), f"{targets} = {values}")
            elif is_alone(self.site, made):
                self.draft.replace(whole_lines(self.site, made, set()), "")
            else:
                raise Refused("the statement that makes the list shares its line with another")

    def _drop_stack(self, one: _Filled, call: ast.Call, to_host: bool) -> None:
        statement = self.site.names.parents.get(call)
        same = isinstance(statement, ast.Assign) and [ast.unparse(t) for t in statement.targets] == [one.name]
        if to_host:
            host = reference(self.site, self.draft.imports, "numpy.asarray", call)
            self.draft.replace(self.site.span(call), f"{host}({one.name})")
        elif same and is_alone(self.site, statement):  # type: ignore[arg-type]
            self.draft.replace(whole_lines(self.site, statement, set()), "")  # type: ignore[arg-type]
        else:
            self.draft.replace(self.site.span(call), one.name)


def _appended(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """`ys.append(y)`, `ys += [y]`: the list and the value."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        function = call.func
        if (
            isinstance(function, ast.Attribute)
            and function.attr == "append"
            and isinstance(function.value, ast.Name)
        ):
            if len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred):
                return function.value.id, call.args[0]
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        value = statement.value
        if isinstance(statement.op, ast.Add) and isinstance(value, ast.List) and len(value.elts) == 1:
            if not isinstance(value.elts[0], ast.Starred):
                return statement.target.id, value.elts[0]
    return None


def _method(statement: ast.stmt) -> ast.AST | None:
    """`ys.append` where the statement calls it, or the whole of `ys += [y]`."""
    if isinstance(statement, ast.AugAssign):
        return statement
    called = statement.value if isinstance(statement, ast.Expr) else None
    return called.func if isinstance(called, ast.Call) else None


def _assigned(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """What a statement assigns to what; `a, b = [], []` assigns two."""
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return [(statement.target, statement.value)]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]
