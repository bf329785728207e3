"""Types of options: names, times, sizes."""

from __future__ import annotations

import re
from typing import Any

import click


class Names(click.ParamType):
    """Comma-separated names: cpu,tpu:v5e-1x1."""

    name = "NAMES"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        return (
            value if isinstance(value, tuple) else tuple(filter(None, map(str.strip, str(value).split(","))))
        )


class Duration(click.ParamType):
    """A time: 90, 90s, 2m, 1h."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", str(value).strip())
        if found is None or not float(found[1]):
            self.fail(f"{value!r} is not a time; write 90s, 2m or 1h", param, ctx)
        return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


class Dimension(click.ParamType):
    """A named size: batch=32."""

    name = "DIMENSION"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"\s*(\w+)\s*=\s*(\d+)\s*", str(value))
        if not found:
            self.fail(f"{value!r} names no size; write one like batch=32", param, ctx)
        return found[1], int(found[2])


class Sizes(click.ParamType):
    """A dimension and its sizes: batch=16,64,256."""

    name = "SIZES"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, tuple[int, ...]]:
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"\s*(\w+)\s*=\s*(\d+(?:\s*,\s*\d+)*)\s*", str(value))
        if not found:
            self.fail(f"{value!r} names no sizes; write some like batch=16,64,256", param, ctx)
        return found[1], tuple(dict.fromkeys(int(number) for number in found[2].split(",")))
