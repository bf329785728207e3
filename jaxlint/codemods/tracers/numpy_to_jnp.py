"""`numpy-to-jnp` and `numpy-buffer-to-jnp`: NumPy functions and buffers that receive tracers become those of JAX."""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.tracers.item_assignment import item_assignment_to_at
from jaxlint.finding import Step
from jaxlint.jaxapi.twins import (
    BUFFERS,
    ELEMENTWISE,
    FOREIGN_KEYWORDS,
    OTHERS,
    OWN_KEYWORDS,
    TAKE_SEQUENCES,
    TYPES,
    VARIADIC,
)

_IN_PLACE = frozenset(
    [
        "fill",
        "sort",
        "resize",
        "put",
        "itemset",
        "partition",
        "setfield",
        "byteswap",
        "setflags",
        "view",
        "ctypes",
        "data",
    ]
)


@codemod("numpy-to-jnp")
def numpy_to_jnp(draft: Draft, step: Step) -> None:
    """The span is the call of a NumPy function. Takes no parameters."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    name = _numpy_name(site, call.func)
    _check_call(call, name)
    draft.replace(site.span(call.func), reference(site, draft.imports, f"jax.numpy.{name}", call))


def _numpy_name(site: Site, function: ast.expr) -> str:
    qualified = site.names.qualified(function)
    if qualified is None or not qualified.startswith("numpy."):
        raise Refused(f"`{ast.unparse(function)}` is not a function of NumPy here")
    return qualified.removeprefix("numpy.")


def _check_call(call: ast.Call, name: str) -> None:
    """Raises Refused unless `jax.numpy` accepts the same arguments."""
    if name in ELEMENTWISE:
        allowed = 3
        keywords = {keyword.arg for keyword in call.keywords}
        if None in keywords:
            raise Refused("the call unpacks unknown keywords")
        if keywords:
            raise Refused(f"`jnp.{name}` takes no `{sorted(map(str, keywords))[0]}`")
    elif name in OTHERS or name in VARIADIC or name in TYPES:
        allowed = 99 if name in VARIADIC else 1 if name in TYPES else OTHERS[name]
        for keyword in call.keywords:
            if keyword.arg is None:
                raise Refused("the call unpacks unknown keywords")
            if keyword.arg in FOREIGN_KEYWORDS and keyword.arg not in OWN_KEYWORDS.get(name, ()):
                raise Refused(f"`jnp.{name}` has no `{keyword.arg}`, or uses it differently")
    elif name == "ufunc" or name.startswith(("random.", "ma.", "testing.", "lib.")):
        raise Refused(f"`np.{name}` has no counterpart in jax.numpy")
    else:
        raise Refused(f"`np.{name}` has no direct counterpart in jax.numpy")
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        raise Refused("the call unpacks unknown arguments")
    if len(call.args) > allowed:
        raise Refused(f"`jnp.{name}` and `np.{name}` differ after argument {allowed}")
    if name == "where" and len(call.args) != 3:
        raise Refused("`jnp.where` with one argument needs `size=` under jit")
    if name in ("array", "asarray") and any(isinstance(a, ast.Constant) for a in call.args[1:]):
        return
    if name not in TAKE_SEQUENCES and call.args and isinstance(call.args[0], (ast.List, ast.ListComp)):
        raise Refused(f"`jnp.{name}` takes no list; convert it with jnp.stack or jnp.asarray first")


@codemod("numpy-buffer-to-jnp")
def numpy_buffer_to_jnp(draft: Draft, step: Step) -> None:
    """The span is a statement `buffer[...] = value`. jnp then creates the buffer, and every such statement is
    rewritten."""
    site = draft.site
    statement = site.find_ast(step.span, ast.Assign, ast.AugAssign)
    assert isinstance(statement, (ast.Assign, ast.AugAssign))
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        raise Refused("the buffer is not a plain variable, so other references may exist")
    name = target.value.id
    scope = site.names.scope_at(statement)
    if scope.resolve(name) is not scope or name in scope.redirected:
        raise Refused(f"`{name}` belongs to an outer scope")
    makers = _makers(site, name, scope)
    stores = _stores(site, name, scope)
    for maker in makers:
        numpy_name = _numpy_name(site, maker.func)
        draft.replace(site.span(maker.func), reference(site, draft.imports, f"jax.numpy.{numpy_name}", maker))
    for store in stores:
        item_assignment_to_at(draft, Step("item-assignment-to-at", step.path, site.span(store)))


def _makers(site: Site, name: str, scope: Scope) -> list[ast.Call]:
    """The calls that create the buffer: `np.zeros(...)` and the like."""
    found = []
    for binding in scope.bindings[name]:
        statement = site.names.parents.get(binding.node)
        if isinstance(statement, ast.AugAssign):
            continue
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
            raise Refused(f"`{name}` is one of several names for the buffer")
        if not isinstance(value, ast.Call) or _maker_name(site, value) not in BUFFERS:
            raise Refused(f"`{name}` is not created by np.zeros or the like in this function")
        for keyword in value.keywords:
            if keyword.arg is None:
                raise Refused("the call that creates the buffer unpacks unknown keywords")
            if keyword.arg not in ("dtype", "shape", "fill_value"):
                raise Refused(f"the buffer is created with `{keyword.arg}`, which jax.numpy may not take")
        if len(value.args) > 3:
            raise Refused("the buffer is created with more arguments than jax.numpy takes")
        found.append(value)
    return found


def _maker_name(site: Site, call: ast.Call) -> str:
    return (site.names.qualified(call.func) or "").removeprefix("numpy.")


def _stores(site: Site, name: str, scope: Scope) -> list[ast.Assign | ast.AugAssign]:
    """The statements that store into the buffer. Raises Refused if something else may share it."""
    found: dict[ast.Assign | ast.AugAssign, None] = {}
    captured: list[ast.Name] = []
    parents = site.names.parents
    for use in site.names.uses_of(name, scope):
        parent = parents.get(use.name)
        if any(isinstance(around, FUNCTIONS) for around in site.names.ancestors_below(use.name, scope.node)):
            captured.append(use.name)
        if isinstance(parent, ast.Subscript) and parent.value is use.name:
            owner = parents.get(parent)
            if isinstance(parent.ctx, ast.Store) and isinstance(owner, (ast.Assign, ast.AugAssign)):
                found[owner] = None
            elif not isinstance(parent.ctx, ast.Load):
                raise Refused(f"`{name}[...]` is not set by a plain assignment")
            elif isinstance(owner, ast.Subscript) and isinstance(owner.ctx, ast.Store):
                raise Refused(f"an item of an item of `{name}` is assigned; index it once")
            else:
                _check_alias(site, name, owner, parent, scope)
        elif isinstance(parent, ast.Attribute):
            if parent.attr in _IN_PLACE:
                raise Refused(f"`{name}.{parent.attr}` changes the buffer in place")
        elif isinstance(parent, ast.keyword) and parent.arg == "out":
            raise Refused(f"`{name}` is passed as `out=`")
        else:
            _check_alias(site, name, parent, use.name, scope)
    for inner in captured:
        parent = parents.get(inner)
        if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
            raise Refused(f"a nested function stores into `{name}`")
        if any(_may_follow(site, store, inner, scope) for store in found):
            raise Refused(
                f"a nested function reads `{name}` before it is filled and would keep the old array"
            )
    return list(found)


def _may_follow(site: Site, store: ast.stmt, use: ast.Name, scope: Scope) -> bool:
    """Whether `store` may run after the function around `use` was created."""
    around = [
        node for node in site.names.ancestors_below(use, scope.node) if isinstance(node, (ast.For, ast.While))
    ]
    return store.lineno > use.lineno or any(
        node in around for node in site.names.ancestors_below(store, scope.node)
    )


def _check_alias(site: Site, name: str, owner: ast.AST | None, value: ast.expr, scope: Scope) -> None:
    """Another name for the buffer, or for a view of it, must not be stored into."""
    if not isinstance(owner, ast.Assign) or owner.value is not value:
        return
    for target in owner.targets:
        if not isinstance(target, ast.Name):
            raise Refused(f"`{name}` is also stored in `{ast.unparse(target)}`")
        for use in site.names.uses_of(target.id, scope):
            parent = site.names.parents.get(use.name)
            if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
                raise Refused(f"`{target.id}` is a view of `{name}` that is also written")
