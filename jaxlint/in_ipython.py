"""`%load_ext jaxlint`: in IPython and Jupyter, checks each cell before it runs, together with the cells that ran
before."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jaxlint.config import Config, ConfigError, load_config
from jaxlint.engine import severe_enough
from jaxlint.examine import Examination
from jaxlint.finding import Finding, Severity
from jaxlint.places import shown
from jaxlint.registry import help_address
from jaxlint.source import source_from_bytes
from jaxlint.source.notebook import notebook_of
from jaxlint.source.read import NOTEBOOK

MOST_CELLS = 300  # cells; the oldest are forgotten beyond these
_CELL = re.compile(r"of cell (\d+)")
_USAGE = """usage: %jaxlint [on | off | --select CODES | --ignore CODES | --severity info|warning|error]
without arguments: all findings of the cells that ran"""
_COLOURS = {Severity.ERROR: "#c62828", Severity.WARNING: "#b26a00", Severity.INFO: "#1565c0"}


@dataclass(slots=True)
class Cell:
    """A cell that ran, or is about to. `label`: its number in the session, as `In [3]` shows it."""

    label: int
    text: str
    key: str | None = None  # what Jupyter calls it


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings as a notebook shows them. `labels` are those of the cells in the findings."""

    findings: Sequence[Finding]
    labels: Sequence[int]
    cells: Sequence[str]

    def __repr__(self) -> str:
        return "\n".join(f"jaxlint: {self._where(one)}: {_said(one)}" for one in self.findings)

    def _repr_html_(self) -> str:
        rows = "".join(self._row(one) for one in self.findings)
        return f'<table style="text-align:left">{rows}</table>'

    def _row(self, finding: Finding) -> str:
        page = help_address(finding.code)
        code = html.escape(finding.code)
        link = f'<a href="{html.escape(page)}">{code}</a>' if page is not None else code
        reason = f"<br><small>{html.escape(finding.reason)}</small>" if finding.reason else ""
        cells = (
            f"<small>{html.escape(self._where(finding))}</small>",
            f'<b style="color:{_COLOURS[finding.severity]}">{finding.severity.value} {link}</b>'
            f"<br><small>{html.escape(finding.name)}</small>",
            f"<code>{html.escape(self._line(finding))}</code><br>{html.escape(finding.message)}{reason}",
        )
        return "<tr>" + "".join(f'<td style="text-align:left">{one}</td>' for one in cells) + "</tr>"

    def _where(self, finding: Finding) -> str:
        return f"In [{self.labels[(finding.cell or 1) - 1]}] line {finding.span.line}"

    def _line(self, finding: Finding) -> str:
        lines = self.cells[(finding.cell or 1) - 1].split("\n")
        return lines[finding.span.line - 1].strip() if finding.span.line <= len(lines) else ""


def _by_label(finding: Finding, labels: Sequence[int]) -> Finding:
    """The finding; cells in its texts have the numbers that IPython shows."""

    def label(match: re.Match[str]) -> str:
        return f"of In [{labels[int(match[1]) - 1]}]"

    message, reason = (_CELL.sub(label, text) for text in (finding.message, finding.reason))
    return replace(finding, message=message, reason=reason)


def _said(finding: Finding) -> str:
    reason = f" ({finding.reason})" if finding.reason else ""
    return f"{finding.severity.value} {finding.code} {finding.message} [{finding.name}]{reason}"


@dataclass(slots=True)
class Session:
    """One IPython shell. `cells` are those that ran, in that order; `told` are the findings already shown."""

    shell: Any
    active: bool = True
    cells: list[Cell] = field(default_factory=list)
    told: set[tuple[int, str, str, int]] = field(default_factory=set)
    options: dict[str, Any] = field(default_factory=dict)
    problem: str | None = None

    def before(self, info: Any) -> None:
        """A cell is about to run."""
        text = info.raw_cell
        if not self.active or not text or not text.strip() or not getattr(info, "store_history", True):
            return
        key = getattr(info, "cell_id", None)
        if key is not None:
            self.cells = [one for one in self.cells if one.key != key]
        self.cells.append(Cell(self._number(), text, key))
        del self.cells[:-MOST_CELLS]
        try:
            found = self.findings(self.cells)
        except Exception as error:  # whatever happens, the cell runs
            self.say_once(f"jaxlint: {' '.join(str(error).split()) or type(error).__name__}")
            return
        new = [one for one in found.findings if self._is_new(one, found.labels)]
        if new:
            _display(replace(found, findings=new))

    def after(self, result: Any) -> None:
        """A cell has run. If it raised before it began, it defined nothing."""
        if getattr(result, "error_before_exec", None) is not None and self.cells:
            self.cells.pop()

    def findings(self, cells: Sequence[Cell]) -> Findings:
        """The findings in the cells as one program. Raises ConfigError."""
        config = self.config()
        kept, labels = [cell.text for cell in cells], [cell.label for cell in cells]
        data = notebook_of((True, text) for text in kept)
        source = source_from_bytes(data, Path.cwd() / f"session{NOTEBOOK}", "session")
        examined = Examination([source], (), config.rules(), config).run()
        found = severe_enough(examined.findings, config)
        return Findings(
            [_by_label(one, labels) for one in shown(found, {source.display: source})], labels, kept
        )

    def config(self) -> Config:
        """The settings of the shell's folder, with the options of `%jaxlint`."""
        return load_config([Path.cwd()]).overridden(**self.options)

    def command(self, line: str) -> Findings | None:
        """`%jaxlint`: shows all findings so far, or sets other options."""
        words = shlex.split(line)
        if not words:
            found = self.findings(self.cells)
            if not found.findings:
                print("jaxlint: no findings")
            return found if found.findings else None
        if words in (["on"], ["off"]):
            self.active = words == ["on"]
            return None
        options: dict[str, Any] = {}
        names = {"--select": "select", "--ignore": "ignore", "--severity": "severity"}
        while words:
            name = names.get(words.pop(0))
            if name is None or not words:
                print(_USAGE)
                return None
            value = words.pop(0)
            options[name] = value if name == "severity" else tuple(value.replace(",", " ").split())
        before, self.options = self.options, {**self.options, **options}
        try:
            self.config().check()
        except ConfigError as error:
            self.options = before
            print(f"jaxlint: {error}")
        return None

    def _number(self) -> int:
        """The number of the cell about to run, from the cells before it: some IPython releases have already counted
        it."""
        return len(self.shell.history_manager.input_hist_parsed)

    def say_once(self, problem: str) -> None:
        if self.problem != problem:
            self.problem = problem
            print(problem)

    def _is_new(self, finding: Finding, labels: Sequence[int]) -> bool:
        """Whether this finding was not shown for this run of its cell."""
        about = (labels[(finding.cell or 1) - 1], finding.code, finding.message, finding.span.line)
        if about in self.told:
            return False
        self.told.add(about)
        return True


def _display(found: Findings) -> None:
    from IPython.display import display  # type: ignore[import-not-found]

    display(found)


def load(shell: Any) -> None:
    """`%load_ext jaxlint`."""
    session = Session(shell)
    shell.jaxlint = session
    shell.events.register("pre_run_cell", session.before)
    shell.events.register("post_run_cell", session.after)
    shell.register_magic_function(session.command, "line", "jaxlint")


def unload(shell: Any) -> None:
    """`%unload_ext jaxlint`."""
    session: Session = shell.jaxlint
    shell.events.unregister("pre_run_cell", session.before)
    shell.events.unregister("post_run_cell", session.after)
    del shell.magics_manager.magics["line"]["jaxlint"], shell.jaxlint
