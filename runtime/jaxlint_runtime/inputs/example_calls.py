"""Calls functions of a program with examples, under the hooks of the capture, in place of running the program."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from jaxlint_runtime.inputs.dimensions import Dimensions, NoExample

_JITTERS = frozenset({"jax", "jaxlib", "flax", "equinox", "jaxlint_runtime"})
_CALLS = 3  # of each function: one compiles, the others are timed


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class ExampleRun:
    """`file` is the examples file, if there is one; `dims` are sizes of named dimensions.

    After `run`, `problems` lists in one line each what could not be called.
    """

    def __init__(self, kind: str, target: str, file: str | None, dims: Mapping[str, int]) -> None:
        self._kind, self._target, self._file = kind, target, file
        self._dims = Dimensions(dims)
        self.problems: list[str] = []

    def run(self) -> tuple[int, str]:
        """Imports the program and calls its functions; returns an exit status and a description."""
        from jaxlint_runtime.inputs.examples_file import load_program

        program = load_program(self._kind, self._target)
        called = [call.name for call in self._calls(program) if self._tried(call)]
        for name in self._dims.unused():
            self.problems.append(f"--dim {name}: no example and no annotation has this dimension")
        what = f"called {', '.join(called)}" if called else "called nothing"
        with_what = "the examples of " + self._file if self._file else "arguments of the annotated shapes"
        return (0 if called else 1), f"{what}, with {with_what}; the program was only imported"

    def _calls(self, program: ModuleType) -> Iterator[_Call]:
        """The calls: those in the examples file, then jitted functions with shapes in their annotations."""
        from jaxlint_runtime.inputs import jaxtyping_shapes
        from jaxlint_runtime.inputs.examples_file import load_examples

        named = set()
        if self._file is not None:
            try:
                examples = load_examples(self._file, program)
            except NoExample as problem:
                self.problems.append(str(problem))
                return
            for example in examples:
                named.add(id(example.function))
                call = self._made(example.name, functools.partial(self._example, example))
                if call is not None:
                    yield call
        for name, value in list(vars(program).items()):
            if id(value) not in named and is_jitted(value) and jaxtyping_shapes.is_annotated(value):
                call = self._made(name, functools.partial(self._annotated, name, value))
                if call is not None:
                    yield call

    def _made(self, name: str, make: Callable[[], _Call]) -> _Call | None:
        """The call, or None and a problem."""
        from jaxlint_runtime.lowering.function_versions import first_line

        try:
            return make()
        except NoExample as problem:
            self.problems.append(f"{name}: {problem}")
        except Exception as error:  # the user's code
            self.problems.append(f"{name}: its example cannot be built: {first_line(error)}")
        return None

    def _example(self, example: Any) -> _Call:
        from jaxlint_runtime.inputs.framework_modules import forward

        args, kwargs = example.build(self._dims)
        found = forward(example.function, args, kwargs)
        if found is not None:
            return _Call(example.name, found[0], found[1], {})
        if not callable(example.function):
            raise NoExample(f"is a {type(example.function).__name__}, which cannot be called")
        return _Call(example.name, example.function, args, kwargs)

    def _annotated(self, name: str, function: Any) -> _Call:
        from jaxlint_runtime.inputs import jaxtyping_shapes

        return _Call(name, function, *jaxtyping_shapes.arguments(function, self._dims))

    def _tried(self, call: _Call) -> bool:
        """Calls a function a few times with fresh arguments; returns whether that went well."""
        import jax

        from jaxlint_runtime.inputs.drawn_values import any_shapes, drawn, finite
        from jaxlint_runtime.lowering.function_versions import first_line

        try:
            call = self._jitted(call)
            unknown = any_shapes((call.args, call.kwargs))
            positive = False
            for number in range(_CALLS):
                args, kwargs = _copied(drawn((call.args, call.kwargs), seed=0, positive=positive))
                result = jax.block_until_ready(call.function(*args, **kwargs))
                # square roots and logarithms of drawn values
                positive = positive or (number == 0 and unknown and not finite(result))
        except NoExample as problem:
            self.problems.append(f"{call.name}: {problem}")
            return False
        except Exception as error:
            self.problems.append(f"{call.name}: the call with the example failed: {first_line(error)}")
            return False
        return True

    def _jitted(self, call: _Call) -> _Call:
        """The same call of a jitted function, with the `jit` that its arguments need. Raises NoExample."""
        import jax

        if is_jitted(call.function):
            _refuse_unseen(call.function)
            return call
        arguments = [*call.args, *call.kwargs.values()]
        for name, attribute in (("equinox", "filter_jit"), ("flax.nnx", "jit")):
            framework = sys.modules.get(name)
            if framework is not None and any(isinstance(value, framework.Module) for value in arguments):
                return _Call(call.name, getattr(framework, attribute)(call.function), call.args, call.kwargs)
        static_args = tuple(n for n, value in enumerate(call.args) if _is_static(value))
        static_names = tuple(name for name, value in call.kwargs.items() if _is_static(value))
        options: dict[str, Any] = {}
        if static_args:
            options["static_argnums"] = static_args
        if static_names:
            options["static_argnames"] = static_names
        jitted = jax.jit(call.function, **options)
        _refuse_unseen(jitted)
        return _Call(call.name, jitted, call.args, call.kwargs)


def is_jitted(value: Any) -> bool:
    """Whether a value is the result of `jax.jit` or of a framework's `jit`."""
    kind = type(value)
    return (
        callable(value)
        and not isinstance(value, FunctionType | type)
        and hasattr(value, "__wrapped__")
        and kind.__module__.partition(".")[0] in _JITTERS
        and not kind.__name__.startswith("custom_")
    )


def _refuse_unseen(jitted: Any) -> None:
    """Raises NoExample for functions that the capture does not see: it only counts those in the user's files."""
    from jaxlint_runtime.capture.jit_proxy import JitProxy

    if type(jitted).__module__.partition(".")[0] in ("equinox", "flax"):
        return
    if not isinstance(jitted, JitProxy) or jitted._jaxlint_record is None:
        raise NoExample(
            "is not defined in the program's own files; --include-packages also captures installed code"
        )


def _is_static(value: Any) -> bool:
    """Whether jit cannot trace an argument: a flag, a name, a function, or a container of those."""
    import jax

    leaves = jax.tree.leaves(value)
    return isinstance(value, bool) or any(
        isinstance(leaf, str | type) or (callable(leaf) and not hasattr(leaf, "dtype")) for leaf in leaves
    )


def _copied(tree: Any) -> Any:
    """The tree with arrays that no earlier call has donated."""
    import jax

    return jax.tree.map(lambda leaf: leaf.copy() if isinstance(leaf, jax.Array) else leaf, tree)
