"""Writes the page with its data beside it, and the plots as separate files."""

from __future__ import annotations

import importlib.util
import json
from datetime import datetime
from pathlib import Path

from jaxlint.report.escaping import wellformed
from jaxlint_runtime.report.best_versions import subjects
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.first_lines import first_lines
from jaxlint_runtime.report.html.function_section import charts
from jaxlint_runtime.report.html.page import page
from jaxlint_runtime.wording.paths import file_name

_PLOT_WIDTH = 640
_PNG_ZOOM = 2.0
_INSTALL = 'pip install "jaxlint-suite[plots]"'


def write_page(document: Document, path: Path) -> list[str]:
    """The page at `path`, its data in the file of the same name that ends in .json. Raises OSError."""
    data = document.as_json()
    beside = path.with_suffix(".json")
    if beside == path:
        beside = path.with_name(path.name + ".data.json")
    beside.write_text(json.dumps(wellformed(data), indent=2) + "\n", encoding="utf-8")
    when = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    path.write_text(page(data, beside.name, when, first_lines(document)), encoding="utf-8")
    return [f"wrote the report to {path} and its data to {beside}"]


def write_plots(document: Document, folder: Path) -> list[str]:
    """Each plot as SVG, and as PNG if the library for it is installed. Raises OSError."""
    data = document.as_json()
    png = importlib.util.find_spec("resvg_py") is not None
    written = 0
    for run in data["runs"]:
        for subject in subjects(run):
            name, _, line = subject.place
            for kind, chart in charts(subject, run, _PLOT_WIDTH).items():
                stem = file_name(f"{name}-{line}-{run['target']}-{kind}")
                text = chart.standalone()
                (folder / f"{stem}.svg").write_text(text, encoding="utf-8")
                written += 1
                if png:
                    import resvg_py

                    (folder / f"{stem}.png").write_bytes(
                        bytes(resvg_py.svg_to_bytes(svg_string=text, zoom=_PNG_ZOOM))
                    )
    note = "" if png else f" (SVG only; for PNG: {_INSTALL})"
    return [f"wrote {written} plots to {folder}{note}"]
