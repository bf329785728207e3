"""The containers in which a host loop stores the results of its steps: lists, dicts of lists and NumPy arrays
that its function created for them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from jaxlint.codemods.purity.program import File, reaching
from jaxlint.codemods.purity.values import NUMPY, Value
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.site import Refused, Site

_STACKS = frozenset(f"{module}.{name}" for module in ("numpy", "jax.numpy") for name in ("stack", "array", "asarray", "concatenate", "vstack"))  # fmt: skip
_BUFFERS = frozenset(f"numpy.{name}" for name in ("zeros", "ones", "empty", "full"))


class ResultContainers:
    """The containers in which a loop stores results. `kinds`: returns the possible kinds of an expression."""

    def __init__(
        self, site: Site, loop: ast.For, file: File, kinds: Callable[[ast.expr], frozenset[Value]]
    ) -> None:
        self.site, self.loop, self.file, self._kinds = site, loop, file, kinds
        self.scope: Scope = site.names.scope_at(loop)

    def buffer_of(self, statement: ast.stmt | None) -> ast.Name | None:
        """The NumPy array, created in this function, whose row a statement fills: `rows` in `rows[i] = x`."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            return None
        return target.value if self._kinds(target.value) == {NUMPY} else None

    def check_buffer(self, buffer: ast.Name, statement: ast.Assign, computed: set[str]) -> None:
        """Raises Refused if other code may read a buffer before it is filled, or if its index is computed in the step."""
        names, name = self.site.names, buffer.id
        made = [
            self.file.names.qualified(one.func) if isinstance(one, ast.Call) else None
            for one in self._given(buffer)
        ]
        if name in self.scope.redirected or not made or not all(one in _BUFFERS for one in made):
            raise Refused(f"`{name}` is a NumPy array that other code may hold")
        for use in names.uses_of(name, self.scope):
            above = names.parents.get(use.name)
            stores = isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Store)
            made_here = isinstance(use.name.ctx, ast.Store)
            if use.scope is not self.scope or (
                use.name.lineno <= (self.loop.end_lineno or 0) and not stores and not made_here
            ):
                raise Refused(f"`{name}` is read before it would be filled")
        index = statement.targets[0].slice  # type: ignore[attr-defined]
        if names_in(index) & computed or any(isinstance(one, ast.Call) for one in ast.walk(index)):
            raise Refused(f"the index at which `{name}` is filled is computed")

    def _given(self, name: ast.Name) -> list[ast.expr | None]:
        """The values that a variable of this function is assigned; nothing if it belongs to another function."""
        if self.scope.resolve(name.id) is not self.scope:
            return []
        node = self.file.same(name)
        home = self.file.names.scope_at(node).resolve(name.id)
        bindings = reaching(home, node, self.file) if home is not None else []
        return [self.file.names.given(one.node) for one in bindings]

    def _fills_row(self, read: ast.expr) -> bool:
        """Whether a value becomes a row of a NumPy array."""
        above = self.site.names.parents.get(read)
        return isinstance(above, ast.Assign) and self.buffer_of(above) is not None

    def is_for_numpy(self, read: ast.expr) -> bool:
        """Whether a value goes into a NumPy array, or into a list that is only used to build one."""
        if self._fills_row(read):
            return True
        added_to = appended_to(self.site.names.parents.get(read))
        if added_to is None:
            return False
        names = self.site.names
        uses = [
            one.name
            for one in names.uses_of(added_to, self.scope)
            if one.name.lineno <= self._rebound(added_to)
        ]
        uses = [one for one in uses if not isinstance(names.parents.get(one), ast.Attribute)]
        stacks = self.stacks_of(added_to)
        return 0 < len(uses) == len(stacks) and all(one.startswith("numpy.") for one in stacks)

    def _rebound(self, name: str) -> float:
        """The line after the loop, in its block, from which on a variable has another value, as in `rows = np.stack(rows)`."""
        names = self.site.names
        block = next(
            one
            for one in (getattr(names.parents.get(self.loop), "body", ()), [self.loop])
            if self.loop in one
        )
        for one in block[block.index(self.loop) + 1 :]:
            if isinstance(one, ast.Assign) and name in bound_in(one):
                return one.end_lineno or one.lineno
        return float("inf")

    def is_stacked(self, read: ast.expr) -> bool:
        """Whether a value is appended to a list that becomes an array after the loop, or becomes a row of an array."""
        if self._fills_row(read):
            return True
        added_to = appended_to(self.site.names.parents.get(read))
        return added_to is not None and bool(self.stacks_of(added_to))

    def stacks_of(self, name: str) -> list[str]:
        """The functions that receive a list as their only argument after the loop, as in `jnp.stack(rows)`."""
        names = self.site.names
        found = []
        for use in names.uses_of(name, self.scope):
            call = names.parents.get(use.name)
            after = self.loop.lineno < use.name.lineno <= self._rebound(name)
            if isinstance(call, ast.Call) and call.args == [use.name] and after:
                called = names.qualified(call.func) or ""
                found += [called] if called in _STACKS else []
        return found

    def is_list_of_the_function(self, node: ast.expr) -> bool:
        """Whether it is a variable, or an item of one, as in `history["loss"]`. Raises Refused if other code
        may hold the list.
        """
        key = node.slice if isinstance(node, ast.Subscript) else None
        name = node.value if isinstance(node, ast.Subscript) else node
        if not isinstance(name, ast.Name) or not (key is None or isinstance(key, ast.Constant)):
            return False
        self._check_lists(name, of_items=key is not None)
        return True

    def _check_lists(self, name: ast.Name, *, of_items: bool) -> None:
        """Raises Refused unless this function created the list, or dict of lists, empty, and nothing else in
        the loop reads it.
        """
        names, given = self.site.names, self._given(name)
        is_made = _is_dict_of_lists if of_items else _is_list
        if not given or not all(is_made(one) for one in given):
            raise Refused(f"`{name.id}` is a {'dict' if of_items else 'list'} that other code may hold")
        for use in names.uses_of(name.id, self.scope):
            above = names.parents.get(use.name)
            if of_items and isinstance(above, ast.Subscript) and above.value is use.name:
                above = names.parents.get(above)
            adds = isinstance(above, ast.Attribute) and above.attr == "append"
            if not adds and self.loop in names.ancestors(use.name):
                raise Refused(f"`{name.id}` is read in the loop, before it would be filled")


def _is_list(node: ast.expr | None) -> bool:
    return isinstance(node, ast.List)


def _is_dict_of_lists(node: ast.expr | None) -> bool:
    """`{"loss": [], "accuracy": []}`, or `{key: [] for key in keys}`."""
    if isinstance(node, ast.DictComp):
        return _is_list(node.value)
    return isinstance(node, ast.Dict) and all(map(_is_list, node.values))


def appended_to(node: ast.AST | None) -> str | None:
    """The variable of the list in `found.append(x)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
        return node.func.value.id if isinstance(node.func.value, ast.Name) else None
    return None


def bound_in(statement: ast.stmt) -> set[str]:
    return {
        one.id
        for one in ast.walk(statement)
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
    }


def names_in(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
