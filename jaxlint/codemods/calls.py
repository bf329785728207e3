"""Adapts the arguments of calls to a changed signature, edit by edit, so that what stands between them is kept."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from jaxlint.codemods.registry import Draft
from jaxlint.codemods.site import Refused
from jaxlint.finding import Span


@dataclass(frozen=True, slots=True)
class CallChange:
    """How calls of a function have to change.

    `parameters` are the old positional parameters, of which the first `keep` may still be given by position (None:
    all). `rename` and `drop` speak of keywords, `positional` of keywords that are given by position now, `add` of
    keywords with their value in source, `default` of what to pass where nothing was passed, `refuse` of keywords that
    have no mechanical rewrite, with the reason.
    """

    parameters: Sequence[str] = ()
    keep: int | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    drop: Sequence[str] = ()
    positional: Sequence[str] = ()
    add: Mapping[str, str] = field(default_factory=dict)
    default: str | None = None
    refuse: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(value: CallChange | Mapping[str, Any]) -> CallChange:
        return value if isinstance(value, CallChange) else CallChange(**value)


def adapt_call(draft: Draft, call: cst.Call, change: CallChange, *, bound: int = 0) -> None:
    """Edits the arguments of `call`; its first `bound` ones are not the function's (as in a call of `partial`)."""
    site = draft.site
    args = list(call.args)[bound:]
    for index, arg in enumerate(args):
        if arg.star:
            raise Refused("the call unpacks its arguments, so that what it passes cannot be seen")
        name = arg.keyword.value if arg.keyword else None
        if name is None:
            _adapt_positional(draft, arg, index, change)
        elif name in change.refuse:
            raise Refused(change.refuse[name])
        elif name in change.rename and arg.keyword is not None:
            draft.replace(site.place(arg.keyword), change.rename[name])
        elif name in change.drop:
            _drop(draft, list(call.args), index + bound)
        elif name in change.positional:
            _make_positional(draft, args, index, change)
    given = {arg.keyword.value for arg in args if arg.keyword}
    missing = [f"{name}={value}" for name, value in change.add.items() if name not in given]
    if change.default is not None and not args and not bound:
        missing.append(change.default)
    if missing:
        _append(draft, call, ", ".join(missing))


def _adapt_positional(draft: Draft, arg: cst.Arg, index: int, change: CallChange) -> None:
    if change.keep is None or index < change.keep:
        return
    if index >= len(change.parameters):
        raise Refused("the call passes more positional arguments than are known")
    name = change.parameters[index]
    if name in change.refuse:
        raise Refused(change.refuse[name])
    place = draft.site.place(arg)
    draft.insert(place.line, place.column, f"{change.rename.get(name, name)}=")


def _make_positional(draft: Draft, args: Sequence[cst.Arg], index: int, change: CallChange) -> None:
    arg = args[index]
    assert arg.keyword is not None
    if change.parameters.index(arg.keyword.value) != index:
        raise Refused(f"`{arg.keyword.value}` has to be passed by position, and is out of order here")
    if any(a.keyword and a.keyword.value not in change.positional for a in args[:index]):
        raise Refused(f"`{arg.keyword.value}` has to be passed by position, and stands after a keyword here")
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
        raise Refused("a comment stands between the arguments, which the rewrite would lose")
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

    `index_helper` names a helper whose subscript, given as an argument, stands for the plain index (`jax.ops.index`).
    """

    text: str
    parameters: Sequence[str]
    index_helper: str | None = None

    @staticmethod
    def of(value: Template | Mapping[str, Any]) -> Template:
        return value if isinstance(value, Template) else Template(**value)


_ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


def expand_template(draft: Draft, call: cst.Call, template: Template, helpers: Mapping[Span, Span]) -> None:
    """Replaces `call` by the template. `helpers` maps the place of a helper's subscript to that of its index."""
    site = draft.site
    given: dict[str, cst.Arg] = {}
    for index, arg in enumerate(call.args):
        if arg.star or (arg.keyword is None and index >= len(template.parameters)):
            raise Refused("the call passes arguments that the rewrite does not know")
        name = arg.keyword.value if arg.keyword else template.parameters[index]
        if name not in template.parameters or name in given:
            raise Refused(f"the call passes `{name}`, which the rewrite does not know")
        given[name] = arg
    if set(given) != set(template.parameters):
        raise Refused("the call does not pass all the arguments that the rewrite needs")

    pieces: list[str | Span] = []
    for literal, field_name, _, _ in string.Formatter().parse(template.text):
        pieces.append(literal)
        if field_name is None:
            continue
        name = field_name
        value = given[name].value
        place = helpers.get(site.place(value), site.outer_place(value))
        attribute_follows = template.text.find(f"{{{name}}}.") >= 0
        if attribute_follows and not value.lpar and not isinstance(value, _ATOMS):
            pieces += ["(", place, ")"]
        else:
            pieces.append(place)
    _reassemble(draft, site.place(call), pieces)


def _reassemble(draft: Draft, whole: Span, pieces: Sequence[str | Span]) -> None:
    """Replaces everything in `whole` but the spans among `pieces`, which stand in the order of the text."""
    line, column, text = whole.line, whole.column, ""
    for piece in [*pieces, Span(whole.end_line, whole.end_column, whole.end_line, whole.end_column)]:
        if isinstance(piece, str):
            text += piece
            continue
        if (piece.line, piece.column) < (line, column):
            raise Refused("the arguments are given in another order than the rewrite needs")
        gap = Span(line, column, piece.line, piece.column)
        if "#" in draft.site.lines.slice(gap):
            raise Refused("a comment stands between the arguments, which the rewrite would lose")
        draft.replace(gap, text)
        line, column, text = piece.end_line, piece.end_column, ""
