"""Codemods by id. A codemod takes a step and its file, and adds edits and import changes to a plan."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field

from jaxlint.codemods.imports import ImportChanges
from jaxlint.codemods.purity.program import Program
from jaxlint.codemods.site import Site
from jaxlint.finding import Edit, Span, Step


@dataclass(slots=True)
class Draft:
    """The changes of one fix's steps to one file."""

    site: Site
    program: Callable[[], Program]  # the program around the file
    strict: bool | None = False  # as in the workspace
    edits: list[Edit] = field(default_factory=list)
    imports: ImportChanges = field(default_factory=ImportChanges)

    def replace(self, span: Span, content: str) -> None:
        """Replaces the text of `span`; an empty span inserts."""
        edit = Edit(self.site.source.display, span, content)
        if edit not in self.edits and self.site.lines.slice(span) != content:
            self.edits.append(edit)

    def insert(self, line: int, column: int, content: str) -> None:
        self.replace(Span(line, column, line, column), content)


Codemod = Callable[[Draft, Step], None]

# The module of each codemod. It is imported when a fix needs it: most runs need two or three.
_MODULES = {
    "add-donation": "donation",
    "add-jit": "add_jit",
    "add-static-argument": "static_names",
    "attention-call": "attention_call",
    "bind-result": "bind_result",
    "boolean-to-array": "boolean",
    "branch-to-select": "branch",
    "branch-to-when": "pallas_when",
    "break-to-while-loop": "early_stop",
    "call-before-clock": "timing",
    "change-attribute": "change_attribute",
    "change-call": "rename_api",
    "checkpoint-scan-body": "checkpoint",
    "compute-dtype": "compute_dtype",
    "convert-after-loop": "late_conversion",
    "float-literal": "float_literal",
    "for-to-scan": "scan",
    "for-to-vmap": "scan",
    "forward-clock": "timing",
    "hoist-jit": "hoist",
    "item-assignment-to-at": "item_assignment",
    "jit-call": "jit_call",
    "loop-to-steps": "loop_steps",
    "loss-by-parts": "loss_by_parts",
    "mask-to-where": "mask",
    "number-to-array": "number",
    "numpy-buffer-to-jnp": "numpy_to_jnp",
    "numpy-to-jnp": "numpy_to_jnp",
    "outline-jit": "outline",
    "print-to-debug-print": "debug_print",
    "range-to-fori-loop": "loops",
    "region-to-jit": "region",
    "remat-call": "remat_call",
    "remove-statement": "remove_statement",
    "rename-api": "rename_api",
    "replace-string": "static_names",
    "sequence-to-array": "traced_index",
    "split-key": "key_split",
    "stable-form": "stable_forms",
    "stack-to-vmap": "stack_to_vmap",
    "swap-arguments": "swap_arguments",
    "swap-vmap-of-jit": "vmap_of_jit",
    "trace-static-argument": "traced_argument",
    "tuple-static-argument": "static_argument",
    "wait-before-clock": "timing",
    "while-to-while-loop": "loops",
    "wrap-call": "wrapping",
    "wrap-expression": "wrap_expression",
}

_codemods: dict[str, Codemod] = {}


def codemod(identifier: str) -> Callable[[Codemod], Codemod]:
    """Registers a codemod under a stable id. A codemod raises Refused, with the reason, if it cannot do its work."""

    def register(function: Codemod) -> Codemod:
        _codemods[identifier] = function
        return function

    return register


def find_codemod(identifier: str) -> Codemod:
    """The codemod with this id. Raises KeyError."""
    if identifier not in _codemods:
        importlib.import_module(f"jaxlint.codemods.{_MODULES[identifier]}")
    return _codemods[identifier]


def codemod_ids() -> tuple[str, ...]:
    """The ids of all codemods."""
    return tuple(sorted({*_MODULES, *_codemods}))
