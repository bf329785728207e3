"""Lists that a loop fills, one value per iteration, and their uses after it.

Code that stacks such a list receives the array of JAX's loop instead.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from jaxlint.codemods.facts.dataflow import Flow
from jaxlint.codemods.facts.local_effects import constant_type
from jaxlint.codemods.registry import Draft
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.name_scopes import Use
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.source.statement_text import is_alone, taken_out
from jaxlint.codemods.source.text_edits import shown_source
from jaxlint.jaxapi.functions import TREE_MAPS

_STACKS = frozenset({"jax.numpy.stack", "jax.numpy.array", "jax.numpy.asarray"})
_HOST_STACKS = frozenset({"numpy.stack", "numpy.array", "numpy.asarray"})
_JOINS = frozenset({"jax.numpy.concatenate", "jax.numpy.vstack", "jax.numpy.hstack"})


@dataclass(slots=True)
class Stack:
    """An expression that builds arrays from the list, and its replacement `form`; `{}` stands for the loop's stacked
    result.

    `backwards`: it takes the values in the reverse of the list's order. `plain`: its result is one array, which can
    be reversed.
    """

    node: ast.expr
    form: str = "{}"
    backwards: bool = False
    plain: bool = False
    to_host: bool = False


@dataclass(slots=True)
class Filled:
    """A list to which each iteration adds one value, at the `front` or at the end.

    `output`: the name of the stacked values from JAX's loop.
    """

    name: str
    made: ast.Assign | ast.AnnAssign
    first: list[ast.expr]  # its contents before the loop
    added: ast.stmt
    value: ast.expr
    front: bool
    output: str
    text: str = ""
    stacks: list[Stack] = field(default_factory=list)
    in_order: bool = False  # another expression uses its values, in its order
    listed: bool = False  # it is a list again after the loop
    turning: ast.stmt | None = None  # the statement after the loop that reverses it for all later code
    last: list[ast.Subscript] = field(
        default_factory=list
    )  # `ys[-1]` in the loop: the value of the iteration before
    carried: str = ""  # the variable for that value

    @property
    def read_last_first(self) -> bool:
        """Whether a plain reader sees the value of the last iteration first."""
        return self.front != (self.turning is not None)

    def last_first(self) -> set[bool]:
        """The orders in which its values are needed; True means that of the last iteration first."""
        found = {stack.backwards != self.front for stack in self.stacks}
        return found | {self.read_last_first} if self.in_order or self.first else found


class Lists:
    """The lists that one loop fills by the statements `additions`. `fresh` finds names. `listed`: those that are used as lists
    become lists of the rows again. Raises Refused."""

    def __init__(
        self,
        draft: Draft,
        loop: ast.For,
        flow: Flow,
        additions: list[ast.stmt],
        fresh: Callable[[str], str],
        *,
        listed: bool = False,
    ) -> None:
        self.listed = listed
        self.draft, self.site, self.loop, self.flow = draft, draft.site, loop, flow
        self.layout = Layout(draft.site)
        self.fresh = fresh
        self.kept = False
        found: dict[str, Filled] = {}
        for statement in additions:
            got = addition(statement)
            assert got is not None
            name, value, front = got
            if name in found:
                raise Refused(f"an iteration appends to `{name}` more than once")
            made, first = self._creation(name)
            if front and first:
                raise Refused(f"`{name}` is filled from its front and does not start empty")
            output = fresh(f"new_{name}") if first else name
            found[name] = Filled(name, made, first, statement, value, front, output)
        self.filled = list(found.values())
        for one in self.filled:
            self._uses(one)

    def wanted_last_first(self) -> bool:
        """Whether all uses of the lists need the values of the last iteration first."""
        orders = set[bool]().union(*(one.last_first() for one in self.filled))
        return orders == {True}

    def check_order(self, last_first: bool) -> None:
        """Raises Refused if a loop's result in that order cannot be converted for the uses of a list."""
        for one in self.filled:
            turned = [stack for stack in one.stacks if (stack.backwards != one.front) != last_first]
            if any(not stack.plain for stack in turned) or (
                one.in_order and one.read_last_first != last_first
            ):
                raise Refused(f"`{one.name}` is used in reverse order")

    def _creation(self, name: str) -> tuple[ast.Assign | ast.AnnAssign, list[ast.expr]]:
        """The statement that creates the list, before the loop and in the same block, and its initial contents."""
        block = self.flow.block(self.loop)
        for statement in reversed(block[: block.index(self.loop)]):
            for target, value in assigned(statement):
                if isinstance(target, ast.Name) and target.id == name:
                    assert isinstance(statement, (ast.Assign, ast.AnnAssign))
                    if isinstance(value, ast.List):
                        if any(isinstance(part, ast.Starred) for part in value.elts):
                            break
                        return statement, value.elts
                    if isinstance(value, ast.Call) and ast.unparse(value) == "list()":
                        return statement, []
            if name in self.flow.reads(statement) or name in self.flow.bound([statement]):
                break
        raise Refused(f"`{name}` is not created as a list right before the loop")

    # Uses

    def _uses(self, one: Filled) -> None:
        """Records the uses of the list after the loop. Raises Refused if it must stay a list."""
        if self.flow.scope.node is self.site.names.tree:
            raise Refused(f"other modules may import the list `{one.name}`")
        if one.name in self.flow.scope.redirected:
            raise Refused(f"`{one.name}` belongs to an outer scope")
        one.turning = None if one.first else self._turning(one.name)
        end = self._rebound(one.name, one.turning)
        for use in self.site.names.uses_of(one.name, self.flow.scope):
            if self._is_in(use.name, one.added) and not self._is_in(use.name, one.value):
                continue  # the list that is filled
            if one.turning is not None and self._is_in(use.name, one.turning):
                continue
            if use.name.lineno > end:
                continue
            if (before := self._one_before(one, use)) is not None:
                one.last.append(before)
                continue
            if (
                use.scope is not self.flow.scope
                or use.name.lineno < self.loop.lineno
                or self._is_in(use.name, self.loop)
            ):
                raise Refused(f"`{one.name}` is also read elsewhere, not only after the loop")
            stack = self._stack(one, use.name)
            if one.turning is not None:
                if use.name.lineno < one.turning.lineno:
                    raise Refused(f"`{one.name}` is read before it is reversed")
                if stack is not None:
                    stack.backwards = not stack.backwards
            if stack is not None and not (one.first and not stack.plain):
                one.stacks.append(stack)
                continue
            elsewhere = self._is_in_another_loop(use.name)
            if elsewhere or one.first or not self._takes_array(use.name):
                if not self._may_be_listed(one):
                    raise Refused(
                        f"`{one.name}` is read in another loop, as a list"
                        if elsewhere
                        else f"`{one.name}` is used as a list after the loop, not only stacked"
                    )
                one.listed = True
            one.in_order = True
        if one.listed:
            one.stacks = []
        if not one.stacks and not one.first and not one.in_order:
            raise Refused(f"`{one.name}` is not stacked after the loop")
        if one.last:
            one.carried = self.fresh(one.name.removesuffix("s") if len(one.name) > 2 else f"last_{one.name}")

    def _one_before(self, one: Filled, use: Use) -> ast.Subscript | None:
        """`ys[-1]` in the loop, read before the loop adds to the list: the value that the iteration before added."""
        read = self.site.names.parents.get(use.name)
        if use.scope is not self.flow.scope or not one.first or one.front:
            return None
        if isinstance(one.first[-1], ast.Constant) or not isinstance(read, ast.Subscript):
            return None
        if read.value is not use.name or ast.unparse(read.slice) != "-1":
            return None
        if not isinstance(read.ctx, ast.Load) or not self._is_in(read, self.loop):
            return None
        body = self.loop.body
        place = next((n for n, statement in enumerate(body) if self._is_in(read, statement)), len(body))
        return read if place <= body.index(one.added) else None

    def _may_be_listed(self, one: Filled) -> bool:
        """Whether the rows of the loop's result are what was put into the list: one array each."""
        several = isinstance(one.value, ast.Tuple | ast.List | ast.Dict | ast.Set | ast.Constant)
        return self.listed and not one.first and one.turning is None and not several

    def _turning(self, name: str) -> ast.stmt | None:
        """`ys = ys[::-1]`, `ys = list(reversed(ys))` or `ys.reverse()` after the loop, in its block."""
        for statement in self.flow.rest(self.loop):
            if ast.unparse(statement) == f"{name}.reverse()":
                return statement
            for target, value in assigned(statement) if isinstance(statement, ast.Assign) else ():
                if isinstance(target, ast.Name) and target.id == name and len(assigned(statement)) == 1:
                    used = [
                        part for part in ast.walk(value) if isinstance(part, ast.Name) and part.id == name
                    ]
                    turned = len(used) == 1 and self._turned(used[0]) == (value, True)
                    return statement if turned else None
        return None

    def _rebound(self, name: str, turning: ast.stmt | None) -> float:
        """The last line of the statement after the loop, in its block, from which on the name has another meaning."""
        for statement in self.flow.rest(self.loop):
            if statement is turning:
                continue
            if any(isinstance(target, ast.Name) and target.id == name for target, _ in assigned(statement)):
                return statement.end_lineno or statement.lineno
        return float("inf")

    def _stack(self, one: Filled, use: ast.Name) -> Stack | None:
        """The expression that builds arrays from the list, if `use` is its only argument."""
        taken, backwards = self._turned(use)
        parent = self.site.names.parents.get(taken)
        if isinstance(parent, ast.Call) and parent.args and parent.args[0] is taken:
            name = self.site.names.qualified(parent.func) or ""
            axis = _axis(parent)
            if axis is None or name not in _STACKS | _HOST_STACKS:
                return None
            form = "{}"
            if axis and name in ("jax.numpy.stack", "numpy.stack"):
                if name in _HOST_STACKS:
                    return None
                form = f"{self._name('jax.numpy.moveaxis', parent)}({{}}, 0, {axis})"
            elif axis:
                return None
            return Stack(parent, form, backwards, True, name in _HOST_STACKS)
        if isinstance(parent, ast.Starred):
            around = self.site.names.parents.get(parent)
            if isinstance(around, ast.Call) and around.args[-1] is parent and not around.keywords:
                if len(around.args) == 2 and self.site.names.qualified(around.func) in TREE_MAPS:
                    return Stack(around, "{}", backwards) if self._stacks_leaves(around.args[0]) else None
                if len(around.args) == 1 and self.site.names.builtin(around.func) == "zip":
                    parts = isinstance(one.value, (ast.Tuple, ast.List))
                    return self._each(around, "{}", backwards) if parts and not backwards else None
        if isinstance(parent, (ast.Tuple, ast.List)) and not backwards and isinstance(parent.ctx, ast.Load):
            return self._in_display(parent)
        return None

    def _turned(self, use: ast.Name) -> tuple[ast.expr, bool]:
        """`ys`, or `ys[::-1]` or `list(reversed(ys))` around it, and whether it is reversed."""
        parent = self.site.names.parents.get(use)
        if isinstance(parent, ast.Subscript) and parent.value is use and ast.unparse(parent.slice) == "::-1":
            return parent, True
        if (
            isinstance(parent, ast.Call)
            and self.site.names.builtin(parent.func) == "reversed"
            and parent.args == [use]
        ):
            around = self.site.names.parents.get(parent)
            if isinstance(around, ast.Call) and around.args == [parent]:
                if self.site.names.builtin(around.func) in ("list", "tuple"):
                    return around, True
        return use, False

    def _in_display(self, display: ast.Tuple | ast.List) -> Stack | None:
        """`[jnp.stack(x) for x in (ys, zs)]`, also with a variable for the tuple, if the loop fills all of them."""
        names = {one.name for one in self.filled}
        if not all(isinstance(part, ast.Name) and part.id in names for part in display.elts):
            return None
        whole = self.site.names.parents.get(display)
        if not isinstance(whole, ast.Assign):
            return self._each(display, self.site.text(display), False)
        if (
            len(whole.targets) != 1
            or not isinstance(whole.targets[0], ast.Name)
            or whole.value is not display
        ):
            return None
        name = whole.targets[0].id
        home = self.flow.scope
        if len(home.bindings.get(name, ())) != 1 or whole not in self.flow.rest(self.loop):
            return None
        uses = self.site.names.uses_of(name, home)
        if len(uses) != 1 or uses[0].scope is not home:
            return None
        return self._each(uses[0].name, name, False)

    def _each(self, iterable: ast.expr, text: str, backwards: bool) -> Stack | None:
        """`[jnp.stack(x) for x in iterable]`, `tuple(map(jnp.stack, iterable))`; `text` stands for the arrays."""
        around = self.site.names.parents.get(iterable)
        if isinstance(around, ast.comprehension) and around.iter is iterable:
            made = self.site.names.parents.get(around)
            if not isinstance(made, (ast.ListComp, ast.GeneratorExp)) or len(made.generators) != 1:
                return None
            if around.ifs or around.is_async or not isinstance(around.target, ast.Name):
                return None
            call = made.elt
            if not (isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords):
                return None
            given = call.args[0]
            if not (isinstance(given, ast.Name) and given.id == around.target.id):
                return None
            if (self.site.names.qualified(call.func) or "") not in _STACKS:
                return None
            if isinstance(made, ast.GeneratorExp):
                return Stack(made, f"({text})", backwards)
            if isinstance(iterable, (ast.Tuple, ast.List)):
                return Stack(
                    made, f"[{', '.join(self.site.text(part) for part in iterable.elts)}]", backwards
                )
            return Stack(made, f"list({text})", backwards)
        if isinstance(around, ast.Call) and len(around.args) == 2 and around.args[1] is iterable:
            if self.site.names.builtin(around.func) == "map" and not around.keywords:
                if (self.site.names.qualified(around.args[0]) or "") in _STACKS:
                    return Stack(around, text, backwards)
        return None

    def _stacks_leaves(self, function: ast.expr) -> bool:
        """`lambda *xs: jnp.stack(xs)`."""
        if not isinstance(function, ast.Lambda) or function.args.vararg is None:
            return False
        arguments, body = function.args, function.body
        if arguments.args or arguments.kwonlyargs or arguments.posonlyargs or arguments.kwarg:
            return False
        if not isinstance(body, ast.Call) or _axis(body) != 0 or not isinstance(body.args[0], ast.Name):
            return False
        return body.args[0].id == function.args.vararg.arg and (
            self.site.names.qualified(body.func) in _STACKS
        )

    def _takes_array(self, use: ast.Name) -> bool:
        """Whether a use of the list works the same with an array of its items."""
        parent = self.site.names.parents.get(use)
        if isinstance(parent, ast.Subscript) and parent.value is use and isinstance(parent.ctx, ast.Load):
            return constant_type(parent.slice) is int
        if isinstance(parent, ast.Call) and parent.args and parent.args[0] is use:
            name = self.site.names.qualified(parent.func)
            return name in _JOINS or self.site.names.builtin(parent.func) == "len"
        return False

    def _is_in_another_loop(self, use: ast.Name) -> bool:
        ours = [one for one in self.site.names.ancestors(self.loop) if isinstance(one, (ast.For, ast.While))]
        return any(
            isinstance(one, (ast.For, ast.While)) and one not in ours
            for one in self.site.names.ancestors(use)
        )

    def _is_in(self, node: ast.AST, around: ast.AST) -> bool:
        return node is around or around in self.site.names.ancestors(node)

    def _name(self, target: str, at: ast.AST) -> str:
        return reference(self.site, self.draft.imports, target, at)

    def keep(self) -> None:
        """Keeps the lists, since the loop may have no iterations, and stacks them as before. Raises Refused if the call accepts lists only."""
        self.kept = True
        for one in self.filled:
            for stack in one.stacks:
                if (
                    not stack.plain
                    or self.site.names.qualified(getattr(stack.node, "func", stack.node)) == "numpy.stack"
                ):
                    raise Refused(
                        f"`{one.name}` is empty if the loop has no iterations; `{shown_source(stack.node)}` then raises, and the rewrite would not"
                    )

    # Text

    def empty(self) -> set[str]:
        """The names of those that start empty."""
        return {one.name for one in self.filled if not one.first}

    def drop(self, last_first: bool) -> None:
        """Removes the statements that create empty lists, and replaces the stacking expressions. `last_first`: the
        order of the loop's result."""
        for made in dict.fromkeys(one.made for one in self.filled if not one.first and not self.kept):
            left = [
                (self.site.text(target), self.layout.argument(value))
                for target, value in assigned(made)
                if not (isinstance(target, ast.Name) and target.id in self.empty())
            ]
            if left:
                targets, values = (", ".join(parts) for parts in zip(*left, strict=True))
                self.draft.replace(self.site.span(made), f"{targets} = {values}")
            elif is_alone(self.site, made):
                self.draft.replace(*taken_out(self.site, made))
            else:
                raise Refused("the statement that creates the list shares its line with another")
        for one in self.filled:
            if one.turning is not None:
                if not is_alone(self.site, one.turning):
                    raise Refused(f"the statement that reverses `{one.name}` shares its line with another")
                self.draft.replace(*taken_out(self.site, one.turning))
            for stack in one.stacks:
                turned = "[::-1]" if (stack.backwards != one.front) != last_first else ""
                self._drop_stack(one, stack, turned)

    def _drop_stack(self, one: Filled, stack: Stack, turned: str) -> None:
        call = stack.node
        if self.kept:
            assert isinstance(call, ast.Call)
            self.draft.replace(self.site.span(call.args[0]), f"{one.name}{turned}")
            return
        statement = self.site.names.parents.get(call)
        same = isinstance(statement, ast.Assign) and [ast.unparse(t) for t in statement.targets] == [one.name]
        if stack.to_host:
            host = self._name("numpy.asarray", call)
            self.draft.replace(self.site.span(call), f"{host}({one.name}{turned})")
        elif same and not turned and stack.form == "{}" and is_alone(self.site, statement):  # type: ignore[arg-type]
            self.draft.replace(*taken_out(self.site, statement))  # type: ignore[arg-type]
        else:
            self.draft.replace(self.site.span(call), stack.form.format(f"{one.name}{turned}"))


def addition(statement: ast.stmt) -> tuple[str, ast.expr, bool] | None:
    """`ys.append(y)`, `ys += [y]`, `ys.insert(0, y)` and the like: the list, the value, and whether it goes to the
    front."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        function = call.func
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return None
        if call.keywords or not call.args or isinstance(call.args[-1], ast.Starred):
            return None
        if function.attr == "append" and len(call.args) == 1:
            return function.value.id, call.args[0], False
        if function.attr == "insert" and len(call.args) == 2 and ast.unparse(call.args[0]) == "0":
            return function.value.id, call.args[1], True
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        only = _only(statement.value)
        if isinstance(statement.op, ast.Add) and only is not None:
            return statement.target.id, only, False
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Name) and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            for mine, new in ((value.left, value.right), (value.right, value.left)):
                only = _only(new)
                if isinstance(mine, ast.Name) and mine.id == target.id and only is not None:
                    return target.id, only, new is value.left
    return None


def _only(node: ast.expr) -> ast.expr | None:
    """`y` of `[y]`."""
    if isinstance(node, ast.List) and len(node.elts) == 1 and not isinstance(node.elts[0], ast.Starred):
        return node.elts[0]
    return None


def assigned(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """The targets and values of an assignment; `a, b = [], []` has two."""
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return [(statement.target, statement.value)]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _axis(call: ast.Call) -> int | None:
    """The axis along which a call stacks its first argument; None if it has other arguments."""
    if not call.args or len(call.args) > 1 or len(call.keywords) > 1:
        return None
    if not call.keywords:
        return 0
    keyword = call.keywords[0]
    try:
        value = ast.literal_eval(keyword.value)
    except ValueError:
        return None
    return value if keyword.arg == "axis" and type(value) is int else None


def adding_statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements in a loop's body that add a value to a list."""
    return [one for one in body if addition(one) is not None]
