"""Reads the records of all processes from their shared folder while the files grow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint_runtime.lockstep.order import Rank
from jaxlint_runtime.protocol.launch_records import SUFFIX, Record, read_record


@dataclass(slots=True)
class _List:
    rank: Rank
    read: int = 0  # bytes


@dataclass(slots=True)
class Lists:
    """The files of a folder."""

    folder: Path
    only: str | None = None  # one file alone
    _lists: dict[str, _List] = field(default_factory=dict)

    @property
    def ranks(self) -> list[Rank]:
        """All processes that have written something."""
        return [one.rank for one in self._lists.values()]

    def read(self, now: float) -> Iterator[tuple[Rank, Record]]:
        """Reads the new records; each is added to its process."""
        for name in sorted(os.listdir(self.folder)):
            wanted = name.endswith(SUFFIX) if self.only is None else name == self.only
            if wanted and name not in self._lists:
                self._lists[name] = _List(Rank(heard=now, moved=now))
        for name, one in self._lists.items():
            with open(self.folder / name, "rb") as file:
                file.seek(one.read)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]  # the rest is still being written
            one.read += len(whole)
            for line in whole.splitlines():
                try:
                    record = read_record(line)
                except ValueError:  # cut off when a machine went down
                    continue
                one.rank.hear(record, now)
                yield one.rank, record
