"""The value of a variable: the only definition that still holds where the name is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from jaxlint.codemods.facts.dataflow import Flow
from jaxlint.codemods.registry import Draft
from jaxlint.codemods.source.site import Site
from jaxlint.codemods.source.statement_text import is_alone
from jaxlint.finding import Span


class Definitions:
    """Follows names to their values, and records which definitions were consumed."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.followed: list[ast.Assign] = []

    def value(self, node: ast.expr, *, peek: bool = False) -> ast.expr:
        """`node`, or the value of the variable that it names, if it can be written in its place.

        With `peek` the name itself will still be written.
        """
        for _ in range(4):
            made = self._definition(node) if isinstance(node, ast.Name) else None
            if made is None:
                break
            if made not in self.followed and not peek:
                self.followed.append(made)
            node = made.value
        return node

    def _definition(self, node: ast.Name) -> ast.Assign | None:
        names = self.site.names
        scope = names.scope_at(node)
        bindings = scope.bindings.get(node.id, [])
        made = names.parents.get(bindings[0].node) if len(bindings) == 1 else None
        if (
            not isinstance(made, ast.Assign)
            or made.targets != [bindings[0].node]
            or node.id in scope.redirected
        ):
            return None
        if made.lineno > node.lineno or self._loops(made) != self._loops(node):
            return None
        for read in Flow(names, scope).reads(made.value):
            for binding in scope.bindings[read]:
                line = getattr(binding.node, "lineno", 0)
                if line > made.lineno or names.parents.get(binding.node) is made:
                    return None  # it has, or may have, another meaning by now
        return made

    def _loops(self, node: ast.AST) -> Sequence[ast.AST]:
        kinds = (
            ast.For,
            ast.While,
            ast.AsyncFor,
            ast.FunctionDef,
            ast.Lambda,
            ast.ListComp,
            ast.GeneratorExp,
        )
        return [one for one in self.site.names.ancestors(node) if isinstance(one, kinds)]

    def drop_unused(self, draft: Draft, replaced: ast.AST, text: str) -> None:
        """Removes consumed definitions that only `replaced`, which becomes `text`, reads."""
        gone: list[ast.AST] = [replaced]
        waiting = list(self.followed)
        while made := next((one for one in waiting if self._is_unused(one, gone, text)), None):
            waiting.remove(made)
            gone.append(made)
            draft.replace(Span(made.lineno, 1, (made.end_lineno or made.lineno) + 1, 1), "")

    def _is_unused(self, made: ast.Assign, gone: Sequence[ast.AST], text: str) -> bool:
        target = made.targets[0]
        assert isinstance(target, ast.Name)
        if re.search(rf"(?<![\w.]){target.id}\b", text):
            return False
        lines = self.site.lines.lines[made.lineno - 1 : made.end_lineno]
        if not is_alone(self.site, made) or any("#" in line for line in lines):
            return False
        scope = self.site.names.scope_at(made)
        if scope.node is self.site.names.tree:
            return False  # other modules may import it
        inside = {part for one in gone for part in ast.walk(one)}
        return all(use.name in inside for use in self.site.names.uses_of(target.id, scope))
