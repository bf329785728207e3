"""`pad-arguments`: arrays whose length differs from call to call get rows up to a multiple of one length, so that a jitted function
compiles once.

    loss, grads = grad_fn(params, graph)

becomes

    loss, grads = grad_fn(params, pad_graph(graph), mask=real_rows(graph["nodes"], 16))

`pad_graph` and `real_rows` are new functions. The added rows are zeros, or indices beyond every axis, which JAX drops where it adds
rows. A mean over the axis gets the mask (`where=mask`), and so do the functions around it. The run of the program shows which
arguments these are, and an analysis of its jaxpr that no added row reaches a result.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxlint.codemods.compilation.outline import line_above, missing_lines
from jaxlint.codemods.compilation.padded_calls import call_at, names_in_file, written_argument
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout, fresh_name
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Step

# Reductions that take `where`. A maximum also needs a number that is less than all others.
_MASKED = frozenset({"mean", "sum", "any", "all", "var", "std", "softmax", "logsumexp"})
_INITIAL = {"max": "-", "min": ""}
_MODULES = ("jax.numpy.", "jax.nn.", "jax.scipy.special.")
_SAME_KEYWORDS = frozenset({"jax.jit", "jax.grad", "jax.value_and_grad", "equinox.filter_jit"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SIMPLE = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Load, ast.Tuple, ast.UnaryOp, ast.USub)


@codemod("pad-arguments")
def pad_arguments(draft: Draft, step: Step) -> None:
    """The span is the first call. Parameter `functions`: for each jitted function its `calls` (lines and columns of `ast`), the `line` of
    its `def`, the `names` of its arguments there, `arrays` (the argument, the key in it or None, the `multiple`, whether its fill is `outside` every axis, and its `group` of equal lengths), and `masks`: the
    `place` of a reduction, its `group`, `axis` and `rank`, and the `chains` of calls around it."""
    functions = step.parameters.get("functions")
    if not isinstance(functions, list | tuple) or not functions:
        raise Refused("there is nothing to pad")
    _Padding(draft).write(functions)


@dataclass(slots=True)
class _Padding:
    """Everything that is written into one file. `helpers`: the new functions by name."""

    draft: Draft
    site: Site = field(init=False)
    helpers: dict[str, list[str]] = field(default_factory=dict)
    padders: dict[str, str] = field(default_factory=dict)  # the body of a helper for a dict, and its name
    unpacked: dict[str, str] = field(default_factory=dict)  # a starred argument, and the name of its helper
    taken: set[str] = field(default_factory=set)
    masked: dict[ast.AST, str] = field(
        default_factory=dict
    )  # functions that take the mask, and its name there
    edited: set[ast.AST] = field(default_factory=set)
    statements: list[ast.AST] = field(default_factory=list)  # the calls
    numpy: str = ""
    rows: str = ""
    real: str = ""
    outside: str = ""

    def __post_init__(self) -> None:
        self.site = self.draft.site

    def write(self, functions: Sequence[Mapping[str, Any]]) -> None:
        site = self.site
        layout = Layout(site)
        first = min((place for one in functions for place in one["calls"]), default=None)
        if first is None:
            raise Refused("no call was seen")
        at = self._call(first)
        self.taken = names_in_file(site, layout)
        self.numpy = reference(site, self.draft.imports, "numpy.pad", at).rpartition(".")[0]
        if not self.numpy:
            raise Refused("NumPy's functions are imported one by one")
        self.rows, self.real = self._new("pad_rows"), self._new("real_rows")
        self.outside = self._new("NO_ROW")
        mask = self._new("mask")
        for one in functions:
            for each in one["masks"]:
                self._mask(each, mask, one.get("line"))
        for one in functions:
            for place in one["calls"]:
                self._pad(self._call(place), one, mask)
        line = min(line_above(site, node) for node in self.statements)
        newline = layout.newline
        text = newline * missing_lines(site, line) + newline.join(
            part for lines in self._definitions() for part in (*lines, "", "")
        )
        self.draft.insert(line, 1, text + newline)

    def _new(self, wanted: str) -> str:
        name = fresh_name(self.taken, wanted)
        self.taken.add(name)
        return name

    def _call(self, place: Sequence[int]) -> ast.Call:
        return call_at(self.site, place)

    def _pad(self, call: ast.Call, one: Mapping[str, Any], mask: str) -> None:
        """Pads the arguments of a call, and hands the mask over."""
        if any(k.arg is None for k in call.keywords):
            raise Refused("the call unpacks a dict of arguments")
        if any(isinstance(around, _FUNCTIONS) and around in self.masked for around in self._around(call)):
            raise Refused("a padded call is in a function that another padded one calls")
        self.statements.append(call)
        starred = [n for n, each in enumerate(call.args) if isinstance(each, ast.Starred)]
        by_argument: dict[int | str, list[Mapping[str, Any]]] = {}
        for each in one["arrays"]:
            by_argument.setdefault(each["argument"], []).append(each)
        if starred and (unpacked := [n for n in by_argument if isinstance(n, int) and n >= starred[0]]):
            self._pad_unpacked(call, starred[0], one, [by_argument.pop(n) for n in unpacked])
        for argument, arrays in by_argument.items():
            node = self._argument(call, argument)
            text = self.site.text(node)
            if arrays[0]["key"] is None:
                new = self._padded(text, arrays[0])
            else:
                new = f"{self._padder(node, arrays)}({text})"
            self.draft.replace(self.site.span(node), new)
        groups = list(dict.fromkeys(each["group"] for each in one["masks"]))
        if len(groups) > 1:
            raise Refused("masks of several lengths are needed")
        if not groups:
            return
        array = next(each for each in one["arrays"] if each["group"] == groups[0])
        self.helpers.setdefault(self.real, [])
        if starred:
            self._mask_unpacked(call, starred[0], one, array)
            return
        node = self._argument(call, array["argument"])
        if not all(isinstance(part, _SIMPLE) for part in ast.walk(node)):
            raise Refused("an argument that needs a mask is computed in the call")
        text = self.site.text(node)
        text = text if array["key"] is None else f"{text}[{_quoted(array['key'])}]"
        last = self.site.span([*call.args, *(k.value for k in call.keywords)][-1])
        given = f", {mask}={self.real}({text}, {array['multiple']})"
        self.draft.insert(last.end_line, last.end_column, given)

    def _mask_unpacked(
        self, call: ast.Call, place: int, one: Mapping[str, Any], array: Mapping[str, Any]
    ) -> None:
        """Adds the mask to what the function for unpacked arguments returns: it is the last parameter of the jitted function."""
        roots = [
            chain[-1][1:] if chain else each["place"] for each in one["masks"] for chain in each["chains"]
        ]
        functions = {self._function_around(self._call(root)) for root in roots}
        argument = array["argument"]
        whole = all(len(function.args.args) == len(one["names"]) for function in functions)
        if call.keywords or not whole or not isinstance(argument, int) or argument < place:
            raise Refused("the call unpacks arguments, and needs a mask")
        starred = call.args[place]
        name = self.unpacked[ast.dump(starred)]
        row = f"        {self.real}({one['names'][argument]}, {array['multiple']}),"
        if row not in self.helpers[name]:
            self.helpers[name].insert(-1, row)

    def _pad_unpacked(
        self,
        call: ast.Call,
        place: int,
        one: Mapping[str, Any],
        arrays: Sequence[Sequence[Mapping[str, Any]]],
    ) -> None:
        """Pads the last arguments of `f(x, *batch)`: `f(x, *pad_batch(*batch))`."""
        starred = call.args[place]
        assert isinstance(starred, ast.Starred)
        names = one.get("names", ())[place:]
        known = all(isinstance(name, str) and name.isidentifier() for name in names)
        if (
            place != len(call.args) - 1
            or len(set(names)) != len(names)
            or not known
            or any(each["key"] is not None for part in arrays for each in part)
        ):
            raise Refused("the call unpacks arguments")
        padded = {part[0]["argument"] - place: part[0] for part in arrays}
        body = f"{one['masks']}" + "".join(f"{name} {padded.get(n)};" for n, name in enumerate(names))
        name = self.padders.get(body) or self._new(
            f"pad_{starred.value.id}" if isinstance(starred.value, ast.Name) else "pad_batch"
        )
        self.padders[body] = name
        lines = [f"def {name}({', '.join(names)}):", "    return ("]
        for n, each in enumerate(names):
            lines.append(f"        {self._padded(each, padded[n]) if n in padded else each},")
        self.helpers[name] = [*lines, "    )"]
        self.unpacked[ast.dump(starred)] = name
        self.draft.replace(self.site.span(starred), f"*{name}(*{self.site.text(starred.value)})")

    def _argument(self, call: ast.Call, argument: int | str) -> ast.expr:
        written = written_argument(call, argument)
        if written is None:
            raise Refused("an argument of another length is not written in the call")
        return written

    def _padded(self, text: str, array: Mapping[str, Any]) -> str:
        fill = f", {self.outside}" if array["outside"] else ""
        if fill:
            self.helpers.setdefault(self.outside, [])
        return f"{self.rows}({text}, {array['multiple']}{fill})"

    def _padder(self, node: ast.expr, arrays: Sequence[Mapping[str, Any]]) -> str:
        """The function that pads the arrays of a dict."""
        body = "".join(f"{one['key']} {one['multiple']} {one['outside']};" for one in arrays)
        if body in self.padders:
            return self.padders[body]
        root = node
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
        wanted = root.id if isinstance(root, ast.Name) and isinstance(node, ast.Name) else "batch"
        name = self.padders[body] = self._new(f"pad_{wanted}")
        lines = [f"def {name}({wanted}):", "    return {", f"        **{wanted},"]
        for one in arrays:
            key = _quoted(one["key"])
            lines.append(f"        {key}: {self._padded(f'{wanted}[{key}]', one)},")
        self.helpers[name] = [*lines, "    }"]
        return name

    def _mask(self, one: Mapping[str, Any], mask: str, line: int | None) -> None:
        """Masks a reduction, and hands the mask to its function, from the jitted one at `line` on."""
        call = self._call(one["place"])
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        extreme = name in _INITIAL and one["floats"]
        if not (name in _MASKED or extreme) or any(k.arg not in ("axis", "keepdims") for k in call.keywords):
            raise Refused(f"`{self.site.text(call.func)}` over the axis cannot be masked")
        of_module = (self.site.names.qualified(call.func) or "").startswith(_MODULES)
        if len(call.args) > 1 + of_module or not (call.args or not of_module):
            raise Refused(f"`{self.site.text(call.func)}` over the axis cannot be masked")
        if call not in self.edited:
            self.edited.add(call)
            index = ", ".join(":" if axis == one["axis"] else "None" for axis in range(one["rank"]))
            whole = mask if one["rank"] == 1 else f"{mask}[{index}]"
            text = f"where={whole}" if one["rank"] == 1 else f"where=None if {mask} is None else {whole}"
            if extreme:
                infinity = reference(self.site, self.draft.imports, "jax.numpy.inf", call)
                text = f"initial={_INITIAL[name]}{infinity}, {text}"
            self._add(call, text)
        self._take(call, mask)
        for chain in one["chains"]:
            inner = self._function_around(call)
            for place in chain:
                outer = self._call(place[1:])
                if not self._calls(outer.func, inner):
                    raise Refused("a transformation calls a function that needs the mask")
                if outer not in self.edited:
                    self.edited.add(outer)
                    self._add(outer, f"{mask}={mask}")
                self._take(outer, mask)
                inner = self._function_around(outer)
            if line not in (None, inner.lineno, *(each.lineno for each in inner.decorator_list)):
                raise Refused(
                    f"`{inner.name}` needs the mask, and the jitted function does not call it by its name"
                )

    def _calls(self, called: ast.expr, function: ast.AST, depth: int = 2) -> bool:
        """Whether a callee is a function, or its gradient or the like, which takes the same keywords."""
        if isinstance(called, ast.Call):
            name = self.site.names.qualified(called.func) or ""
            return name in _SAME_KEYWORDS and bool(called.args) and self._calls(called.args[0], function)
        if not isinstance(called, ast.Name):
            return False
        scope = self.site.names.scope_at(called).resolve(called.id)
        bindings = scope.bindings.get(called.id, ()) if scope is not None else ()
        if len(bindings) != 1:
            return False
        if bindings[0].node is function:
            return True
        above = self.site.names.parents.get(bindings[0].node)
        made = isinstance(above, ast.Assign) and above.targets == [bindings[0].node]
        return made and depth > 0 and self._calls(above.value, function, depth - 1)  # type: ignore[union-attr]

    def _add(self, call: ast.Call, text: str) -> None:
        """Adds an argument to a call."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if given:
            last = self.site.span(given[-1])
            self.draft.insert(last.end_line, last.end_column, f", {text}")
        else:
            span = self.site.span(call)
            self.draft.insert(span.end_line, span.end_column - 1, text)

    def _function_around(self, node: ast.AST) -> ast.FunctionDef:
        function = next((one for one in self._around(node) if isinstance(one, _FUNCTIONS)), None)
        if not isinstance(function, ast.FunctionDef):
            raise Refused("a reduction over the axis is not in a function with a name")
        return function

    def _around(self, node: ast.AST) -> list[ast.AST]:
        return list(self.site.names.ancestors(node))

    def _take(self, node: ast.AST, mask: str) -> None:
        """Gives the function around a node the mask as a parameter."""
        function = self._function_around(node)
        if function in self.masked:
            return
        self.masked[function] = mask
        arguments = function.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or not arguments.args:
            raise Refused(f"`{function.name}` takes any arguments")
        last = arguments.args[-1]
        behind: ast.AST = arguments.defaults[-1] if arguments.defaults else last.annotation or last
        span = self.site.span(behind)
        self.draft.insert(span.end_line, span.end_column, f", {mask}=None")

    def _definitions(self) -> list[list[str]]:
        """The new functions."""
        found = [
            [
                f"def {self.rows}(array, multiple, fill=0):",
                '    """The array with rows up to a multiple of a length, so that few lengths are compiled."""',
                "    added = -len(array) % multiple",
                f"    widths = [(0, added)] + [(0, 0)] * ({self.numpy}.ndim(array) - 1)",
                f"    return {self.numpy}.pad(array, widths, constant_values=fill)",
            ]
        ]
        if self.outside in self.helpers:
            comment = "# an index beyond every axis: JAX drops what is added there"
            found.insert(0, [f"{self.outside} = {self.numpy}.iinfo({self.numpy}.int32).max  {comment}"])
        if self.real in self.helpers:
            found.append(
                [
                    f"def {self.real}(array, multiple):",
                    '    """Which rows of the padded array are those of the array."""',
                    f"    return {self.rows}({self.numpy}.ones(len(array), bool), multiple)",
                ]
            )
        return [*found, *(lines for lines in self.helpers.values() if lines)]


def _quoted(key: str) -> str:
    return f'"{key}"' if '"' not in key and "\\" not in key else repr(key)
