"""What a run leaves besides the values that it returns: files below the project and the temporary folder, and error output.

A run is made in a scratch copy with a temporary folder of its own, so that two snapshots show what it wrote. Two versions are compared as far
as the runs of the original agree: what differs between two of these says nothing. Numbers may differ by rounding, in lines of text, in arrays
and in the bytes of other files.
"""

from __future__ import annotations

import bz2
import fnmatch
import gzip
import hashlib
import io
import lzma
import os
import re
import shutil
import stat
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jaxlint_runtime.rewrites.printed_output import COARSE, RELATIVE, SPREAD, first_difference

if TYPE_CHECKING:
    import numpy as np

_READ = 64 * 2**20  # bytes of a file that is looked into; of a larger one the size and a hash are compared
_HASHED = 2 * 2**30
_KEPT = 2**30  # bytes of one run's files that are kept for the comparison
_MOST = 5000  # files that are compared
_SIZES = 1.25  # how far the size of what is compressed may move
_ARRAYS = b"\x93NUMPY"
# Compressed by formats that are not opened here: PNG, JPEG, GIF, PDF, zstandard, LZ4, WebP and RIFF.
_PACKED = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"RIFF")
_UNPACK = ((b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress), (b"\xfd7zXZ\x00", lzma.decompress))
_CACHES = ("__pycache__", "*.pyc", ".jaxlint_cache", ".pytest_cache", ".ipynb_checkpoints", ".nfs*")
# Numbers, hexadecimal names and those of `tempfile`: what a name has anew in each run.
_NEW = re.compile(r"(?<![A-Za-z])tmp[a-z0-9_]{8}(?![a-z0-9_])|[0-9a-f]{8,}|\d+")
_WORDS = (
    "<f4",
    "<f8",
    ">f8",
    ">f4",
    "<f2",
    "bfloat16",
)  # big-endian: pickles and msgpack have Python's numbers so
_GAPS = (64, 8, 1)  # equal bytes that part two places; fewer where numbers lie at offsets of their own
_FEWEST = 2  # differing bytes of a place: one may be anything

Signature = tuple[int, int, int]


@dataclass(slots=True)
class Leavings:
    """The files of one run by name, each with its size, and its content where `content` can read it; and its error output."""

    sizes: dict[str, int] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()  # that were there and are not any more
    errors: str = ""
    folder: Path | None = None  # where the contents are kept
    hashes: dict[str, str] = field(default_factory=dict)
    places: Mapping[str, str] = field(
        default_factory=dict
    )  # what stands in the contents for folders of this run alone

    def content(self, name: str) -> bytes | None:
        """What a file holds, with the folders of the run as other runs have them; None where it was not kept."""
        if self.folder is None or self.sizes[name] > _READ:
            return None
        try:
            data = (self.folder / name).read_bytes()
        except OSError:
            return None
        for place, known in self.places.items():
            data = data.replace(place.encode(), known.encode())
        return data


def snapshot(folder: Path) -> dict[str, Signature]:
    """The files below a folder with what changes when they are written."""
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
    """What a run that is over has written below each of `roots`: a name, the folder, and its snapshot before.

    The files are moved to `keep`, since the folders are of this run alone.
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
            if seen[0] > _READ:
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


def _named(root: str, name: str) -> str:
    return f"{root}/{name}" if root else name


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


# ---- comparing ----


def other_files(
    base: Leavings, repeats: Sequence[Leavings], found: Leavings, *, coarse: bool = False
) -> str | None:
    """The first file that an edited program leaves otherwise; None where there is none.

    `repeats`: other runs of the original, the first of them rounding as `base` does. `coarse`: 16 bits are allowed to round.
    """
    problem = _other_names(base, repeats, found)
    if problem is None:
        for names in _pairs(base, repeats, found):
            problem = _other_content(base, repeats, found, names, coarse)
            if problem is not None:
                break
    return None if problem is None else f"it leaves other files: {problem}"


def compared_files(base: Leavings, repeats: Sequence[Leavings]) -> int:
    """How many files the original leaves in each of its runs."""
    return sum(all(name in one.sizes for one in repeats) for name in base.sizes)


def _other_names(base: Leavings, repeats: Sequence[Leavings], found: Leavings) -> str | None:
    """A file that is missing, or one more; names that differ from run to run are counted by what stays the same in them."""
    runs = [base, *repeats]
    for name in sorted(base.sizes):
        if name not in found.sizes and all(name in one.sizes for one in repeats):
            return f"{name} is missing"
    for name in sorted(base.gone):
        if name not in found.gone and all(name in one.gone for one in repeats):
            return f"{name} is not deleted"
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
    """The names of the same file in the first run, the other runs of the original, and the edited program's."""
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
        problem = _other_size(name, [one.sizes[other] for one, other in runs], found.sizes[ours], 1.0)
        hashes = {one.hashes.get(other, "") for one, other in runs}
        if problem is None and len(hashes) == 1 and found.hashes.get(ours, "") not in hashes:
            return f"{name} has other bytes"
        return problem
    return other_content(name, first, [one for one in others if one is not None], new, coarse=coarse)


def _other_size(name: str, sizes: Sequence[int], new: int, allowed: float) -> str | None:
    if len(set(sizes)) > 1 and allowed == 1.0:
        return None  # it differs from run to run
    if min(sizes) / allowed <= new <= max(sizes) * allowed:
        return None
    return f"{name} has {_count_bytes(new)} instead of {sizes[0]}"


def _count_bytes(number: int) -> str:
    return f"{number} byte{'' if number == 1 else 's'}"


def other_content(
    name: str, first: bytes, others: Sequence[bytes], new: bytes, *, coarse: bool = False
) -> str | None:
    """How a file differs beyond what repetition and rounding explain; None where it does not. `others` as `repeats` of `other_files`."""
    if new == first:
        return None
    if first.startswith(b"PK\x03\x04"):
        return _other_members(name, first, others, new, coarse)
    if first.startswith(_ARRAYS):
        arrays = [_array(data) for data in (first, *others, new)]
        if all(one is not None for one in arrays):
            return _other_array(name, arrays, coarse)  # type: ignore[arg-type]
    for magic, unpack in _UNPACK:
        if first.startswith(magic):
            try:
                opened = [unpack(data) for data in (first, *others, new)]
            except (OSError, EOFError, ValueError, lzma.LZMAError):
                return f"{name} cannot be read"
            return other_content(name, opened[0], opened[1:-1], opened[-1], coarse=coarse)
    texts = [_text(data) for data in (first, *others, new)]
    if all(one is not None for one in texts):
        return _other_text(name, texts, coarse)  # type: ignore[arg-type]
    if first.startswith(_PACKED):
        return _other_size(name, [len(first), *map(len, others)], len(new), _SIZES)
    return _other_bytes(name, first, others, new, coarse)


def _text(data: bytes) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _other_text(name: str, texts: Sequence[str], coarse: bool) -> str | None:
    found = first_difference(texts[0], texts[1:-1], texts[-1], coarse=coarse)
    if found is None:
        return None
    if found.lines is not None:
        new, old = found.lines
        return f"{name} has {new} line{'' if new == 1 else 's'} instead of {old}"
    return f"{name} has {found.new[:60]!r} instead of {found.old[:60]!r}"


def _other_members(name: str, first: bytes, others: Sequence[bytes], new: bytes, coarse: bool) -> str | None:
    """A zip archive, as NumPy's of several arrays, member by member."""
    try:
        opened = [_members(data) for data in (first, *others, new)]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return f"{name} cannot be read"
    names = [set(one) for one in opened]
    if any(one != names[0] for one in names[1:-1]):
        return None
    if names[-1] != names[0]:
        other = min(names[-1] ^ names[0])
        return f"{name} has {'no' if other in names[0] else 'a new'} {other}"
    for member in sorted(names[0]):
        data = [one[member] for one in opened]
        problem = other_content(f"{name}:{member}", data[0], data[1:-1], data[-1], coarse=coarse)
        if problem is not None:
            return problem
    return None


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(one.file_size for one in archive.infolist()) > 4 * _READ:
            raise ValueError("too large")
        return {one.filename: archive.read(one) for one in archive.infolist()}


def _array(data: bytes) -> np.ndarray | None:
    import numpy as np  # not at the top: the command line runs without it

    try:
        found = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, OSError, EOFError):
        return None
    return found if isinstance(found, np.ndarray) else None


def _other_array(name: str, arrays: Sequence[np.ndarray], coarse: bool) -> str | None:
    import numpy as np  # not at the top: the command line runs without it

    first, *others, new = arrays
    kinds = [(one.shape, one.dtype) for one in arrays]
    if any(kind != kinds[0] for kind in kinds[1:-1]):
        return None
    if kinds[-1] != kinds[0]:
        return f"{name} is {new.dtype}{list(new.shape)} instead of {first.dtype}{list(first.shape)}"
    if first.dtype.kind not in "fc":
        if any(not np.array_equal(first, one) for one in others) or np.array_equal(first, new):
            return None
        return f"{name} has other values"
    if others and _apart(first, others[0]) > RELATIVE:
        return None  # it differs from run to run
    spread = max((_apart(first, one) for one in others), default=0.0)
    moved = _apart(first, new)
    if moved <= max(COARSE if coarse else RELATIVE, SPREAD * spread):
        return None
    return f"{name} has other values, {moved:.1e} apart"


def _apart(left: np.ndarray, right: np.ndarray) -> float:
    """The largest difference against the largest value; infinite where not the same values are finite."""
    import numpy as np  # not at the top: the command line runs without it

    if not np.array_equal(np.isfinite(left), np.isfinite(right)):
        return float("inf")
    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    x, y = (np.where(np.isfinite(one), one, 0).astype(wide) for one in (left, right))
    largest = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    return float(np.abs(x - y).max(initial=0.0) / largest) if largest else 0.0


def _other_bytes(name: str, first: bytes, others: Sequence[bytes], new: bytes, coarse: bool) -> str | None:
    """Files of an unknown form: by their bytes, where numbers among these may differ by rounding."""
    if others and others[0] != first:
        return _other_size(name, [len(first), *map(len, others)], len(new), 1.0)
    if len(new) != len(first):
        if any(len(one) != len(first) for one in others):
            return None
        return f"{name} has {_count_bytes(len(new))} instead of {len(first)}"
    if rounded_alike(first, new, COARSE if coarse else RELATIVE):
        return None
    return f"{name} has other bytes"


def rounded_alike(left: bytes, right: bytes, relative: float) -> bool:
    """Whether two runs of bytes differ in nothing but floating-point numbers that rounding has moved, at whatever offsets these lie."""
    import numpy as np  # not at the top: the command line runs without it

    if len(left) != len(right):
        return False
    a, b = (np.frombuffer(data, np.uint8) for data in (left, right))
    places = np.flatnonzero(a != b)
    return all(_alike(left, right, group, relative, _GAPS) for group in _groups(places, _GAPS[0]))


def _groups(places: np.ndarray, gap: int) -> list[np.ndarray]:
    import numpy as np  # not at the top: the command line runs without it

    return np.split(places, np.flatnonzero(np.diff(places) > gap) + 1) if len(places) else []


def _alike(left: bytes, right: bytes, places: np.ndarray, relative: float, gaps: Sequence[int]) -> bool:
    """Whether one place holds such numbers, or falls into smaller ones that do."""
    start, stop = int(places[0]), int(places[-1]) + 1
    if len(places) < _FEWEST:
        return False
    if any(_close_words(left, right, start, stop, word, relative) for word in _WORDS):
        return True
    if len(gaps) < 2 or stop - start > 2**20:
        return False
    parts = _groups(places, gaps[1])
    return len(parts) > 1 and all(_alike(left, right, part, relative, gaps[1:]) for part in parts)


def _close_words(left: bytes, right: bytes, start: int, stop: int, word: str, relative: float) -> bool:
    """Whether the bytes of a place are such numbers, by any alignment."""
    import numpy as np  # not at the top: the command line runs without it

    width = 2 if word == "bfloat16" else np.dtype(word).itemsize
    for shift in range(width):
        begin = start - shift
        count = -(-(stop - begin) // width)
        end = begin + count * width
        if begin < 0 or end > len(left):
            continue
        x, y = (_numbers(data[begin:end], word) for data in (left, right))
        with np.errstate(all="ignore"):
            same = (x == y) | (np.isnan(x) & np.isnan(y))
            size = np.maximum(np.abs(x), np.abs(y))
            usual = np.median(size[np.isfinite(size)]) if np.isfinite(size).any() else 0.0
            close = np.abs(x - y) <= relative * np.maximum(size, usual)
        plausible = (size > 1e-30) & (size < 1e30)
        changed = [data[start:stop] for data in (left, right)]
        if all(part.isascii() and part.decode().isprintable() for part in changed):  # text, and no numbers
            continue
        if bool(np.all(same | (close & plausible))):
            return True
    return False


def _numbers(data: bytes, word: str) -> np.ndarray:
    import numpy as np  # not at the top: the command line runs without it

    if word == "bfloat16":
        with np.errstate(all="ignore"):
            return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4").astype(np.float64)
    with np.errstate(all="ignore"):
        return np.frombuffer(data, word).astype(np.float64)


# ---- error output ----

# What XLA, absl and JAX say of themselves.
_NOISE = re.compile(
    r"^(?:WARNING: All log messages before absl::InitializeLog"
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\.(?:cc|h|cpp):\d+\]"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF] "
    r"|(?:DEBUG|INFO|WARNING|ERROR):[-\d:, .]*jax(?:lib)?\b"
    r"|\S*site-packages/\S+:\d+: \w*Warning:)"
)
_ABSL = re.compile(r"^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (\S+?):\d+\]")
_WARNED = re.compile(r"^(\S+\.py):\d+: (\w*Warning: )")


def said_on_errors(text: str) -> str:
    """Error output without the noise of JAX, XLA and absl, and without numbers of lines, which an edit moves."""
    lines = []
    skipped = False
    for line in text.replace("\r\n", "\n").split("\n"):
        line = line.rpartition("\r")[2] if "\r" in line.rstrip("\r") else line
        if _NOISE.match(line):
            skipped = "Warning:" in line
            continue
        if skipped and line.startswith("  "):  # the line of source that a warning shows
            skipped = False
            continue
        skipped = False
        if _WARNED.match(line):
            line = _WARNED.sub(r"\1: \2", line)
            skipped = True
        lines.append(_ABSL.sub(r"\1 \2]", line))
    return "\n".join(lines)


def other_errors(
    base: Leavings, repeats: Sequence[Leavings], found: Leavings, *, coarse: bool = False
) -> str | None:
    """How the error output differs beyond what repetition and rounding explain; None where it does not."""
    texts = [said_on_errors(one.errors) for one in (base, *repeats, found)]
    other = first_difference(texts[0], texts[1:-1], texts[-1], coarse=coarse)
    if other is None:
        return None
    if other.lines is not None:
        new, old = other.lines
        return f"it writes {new} line{'' if new == 1 else 's'} to standard error instead of {old}"
    return f"it writes {other.new[:80]!r} to standard error instead of {other.old[:80]!r}"
