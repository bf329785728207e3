"""All rewrites: `(site, parameters) -> edits`. Rules and the runtime call them by id, which `registry.py` lists. docs/inside-fix.md shows the folders."""

from jaxlint.codemods.plan import Compatible, Plan, Proposal, Workspace, resolve
from jaxlint.codemods.registry import codemod_ids
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.source.text_edits import apply_edits

__all__ = [
    "Compatible",
    "Plan",
    "Proposal",
    "Refused",
    "Workspace",
    "apply_edits",
    "codemod_ids",
    "resolve",
]
