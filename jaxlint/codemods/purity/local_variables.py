"""Code that reads variables other than by their names: `locals()`, `eval`, frames, `for name in globals()`.

An edit that moves statements elsewhere, or turns them into a JAX loop, removes variables and adds others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, function_around
from jaxlint.codemods.source.text_edits import shown_source

_FRAMES = frozenset({"f_locals", "tb_frame"})  # attributes of frames and of tracebacks
_OF_FRAMES = frozenset({"inspect.getargvalues", "inspect.getinnerframes", "inspect.trace"})
_OF_THE_CALLER = frozenset({"numexpr.evaluate", "pandas.eval"})
_QUERIES = frozenset({"query", "eval"})  # methods of pandas, which read `@name`
_BY_KEY = frozenset({"get", "update", "setdefault", "pop", "copy"})  # of a dict of variables
_LISTING = frozenset({"vars", "dir", "inspect.getmembers"})


def variables_seen(possible: PossibleValues, node: ast.AST, file: File, *, strict: bool) -> Iterator[str]:
    """Where the program reads variables of the function around a node, or of its module, without naming them;
    in words.

    `strict`: also through frames, which may be those of other functions.
    """
    function = function_around(node, file)
    if function is None:
        yield from names_listed(possible, file, getattr(node, "lineno", 1))
        return
    for part in ast.walk(function):
        if isinstance(part, ast.Call) and _reads_own(part, possible, file):
            yield f"{_told(part, possible, file)} reads variables without naming them"
    if strict:
        yield from _through_frames(possible)


def names_listed(possible: PossibleValues, file: File, line: int) -> Iterator[str]:
    """Where the program reads all names of a module, so that it sees a name that an edit adds at a line; in words."""
    for other in possible.program.files:
        for node in ast.walk(other.tree):
            if isinstance(node, ast.Call) and _lists(node, possible, other, own=other is file):
                if other is file and node.lineno < line and not _runs_later(node, file):
                    continue
                yield f"{_told(node, possible, other)} may list the names of the module"


def _told(node: ast.AST, possible: PossibleValues, file: File) -> str:
    return f"`{shown_source(node)}` at {possible.program.place(file, node)}"


def _reads_own(call: ast.Call, possible: PossibleValues, file: File) -> bool:
    """Whether a call reads variables of the function that contains it."""
    name = file.names.builtin(call.func)
    if name in ("locals", "vars", "dir"):
        return not call.args
    if name in ("eval", "exec"):
        return len(call.args) < 2  # others receive the names as arguments
    if isinstance(call.func, ast.Attribute) and call.func.attr in _QUERIES:
        texts = [part for one in call.args for part in ast.walk(one) if isinstance(part, ast.Constant)]
        return any(isinstance(one.value, str) and "@" in one.value for one in texts)
    return possible.name_of(call.func, file) in _OF_THE_CALLER


def _through_frames(possible: PossibleValues) -> list[str]:
    """Where the program inspects frames, in words."""
    program = possible.program
    found: list[str] | None = program.memo.get("frames")
    if found is None:
        program.memo["frames"] = found = [
            f"{_told(node, possible, file)} may read variables of a caller"
            for file in program.files
            for node in ast.walk(file.tree)
            if (isinstance(node, ast.Attribute) and node.attr in _FRAMES)
            or (isinstance(node, ast.Call) and possible.name_of(node.func, file) in _OF_FRAMES)
        ]
    return found


def _lists(call: ast.Call, possible: PossibleValues, file: File, *, own: bool) -> bool:
    """Whether a call passes all names of a module to code that may iterate over them. `own`: the call is in that module."""
    name = file.names.builtin(call.func) or possible.name_of(call.func, file)
    if call.args:
        return name in _LISTING and _is_module(call.args[0], file)
    if not own or not (
        name == "globals" or (name in ("locals", "vars", "dir") and function_around(call, file) is None)
    ):
        return False
    above = file.names.parents.get(call)
    by_key = isinstance(above, ast.Subscript) and above.value is call
    by_key |= isinstance(above, ast.Attribute) and above.attr in _BY_KEY
    by_key |= isinstance(above, ast.Compare) and call in above.comparators
    return not by_key


def _runs_later(node: ast.AST, file: File) -> bool:
    """Whether an expression of a module may be evaluated after statements that follow it in the text."""
    later = (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    return any(isinstance(one, later) for one in file.names.ancestors(node))


def _is_module(node: ast.expr, file: File) -> bool:
    """Whether an expression is `sys.modules[...]` or an imported module of the program."""
    if isinstance(node, ast.Subscript):
        return file.names.qualified(node.value) == "sys.modules"
    if not isinstance(node, ast.Name):
        return False
    scope = file.names.scope_at(node).resolve(node.id)
    bound = scope.bindings.get(node.id, ()) if scope is not None else ()
    return any(one.statement is not None for one in bound)
