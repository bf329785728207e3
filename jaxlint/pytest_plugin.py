"""`pytest --jaxlint`: a test item for each file, which fails with the findings in it.

The files are checked together, once, before the first of these items runs: one file shows how another's helpers are
used. pytest loads this module wherever jaxlint is installed, so it imports nothing of jaxlint until needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from jaxlint import Report

MARKER = "jaxlint"
_SUFFIXES = frozenset({".py", ".ipynb"})


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--jaxlint` enables it; the settings are those of the project."""
    group = parser.getgroup("jaxlint")
    group.addoption("--jaxlint", action="store_true", help="Check the collected files with jaxlint.")
    group.addoption("--jaxlint-baseline", metavar="FILE", help="Leave out the findings that this file knows.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARKER}: a file checked by jaxlint (with --jaxlint)")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> JaxlintFile | None:
    """A file to check, beside its tests."""
    if parent.config.getoption("jaxlint") and file_path.suffix in _SUFFIXES:
        # Below the session: pytest would import the packages around an item, and the file would act.
        return JaxlintFile.from_parent(parent.session, path=file_path, nodeid=_shown(file_path, parent))
    return None


def _shown(path: Path, parent: pytest.Collector) -> str:
    """The name of a file in the reports of pytest, which prints it unchanged: without characters that a
    terminal or an XML file cannot take.
    """
    from jaxlint.report.escaping import escaped

    root = parent.config.rootpath
    inside = path.relative_to(root) if path.is_relative_to(root) else path
    return escaped(inside.as_posix())


class JaxlintFile(pytest.File):
    """The single item of a file. A file that the project's settings exclude has none."""

    def collect(self) -> Iterator[JaxlintItem]:
        yield JaxlintItem.from_parent(self, name="jaxlint")


class JaxlintItem(pytest.Item):
    """Fails with the findings of its file."""

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.add_marker(MARKER)

    def runtest(self) -> None:
        report = _report_of(self.session)
        lines = [
            f"{_place(one.cell, one.span.line)}: {one.severity} {one.code} {one.message} [{one.name}]\n    {one.reason}"
            for one in report.findings
            if Path(one.path) == self.path
        ]
        lines += [str(error) for error in report.errors if Path(error.path) == self.path]
        if lines:
            raise FoundSomething("\n".join(lines))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The findings, without a traceback."""
        if isinstance(excinfo.value, FoundSomething):
            from jaxlint.report.escaping import escaped

            return "\n".join(escaped(line) for line in str(excinfo.value).split("\n"))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.nodeid.removesuffix('::jaxlint').rpartition('/')[2]}: jaxlint"


class FoundSomething(Exception):
    """The findings of a file, as text."""


_REPORT = pytest.StashKey["Report"]()


def _report_of(session: pytest.Session) -> Report:
    """The report on all files that have an item."""
    if _REPORT not in session.stash:
        import jaxlint

        files = [str(item.path) for item in session.items if isinstance(item, JaxlintItem)]
        baseline = session.config.getoption("jaxlint_baseline")
        try:
            session.stash[_REPORT] = jaxlint.check(files, baseline=baseline, cache=True)
        except jaxlint.ConfigError as error:
            raise pytest.UsageError(f"jaxlint: {error}") from None
    return session.stash[_REPORT]


def _place(cell: int | None, line: int) -> str:
    return f"line {line}" if cell is None else f"cell {cell}, line {line}"
