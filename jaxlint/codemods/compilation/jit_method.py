"""`jit-method`: a function that each call of a method defines and jits anew becomes a jitted method of a static object.

    class Trainer:
        def train_epoch(self, batches):
            @jax.jit
            def step(params, opt_state, x):
                updates, opt_state = self.tx.update(jax.grad(loss)(params, x), opt_state, params)
                return optax.apply_updates(params, updates), opt_state

            for x in batches:
                self.params, self.opt_state = step(self.params, self.opt_state, x)

becomes

    class Trainer:
        @functools.partial(jax.jit, static_argnums=0)
        def _jitted_step(self, params, opt_state, x):
            updates, opt_state = self.tx.update(jax.grad(loss)(params, x), opt_state, params)
            return optax.apply_updates(params, updates), opt_state

        def train_epoch(self, batches):
            for x in batches:
                self.params, self.opt_state = self._jitted_step(self.params, self.opt_state, x)

It compiled at each call of `train_epoch`, and compiles once for each trainer then. Functions of the method that it calls move into it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from jaxlint.codemods.compilation.outline import line_with_comments
from jaxlint.codemods.compilation.region_attributes import (
    OwnAttributes,
    kept_as_static,
    object_of,
    refuse_hooks,
)
from jaxlint.codemods.facts.applied_transforms import PARTIAL
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.stageable import check_outlined, program_and_file
from jaxlint.finding import Span, Step

_JIT = "jax.jit"
_NUMBERS = ("static_argnums", "donate_argnums")
_NAMES = ("static_argnames", "donate_argnames")


@codemod("jit-method")
def jit_method(draft: Draft, step: Step) -> None:
    """The span begins on the line of the `def` of the nested function. Takes no parameters."""
    site = draft.site
    nodes = (node for node in ast.walk(site.tree) if isinstance(node, ast.FunctionDef))
    function = next((node for node in nodes if node.lineno == step.span.line), None)
    method = site.names.parents.get(function) if function is not None else None
    if function is None or not isinstance(method, ast.FunctionDef):
        raise Refused("the function is not defined in another one")
    scope = site.names.scope_at(function)
    me = object_of(site, scope)
    if not me:
        raise Refused("the function around it is no method")
    options = _options(site, function)
    moved = _Moved(site, scope, me, function, method)
    moved.follow()
    possible = PossibleValues(draft.program())
    _, file = program_and_file(draft)
    refuse_hooks(OwnAttributes(site, me, nodes=moved.read), scope, possible, file)
    if (what := kept_as_static(possible, file.same(method), file)) is not None:
        raise Refused(what)
    taken = {*possible.program.stores, *possible.program.loads}
    taken |= {node.name for node in ast.walk(site.tree) if isinstance(node, ast.FunctionDef)}
    name = fresh_name(taken, f"_jitted_{function.name.lstrip('_')}")  # no other edit calls its function so
    layout = Layout(site)
    before = line_with_comments(site, method)
    lines = moved.text(layout, name)
    uses = [(site.span(one), f"{me}.{name}") for one in moved.uses]
    gone = [_with_blanks(site, one) for one in moved.places(layout)]
    inside = [part for one in (*moved.helpers, function) for part in one.body]
    whole = _whole(site, lines, before, uses, gone)
    check_outlined(draft, step, whole, before, _JIT, [me], nodes=inside)
    partial = reference(site, draft.imports, PARTIAL, function)
    wrapper = ", ".join([reference(site, draft.imports, _JIT, function), *options])
    indent = layout.indent(method)
    draft.insert(
        before, 1, "".join([f"{indent}@{partial}({wrapper}){layout.newline}", *lines, layout.newline])
    )
    for span, text in uses:
        draft.replace(span, text)
    for first, last in gone:
        draft.replace(Span(first, 1, last + 1, 1), "")


def _options(site: Site, function: ast.FunctionDef) -> list[str]:
    """The options of the jitted method, where the object counts as an argument. Raises Refused for another decorator."""
    decorators = function.decorator_list
    call = decorators[0] if len(decorators) == 1 else None
    if call is None:
        raise Refused("the function has other decorators, or none")
    name = site.names.qualified(call.func if isinstance(call, ast.Call) else call)
    given = call.args if isinstance(call, ast.Call) else []
    if name == PARTIAL and len(given) == 1:
        name, given = site.names.qualified(given[0]), []
    if name != _JIT or given:
        raise Refused("the function is not decorated with `jax.jit`")
    found = {"static_argnums": "0"}
    for keyword in call.keywords if isinstance(call, ast.Call) else []:
        if keyword.arg in _NUMBERS:
            numbers = _shifted(keyword.value)
            found[keyword.arg] = repr((0, *numbers) if keyword.arg == "static_argnums" else numbers)
        elif keyword.arg in _NAMES:
            found[keyword.arg] = site.text(keyword.value)
        else:
            raise Refused(f"`{keyword.arg}` may count the arguments")
    return [f"{keyword}={value}" for keyword, value in found.items()]


def _shifted(node: ast.expr) -> tuple[int, ...]:
    """Positions of arguments, behind that of the object."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        value = None
    numbers = value if isinstance(value, tuple | list) else (value,)
    if not all(isinstance(one, int) and one >= 0 for one in numbers):
        raise Refused("the positions of static or donated arguments are not written out")
    return tuple(one + 1 for one in numbers)


@dataclass(slots=True)
class _Moved:
    """The nested function, with the functions of the method that it calls."""

    site: Site
    scope: Scope
    me: str
    function: ast.FunctionDef
    method: ast.FunctionDef
    helpers: list[ast.FunctionDef] = field(default_factory=list)
    read: list[ast.Attribute] = field(default_factory=list)  # attributes of the object
    uses: list[ast.Name] = field(default_factory=list)  # where the method calls the function

    def follow(self) -> None:
        """Finds what moves. Raises Refused if it reads what each call of the method makes again."""
        waiting: list[ast.FunctionDef] = [self.function]
        while waiting:
            one = waiting.pop()
            for helper in self._helpers_of(one):
                if helper not in (self.function, *self.helpers):
                    self.helpers.append(helper)
                    waiting.append(helper)
        self.helpers.sort(key=lambda one: one.lineno)
        inside = {part for one in (self.function, *self.helpers) for part in ast.walk(one)}
        for one in (self.function, *self.helpers):
            if len(self.scope.bindings.get(one.name, ())) != 1:
                raise Refused(f"`{one.name}` is also assigned elsewhere")
            outside = [
                use.name for use in self.site.names.uses_of(one.name, self.scope) if use.name not in inside
            ]
            if one is not self.function and outside:
                raise Refused(f"the method uses `{one.name}` as well")
            if one is self.function:
                self.uses = [node for node in outside if isinstance(node, ast.Name)]
        for node in self.uses:
            above = self.site.names.parents.get(node)
            if not isinstance(above, ast.Call) or above.func is not node:
                raise Refused(f"the method does more with `{node.id}` than call it")
            if self.site.names.scope_at(node).resolve(self.me) is not self.scope:
                raise Refused(f"`{self.me}` is another variable where `{node.id}` is called")
        if not self.uses:
            raise Refused("the method does not call it")

    def _helpers_of(self, function: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
        names = self.site.names
        for node in ast.walk(function):
            if isinstance(node, ast.Nonlocal | ast.Global):
                raise Refused("it sets variables of the code around it")
            if not isinstance(node, ast.Name):
                continue
            home = names.scope_at(node).resolve(node.id)
            if home is None or home is names.module or function in (home.node, *names.ancestors(home.node)):
                continue
            if home is not self.scope:
                raise Refused(f"it reads `{node.id}` of another function")
            above = names.parents.get(node)
            if node.id == self.me:
                if not isinstance(above, ast.Attribute) or not isinstance(above.ctx, ast.Load):
                    raise Refused(f"it passes `{self.me}` to other code, or sets its attributes")
                self.read.append(above)
                continue
            bound = [one.node for one in home.bindings.get(node.id, ())]
            helper = bound[0] if len(bound) == 1 else None
            if not isinstance(helper, ast.FunctionDef) or names.parents.get(helper) is not self.method:
                raise Refused(f"it reads `{node.id}`, which each call makes again")
            if helper is self.function or helper.decorator_list:
                raise Refused(f"it calls `{node.id}`, which is itself or has a decorator")
            yield helper

    def places(self, layout: Layout) -> Iterator[tuple[int, int]]:
        """The first and the last line of each function, with the comments above it."""
        for one in (*self.helpers, self.function):
            _, span = layout.block([one], indent=layout.indent(one))
            assert span is not None
            yield span.line, span.end_line

    def text(self, layout: Layout, name: str) -> list[str]:
        """The lines of the method, without a decorator."""
        indent, here = layout.indent(self.method), layout.indent(self.function)
        arguments = self.function.args
        if not (arguments.posonlyargs or arguments.args) or layout.spans_lines_in_string(self.function):
            raise Refused("it has no positional argument, or a string of several lines")
        if any(layout.spans_lines_in_string(one) for one in self.helpers):
            raise Refused("a multi-line string would have to be indented")
        unit = here.removeprefix(indent)
        source = [f"{line}{layout.newline}" for line in self.site.lines.lines]
        first, last = self.function.lineno, self.function.end_lineno or self.function.lineno
        head = source[first - 1]
        opening = f"def {self.function.name}("
        if head.count(opening) != 1 or unit == here:
            raise Refused("its first line is written in an unusual way")
        own = [head.replace(opening, f"def {name}({self.me}, ", 1), *source[first:last]]
        own = [line.removeprefix(unit) for line in own]
        docstring = isinstance(self.function.body[0], ast.Expr) and isinstance(
            self.function.body[0].value, ast.Constant
        )
        after = self.function.body[0]
        at = (after.end_lineno or after.lineno) if docstring else after.lineno - 1
        if at < first or (not docstring and after.lineno == first):
            raise Refused("its body is on the line of its head")
        helpers: list[str] = []
        for one in self.helpers:
            block, _ = layout.block([one], indent=here)
            helpers += [*block.splitlines(keepends=True), layout.newline]
        own[at - first + 1 : at - first + 1] = helpers
        return own


def _with_blanks(site: Site, place: tuple[int, int]) -> tuple[int, int]:
    """Lines, with the blank ones below them."""
    first, last = place
    while last < len(site.lines.lines) and not site.lines.lines[last].strip():
        last += 1
    return first, last


def _whole(
    site: Site,
    text: list[str],
    before: int,
    uses: list[tuple[Span, str]],
    gone: list[tuple[int, int]],
) -> str:
    """The file with the method above a line, and its calls."""
    newline = Layout(site).newline
    lines = [f"{line}{newline}" for line in site.lines.lines]
    for span, new in sorted(uses, key=lambda one: (one[0].line, one[0].column), reverse=True):
        line = lines[span.line - 1]
        lines[span.line - 1] = line[: span.column - 1] + new + line[span.end_column - 1 :]
    for first, last in gone:
        lines[first - 1 : last] = [""] * (last - first + 1)
    lines[before - 1 : before - 1] = [*text, newline]
    return "".join(lines)
