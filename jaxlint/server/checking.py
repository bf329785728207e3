"""Checks open documents within their projects, and caches the files that it read for that."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.config import Config, load_config
from jaxlint.engine import MAX_CONTEXT_FILES, has_rest, modules_of, severe_enough
from jaxlint.examine import Examination, Outcome
from jaxlint.finding import Finding
from jaxlint.narrowing.baseline import place_of, read_baseline
from jaxlint.places import shown
from jaxlint.server.documents import Document
from jaxlint.source import SourceError, SourceFile, read_source
from jaxlint.source.discovery import discover
from jaxlint.source.patterns import PatternError
from jaxlint.staging.inspection import FunctionFacts
from jaxlint.staging.inspection.arrays import ArrayFacts, inspect_names
from jaxlint.staging.warm import WarmRun

_LISTING_HOLDS = 10.0  # seconds, unless the editor reports a new or deleted file


@dataclass(frozen=True, slots=True)
class Task:
    """The input for checking a document: its text, the rest of its project, and the settings."""

    source: SourceFile
    config: Config
    context: Sequence[SourceFile]

    def checked(self, outcome: Outcome) -> Checked:
        """The result to show: findings of sufficient severity that are not in a baseline. Raises ConfigError."""
        found = severe_enough(outcome.findings, self.config)
        sources = {self.source.display: self.source}
        place = place_of(self.config)
        if place is not None:
            found = read_baseline(place).split(found, sources).new
        return Checked(self.source, shown(found, sources), found, [*self.source.problems, *outcome.errors])


@dataclass(slots=True)
class Checked:
    """The findings of one document; none for a file that the settings exclude.

    `findings` have the positions that a reader knows: in the cells of a notebook. `in_module` are the same findings
    in the same order, with positions in the module that joins the parts of the file. `partial`: a first look, which
    ended before all of the document was evaluated.
    """

    source: SourceFile | None
    findings: list[Finding] = field(default_factory=list)
    in_module: list[Finding] = field(default_factory=list)
    errors: list[SourceError] = field(default_factory=list)
    partial: bool = False


@dataclass(slots=True)
class Facts:
    """Facts about the names in one document."""

    functions: list[FunctionFacts] = field(default_factory=list)
    arrays: list[ArrayFacts] = field(default_factory=list)


class Checker:
    """Checks documents one at a time. It keeps the text of the projects' files, each once."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[tuple[int, int], SourceFile | None]] = {}
        self._listings: dict[Path, tuple[float, list[Path]]] = {}

    def check(self, document: Document, others: Iterable[Document] = ()) -> Checked:
        """The findings of `document`. `others` are also open: the editor's text of them counts. Raises ConfigError."""
        task = self.task(document, others)
        if isinstance(task, Checked):
            return task
        outcome = examination_of(task, resolve_fixes=True).run()
        gc.collect()  # the data of the analysis is full of cycles
        return task.checked(outcome)

    def explain(self, document: Document, others: Iterable[Document] = ()) -> Facts:
        """The facts about the names in `document`. Raises ConfigError."""
        task = self.task(document, others)
        facts = Facts() if isinstance(task, Checked) else facts_of(task)
        gc.collect()
        return facts

    def task(self, document: Document, others: Iterable[Document] = ()) -> Task | Checked:
        """The input for checking `document`, or its result if no check is needed. Raises ConfigError."""
        _stand_somewhere()
        config = load_config([document.path])
        if self._is_excluded(document.path, config):
            return Checked(None)
        try:
            source = document.source()
        except SourceError as error:
            return Checked(None, errors=[error])
        return Task(source, config, self.context(document, others, config))

    def context(self, document: Document, others: Iterable[Document], config: Config) -> list[SourceFile]:
        """The other modules of the document's project: their calls show how its functions are used."""
        if not has_rest([document.path], config.root):
            return []
        unsaved = {other.path: other for other in others}
        found = (
            self._unsaved(unsaved[path]) if path in unsaved else self._saved(path)
            for path in self._modules(config)
            if path != document.path
        )
        return [source for source in found if source is not None]

    def forget_listings(self) -> None:
        """Files were created or deleted: the projects are listed again."""
        self._listings.clear()

    def _modules(self, config: Config) -> list[Path]:
        now, root = time.monotonic(), config.root
        known = self._listings.get(root)
        if known is not None and now - known[0] < _LISTING_HOLDS:
            return known[1]
        paths = modules_of(config)
        paths = paths if len(paths) <= MAX_CONTEXT_FILES else []
        self._listings[root] = (now, paths)
        for gone in {path for path in self._read if path.is_relative_to(root)}.difference(paths):
            del self._read[gone]
        return paths

    def _saved(self, path: Path) -> SourceFile | None:
        """The file as it is on disk, read again only if it changed."""
        try:
            state = path.stat()
        except OSError:
            return None
        stamp = (state.st_mtime_ns, state.st_size)
        known = self._read.get(path)
        if known is None or known[0] != stamp:
            try:
                source = read_source(path, str(path))
            except SourceError:
                source = None
            known = self._read[path] = (stamp, source)
        return known[1]

    def _unsaved(self, document: Document) -> SourceFile | None:
        try:
            return document.source()
        except SourceError:
            return None

    def _is_excluded(self, path: Path, config: Config) -> bool:
        """Whether the settings exclude the file."""
        if not path.exists():
            return False
        try:
            search = config.with_options(force_exclude=True).search
        except PatternError:
            return False
        return not discover([path], search).files


def _stand_somewhere() -> None:
    """Leaves a current folder that no longer exists, where no relative path has a meaning."""
    try:
        os.getcwd()
    except OSError:
        os.chdir(os.path.abspath(os.sep))


def examination_of(task: Task, *, resolve_fixes: bool = False, warm: WarmRun | None = None) -> Examination:
    """The check of a document. `warm` may change its list of sources. Raises ConfigError."""
    rules = task.config.rules()
    return Examination([task.source], task.context, rules, task.config, resolve_fixes, warm)


def facts_of(task: Task) -> Facts:
    """The facts of the analysis about the names in a document."""
    display = task.source.display
    functions, arrays = inspect_names([task.source], task.context)
    return Facts(
        [one for one in functions if one.path == display], [one for one in arrays if one.path == display]
    )
