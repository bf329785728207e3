"""Attributes in the rules on removed and deprecated names, such as `x.device_buffer` of an array."""

from __future__ import annotations

import ast

from jaxlint.api import AttributeEvent, Reporter
from jaxlint.api.releases import (
    PACKAGES,
    ApiChange,
    Target,
    attribute_change,
    attribute_rewrite,
    call_of,
    describe_replacement,
)
from jaxlint.api.syntax import names_stored, nodes_of
from jaxlint.api.values import Array, ExternalObject, Transformed, Unknown
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint_rules.migration._changed_names import SpelledNames

# Functions that create an object of a class, in the analysis's names.
_MAKERS = {
    "jax.ShapeDtypeStruct": "jax.ShapeDtypeStruct",
    "jax.core.ShapedArray": "jax.core.ShapedArray",
    "jax.stages.Lowered": "jax.stages.Lowered",
    "jax.export.export": "jax.export.Exported",
    "jax.export.Exported": "jax.export.Exported",
    "jax.export.deserialize": "jax.export.Exported",
}
_ARRAY_TYPES = (
    "jax.Array",
    "jax.numpy.ndarray",
    "jax.numpy.DeviceArray",
    "chex.Array",
    "jaxlib.xla_extension.DeviceArray",
)
_PLACING = ("jax.device_put", "jax.numpy.asarray", "jax.numpy.array")
# A tracer has no device, so a query for it fails with or without the rewrite.
_CONCRETE = {"device", "device_buffer", "device_buffers", "to_py", "block_host_until_ready"}
# Tracers still have them.
_TRACERS_HAVE = {"broadcast", "layout"}


class Attributes:
    """Finds attributes that a class has lost, if the class is known."""

    def __init__(self, spelled: SpelledNames) -> None:
        self._spelled = spelled

    def change(self, event: AttributeEvent) -> ApiChange | None:
        """The row about the attribute that is read; None for other classes, and if the program guards it."""
        node, value = event.node, event.value
        if event.is_optional() or not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return None
        owner = self.owner(event)
        change = attribute_change(owner, event.name) if owner else None
        if change is None or (event.name in _TRACERS_HAVE and getattr(value, "staged", None) is not False):
            return None
        call = event.frame.module.parents.get(node)
        called = isinstance(call, ast.Call) and call.func is node
        form = call_of(change)
        if form is not None and not called:
            return None
        if (
            form not in (None, "()")
            and isinstance(call, ast.Call)
            and _argument(call) != ast.literal_eval(form or "")
        ):
            return None
        if (
            owner == "flax.core.FrozenDict"
            and isinstance(call, ast.Call)
            and not _is_frozen_call(call, event)
        ):
            return None
        return None if _asks_for_it(event) else change

    def owner(self, event: AttributeEvent) -> str:
        """The class of the attribute's owner; "" if unknown."""
        value = event.value
        if (
            isinstance(value, Array)
            and value.certain
            and not (value.tree or value.mixed or value.role in ("ref", "tree"))
        ):
            return "jax.random.PRNGKeyArray" if value.role == "key" else "jax.Array"
        if isinstance(value, Array) and value.role == "variables":
            return "flax.core.FrozenDict"  # the result in flax before 0.7
        if isinstance(value, ExternalObject):
            return _MAKERS.get(value.name, "")
        if isinstance(value, Transformed):
            return "jax.stages.Compiled"  # a transformed function has none of its attributes
        if isinstance(value, (Array, Unknown)) and self._is_declared(event):
            return "jax.Array"
        return ""

    def _is_declared(self, event: AttributeEvent) -> bool:
        """Whether the owner is a parameter annotated as an array that nothing rebinds but to an array of JAX."""
        function, node = event.frame.function, event.node
        assert isinstance(node, ast.Attribute)
        if function is None or not isinstance(node.value, ast.Name):
            return False
        name, arguments = node.value.id, function.node.args
        given = [
            one for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs) if one.arg == name
        ]
        if not given or given[0].annotation is None:
            return False
        tree = event.frame.module.tree
        if name in names_stored(function.node) and not self._is_array_again(name, function.node, tree):
            return False
        return self._spelled.meaning(given[0].annotation, event.frame.module.tree) in _ARRAY_TYPES

    def _is_array_again(self, name: str, function: ast.AST, tree: ast.Module) -> bool:
        """Whether each rebinding of a name puts an array on a device: `x = jax.device_put(x)`."""
        stored = [n for n in nodes_of(function, ast.Name) if n.id == name and isinstance(n.ctx, ast.Store)]
        again = [
            target
            for assignment in nodes_of(function, ast.Assign)
            if isinstance(assignment.value, ast.Call)
            and self._spelled.meaning(assignment.value.func, tree) in _PLACING
            for target in assignment.targets
        ]
        return all(any(target is one for target in again) for one in stored)


def aim_at(package: str, report: Reporter) -> tuple[Target, str | None]:
    """The versions of a package that the program must support: as a target, and as a specifier."""
    specifier = report.version_of(PACKAGES[package][0])
    return Target.of(specifier, package), specifier


def attribute_fix(
    change: ApiChange, target: Target, event: AttributeEvent, report: Reporter
) -> FixRequest | None:
    """The rewrite at the place; None if none is right on the whole target."""
    rewrite = attribute_rewrite(change, target)
    node = event.node
    call = event.frame.module.parents.get(node)
    called = isinstance(call, ast.Call) and call.func is node
    if rewrite is None or (rewrite.called and not called):
        return None
    if event.name in _CONCRETE and getattr(event.value, "staged", False):
        return None
    parameters = {
        key: value
        for key in ("tail", "around", "text", "argument", "called")
        if (value := getattr(rewrite, key))
    }
    place = call if rewrite.called and call is not None else node
    step = Step("change-attribute", report.path, report.span(place), {"attribute": event.name, **parameters})
    message = f"Replace `.{event.name}`" + (f"; {rewrite.risk}" if rewrite.risk else "")
    return FixRequest(Safety.UNSAFE if rewrite.risk else Safety.SAFE, message, (step,))


def attribute_advice(change: ApiChange, target: Target) -> str:
    """What to do, as the end of a message."""
    rewrite = attribute_rewrite(change, target)
    if rewrite is None:
        return describe_replacement(change)
    if rewrite.text:
        return f"use `{rewrite.text.replace('{x}', 'x')}`"
    if rewrite.around:
        return f"use `{rewrite.around}`"
    return f"use `.{rewrite.tail}`" if rewrite.tail else f"pass `{rewrite.argument}`"


def _argument(call: ast.Call) -> object:
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords)]
    return given[0].value if len(given) == 1 and isinstance(given[0], ast.Constant) else None


def _is_frozen_call(call: ast.Call, event: AttributeEvent) -> bool:
    """Whether a method call fits only a FrozenDict: `rest, params = variables.pop("params")`."""
    if event.name == "copy":
        return bool(call.args or call.keywords)
    if event.name != "pop":
        return True
    target = event.frame.module.parents.get(call)
    if not isinstance(target, ast.Assign) or len(call.args) + len(call.keywords) != 1:
        return False
    return all(isinstance(one, (ast.Tuple, ast.List)) and len(one.elts) == 2 for one in target.targets)


def _asks_for_it(event: AttributeEvent) -> bool:
    """Whether an enclosing test asks if the object has the attribute."""
    for around in event.frame.module.ancestors(event.node):
        if isinstance(around, (ast.If, ast.IfExp, ast.BoolOp)):
            tested = around.test if not isinstance(around, ast.BoolOp) else around
            for part in ast.walk(tested):
                if isinstance(part, ast.Constant) and part.value == event.name:
                    return True
    return False
