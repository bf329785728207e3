"""`add-donation`: a jitted function may reuse the buffers of arguments that its callers no longer need."""

from __future__ import annotations

import ast

from jaxlint.codemods.donation.dead_arguments import kept_by_callers
from jaxlint.codemods.donation.kept_arguments import other_holder
from jaxlint.codemods.facts.applied_transforms import PARTIAL, applied
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.arguments import with_arguments
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Step

# Transforms that donate, and whether by position, by name or both.
_DONATING = {
    "jax.jit": ("donate_argnums", "donate_argnames"),
    "jax.experimental.pjit.pjit": ("donate_argnums", "donate_argnames"),
    "flax.nnx.jit": ("donate_argnums", "donate_argnames"),
    "jax.pmap": ("donate_argnums",),
    "equinox.filter_jit": ("donate",),  # of all arguments, or of all but the first
}


@codemod("add-donation")
def add_donation(draft: Draft, step: Step) -> None:
    """The span is the decorator's expression, or the call of the transform or of `functools.partial` on it.

    Parameters: `argnums` (list of int) or `argnames` (list of str), or both; for `equinox.filter_jit` the value of
    `donate`.
    """
    site = draft.site
    options = _options(step)
    positions = step.parameters.get("argnums")
    given = None
    if isinstance(positions, (list, tuple)):
        given = [one for one in positions if isinstance(one, int)]
        if kept := kept_by_callers(site, step.span.line, given):
            raise Refused(kept)
    if draft.strict:
        others = [one for one in draft.program().files if one.display != site.source.display]
        if kept := other_holder(site, step.span.line, given, others=others):
            raise Refused(kept)
    node = site.find_ast(step.span, ast.Call, ast.Name, ast.Attribute)
    if isinstance(node, ast.Call):
        transform = applied(site, node)
        _check(transform, options, node.keywords)
        draft.replace(step.span, with_arguments(site.text(node), options))
        return
    transform = site.names.qualified(node)
    if not _is_decorator(site, node):
        raise Refused("the transform is not called here, so there is no call to add the donation to")
    _check(transform, options, [])
    arguments = ", ".join(f"{name}={value}" for name, value in options.items())
    if "donate" in options:  # without a function, equinox's transform returns a decorator
        draft.replace(step.span, f"{site.text(node)}({arguments})")
        return
    partial = reference(site, draft.imports, PARTIAL, node)
    draft.replace(step.span, f"{partial}({site.text(node)}, {arguments})")


def _options(step: Step) -> dict[str, str]:
    """The keyword arguments to add, as source."""
    result: dict[str, str] = {}
    for kind, keyword in (("argnums", "donate_argnums"), ("argnames", "donate_argnames")):
        values = step.parameters.get(kind)
        if isinstance(values, (list, tuple)) and values:
            quoted = [f'"{value}"' if isinstance(value, str) else str(value) for value in values]
            result[keyword] = f"({quoted[0]},)" if len(quoted) == 1 else f"({', '.join(quoted)})"
    if isinstance(how := step.parameters.get("donate"), str):
        result["donate"] = f'"{how}"'
    if not result:
        raise Refused("no argument to donate was named")
    return result


def _check(transform: str | None, options: dict[str, str], keywords: list[ast.keyword]) -> None:
    if transform is None or transform not in _DONATING:
        name = transform or "the function called here"
        raise Refused(f"{name} takes no donation arguments; use {', '.join(_DONATING)}")
    for option in options:
        if option not in _DONATING[transform]:
            raise Refused(f"{transform} has no {option}")
    for keyword in keywords:
        if keyword.arg is None:
            raise Refused(f"{transform} takes **options here, which may already donate")
        if keyword.arg == "donate" or keyword.arg.startswith("donate_"):
            raise Refused(f"{transform} already has {keyword.arg} here")
        donated = options.get(keyword.arg.replace("static_", "donate_"))
        if donated is not None and _literals(keyword.value) & _literals(ast.parse(donated, mode="eval")):
            raise Refused(f"an argument would be both static ({keyword.arg}) and donated")


def _is_decorator(site: Site, node: ast.AST) -> bool:
    parent = site.names.parents.get(node)
    return node in getattr(parent, "decorator_list", ())


def _literals(node: ast.AST) -> set[object]:
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
