"""PRNG keys that are used more than once."""

from __future__ import annotations

import ast
import re

from jaxlint.api import PICTURES, CallEvent, KeyEvent, Module, Reporter, Rule, concerns
from jaxlint.api.syntax import all_parameters, dotted, names_stored, nodes_of
from jaxlint.api.values import ExternalObject, name_in, short_source
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._loops import runs_once
from jaxlint_rules._names import bound_by, last_name, names_in, passed
from jaxlint_rules._purpose import draws, makes_pictures, says_of
from jaxlint_rules._slices import made_of, sources, stepped_on
from jaxlint_rules.random._common_numbers import (
    are_entries_of_a_choice,
    fills_other_places,
    is_given_up,
    is_of_two_cells,
    judges_both_sets,
    look_at_one_point,
    makes_alternatives,
    only_warms_up,
    reach_other_modules,
    reach_other_submodules,
    replaces,
    share_masks,
    shows_only_its_shape,
    shows_shapes,
    splits_what_initialised,
    undoes,
)
from jaxlint_rules.random._pairs import change_alike, change_parts, changes_a_pair
from jaxlint_rules.random._same_weights import equal_weights, receivers
from jaxlint_rules.random._shown import is_only_shown
from jaxlint_rules.random._uses import (
    acts_in_one_iteration,
    is_of_one_run,
    meets,
    numbers_are_seen_to_repeat,
    only_derives,
    stay_apart,
)

_SELECTIONS = ("permutation", "choice", "shuffle")
_EVALUATION = re.compile(r"(^|_)(eval(uat\w*)?|val(id(ation)?)?|test)(_|$)")
_EVALUATES = re.compile(r"^_*(eval|validat|test)")


class KeyReuse(Rule):
    """A PRNG key is reused.

    ## What it does
    Follows PRNG keys from `jax.random` and from parameters through assignments, splits, branches,
    loops and calls. Finds keys that are used twice, or in every iteration of a loop. `init` of a
    flax.linen module may be followed by other uses of its key; two equal calls of it are found.

    ## Why is this bad?
    The same key gives the same random numbers. Noise, dropout masks and initial weights that should
    be independent are equal, and no exception is raised.

    ## Example
    ```python
    key = jax.random.key(0)
    w = jax.random.normal(key, (3,))
    b = jax.random.normal(key, (3,))
    ```

    ## Use instead
    ```python
    w_key, b_key = jax.random.split(jax.random.key(0))
    w = jax.random.normal(w_key, (3,))
    b = jax.random.normal(b_key, (3,))
    ```
    In a loop, use `key, sub = jax.random.split(key)` or `jax.random.fold_in(key, i)`.

    ## Fix safety
    Unsafe: the program then draws other random numbers, as intended. The fix inserts
    `key, subkey = jax.random.split(key)` before the first use, passes `subkey` there, and leaves
    the new `key` to the code that follows. It does not rewrite keys that a nested function or
    comprehension reads, attributes, arrays of keys, and statements that use a key twice.

    ## When not to fix
    Keep it if you want the same numbers twice (common random numbers). Not reported:

    - test files, and calls in inference mode;
    - `split(key)[0]` together with `split(key)[1]`, also of many keys (`vmap(split)(keys)[:, 0]`);
    - a key that a called function uses in the one iteration whose number it compares;
    - several evaluations of one loss by nested functions, and a function and its derivatives at one
      point;
    - two methods of a linen module, which folds the path of each submodule into the key, and the
      noise inside two different modules (`rngs={"dropout": key}`);
    - draws whose result is not used, such as a first call that only compiles, a draw before the
      function returns another one, and a dummy input of `init`, which only reads its shape;
    - pairs and parts of a tree that one function changes in the same way, and models of several kinds
      in a dict;
    - a draw that the second one replaces (`eqx.tree_at`), and draws for different elements of one
      array (`x = jnp.where(mask, draw(key), x)`);
    - entries of a dict of which one is looked up;
    - a statement that starts over (`state = reset(key)`);
    - a key that a comment or the docstring calls shared;
    - a branch of `lax.cond` that a constant never takes.

    A mistake that a file repeats (`key = advance(key)` after each draw) is reported once.

    Reported as advice:

    - functions and loops that plot, numbers that only end in pictures, and the dropout masks of one
      network at two points;
    - code that only tries out a module: the part below `if __name__ == "__main__":` of a module in a
      package, folders of benchmarks, and code with a loop that warms up what it measures;
    - a key that created a model and is split later;
    - one evaluation of training data and one of test data;
    - two cells of a notebook;
    - two uses in a script, once each, where at most one is a draw itself, and what the first has
      made is not given to the second: a model and a dataset of one key;
    - results that stay apart: each is printed, plotted or asserted, or two results of one function
      are compared, as prices by two settings, and nothing else is computed from both;
    - a draw, or a call that is not seen to split, and then a split of one key, by which no number
      repeats, since the keys that `split` returns draw other numbers (JAX advises against it all the
      same): in the part of a script that no function holds, where `key = split(key)` renews the key,
      and where the results stay apart;
    - in a file of a project, whose program is not seen: a draw and a split in either order, two
      calls that both draw somewhere in their bodies, a call that evaluates (`validate(state,
      key)`), iterations that carry no state and pass the key on with other data, and loops over
      what is named as choices (`for method in methods`);
    - a call that draws somewhere in its body, unless the repeated numbers are seen to meet: a loop
      repeats it, it gets what the first use has made, or the function draws itself.

    ## References
    - [JAX: pseudorandom numbers](https://docs.jax.dev/en/latest/random-numbers.html)
    """

    code = "JAX301"
    name = "key-reuse"
    category = "random"
    severity = Severity.WARNING
    fixable = "unsafe"

    def __init__(self) -> None:
        self.equal: set[ast.AST] = set()  # calls that draw the weights of an earlier one again
        self.loops: dict[tuple[ast.AST, str], ast.AST] = {}  # by loop and key: the reported place
        self.told: dict[tuple[ast.AST, str], ast.AST] = {}  # by first use: the reported place
        self.chains: dict[tuple[ast.AST, str, int], ast.AST] = {}  # by slip: where it is made first

    @concerns(callees=("ExternalObject",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """`init` does not consume a key like other draws, since programs continue to use it; but it draws the
        same weights again.
        """
        node, frame = event.node, event.frame
        if not isinstance(event.callee, ExternalObject) or event.callee.name != "flax.linen.Module.init":
            return
        if not isinstance(node, ast.Call) or node in self.equal or frame.is_in_test():
            return
        first = equal_weights(node, frame)
        if first is not None:
            self.equal.add(node)
            report(
                node,
                f"the weights equal those of line {first.lineno}: `{short_source(node.func)}` gets the same PRNG key; split it first",
                reason="both calls have the same arguments, so `init` draws the same numbers",
            )

    def on_key_reuse(self, event: KeyEvent, report: Reporter) -> None:
        frame = event.frame
        if frame.is_in_test():
            return
        if _draws_nothing(event.node) or (event.how == "again" and _is_right_again(event)):
            return
        name = name_in(frame, event.origin).removesuffix(".rngs").removesuffix("['rngs']")
        if self.told.setdefault((event.first, name), event.node) is not event.node:
            return  # the same first use is to be split
        if says_of(name, frame, _MEANT):
            return
        chain = _slip(event, name)
        if chain is not None and self.chains.setdefault(chain, event.node) is not event.node:
            return  # one slip, made again and again
        through = f" (in `{event.callee}`)" if event.callee else ""
        if event.how == "loop":
            loop = frame.in_loop()
            if (
                loop is None
                or (loop.trips is not None and loop.trips < 2)
                or _shuffles_each(event.node, loop.node)
                or runs_once(event.node, loop.node, frame.module)
                or _EVALUATION.search(name)  # each evaluation should see the same numbers
                or _EVALUATION.search(event.callee)
                or _compares_settings(event.node, loop.node)
                or makes_alternatives(event.node, loop.node, frame.module)
                or acts_in_one_iteration(event)
                or _only_watches(event.node, loop.node)
                or self.loops.setdefault((loop.node, name), event.node) is not event.node
            ):
                return
            message = f"PRNG key `{name}` is reused each iteration{through}: numbers repeat; split it first"
            reason = f"the loop at line {getattr(loop.node, 'lineno', loop_line(loop.node))} neither splits nor rebinds `{name}`"
        else:
            message = f"PRNG key `{name}` is reused{through}: random numbers repeat; split it first"
            reason = f"the first use of `{name}` is at line {getattr(event.first, 'lineno', '?')}"
        # In an array of many keys, each would have to be split.
        splits = hasattr(event.first, "lineno") and not event.origin.batch
        summary = f"Split `{name}` first"
        fix = propose(report, event.first, "split-key", summary, safe=False, key=name) if splits else None
        # The same noise in several pictures does no harm.
        loop = frame.in_loop() if event.how == "loop" else None
        shown = loop is not None and isinstance(loop.node, ast.AST) and draws(loop.node)
        pictures = shown or makes_pictures(frame) or PICTURES.search(event.callee.rpartition(".")[2].lower())
        light = (
            pictures
            or share_masks(event)
            or splits_what_initialised(event)
            or judges_both_sets(event)
            or is_of_two_cells(event)
            or is_of_one_run(event)
            or only_derives(event)
            or is_only_shown(event)
            or stay_apart(event)
            or (bool(event.callee) and not meets(event))
        )
        advice = Severity.INFO if light else None
        shown = numbers_are_seen_to_repeat(event) and not _EVALUATES.search(event.callee.rpartition(".")[2])
        report(event.node, message, reason=reason, fix=fix, severity=advice, shown=shown)


def _is_right_again(event: KeyEvent) -> bool:
    """Whether both uses should draw the same numbers, or only one of them counts."""
    return (
        _keeps_aligned(event.first, event.node)
        or (bool(event.callee) and _compares(event))
        or _exclude_each_other(event)
        or _makes_a_twin(event)
        or _evaluates_the_same(event)
        or changes_a_pair(event)
        or change_parts(event)
        or _are_halves(event)
        or _reinitializes(event)
        or shows_shapes(event)
        or _draws_nothing(event.first)
        or _evaluates_again(event)
        or _are_selected(event)
        or _is_said_to_be_meant(event)
        or reach_other_submodules(event)
        or reach_other_modules(event)
        or is_given_up(event)
        or replaces(event)
        or are_entries_of_a_choice(event)
        or fills_other_places(event)
        or only_warms_up(event)
        or look_at_one_point(event)
        or _begins_again(event)
        or change_alike(event)
        or undoes(event)
        or shows_only_its_shape(event)
    )


def _begins_again(event: KeyEvent) -> bool:
    """`state = reset(key)`, and later the same statement again: it returns to the initial state."""
    statements = [event.frame.module.parents.get(call) for call in (event.first, event.node)]
    first, second = (ast.unparse(one) if isinstance(one, ast.Assign) else "" for one in statements)
    return bool(event.callee) and bool(first) and first == second


def _slip(event: KeyEvent, name: str) -> tuple[ast.AST, str, int] | None:
    """What several findings share that one habit causes: `_, key = split(key)` after each draw of a function, `key = next_key(key)`
    after each draw of a file, and lines that use the items of an array of keys one after the other, as other lines have done."""
    node, first, frame = event.node, event.first, event.frame
    statement = frame.module.parents.get(node)
    if isinstance(node, ast.Call) and isinstance(statement, ast.Assign) and name in names_stored(statement):
        if last_name(node.func) == "split":
            return frame.owner, name, 0
        if event.callee and [dotted(given) for given in passed(node)] == [name]:
            return frame.module.tree, event.callee, 0
    array, bracket, _ = name.partition("[")
    if bracket and hasattr(node, "lineno") and hasattr(first, "lineno"):
        return frame.owner, array, node.lineno - first.lineno
    return None


def _shuffles_each(node: ast.AST, loop: object) -> bool:
    """Every array in the loop's iterable is shuffled in the same way."""
    target = getattr(loop, "target", None)
    if not isinstance(node, ast.Call) or last_name(node.func) not in _SELECTIONS or target is None:
        return False
    names = names_stored(target)
    return any(isinstance(argument, ast.Name) and argument.id in names for argument in node.args[1:2])


def _keeps_aligned(first: ast.AST, second: ast.AST) -> bool:
    """Two arrays are shuffled in the same way: the same selection of each, such as inputs and labels."""
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    if last_name(first.func) not in _SELECTIONS:
        return False

    def shape(call: ast.Call) -> list[str]:
        rest = [*call.args[:1], *call.args[2:], *(keyword.value for keyword in call.keywords)]
        return [dotted(call.func), *(ast.unparse(part) for part in rest)]

    return shape(first) == shape(second) and len(first.args) > 1


def _compares(event: KeyEvent) -> bool:
    """`f(x + h, key)` and `f(x - h, key)`, or any difference: their random numbers cancel."""
    first, second = event.first, event.node
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    if ast.unparse(first.func) != ast.unparse(second.func):
        return False
    if any(map(_is_mirrored, first.args, second.args)):
        return True
    return any(
        isinstance(around, ast.BinOp)
        and isinstance(around.op, (ast.Sub, ast.Div))
        and any(part is first for part in ast.walk(around.left))
        and any(part is second for part in ast.walk(around.right))
        for around in event.frame.module.ancestors(second)
    )


def _is_mirrored(one: ast.expr, other: ast.expr) -> bool:
    """`x + h` and `x - h`, in either order."""
    return (
        isinstance(one, ast.BinOp)
        and isinstance(other, ast.BinOp)
        and {type(one.op), type(other.op)} == {ast.Add, ast.Sub}
        and ast.unparse(one.left) == ast.unparse(other.left)
        and ast.unparse(one.right) == ast.unparse(other.right)
    )


def _calls_the_same(event: KeyEvent) -> bool:
    first, second = event.first, event.node
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    return ast.unparse(first.func) == ast.unparse(second.func)


def _evaluates_the_same(event: KeyEvent) -> bool:
    """Whether results are compared on the same numbers, with a key whose name says so."""
    named = bool(event.callee) and _EVALUATION.search(event.origin.name) is not None
    return named and _calls_the_same(event)


def _are_halves(event: KeyEvent) -> bool:
    """`split(key)[0]` and `split(key)[1]`: the same split twice, of which each takes its own part; also of many keys, as by
    `vmap(split)(keys)[:, 0]`."""
    parents = event.frame.module.parents
    places = [parents.get(call) for call in (event.first, event.node)]
    if not all(
        isinstance(call, ast.Call) and re.search(r"\bsplit\b", ast.unparse(call.func))
        for call in (event.first, event.node)
    ):
        return False
    if ast.unparse(event.first) != ast.unparse(event.node):
        return False
    parts = [
        ast.unparse(place.slice)
        for place in places
        if isinstance(place, ast.Subscript) and not names_in(place.slice)
    ]
    return len(set(parts)) == 2


def _reinitializes(event: KeyEvent) -> bool:
    """`init_weights(Linear(3, 4, key=key), key)`: the second call draws the weights of the first again and replaces them, also where
    they have a name: `net = init_weights(net, key)`."""
    call, parents = event.node, event.frame.module.parents
    if not isinstance(call, ast.Call) or "init" not in last_name(call.func).lower():
        return False
    made = bound_by(parents.get(event.first) or event.first)
    again = bound_by(parents.get(call) or call)
    return any(part is event.first for argument in call.args for part in ast.walk(argument)) or any(
        names_in(argument) & made & again for argument in call.args
    )


def _draws_nothing(call: ast.AST) -> bool:
    """A call of a layer in inference mode, which takes a key and does not use it."""
    return isinstance(call, ast.Call) and any(
        keyword.arg in _INERT
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is _INERT[keyword.arg]
        for keyword in call.keywords
    )


def _evaluates_again(event: KeyEvent) -> bool:
    """A loss and its gradient, or the points of a line search: nested functions that hold the key, so that they share their numbers."""
    if not _OBJECTIVE.search(event.callee) or not event.origin.name:
        return False
    name = event.origin.name.partition(".")[0]
    functions = {
        function.name: function
        for function in nodes_of(event.frame.owner, ast.FunctionDef)
        if name in names_in(function) and name not in {p.arg for p in all_parameters(function)}
    }
    callee = functions.get(event.callee.rpartition(".")[2])
    return callee is not None and name not in names_in(event.node) and len(functions) > 1


_INERT = {"inference": True, "deterministic": True, "train": False, "training": False, "is_training": False}
_OBJECTIVE = re.compile(r"loss|residual|value|objective|cost|energy|nll|elbo")


def _are_selected(event: KeyEvent) -> bool:
    """`jnp.where(c, draw(key), other(key))`: only one of the two draws is used."""
    for above in event.frame.module.ancestors(event.node):
        if (
            isinstance(above, ast.Call)
            and last_name(above.func) in ("where", "select")
            and len(above.args) == 3
        ):
            return any(part is event.first for part in ast.walk(above.args[1])) and any(
                part is event.node for part in ast.walk(above.args[2])
            )
        if isinstance(above, ast.stmt):
            return False
    return False


def _is_said_to_be_meant(event: KeyEvent) -> bool:
    """Whether a comment in the call says that it is intended: `key,  # same seed as above`."""
    node = event.node
    lines = event.frame.module.source.text.splitlines()
    written = lines[getattr(node, "lineno", 1) - 1 : getattr(node, "end_lineno", 0)]
    return any(_MEANT.search(line.partition("#")[2].lower()) for line in written)


_MEANT = re.compile(
    r"\b(same|common) (random |prng )?(seed|key|rng|noise|numbers)|\b(used|shared|reused|same) (for|by|across|in) (every|each|all|both)",
    re.IGNORECASE,
)
_TWIN = re.compile(r"(^|_)(target|ema|teacher|slow|inference)(_|$)")


def _makes_a_twin(event: KeyEvent) -> bool:
    """The same call twice, for a state and its twin, which starts with the same numbers on purpose: a target network."""
    first, second = event.first, event.node
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    if ast.unparse(first) != ast.unparse(second):
        return False
    names = [name for call in (first, second) for name in receivers(call, event.frame.module)]
    return any(_TWIN.search(name.lower()) for name in names)


def _exclude_each_other(event: KeyEvent) -> bool:
    """Whether the two places are under tests of one name for different constants, only one of which holds."""
    frame = event.frame
    owner = frame.owner
    first, second = _asked(event.first, frame.module), _asked(event.node, frame.module)
    return any(
        name in first and _excludes(first[name], answer) and name not in names_stored(owner)
        for name, answer in second.items()
    )


def _excludes(one: tuple[object, bool], other: tuple[object, bool]) -> bool:
    """Whether `== a` or `!= a` and `== b` or `!= b` cannot both hold."""
    (first, equal), (second, also) = one, other
    return first != second if equal and also else first == second and equal is not also


def _compares_settings(node: ast.AST, loop: ast.AST) -> bool:
    """`for lr in (0.01, 0.1): run(lr, key)`: the results of a few settings are compared on the same numbers."""
    iterable = getattr(loop, "iter", None)
    if not isinstance(iterable, (ast.Tuple, ast.List)) or not isinstance(node, ast.Call):
        return False
    names = names_stored(getattr(loop, "target", iterable))
    written = all(
        isinstance(part, ast.Constant) and not isinstance(part.value, int) for part in iterable.elts
    )
    return written and any(isinstance(argument, ast.Name) and argument.id in names for argument in node.args)


def _only_watches(node: ast.AST, loop: ast.AST) -> bool:
    """`losses.append(loss(params, key))`, where an iteration computes new `params` independent of the loss: each is
    compared on the same numbers."""
    if not isinstance(node, ast.Call):
        return False
    given = set[str]().union(*map(names_in, passed(node)))
    needed = sources(given, loop)
    return bool(needed & stepped_on(loop)) and not needed & made_of(node, loop)


def _asked(node: ast.AST, module: Module) -> dict[str, tuple[object, bool]]:
    """The conditions on names that `kind == "normal"`, `kind != "normal"` and similar tests imply where `node` runs."""
    found: dict[str, tuple[object, bool]] = {}
    inside = node
    for around in module.ancestors(node):
        if isinstance(around, ast.If) and any(inside is statement for statement in around.body):
            both = isinstance(around.test, ast.BoolOp) and isinstance(around.test.op, ast.And)
            for test in around.test.values if both and isinstance(around.test, ast.BoolOp) else [around.test]:
                if (
                    isinstance(test, ast.Compare)
                    and isinstance(test.ops[0], (ast.Eq, ast.NotEq))
                    and isinstance(answer := test.comparators[0], ast.Constant)
                    and dotted(test.left)
                ):
                    found[dotted(test.left)] = (answer.value, isinstance(test.ops[0], ast.Eq))
        inside = around
    return found


def loop_line(node: object) -> int:
    """The line of a comprehension's generator, which has no position of its own."""
    return getattr(getattr(node, "target", None), "lineno", 0)
