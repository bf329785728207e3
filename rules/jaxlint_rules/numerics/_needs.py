"""Operations that a differentiated function computes, but whose gradient nothing needs."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.api import DifferentiatedEvent
from jaxlint.api.values import Array, Operation, Value, constant, parts_of

_MOST = 2000  # values that a search visits


class Needs:
    """The results of differentiated functions, and which operations these need."""

    def __init__(self) -> None:
        self.results: list[tuple[Value, Value]] = []  # what is differentiated, and all that is returned

    def add(self, event: DifferentiatedEvent) -> None:
        whole = event.result
        parts = getattr(whole, "items", None)
        option = event.transformed.options.get("has_aux")
        aux = option is not None and constant(option) is True and parts is not None and len(parts) == 2
        self.results.append((parts[0] if aux and parts is not None else whole, whole))

    def are_none_for(self, operation: Operation) -> bool:
        """Whether the results hold the operation, but only beside the loss or below `stop_gradient`."""
        seen = False
        for loss, whole in self.results:
            if any(one is operation for one in _operations(loss, held=False)):
                return False
            seen = seen or any(one is operation for one in _operations(whole, held=True))
        return seen


def _operations(value: Value, held: bool) -> Iterator[Operation]:
    """The operations behind a value. `held`: also those whose results `stop_gradient` holds constant."""
    queue: list[Value] = [value]
    seen: set[int] = set()
    for part in queue:  # the queue grows during the loop
        if id(part) in seen or len(queue) > _MOST:
            continue
        seen.add(id(part))
        if not isinstance(part, Array):
            queue += parts_of(part)
            continue
        if part.made is not None:
            yield part.made
            if held or part.made.name != "stop_gradient":
                queue += [*part.made.args, *part.made.kwargs.values()]
        elif part.form is not None:
            queue += part.form.of
