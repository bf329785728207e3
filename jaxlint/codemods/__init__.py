"""The one home of rewriting: `(site, parameters) -> edits`, called by rules and by the runtime by id."""

from jaxlint.codemods import donation, item_assignment, rename_api, static_argument, vmap_of_jit
from jaxlint.codemods.plan import Plan, Workspace, resolve
from jaxlint.codemods.registry import codemod_ids
from jaxlint.codemods.site import Refused
from jaxlint.codemods.text import apply_edits

__all__ = [
    "Plan",
    "Refused",
    "Workspace",
    "apply_edits",
    "codemod_ids",
    "donation",
    "item_assignment",
    "rename_api",
    "resolve",
    "static_argument",
    "vmap_of_jit",
]
