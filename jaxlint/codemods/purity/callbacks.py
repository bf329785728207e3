"""Callbacks of library objects: the program's functions and objects that they were created with.

    def clip(limit):
        def update(grads, state, params=None):
            if optax.global_norm(grads) > limit: ...
        return optax.GradientTransformation(init, update)

optimizer = optax.chain(clip(1.0), optax.sgd(schedule))

`optimizer.update` calls both `update` and `schedule`. Their effects, reads and results count as if they were at the
call of `optimizer.update`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jaxlint.codemods.purity.values import Fn, Inst, Made, Method, Value, Values, Wrapped, leaves_of

MADE_OF_FUNCTIONS = (
    "optax.GradientTransformation",
    "optax.GradientTransformationExtraArgs",
    "optax.stateless",
)
# Optimisers whose state shares buffers with the initial parameters, or holds one buffer twice.
SHARING = ("optax.contrib.", "optax.lbfgs", "optax.lookahead")


def handed_over(given: Iterable[Values]) -> Values:
    """The arguments of a library object that it may call, and other objects that may."""
    return frozenset(
        value
        for values in given
        for value in leaves_of(values)
        if isinstance(value, (Fn, Wrapped, Inst))
        or (isinstance(value, Made) and (value.given or value.name.startswith(SHARING)))
    )


def maker_of(callee: Value) -> Made | None:
    """The library object that is called, or whose method is."""
    owner = callee.receiver if isinstance(callee, Method) else callee
    return owner if isinstance(owner, Made) else None


def called_back(made: Made) -> Iterator[Value]:
    """The program's functions and objects that a library object calls."""
    for value in made.given:
        if isinstance(value, Made):
            yield from called_back(value)
        else:
            yield value


def updates_of(made: Made) -> Iterator[Fn]:
    """The program's functions whose results the `update` of an optimiser returns."""
    for value in made.given:
        if isinstance(value, Made):
            yield from updates_of(value)
        elif isinstance(value, Fn) and made.name.startswith(MADE_OF_FUNCTIONS):
            yield value


def may_share(made: Made) -> bool:
    """Whether the state of an optimiser may share buffers with the parameters, or hold one buffer twice."""
    return (
        made.name.startswith(SHARING)
        or any(isinstance(value, Made) and may_share(value) for value in made.given)
        or any(True for _ in updates_of(made))
    )


def held_by(value: Value) -> Iterator[Inst]:
    """The objects that a callback reads: itself, or its receiver."""
    if isinstance(value, Inst):
        yield value
    elif isinstance(value, Fn) and value.receiver is not None:
        yield value.receiver


def first_parameter(function: ast.AST | None) -> str:
    """The name of the receiver in a method; "" if it has none."""
    arguments = function.args if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    positional = [*arguments.posonlyargs, *arguments.args] if arguments is not None else []
    return positional[0].arg if positional else ""
