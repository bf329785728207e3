"""PRNG keys that a loop or an object reuses at every step."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, KeptKeyEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of, none_branch
from jaxlint.api.values import (
    Array,
    ClassValue,
    DictValue,
    Function,
    Instance,
    ListValue,
    TupleValue,
    Value,
    name_in,
    short_source,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import jitted_call
from jaxlint_rules._loops import place_of_loop
from jaxlint_rules._names import last_name, passed
from jaxlint_rules._purpose import says
from jaxlint_rules.random._draws import is_draw, renews
from jaxlint_rules.random._same_keys import recreated_key, repeated_data, twin_key


class KeyNotAdvanced(Rule):
    """A loop or an object reuses one PRNG key at every step.

    ## What it does
    Finds:

    - bodies of `lax.scan`, `fori_loop`, `while_loop`, `lax.map` and `jax.tree.map` that draw from a
      key captured from outside the loop;
    - loop carries whose key is used and returned without a split;
    - functions that return a key in their state after they drew from it;
    - methods that draw from `self.key` and never renew it;
    - Python loops that create the key of their jitted step from the same seed in each iteration, or
      that of the data which their step gets, also in a function that they call;
    - lists of objects that are created with the same key and draw from it.

    ## Why is this bad?
    Every step draws the same random numbers: the noise of all steps is one vector, and a sampler
    proposes the same move each time. No exception is raised, and JAX's own key reuse checker does
    not track raw `PRNGKey` arrays.

    ## Example
    ```python
    def body(x, _):
        return x + jax.random.normal(key, x.shape), None
    x, _ = jax.lax.scan(body, x, length=100)
    ```

    ## Use instead
    ```python
    def body(x, key):
        return x + jax.random.normal(key, x.shape), None
    x, _ = jax.lax.scan(body, x, jax.random.split(key, 100))
    ```
    In a carry, write `key, sub = jax.random.split(key)`. In an object, write
    `self.key, sub = jax.random.split(self.key)`.

    ## Fix safety
    There is no automatic fix: it changes the random numbers that the program draws.

    ## When not to fix
    Keep it if all steps should share their random numbers, such as one dropout mask for all time
    steps. Test files are not checked, nor are keys that create an object, such as a model into which
    weights are loaded. It is advice in a method that holds the loop over the steps itself, as a
    program calls that once, and, in a file of a project, in one that no visible loop calls.

    ## References
    - [JAX: pseudorandom numbers](https://docs.jax.dev/en/latest/random-numbers.html)
    """

    code = "JAX304"
    name = "key-not-advanced"
    category = "random"
    severity = Severity.WARNING
    needs_whole_program = True

    @concerns(where=lambda name: name.startswith("jax.random."), callees=("Transformed", "ClassValue"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """`state = step(state, jax.random.key(0))`, in a loop; `[Worker(key) for _ in range(n)]`."""
        if isinstance(event.callee, ClassValue):
            held = twin_key(event) if isinstance(event.result, Instance) else ""
            if held:
                report(
                    event.node,
                    f"each `{event.callee.name}` gets the same PRNG key, so all draw the same numbers; split it",
                    shown=True,
                    reason=f"the objects that the loop collects share `{held}`, which `{event.callee.name}` draws from",
                )
            return
        if event.name.startswith("jax.random."):
            self.check_data(event, report)
            return
        called, frame = jitted_call(event), event.frame
        if called is None:
            return
        callee, node = called
        if _ASIDE.search(callee.label):
            return
        found = recreated_key(node, frame)
        if found is None:
            return
        made, loop = found
        report(
            made,
            f"PRNG key `{short_source(made)}` is reused each iteration: `{callee.label}` repeats its random numbers",
            reason=f"{place_of_loop(loop, frame)} creates the key from the same seed each time; split a key instead",
            shown=True,
        )

    def check_data(self, event: CallEvent, report: Reporter) -> None:
        """`x, y = get_batch()` in the loop of a training, where `get_batch` draws from `jax.random.key(0)`."""
        node = event.node
        if not isinstance(node, ast.Call) or last_name(node.func) in _NO_DRAWS:
            return
        found = repeated_data(event)
        if found is None or _ASIDE.search(found[2]) or says(event.frame, node, _MEANT):
            return
        made, loop, maker = found
        report(
            made,
            f"PRNG key `{short_source(made)}` is reused each iteration: `{maker}` repeats its random numbers",
            reason=f"{place_of_loop(loop, event.frame)} draws from the same seed each time; split a key instead",
            shown=True,
        )

    def on_kept_key(self, event: KeptKeyEvent, report: Reporter) -> None:
        frame = event.frame
        function = frame.function
        if frame.is_in_test():
            return
        name = name_in(frame, event.origin)
        severity = None
        captured = event.origin if event.how == "closure" else None  # to be split once, for all that read it
        repeated = True  # by the program itself, so that the numbers meet
        if event.how == "closure":
            if event.label.rpartition(".")[2] in ("vmap", "filter_vmap", "vectorize"):
                return
            if name in _NAMELESS or not _KEYS.search(name.lower()) or not _repeats_numbers(event, report):
                return
            what = "leaf" if event.label == "jax.tree.map" else "iteration"
            message = f"PRNG key `{name}` is reused in every {what} of `{event.label}`: numbers repeat; pass one per {what}"
            reason = f"`{name}` is captured from outside the function"
        elif event.how == "carry":
            what = "a PRNG key" if name in _NAMELESS else f"PRNG key `{name}`"
            message = f"{what} in the carry of `{event.label}` is never split, so iterations repeat random numbers; split it"
            reason = "the body returns the key it received"
        elif event.how == "returned":
            if "." not in name and "[" not in name:
                if not event.label:
                    return
                name = event.label
            if _goes_with_a_counter(event):
                return
            message = f"PRNG key `{name}` is returned after use: the next step repeats its numbers; return a new key"
            reason = f"`{name}` is used at line {getattr(event.used, 'lineno', '?')}"
        else:
            if function is None or function.cls is None or not _is_step(event, function.cls):
                return
            if says(frame, event.used, _MEANT) or _creates(event.used):
                return
            if "init" in event.label or (
                function.cls.kind in _IMMUTABLE and not _is_layer(function, event.label)
            ):
                return  # an argument of a module for one call, or a key for something that happens once
            message = (
                f"PRNG key `self.{event.label}` is never renewed, so every call repeats its numbers; split it"
            )
            reason = f"no method of `{function.cls.name}` assigns `self.{event.label}` after this use"
            if _is_whole_run(event):
                severity = Severity.INFO
            repeated = any(one.loops for one in (frame, *frame.callers()))
        report(event.node, message, reason=reason, severity=severity, shown=repeated, slip=captured)


def _creates(used: ast.AST) -> bool:
    """Whether the key goes to the constructor of an object, as that of a model into which weights are loaded: it is made anew, and
    no step draws again."""
    return isinstance(used, ast.Call) and last_name(used.func)[:1].isupper()


def _is_whole_run(event: KeptKeyEvent) -> bool:
    """Whether the method holds the loop over the steps, so that a program calls it once, and no visible loop calls it."""
    frame = event.frame
    if frame.function is None or any(one.loops for one in frame.callers()):
        return False
    loops = [*nodes_of(frame.function.node, ast.For), *nodes_of(frame.function.node, ast.While)]
    return any(loop.lineno > getattr(event.used, "lineno", 0) for loop in loops)


def _goes_with_a_counter(event: KeptKeyEvent) -> bool:
    """Whether the state that holds the key also counts steps, and passes the count to the draw: `draw(keys, state.step)`."""
    function, owner = event.frame.function, event.origin.name.rpartition(".")[0]
    if function is None or not owner:
        return False
    nodes = list(ast.walk(function.node))
    counted = {
        dotted(node.left)
        for node in nodes
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and isinstance(node.right, ast.Constant)
    }
    passed_on = {dotted(given) for node in nodes if isinstance(node, ast.Call) for given in node.args}
    return any(name.startswith(f"{owner}.") for name in counted & passed_on)


def _repeats_numbers(event: KeptKeyEvent, report: Reporter) -> bool:
    """Whether the same key in each iteration gives the same numbers."""
    node = event.used
    if event.label == "jax.tree.map":
        return is_draw(event.drawn or node) and _has_many_leaves(event)
    parent = report.module.parents.get(node)
    if isinstance(node, ast.Call) and last_name(node.func) == "split":
        return not (isinstance(parent, ast.Subscript) and not isinstance(parent.slice, ast.Constant))
    return True


# Each evaluation should see the same numbers, and initial values are created once.
_ASIDE = re.compile(r"(^|_)(eval(uat\w*)?|val(id\w*)?|test|init\w*|reset|create|make)(_|$)")
_NO_DRAWS = frozenset({"key", "PRNGKey", "split", "fold_in", "clone", "key_data", "wrap_key_data"})
_IMMUTABLE = ("linen", "equinox", "haiku")


def _is_layer(method: Function, label: str) -> bool:
    """Whether an equinox module keeps a key from its own `__init__`, beside its layers, to draw from when called."""
    cls = method.cls
    init = cls.lookup("__init__") if cls is not None else None
    if cls is None or cls.kind != "equinox" or method.name != "__call__" or not isinstance(init, Function):
        return False
    made = {dotted(call.func) for call in ast.walk(init.node) if isinstance(call, ast.Call)}
    return any(".nn." in f".{name}" for name in made) and any(
        isinstance(node.ctx, ast.Store) and dotted(node) == f"self.{label}"
        for node in ast.walk(init.node)
        if isinstance(node, ast.Attribute)
    )


_MEANT = re.compile(r"(fixed|same) (seed|key|noise|numbers)|determinis|reproducib", re.IGNORECASE)
_KEYS = re.compile(r"rng|key|prng|seed|random|\brand|noise|\bk\d*\b|sub")
_NAMELESS = ("item", "element")  # parts of an unknown value
_TREES = ("param", "grad", "tree", "weight", "theta", "update", "variables", "state")


def _has_many_leaves(event: KeptKeyEvent) -> bool:
    """Whether `jax.tree.map` maps over a container of several leaves, or over parameters or the like; other trees may be
    single arrays."""
    if any(_holds_several(tree) for tree in event.over):
        return True
    trees = event.run.args[1:] if isinstance(event.run, ast.Call) else []
    return any(part in dotted(tree).lower() for tree in trees for part in _TREES)


def _holds_several(tree: Value) -> bool:
    if isinstance(tree, Array):
        return tree.tree and tree.role == "grad"
    if isinstance(tree, DictValue):
        return tree.element is None and len(tree.items) > 1
    return isinstance(tree, (ListValue, TupleValue)) and tree.items is not None and len(tree.items) > 1


def _returns_successor(method: Function, cls: ClassValue, label: str) -> bool:
    """Whether a method returns another object of its class with another key: `return Stream(key), sub`."""
    for returned in nodes_of(method.node, ast.Return):
        for call in nodes_of(returned, ast.Call):
            maker = call.func.func if isinstance(call.func, ast.Call) else call.func  # `type(self)(key)`
            made = last_name(maker) in (cls.name, "type", "__class__", "replace", "_replace")
            if made and not any(dotted(part).endswith(f".{label}") for part in passed(call)):
                return True
    return False


_ONCE = ("init", "setup", "build", "create", "reset", "make", "load", "new", "from_", "post_init")


def _is_step(event: KeptKeyEvent, cls: ClassValue) -> bool:
    """Whether a method is called many times: it is not part of the construction."""
    frame = event.frame
    names = [frame.function.name] if frame.function is not None else []
    names += [caller.function.name for caller in frame.callers() if caller.function is not None]
    if any(name.strip("_").startswith(_ONCE) for name in names):
        return False
    bases = " ".join([cls.name, *cls.external_bases()])
    if any(word in bases for word in ("Test", "Key", "Rng", "RNG")) or renews(cls, event.label):
        return False
    if frame.function is not None and _returns_successor(frame.function, cls, event.label):
        return False
    # A value that is computed once and kept: `if self.table is None:`.
    return not any(
        isinstance(node, ast.If) and none_branch(node.test) is not None
        for node in cls.module.ancestors(event.used)
    )
