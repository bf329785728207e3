"""Dispatches events to the rules that handle them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from jaxlint.jaxapi.names import JAX_FAMILY
from jaxlint.rule import Concern

if TYPE_CHECKING:
    from jaxlint.staging.reporter import Reporter

_ENVIRONMENT = frozenset({"os.environ", "os.putenv"})  # JAX reads settings there
Handle = Callable[[Any, Any], None]
Handler = tuple[Handle, "Reporter"]
About = (
    str | tuple[type, str]
)  # a canonical name, or the type of a nameless callee and the method that is called


class Listeners:
    """The rules' methods, by the event that they handle.

    Calls, names and operations are the bulk of all events, and most rules handle a few functions only. A rule may say
    so (`jaxlint.rule.concerns`). The handlers of a name and callee type are looked up once, and without a handler no
    event is created. `wrap` replaces each method by another callable.
    """

    def __init__(
        self, reporters: Sequence[Reporter] = (), wrap: Callable[[Handle], Handle] | None = None
    ) -> None:
        self.reporters = reporters
        self.handlers: dict[str, list[Handler]] = {}
        # A cache of `of`, which the busiest callers read directly.
        self.routes: dict[str, dict[About, list[Handler]]] = {
            "call": {}, "discarded call": {}, "name": {}, "operation": {}
        }  # fmt: skip
        self._concerned: dict[str, list[tuple[Concern | None, Handler]]] = {}
        # The same, of one type of nameless callee: few of the many methods have handlers of their own.
        self._of_type: dict[tuple[str, type], list[tuple[Concern | None, Handler]]] = {}
        for reporter in reporters:
            for name in dir(reporter.rule):
                if name.startswith("on_"):
                    method: Handle = getattr(reporter.rule, name)
                    concern: Concern | None = getattr(method, "concern", None)
                    handler = (method if wrap is None else wrap(method), reporter)
                    self.handlers.setdefault(name[3:], []).append(handler)
                    self._concerned.setdefault(name[3:], []).append((concern, handler))

    def hear_costs_only(self, only: bool) -> None:
        """From now on, tells only rules about costs of what happens, or all rules again."""
        for reporter in self.reporters:
            reporter.is_deaf = only and not reporter.rule.only_costs

    def wants(self, kind: str) -> bool:
        return kind in self.handlers

    def tell(self, kind: str, event: Any) -> None:
        """Passes the event to the rules that handle it, in the order of the rules."""
        hand(self.handlers.get(kind, ()), event)

    def of(self, kind: str, about: About) -> list[Handler]:
        """The handlers of a call, a discarded call, a name or an operation."""
        route = self.routes[kind].get(about)
        if route is None:
            if isinstance(about, str):
                silent = kind == "name" and not _may_be_told_of(about)
                route = [] if silent else [handler for _, handler in self._covered(kind, about, "External")]
            else:
                callee, method = about
                of_type = self._of_type.get((kind, callee))
                if of_type is None:
                    of_type = self._of_type[kind, callee] = self._covered(kind, "", callee.__name__)
                route = [
                    handler
                    for concern, handler in of_type
                    if concern is None or concern.methods is None or method in concern.methods
                ]
            self.routes[kind][about] = route
        return route

    def _covered(self, kind: str, name: str, callee: str) -> list[tuple[Concern | None, Handler]]:
        """The handlers of a name, or of a type of callee without one."""
        discarded = kind == "discarded call"
        return [
            (concern, handler)
            for concern, handler in self._concerned.get("call" if discarded else kind, ())
            if concern is None or concern.covers(name, callee, discarded)
        ]


def _may_be_told_of(name: str) -> bool:
    """Whether rules handle events about a name: JAX and its ecosystem, and the functions from which JAX reads settings."""
    return name.partition(".")[0] in JAX_FAMILY or name in _ENVIRONMENT


def hand(handlers: Sequence[Handler], event: Any) -> None:
    """Calls the handlers with the event. A handler that raises loses this event; other rules are not affected."""
    for method, reporter in handlers:
        if reporter.is_deaf:
            continue
        reporter.event = event
        try:
            method(event, reporter)
        except Exception as error:
            reporter.failed(error)
