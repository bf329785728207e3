"""Adapts the arguments of calls to a changed signature by small edits, so that the text between them is kept."""

from __future__ import annotations

import ast
import itertools
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from jaxlint.codemods.registry import Draft
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Span


@dataclass(frozen=True, slots=True)
class CallChange:
    """How calls of a function must change.

    `parameters` are the old positional parameters, of which the first `keep` still accept a position (None: all).
    `rename` and `drop` are about keywords, `positional` about keywords that became positional, `add` about keywords
    with their value as source, `default` about what to pass if nothing was passed, `refuse` about keywords without a
    mechanical rewrite, with the reason. `values` maps the source of a keyword's value ("*": any other) to the
    argument that replaces it, None for none. `wrap` names a function to put around an argument, `prefix` one to put
    around the call; `suffix` follows the call. In the source of `add`, `values` and `wrap`, `{=jax.lax.add}` stands
    for that name as the file spells it.
    """

    parameters: Sequence[str] = ()
    keep: int | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    drop: Sequence[str] = ()
    positional: Sequence[str] = ()
    add: Mapping[str, str] = field(default_factory=dict)
    default: str | None = None
    refuse: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    wrap: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    suffix: str = ""

    @staticmethod
    def of(value: CallChange | Mapping[str, Any]) -> CallChange:
        return value if isinstance(value, CallChange) else CallChange(**value)


def adapt_call(draft: Draft, call: cst.Call, change: CallChange, at: ast.AST, *, bound: int = 0) -> None:
    """Edits the arguments of `call`. Its first `bound` arguments are not the function's (as in a call of `partial`).

    `at` is the call in the standard library's tree, from which new names must be visible.
    """
    site = draft.site
    if bound and (change.suffix or change.prefix):
        raise Refused("the rewrite changes the result of a call, and the function is not called here")
    args = list(call.args)[bound:]
    for index, arg in enumerate(args):
        if arg.star:
            raise Refused("the call unpacks unknown arguments")
        name = arg.keyword.value if arg.keyword else None
        if name is None:
            _adapt_positional(draft, arg, index, change)
        elif name in change.refuse:
            raise Refused(change.refuse[name])
        elif name in change.values:
            new = change.values[name].get(site.code(arg.value).strip(), change.values[name].get("*", ""))
            if new == "":
                raise Refused(f"the rewrite does not know this value of `{name}`")
            if new is None:
                _drop(draft, list(call.args), index + bound)
            else:
                place, value = site.place(arg), site.outer_place(arg.value)
                span = Span(place.line, place.column, value.end_line, value.end_column)
                draft.replace(span, spelled(draft, new, at))
        elif name in change.rename and arg.keyword is not None:
            draft.replace(site.place(arg.keyword), change.rename[name])
        elif name in change.drop:
            _drop(draft, list(call.args), index + bound)
        elif name in change.positional:
            _make_positional(draft, args, index, change)
        parameter = name or (change.parameters[index] if index < len(change.parameters) else "")
        if parameter in change.wrap:
            value = site.outer_place(arg.value)
            draft.insert(value.line, value.column, f"{spelled(draft, change.wrap[parameter], at)}(")
            draft.insert(value.end_line, value.end_column, ")")
    given = {arg.keyword.value for arg in args if arg.keyword}
    missing = [
        f"{name}={spelled(draft, value, at)}" for name, value in change.add.items() if name not in given
    ]
    if change.default is not None and not args and not bound:
        missing.append(change.default)
    if missing:
        _append(draft, call, ", ".join(missing))
    if change.suffix or change.prefix:
        whole = site.place(call)
        if change.prefix:
            draft.insert(whole.line, whole.column, f"{change.prefix}(")
        draft.insert(whole.end_line, whole.end_column, ")" * bool(change.prefix) + change.suffix)


def spelled(draft: Draft, text: str, at: ast.AST) -> str:
    """`text` with every `{=dotted.name}` as the file spells that name at the node `at`."""
    module: dict[str, str] = {"jax.experimental.io_callback": "jax.experimental"}
    return _NAME.sub(
        lambda match: reference(draft.site, draft.imports, match[1], at, module=module.get(match[1])), text
    )


def _adapt_positional(draft: Draft, arg: cst.Arg, index: int, change: CallChange) -> None:
    if change.keep is None or index < change.keep:
        return
    if index >= len(change.parameters):
        raise Refused("the call passes unknown positional arguments")
    name = change.parameters[index]
    if name in change.refuse:
        raise Refused(change.refuse[name])
    place = draft.site.place(arg)
    draft.insert(place.line, place.column, f"{change.rename.get(name, name)}=")


def _make_positional(draft: Draft, args: Sequence[cst.Arg], index: int, change: CallChange) -> None:
    arg = args[index]
    assert arg.keyword is not None
    if change.parameters.index(arg.keyword.value) != index:
        raise Refused(f"`{arg.keyword.value}` must be passed by position, and is out of order here")
    if any(a.keyword and a.keyword.value not in change.positional for a in args[:index]):
        raise Refused(f"`{arg.keyword.value}` must be passed by position, and stands after a keyword here")
    start, value = draft.site.place(arg.keyword), draft.site.outer_place(arg.value)
    draft.replace(Span(start.line, start.column, value.line, value.column), "")


def _drop(draft: Draft, args: Sequence[cst.Arg], index: int) -> None:
    own = draft.site.place(args[index])
    if index:
        before = draft.site.place(args[index - 1])
        span = Span(before.end_line, before.end_column, own.end_line, own.end_column)
    elif len(args) > 1:
        after = draft.site.place(args[1])
        span = Span(own.line, own.column, after.line, after.column)
    else:
        span = own
    if "#" in draft.site.lines.slice(span):
        raise Refused("the rewrite would lose a comment between the arguments")
    draft.replace(span, "")


def _append(draft: Draft, call: cst.Call, text: str) -> None:
    if call.args:
        last = draft.site.place(call.args[-1])
        draft.insert(last.end_line, last.end_column, f", {text}")
    else:
        whole = draft.site.place(call)
        draft.insert(whole.end_line, whole.end_column - 1, text)


@dataclass(frozen=True, slots=True)
class Template:
    """A call that becomes an expression of its arguments, such as `{x}.at[{idx}].set({y})`.

    `{=jax.lax.add}` stands for that name as the file spells it. `index_helper` names a helper whose subscript, as an
    argument, means the plain index (`jax.ops.index`). `optional` parameters are appended as keywords of these names
    to the result, which is then a call; an empty name drops one. `simple` parameters are written twice, so they must
    cost nothing. `called` is the text for a result that is called at once, before and after that call's arguments.
    `variants` are other texts, by the optional parameters that are passed ("a+b", sorted). They have a result, unlike
    `text` under `statement`, which is for calls whose result is unused. `gives_back` names a parameter that the old
    call returned: a variable passed for it can replace the result. `labels`: other keywords label the printed values;
    they go into the text between its first quotation marks. `reorder`: the arguments may be evaluated in another
    order.
    """

    text: str
    parameters: Sequence[str]
    index_helper: str | None = None
    optional: Mapping[str, str] = field(default_factory=dict)
    simple: Sequence[str] = ()
    statement: bool = False
    reorder: bool = False
    called: tuple[str, str] | None = None
    variants: Mapping[str, str] = field(default_factory=dict)
    gives_back: str = ""
    labels: bool = False

    @staticmethod
    def of(value: Template | Mapping[str, Any]) -> Template:
        return value if isinstance(value, Template) else Template(**value)


_NAME = re.compile(r"\{=([\w.]+)\}")
_ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


def expand_template(
    draft: Draft, call: cst.Call, template: Template, helpers: Mapping[Span, Span], at: ast.AST
) -> None:
    """Replaces `call` by the template. `helpers` maps the place of a helper's subscript to that of its index."""
    given, labels = _given(call, template)
    outer = draft.site.names.parents.get(at)
    text, whole = _text_in_place(draft, call, template, given, outer)
    if labels:
        text = text.replace('"', f'"{" ".join(labels)}: ', 1)
    if template.called and isinstance(outer, ast.Call) and outer.func is at:
        text, after = template.called
        end = draft.site.span(outer)
        draft.insert(end.end_line, end.end_column, after)
    extra = [f"{new}={{{old}}}" for old, new in template.optional.items() if old in given and new]
    if extra:
        text = f"{text[:-1]}, {', '.join(extra)})"
    pieces = _filled(draft, text, given, helpers, at)
    spans = [piece for piece in pieces if isinstance(piece, Span)]
    in_order = all((a.end_line, a.end_column) <= (b.line, b.column) for a, b in itertools.pairwise(spans))
    if not labels and (not template.reorder or (in_order and len(given) == len(spans))):
        _reassemble(draft, whole, pieces)
    else:
        _rewrite_whole(draft, call, whole, pieces)


def _given(call: cst.Call, template: Template) -> tuple[dict[str, cst.Arg], list[str]]:
    """The arguments by the names of the template, and the labels of the call. Raises Refused for arguments that the
    template cannot take."""
    given: dict[str, cst.Arg] = {}
    labels: list[str] = []
    known = [*template.parameters, *template.optional]
    for index, arg in enumerate(call.args):
        if arg.star or (arg.keyword is None and index >= len(known)):
            raise Refused("the rewrite does not know all arguments of the call")
        name = arg.keyword.value if arg.keyword else known[index]
        if template.labels and name not in known and (label := _label(name, arg.value)):
            labels.append(label)
            continue
        if name not in known or name in given:
            raise Refused(f"the rewrite does not know the argument `{name}`")
        given[name] = arg
    if not set(template.parameters) <= set(given):
        raise Refused("the rewrite needs arguments that the call does not pass")
    for name in template.simple:
        if not _is_simple(given[name].value):
            raise Refused(f"`{name}` would be evaluated twice; assign it to a variable first")
    return given, labels


def _text_in_place(
    draft: Draft, call: cst.Call, template: Template, given: dict[str, cst.Arg], outer: ast.AST | None
) -> tuple[str, Span]:
    """The new text for `call`, which stands in `outer`, and the span that it replaces. An unused result is dropped."""
    variant = "+".join(sorted(set(given) & set(template.optional)))
    text = template.variants.get(variant, template.text)
    whole = draft.site.place(call)
    if isinstance(outer, ast.Expr) and variant == "result":
        text = template.text  # nothing uses the requested result
        given.pop("result")
    elif template.statement and "result" not in given and not isinstance(outer, ast.Expr):
        value = given[template.gives_back].value if template.gives_back else None
        if not isinstance(value, cst.Name):
            raise Refused("the result is used here, and the replacement returns nothing")
        if (
            isinstance(outer, ast.Assign)
            and ast.unparse(outer.targets[0]) == value.value
            and len(outer.targets) == 1
        ):
            whole = draft.site.span(outer)  # `x = tap(f, x)`
        else:
            text = f"({text}, {{{template.gives_back}}})[1]"
    return text, whole


def _filled(
    draft: Draft, text: str, given: Mapping[str, cst.Arg], helpers: Mapping[Span, Span], at: ast.AST
) -> list[str | Span]:
    """The text in pieces, with the place of an argument for each parameter."""
    site = draft.site
    pieces: list[str | Span] = []
    for literal, field_name, _, _ in string.Formatter().parse(text):
        pieces.append(literal)
        if field_name is None:
            continue
        if field_name.startswith("="):
            pieces.append(spelled(draft, f"{{{field_name}}}", at))
            continue
        value = given[field_name].value
        place = helpers.get(site.place(value), site.outer_place(value))
        is_operand = f"{{{field_name}}}." in text or f"{{{field_name}}}(" in text
        if is_operand and not value.lpar and not isinstance(value, _ATOMS):
            pieces += ["(", place, ")"]
        else:
            pieces.append(place)
    return pieces


def _label(name: str, value: cst.BaseExpression) -> str:
    """The text that `print` with `name=value` wrote before the array; empty if the value is not a plain string."""
    if name in ("tap_with_device", "output_stream", "threshold", "result"):
        return ""
    if not isinstance(value, cst.SimpleString) or not isinstance(value.evaluated_value, str):
        return ""
    text = value.evaluated_value
    return "" if set(text) & set('{}"\\') or not text.isprintable() else f"{name}: {text}"


def _is_simple(value: cst.BaseExpression) -> bool:
    """Whether it may be evaluated twice: a variable, or a list of devices."""
    while isinstance(value, cst.Attribute):
        value = value.value
    if isinstance(value, cst.Call) and isinstance(value.func, (cst.Name, cst.Attribute)):
        leaf = value.func.value if isinstance(value.func, cst.Name) else value.func.attr.value
        return leaf in ("devices", "local_devices") and not value.args
    return isinstance(value, cst.Name)


def _rewrite_whole(draft: Draft, call: cst.Call, whole: Span, pieces: Sequence[str | Span]) -> None:
    """Replaces the whole call by new text, in which the arguments may be in another order."""
    site = draft.site
    old = site.lines.slice(whole)
    leaf = call.func.attr.value if isinstance(call.func, cst.Attribute) else site.code(call.func)
    if "#" in old:
        raise Refused("the rewrite would lose a comment between the arguments")
    if len(re.findall(rf"\b{re.escape(leaf)}\(", old)) > 1:
        raise Refused("an argument calls the same function; run fix again")
    text = "".join(piece if isinstance(piece, str) else site.lines.slice(piece) for piece in pieces)
    draft.replace(whole, text)


def _reassemble(draft: Draft, whole: Span, pieces: Sequence[str | Span]) -> None:
    """Replaces everything in `whole` except the spans in `pieces`, which are in the order of the text."""
    line, column, text = whole.line, whole.column, ""
    for piece in [*pieces, Span(whole.end_line, whole.end_column, whole.end_line, whole.end_column)]:
        if isinstance(piece, str):
            text += piece
            continue
        if (piece.line, piece.column) < (line, column):
            raise Refused("the rewrite needs the arguments in another order")
        gap = Span(line, column, piece.line, piece.column)
        if "#" in draft.site.lines.slice(gap):
            raise Refused("the rewrite would lose a comment between the arguments")
        draft.replace(gap, text)
        line, column, text = piece.end_line, piece.end_column, ""
