"""The migration of a whole project: rewrites of its sources, its requirements, and what is left to do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.config import Config
from jaxlint.examine import Observer
from jaxlint.finding import Finding, Severity
from jaxlint.jaxapi.history import PACKAGES
from jaxlint.places import shown
from jaxlint.rewriting import Rewriting, rewrite, write_texts
from jaxlint.source import SourceError, SourceFile
from jaxlint.source.journal import write_together
from jaxlint.source.read import shown_path
from jaxlint.source.write import Change
from jaxlint.upgrade.pins import Pins, pin_package, raise_pins
from jaxlint.upgrade.targets import Aim

CATEGORY = "migration"
_IMPORTED = re.compile(rf"^[ \t]*(?:import|from)\s+({'|'.join(PACKAGES)})\b", re.MULTILINE)
_API = re.compile(r"`([^`]+)`")  # the messages of migration rules begin with the name


@dataclass(frozen=True, slots=True)
class Left:
    """A remaining finding, and why it was not rewritten; "" if no rewrite is known."""

    finding: Finding
    reason: str
    unsafe: bool = False  # --unsafe-fixes rewrites it


@dataclass(slots=True)
class Upgrade:
    """The result of moving a project to `targets`. Nothing is written yet."""

    root: Path
    targets: Mapping[str, Aim]
    rewriting: Rewriting
    pins: Pins
    errors: list[SourceError] = field(default_factory=list)

    @property
    def changes(self) -> bool:
        """Whether any file would change."""
        return bool(self.rewriting.result.texts or self.pins.texts)

    @property
    def used(self) -> list[Aim]:
        """The targets of packages that the project imports or requires."""
        text = "\n".join(source.text for source in self.rewriting.checked.sources.values())
        names = set(_IMPORTED.findall(text))
        required = {pin_package(pin.before) for pin in (*self.pins.raised, *self.pins.left)}
        return [
            self.targets[package]
            for name, (package, _) in PACKAGES.items()
            if name in names or package in required
        ]

    def rewritten(self) -> list[tuple[str, int]]:
        """The number of rewritten places by API, the most frequent first."""
        counts = Counter(api_of(finding) for finding in self.rewriting.result.applied)
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    def left(self) -> list[Left]:
        """The remaining findings, with places for a reader."""
        result = self.rewriting.result
        refused = {id(one.finding): one.reason for one in result.refused}
        held = {id(one.finding): one.reason for one in result.held_back}
        places = shown(result.remaining, result.sources)
        return [
            Left(place, held.get(id(one)) or refused.get(id(one), ""), unsafe=id(one) in held)
            for one, place in zip(result.remaining, places, strict=True)
        ]

    def texts(self) -> list[tuple[str, str, str]]:
        """Path, old text and new text of each changed file."""
        sources, result = self.rewriting.checked.sources, self.rewriting.result
        changes = [(path, sources[path].file_text, text) for path, text in result.texts.items()]
        changes += [(path, self.pins.sources[path].text, text) for path, text in self.pins.texts.items()]
        return sorted(changes)

    def write(self) -> None:
        """Writes the sources, then all requirements or none. Failures are added to the errors and no longer count as
        done."""
        rewriting = self.rewriting
        wanted = set(rewriting.result.texts)  # with a setup.py, which is a source as well
        self.errors += write_texts(rewriting.checked.sources, rewriting.result, self.root)
        failed = wanted - set(rewriting.result.texts)
        changes = [
            Change(self.pins.sources[path], text, requirements=True)
            for path, text in sorted(self.pins.texts.items())
        ]
        try:
            write_together(changes, self.root, must_keep=False)
        except SourceError as error:
            self.errors.append(error)
            failed |= set(self.pins.texts)
            self.pins.texts.clear()
        self.pins.raised = [pin for pin in self.pins.raised if pin.path not in failed]


def api_of(finding: Finding) -> str:
    """The name of the API in a migration finding."""
    match = _API.search(finding.message)
    return match[1] if match is not None else finding.name


def upgrade(
    paths: Sequence[str | Path],
    config: Config,
    targets: Mapping[str, Aim],
    *,
    unsafe: bool = False,
    jobs: int | None = None,
    observer: Observer | None = None,
) -> Upgrade:
    """Moves the files behind `paths`, and the project's requirements, to `targets`. Raises ConfigError."""
    aimed = config.with_options(**_settings(targets))
    if config.derive is not None:
        derive = config.derive
        aimed = aimed.with_options(derive=lambda below: derive(below).with_options(**_settings(targets)))
    done = rewrite(paths, aimed, unsafe=unsafe, use_cache=False, jobs=jobs, observer=observer)
    # A setup.py is a source and also holds requirements: its rewritten text is the input here.
    own = {source.path: source for source in done.result.sources.values() if source.path.name == "setup.py"}
    pins = raise_pins(
        config.root, shown_path, targets, own, _folders(config.root, done.result.sources.values())
    )
    for source in own.values():
        for display in [name for name, one in pins.sources.items() if one is source and name in pins.texts]:
            done.result.texts[source.display] = pins.texts.pop(display)
    return Upgrade(config.root, targets, done, pins, list(done.errors))


def _folders(root: Path, sources: Iterable[SourceFile]) -> set[Path]:
    """The folders of the sources, and those above them, within the project."""
    found: set[Path] = set()
    for source in sources:
        for folder in source.path.parents:
            if folder in found or folder == root or not folder.is_relative_to(root):
                break
            found.add(folder)
    return found


def _settings(targets: Mapping[str, Aim]) -> dict[str, object]:
    """All migration rules and no others, for these releases, whatever the project requires."""
    return {
        "select": (CATEGORY,),
        "extend_select": (),
        "ignore": (),
        "preview": False,
        "severity": Severity.WARNING,
        "report_unused_suppressions": False,
        "base": None,
        "target_jax": targets["jax"].specifier,
        "dependencies": tuple(
            sorted((package, aim.specifier) for package, aim in targets.items() if package != "jax")
        ),
    }
