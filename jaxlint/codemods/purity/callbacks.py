"""What objects of libraries call back: the functions and objects of the program that they were made with.

    def clip(limit):
        def update(grads, state, params=None):
            if optax.global_norm(grads) > limit: ...
        return optax.GradientTransformation(init, update)

    optimizer = optax.chain(clip(1.0), optax.sgd(schedule))

`optimizer.update` calls both `update` and `schedule`. What they do, read and return counts as if it stood where `optimizer.update` does.
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
# Optimizers whose state holds the buffers of the parameters that it starts from, or one buffer twice.
SHARING = ("optax.contrib.", "optax.lbfgs", "optax.lookahead")


def handed_over(given: Iterable[Values]) -> Values:
    """Of what a library makes an object of, that which the object may call, and other objects that do."""
    return frozenset(
        value
        for values in given
        for value in leaves_of(values)
        if isinstance(value, (Fn, Wrapped, Inst))
        or (isinstance(value, Made) and (value.given or value.name.startswith(SHARING)))
    )


def maker_of(callee: Value) -> Made | None:
    """The object of a library that is called, or whose method is."""
    owner = callee.receiver if isinstance(callee, Method) else callee
    return owner if isinstance(owner, Made) else None


def called_back(made: Made) -> Iterator[Value]:
    """The functions and objects of the program that an object of a library calls."""
    for value in made.given:
        if isinstance(value, Made):
            yield from called_back(value)
        else:
            yield value


def updates_of(made: Made) -> Iterator[Fn]:
    """The functions of the program whose results the `update` of an optimizer hands on."""
    for value in made.given:
        if isinstance(value, Made):
            yield from updates_of(value)
        elif isinstance(value, Fn) and made.name.startswith(MADE_OF_FUNCTIONS):
            yield value


def may_share(made: Made) -> bool:
    """Whether the state of an optimizer may hold the buffers of the parameters, or one buffer twice."""
    return (
        made.name.startswith(SHARING)
        or any(isinstance(value, Made) and may_share(value) for value in made.given)
        or any(True for _ in updates_of(made))
    )


def held_by(value: Value) -> Iterator[Inst]:
    """The objects that what is called back reads: itself, or that whose method it is."""
    if isinstance(value, Inst):
        yield value
    elif isinstance(value, Fn) and value.receiver is not None:
        yield value.receiver


def first_parameter(function: ast.AST | None) -> str:
    """The name of the object in a method; "" where it has none."""
    arguments = function.args if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    positional = [*arguments.posonlyargs, *arguments.args] if arguments is not None else []
    return positional[0].arg if positional else ""
