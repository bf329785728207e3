"""PRNG keys that all rows of a `vmap` share."""

from __future__ import annotations

import ast
import re

from jaxlint.api import KeptKeyEvent, Module, Reporter, Rule
from jaxlint.api.syntax import FunctionNode, all_parameters, dotted, names_stored, nodes_of
from jaxlint.api.values import Function, Value, flow_in, name_in
from jaxlint.finding import Severity
from jaxlint_rules._callables import function_called
from jaxlint_rules._loops import given_arguments
from jaxlint_rules._names import last_name, names_in
from jaxlint_rules.random._draws import is_draw

_COMPARED = re.compile(
    r"param|theta|weight|polic|genom|member|popul|candidate|individual|agent|gain|model|^w$"
)
_DEEPEST = 3  # functions that pass the key on


class SharedKeyUnderVmap(Rule):
    """All rows of a `vmap` share one PRNG key.

    ## What it does
    Finds functions under `jax.vmap` that draw from an unmapped key: a captured key, an argument
    with `in_axes=None`, or copies of one key (`jnp.stack([key] * n)`). `choice`, `randint` and
    `permutation` count where each row decides by its own state whether it takes the number.

    ## Why is this bad?
    Every row draws the same random numbers: examples, walkers or environments that should be
    independent share their noise.

    ## Example
    ```python
    noisy = jax.vmap(lambda x: x + jax.random.normal(key, x.shape))(xs)
    ```

    ## Use instead
    ```python
    keys = jax.random.split(key, len(xs))
    noisy = jax.vmap(lambda key, x: x + jax.random.normal(key, x.shape))(keys, xs)
    ```

    ## Fix safety
    There is no automatic fix: it changes the random numbers that the program draws.

    ## When not to fix
    Keep it if you compare the rows under the same noise (common random numbers). Functions that
    receive parameters, weights or members of a population are assumed to do so and are not
    reported.

    ## References
    - [JAX: pseudorandom numbers](https://docs.jax.dev/en/latest/random-numbers.html)
    """

    code = "JAX305"
    name = "shared-key-under-vmap"
    category = "random"
    severity = Severity.WARNING

    def on_kept_key(self, event: KeptKeyEvent, report: Reporter) -> None:
        frame = event.frame
        if event.how != "closure" or event.label.rpartition(".")[2] not in (
            "vmap",
            "filter_vmap",
            "vectorize",
        ):
            return
        if frame.is_in_test() or not (
            is_draw(event.drawn or event.used)
            or _is_unpacked_split(event)
            or _is_scanned_split(event.used, event.frame.module)
            or _makes_layer(event.used)
            or _is_picked_by_rows(event.drawn or event.used, event.frame.module)
            or _draws_inside(event.used, event)
        ):
            return
        if not _ignores_rows(event) and not _rows_are_data(event) and _compares(event.used, event):
            return
        name = name_in(frame, event.origin)
        report(
            event.node,
            f"all rows of `{event.label}` share PRNG key `{name}` and draw the same numbers; map one key per row",
            reason=f"`{name}` is not mapped; `jax.random.split(key, n)` gives one key per row",
        )


def _is_picked_by_rows(used: ast.AST, module: Module) -> bool:
    """Whether each row decides by its own state whether it takes what a call picks: `lax.cond(found, lambda: choice(key, free),
    lambda: place)`. What all rows take, such as the examples of one batch, may be the same on purpose."""
    if not isinstance(used, ast.Call) or last_name(used.func) not in _PICKS:
        return False
    inner: ast.AST = used
    for above in module.ancestors(used):
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        if isinstance(above, ast.Call) and last_name(above.func) in _SELECTING and above.args:
            test = above.args[0]
            if inner is not test:
                return bool(names_in(test) & _computed_around(above, module))
        inner = above
    return False


def _computed_around(node: ast.AST, module: Module) -> set[str]:
    """The parameters of the function around a place, and the names that it binds."""
    owner = next((a for a in module.ancestors(node) if isinstance(a, ast.FunctionDef)), None)
    if owner is None:
        return set()
    return set(names_stored(owner)) | {parameter.arg for parameter in all_parameters(owner)}


_PICKS = frozenset({"choice", "randint", "permutation"})
_SELECTING = frozenset({"cond", "where", "select"})


def _makes_layer(used: ast.AST) -> bool:
    """`eqx.nn.MLP(2, 1, 16, 2, key=key)`: each row is a model with the same weights."""
    name = last_name(used.func) if isinstance(used, ast.Call) else ""
    return name[:1].isupper() and any(keyword.arg == "key" for keyword in getattr(used, "keywords", []))


def _is_unpacked_split(event: KeptKeyEvent) -> bool:
    """`a, b = jax.random.split(key)`: each row has the same subkeys; from a batch of keys, a row may take its own."""
    used, frame = event.used, event.frame
    parent = frame.module.parents.get(used)
    return (
        isinstance(used, ast.Call)
        and last_name(used.func) == "split"
        and isinstance(parent, ast.Assign)
        and isinstance(parent.targets[0], (ast.Tuple, ast.List))
    )


def _is_scanned_split(used: ast.AST, module: Module) -> bool:
    """`lax.scan(body, x, jax.random.split(key, n))`, directly or by a name: the loop of each row uses the same
    subkeys."""
    if not isinstance(used, ast.Call) or last_name(used.func) != "split":
        return False
    taken_by = module.parents.get(used)
    if isinstance(taken_by, ast.Assign) and isinstance(taken_by.targets[0], ast.Name):
        owner = next((a for a in module.ancestors(used) if isinstance(a, ast.FunctionDef)), None)
        name = taken_by.targets[0].id
        loops = nodes_of(owner, ast.Call) if owner is not None else ()
        return any(_goes_through(call, name) for call in loops)
    return isinstance(taken_by, ast.Call) and any(used is part for part in _scanned(taken_by))


def _goes_through(call: ast.Call, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in _scanned(call))


def _scanned(call: ast.Call) -> list[ast.expr]:
    """The argument that the body of a `lax.scan` or `lax.map` receives slice by slice."""
    owner, _, last = dotted(call.func).rpartition(".")
    position = {"scan": 2, "map": 1}.get(last) if owner.rpartition(".")[2] == "lax" else None
    if position is None:
        return []
    named = [keyword.value for keyword in call.keywords if keyword.arg == "xs"]
    given = [*call.args[position : position + 1], *named]
    return [part for whole in given for part in (whole.elts if isinstance(whole, ast.Tuple) else [whole])]


def _draws_inside(used: ast.AST, event: KeptKeyEvent) -> bool:
    """Whether a project function that receives the key, and nothing to compare, draws with it, at once or in a loop."""
    function = function_called(used, event.frame) if isinstance(used, ast.Call) else None
    if function is None or not isinstance(used, ast.Call):
        return False
    if not _rows_are_data(event) and any(
        _COMPARED.search(parameter.arg.lower()) for parameter in all_parameters(function.node)
    ):
        return False
    given = {name for name, part in given_arguments(function.node, used) if isinstance(part, ast.Name)}
    return _draws_with(function, given, _DEEPEST)


def _draws_with(function: Function, given: set[str], depth: int) -> bool:
    """Whether a function, or one that it passes these parameters on to, draws with one of them."""
    keys = given | _split_from(given, function.node)
    for call in nodes_of(function.node, ast.Call):
        passed = [part.id for part in call.args if isinstance(part, ast.Name) and part.id in keys]
        if not passed:
            continue
        if dotted(call.args[0]) in keys and (is_draw(call) or _is_scanned_split(call, function.module)):
            return True
        inner = _named_function(call, function) if depth else None
        if inner is not None and _draws_with(
            inner,
            {name for name, part in given_arguments(inner.node, call) if dotted(part) in keys},
            depth - 1,
        ):
            return True
    return False


def _named_function(call: ast.Call, function: Function) -> Function | None:
    """The function of the same module that a call names."""
    value = function.scope.value_of(call.func.id) if isinstance(call.func, ast.Name) else None
    return value if isinstance(value, Function) else None


def _rows_are_data(event: KeptKeyEvent) -> bool:
    """Whether the rows carry no gradient beside something that does: examples of one batch, not settings to compare."""
    frame, used = event.frame, event.used
    function = frame.function
    if function is None or not isinstance(used, ast.Call):
        return False
    if event.node is event.run and isinstance(event.node, ast.Call):  # the key is an argument of the map
        rows: list[Value | None] = [*event.over]
        beside: list[Value | None] = [*_shared(event.node, event).values()]
    else:
        rows = [frame.value_of(parameter.arg) for parameter in all_parameters(function.node)]
        beside = [frame.value_of(dotted(part)) for part in used.args if dotted(part)]
    known = [value for value in rows if value is not None]
    return (
        bool(known)
        and flow_in(known) is None
        and flow_in([value for value in beside if value is not None]) is not None
    )


def _shared(call: ast.Call, event: KeptKeyEvent) -> dict[int, Value]:
    """The arguments of a mapped call, by position, that all rows share."""
    given = {number: event.frame.value_of(dotted(part)) for number, part in enumerate(call.args)}
    return {
        number: value
        for number, value in given.items()
        if value is not None and not any(value is row for row in event.over)
    }


def _shared_parameters(function: FunctionNode, event: KeptKeyEvent) -> set[str]:
    """The parameters of the mapped function that are the same for all rows."""
    call = event.node
    if event.node is not event.run or not isinstance(call, ast.Call):
        return set()
    names = [p.arg for p in all_parameters(function) if p.arg != "self"]
    return {names[number] for number in _shared(call, event) if number < len(names)}


def _split_from(keys: set[str], function: ast.AST) -> set[str]:
    """The names of `a, b = jax.random.split(key)`."""
    return {
        name
        for statement in nodes_of(function, ast.Assign)
        if isinstance(statement.value, ast.Call)
        and last_name(statement.value.func) == "split"
        and statement.value.args
        and dotted(statement.value.args[0]) in keys
        and isinstance(statement.targets[0], (ast.Tuple, ast.List))
        for name in map(dotted, statement.targets[0].elts)
    }


def _ignores_rows(event: KeptKeyEvent) -> bool:
    """`lambda _: reset(key)`: the mapped argument is a number of rows, and nothing to compare."""
    function = event.frame.function
    names = [p.arg for p in all_parameters(function.node)] if function is not None else []
    return bool(names) and all(name.startswith("_") for name in names)


def _compares(used: ast.AST, event: KeptKeyEvent) -> bool:
    """Whether an enclosing function receives values to compare under the same numbers, such as parameters."""
    mapped = True  # the innermost function is the one that the rows run
    for ancestor in event.frame.module.ancestors(used):
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            shared = _shared_parameters(ancestor, event) if mapped else set()
            mapped = False
            names = {parameter.arg for parameter in all_parameters(ancestor)} - shared
            if any(_COMPARED.search(name.lower()) for name in names):
                return True
    return False
