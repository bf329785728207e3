"""The options of `verify` for additional output: the page, its data, plots, lowered programs, profiler traces."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jaxlint.cli.common import Failure, check_link_of

if TYPE_CHECKING:
    from jaxlint_runtime.report.document import Document

_Command = TypeVar("_Command", bound=Callable[..., Any])
_FOLDER = click.Path(file_okay=False, path_type=Path)
_OPTIONS = (
    click.option(
        "--html",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write the report as one self-contained HTML page, and its data as JSON beside it.",
    ),
    click.option(
        "--plots", type=_FOLDER, help="Write its plots to a folder: SVG, and PNG with the extra `plots`."
    ),
    click.option(
        "--dump",
        type=_FOLDER,
        help="Keep jaxpr, StableHLO and HLO of each function before and after in a folder.",
    ),
    click.option(
        "--trace",
        type=_FOLDER,
        help="Keep profiler traces of each function before and after in a folder, for XProf or Perfetto.",
    ),
    click.option(
        "--profile-server",
        type=click.IntRange(min=1, max=65535),
        metavar="PORT",
        help="Serve XProf while the program runs.",
    ),
)
_NAMES = ("html", "plots", "dump", "trace", "profile_server")


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """Where to write each kind of output; None if it is not wanted."""

    html: Path | None = None
    plots: Path | None = None
    dump: Path | None = None
    trace: Path | None = None
    profile_server: int | None = None

    def given(self) -> dict[str, Any]:
        """The requested kinds of output, by the names of the options."""
        return {name.replace("_", "-"): getattr(self, name) for name in _NAMES}

    def prepare(self) -> None:
        """Creates the folders before anything runs. Raises Failure."""
        if self.html is not None and not self.html.absolute().parent.is_dir():
            raise Failure(f"{self.html}: there is no such folder to write the page to")
        for output in (self.html, self.plots, self.dump, self.trace):
            if output is not None:
                check_link_of(output)
        for folder in (self.plots, self.dump, self.trace):
            try:
                if folder is not None:
                    folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise Failure(f"{folder}: cannot be created ({error.strerror})") from None

    def for_worker(self) -> dict[str, Any]:
        """The part of a request for the worker."""
        return {
            "dump": None if self.dump is None else str(self.dump.absolute()),
            "trace": None if self.trace is None else str(self.trace.absolute()),
            "profile_server": self.profile_server,
        }

    def write(self, document: Document) -> list[str]:
        """Writes the page and the plots; returns a line about each. Raises Failure."""
        from jaxlint_runtime.report.html.page_files import write_page, write_plots

        said = []
        try:
            if self.html is not None:
                said += write_page(document, self.html)
            if self.plots is not None:
                said += write_plots(document, self.plots)
        except OSError as error:
            raise Failure(f"{error.filename}: cannot be written ({error.strerror})") from None
        return said


def report_files(command: _Command) -> _Command:
    """Adds the options to a command, which receives them as one `files: ReportFiles`."""

    @functools.wraps(command)
    def wrapper(**values: Any) -> Any:
        files = ReportFiles(**{name: values.pop(name) for name in _NAMES})
        return command(files=files, **values)

    decorated: Any = wrapper
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]
