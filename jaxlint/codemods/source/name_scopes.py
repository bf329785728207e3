"""Scopes of one module: the bindings and uses of each name, and the meaning of imports.

Exact for Python's scoping rules, and blind to run-time tricks (`globals()`, `exec`, star imports). Before a rewrite
changes a name, it must know every place with the same meaning.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(eq=False, slots=True)
class Binding:
    """One place that binds a name. `qualified` is set for absolute imports: the name's meaning."""

    name: str
    node: ast.AST
    qualified: str | None = None
    alias: ast.alias | None = None
    statement: ast.Import | ast.ImportFrom | None = None


@dataclass(eq=False, slots=True)
class Scope:
    """A module, class, function, lambda or comprehension."""

    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    redirected: dict[str, Scope] = field(default_factory=dict)  # by `global` and `nonlocal`

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_comprehension(self) -> bool:
        return isinstance(self.node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))

    def resolve(self, name: str) -> Scope | None:
        """The scope in which `name`, read here, is bound; None for builtins and unknown names."""
        scope: Scope | None = self
        while scope is not None:
            if scope is self or not scope.is_class:
                if name in scope.redirected:
                    target = scope.redirected[name]
                    return target if name in target.bindings else None
                if name in scope.bindings:
                    return scope
            scope = scope.parent
        return None


@dataclass(eq=False, slots=True)
class Use:
    """A read (or deletion) of a name."""

    name: ast.Name
    scope: Scope


class Names:
    """The scopes, bindings, uses and parents of one parsed module."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.module = Scope(tree, None)
        self.uses: list[Use] = []
        self.parents: dict[ast.AST, ast.AST] = {}
        self.scope_of: dict[ast.AST, Scope] = {}
        self.strings: list[str] = []  # words in strings that are expressions, such as quoted annotations
        self.exported: set[str] = set()
        self.has_star_import = False
        self._uses_of: dict[tuple[str, Scope], list[Use]] = {}
        self._imports_in: dict[Scope, list[str]] = {}
        self.reaching: dict[Scope, Mapping[ast.Name, frozenset[Binding]]] = {}  # filled by `reaching.py`
        _Collector(self).run()

    def uses_of(self, name: str, scope: Scope) -> list[Use]:
        """Every use of `name` that refers to the binding in `scope`."""
        if (name, scope) not in self._uses_of:
            uses = self._uses_by_name.get(name, ())
            self._uses_of[name, scope] = [use for use in uses if use.scope.resolve(name) is scope]
        return self._uses_of[name, scope]

    @functools.cached_property
    def _uses_by_name(self) -> Mapping[str, list[Use]]:
        found: dict[str, list[Use]] = {}
        for use in self.uses:
            found.setdefault(use.name.id, []).append(use)
        return found

    @functools.cached_property
    def uses_by_line(self) -> Mapping[int, list[Use]]:
        """The uses by the line on which they begin."""
        found: dict[int, list[Use]] = {}
        for use in self.uses:
            found.setdefault(use.name.lineno, []).append(use)
        return found

    def imports_in(self, scope: Scope) -> list[str]:
        """The names in a scope that an absolute import binds."""
        if scope not in self._imports_in:
            self._imports_in[scope] = [
                name
                for name, bindings in scope.bindings.items()
                if any(binding.qualified for binding in bindings)
            ]
        return self._imports_in[scope]

    @functools.cached_property
    def homes(self) -> Mapping[str, list[Scope]]:
        """The scopes that bind each name, in their order."""
        found: dict[str, list[Scope]] = {}
        for scope in self.scopes:
            for name in scope.bindings:
                found.setdefault(name, []).append(scope)
        return found

    @functools.cached_property
    def scopes(self) -> list[Scope]:
        """Every scope, that of the module first."""
        return list({id(scope): scope for scope in [self.module, *self.scope_of.values()]}.values())

    def bindings_of(self, name: str, scope: Scope) -> list[Binding]:
        """All bindings that `name`, read in `scope`, may refer to; empty for builtins and unknown names."""
        home = scope.resolve(name)
        return home.bindings[name] if home else []

    def meaning_of(self, name: str, scope: Scope) -> str | None:
        """The meaning of `name` in `scope` by its imports: a dotted name, or None if it is not bound by one import."""
        meanings = {binding.qualified for binding in self.bindings_of(name, scope)}
        return meanings.pop() if len(meanings) == 1 else None

    def qualified(self, node: ast.AST) -> str | None:
        """The dotted name of a Name or an attribute chain, resolved through imports."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        scope = self.scope_at(node)
        root = self.meaning_of(node.id, scope)
        return ".".join([root, *reversed(attributes)]) if root else None

    def given(self, target: ast.AST) -> ast.expr | None:
        """The expression that an assignment assigns to a variable, also to one of several targets; None for any other binding."""
        above = self.parents.get(target)
        if isinstance(above, ast.Tuple):
            statement = self.parents.get(above)
            value = statement.value if isinstance(statement, ast.Assign) else None
            if isinstance(value, ast.Tuple) and len(value.elts) == len(above.elts):
                return value.elts[above.elts.index(target)]  # type: ignore[arg-type]
            return None
        return above.value if isinstance(above, ast.Assign | ast.AnnAssign) else None

    def builtin(self, function: ast.AST) -> str:
        """The builtin that a callee names; "" for anything else."""
        if not isinstance(function, ast.Name) or self.scope_at(function).resolve(function.id) is not None:
            return ""
        return function.id

    def scope_at(self, node: ast.AST) -> Scope:
        """The scope in which `node` is evaluated."""
        current: ast.AST | None = node
        while current is not None:
            if current in self.scope_of:
                return self.scope_of[current]
            current = self.parents.get(current)
        return self.module

    def scope_inside(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
    ) -> Scope | None:
        """The scope that a function or a class opens."""
        return self.scope_of.get(node.body if isinstance(node, ast.Lambda) else node.body[0])

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def ancestors_below(self, node: ast.AST, end: ast.AST) -> list[ast.AST]:
        """The nodes around `node` within `end`, innermost first."""
        return list(itertools.takewhile(lambda one: one is not end, self.ancestors(node)))

    def is_shown(self, name: str) -> bool:
        """Whether a string or `__all__` mentions `name`, so that it may have invisible uses."""
        return name in self.exported or name in self.strings


class _Collector:
    def __init__(self, names: Names) -> None:
        self.names = names

    def run(self) -> None:
        for parent in ast.walk(self.names.tree):
            for child in ast.iter_child_nodes(parent):
                self.names.parents[child] = parent
        for statement in self.names.tree.body:
            self.visit(statement, self.names.module)

    def bind(self, scope: Scope, name: str, node: ast.AST, **details: object) -> None:
        home = scope.redirected.get(name, scope)
        binding = Binding(name, node)
        for key, value in details.items():
            setattr(binding, key, value)
        home.bindings.setdefault(name, []).append(binding)

    def visit_all(self, nodes: list[ast.AST] | list[ast.expr] | list[ast.stmt], scope: Scope) -> None:
        for node in nodes:
            self.visit(node, scope)

    def visit(self, node: ast.AST | None, scope: Scope) -> None:
        if node is None:
            return
        method = getattr(self, f"visit_{type(node).__name__}", None)
        if method is not None:
            method(node, scope)
        else:
            for child in ast.iter_child_nodes(node):
                self.visit(child, scope)

    # Names

    def visit_Name(self, node: ast.Name, scope: Scope) -> None:
        self.names.scope_of[node] = scope
        if isinstance(node.ctx, ast.Load):
            self.names.uses.append(Use(node, scope))
        else:
            self.bind(scope, node.id, node)
            augmented = isinstance(self.names.parents.get(node), ast.AugAssign)
            if augmented or isinstance(node.ctx, ast.Del):
                self.names.uses.append(Use(node, scope))

    def visit_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> None:
        self.visit(node.value, scope)
        target_scope = scope
        while target_scope.is_comprehension and target_scope.parent is not None:
            target_scope = target_scope.parent
        self.visit(node.target, target_scope)

    def visit_Constant(self, node: ast.Constant, scope: Scope) -> None:
        parent = self.names.parents.get(node)
        if isinstance(node.value, str) and len(node.value) < 1000 and not isinstance(parent, ast.Expr):
            try:
                quoted = ast.parse(node.value.strip(), mode="eval")
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return
            self.names.strings.extend(part.id for part in ast.walk(quoted) if isinstance(part, ast.Name))

    def visit_Global(self, node: ast.Global, scope: Scope) -> None:
        for name in node.names:
            scope.redirected[name] = self.names.module

    def visit_Nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            home = scope.parent.resolve(name) if scope.parent else None
            if home is not None and home is not self.names.module:
                scope.redirected[name] = home

    def visit_ExceptHandler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        self.visit(node.type, scope)
        if node.name:
            self.bind(scope, node.name, node)
        self.visit_all(node.body, scope)

    def visit_MatchAs(self, node: ast.MatchAs, scope: Scope) -> None:
        self.visit(node.pattern, scope)
        if node.name:
            self.bind(scope, node.name, node)

    def visit_MatchStar(self, node: ast.MatchStar, scope: Scope) -> None:
        if node.name:
            self.bind(scope, node.name, node)

    def visit_MatchMapping(self, node: ast.MatchMapping, scope: Scope) -> None:
        self.visit_all(list(ast.iter_child_nodes(node)), scope)
        if node.rest:
            self.bind(scope, node.rest, node)

    # Imports

    def visit_Import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            means = alias.name if alias.asname else bound
            self.bind(scope, bound, node, qualified=means, alias=alias, statement=node)
            self.names.scope_of[alias] = scope

    def visit_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.names.has_star_import = True
                continue
            means = f"{node.module}.{alias.name}" if not node.level and node.module else None
            self.bind(scope, alias.asname or alias.name, node, qualified=means, alias=alias, statement=node)
            self.names.scope_of[alias] = scope

    # Scopes

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self.visit_all(node.decorator_list, scope)
        self._visit_signature(node.args, scope)
        self.visit(node.returns, scope)
        self.bind(scope, node.name, node)
        inner = self._enter(node, scope)
        for parameter in getattr(node, "type_params", []):
            self.bind(inner, parameter.name, parameter)
        self._bind_parameters(node.args, inner)
        self._predeclare(node.body, inner)
        self.visit_all(node.body, inner)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda, scope: Scope) -> None:
        self._visit_signature(node.args, scope)
        inner = self._enter(node, scope)
        self._bind_parameters(node.args, inner)
        self.visit(node.body, inner)

    def visit_ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        self.visit_all(node.decorator_list, scope)
        self.visit_all([*node.bases, *node.keywords], scope)
        self.bind(scope, node.name, node)
        inner = self._enter(node, scope)
        for parameter in getattr(node, "type_params", []):
            self.bind(inner, parameter.name, parameter)
        self._predeclare(node.body, inner)
        self.visit_all(node.body, inner)

    def _visit_comprehension(self, node: ast.AST, scope: Scope) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        self.visit(generators[0].iter, scope)  # evaluated outside
        inner = self._enter(node, scope)
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                self.names.scope_of[getattr(node, part)] = inner
        for index, generator in enumerate(generators):
            self.visit(generator.target, inner)
            if index:
                self.visit(generator.iter, inner)
            self.visit_all(generator.ifs, inner)
        for part in ("elt", "key", "value"):
            self.visit(getattr(node, part, None), inner)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def _enter(self, node: ast.AST, parent: Scope) -> Scope:
        scope = Scope(node, parent)
        self.names.scope_of[node] = parent
        body = getattr(node, "body", None)
        for child in body if isinstance(body, list) else [body]:
            if child is not None:
                self.names.scope_of[child] = scope
        return scope

    def _visit_signature(self, arguments: ast.arguments, scope: Scope) -> None:
        for argument in parameters_of(arguments):
            self.visit(argument.annotation, scope)
        self.visit_all([*arguments.defaults, *(d for d in arguments.kw_defaults if d)], scope)

    def _bind_parameters(self, arguments: ast.arguments, scope: Scope) -> None:
        for argument in parameters_of(arguments):
            self.bind(scope, argument.arg, argument)

    def _predeclare(self, body: list[ast.stmt], scope: Scope) -> None:
        """`global` and `nonlocal` apply to the whole body, wherever they occur in it."""
        waiting: list[ast.AST] = list(body)
        while waiting:
            node = waiting.pop()
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self.visit(node, scope)
            elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                waiting.extend(
                    child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)
                )

    # `__all__`

    def visit_Assign(self, node: ast.Assign, scope: Scope) -> None:
        self._export(node.targets, node.value)
        self.visit_all([node.value, *node.targets], scope)

    def visit_AugAssign(self, node: ast.AugAssign, scope: Scope) -> None:
        self._export([node.target], node.value)
        self.visit_all([node.value, node.target], scope)

    def visit_AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self._export([node.target], node.value)
        self.visit_all([part for part in (node.annotation, node.value, node.target) if part], scope)

    def _export(self, targets: list[ast.expr], value: ast.expr) -> None:
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            for part in ast.walk(value):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    self.names.exported.add(part.value)


def parameters_of(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters of a signature: positional, keyword-only, then `*args` and `**kwargs`."""
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return found + [extra for extra in (arguments.vararg, arguments.kwarg) if extra]
