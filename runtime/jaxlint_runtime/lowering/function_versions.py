"""A version of a function and one captured call -> jaxpr, StableHLO and compiled program for a target."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np

from jaxlint_runtime import compat
from jaxlint_runtime.model import CapturedCall, CapturedFunction, JitOptions
from jaxlint_runtime.targets import Target


class StagingError(RuntimeError):
    """A function could not be traced, lowered or compiled; the message is one line and names the stage."""


class DoesNotFit(StagingError):
    """The compiler refuses a program since the device has too little memory: `needed` and `available` bytes."""

    def __init__(self, needed: int, available: int) -> None:
        super().__init__(
            f"could not compile: it needs at least {needed / 2**30:.2f} GiB of the device's {available / 2**30:.2f} GiB"
        )
        self.needed = needed
        self.available = available


# Messages of XLA's compiler for TPUs; the first form only counts the temporaries.
_TOO_BIG = (
    re.compile(
        r"required for HLO temporaries \(([\d.]+)([KMGT]?)\) exceeds available HBM \(([\d.]+)([KMGT]?)\)"
    ),
    re.compile(r"Ran out of memory in memory space hbm\. Used ([\d.]+)([KMGT]?) of ([\d.]+)([KMGT]?) hbm"),
)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def too_big(message: str, arguments: int) -> DoesNotFit | None:
    """The memory figures in a compiler's error; None if it has none. `arguments`: bytes of the program's arguments."""
    for number, form in enumerate(_TOO_BIG):
        if found := form.search(message):
            needed = int(float(found[1]) * _UNITS[found[2]]) + (0 if number else arguments)
            return DoesNotFit(needed, int(float(found[3]) * _UNITS[found[4]]))
    return None


@dataclass(frozen=True, slots=True)
class Version:
    """A function with the signature of the user's, and its jit options."""

    function: Callable[..., Any]
    options: JitOptions

    def donating(self, argnums: Sequence[int], argnames: Sequence[str] = ()) -> Version:
        """The same function with these arguments donated too."""
        options = replace(
            self.options,
            donate_argnums=tuple(sorted({*self.options.donate_argnums, *argnums})),
            donate_argnames=tuple(sorted({*self.options.donate_argnames, *argnames})),
        )
        return Version(self.function, options)


def version_of(captured: CapturedFunction) -> Version:
    """The user's own function and options."""
    return Version(compat.callable_alone(captured.function), _implied(captured.function, captured.options))


def _implied(function: Callable[..., Any], options: JitOptions) -> JitOptions:
    """The options with arguments donated by name also donated by number, as jit infers it."""
    if options.donate_argnums or not options.donate_argnames:
        return options
    names: list[str] = []
    with contextlib.suppress(TypeError, ValueError):
        names = [
            one.name
            for one in inspect.signature(function).parameters.values()
            if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        ]
    numbers = tuple(n for n, name in enumerate(names) if name in options.donate_argnames)
    return replace(options, donate_argnums=numbers)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One array (or number) among the dynamic inputs of a call."""

    path: str  # "args[0]['params']['w']" in the spelling of jax.tree_util.keystr
    argument: int | str  # position in the call as written, or keyword
    aval: Any  # jax.ShapeDtypeStruct
    value: Any


@dataclass(frozen=True)
class BoundCall:
    """A captured call with its static arguments separated from the leaves that the program receives."""

    call: CapturedCall
    static_positions: frozenset[int]
    static_names: frozenset[str]
    leaves: tuple[Leaf, ...]
    structure: Any  # of (dynamic args, dynamic kwargs)

    def with_leaves(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments for the user's function: `leaves` in place of the captured ones, static arguments as captured."""
        dynamic_args, dynamic_kwargs = jax.tree.unflatten(self.structure, leaves)
        remaining = iter(dynamic_args)
        args = tuple(
            value if position in self.static_positions else next(remaining)
            for position, value in enumerate(self.call.args)
        )
        kwargs = {
            name: value if name in self.static_names else dynamic_kwargs[name]
            for name, value in self.call.kwargs.items()
        }
        return args, kwargs

    def dynamic(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments for a compiled program, which receives no static ones."""
        return jax.tree.unflatten(self.structure, leaves)

    def donated(self, options: JitOptions) -> tuple[bool, ...]:
        """For each leaf, whether `options` donate it."""
        positions = {n + len(self.call.args) if n < 0 else n for n in options.donate_argnums}
        return tuple(
            leaf.argument in positions or leaf.argument in options.donate_argnames for leaf in self.leaves
        )


def bind(captured: CapturedFunction) -> BoundCall:
    """Separates the static arguments of the captured call. Raises StagingError if no call was captured."""
    call = captured.call
    if call is None:
        raise StagingError(captured.refused or "no call was captured")
    positions, names = _static(captured.function, captured.options, call)
    values = _without(call.args, call.kwargs, positions, names)
    aval_args, aval_kwargs = call.avals
    avals = _without(aval_args, aval_kwargs, positions, names)
    paths, structure = jax.tree_util.tree_flatten_with_path(values)
    shapes = jax.tree.leaves(avals, is_leaf=lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    if len(shapes) != len(paths):
        raise StagingError("the captured arguments and their shapes have different pytree structures")
    dynamic_positions = [n for n in range(len(call.args)) if n not in positions]
    leaves = []
    names_inside = compat.named_paths(values)
    for (path, value), inside, aval in zip(paths, names_inside, shapes, strict=True):
        inside_args = path[0].idx == 0
        argument = dynamic_positions[path[1].idx] if inside_args else path[1].key
        label = ("args" if inside_args else "kwargs") + f"[{argument!r}]" + inside
        leaves.append(Leaf(label, argument, _aval(value, aval), value))
    return BoundCall(call, positions, names, tuple(leaves), structure)


def _static(
    function: Callable[..., Any], options: JitOptions, call: CapturedCall
) -> tuple[frozenset[int], frozenset[str]]:
    """Positions and keywords of the call that jit treats as static, as jit infers one from the other."""
    positions = {n % len(call.args) for n in options.static_argnums if -len(call.args) <= n < len(call.args)}
    names = set(options.static_argnames)
    parameters: list[inspect.Parameter] = []
    if bool(options.static_argnums) != bool(
        options.static_argnames
    ):  # jit infers one from the other if only one is given
        with contextlib.suppress(TypeError, ValueError):
            parameters = list(inspect.signature(function).parameters.values())
    for position, parameter in enumerate(parameters):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            break
        static = parameter.name in names or position in options.static_argnums
        if static and position < len(call.args):
            positions.add(position)
        if static and parameter.name in call.kwargs:
            names.add(parameter.name)
    return frozenset(positions), frozenset(names & set(call.kwargs))


def _without(
    args: Sequence[Any], kwargs: dict[str, Any], positions: frozenset[int], names: frozenset[str]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (
        tuple(value for n, value in enumerate(args) if n not in positions),
        {name: value for name, value in kwargs.items() if name not in names},
    )


def _aval(value: Any, aval: Any) -> Any:
    if isinstance(aval, jax.ShapeDtypeStruct):
        canonical = jax.dtypes.canonicalize_dtype(aval.dtype, allow_extended_dtype=True)
        if canonical == aval.dtype:
            return aval
        # NumPy's float64 and int64 become 32 bits wide as arguments, unless x64 is enabled.
        return jax.ShapeDtypeStruct(aval.shape, canonical, sharding=aval.sharding, weak_type=aval.weak_type)
    known = jax.typeof(value)
    return jax.ShapeDtypeStruct(known.shape, known.dtype, weak_type=getattr(known, "weak_type", False))


def capture(
    function: Callable[..., Any], *args: Any, options: JitOptions | None = None, **kwargs: Any
) -> CapturedFunction:
    """A record of one manual call, like one that the capture of a run stores."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    bare = options or JitOptions()
    call = CapturedCall(args, kwargs, (args, kwargs))
    positions, names = _static(function, bare, call)

    def host(leaf: Any) -> Any:
        if isinstance(leaf, jax.Array) and not jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.extended):
            return np.array(leaf)
        return leaf

    def abstract(leaf: Any) -> Any:
        aval = jax.typeof(leaf)
        return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=getattr(aval, "weak_type", False))

    def over(mapping: Callable[[Any], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (
            tuple(arg if n in positions else jax.tree.map(mapping, arg) for n, arg in enumerate(args)),
            {name: arg if name in names else jax.tree.map(mapping, arg) for name, arg in kwargs.items()},
        )

    host_args, host_kwargs = over(host)
    return CapturedFunction(
        qualname=getattr(function, "__qualname__", repr(function)),
        path=code.co_filename if code else "<unknown>",
        line=code.co_firstlineno if code else 0,
        function=function,
        jitted=None,
        options=bare,
        call=CapturedCall(host_args, host_kwargs, over(abstract)),
        calls=1,
    )


@dataclass
class Staged:
    """One version for one call and target; each stage is computed on demand."""

    version: Version
    bound: BoundCall
    target: Target
    seconds: dict[str, float] = field(default_factory=dict)  # by stage: trace, lower, compile
    known: Any = None  # `inspection.jaxpr_facts.Traced` of an artefact, whose own jaxpr contains nothing
    donation_refused: list[str] = field(default_factory=list)  # warnings about useless donations

    @functools.cached_property
    def traced(self) -> Any:
        """`jax.stages.Traced`. Raises StagingError."""
        structs = [_placed(leaf.aval, self.target) for leaf in self.bound.leaves]
        args, kwargs = self.bound.with_leaves(structs)
        return self._stage("trace", lambda: _jitted(self.version, self.target).trace(*args, **kwargs))

    @functools.cached_property
    def lowered(self) -> Any:
        """`jax.stages.Lowered`. Raises StagingError."""
        traced = self.traced
        return self._stage("lower", traced.lower)

    @functools.cached_property
    def compiled(self) -> Any:
        """`jax.stages.Compiled`, never from a persistent cache. Raises StagingError."""
        lowered = self.lowered
        with compat.fresh_compiles():
            return self._stage("compile", lowered.compile)

    @property
    def jaxpr(self) -> Any:
        """The traced program."""
        return self.traced.jaxpr

    @property
    def compile_seconds(self) -> float:
        """Wall time of tracing, lowering and compiling."""
        self.compiled  # noqa: B018 - compiles
        return sum(self.seconds.values())

    def text(self, stage: str) -> str:
        """The program as text: stage is "jaxpr", "stablehlo" or "hlo" (optimised)."""
        if self.known is not None and stage in self.known.texts:
            return str(self.known.texts[stage])
        if stage == "jaxpr":
            return str(self.jaxpr)
        if stage == "stablehlo":
            return self.lowered.as_text()
        if stage == "hlo":
            return self.compiled.as_text() or ""
        raise ValueError(f"unknown stage {stage!r}: use jaxpr, stablehlo or hlo")

    @property
    def _argument_bytes(self) -> int:
        from jaxlint_runtime.lowering.avals import nbytes  # inspection imports this module

        return sum(nbytes(leaf.aval) for leaf in self.bound.leaves)

    def _stage(self, name: str, build: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                built = build()
        except Exception as error:
            refused = too_big(str(error), self._argument_bytes) if name == "compile" else None
            raise refused or StagingError(f"could not {name}: {first_line(error)}") from error
        self.seconds.setdefault(name, time.perf_counter() - start)
        self.donation_refused += [str(w.message) for w in caught if "donated" in str(w.message)]
        return built


def stage(version: Version, bound: BoundCall, target: Target) -> Staged:
    """A version for the captured call on a target; nothing is traced until needed."""
    return Staged(version, bound, target)


def first_line(error: BaseException) -> str:
    """An error as one line of bounded length."""
    text = str(error).strip().splitlines()
    line = f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
    return line if len(line) <= 300 else line[:297] + "..."


def _jitted(version: Version, target: Target) -> Any:
    options = version.options
    others = dict(options.others)
    if target.compile_only:
        # The shardings and devices of the run name devices that the topology lacks.
        for name in ("in_shardings", "out_shardings", "device", "backend"):
            others.pop(name, None)
    given: dict[str, Any] = {
        "static_argnums": options.static_argnums,
        "static_argnames": options.static_argnames,
        "donate_argnums": options.donate_argnums,
        "donate_argnames": options.donate_argnames,
    }
    others.update((name, value) for name, value in given.items() if value)
    return compat.jit(version.function, **others)


def _placed(aval: Any, target: Target) -> Any:
    """The shape with a sharding on the target: as captured if its devices are the target's, otherwise on one device."""
    sharding = getattr(aval, "sharding", None)
    if sharding is not None and not target.compile_only:
        if all(device.platform == target.devices()[0].platform for device in sharding.device_set):
            return aval
    if sharding is None and not target.compile_only and jax.process_count() > 1:
        return aval  # the same in all processes: it goes where the others are
    devices = target.devices()
    if target.compile_only and not target.single_chip:
        mesh = jax.sharding.Mesh(np.array(devices), ("devices",))
        place: Any = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    else:
        place = jax.sharding.SingleDeviceSharding(devices[0])
    return jax.ShapeDtypeStruct(
        aval.shape, aval.dtype, sharding=place, weak_type=getattr(aval, "weak_type", False)
    )


def placed(bound: BoundCall, values: Sequence[Any], target: Target) -> list[Any]:
    """Device arrays of `values` (one per leaf) on the target, never sharing memory with the host's copies."""
    arrays = []
    for leaf, value in zip(bound.leaves, values, strict=True):
        place = _placed(leaf.aval, target).sharding
        if isinstance(value, np.ndarray) and value.dtype != leaf.aval.dtype:
            value = value.astype(leaf.aval.dtype)
        arrays.append(jax.device_put(value, place, may_alias=False))
    return jax.block_until_ready(arrays)
