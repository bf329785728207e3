"""Facts about whole functions, classes and modules."""

from __future__ import annotations

import ast

from jaxlint.syntax.facts.nodes import FunctionNode, dotted, nodes_of, statements, walk
from jaxlint.syntax.facts.parameters import positional_parameters
from jaxlint.syntax.memo import cache

# equinox's marks for attributes that subclasses must provide.
PROMISES = ("AbstractVar", "AbstractClassVar")


@cache
def makes_functions(node: FunctionNode) -> bool:
    """Whether a function returns functions that it defines."""
    if isinstance(node, ast.Lambda):
        return isinstance(node.body, ast.Lambda)
    every = list(statements(node))
    inner = {part.name for part in every if type(part) is ast.FunctionDef}
    given = [part.value for part in every if type(part) is ast.Return]
    each = [part for value in given for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
    return any(
        isinstance(part, ast.Lambda) or (isinstance(part, ast.Name) and part.id in inner) for part in each
    )


_FIRST_METHODS = frozenset({"__init__", "setup", "__post_init__", "setUp", "setUpClass", "setup_method"})


@cache
def is_left_open(node: FunctionNode) -> bool:
    """Whether the body of a function is only a docstring, `pass` or `...`, like that of an abstract method."""
    return not isinstance(node, ast.Lambda) and all(
        isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        for part in node.body
    )


@cache
def is_left_to_heirs(node: FunctionNode) -> bool:
    """Whether a method has no body, or one that only says so, and leaves its work to subclasses."""
    if isinstance(node, ast.Lambda):
        return False
    last = node.body[-1]
    if not isinstance(last, ast.Raise):
        return is_left_open(node)
    error = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    return (
        error is not None
        and dotted(error) == "NotImplementedError"
        and all(
            isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) for part in node.body[:-1]
        )
    )


def _targets(statement: ast.AST) -> list[ast.expr]:
    """The targets of a statement."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        return [statement.target]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [item.optional_vars for item in statement.items if item.optional_vars is not None]
    return []


@cache
def attribute_stores(node: ast.ClassDef) -> frozenset[str]:
    """Names that methods rebind on `self`, except methods that run before all others."""
    found: set[str] = set()
    for method in node.body:
        if not isinstance(method, ast.FunctionDef) or method.name in _FIRST_METHODS:
            continue
        parameters = positional_parameters(method)
        if not parameters:
            continue
        self_name = parameters[0].arg
        for target in (target for statement in statements(method) for target in _targets(statement)):
            for child in walk(target):
                if (
                    isinstance(child, ast.Attribute)
                    and isinstance(child.ctx, ast.Store)
                    and isinstance(child.value, ast.Name)
                    and child.value.id == self_name
                ):
                    found.add(child.attr)
    return frozenset(found)


def changing_classes(module: ast.Module) -> set[str]:
    """Names of objects whose class a module changes at run time: `backend.__class__ = Other`."""
    return {
        target.value.id
        for statement in nodes_of(module, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Attribute)
        and target.attr == "__class__"
        and isinstance(target.value, ast.Name)
    }


@cache
def module_switches(module: ast.Module) -> dict[str, bool]:
    """The names that a module sets to True or False and one of its functions changes, with their first value."""
    turned = {name for statement in nodes_of(module, ast.Global) for name in statement.names}
    return {
        name: statement.value.value
        for statement in (module.body if turned else ())
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, bool)
        for target in (statement.targets if isinstance(statement, ast.Assign) else (statement.target,))
        if isinstance(target, ast.Name) and (name := target.id) in turned
    }


@cache
def methods_called_on_self(node: ast.AST) -> frozenset[str]:
    """The names of the methods that a function calls as `self.name(...)`."""
    called = (call.func for call in nodes_of(node, ast.Call))
    return frozenset(
        func.attr for func in called if isinstance(func, ast.Attribute) and dotted(func.value) == "self"
    )


@cache
def asks_whether_deleted(node: FunctionNode) -> bool:
    """Whether a function calls `is_deleted` on arrays, or deletes them: it may receive donated buffers."""
    return any(child.attr == "is_deleted" for child in nodes_of(node, ast.Attribute)) or any(
        isinstance(call.func, ast.Attribute) and call.func.attr == "delete" and not call.args
        for call in nodes_of(node, ast.Call)
    )


@cache
def stored_and_returned(node: ast.AST) -> frozenset[str]:
    """Names of objects on which a function sets an attribute that it also returns."""
    stored: set[str] = set()
    returned: set[str] = set()
    for child in walk(node):
        if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            stored.add(ast.unparse(child))
        elif isinstance(child, ast.Return) and child.value is not None:
            returned.update(
                ast.unparse(part) for part in walk(child.value) if isinstance(part, ast.Attribute)
            )
    return frozenset(text.partition(".")[0] for text in stored & returned)


@cache
def stores_what_it_gets(hook: ast.AST) -> bool:
    """Whether a `__setattr__` stores the value unchanged."""
    parameters = positional_parameters(hook) if isinstance(hook, ast.FunctionDef) else []
    if len(parameters) < 3:
        return False
    value = parameters[2].arg
    passed = False
    for child in walk(hook):
        if isinstance(child, ast.Name) and child.id == value and isinstance(child.ctx, ast.Store):
            return False
        if isinstance(child, ast.Call) and dotted(child.func).rpartition(".")[2] == "__setattr__":
            passed = passed or any(isinstance(part, ast.Name) and part.id == value for part in child.args)
        elif isinstance(child, ast.Assign) and isinstance(child.value, ast.Name):
            passed = passed or child.value.id == value  # `self.__dict__[name] = value`
    return passed
