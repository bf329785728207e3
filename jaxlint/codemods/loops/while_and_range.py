"""`while-to-while-loop` and `range-to-fori-loop`: loops with a traced length become JAX loops.

Variables that live across iterations, or are used after the loop, become its carry.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence, Set

from jaxlint.codemods.facts.dataflow import Flow, jumps_out
from jaxlint.codemods.facts.local_effects import check_expression, check_pure, constant_type
from jaxlint.codemods.facts.traceable import check_traceable
from jaxlint.codemods.loops.host_fetches import Fetches, fetches_in
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.stageable import (
    begins_as_array,
    may_be_carried,
    may_be_staged,
    python_type,
)
from jaxlint.codemods.tracers.boolean import Truth
from jaxlint.codemods.tracers.select import check_test, is_truth
from jaxlint.finding import Span, Step

_GROWING = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Lambda, ast.JoinedStr)


@codemod("while-to-while-loop")
def while_to_while_loop(draft: Draft, step: Step) -> None:
    """The span is the test of a `while`.

    The parameter `numbers` (bool): Python numbers must be Python numbers afterwards. `host` (bool): the loop runs on
    the host, where it may fetch numbers, and must otherwise be traceable.
    """
    test = draft.site.find_ast(step.span, ast.expr)
    node = draft.site.names.parents.get(test)
    if not isinstance(node, ast.While) or node.test is not test:
        raise Refused("the test does not belong to a `while`")
    host = bool(step.parameters.get("host"))
    if not host:
        check_test(Layout(draft.site), test)
    loop = Loop(draft, node)
    loop.numbers = bool(step.parameters.get("numbers"))
    loop.rewrite_while(node, host=host)


@codemod("range-to-fori-loop")
def range_to_fori_loop(draft: Draft, step: Step) -> None:
    """The span is the call of `range` that a `for` runs over. Takes no parameters."""
    call = draft.site.find_ast(step.span, ast.Call)
    node = draft.site.names.parents.get(call)
    assert isinstance(call, ast.Call)
    if not isinstance(node, ast.For) or node.iter is not call:
        raise Refused("the range is not the iterable of a `for` statement")
    Loop(draft, node).rewrite_for(node, call)


class Loop:
    """The rewrite of one loop. `without`: statements of its body that may have side effects or leave it, since they
    are rewritten.

    `lifted`: the framework whose modules its body may call, since it becomes a loop of that framework.
    """

    numbers = False  # Python numbers from before the loop are Python numbers after it
    may_begin = (
        False  # also variables without a value before the loop, since its first iteration runs before it
    )

    def __init__(
        self,
        draft: Draft,
        node: ast.While | ast.For,
        without: Collection[ast.stmt] = (),
        *,
        lifted: str = "",
    ) -> None:
        self.draft, self.node, self.site = draft, node, draft.site
        self.layout = Layout(draft.site)
        self.flow = Flow(self.site.names, self.site.names.scope_at(node))
        self.indent = self.layout.indent(node)
        self.inner = self.indent + self.layout.unit(node)
        self.newline = self.layout.newline
        self.test = ""  # of whether it has an iteration, if that is unknown
        if node.orelse:
            raise Refused("the loop has an `else`")
        kept = [one for one in node.body if one not in without]
        _check_jumps(kept, node)
        check_pure(self.site, kept, "the loop", lifted=lifted)
        test = [node.test] if isinstance(node, ast.While) else []
        may_be_staged(draft, [*test, *kept], lifted=bool(lifted))

    def rewrite_while(self, node: ast.While, *, host: bool = False) -> None:
        asked = self.flow.reads(node.test)
        carry = self._some(self.carried(asked))
        may_be_carried(self.draft, carry, node)
        self._test_first(node, carry)
        fetches = Fetches(self.layout)
        if host:
            fetches = self.fetched(node.test, node.body, set(carry))
        kept = [self.site.span(node.test)]
        names = self.layout.identifiers(self.flow.scope)
        cond, body = fresh_name(names, "cond_fun"), fresh_name(names, "body_fun")
        parameter = carry[0] if len(carry) == 1 else fresh_name(names, "carry")
        test = self.asked(node, node.test)
        text = f"def {cond}({parameter}):{self.newline}"
        # The test only takes from the carry what it reads.
        text += self.unpacked(carry, parameter, asked)
        text += f"{self.inner}return {fetches.rewritten(test)}{self.newline}{self.newline}"
        text += f"{self.indent}def {body}({parameter}):{self.newline}{self.unpacked(carry, parameter)}"
        lines, span = self._body()
        text += f"{fetches.rewritten(lines)}{self.inner}return {', '.join(carry)}{self.newline}{self.newline}"
        text += self.indent + self.call("jax.lax.while_loop", [cond, body, packed(carry)], carry)
        text += self.python_numbers_restored(carry)
        self.replace(text, [*kept, span])

    def _test_first(self, node: ast.While, carry: Sequence[str]) -> None:
        """If a host loop may have no iterations, values that are not arrays before it must stay unchanged."""
        after = [name for name in carry if self.flow.is_used_after(name, node)]
        if not self.numbers or all(
            python_type(self.draft, name, node) or begins_as_array(self.draft, name, node) for name in after
        ):
            return
        test = self.layout.argument(node.test)
        if "#" in test:
            raise Refused("the test has a comment, and would be written twice")
        self.test = " ".join(test.split())

    def fetched(
        self, test: ast.expr, body: Sequence[ast.stmt], traced: set[str], counters: Set[str] = frozenset()
    ) -> Fetches:
        """The numbers that a host loop fetches in its test and body, which must otherwise be traceable."""
        fetches = fetches_in(self.layout, [test, *body])
        asks = {test} | {part for part in ast.walk(test) if isinstance(part, ast.BoolOp)}
        traced = traced | set(self.flow.bound(body))
        done = fetches.handled
        check_traceable(self.site, body, traced, "the loop", counters=counters, handled=done)
        check_traceable(self.site, [test], traced, "the test", counters=counters, handled=done | asks)
        return fetches

    def asked(self, node: ast.stmt, test: ast.expr) -> str:
        """The test of a statement as an expression on tracers: the whole carry is traced, so no Python operator may
        need a truth."""
        truth = Truth(self.draft, node).truth(test)
        # Array functions in place of `and` and `or` return truth values for any operands.
        boolean = isinstance(test, ast.BoolOp) or is_truth(self.site, test)
        text = truth if boolean else f"{self.layout.operand(test)} != 0"
        return f"({text})" if "\n" in text or "\r" in text else text

    def rewrite_for(self, node: ast.For, call: ast.Call) -> None:
        if not isinstance(node.target, ast.Name):
            raise Refused("the loop unpacks its iterable")
        bounds = self.bounds_of(call)
        index = node.target.id
        if self.flow.is_used_after(index, node) and index != "_":
            raise Refused(f"`{index}` is used after the loop")
        carry = self._some(self.carried(set(), {index}))
        may_be_carried(self.draft, carry, node)
        if index in carry:
            raise Refused(f"`{index}` is used after the loop")
        names = self.layout.identifiers(self.flow.scope)
        body = fresh_name(names, "body_fun")
        parameter = carry[0] if len(carry) == 1 else fresh_name(names, "carry")
        text = f"def {body}({index}, {parameter}):{self.newline}{self.unpacked(carry, parameter)}"
        lines, span = self._body()
        text += f"{lines}{self.inner}return {', '.join(carry)}{self.newline}{self.newline}"
        start, stop = ("0", self.layout.argument(bounds[0]))
        if len(bounds) == 2:
            start, stop = (self.layout.argument(bound) for bound in bounds)
        text += self.indent + self.call("jax.lax.fori_loop", [start, stop, body, packed(carry)], carry)
        self.replace(text, [*(self.site.span(bound) for bound in bounds), span])

    def bounds_of(self, call: ast.Call) -> list[ast.expr]:
        """The arguments of a `range` with step one. Raises Refused for others."""
        if (
            call.keywords
            or not 1 <= len(call.args) <= 2
            or any(isinstance(a, ast.Starred) for a in call.args)
        ):
            raise Refused(
                "`lax.fori_loop` has no step; only `range(stop)` and `range(start, stop)` can be rewritten"
            )
        for bound in call.args:
            check_expression(self.site, bound, "the range")
        return call.args

    # The carry

    @staticmethod
    def _some(carry: list[str]) -> list[str]:
        if not carry:
            raise Refused("nothing that the loop computes is used afterwards")
        return carry

    def carried(self, asked: set[str], targets: Set[str] = frozenset()) -> list[str]:
        """The variables of the carry. `asked`: required ones; `targets`: bound by the loop itself in each iteration."""
        node = self.node
        facts = self.flow.sequence(node.body)
        if facts.leaves:
            raise Refused("the body always leaves the loop")
        bound = self.flow.bound(node.body)
        carry = []
        for name in bound:
            goes_round = name in facts.exposed and name not in targets
            used_after = name not in targets and self.flow.is_used_after(name, node)
            if not (goes_round or used_after or name in asked):
                continue
            if not self.flow.is_bound_before(name, node) and not (self.may_begin and not goes_round):
                raise Refused(f"`{name}` may have no value before the loop; assign one of the same type")
            carry.append(name)
        for name in carry:
            self._check_kind(name)
        return carry

    def _check_kind(self, name: str) -> None:
        """A carry keeps its type and structure between iterations."""
        for binding in self.flow.scope.bindings.get(name, ()):
            statement = self.site.names.parents.get(binding.node)
            if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                value = statement.value
                if (isinstance(value, _GROWING) and not _is_tree(value)) or (
                    value and constant_type(value) in (str, bytes, type(None))
                ):
                    raise Refused(
                        f"`{name}` holds `{ast.unparse(value)[:40]}`, which a JAX loop cannot carry or grow"
                    )
        for use in self.site.names.uses_of(name, self.flow.scope):
            parent = self.site.names.parents.get(use.name)
            if isinstance(parent, ast.Slice):
                raise Refused(
                    f"`{name}` bounds a slice, so it must be a Python number; see lax.dynamic_slice_in_dim"
                )
            if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and use.name in parent.args:
                if parent.func.id in ("range", "len", "isinstance"):
                    raise Refused(f"`{name}` is used as a Python number, in `{parent.func.id}`")

    # Text

    def unpacked(self, carry: Sequence[str], parameter: str, wanted: set[str] | None = None) -> str:
        if len(carry) == 1:
            return ""
        names = [name if wanted is None or name in wanted else "_" for name in carry]
        return f"{self.inner}{', '.join(names)} = {parameter}{self.newline}"

    def _body(self) -> tuple[str, Span]:
        header = self.node.test if isinstance(self.node, ast.While) else self.node.iter
        lines, span = self.layout.block(
            self.node.body, indent=self.inner, after=self.site.span(header).end_line
        )
        assert span is not None
        return lines, span

    def call(self, target: str, arguments: Sequence[str], carry: Sequence[str]) -> str:
        function = reference(self.site, self.draft.imports, target, self.node)
        return self.layout.call(f"{', '.join(carry)} = ", function, arguments, self.indent)

    def python_numbers_restored(self, carry: Sequence[str]) -> str:
        """Statements that convert variables back to Python numbers, if the loop runs on the host."""
        text = ""
        for name in carry if self.numbers else ():
            if name != "_" and self.flow.is_used_after(name, self.node):
                if kind := python_type(self.draft, name, self.node):
                    text += f"{self.newline}{self.indent}{name} = {kind}({name})"
        return text

    def _below_test(self, text: str) -> str:
        if any(self.layout.spans_lines_in_string(one) for one in self.node.body):
            raise Refused(
                "a multi-line string would have to be indented, since the loop may have no iterations"
            )
        unit = self.inner[len(self.indent) :]
        lines = [unit + line if line.strip() else line for line in (self.indent + text).split(self.newline)]
        return f"if {self.test}:{self.newline}{self.newline.join(lines)}"

    def replace(self, text: str, kept: Sequence[Span], gap: str | None = None) -> None:
        """Replaces the loop by `text`, below the test. `gap`: the separation from the code above, if it is not the usual one."""
        if self.test:
            text, gap = self._below_test(text), ""
        start = self.site.span(self.node)
        end = max((span.end_line, span.end_column) for span in [start, *kept])
        whole = Span(start.line, start.column, *end)
        comments = self.layout.comments_outside(whole, kept)
        above = "".join(f"{comment}{self.newline}{self.indent}" for comment in comments)
        if gap is None:
            gap = self.layout.gap_above(self.node)
        self.draft.replace(*self.layout.with_gap(whole, gap, self.indent + above + text))


def _is_tree(value: ast.expr) -> bool:
    """A dict with literal keys, which is a pytree with a fixed structure."""
    return isinstance(value, ast.Dict) and all(isinstance(key, ast.Constant) for key in value.keys)


def packed(carry: Sequence[str]) -> str:
    return carry[0] if len(carry) == 1 else f"({', '.join(carry)})"


def _check_jumps(statements: Sequence[ast.stmt], loop: ast.For | ast.While) -> None:
    """Raises Refused for statements that leave the loop early."""

    for jump in jumps_out(statements):
        if isinstance(jump, ast.Return):
            raise Refused("the loop contains a `return`")
        if isinstance(jump, ast.Continue):
            raise Refused("the loop has a `continue`; put what follows it under an `if`")
        then = "move its condition into the test" if isinstance(loop, ast.While) else "use `lax.while_loop`"
        raise Refused(f"the loop has a `break`; {then}")
