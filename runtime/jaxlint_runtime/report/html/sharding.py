"""The part of the page on placements over a mesh of devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxlint_runtime.report.html.markup import Child, Markup, tag
from jaxlint_runtime.report.html.tables import badge, table
from jaxlint_runtime.report.sharded import HEADINGS, heading, rows, values, weighed


def shardings(runs: Sequence[Mapping[str, Any]]) -> Iterator[Markup]:
    """A section for each function that was placed."""
    for run in runs:
        for one in run.get("sharding", ()):
            yield _section(one)


def _section(sharding: Mapping[str, Any]) -> Markup:
    body: list[list[Child]] = []
    for name, figures, remark, chosen in rows(sharding):
        body.append(
            [
                tag("strong", name) if chosen else name,
                *figures,
                badge("found", "compiled") if chosen else remark,
            ]
        )
    notes = [*sharding["advice"], *sharding["annotations"]]
    return tag(
        "section",
        tag("h2", heading(sharding)),
        table(weighed(sharding), [("placement", ""), *((name, "n") for name in HEADINGS), ("", "why")], body),
        tag("p", "Found: ", tag("strong", sharding["title"])),
        tag("ul", [tag("li", line) for line in sharding["explanation"]]),
        tag("p", values(sharding)),
        tag("ul", [tag("li", line) for line in notes]) if notes else None,
        tag("pre", tag("code", sharding["code"])),
    )
