"""What a cost weighs in one run of the program: how often a place runs, times what one time costs.

A finding about a cost is a warning where the program itself shows that the cost is felt, and advice elsewhere. Rules state
what one time costs; how often the place runs is estimated here, from the loops around it and around its callers:

- a number of iterations that is known counts, unless a parameter gives it;
- a loop that takes batches, counts steps, or computes its state from that of the iteration before runs often, the last
  unless the state gets another shape each time, as on the levels of a tree;
- a loop over the items of a dict, a few names or settings runs a few times, and any other loop a few dozen times;
- every N-th iteration counts as often as N says, and as the root of all iterations where N is not written down.

Code that no visible loop runs counts once. What is unknown thus weighs little.
"""

from __future__ import annotations

import ast
import re

from jaxlint.api import Frame, Loop
from jaxlint.api.syntax import cache
from jaxlint.finding import Severity
from jaxlint_rules._loops import frame_of_loop, is_given, is_retry, is_short, most_turns
from jaxlint_rules._main_loops import advances, holds_loop, loops_around, reshapes_state
from jaxlint_rules._names import last_name
from jaxlint_rules._periods import periods
from jaxlint_rules._slices import calls_in

# Seconds that one time costs on a common machine, as the pages of the rules measure it.
SYNC = 5e-4  # the host waits, and the device then waits for the host
DISPATCH = 5e-5  # one operation outside jit
FORWARD = 2e-3  # a small model outside jit, operation by operation
INDEX = 2e-4  # one element of a JAX array, by its number
RETRACE = 3e-4  # a function is traced again, and its compiled program is found
CALLBACK = 2.5e-4  # a compiled program calls a function of the host
COMPILE = 0.1  # a small function is compiled
OPERATION = 3e-3  # one more operation in a program that is compiled once
LAYER = 0.1  # one more layer of a network, with its gradient
BANDWIDTH = 5e9  # bytes per second between host and device

FELT = 1.0  # seconds in one run of the program from which on a cost is felt
LARGE = 1 << 22  # bytes whose second copy is felt
PLAIN = 10  # times as much, which matters whatever the program does around
# Iterations of loops of unknown length.
_MANY, _EPOCHS, _SOME, _FEW = 5000, 100, 30, 4

_COUNTED = re.compile(r"batch|loader|token|data|iter|step|horizon|sweep|episode|epoch|\bsamples|updates")
_EPOCH = re.compile(r"epoch")
_SETTINGS = re.compile(
    r"cases|configs|settings|scenarios|methods|models|seeds|names|variants|sizes|strategies"
)


def level(seconds: float) -> Severity | None:
    """The severity of a finding whose cost takes this long in one run of the program: the rule's own, or advice."""
    return None if seconds >= FELT else Severity.INFO


def level_of_bytes(size: float) -> Severity | None:
    """The same for memory that is held twice."""
    return None if size >= LARGE else Severity.INFO


def _innermost(frame: Frame) -> Loop | None:
    """The innermost loop around a place, of its frame or of the nearest caller that has one."""
    return next((one.loops[-1] for one in (frame, *frame.callers()) if one.loops), None)


def is_plain(seconds: float, frame: Frame, loop: Loop | None = None) -> bool:
    """Whether a cost of so many seconds, at a place that a program runs as often as numbers in the program say, is large. Loops
    whose length only their names suggest count once."""
    if loop is None:
        loop = _innermost(frame)
    for one in loops_around(loop, frame) if loop is not None else ():
        seconds *= _written_turns(one, frame_of_loop(one, frame))
    for _, every in periods(frame):
        seconds /= every or 1
    return seconds >= PLAIN * FELT


def _written_turns(loop: Loop, frame: Frame) -> float:
    """The iterations of a loop by numbers in the program; 1 if none say it."""
    if isinstance(loop.node, ast.While):
        return most_turns(loop.node, frame) or 1
    given = is_given(getattr(loop.node, "iter", None), frame)
    return loop.trips if loop.trips is not None and not given else 1


def runs(frame: Frame, loop: Loop | None = None) -> float:
    """How often the program runs a place, as far as its loops show. `loop`: the innermost one that counts, of this frame or of
    a caller; by default that of the frame."""
    if loop is None:
        loop = _innermost(frame)
    if loop is None:
        return 1
    total = 1.0
    for one in loops_around(loop, frame):
        total *= turns(one, frame_of_loop(one, frame))
    for around, every in periods(frame):
        times = turns(around, frame_of_loop(around, frame))
        total /= min(every or times**0.5, times)
    return min(total, 1e9)


def turns(loop: Loop, frame: Frame) -> float:
    """The iterations of a loop, known or expected. `frame` runs it."""
    node = loop.node
    if isinstance(node, ast.While):
        return most_turns(node, frame) or (_FEW if is_retry(node) else _MANY if _goes_on(node) else _SOME)
    iterable = getattr(node, "iter", None)
    if loop.trips is not None and not is_given(iterable, frame):
        return loop.trips
    if is_short(loop) or is_retry(node) or (iterable is not None and _is_of_names(iterable)):
        return _FEW
    return max(loop.trips or 0, _expected(node))


@cache
def _expected(node: ast.AST) -> int:
    """The iterations of a loop of unknown length."""
    texts = [
        ast.unparse(part).lower()
        for part in (getattr(node, "iter", None), getattr(node, "target", None))
        if part
    ]
    if holds_loop(node) or any(_EPOCH.search(last_name(call.func).lower()) for call in calls_in(node)):
        return _EPOCHS
    if any(_COUNTED.search(text) for text in texts) or _goes_on(node):
        return _MANY
    return _SOME


def _goes_on(node: ast.AST) -> bool:
    """Whether each iteration computes a state from that of the one before, of the same shape."""
    return advances(node) and not reshapes_state(node)


def _is_of_names(iterable: ast.expr) -> bool:
    """`for name, value in table.items()`, and loops over what is named as settings that are compared."""
    if isinstance(iterable, (ast.Name, ast.Attribute)):
        return _SETTINGS.search(last_name(iterable).lower()) is not None
    return isinstance(iterable, ast.Call) and last_name(iterable.func) in (
        "items",
        "keys",
        "values",
        "fields",
    )
