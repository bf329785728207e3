"""`add-static-argument`: a parameter of a jitted function is declared static; `replace-string` corrects a name in a list."""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.applied_transforms import JITS, PARTIAL, applied
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.arguments import with_arguments
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Step


@codemod("add-static-argument")
def add_static_argument(draft: Draft, step: Step) -> None:
    """The span is the call of the transform, the decorator, or the decorated function.

    The parameter `name` is that of the function's parameter.
    """
    site = draft.site
    name = str(step.parameters["name"])
    node = site.find_ast(step.span, ast.Call, ast.Name, ast.Attribute, ast.FunctionDef, ast.AsyncFunctionDef)
    position = _position(site, node, name)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        node = next((one for one in node.decorator_list if applied(site, one) in JITS), node)
    if applied(site, node) not in JITS:
        raise Refused("the function is not jitted by jax.jit at this place")
    if not isinstance(node, ast.Call):
        if node not in getattr(site.names.parents.get(node), "decorator_list", ()):
            raise Refused("the transform is not called here, so there is no call to add the option to")
        partial = reference(site, draft.imports, PARTIAL, node)
        draft.replace(site.span(node), f'{partial}({site.text(node)}, static_argnames="{name}")')
        return
    listed = {one.arg: one.value for one in node.keywords}
    if None in listed:
        raise Refused("the transform takes **options here, which may set static arguments")
    if "static_argnums" in listed and position is None:
        raise Refused(f"static arguments are listed by position, and `{name}` has no known position")
    if any(option.startswith("donate_arg") for option in listed if option):
        raise Refused("the call also donates arguments, and a static argument cannot be donated")
    if "static_argnums" in listed:
        draft.replace(
            site.span(listed["static_argnums"]), _longer(site, listed["static_argnums"], str(position))
        )
    if "static_argnames" in listed:
        draft.replace(
            site.span(listed["static_argnames"]), _longer(site, listed["static_argnames"], f'"{name}"')
        )
    elif "static_argnums" not in listed:
        draft.replace(site.span(node), with_arguments(site.text(node), {"static_argnames": f'"{name}"'}))


def _position(site: Site, node: ast.AST, name: str) -> int | None:
    """The position of the parameter, if the function is defined in this file. Raises Refused if it has none."""
    decorated = site.names.parents.get(node)
    if isinstance(decorated, (ast.FunctionDef, ast.AsyncFunctionDef)) and node in decorated.decorator_list:
        node = decorated
    elif isinstance(node, ast.Call):
        function = next((one for one in node.args if site.names.qualified(one) not in JITS), None)
        if isinstance(function, ast.Name):
            bindings = site.names.bindings_of(function.id, site.names.scope_at(function))
            node = bindings[0].node if len(bindings) == 1 else node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    positional = [one.arg for one in [*node.args.posonlyargs, *node.args.args]]
    if name in positional:
        return positional.index(name)
    if name not in [one.arg for one in node.args.kwonlyargs]:
        raise Refused(f"`{node.name}` has no parameter `{name}`")
    return None


def _longer(site: Site, value: ast.expr, entry: str) -> str:
    """The text of a number, name or list of them, extended by `entry`."""
    text = site.text(value)
    if isinstance(value, (ast.Tuple, ast.List)) and "#" not in text and text[0] in "([":
        if not value.elts:
            return f"({entry},)"
        inner = text[1:-1].rstrip().removesuffix(",")
        return f"{text[0]}{inner}, {entry}{text[-1]}"
    if isinstance(value, ast.Constant):
        return f"({text}, {entry})"
    if "#" in text:
        raise Refused("a comment stands between the static arguments")
    raise Refused("the call of jit does not list its static arguments")


@codemod("replace-string")
def replace_string(draft: Draft, step: Step) -> None:
    """The span is an expression. Parameters: the text `old` of one string in it, and its `new` text."""
    site = draft.site
    node = site.find_ast(step.span, ast.expr)
    old, new = str(step.parameters["old"]), str(step.parameters["new"])
    found = [part for part in ast.walk(node) if isinstance(part, ast.Constant) and part.value == old]
    if len(found) != 1:
        raise Refused(f"{old!r} does not occur exactly once here")
    text = site.text(found[0])
    if text.count(old) != 1:
        raise Refused(f"{old!r} is spelled differently in the source")
    draft.replace(site.span(found[0]), text.replace(old, new))
