"""`loop-to-steps`: the computation of a host loop becomes one jitted `lax.scan`; the host code that uses its
numbers follows.

    for _ in range(steps):
        state = rk4(state, h)
        t += h
        energies.append(float(energy(state)))

contains two loops. The first computes on arrays alone, and each iteration waits for the second to fetch a
number. So the first becomes `simulate_steps`, which returns `energy(state)` of all steps at once, and the
second loop runs over these values unchanged.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from jaxlint.codemods.compilation.outline import line_with_comments
from jaxlint.codemods.compilation.region_text import Written
from jaxlint.codemods.facts.applied_transforms import PARTIAL
from jaxlint.codemods.loops.parts_of_steps import Parts, parts_of
from jaxlint.codemods.loops.steps_region import Steps, arrays_seen
from jaxlint.codemods.loops.while_and_range import packed
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.traced_before import FILTERED, calls_filtered, only_jitted_calls
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.stageable import check_outlined, may_be_carried, program_and_file
from jaxlint.finding import Step


@codemod("loop-to-steps")
def loop_to_steps(draft: Draft, step: Step) -> None:
    """The span is the iterable of a `for`: a range, or the rows of an array.

    Parameters: `function`, the name of the enclosing function; `arguments` and `variables`, those of that
    function in a run; `static`: parameters of that function that are known when the steps are compiled;
    `once`: that function is called once.
    """
    site = draft.site
    loop = site.find_loop(step.span)
    _, file = program_and_file(draft)
    possible = PossibleValues(draft.program())
    steps = Steps.of_loop(site, loop, possible, file, arrays_seen(step))
    steps.static = {str(name) for name in _texts(step.parameters.get("static"))}
    steps.once = bool(step.parameters.get("once"))
    steps.settle(possible, file)
    steps.find_numbers(step, possible, file)
    layout = Layout(site)
    counted = steps.counts and (steps.reads_target or steps.host.prints)
    text = _Text(steps, layout, reference(site, draft.imports, "jax.numpy.arange", loop) if counted else "")
    may_be_carried(draft, [one for one in steps.carry if one not in steps.host.bound], loop)
    checked = text.one_step()
    whole = checked.whole(site.source.text, "")
    before = only_jitted_calls(steps.nodes, possible, file)
    filtered = calls_filtered(steps.nodes, possible, file)
    jit = FILTERED if filtered else "jax.jit"
    check_outlined(
        draft,
        step,
        whole,
        checked.line,
        jit,
        text.static,
        nodes=steps.nodes,
        looped=True,
        traced_before=before,
    )
    if filtered:
        parts = ("equinox.partition", "equinox.combine", "equinox.filter", "equinox.is_array")
        text.of_equinox = [reference(site, draft.imports, one, loop) for one in parts]
    if steps.apart and steps.host.outputs:
        joins = ("jax.tree.map", "jax.numpy.concatenate")
        text.joins = [reference(site, draft.imports, one, loop) for one in joins]
    written = text.all_steps(reference(site, draft.imports, "jax.lax.scan", loop))
    wrapper = reference(site, draft.imports, jit, loop)
    if text.static and not filtered:
        partial = reference(site, draft.imports, PARTIAL, loop)
        named = ", ".join(f'"{one}"' for one in text.static)
        wrapper = f"{partial}({wrapper}, static_argnames=({named}{',' if len(text.static) == 1 else ''}))"
    outputs = steps.host.outputs
    fetch = reference(site, draft.imports, "jax.device_get", loop) if outputs else ""
    if any(one.kept and not one.stacked for one in outputs):
        text.asarray = reference(site, draft.imports, "jax.numpy.asarray", loop)
    place, definition = written.definition(f"@{wrapper}")
    draft.insert(place, 1, definition)
    draft.replace(written.span, text.calling(fetch))


def _texts(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


@dataclass(slots=True)
class _Text:
    """The function of the steps, and the code that replaces the loop."""

    steps: Steps
    layout: Layout
    arange: str
    name: str = ""
    static: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)  # the arguments for its parameters
    over: list[str] = field(default_factory=list)  # the last arguments of `lax.scan`
    rows: list[str] = field(default_factory=list)  # all rows of each output
    indent: str = ""
    unit: str = ""
    # Functions of equinox, for carries that may hold more than arrays.
    of_equinox: list[str] = field(default_factory=list)
    asarray: str = (
        ""  # makes arrays of the rows for the host: taking them apart on the device is one more program
    )
    joins: list[str] = field(default_factory=list)  # functions that prepend rows
    parts: Parts | None = None  # the steps are compiled in parts, after each of which the host prints

    def __post_init__(self) -> None:
        steps, layout = self.steps, self.layout
        taken = layout.identifiers(steps.scope) | layout.identifiers(
            steps.site.names.scope_at(steps.site.tree)
        )
        self.indent, self.unit = layout.indent(steps.loop), layout.unit(steps.loop)
        self.name = fresh_name(taken, steps.name())
        self.parameters = list(steps.parameters)
        self.given = list(steps.parameters)
        self.static = [one for one in self.parameters if one in steps.static and one not in steps.carry]
        self._name_outputs(taken)
        if steps.host.prints:
            self.parts = parts_of(steps, fresh_name(taken, "start"))
        elif steps.apart and not steps.runs_certainly():
            steps.needs_a_turn = True
        self._run_over(taken)
        self._check_comments()

    def _name_outputs(self, taken: set[str]) -> None:
        steps = self.steps
        bindings = [name for one in steps.statements for name in steps.flow.bound([one])]
        for one in steps.host.outputs:
            own = one.value.id if isinstance(one.value, ast.Name) else ""
            kept = bindings.count(own) == 1
            unread = one.kept or not steps.flow.is_used_after(own, steps.loop)
            if one.variable:
                one.name = one.row = one.variable
            elif kept and own not in steps.carry and unread:
                one.name = one.row = own
            elif one.kept and steps.host.reads(own) > 1:
                raise Refused(f"`{own}` is carried, and the host reads it more than once")
            else:
                one.row = fresh_name(taken, _name_of(one.value) or own or "value")
                one.name = own if kept else one.row
        for one in steps.host.outputs:
            many = "es" if one.row.endswith("ss") else "_rows" if one.row.endswith("s") else "s"
            self.rows.append(fresh_name(taken, one.row + many))

    def _run_over(self, taken: set[str]) -> None:
        """The iterable of `lax.scan`: the rows of an array, numbers that the steps read, or None with a length."""
        steps, over = self.steps, self.steps.over
        text = self.layout.argument(over)
        if self.parts is not None:
            name = fresh_name(taken, "rows")
            self.parameters.append(name)
            self.given.append(f"{self.arange}({self.parts.start}, {self.parts.until(self.layout)})")
            self.over = [name]
            return
        if steps.counts and not steps.reads_target:
            assert isinstance(over, ast.Call)
            only = over.args[0] if len(over.args) == 1 else None
            if isinstance(only, ast.Constant):
                self.over = ["None", f"length={self.layout.argument(only)}"]
                return
            name = only.id if isinstance(only, ast.Name) else "length"
            if name in steps.carry:
                raise Refused(f"`{name}` sets the number of iterations, and changes in the loop")
            if not isinstance(only, ast.Name) or name not in self.parameters:
                name = fresh_name(taken, name) if not isinstance(only, ast.Name) else name
                self.parameters.append(name)
                self.given.append(self.layout.argument(only) if only is not None else f"len({text})")
            self.static += [name] if name not in self.static else []
            self.over = ["None", f"length={name}"]
            return
        name = fresh_name(taken, "rows")
        if steps.counts:
            assert isinstance(over, ast.Call)
            text = f"{self.arange}({', '.join(map(self.layout.argument, over.args))})"
        self.parameters.append(name)
        self.given.append(text)
        self.over = [name]

    def _check_comments(self) -> None:
        site, kept = self.steps.site, []
        for one in self.steps.loop.body:
            span = site.span(one)
            kept.append(replace(span, line=line_with_comments(site, one), column=1, end_column=10**6))
        if self.layout.comments_outside(site.span(self.steps.loop), kept):
            raise Refused("the rewrite would lose a comment of the loop")

    # The function

    def _lines(self, node: ast.stmt, indent: str) -> list[str]:
        """The lines of a statement, with the comments above it, at another indentation."""
        if self.layout.spans_lines_in_string(node):
            raise Refused("a multi-line string would have to be indented")
        here = self.layout.indent(node)
        first = line_with_comments(self.steps.site, node)
        lines = self.layout.lines[first - 1 : node.end_lineno]
        return [f"{indent}{line.removeprefix(here)}" if line.strip() else "" for line in lines]

    def _body(self, indent: str, *, inline: bool) -> tuple[list[str], list[str]]:
        """The lines that compute one step, and its outputs; with `inline`, outputs at the end are written as expressions."""
        order, lines, outputs = self.steps.host.order, list[str](), list[str]()
        last = max(n for n, one in enumerate(order) if isinstance(one, ast.stmt))
        for number, one in enumerate(order):
            if isinstance(one, ast.stmt):
                lines += self._lines(one, indent)
                continue
            text = one.value.id if isinstance(one.value, ast.Name) else self.layout.argument(one.value)
            if "\n" in text:
                raise Refused("an expression that the host reads spans several lines")
            if one.variable:
                last_of_all = number > last and one.variable not in self.steps.carry
                whole = f"{self.layout.operand(one.value)}.astype(int)"
                outputs.append(whole if inline and last_of_all else one.name)
                lines += [] if inline and last_of_all else [f"{indent}{one.name} = {whole}"]
            elif text == one.name or (inline and number > last):
                outputs.append(text)
            else:
                lines.append(f"{indent}{one.row} = {text}")
                outputs.append(one.row)
        return lines, outputs

    def one_step(self) -> Written:
        """The function of one step, called in the loop: the compilation checks examine this text."""
        steps = self.steps
        target = [steps.loop.target.id] if steps.reads_target or not steps.counts else []  # type: ignore[attr-defined]
        parameters = [*steps.parameters, *target]
        indent, head, tail, before = self.steps.place(self.layout)
        inner = f"{indent}{self.unit}"
        lines, outputs = self._body(inner, inline=False)
        rows = [one.row for one in steps.host.outputs]
        pairs = dict.fromkeys([*zip(steps.carry, steps.carry, strict=True), *zip(outputs, rows, strict=True)])
        returned, bound = zip(*pairs, strict=True)
        lines = [
            f"{indent}def {self.name}({', '.join(parameters)}):",
            *lines,
            f"{inner}return {', '.join(returned)}",
        ]
        inside = f"{self.indent}{self.unit}"
        first = f"for {self.layout.site.text(steps.loop.target)} in {self.layout.site.text(steps.loop.iter)}:"
        call = [
            first,
            f"{inside}{', '.join(bound)} = {self.name}({', '.join(parameters)})",
            *self._host_lines(),
        ]
        return self._written(head, indent, lines, tail, before, self.layout.newline.join(call))

    def all_steps(self, scan: str) -> Written:
        """The function that is written."""
        steps = self.steps
        indent, head, tail, before = self.steps.place(self.layout)
        inner = f"{indent}{self.unit}"
        body, outputs = self._body(f"{inner}{self.unit}", inline=True)
        used = {part.id for one in steps.nodes for part in ast.walk(one) if isinstance(part, ast.Name)}
        carry = steps.carry[0] if len(steps.carry) == 1 else fresh_name(used, "carry")
        row = steps.loop.target.id if steps.reads_target or not steps.counts else "_"  # type: ignore[attr-defined]
        step = fresh_name(used | set(self.parameters), "step")
        unpacked = [f"{inner}{self.unit}{', '.join(steps.carry)} = {carry}"] if len(steps.carry) > 1 else []
        handed = packed(outputs) if outputs else "None"
        start = packed(steps.carry)
        first, last = [], start
        ending = [f"{inner}return {scan}({', '.join([step, start, *self.over])})"]
        if steps.apart:
            ending = self._apart(scan, step, start, used | set(self.parameters), inner)
        if self.of_equinox:
            if steps.apart:
                raise Refused("the carry starts as a number, and may hold more than arrays")
            partition, combine, keep, is_array = self.of_equinox
            carry, static, outputs_ = (
                fresh_name(used | set(self.parameters), one) for one in ("arrays", "static", "outputs")
            )
            first = [f"{inner}{carry}, {static} = {partition}({start}, {is_array})", ""]
            unpacked = [f"{inner}{self.unit}{', '.join(steps.carry)} = {combine}({carry}, {static})"]
            last = f"{keep}({start}, {is_array})"
            ending = [
                f"{inner}{carry}, {outputs_} = {scan}({', '.join([step, carry, *self.over])})",
                f"{inner}return {combine}({carry}, {static}), {outputs_}",
            ]
        lines = [
            f"{indent}def {self.name}({', '.join(self.parameters)}):",
            *first,
            f"{inner}def {step}({carry}, {row}):",
            *unpacked,
            *body,
            f"{inner}{self.unit}return {last}, {handed}",
            "",
            *ending,
        ]
        return self._written(head, indent, lines, tail, before, "")

    def _apart(self, scan: str, step: str, start: str, used: set[str], inner: str) -> list[str]:
        """The end of the function if the first step runs before the others."""
        rows, options = self.over[0], list(self.over[1:])
        one, more = ("None", "None") if rows == "None" else (f"{rows}[0]", f"{rows}[1:]")
        options = [f"{text} - 1" for text in options]
        if not self.joins:
            begun = f"{step}({start}, {one})[0]"
            return [f"{inner}return {scan}({', '.join([step, begun, more, *options])})"]
        begun, first, rest = (fresh_name(used, name) for name in ("carry", "first", "rest"))
        tree_map, concatenate = self.joins
        return [
            f"{inner}{begun}, {first} = {step}({start}, {one})",
            f"{inner}{begun}, {rest} = {scan}({', '.join([step, begun, more, *options])})",
            f"{inner}return {begun}, {tree_map}(lambda a, b: {concatenate}([a[None], b]), {first}, {rest})",
        ]

    def _written(
        self, head: list[str], indent: str, lines: list[str], tail: list[str], before: int, call: str
    ) -> Written:
        return Written(
            head,
            indent,
            lines,
            tail,
            before,
            self.steps.site.span(self.steps.loop),
            call,
            self.layout.newline,
        )

    # The loop

    def calling(self, fetch: str) -> str:
        """The code that replaces the loop. It calls nothing if a variable may be unbound that no step would read."""
        if self.parts is not None:
            return self._in_parts(fetch)
        text = self._calling(fetch)
        if not self.steps.needs_a_turn:
            return text
        over = self.steps.over
        if not self.steps.counts or not isinstance(over, ast.Call) or len(over.args) != 1:
            raise Refused("a variable may have no value before the loop")
        lines = [f"if {self.layout.operand(over.args[0])} > 0:", *text.split(self.layout.newline)]
        lines[1] = f"{self.indent}{lines[1]}"
        return self.layout.newline.join(
            [lines[0], *(f"{self.unit}{line}" if line else line for line in lines[1:])]
        )

    def _calling(self, fetch: str) -> str:
        """The call, and the host statements for the numbers of all steps."""
        steps, host = self.steps, self.steps.host
        bound = packed(["_" if one in host.bound else one for one in steps.carry])
        rows = packed(self.rows) if self.rows else "_"
        text = self.layout.call(f"{bound}, {rows} = ", self.name, self.given, self.indent)
        if not host.statements:
            return text
        target = steps.loop.target.id  # type: ignore[attr-defined]
        reads = {part.id for one in host.statements for part in ast.walk(one) if isinstance(part, ast.Name)}
        counted = [target] if target in reads or not self.rows else []
        if counted and not steps.counts:
            raise Refused(f"`{target}` is an array that the host reads without a conversion")
        over = [self.layout.argument(steps.over)] if counted else []
        names = [*counted, *(one.row for one in host.outputs)]
        fetched = [f"*{fetch}({rows})"]
        if len(self.rows) == 1 or any(one.kept for one in host.outputs):
            fetched = self._fetched(fetch)
        each = f"zip({', '.join([*over, *fetched])})" if len(names) > 1 else [*over, *fetched][0]
        lines = [text, f"{self.indent}for {', '.join(names)} in {each}:", *self._host_lines()]
        return self.layout.newline.join(lines)

    def _in_parts(self, fetch: str) -> str:
        """The loop over parts of the steps: each part computes, and then the host statements run."""
        steps, parts = self.steps, self.parts
        assert parts is not None
        inner = f"{self.indent}{self.unit}"
        bound = packed(["_" if one in steps.host.bound else one for one in steps.carry])
        rows = packed(self.rows) if self.rows else "_"
        target = steps.loop.target.id  # type: ignore[attr-defined]
        names = [target, *(one.row for one in steps.host.outputs)]
        fetched = self._fetched(fetch)
        each = f"zip({', '.join([parts.rest(self.layout), *fetched])})"
        if not fetched:
            each = f"range({parts.start}, {parts.until(self.layout)})"
        lines = [
            f"for {parts.start} in {self._bar(parts.over(self.layout))}:",
            f"{inner}{self.layout.call(f'{bound}, {rows} = ', self.name, self.given, inner)}",
            f"{inner}for {', '.join(names)} in {each}:",
            *(f"{self.unit}{line}" if line else line for line in self._host_lines()),
        ]
        return self.layout.newline.join(lines)

    def _fetched(self, fetch: str) -> list[str]:
        """The rows of each output, as the host receives them."""
        return [
            f"map({self.asarray}, {fetch}({rows}))" if one.kept and not one.stacked else f"{fetch}({rows})"
            for one, rows in zip(self.steps.host.outputs, self.rows, strict=True)
        ]

    def _bar(self, over: str) -> str:
        """The progress bar of the loop, around the iterable of the loop over the parts."""
        loop, inner = self.steps.loop.iter, self.steps.over
        if inner is loop:
            return over
        site = self.steps.site
        whole, part = site.span(loop), site.span(inner)
        if whole.line != whole.end_line:
            raise Refused("the progress bar spans several lines")
        text, first = site.text(loop), part.column - whole.column
        return f"{text[:first]}{over}{text[first + part.end_column - part.column :]}"

    def _host_lines(self) -> list[str]:
        """The host statements, with the names of the outputs in place of the fetching expressions."""
        found: list[str] = []
        for statement in self.steps.host.statements:
            lines = self._lines(statement, f"{self.indent}{self.unit}")
            first = line_with_comments(self.steps.site, statement)
            moved = self.layout.indent(statement)
            inside = [
                one
                for one in self.steps.host.outputs
                if statement in self.steps.site.names.ancestors(one.call)
            ]
            for one in sorted(inside, key=lambda one: (one.value.lineno, one.value.col_offset), reverse=True):
                if isinstance(one.value, ast.Name) and one.row == one.value.id:
                    continue
                span = self.steps.site.span(one.value)
                if span.line != span.end_line:
                    raise Refused("an expression that the host reads spans several lines")
                shift = len(self.indent) + len(self.unit) - len(moved)
                line = lines[span.line - first]
                start, end = span.column - 1 + shift, span.end_column - 1 + shift
                if isinstance(one.value, ast.Name) and line[start:end] != one.value.id:
                    raise Refused(
                        "the position of a value that the host reads is unknown"
                    )  # in an f-string of older Pythons
                lines[span.line - first] = f"{line[:start]}{one.row}{line[end:]}"
            found += lines
        return found


def _name_of(node: ast.expr) -> str:
    """A name for a value as a person would choose it: that of the called function or of the item."""
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and not node.args:
            return f"{function.value.id}_{function.attr}"
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return f"{name}_value" if name else ""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier():
            return key.value
        return _name_of(node.value)
    return ""
