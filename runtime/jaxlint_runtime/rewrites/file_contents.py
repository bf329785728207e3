"""Comparison of file contents between runs: text, arrays, archives, and bytes of unknown format.

Numbers may differ by rounding, in lines of text, in arrays and in the bytes of other files.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jaxlint_runtime.rewrites.pickled import same_values, unpickled
from jaxlint_runtime.rewrites.printed_output import COARSE, RELATIVE, SPREAD, first_difference

if TYPE_CHECKING:
    import numpy as np

READ = 64 * 2**20  # bytes of a file that is read; for a larger one the size and a hash are compared
_PICKLE = b"\x80"
_ARRAYS = b"\x93NUMPY"
# Compressed formats that are not opened here: PNG, JPEG, GIF, PDF, zstandard, LZ4, WebP and RIFF.
_PACKED = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"RIFF")
_UNPACK = ((b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress), (b"\xfd7zXZ\x00", lzma.decompress))
_SIZES = 1.25  # how far the size of compressed data may change
_WORDS = (
    "<f4",
    "<f8",
    ">f8",
    ">f4",
    "<f2",
    "bfloat16",
)  # big-endian: the numbers in pickles and msgpack
_GAPS = (64, 8, 1)  # equal bytes that separate two places; fewer for numbers at their own offsets
_FEWEST = 2  # differing bytes of a place: one byte may be anything


def other_content(
    name: str, first: bytes, others: Sequence[bytes], new: bytes, *, coarse: bool = False
) -> str | None:
    """How a file differs beyond repetition and rounding; None if it does not. `others` as `repeats` in `other_files`."""
    if new == first:
        return None
    if first.startswith(b"PK\x03\x04"):
        return _other_members(name, first, others, new, coarse)
    if first.startswith(_ARRAYS):
        arrays = [_array(data) for data in (first, *others, new)]
        if all(one is not None for one in arrays):
            return _other_array(name, arrays, coarse)  # type: ignore[arg-type]
    if first.startswith(_PICKLE):
        pickles = [unpickled(data) for data in (first, *others, new)]
        if all(one is not None for one in pickles):
            return _other_pickle(name, pickles, coarse)
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
        return other_size(name, [len(first), *map(len, others)], len(new), _SIZES)
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
        if sum(one.file_size for one in archive.infolist()) > 4 * READ:
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
    if others and apart(first, others[0]) > RELATIVE:
        return None  # it differs from run to run
    spread = max((apart(first, one) for one in others), default=0.0)
    moved = apart(first, new)
    if moved <= max(COARSE if coarse else RELATIVE, SPREAD * spread):
        return None
    return f"{name} has other values, at most {moved:.1e} apart"


def _other_pickle(name: str, pickles: Sequence[Any], coarse: bool) -> str | None:
    first, *others, new = pickles
    if any(not same_values(first, one, RELATIVE, rounded_alike) for one in others[:1]):
        return None  # it differs from run to run
    if same_values(first, new, COARSE if coarse else RELATIVE, rounded_alike):
        return None
    return f"{name} holds other values"


def apart(left: np.ndarray, right: np.ndarray) -> float:
    """The largest difference against the largest value; infinite where not the same values are finite."""
    import numpy as np  # not at the top: the command line runs without it

    if not np.array_equal(np.isfinite(left), np.isfinite(right)):
        return float("inf")
    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    x, y = (np.where(np.isfinite(one), one, 0).astype(wide) for one in (left, right))
    largest = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    return float(np.abs(x - y).max(initial=0.0) / largest) if largest else 0.0


def _other_bytes(name: str, first: bytes, others: Sequence[bytes], new: bytes, coarse: bool) -> str | None:
    """Files of unknown format: by their bytes, which may contain numbers that differ by rounding."""
    if others and others[0] != first:
        return other_size(name, [len(first), *map(len, others)], len(new), 1.0)
    if len(new) != len(first):
        if any(len(one) != len(first) for one in others):
            return None
        return f"{name} has {_count_bytes(len(new))} instead of {len(first)}"
    if rounded_alike(first, new, COARSE if coarse else RELATIVE):
        return None
    return f"{name} has other bytes"


def rounded_alike(left: bytes, right: bytes, relative: float) -> bool:
    """Whether two runs of bytes differ only in floating-point numbers that rounding has moved, at any offsets."""
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
    """Whether one place contains such numbers, or can be divided into smaller ones that do."""
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
    """Whether the bytes of a place are such numbers, in any alignment."""
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
        if all(part.isascii() and part.decode().isprintable() for part in changed):  # text, not numbers
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


def other_size(name: str, sizes: Sequence[int], new: int, allowed: float) -> str | None:
    """How the size of a file differs; `allowed`: the allowed factor. None if it does not, or varies between runs."""
    if len(set(sizes)) > 1 and allowed == 1.0:
        return None  # it differs from run to run
    if min(sizes) / allowed <= new <= max(sizes) * allowed:
        return None
    return f"{name} has {_count_bytes(new)} instead of {sizes[0]}"


def _count_bytes(number: int) -> str:
    return f"{number} byte{'' if number == 1 else 's'}"
