"""Kernels: attention, found in the traced program, computed without ever holding all of its scores.

Functions that a program differentiates are intercepted, as in `remat`, so that the backward pass is the kernel's.
Other attentions are searched for in the whole traced program.
"""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime import compat
from jaxlint_runtime.kernels.attention_operands import Layout, Operands, Spec, scores_bytes
from jaxlint_runtime.kernels.implementations import chunked
from jaxlint_runtime.kernels.implementations.attention_choices import Choice, choices
from jaxlint_runtime.kernels.implementations.block_size_tuning import Tuned, Tuner
from jaxlint_runtime.kernels.implementations.small_check import drawn, interpreted
from jaxlint_runtime.kernels.substitute import Choice as Choosing
from jaxlint_runtime.kernels.substitute import Implementation, Match, Matches, evaluate, matches
from jaxlint_runtime.lowering import jaxpr_interpreter
from jaxlint_runtime.lowering.function_versions import Version, first_line
from jaxlint_runtime.lowering.jaxpr_interpreter import of_traced_leaves
from jaxlint_runtime.programs.captured_program import Program
from jaxlint_runtime.transforms.transform import NO_CALL, Candidate, NotApplicable, Transform
from jaxlint_runtime.wording.paths import display_path

LEAST_BYTES = 2**20  # bytes of scores that make a kernel worth trying
_LOSS = "cross-entropy"  # in the description of one
LEAST_SHARE = 0.01  # share of the whole memory


@dataclass
class Seen:
    """The patterns found while a version was traced."""

    matches: list[Match] = field(default_factory=list)
    turns: dict[Match, int] = field(default_factory=dict)  # how often each is computed
    near: list[str] = field(default_factory=list)

    def add(self, found: Matches) -> None:
        """Records the matches in one traced function."""
        self.matches += found.all_layouts()
        self.turns |= found.turns()
        self.near += found.all_near()

    def reasons(self, loss: bool = False) -> list[str]:
        """Why near misses are not attention (or a cross-entropy), unless they were recognised elsewhere."""
        # A differentiated part is seen separately first; in the whole program its weights have a second use in the
        # backward pass.
        places = {match.place for match in self.matches}
        return [
            shortened(text)
            for text in dict.fromkeys(self.near)
            if text.partition(": ")[0] not in places and (_LOSS in text) == loss
        ]


class Kernels(Transform):
    """Replaces attention by an implementation for the target."""

    name = "kernels"
    rule = "naive-attention"

    def __init__(self) -> None:
        self._layouts: weakref.WeakKeyDictionary[Program, list[Layout]] = weakref.WeakKeyDictionary()
        self._emulated: dict[Any, Version] = {}  # of the program of the last proposal
        self._tuner = Tuner()

    def propose(self, program: Program) -> list[Candidate]:
        """One candidate per implementation that accepts any of the attentions. Raises NotApplicable."""
        seen = Seen()
        program.stage(substituted(program.version, lambda layout: None, seen)).jaxpr  # noqa: B018 - traces
        layouts = [match for match in seen.matches if isinstance(match, Layout)]
        if not layouts:
            raise NotApplicable("; ".join(seen.reasons()) or "the function computes no attention")
        total = sum(map(scores_bytes, layouts))
        if total < max(LEAST_BYTES, LEAST_SHARE * program.alive_bytes):
            raise NotApplicable(f"its attention scores take only {total / 2**10:.1f} KiB")
        candidates, refused = [], []
        for number, choice in enumerate(choices(program.target)):
            if choice.missing is not None:
                refused.append(f"{choice.name}: {choice.missing}")
                continue
            if choice.needs_device and program.target.compile_only:
                refused.append(
                    f"{choice.name}: it chooses its kernel by the device at run time, and no device is there"
                )
                continue
            reasons = [choice.refuses(layout) for layout in layouts]
            taken = [layout for layout, reason in zip(layouts, reasons, strict=True) if reason is None]
            if not taken:
                refused.append(f"{choice.name}: {reasons[0]}")
                continue
            tuned = [self._tuned(program, choice, layout) for layout in taken]
            candidates.append(
                Candidate(
                    name=f"{self.name}:{choice.name}",
                    summary=f"compute {_described(taken)} by {choice.call(taken[0])}{tuned[0].told()}",
                    requires="",
                    estimate=float(sum(map(scores_bytes, taken))) - number,  # in the order of the choices
                    codemod=choice.codemod,
                    parameters={
                        "implementation": choice.name,
                        "call": choice.call(taken[0]),
                        "attentions": [_facts(layout) for layout in taken],
                        "left": len(layouts) - len(taken),
                        "refused": list(refused),
                        "near": seen.reasons(),
                        "calls": [_written(layout, choice) for layout in taken] if choice.codemod else [],
                        "unwritten": None if choice.codemod else NO_CALL,
                    },
                )
            )
        self._layouts[program] = layouts
        self._emulated.clear()
        return candidates

    def apply(self, program: Program, candidate: Candidate, version: Version) -> Version:
        """The same function, its attentions computed by the candidate's implementation."""
        choice = _choice(program, candidate)
        program.differentiates  # noqa: B018 - traces the program, which it must not do where derivatives are caught

        def run(layout: Layout) -> Implementation:
            blocks = self._tuner.known(_key(program, choice, layout))
            return choice.run if blocks is None else functools.partial(choice.run, blocks=blocks)

        return substituted(version, _taken(choice, run))

    def emulate(self, program: Program, candidate: Candidate, version: Version) -> Version | None:
        """Without the target, the same attentions by blocks of queries, in float32 products."""
        if not program.target.compile_only:
            return None
        choice = _choice(program, candidate)
        run = functools.partial(chunked.attention, widen=True)
        taken = tuple(choice.refuses(layout) is None for layout in self._layouts[program])
        key = (version.function, taken)
        if key not in self._emulated:
            self._emulated[key] = substituted(version, _taken(choice, lambda layout: run))
        return self._emulated[key]

    def _tuned(self, program: Program, choice: Choice, layout: Layout) -> Tuned:
        """The fastest block sizes on the current accelerator; the target's defaults if there is none."""
        target = program.target
        if choice.sizes is None or target.compile_only or target.platform == "cpu":
            return Tuned()
        return self._tuner.best(
            _key(program, choice, layout),
            choice.sizes(layout),
            functools.partial(_to_time, choice, layout.spec, program.differentiates),
            lambda: dataclasses.astuple(drawn(layout)),
        )

    def evidence(self, program: Program, candidate: Candidate) -> str | None:
        """Kernels for a compile-only target run here at a small size, step by step, if an interpreter supports it."""
        choice = _choice(program, candidate)
        text = None
        if program.target.compile_only:
            text = "the values are those of the same attention by blocks of queries"
        if choice.interpreter is not None and program.runner.platform == "cpu":
            taken = [layout for layout in self._layouts[program] if choice.refuses(layout) is None]
            text = f"{text}; {interpreted(choice, taken)}"
        return text


def substituted(
    version: Version, choose: Choosing, seen: Seen | None = None, look: Callable[[Any], Matches] = matches
) -> Version:
    """The function with the matches of `look` computed as `choose` says; `seen` records the matches."""
    function = version.function
    noted = seen or Seen()

    @functools.wraps(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        flat, operands = of_traced_leaves(function, args, kwargs)
        with compat.replaced_vjp(_differentiating(choose, noted, look)):
            jaxpr, shape = jax.make_jaxpr(flat, return_shape=True)(*operands)
        found = look(jaxpr)
        noted.add(found)
        return jax.tree.unflatten(jax.tree.structure(shape), evaluate(found, operands, choose))

    return Version(computed, version.options)


def _differentiating(choose: Choosing, seen: Seen, look: Callable[[Any], Matches]) -> Callable[..., Any]:
    """The replacement of `jax.vjp`: makes the substitutions in the differentiated function first."""
    inside = False

    def vjp(original: Callable[..., Any], fun: Callable[..., Any], *primals: Any, **options: Any) -> Any:
        nonlocal inside
        if inside:  # a derivative inside an intercepted one
            return original(fun, *primals, **options)
        inside = True
        try:
            staged, shape = jax.make_jaxpr(fun, return_shape=True)(*primals)
            found = look(staged)
        except Exception as error:
            seen.near.append(f"the differentiated function cannot be traced by itself: {first_line(error)}")
            return original(fun, *primals, **options)
        finally:
            inside = False
        seen.add(found)
        replaces = any(choose(layout) for layout in found.all_layouts())

        def replay(*args: Any) -> Any:  # `fun` itself may only be called once, as in nnx
            flat = jax.tree.leaves(args)
            results = evaluate(found, flat, choose) if replaces else jaxpr_interpreter.evaluate(staged, flat)
            return jax.tree.unflatten(jax.tree.structure(shape), results)

        return original(replay, *primals, **options)

    return vjp


def _choice(program: Program, candidate: Candidate) -> Choice:
    name = candidate.parameters["implementation"]
    return next(choice for choice in choices(program.target) if choice.name == name)


def _taken(choice: Choice, run: Callable[[Layout], Implementation]) -> Choosing:
    """The result of `run` for the attentions that a choice does not refuse."""
    return lambda match: run(match) if isinstance(match, Layout) and choice.refuses(match) is None else None


def _key(program: Program, choice: Choice, layout: Layout) -> tuple[Any, ...]:
    """The properties that a kernel's time depends on."""
    dtype = str(layout.attention.queries.value.aval.dtype)
    shapes = (layout.shape, layout.key_shape, layout.sizes.size(layout.width), dtype)
    return (
        choice.name,
        *shapes,
        layout.spec,
        bool(layout.masks),
        bool(layout.biases),
        program.differentiates,
    )


def _to_time(choice: Choice, spec: Spec, differentiates: bool, blocks: Any) -> Callable[..., Any]:
    """The kernel with some block sizes, with its backward pass if the program has one."""

    def forward(*operands: Any) -> Any:
        return choice.run(Operands(*operands), spec, blocks=blocks)

    if not differentiates:
        return forward
    return jax.grad(lambda *operands: jnp.sum(forward(*operands).astype(jnp.float32)), argnums=(0, 1, 2))


def _facts(layout: Layout) -> dict[str, Any]:
    return {
        "site": shortened(layout.place),
        "queries": list(layout.shape),
        "keys": list(layout.key_shape),
        "scale": layout.spec.scale,
        "causal": layout.spec.causal,
        "cap": layout.spec.cap,
        "masks": len(layout.masks),
        "biases": len(layout.biases),
        "scores_bytes": scores_bytes(layout),
    }


def _written(layout: Layout, choice: Choice) -> dict[str, Any]:
    """The parameters of a codemod for the call, and why it cannot be written."""
    refused = None
    if layout.masks or layout.biases or layout.factors:
        refused = "its mask, bias or temperature has no name in the code"
    return {
        "places": layout.result_places,
        "scale": layout.spec.scale,
        "depth": layout.shape[3],
        "causal": layout.spec.causal,
        "implementation": choice.implementation,
        "refused": refused,
    }


def _described(layouts: Sequence[Layout]) -> str:
    first = layouts[0]
    sites = dict.fromkeys(shortened(layout.place) for layout in layouts)
    causal = "causal " if first.spec.causal else ""
    where = ", ".join(sites)
    many = f"{len(layouts)} attentions" if len(layouts) > 1 else "the attention"
    return f"{many} at {where} ({causal}queries {list(first.shape)}, keys {list(first.key_shape)})"


def shortened(text: str) -> str:
    """A place, or a message that begins with one, with a shortened path."""
    path, separator, rest = text.partition(":")
    return f"{display_path(path)}{separator}{rest}" if separator else text
