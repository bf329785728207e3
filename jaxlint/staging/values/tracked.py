"""What is tracked along each path beside the variables: consumed keys, donated buffers."""

from __future__ import annotations

from typing import Any, Protocol, Self


class Tracked(Protocol):
    """A state that branches save, restore and join. `values/frame.py` lists the fields that hold one (`TRACKED`)."""

    def copied(self) -> Self:
        """The state as a branch leaves it: later changes of the path do not reach it."""

    def joined(self, other: Any) -> Self:
        """The state where this path and another one meet."""
