"""Parses the grammar of a Python newer than the running one into trees of the standard library's `ast`.

libcst has its own grammar, so it locates the new constructs. Each is replaced in the text by an old construct of the
same length in bytes: type parameters by blanks, an f-string by `( )`. The running parser then places every other node
correctly, and the replaced constructs are inserted, built from pieces that are parsed the same way.
"""

from __future__ import annotations

import ast
import bisect
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jaxlint.syntax.guard import nesting_problem

if TYPE_CHECKING:
    import libcst as cst

    AnyString = cst.FormattedString | cst.TemplatedString | cst.ConcatenatedString
    Parameterised = cst.FunctionDef | cst.ClassDef | cst.TypeAlias

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK = re.compile(r"(?:\s|\\(?=[\r\n]))*")
_EQUAL = re.compile(r"(?:\s|#[^\r\n]*)*=\s*(?:#[^\r\n]*[\r\n]\s*)*")
_CONVERSION = re.compile(r"(![rsa])([ \t]+)(?=[}:])")
_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")

if sys.version_info >= (3, 12):
    ParamSpec, TypeAlias, TypeVar, TypeVarTuple = ast.ParamSpec, ast.TypeAlias, ast.TypeVar, ast.TypeVarTuple
else:

    class TypeAlias(ast.stmt):
        """`type X[T] = value`, which `ast` supports from Python 3.12."""

        _fields = ("name", "type_params", "value")

    class TypeVar(ast.AST):
        """A type parameter `T: bound = default`."""

        _fields = ("name", "bound", "default_value")
        _attributes = _PLACE

    class ParamSpec(ast.AST):
        """A type parameter `**P`."""

        _fields = ("name", "default_value")
        _attributes = _PLACE

    class TypeVarTuple(ast.AST):
        """A type parameter `*Ts`."""

        _fields = ("name", "default_value")
        _attributes = _PLACE


if sys.version_info >= (3, 14):
    Interpolation, TemplateStr = ast.Interpolation, ast.TemplateStr
else:

    class TemplateStr(ast.expr):
        """`t"..."`, which `ast` supports from Python 3.14."""

        _fields = ("values",)

    class Interpolation(ast.expr):
        """`{value}` in a template string."""

        _fields = ("value", "str", "conversion", "format_spec")


# Kinds of nodes that a tree may contain though `ast` does not know them.
NEWER_NODES: tuple[type[ast.AST], ...] = (
    Interpolation,
    ParamSpec,
    TemplateStr,
    TypeAlias,
    TypeVar,
    TypeVarTuple,
)


def parse_newer(text: str, version: tuple[int, ...] = sys.version_info[:2]) -> ast.Module:
    """The tree of `text`, which the parser of Python `version` rejects. Raises SyntaxError if no version accepts it.

    The caller must have checked that the text does not nest too deeply for libcst.
    """
    return _reader(text, version).module()


def _reader(text: str, version: tuple[int, ...]) -> _Reader:
    """Raises SyntaxError."""
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider

    from jaxlint.gc_pause import no_garbage_collection

    with no_garbage_collection():
        try:
            # libcst loses blanks after a conversion, and so the positions of the rest of the line.
            module = cst.parse_module(_CONVERSION.sub(r"\2\1", text))
        except cst.ParserSyntaxError as error:
            raise SyntaxError("invalid syntax", (None, error.raw_line, None, None)) from None
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        return _Reader(text, version, wrapper.resolve(PositionProvider))


def tokens(text: str) -> list[tokenize.TokenInfo]:
    """The tokens of a module whose lines end in "\\n". Constructs that the running tokenizer does not know are covered,
    except their comments.

    Raises SyntaxError or tokenize.TokenError if no version can read it.
    """
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        if nesting_problem(text, concrete=True):
            raise  # libcst would crash the interpreter
        covered = _reader(text, sys.version_info[:2]).spelled_old()
        return list(tokenize.generate_tokens(io.StringIO(covered).readline))


@dataclass(slots=True)
class _Construct:
    """A construct that is covered in the text from offset `start` to `end`. `at` is the start of its node."""

    node: Any
    start: int
    end: int
    covers: dict[int, str] = field(default_factory=dict)  # characters that do not become blanks
    at: int = -1

    @property
    def key(self) -> int:
        return self.start if self.at < 0 else self.at


class _Reader:
    def __init__(self, text: str, version: tuple[int, ...], places: Mapping[Any, Any]) -> None:
        self.text = text
        self.version = version
        self.places = places
        self.starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
        self.constructs: list[_Construct] = []

    def spelled_old(self) -> str:
        """The text with new constructs covered, comments kept, and each character at its place."""
        import libcst as cst

        self.constructs = sorted(self._find(), key=lambda one: (one.start, -one.end))
        comments = (self._range(node) for node in self.places if isinstance(node, cst.Comment))
        kept = {offset for start, end in comments for offset in range(start, end)}
        return self._covered(0, len(self.text), kept)

    def module(self) -> ast.Module:
        self.constructs = sorted(self._find(), key=lambda one: (one.start, -one.end))
        tree = ast.parse(self._covered(0, len(self.text)))
        self._put_in(tree, 0, len(self.text))
        return tree

    # Positions

    def _range(self, node: Any) -> tuple[int, int]:
        place = self.places[node]
        return self._offset(place.start), self._offset(place.end)

    def _offset(self, place: Any) -> int:
        return self.starts[place.line - 1] + place.column  # type: ignore[no-any-return]

    def _outer_range(self, node: Any) -> tuple[int, int]:
        """The range of an expression, including the parentheses around it."""
        if not node.lpar:
            return self._range(node)
        return self._range(node.lpar[0])[0], self._range(node.rpar[-1])[1]

    def _position(self, offset: int) -> tuple[int, int]:
        """Line and UTF-8 column, as `ast` counts them."""
        line = bisect.bisect_right(self.starts, offset)
        return line, len(self.text[self.starts[line - 1] : offset].encode("utf-8", "surrogatepass"))

    def _place(self, start: int, end: int) -> dict[str, Any]:
        return dict(zip(_PLACE, (*self._position(start), *self._position(end)), strict=True))

    # Constructs to cover

    def _find(self) -> Iterator[_Construct]:
        import libcst as cst

        strings = (cst.FormattedString, cst.TemplatedString)
        joined: set[Any] = set()  # parts of a concatenation, which is one construct
        for node in self.places:
            if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.TypeAlias)):
                if self._is_newly_parameterised(node):
                    yield self._parameterised(node)
            elif isinstance(node, cst.ConcatenatedString):
                parts = [*_parts(node)]
                joined.update(parts, (part for part in _concatenations(node) if part is not node))
                if node not in joined and any(isinstance(part, strings) for part in parts):
                    yield from self._string(node, parts)
            elif isinstance(node, (cst.ExceptHandler, cst.ExceptStarHandler)):
                if self.version < (3, 14) and isinstance(node.type, cst.Tuple) and not node.type.lpar:
                    yield self._hole(node.type)
        for node in self.places:
            if isinstance(node, strings) and node not in joined:
                yield from self._string(node, [node])

    def _is_newly_parameterised(self, node: Parameterised) -> bool:
        parameters = node.type_parameters.params if node.type_parameters else ()
        if self.version < (3, 12):
            return bool(parameters) or _is(node, "TypeAlias")
        return self.version < (3, 13) and any(one.default is not None for one in parameters)

    def _string(self, node: AnyString, parts: list[Any]) -> Iterator[_Construct]:
        import libcst as cst

        if self.version >= (3, 12) and not any(isinstance(part, cst.TemplatedString) for part in parts):
            return
        hole = self._hole(node)
        if self.version >= sys.version_info[:2] and _is_read(self.text[hole.start : hole.end]):
            return
        yield hole

    def _hole(self, node: Any) -> _Construct:
        start, end = self._range(node)
        return _Construct(node, start, end, {start: "(", end - 1: ")"})

    def _parameterised(self, node: Parameterised) -> _Construct:
        import libcst as cst

        begin, text = self._range(node)[0], self.text
        if isinstance(node, cst.TypeAlias):
            name = self._range(node.name)
            keyword = begin + len("type")
            covers = dict.fromkeys(range(keyword, name[0]), "_")
            if _LINE_END.search(text, keyword, name[0]):
                raise SyntaxError("a backslash after `type`", (None, self._position(begin)[0], 1, None))
            if node.type_parameters is None:
                return _Construct(node, keyword, name[0], covers, begin)
            start, end = self._range(node.type_parameters)
            kept = {offset: text[offset] for offset in range(*name)}
            first = self._range(node.type_parameters.params[0])[0]
            covers |= kept | {start: "[", first: "_", end - 1: "]"}
            return _Construct(node, keyword, end, covers, begin)
        assert node.type_parameters is not None
        start, end = self._range(node.type_parameters)
        at = self._range(node.name)[0]
        if not _LINE_END.search(text, start, end):
            return _Construct(node, start, end, {}, at)
        # Parameters on several lines need brackets around them: those of the following code.
        blank = _BLANK.match(text, end)
        following = blank.end() if blank else end
        if text[following : following + 1] == "(":
            return _Construct(node, start, following + 1, {start: "("}, at)
        return _Construct(node, start, end, {start: "(", end - 1: ")"}, at)

    def _outermost(self, start: int, end: int) -> Iterator[_Construct]:
        """The outermost constructs within a range."""
        index = bisect.bisect_left(self.constructs, start, key=lambda one: one.start)
        reached = start
        for construct in self.constructs[index:]:
            if construct.start >= end:
                return
            if construct.start >= reached and construct.end <= end:
                reached = construct.end
                yield construct

    def _covered(self, start: int, end: int, kept: Set[int] | None = None) -> str:
        """A range of the text, covered to the same number of bytes; with `kept`, to the same number of characters,
        all but these."""
        pieces: list[str] = []
        for construct in self._outermost(start, end):
            pieces.append(self.text[start : construct.start])
            for offset in range(construct.start, construct.end):
                character = self.text[offset]
                cover = construct.covers.get(offset, character if character in "\r\n" else " ")
                if kept is not None:
                    pieces.append(character if offset in kept else cover)
                    continue
                width = len(character.encode("utf-8", "surrogatepass"))
                pieces.append(cover if cover == character else cover + " " * (width - 1))
            start = construct.end
        return "".join(pieces) + self.text[start:end]

    # Insertion

    def _put_in(self, tree: ast.AST, start: int, end: int) -> None:
        """Inserts the constructs within a range into the tree of that range."""
        waiting = {self._position(construct.key): construct for construct in self._outermost(start, end)}
        if not waiting:
            return
        for parent in ast.walk(tree):
            for name, value in ast.iter_fields(parent):
                values = value if isinstance(value, list) else [value]
                for index, child in enumerate(values):
                    new = self._instead(child, waiting)
                    if new is child:
                        continue
                    if isinstance(value, list):
                        value[index] = new
                    else:
                        setattr(parent, name, new)

    def _instead(self, node: Any, waiting: Mapping[tuple[int, int], _Construct]) -> Any:
        """The replacement of a node: itself, unless it covers a construct."""
        if isinstance(node, ast.Tuple) and not node.elts:
            construct = waiting.get((node.lineno, node.col_offset))
            return node if construct is None else self._expression_in(construct)
        if isinstance(node, ast.Assign):
            construct = waiting.get((node.lineno, node.col_offset))
            if construct is not None and _is(construct.node, "TypeAlias"):
                return self._alias(node, construct.node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            construct = waiting.get(self._position_of_name(node))
            if construct is not None and not _is(construct.node, "TypeAlias"):
                if "type_params" not in node._fields:
                    node._fields = (*node._fields, "type_params")  # type: ignore[misc]
                node.type_params = self._parameters(construct.node)  # type: ignore[attr-defined, union-attr]
        return node

    def _position_of_name(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> tuple[int, int]:
        """The position of a definition's name, which `ast` does not record: after its keywords."""
        line = self.starts[node.lineno - 1]
        encoded = self.text[line : line + node.col_offset + 1].encode("utf-8", "surrogatepass")
        begin = line + len(encoded[: node.col_offset].decode("utf-8", "replace"))
        words = re.compile(r"(?:async|def|class|\s|\\)*").match(self.text, begin)
        found = words.end() if words else begin
        while self.text[found - 1 : found].isalpha() and found > begin:
            found -= 1  # `classify` begins like a keyword
        return self._position(found)

    def _alias(self, node: ast.Assign, alias: Any) -> ast.stmt:
        start, end = self._range(alias.name)
        made: ast.stmt = _make(
            TypeAlias,
            name=ast.Name(alias.name.value, ast.Store(), **self._place(start, end)),
            type_params=self._parameters(alias),
            value=node.value,
        )
        return ast.copy_location(made, node)

    def _parameters(self, node: Any) -> list[Any]:
        return [self._parameter(one) for one in node.type_parameters.params] if node.type_parameters else []

    def _parameter(self, parameter: Any) -> Any:
        start, end = self._range(parameter.param)
        kind = {"TypeVar": TypeVar, "ParamSpec": ParamSpec, "TypeVarTuple": TypeVarTuple}[
            type(parameter.param).__name__
        ]
        parts: dict[str, Any] = {"name": parameter.param.name.value}
        bound = getattr(parameter.param, "bound", None)
        if kind is TypeVar:
            parts["bound"] = self._expression(*self._outer_range(bound)) if bound is not None else None
        if parameter.default is not None:
            first, end = self._outer_range(parameter.default)
            parts["default_value"] = self._expression(first, end)
            if isinstance(parameter.star, str) and parameter.star:
                star = self.text.rindex("*", start, first)
                parts["default_value"] = ast.Starred(
                    parts["default_value"], ast.Load(), **self._place(star, end)
                )
        made = _make(kind, **parts, **self._place(start, end))
        if "default_value" in parts and "default_value" not in kind._fields:  # in Python 3.12
            made._fields = (*kind._fields, "default_value")
        return made

    def _expression(self, start: int, end: int) -> ast.expr:
        """The tree of the expression in a range of the text."""
        line, column = self._position(start)
        covered = self._covered(start, end)
        tree = ast.parse(f"(\n{' ' * column}{covered}\n)", mode="eval")
        ast.increment_lineno(tree, line - 2)
        self._put_in(tree, start, end)
        if isinstance(tree.body, ast.Tuple) and tree.body.lineno < line:  # inside added brackets
            for name, value in self._place(start, end).items():
                setattr(tree.body, name, value)
        return tree.body

    def _expression_in(self, hole: _Construct) -> ast.expr:
        import libcst as cst

        node = hole.node
        place = self._place(hole.start, hole.end)
        if isinstance(node, cst.Tuple):
            elements = [self._expression(*self._outer_range(one.value)) for one in node.elements]
            return ast.Tuple(elements, ast.Load(), **place)
        parts = [*_parts(node)]
        values = [value for part in parts for value in self._values(part)]
        if any(isinstance(part, cst.TemplatedString) for part in parts):
            return _make(TemplateStr, values=_merged(values), **place)
        return ast.JoinedStr(values=_merged(values), **place)

    def _values(self, part: Any) -> Iterator[ast.expr]:
        import libcst as cst

        if isinstance(part, cst.SimpleString):
            yield ast.Constant(ast.literal_eval(part.value), None, **self._place(*self._range(part)))
            return
        quote = part.start.lstrip("fFrRtT")
        yield from self._pieces(part.parts, "r" in part.start.lower(), quote)

    def _pieces(self, parts: Any, raw: bool, quote: str) -> Iterator[ast.expr]:
        import libcst as cst

        for part in parts:
            start, end = self._range(part)
            if isinstance(part, (cst.FormattedStringText, cst.TemplatedStringText)):
                yield ast.Constant(_literal(part.value, raw, quote), None, **self._place(start, end))
                continue
            first, last = self._outer_range(part.expression)
            conversion = ord(part.conversion) if part.conversion else -1
            if part.equal is not None:
                equal = _EQUAL.match(self.text, last)
                shown = self.text[start + 1 : equal.end() if equal else last]
                yield ast.Constant(
                    _LINE_END.sub("\n", shown), None, **self._place(start + 1, start + 1 + len(shown))
                )
                if conversion == -1 and part.format_spec is None:
                    conversion = ord("r")
            spec = None
            if part.format_spec is not None:
                inner = [*self._pieces(part.format_spec, raw, quote)]
                colon = self._range(part.format_spec[0])[0] - 1 if part.format_spec else end - 2
                spec = ast.JoinedStr(values=_merged(inner), **self._place(colon, end - 1))
            place = self._place(start, end)
            value = self._expression(first, last)
            if isinstance(part, cst.TemplatedStringExpression):
                shown = self.text[first:last]
                yield _make(
                    Interpolation, value=value, str=shown, conversion=conversion, format_spec=spec, **place
                )
            else:
                yield ast.FormattedValue(value, conversion, spec, **place)


def _make(kind: Any, **fields: Any) -> Any:
    return kind(**fields)


def _is_read(string: str) -> bool:
    """Whether the running parser accepts a string as it is."""
    try:
        ast.parse(f"({string})", mode="eval")
    except SyntaxError:
        return False
    return True


def _is(node: Any, kind: str) -> bool:
    return type(node).__name__ == kind


def _parts(node: Any) -> Iterator[Any]:
    """The adjacent strings that form one string."""
    while _is(node, "ConcatenatedString"):
        yield node.left
        node = node.right
    yield node


def _concatenations(node: Any) -> Iterator[Any]:
    while _is(node, "ConcatenatedString"):
        yield node
        node = node.right


def _literal(value: str, raw: bool, quote: str) -> str:
    """The value of a literal piece of an f-string."""
    value = _LINE_END.sub("\n", value)
    if not raw and "\\" in value:
        value = value.replace("{{", "{").replace("}}", "}")
        try:
            return str(ast.literal_eval(f"{quote}{value}{quote}"))
        except SyntaxError:
            return value
    return value.replace("{{", "{").replace("}}", "}")


def _merged(values: list[Any]) -> list[Any]:
    """`values` with adjacent constants merged, as the parser does, and without empty ones."""
    merged: list[Any] = []
    for value in values:
        before = merged[-1] if merged else None
        if isinstance(value, ast.Constant) and isinstance(before, ast.Constant):
            before.value = str(before.value) + str(value.value)
            before.end_lineno, before.end_col_offset = value.end_lineno, value.end_col_offset
        else:
            merged.append(value)
    return [value for value in merged if not (isinstance(value, ast.Constant) and not value.value)]
