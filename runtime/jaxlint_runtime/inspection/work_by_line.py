"""Floating-point operations of a traced program by user line and pass: forward, backward, the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxlint_runtime.compat import inner_jaxprs, user_frames
from jaxlint_runtime.inspection.flops import count, equation_work
from jaxlint_runtime.inspection.hlo import Place, own
from jaxlint_runtime.inspection.live_equations import needed_equations
from jaxlint_runtime.inspection.traffic import phase

_OPAQUE = frozenset(("pallas_call", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"))


def work_by_line(jaxpr: Any) -> dict[tuple[Place | None, str], float]:
    """FLOPs by (place, phase), loops by their trip counts, the larger branch of a conditional: they add up to
    `count`."""
    found: dict[tuple[Place | None, str], float] = {}
    for place, name, flops in _walk(jaxpr, 1.0, "", None):
        found[place, name] = found.get((place, name), 0.0) + flops
    return found


def _walk(
    jaxpr: Any, times: float, within: str, around: Place | None
) -> Iterator[tuple[Place | None, str, float]]:
    for eqn in needed_equations(jaxpr):
        stack = f"{within}/{eqn.source_info.name_stack}"
        place = own(user_frames(eqn)) or around
        bodies = [body for _, body in inner_jaxprs(eqn)]
        name = eqn.primitive.name
        if name == "pallas_call" or not bodies or name.startswith(("reduce", "arg", "cum", "scatter")):
            flops = equation_work(eqn).flops * times
            if flops:
                yield place, phase(stack), flops
            continue
        if name == "cond":
            bodies = [max(bodies, key=lambda body: count(body).flops)]
        elif name in _OPAQUE:
            bodies = bodies[:1]
        turns = eqn.params["length"] if name == "scan" else 1
        for body in bodies[:1] if name == "scan" else bodies:
            yield from _walk(body, times * turns, stack, place)
