"""Checkpoints: restored values have the structure of a template, whose numbers are irrelevant."""

from __future__ import annotations

import ast

from jaxlint.staging.evaluator.external_models import LibraryCall, calls
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.values import Value
from jaxlint.staging.values.frame import Frame
from jaxlint.syntax.facts import nodes_of

# Functions that restore, with the template's position and name.
_TEMPLATES = {
    "equinox.tree_deserialise_leaves": (1, "like"),
    "flax.serialization.from_bytes": (0, "target"),
    "flax.serialization.from_state_dict": (0, "target"),
    "flax.training.checkpoints.restore_checkpoint": (1, "target"),
}


@calls(*_TEMPLATES)
def restore(call: LibraryCall) -> Value:
    """The template may use any key: another model may be created with the same one."""
    position, name = _TEMPLATES[call.name]
    node = call.node
    if isinstance(node, ast.Call):
        named = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
        template = node.args[position] if named is None and len(node.args) > position else named
        maker = _maker(template, node.lineno, call.frame)
        if maker is not None:
            call.machine.part(Keys).forget_uses(maker, call.frame)
    return call.otherwise()


def _maker(template: ast.expr | None, line: int, frame: Frame) -> ast.expr | None:
    """The expression that created a template: itself, or the last assignment to its variable before the call."""
    if not isinstance(template, ast.Name):
        return template
    body = frame.function.node if frame.function is not None else frame.module.tree
    made = [
        statement
        for statement in nodes_of(body, ast.Assign)
        if any(isinstance(one, ast.Name) and one.id == template.id for one in statement.targets)
        and statement.lineno < line
    ]
    return max(made, key=lambda statement: statement.lineno).value if made else None
