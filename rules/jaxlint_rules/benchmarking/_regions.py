"""Timed regions: where to report one, and which clock differences are not measurements."""

from __future__ import annotations

import ast
import re

from jaxlint.api import Dispatch, ElapsedEvent, Event, Frame, Reporter

_COMPILES = (
    r"compil(?!ed\w* ?[(=])"  # not the name of a jitted function: `compiled = jax.jit(f)`, `compiled(x)`
)
# An author who mentions these near a measurement knows that it contains more, or less, than the computation.
COMPILING = re.compile(
    rf"{_COMPILES}|first|warm|cold|trac(e|ing)|jit[_ )]|overhead|startup|init", re.IGNORECASE
)
DISPATCHING = re.compile(r"dispatch|submit|enqueue|launch|overhead|async", re.IGNORECASE)


def is_measurement(event: ElapsedEvent, report: Reporter) -> bool:
    """Whether the elapsed time is kept or shown, as opposed to compared with a limit ("has a minute passed?")."""
    frame = event.frame
    if event.start.frame is frame and len(frame.loops) > event.start.loops:
        return False  # the total running time, shown in a loop
    started = event.start.frame
    if isinstance(started, Frame) and started is not frame and started.function is not None:
        if frame.function is not None and started.function.node is frame.function.node:
            return False  # a meter: the time since its last reading
    if frame.stage.staged or frame.is_in_test():
        return False
    for ancestor in report.module.ancestors(event.node):
        if isinstance(ancestor, ast.Compare):
            return False
        if isinstance(ancestor, (ast.stmt, ast.Call)):
            return True
    return True


def speaks_of(event: ElapsedEvent, words: re.Pattern[str]) -> bool:
    """Whether the lines around a region, or the name of its function, contain one of these words."""
    first = getattr(event.start.node, "lineno", 0)
    last = getattr(event.node, "end_lineno", 0)
    lines = event.frame.module.lines[max(0, first - 3) : last + 3]
    name = event.frame.function.name if event.frame.function is not None else ""
    return bool(words.search("\n".join([name, *lines])))


def is_called_compiling(event: ElapsedEvent) -> bool:
    """Whether the statement that shows or keeps the time calls it that of a warm-up or a compilation."""
    statement = next(
        (above for above in event.frame.module.ancestors(event.node) if isinstance(above, ast.stmt)), None
    )
    return statement is not None and _FIRST_CALL.search(ast.unparse(statement)) is not None


_FIRST_CALL = re.compile(rf"warm|{_COMPILES}|(to|for) jit\b|\bjitting|first (call|run|step)", re.IGNORECASE)


def common_frame(event: ElapsedEvent, dispatch: Dispatch) -> tuple[Frame, ast.AST] | None:
    """The frame that runs both the clock and the dispatch, and the place there where the clock stops."""
    chain: list[Frame] = [dispatch.frame, *dispatch.frame.callers()]
    node: ast.AST = event.end.node if event.end.frame is event.frame and event.end.node else event.node
    frame: Frame = event.frame
    while frame not in chain and frame.caller is not None and frame.call_node is not None:
        node, frame = frame.call_node, frame.caller
    return (frame, place_of(node)) if frame in chain else None


def way_up(dispatch: Dispatch, frame: Frame) -> list[tuple[Frame, ast.AST]]:
    """The calls that lead to a dispatch, each with its frame: from the dispatch's own up to `frame`."""
    inner, node = dispatch.frame, dispatch.node
    way = [(inner, node)]
    while inner is not frame and inner.caller is not None and inner.call_node is not None:
        node, inner = inner.call_node, inner.caller
        way.append((inner, node))
    return way


def place_of(node: ast.AST) -> ast.AST:
    """The place of a `with` statement is its first item."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return node.items[0].context_expr
    return node


def report_from(report: Reporter, frame: Frame, node: ast.AST) -> bool:
    """Directs the reporter to a place in `frame`; returns False if its file is not reported."""
    if not frame.module.reported:
        return False
    report.event = Event(node, frame)
    return True
