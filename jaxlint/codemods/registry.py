"""Codemods by id. A codemod takes a step and its file, and adds edits and import changes to a plan."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field

from jaxlint.codemods.purity.program import Program
from jaxlint.codemods.source.imports import ImportChanges
from jaxlint.codemods.source.site import Site
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
    "add-donation": "donation.add_donation",
    "add-jit": "compilation.add_jit",
    "add-static-argument": "compilation.static_names",
    "array-argument": "compilation.traced_argument",
    "attention-call": "memory.attention_call",
    "bind-result": "statements.bind_result",
    "boolean-to-array": "tracers.boolean",
    "branch-to-select": "tracers.branch",
    "branch-to-when": "tracers.pallas_when",
    "break-to-while-loop": "loops.early_stop",
    "call-before-clock": "statements.timing",
    "change-attribute": "migration.change_attribute",
    "change-call": "migration.rename_api",
    "checkpoint-scan-body": "memory.checkpoint",
    "compute-dtype": "memory.compute_dtype",
    "convert-after-loop": "loops.late_conversion",
    "float-literal": "expressions.float_literal",
    "for-to-scan": "loops.scan",
    "for-to-vmap": "loops.scan",
    "forward-clock": "statements.timing",
    "give-dtype": "compilation.give_dtype",
    "grown-array-to-list": "loops.grown_arrays",
    "hoist-jit": "compilation.hoist",
    "item-assignment-to-at": "tracers.item_assignment",
    "jit-call": "compilation.jit_call",
    "jit-method": "compilation.jit_method",
    "jit-once": "compilation.jit_once",
    "loop-to-steps": "loops.loop_steps",
    "loss-by-parts": "memory.loss_by_parts",
    "mask-to-where": "tracers.mask",
    "number-to-array": "tracers.number",
    "numpy-buffer-to-jnp": "tracers.numpy_to_jnp",
    "numpy-to-jnp": "tracers.numpy_to_jnp",
    "outline-jit": "compilation.outline",
    "pad-arguments": "compilation.pad_arguments",
    "pad-growing-argument": "compilation.pad_growing",
    "print-to-debug-print": "tracers.debug_print",
    "range-to-fori-loop": "loops.while_and_range",
    "region-to-jit": "compilation.region_to_jit",
    "remat-call": "memory.remat_call",
    "remove-statement": "statements.remove_statement",
    "rename-api": "migration.rename_api",
    "replace-string": "compilation.static_names",
    "sequence-to-array": "tracers.traced_index",
    "split-key": "statements.key_split",
    "stable-form": "expressions.stable_forms",
    "stack-to-vmap": "loops.stack_to_vmap",
    "steps-between-looks": "loops.steps_between",
    "swap-arguments": "expressions.swap_arguments",
    "swap-vmap-of-jit": "compilation.vmap_of_jit",
    "trace-static-argument": "compilation.traced_argument",
    "trace-static-fields": "compilation.traced_fields",
    "tuple-static-argument": "compilation.static_argument",
    "wait-before-clock": "statements.timing",
    "while-to-while-loop": "loops.while_and_range",
    "wrap-call": "expressions.wrap_call",
    "wrap-expression": "expressions.wrap_expression",
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
