"""The region of a step loop: the computation on arrays in each of its iterations, and the host statements beside it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxlint.codemods.compilation.region import Region
from jaxlint.codemods.loops.host_part import HostPart, host_part
from jaxlint.codemods.loops.host_reads import in_a_bar, is_simple
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import ARRAY, NONE, NUMBER, NUMPY, TEXT, Place
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Step

_ENDS = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)


@dataclass(slots=True)
class LoopRegion(Region):
    """Statements of a loop that become a function of several steps. `carry`: the variables that each step passes to the next."""

    carry: list[str] = field(default_factory=list)
    once: bool = False  # the enclosing function is called once
    apart: bool = False  # the first step runs before the others, because it turns a number into an array

    def find_numbers(self, step: Step, possible: PossibleValues, file: File) -> None:
        """Sets `apart` if a carried variable may start as a number and become an array with axes after a
        step.

        A run shows these arrays (`variables`). With `apart` an array may have any number of axes. Refused if
        no carried variable starts as a number.
        """
        axes = arrays_seen(step, with_axes=True)
        wanted = self.carry if step.parameters.get("apart") else [one for one in self.carry if one in axes]
        own = set(ast.walk(file.same(self.site.names.parents[self.first])))
        for name in wanted:
            home = file.names.scope_at(file.same(self.first)).resolve(name)
            if home is None:
                continue
            starts = [one for one in home.bindings.get(name, ()) if one.node not in own]
            if any(NUMBER in possible.of_binding(one, Place(file, home, name)) for one in starts):
                self.apart = True
        if step.parameters.get("apart") and not self.apart:
            raise Refused("no carried array starts as a number")

    def may_keep(self) -> bool:
        script = self.scope.node is self.site.names.tree
        return script or len(self.loops()) > 1 or self.once

    def name(self) -> str:
        around = self.scope.node
        return f"{around.name}_steps" if isinstance(around, ast.FunctionDef) else "run_steps"


@dataclass(slots=True)
class Steps(LoopRegion):
    """The computing statements of a loop, and the host statements. `carry`: variables that are passed from
    step to step, or read after the loop.
    """

    host: HostPart = field(default_factory=HostPart)
    static: set[str] = field(default_factory=set)
    counts: bool = False  # the loop runs over a range
    reads_target: bool = False  # the computation reads the loop variable
    closes: bool = False
    needs_a_turn: bool = False  # an input may be unbound if there is no step, and then nothing reads it

    @classmethod
    def of_loop(
        cls, site: Site, loop: ast.For, possible: PossibleValues, file: File, arrays: frozenset[str]
    ) -> Steps:
        """Divides the body of a loop. Raises Refused if the host statements cannot wait until all steps are computed."""
        scope = site.names.scope_at(loop)
        if scope.is_class or loop.orelse or not isinstance(loop.target, ast.Name):
            raise Refused("the loop has an `else`, unpacks its iterable, or is in a class body")
        if any(isinstance(part, _ENDS) for one in loop.body for part in ast.walk(one)):
            raise Refused("the loop may end early, waits or assigns inside an expression")
        if any(isinstance(one, ast.Try | ast.With) for one in site.names.ancestors_below(loop, scope.node)):
            raise Refused(
                "a handler or `with` around the loop could see steps that ran before the host's statements"
            )
        host = host_part(site, loop, possible, file, arrays)
        host.prints = host.prints or in_a_bar(loop, site.names)
        if not host.computing or not host.statements:
            raise Refused("it computes nothing on arrays, or does nothing on the host")
        region = Region.at(site, site.across([host.computing[0]]), "jax.jit")
        steps = cls(site, scope, host.computing, region.flow, "jax.jit", host=host)
        for one in host.computing:
            Region.at(site, site.across([one]), "jax.jit")
        return steps

    @property
    def loop(self) -> ast.For:
        """The loop that it is the body of."""
        loop = self.site.names.parents[self.first]
        assert isinstance(loop, ast.For)
        return loop

    @property
    def over(self) -> ast.expr:
        """The iterable of the loop, without a progress bar."""
        loop = self.loop
        shown = in_a_bar(loop, self.site.names) and isinstance(loop.iter, ast.Call)
        return loop.iter.args[0] if shown else loop.iter  # type: ignore[attr-defined]

    @property
    def nodes(self) -> Sequence[ast.stmt | ast.expr]:
        return [*self.statements, *(one.value for one in self.host.outputs)]

    def variables(self) -> tuple[list[str], set[str]]:
        exposed: set[str] = set()
        assigned: set[str] = set()
        for item in self.host.order:
            if isinstance(item, ast.stmt):
                facts = self.flow.statement(item)
                exposed |= facts.exposed - assigned
                assigned |= facts.assigned
            else:
                exposed |= self.flow.reads(item.value) - assigned
                assigned |= {item.variable} if item.variable else set()
        bound = {**self.flow.bound(self.statements), **dict.fromkeys(self.host.numbers)}
        return list(bound), exposed

    def settle(self, possible: PossibleValues, file: File) -> None:
        """Determines the carry, the inputs and the outputs. Raises Refused."""
        target = self.loop.target
        assert isinstance(target, ast.Name)
        self._check_rows(possible, file)
        bound, exposed = self.variables()
        self.reads_target = target.id in exposed
        self.given = {target.id}
        if target.id in bound or target.id in self.host.bound:
            raise Refused(f"`{target.id}` is reassigned in the loop")
        if self._is_read_after(target.id) and target.id not in {"_", *self._read_by_host()}:
            raise Refused(f"`{target.id}` is used after the loop")
        self.divide(possible, file)
        if self.kept and self.own is not None and self.own.me not in self.kept:
            self.closes = (
                True  # the new function stands in the enclosing one, so numbers need not be arguments
            )
            self.divide(possible, file)
        if self.own is not None and (self.own.variables or self.own.set):
            raise Refused("it reads or sets arrays of the method's own object")
        for name in bound:
            after = name not in self.host.bound and self._is_read_after(name)
            if name in self.kept_rows and name not in exposed:
                continue
            if not after and name not in exposed:
                continue
            known = self.flow.is_bound_before(name, self.loop)
            if not known and not (name in exposed and self._is_bound_by_loop(name)):
                raise Refused(f"`{name}` may have no value before the loop")
            self.needs_a_turn = self.needs_a_turn or not known
            self.carry.append(name)
            if after and not self.runs_certainly():
                self._check_kept_kind(name, possible, file)
        if not self.carry:
            raise Refused("no value is carried from one step to the next")
        self.parameters = [*self.carry, *(one for one in self.parameters if one not in self.carry)]

    def _is_read_after(self, name: str) -> bool:
        """Whether a variable is read after the loop, in this file or through a name that others may import."""
        script = self.scope.node is self.site.names.tree
        return self.flow.is_used_after(name, self.loop, importable=False) or (
            script and self.site.names.is_shown(name)
        )

    @property
    def kept_rows(self) -> set[str]:
        """Variables that the host reads as arrays, each under its own name. The value of the last step stays
        bound after the loop.
        """
        return {one.name for one in self.host.outputs if one.kept}

    def _read_by_host(self) -> set[str]:
        return {
            part.id for one in self.host.statements for part in ast.walk(one) if isinstance(part, ast.Name)
        }

    def runs_certainly(self) -> bool:
        """Whether there is at least one step."""
        over = self.over
        count = over.args[0] if isinstance(over, ast.Call) and len(over.args) == 1 else None
        return self.counts and isinstance(count, ast.Constant) and count.value > 0  # type: ignore[operator]

    def _turns_alone(self) -> bool:
        """Whether the rewritten code calls nothing if there are no steps, so that variables keep their values."""
        over = self.over
        if self.host.prints:  # in parts; without steps there are none
            return True
        if (
            not self.counts
            or not isinstance(over, ast.Call)
            or len(over.args) != 1
            or not is_simple(over.args[0])
        ):
            return False
        self.needs_a_turn = True
        return True

    def _check_kept_kind(self, name: str, possible: PossibleValues, file: File) -> None:
        """Raises Refused if a variable that is read after the loop would become a JAX array although there was no step."""
        values = self.values_of(name, possible, file)
        for kind, what in (
            (NUMPY, "a NumPy array"),
            (NUMBER, "a number"),
            (TEXT, "a string"),
            (NONE, "None"),
        ):
            if kind in values and not self._turns_alone():
                raise Refused(f"`{name}` may be {what}, and would come back as a JAX array")

    def _is_bound_by_loop(self, name: str) -> bool:
        """Whether an earlier loop binds a variable: if that loop has no iterations, the first step raises,
        before and after the rewrite.
        """
        block = self.flow.block(self.loop)
        return any(
            isinstance(one, ast.For | ast.While) and name in self.flow.sequence(one.body).assigned
            for one in block[: block.index(self.loop)]
        )

    def _check_rows(self, possible: PossibleValues, file: File) -> None:
        over = self.over
        if isinstance(over, ast.Call) and getattr(over.func, "id", "") == "range":
            self.counts = self.site.names.scope_at(over).resolve("range") is None
            known = [possible.of(file.same(one), file) for one in over.args]
            if not self.counts or over.keywords or not all(one and one <= {NUMBER} for one in known):
                raise Refused("the bounds of the range may be arrays, or are unknown")
            return
        if possible.of(file.same(over), file) != {ARRAY}:
            raise Refused("the iterable may not be an array")

    def stays_around(self, name: str, possible: PossibleValues, file: File) -> bool:
        """Numbers become arguments, so that the new function can be defined outside the enclosing one, if possible."""
        values = self.values_of(name, possible, file)
        if values and values <= {NUMBER, TEXT} and not self.closes:
            return False
        return Region.stays_around(self, name, possible, file)


def arrays_seen(step: Step, *, with_axes: bool = False) -> frozenset[str]:
    """The variables that were single arrays in a run, as a step stores them."""
    seen: Any = step.parameters.get("variables") or ()
    found = set()
    for one in seen:
        leaves: Any = one.get("leaves") or ()
        if len(leaves) == 1 and not leaves[0]["place"] and (leaves[0]["shape"] or not with_axes):
            found.add(str(one["name"]))
    return frozenset(found)
