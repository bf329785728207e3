"""`break-to-while-loop`: a loop that ends by `if test: break` becomes a `lax.while_loop`.

The carry includes whether the loop is done. Statements below the `break` also run in the last iteration; variables
that are used after the loop then keep their previous value. A variable without a value before the loop gets one from
the first iteration, which then runs before the loop, or zeros of its shape: then nothing is compiled twice.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.loops.empty_loops import iteration_test
from jaxlint.codemods.loops.while_and_range import Loop, packed
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import fresh_name
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.stageable import may_be_carried
from jaxlint.finding import Span, Step


def stop_of(loop: ast.For | ast.While) -> ast.If | None:
    """The statement `if test: break` of a loop that has one."""
    found = [
        one
        for one in loop.body
        if isinstance(one, ast.If) and not one.orelse and [type(part) for part in one.body] == [ast.Break]
    ]
    return found[0] if len(found) == 1 else None


@codemod("break-to-while-loop")
def break_to_while_loop(draft: Draft, step: Step) -> None:
    """The span is the test of `if test: break` in a `for` over a range, or in `while True`. The parameter `numbers`
    is that of `while-to-while-loop`; with `zeros`, the first iteration runs in the loop as well."""
    test = draft.site.find_ast(step.span, ast.expr)
    stop = draft.site.names.parents.get(test)
    loop = draft.site.names.parents.get(stop) if stop is not None else None
    if not isinstance(loop, ast.For | ast.While) or not isinstance(stop, ast.If) or stop_of(loop) is not stop:
        raise Refused("the test does not belong to the only `if ...: break` of a loop")
    rewrite = _EarlyStop(draft, loop, stop)
    rewrite.numbers = bool(step.parameters.get("numbers"))
    rewrite.zeros = bool(step.parameters.get("zeros"))
    rewrite.rewrite()


class _EarlyStop(Loop):
    may_begin = True
    zeros = False  # what has no value before the loop begins with zeros

    def __init__(self, draft: Draft, node: ast.For | ast.While, stop: ast.If) -> None:
        super().__init__(draft, node, without=[stop])
        check_expression(self.site, stop.test, "the test")
        self.stop = stop
        place = node.body.index(stop)
        self.above, self.below = node.body[:place], node.body[place + 1 :]
        self.count, self.bounds = self._counted()
        self.carry = self._some(self.carried(set(), {self.count} if self.count else set()))
        may_be_carried(draft, self.carry, node)
        kept = [*self.above, *self.below]
        counters = {self.count} if self.count else set[str]()
        self.fetches = self.fetched(stop.test, kept, {*self.carry, *counters}, counters)
        names = self.layout.identifiers(self.flow.scope)
        self.done, self.parameter = fresh_name(names, "done"), fresh_name(names, "carry")
        self.cond, self.body = fresh_name(names, "cond_fun"), fresh_name(names, "body_fun")
        if self.count == "_":
            self.count = fresh_name(names, "count")
        if isinstance(node, ast.For):
            self.test = iteration_test(draft, node.iter)
        self.unset = {name for name in self.carry if not self.flow.is_bound_before(name, node)}
        self.round = [*([self.count] if self.count else []), self.done, *self.carry]

    def _counted(self) -> tuple[str, tuple[ast.expr, ...]]:
        """The counter and the bounds of its range; empty for `while True`."""
        node = self.node
        if isinstance(node, ast.While):
            if not isinstance(node.test, ast.Constant) or node.test.value is not True:
                raise Refused("the loop has a test besides its `break`; move it into that test")
            return "", ()
        call = node.iter
        is_range = (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
            and self.flow.scope.resolve("range") is None
        )
        if not is_range or not isinstance(call, ast.Call) or not isinstance(node.target, ast.Name):
            raise Refused("the loop has a `break` and does not iterate over a range")
        bounds = self.bounds_of(call)
        index = node.target.id
        if index in self.flow.bound(node.body):
            raise Refused(f"the loop changes its counter `{index}`")
        if self.flow.is_used_after(index, node) and self.flow.is_bound_before(index, node):
            raise Refused(f"`{index}` has a value before the loop, which a loop without iterations keeps")
        return index, tuple(bounds)

    def rewrite(self) -> None:
        start, condition = "", f"~{self.done}"
        if self.count:
            first, last = (None, *self.bounds) if len(self.bounds) == 1 else self.bounds
            start = "-1" if first is None else f"{self.layout.operand(first)} - 1"
            assert last is not None
            condition += f" & ({self.count} + 1 < {self.layout.operand(last)})"
        wanted = {self.done, self.count}
        text = f"def {self.cond}({self.parameter}):{self.newline}{self.unpacked(self.round, self.parameter, wanted)}"
        text += f"{self.inner}return {condition}{self.newline}{self.newline}{self.indent}"
        known = set(self.round) - {self.done} - self.unset
        text += f"def {self.body}({self.parameter}):{self.newline}{self.unpacked(self.round, self.parameter, known)}"
        text += f"{self.inner}{self.count} = {self.count} + 1{self.newline}" if self.count else ""
        lines, spans = self._lines()
        text += f"{lines}{self.inner}return {', '.join(self.round)}{self.newline}{self.newline}{self.indent}"
        begin = [*([start] if self.count else []), "False"]
        begin += ["None" if name in self.unset else name for name in self.carry]
        state = packed(begin)
        if self.unset and self.zeros:
            text += self._shaped(state)
            state = packed([*begin[: len(begin) - len(self.carry)], *self.carry])
        elif self.unset:
            text += self.layout.call(f"{self.parameter} = ", self.body, [state], self.indent)
            text += f"{self.newline}{self.indent}"
            state = self.parameter
        after = [name if self.flow.is_used_after(name, self.node) else "_" for name in self.round]
        text += self.call("jax.lax.while_loop", [self.cond, self.body, state], after)
        text += self.python_numbers_restored(after)
        self.replace(text, [*map(self.site.span, self.bounds), self.site.span(self.stop.test), *spans])

    def _shaped(self, state: str) -> str:
        """Statements that give zeros to each variable without a value before the loop, in the shapes that an iteration gives it."""
        names = [name if name in self.unset else "_" for name in self.round]
        text = self.call("jax.eval_shape", [self.body, state], names) + f"{self.newline}{self.indent}"
        zeros = reference(self.site, self.draft.imports, "jax.numpy.zeros_like", self.node)
        for name in (one for one in self.carry if one in self.unset):
            text += self.call("jax.tree.map", [zeros, name], [name]) + f"{self.newline}{self.indent}"
        return text

    def _lines(self) -> tuple[str, list[Span]]:
        """The body with its test as a value, and the spans that it was copied from."""
        header = self.node.test if isinstance(self.node, ast.While) else self.node.iter
        text, span = self.layout.block(self.above, indent=self.inner, after=self.site.span(header).end_line)
        spans = [span]
        text += f"{self.inner}{self.done} = {self.asked(self.stop, self.stop.test)}{self.newline}"
        above: ast.stmt = self.stop
        for statement in self.below:
            if any(self.flow.is_used_after(name, self.node) for name in self.flow.bound([statement])):
                text += self._kept(statement)
                spans += [self.site.span(value) for _, value in _assignments(statement)]
            else:
                lines, span = self.layout.block([statement], indent=self.inner, after=above.end_lineno or 0)
                text += lines
                spans.append(span)
            above = statement
        return self.fetches.rewritten(text), [one for one in spans if one is not None]

    def _kept(self, statement: ast.stmt) -> str:
        """An assignment without effect once the loop is done."""
        pairs = _assignments(statement)
        if not pairs:
            raise Refused(
                f"`{ast.unparse(statement)[:40]}` below the `break` assigns what is used after the loop"
            )
        where = reference(self.site, self.draft.imports, "jax.numpy.where", self.node)
        values = [f"{where}({self.done}, {name}, {self.layout.argument(value)})" for name, value in pairs]
        return f"{self.inner}{', '.join(name for name, _ in pairs)} = {', '.join(values)}{self.newline}"


def _assignments(statement: ast.stmt) -> Sequence[tuple[str, ast.expr]]:
    """The names and values of `a = x` and `a, b = x, y`; empty for other statements."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ()
    target, value = statement.targets[0], statement.value
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    values = value.elts if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) else [value]
    if len(targets) != len(values) or not all(isinstance(one, ast.Name) for one in targets):
        return ()
    return [(one.id, two) for one, two in zip(targets, values, strict=True) if isinstance(one, ast.Name)]
