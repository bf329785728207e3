"""`for-to-scan` and `for-to-vmap`: a Python loop over rows becomes one program for all of them.

Variables that live across iterations become the carry of a `lax.scan`; values appended to lists that are stacked
later become its stacked output. If no iteration needs the previous one, `vmap` runs them together.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.lifted_scans import LIFTED, LINEN_OPTIONS, Lifted, lifted_by, module_parameter
from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.facts.module_state import makes_unstackable
from jaxlint.codemods.facts.traceable import check_traceable
from jaxlint.codemods.loops.accumulators import Sum, sums_of
from jaxlint.codemods.loops.empty_loops import iteration_test
from jaxlint.codemods.loops.filled_lists import Filled, Lists, adding_statements, assigned
from jaxlint.codemods.loops.mapped_draws import may_be_mapped
from jaxlint.codemods.loops.rows import Rows, may_be_summed, rows_of
from jaxlint.codemods.loops.while_and_range import Loop, packed
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import MAX_LINE, fresh_name
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.stageable import may_be_carried, may_be_staged
from jaxlint.finding import Span, Step


@codemod("for-to-scan")
def for_to_scan(draft: Draft, step: Step) -> None:
    """The span is the iterable of a `for`. `layers`: it is a sequence of pytrees with one structure, which are
    stacked. `listed`: lists that are used as such after the loop become lists of its rows again."""
    _RowLoop(draft, step, lifted=True).as_scan()


@codemod("for-to-vmap")
def for_to_vmap(draft: Draft, step: Step) -> None:
    """The span is the iterable of a `for` whose iterations only append to lists.

    `sums`: or add to variables that nothing else in the loop reads. This adds in another order and keeps all summands
    until then. `listed`: see `for_to_scan`.
    """
    _RowLoop(draft, step).as_vmap(sums=bool(step.parameters.get("sums")))


class _RowLoop(Loop):
    """The rewrite of one `for` over rows. `lifted`: as a loop of a framework, if it calls the framework's modules."""

    def __init__(self, draft: Draft, step: Step, *, lifted: bool = False) -> None:
        node = draft.site.find_loop(step.span)
        appends = adding_statements(node.body)
        self.lifted = lifted_by(draft.site, node) if lifted else Lifted()
        if step.parameters.get("layers") and (name := makes_unstackable(draft.site, node.iter)):
            raise Refused(
                f"the layers hold a `{name}` whose leaves are not all arrays, so they cannot be stacked"
            )
        self.framework = self.lifted.framework
        super().__init__(draft, node, without=appends, lifted=self.framework)
        self.loop = node
        self.rows: Rows = rows_of(
            draft, node.target, node.iter, node.body, layers=bool(step.parameters.get("layers"))
        )
        self.identifiers = self.layout.identifiers(self.flow.scope)
        listed = bool(step.parameters.get("listed"))
        self.lists = Lists(draft, node, self.flow, appends, self._fresh, listed=listed)
        self.filled = self.lists.filled
        self.rows.settle(not self.filled or self.lists.wanted_last_first())
        self.lists.check_order(self.rows.reverse)
        self.test = iteration_test(draft, node.iter, layers=self.rows.trees)
        if self.test:
            self.lists.keep()
        self.following = [one for one in self.filled if one.last]
        for one in self.following:
            self.rows.rewrites |= dict.fromkeys(map(self.site.text, one.last), one.carried)
        for one in self.filled:
            check_expression(self.site, one.value, "the loop", lifted=self.framework)
        may_be_staged(draft, [one.value for one in self.filled], lifted=bool(self.framework))
        self.targets = set(self.flow.bound([node.target]))
        for name in self.targets:
            if self.flow.is_used_after(name, node) and name != "_":
                raise Refused(f"`{name}` is used after the loop")
        traced = self.targets | set(self.flow.bound(node.body)) | {one.name for one in self.following}
        check_traceable(
            self.site,
            self.rows.body,
            traced,
            "the loop",
            counters=self.rows.counters,
            handled=self.rows.handled,
        )
        self.numbers = bool(step.parameters.get("numbers"))
        self.carry = self.carried(set(), self.targets | {one.name for one in self.filled})
        self.sums: list[Sum] = []

    def as_scan(self) -> None:
        if not self.carry and not self.filled:
            raise Refused("nothing that the loop computes is used afterwards")
        last = [(one.name, one.first[-1], one.value) for one in self.following]
        may_be_carried(self.draft, self.carry, self.loop, last)
        names = [*self.carry, *(one.carried for one in self.following)]
        body = fresh_name(self.identifiers, "body_fun")
        carry = "_" if not names else names[0] if len(names) == 1 else self._fresh("carry")
        row, unpacking = self._parameter()
        lent = self.lifted.lent
        module = [module_parameter(self.site, self.loop)] if self.framework == "flax.linen" else []
        text = f"def {body}({', '.join([*module, carry, row, *lent])}):{self.newline}"
        text += self.unpacked(names, carry) if names else ""
        lines, kept = self._lines()
        text += f"{unpacking}{lines}"
        outs = packed([one.text for one in self.filled]) if self.filled else "None"
        ends = [*self.carry, *(one.text for one in self.following)]
        text += self._returned([packed(ends) if ends else "None", outs])
        results = [packed([*self.carry, *("_" for _ in self.following)]) if names else "_"]
        results.append(packed([one.output for one in self.filled]) if self.filled else "_")
        over, options = self.rows.scanned()
        scan = reference(self.site, self.draft.imports, LIFTED.get(self.framework, "jax.lax.scan"), self.node)
        starts = [*self.carry, *(f"{one.name}[-1]" for one in self.following)]
        start = packed(starts) if starts else "None"
        arguments = [body, start, over, *options]
        text += f"{self.newline}{self.indent}"
        if (
            self.framework == "flax.linen"
        ):  # takes only the function, and returns one that receives the module
            name = fresh_name(self.identifiers, "scan")
            if lent:
                broadcast = reference(self.site, self.draft.imports, "flax.linen.broadcast", self.node)
                options = [f"in_axes=({', '.join(['0', *[broadcast] * len(lent)])})", *options]
            text += self.layout.call(f"{name} = ", scan, [body, *LINEN_OPTIONS, *options], self.indent)
            text += f"{self.newline}{self.indent}"
            scan, arguments = name, [*module, start, over, *lent]
        text += self.layout.call(f"{', '.join(results)} = ", scan, arguments, self.indent)
        self._finish(text, kept)

    def as_vmap(self, *, sums: bool = False) -> None:
        if sums:
            may_be_summed(self.draft)
            self.sums = sums_of(self.loop.body, self.carry, self._fresh)
        kept_on = [name for name in self.carry if all(name != one.name for one in self.sums)]
        kept_on += [f"{one.name}[-1]" for one in self.following]
        if kept_on:
            raise Refused(f"`{kept_on[0]}` is carried between iterations, so they cannot run together")
        collected: list[Filled | Sum] = [*self.filled, *self.sums]
        if not collected:
            raise Refused("the loop fills no list that is stacked afterwards")
        may_be_mapped(self.draft, self.loop.body)
        over = self.rows.mapped()
        vmap = reference(self.site, self.draft.imports, "jax.vmap", self.node)
        results = ", ".join(one.output for one in collected)
        if len(collected) == 1 and len(self.loop.body) == 1 and not self.rows.patterns:
            function = self.rows.function(collected[0].value)
            text = self.layout.call(f"{results} = ", f"{vmap}({function})", over, self.indent)
            kept = [self.site.span(collected[0].value)]
        else:
            name = fresh_name(self.identifiers, "row_fun")
            lines, kept = self._lines()
            text = f"def {name}({', '.join(self.rows.parameters)}):{self.newline}"
            text += f"{self._unpack_rows()}{lines}{self._returned([one.text for one in collected])}"
            text += f"{self.newline}{self.indent}"
            text += self.layout.call(f"{results} = ", f"{vmap}({name})", over, self.indent)
        self._finish(text, kept)

    # Text

    def _fresh(self, wanted: str) -> str:
        return fresh_name(self.identifiers, wanted)

    def _parameter(self) -> tuple[str, str]:
        """The parameter of the body for a row, and the line that unpacks it."""
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
        """The body without its appends, and the spans that it was copied from; records the expression of each
        appended value."""
        text, kept, run = "", list[Span](), list[ast.stmt]()
        after = self.site.span(self.loop.iter).end_line
        collected: list[Filled | Sum] = [*self.filled, *self.sums]
        by_statement = {one.added: one for one in collected}

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
            carried = one.carried if isinstance(one, Filled) and not isinstance(one.value, ast.Name) else ""
            if carried or self.flow.reads(one.value) & set(self.flow.bound(rest)):
                one.text = self._fresh(f"new_{carried}" if carried else f"{one.name}_row")
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
        text += self.python_numbers_restored(self.carry)
        for one in self.filled:
            if one.first:
                text += f"{self.newline}{self.indent}{self._joined(one)}"
            if one.listed:
                text += f"{self.newline}{self.indent}{one.name} = list({one.name})"
        for each in self.sums:
            total = reference(self.site, self.draft.imports, "jax.numpy.sum", self.node)
            text += f"{self.newline}{self.indent}{each.name} = {each.name} + {total}({each.output}, axis=0)"
        self.replace(text, [*kept, self.site.span(self.loop.iter)], self._gap(text))
        self.lists.drop(self.rows.reverse)

    def _gap(self, text: str) -> str:
        """The separation of a function from the statement above, without the removed lists."""
        empty = self.lists.empty()
        gone = {
            one.made
            for one in self.filled
            if {target.id if isinstance(target, ast.Name) else "" for target, _ in assigned(one.made)}
            <= empty
            and not self.test
        }
        above: ast.stmt = self.node
        block = self.flow.block(self.node)
        for statement in reversed(block[: block.index(self.node)]):
            if statement not in gone:
                break
            above = statement
        return self.layout.gap_above(above) if text.startswith("def ") else ""

    def _joined(self, one: Filled) -> str:
        join = reference(self.site, self.draft.imports, "jax.numpy.concatenate", self.node)
        stack = reference(self.site, self.draft.imports, "jax.numpy.stack", self.node)
        return self.layout.call(f"{one.name} = ", join, [f"[{stack}({one.name}), {one.output}]"], self.indent)
