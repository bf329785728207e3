"""Writes a proven attention to the source: its statements become one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.codemods.memory.attention_call import find_products
from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.protocol.report_forms import ResultJson

CODEMODS = frozenset({"attention-call"})
_PARAMETERS = ("scale", "depth", "causal", "implementation")


def attention_fix(result: ResultJson, target: str, sources: Mapping[str, SourceFile]) -> FixRequest | str:
    """The fix that writes the calls, or why it stays advice."""
    calls = result["parameters"]["calls"]
    if any(call["implementation"] for call in calls) and ":" in target:
        return "advice only: the call runs only on that device, so the edited program cannot run here"
    paths = {os.path.realpath(path): path for path in sources}
    workspace = Workspace(sources)
    steps: list[Step] = []
    for call in calls:
        if call["refused"]:
            return f"advice only: {call['refused']}"
        found = _step(call, paths, workspace)
        if isinstance(found, str):
            return found
        steps += [found] if found not in steps else []
    return FixRequest(Safety.UNSAFE, "Call `jax.nn.dot_product_attention`", tuple(steps))


def _step(call: Mapping[str, Any], paths: Mapping[str, str], workspace: Workspace) -> Step | str:
    parameters = {name: call[name] for name in _PARAMETERS}
    return step_at(call["places"], "attention-call", parameters, (paths, workspace), find_products, "product")


def step_at(
    places: Sequence[str],
    codemod: str,
    parameters: dict[str, Any],
    examined: tuple[Mapping[str, str], Workspace],
    find: Callable[[Site, int], list[Span]],
    what: str,
) -> Step | str:
    """The step of a codemod at the first of `places` whose file was checked, or why it stays advice.

    `find` returns the candidate spans at a line, `what` names them. `examined`: the files by their real paths.
    """
    paths, workspace = examined
    refused = f"advice only: the source line of the {what} is unknown"
    for place in places:
        file, _, line = place.rpartition(":")
        path = paths.get(os.path.realpath(file))
        if path is None:
            refused = f"advice only: {os.path.basename(file)} was not checked"
            continue
        spans = find(workspace.site(path), int(line))
        if len(spans) != 1:
            return f"advice only: {os.path.basename(file)}:{line} does not hold exactly one {what}"
        step = Step(codemod, path, spans[0], parameters)
        plan = workspace.plan(FixRequest(Safety.UNSAFE, "", (step,)))
        return f"advice only: {plan}" if isinstance(plan, str) else step
    return refused
