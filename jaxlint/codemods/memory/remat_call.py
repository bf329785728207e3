"""`remat-call`: the backward pass recomputes the block that a loop calls, by the remat of the code's framework.

The names of parameters are unchanged: the call is wrapped, not the class.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.lifted_scans import uses_modules
from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.facts.module_state import changed_by_call
from jaxlint.codemods.facts.parameter_modules import framework_of_class, holds_modules, method_around
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Span, Step

_DEFAULT = "nothing_saveable"
_REMATS = {
    "flax.linen": "flax.linen.remat",
    "flax.nnx": "flax.nnx.remat",
    "equinox": "equinox.filter_checkpoint",
    "haiku": "haiku.remat",
    "jax": "jax.checkpoint",
}
_LIFTED = frozenset({"flax.linen", "flax.nnx"})  # take the module as the first argument of a function


@codemod("remat-call")
def remat_call(draft: Draft, step: Step) -> None:
    """The span is the call of a block in a loop. The parameter `policy` names one of `jax.checkpoint_policies`."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    framework = _framework(site, call)
    remat = reference(site, draft.imports, _REMATS[framework], call)
    policy = str(step.parameters.get("policy", _DEFAULT))
    named = ""
    if policy != _DEFAULT:
        named = f", policy={reference(site, draft.imports, 'jax.checkpoint_policies', call)}.{policy}"
    layout = Layout(site)
    block, (function, given) = site.text(call.func), _function(site, layout, call, framework)
    if framework in _LIFTED:
        given = [block, *given]
    indent = " " * (site.span(call).column - 1)
    draft.replace(site.span(call), layout.call("", f"{remat}({function}{named})", given, indent))


def find_calls(site: Site, line: int) -> list[Span]:
    """The block call that is the value of a statement in a line of a loop."""
    found = []
    for node in ast.walk(site.tree):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not isinstance(node.value, ast.Call):
            continue
        loops = [one for one in site.names.ancestors(node) if isinstance(one, (ast.For, ast.While))]
        if node.lineno <= line <= (node.end_lineno or node.lineno) and loops:
            found.append(site.span(node.value))
    return found


def _function(site: Site, layout: Layout, call: ast.Call, framework: str) -> tuple[str, list[str]]:
    """The function under remat, and its arguments; numbers, strings and keywords stay outside."""
    if any(isinstance(part, ast.Starred) for part in call.args) or any(k.arg is None for k in call.keywords):
        raise Refused("the call unpacks its arguments")
    for part in (*call.args, *(keyword.value for keyword in call.keywords)):
        check_expression(site, part, "an argument")
    called = site.text(call.func)
    arrays = [part for part in call.args if not isinstance(part, ast.Constant)]
    if not arrays:
        raise Refused("the call has no positional array arguments")
    plain = len(arrays) == len(call.args) and not call.keywords
    if framework == "equinox":  # arguments that are not arrays are static there
        if len(arrays) != len(call.args) or call.keywords:
            rest = [layout.argument(part) for part in call.args]
            return called, [*rest, *(f"{k.arg}={layout.argument(k.value)}" for k in call.keywords)]
        return called, [layout.argument(part) for part in arrays]
    if plain and framework in ("jax", "haiku"):
        return called, [layout.argument(part) for part in arrays]
    if framework == "haiku" and isinstance(call.func, ast.Call):
        raise Refused("the call creates the module and passes more than arrays")
    taken = layout.identifiers(site.names.scope_at(call)) if not plain or framework in _LIFTED else set()
    names: list[str] = []
    texts: list[str] = []
    for part in call.args:
        if isinstance(part, ast.Constant):
            texts.append(site.text(part))
            continue
        name = part.id if isinstance(part, ast.Name) and part.id not in names else fresh_name(taken, "x")
        taken.add(name)
        names.append(name)
        texts.append(name)
    texts += [f"{keyword.arg}={layout.argument(keyword.value)}" for keyword in call.keywords]
    module = ""
    if framework in _LIFTED:
        module = (
            called if isinstance(call.func, ast.Name) and called not in names else fresh_name(taken, "block")
        )
    parameters = [module, *names] if module else names
    body = f"{module or called}({', '.join(texts)})"
    return f"lambda {', '.join(parameters)}: {body}", [layout.argument(part) for part in arrays]


def _framework(site: Site, call: ast.Call) -> str:
    """The framework whose remat keeps the callee's state. Raises Refused if it is unknown."""
    root: ast.AST = call.func
    while isinstance(root, (ast.Call, ast.Attribute, ast.Subscript)):
        root = root.func if isinstance(root, ast.Call) else root.value
    name = site.names.qualified(call.func.func if isinstance(call.func, ast.Call) else call.func) or ""
    if "remat" in ast.unparse(call.func) or "checkpoint" in ast.unparse(call.func):
        raise Refused("the call is already under jax.checkpoint")
    if isinstance(call.func, ast.Name):
        for binding in site.names.bindings_of(call.func.id, site.names.scope_at(call)):
            if isinstance(binding.node, ast.FunctionDef) and not binding.node.decorator_list:
                return _framework_of_function(site, call, binding.node)
    for ancestor in site.names.ancestors(call):
        if isinstance(ancestor, ast.ClassDef):
            for base in ancestor.bases:
                known = site.names.qualified(base) or ""
                for framework in ("flax.linen", "flax.nnx", "equinox", "haiku"):
                    if not known.startswith(f"{framework}."):
                        continue
                    if framework == "flax.linen" and holds_modules(site, call.func, framework) is False:
                        raise Refused("the called object is not a module")
                    return framework
    if name.startswith("haiku.") or _class_of(site, call, "haiku"):
        return "haiku"
    raise Refused("the called object is neither a function of this file nor a block of a known framework")


def _class_of(site: Site, call: ast.Call, framework: str) -> bool:
    """Whether the call creates an object of a class of this file, a module of `framework`, and calls it."""
    made = call.func
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Name):
        return False
    for binding in site.names.bindings_of(made.func.id, site.names.scope_at(call)):
        if isinstance(binding.node, ast.ClassDef):
            bases = [site.names.qualified(base) or "" for base in binding.node.bases]
            return any(base.startswith(f"{framework}.") for base in bases)
    return False


def _framework_of_function(site: Site, call: ast.Call, function: ast.FunctionDef) -> str:
    """The framework whose remat keeps the state of modules that a function of the file creates or calls; "jax" if
    there are none."""
    method = method_around(site, call)
    around = framework_of_class(site, method.holder) if method is not None else ""
    module = method.parameter if method is not None and around in ("haiku", "flax.linen") else ""
    if uses_modules(site, function, "flax.linen", module if around == "flax.linen" else ""):
        raise Refused("the function calls modules that are not its arguments, and nn.remat lifts only those")
    framework = "haiku" if uses_modules(site, function, "haiku", module) else "jax"
    change = changed_by_call(site, call) if framework == "jax" else None
    if change is not None:
        raise Refused(f"the called function {change.what}")
    return framework
