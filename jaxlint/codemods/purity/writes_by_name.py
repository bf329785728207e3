"""Calls that set variables and attributes by name: `globals()`, `setattr`, `exec`, `reload`, `mock.patch`."""

from __future__ import annotations

import ast

from jaxlint.codemods.purity.program import File


def writes_by_name(file: File) -> list[tuple[ast.Call, str]]:
    """Calls that may set module variables by name: "own" of the file itself, "module" of the first argument, "text"
    of the named object, "any"."""
    found: list[tuple[ast.Call, str]] = []
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Call):
            continue
        name = (
            node.func.id
            if isinstance(node.func, ast.Name)
            else ast.unparse(node.func)
            if isinstance(node.func, ast.Attribute)
            else ""
        )
        above = file.names.parents.get(node)
        if name == "globals" or (name == "vars" and not node.args):
            reading = (isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Load)) or (
                isinstance(above, ast.Attribute) and above.attr in ("get", "items", "keys", "values")
            )
            if not reading:
                found.append((node, "own"))
        elif (
            name in ("exec", "eval") and node.args and not isinstance(node.args[0], ast.Constant)
        ) or name in ("exec",):
            found.append((node, "own"))
        elif (name in ("setattr", "delattr", "vars") and node.args) or (
            name.endswith(("patch.object", "monkeypatch.setattr")) and node.args
        ):
            found.append((node, "module"))
        elif name in ("importlib.reload", "reload"):
            found.append((node, "any"))
        elif name.rpartition(".")[2] == "patch" and node.args:
            found.append((node, "text"))
    return found


def name_set_by(call: ast.Call) -> str:
    """The name that `mock.patch("module.name")` sets; "" if it is computed."""
    target = call.args[0]
    last = target.values[-1] if isinstance(target, ast.JoinedStr) and target.values else target
    text = last.value if isinstance(last, ast.Constant) and isinstance(last.value, str) else ""
    return text.rpartition(".")[2]


def may_mention(call: ast.Call, name: str) -> bool:
    """Whether a call may mention a name: it does, or its argument is computed."""
    second = call.args[1] if len(call.args) > 1 else None
    return not isinstance(second, ast.Constant) or second.value == name
