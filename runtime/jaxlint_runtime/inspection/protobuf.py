"""The wire format of protocol buffers, as far as XLA's records need it: numbers, and nested messages or text."""

from __future__ import annotations

from collections.abc import Iterator

Field = int | bytes


def fields(data: bytes) -> Iterator[tuple[int, Field]]:
    """(number, value) of each field: integers unchanged, everything else as bytes. Raises IndexError for truncated
    data."""
    at = 0
    while at < len(data):
        key, at = _integer(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _integer(data, at)
            yield key >> 3, value
            continue
        length = {1: 8, 5: 4}.get(kind)
        if length is None:
            length, at = _integer(data, at)
        yield key >> 3, data[at : at + length]
        at += length


def numbers(data: bytes) -> dict[int, int]:
    """The integers of a message by field; the last one of each."""
    return {number: value for number, value in fields(data) if isinstance(value, int)}


def parts(data: bytes, number: int) -> list[bytes]:
    """The nested values of one field."""
    return [value for found, value in fields(data) if found == number and isinstance(value, bytes)]


def _integer(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
