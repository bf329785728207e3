"""`trace-static-argument` and `array-argument`: a static number becomes an ordinary argument, so that a new value does not recompile.

`jax.jit` lists its static arguments, and the first takes one out of them. `eqx.filter_jit` takes each Python number as static, so the
second makes an array of it where the function is called: `denoise(model, x, t)` becomes `denoise(model, x, jnp.asarray(t))`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from jaxlint.codemods.facts.applied_transforms import JITS, applied, is_partial
from jaxlint.codemods.facts.bound_arguments import bound_arguments
from jaxlint.codemods.facts.traceable import assignments, check_traceable, computed_from, reads
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import parameters
from jaxlint.codemods.purity.values import ARRAY, NUMPY, leaves_of
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.stageable import check_code_reached, program_and_file
from jaxlint.codemods.tracers.branch import branch_to_select
from jaxlint.finding import Step
from jaxlint.jaxapi.array_members import AT_UPDATES
from jaxlint.jaxapi.twins import ELEMENTWISE

_FILTER_JIT = "equinox.filter_jit"
_COMPUTING = ("jax.numpy.", "jax.nn.", "jax.lax.", "jax.random.", "jax.scipy.")
_ASKING = frozenset({"shape", "ndim", "size", "issubdtype", "result_type", "isscalar"})
_DEPTH = 3  # functions of the file that it is passed to
_OPTIONS = ("static_argnums", "static_argnames")
# Functions that accept a tracer for any of their arguments, besides elementwise ones.
_TRACING = frozenset(
    {"where", "clip", "asarray", "astype", "power", "fold_in", "select", "dynamic_index_in_dim"}
)
_UPDATES = frozenset(AT_UPDATES) - {"apply"}

FunctionOrLambda = ast.FunctionDef | ast.Lambda


@codemod("trace-static-argument")
def trace_static_argument(draft: Draft, step: Step) -> None:
    """The span is the call of jax.jit, the decorator, or the decorated function. The parameter `name` is that of the
    function's. With `branches`, its tests of the number become `jnp.where` or `lax.cond`."""
    site = draft.site
    name = str(step.parameters["name"])
    node = site.find_ast(step.span, ast.Call, ast.Name, ast.Attribute, ast.FunctionDef)
    call, function = jit_of_function(site, node)
    arguments = function.args
    positional = _positional(function)
    if name not in [*positional, *(one.arg for one in arguments.kwonlyargs)]:
        raise Refused(f"the function has no parameter `{name}`")
    _check_default(arguments, name)
    static = static_parameters(site, call, function)
    keywords = {one.arg for one in arguments.kwonlyargs} - static
    _check_body(
        draft, function, name, ({*positional} - static) | keywords, bool(step.parameters.get("branches"))
    )
    remove_static(draft, call, function, name)


@codemod("array-argument")
def array_argument(draft: Draft, step: Step) -> None:
    """The span is the argument of a call of a function under `eqx.filter_jit`, for its parameter `name`. `branches` as above."""
    site = draft.site
    name = str(step.parameters["name"])
    node = site.find_ast(step.span, ast.expr)
    call = site.names.parents.get(node)
    call = site.names.parents.get(call) if isinstance(call, ast.keyword) else call
    if not isinstance(call, ast.Call) or node is call.func:
        raise Refused("it is no argument of a call")
    function = _filtered(site, call)
    if name not in [*_positional(function), *(one.arg for one in function.args.kwonlyargs)]:
        raise Refused(f"the function has no parameter `{name}`")
    _check_default(function.args, name)
    _check_body(draft, function, name, set(), bool(step.parameters.get("branches")))
    asarray = reference(site, draft.imports, "jax.numpy.asarray", node)
    draft.replace(site.span(node), f"{asarray}({site.text(node)})")


def _filtered(site: Site, call: ast.Call) -> ast.FunctionDef:
    """The function of this file under `eqx.filter_jit` that a call calls. Raises Refused."""
    function = _only_definition(site, call.func)
    if function is not None and len(function.decorator_list) == 1:
        (one,) = function.decorator_list
        if site.names.qualified(one.func if isinstance(one, ast.Call) else one) == _FILTER_JIT:
            return function
    raise Refused("the function that it calls is not decorated by `eqx.filter_jit` in this file")


def _only_definition(site: Site, node: ast.expr) -> ast.FunctionDef | None:
    """The function of this file that a name stands for; None if that is not certain."""
    bindings = (
        site.names.bindings_of(node.id, site.names.scope_at(node)) if isinstance(node, ast.Name) else ()
    )
    found = bindings[0].node if len(bindings) == 1 else None
    return found if isinstance(found, ast.FunctionDef) else None


def _positional(function: FunctionOrLambda) -> list[str]:
    return [one.arg for one in [*function.args.posonlyargs, *function.args.args]]


def static_parameters(site: Site, call: ast.Call, function: FunctionOrLambda) -> set[str]:
    """The names of the parameters that a call of jax.jit declares static. Raises Refused if it does not list them."""
    arguments = function.args
    positional = _positional(function)
    listed = [one.value for one in call.keywords if one.arg in _OPTIONS]
    static = {str(ast.literal_eval(entry)) for value in listed for entry in _entries(site, value)}
    named = {one for n, one in enumerate(positional) if one in static or str(n) in static}
    return named | ({one.arg for one in arguments.kwonlyargs} & static)


def remove_static(draft: Draft, call: ast.Call, function: FunctionOrLambda, name: str) -> None:
    """Takes a parameter out of the static ones that a call of jax.jit declares. Raises Refused."""
    site = draft.site
    positional = _positional(function)
    listed = {one.arg: one for one in call.keywords if one.arg in _OPTIONS}
    if any(one.arg is None for one in call.keywords):
        raise Refused("the transform takes **options here, which may set static arguments")
    position = positional.index(name) if name in positional else None
    left = {option: _left(site, one.value, name, position) for option, one in listed.items() if option}
    if all(entries == _entries(site, listed[option].value) for option, entries in left.items()):
        raise Refused(f"`{name}` is not static here, by name or position")
    kept = [site.text(one) for one in call.args]
    for keyword in call.keywords:
        entries = left.get(keyword.arg or "")
        if entries is None:
            kept.append(site.text(keyword))
        elif entries:
            listing = entries[0] if len(entries) == 1 else f"({', '.join(entries)})"
            kept.append(f"{keyword.arg}={listing}")
    if "#" in site.text(call):
        raise Refused("a comment stands between the options")
    text = (
        kept[0] if is_partial(site, call) and len(kept) == 1 else f"{site.text(call.func)}({', '.join(kept)})"
    )
    draft.replace(site.span(call), text)


def jit_of_function(site: Site, node: ast.AST) -> tuple[ast.Call, FunctionOrLambda]:
    """The call that declares static arguments, and the function. Raises Refused."""
    if isinstance(node, ast.FunctionDef):
        node = next((one for one in node.decorator_list if _is_jit(site, one)), node)
    if not isinstance(node, ast.Call) or not _is_jit(site, node):
        raise Refused("the function is not jitted with static arguments at this place")
    parent = site.names.parents.get(node)
    if isinstance(parent, ast.FunctionDef) and node in parent.decorator_list:
        if site.names.qualified(parent.decorator_list[-1]) is None and node is not parent.decorator_list[-1]:
            raise Refused("another decorator changes the function before it is jitted")
        return node, parent
    given = node.args[0] if node.args else None
    if isinstance(given, ast.Name):
        bindings = site.names.bindings_of(given.id, site.names.scope_at(given))
        given = bindings[0].node if len(bindings) == 1 else given  # type: ignore[assignment]
    if not isinstance(given, ast.FunctionDef | ast.Lambda):
        raise Refused("the function that is jitted has no single definition in this file")
    return node, given


def _is_jit(site: Site, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and applied(site, node) in JITS


def _entries(site: Site, value: ast.expr) -> list[str]:
    """The text of each listed number or name."""
    listed = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    if not all(isinstance(one, ast.Constant) for one in listed):
        raise Refused("the call of jit does not list its static arguments")
    return [site.text(one) for one in listed]


def _left(site: Site, value: ast.expr, name: str, position: int | None) -> list[str]:
    _entries(site, value)
    listed = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    return [
        site.text(one)
        for one in listed
        if not (isinstance(one, ast.Constant) and one.value in (name, -1 if position is None else position))
    ]


def _check_default(arguments: ast.arguments, name: str) -> None:
    """A default that is not a number would have to be traced as well."""
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    for argument, default in (*pairs, *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)):
        if argument.arg == name and default is not None and not _is_number(default):
            raise Refused(f"the default of `{name}` is not a number")


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    )


def _check_body(
    draft: Draft,
    function: FunctionOrLambda,
    name: str,
    arrays: set[str],
    branches: bool = False,
    depth: int = 0,
) -> None:
    """Raises Refused if the body needs the number itself, or passes it to code that may.

    `arrays` are the parameters that are traced anyway: a result computed from one of them is an array before and
    after. `branches`: its tests of the number become selections.
    """
    site = draft.site
    body: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    given = [pair for top in body for pair in assignments(top)]
    made = {one for value, targets in given if _is_made_by_jax(site, value) for one in targets}
    arrays = computed_from(arrays | made | _given_arrays(draft, function), given) - {name}
    others = [pair for pair in given if not reads(pair[0], arrays) and not _is_made_by_jax(site, pair[0])]
    traced = computed_from({name}, others)
    chosen = set(_selected(draft, body, traced)) if branches else set()
    check_traceable(site, body, traced, "the function", counters=traced, handled=chosen)
    for node in (part for top in body for part in ast.walk(top)):
        if isinstance(node, ast.Attribute | ast.Subscript) and getattr(node.value, "id", "") == name:
            raise Refused(f"the function uses `{ast.unparse(node)[:40]}`, so `{name}` may not be a number")
        if isinstance(node, ast.For | ast.comprehension) and reads(node.iter, traced):
            raise Refused(f"the function loops over `{name}`")
        if isinstance(node, ast.Call):
            if getattr(node.func, "id", "") in traced:
                raise Refused(f"the function calls `{ast.unparse(node.func)}`, which is not a number")
            _check_call(draft, node, traced, arrays, branches, depth)


def _is_made_by_jax(site: Site, node: ast.expr) -> bool:
    """Whether an expression is a call of JAX that computes an array, or arithmetic with one."""
    if isinstance(node, ast.BinOp):
        return _is_made_by_jax(site, node.left) or _is_made_by_jax(site, node.right)
    name = (site.names.qualified(node.func) or "") if isinstance(node, ast.Call) else ""
    return name.startswith(_COMPUTING) and name.rpartition(".")[2] not in _ASKING


def _given_arrays(draft: Draft, function: FunctionOrLambda) -> set[str]:
    """The parameters that get arrays wherever the program calls the function."""
    program, file = program_and_file(draft)
    possible, own = PossibleValues(program), file.same(function)
    found = {one.arg: leaves_of(possible.of_parameter(one, file)) for one in parameters(own)}
    return {name for name, values in found.items() if values and values <= {ARRAY, NUMPY}}


def _selected(draft: Draft, body: Sequence[ast.AST], traced: set[str]) -> Iterator[ast.AST]:
    """Drafts a selection for each branch on a name in `traced` that is in no other, and gives these branches. Raises Refused."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If | ast.IfExp) and reads(node.test, traced):
            check_code_reached(draft, [node])
            branch_to_select(
                draft, Step("branch-to-select", draft.site.source.display, draft.site.span(node.test))
            )
            yield node
        else:
            waiting += ast.iter_child_nodes(node)


def _check_call(
    draft: Draft, node: ast.Call, traced: set[str], arrays: set[str], branches: bool, depth: int
) -> None:
    site = draft.site
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    found = next((read for one in given if (read := _bare(one, traced, arrays))), "")
    if not found:
        return
    qualified = site.names.qualified(node.func) or ""
    last = node.func.attr if isinstance(node.func, ast.Attribute) else qualified.rpartition(".")[2]
    if qualified.startswith("jax.") and last in ELEMENTWISE | _TRACING:
        return
    method = node.func if isinstance(node.func, ast.Attribute) else None
    if method is not None and method.attr in _UPDATES and ".at[" in ast.unparse(method.value):
        return
    function = _only_definition(site, node.func)
    if function is not None and not function.decorator_list and depth < _DEPTH:
        own = [*function.args.posonlyargs, *function.args.args]
        numbers = bound_arguments(node, own)
        if numbers is not None and len(numbers) == len(given):
            for place, one in numbers.items():
                if _bare(one, traced, arrays):
                    _check_body(draft, function, own[place].arg, set(), branches, depth + 1)
            return
    raise Refused(
        f"the function passes `{found}` to `{ast.unparse(node.func)[:40]}`, which may need a compile-time constant"
    )


def _bare(node: ast.AST, traced: set[str], arrays: set[str]) -> str:
    """A name in `traced` that is passed as a number. Functions and calls that read it are checked separately."""
    mixed = isinstance(node, ast.BinOp | ast.Compare) and reads(node, arrays)
    if mixed or isinstance(node, ast.Lambda | ast.Call):
        return ""
    if isinstance(node, ast.Name | ast.Attribute):
        return reads(node, traced)
    return next((name for child in ast.iter_child_nodes(node) if (name := _bare(child, traced, arrays))), "")
