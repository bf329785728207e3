"""`print-to-debug-print`: a `print` of tracers becomes `jax.debug.print`, which prints the values on every run.

f-strings are formatted at trace time; their values become arguments, and the rest a format string.
"""

from __future__ import annotations

import ast

from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Step

_FIXED = "\N{INVISIBLE SEPARATOR}"  # stands around the number of a part that Python formats
_OWN_KEYWORDS = frozenset({"fmt", "ordered", "partitioned", "skip_format_check"})


@codemod("print-to-debug-print")
def print_to_debug_print(draft: Draft, step: Step) -> None:
    """The span is a call of `print`, or of `jax.debug.print` with an f-string. Takes no parameters."""
    site = draft.site
    call = site.find_ast(step.span, ast.Call)
    assert isinstance(call, ast.Call)
    qualified = site.names.qualified(call.func)
    is_debug = qualified == "jax.debug.print"
    if not is_debug:
        builtin = isinstance(call.func, ast.Name) and call.func.id == "print"
        if not builtin or site.names.scope_at(call.func).resolve("print") is not None:
            raise Refused("the call is not one of `print`")
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            raise Refused("the call unpacks unknown arguments")
        check_expression(site, argument, "the printed text")
    if Layout(site).comments_outside(site.span(call), ()):
        raise Refused("the rewrite would lose a comment inside the call")
    writer = _Format(draft)
    keywords = []
    if is_debug:
        if len(call.args) != 1 or not isinstance(call.args[0], ast.JoinedStr):
            raise Refused("the format of jax.debug.print is not a single f-string")
        writer.add(call.args[0])
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg not in _OWN_KEYWORDS:
                raise Refused("the f-string stands beside other arguments")
            keywords.append(f"{keyword.arg}={site.text(keyword.value)}")
        function = site.text(call.func)
    else:
        separator = _separator(call)
        for index, argument in enumerate(call.args):
            if index:
                writer.literal(separator)
            writer.add(argument)
        function = reference(site, draft.imports, "jax.debug.print", call)
    if not (writer.positional or writer.named):
        raise Refused("the call prints only constants, once, at trace time")
    arguments = [writer.quoted(), *writer.positional, *(f"{name}={name}" for name in writer.named), *keywords]
    draft.replace(site.span(call), f"{function}({', '.join(arguments)})")


def _separator(call: ast.Call) -> str:
    separator = " "
    for keyword in call.keywords:
        if (
            keyword.arg == "sep"
            and isinstance(keyword.value, ast.Constant)
            and isinstance(keyword.value.value, str)
        ):
            separator = keyword.value.value
        elif keyword.arg == "flush":
            continue
        elif keyword.arg in ("sep", "end", "file"):
            raise Refused(f"jax.debug.print has no `{keyword.arg}`")
        else:
            raise Refused("the call unpacks unknown keywords")
    return separator


class _Format:
    """A format string under construction, with its arguments."""

    def __init__(self, draft: Draft) -> None:
        self.site, self.layout = draft.site, Layout(draft.site)
        self.text = ""
        self.positional: list[str] = []
        self.named: dict[str, None] = {}
        self.fixed: list[str] = []  # what Python formats at trace time

    def add(self, node: ast.expr) -> None:
        """Adds what `print` would write for `node`."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.literal(node.value)
        elif isinstance(node, ast.JoinedStr):
            for part in node.values:
                self._part(part)
        elif isinstance(node, ast.Call) and self._is_format(node):
            assert isinstance(node.func, ast.Attribute)
            assert isinstance(node.func.value, ast.Constant)
            if self.text or self.positional or self.named:
                raise Refused("a string is formatted by `.format` between other arguments")
            self.text = node.func.value.value  # type: ignore[assignment]
            self.positional += [self.layout.argument(argument) for argument in node.args]
            for keyword in node.keywords:
                if keyword.arg is None or keyword.arg in _OWN_KEYWORDS:
                    raise Refused("jax.debug.print would take the format arguments for its own")
                self.positional.append(f"{keyword.arg}={self.layout.argument(keyword.value)}")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _is_text(node.left):
            raise Refused("the string is formatted by `%`; use an f-string")
        elif isinstance(node, ast.BinOp) and (_is_text(node.left) or _is_text(node.right)):
            raise Refused("the string is concatenated by `+`; pass its parts as arguments")
        else:
            self._value(node, "", "")

    def literal(self, text: str) -> None:
        self.text += text.replace("{", "{{").replace("}", "}}")

    def _is_format(self, node: ast.Call) -> bool:
        function = node.func
        return (
            isinstance(function, ast.Attribute)
            and function.attr == "format"
            and isinstance(function.value, ast.Constant)
            and isinstance(function.value.value, str)
            and not any(isinstance(argument, ast.Starred) for argument in node.args)
        )

    def _part(self, part: ast.expr) -> None:
        if isinstance(part, ast.Constant):
            self.literal(str(part.value))
            return
        assert isinstance(part, ast.FormattedValue)
        spec = ""
        if part.format_spec is not None:
            assert isinstance(part.format_spec, ast.JoinedStr)
            if not all(isinstance(one, ast.Constant) for one in part.format_spec.values):
                raise Refused("a format specification in the f-string contains values")
            spec = ":" + "".join(
                str(one.value) for one in part.format_spec.values if isinstance(one, ast.Constant)
            )
        conversion = f"!{chr(part.conversion)}" if part.conversion >= 0 else ""
        self._value(part.value, conversion, spec)

    def _value(self, node: ast.expr, conversion: str, spec: str) -> None:
        if isinstance(node, ast.Attribute) and node.attr == "shape" and "'" not in ast.unparse(node):
            # JAX would print the arrays that it makes of the sizes
            self.text += f"{_FIXED}{len(self.fixed)}{_FIXED}"
            self.fixed.append(f"{{{ast.unparse(node)}{conversion}{spec}}}")
            return
        if isinstance(node, ast.Name) and node.id not in _OWN_KEYWORDS:
            self.named[node.id] = None
            self.text += f"{{{node.id}{conversion}{spec}}}"
            return
        # In an f-string of Python 3.11 the positions of the parts are not those in the file.
        in_text = any(isinstance(one, ast.JoinedStr) for one in self.site.names.ancestors(node))
        self.positional.append(ast.unparse(node) if in_text else self.layout.argument(node))
        self.text += f"{{{conversion}{spec}}}"

    def quoted(self) -> str:
        """The format as a literal, in double quotes if that needs no escapes."""
        if self.fixed:
            parts = self.text.replace("{", "{{").replace("}", "}}").split(_FIXED)
            written = ["".join(map(_escaped, part)) for part in parts]
            written[1::2] = [self.fixed[int(number)] for number in parts[1::2]]
            return f'f"{"".join(written)}"'
        if '"' not in self.text and "\\" not in self.text and self.text.isprintable():
            return f'"{self.text}"'
        return repr(self.text)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _escaped(letter: str) -> str:
    """A letter of a literal in double quotes."""
    return {'"': '\\"', "'": "'"}.get(letter) or repr(letter)[1:-1]
