"""Constant PRNG keys inside jitted functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxlint.api import CallEvent, Frame, Reporter, Rule, concerns
from jaxlint.api.syntax import all_parameters, cache, dotted, nodes_of
from jaxlint.api.tables import KEY_MAKERS
from jaxlint.api.values import MISSING, Array, DictValue, ExternalObject, Value, constant
from jaxlint.finding import Severity
from jaxlint_rules._cost import runs
from jaxlint_rules._names import bound_by, function_around, last_name, variable_given
from jaxlint_rules._purpose import says
from jaxlint_rules._reasons import is_parameter, staged_because
from jaxlint_rules.random._draws import is_draw

_LOOPS = ("scan", "fori_loop", "while_loop", "map")
_STREAMS = "flax.nnx.Rngs"
_APPLY = "flax.linen.Module.apply"


class ConstantKeyInStaged(Rule):
    """A jitted function draws from a constant PRNG key.

    ## What it does
    Finds `jax.random.key(0)` and `jax.random.PRNGKey(0)` with a constant seed in functions under
    `jit` and bodies of loops such as `lax.scan` that draw from the key, directly or through a name.
    Also finds constant `nnx.Rngs` passed to a layer, and jitted functions with arguments that draw
    from a key captured from an enclosing scope.

    ## Why is this bad?
    The key is a compile-time constant, so every call draws the same random numbers: dropout drops
    the same units, and samples never differ.

    ## Example
    ```python
    @jax.jit
    def noisy(x):
        return x + jax.random.normal(jax.random.key(0), x.shape)
    ```

    ## Use instead
    ```python
    @jax.jit
    def noisy(x, key):
        return x + jax.random.normal(key, x.shape)
    ```

    ## Fix safety
    There is no automatic fix: the key becomes a parameter of the function.

    ## When not to fix
    Keep it if the numbers are a fixed table. Functions whose name says that they initialize
    (`init`, `create` ...) are not reported. Reported as advice: the `rngs` of a model's call
    that leaves out the flag of training, where the modules of the file have it off by default, and
    code that no visible loop runs again.

    ## References
    - [JAX: pseudorandom numbers](https://docs.jax.dev/en/latest/random-numbers.html)
    """

    code = "JAX302"
    name = "constant-key-in-staged"
    category = "random"
    severity = Severity.WARNING

    @concerns(*KEY_MAKERS, _STREAMS, "jax.random.", callees=("ExternalObject",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name not in (*KEY_MAKERS, _STREAMS):
            for key, place in _drawn_from(event):
                self.check_captured(event, key, place, report)
            return
        if not event.frame.stage.within("jit", "pmap", *_LOOPS):
            return
        seeds = [*event.args, *event.kwargs.values()] if event.name == _STREAMS else event.args[:1]
        if not event.is_certain() or not seeds or any(constant(seed) is MISSING for seed in seeds):
            return
        drawn = _is_read if event.name == _STREAMS else _is_drawn_from
        if event.frame.module.is_test or not drawn(event.node, report):
            return
        if _is_asked_for(event) or says(event.frame, event.node, _MEANT, above=4):
            return
        frame: Frame | None = event.frame
        while frame is not None and frame.function is not None:
            name = frame.function.name.lower()
            if "init" in name or "create" in name:
                return
            frame = frame.caller if frame.caller is not None and frame.caller.stage.staged else None
        report(
            event.node,
            f"a PRNG key with a constant seed {_repeats(event)}; pass the key in",
            reason=staged_because(event.frame),
            severity=Severity.INFO if _masks_nothing(event, report) or not _is_run_again(event) else None,
        )

    def check_captured(self, event: CallEvent, key: Value, place: ast.expr, report: Reporter) -> None:
        """A draw from a key that is not an argument of the jitted function, and so a constant of its program."""
        frame, node = event.frame, event.node
        if not frame.is_certain() or not frame.stage.within("jit") or frame.module.is_test:
            return
        if not isinstance(place, ast.Name) or not isinstance(key, Array) or key.staged or key.role != "key":
            return
        found = frame.scope.lookup(place.id)
        if found is None or found[1] is frame.scope or frame.stage.within(*_REPEATING):
            return  # created here, or `key-not-advanced` reports it
        while frame.function is not None:
            name = frame.function.name.lower()
            if name.strip("_").startswith(_ONCE) or not all_parameters(frame.function.node):
                return  # it is called once
            if frame.caller is None or not frame.caller.stage.staged:
                break
            frame = frame.caller
        report(
            node,
            f"PRNG key `{place.id}` is a compile-time constant: every call draws the same numbers; pass it in",
            reason=f"`{place.id}` is not an argument; {staged_because(event.frame)}",
        )


def _repeats(event: CallEvent) -> str:
    """Where the numbers repeat: compiled code at every call, the body of a loop outside jit in every iteration."""
    around = next((kind for kind in ("jit", "pmap") if event.frame.stage.within(kind)), "")
    if around:
        return f"under {around} gives the same numbers at every call"
    loop = next(kind for kind in _LOOPS if event.frame.stage.within(kind))
    return f"in `lax.{loop}` gives the same numbers in every iteration"


def _is_run_again(event: CallEvent) -> bool:
    """Whether a visible loop repeats the draw: one of the program, around a call of the compiled code, or one on the device."""
    return runs(event.frame) > 1 or event.frame.stage.within(*_LOOPS)


def _masks_nothing(event: CallEvent, report: Reporter) -> bool:
    """Whether a model's call leaves out the flag of training, which modules of the file set to False by
    default: then its key draws nothing.
    """
    if not isinstance(report.module.parents.get(event.node), ast.Dict):
        return False
    model = next(
        (above for above in report.module.ancestors(event.node) if isinstance(above, ast.Call)), None
    )
    flags = _off_by_default(report.module.tree)
    return bool(flags) and model is not None and flags.isdisjoint(one.arg for one in model.keywords)


@cache
def _off_by_default(tree: ast.AST) -> frozenset[str]:
    """The flags that `__call__` of each module in a file sets to False by default: `training=False`."""
    found: list[set[str]] = []
    for method in nodes_of(tree, ast.FunctionDef):
        if method.name == "__call__":
            given = method.args
            named = [*given.posonlyargs, *given.args]
            pairs = [
                *zip(named[len(named) - len(given.defaults) :], given.defaults, strict=True),
                *zip(given.kwonlyargs, given.kw_defaults, strict=True),
            ]
            flags = [ast.keyword(one.arg, value) for one, value in pairs if value is not None]
            found.append({str(flag.arg) for flag in flags if _switches_off(flag)})
    return frozenset(set[str]().union(*found))


def _drawn_from(event: CallEvent) -> Iterator[tuple[Value, ast.expr]]:
    """The keys that a call draws from: that of a distribution, or those that a module receives for its layers."""
    node = event.node
    if not isinstance(node, ast.Call):
        return
    if not isinstance(event.callee, ExternalObject):
        if node.args and is_draw(node):
            yield event.args[0], node.args[0]
        return
    if event.callee.name != _APPLY:
        return
    given = next((keyword.value for keyword in node.keywords if keyword.arg == "rngs"), None)
    keys = event.kwargs.get("rngs")
    if (
        not isinstance(given, ast.Dict)
        or not isinstance(keys, DictValue)
        or any(map(_switches_off, node.keywords))
    ):
        return
    for name, place in zip(given.keys, given.values, strict=True):
        if isinstance(name, ast.Constant) and name.value in keys.items and name.value != "params":
            yield keys.items[name.value], place


_REPEATING = ("scan", "fori_loop", "while_loop", "map", "vmap")
_ONCE = ("init", "create", "make", "build", "setup", "load", "generate", "reset")


def _is_read(node: ast.AST, report: Reporter) -> bool:
    """Whether a layer, or a `jax.random` function, draws from constant streams, directly or by their name."""
    variable = variable_given(report.module.parents.get(node))
    function = function_around(node, report.module) if variable else None
    if function is None:
        return _is_passed_to_layer(node, report)
    reads = [read for read in nodes_of(function, ast.Name) if read.id == variable and read is not node]
    return any(_is_passed_to_layer(read, report) or _gives_a_key(read, report) for read in reads)


def _gives_a_key(streams: ast.Name, report: Reporter) -> bool:
    """`jax.random.normal(rngs.noise(), shape)`."""
    parents = report.module.parents
    stream = parents.get(streams)
    call = parents.get(stream) if isinstance(stream, ast.Attribute) else stream
    draw = parents.get(call) if isinstance(call, ast.Call) and not call.args else None
    return isinstance(draw, ast.Call) and is_draw(draw) and draw.args[:1] == [call]


def _is_passed_to_layer(node: ast.AST, report: Reporter) -> bool:
    """`model(x, rngs=nnx.Rngs(0))` draws; `Model(rngs=nnx.Rngs(0))` only initialises parameters, once."""
    keyword = report.module.parents.get(node)
    call = report.module.parents.get(keyword) if isinstance(keyword, ast.keyword) else None
    if not isinstance(call, ast.Call) or not isinstance(keyword, ast.keyword) or keyword.arg != "rngs":
        return False
    made = last_name(call.func)
    outer = report.module.parents.get(call)
    if made == "Dropout" and isinstance(outer, ast.Call) and outer.func is call:
        return not any(map(_switches_off, outer.keywords))  # `nnx.Dropout(0.1, rngs=nnx.Rngs(0))(x)`
    return (
        not made[:1].isupper() and not made.startswith(_ONCE) and not any(map(_switches_off, call.keywords))
    )


def _is_drawn_from(node: ast.AST, report: Reporter) -> bool:
    """Whether the key is the direct argument of a draw: a `jax.random` function other than split, or `rngs=` of a
    layer."""
    parents = report.module.parents
    parent = parents.get(node)
    if isinstance(parent, ast.Dict):
        keyword = parents.get(parent)
        call = parents.get(keyword) if isinstance(keyword, ast.keyword) and keyword.arg == "rngs" else None
        streams = [key.value for key in parent.keys if isinstance(key, ast.Constant)]
        if streams == ["params"] and isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "apply":
            return False  # the parameters exist already: nothing is drawn from this stream
        return isinstance(call, ast.Call) and not any(_switches_off(k) for k in call.keywords)
    if variable := variable_given(parent):
        return _is_drawn_by_name(variable, node, report)
    if isinstance(parent, ast.Call) and parent.args and parent.args[0] is node:
        owner, _, name = dotted(parent.func).rpartition(".")
        return owner.rpartition(".")[2] in _MODULES and name not in _NO_DRAWS
    return False


_MODULES = ("random", "jr", "jrandom", "random_lib")
# These functions create other keys, or report how keys are stored.
_NO_DRAWS = frozenset({"split", "fold_in", "clone", "key_data", "key_impl", "wrap_key_data"})


def _is_drawn_by_name(name: str, made: ast.AST, report: Reporter) -> bool:
    """Whether a function only draws from a key of this name, or from its splits."""
    function = function_around(made, report.module)
    if function is None:
        return False
    names, drawn = {name}, False
    for part in ast.walk(function):
        if not isinstance(part, ast.Name) or part.id not in names or not isinstance(part.ctx, ast.Load):
            continue
        call = report.module.parents.get(part)
        owner, _, short = dotted(call.func).rpartition(".") if isinstance(call, ast.Call) else ("", "", "")
        if owner.rpartition(".")[2] not in _MODULES or short in _NO_DRAWS - {"split"}:
            return False  # it is passed elsewhere, or becomes another key at each step
        drawn = drawn or short != "split"
        parent = report.module.parents.get(call) if call is not None else None
        if short == "split" and parent is not None:
            names |= bound_by(parent)
    return drawn


def _switches_off(keyword: ast.keyword) -> bool:
    """`train=False`, `deterministic=True`: nothing is drawn."""
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    return (keyword.arg in ("train", "training", "is_training") and value is False) or (
        keyword.arg == "deterministic" and value is True
    )


_MEANT = re.compile(
    r"poor practice|on purpose|intention|deliberate|same (set of )?(random )?(seed|key|numbers)|fixed (seed|key)|(doesn't|not) (influence|matter)",
    re.IGNORECASE,
)


def _is_asked_for(event: CallEvent) -> bool:
    """Whether the seed is an argument, different for each caller."""
    seed = event.node.args[0] if isinstance(event.node, ast.Call) and event.node.args else None
    function = event.frame.function
    if function is None or not isinstance(seed, ast.Name) or seed.id in function.defaults:
        return False
    return is_parameter(seed, event.frame)
