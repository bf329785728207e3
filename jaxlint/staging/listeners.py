"""Which rules hear of which events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from jaxlint.rule import Concern

if TYPE_CHECKING:
    from jaxlint.staging.analysis import Reporter

Handler = tuple[Callable[[Any, Any], None], "Reporter"]


class Listeners:
    """The rules' methods by the event that they take.

    Calls, names and operations are the bulk of all events and most rules care for a few functions, so a rule may say so
    (`jaxlint.rule.concerns`); who hears of one is found once for each name and type of callee, and where nobody does
    no event is made.
    """

    def __init__(self, reporters: Sequence[Reporter] = ()) -> None:
        self.handlers: dict[str, list[Handler]] = {}
        self._routes: dict[tuple[str, str, str], list[Handler]] = {}
        self._concerned: dict[str, list[tuple[Concern | None, Handler]]] = {}
        for reporter in reporters:
            for name in dir(reporter.rule):
                if name.startswith("on_"):
                    handler = (getattr(reporter.rule, name), reporter)
                    self.handlers.setdefault(name[3:], []).append(handler)
                    concern: Concern | None = getattr(handler[0], "concern", None)
                    self._concerned.setdefault(name[3:], []).append((concern, handler))

    def wants(self, kind: str) -> bool:
        return kind in self.handlers

    def tell(self, kind: str, event: Any) -> None:
        """Hands the event to the rules that take it, in the order of the rules."""
        hand(self.handlers.get(kind, ()), event)

    def of(self, kind: str, name: str, callee: str = "") -> list[Handler]:
        """Who hears of a call of `name`, of the name itself or of the operation; `callee`: the kind of value that is called."""
        route = self._routes.get((kind, name, callee))
        if route is None:
            route = self._routes[kind, name, callee] = [
                handler
                for concern, handler in self._concerned.get(kind, ())
                if concern is None or concern.covers(name, callee)
            ]
        return route


def hand(handlers: Sequence[Handler], event: Any) -> None:
    """Calls the handlers with the event."""
    for method, reporter in handlers:
        reporter.event = event
        method(event, reporter)
