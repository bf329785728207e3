"""Which outputs are new values of which inputs: `params` in, updated `params` out.

Equal shapes are not enough: gradients have the shapes of the parameters and replace nothing. An output updates an
input if the input reaches it through operations that keep each element in its place (add, mul, select, a write into a
slice, a loop carry). The input at the shortest distance wins; otherwise momentum, which also feeds the new
parameters, could win.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxlint_runtime.compat import Literal, inner_jaxprs, open_jaxpr, scan_counts

ELEMENTWISE = frozenset(
    [
        "add",
        "sub",
        "mul",
        "div",
        "neg",
        "sign",
        "abs",
        "max",
        "min",
        "pow",
        "integer_pow",
        "sqrt",
        "rsqrt",
        "exp",
        "exp2",
        "log",
        "log1p",
        "expm1",
        "tanh",
        "logistic",
        "square",
        "select_n",
        "clamp",
        "convert_element_type",
        "reduce_precision",
        "copy",
        "copy_p",
        "add_any",
        "sin",
        "cos",
        "floor",
        "ceil",
        "round",
        "rem",
        "and",
        "or",
        "xor",
        "not",
        "shift_left",
        "shift_right_logical",
        "eq",
        "nextafter",
        "erf",
        "optimization_barrier",
        "sharding_constraint",
        "stop_gradient",
    ]
)
_WRITES = frozenset(
    "dynamic_update_slice scatter scatter-add scatter_add scatter-mul scatter_mul scatter-min scatter-max".split()  # noqa: SIM905
)

Reach = dict[int, int]  # input number -> number of operations in between


@dataclass(frozen=True, slots=True)
class Update:
    """Output number `output` is the new value of input number `input`; distance 0 means returned unchanged.

    `rivals` are inputs of the same shape at the same distance: in an average of two arguments, either may be meant.
    """

    output: int
    input: int
    distance: int
    rivals: tuple[int, ...] = ()


def updates(jaxpr: Any) -> tuple[Update, ...]:
    """A one-to-one assignment of outputs to the inputs that they update, in the order of the outputs."""
    parts = open_jaxpr(jaxpr)
    reaches = _reaches(jaxpr, [{number: 0} for number in range(len(parts.invars))])
    pairs = []
    for output, reach in enumerate(reaches):
        aval = parts.outvars[output].aval
        for number, distance in reach.items():
            if _same(parts.invars[number].aval, aval):
                same = tuple(n for n, d in reach.items() if d == distance and n != number)
                rivals = tuple(n for n in same if _same(parts.invars[n].aval, aval))
                pairs.append(Update(output, number, distance, rivals))
    pairs.sort(key=lambda pair: (pair.distance, abs(pair.output - pair.input)))
    outputs: set[int] = set()
    inputs: set[int] = set()
    chosen = []
    for pair in pairs:
        if pair.output not in outputs and pair.input not in inputs:
            outputs.add(pair.output)
            inputs.add(pair.input)
            chosen.append(pair)
    return tuple(sorted(chosen, key=lambda pair: pair.output))


def _same(left: Any, right: Any) -> bool:
    return getattr(left, "shape", None) == getattr(right, "shape", ()) and getattr(
        left, "dtype", None
    ) == getattr(right, "dtype", ())


def _reaches(jaxpr: Any, given: list[Reach]) -> list[Reach]:
    """For each output, the inputs that reach it elementwise; `given` are those that reach the jaxpr's own inputs."""
    parts = open_jaxpr(jaxpr)
    reach: dict[Any, Reach] = dict(zip(parts.invars, given, strict=True))
    for eqn in parts.eqns:
        results = _equation(eqn, [{} if isinstance(v, Literal) else reach.get(v, {}) for v in eqn.invars])
        reach.update(zip(eqn.outvars, results, strict=True))
    return [{} if isinstance(v, Literal) else reach.get(v, {}) for v in parts.outvars]


def _equation(eqn: Any, reaches: list[Reach]) -> list[Reach]:
    nothing: list[Reach] = [{} for _ in eqn.outvars]
    if not any(reaches):
        return nothing
    name = eqn.primitive.name
    if name in ELEMENTWISE:
        shape = eqn.outvars[0].aval.shape
        same = [
            r for r, v in zip(reaches, eqn.invars, strict=True) if getattr(v.aval, "shape", None) == shape
        ]
        return [_step(_merge(same))]
    if name in _WRITES:
        return [_step(reaches[0])]
    bodies = [body for _, body in inner_jaxprs(eqn)]
    if name == "scan":
        return _scan(eqn, bodies[0], reaches)
    if name == "while":
        consts = eqn.params["cond_nconsts"] + eqn.params["body_nconsts"]
        carry = reaches[consts:]
        outs = _reaches(_named(eqn, "body_jaxpr"), [{} for _ in range(eqn.params["body_nconsts"])] + carry)
        return [_step(out) for out in outs]
    if name == "cond":
        branches = [_reaches(body, reaches[1:]) for body in bodies]
        return [_step(_merge(list(outs))) for outs in zip(*branches, strict=True)]
    if bodies and len(open_jaxpr(bodies[0]).invars) == len(reaches):
        return _reaches(bodies[0], reaches)
    return nothing


def _scan(eqn: Any, body: Any, reaches: list[Reach]) -> list[Reach]:
    consts, carries = scan_counts(eqn)
    inside: list[Reach] = [{} for _ in open_jaxpr(body).invars]
    inside[consts : consts + carries] = reaches[consts : consts + carries]
    outs = _reaches(body, inside)
    return [_step(out) if number < carries else {} for number, out in enumerate(outs)]


def _named(eqn: Any, parameter: str) -> Any:
    return next(body for name, body in inner_jaxprs(eqn) if name == parameter)


def _merge(reaches: list[Reach]) -> Reach:
    merged: Reach = {}
    for reach in reaches:
        for number, distance in reach.items():
            merged[number] = min(distance, merged.get(number, distance))
    return merged


def _step(reach: Reach) -> Reach:
    return {number: distance + 1 for number, distance in reach.items()}
