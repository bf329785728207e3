"""What code demands of the call that runs a module: a stream of random numbers, a collection that it may write."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Demand:
    """A layer that raises unless the module that contains it is run with an option.

    `sure`: it raises for every rate that the layer can have here.
    """

    layer: str
    option: str  # the option of `apply`
    name: str  # the stream or the collection
    error: str
    switch: str = ""  # the option of the layer, with its value, that makes it demand this
    sure: bool = True


@dataclass(slots=True)
class Demands:
    """What the code of one activation certainly demanded since a point on its path.

    Code under a test demands nothing certain, nor does code after a `return` under a test: `path` is the number of
    tests, of results and of doubts at that point.
    """

    path: tuple[int, int, int] = (0, 0, 0)
    found: tuple[Demand, ...] = ()

    def add(self, demands: tuple[Demand, ...], path: tuple[int, int, int]) -> None:
        """Adds the demands of a call on this path."""
        if path == self.path:
            self.found += tuple(demand for demand in demands if demand not in self.found)
