"""Keeps the originals of files during a change. If the change is interrupted, the next command restores them.

A journal acts on sources, so it is stored in the user's state folder (`jaxlint.state`), never in the project: a clone
cannot bring one along. Each run has its own journal and locks it while it works.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlint.source.file import SourceError
from jaxlint.source.read import read_bytes
from jaxlint.source.regular import MAX_SOURCE, read_regular
from jaxlint.source.writable_files import target_of
from jaxlint.source.write import Change, encode_text, temporaries_of, write_atomic, write_changes
from jaxlint.state import StateError, create_private, open_private, state_folder

try:
    import fcntl
except ImportError:  # not POSIX: use the process id instead
    fcntl = None  # type: ignore[assignment]

_FOLDER = "journals"
_STALE = 24 * 3600.0  # seconds after which a file that never became a journal is removed


@dataclass(frozen=True, slots=True)
class HalfDone:
    """The traces of an interrupted run: the journal, and the files that hold text from that run."""

    journal: Path
    project: Path
    files: dict[str, bytes]  # the originals


def write_together(changes: Sequence[Change], project: Path, *, must_keep: bool) -> None:
    """Writes all of the files or none, even if the run is killed halfway: then the next command restores the
    originals.

    One file is replaced atomically and needs no journal. If no journal can be kept, the files are written without
    one, unless `must_keep`. Raises SourceError; then nothing changed.
    """
    for change in changes:
        target_of(change.source.path, change.source.display, project, requirements=change.requirements)
    with contextlib.ExitStack() as stack:
        if len(changes) > 1:
            new = [(change.source.path, encode_text(change.source, change.text)) for change in changes]
            try:
                stack.enter_context(keeping(project, new))
            except StateError as error:
                if must_keep:
                    raise SourceError(
                        str(project), f"nothing was changed: the originals cannot be saved ({error})"
                    ) from None
        write_changes(changes, project)


@contextlib.contextmanager
def keeping(project: Path, changes: Iterable[tuple[Path, bytes]]) -> Iterator[None]:
    """Keeps the originals of files that are about to get these bytes, for the duration of the block.

    An exception in the block restores them. Raises StateError if they cannot be kept, SourceError if they cannot be
    read.
    """
    root = os.path.realpath(project)
    originals: dict[str, bytes] = {}
    files: dict[str, object] = {}
    for path, new in changes:
        target = os.path.realpath(path)
        originals[target] = read_bytes(Path(target), str(path))
        files[target] = {"original": base64.b64encode(originals[target]).decode(), "written": _digest(new)}
    try:
        journal, descriptor = _store(root, {"project": root, "process": os.getpid(), "files": files})
    except OSError as error:
        raise StateError(f"{error.filename}: cannot be written ({error.strerror})") from None
    try:
        yield
    except BaseException:
        written = {path: str(entry["written"]) for path, entry in files.items()}  # type: ignore[index]
        _put_back(Path(root), originals, written)
        raise
    finally:
        with contextlib.suppress(OSError):
            journal.unlink()
        if descriptor is not None:
            os.close(descriptor)


def half_done(paths: Iterable[Path]) -> list[HalfDone]:
    """The files that interrupted runs of this user left half-written in the projects that contain `paths` or
    lie in them.

    Raises StateError if the state folder cannot be trusted.
    """
    asked = [Path(os.path.realpath(path)) for path in paths]
    found = []
    for journal in _journals():
        with _held(journal) as stored:
            if stored is None:
                continue
            project, originals, written = stored
            if any(one.is_relative_to(project) or project.is_relative_to(one) for one in asked):
                left = {
                    path: data for path, data in originals.items() if _is_left(project, path, written[path])
                }
                found.append(HalfDone(journal, project, left))
    return found


def put_back(paths: Iterable[Path]) -> list[str]:
    """Restores files that interrupted runs left half-written around `paths`; returns the restored files.

    A file that was changed since is not touched, and neither is the journal of a running command. Raises
    SourceError if a file cannot be written, StateError if the state folder cannot be trusted.
    """
    restored = []
    for one in half_done(paths):
        with _held(one.journal) as stored:
            if stored is None:
                continue  # another command was faster
            restored += _put_back(*stored)
            _remove_temporaries(stored[0], stored[2])
            with contextlib.suppress(OSError):
                one.journal.unlink()
    return restored


def _put_back(project: Path, originals: dict[str, bytes], written: dict[str, str]) -> list[str]:
    restored = []
    for path, original in originals.items():
        if _is_left(project, path, written[path]):
            write_atomic(Path(path), original)
            restored.append(path)
    return restored


def _remove_temporaries(project: Path, written: dict[str, str]) -> None:
    """Removes the temporary files that the interrupted run had beside its files, complete or not."""
    for path, digest in written.items():
        for temporary in temporaries_of(Path(path)):
            with contextlib.suppress(OSError, ValueError):
                data = read_regular(str(temporary), MAX_SOURCE)
                if temporary.is_relative_to(project) and (not data or _digest(data) == digest):
                    temporary.unlink()


def _is_left(project: Path, path: str, written: str) -> bool:
    """Whether a file still holds the text of the interrupted run, and may be written."""
    try:
        if os.path.realpath(path) != path or not Path(path).is_relative_to(project):
            return False
        target_of(Path(path), path, project, requirements=True)
        return _digest(read_regular(path, MAX_SOURCE)) == written
    except (OSError, ValueError, SourceError):
        return False


def _store(project: str, entries: dict[str, object]) -> tuple[Path, int | None]:
    """The new journal, and the descriptor of its lock, if files can be locked. Raises StateError or OSError."""
    folder = state_folder(create=True)
    assert folder is not None
    folder = folder / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    _sweep(folder)
    name = f"{_project_key(project)}-{secrets.token_hex(8)}"
    temporary, path = folder / f"{name}.tmp", folder / f"{name}.json"
    descriptor = create_private(temporary)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(json.dumps(entries).encode())
            file.flush()
            os.fsync(descriptor)
        if fcntl is None:
            os.close(descriptor)
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(descriptor)
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return path, descriptor if fcntl is not None else None


def _journals() -> list[Path]:
    folder = state_folder()
    if folder is None:
        return []
    try:
        return sorted(path for path in (folder / _FOLDER).iterdir() if path.suffix == ".json")
    except OSError:
        return []


@contextlib.contextmanager
def _held(journal: Path) -> Iterator[tuple[Path, dict[str, bytes], dict[str, str]] | None]:
    """The project, the originals and the written text, for the duration of the block; None unless it is the
    journal of a dead run.
    """
    try:
        descriptor = open_private(journal)
    except OSError:
        yield None
        return
    with open(descriptor, "rb") as file:
        if fcntl is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # its run still works, or another command restores it
                yield None
                return
        if os.name == "posix" and os.fstat(descriptor).st_nlink == 0:
            yield None
            return
        yield _parsed(file.read(), journal)


def _parsed(data: bytes, journal: Path) -> tuple[Path, dict[str, bytes], dict[str, str]] | None:
    try:
        stored = json.loads(data)
        project = str(stored["project"])
        if fcntl is None and _is_at_work(int(stored["process"])):
            return None
        if not journal.name.startswith(f"{_project_key(project)}-"):
            return None
        originals = {
            str(path): base64.b64decode(entry["original"]) for path, entry in stored["files"].items()
        }
        written = {str(path): str(entry["written"]) for path, entry in stored["files"].items()}
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return None
    return Path(project), originals, written


def _sweep(folder: Path) -> None:
    """Removes journals whose run was killed before they were complete: nothing had been changed yet."""
    for path in folder.glob("*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _STALE:
                path.unlink()


def _project_key(project: str) -> str:
    owner = os.geteuid() if hasattr(os, "geteuid") else 0
    return hashlib.sha256(f"{owner}\0{project}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _is_at_work(process: int) -> bool:
    """Whether another process with this id exists."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except (OverflowError, OSError) as error:
        return isinstance(error, PermissionError)
    return True


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
