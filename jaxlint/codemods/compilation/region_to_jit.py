"""`region-to-jit`: statements that only compute on arrays become one jitted function; the code around them stays on
the host.

    for x, y in batches:
        loss, grads = grad_fn(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        losses.append(float(loss))

has three statements that need nothing from the host. They become `train_step`. Its parameters are the variables that
they read, and its results the variables that later code reads. A variable that is not an array and never rebound
(`optimizer`) is closed over, as a person would write it. In a method without a loop, or one that a run called more than
once, whose object has such attributes, the function is a method as well, of a static object. What the host computes in a statement can be an argument, and what the
statement after the region fetches one of the results (`region_host.py`).
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

from jaxlint.codemods.compilation.add_jit import transform_of
from jaxlint.codemods.compilation.region import FILTER_JIT, Region
from jaxlint.codemods.compilation.region_attributes import object_of
from jaxlint.codemods.compilation.region_behind import check_ahead, check_behind
from jaxlint.codemods.compilation.region_host import computed_by_host, fetched_after
from jaxlint.codemods.compilation.region_statements import (
    may_hold,
    statements_at,
)
from jaxlint.codemods.compilation.region_text import Written
from jaxlint.codemods.compilation.region_writing import write
from jaxlint.codemods.donation.of_a_region import donated
from jaxlint.codemods.facts.applied_transforms import PARTIAL
from jaxlint.codemods.facts.dataflow import Flow
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.stageable import check_outlined, program_and_file
from jaxlint.finding import Span, Step


@codemod("region-to-jit")
def region_to_jit(draft: Draft, step: Step) -> None:
    """The span covers the statements, from the first to the last, or one expression; with `around`, one of the
    statements.

    Parameters: `transform` (jax.jit by default); `function`, the name of the enclosing function; `arguments` and
    `variables`, those of that function in a run; `again`: it was called more than once; `often`: it was called often; `wide`, whether loops over leaves and the `return` belong to it; `name`, what to call the new one; `order`, how many functions other steps of the fix put above the
    same place; `around`: compile as many adjacent statements as possible, that of the span among them; `donate`:
    donate the buffers of recomputed variables, unless a caller visibly keeps them; `ends`: the place of an expression in the next statement
    that belongs to it, whose value the host fetches; `behind`: the places of statements of the host between its own, which then follow
    it; `ahead`: of those that then come before it; `lengths`: how often loops ran, by what they run over: a loop of a few turns may belong to it;
    `same`: the place of another region of the function, and its order: its function is called here, too, if both would be the same.
    """
    transform = transform_of(step)
    if not step.parameters.get("around"):
        _compile(draft, step, step.span, transform)
        return
    refusal: Refused | None = None
    for span in _parts(draft.site, step.span, transform):
        try:
            _compile(draft, step, span, transform)
            return
        except _OnlyACall as narrow:
            refusal = refusal or narrow  # the reason for a wider part says more
        except Refused as other:
            refusal = other
    raise refusal or Refused("there are no statements")


_NARROW = "it only calls a function, which may be compiled already"


class _OnlyACall(Refused):
    """A region that only calls a function."""


def _parts(site: Site, span: Span, transform: str) -> Iterator[Span]:
    """The spans of adjacent statements, the longest first, that include the one at `span`."""
    for node in statements_at(site, span):
        block = Flow(site.names, site.names.scope_at(node)).block(node)
        first = last = block.index(node)
        while first > 0 and may_hold(block[first - 1], transform):
            first -= 1
        while last + 1 < len(block) and may_hold(block[last + 1], transform):
            last += 1
        run = block[first : last + 1]
        for length in range(len(run), 0, -1):
            for start in range(len(run) - length + 1):
                if node in run[start : start + length]:
                    yield site.across(run[start : start + length])


def _compile(draft: Draft, step: Step, span: Span, transform: str) -> None:
    """Writes the function for the statements, or for the expression, at a span. Raises Refused, and then has drafted
    nothing."""
    _, file = program_and_file(draft)
    refusal: Refused | None = None
    wide = bool(step.parameters.get("wide"))
    ways = [(False, False), (False, wide), (wide, False), (wide, wide)]
    methods = (True, False) if step.parameters.get("again") else (False,)
    is_choice = False  # whether the function may be defined in the enclosing one as well
    for (copies, asks_host), again in itertools.product(dict.fromkeys(ways), methods):
        if refusal is not None and again is not methods[0] and not is_choice:
            continue
        region = _region(draft, step, span, transform)
        region.prefers_method = again
        region.copies_object = (
            copies and transform != FILTER_JIT and bool(object_of(draft.site, region.scope))
        )
        if copies and not region.copies_object:
            break
        if asks_host:
            region.from_host = computed_by_host(region, PossibleValues(draft.program()), file)
            if not region.from_host.names:
                continue
            if not region.does_more(PossibleValues(draft.program()), file):
                refusal = refusal or _OnlyACall(_NARROW)
                continue
        try:
            _write(draft, step, region, transform)
            return
        except Refused as reason:
            refusal = refusal if copies and refusal is not None else reason
            is_choice = again and region.is_method and region.may_keep()
    assert refusal is not None
    raise refusal


def _region(draft: Draft, step: Step, span: Span, transform: str) -> Region:
    behind, ahead = step.parameters.get("behind", ()), step.parameters.get("ahead", ())
    lengths = step.parameters.get("lengths")
    region = Region.at(
        draft.site,
        span,
        transform,
        wide=bool(step.parameters.get("wide")),
        behind=behind if isinstance(behind, list | tuple) else (),
        ahead=ahead if isinstance(ahead, list | tuple) else (),
        lengths=lengths if isinstance(lengths, Mapping) else None,
    )
    region.is_called_often = bool(step.parameters.get("often"))
    _, file = program_and_file(draft)
    possible = PossibleValues(draft.program())
    check_behind(region, possible, file)
    check_ahead(region, possible, file)
    ends = step.parameters.get("ends")
    if isinstance(ends, list | tuple) and region.expression is None:
        region.fetched = fetched_after(draft.site, region.statements[-1], ends, possible, file)
        if region.fetched is None or region.ending is not None:
            raise Refused("the next statement does something else first, or may not read the result")
    elif not region.does_more(possible, file):
        raise _OnlyACall(_NARROW)
    return region


def _write(draft: Draft, step: Step, region: Region, transform: str) -> None:
    site = draft.site
    _, file = program_and_file(draft)
    possible = PossibleValues(draft.program())
    region.divide(possible, file)
    layout = Layout(site)
    taken = layout.identifiers(region.scope) | layout.identifiers(site.names.scope_at(site.tree))
    order = step.parameters.get("order", 0)
    wanted = str(step.parameters.get("name") or region.name())
    wanted = f"_{wanted}" if region.is_method else wanted
    if region.is_method:
        taken |= {*possible.program.stores, *possible.program.loads}
        taken |= {node.name for node in ast.walk(site.tree) if isinstance(node, ast.FunctionDef)}
    same = step.parameters.get("same")
    if isinstance(same, list | tuple):
        order = same[-1]
    name = wanted
    for _ in range(order + 1 if isinstance(order, int) else 1):
        name = fresh_name(taken, wanted)
    if region.from_host.numbers and transform == FILTER_JIT:
        region.from_host.as_array = reference(site, draft.imports, "jax.numpy.asarray", region.first)
    copy = reference(site, draft.imports, "copy.copy", region.first) if region.copies_object else ""
    written = write(region, layout, name, copy)
    if order:
        written.head = []
    static = [region.me] if region.is_method and not region.object_is_tree else []
    whole = written.whole(site.source.text, "")
    if copy == "copy.copy" and "copy" not in site.names.module.bindings:
        whole += f"{layout.newline}import copy{layout.newline}"  # the file gets it with the edit
    given = region.arguments()
    check_outlined(
        draft,
        step,
        whole,
        written.line,
        transform,
        static,
        nodes=region.nodes,
        given=given,
        fetched=frozenset(region.only_fetched()),
    )
    wrapper = reference(site, draft.imports, transform, region.statements[0])
    options = []
    if region.is_method and transform != FILTER_JIT:  # which leaves it static by itself
        options.append("static_argnums=0")
    if step.parameters.get("donate") and transform == FILTER_JIT:
        if region.renewed():
            raise Refused(
                "equinox.filter_jit donates all arguments or none, and the batch must not be donated"
            )
    elif step.parameters.get("donate") and not region.copies_object:
        plain = _in_function(region, layout, name) if region.is_method else written
        after = Site(replace(site.source, text=plain.whole(site.source.text, f"@{wrapper}")))
        if positions := donated(after, plain.line, region.renewed(), region.nodes, possible, file):
            numbers = tuple(one + region.is_method for one in positions)
            options.append(f"donate_argnums={numbers!r}")
    if options:
        partial = reference(site, draft.imports, PARTIAL, region.first)
        wrapper = f"{partial}({', '.join((wrapper, *options))})"
    if isinstance(same, list | tuple):
        _check_same(draft, step, region, written, name, transform)
    else:
        draft.insert(*_with_column(written.definition(f"@{wrapper}")))
    draft.replace(written.span, written.call)
    for place_of_other, other in written.also:
        draft.replace(place_of_other, other)


def _with_column(definition: tuple[int, str]) -> tuple[int, int, str]:
    line, text = definition
    return line, 1, text


def _check_same(
    draft: Draft, step: Step, region: Region, written: Written, name: str, transform: str
) -> None:
    """Raises Refused if the function of another region, which the parameter `same` names, is not the one of this region."""
    place = step.parameters["same"]
    assert isinstance(place, list | tuple)
    other = _region(draft, step, Span(*place[:4]), transform)
    other.prefers_method, other.copies_object = region.prefers_method, region.copies_object
    _, file = program_and_file(draft)
    other.divide(PossibleValues(draft.program()), file)
    copy = reference(draft.site, draft.imports, "copy.copy", region.first) if region.copies_object else ""
    theirs = write(other, Layout(draft.site), name, copy)
    apart = region.kept and not region.is_method
    alone = any(one.from_host.names or one.fetched or one.behind or one.ahead for one in (region, other))
    if apart or alone or theirs.lines != written.lines or theirs.before > written.before:
        raise Refused("the other region computes something else")


def _in_function(region: Region, layout: Layout, name: str) -> Written:
    """What would be written if the function stood in the method: all calls of a function there are known by its name."""
    region.is_method = False
    try:
        return write(region, layout, name)
    finally:
        region.is_method = True
