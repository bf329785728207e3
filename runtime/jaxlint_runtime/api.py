"""The harness of `jaxlint verify` for a notebook or a script: `measure`, `compare`, `profile`.

from jaxlint_runtime.api import compare, measure, profile

    measure(step, params, batch)              # time with its interval, memory by the compiler, work
    compare(step, other_step, params, batch)  # the same values? faster? smaller?
    profile(step, params, batch)              # memory over program order, work by line, what the compiled program does

Functions may be plain or jitted. They are compiled again, run on copies of the arguments, and consume none of them.
Static arguments, and donated ones of a plain function, are declared by `options=JitOptions(static_argnums=...,
donate_argnums=...)`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

from jaxlint_runtime import inspection
from jaxlint_runtime.inspection.overview import overview
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.lowering.function_versions import Staged, Version
from jaxlint_runtime.model import CapturedFunction, Cost, Interval, JitOptions, Numerics
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof import paired_timing as timing
from jaxlint_runtime.proof.gain import Change
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.protocol.json_records import to_plain
from jaxlint_runtime.report.html.markup import Markup, tag
from jaxlint_runtime.report.html.plots import memory_chart, times_chart
from jaxlint_runtime.report.html.svg_chart import Chart
from jaxlint_runtime.report.html.tables import table
from jaxlint_runtime.wording.units import amount, milliseconds, size
from jaxlint_runtime.wording.units import seconds as in_seconds

__all__ = ["Comparison", "Interval", "JitOptions", "Measurement", "Profile", "compare", "measure", "profile"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The cost of one function on the current device; `cost` has the compiler's figures and the counted FLOPs."""

    function: str
    device: str
    time_ms: Interval
    samples_ms: tuple[float, ...]
    cost: Cost

    def __str__(self) -> str:
        low, high = milliseconds(self.time_ms.low), milliseconds(self.time_ms.high)
        return (
            f"{self.function} on {self.device}: {milliseconds(self.time_ms.median)} a call ({low} to {high}, measured), "
            f"{size(self.cost.peak_bytes)} (compiler), {amount(self.cost.flops, 'FLOP')} (counted), "
            f"{in_seconds(self.cost.compile_s)} to compile"
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two functions on the same arguments, timed in blocks A B B A. `problem` says how the values differ; None if
    they agree.

    `speedup` is how many times faster the second is, `change` the claim about it. `faster` and `slower` are claims.
    """

    before: Measurement
    after: Measurement
    speedup: Interval
    change: Change
    numerics: Numerics
    problem: str | None
    pairs_ms: tuple[tuple[float, float], ...]

    @property
    def faster(self) -> bool:
        """Whether a gain in time may be claimed."""
        return self.change.better

    @property
    def slower(self) -> bool:
        """Whether a loss of time may be claimed."""
        return self.change.worse

    @property
    def same(self) -> bool:
        """Whether the values agree within the tolerance that follows from their dtypes."""
        return self.problem is None

    def __str__(self) -> str:
        values = "the values agree" if self.same else f"the values differ: {self.problem}"
        return (
            f"{values}; {self.change.text}; "
            f"memory {size(self.before.cost.peak_bytes)} to {size(self.after.cost.peak_bytes)}"
        )

    def _repr_html_(self) -> str:
        name = f"{self.before.function} and {self.after.function}"
        return tag("div", tag("p", str(self)), _picture(times_chart(self.pairs_ms, name, 560)))


@dataclass(frozen=True, slots=True)
class Profile:
    """What a function does, for a device or a compile-only target. `data` is as in `inspections` of the JSON report."""

    function: str
    target: str
    data: dict[str, Any]

    def __str__(self) -> str:
        memory, cost = self.data["memory"], self.data["cost"] or {}
        lines = [
            f"{self.function} for {self.target}: {size(cost.get('peak_bytes'))} (compiler), "
            f"{size(memory['peak_bytes'])} alive at most (estimate), {amount(sum(self.data['flops'].values()), 'FLOP')}"
        ]
        for fact in (self.data["hlo"] or {"facts": ()})["facts"][:10]:
            place = f"{fact['path']}:{fact['line']}" if fact["path"] else "-"
            lines.append(f"  {size(fact['bytes']):>9}  {place}  {fact['text']}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = [
            [f"{fact['path']}:{fact['line']}" if fact["path"] else "-", fact["text"], size(fact["bytes"])]
            for fact in (self.data["hlo"] or {"facts": ()})["facts"][:20]
        ]
        columns = [("line", ""), ("what the compiled program does", ""), ("bytes a call (estimate)", "n")]
        chart = memory_chart(self.data["memory"], None, None, self.function, 560)
        return tag("div", tag("p", str(self).split("\n")[0]), _picture(chart), table("", columns, facts))


def measure(
    function: Callable[..., Any],
    *args: Any,
    seconds: float = 3.0,
    options: JitOptions | None = None,
    **kwargs: Any,
) -> Measurement:
    """Times a function on the default device for about `seconds`, without compilation. Raises StagingError."""
    program = _program(function, args, kwargs, options)
    staged = program.baseline
    donated = program.bound.donated(program.version.options)
    samples = timing.alone(program.subject(staged, donated), seconds)
    return _measurement(program, staged, timing.interval(samples), tuple(samples.tolist()), function)


def compare(
    before: Callable[..., Any],
    after: Callable[..., Any],
    *args: Any,
    seconds: float = 6.0,
    options: JitOptions | None = None,
    after_options: JitOptions | None = None,
    **kwargs: Any,
) -> Comparison:
    """Compares two functions on the same arguments. `after_options` default to `options`.

    Raises StagingError if one of them cannot be compiled, and ValueError if `seconds` are far too few for the calls.
    """
    program = _program(before, args, kwargs, options)
    other = _captured(after, args, kwargs, after_options or options)
    version = Version(function_versions.version_of(other).function, other.options)
    staged = program.stage(version)
    compared = program.check(program.runnable(version), program.dtype)
    fresh = [
        a or b
        for a, b in zip(
            program.bound.donated(program.version.options),
            program.bound.donated(version.options),
            strict=True,
        )
    ]
    found = timing.compare(program.subject(program.baseline, fresh), program.subject(staged, fresh), seconds)
    if found is None:
        raise ValueError(f"one call takes too long for {seconds:g} s; pass more `seconds`")
    first, second = tuple(a for a, _ in found.pairs), tuple(b for _, b in found.pairs)
    return Comparison(
        before=_measurement(program, program.baseline, found.before, first, before),
        after=_measurement(program, staged, found.after, second, after),
        speedup=found.speedup,
        change=found.change,
        numerics=compared.numerics,
        problem=compared.problem,
        pairs_ms=found.pairs,
    )


def profile(
    function: Callable[..., Any],
    *args: Any,
    target: str | None = None,
    options: JitOptions | None = None,
    **kwargs: Any,
) -> Profile:
    """Traces and compiles a function for `target` (the default device) and describes what it does. Nothing runs.

    A compile-only target, such as `tpu:v5e-1x1`, needs its environment before jax is imported (see `jaxlint
    targets`). Raises UnknownTarget, TargetUnavailable and StagingError.
    """
    program = _program(function, args, kwargs, options, target)
    data = to_plain(overview(program.baseline))
    return Profile(_name(function), program.target.name, data)


def _program(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    options: JitOptions | None,
    target: str | None = None,
) -> Reference:
    captured = _captured(function, args, kwargs, options)
    program = Reference(captured, Settings(target=target or jax.default_backend()))
    program.target.devices()
    return program


def _captured(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], options: JitOptions | None
) -> CapturedFunction:
    if options is None and hasattr(function, "lower"):
        options = _donation_of(function, args, kwargs)
    return function_versions.capture(function, *args, options=options, **kwargs)


def _donation_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> JitOptions:
    """The donated arguments of a jitted function, which another jit would ignore. Raises ValueError for static
    arguments."""
    positional, named = function.lower(*args, **kwargs).args_info
    if len(positional) != len(args) or len(named) != len(kwargs):
        raise ValueError(
            "a jitted function with static arguments: give the function that was jitted and options=JitOptions(static_argnums=...)"
        )

    def donated(argument: Any) -> bool:
        leaves = jax.tree.leaves(argument)
        return bool(leaves) and all(leaf.donated for leaf in leaves)

    return JitOptions(
        donate_argnums=tuple(n for n, argument in enumerate(positional) if donated(argument)),
        donate_argnames=tuple(name for name, argument in named.items() if donated(argument)),
    )


def _measurement(
    program: Reference,
    staged: Staged,
    time: Interval,
    samples: tuple[float, ...],
    function: Callable[..., Any],
) -> Measurement:
    device = str(program.target.devices()[0].device_kind)
    cost = inspection.cost(staged)
    cost.time_ms, cost.time_kind = time, "measured"
    return Measurement(_name(function), device, time, samples, cost)


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", function))


def _picture(chart: Chart) -> Markup:
    """A drawing as an image, so that its styles do not affect the notebook's page."""
    data = base64.b64encode(chart.standalone().encode()).decode()
    return tag("img", src=f"data:image/svg+xml;base64,{data}", alt=chart.title)
