"""The entries of the proof cache: answers to questions about one function or one program.

They are stored in the user's own cache folder, signed with the user's key (`jaxlint.signed_entries`), so that
no project can bring one along. On request they are also stored in a place that others share
(`shared_store.py`). Each answer is written as soon as it is known, so an interrupted run continues where it
stopped.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jaxlint.cache import files_digest, tools_digest
from jaxlint.signed_entries import SignedEntries
from jaxlint_runtime.proof_cache.shared_store import SharedStore

_MOST_ENTRIES = 512
_MOST_BYTES = 128 * 2**20  # of all entries, and of one
_FORMAT = 1


class ProofCache:
    """The entries of this user, in a folder, and the shared entries."""

    def __init__(self, folder: Path | None, shared: SharedStore | None = None) -> None:
        self.shared = shared
        self._stores: list[SignedEntries | SharedStore] = []
        if folder is not None:
            self._stores.append(SignedEntries(folder, private=True))
        if shared is not None:
            self._stores.append(shared)

    def entry(self, kind: str, *parts: Any) -> Entry:
        """The entry for a function or program, identified by `parts`."""
        described = json.dumps([_FORMAT, tools(), kind, parts], sort_keys=True, default=str)
        key = hashlib.sha256(described.encode("utf-8", "surrogatepass")).hexdigest()
        return Entry(self._stores, key)

    def machine(self) -> list[Any]:
        """The identity of this machine: times are only valid on it.

        For shared entries, the identity is the kind of machine, whatever its name.
        """
        return machine_kind() if self.shared is not None else [platform.node(), *machine_kind()]


class Entry:
    """The answers about one function or one program."""

    def __init__(self, stores: Sequence[SignedEntries | SharedStore], key: str) -> None:
        self._stores = stores
        self._key = key
        self._read: dict[str, Any] | None = None

    def answer(self, question: str) -> tuple[Any, str] | None:
        """The answer of an earlier run, with its date; None if there is none."""
        found = self._answers().get(question)
        if not (isinstance(found, list) and len(found) == 2 and isinstance(found[1], str)):
            return None
        for store in self._stores:
            store.used(self._key)
        return found[0], found[1]

    def keep(self, question: str, answer: Any) -> None:
        """Stores the answer, as JSON, for later runs."""
        answers = self._answers()
        answers[question] = [answer, time.strftime("%Y-%m-%d %H:%M")]
        for store in self._stores:
            store.write(self._key, {"answers": answers}, _MOST_ENTRIES, _MOST_BYTES)

    def _answers(self) -> dict[str, Any]:
        if self._read is None:
            self._read = {}
            for store in reversed(self._stores):  # this user's proofs take precedence over those of others
                entry = store.read(self._key, _MOST_BYTES)
                answers = entry.get("answers") if entry is not None else None
                self._read |= answers if isinstance(answers, dict) else {}
        return self._read


def opened(shared: str | None = None) -> ProofCache | None:
    """The cache of this user, and the one at `shared`; None if there is neither. Raises Unusable."""
    import platformdirs

    folder = platformdirs.user_cache_path("jaxlint", appauthor=False)
    own = folder / "proofs" if folder.is_absolute() else None
    store = None if shared is None else SharedStore(shared)
    return None if own is None and store is None else ProofCache(own, store)


@functools.cache
def tools() -> str:
    """The digest of the code that tries, proves and measures: this package and those below it."""
    return tools_digest() + files_digest("jaxlint_runtime")


@functools.cache
def machine_kind() -> list[Any]:
    """The architecture, the processor and the number of cores of this machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return [platform.machine(), _processor(), cores]


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    return next((line for line in text.splitlines() if line.startswith("model name")), "")
