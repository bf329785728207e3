"""Repeated calls of models in host code, op by op: `int(jnp.argmax(model.apply(params, obs)))`.

Such a function draws from Python's generators, prints or fetches numbers, and cannot be jitted as a whole; what it
calls can.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint.syntax.function_bodies import own_nodes
from jaxlint_runtime.rewrites.proposals import (
    DATA,
    Rewrite,
    busy,
    edit_of,
    imported,
    stays_on_host,
    top_function,
)

_OFTEN = 8  # calls of a function that make its callees worth compiling
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)
_FRAMEWORKS = ("flax", "haiku", "equinox")


def from_model_calls(
    watched: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]
) -> list[Rewrite]:
    """For each busy function on the host, its calls of models, each as a separate jitted function."""
    found = []
    for one, source in busy(watched, sources):
        if not _uses_models(source):
            continue
        function = top_function(source, one["function"], one["line"])
        if function is None or not stays_on_host(function, source):
            continue
        modules = {
            entry["name"]
            for entry in one["arguments"] or ()
            if "leaves" in entry and entry["type"] not in DATA
        }
        often = one["calls"] >= _OFTEN
        calls = [call for call, repeated in _calls(function) if often or repeated]
        fixes = [_fix(call, source, one["arguments"] or ()) for call in calls if _is_of_model(call, modules)]
        if fixes:
            found.append(edit_of("jit-model-call", one, function.lineno, fixes))
    return found


def _uses_models(source: SourceFile) -> bool:
    return any(name.partition(".")[0] in _FRAMEWORKS for name in imported(source))


def _calls(function: ast.FunctionDef) -> Iterator[tuple[ast.Call, bool]]:
    """The calls in a function, and whether they are in a loop; nested functions are left out."""
    inside = {part for node in own_nodes(function) if isinstance(node, _LOOPS) for part in ast.walk(node)}
    for node in own_nodes(function):
        if isinstance(node, ast.Call):
            yield node, node in inside


def _is_of_model(call: ast.Call, modules: set[str]) -> bool:
    """`model.apply(params, x)` of flax and haiku, or a module argument, also under `vmap`."""
    called = call.func
    if isinstance(called, ast.Attribute):
        return called.attr == "apply" and len(call.args) >= 2
    if isinstance(called, ast.Call) and ast.unparse(called.func).endswith("vmap") and called.args:
        called = called.args[0]
    return isinstance(called, ast.Name) and called.id in modules


def _fix(call: ast.Call, source: SourceFile, seen: Sequence[Mapping[str, Any]]) -> FixRequest:
    roots = imported(source)
    transform = "jax.jit"
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "apply"):
        transform = "equinox.filter_jit" if "equinox" in roots else "flax.nnx.jit"
    step = Step(
        "outline-jit",
        source.display,
        Site(source).span(call),
        {"transform": transform, "arguments": [dict(entry) for entry in seen]},
    )
    return FixRequest(Safety.UNSAFE, f"Compile {ast.unparse(call.func)} as a whole", (step,))
