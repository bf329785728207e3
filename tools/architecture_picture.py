"""Draws docs/images/dataflow.svg, the picture of docs/architecture.md: three lanes of boxes, joined by arrows."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "docs" / "images" / "dataflow.svg"
COLUMN, LANE, WIDTH, HEIGHT = 186, 172, 156, 74  # distances between boxes and their size, in pixels
LEFT, TOP = 36, 62
COLOURS = {"check": "#dbeafe", "verify": "#dcfce7", "fix": "#fef3c7", "data": "#ffffff"}


@dataclass(frozen=True)
class Box:
    """A box at a column and a lane; `kind` "data" is drawn round, anything else in the colour of its lane."""

    name: str
    column: int
    lane: int
    kind: str
    title: str
    lines: tuple[str, ...] = ()

    @property
    def x(self) -> int:
        return LEFT + self.column * COLUMN

    @property
    def y(self) -> int:
        return TOP + self.lane * LANE


LANES = (
    ("jaxlint check", "reads the source, runs nothing, never imports jax"),
    ("jaxlint verify", "runs and proves; needs jax"),
)
BOXES = (
    Box("source", 0, 0, "check", "source/", ("find, decode, guard", "settings")),
    Box("project", 1, 0, "check", "staging/project", ("modules, scopes,", "imports")),
    Box("analysis", 2, 0, "check", "staging/", ("abstract values:", "what is traced, why")),
    Box("rules", 3, 0, "check", "jaxlint_rules", ("one module per rule,", "fed with events")),
    Box("findings", 4, 0, "data", "findings", ("place, claim, reason",)),
    Box("report", 5, 0, "check", "report/", ("text, JSON, SARIF,", "GitHub, JUnit")),
    Box("program", 0, 1, "data", "program", ("script, module, tests",)),
    Box("capture", 1, 1, "verify", "capture/", ("real inputs, compiles,", "host syncs")),
    Box("inspect", 2, 1, "verify", "inspection/", ("jaxpr, StableHLO,", "compiled HLO")),
    Box("transforms", 3, 1, "verify", "transforms/", ("donation, remat,", "bf16")),
    Box("prove", 4, 1, "verify", "proof/", ("values and gradients,", "interleaved A/B")),
    Box("results", 5, 1, "data", "results", ("proven or rejected,", "with figures")),
    Box("codemods", 3, 2, "fix", "codemods/", ("libcst tree", "to text edits")),
    Box("merge", 4, 2, "fix", "fixes", ("overlaps resolved,", "repeated until stable")),
    Box("write", 5, 2, "fix", "source/write", ("atomic, all or none;", "or a diff")),
)
BY_NAME = {box.name: box for box in BOXES}
CHAINS = (
    ("source", "project", "analysis", "rules", "findings", "report"),
    ("program", "capture", "inspect", "transforms", "prove", "results"),
    ("codemods", "merge", "write"),
)
# Where the arrows between lanes begin and end.
FINDINGS, CAPTURE, RESULTS, CODEMODS = (
    BY_NAME[name] for name in ("findings", "capture", "results", "codemods")
)


def text(
    x: float, y: float, content: str, size: int = 12, weight: str = "normal", anchor: str = "middle"
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}">'
        f"{escape(content)}</text>"
    )


def box(item: Box) -> str:
    radius = HEIGHT // 2 if item.kind == "data" else 8
    top = item.y + HEIGHT / 2 - 9 * len(item.lines) + 4
    parts = [
        f'<rect x="{item.x}" y="{item.y}" width="{WIDTH}" height="{HEIGHT}" rx="{radius}" '
        f'fill="{COLOURS[item.kind]}" stroke="#475569"/>',
        text(item.x + WIDTH / 2, top, item.title, 13, "bold"),
        *(text(item.x + WIDTH / 2, top + 18 * (i + 1) - 1, line) for i, line in enumerate(item.lines)),
    ]
    return "".join(parts)


def arrow(points: list[tuple[float, float]]) -> str:
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="#475569" stroke-width="1.5" marker-end="url(#head)"/>'
    )


def drawing() -> str:
    width, height = LEFT * 2 + 5 * COLUMN + WIDTH, TOP + 2 * LANE + HEIGHT + 28
    middle = WIDTH / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="ui-sans-serif, system-ui, sans-serif" fill="#0f172a" role="img" '
        'aria-label="How data flows through check, verify and fix">',
        '<defs><marker id="head" markerWidth="9" markerHeight="9" refX="8" refY="4" orient="auto">'
        '<path d="M0,0 L9,4 L0,8 z" fill="#475569"/></marker></defs>',
        f'<rect width="{width}" height="{height}" rx="12" fill="#f8fafc"/>',
    ]
    for index, (title, meaning) in enumerate(LANES):
        parts.append(text(LEFT, TOP + index * LANE - 14, title, 14, "bold", "start"))
        parts.append(text(LEFT + 118, TOP + index * LANE - 14, meaning, anchor="start"))
    parts.append(text(CODEMODS.x - 16, CODEMODS.y + HEIGHT / 2 - 4, "jaxlint fix", 14, "bold", "end"))
    parts.append(text(CODEMODS.x - 16, CODEMODS.y + HEIGHT / 2 + 15, "rewrites the source", anchor="end"))
    for chain in CHAINS:
        for one, other in pairwise(chain):
            a, b = BY_NAME[one], BY_NAME[other]
            parts.append(arrow([(a.x + WIDTH, a.y + HEIGHT / 2), (b.x, b.y + HEIGHT / 2)]))
    # From the findings down to the capture, and further down to the codemods; from the results to the codemods.
    below = FINDINGS.y + HEIGHT + 22
    parts.append(
        arrow(
            [
                (FINDINGS.x + 60, FINDINGS.y + HEIGHT),
                (FINDINGS.x + 60, below),
                (CAPTURE.x + 130, below),
                (CAPTURE.x + 130, CAPTURE.y),
            ]
        )
    )
    parts.append(text(CAPTURE.x + 130 + 12, below - 6, "which functions are flagged", anchor="start"))
    gap = FINDINGS.x - (COLUMN - WIDTH) / 2
    parts.append(
        arrow(
            [
                (FINDINGS.x + 40, FINDINGS.y + HEIGHT),
                (FINDINGS.x + 40, below - 10),
                (gap, below - 10),
                (gap, CODEMODS.y - 42),
                (CODEMODS.x + middle + 20, CODEMODS.y - 42),
                (CODEMODS.x + middle + 20, CODEMODS.y),
            ]
        )
    )
    parts.append(text(gap - 8, CODEMODS.y - 60, "fix requests", anchor="end"))
    low = RESULTS.y + HEIGHT + 26
    parts.append(
        arrow(
            [
                (RESULTS.x + middle, RESULTS.y + HEIGHT),
                (RESULTS.x + middle, low),
                (CODEMODS.x + middle - 20, low),
                (CODEMODS.x + middle - 20, CODEMODS.y),
            ]
        )
    )
    parts.append(text(RESULTS.x + middle - 8, low - 6, "--apply: what is proven", anchor="end"))
    parts += [box(item) for item in BOXES]
    return "\n".join([*parts, "</svg>\n"])


def main() -> int:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(drawing(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
