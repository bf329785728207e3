"""Whose `scan` a loop becomes: that of the framework, where its body calls modules that keep parameters or state."""

from __future__ import annotations

import ast

from jaxlint.codemods.site import Site

# A module of nnx that is only read may be called in any loop of JAX; one that counts or draws refuses, by an error while it is traced.
LIFTED = {"haiku": "haiku.scan", "flax.linen": "flax.linen.scan", "flax.nnx": "jax.lax.scan"}
# The same parameters in each iteration, as where the loop is written out.
LINEN_OPTIONS = ('variable_broadcast="params"', 'split_rngs={"params": False}')


def framework_of(site: Site, loop: ast.For) -> str:
    """The framework of the modules that the body calls, of those whose loops have to be its own; "" where it calls none."""
    framework = _of_class(site, loop)
    for node in ast.walk(ast.Module(loop.body, [])):
        if not isinstance(node, ast.Call):
            continue
        root: ast.expr = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            continue
        if root.id == "self" and root is not node.func:
            if framework:
                return framework
        elif root is node.func and (found := _of_made(site, root)) and found in (framework, "haiku"):
            return found
    return ""


def module_parameter(site: Site, loop: ast.For) -> str:
    """What the method around the loop calls its module."""
    for around in site.names.ancestors(loop):
        if isinstance(around, ast.FunctionDef) and around.args.args:
            return around.args.args[0].arg
    return "self"


def _of_class(site: Site, loop: ast.For) -> str:
    """The framework of the class whose method the loop is in."""
    around = next(
        (a for a in site.names.ancestors(loop) if isinstance(a, (ast.FunctionDef, ast.Lambda))), None
    )
    holder = site.names.parents.get(around) if around is not None else None
    return framework_of_class(site, holder) if isinstance(holder, ast.ClassDef) else ""


def framework_of_class(site: Site, node: ast.ClassDef) -> str:
    """The framework whose module a class of the file derives from; "" for any other."""
    bases = [site.names.qualified(base) or "" for base in node.bases]
    return next((one for one in LIFTED if any(base.startswith(f"{one}.") for base in bases)), "")


def _of_made(site: Site, name: ast.Name) -> str:
    """The framework of the module that a local variable is given, as in `cell = hk.LSTM(width)`."""
    scope = site.names.scope_at(name)
    for binding in site.names.bindings_of(name.id, scope):
        made = site.names.parents.get(binding.node)
        if not isinstance(made, ast.Assign) or not isinstance(made.value, ast.Call):
            continue
        dotted = site.names.qualified(made.value.func) or ""
        if framework := next((one for one in LIFTED if dotted.startswith(f"{one}.")), ""):
            return framework
        if isinstance(made.value.func, ast.Name):
            for held in site.names.bindings_of(made.value.func.id, scope):
                if isinstance(held.node, ast.ClassDef) and (framework := framework_of_class(site, held.node)):
                    return framework
    return ""
