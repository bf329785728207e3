"""A small SVG chart: a frame with two axes, for lines, areas, points and labels.

Colours are classes, so that a page can show the same drawing light and dark; `standalone` returns a self-contained
file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from jaxlint_runtime.report.html.markup import Markup, render, tag

Point = tuple[float, float]

# The page's light colours; style.css defines the same classes by variables.
_STYLE = """
text{font:12px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#3d4451}
.paper{fill:#fff}.grid{stroke:#e3e6eb;stroke-width:1}.axis{stroke:#8a93a3;stroke-width:1}
.strong{fill:#1c2230;font-weight:600}.faint{fill:#626b7b}
.before{stroke:#b4490c;fill:#b4490c}.after{stroke:#0a63b0;fill:#0a63b0}.limit{stroke:#a11d33;fill:#a11d33}
.line{fill:none;stroke-width:2}.area{stroke:none;fill-opacity:.14}.hollow{fill:#fff;stroke-width:2}.dash{stroke-dasharray:5 4}
.dot{stroke:none;fill-opacity:.55}.roof{fill:none;stroke:#3d4451;stroke-width:2}.thin{stroke-width:1}
.forward{fill:#3d4451;fill-opacity:.10}.backward{fill:#3d4451;fill-opacity:.24}.other{fill:none}
"""


@dataclass
class Chart:
    """A drawing of `width` by `height` pixels. The x and y of added elements are values on the axes."""

    title: str
    width: int
    height: int
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_label: str = ""
    y_label: str = ""
    x_log: bool = False
    y_log: bool = False
    left: int = 58
    bottom: int = 40
    top: int = 16
    right: int = 14
    parts: list[Markup] = field(default_factory=list)

    def x(self, value: float) -> float:
        """Pixels from the left."""
        return _scaled(value, self.x_range, self.x_log, self.left, self.width - self.right)

    def y(self, value: float) -> float:
        """Pixels from the top."""
        return _scaled(value, self.y_range, self.y_log, self.height - self.bottom, self.top)

    def grid(
        self,
        x_ticks: Sequence[float],
        y_ticks: Sequence[float],
        x_text: Callable[[float], str],
        y_text: Callable[[float], str],
    ) -> None:
        """Grid lines and numbers of both axes."""
        right, low = self.width - self.right, self.height - self.bottom
        for tick in y_ticks:
            y = self.y(tick)
            self.parts.append(_line(self.left, y, right, y, "grid"))
            self._text(self.left - 6, y + 4, y_text(tick), "end", "faint")
        for tick in x_ticks:
            x = self.x(tick)
            self.parts.append(_line(x, low, x, low + 4, "axis"))
            self._text(x, low + 17, x_text(tick), "middle", "faint")
        self.parts.append(_line(self.left, low, right, low, "axis"))
        if self.x_label:
            self._text((self.left + right) / 2, self.height - 5, self.x_label, "middle")
        if self.y_label:
            self._text(6, self.top - 5, self.y_label, "start")

    def line(self, points: Sequence[Point], classes: str) -> None:
        """A line through points."""
        path = " ".join(f"{_n(self.x(x))},{_n(self.y(y))}" for x, y in points)
        self.parts.append(tag("polyline", points=path, class_=f"line {classes}"))

    def area(self, points: Sequence[Point], classes: str) -> None:
        """The area under a line."""
        floor = self.height - self.bottom
        path = " ".join(f"{_n(self.x(x))},{_n(self.y(y))}" for x, y in points)
        first, last = self.x(points[0][0]), self.x(points[-1][0])
        around = f"{_n(first)},{_n(floor)} {path} {_n(last)},{_n(floor)}"
        self.parts.append(tag("polygon", points=around, class_=f"area {classes}"))

    def band(self, start: float, end: float, classes: str, y: float, height: float) -> None:
        """A bar between two values of x, `y` pixels from the top."""
        left, right = self.x(start), self.x(end)
        self.parts.append(
            tag(
                "rect",
                x=_n(left),
                y=_n(y),
                width=_n(max(0.0, right - left)),
                height=_n(height),
                class_=classes,
            )
        )

    def dot(self, x: float, y: float, classes: str, radius: float = 4.0, hint: str = "") -> None:
        """A circle."""
        inside = tag("title", hint) if hint else None
        self.parts.append(
            tag("circle", inside, cx=_n(self.x(x)), cy=_n(self.y(y)), r=_n(radius), class_=classes)
        )

    def triangle(self, x: float, y: float, classes: str, up: bool, hint: str = "") -> None:
        """A triangle, its point up or down."""
        a, b, d = self.x(x), self.y(y), 6 if up else -6
        path = f"{_n(a)},{_n(b - d)} {_n(a - 6)},{_n(b + d)} {_n(a + 6)},{_n(b + d)}"
        self.parts.append(tag("polygon", tag("title", hint) if hint else None, points=path, class_=classes))

    def label(
        self,
        x: float,
        y: float,
        text: str,
        anchor: str = "start",
        classes: str = "",
        dx: float = 0,
        dy: float = 0,
    ) -> None:
        """Text at a value, shifted by some pixels."""
        self._text(self.x(x) + dx, self.y(y) + dy, text, anchor, classes)

    def words(self, x: float, y: float, text: str, anchor: str = "start", classes: str = "") -> None:
        """Text at a pixel position."""
        self._text(x, y, text, anchor, classes)

    def rule(self, y: float, classes: str) -> None:
        """A horizontal line at a value of y."""
        self.parts.append(_line(self.left, self.y(y), self.width - self.right, self.y(y), classes))

    def svg(self, classes: str = "") -> Markup:
        """The drawing for a page that defines the classes."""
        return self._svg(None, classes)

    def standalone(self) -> str:
        """The drawing as a light file on white."""
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{self._svg(Markup(_STYLE), "")}\n'

    def _svg(self, style: Markup | None, classes: str) -> Markup:
        size = {"width": self.width, "height": self.height} if style is not None else {}
        return tag(
            "svg",
            tag("title", self.title),
            tag("style", style) if style is not None else None,
            tag("rect", width=self.width, height=self.height, class_="paper") if style is not None else None,
            render(self.parts),
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            aria_label=self.title,
            class_=classes or None,
            **size,
        )

    def _text(self, x: float, y: float, text: str, anchor: str, classes: str = "") -> None:
        self.parts.append(
            tag(
                "text",
                text,
                x=_n(x),
                y=_n(y),
                text_anchor=anchor if anchor != "start" else None,
                class_=classes or None,
            )
        )


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from `low` to `high`, about `most` of them."""
    span = high - low
    if span <= 0 or not math.isfinite(span):
        return [low]
    raw = span / max(1, most)
    unit = 10 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= raw)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def powers(low: float, high: float, most: int) -> list[float]:
    """Powers of ten from `low` to `high`, not more than `most`."""
    exponents = list(range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1))
    step = max(1, math.ceil(len(exponents) / max(1, most)))
    return [10.0**n for n in exponents[::step]]


def _scaled(value: float, span: tuple[float, float], log: bool, start: float, end: float) -> float:
    low, high = span
    if log:
        value, low, high = math.log(max(value, low / 10)), math.log(low), math.log(high)
    share = (value - low) / (high - low) if high > low else 0.5
    return start + share * (end - start)


def _line(x1: float, y1: float, x2: float, y2: float, classes: str) -> Markup:
    return tag("line", x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2), class_=classes)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
