"""`steps-between-looks`: if the host reads values of a loop only at some steps, the steps between two reads
become one jitted loop.

for step in range(steps):                       done = 0
    state = move(state)                         for step in range(steps):
    if step % 100 == 0:                             if step % 100 == 0:
        print(step, energy(state))                      state = run_steps(state, done, step + 1)
                                                        done = step + 1
                                                        print(step, energy(state))
                                                if done < steps:
                                                    state = run_steps(state, done, steps)

The host statements of a look do not change: they see the values of their own step. So it may print, plot,
store and compute as it likes.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from jaxlint.codemods.compilation.outline import line_with_comments
from jaxlint.codemods.compilation.region import Region
from jaxlint.codemods.compilation.region_text import Written
from jaxlint.codemods.facts.applied_transforms import PARTIAL
from jaxlint.codemods.facts.dataflow import Flow
from jaxlint.codemods.loops.host_reads import HostReads, host_reads_of
from jaxlint.codemods.loops.steps_region import LoopRegion
from jaxlint.codemods.loops.while_and_range import packed
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.traced_before import calls_filtered, only_jitted_calls
from jaxlint.codemods.purity.values import NUMBER
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.stageable import check_outlined, may_be_carried, program_and_file
from jaxlint.finding import Step

_JIT = "jax.jit"


@codemod("steps-between-looks")
def steps_between_looks(draft: Draft, step: Step) -> None:
    """The span is the iterable of a `for`: a range, perhaps in a progress bar.

    Parameters: `function`, the name of the enclosing function; `arguments` and `variables`, those of that
    function in a run; `static`: parameters of that function that are known when the steps are compiled;
    `once`: that function is called once.
    """
    site = draft.site
    loop = site.find_loop(step.span)
    _, file = program_and_file(draft)
    possible = PossibleValues(draft.program())
    steps = Stretch.of_loop(site, loop)
    steps.once = bool(step.parameters.get("once"))
    steps.settle(possible, file)
    if calls_filtered(steps.nodes, possible, file):
        raise Refused("functions jitted by equinox may carry more than arrays")
    may_be_carried(draft, steps.carry, loop)
    steps.find_numbers(step, possible, file)
    text = _Text(steps, Layout(site))
    known = step.parameters.get("static")
    static = [one for one in text.parameters if isinstance(known, list | tuple) and one in known]
    static = [one for one in static if one not in steps.carry]
    checked = text.one_step()
    check_outlined(
        draft,
        step,
        checked.whole(site.source.text, ""),
        checked.line,
        _JIT,
        static,
        nodes=steps.nodes,
        looped=True,
        traced_before=only_jitted_calls(steps.nodes, possible, file),
    )
    written = text.all_steps(reference(site, draft.imports, "jax.lax.fori_loop", loop))
    wrapper = reference(site, draft.imports, _JIT, loop)
    if static:
        named = ", ".join(f'"{one}"' for one in static) + ("," if len(static) == 1 else "")
        wrapper = f"{reference(site, draft.imports, PARTIAL, loop)}({wrapper}, static_argnames=({named}))"
    place, definition = written.definition(f"@{wrapper}")
    draft.insert(place, 1, definition)
    draft.replace(written.span, text.loop())


@dataclass(slots=True)
class Stretch(LoopRegion):
    """The computing statements of a loop. `shown`: values that the last step returns in addition."""

    found: HostReads | None = None
    shown: list[str] = field(default_factory=list)

    @classmethod
    def of_loop(cls, site: Site, loop: ast.For) -> Stretch:
        """Divides the body of a loop. Raises Refused if the steps up to the next look may not run after the
        host statements of the last one.
        """
        scope = site.names.scope_at(loop)
        if scope.is_class or loop.orelse or not isinstance(loop.target, ast.Name):
            raise Refused("the loop has an `else`, unpacks its iterable, or is in a class body")
        if any(isinstance(one, ast.Try | ast.With) for one in site.names.ancestors_below(loop, scope.node)):
            raise Refused("a handler or `with` around the loop could see steps that have not run yet")
        looks = host_reads_of(site, loop)
        for one in looks.computing:
            Region.at(site, site.across([one]), _JIT)
        return cls(site, scope, looks.computing, Flow(site.names, scope), _JIT, found=looks)

    @property
    def looks(self) -> HostReads:
        assert self.found is not None
        return self.found

    @property
    def target(self) -> str:
        assert isinstance(self.looks.loop.target, ast.Name)
        return self.looks.loop.target.id

    @property
    def reads_target(self) -> bool:
        return self.target in self.variables()[1]

    def settle(self, possible: PossibleValues, file: File) -> None:
        """Determines the carry, the inputs and the outputs. Raises Refused."""
        loop = self.looks.loop
        for one in self.looks.range.args:
            if (kinds := possible.of(file.same(one), file)) != {NUMBER}:
                raise Refused("the bounds of the range may be arrays, or are unknown" if kinds else "the bounds of the range are unknown")  # fmt: skip
        self.given = {self.target}
        self.divide(possible, file)
        if self.own is not None and (self.own.variables or self.own.set):
            raise Refused("it reads or sets arrays of the method's own object")
        bound, exposed = self.variables()
        self.looks.check(set(bound), exposed, self.flow)
        self.carry = [one for one in bound if one in exposed]
        read = self.flow.sequence(list(self.looks.blocks)).exposed
        for name in bound:
            after = self.flow.is_used_after(name, loop, importable=False) or (
                self.scope.node is self.site.names.tree and self.site.names.is_shown(name)
            )
            if name in exposed:
                if not self.flow.is_bound_before(name, loop):
                    raise Refused(f"`{name}` may have no value before the loop")
            elif name in read and self.looks.first:
                raise Refused(f"the host reads `{name}` of the previous step")
            elif name in read or after:
                self.shown.append(name)
        if not self.carry:
            raise Refused("no value is carried from one step to the next")
        self.parameters = [*self.carry, *(one for one in self.parameters if one not in self.carry)]


@dataclass(slots=True)
class _Text:
    """The function of the steps, and the loop that calls it."""

    steps: Stretch
    layout: Layout
    name: str = ""
    start: str = ""
    stop: str = ""
    done: str = ""
    end: str = ""
    inner: str = ""  # the function of one step
    packed: str = ""
    indent: str = ""
    unit: str = ""
    parameters: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        steps, layout = self.steps, self.layout
        taken = layout.identifiers(steps.scope) | layout.identifiers(
            steps.site.names.scope_at(steps.site.tree)
        )
        loop = steps.looks.loop
        self.indent, self.unit = layout.indent(loop), layout.unit(loop)
        self.name = fresh_name(taken, steps.name())
        self.done, self.end = fresh_name(taken, "done"), fresh_name(taken, "end")
        self.start, self.stop = fresh_name(taken, "start"), fresh_name(taken, "stop")
        self.inner = fresh_name(taken, "step")
        self.packed = steps.carry[0] if len(steps.carry) == 1 else fresh_name(taken, "carry")
        self.parameters = list(steps.parameters)
        site = steps.site
        kept = []
        for one in loop.body:
            span = site.span(one)
            kept.append(replace(span, line=line_with_comments(site, one), column=1, end_column=10**6))
        if layout.comments_outside(site.span(loop), kept):
            raise Refused("the rewrite would lose a comment of the loop")

    def _lines(self, node: ast.stmt, indent: str) -> list[str]:
        """The lines of a statement, with the comments above it, at another indentation."""
        here = self.layout.indent(node)
        if here != indent and self.layout.spans_lines_in_string(node):
            raise Refused("a multi-line string would have to be indented")
        lines = self.layout.lines[line_with_comments(self.steps.site, node) - 1 : node.end_lineno]
        return [f"{indent}{line.removeprefix(here)}" if line.strip() else "" for line in lines]

    # The function

    def _body(self, indent: str) -> list[str]:
        return [line for one in self.steps.statements for line in self._lines(one, indent)]

    def one_step(self) -> Written:
        """The function of one step, called in the loop: the compilation checks examine this text."""
        steps = self.steps
        parameters = [*self.parameters, *([steps.target] if steps.reads_target else [])]
        indent, head, tail, before = steps.place(self.layout)
        results = ", ".join([*steps.carry, *steps.shown])
        lines = [
            f"{indent}def {self.name}({', '.join(parameters)}):",
            *self._body(f"{indent}{self.unit}"),
            f"{indent}{self.unit}return {results}",
        ]
        inside = f"{self.indent}{self.unit}"
        call = [f"{inside}{results} = {self.name}({', '.join(parameters)})"]
        looks = [line for one in steps.looks.blocks for line in self._lines(one, inside)]
        beside = [line for one in steps.looks.beside for line in self._lines(one, inside)]
        whole = [self._head(), *(looks + call + beside if steps.looks.first else call + beside + looks)]
        return self._written(head, indent, lines, tail, before, self.layout.newline.join(whole))

    def all_steps(self, loop: str) -> Written:
        """The function that is written."""
        steps, unit = self.steps, self.unit
        indent, head, tail, before = steps.place(self.layout)
        deep = f"{indent}{unit}"
        row = steps.target if steps.reads_target else "_"
        state, packed_state = packed(steps.carry), self.packed
        body = [f"{deep}{unit}{', '.join(steps.carry)} = {packed_state}"] if len(steps.carry) > 1 else []
        body += self._body(f"{deep}{unit}")
        number = row if row != "_" else "n" if packed_state == "i" else "i"
        if steps.apart:
            last = f"{state}, {packed(steps.shown)}" if steps.shown else ", ".join(steps.carry)
            once_more = (
                f"lambda {number}, last: {self.inner}({number}, last[0])" if steps.shown else self.inner
            )
            ending = [
                f"{deep}first = {self.inner}({self.start}, {state})",
                f"{deep}return {loop}({self.start} + 1, {self.stop}, {once_more}, first)",
            ]
        elif steps.shown:
            last = f"{state}, {packed(steps.shown)}"
            before_last = f"lambda {number}, {packed_state}: {self.inner}({number}, {packed_state})[0]"
            ending = [
                f"{deep}{packed_state} = {loop}({self.start}, {self.stop} - 1, {before_last}, {state})",
                f"{deep}return {self.inner}({self.stop} - 1, {packed_state})",
            ]
        else:
            last = ", ".join(steps.carry)
            ending = [f"{deep}return {loop}({self.start}, {self.stop}, {self.inner}, {state})"]
        lines = [
            f"{indent}def {self.name}({', '.join([*self.parameters, self.start, self.stop])}):",
            f"{deep}def {self.inner}({row}, {packed_state}):",
            *body,
            f"{deep}{unit}return {last}",
            "",
            *ending,
        ]
        return self._written(head, indent, lines, tail, before, "")

    def _written(
        self, head: list[str], indent: str, lines: list[str], tail: list[str], before: int, call: str
    ) -> Written:
        span = self.steps.site.span(self.steps.looks.loop)
        return Written(head, indent, lines, tail, before, span, call, self.layout.newline)

    # The loop

    def _head(self) -> str:
        site, loop = self.steps.site, self.steps.looks.loop
        return f"for {site.text(loop.target)} in {site.text(loop.iter)}:"

    def _call(self, stop: str, indent: str) -> list[str]:
        """The lines that run the steps from `done` to `stop`."""
        steps = self.steps
        bound = ", ".join(steps.carry)
        if steps.shown:
            bound = f"{packed(steps.carry)}, {packed(steps.shown)}"
        given = [*self.parameters, self.done, stop]
        text = self.layout.call(f"{bound} = ", self.name, given, indent)
        return f"{indent}{text}".split(self.layout.newline)

    def _up_to_here(self, indent: str) -> list[str]:
        """The lines that run the steps before a look, if there are any."""
        target = self.steps.target
        if not self.steps.looks.first:
            return [*self._call(f"{target} + 1", indent), f"{indent}{self.done} = {target} + 1"]
        deep = f"{indent}{self.unit}"
        return [
            f"{indent}if {self.done} < {target}:",
            *self._call(target, deep),
            f"{deep}{self.done} = {target}",
        ]

    def loop(self) -> str:
        """The code that replaces the loop."""
        looks = self.steps.looks
        *first, end = looks.range.args
        inside = f"{self.indent}{self.unit}"
        begins = self.layout.argument(first[0]) if first else "0"
        stop = self.layout.argument(end)
        before = [f"{self.done} = {begins}"]
        if not isinstance(end, ast.Name | ast.Constant):  # the host may change an attribute in the meantime
            before = [f"{self.end} = {stop}", f"{self.indent}{before[0]}"]
            stop = self.end
        beside = [line for one in looks.beside for line in self._lines(one, inside)]
        blocks = self._blocks(inside)
        deep = f"{self.indent}{self.unit}"
        rest = [
            f"{self.indent}if {self.done} < {stop}:",
            *self._call(stop, deep),
        ]
        if looks.stops:  # after a `break` no step follows
            rest = [f"{self.indent}else:", *(f"{self.unit}{line}" if line else line for line in rest)]
        lines = [
            *before,
            f"{self.indent}{self._head()}",
            *(blocks + beside if looks.first else beside + blocks),
            *rest,
        ]
        return self.layout.newline.join(lines)

    def _blocks(self, inside: str) -> list[str]:
        """The looks, the first one after the steps before it."""
        looks = self.steps.looks
        only = looks.blocks[0]
        lines = [line for one in looks.blocks for line in self._lines(one, inside)]
        first = line_with_comments(self.steps.site, only.body[0])
        if len(looks.blocks) == 1 and first > (only.test.end_lineno or only.lineno):
            above = first - line_with_comments(self.steps.site, only)
            return [
                *lines[:above],
                *self._up_to_here(self.layout.indent(only.body[0])),
                *lines[above:],
            ]
        tests = [self.layout.operand(one.test) for one in looks.blocks]
        if len(tests) == 1:
            tests = [self.layout.argument(only.test)]
        return [
            f"{inside}if {' or '.join(tests)}:",
            *self._up_to_here(f"{inside}{self.unit}"),
            *lines,
        ]
