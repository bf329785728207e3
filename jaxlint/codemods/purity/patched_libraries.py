"""Functions of libraries that the program replaces: `jnp.tanh = counted(jnp.tanh)`, `setattr(jnp, name, ...)`, `mock.patch`."""

from __future__ import annotations

import ast

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import Ext
from jaxlint.codemods.purity.writes_by_name import may_mention, name_set_by, target_of, writes_by_name
from jaxlint.codemods.source.text_edits import shown_source

_IMPORTING = frozenset({"importlib.import_module", "__import__"})


def replaced(name: str, possible: PossibleValues) -> str | None:
    """The code that replaces, or may replace, the library function with this canonical name, in words; None if there is none."""
    memo = possible.program.memo
    key = ("replaced", name)
    if key not in memo:
        memo[key] = _replaced(name, possible)
    found: str | None = memo[key]
    return found


def _replaced(name: str, possible: PossibleValues) -> str | None:
    program = possible.program
    module, _, last = name.rpartition(".")
    for file, store in program.stores.get(last, ()):
        if _is(store.value, module, possible, file):
            return f"is set at {program.place(file, store)}"
    for file in program.files:
        for call, kind in _writes(file, possible):
            set_here = (
                _is(target_of(call), module, possible, file) and may_mention(call, last)
                if kind == "module"
                else any(_is(one, module, possible, file) for one in call.args)
                if kind == "any" and isinstance(call, ast.Call)
                else kind == "text" and _names(call, last, module, file)
            )
            if set_here:
                return f"may be set at {program.place(file, call)} (`{shown_source(call)}`)"
    return None


def _writes(file: File, possible: PossibleValues) -> list[tuple[ast.Call | ast.Attribute, str]]:
    memo = possible.program.memo
    key = ("by name", file.display)
    if key not in memo:
        memo[key] = writes_by_name(file)
    found: list[tuple[ast.Call | ast.Attribute, str]] = memo[key]
    return found


def _is(node: ast.expr, module: str, possible: PossibleValues, file: File) -> bool:
    """Whether an expression may be a module of a library: it is that module, or a module that the program looks up by name."""
    if possible.name_of(node, file) == module:
        return True
    if isinstance(node, ast.Subscript) and file.names.qualified(node.value) == "sys.modules":
        return True
    if (
        isinstance(node, ast.Call)
        and (file.names.builtin(node.func) or possible.name_of(node.func, file)) in _IMPORTING
    ):
        return True
    return Ext(module) in possible.of(node, file)


def _names(call: ast.Call | ast.Attribute, last: str, module: str, file: File) -> bool:
    """Whether `mock.patch("module.name")` sets a name of a library."""
    if name_set_by(call) not in (last, ""):
        return False
    target = target_of(call)
    return not isinstance(target, ast.Constant) or str(target.value).rpartition(".")[0] == module
