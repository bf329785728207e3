"""Programs that watch what they do while they run: each call of a function, or each warning.

Compiled code calls a function once, at trace time, and JAX then gives its warnings once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.source.text_edits import shown_source

_CALLS = frozenset(
    {
        *(f"{module}.set{what}" for module in ("sys", "threading") for what in ("profile", "trace")),
        "threading.setprofile_all_threads",
        "threading.settrace_all_threads",
        "sys.monitoring.register_callback",
        "trace.Trace",
    }
)
_FILTERS = {"warnings.simplefilter": 1, "warnings.filterwarnings": 2}  # and where they take a category
_QUIET = frozenset({"ignore", "default", "once", "module"})  # not each time
_NOT_OF_JAX = frozenset(
    {"RuntimeWarning", "ResourceWarning", "ImportWarning", "SyntaxWarning", "BytesWarning"}
)


def watched(possible: PossibleValues) -> Iterator[str]:
    """Where a program watches its calls or warnings, in words."""
    memo = possible.program.memo
    if "watched" not in memo:
        memo["watched"] = list(_watched(possible))
    yield from memo["watched"]


def _watched(possible: PossibleValues) -> Iterator[str]:
    program = possible.program
    for file in program.files:
        for node in ast.walk(file.tree):
            if not isinstance(node, ast.Call):
                continue
            name = possible.name_of(node.func, file)
            told = f"`{shown_source(node)}` at {program.place(file, node)}"
            if name in _CALLS and not _is_none(node):
                yield f"{told} observes each call, and compiled code makes no Python calls"
            elif _sees_warnings(name, node, file, possible):
                yield f"{told} observes each warning, and compiled code warns only at trace time"
    for file, store in program.stores.get("showwarning", ()):
        if possible.name_of(store.value, file) == "warnings":
            told = f"`{shown_source(store)}` at {program.place(file, store)}"
            yield f"{told} observes each warning, and compiled code warns only at trace time"


def _is_none(call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value is None


def _sees_warnings(name: str, call: ast.Call, file: File, possible: PossibleValues) -> bool:
    """Whether a call has warnings raised, kept, or shown each time."""
    keywords = {one.arg: one.value for one in call.keywords}
    if name in _FILTERS:
        action = call.args[0] if call.args else keywords.get("action")
        place = _FILTERS[name]
        category = call.args[place] if len(call.args) > place else keywords.get("category")
        if (
            category is not None
            and (file.names.builtin(category) or possible.name_of(category, file)) in _NOT_OF_JAX
        ):
            return False
        return not isinstance(action, ast.Constant) or action.value not in _QUIET
    if name == "warnings.catch_warnings":
        record = keywords.get("record")
        return record is not None and not (isinstance(record, ast.Constant) and not record.value)
    return name in ("pytest.warns", "pytest.deprecated_call", "logging.captureWarnings")
