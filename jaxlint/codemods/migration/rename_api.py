"""`rename-api` and `change-call`: migrate a program from a removed JAX name or signature to its replacement."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Mapping
from dataclasses import dataclass

import libcst as cst

from jaxlint.codemods.migration.adapted_calls import CallChange, Template, adapt_call, expand_template
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.import_edits import check_movable, whole_chain
from jaxlint.codemods.source.imports import NewImport, reference
from jaxlint.codemods.source.name_scopes import Names, Scope
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.statements.remove_statement import delete_statement
from jaxlint.finding import Span, Step

_TYPE_TESTS = {"isinstance", "issubclass", "assertIsInstance", "assertNotIsInstance"}


@dataclass(frozen=True, slots=True)
class _Rewrite:
    """The parameters of a step.

    `old` and `new` are dotted names. `module` is the submodule that must be imported for `new`; `alternative` is
    another replacement, preferred in `from` imports if it keeps the name. `call`, `template` and `expression` say
    what else changes: the arguments, the whole call, or the name into an expression (in which `{}` means `new`).
    """

    old: str
    new: str
    module: str | None = None
    alternative: str | None = None
    call: CallChange | None = None
    template: Template | None = None
    expression: str | None = None
    delete: bool = False  # the call has no effect any more: its statement is removed
    # also removed: a statement that binds the one to the other has no effect any more, and is deleted
    beside: str = ""
    members: tuple[str, ...] = ()  # the attributes that the new name also has, if it lacks some
    type_tests: bool = True  # False: not in isinstance, where the new name has another meaning
    is_attribute: bool = (
        False  # a former module is now an attribute of the same name: only its import changes
    )
    shared: bool = False  # other files import the name from this one
    unused: bool = False  # it has no replacement, and nothing in the file uses it: its import is removed

    @property
    def is_plain(self) -> bool:
        return self.call is None and self.template is None and self.expression is None and not self.delete

    @staticmethod
    def of(parameters: Mapping[str, object]) -> _Rewrite:
        values = dict(parameters)
        if isinstance(call := values.pop("call", None), (CallChange, Mapping)):
            values["call"] = CallChange.of(call)
        if isinstance(template := values.pop("template", None), (Template, Mapping)):
            values["template"] = Template.of(template)
        return _Rewrite(**{"new": "", **values})  # type: ignore[arg-type]


@codemod("rename-api")
def rename_api(draft: Draft, step: Step) -> None:
    """The span is the name or attribute chain, or the alias in an import, which changes all its uses."""
    rewrite = _Rewrite.of(step.parameters)
    node = draft.site.find_ast(step.span, ast.alias, ast.Name, ast.Attribute)
    if rewrite.old in _replaced(draft.site.names) and not isinstance(
        getattr(node, "ctx", None), ast.Store | ast.Del
    ):
        raise Refused(f"this file replaces {rewrite.old} itself")
    if isinstance(node, ast.alias):
        _move_import(draft, node, rewrite)
        return
    if draft.site.names.qualified(node) != rewrite.old:
        raise Refused(f"this is not {rewrite.old}")
    _rewrite_use(draft, node, rewrite)


@codemod("change-call")
def change_call(draft: Draft, step: Step) -> None:
    """The span is a call of `callee`, whose arguments change by `call` (see CallChange)."""
    node = draft.site.find_ast(step.span, ast.Call)
    assert isinstance(node, ast.Call)
    call, change = step.parameters.get("call"), CallChange()
    if isinstance(call, (CallChange, Mapping)):
        change = CallChange.of(call)
    callee, bound = node.func, 0
    if draft.site.names.qualified(callee) == "functools.partial" and node.args:
        callee, bound = node.args[0], 1
    wanted = str(step.parameters.get("callee"))
    # For a method, the rule knows that the receiver is an array.
    is_method = isinstance(callee, ast.Attribute) and wanted == f"jax.Array.{callee.attr}"
    if not is_method and draft.site.names.qualified(callee) != wanted:
        raise Refused(f"this is not a call of {step.parameters.get('callee')}")
    adapt_call(draft, draft.site.find(step.span, cst.Call), change, node, bound=bound)


@functools.lru_cache(maxsize=8)
def _replaced(names: Names) -> frozenset[str]:
    """The names of libraries that a file sets: `jax.host_id = ...`, `setattr(jax, "host_id", ...)`, `patch("jax.host_id")`."""
    found: set[str] = set()
    for node in ast.walk(names.tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found.add(names.qualified(node) or "")
        elif isinstance(node, ast.Call):
            texts = [str(one.value) for one in node.args[:2] if isinstance(one, ast.Constant)]
            last = ast.unparse(node.func).rpartition(".")[2]
            if last == "patch" or (last == "setattr" and len(node.args) == 2):
                found.update(texts[:1])
            elif last in ("setattr", "object") and len(node.args) > 2:
                found.update(f"{names.qualified(node.args[0])}.{text}" for text in texts)
    return frozenset(found)


# Uses


def _rewrite_use(draft: Draft, node: ast.AST, rewrite: _Rewrite, name: str | None = None) -> None:
    """One use of the old name; `name` is the new name's spelling there, if it is known already."""
    site = draft.site
    if not isinstance(getattr(node, "ctx", None), ast.Load):
        raise Refused("the name is assigned or deleted here")
    _check_place(site, node)
    if rewrite.beside:
        _delete_pair(draft, node, rewrite)
        return
    if rewrite.delete:
        call = _call_around(site, node)
        if call is None or call.func is not node:
            raise Refused(f"{rewrite.old} is not called here")
        delete_statement(draft, call)
        return
    if (
        rewrite.expression
        and rewrite.expression in dir(builtins)
        and site.names.scope_at(node).resolve(rewrite.expression)
    ):
        raise Refused(f"the file defines its own `{rewrite.expression}`")
    if rewrite.members:
        above = site.names.parents.get(node)
        if not (isinstance(above, ast.Attribute) and above.attr in rewrite.members):
            raise Refused(f"{rewrite.new} lacks members of {rewrite.old}")
    above = site.names.parents.get(node)
    if rewrite.new == "jax.Array" and isinstance(above, ast.Call) and above.func is node:
        raise Refused(f"{rewrite.new} creates no arrays, as {rewrite.old} does here")
    if not rewrite.type_tests and _in_type_test(site, node):
        raise Refused(f"in a type test {rewrite.new} also accepts tracers, unlike {rewrite.old}")
    if rewrite.template is not None:
        call = _call_around(site, node)
        if call is None or call.func is not node:
            raise Refused(f"{rewrite.old} is not called here, and its replacement is an expression")
        place = site.find(site.span(call), cst.Call)
        expand_template(draft, place, rewrite.template, _helper_indices(site, call, rewrite.template), call)
        return
    if rewrite.call is not None:
        call = _call_around(site, node)
        if call is None:
            raise Refused(f"{rewrite.old} is not called here, and its replacement takes other arguments")
        bound = 0 if call.func is node else 1
        if rewrite.call.prefix and _calls_itself(site, call, node):
            raise Refused("an argument calls the same function; run fix again")
        adapt_call(draft, site.find(site.span(call), cst.Call), rewrite.call, call, bound=bound)
    if name is None and rewrite.new:
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        name = reference(site, draft.imports, rewrite.new, root, module=rewrite.module)
    if rewrite.expression is not None:
        name = _parenthesised(site, node, rewrite.expression.replace("{}", name or ""))
    assert name is not None
    draft.replace(site.span(node), name)


def _delete_pair(draft: Draft, node: ast.AST, rewrite: _Rewrite) -> None:
    """Removes `f(old, beside)` or `table[old] = beside`."""
    site = draft.site
    around = site.names.parents.get(node)
    other: ast.AST | None = None
    if (
        isinstance(around, ast.Call)
        and len(around.args) == 2
        and not around.keywords
        and around.args[0] is node
    ):
        other = around.args[1]
    elif isinstance(around, ast.Subscript) and around.slice is node:
        around = site.names.parents.get(around)
        other = around.value if isinstance(around, ast.Assign) and len(around.targets) == 1 else None
    if around is None or other is None or site.names.qualified(other) != rewrite.beside:
        raise Refused(f"nothing replaces {rewrite.old}")
    delete_statement(draft, around)


def _check_place(site: Site, node: ast.AST) -> None:
    """Older Pythons give wrong positions inside f-strings."""
    if "".join(site.text(node).split()) != ast.unparse(node):
        raise Refused(
            "the name stands in an f-string or spans several lines, where its position is uncertain"
        )


def _in_type_test(site: Site, node: ast.AST) -> bool:
    for around in site.names.ancestors(node):
        if isinstance(around, ast.Call):
            name = getattr(around.func, "attr", None) or getattr(around.func, "id", None)
            return name in _TYPE_TESTS
        if not isinstance(around, (ast.Tuple, ast.BinOp)):
            return False
    return False


def _call_around(site: Site, node: ast.AST) -> ast.Call | None:
    """The call of `node`, or of `functools.partial` with `node` first."""
    parent = site.names.parents.get(node)
    if not isinstance(parent, ast.Call):
        return None
    if parent.func is node:
        return parent
    is_partial = site.names.qualified(parent.func) == "functools.partial"
    return parent if is_partial and parent.args and parent.args[0] is node else None


def _calls_itself(site: Site, call: ast.Call, callee: ast.AST) -> bool:
    """Whether an argument contains a call of the same function."""
    text = site.text(callee)
    return any(
        isinstance(part, ast.Call) and part is not call and site.text(part.func) == text
        for part in ast.walk(call)
    )


def _helper_indices(site: Site, call: ast.Call, template: Template) -> dict[Span, Span]:
    found: dict[Span, Span] = {}
    for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
        if isinstance(argument, ast.Subscript):
            if template.index_helper and site.names.qualified(argument.value) == template.index_helper:
                node = site.find(site.span(argument), cst.Subscript)
                first, last = site.place(node.slice[0]), site.place(node.slice[-1])
                place = Span(first.line, first.column, last.end_line, last.end_column)
                if isinstance(argument.slice, ast.Tuple) and len(argument.slice.elts) == 1:
                    place = site.span(argument.slice)  # with the comma that makes it a tuple
                found[site.place(node)] = place
    return found


def _parenthesised(site: Site, node: ast.AST, expression: str) -> str:
    """`expression`, in parentheses if its sign would bind otherwise."""
    parent = site.names.parents.get(node)
    tight = (ast.Attribute, ast.Subscript, ast.Await)
    binds = isinstance(parent, tight) or (isinstance(parent, ast.Call) and parent.func is node)
    power = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow)
    return f"({expression})" if expression.startswith("-") and (binds or power) else expression


# Imports


def _move_import(draft: Draft, alias: ast.alias, rewrite: _Rewrite) -> None:
    names = draft.site.names
    statement = names.parents[alias]
    assert isinstance(statement, (ast.Import, ast.ImportFrom))
    if alias.name == "*":
        _move_star(draft, statement, rewrite)
        return
    if isinstance(statement, ast.Import):
        means = alias.name
    else:
        means = f"{statement.module}.{alias.name}" if not statement.level else ""
    if means != rewrite.old:
        raise Refused(f"this does not import {rewrite.old}")
    site, scope = draft.site, names.scope_of[alias]
    home = scope.redirected.get(alias.asname or alias.name.partition(".")[0], scope)
    if rewrite.unused:
        _drop_unused(draft, alias, statement, home)
    elif rewrite.is_attribute:
        module, _, leaf = rewrite.old.rpartition(".")
        whole = NewImport(module, leaf, alias.asname) if alias.asname else NewImport(module)
        others = [one for one in home.bindings[whole.bound] if one.alias is not alias]
        draft.imports.moved[alias] = None if others and not alias.asname else whole
        check_movable(site, statement, alias, dropped=draft.imports.moved[alias] is None)
    elif isinstance(statement, ast.Import):
        _move_module(draft, alias, home, rewrite)
    else:
        _move_name(draft, alias, statement, home, rewrite)


def _move_star(draft: Draft, statement: ast.Import | ast.ImportFrom, rewrite: _Rewrite) -> None:
    """`from a import *`: the module was renamed."""
    assert isinstance(statement, ast.ImportFrom)
    if statement.module != rewrite.old or statement.level or not rewrite.is_plain or not rewrite.new:
        raise Refused(f"this does not import everything from {rewrite.old}")
    node = draft.site.find(draft.site.span(statement), cst.ImportFrom)
    assert node.module is not None
    draft.replace(draft.site.place(node.module), rewrite.new)


def _drop_unused(draft: Draft, alias: ast.alias, statement: ast.Import | ast.ImportFrom, home: Scope) -> None:
    """Removes an import that nothing in the file uses; other names that it binds or loads stay."""
    site, names = draft.site, draft.site.names
    bound = alias.asname or alias.name.partition(".")[0]
    whole = isinstance(statement, ast.Import) and not alias.asname and "." in alias.name
    uses = names.uses_of(bound, home)
    if names.is_shown(bound) or site.source.path.name == "__init__.py":
        raise Refused(f"`{bound}` may be used from outside this file")
    if whole:
        if any(f"{ast.unparse(whole_chain(site, use.name))}.".startswith(f"{alias.name}.") for use in uses):
            raise Refused(f"{alias.name} is used in this file")
        others = [one for one in home.bindings[bound] if one.alias is not alias]
        draft.imports.moved[alias] = None if others or not uses else NewImport(bound)
    elif uses:
        raise Refused(f"`{bound}` is used in this file")
    else:
        draft.imports.moved[alias] = None
    check_movable(site, statement, alias, dropped=draft.imports.moved[alias] is None)


def _move_module(draft: Draft, alias: ast.alias, home: Scope, rewrite: _Rewrite) -> None:
    """`import a.b` or `import a.b as c`: the module was renamed."""
    site, names = draft.site, draft.site.names
    if not rewrite.is_plain:
        raise Refused(f"{rewrite.old} is imported as a module, and no module replaces it")
    if alias.asname:
        draft.imports.moved[alias] = NewImport(rewrite.new, alias=alias.asname)
        return
    for use in names.uses_of(alias.name.partition(".")[0], home):
        chain: ast.AST = use.name
        while isinstance(names.parents.get(chain), ast.Attribute) and names.qualified(chain) != rewrite.old:
            chain = names.parents[chain]
        if names.qualified(chain) == rewrite.old:
            _check_place(site, chain)
            draft.replace(site.span(chain), rewrite.new)
    draft.imports.moved[alias] = NewImport(rewrite.new)


def _move_name(
    draft: Draft, alias: ast.alias, statement: ast.ImportFrom, home: Scope, rewrite: _Rewrite
) -> None:
    """`from a import b`: changes the import, and the uses if they must or should change."""
    site, names = draft.site, draft.site.names
    bound = alias.asname or alias.name
    if len(home.bindings[bound]) > 1:
        raise Refused(f"`{bound}` is imported or assigned in several places")
    uses = [use.name for use in names.uses_of(bound, home)]
    public = rewrite.shared or names.is_shown(bound) or site.source.path.name == "__init__.py"
    if not rewrite.is_plain and public:
        raise Refused(
            f"`{bound}` may be used from outside this file, and the replacement has other arguments"
        )

    new: NewImport | None = None
    name: str | None = None
    if rewrite.new and rewrite.template is None and rewrite.expression is None and not rewrite.delete:
        name = None if public else _imported_already(site, home, uses, rewrite)
        if name is None:
            new = _new_import(site, alias, rewrite, public=public)
            name = new.bound
        if rewrite.is_plain and name == bound and rewrite.type_tests:
            uses = []  # they are unchanged
    if new is None or (new.module, not statement.level) != (statement.module, True):
        check_movable(site, statement, alias, dropped=new is None)
    for use in uses:
        _rewrite_use(draft, use, rewrite, name)
    draft.imports.moved[alias] = new


def _imported_already(site: Site, home: Scope, uses: list[ast.Name], rewrite: _Rewrite) -> str | None:
    """A name under which the same scope already imports the replacement, if all the uses can see it."""
    for target in filter(None, (rewrite.new, rewrite.alternative)):
        for name, bindings in home.bindings.items():
            if len(bindings) != 1 or bindings[0].qualified != target or bindings[0].alias is None:
                continue
            if all(site.names.scope_at(use).resolve(name) is home for use in uses):
                return name
    return None


def _new_import(site: Site, alias: ast.alias, rewrite: _Rewrite, *, public: bool) -> NewImport:
    bound = alias.asname or alias.name
    choices = [choice for choice in (rewrite.new, rewrite.alternative) if choice]
    leaves = [choice.rpartition(".")[2] for choice in choices]
    same = [choice for choice, leaf in zip(choices, leaves, strict=True) if leaf == alias.name]
    free = [choice for choice, leaf in zip(choices, leaves, strict=True) if _is_free(site, leaf)]
    target = [*same, *free, *choices][0]
    module, _, leaf = target.rpartition(".")
    if not module:  # another package
        return NewImport(leaf, alias=bound if bound != leaf else None)
    if leaf == bound:
        return NewImport(module, leaf)
    if alias.asname or public or not _is_free(site, leaf):
        return NewImport(module, leaf, bound)
    return NewImport(module, leaf)


def _is_free(site: Site, name: str) -> bool:
    """Whether this name is not used in the file, nor by the language."""
    names = site.names
    return not (
        hasattr(builtins, name)
        or any(name in scope.bindings for scope in names.scopes)
        or any(use.name.id == name for use in names.uses)
        or names.has_star_import
    )
