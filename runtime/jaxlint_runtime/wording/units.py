"""Figures as people read them."""

from __future__ import annotations

from collections.abc import Callable


def size(number: float | None) -> str:
    """Bytes: "512 B", "3.2 KiB", "90.7 MiB", "15.75 GiB"."""
    if number is None:
        return "-"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(number) < 1024 or unit == "TiB":
            break
        number /= 1024
    return f"{number:.0f} B" if unit == "B" else f"{_three(number)} {unit}"


def amount(number: float | None, unit: str = "") -> str:
    """A large number with an SI prefix: "4.19 GFLOP"."""
    if number is None:
        return "-"
    for prefix in ("", "k", "M", "G", "T", "P"):
        if abs(number) < 1000 or prefix == "P":
            break
        number /= 1000
    return f"{_three(number)} {prefix}{unit}".rstrip()


def milliseconds(number: float | None) -> str:
    """A time given in milliseconds."""
    if number is None:
        return "-"
    if number < 1:
        return f"{_three(number * 1000)} µs"
    return f"{_three(number)} ms" if number < 1000 else f"{_three(number / 1000)} s"


def seconds(number: float | None) -> str:
    """A time given in seconds."""
    return "-" if number is None else milliseconds(number * 1000)


def from_to(before: float, after: float, text: Callable[[float], str], arrow: str = "->") -> str:
    """Two figures, with a common unit only once: "101 -> 87.3 ms"."""
    texts = [text(before), text(after)]
    (first, unit), (_, other) = (one.rpartition(" ")[::2] for one in texts)
    return f"{first if unit == other else texts[0]} {arrow} {texts[1]}"


def ratio(number: float | None) -> str:
    """How many times: "1.25x"."""
    return "-" if number is None else f"{times(number)}x"


def times(number: float) -> str:
    """A ratio in digits: "1.25", "25"."""
    return f"{number:.2f}" if number < 9.995 else f"{number:.0f}"


def _three(number: float) -> str:
    """A number with about three digits."""
    if number == int(number) and abs(number) < 1000:
        return str(int(number))
    return (
        f"{number:.0f}" if abs(number) >= 100 else f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"
    )
