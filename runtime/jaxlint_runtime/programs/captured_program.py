"""One captured function under optimisation: its original version, and facts about it that need no run."""

from __future__ import annotations

import functools
from typing import Any

import jax

from jaxlint_runtime import compat, inspection, targets
from jaxlint_runtime.inspection.intermediate_dtypes import coarsest
from jaxlint_runtime.inspection.jaxpr_facts import traced
from jaxlint_runtime.inspection.updates import Update, updates
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.lowering.function_versions import BoundCall, Staged, Version
from jaxlint_runtime.lowering.jit_options import Parameters
from jaxlint_runtime.model import CapturedFunction, Cost
from jaxlint_runtime.optimiser_settings import Settings


class Program:
    """The original for the target, and for the device that computes the values if that is another.

    Everything is traced, compiled and run on demand. Raises StagingError if the original cannot be.
    """

    def __init__(self, captured: CapturedFunction, settings: Settings) -> None:
        self.captured = captured
        self.settings = settings
        self.target = targets.parse(settings.target)
        self.version: Version = function_versions.version_of(captured)
        self.bound: BoundCall = function_versions.bind(captured)

    @functools.cached_property
    def runner(self) -> targets.Target:
        """The device that computes the values: the target itself, or this machine's default device."""
        return targets.parse(jax.default_backend()) if self.target.compile_only else self.target

    @functools.cached_property
    def baseline(self) -> Staged:
        """The original for the target."""
        return function_versions.stage(self.version, self.bound, self.target)

    @functools.cached_property
    def cost(self) -> Cost:
        """The compiler's figures for the original."""
        return inspection.cost(self.baseline)

    @functools.cached_property
    def alive_bytes(self) -> int:
        """The peak of live bytes in the original: an estimate without compilation."""
        return traced(self.baseline).memory[self.bound.donated(self.version.options)].peak

    @functools.cached_property
    def updates(self) -> tuple[Update, ...]:
        """Which outputs are new values of which inputs."""
        return updates(self.baseline.jaxpr)

    @property
    def constants(self) -> tuple[inspection.Constant, ...]:
        """The captured arrays."""
        return inspection.constants(self.baseline.jaxpr)

    def label(self, leaf: int) -> str:
        """The argument of a leaf, by its parameter name."""
        argument = self.bound.leaves[leaf].argument
        if isinstance(argument, str):
            return argument
        return Parameters.of(self.captured.function, self.captured.options).name(argument)

    def stage(self, version: Version) -> Staged:
        """A version for the target."""
        return function_versions.stage(version, self.bound, self.target)

    def runnable(self, version: Version) -> Staged:
        """A version for the device that computes the values."""
        return function_versions.stage(version, self.bound, self.runner)

    @functools.cached_property
    def differentiates(self) -> bool:
        """Whether it takes reverse-mode derivatives itself, so that its outputs already depend on gradients."""
        caught = []

        def vjp(original: Any, fun: Any, *primals: Any, **options: Any) -> Any:
            caught.append(fun)
            return original(fun, *primals, **options)

        function = self.version.function

        @functools.wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            with compat.replaced_vjp(vjp):
                return function(*args, **kwargs)

        self.stage(Version(watched, self.version.options)).jaxpr  # noqa: B018 - traces
        return bool(caught)

    @functools.cached_property
    def dtype(self) -> str:
        """The coarsest floating dtype that the original computes in."""
        names = inspection.dtype_bytes(self.baseline.jaxpr)
        return coarsest(names)
