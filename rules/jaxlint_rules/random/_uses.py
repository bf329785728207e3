"""What the uses of a PRNG key do with it, and whether what they give comes together."""

from __future__ import annotations

import ast
import re

from jaxlint.api import Frame, KeyEvent, Module, Scope
from jaxlint.api.syntax import dotted, names_stored, nodes_of, walk
from jaxlint.api.values import ClassValue, Function
from jaxlint_rules._callables import innermost, named_or_method
from jaxlint_rules._cost import runs
from jaxlint_rules._flow import Results
from jaxlint_rules._main_loops import carries_state
from jaxlint_rules._names import bound_by, external_name, last_name, names_in, passed
from jaxlint_rules._programs import is_on_host

_RANDOM = ("random", "jr", "jrandom")
_KEYS = re.compile(r"key|rng|seed")
_DEPTH = 3  # calls from a function to that which draws
_MAKERS = frozenset({"key", "PRNGKey", "key_data", "wrap_key_data", "key_impl"})


def meets(event: KeyEvent) -> bool:
    """Whether the numbers that a call draws somewhere in its body are seen to meet those of the first use, as those of
    the iterations of a loop do."""
    return event.how == "loop" or _gets_the_first(event) or _draws(event.node, event.frame)


def stay_apart(event: KeyEvent) -> bool:
    """Whether nothing is computed from the results of both uses: they are printed, plotted or compared, each by itself."""
    first, second = event.first, event.node
    if event.how != "again" or not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    frame = event.frame
    alike = ast.unparse(first.func) == ast.unparse(second.func) and ast.unparse(first) != ast.unparse(second)
    once = not frame.stage.staged and runs(frame) <= 1 and is_on_host(frame)  # it judges two results
    compared = (alike or once) and not (is_random(first, frame.scope) and is_random(second, frame.scope))
    return not Results(first, second, frame, compared).come_together


def numbers_are_seen_to_repeat(event: KeyEvent) -> bool:
    """Whether what both uses give is seen to be random, and to come together.

    A draw and a split repeat no number, and two calls that both draw somewhere in their bodies are not seen to. Iterations of a loop that computes nothing from the one before come together in a mean or a
    list at most; if each passes other data, or other functions, they compare these on the same numbers.
    """
    if event.how != "loop":
        if event.callee and not is_random_call(event.first, event.frame):
            return False  # two functions that draw somewhere: who evaluates twice, or resets and samples, knows the key
        kinds = [_kinds(call, event.frame) for call in (event.first, event.node)]
        return {"draw"} not in kinds or {"derive"} not in kinds
    loop = event.frame.in_loop()
    if loop is None or not isinstance(loop.node, ast.AST):
        return True
    if not isinstance(loop.node, ast.While) and _compares(loop.node):
        return False
    inner = [loop.node, *nodes_of(loop.node, ast.For), *nodes_of(loop.node, ast.While)]
    if not event.callee or any(map(carries_state, inner)):
        return True
    return not names_in(event.node) & (names_stored(loop.node) - {"_"})


_COMPARED = re.compile(r"cases|configs|settings|scenarios|methods|models|variants|algorithms|strategies")


def _compares(loop: ast.AST) -> bool:
    """`for method in methods:`, over what is named as choices that are compared."""
    return _COMPARED.search(dotted(getattr(loop, "iter", loop)).rpartition(".")[2].lower()) is not None


def acts_in_one_iteration(event: KeyEvent) -> bool:
    """Whether the called function uses the key in the one iteration whose number it compares: `cond(i == own, draw, skip)`."""
    call, loop = event.node, event.frame.in_loop()
    if not isinstance(call, ast.Call) or loop is None:
        return False
    called = _called(call, event.frame)
    if not isinstance(called, Function):
        return False
    numbers = names_in(getattr(loop.node, "target", None))
    given = {
        parameter.arg
        for parameter, value in zip(called.node.args.args, call.args, strict=False)
        if names_in(value) & numbers
    }
    conditions = [one.test for one in nodes_of(called.node, ast.If)]
    conditions += [
        one.args[0] for one in nodes_of(called.node, ast.Call) if last_name(one.func) == "cond" and one.args
    ]
    return any(
        isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and given & names_in(test)
        for condition in conditions
        for test in walk(condition)
    )


def _draws(call: ast.AST, frame: Frame) -> bool:
    """Whether a call draws or splits, or calls a function or a class whose own body does, as `reparameterize`."""
    if not isinstance(call, ast.Call):
        return False
    library = external_name(call.func, frame.scope).rpartition(".")[2]
    if (
        is_random(call, frame.scope) or library.islower()
    ):  # `hk.dropout`; a layer, as `eqx.nn.Linear`, is made once
        return True
    called = _called(call, frame)
    return isinstance(called, Function) and any(
        is_random(one, called.scope) for one in nodes_of(called.node, ast.Call)
    )


def _called(call: ast.Call, frame: Frame) -> object:
    """The project function that a call runs: under transformations, or the `__init__` of a class."""
    value = named_or_method(call.func, frame)
    called = innermost(value) if value is not None else None
    return called.lookup("__init__") if isinstance(called, ClassValue) else called


def is_random(call: ast.Call, scope: Scope) -> bool:
    """`jax.random.randint(key, ...)`: a function of `jax.random`, under any name, that gets a key."""
    owner, _, name = (external_name(call.func, scope) or dotted(call.func)).rpartition(".")
    return owner.rpartition(".")[2] in _RANDOM and name not in _MAKERS and bool(call.args)


def is_random_call(call: ast.AST, frame: Frame) -> bool:
    """Whether a place itself draws or splits."""
    return isinstance(call, ast.Call) and is_random(call, frame.scope)


def _gets_the_first(event: KeyEvent) -> bool:
    """Whether the second call gets what the first use has made."""
    call = event.node
    made = bound_by(event.frame.module.parents.get(event.first) or event.first)
    return isinstance(call, ast.Call) and any(made & names_in(one) for one in passed(call))


def only_derives(event: KeyEvent) -> bool:
    """Whether a draw comes first and keys are derived then, so that no number repeats: `x = normal(key)` and `_, key = split(key)`,
    also by functions that do no more with the key, and after a call that is not seen to split. Not where a value is computed
    from both, and the key is not renewed.
    """
    derives = [_derives(call, event.frame.scope) for call in (event.first, event.node)]
    if event.frame.function is None and any(derives) and not all(derives):
        return True
    kinds = [_kinds(call, event.frame) for call in (event.first, event.node)]
    if kinds[1] != {"derive"} or "derive" in kinds[0] or (kinds[0] != {"draw"} and not derives[1]):
        return False
    renewed = bound_by(_statement(event.node, event.frame.module))
    together = Results(event.first, event.node, event.frame, returned=False).come_together
    return event.origin.name in renewed or not together


def _statement(call: ast.AST, module: Module) -> ast.AST:
    """What takes the result of a call, or an item of it: `key = split(key, 1)[0]`."""
    around = module.parents.get(call)
    while isinstance(around, ast.Subscript):
        around = module.parents.get(around)
    return around or call


def _kinds(call: ast.AST, frame: Frame) -> set[str]:
    """What a call does with the key that it gets: "draw", "derive", or "" if that is unknown."""
    if not isinstance(call, ast.Call):
        return {""}
    if is_random(call, frame.scope):
        return {"derive" if _derives(call, frame.scope) else "draw"}
    called = _called(call, frame)
    if not isinstance(called, Function):
        return {""}
    kinds = [_does_with(called, one.arg) for one in called.node.args.args]
    found = set[str]().union(*kinds)
    return found if found and "" not in found else {""}


def _does_with(function: Function, key: str, depth: int = _DEPTH) -> set[str]:
    """What a function does with a parameter as a key, also by functions of the project that it calls; nothing if it is none."""
    found, unknown = set[str](), False
    for call in nodes_of(function.node, ast.Call):
        if is_random(call, function.scope):
            if key in names_in(call.args[0]):
                found.add("derive" if _derives(call, function.scope) else "draw")
            continue
        given = [position for position, one in enumerate(call.args) if dotted(one) == key]
        if not given and key not in map(dotted, passed(call)):
            continue
        held = function.scope.value_of(dotted(call.func)) if dotted(call.func) else None
        inner = innermost(held) if held is not None else None
        taken = inner.node.args.args if isinstance(inner, Function) else []
        if not depth or not given or not isinstance(inner, Function) or given[0] >= len(taken):
            unknown = True
        else:
            found |= _does_with(inner, taken[given[0]].arg, depth - 1)
    return found | {""} if unknown and (found or _KEYS.search(key)) else found


def _derives(call: ast.AST, scope: Scope) -> bool:
    if not isinstance(call, ast.Call) or not is_random(call, scope):
        return False
    name = external_name(call.func, scope) or last_name(call.func)
    return name.rpartition(".")[2] in ("split", "fold_in")


def is_of_one_run(event: KeyEvent) -> bool:
    """Whether the program makes both uses once, outside of compiled code, and at most one of them draws by itself: a model gets
    its weights and a dataset its order from one key. Repeated numbers mislead nobody where they do not meet."""
    frame = event.frame
    if event.how != "again" or frame.stage.staged or runs(frame) > 1 or not is_on_host(frame):
        return False
    if _gets_the_first(event):
        return False
    return not all(_draws(one, frame) for one in (event.first, event.node))
