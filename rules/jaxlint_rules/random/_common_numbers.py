"""Two uses of one key that draw different numbers, or that should draw the same numbers."""

from __future__ import annotations

import ast
import re

from jaxlint.api import Frame, KeyEvent, Module
from jaxlint.api.syntax import all_parameters, dotted, names_stored, nodes_of, walk
from jaxlint.api.values import Function, Transformed
from jaxlint_rules._names import last_name, names_in, variable_given


def reach_other_submodules(event: KeyEvent) -> bool:
    """`model.apply(..., method=model.encode)` and `... method=model.decode`: linen folds the path of the
    drawing submodule into the key.
    """
    methods = [_method_of(event.first), _method_of(event.node)]
    return all(methods) and methods[0] != methods[1]


_BACK = ("inverse_", "inv_", "un", "de", "undo_", "reverse_")
_PAIRS = {"encode": "decode", "encrypt": "decrypt", "compress": "decompress", "forward": "inverse"}


def undoes(event: KeyEvent) -> bool:
    """`y = rotate(x, key)` and `inverse_rotate(y, key)`: the inverse of an operation needs the same random numbers."""
    first, second = event.first, event.node
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    forth, back = (last_name(call.func).lower().lstrip("_") for call in (first, second))
    named = back in {f"{way}{forth}" for way in _BACK} or any(
        back == forth.replace(one, other) for one, other in _PAIRS.items() if one in forth
    )
    statement = event.frame.module.parents.get(first)
    made = names_stored(statement) if isinstance(statement, ast.Assign) else set[str]()
    return named and bool(made & names_in(second))


def reach_other_modules(event: KeyEvent) -> bool:
    """`actor.apply(v, x, rngs={"dropout": key})` and `critic.apply(u, x, rngs={"dropout": key})`: the noise
    in two networks. Each is correct alone, and nothing compares them. This does not hold for weights.
    """
    first, second = event.first, event.node
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    if ast.unparse(first.func) == ast.unparse(second.func):
        return False
    streams = [_streams(call) for call in (first, second)]
    return all(streams) and all(one.isdisjoint({"params", "default"}) for one in streams)


def _streams(call: ast.Call) -> frozenset[str]:
    """The streams of random numbers that a call passes to a flax module: `rngs={"dropout": key}`."""
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "rngs"), None)
    names = given.keys if isinstance(given, ast.Dict) else []
    return frozenset(
        name.value for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str)
    )


def is_given_up(event: KeyEvent) -> bool:
    """Whether no code reads the first draw before or after the second one: the function returns with the
    second, as in a special case, or the second replaces the first in its variable.
    """
    module = event.frame.module
    first, last = (
        next((above for above in module.ancestors(place) if isinstance(above, ast.stmt)), None)
        for place in (event.first, event.node)
    )
    if not isinstance(first, ast.Assign) or last is None or last.lineno <= first.lineno:
        return False
    names = {dotted(target) for target in first.targets}
    replaced = isinstance(last, ast.Assign) and {dotted(target) for target in last.targets} == names
    beside = module.parents.get(first) is module.parents.get(last)
    if "" in names or not (isinstance(last, ast.Return) or (replaced and beside)):
        return False
    return not any(
        isinstance(node, (ast.Name, ast.Attribute))
        and isinstance(node.ctx, ast.Load)
        and dotted(node) in names
        and (first.end_lineno or 0) < node.lineno <= (last.end_lineno or 0)
        for node in walk(event.frame.owner)
    )


def are_entries_of_a_choice(event: KeyEvent) -> bool:
    """`{"a": draw(key), "b": other(key)}[kind]`, also by a variable: only one of the two draws is used."""
    module = event.frame.module
    for above in module.ancestors(event.node):
        if isinstance(above, ast.stmt):
            return False
        if isinstance(above, ast.Dict):
            arms = [
                value for value in above.values if _lies_in(event.first, value) or _lies_in(event.node, value)
            ]
            parent = module.parents.get(above)
            name = variable_given(parent)
            reads = [
                module.parents.get(node)
                for node in nodes_of(event.frame.owner, ast.Name)
                if node.id == name and isinstance(node.ctx, ast.Load)
            ]
            looked_up = [parent] if isinstance(parent, ast.Subscript) else reads
            return len(arms) == 2 and len(looked_up) == 1 and isinstance(looked_up[0], ast.Subscript)
    return False


def replaces(event: KeyEvent) -> bool:
    """`eqx.tree_at(where, Linear(key=key), draw(key))`: what the second use draws takes the place of what the first drew."""
    return any(
        isinstance(above, ast.Call)
        and last_name(above.func) == "tree_at"
        and len(above.args) > 2
        and _lies_in(event.first, above.args[1])
        and _lies_in(event.node, above.args[2])
        for above in event.frame.module.ancestors(event.node)
    )


def fills_other_places(event: KeyEvent) -> bool:
    """`x = draw(key)`, and later `x = jnp.where(mask, other(key), x)`: each element comes from one of the draws. Elements at
    different places of two draws are independent."""
    module, owner = event.frame.module, event.frame.owner
    first, last = (_stored_by(place, module) for place in (event.first, event.node))
    if not first or not last:
        return False
    reads = [node for node in nodes_of(owner, ast.Name) if isinstance(node.ctx, ast.Load)]
    mixed = [
        call
        for call in nodes_of(owner, ast.Call)
        if last_name(call.func) in ("where", "select") and len(call.args) == 3
    ]
    kept = [call for call in mixed if any(dotted(arm) == first for arm in call.args[1:])]
    into = [call for call in kept if _stored_by(call, module) == first]
    if first == last:
        return any(_lies_in(event.node, arm) for call in into for arm in call.args[1:])
    drawn = [node for node in reads if node.id == last and node.lineno > getattr(event.node, "lineno", 0)]
    return bool(drawn) and all(
        any(_lies_in(node, arm) for call in into for arm in call.args[1:]) for node in drawn
    )


def _stored_by(place: ast.AST, module: Module) -> str:
    """The variable that the statement around a place stores; "" if it is another statement."""
    statement = next((above for above in module.ancestors(place) if isinstance(above, ast.stmt)), None)
    return variable_given(statement)


def _lies_in(node: ast.AST, around: ast.AST) -> bool:
    return any(part is node for part in walk(around))


def only_warms_up(event: KeyEvent) -> bool:
    """`start = split(key); step(state, start)`, where other lines call `step` for its result: what the first key draws is thrown
    away, as by a call that compiles before the clock starts."""
    module, owner = event.frame.module, event.frame.owner
    statement = module.parents.get(event.first)
    if not isinstance(statement, ast.Assign):
        return False
    names = {dotted(target) for target in statement.targets}
    reads = [
        node
        for node in nodes_of(owner, ast.Name)
        if node.id in names and isinstance(node.ctx, ast.Load) and node.lineno > statement.lineno
    ]
    dropped = [call for call in nodes_of(owner, ast.Call) if isinstance(module.parents.get(call), ast.Expr)]
    for read in reads:
        call = next((one for one in dropped if any(part is read for part in walk(one))), None)
        if call is None or not _is_called_for_result(call.func, owner, module):
            return False
    return bool(reads)


def _is_called_for_result(callee: ast.expr, owner: ast.AST, module: Module) -> bool:
    """Whether another call of a function in `owner` uses what it returns."""
    return any(
        ast.unparse(call.func) == ast.unparse(callee) and not isinstance(module.parents.get(call), ast.Expr)
        for call in nodes_of(owner, ast.Call)
    )


def makes_alternatives(node: ast.AST, loop: ast.AST, module: Module) -> bool:
    """`{name: Model(kind, key) for name, kind in kinds.items()}`: models of different kinds, each under its name, of which a program
    takes one, or which it compares."""
    parent = module.parents.get(loop)
    if not isinstance(parent, ast.DictComp) or not isinstance(node, ast.Call) or not _initialises(node):
        return False
    names = names_in(getattr(loop, "target", None))
    return bool(names & names_in(parent.key)) and bool(names & names_in(node))


def shows_shapes(event: KeyEvent) -> bool:
    """`init(key, normal(key, shape))`: a dummy input; the initialisation only reads its shape."""
    return any(_is_dummy(draw, event.frame.module.parents.get(draw)) for draw in (event.first, event.node))


def _is_dummy(draw: ast.AST, parent: ast.AST | None) -> bool:
    if isinstance(parent, ast.keyword):
        return False
    if not isinstance(draw, ast.Call) or not isinstance(parent, ast.Call) or draw not in parent.args[1:]:
        return False
    return "init" in last_name(parent.func).lower() and last_name(draw.func) in (
        "normal",
        "uniform",
        "randint",
    )


def splits_what_initialised(event: KeyEvent) -> bool:
    """`model = Model(key=key)`, and later `keys = split(key, n)`: the weights are drawn once, and the split
    keys differ from them, however the model uses its key.
    """
    if event.how != "again":
        return False
    made = [_initialises(call) for call in (event.first, event.node)]
    split = [
        isinstance(call, ast.Call) and last_name(call.func) in ("split", "fold_in")
        for call in (event.first, event.node)
    ]
    return any(made) and not all(made) and any(split)


def shows_only_its_shape(event: KeyEvent) -> bool:
    """`noise = prior(key)`, if the code reads only `noise.shape`, or gives it to `init` alone: the numbers are not used."""
    for call in (event.first, event.node):
        statement = event.frame.module.parents.get(call)
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            continue
        name = statement.targets[0].id
        reads = [
            node
            for node in nodes_of(event.frame.owner, ast.Name)
            if node.id == name and isinstance(node.ctx, ast.Load) and not _is_parameter(node, event.frame)
        ]
        held = [event.frame.module.parents.get(node) for node in reads]
        if held and all(
            (isinstance(one, ast.Attribute) and one.attr in _METADATA) or _is_for_init(one, read)
            for one, read in zip(held, reads, strict=True)
        ):
            return True
    return False


def _is_parameter(name: ast.Name, frame: Frame) -> bool:
    """Whether a name inside of a nested function is a parameter of that function."""
    for above in frame.module.ancestors(name):
        if above is frame.owner:
            return False
        if isinstance(above, (ast.FunctionDef, ast.Lambda)):
            return name.id in {one.arg for one in all_parameters(above)}
    return False


def _is_for_init(call: ast.AST | None, read: ast.AST) -> bool:
    """`network.init(key, noise)`: the initialisation of a module only reads the shape of its inputs."""
    return isinstance(call, ast.Call) and last_name(call.func) == "init" and read in call.args[1:]


_METADATA = frozenset({"shape", "dtype", "ndim", "size"})


def judges_both_sets(event: KeyEvent) -> bool:
    """`train_error = evaluate(train, key)` and `test_error = evaluate(test, key)`: each is correct alone, and
    nothing is computed from both together.
    """
    first, second = event.first, event.node
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    texts = [ast.unparse(call) for call in (first, second)]
    return texts[0] != texts[1] and _SETS.sub("*", texts[0]) == _SETS.sub("*", texts[1])


_SETS = re.compile(r"train|test|valid(ation)?|val|eval")


def is_of_two_cells(event: KeyEvent) -> bool:
    """Whether two cells of a notebook use the key, each at its top level: a user may run them in any order."""
    module, container = event.frame.module, event.frame.module.source.container
    if event.frame.function is not None or container is None or event.how != "again":
        return False
    places = [place for place in (event.first, event.node) if hasattr(place, "lineno")]
    cells = [container.place(module.span(place)).cell for place in places]
    return len(cells) == 2 and None not in cells and cells[0] != cells[1]


def _initialises(call: ast.AST) -> bool:
    """Whether a call creates a model or its parameters: a call of a class, or of a function with such a name."""
    name = last_name(call.func) if isinstance(call, ast.Call) else ""
    return name[:1].isupper() or _INITIAL.search(name.lower()) is not None


_INITIAL = re.compile(
    r"(^|_)(init|initiali[sz]e)(_|$)|^_*(make|create|build|new|get)_(\w+_)?(params|parameters|weights|model|network|net)$"
)


def share_masks(event: KeyEvent) -> bool:
    """Whether a function that holds the keys of a module (`rngs=`) is evaluated twice: the dropout masks of
    one step are equal on purpose if two outputs of one network are compared.
    """
    if event.how != "again" or not event.callee:
        return False
    name = event.origin.name.partition(".")[0]
    return all(
        name not in names_in(call) and any(_gives_streams(one, event.frame) for one in names_in(call))
        for call in (event.first, event.node)
    )


def _gives_streams(name: str, frame: Frame, depth: int = 3) -> bool:
    """Whether the function of this name, or one that it calls, passes keys to a module: `apply(params, x, rngs=rngs)`."""
    held = frame.value_of(name)
    waiting = [(held, depth)]
    while waiting:
        value, left = waiting.pop()
        if not isinstance(value, Function) or not left:
            continue
        for call in nodes_of(value.node, ast.Call):
            if any(keyword.arg == "rngs" for keyword in call.keywords):
                return True
            waiting += [(value.scope.value_of(one), left - 1) for one in names_in(call)]
    return False


def _method_of(call: ast.AST) -> str:
    """The method of a linen module that `apply` or `init` runs, by its name; "" if it is `__call__`."""
    if not isinstance(call, ast.Call) or last_name(call.func) not in ("apply", "init"):
        return ""
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "method"), None)
    if isinstance(given, ast.Constant):
        return str(given.value) if given.value else ""
    return last_name(given) if given is not None else ""


def look_at_one_point(event: KeyEvent) -> bool:
    """`value_and_grad(f)(x, key)` and `hessian(f)(x, key)`: both evaluate `f` with the same random numbers."""
    first, second = event.first, event.node
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    if [*map(ast.unparse, first.args)] != [*map(ast.unparse, second.args)]:
        return False
    if {k.arg: ast.unparse(k.value) for k in first.keywords} != {
        k.arg: ast.unparse(k.value) for k in second.keywords
    }:
        return False
    texts = [_named_in_text(call.func, event.frame.owner) for call in (first, second)]
    if texts[0][1] == texts[1][1] and texts[0][0] != texts[1][0]:
        return True
    one, other = (_looks_at(call.func, event.frame) for call in (first, second))
    return one is not None and other is not None and one[1] is other[1] and one[0] != other[0]


def _named_in_text(callee: ast.expr, owner: ast.AST) -> tuple[list[str], str]:
    """The derivatives around a function, and its text, where a variable holds `jit(grad(self.loss))`."""
    made = [
        statement.value
        for statement in nodes_of(owner, ast.Assign)
        if isinstance(callee, ast.Name) and [dotted(target) for target in statement.targets] == [callee.id]
    ]
    held = made[0] if len(made) == 1 else callee
    kinds: list[str] = []
    while isinstance(held, ast.Call) and held.args:
        kinds.append(last_name(held.func))
        held = held.args[0]
    return [kind for kind in kinds if kind in _DERIVATIVES], ast.unparse(held)


_DERIVATIVES = frozenset(
    ["grad", "value_and_grad", "jacrev", "jacfwd", "hessian", "filter_grad", "filter_value_and_grad"]
)


def _looks_at(callee: ast.expr, frame: Frame) -> tuple[list[str], ast.AST] | None:
    """The transformations around a function of the project, other than `jit`, and the function itself."""
    kinds: list[str] = []
    while isinstance(callee, ast.Call) and callee.args:
        kinds.append(last_name(callee.func))
        callee = callee.args[0]
    value = frame.value_of(dotted(callee)) if dotted(callee) else None
    while isinstance(value, Transformed):
        kinds.append(value.kind)
        value = value.target
    if not isinstance(value, Function):
        return None
    return [kind for kind in kinds if "jit" not in kind], value.node
