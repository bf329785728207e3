"""Writes changed files: atomically, all or none, and only if nobody else changed them meanwhile."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jaxlint.source.file import SourceError, SourceFile
from jaxlint.source.folder import Folder, opened
from jaxlint.source.read import read_bytes
from jaxlint.source.writable_files import target_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOCK_SECONDS = 5.0
_LOCK_TRIES = 100
_SUFFIX = ".tmp"
_RANDOM = 8  # characters between
_UTF8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Change:
    """New text for a file: that of the file itself, even if it is a container. `requirements`: it may be a file with
    the project's requirements."""

    source: SourceFile
    text: str
    requirements: bool = False


def encode_text(source: SourceFile, text: str) -> bytes:
    """`text` in the encoding of `source`, with its byte-order mark. Raises SourceError if that cannot encode it."""
    try:
        body = text.encode(source.encoding)
    except UnicodeError:
        raise SourceError(
            source.display, f"the new text cannot be written in {source.encoding}; not changed"
        ) from None
    return _UTF8_BOM + body if source.bom else body


def write_changes(changes: Iterable[Change], project: Path | None = None) -> None:
    """Replaces all the files or none; only sources, and none behind a link that leaves `project` (`target_of`).

    Each goes through a temporary file beside it and keeps its mode and, if possible, its owner. A symbolic link stays
    one. Raises SourceError if a file changed since it was read or cannot be written; then nothing changed.
    """
    prepared: list[_Prepared] = []
    replaced: list[_Prepared] = []
    locks = contextlib.ExitStack()
    try:
        for change in changes:
            item = _prepare(change, project)
            if any(item.target == other.target for other in prepared):
                raise SourceError(item.display, "two changes to one file; not changed")
            prepared.append(item)
        for item in sorted(prepared, key=lambda item: item.target):
            locks.enter_context(_locked(item.target, item.display))
        for item in prepared:
            # As late as possible: an editor, or another run, may have saved the file meanwhile.
            if hashlib.sha256(read_bytes(item.target, item.display)).hexdigest() != item.digest:
                raise SourceError(item.display, "changed on disk since it was read; not rewritten, run again")
        for item in prepared:
            item.temporary.put_at(item.target, item.display)
            replaced.append(item)
    except BaseException:
        for item in replaced:
            _restore(item)
        raise
    finally:
        locks.close()
        for item in prepared:
            item.temporary.remove()


@contextlib.contextmanager
def _locked(target: Path, display: str) -> Iterator[None]:
    """Keeps other runs from replacing the file between our last look at it and our own replacement.

    The lock belongs to the old file: a run that waits for it then finds a new file with another digest. Raises
    SourceError if another process holds the lock.
    """
    with contextlib.ExitStack() as stack:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                file = stack.enter_context(open(target, "rb"))
                for _ in range(_LOCK_TRIES):
                    try:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        time.sleep(_LOCK_SECONDS / _LOCK_TRIES)
                    else:
                        break
                else:
                    raise SourceError(display, "another program has locked it; not changed, run again")
        yield


def write_atomic(path: Path, data: bytes, *, display: str | None = None) -> None:
    """Writes `data` to `path`, new or existing, through a temporary file beside it. A link there is replaced. Raises
    SourceError."""
    target = Path(os.path.realpath(path.parent)) / path.name
    shown = str(path) if display is None else display
    temporary = _write_beside(target, data, shown)
    try:
        temporary.put_at(target, shown)
    finally:
        temporary.remove()


@dataclass(frozen=True, slots=True)
class _Temporary:
    """A file that is to replace another one. `identity`: that of the folder that both stand in."""

    folder: Path
    identity: tuple[int, int]
    name: str

    def put_at(self, target: Path, display: str) -> None:
        """Replaces the target. Raises SourceError."""
        try:
            with opened(self.folder) as folder:
                if folder.identity != self.identity:
                    raise SourceError(display, "its folder was replaced meanwhile; not changed")
                folder.replace(self.name, target.name)
        except OSError as error:
            raise SourceError(display, f"cannot be replaced ({error.strerror})") from None

    def remove(self) -> None:
        with contextlib.suppress(OSError), opened(self.folder) as folder:
            if folder.identity == self.identity:
                folder.remove(self.name)


@dataclass(frozen=True, slots=True)
class _Prepared:
    target: Path  # behind any symbolic link
    display: str
    digest: str
    original: bytes
    temporary: _Temporary


def _prepare(change: Change, project: Path | None) -> _Prepared:
    source = change.source
    target = target_of(source.path, source.display, project, requirements=change.requirements)
    original = read_bytes(target, source.display)
    if hashlib.sha256(original).hexdigest() != source.digest:
        raise SourceError(source.display, "changed on disk since it was read; not rewritten, run again")
    if encode_text(source, source.file_text) != original:
        # Some codecs (UTF-7) can write the same text in several ways: an edit would change lines that it should not.
        raise SourceError(
            source.display, f"cannot be written back as it was in {source.encoding}; save it as UTF-8"
        )
    if not os.access(target, os.W_OK):
        raise SourceError(source.display, "read-only; make it writable to change it")
    temporary = _write_beside(target, encode_text(source, change.text), source.display)
    return _Prepared(target, source.display, source.digest, original, temporary)


def _write_beside(target: Path, data: bytes, display: str) -> _Temporary:
    """A temporary file in the folder of `target`, with its mode and owner, so that a rename replaces the target in
    one step."""
    try:
        with opened(target.parent) as folder:
            return _written(folder, target.name, data, display)
    except OSError as error:
        raise SourceError(display, f"its folder cannot be written to ({error.strerror})") from None


def _written(folder: Folder, target: str, data: bytes, display: str) -> _Temporary:
    name, descriptor = _created(folder, target)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
            _copy_metadata(folder, target, name, descriptor)
    except BaseException as error:
        with contextlib.suppress(OSError):
            folder.remove(name)
        if isinstance(error, OSError):
            raise SourceError(display, f"cannot be written ({error.strerror})") from None
        raise
    return _Temporary(folder.path, folder.identity, name)


def _created(folder: Folder, target: str) -> tuple[str, int]:
    while True:
        name = f"{_beside(target)}{secrets.token_hex(_RANDOM // 2)}{_SUFFIX}"
        with contextlib.suppress(FileExistsError):
            return name, folder.create(name)


def temporaries_of(target: Path) -> list[Path]:
    """The files beside `target` whose names are those of this module's temporary files."""
    prefix = _beside(target.name)
    try:
        return [
            path
            for path in target.parent.iterdir()
            if path.name.startswith(prefix)
            and path.name.endswith(_SUFFIX)
            and len(path.name) == len(prefix) + _RANDOM + len(_SUFFIX)
        ]
    except OSError:
        return []


def _beside(target: str) -> str:
    return f".{target[:50]}."  # of four bytes each; a name has at most 255 bytes


def _copy_metadata(folder: Folder, target: str, name: str, descriptor: int) -> None:
    """Copies mode, owner, extended attributes and access control lists of the target to the open file `name`."""
    own: int | Path = descriptor if os.chmod in os.supports_fd else folder.path / name
    try:
        status = folder.status(target)
    except FileNotFoundError:
        status = None
    if status is None or not stat.S_ISREG(status.st_mode):
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(own, 0o666 & ~umask)  # a new file: the mode that `open` would have used
        return
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only the superuser may change the owner
            os.chown(own, status.st_uid, status.st_gid)
    os.chmod(own, stat.S_IMODE(status.st_mode))
    if hasattr(os, "listxattr"):
        beside = folder.path / target
        with contextlib.suppress(OSError):  # a file system without extended attributes
            for attribute in os.listxattr(
                beside, follow_symlinks=False
            ):  # access control lists are among them
                with contextlib.suppress(OSError):
                    os.setxattr(own, attribute, os.getxattr(beside, attribute, follow_symlinks=False))


def _restore(item: _Prepared) -> None:
    with contextlib.suppress(SourceError):
        write_atomic(item.target, item.original, display=item.display)
