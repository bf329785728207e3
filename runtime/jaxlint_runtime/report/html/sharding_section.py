"""The section of the page about placements on a mesh."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxlint_runtime.report.html.markup import Child, Markup, tag
from jaxlint_runtime.report.html.tables import badge, bar, table
from jaxlint_runtime.report.sharding_tables import HEADINGS, comparison_basis, heading, rows, values

_WEIGHED = ("flops", "sent_bytes", "peak_bytes", "score")  # in the order of HEADINGS


def shardings(runs: Sequence[Mapping[str, Any]]) -> Iterator[Markup]:
    """A section for each function that was placed."""
    for run in runs:
        for one in run.get("sharding", ()):
            yield _section(one)


def _section(sharding: Mapping[str, Any]) -> Markup:
    weights = [[one[key] or 0 for one in sharding["placements"]] for key in _WEIGHED]
    body: list[list[Child]] = []
    for number, (name, figures, remark, chosen) in enumerate(rows(sharding)):
        shares = [column[number] / (max(column) or 1) for column in weights]
        cells: list[Child] = [[text, bar(share)] for text, share in zip(figures, shares, strict=True)]
        body.append(
            [
                tag("strong", name) if chosen else name,
                *cells,
                badge("found", "compiled") if chosen else remark,
            ]
        )
    return tag(
        "section",
        tag("h2", heading(sharding)),
        table(
            comparison_basis(sharding),
            [("placement", ""), *((name, "n") for name in HEADINGS), ("", "why")],
            body,
        ),
        tag("h3", "Found: ", sharding["title"]),
        _list(sharding["explanation"]),
        tag("p", values(sharding)),
        _named("Worth knowing", sharding["advice"]),
        _named("As annotations of the framework", sharding["annotations"]),
        tag("h3", "The code"),
        tag("p", "Advice: nothing is written to the source.", class_="faint"),
        tag(
            "pre",
            [tag("span", line or " ") for line in sharding["code"].splitlines()],
            class_="diff",
            tabindex="0",
            role="region",
            aria_label="The code",
        ),
    )


def _named(title: str, lines: Sequence[str]) -> list[Child]:
    return [tag("h3", title), _list(lines)] if lines else []


def _list(lines: Sequence[str]) -> Markup:
    return tag("ul", [tag("li", line) for line in lines], class_="plain")
