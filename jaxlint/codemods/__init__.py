"""The one home of rewriting: `(site, parameters) -> edits`, called by rules and by the runtime by id."""

from jaxlint.codemods import (
    boolean,
    branch,
    debug_print,
    donation,
    item_assignment,
    loops,
    number,
    numpy_to_jnp,
    remove_statement,
    rename_api,
    static_argument,
    vmap_of_jit,
    wrapping,
)
from jaxlint.codemods.plan import Plan, Workspace, resolve
from jaxlint.codemods.registry import codemod_ids
from jaxlint.codemods.site import Refused
from jaxlint.codemods.text import apply_edits

__all__ = [
    "Plan",
    "Refused",
    "Workspace",
    "apply_edits",
    "boolean",
    "branch",
    "codemod_ids",
    "debug_print",
    "donation",
    "item_assignment",
    "loops",
    "number",
    "numpy_to_jnp",
    "remove_statement",
    "rename_api",
    "resolve",
    "static_argument",
    "vmap_of_jit",
    "wrapping",
]
