"""Proxies for `jax.jit` and for its results, which report each call to the recorder."""

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxlint_runtime.capture.recorder import FunctionRecord, Recorder
    from jaxlint_runtime.model import JitOptions


class JitProxy:
    """Behaves as the jitted function that it holds, and reports its calls.

    The methods of `jax.stages.Wrapped` are written out, since `isinstance` with that protocol looks for them on the
    class. Everything else is forwarded. Assigned attributes stay on the proxy.
    """

    def __init__(
        self,
        jitted: Any,
        function: Any,
        options: JitOptions,
        record: FunctionRecord | None,
        recorder: Recorder,
    ) -> None:
        self._jaxlint_jitted = jitted
        self._jaxlint_function = function
        self._jaxlint_record = record
        self._jaxlint_call = recorder.call
        self._jaxlint_options = options
        self._jaxlint_adopted: dict[Any, FunctionRecord] = {}  # if `record` depends on a static argument
        # The number of this wrapper among those of its function.
        self._jaxlint_number = 1 if record is None else record.wrappers
        self._jaxlint_compiled = False
        for name in ("__module__", "__name__", "__qualname__", "__doc__", "__wrapped__", "__annotations__"):
            try:
                setattr(self, name, getattr(jitted, name))
            except AttributeError:  # partials and callable objects lack some
                continue

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._jaxlint_call(self, args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        # a half-built proxy: copy and pickle read attributes before __init__
        if name.startswith("_jaxlint_"):
            raise AttributeError(name)
        return getattr(self._jaxlint_jitted, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        # another process receives the jitted function itself, without the recorder
        return operator.itemgetter(0), ((self._jaxlint_jitted,),)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __repr__(self) -> str:
        return repr(self._jaxlint_jitted)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self._jaxlint_jitted.lower(*args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        return self._jaxlint_jitted.trace(*args, **kwargs)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        return self._jaxlint_jitted.eval_shape(*args, **kwargs)

    def clear_cache(self) -> None:
        self._jaxlint_jitted.clear_cache()


def plain(function: Any) -> Any:
    """The jitted function inside a proxy; anything else unchanged."""
    return function._jaxlint_jitted if type(function) is JitProxy else function


def jit_proxy(
    original: Callable[..., Any], recorder: Recorder, read: Callable[..., dict[str, Any]] | None = None
) -> Callable[..., Any]:
    """The replacement of `jax.jit` (or `pjit`, `pmap`): the same arguments, decorator factories included.

    `read` converts its other arguments to options of `jax.jit`.
    """

    def jit(*args: Any, **options: Any) -> Any:
        if not args:
            made = original(**options)  # raises for bad options like JAX
            given = options if read is None else read(**options)
            return lambda function: wrap(made(plain(function)), function, given, sys._getframe(1))
        jitted = original(plain(args[0]), *args[1:], **options)
        return wrap(
            jitted, args[0], options if read is None else read(*args[1:], **options), sys._getframe(1)
        )

    def wrap(jitted: Any, function: Any, options: dict[str, Any], frame: types.FrameType) -> Any:
        return recorder.wrap(jitted, plain(function), options, frame)

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(jit, name, getattr(original, name))
    jit.__wrapped__ = original  # type: ignore[attr-defined]
    return jit
