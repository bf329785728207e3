"""`jit-once`: a function of the module that each object, or each call, jits anew is jitted once, in the module.

    class Model:
        def __init__(self, rate):
            self.rate = rate
            self.grad = jax.jit(jax.grad(loss))

becomes

    grad = jax.jit(jax.grad(loss))


    class Model:
        def __init__(self, rate):
            self.rate = rate
            self.grad = grad

Each jit of a transformed function begins with an empty cache, so that every object compiled it again.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.compilation.outline import line_above, missing_lines
from jaxlint.codemods.compilation.padded_calls import names_in_file
from jaxlint.codemods.facts.applied_transforms import JITS
from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity.checks import called_functions
from jaxlint.codemods.purity.closed_over import ClosedOver
from jaxlint.codemods.purity.concretization import Traced
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.values import Fn, Wrapped
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.stageable import check_nothing_watches, program_and_file
from jaxlint.finding import Step

_DEFINED = (ast.FunctionDef, ast.ClassDef)


@codemod("jit-once")
def jit_once(draft: Draft, step: Step) -> None:
    """The span is the call of `jax.jit`. Takes no parameters."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    if (site.names.qualified(call.func) or "") not in JITS:
        raise Refused("the call is no `jit`")
    if site.names.scope_at(call).node is site.tree:
        raise Refused("the module jits it once")
    if not call.args or isinstance(call.args[0], ast.Lambda) or call.lineno != call.end_lineno:
        raise Refused("the jitted function has no name, or the call has several lines")
    line = line_above(site, call)
    _check_names(site, call, line)
    _check_unchanged(draft, call)
    layout = Layout(site)
    name = fresh_name(names_in_file(site, layout), _name(site, call))
    newline = layout.newline
    text = newline * missing_lines(site, line) + f"{name} = {site.text(call)}{newline * 3}"
    draft.insert(line, 1, text)
    draft.replace(site.span(call), name)


def _name(site: Site, call: ast.Call) -> str:
    """What to call it: as the attribute that holds it, or after the function."""
    above = site.names.parents.get(call)
    target = above.targets[0] if isinstance(above, ast.Assign) else None
    if isinstance(target, ast.Attribute):
        return target.attr.lstrip("_") or "jitted"
    inner = call.args[0]
    while isinstance(inner, ast.Call) and inner.args:
        inner = inner.args[0]
    last = inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "function")
    return f"jitted_{last}"


def _check_names(site: Site, call: ast.Call, line: int) -> None:
    """Raises Refused unless the call only reads what the module has bound above a line, once."""
    module = site.names.module
    for node in ast.walk(call):
        if not isinstance(node, ast.Name):
            continue
        scope = site.names.scope_at(node).resolve(node.id)
        if scope is None:
            continue
        if scope is not module:
            raise Refused(f"it reads `{node.id}`, which each call makes again")
        bindings = module.bindings.get(node.id, ())
        where = [one.statement or one.node for one in bindings]
        last = max((getattr(one, "end_lineno", None) or line for one in where), default=line)
        if len(bindings) != 1 or last >= line or not _is_at_top(site, where[0]):
            raise Refused(f"`{node.id}` is not certainly bound above it, or bound more than once")


def _is_at_top(site: Site, node: ast.AST) -> bool:
    """Whether a binding is a statement of the module, or part of one that only assigns or imports."""
    while (above := site.names.parents.get(node)) is not None and above is not site.tree:
        node = above
    return isinstance(node, (*_DEFINED, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign))


def _check_unchanged(draft: Draft, call: ast.Call) -> None:
    """Raises Refused if the function reads what may change: each jit would read it again, and one jit does not."""
    if draft.strict is None:
        return
    program, file = program_and_file(draft)
    possible = PossibleValues(program)
    values = possible.of(file.same(call.args[0]), file)
    if not values or not all(isinstance(one, Fn | Wrapped) for one in values):
        raise Refused("the function that is jitted is unknown")
    for one in (found for value in values for found in called_functions(value, possible)):
        if not isinstance(one.node, FUNCTIONS):
            raise Refused("the function that is jitted is unknown")
        traced = Traced(possible)
        traced.start(one.node, one.file, frozenset())
        for what in ClosedOver(possible).changing(traced.functions, one.node):
            raise Refused(f"the function reads what may change: {what}")
    check_nothing_watches(draft)
