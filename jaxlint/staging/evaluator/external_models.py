"""What the evaluator asks of a library: what one of its functions, objects or methods gives, and what it calls.

A model is a function of a `LibraryCall`. It stands in a module of `jaxlint/libraries`, under the qualified name that it is for:

    @calls("flax.nnx.split")
    def split(call: LibraryCall) -> Value:
        ...

Names are those of `jaxlint.jaxapi.names.canonical`: one for each thing, however a program imports it.
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
    """A call of something of a library: of what, and of which object of the library, if it is one's."""

    name: str
    machine: Machine  # for what is asked too seldom to have a method here
    rest: Callable[[LibraryCall], Value]
    made: ExternalObject = field(default=NOTHING_MADE)  # what is called, or has the method

    def first(self) -> Value | None:
        """The first argument, unless it is one of several that are not known."""
        return self.args[0] if self.args and not isinstance(self.args[0], StarArgument) else None

    def otherwise(self) -> Value:
        """What it would give without this model: by the tables, or as something unknown."""
        return self.rest(self)

    def made_object(self) -> ExternalObject:
        """An object of the library, which remembers what it was made of."""
        return ExternalObject(self.name, self.args, self.kwargs, self.node)

    def array(
        self, inputs: Sequence[Value], *, role: str = "", name: str = "", like: Value | None = None
    ) -> Array:
        """An array that is computed of `inputs`, or made where it is none: a tracer where they or the stage say so.

        `name`: what a reason calls it. `like`: what it shares its shape and dtype with.
        """
        return self.machine.language.array_result(
            self.frame, list(inputs), self.node, role=role, name=name, like=like
        )

    def key(self, inputs: Sequence[Value], name: str, origin: str) -> Array:
        """A random key of its own. `origin`: what is said of where it comes from."""
        result = self.array(inputs, role="key", name=name)
        result.origin = Origin(origin)
        return result

    def opaque(self, inputs: Sequence[Value] | None = None) -> Value:
        """What a call gives of which nothing is known, for these inputs: all arguments, if none are named."""
        return self.machine.language.opaque_call(
            list(self.inputs if inputs is None else inputs), self.node, self.frame
        )

    def run(self, function: Value, *args: Value) -> Value:
        """Calls a function of the program with these arguments, here and now."""
        return self.run_all(function, args, {})

    def run_in(self, stage: Stage, function: Value, args: Iterable[Value], kwargs: dict[str, Value]) -> Value:
        """Calls a function of the program inside a stage."""
        return self.machine.staging.in_stage(function, stage, self.passing(list(args), kwargs))

    def run_all(self, function: Value, args: Sequence[Value], kwargs: dict[str, Value]) -> Value:
        """As `run`, where the arguments come as a list and by name."""
        return self.machine.language.call_value(function, self.passing(list(args), kwargs))

    def builtin(self, name: str, args: Sequence[Value], kwargs: dict[str, Value] | None = None) -> Value:
        """What the builtin `name` gives."""
        return self.machine.language.call_builtin(name, self.passing(list(args), kwargs or {}))

    def shapes_of(self, function: Value, args: Sequence[Value], kwargs: dict[str, Value]) -> Value:
        """`jax.eval_shape(function, *args, **kwargs)`."""
        return self.machine.staging.shapes_of(function, self.passing(list(args), kwargs))

    def element_of(self, value: Value) -> Value:
        """What iterating over a value gives."""
        return self.machine.language.element_of(value, self.node, self.frame)

    def staged(self, value: Value, why: Why, certain: bool = True, keeps_python: bool = False) -> Value:
        """A value as it is inside a stage: its arrays are tracers. `keeps_python`: its Python numbers are none."""
        return self.machine.staging.to_staged(value, why, certain, keeps_python)

    def fresh(self, value: Value) -> Value:
        """The same value with an identity of its own."""
        return fresh(value)

    def replaced(self, holder: Value, fields: dict[str, Value]) -> Value:
        """A copy of an object with some of its fields replaced."""
        return self.machine.language.replace_fields(holder, fields)

    def ask_leaf(self, tree: Value) -> None:
        """Calls the function `is_leaf`, if one is given, with the nodes of a tree."""
        self.machine.staging.ask_leaf(tree, self.kwargs, self.node, self.frame)

    def reason(self, api: str, function: Value) -> Why:
        """Why what runs inside of `api` is staged: "`f` is passed to `api`", as it is told."""
        return self.machine.staging.body_why(api, function, self.node, self.frame)

    def emit(self, kind: str, event: Any) -> None:
        """Tells the rules."""
        self.machine.emit(kind, event)


Model = Callable[[LibraryCall], Value]
_F = TypeVar("_F", bound=Callable[..., Any])
_M = TypeVar("_M", bound=Callable[..., Any])


class Models(Generic[_F]):
    """The models of one kind, by qualified name. `jax.random.*` stands for all of that family that have none of their own."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._models: dict[str, _F] = {}
        self._families: dict[tuple[str, str], _F] = {}
        self._found: dict[str, _F | None] = {}

    def __call__(self, *names: str) -> Callable[[_M], _M]:
        """Decorates the model of what has these names. Raises ValueError where one of them has a model already."""

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
        """Whether a name has a model of its own."""
        return name in self._models

    def names(self) -> Iterable[str]:
        """The names that have models of their own."""
        return self._models.keys()


calls: Models[Model] = Models("function")  # of a function or class of a library
calls_of_made: Models[Model] = Models("object")  # of calls of what that function or class gave
methods: Models[Model] = Models("method")  # of its methods: "numpyro.infer.MCMC.run"
attributes: Models[Model] = Models("attribute")  # of its attributes, which have no arguments


@dataclass(frozen=True, slots=True, eq=False)
class Entered:
    """A context manager of a library as a `with` statement enters it. `name`: its own, or how the program spells it."""

    name: str
    value: Value
    frame: Frame
    machine: Machine


contexts: Models[Callable[[Entered], AbstractContextManager[object]]] = Models("context manager")


def nothing(call: LibraryCall) -> Value:
    """Of what is called for its effect: it gives None."""
    return Static(None)


def first_argument(call: LibraryCall) -> Value:
    """Of what gives its first argument back."""
    return call.args[0] if call.args else UNKNOWN
