"""Originals of files that are being changed, kept until the change is whole; undone by the next command if it is not."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from jaxlint.config import CACHE_FOLDER
from jaxlint.source import SourceError
from jaxlint.source.write import write_atomic

_NAME = "apply-journal.json"


class Journal:
    """The journal of one project."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._path = project / CACHE_FOLDER / _NAME

    @contextlib.contextmanager
    def keeping(self, changes: Iterable[tuple[Path, bytes]]) -> Iterator[None]:
        """Keep the originals of files that are about to get these bytes, for the time of the block.

        An exception in it puts them back. Raises SourceError when the journal cannot be written.
        """
        files = {
            os.path.realpath(path): {
                "original": base64.b64encode(Path(path).read_bytes()).decode(),
                "written": _digest(new),
            }
            for path, new in changes
        }
        self._store({"process": os.getpid(), "files": files})
        try:
            yield
        except BaseException:
            self.undo()
            raise
        self._path.unlink()

    def undo(self) -> list[str]:
        """Put back what a killed command left half done; the files that were restored.

        A file that somebody changed since is left alone, and so is the journal of a command that is at work. Raises SourceError when a
        file cannot be written.
        """
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            originals = {
                str(path): (base64.b64decode(entry["original"]), entry["written"])
                for path, entry in stored["files"].items()
            }
            if _is_at_work(int(stored["process"])):
                return []
        except FileNotFoundError:
            return []
        except (
            OSError,
            ValueError,
            AttributeError,
            TypeError,
            KeyError,
        ):  # torn while it was written: nothing was changed yet
            self._forget()
            return []
        restored = []
        for path, (original, written) in originals.items():
            if not self._is_inside(path) or not os.path.isfile(path):
                continue
            if _digest(Path(path).read_bytes()) == written:
                write_atomic(Path(path), original)
                restored.append(path)
        self._forget()
        return restored

    def _is_inside(self, path: str) -> bool:
        """A journal may come with a clone: it must not write elsewhere."""
        return Path(os.path.realpath(path)).is_relative_to(self._project)

    def _store(self, entries: dict[str, object]) -> None:
        try:
            self._path.parent.mkdir(exist_ok=True)
            write_atomic(self._path, json.dumps(entries).encode())
        except OSError as error:
            raise SourceError(
                str(self._path), f"cannot be written ({error.strerror}); nothing was changed"
            ) from None

    def _forget(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink()


def undo_killed_apply(paths: Iterable[Path]) -> list[str]:
    """Put back what a killed `--apply` left half done in the projects around `paths`; the files that were restored.

    Raises SourceError when a file cannot be written.
    """
    folders: dict[Path, None] = {}
    for path in paths:
        here = Path(os.path.realpath(path))
        folders.update(dict.fromkeys([here, *here.parents]))
    restored = []
    for folder in folders:
        if (folder / CACHE_FOLDER / _NAME).is_file():
            restored += Journal(folder).undo()
    return restored


def _is_at_work(process: int) -> bool:
    """Whether another process with this number exists."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except (OverflowError, OSError) as error:
        return isinstance(error, PermissionError)
    return True


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
