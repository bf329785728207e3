"""Errors that code expects, catches or provokes."""

from __future__ import annotations

import ast
import builtins

from jaxlint.syntax.facts.nodes import (
    FunctionNode,
    dotted,
    last_name,
    names_bound_by,
    nodes_of,
    statements,
    walk,
)
from jaxlint.syntax.memo import cache


def swallows_tracer_errors(handlers: list[ast.ExceptHandler]) -> bool:
    """Whether a handler catches the error that a tracer raises on `bool()` and the like."""
    for handler in handlers:
        names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for name in names:
            last = dotted(name).rpartition(".")[2] if name is not None else "BaseException"
            if (
                last in ("Exception", "BaseException", "TypeError")
                or _is_of_tracers(last)
                or not last[:1].isupper()
                or last.isupper()  # a name for a tuple of classes, whatever they are
            ):
                return True
    return False


def _is_of_tracers(name: str) -> bool:
    """Whether a class of errors is one that JAX raises for tracers only."""
    return "Tracer" in name or "Concret" in name or name in ("JAXTypeError", "JAXIndexError")


@cache
def may_expect_tracer_errors(tree: ast.AST) -> bool:
    """Whether a file may run functions in order to see them fail: it names an error of tracers in a handler, or a
    `try` that catches one calls a function that it does not know by name, such as a parameter."""
    known = {*dir(builtins)}
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            known |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    for node in walk(tree):
        if isinstance(node, ast.Try):
            catches = swallows_tracer_errors(node.handlers)
            named = [
                dotted(part).rpartition(".")[2]
                for handler in node.handlers
                if handler.type is not None
                for part in walk(handler.type)
            ]
        elif isinstance(node, ast.With | ast.AsyncWith):
            contexts = [item.context_expr for item in node.items if expects_error(item.context_expr)]
            catches = bool(contexts)
            named = [dotted(part).rpartition(".")[2] for one in contexts for part in walk(one)]
        else:
            continue
        if any(map(_is_of_tracers, named)):
            return True
        if catches and any(
            isinstance(part, ast.Call)
            and (
                isinstance(part.func, ast.Subscript)
                or (isinstance(part.func, ast.Name) and part.func.id not in known)
            )
            for step in node.body
            for part in walk(step)
        ):
            return True
    return False


@cache
def does_it_otherwise(node: ast.Try) -> bool:
    """Whether a handler provides other values for everything that the body of the `try` binds last."""
    last = node.body[-1]
    bound = names_bound_by(last) if isinstance(last, ast.Assign) else []
    return bool(bound) and any(
        set(bound)
        <= {
            name
            for part in statements(handler)
            if isinstance(part, ast.Assign)
            for name in names_bound_by(part)
        }
        for handler in node.handlers
    )


def guards_imports(handlers: list[ast.ExceptHandler]) -> bool:
    """Whether the `try` is a shim for names that may be missing."""
    for handler in handlers:
        names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if any(name is None or _is_of_missing_name(name) for name in names):
            return True
    return False


def imports_only_jax(body: list[ast.stmt]) -> bool:
    """Whether the body of such a `try` imports JAX, and no names from it that may be missing nor anything else: then code that JAX
    traces or runs is reached only if all of it went well."""
    imported = [
        one
        for statement in body
        for one in ast.walk(statement)
        if isinstance(one, (ast.Import, ast.ImportFrom))
    ]
    return bool(imported) and all(
        isinstance(one, ast.Import) and all(alias.name.partition(".")[0] == "jax" for alias in one.names)
        for one in imported
    )


def _is_of_missing_name(name: ast.expr) -> bool:
    """Whether a class of errors has those of a name that a library lacks."""
    last = dotted(name).rpartition(".")[2]
    return last in ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException")


def expects_missing_name(context: ast.expr) -> bool:
    """Whether a `with` item is `suppress(AttributeError)`, `pytest.raises(ImportError)` or the like."""
    return (
        isinstance(context, ast.Call)
        and expects_error(context)
        and any(_is_of_missing_name(one) for given in context.args for one in getattr(given, "elts", [given]))
    )


def expects_error(context: ast.expr) -> bool:
    """Whether a `with` item is `pytest.raises(...)`, `self.assertRaises(...)` or the like."""
    if not isinstance(context, ast.Call):
        return False
    name = dotted(context.func).rpartition(".")[2]
    return name in ("raises", "suppress") or name.startswith(("assertRaises", "assert_raises"))


@cache
def leaves_quietly(function: FunctionNode) -> bool:
    """Whether a context manager may swallow errors of its block, including those of tracers: an `__exit__` that may
    return True, or a generator that catches."""
    if isinstance(function, ast.Lambda):
        return False
    if function.name == "__exit__":
        answers = [part.value for part in nodes_of(function, ast.Return)]
        names = {answer.id for answer in answers if isinstance(answer, ast.Name)}
        answers += [
            part.value for part in nodes_of(function, ast.Assign) if names.intersection(names_bound_by(part))
        ]
        return any(map(_may_be_true, answers))
    return any(
        isinstance(part, ast.Try)
        and swallows_tracer_errors(part.handlers)
        and any(isinstance(inner, ast.Yield) for step in part.body for inner in walk(step))
        and not any(
            isinstance(inner, ast.Raise) for handler in part.handlers for inner in statements(handler)
        )
        for part in statements(function)
    )


def _may_be_true(answer: ast.expr | None) -> bool:
    """Whether an expression is True, or tests the class of an error. The result of another manager is not assumed to
    be True."""
    if isinstance(answer, ast.Constant):
        return answer.value is True
    if isinstance(answer, ast.BoolOp):
        return any(map(_may_be_true, answer.values))
    return isinstance(answer, ast.Call) and last_name(answer.func) in ("isinstance", "issubclass")


def calls_what_fails(call: ast.expr) -> bool:
    """Whether a call is `assertRaises(Error, function, *args)`, which itself calls the function that should fail."""
    return isinstance(call, ast.Call) and len(call.args) > 1 and expects_error(call)


@cache
def provokes_errors(function: ast.AST) -> bool:
    """Whether a function expects an error anywhere: `with pytest.raises(...)`, `@pytest.mark.xfail` and the like."""
    decorators = (getattr(d, "func", d) for d in getattr(function, "decorator_list", []))
    return any(dotted(d).rpartition(".")[2] in ("xfail", "expectedFailure") for d in decorators) or any(
        (isinstance(node, ast.With) and any(expects_error(item.context_expr) for item in node.items))
        or (isinstance(node, ast.Expr) and calls_what_fails(node.value))
        for node in statements(function)
    )


_STANDS_IN = frozenset({"patch", "MagicMock", "Mock", "AsyncMock", "create_autospec"})


@cache
def replaces_parts(test: ast.AST) -> bool:
    """Whether a test, or a test class, replaces objects of the program: `mock.patch` and the like."""
    return any(
        (isinstance(node, ast.Name) and node.id in _STANDS_IN)
        or (
            isinstance(node, ast.Attribute)
            and (node.attr in _STANDS_IN or (node.attr == "setattr" and dotted(node.value) == "monkeypatch"))
        )
        for node in walk(test)
    )
