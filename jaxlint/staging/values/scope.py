"""Names and what they are bound to while a frame is being evaluated."""

from __future__ import annotations

import itertools

from jaxlint.staging.values import External, Value
from jaxlint.staging.values.stage import Stage

_serials = itertools.count(1)


class Scope:
    """The variables of one function, class body or module; closures hold on to it by reference.

    `variables` is replaced (never mutated in place) at branches, so a join sees both versions. `stage`: where the call
    runs that opened it, of the scope of a function.
    """

    __slots__ = (
        "globals",
        "is_class",
        "is_module",
        "nonlocals",
        "parent",
        "serial",
        "stage",
        "stars",
        "variables",
    )

    def __init__(
        self,
        parent: Scope | None,
        *,
        is_class: bool = False,
        is_module: bool = False,
        stage: Stage | None = None,
    ) -> None:
        self.serial = next(_serials)  # unlike `id`, never used again
        self.parent = parent
        self.stage = stage
        self.variables: dict[str, Value] = {}
        self.is_class = is_class
        self.is_module = is_module
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.stars: list[External] = []  # what `from ... import *` took from outside of the project

    def lookup(self, name: str) -> tuple[Value, Scope] | None:
        """The value of `name` and the scope that holds it; class scopes are seen from their own body alone."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if (first or not scope.is_class) and name in scope.variables:
                return scope.variables[name], scope
            first = False
            scope = scope.parent
        return None

    def from_star(self, name: str) -> External | None:
        """What `name` may be that a star import from outside of the project has brought into this module."""
        return External(f"{self.stars[0].name}.{name}") if self.stars else None

    def module_scope(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def target_scope(self, name: str) -> Scope:
        """The scope that an assignment to `name` writes to."""
        if name in self.globals:
            return self.module_scope()
        if name in self.nonlocals and self.parent is not None:
            found = self.parent.lookup(name)
            return found[1] if found else self.parent
        return self
