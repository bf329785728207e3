"""Rematerialisation: stores less in the forward pass and recomputes it in the backward pass, block by block.

The functions that a program differentiates are intercepted, traced, and evaluated with their blocks under
`jax.checkpoint`: repeated runs of equations, and the bodies of scans. Around the whole loss it would be useless,
since all residuals would be live again at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint_runtime import compat, inspection
from jaxlint_runtime.compat import DropVar, Literal
from jaxlint_runtime.inspection.differentiated_equations import differentiated_equations
from jaxlint_runtime.inspection.repeated_blocks import Block, call_site, call_sites, is_rematerialised, stacks
from jaxlint_runtime.lowering.avals import nbytes
from jaxlint_runtime.lowering.function_versions import Staged, Version, first_line
from jaxlint_runtime.lowering.jaxpr_interpreter import CALLS, Environment, evaluate, inlined, scan
from jaxlint_runtime.model import Cost
from jaxlint_runtime.programs.captured_program import Program
from jaxlint_runtime.programs.replaced_arguments import released
from jaxlint_runtime.targets import Target
from jaxlint_runtime.transforms.checkpoint_policies import (
    POLICIES,
    is_offloaded,
    policies,
    policy_of,
    why_not_offloaded,
)
from jaxlint_runtime.transforms.transform import Candidate, NotApplicable, Transform
from jaxlint_runtime.wording.paths import display_path

_LEAST_SAVING = 0.05  # share of the live bytes: below it the estimates are meaningless


@dataclass
class Record:
    """Facts from the trace of a version."""

    derivatives: int = 0
    residual_bytes: int = 0  # residuals, without inputs of either pass
    stacks: int = 0
    blocks: int = 0
    scans: int = 0
    already: int = 0  # calls that the program itself rematerialises
    names: set[str] = field(default_factory=set)  # names that the program gave to values inside them
    sites: list[tuple[str, int, str]] = field(default_factory=list)
    # For each stack the frames around it.
    chains: list[list[tuple[str, int, str]]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Remat(Transform):
    """Puts `jax.checkpoint` with a policy around each differentiated block."""

    name = "remat"
    trade = True

    def __init__(self) -> None:
        self._records: dict[tuple[int, str], Record] = {}

    def propose(self, program: Program) -> list[Candidate]:
        """One candidate per policy that stores less, the least first. Raises NotApplicable."""
        # If the state is not donated, the old and the new one together may be the peak, and hide the savings.
        given = released(program)
        original = inspection.liveness(program.baseline.jaxpr, given)
        plain = Record()
        program.stage(_checkpointed(program.version, None, plain)).jaxpr  # noqa: B018 - traces
        if not plain.derivatives:
            raise NotApplicable("the function takes no gradient, so no residuals are kept")
        if not (plain.blocks or plain.scans):
            if plain.already:
                raise NotApplicable("its blocks are already under jax.checkpoint")
            raise NotApplicable(
                plain.problems[0] if plain.problems else "the differentiated function has no repeated blocks"
            )
        candidates = []
        kept: set[tuple[int, int]] = set()
        for policy in policies(plain.names, program.target):
            record = Record()
            jaxpr = program.stage(_checkpointed(program.version, policy, record)).jaxpr
            live = inspection.liveness(jaxpr, given)
            if record.problems and not (record.blocks or record.scans):
                raise NotApplicable(record.problems[0])
            # Either figure may be too small: the estimated peak may be in the optimiser, which compilers schedule
            # better than program order, and residuals may not be live at the peak.
            saved = plain.residual_bytes - record.residual_bytes
            if max(saved, original.total - live.total) < _LEAST_SAVING * original.total:
                continue
            if (
                policy in POLICIES
            ):  # each policy stores what the previous one stores: equal bytes are the same values
                if (record.residual_bytes, live.total) in kept:
                    continue
                kept.add((record.residual_bytes, live.total))
            figures = {
                "live_bytes": {"before": original.total, "after": live.total},
                "residual_bytes": {"before": plain.residual_bytes, "after": record.residual_bytes},
            }
            candidates.append(_candidate(f"{self.name}:{policy}", policy, record, float(saved), figures))
        if not candidates:
            raise NotApplicable(
                f"no policy saves {_LEAST_SAVING:.0%} of the peak of {size(original.total)} (estimate over the jaxpr); "
                f"the residuals take {size(plain.residual_bytes)}"
            )
        candidates.sort(key=lambda candidate: -candidate.estimate)
        # A compiler that undoes the recomputation of unrolled blocks still gets one candidate, for the values; it may
        # keep loops apart.
        if keeps_recomputation(program.target) or candidates[0].parameters["scans"]:
            return candidates
        return candidates[:1]

    def apply(self, program: Program, candidate: Candidate, version: Version) -> Version:
        """The same function, with its blocks differentiated under the candidate's policy."""
        return _checkpointed(version, candidate.parameters["policy"], Record())

    def evidence(self, program: Program, candidate: Candidate) -> str | None:
        """The policies that the target excludes, and why."""
        return why_not_offloaded(program.target)

    def confirm(
        self, program: Program, candidate: Candidate, staged: Staged, before: Cost, after: Cost
    ) -> None:
        """Adds the residuals; raises NotApplicable if the compiler's plan shows that nothing is recomputed."""
        residual, live = candidate.parameters["residual_bytes"], candidate.parameters["live_bytes"]
        before.residual_bytes, after.residual_bytes = residual["before"], residual["after"]
        planned, needed = before.peak_bytes or 0, after.peak_bytes or 0
        kept = planned - needed >= _LEAST_SAVING * planned > 0
        if not kept and not keeps_recomputation(program.target):
            raise NotApplicable(
                f"{candidate.summary}: on {program.target.name} jax {jax.__version__} removes the recomputation "
                f"(estimate: residuals {size(residual['before'])} to {size(residual['after'])}, peak "
                f"{size(live['before'])} to {size(live['after'])}); --target tpu:v5e-1x1 shows the gain"
            )


@functools.cache
def keeps_recomputation(target: Target) -> bool:
    """Whether checkpoints save memory with the target's compiler, tested on a small stack of layers.

    XLA:CPU of jax 0.10 merges each recomputation with the first computation. Testing the compiler, instead of
    comparing its version, is also right for future ones.
    """

    def layer(x: Any, w: Any) -> Any:
        return x + jnp.tanh(jnp.tanh(x @ w) @ w) @ w

    def total(wrap: Callable[..., Any]) -> int:
        def loss(w: Any, x: Any) -> Any:
            for _ in range(6):
                x = wrap(layer)(x, w)
            return jnp.sum(x)

        place = jax.sharding.SingleDeviceSharding(target.devices()[0])
        w = jax.ShapeDtypeStruct((128, 128), jnp.float32, sharding=place)
        x = jax.ShapeDtypeStruct((4096, 128), jnp.float32, sharding=place)
        return inspection.memory(compat.jit(jax.grad(loss)).lower(w, x).compile(), target.platform).total

    return total(jax.checkpoint) < 0.9 * total(lambda function: function)


def _names(equations: Iterable[Any]) -> Iterator[str]:
    """The names given to values of some equations, inner programs included."""
    for eqn in equations:
        if eqn.primitive.name == "name":
            yield str(eqn.params["name"])
        for _, inner in compat.inner_jaxprs(eqn):
            yield from _names(compat.open_jaxpr(inner).eqns)


def _candidate(name: str, policy: str, record: Record, saved: float, figures: dict[str, Any]) -> Candidate:
    return Candidate(
        name=name,
        summary=f"jax.checkpoint with policy {policy} around {_where(record)}",
        requires="",
        estimate=saved,
        codemod=_codemod(record),
        parameters={
            "policy": policy,
            "blocks": record.blocks,
            "scans": record.scans,
            "sites": [f"{path}:{line}" for path, line, _ in record.sites],
            "calls": [[f"{path}:{line}" for path, line, _ in chain] for chain in record.chains],
            **figures,
        },
    )


def _where(record: Record) -> str:
    parts = []
    if record.blocks:
        parts.append(f"each of {record.blocks} blocks")
    if record.scans:
        parts.append("the body of a scan" if record.scans == 1 else f"the bodies of {record.scans} scans")
    sites = dict.fromkeys(f"{display_path(path)}:{line}" for path, line, _ in record.sites)
    return " and ".join(parts) + (f" (called at {', '.join(sites)})" if sites else "")


def _codemod(record: Record) -> str | None:
    """The codemod that writes it, if all blocks are scan bodies, or blocks that loops call, with known places."""
    if record.scans and not record.blocks and len(record.sites) == record.scans:
        return "checkpoint-scan-body"
    return "remat-call" if record.blocks and not record.scans and len(record.sites) == record.stacks else None


def _checkpointed(version: Version, policy: str | None, record: Record) -> Version:
    """The function with its differentiated blocks under `policy`; None only searches for them."""
    function = version.function

    @functools.wraps(function)
    def rematerialised(*args: Any, **kwargs: Any) -> Any:
        inside = False

        def vjp(original: Callable[..., Any], fun: Callable[..., Any], *primals: Any, **options: Any) -> Any:
            nonlocal inside
            if inside:  # a derivative inside an intercepted one
                return original(fun, *primals, **options)
            record.derivatives += 1
            inside = True
            try:
                replay, known = _replay(fun, primals, policy, record)
            except Exception as error:
                record.problems.append(
                    f"the differentiated function cannot be traced by itself: {first_line(error)}"
                )
                return original(fun, *primals, **options)
            finally:
                inside = False
            result = original(replay, *primals, **options)
            record.residual_bytes += sum(
                nbytes(jax.typeof(leaf))
                for leaf in jax.tree.leaves(result[1])
                if id(leaf) not in known and not is_offloaded(leaf)
            )
            return result

        with compat.replaced_vjp(vjp):
            return function(*args, **kwargs)

    return Version(rematerialised, version.options)


def _replay(
    fun: Callable[..., Any], primals: Sequence[Any], policy: str | None, record: Record
) -> tuple[Callable[..., Any], set[int]]:
    """`fun` traced and cut into blocks, and the identities of its argument values."""
    staged, shape = jax.make_jaxpr(fun, return_shape=True)(*primals)
    leaves = jax.tree.leaves(primals)
    jaxpr = inlined(staged, leaves)
    parts = compat.open_jaxpr(jaxpr)
    structure = jax.tree.structure(shape)
    blocks: list[Block] = []
    record.already += sum(map(is_rematerialised, parts.eqns))
    through = differentiated_equations(jaxpr)
    for stack in stacks(jaxpr):
        numbers = [n for block in stack.blocks for n in range(block.start, block.stop)]
        # a derivative that bypasses them stores nothing of them
        if through.isdisjoint(numbers) or any(is_rematerialised(parts.eqns[n]) for n in numbers):
            continue
        blocks += stack.blocks
        record.stacks += 1
        record.blocks += len(stack.blocks)
        full = max(stack.blocks, key=lambda block: block.stop - block.start)
        chain = call_sites([parts.eqns[n] for n in range(full.start, full.stop)])
        record.chains.append(chain)
        record.sites += chain[:1]
    covered = {n for block in blocks for n in range(block.start, block.stop)}
    scans = {n for n in through - covered if _worthwhile_scan(parts.eqns[n], record)}
    record.scans += len(scans)
    record.names.update(_names(parts.eqns[n] for n in sorted(covered | scans)))
    for n in sorted(scans):
        site = call_site([parts.eqns[n]])
        record.sites += [site] if site else []

    def replay(*args: Any) -> Any:
        flat = jax.tree.leaves(args)
        environment = Environment(jaxpr, parts.consts, flat)
        starts = {block.start: block for block in blocks}
        index = 0
        while index < len(parts.eqns):
            block = starts.get(index)
            if block is not None and policy is not None:
                _run_block(parts, block, environment, policy_of(policy))
                index = block.stop
                continue
            eqn = parts.eqns[index]
            values = environment.read(eqn.invars)
            results = (
                _run_scan(eqn, values, policy_of(policy))
                if index in scans and policy is not None
                else compat.bind(eqn, values)
            )
            environment.write(eqn.outvars, results)
            index += 1
        return jax.tree.unflatten(structure, environment.read(parts.outvars))

    known = {id(value) for value in (*leaves, *parts.consts, *compat.open_jaxpr(staged).consts)}
    return replay, known


def _worthwhile_scan(eqn: Any, record: Record) -> bool:
    if eqn.primitive.name != "scan" or eqn.params["length"] < 2:
        return False
    body = compat.open_jaxpr(compat.inner_jaxprs(eqn)[0][1])
    if any(map(is_rematerialised, body.eqns)):
        record.already += 1
        return False
    return _count(body.eqns) > 2


def _count(equations: Iterable[Any]) -> int:
    """The equations, with those of functions that are jitted in there."""
    return sum(
        _count(compat.open_jaxpr(compat.inner_jaxprs(eqn)[0][1]).eqns) if eqn.primitive.name in CALLS else 1
        for eqn in equations
    )


def _run_block(parts: Any, block: Block, environment: Environment, policy: Callable[..., Any]) -> None:
    """Evaluates a block under jax.checkpoint, with inputs and outputs from the uses of values."""
    equations = parts.eqns[block.start : block.stop]
    made = {var for eqn in equations for var in eqn.outvars if not isinstance(var, DropVar)}
    read = dict.fromkeys(var for eqn in equations for var in eqn.invars if not isinstance(var, Literal))
    inputs = [var for var in read if var not in made]
    later = {var for eqn in parts.eqns[block.stop :] for var in eqn.invars if not isinstance(var, Literal)}
    later.update(var for var in parts.outvars if not isinstance(var, Literal))
    outputs = [var for eqn in equations for var in eqn.outvars if var in made and var in later]

    def run(*values: Any) -> list[Any]:
        local = dict(zip(inputs, values, strict=True))
        for eqn in equations:
            operands = [v.val if isinstance(v, Literal) else local[v] for v in eqn.invars]
            local.update(zip(eqn.outvars, compat.bind(eqn, operands), strict=True))
        return [local[var] for var in outputs]

    environment.write(outputs, jax.checkpoint(run, policy=policy)(*environment.read(inputs)))


def _run_scan(eqn: Any, values: Sequence[Any], policy: Callable[..., Any]) -> list[Any]:
    """The same scan with its body under jax.checkpoint."""
    body = compat.inner_jaxprs(eqn)[0][1]
    # A loop already separates the two computations, so nothing need prevent their merging.
    step = jax.checkpoint(lambda *flat: evaluate(body, flat), policy=policy, prevent_cse=False)
    return scan(eqn, values, step)


def size(number: float) -> str:
    """Bytes for people."""
    return f"{number / 2**20:.1f} MiB" if number >= 2**20 else f"{number / 2**10:.1f} KiB"
