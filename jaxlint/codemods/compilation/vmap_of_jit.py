"""`swap-vmap-of-jit`: `jax.vmap(jax.jit(f))` becomes `jax.jit(jax.vmap(f))`, so that the batched function is compiled."""

from __future__ import annotations

import ast

import libcst as cst

from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Span, Step

_VMAP, _JIT, _PARTIAL = "jax.vmap", "jax.jit", "functools.partial"

# Options of jit with the same meaning outside vmap: they concern argument positions, which vmap keeps, or the
# compiler.
_CARRIED = {
    "static_argnums",
    "static_argnames",
    "inline",
    "keep_unused",
    "device",
    "backend",
    "compiler_options",
}


@codemod("swap-vmap-of-jit")
def swap_vmap_of_jit(draft: Draft, step: Step) -> None:
    """The span is the outer call, or, for stacked decorators, the vmap decorator or both. Takes no parameters."""
    site = draft.site
    decorators = _decorators_at(site, step.span)
    if decorators:
        _swap_decorators(draft, *decorators)
        return
    outer = site.find_ast(step.span, ast.Call)
    assert isinstance(outer, ast.Call)
    if _callee(site, outer) != _VMAP or not outer.args:
        raise Refused("this is not a call of jax.vmap with a function")
    inner = outer.args[0]
    if not isinstance(inner, ast.Call) or _callee(site, inner) != _JIT:
        raise Refused("the function given to jax.vmap is not wrapped in jax.jit at this place")
    if len(inner.args) != 1 or isinstance(inner.args[0], ast.Starred):
        raise Refused("jax.jit is not called with exactly one function here")
    _check_options(inner.keywords)

    outer_call, inner_call = site.find(step.span, cst.Call), site.find(site.span(inner), cst.Call)
    draft.replace(site.place(outer_call), site.code(_swapped(outer_call, inner_call), step.span))


def _swapped(outer: cst.Call, inner: cst.Call) -> cst.Call:
    """Each call keeps its own options and layout; vmap wraps the function, and jit wraps vmap."""
    function, wrapped = inner.args[0], outer.args[0]
    batched = outer.with_changes(
        args=[wrapped.with_changes(value=function.value, keyword=None), *outer.args[1:]], lpar=(), rpar=()
    )
    return inner.with_changes(args=[function.with_changes(value=batched), *inner.args[1:]], lpar=(), rpar=())


def _decorators_at(site: Site, span: Span) -> tuple[ast.expr, ast.expr] | None:
    """The vmap and the jit directly below it, if `span` covers the first or both of a function's decorators."""
    for node in site.decorated:
        for upper, lower in zip(node.decorator_list, node.decorator_list[1:], strict=False):
            first, last = site.span(upper), site.span(lower)
            both = Span(first.line, first.column, last.end_line, last.end_column)
            marked = Span(first.line, first.column - 1, last.end_line, last.end_column)
            if span in (first, both, marked):
                return upper, lower
    return None


def _swap_decorators(draft: Draft, upper: ast.expr, lower: ast.expr) -> None:
    site = draft.site
    vmap, jit = _wrapper(site, upper), _wrapper(site, lower)
    if vmap[0] != _VMAP or jit[0] != _JIT:
        raise Refused("these decorators are not jax.vmap over jax.jit")
    _check_options(jit[1])
    draft.replace(site.span(upper), site.text(lower))
    draft.replace(site.span(lower), site.text(upper))


def _wrapper(site: Site, decorator: ast.expr) -> tuple[str | None, list[ast.keyword]]:
    """The transform of a decorator and its options: `@t`, `@t(...)` or `@partial(t, ...)`."""
    if not isinstance(decorator, ast.Call):
        return site.names.qualified(decorator), []
    callee = _callee(site, decorator)
    positional = list(decorator.args)
    if callee == _PARTIAL and positional:
        callee = site.names.qualified(positional.pop(0))
    if positional:
        return None, []
    return callee, decorator.keywords


def _callee(site: Site, call: ast.Call) -> str | None:
    return site.names.qualified(call.func)


def _check_options(options: list[ast.keyword]) -> None:
    for option in options:
        if option.arg is None:
            raise Refused("jax.jit takes **options here, which may not mean the same outside vmap")
        if option.arg.startswith("donate_"):
            raise Refused(f"{option.arg} has no effect under jax.vmap, but would donate buffers outside it")
        if option.arg not in _CARRIED:
            raise Refused(f"{option.arg} of jax.jit does not mean the same outside jax.vmap")
