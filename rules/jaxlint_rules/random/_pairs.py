"""Data that belong together, and that one function changes with one key on purpose: an image and its mask."""

from __future__ import annotations

import ast
import re

from jaxlint.api import KeyEvent
from jaxlint.api.syntax import dotted, nodes_of, walk
from jaxlint.api.values import Function
from jaxlint_rules._callables import named_or_method
from jaxlint_rules._names import last_name, names_in, variable_given

_BESIDE = re.compile(r"mask|label|target|segm|box|keypoint")


def changes_a_pair(event: KeyEvent) -> bool:
    """`image = flip(image, key)` and `mask = flip(mask, key)`: a pair is changed in the same way."""
    if _texts(event) is None:
        return False
    calls = (event.first, event.node)
    given = [variable_given(event.frame.module.parents.get(call)) for call in calls]
    changed = all(name in names_in(call) for name, call in zip(given, calls, strict=True))
    return changed and given[0] != given[1] and any(_BESIDE.search(name.lower()) for name in given)


def change_parts(event: KeyEvent) -> bool:
    """`views = crop(key, views, "rgb")` and `views = crop(key, views, "depth")`: one function changes two parts of one tree, which it
    takes by their names."""
    calls = [call for call in (event.first, event.node) if isinstance(call, ast.Call)]
    if len(calls) != 2 or _texts(event) is None or len(calls[0].args) != len(calls[1].args):
        return False
    changed = [variable_given(event.frame.module.parents.get(call)) for call in calls]
    pairs = list(zip(*(map(ast.unparse, call.args) for call in calls), strict=True))
    other = [place for place, (one, two) in enumerate(pairs) if one != two]
    whole = [place for place, (one, two) in enumerate(pairs) if one == two == changed[0] == changed[1]]
    called = named_or_method(calls[1].func, event.frame)
    if len(other) != 1 or len(whole) != 1 or not isinstance(called, Function):
        return False
    names = [one.arg for one in called.node.args.args]
    if max(*other, *whole) >= len(names):
        return False
    return any(
        dotted(part.value) == names[whole[0]] and dotted(part.slice) == names[other[0]]
        for part in nodes_of(called.node, ast.Subscript)
    )


def _texts(event: KeyEvent) -> str | None:
    """The function that both calls name; None if they differ."""
    named = [ast.unparse(call.func) for call in (event.first, event.node) if isinstance(call, ast.Call)]
    return named[0] if len(named) == 2 and named[0] == named[1] else None


def change_alike(event: KeyEvent) -> bool:
    """`tree.map(shuffle, data)` and `tree.map(shuffle, labels)`, or one `partial(f, key=key)` on two inputs:
    one function with the key changes arrays that belong together.
    """
    first, second = event.first, event.node
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    texts = [ast.unparse(call.func) for call in (first, second)]
    if last_name(first.func) in ("map", "tree_map"):
        texts = [
            f"{ast.unparse(call.func)} {ast.unparse(call.args[0])}" for call in (first, second) if call.args
        ]
        return len(texts) == 2 and texts[0] == texts[1] and isinstance(first.args[0], ast.Name)
    bound = [
        statement.value
        for statement in nodes_of(event.frame.owner, ast.Assign)
        if [dotted(target) for target in statement.targets] == [dotted(first.func)]
    ]
    return (
        texts[0] == texts[1]
        and len(bound) == 1
        and isinstance(bound[0], ast.Call)
        and last_name(bound[0].func) == "partial"
        and event.origin.name in {part.id for part in walk(bound[0]) if isinstance(part, ast.Name)}
    )
