"""Modules of a framework with parameters: which classes create them, and which variables hold them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.source.name_scopes import Binding
from jaxlint.codemods.source.site import Site

_FRAMEWORKS = ("haiku", "flax.linen", "flax.nnx")
# In these frameworks, a call that does not visibly create a module returns something else.
_LIBRARIES = ("jax.", "numpy.", "flax.", "haiku.", "optax.", "functools.", "math.", "operator.", "itertools.")
_DATA = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.JoinedStr, ast.Slice)


@dataclass(frozen=True)
class Method:
    """The method around a node. `is_direct`: the node is not in a nested function."""

    function: ast.FunctionDef | ast.AsyncFunctionDef
    holder: ast.ClassDef
    is_direct: bool

    @property
    def parameter(self) -> str:
        """The name of the module in the method."""
        arguments = [*self.function.args.posonlyargs, *self.function.args.args]
        return arguments[0].arg if arguments else "self"


def method_around(site: Site, node: ast.AST) -> Method | None:
    """The method of a class of the file that `node` is in."""
    is_direct = True
    for around in site.names.ancestors(node):
        if not isinstance(around, FUNCTIONS):
            continue
        holder = site.names.parents.get(around)
        if isinstance(holder, ast.ClassDef) and not isinstance(around, ast.Lambda):
            return Method(around, holder, is_direct)
        is_direct = False
    return None


def framework_of_class(site: Site, node: ast.ClassDef, seen: frozenset[ast.AST] = frozenset()) -> str:
    """The framework of the module that a class of the file derives from, directly or not; "" for any other class."""
    bases = [site.names.qualified(base) or "" for base in node.bases]
    if found := next((one for one in _FRAMEWORKS if any(base.startswith(f"{one}.") for base in bases)), ""):
        return found
    for base in node.bases:
        for binding in _bindings(site, base):
            if isinstance(binding.node, ast.ClassDef) and binding.node not in seen | {node}:
                if found := framework_of_class(site, binding.node, seen | {node}):
                    return found
    return ""


def _bindings(site: Site, node: ast.expr) -> list[Binding]:
    return site.names.bindings_of(node.id, site.names.scope_at(node)) if isinstance(node, ast.Name) else []


def is_module_class(site: Site, function: ast.expr, framework: str = "") -> bool:
    """Whether a call of `function` certainly creates a module (of the framework)."""
    dotted = site.names.qualified(function) or ""
    if any(dotted.startswith(f"{one}.") for one in ([framework] if framework else ("haiku", "flax.linen"))):
        return dotted.rpartition(".")[2][:1].isupper()
    made = (
        framework_of_class(site, one.node)
        for one in _bindings(site, function)
        if isinstance(one.node, ast.ClassDef)
    )
    return any(one == framework if framework else one in ("haiku", "flax.linen") for one in made)


def values_of(site: Site, name: ast.Name) -> list[ast.AST]:
    """The values of a variable: expressions (also those it is unpacked from or iterates over), functions, parameters."""
    found: list[ast.AST] = []
    for binding in _bindings(site, name):
        node = binding.node
        for around in (node, *site.names.ancestors(node)):
            value = getattr(
                around, "iter" if isinstance(around, (ast.For, ast.comprehension)) else "value", None
            )
            if isinstance(around, (*FUNCTIONS, ast.arg, ast.stmt, ast.comprehension, ast.NamedExpr)):
                found.append(value if isinstance(value, ast.expr) else around)
                break
    return found


def holds_modules(
    site: Site, node: ast.AST, framework: str, seen: frozenset[ast.AST] = frozenset()
) -> bool | None:
    """Whether an expression is a module of the framework, or a container of some; None if unknown."""
    if node in seen:
        return False
    seen |= {node}
    if isinstance(node, ast.Name):
        return _any(holds_modules(site, value, framework, seen) for value in values_of(site, node))
    if isinstance(node, ast.Call):
        if is_module_class(site, node.func, framework):
            return True
        if not (site.names.qualified(node.func) or "").startswith(_LIBRARIES):
            return None
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        return False if all(holds_modules(site, one, framework, seen) is False for one in given) else None
    if isinstance(node, ast.arg):
        return _is_declared(site, node, framework)
    if isinstance(node, ast.Attribute):
        return False if site.names.qualified(node) else None
    if isinstance(node, ast.IfExp):
        return _any(holds_modules(site, one, framework, seen) for one in (node.body, node.orelse))
    if isinstance(node, (ast.List, ast.Tuple)) and node.elts:
        return _any(holds_modules(site, one, framework, seen) for one in node.elts)
    if isinstance(node, ast.Dict) and node.values:
        return _any(holds_modules(site, one, framework, seen) for one in node.values)
    if isinstance(node, ast.DictComp):
        return holds_modules(site, node.value, framework, seen)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return holds_modules(site, node.elt, framework, seen)
    if isinstance(node, ast.Subscript):
        return holds_modules(site, node.value, framework, seen)
    return False if isinstance(node, (*_DATA, *FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)) else None


def _is_declared(site: Site, parameter: ast.arg, framework: str) -> bool | None:
    """What the annotation of a parameter says."""
    declared = parameter.annotation
    if declared is None:
        return None
    if is_module_class(site, declared, framework):
        return True
    dotted = site.names.qualified(declared) or ""
    is_data = isinstance(declared, ast.Name) and declared.id in ("bool", "int", "float", "str")
    return False if is_data or dotted in ("jax.Array", "jax.numpy.ndarray") else None


def _any(answers: Iterable[bool | None]) -> bool | None:
    """Whether one is true; None if none is true and one is unknown."""
    known = set(answers)
    return True if True in known else None if None in known or not known else False
