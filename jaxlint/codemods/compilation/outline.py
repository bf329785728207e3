"""`outline-jit`: a call in host code becomes a jitted function of the module.

In `int(jnp.argmax(model.apply(params, x)))`, `model.apply(params, x)` is then compiled once, whatever the code around
it does. `jax.jit(model.apply)(params, x)` there would recompile each time: a bound method is a new object at each
access.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from jaxlint.codemods.compilation.add_jit import transform_of
from jaxlint.codemods.facts.module_state import changed_by_call
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.codemods.source.statement_regions import first_line
from jaxlint.codemods.stageable import may_be_compiled
from jaxlint.finding import Step


@codemod("outline-jit")
def outline_jit(draft: Draft, step: Step) -> None:
    """The span is the call. Parameters: `transform` (jax.jit by default), under which the callee is static if it is
    an argument; `arguments`: the arguments of the enclosing function in a run."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    transform = transform_of(step)
    if any(isinstance(one, ast.Starred) for one in call.args) or any(k.arg is None for k in call.keywords):
        raise Refused("the call unpacks unknown arguments")
    change = changed_by_call(site, call)
    carries = transform == "flax.nnx.jit" and change is not None and change.framework == "flax.nnx"
    if change is not None and change.is_seen and not carries:
        raise Refused(f"the called function {change.what}, and a compiled one does that only at trace time")
    layout = Layout(site)
    taken = layout.identifiers(site.names.scope_at(call)) | layout.identifiers(site.names.scope_at(site.tree))
    function = _Outlined(site, layout)
    called = function.called(call.func)
    static = len(function.parameters)
    given = [function.given(one, "") for one in call.args]
    given += [f"{k.arg}={function.given(k.value, k.arg or '')}" for k in call.keywords]
    if len(function.parameters) == static:
        raise Refused("the call has no argument to trace")
    may_be_compiled(draft, call, step, transform)
    name = fresh_name(taken, function.name or "compiled")
    wrapper = reference(site, draft.imports, transform, call)
    if static and transform == "jax.jit":
        numbers = "0" if static == 1 else repr(tuple(range(static)))
        partial = reference(site, draft.imports, "functools.partial", call)
        wrapper = f"{partial}({wrapper}, static_argnums={numbers})"
    line = line_above(site, call)
    newline = layout.newline
    text = newline * missing_lines(site, line)
    text += f"@{wrapper}{newline}def {name}({', '.join(function.parameters)}):{newline}"
    text += f"    return {called}({', '.join(given)}){newline}{newline}{newline}"
    draft.insert(line, 1, text)
    draft.replace(site.span(call), f"{name}({', '.join(function.passed)})")


@dataclass(slots=True)
class _Outlined:
    """The new function: its parameters, and the argument for each at the call."""

    site: Site
    layout: Layout
    parameters: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    name: str = ""

    def called(self, function: ast.expr) -> str:
        """The callee in the new function; objects that only the surrounding code knows become arguments."""
        if isinstance(function, ast.Attribute):
            holder = self._handed(function.value)
            self.name = f"{holder.rpartition('.')[2]}_{function.attr}"
            return f"{holder}.{function.attr}"
        if isinstance(function, ast.Name):
            if not self._is_local(function):
                raise Refused("the called function can be jitted at its definition")
            self.name = f"call_{function.id}"
            return self._handed(function)
        if isinstance(function, ast.Call) and not function.keywords:
            if (self.site.names.qualified(function.func) or "").startswith("jax."):
                text = self.site.text(function.func)
                parts = [self._handed(one) for one in function.args]
                self.name = f"call_{parts[0].rpartition('.')[2]}" if parts else ""
                return f"{text}({', '.join(parts)})"
        raise _unnamed(function)

    def given(self, value: ast.expr, keyword: str) -> str:
        """An argument in the new function: constants stay there."""
        try:
            ast.literal_eval(value)
        except ValueError:
            last = _last(value)
            return self._parameter(keyword or last or "x", self.layout.argument(value))
        return self.layout.argument(value)

    def _handed(self, node: ast.expr) -> str:
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            raise _unnamed(root)
        if not self._is_local(root):
            return self.site.text(node)
        last = _last(node)
        if last in ("self", "cls"):
            raise Refused("a method of the object itself would need all of its attributes as arguments")
        return self._parameter(last, self.site.text(node))

    def _parameter(self, wanted: str, text: str) -> str:
        if text in self.passed:
            return self.parameters[self.passed.index(text)]
        name = fresh_name(set(self.parameters), wanted)
        self.parameters.append(name)
        self.passed.append(text)
        return name

    def _is_local(self, root: ast.Name) -> bool:
        scope = self.site.names.scope_at(root).resolve(root.id)
        return scope is not None and scope.parent is not None


def _unnamed(node: ast.expr) -> Refused:
    """The refusal of a callee that is neither a variable nor an attribute of one."""
    if any(isinstance(part, ast.Call) for part in ast.walk(node)):
        return Refused("the called function is created again at each call")
    return Refused("the called function has no name here; assign it to a variable first")


def _last(node: ast.expr) -> str:
    """`params` of `state.params`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def missing_lines(site: Site, line: int) -> int:
    """The number of blank lines that are missing above a function at `line`."""
    above = site.lines.lines[max(line - 3, 0) : line - 1]
    return 0 if line == 1 else 2 - next((n for n, text in enumerate(reversed(above)) if text.strip()), 2)


def line_above(site: Site, node: ast.AST) -> int:
    """The line of the module-level statement around `node`, or of the comments above it."""
    statement = next(one for one in site.names.ancestors(node) if site.names.parents.get(one) is site.tree)
    assert isinstance(statement, ast.stmt)
    return line_with_comments(site, statement)


def line_with_comments(site: Site, statement: ast.stmt) -> int:
    """The first line of a statement, or of the comments above it with the same indentation."""
    line = first_line(statement)
    before = site.lines.lines[line - 1]
    comment = before[: len(before) - len(before.lstrip())] + "#"
    while line > 1 and site.lines.lines[line - 2].startswith(comment):
        line -= 1
    return line
