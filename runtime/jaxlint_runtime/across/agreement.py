"""Processes that prove the same candidates reach the same decisions through the key-value store of JAX's coordinator."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jaxlint_runtime import compat

_WAIT = 2.0  # seconds between two checks whether another process has left


class LeftAlone(RuntimeError):
    """Another process has left the current step, for instance by an exception. The message names it."""


@dataclass(slots=True)
class Agreement:
    """One process's view. All processes call the same methods in the same order, within the same `step`."""

    process: int
    processes: int
    _step: str = ""
    _turn: int = 0

    @classmethod
    def here(cls) -> Agreement:
        """The object of this process."""
        return cls(*compat.process_of())

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """A part of the work that a process may leave early. The other processes then learn of it and stop waiting."""
        self._step, self._turn = name, 0
        try:
            yield
        finally:
            self._step, self._turn = f"{name}/after", 0

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes, by number, after a round trip through JSON. Raises LeftAlone."""
        key = self._put(value)
        return [json.loads(self._wait(key, other)) for other in range(self.processes)]

    def first(self, value: Any) -> Any:
        """The value of process 0, in all processes. Raises LeftAlone."""
        return json.loads(self._wait(self._put(value if self.process == 0 else None), 0))

    def all(self, value: bool) -> bool:
        """Whether the value is true in all processes. Raises LeftAlone."""
        return all(self.gather(value))

    def _put(self, value: Any) -> str:
        """Stores the value of this process; returns the key prefix for the values of all processes."""
        self._turn += 1
        key = f"jaxlint/{self._step}/{self._turn}"
        compat.put_shared(f"{key}/{self.process}", json.dumps(value))
        return key

    def _wait(self, key: str, other: int) -> str:
        while True:
            found = compat.get_shared(f"{key}/{other}", _WAIT)
            if found is not None:
                return found
            if compat.get_shared(f"jaxlint/{self._step}/after/1/{other}", 0.0) is not None:
                raise LeftAlone(f"process {other} could not continue")
