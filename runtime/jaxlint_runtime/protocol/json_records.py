"""Conversion of records to JSON and back: messages on the pipes, and parts of a report."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import functools
import json
import math
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

Plain = dict[str, Any]  # a JSON object in the form of the report
T = TypeVar("T")
_WHICH = "is"  # the key that names the kind of a message


class Message:
    """A record that is one of several kinds: its JSON form names the kind."""

    TAG: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        cls.TAG = cls.__name__.lower()


def to_plain(value: Any) -> Any:
    """Records, enums, paths and NumPy scalars as JSON data; infinities and NaN become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        which = {_WHICH: value.TAG} if isinstance(value, Message) else {}
        return which | {
            entry.name: to_plain(getattr(value, entry.name)) for entry in dataclasses.fields(value)
        }
    if isinstance(value, enum.Enum):
        return to_plain(value.value)
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        return to_plain(item())
    return str(value)


def encode(message: Any) -> bytes:
    """The record as one line."""
    return json.dumps(to_plain(message), separators=(",", ":")).encode() + b"\n"


def from_plain(kind: type[T], plain: Any) -> T:
    """The record from its `to_plain` form; numbers that were not finite are NaN. Raises ValueError for another form."""
    found: T = _read(kind, plain)
    return found


def _read(kind: Any, plain: Any) -> Any:
    """`plain` as a value of the type `kind`, which may be generic or a union."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _record(kind, plain)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return one_of(arguments, plain)
    if kind is float:
        return math.nan if plain is None else plain
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(plain)
    if origin is tuple:
        parts = [arguments[0]] * len(plain) if arguments[-1] is Ellipsis else arguments
        return tuple(_read(part, item) for part, item in zip(parts, plain, strict=True))
    if origin in (list, collections.abc.Sequence):
        return [_read(arguments[0], item) for item in plain]
    if origin in (dict, collections.abc.Mapping):
        return {key: _read(arguments[1], item) for key, item in plain.items()}
    return plain


def _record(kind: type[Any], plain: Any) -> Any:
    hints = _hints(kind)  # type: ignore[arg-type]
    values = {key: item for key, item in plain.items() if key != _WHICH} if isinstance(plain, dict) else {}
    if not isinstance(plain, dict) or not set(values) <= set(hints):
        raise ValueError(f"no {kind.__name__} of this version of jaxlint")
    try:
        return kind(**{name: _read(hints[name], item) for name, item in values.items()})
    except TypeError as error:
        raise ValueError(f"no {kind.__name__} of this version of jaxlint: {error}") from None


@functools.cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {entry.name: hints[entry.name] for entry in dataclasses.fields(kind)}


def one_of(kinds: tuple[Any, ...], plain: Any) -> Any:
    """The matching member of a union: by its own kind, otherwise by its form. Raises ValueError."""
    if plain is None:
        if type(None) in kinds:
            return None
        raise ValueError("null is not allowed")
    if isinstance(plain, dict) and _WHICH in plain:
        named = [one for one in kinds if getattr(one, "TAG", None) == plain[_WHICH]]
        if not named:
            raise ValueError(f"{plain[_WHICH]!r} is unknown to this version of jaxlint")
        return _record(named[0], plain)
    others = [one for one in kinds if one is not type(None)]
    if len(others) == 1:
        return _read(others[0], plain)
    for one in others:
        if _is_object(one) == isinstance(plain, dict) and _is_array(one) == isinstance(plain, list):
            return _read(one, plain)
    return plain


def _is_object(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind) or typing.get_origin(kind) in (dict, collections.abc.Mapping)


def _is_array(kind: Any) -> bool:
    return typing.get_origin(kind) in (list, tuple, collections.abc.Sequence)
