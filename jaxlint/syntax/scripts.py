"""Modules that are scripts, which no other module imports."""

from __future__ import annotations

import ast


def is_script(tree: ast.Module) -> bool:
    """Whether a module does work when it is imported, or tests whether it is the main module."""
    for statement in tree.body:
        if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
            return True
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            return True
    return False
