"""Code that sets variables and attributes by name: `globals()`, `setattr`, `exec`, `reload`, `mock.patch`, `module.__dict__`."""

from __future__ import annotations

import ast

from jaxlint.codemods.purity.callbacks import first_parameter
from jaxlint.codemods.purity.program import File, function_around

_READ = frozenset({"get", "items", "keys", "values", "copy"})
_READING = frozenset(
    {"dict", "list", "tuple", "set", "sorted", "len", "print", "repr", "str", "iter", "any", "all"}
)
_DICTIONARY = "__dict__"


def writes_by_name(file: File) -> list[tuple[ast.Call | ast.Attribute, str]]:
    """Places that may set module variables by name: "own" of the file itself, "module" of `target_of` them, "text"
    of the named object, "any"."""
    found: list[tuple[ast.Call | ast.Attribute, str]] = []
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and node.attr == _DICTIONARY:
            if not dictionary_is_read(node, file) and not _is_receiver(node.value, file):
                found.append((node, "module"))
            continue
        if not isinstance(node, ast.Call):
            continue
        name = _called(node, file)
        if name == "globals" or (name == "vars" and not node.args):
            if not dictionary_is_read(node, file):
                found.append((node, "own"))
        elif (
            name in ("exec", "eval") and node.args and not isinstance(node.args[0], ast.Constant)
        ) or name in ("exec",):
            found.append((node, "own"))
        elif (
            (name in ("setattr", "delattr", "vars") and node.args)
            or (name.endswith(("patch.object", "monkeypatch.setattr")) and node.args)
            or (name.endswith(".exec_module") and node.args)
        ):
            found.append((node, "module"))
        elif name in ("importlib.reload", "reload"):
            found.append((node, "any"))
        elif name.rpartition(".")[2] == "patch" and node.args:
            found.append((node, "text"))
    return found


def _called(call: ast.Call, file: File) -> str:
    """The name of a callee, whatever the file calls it."""
    if not isinstance(call.func, ast.Name | ast.Attribute):
        return ""
    name = file.names.builtin(call.func) or file.names.qualified(call.func) or ast.unparse(call.func)
    return name.removeprefix("builtins.")


def dictionary_is_read(variables: ast.expr, file: File) -> bool:
    """Whether the code around `globals()` or `module.__dict__` only reads in it."""
    above = file.names.parents.get(variables)
    if isinstance(above, ast.Subscript):
        return isinstance(above.ctx, ast.Load)
    if isinstance(above, ast.Attribute):
        return above.attr in _READ
    if isinstance(above, ast.Call) and variables in above.args:
        return file.names.builtin(above.func) in _READING
    return isinstance(above, ast.Compare | ast.keyword | ast.For | ast.comprehension) or (
        isinstance(above, ast.Dict) and variables in above.values
    )


def _is_receiver(node: ast.expr, file: File) -> bool:
    """Whether an expression is the object of the method that it stands in, which is no module."""
    method = function_around(node, file)
    return (
        isinstance(node, ast.Name)
        and node.id == first_parameter(method)
        and isinstance(file.names.parents.get(method) if method is not None else None, ast.ClassDef)
    )


def target_of(write: ast.Call | ast.Attribute) -> ast.expr:
    """The object whose variables a place of the kind "module" sets."""
    return write.value if isinstance(write, ast.Attribute) else write.args[0]


def name_set_by(write: ast.Call | ast.Attribute) -> str:
    """The name that `mock.patch("module.name")` sets; "" if it is computed."""
    target = target_of(write)
    last = target.values[-1] if isinstance(target, ast.JoinedStr) and target.values else target
    text = last.value if isinstance(last, ast.Constant) and isinstance(last.value, str) else ""
    return text.rpartition(".")[2]


def may_mention(call: ast.Call | ast.Attribute, name: str) -> bool:
    """Whether a call may mention a name: it does, or its argument is computed."""
    if not isinstance(call, ast.Call):
        return True
    second = call.args[1] if len(call.args) > 1 else None
    return not isinstance(second, ast.Constant) or second.value == name
