"""The code that a person would write for a placement: rules by the path of an array, and the `jit` with its
shardings.

The rules are tried on every input before they are shown: their result is what was compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from jaxlint_runtime.sharding.activation_constraints import constraint_in_words, variable
from jaxlint_runtime.sharding.input_classes import Classes, Input, ParameterClass, above
from jaxlint_runtime.sharding.mesh import MeshShape
from jaxlint_runtime.sharding.strategies import Spec, Strategy

Rule = tuple[str, Spec]
_WIDTH = 100  # characters of a line


def written(spec: Spec) -> str:
    """A spec as code: `P(None, 'model')`."""
    parts = [repr(axes[0]) if len(axes) == 1 else (repr(axes) if axes else "None") for axes in spec]
    while parts and parts[-1] == "None":
        parts.pop()
    return f"P({', '.join(parts)})"


def rules(strategy: Strategy, classes: Classes, mesh: MeshShape) -> tuple[Rule, ...]:
    """Patterns for `re.search` in an array's path, with their specs; an array without a match stays whole."""
    wanted = strategy.leaves(classes, mesh)
    inputs, several = _state(classes), placed_together(classes)
    tree = len(above([one.keys for entry in classes.parameters for one in entry.members]))
    found: list[Rule] = []
    for number, entry in enumerate(classes.parameters):
        spec, behind = strategy.spec(classes, number), strategy.followers(classes, number)
        patterns = _patterns(entry.members, tree)
        if any(spec):
            found += [(pattern, spec) for pattern in patterns]
        if spec != behind and entry.followers:
            apart = r"\b(" + "|".join(_only_in_state(entry)) + r")\b.*"
            found += [(apart + pattern, behind) for pattern in patterns]
    found.sort(key=lambda rule: -len(rule[0]))
    short = tuple(dict(found).items())
    return short if _gives(short, inputs, wanted, several) else _general(inputs, wanted, several)


def _only_in_state(entry: ParameterClass) -> list[str]:
    """Names in the paths of optimiser moments that parameter paths lack: mu, nu."""
    own = {key for one in entry.members for key in one.keys}
    beside = [[re.escape(k) for k in one.keys if k not in own and not k.isdigit()] for one in entry.followers]
    return list(dict.fromkeys(keys[-1] for keys in beside if keys)) or ["(?!)"]


def _state(classes: Classes) -> list[Input]:
    """Parameters and the state that follows them."""
    return [one for entry in classes.parameters for one in (*entry.members, *entry.followers)]


def _general(inputs: Sequence[Input], wanted: Sequence[Spec], several: Sequence[str]) -> tuple[Rule, ...]:
    """Whole paths, with as many numbers generalised as one rule for several arrays allows."""
    found: dict[str, Spec] = {}
    for one in inputs:
        if any(wanted[one.number]):
            for kept in range(_inside(one.path, several).count("[") + 1):
                pattern = _open(one.path, kept, several)
                same = [other for other in inputs if re.search(pattern, _inside(other.path, several))]
                if all(wanted[other.number] == wanted[one.number] for other in same):
                    found[pattern] = wanted[one.number]
                    break
    return tuple(found.items())


def _open(path: str, kept: int, several: Sequence[str]) -> str:
    """The path as a pattern, with its numbers generalised except those in the first `kept` brackets."""
    parts = re.split(r"(?=[\[.])", _inside(path, several))
    shown = [
        re.escape(part) if n <= kept else re.sub(r"\d+", lambda _: r"\d+", re.escape(part))
        for n, part in enumerate(parts)
    ]
    return "^" + "".join(shown) + "$"


def _inside(path: str, several: Sequence[str]) -> str:
    """The path of an array inside its argument; if several arguments are placed together, inside their tuple."""
    argument = _argument(path)
    inside = re.sub(r"^(?:args|kwargs)\[[^\]]+\]", "", path)
    return f"[{several.index(argument)}]{inside}" if len(several) > 1 and argument in several else inside


def placed_together(classes: Classes) -> tuple[str, ...]:
    """The arguments with parameters or state that follows them."""
    return tuple(
        dict.fromkeys(_argument(one.path) for one in sorted(_state(classes), key=lambda one: one.number))
    )


def _patterns(members: Sequence[Input], tree: int) -> list[str]:
    """The common path endings of a class, with numbers generalised and differing names as alternatives.

    The first `tree` keys belong to the whole parameter tree, which the optimiser moments have elsewhere.
    """
    ends = [one.keys[tree:][-3:] for one in members]
    tails = list(dict.fromkeys(tuple(re.sub(r"\d+", "#", key) for key in end) for end in ends))
    named = [tuple(key for key in tail if key.strip("#")) or tail for tail in tails]
    by_rest: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    boxed = members[0].path.endswith(".value")
    for tail in dict.fromkeys(named):
        before, name, after = _varying(tail, named)
        by_rest.setdefault((before, after), []).append(name)
    found = []
    for (before, after), names in by_rest.items():
        middle = _key(names[0]) if len(names) == 1 else "(" + "|".join(_key(n) for n in names) + ")"
        parts = [*(_key(k) for k in before), middle, *(_key(k) for k in after)]
        found.append(r"\b" + r"\b.*\b".join(parts) + (r"\b\W*\.value$" if boxed else r"\b\W*$"))
    return found


def _varying(
    tail: tuple[str, ...], tails: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The key in which a path differs from others of the same length, with the keys before and after it."""
    for position in range(len(tail) - 1, -1, -1):
        rest = (*tail[:position], *tail[position + 1 :])
        others = [t for t in tails if len(t) == len(tail) and (*t[:position], *t[position + 1 :]) == rest]
        if len(others) > 1:
            return tail[:position], tail[position], tail[position + 1 :]
    return tail[:-1], tail[-1], ()


def _key(key: str) -> str:
    return re.escape(key).replace(r"\#", r"\d+").replace("#", r"\d+")


def _gives(
    found: Sequence[Rule], inputs: Sequence[Input], wanted: Sequence[Spec], several: Sequence[str]
) -> bool:
    return all(
        spec_of(found, _inside(one.path, several), len(one.shape)) == wanted[one.number] for one in inputs
    )


def spec_of(found: Sequence[Rule], path: str, rank: int) -> Spec:
    """The spec of the rules for one path."""
    for pattern, spec in found:
        given = _stripped(spec)
        if re.search(pattern, path) and len(given) <= rank:
            return (*given, *((),) * (rank - len(given)))
    return ((),) * rank


def _stripped(spec: Spec) -> Spec:
    while spec and not spec[-1]:
        spec = spec[:-1]
    return spec


def program(
    strategy: Strategy,
    classes: Classes,
    mesh: MeshShape,
    name: str,
    results: Sequence[Sequence[int | None]],
    signature: Sequence[str] = (),
    nnx: bool = False,
) -> str:
    """The code, for a function called `name`.

    `results` has an entry for each part of the result: for each array in it the input whose new value it is.
    `signature` has the parameter names; `nnx` says that it takes modules and is jitted by `nnx.jit`.
    """
    found = rules(strategy, classes, mesh)
    state = {one.number for one in _state(classes)}
    data = {one.number for one in classes.data}
    arguments: dict[str, str] = {}
    for one in classes.inputs:
        argument = _argument(one.path)
        kind = "state" if one.number in state else ("data" if one.number in data else "whole")
        before = arguments.get(argument, kind)
        arguments[argument] = (
            "state" if "state" in (before, kind) else ("data" if "data" in (before, kind) else kind)
        )
    names = {
        argument: _variable(argument, kind, arguments, signature) for argument, kind in arguments.items()
    }
    lines = [
        *(["import re", ""] if found else []),
        "import jax",
        *(["from flax import nnx"] if nnx else []),
        "from jax.sharding import NamedSharding, PartitionSpec as P",
        "",
        f"mesh = jax.make_mesh({mesh.sizes!r}, {mesh.names!r}, axis_types=(jax.sharding.AxisType.Auto,) * {len(mesh.names)})",
    ]
    lines += _table(found) if found else []
    several = [names[argument] for argument in placed_together(classes)]
    if nnx:
        lines += _for_modules(strategy, name, arguments, names, several, bool(found))
    else:
        lines += _for_trees(strategy, classes, name, results, arguments, names, several, bool(found))
    return "\n".join([*lines, *_constraints(strategy, classes)])


def _table(found: Sequence[tuple[str, Spec]]) -> list[str]:
    """The rules, and the function that looks up a path in them."""
    return [
        "RULES = (  # the first pattern that matches an array's path gives its PartitionSpec",
        *(f"    (r{_quoted(pattern)}, {written(spec)})," for pattern, spec in found),
        ")",
        "",
        "def placed(path, leaf):",
        "    name = jax.tree_util.keystr(path)",
        "    found = (spec for pattern, spec in RULES if re.search(pattern, name) and len(spec) <= leaf.ndim)",
        "    return NamedSharding(mesh, next(found, P()))",
        "",
    ]


def _constraints(strategy: Strategy, classes: Classes) -> list[str]:
    """The constraints inside the step: on parameters that are stored in parts, and on activations."""
    lines: list[str] = []
    if strategy.used:
        lines += [
            "# inside the step, before the loss: sharded parameters are gathered where they are used",
            "# params = jax.lax.with_sharding_constraint(params, ...)  # with these specs, and the others unchanged:",
        ]
        lines += [
            f"#   {classes.parameters[n].name}: {written(spec)}"
            for n, spec in strategy.used.items()
            if spec != strategy.spec(classes, n)
        ]
    for number, spec in strategy.held.items():
        held = classes.activations[number]
        name = variable(held.place) or "x"
        constraint = (
            f"{name} = jax.lax.with_sharding_constraint({name}, NamedSharding(mesh, {written(spec)}))"
        )
        lines += [f"# inside the step, {constraint_in_words(held, classes.roles)}:", f"#   {constraint}"]
    return lines


def _for_trees(
    strategy: Strategy,
    classes: Classes,
    name: str,
    results: Sequence[Sequence[int | None]],
    arguments: Mapping[str, str],
    names: Mapping[str, str],
    several: Sequence[str],
    rules: bool,
) -> Iterator[str]:
    """`jax.jit` with the shardings of its arguments and results, and the placements before the first call."""
    if rules and several:
        left, right = ", ".join(f"{one}_at" for one in several), ", ".join(several)
        right = f"({right})" if len(several) > 1 else right
        yield f"{left} = jax.tree_util.tree_map_with_path(placed, {right})"
    given = {}
    for argument, kind in arguments.items():
        given[argument] = f"{names[argument]}_at" if kind == "state" and rules else _plainly(strategy, kind)
    back = [_back(part, classes, given) for part in results]
    shown = back[0] if len(back) == 1 else f"({', '.join(back)})"
    if all(argument.isdigit() for argument in arguments):
        inside = ", ".join(given.values()) + ("," if len(given) == 1 else "")
        yield _call("jax.jit", name, f"in_shardings=({inside})", f"out_shardings={shown}")
    else:  # jit accepts no shardings for keywords: what is placed before the call stays there
        yield f"step = jax.jit({name}, out_shardings={shown})"
    for argument, kind in arguments.items():
        if kind == "state":
            yield f"{names[argument]} = jax.device_put({names[argument]}, {given[argument]})  # once"


def _for_modules(
    strategy: Strategy,
    name: str,
    arguments: Mapping[str, str],
    names: Mapping[str, str],
    several: Sequence[str],
    rules: bool,
) -> Iterator[str]:
    """`nnx.jit`, which updates its modules in place: their shardings are given once and also apply to the results."""
    modules = f"({', '.join(several)})" if len(several) > 1 else several[0]
    if rules:
        yield f"state = nnx.state({modules})"
        yield "state_at = jax.tree_util.tree_map_with_path(placed, state)"
        yield f"nnx.update({modules}, jax.device_put(state, state_at))  # once"
    else:
        yield f"nnx.update({modules}, jax.device_put(nnx.state({modules}), NamedSharding(mesh, P())))  # once"
    given = []
    for argument, kind in arguments.items():
        if kind == "state" and rules:
            part = f"state_at[{several.index(names[argument])}]" if len(several) > 1 else "state_at"
            given.append(f"nnx.StateSharding({part})")
        else:
            given.append(_plainly(strategy, kind))
    inside = ", ".join(given) + ("," if len(given) == 1 else "")
    yield _call("nnx.jit", name, f"in_shardings=({inside})", "out_shardings=None")


def _call(function: str, *arguments: str) -> str:
    """The statement on one line, or with one argument to a line."""
    short = f"step = {function}({', '.join(arguments)})"
    if len(short) <= _WIDTH:
        return short
    return f"step = {function}(\n" + "".join(f"    {one},\n" for one in arguments) + ")"


def _plainly(strategy: Strategy, kind: str) -> str:
    return (
        f"NamedSharding(mesh, {written((strategy.batch,))})" if kind == "data" else "NamedSharding(mesh, P())"
    )


def _back(part: Sequence[int | None], classes: Classes, given: Mapping[str, str]) -> str:
    """The sharding of one part of the result: that of the argument whose new value it is, otherwise None."""
    known = [number for number in part if number is not None]
    arguments = {_argument(classes.inputs[number].path) for number in known}
    if not part or len(known) < len(part) or len(arguments) != 1:
        return "None"
    argument = arguments.pop()
    whole = sum(1 for one in classes.inputs if _argument(one.path) == argument)
    return given[argument] if whole == len(part) else "None"


def _argument(path: str) -> str:
    found = re.match(r"(?:args|kwargs)\[([^\]]+)\]", path)
    return found[1].strip("'\"") if found else path


def _variable(argument: str, kind: str, arguments: dict[str, str], signature: Sequence[str]) -> str:
    if not argument.isdigit():
        return argument
    if int(argument) < len(signature):
        return signature[int(argument)]
    alone = sum(1 for other in arguments.values() if other == kind) == 1
    return {"state": "state", "data": "batch"}.get(kind, "other") + ("" if alone else f"_{argument}")


def _quoted(pattern: str) -> str:
    return '"' + pattern.replace('"', '\\"') + '"'
