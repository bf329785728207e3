"""Placements on a mesh for people: the table, the result in words, the code, further remarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from jaxlint_runtime.report.plain_table import plain_table
from jaxlint_runtime.wording.paths import display_path
from jaxlint_runtime.wording.units import amount, size

HEADINGS = ("FLOP a device", "sent a device", "memory a device", "score")


def rows(sharding: Mapping[str, Any]) -> Iterator[tuple[str, list[str], str, bool]]:
    """For each placement its name, its figures in the order of `HEADINGS`, a remark, and whether it is recommended."""
    for one in sharding["placements"]:
        if one["reason"] is not None:
            yield one["name"], ["-"] * len(HEADINGS), one["reason"], False
            continue
        least = "" if one["fits"] else "at least "
        figures = [
            amount(one["flops"]) if one["fits"] else "-",
            size(one["sent_bytes"]) if one["fits"] else "-",
            least + size(one["peak_bytes"]),
            f"{one['score']:.2f}" if one["fits"] else "-",
        ]
        remark = "" if one["fits"] else "does not fit the device"
        if one["rematerialised"]:
            count = len(one["rematerialised"])
            remark = f"{count} full gather{'s' if count > 1 else ''}"
        yield one["name"], figures, remark, one["chosen"]


def heading(sharding: Mapping[str, Any]) -> str:
    """The function, the mesh and its devices."""
    mesh = sharding["mesh"]
    axes = ",".join(f"{name}={n}" for name, n in zip(mesh["names"], mesh["sizes"], strict=True))
    place = f"{display_path(sharding['path'])}:{sharding['line']}"
    return f"{sharding['function']} ({place}) on the mesh {axes}, {sharding['devices']}"


def sharded(sharding: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The part of the report about one function."""
    table = plain_table(heading(sharding))
    table.add_column("placement", overflow="fold")
    for name in HEADINGS:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for name, figures, remark, chosen in rows(sharding):
        style = "bold green" if chosen else ""
        table.add_row(Text(name, style=style), *figures, Text(remark, style="yellow"))
    yield table
    yield Text(comparison_basis(sharding), style="dim")
    yield Text.assemble(("found: ", "bold"), (sharding["title"], "bold green"))
    yield from _bullets(sharding["explanation"])
    yield Text(values(sharding))
    for title, lines in (
        ("to know:", sharding["advice"]),
        ("as annotations of the framework:", sharding["annotations"]),
    ):
        if lines:
            yield Text(title, style="bold")
            yield from _bullets(lines)
    yield Text("code (advice, not written):", style="bold")
    yield Padding(Text(sharding["code"]), (0, 0, 0, 2))


def _bullets(lines: list[str]) -> Iterator[RenderableType]:
    for line in lines:
        yield Padding(Text(f"- {line}"), (0, 0, 0, 2))


def comparison_basis(sharding: Mapping[str, Any]) -> str:
    """How placements were compared."""
    whole = sharding["one_device_bytes"]
    one = f"one device needs {size(whole)}; " if whole else ""
    ended = ", then the search reached its limits" if sharding["bounded"] else ""
    return (
        f"{one}{sharding['tried']} placements tried{ended}. Score: estimated time (FLOPs and communication of a {sharding['weighed_as']}) "
        "and memory, each relative to plain data parallelism, which scores 2; lower is better"
    )


def values(sharding: Mapping[str, Any]) -> str:
    """Whether it is equivalent."""
    if sharding["values_problem"] is not None:
        return f"values: {sharding['values_problem']}"
    found = sharding["values"]
    return (
        f"values: agree with one device, run on simulated devices (largest relative difference {found['max_rel']:.1e}, "
        f"allowed {found['tolerance']:.1e})"
    )
