"""Versions of JAX, and the range of versions that a project must support."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

Version = tuple[int, ...]

_CLAUSE = re.compile(
    r"\s*(?P<operator>===?|~=|!=|<=|>=|<|>)?\s*v?(?P<version>\d+(?:\.\d+)*)(?P<wild>\.\*)?[\w.+-]*\s*$"
)
_LONGEST = 1_000  # characters: the input comes from projects that may be hostile
_PARTS = 4  # 0.12.0.1: short versions are padded with zeros


class VersionError(ValueError):
    """An invalid version or specifier. The message is one line."""


@functools.lru_cache(maxsize=1024)
def parse_version(text: str) -> Version:
    """The version "0.4.30" as numbers that can be compared. Suffixes such as "rc1" are dropped. Raises VersionError."""
    _refuse_long(text)
    match = re.match(r"\d+(?:\.\d+)*", text.strip())
    if match is None:
        raise VersionError(f"{text!r} is not a version; write it like 0.4.30")
    return _padded(match.group())


def _refuse_long(text: str) -> None:
    if len(text) > _LONGEST:
        raise VersionError(f"{text[:20]!r}... is longer than {_LONGEST} characters, no version")


def _padded(text: str) -> Version:
    numbers = [int(part) for part in text.split(".")]
    return tuple(numbers + [0] * (_PARTS - len(numbers)))


@dataclass(frozen=True, slots=True)
class VersionRange:
    """From `low` to `high`, both included, unless `below` excludes `high`. None: no limit."""

    low: Version | None = None
    high: Version | None = None
    below: bool = False

    def reaches(self, version: Version) -> bool:
        """Whether some version of the range is `version` or later."""
        if self.high is None:
            return True
        return self.high > version or (self.high == version and not self.below)

    def starts_at(self, version: Version) -> bool:
        """Whether every version of the range is `version` or later."""
        return self.low is not None and self.low >= version


@functools.lru_cache(maxsize=64)
def parse_range(specifier: str) -> VersionRange:
    """The range of a version ("0.10.2") or a specifier (">=0.4.30,<0.6", "~=0.4.30", "==0.4.*")."""
    _refuse_long(specifier)
    low: Version | None = None
    high: Version | None = None
    below = False
    for clause in specifier.split(","):
        match = _CLAUSE.match(clause)
        if match is None:
            raise VersionError(
                f"{specifier!r} is not a version or a specifier; write it like 0.10.2 or >=0.4.30,<0.6"
            )
        operator, text = match["operator"] or "==", match["version"]
        version = _padded(text)
        numbers = [int(part) for part in text.split(".")]
        first, last, exclusive = _bounds(operator, version, numbers, bool(match["wild"]))
        if first is not None and (low is None or first > low):
            low = first
        if last is not None and (high is None or last < high or (last == high and exclusive)):
            high, below = last, exclusive
    if low is not None and high is not None and (low > high or (low == high and below)):
        raise VersionError(f"no version is in {specifier!r}")
    return VersionRange(low, high, below)


def _bounds(
    operator: str, version: Version, numbers: list[int], wild: bool
) -> tuple[Version | None, Version | None, bool]:
    """The lowest and highest version that a clause allows, and whether the highest is excluded."""
    if operator in (">=", ">"):
        return version, None, False
    if operator == "<=":
        return None, version, False
    if operator == "<":
        return None, version, True
    if operator == "!=":
        return None, None, False
    if operator == "~=":
        return version, _next(numbers[:-1] or numbers), True
    if wild:
        return version, _next(numbers), True
    return version, version, False


def _next(numbers: list[int]) -> Version:
    return _padded(".".join(str(number) for number in [*numbers[:-1], numbers[-1] + 1]))
