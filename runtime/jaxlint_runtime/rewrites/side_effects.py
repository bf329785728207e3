"""Other output of a run besides its results: files below the project and the temporary folder, and error output.

A run has its own scratch copy and temporary folder, so two snapshots show what it wrote. Two versions are compared as
far as the original's runs agree with each other.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
import shutil
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint_runtime.rewrites.file_contents import READ, other_content, other_size

_HASHED = 2 * 2**30
_KEPT = 2**30  # bytes of one run's files that are stored for the comparison
_MOST = 5000  # files that are compared
_CACHES = ("__pycache__", "*.pyc", ".jaxlint_cache", ".pytest_cache", ".ipynb_checkpoints", ".nfs*")
# Numbers, hexadecimal names and `tempfile` names: the parts of a name that vary between runs.
_NEW = re.compile(r"(?<![A-Za-z])tmp[a-z0-9_]{8}(?![a-z0-9_])|[0-9a-f]{8,}|\d+")
Signature = tuple[int, int, int]


@dataclass(slots=True)
class Leavings:
    """The files of one run by name, each with its size, and its content if `content` can read it; and its error output."""

    sizes: dict[str, int] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()  # deleted files
    errors: str = ""
    folder: Path | None = None  # where the contents are stored
    hashes: dict[str, str] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)  # the names of this run's folders in the contents

    def content(self, name: str) -> bytes | None:
        """The contents of a file, with the run's folder names normalised; None if it was not stored."""
        if self.folder is None or self.sizes[name] > READ:
            return None
        try:
            data = (self.folder / name).read_bytes()
        except OSError:
            return None
        for place, known in self.places.items():
            data = data.replace(place.encode(), known.encode())
        return data


def snapshot(folder: Path) -> dict[str, Signature]:
    """The files below a folder, with a signature that changes when they are written."""
    found: dict[str, Signature] = {}
    for name, path in _files(folder):
        try:
            seen = path.stat()
        except OSError:  # a dangling link
            continue
        if stat.S_ISREG(seen.st_mode):
            found[name] = (seen.st_size, seen.st_mtime_ns, seen.st_ino)
        if len(found) > 10 * _MOST:
            break
    return found


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_cache(name))
        for name in sorted(names):
            if not _is_cache(name):
                path = Path(place, name)
                yield str(path.relative_to(folder)), path


def _is_cache(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, one) for one in _CACHES)


def collect(
    roots: Mapping[str, tuple[Path, Mapping[str, Signature]]],
    keep: Path,
    errors: str,
    places: Mapping[str, str],
) -> Leavings:
    """The files that a finished run has written below each of `roots`: a name, the folder, and its earlier snapshot.

    The files are moved to `keep`, since the folders belong to this run alone.
    """
    left = Leavings(errors=errors, folder=keep, places=places)
    gone: set[str] = set()
    kept = 0
    for root, (folder, before) in roots.items():
        after = snapshot(folder)
        gone.update(_named(root, name) for name in before if name not in after)
        for name, seen in after.items():
            if before.get(name) == seen or len(left.sizes) >= _MOST:
                continue
            known = _named(root, name)
            left.sizes[known] = seen[0]
            path = folder / name
            if seen[0] > READ:
                if seen[0] <= _HASHED:
                    left.hashes[known] = _hash(path)
            elif kept + seen[0] <= _KEPT:
                kept += seen[0]
                target = keep / known
                target.parent.mkdir(parents=True, exist_ok=True)
                try:
                    if path.is_symlink():
                        shutil.copyfile(path, target)
                    else:
                        shutil.move(path, target)
                except OSError:
                    continue
    left.gone = frozenset(gone)
    return left


def add_outside(
    left: Leavings, written: Sequence[tuple[str, int]], gone: Sequence[str], places: Mapping[str, str]
) -> None:
    """Adds the files that a run wrote and deleted elsewhere. These stay in place; `written` says from which byte on
    each is this run's.

    `places`: folders of this run, and their names in other runs.
    """
    assert left.folder is not None
    left.gone |= {_elsewhere(path, places) for path in gone if not _is_cached(path)}
    for path, start in written:
        if _is_cached(path) or len(left.sizes) >= _MOST:
            continue
        known = _elsewhere(path, places)
        try:
            with open(path, "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    continue
                size = max(os.fstat(file.fileno()).st_size - start, 0)
                file.seek(start)
                if size > READ:
                    left.hashes[known] = (
                        hashlib.file_digest(file, "sha256").hexdigest() if size <= _HASHED else ""
                    )
                else:
                    target = left.folder / known
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(file.read(size))
        except OSError:
            continue
        left.sizes[known] = size


def _is_cached(path: str) -> bool:
    return any(_is_cache(part) for part in Path(path).parts)


def _elsewhere(path: str, places: Mapping[str, str]) -> str:
    for place, known in places.items():
        if path.startswith(place + os.sep):
            path = known + path[len(place) :]
    return f"<elsewhere>{path}"


def _named(root: str, name: str) -> str:
    return f"{root}/{name}" if root else name


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def other_files(
    base: Leavings, repeats: Sequence[Leavings], found: Leavings, *, coarse: bool = False
) -> str | None:
    """The first file that differs in an edited program's output; None if there is none.

    `repeats`: other runs of the original, the first of them with the rounding of `base`. `coarse`: 16-bit rounding is
    allowed.
    """
    problem = _other_names(base, repeats, found)
    if problem is None:
        for names in _pairs(base, repeats, found):
            problem = _other_content(base, repeats, found, names, coarse)
            if problem is not None:
                break
    return None if problem is None else f"the files it writes differ: {problem}"


def compared_files(base: Leavings, repeats: Sequence[Leavings]) -> int:
    """The number of files that the original leaves in each of its runs."""
    return sum(all(name in one.sizes for one in repeats) for name in base.sizes)


def _other_names(base: Leavings, repeats: Sequence[Leavings], found: Leavings) -> str | None:
    """A missing or additional file; names that vary between runs are counted by their constant part."""
    runs = [base, *repeats]
    for name in sorted(base.sizes):
        if name not in found.sizes and all(name in one.sizes for one in repeats):
            return f"{name} is missing"
    for name in sorted(base.gone):
        if name not in found.gone and all(name in one.gone for one in repeats):
            return f"{name} is no longer deleted"
    for name in sorted(found.gone):
        if not any(name in one.gone for one in runs):
            return f"{name} is deleted"
    counts = [Counter(map(_pattern, one.sizes)) for one in runs]
    ours = Counter(map(_pattern, found.sizes))
    for pattern in sorted({*counts[0], *ours}):
        numbers = {one[pattern] for one in counts}
        if len(numbers) > 1 or ours[pattern] in numbers:
            continue
        (number,) = numbers
        if not number:
            return f"{next(n for n in sorted(found.sizes) if _pattern(n) == pattern)} is new"
        files = f"{ours[pattern]} file{'' if ours[pattern] == 1 else 's'}"
        return f"there {'is' if ours[pattern] == 1 else 'are'} {files} like {pattern} instead of {number}"
    return None


def _pattern(name: str) -> str:
    return _NEW.sub("*", name)


def _pairs(
    base: Leavings, repeats: Sequence[Leavings], found: Leavings
) -> Iterator[tuple[str, list[str], str]]:
    """The names of corresponding files in the first run, the original's other runs, and the edited program's run."""
    others: dict[str, list[list[str]]] = {}
    for name in sorted(base.sizes):
        if name in found.sizes and all(name in one.sizes for one in repeats):
            yield name, [name] * len(repeats), name
        else:
            others.setdefault(_pattern(name), [])
    for pattern in others:
        groups = [sorted(n for n in one.sizes if _pattern(n) == pattern) for one in (base, *repeats, found)]
        if len({len(group) for group in groups}) == 1:
            for first, *again, ours in zip(*groups, strict=True):
                yield first, again, ours


def _other_content(
    base: Leavings,
    repeats: Sequence[Leavings],
    found: Leavings,
    names: tuple[str, list[str], str],
    coarse: bool,
) -> str | None:
    name, again, ours = names
    first, new = base.content(name), found.content(ours)
    others = [one.content(other) for one, other in zip(repeats, again, strict=True)]
    if first is None or new is None or any(one is None for one in others):
        runs = [(base, name), *zip(repeats, again, strict=True)]
        problem = other_size(name, [one.sizes[other] for one, other in runs], found.sizes[ours], 1.0)
        hashes = {one.hashes.get(other, "") for one, other in runs}
        if problem is None and len(hashes) == 1 and found.hashes.get(ours, "") not in hashes:
            return f"{name} has other bytes"
        return problem
    return other_content(name, first, [one for one in others if one is not None], new, coarse=coarse)
