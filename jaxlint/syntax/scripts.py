"""Which modules are programs of their own, that nothing else imports."""

from __future__ import annotations

import ast


def is_script(tree: ast.Module) -> bool:
    """Whether a module runs something when it is imported, or asks whether it is what is run."""
    for statement in tree.body:
        if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
            return True
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            return True
    return False
