"""Chooses the `scan` for a loop: that of the framework if its body calls modules with parameters or state.

flax.linen lifts the modules that a function receives as arguments. A closed-over module from outside keeps the
variables of the outer scope: parameters created inside the loop would be tracers there. So variables that hold
modules become arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from jaxlint.codemods.facts.dataflow import FUNCTIONS, root_of
from jaxlint.codemods.facts.parameter_modules import (
    framework_of_class,
    holds_modules,
    is_module_class,
    method_around,
    values_of,
)
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.site import Refused, Site

# An nnx module that is only read may be called in any JAX loop; one that counts or draws fails at trace time.
LIFTED = {"haiku": "haiku.scan", "flax.linen": "flax.linen.scan", "flax.nnx": "jax.lax.scan"}
# The same parameters in each iteration, as in the Python loop.
LINEN_OPTIONS = ('variable_broadcast="params"', 'split_rngs={"params": False}')
# Methods that receive the parameters, and do not touch the enclosing scope.
_FUNCTIONAL = frozenset({"apply", "init", "init_with_output", "lazy_init", "bind", "tabulate"})


@dataclass(frozen=True)
class Lifted:
    """The framework of the modules that a loop calls, if it needs the framework's own loops; "" if it calls none.

    `lent`: variables from outside the loop that hold, or may hold, flax.linen modules.
    """

    framework: str = ""
    lent: tuple[str, ...] = ()


def lifted_by(site: Site, loop: ast.For) -> Lifted:
    """Raises Refused if the loop calls modules that no loop of their framework can receive."""
    method = method_around(site, loop)
    framework = framework_of_class(site, method.holder) if method is not None else ""
    if method is not None and framework == "flax.linen":
        called = _Called(site, loop, method.parameter, method.holder)
        if called.found and not method.is_direct:
            raise Refused("the loop calls modules in a nested function; move it into the method")
        return Lifted("flax.linen" if called.found else "", tuple(called.lent))
    for node in ast.walk(ast.Module(loop.body, [])):
        if not isinstance(node, ast.Call):
            continue
        root = root_of(node.func)
        if not isinstance(root, ast.Name):
            continue
        if root.id == "self" and root is not node.func:
            if framework and method is not None and method.is_direct:
                return Lifted(framework)
        elif not isinstance(node.func, ast.Attribute) and _is_of_haiku(site, root):
            return Lifted("haiku")
    return Lifted()


def _is_of_haiku(site: Site, name: ast.Name) -> bool:
    """Whether a variable holds a haiku module, or a function that calls some."""
    return bool(holds_modules(site, name, "haiku")) or any(
        isinstance(one, FUNCTIONS) and uses_modules(site, one, "haiku") for one in values_of(site, name)
    )


def module_parameter(site: Site, loop: ast.For) -> str:
    """The name of the module in the method around the loop."""
    method = method_around(site, loop)
    return method.parameter if method is not None else "self"


class _Called:
    """The modules that a loop in a method of a linen module calls. `found`: there are some, or possibly some."""

    def __init__(self, site: Site, loop: ast.For, module: str, holder: ast.ClassDef) -> None:
        self.site, self.holder = site, holder
        self.module = module
        self.inside = {part for statement in loop.body for part in ast.walk(statement)} | set(
            ast.walk(loop.target)
        )
        self.found = False
        self.lent: dict[str, None] = {}
        self.seen: set[ast.AST] = set()
        for statement in loop.body:
            self._visit(statement)

    def _visit(self, around: ast.AST) -> None:
        for node in ast.walk(around):
            if isinstance(node, ast.Call):
                self._visit_call(node)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and self._is_outside(node):
                if holds_modules(self.site, node, "flax.linen"):
                    self._lend(node)

    def _visit_call(self, node: ast.Call) -> None:
        if any(isinstance(one, ast.Name) and one.id == self.module for one in node.args):
            self.found = True  # a function that receives the module itself
        if isinstance(node.func, ast.Call) and self._may_make(node.func):
            raise Refused(
                f"the loop calls the result of `{ast.unparse(node.func)[:40]}`, which may be a new module in each iteration"
            )
        root = root_of(node.func)
        if not isinstance(root, ast.Name):
            return
        if root.id == self.module and root is not node.func:
            self.found = True
        elif not isinstance(node.func, ast.Attribute):
            self._visit_called(root)

    def _visit_called(self, name: ast.Name) -> None:
        """A variable that is called, or whose item is."""
        for function in values_of(self.site, name):
            if not isinstance(function, FUNCTIONS) or function in self.inside:
                continue
            if uses_modules(self.site, function, "flax.linen", self.module):
                raise Refused(
                    f"the loop calls `{name.id}`, which calls modules of an outer scope; make it a method"
                )
        if self._home(name) in (None, self.site.names.module):
            return
        if self._is_outside(name):
            if holds_modules(self.site, name, "flax.linen") is not False:
                self._lend(name)
            return
        for value in values_of(self.site, name):
            if value in self.seen or isinstance(value, (*FUNCTIONS, ast.arg)):
                continue
            self.seen.add(value)
            if isinstance(value, ast.Call) and self._may_make(value):
                raise Refused(
                    f"the loop calls `{name.id}`, which may be a new module in each iteration: `{ast.unparse(value)[:40]}`"
                )
            for part in ast.walk(value):
                if isinstance(part, ast.Name) and part.id == self.module:
                    self.found = True
                elif isinstance(part, ast.Name):
                    self._visit_called(part)

    def _lend(self, name: ast.Name) -> None:
        for value in values_of(self.site, name):
            if reason := _cannot_lend(self.site, value, self.module, self.holder):
                raise Refused(f"the loop calls `{name.id}`, which {reason}")
        self.found = True
        self.lent.setdefault(name.id)

    def _may_make(self, made: ast.Call) -> bool:
        """Whether a call may create a module: not a call of a library, of Python, or of a module's method.

        A call that visibly creates one makes the loop be refused for an effect.
        """
        root = root_of(made.func)
        if not isinstance(root, ast.Name) or root.id == self.module or self._home(root) is None:
            return False
        return holds_modules(self.site, made, "flax.linen") is None

    def _home(self, name: ast.Name) -> Scope | None:
        return self.site.names.scope_at(name).resolve(name.id)

    def _is_outside(self, name: ast.Name) -> bool:
        """Whether a function's variable gets its values outside the loop."""
        home = self._home(name)
        if home is None or home is self.site.names.module:
            return False
        return all(binding.node not in self.inside for binding in home.bindings[name.id])


def _cannot_lend(site: Site, value: ast.AST, module: str, holder: ast.ClassDef) -> str:
    """Why a variable with `value` cannot be passed to a loop as a module; "" if it can."""
    if isinstance(value, ast.Attribute):
        if not (isinstance(value.value, ast.Name) and value.value.id == module):
            return f"is `{ast.unparse(value)}`, which may belong to a module of an outer scope"
        if value.attr not in _fields(holder, module):
            return f"is `{ast.unparse(value)}`, which may be a method of a module of an outer scope"
    elif isinstance(value, ast.Call) and not is_module_class(site, value.func):
        is_library = site.names.qualified(value.func) is not None
        for part in [*value.args, *(keyword.value for keyword in value.keywords)]:
            named = (
                ast.walk(part) if is_library else [part]
            )  # `jax.jit(self.cell)`, unlike `make(self.width)`
            is_own = any(isinstance(one, ast.Name) and one.id == module for one in named)
            if is_own or holds_modules(site, part, "flax.linen"):
                return f"consists of modules of an outer scope: `{ast.unparse(value)[:40]}`"
    return ""


def _fields(holder: ast.ClassDef, module: str) -> set[str]:
    """The attributes of a class that are visibly fields: annotated, or stored by its methods."""
    found = {
        one.target.id
        for one in holder.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    for node in ast.walk(holder):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id in (module, "self"):
                found.add(node.attr)
    return found


def uses_modules(site: Site, function: ast.AST, framework: str, module: str = "") -> bool:
    """Whether a function creates or calls modules: its own, of variables around it, or through `module`, the
    parameter of an enclosing method."""

    def calls(node: ast.AST) -> bool:
        around = site.names.parents.get(node)
        if isinstance(around, ast.Attribute) and around.attr in _FUNCTIONAL:
            return False
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return bool(holds_modules(site, node, framework))
        if not isinstance(node, ast.Call):
            return False
        root = root_of(node.func)
        handed = [root, *node.args] if root is not node.func else node.args
        by_method = module and any(isinstance(one, ast.Name) and one.id == module for one in handed)
        if by_method or not is_module_class(site, node.func, framework):
            return bool(by_method)
        # A linen module has parameters in its own scope only if it is called.
        return framework == "haiku" or (isinstance(around, ast.Call) and around.func is node)

    return any(calls(node) for node in _reached(site, function))


def makes_modules(site: Site, function: ast.AST, framework: str) -> bool:
    """Whether a function creates modules, which differ at each call."""
    return any(
        isinstance(node, ast.Call) and is_module_class(site, node.func, framework)
        for node in _reached(site, function)
    )


def _reached(site: Site, function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, and of the functions of the file that it names."""
    waiting, seen = [function], {function}
    while waiting:
        for node in _body(waiting.pop()):
            yield node
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                named = {one for one in values_of(site, node) if isinstance(one, FUNCTIONS)} - seen
                seen |= named
                waiting += named


def _body(function: ast.AST) -> Iterator[ast.AST]:
    body = function.body if isinstance(function, FUNCTIONS) else []
    for part in body if isinstance(body, list) else [body]:
        yield from ast.walk(part)
