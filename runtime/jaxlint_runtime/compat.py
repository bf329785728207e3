"""Every private JAX name that the runtime needs, and every difference between versions.

Written for jax 0.10 (where a traced program is a ClosedJaxpr around a Jaxpr) and 0.11 or later (where one class is
both). tests/runtime/test_compat.py holds a canary for each function here, to be run on every supported version.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax._src import api as _api
from jax._src import core as _jax_core
from jax._src import named_sharding as _named_sharding
from jax._src import source_info_util as _source_info
from jax._src import xla_bridge as _xla_bridge
from jax.experimental.compilation_cache import compilation_cache as _compilation_cache
from jax.extend import core as _core

Literal = _core.Literal
Var = _core.Var
DropVar = _core.DropVar
UnspecifiedSharding = _named_sharding.UnspecifiedValue  # if a jit inside the program states no sharding

jit = _api.jit  # the capture replaces the attribute `jax.jit`; this is JAX's original


@dataclass(frozen=True, slots=True)
class OpenJaxpr:
    """A jaxpr with its constants separate, the same on every version."""

    constvars: Sequence[Any]
    consts: Sequence[Any]  # empty if the jaxpr is a body whose constants are passed as arguments
    invars: Sequence[Any]
    outvars: Sequence[Any]
    eqns: Sequence[Any]


def is_jaxpr(value: Any) -> bool:
    """Whether `value` is a jaxpr of either kind."""
    return isinstance(value, (_core.Jaxpr, _core.ClosedJaxpr))


def open_jaxpr(jaxpr: Any) -> OpenJaxpr:
    """The parts of a Jaxpr or a ClosedJaxpr."""
    inner = jaxpr.jaxpr if hasattr(jaxpr, "jaxpr") else jaxpr
    consts = jaxpr.consts if hasattr(jaxpr, "consts") else ()
    return OpenJaxpr(inner.constvars, tuple(consts), inner.invars, inner.outvars, inner.eqns)


def inner_jaxprs(eqn: Any) -> list[tuple[str, Any]]:
    """The jaxprs among an equation's parameters, with the parameter's name; branches one by one."""
    found = []
    for name, value in eqn.params.items():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if is_jaxpr(item):
                found.append((name, item))
    return found


def bind(eqn: Any, values: Sequence[Any], params: dict[str, Any] | None = None) -> list[Any]:
    """Evaluates or traces one equation on `values`, keeping its name stack, source line and context.

    `params` replaces its parameters.
    """
    params = eqn.primitive.get_bind_params(eqn.params if params is None else params)
    stack = _source_info.current_name_stack() + eqn.source_info.name_stack
    with _source_info.user_context(eqn.source_info.traceback, name_stack=stack), eqn.ctx.manager:
        out = eqn.primitive.bind(*values, **params)
    return list(out) if eqn.primitive.multiple_results else [out]


def scan_counts(eqn: Any) -> tuple[int, int]:
    """How many operands of a scan equation are loop constants, and how many are carried."""
    if "num_carry" in eqn.params:
        return eqn.params["num_consts"], eqn.params["num_carry"]
    consts, carry, _ = eqn.params["ft_in"].update(range(len(eqn.invars))).unpack()  # jax 0.12
    return len(list(consts)), len(list(carry))


def user_frames(eqn: Any) -> list[tuple[str, int, str]]:
    """(file, line, function) of the user's frames behind an equation, innermost first."""
    return [
        (frame.file_name, frame.start_line, frame.function_name)
        for frame in _source_info.user_frames(eqn.source_info.traceback)
    ]


def user_places(eqn: Any) -> list[tuple[str, int, int, int, int]]:
    """The expressions of the user behind an equation, innermost first: file, first line and column, last line and column."""
    return [
        (one.file_name, one.start_line, one.start_column, one.end_line, one.end_column)
        for one in _source_info.user_frames(eqn.source_info.traceback)
    ]


def callable_alone(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that can be traced outside the call that jitted it.

    The function that `flax.nnx.jit` passes to `jax.jit` needs a context that its wrapper opens around each call.
    """
    tag = getattr(function, "ctxtag", None)
    if tag is None or not type(function).__module__.startswith("flax.nnx"):
        return function
    from flax import nnx

    @functools.wraps(function)
    def within(*args: Any, **kwargs: Any) -> Any:
        with nnx.update_context(tag):
            return function(*args, **kwargs)

    return within


def named_paths(values: Any) -> list[str]:
    """The path of each leaf of (args, kwargs) inside its argument, as `jax.tree_util.keystr` writes it; a result is
    one argument.

    `flax.nnx.jit` passes modules as lists of arrays with a description of the module; the paths are those in
    `nnx.state(module)`.
    """
    found: list[str] = []
    for value in (*values[0], *(values[1][name] for name in sorted(values[1]))):
        inside = jax.tree_util.tree_flatten_with_path(value, is_leaf=_is_module)[0]
        for path, leaf in inside:
            before = jax.tree_util.keystr(path)
            found += [before + name for name in _paths_of_module(leaf)] if _is_module(leaf) else [before]
    return found


def _is_module(value: Any) -> bool:
    """Whether it is the flattened form of a module in `flax.nnx.jit`."""
    return type(value).__name__ == "NodeStates" and type(value).__module__.startswith("flax.nnx")


def _paths_of_module(value: Any) -> list[str]:
    plain = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(value)[0]]
    state = _state_of_module(jax.tree.unflatten(jax.tree.structure(value), range(len(plain))))
    named = {leaf: jax.tree_util.keystr(path) for path, leaf in jax.tree_util.tree_leaves_with_path(state)}
    return [named.get(number, plain[number]) for number in range(len(plain))]


def _state_of_module(value: Any) -> Any:
    """`nnx.state` of a flattened module in `flax.nnx.jit`; the value itself if it is unknown."""
    try:
        from flax import nnx

        return nnx.state(nnx.merge(value.graphdef, *value.states))
    except Exception:  # a module that shares parts with another argument cannot be rebuilt alone
        return value


def with_modules(values: Any) -> Any:
    """The same tree with the state of each `flax.nnx` module in place of its flattened form."""
    return jax.tree.map(
        lambda value: _state_of_module(value) if _is_module(value) else value, values, is_leaf=_is_module
    )


@contextlib.contextmanager
def fresh_compiles() -> Iterator[None]:
    """Compiles inside without the persistent compilation cache, so that compile times are those of a cold start."""
    enabled = jax.config.jax_enable_compilation_cache  # type: ignore[attr-defined]
    if not enabled or not jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        yield
        return
    jax.config.update("jax_enable_compilation_cache", False)
    _compilation_cache.reset_cache()  # JAX caches whether the cache is in use; this resets it
    try:
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", enabled)
        _compilation_cache.reset_cache()


_hook = jax.make_user_context(None)
_hook_numbers = itertools.count(1)


@contextlib.contextmanager
def replaced_vjp(replacement: Callable[..., Any]) -> Iterator[None]:
    """Redirects every reverse-mode derivative taken inside to `replacement(vjp, fun, *primals, **options)`.

    `jax.grad`, `value_and_grad`, `vjp` and functions built on them (such as those of flax and equinox) look this one
    function up at each call, so it does not matter when or how the program imported them. The block has its own trace
    context: nothing traced inside is taken from JAX's caches or stored there.
    """
    original = _api.vjp
    public = jax.vjp

    def hooked(fun: Callable[..., Any], *primals: Any, **options: Any) -> Any:
        return replacement(original, fun, *primals, **options)

    with _hook(next(_hook_numbers)):
        _api.vjp = hooked
        jax.vjp = hooked
        try:
            yield
        finally:
            _api.vjp = original
            jax.vjp = public


# ---- for the capture (jaxlint_runtime.capture) ----


def array_type() -> type:
    """The class of concrete arrays. Finding it creates no array, so no backend starts."""
    from jax._src.array import ArrayImpl

    return ArrayImpl


def has_backend() -> bool:
    """Whether a backend was started, with its threads."""
    return bool(_xla_bridge.backends_are_initialized())


def is_tracing() -> bool:
    """Whether this thread is inside a transformation: under jit, grad, vmap ... Takes about 0.3 us."""
    return not _jax_core.trace_state_clean()


# ---- what compiling a program in another process needs (jaxlint_runtime.sharding) ----


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What JAX passes to the compiler, in a form that another process with the same versions can read."""

    module: bytes  # MLIR bytecode
    options: bytes
    devices: tuple[int, ...]  # their ids, in order


class _Passed(Exception):
    """Ends a compile before it begins."""


def compile_request(lowered: Any, options: dict[str, Any] | None) -> CompileRequest | None:
    """What compiling a `jax.stages.Lowered` would pass to the compiler; None if that refers to this process, as callbacks do."""
    from jax._src import compiler
    from jax._src.interpreters import mlir

    compile_one = compiler.compile_or_get_cached
    found: list[CompileRequest | None] = []

    def record(
        backend: Any, computation: Any, devices: Any, given: Any, host_callbacks: Any, *rest: Any, **more: Any
    ) -> Any:
        ids = tuple(int(device.id) for device in devices.flat)
        module = mlir.module_to_bytecode(computation)
        found.append(None if host_callbacks else CompileRequest(module, given.SerializeAsString(), ids))
        raise _Passed

    compiler.compile_or_get_cached = record  # type: ignore[assignment]
    try:
        lowered.compile(compiler_options=options)
    except _Passed:
        pass
    finally:
        compiler.compile_or_get_cached = compile_one
    return found[0]


def compile_as_requested(request: CompileRequest, devices: Sequence[Any]) -> Any:
    """Compiles for those of `devices` that the request names. The result tells its text and costs like a `jax.stages.Compiled`."""
    from jax._src import compiler, stages
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir

    by_id = {device.id: device for device in devices}
    chosen = tuple(by_id[number] for number in request.devices)
    with mlir.make_ir_context():
        executable = compiler.backend_compile_and_load(
            chosen[0].client,
            ir.Module.parse(request.module),
            xla_client.DeviceList(chosen),
            xla_client.CompileOptions.ParseFromString(request.options),
            [],
        )

    class Compiled(stages.Executable):
        def xla_extension_executable(self) -> Any:
            return executable

    return Compiled()


# ---- what the order of several processes needs (jaxlint_runtime.lockstep) ----


class LaunchHooks:
    """Reports each compile, and each launch of programs of interest.

    Compiles and launches go through one place each. JAX keeps known calls in C++, which bypasses Python.
    `compiling` receives the name, module and devices before a compile; a program for which it returns a token
    is not kept in C++. `compiled` receives the token, or None, and the executable, None if the compile
    failed; `launching` receives the token before each call, `launched` the results. Programs without a token
    run at full speed.
    """

    def __init__(
        self,
        compiling: Callable[[str, Any, Sequence[Any]], Any],
        compiled: Callable[[Any, Any], None],
        launching: Callable[[Any], None],
        launched: Callable[[Any], None],
    ) -> None:
        self._compiling, self._compiled = compiling, compiled
        self._launching, self._launched = launching, launched
        self._told: dict[int, tuple[Any, Any]] = {}  # by id of the executable, which is kept alive

    def install(self) -> None:
        """Watch from now on."""
        from jax._src import compiler, pjit
        from jax._src.interpreters import pxla

        compile_one = compiler.compile_or_get_cached
        fast_data = pjit._get_fastpath_data
        execute = pxla.ExecuteReplicated.__call__
        ahead = pxla.MeshExecutable.create_cpp_call

        def compile_or_get_cached(
            backend: Any, computation: Any, devices: Any, *args: Any, **kwargs: Any
        ) -> Any:
            name = computation.operation.attributes["sym_name"].value
            token, executable = self._compiling(name, computation, list(devices.flat)), None
            try:
                executable = compile_one(backend, computation, devices, *args, **kwargs)
            finally:
                self._compiled(token, executable)
            if token is not None:
                self._told[id(executable)] = executable, token
            return executable

        def get_fastpath_data(executable: Any, *args: Any, **kwargs: Any) -> Any:
            if id(getattr(executable, "xla_executable", None)) in self._told:
                return None
            return fast_data(executable, *args, **kwargs)

        def call(replicated: Any, *args: Any) -> Any:
            told = self._told.get(id(replicated.xla_executable))
            if told is None:
                return execute(replicated, *args)
            self._launching(told[1])
            results = execute(replicated, *args)
            self._launched(results)
            return results

        def create_cpp_call(executable: Any, *args: Any, **kwargs: Any) -> Any:
            if id(executable.xla_executable) in self._told:
                return None
            return ahead(executable, *args, **kwargs)

        compiler.compile_or_get_cached = compile_or_get_cached
        pjit._get_fastpath_data = get_fastpath_data
        pxla.ExecuteReplicated.__call__ = call  # type: ignore[method-assign]
        pxla.MeshExecutable.create_cpp_call = create_cpp_call  # type: ignore[method-assign,assignment]


def on_initialize(
    done: Callable[[int, int], None],
    given: dict[str, Any] | None = None,
    asked: Callable[[int | None], None] = lambda processes: None,
) -> None:
    """Calls `done(process, processes)` when `jax.distributed.initialize` returns, and `asked(processes)`
    before it waits for others.

    `given` replaces the program's arguments, except its time limits.
    """
    from jax._src import distributed

    initialize = distributed.State.initialize
    signature = inspect.signature(initialize)

    def joined(state: Any, *args: Any, **kwargs: Any) -> None:
        own = signature.bind(state, *args, **kwargs).arguments
        asked(own.get("num_processes"))
        if given is None:
            initialize(state, *args, **kwargs)
        else:
            times = {name: value for name, value in own.items() if name.endswith(("_timeout", "_seconds"))}
            initialize(state, **given, **times)
        done(int(state.process_id), int(state.num_processes))

    distributed.State.initialize = joined  # type: ignore[assignment]


# ---- what proofs across processes need (jaxlint_runtime.across) ----


def process_of() -> tuple[int, int]:
    """The number of this process, and the number of processes; (0, 1) if `jax.distributed.initialize` was not called."""
    from jax._src import distributed

    state = distributed.global_state
    return (int(state.process_id), int(state.num_processes or 1)) if state.client is not None else (0, 1)


def put_shared(key: str, value: str) -> None:
    """Stores a value for all processes, once."""
    from jax._src import distributed

    distributed.global_state.client.key_value_set(key, value)  # type: ignore[union-attr]


def get_shared(key: str, seconds: float) -> str | None:
    """The value that a process has stored; None if there is none within so many seconds."""
    from jax._src import distributed

    try:
        found = distributed.global_state.client.blocking_key_value_get(key, max(1, int(seconds * 1000)))  # type: ignore[union-attr]
    except Exception as error:
        if "DEADLINE_EXCEEDED" in str(error):
            return None
        raise
    return str(found)


def stay_connected() -> Callable[[], None]:
    """From now on the program cannot end its connection to the other processes. Returns a function that allows it again."""
    from jax._src import distributed

    shutdown = distributed.State.shutdown

    def free() -> None:
        distributed.State.shutdown = shutdown  # type: ignore[method-assign]

    distributed.State.shutdown = lambda state: None  # type: ignore[method-assign]
    return free
