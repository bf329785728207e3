"""Whether donated arguments may hold one buffer in two places. XLA raises for this: "Attempt to donate the
same buffer twice".

    out = embed if args.tie else jax.random.normal(key, embed.shape)
    params = {"embed": embed, "out": out}

A run shows this for its own path alone. So this module finds the places of the program where two parts become
one buffer, and follows the resulting values to the donating call: through variables, attributes, arguments
and results of functions, in all files.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from jaxlint.codemods.donation.shared_buffers import METADATA, Parsed, SharedBuffers
from jaxlint.codemods.facts.bound_arguments import bound_arguments
from jaxlint.codemods.facts.dataflow import FUNCTIONS, names_in, root_of
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.jaxapi.functions import TREE_MAPS
from jaxlint.jaxapi.names import JAX_FAMILY
from jaxlint.syntax.miscounted_depth import parse_expression

_MAKERS = frozenset({"create", "replace", "_replace", "_make", "dict", "tree_at", "SimpleNamespace"})
_CHANGED = frozenset(
    {"replace", "_replace", "tree_at", "update", "dict"}
)  # they keep the other parts of the object
_METHODS = frozenset({"replace", "_replace", "update"})
_PLAIN = frozenset({"int", "float", "bool", "str", "int | None", "float | None", "str | None", "Callable"})
_LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy", *JAX_FAMILY}
_PART = (ast.Attribute, ast.Subscript)
_MOST = 20_000  # values that are followed
_DEPTH = 8

Holder = tuple[object, ...]
Value = tuple["_View", ast.AST]


def duplicate_buffer(
    site: Parsed, others: Iterable[Parsed], calls: Sequence[tuple[ast.Call, list[ast.expr]]], stepping: str
) -> str:
    """Where two parts of a donated argument become one buffer, in words; empty if no such place is visible.

    `calls`: the calls in `site` that donate, with the arguments that they donate. `stepping`: the called
    function.
    """
    views = [_View(one, stepping) for one in (site, *others)]
    own = views[0]
    for call, parts in calls:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        for one in parts:
            if any(other is not one and own.holders(one) & own.holders(other) for other in given):
                return f"`{ast.unparse(one)}` at line {call.lineno} is also another argument of the call"
    donated = {
        node
        for _, parts in calls
        for part in parts
        for node in ast.walk(part)
        if not (isinstance(node, ast.Name) and node.id in ("self", "cls"))  # of which one field is donated
    }
    for view in views:
        for made, line in view.sharing():
            if _Followed(views, own, donated).reaches(view, made):
                place = f"line {line}" if view is own else f"{view.display}:{line}"
                return f"`{ast.unparse(made)[:60]}` at {place} may hold one buffer in two places, and XLA does not donate a buffer twice"
    return ""


class _View:
    """One file. A holder stands for arrays: two expressions that have one in common may be the same buffers."""

    def __init__(self, parsed: Parsed, stepping: str) -> None:
        self.tree, self.names, self.display = parsed.tree, parsed.names, parsed.display
        self.shared = SharedBuffers(parsed, {stepping})

    # What an expression holds

    def holders(self, node: ast.AST, depth: int = 0) -> frozenset[Holder]:
        """The holders of an expression that may give arrays as they are."""
        if depth > _DEPTH:
            return frozenset()
        if isinstance(node, ast.Name):
            return self._of_name(node, depth)
        if isinstance(node, _PART):
            if isinstance(node, ast.Attribute) and node.attr in METADATA:
                return frozenset()
            return frozenset({("part", ast.unparse(node), self._home(node))})
        below: list[ast.AST] = []
        if isinstance(node, ast.IfExp):
            below = [node.body, node.orelse]
        elif isinstance(node, ast.BoolOp):
            below = list(node.values)
        elif isinstance(node, ast.NamedExpr | ast.Starred | ast.keyword):
            below = [node.value]
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            below = list(node.elts)
        elif isinstance(node, ast.Dict):
            below = list(node.values)
        elif isinstance(node, ast.Call):
            below = self._handed_back(node)
        return frozenset().union(*(self.holders(one, depth + 1) for one in below))

    def _handed_back(self, node: ast.Call) -> list[ast.AST]:
        """The arguments that a call may return unchanged: the first one of a library's function, and the trees that it maps."""
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        name = self.names.qualified(node.func)
        made = self._class_of(node)
        if made is not None:
            return [one for one in given if self._is_field(node, one, made)]
        if self._is_of_library(node.func):
            given = given if name in TREE_MAPS else node.args[:1]
        elif _called(self, node.func)[:1].isupper():
            return list(given)  # a named tuple, or a class of another file
        return [one for one in given if self.shared.hands_back(node, one)]

    def _is_of_library(self, function: ast.AST) -> bool:
        return (self.names.qualified(function) or "").partition(".")[0] in _LIBRARIES

    def _class_of(self, node: ast.Call) -> ast.ClassDef | None:
        if not isinstance(node.func, ast.Name):
            return None
        made = [one.node for one in self.names.bindings_of(node.func.id, self.names.scope_at(node))]
        return made[0] if len(made) == 1 and isinstance(made[0], ast.ClassDef) else None

    def _is_field(self, call: ast.Call, given: ast.expr, made: ast.ClassDef) -> bool:
        """Whether an object of a class of the file may hold this argument unchanged: it is stored, or it is a
        field, and not a plain number.
        """
        init = next(
            (one for one in made.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None
        )
        if init is None:
            fields = [
                one
                for one in made.body
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            ]
            parameters = [
                ast.arg(one.target.id, one.annotation) for one in fields if isinstance(one.target, ast.Name)
            ]
        else:
            parameters = [*init.args.posonlyargs, *init.args.args][1:]
        bound = bound_arguments(call, parameters)
        mine = [one for number, one in enumerate(parameters) if bound is None or bound.get(number) is given]
        if not parameters or not mine:
            return True
        stored = [one.value for one in ast.walk(init or ast.Module([], [])) if isinstance(one, ast.Assign)]
        return any(
            not _is_plain(one)
            and (
                init is None
                or any(one.arg in names_in(value) and bool(self.holders(value)) for value in stored)
            )
            for one in mine
        )

    def _of_name(self, node: ast.Name, depth: int) -> frozenset[Holder]:
        scope = self.names.scope_at(node).resolve(node.id)
        if scope is None:
            return frozenset()
        bindings = scope.bindings.get(node.id, ())
        values = [self.names.given(one.node) for one in bindings]
        if values and all(
            isinstance(value, ast.Constant) or (isinstance(one.node, ast.arg) and _is_plain(one.node))
            for one, value in zip(bindings, values, strict=True)
        ):
            return frozenset()  # a number, or a name
        found: set[Holder] = {("name", node.id, scope)}
        for binding in bindings:
            given = self.names.given(binding.node)
            if given is None or isinstance(given, ast.Constant):
                continue
            if isinstance(given, ast.Call | ast.Dict | ast.List):
                found.add(("value", id(given)))
            found |= self.holders(given, depth + 1)
        return frozenset(found)

    def _home(self, node: ast.AST) -> Scope | None:
        root = root_of(node)
        return self.names.scope_at(root).resolve(root.id) if isinstance(root, ast.Name) else None

    # Where two become one

    def sharing(self) -> Iterator[tuple[ast.expr, int]]:
        """Expressions that may hold a buffer twice, with the line of the second holder."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                yield from ((root, node.lineno) for root in self._stored_twice(node))
            elif isinstance(node, ast.expr) and self._shares(node):
                called = node.func if isinstance(node, ast.Call) else None
                changed = isinstance(called, ast.Attribute) and called.attr == "update"
                yield (called.value if changed and isinstance(called, ast.Attribute) else node), node.lineno

    def _shares(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Dict | ast.List | ast.Tuple):
            return self._display_shares(node)
        if isinstance(node, ast.Call):
            return self._call_shares(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = (node.left, node.right)
            return any(isinstance(one, ast.List | ast.Tuple) and bool(self.holders(one)) for one in sides)
        return isinstance(
            node, ast.ListComp | ast.DictComp | ast.GeneratorExp
        ) and self._comprehension_shares(node)

    def _display_shares(self, node: ast.Dict | ast.List | ast.Tuple) -> bool:
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return False
        if not isinstance(node, ast.Dict):
            return self._any_two(node.elts)
        spread = [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
        named = [
            (_constant(key), value)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        ]
        return self._any_two(node.values) or any(
            self._is_other_part(value, whole, key) for whole in spread for key, value in named
        )

    def _call_shares(self, node: ast.Call) -> bool:
        called = node.func
        last = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if (
            (self.names.qualified(called) or "") in TREE_MAPS
            and node.args
            and isinstance(node.args[0], ast.Lambda)
        ):
            mapped = node.args[0]
            own = {one.arg for one in (*mapped.args.posonlyargs, *mapped.args.args)}
            return bool(self.holders(mapped.body)) and not own & names_in(mapped.body)
        if last == "fromkeys":
            return len(node.args) == 2 and bool(self.holders(node.args[1]))
        if last not in _MAKERS:
            library = self._is_of_library(called) and last != "TrainState"
            given = [] if library else self._handed_back(node)  # type: ignore[assignment]
        if self._any_two(given):
            return True
        return last in _CHANGED and self._changed_shares(node, last)

    def _changed_shares(self, node: ast.Call, last: str) -> bool:
        """Whether a change puts a part of an object into another place of the same object, which keeps the rest."""
        called, given = node.func, node.args
        wholes = [called.value] if isinstance(called, ast.Attribute) and last in _METHODS else given[:1]
        pairs = [(keyword.arg, keyword.value) for keyword in node.keywords]
        if last == "tree_at":  # of equinox: where, in what, by what
            wholes, pairs = given[1:2], [*pairs, *((None, one) for one in given[2:])]
        elif last == "update":
            pairs += [
                (_constant(key), value)
                for one in given
                if isinstance(one, ast.Dict)
                for key, value in zip(one.keys, one.values, strict=True)
            ]
        elif last == "replace":
            wholes = [*wholes, *given[:1]]  # a method, or `dataclasses.replace`
        return any(self._is_other_part(value, whole, key) for whole in wholes for key, value in pairs)

    def _comprehension_shares(self, node: ast.ListComp | ast.DictComp | ast.GeneratorExp) -> bool:
        """Whether each iteration yields the same arrays: they do not depend on the loop variables."""
        value = node.value if isinstance(node, ast.DictComp) else node.elt
        turning = {name for one in node.generators for name in names_in(one.target)}
        return bool(self.holders(value)) and not turning & names_in(value)

    def _stored_twice(self, node: ast.Assign) -> Iterator[ast.Name]:
        """`params["out"] = params["embed"]`, `a["x"] = a["y"] = w`, and the same value stored by another statement."""
        stored = [one for one in node.targets if isinstance(one, _PART)]
        for target in stored:
            root = root_of(target)
            if not isinstance(root, ast.Name):
                continue
            text = ast.unparse(target)
            own = self.holders(node.value)
            parts = {one[1] for one in own if one[0] == "part"}
            if (
                any(_within(str(part), root.id) and part != text for part in parts)
                or any(one is not target and getattr(root_of(one), "id", "") == root.id for one in stored)
                or (
                    own
                    and any(self.holders(other.value) & own for other in self._stores_into(root, node, text))
                )
            ):
                yield root

    def _stores_into(self, root: ast.Name, but: ast.Assign, text: str) -> Iterator[ast.Assign]:
        scope = self.names.scope_at(root).resolve(root.id)
        for use in self.names.uses_of(root.id, scope) if scope is not None else ():
            top: ast.AST = use.name
            while isinstance(above := self.names.parents.get(top), _PART) and above.value is top:
                top = above
            statement = self.names.parents.get(top)
            if isinstance(statement, ast.Assign) and statement is not but and top in statement.targets:
                if ast.unparse(top) != text:
                    yield statement

    def _any_two(self, parts: Iterable[ast.AST]) -> bool:
        return any(one & other for one, other in combinations([self.holders(part) for part in parts], 2))

    def _is_other_part(self, value: ast.expr, whole: ast.expr, key: str | None) -> bool:
        """Whether a value may be a part of `whole` that `whole` also holds under another name."""
        for one in self.holders(value):
            if one[0] == "part" and _within(str(one[1]), ast.unparse(whole)):
                node = parse_expression(str(one[1]))
                last = (
                    node.attr if isinstance(node, ast.Attribute) else _constant(getattr(node, "slice", None))
                )
                if last is None or last != key:
                    return True
        return False


class _Followed:
    """Follows a value to a donating call."""

    def __init__(self, views: Sequence[_View], own: _View, donated: set[ast.AST]) -> None:
        self.views, self.own, self.donated = views, own, donated

    def reaches(self, view: _View, made: ast.AST) -> bool:
        waiting: list[Value] = [(view, made)]
        seen: set[ast.AST] = {made}
        while waiting:
            view, node = waiting.pop()
            if view is self.own and node in self.donated:
                return True
            if len(seen) > _MOST:
                return True
            for one in self._next(view, node):
                if one[1] not in seen:
                    seen.add(one[1])
                    waiting.append(one)
        return False

    def _next(self, view: _View, node: ast.AST) -> Iterator[Value]:
        """The next places of the value."""
        if isinstance(node, ast.Name) and not isinstance(view.names.parents.get(node), ast.keyword):
            scope = view.names.scope_at(node).resolve(node.id)
            if scope is not None:
                yield from ((view, use.name) for use in view.names.uses_of(node.id, scope))
        for end in view.shared.ends(node, 0):
            root = root_of(end)
            if isinstance(end, ast.Attribute):
                yield from self._attribute(view, end)
            if isinstance(root, ast.Name):
                yield view, root
        function = next((one for one in view.names.ancestors(node) if isinstance(one, FUNCTIONS)), None)
        if isinstance(function, ast.FunctionDef) and view.shared.is_returned(node, function):
            yield from self._calls(function.name)
        yield from self._parameters(view, node)

    def _attribute(self, view: _View, stored: ast.Attribute) -> Iterator[Value]:
        for other in self.views:
            for node in ast.walk(other.tree):
                if (
                    isinstance(node, ast.Attribute)
                    and node.attr == stored.attr
                    and isinstance(node.ctx, ast.Load)
                ):
                    yield other, node
        maker = next((one for one in view.names.ancestors(stored) if isinstance(one, ast.ClassDef)), None)
        if maker is not None:
            yield from self._calls(maker.name)

    def _calls(self, name: str) -> Iterator[Value]:
        """The calls of a function or class, and the calls that receive it as an argument."""
        for other in self.views:
            for node in ast.walk(other.tree):
                if not isinstance(node, ast.Call):
                    continue
                if _called(other, node.func) == name:
                    yield other, node
                elif any(isinstance(one, ast.Name) and one.id == name for one in node.args):
                    if (other.names.qualified(node.func) or "").startswith("jax.lax."):
                        continue  # which give new arrays
                    above = other.names.parents.get(node)
                    yield other, above if isinstance(above, ast.Call) and above.func is node else node

    def _parameters(self, view: _View, node: ast.AST) -> Iterator[Value]:
        """The parameters of the program's functions that receive it."""
        child, above = node, view.names.parents.get(node)
        while isinstance(above, ast.Tuple | ast.List | ast.Dict | ast.Starred | ast.keyword | ast.IfExp):
            child, above = above, view.names.parents.get(above)
        if not isinstance(above, ast.Call) or above.func is child:
            return
        given = child.value if isinstance(child, ast.keyword) else child
        name = _called(view, above.func)
        for other in self.views:
            for function in ast.walk(other.tree):
                if not isinstance(function, ast.FunctionDef):
                    continue
                around = other.names.parents.get(function)
                method = isinstance(around, ast.ClassDef)
                if name != (around.name if method and function.name == "__init__" else function.name):  # type: ignore[union-attr]
                    continue
                parameters = [*function.args.posonlyargs, *function.args.args][int(method) :]
                bound = bound_arguments(above, parameters)
                scope = other.names.scope_inside(function)
                for number, parameter in enumerate(parameters):
                    if scope is not None and (bound is None or bound.get(number) is given):
                        yield from ((other, use.name) for use in other.names.uses_of(parameter.arg, scope))


def _called(view: _View, function: ast.AST) -> str:
    name = view.names.qualified(function)
    if name:
        return name.rpartition(".")[2]
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _within(part: str, whole: str) -> bool:
    return part.startswith((f"{whole}[", f"{whole}."))


def _constant(node: ast.AST | None) -> str | None:
    return str(node.value) if isinstance(node, ast.Constant) else None


def _is_plain(parameter: ast.arg) -> bool:
    """Whether a parameter is a number or a string, by its annotation."""
    return parameter.annotation is not None and ast.unparse(parameter.annotation) in _PLAIN
