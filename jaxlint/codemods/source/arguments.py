"""Adds arguments to calls in the layout of the call."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst


def keyword_argument(name: str, value: str) -> cst.Arg:
    """The argument `name=value`, without spaces around the equals sign."""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(cst.parse_expression(value), keyword=cst.Name(name), equal=equal)


def with_arguments(call: cst.Call, added: Sequence[cst.Arg]) -> cst.Call:
    """`call` with additional arguments at the end; a call with one argument to a line keeps that layout."""
    args = list(call.args)
    if not args:
        return call.with_changes(args=_separated(added, cst.SimpleWhitespace(" ")))
    last = args[-1]
    trailing = last.comma if isinstance(last.comma, cst.Comma) else None
    gap: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if len(args) > 1 and isinstance(args[-2].comma, cst.Comma):
        gap = _without_comment(args[-2].comma.whitespace_after)
    elif trailing is not None and isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        gap = _without_comment(call.whitespace_before_args)
    separator = cst.Comma(whitespace_after=gap)
    new = _separated(added, gap)
    if trailing is None:
        # The text between the last argument and the bracket stays there.
        closing = last.whitespace_after_arg
        args[-1] = last.with_changes(comma=separator, whitespace_after_arg=cst.SimpleWhitespace(""))
        new[-1] = new[-1].with_changes(whitespace_after_arg=closing)
    else:
        after = trailing.whitespace_after
        if isinstance(after, cst.ParenthesizedWhitespace) and after.first_line.comment is not None:
            # The comment belongs to the line of the last argument.
            first = after.first_line
            bare = cst.TrailingWhitespace(newline=first.newline)
            args[-1] = last.with_changes(
                comma=separator.with_changes(whitespace_after=_with_first_line(gap, first, after))
            )
            after = after.with_changes(first_line=bare)
        else:
            args[-1] = last.with_changes(comma=separator)
        new[-1] = new[-1].with_changes(comma=trailing.with_changes(whitespace_after=after))
    return call.with_changes(args=[*args, *new])


def _separated(added: Sequence[cst.Arg], gap: cst.BaseParenthesizableWhitespace) -> list[cst.Arg]:
    return [arg.with_changes(comma=cst.Comma(whitespace_after=gap)) for arg in added[:-1]] + [added[-1]]


def _without_comment(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """The same line break and indentation, without the comment of the line before."""
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return space
    plain = cst.TrailingWhitespace(newline=space.first_line.newline)
    return space.with_changes(first_line=plain, empty_lines=())


def _with_first_line(
    gap: cst.BaseParenthesizableWhitespace, first: cst.TrailingWhitespace, after: cst.ParenthesizedWhitespace
) -> cst.ParenthesizedWhitespace:
    if isinstance(gap, cst.ParenthesizedWhitespace):
        return gap.with_changes(first_line=first)
    return after.with_changes(first_line=first)
