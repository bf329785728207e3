"""Models of libraries: what a function, object or method returns, and what it calls.

A model is a function of a `LibraryCall`. It is registered in a module of `jaxlint/libraries`, under a qualified name:

    @calls("flax.nnx.split")
    def split(call: LibraryCall) -> Value:
        ...

Names are those of `jaxlint.jaxapi.names.canonical`: one name for each thing, however a program imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from jaxlint.staging.evaluator.machine import Machine
from jaxlint.staging.values import UNKNOWN, Array, ExternalObject, Origin, StarArgument, Static, Value
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.copies import fresh
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import Stage, Why

NOTHING_MADE: Final = ExternalObject("")


@dataclass(slots=True, eq=False)
class LibraryCall(Call):
    """A call of something in a library, with the library object if it is a method call."""

    name: str
    machine: Machine  # for uses too rare to have a method here
    rest: Callable[[LibraryCall], Value]
    made: ExternalObject = field(default=NOTHING_MADE)  # the callee, or the owner of the method

    def first(self) -> Value | None:
        """The first argument, unless it is one of several unknown ones."""
        return self.args[0] if self.args and not isinstance(self.args[0], StarArgument) else None

    def otherwise(self) -> Value:
        """The result without this model: from the tables, or unknown."""
        return self.rest(self)

    def made_object(self) -> ExternalObject:
        """An object of the library that remembers its inputs."""
        return ExternalObject(self.name, self.args, self.kwargs, self.node)

    def made_with(self, position: int, name: str) -> Value | None:
        """An option that the callee was created with; a negative position is that of a keyword alone."""
        args, kwargs = self.made.args, self.made.kwargs
        return args[position] if 0 <= position < len(args) else kwargs.get(name)

    def array(
        self, inputs: Sequence[Value], *, role: str = "", name: str = "", like: Value | None = None
    ) -> Array:
        """An array computed from `inputs`, or created if there are none. It is a tracer if an input is or the stage
        says so.

        `name`: its name in a reason. `like`: the value whose shape and dtype it shares.
        """
        return self.machine.language.array_result(
            self.frame, list(inputs), self.node, role=role, name=name, like=like
        )

    def key(self, inputs: Sequence[Value], name: str, origin: str) -> Array:
        """A new PRNG key. `origin`: the words for where it comes from."""
        result = self.array(inputs, role="key", name=name)
        result.origin = Origin(origin)
        return result

    def opaque(self, inputs: Sequence[Value] | None = None) -> Value:
        """The result of an unknown call with these inputs; all arguments, if none are named."""
        return self.machine.language.opaque_call(
            list(self.inputs if inputs is None else inputs), self.node, self.frame
        )

    def run(self, function: Value, *args: Value) -> Value:
        """Calls a program function with these arguments in the current stage."""
        return self.run_all(function, args, {})

    def run_in(self, stage: Stage, function: Value, args: Iterable[Value], kwargs: dict[str, Value]) -> Value:
        """Calls a program function inside a stage."""
        return self.machine.staging.in_stage(function, stage, self.passing(list(args), kwargs))

    def run_all(self, function: Value, args: Sequence[Value], kwargs: dict[str, Value]) -> Value:
        """Like `run`, with positional arguments as a list and keyword arguments by name."""
        return self.machine.language.call_value(function, self.passing(list(args), kwargs))

    def builtin(self, name: str, args: Sequence[Value], kwargs: dict[str, Value] | None = None) -> Value:
        """The result of the builtin `name`."""
        return self.machine.language.call_builtin(name, self.passing(list(args), kwargs or {}))

    def shapes_of(self, function: Value, args: Sequence[Value], kwargs: dict[str, Value]) -> Value:
        """`jax.eval_shape(function, *args, **kwargs)`."""
        return self.machine.staging.shapes_of(function, self.passing(list(args), kwargs))

    def element_of(self, value: Value) -> Value:
        """The value of each element when iterating over a value."""
        return self.machine.language.element_of(value, self.node, self.frame)

    def staged(self, value: Value, why: Why, certain: bool = True, keeps_python: bool = False) -> Value:
        """The value as code inside a stage sees it: its arrays are tracers. `keeps_python`: its Python numbers are not."""
        return self.machine.staging.to_staged(value, why, certain, keeps_python)

    def fresh(self, value: Value) -> Value:
        """The same value with a new identity."""
        return fresh(value)

    def replaced(self, holder: Value, fields: dict[str, Value]) -> Value:
        """A copy of an object with some of its fields replaced."""
        return self.machine.language.replace_fields(holder, fields)

    def ask_leaf(self, tree: Value) -> None:
        """Calls the function `is_leaf`, if the call passes one, with the nodes of a tree."""
        self.machine.staging.ask_leaf(tree, self.kwargs, self.node, self.frame)

    def reason(self, api: str, function: Value) -> Why:
        """The reason why code inside `api` is traced: "`f` is passed to `api`"."""
        return self.machine.staging.body_why(api, function, self.node, self.frame)

    def emit(self, kind: str, event: Any) -> None:
        """Emits an event to the rules."""
        self.machine.emit(kind, event)


Model = Callable[[LibraryCall], Value]
_F = TypeVar("_F", bound=Callable[..., Any])
_M = TypeVar("_M", bound=Callable[..., Any])


class Models(Generic[_F]):
    """The models of one kind, by qualified name. `jax.random.*` covers every name of that family without a model of
    its own."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._models: dict[str, _F] = {}
        self._families: dict[tuple[str, str], _F] = {}
        self._found: dict[str, _F | None] = {}

    def __call__(self, *names: str) -> Callable[[_M], _M]:
        """Decorates the model for these names. Raises ValueError if one of them already has a model."""

        def register(model: _M) -> _M:
            for name in names:
                before, star, after = name.partition("*")
                key, models = (
                    ((before, after.rpartition("*")[2]), self._families) if star else (name, self._models)
                )
                if key in models:
                    raise ValueError(f"two models of the {self.kind} {name}")
                models[key] = model  # type: ignore[index, assignment]
            return model

        return register

    def get(self, name: str) -> _F | None:
        """The model of a name: its own, or that of the closest family."""
        own = self._models.get(name)
        if own is not None:
            return own
        try:
            return self._found[name]
        except KeyError:
            fitting = [key for key in self._families if name.startswith(key[0]) and name.endswith(key[1])]
            found = (
                self._families[max(fitting, key=lambda key: len(key[0]) + len(key[1]))] if fitting else None
            )
            self._found[name] = found
            return found

    def __contains__(self, name: str) -> bool:
        """Whether a name has its own model."""
        return name in self._models

    def names(self) -> Iterable[str]:
        """The names with their own models."""
        return self._models.keys()


calls: Models[Model] = Models("function")  # calls of a library's functions and classes
calls_of_made: Models[Model] = Models("object")  # calls of their results
methods: Models[Model] = Models("method")  # calls of methods: "numpyro.infer.MCMC.run"
attributes: Models[Model] = Models("attribute")  # attributes, which have no arguments


@dataclass(frozen=True, slots=True, eq=False)
class Entered:
    """A library's context manager when a `with` statement enters it. `name`: its own name, or the program's spelling."""

    name: str
    value: Value
    frame: Frame
    machine: Machine


contexts: Models[Callable[[Entered], AbstractContextManager[object]]] = Models("context manager")


def nothing(call: LibraryCall) -> Value:
    """The model of functions that are called for their effect: they return None."""
    return Static(None)


def first_argument(call: LibraryCall) -> Value:
    """The model of functions that return their first argument."""
    return call.args[0] if call.args else UNKNOWN
