"""The settings of a run, from `[tool.jaxlint]` in pyproject.toml or from jaxlint.toml.

The nearest file above the checked paths applies. A mistake in it is an error that names the file and the nearest
valid word: silently skipping a misspelt key would disable what its author meant to enable.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaxlint.finding import Severity
from jaxlint.registry import UnknownRule, all_rules, match_rules
from jaxlint.requirements import declared_versions
from jaxlint.rule import Rule
from jaxlint.settings import BY_KEY, WrongValue, read_version
from jaxlint.source.discovery import SETTINGS, Search
from jaxlint.source.patterns import PathPatterns, PatternError
from jaxlint.source.read import portable, shown_path
from jaxlint.source.regular import MAX_SETTINGS, read_regular
from jaxlint.source.toml import TomlError, parse_toml, read_toml

DEFAULT_EXCLUDES = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".hg",
    ".ipynb_checkpoints",
    ".jaxlint_cache",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    "__pycache__",
    "__pypackages__",
    "_build",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)
CACHE_FOLDER = ".jaxlint_cache"
CACHE_VARIABLE = "JAXLINT_CACHE_DIR"
# Marks of a project's top folder without a configuration.
_PROJECT_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg")
_SHOWN = 60  # characters of a wrong key
_MAX_TABLES = 1_000  # each file is matched against each
_MOST_NAMED = 10  # of files that are all ignored for one reason
# Packages with a history that the migration rules know.
_MIGRATED = frozenset({"jax", "flax", "optax", "chex", "dm-haiku", "orbax-checkpoint"})


class ConfigError(Exception):
    """An invalid configuration; the message is one line and names the file or the option."""


@dataclass(frozen=True)
class Config:
    """The settings of one run.

    `root` is the base of patterns and contains the cache. Selectors are codes, prefixes of codes, names, categories
    or "ALL". `target_jax` is the version or range of versions to check against, None for the newest known;
    `dependencies` are the versions that the project requires, by package.
    """

    root: Path
    source: Path | None = None
    said: frozenset[str] = frozenset()  # the keys that `source` contains
    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[PathPatterns, ...] = ()
    extend_include: tuple[PathPatterns, ...] = ()
    per_file_ignores: tuple[tuple[PathPatterns, tuple[str, ...]], ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False
    target_jax: str | None = None
    dependencies: tuple[tuple[str, str], ...] = ()
    preview: bool = False
    severity: Severity = Severity.WARNING  # the lowest reported severity
    report_unused_suppressions: bool = False
    baseline: str | None = None  # relative to `root`
    cache_dir: Path | None = None  # None: CACHE_FOLDER in `root`
    cache_dir_given: bool = False  # set by the user, not by a file of the project
    # The settings of the file, before the command line changed them.
    base: Config | None = field(default=None, repr=False)
    # Computes the settings of a run from those of a nested folder; None if one settings file applies everywhere.
    derive: Callable[[Config], Config] | None = field(default=None, repr=False, compare=False)

    @property
    def search(self) -> Search:
        """How to search folders for files."""
        return Search(self.exclude, self.extend_include, self.respect_gitignore, self.force_exclude)

    def rules(self) -> list[type[Rule]]:
        """The rules that run: selected, not ignored, not in preview unless asked for. Raises ConfigError.

        A more exact selector beats a more general one, so `select = ["JAX101"]` with `ignore = ["ALL"]` is JAX101.
        """
        wanted = self._ranks((*self.select, *self.extend_select))
        unwanted = self._ranks(self.ignore)
        return [
            rule
            for rule in all_rules()
            if wanted.get(rule.code, 0) > unwanted.get(rule.code, 0) and (self.preview or not rule.preview)
        ]

    def ignored_in(self, path: Path) -> frozenset[str]:
        """The codes that per-file ignores disable in the file at the absolute `path`."""
        codes: set[str] = set()
        for patterns, selectors in self.per_file_ignores:
            if patterns.matches(str(path)):
                codes |= self._match(selectors)
        return frozenset(codes)

    def check(self) -> Config:
        """Raises ConfigError if a selector names no rule or a pattern is invalid."""
        if self.base is not None:
            self.base.check()
        self.check_patterns()
        self.rules()
        for _, selectors in self.per_file_ignores:
            self._match(selectors)
        return self

    def check_patterns(self) -> Config:
        """Raises ConfigError if a pattern is invalid. Selectors are checked separately, since loading the rules takes
        a while."""
        if len(self.per_file_ignores) > _MAX_TABLES:
            raise ConfigError(f"{self._where}per-file-ignores has more than {_MAX_TABLES} patterns")
        try:
            for patterns in (
                *self.exclude,
                *self.extend_include,
                *(patterns for patterns, _ in self.per_file_ignores),
            ):
                patterns.check()
        except PatternError as error:
            raise ConfigError(f"{self._where}a path pattern is wrong: {error}") from None
        return self

    def fingerprint(self) -> str:
        """A text that differs whenever the findings could: part of the cache key. Loads no rule."""
        return repr(
            (
                (self.select, self.extend_select, self.ignore),
                [
                    (portable(Path(patterns.base), self.root), patterns.patterns, selectors)
                    for patterns, selectors in self.per_file_ignores
                ],
                self.target_jax,
                self.dependencies,
                self.preview,
                self.report_unused_suppressions,
            )
        )

    def with_options(self, **changes: Any) -> Config:
        """A copy with some settings replaced."""
        return dataclasses.replace(self, **changes)

    def overridden(
        self,
        *,
        select: Sequence[str] = (),
        extend_select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        severity: str | None = None,
        target_jax: str | None = None,
        **changes: Any,
    ) -> Config:
        """A file's settings, changed by the command line: `select` replaces, `extend_select` and `ignore` add. Raises
        ConfigError."""
        if select:
            changes["select"] = tuple(select)
        # Options of the command line add to the file.
        changes["extend_select"] = (*self.extend_select, *extend_select)
        changes["ignore"] = (*self.ignore, *ignore)
        if severity is not None:
            changes["severity"] = parse_severity(severity)
        if target_jax is not None:
            changes["target_jax"] = parse_version(target_jax)
        said = bool(select or ignore or extend_select)
        return self.with_options(base=self, source=None if said else self.source, **changes)

    @property
    def _where(self) -> str:
        return f"{self.source}: " if self.source else ""

    def _match(self, selectors: Iterable[str]) -> set[str]:
        selectors = list(selectors)
        if not all(selector.strip() for selector in selectors):
            raise ConfigError(f"{self._where}an empty name selects no rule; `jaxlint rules` lists them")
        try:
            return match_rules(selectors)
        except UnknownRule as error:
            raise ConfigError(f"{self._where}{error}") from None

    def _ranks(self, selectors: Iterable[str]) -> dict[str, int]:
        """The specificity of the most specific selector that matches each code."""
        ranks: dict[str, int] = {}
        for selector in selectors:
            for code in self._match([selector]):
                ranks[code] = max(ranks.get(code, 0), _exactness(selector.strip(), code))
        return ranks


def _exactness(selector: str, code: str) -> int:
    if selector.upper() == "ALL":
        return 1
    if code.startswith(selector.upper()):
        return 2 + len(selector)
    rule = next(rule for rule in all_rules() if rule.code == code)
    # A category is a block of codes.
    return 2 + (len(code) if selector.lower() == rule.name else len(code[:-2]))


def load_config(
    paths: Iterable[str | os.PathLike[str]], explicit: Path | None = None, *, check: bool = True
) -> Config:
    """The settings for a run over `paths`: from the file `explicit`, otherwise from the nearest one above all of
    them.

    Raises ConfigError. Without `check`, the caller must call `Config.check`.
    """
    config = _with_cache_folder(_load(paths, explicit))
    if check:
        config.check()
    return _with_dependencies(config) if common_folder(paths).is_relative_to(config.root) else config


def _with_cache_folder(config: Config) -> Config:
    """`config` with the cache folder that the environment names."""
    if folder := os.environ.get(CACHE_VARIABLE):
        return config.with_options(cache_dir=Path(os.path.abspath(folder)), cache_dir_given=True)
    return config


def _with_dependencies(config: Config) -> Config:
    """`config` with the versions that the project requires, if no target is set."""
    found = declared_versions(config.root, _MIGRATED)
    target = found.pop("jax", None)
    return config.with_options(
        target_jax=config.target_jax or target, dependencies=tuple(sorted(found.items()))
    )


def _load(paths: Iterable[str | os.PathLike[str]], explicit: Path | None) -> Config:
    if explicit is not None:
        source = Path(os.path.abspath(explicit))
        table = _read_table(source, explicit, required=True)
        return _from_table(table or {}, explicit, source.parent)
    start = common_folder(paths)
    for folder in (start, *start.parents):
        found = _own_settings(folder)
        if found is not None:
            return found
    root = _project_root(start)
    return Config(root=root, exclude=(PathPatterns(str(root), DEFAULT_EXCLUDES),))


def settings_in(folder: Path) -> Config | None:
    """The settings of a folder nested below those of a run. An unreadable pyproject.toml has none, which
    `broken_settings` reports. Raises ConfigError."""
    project = folder / "pyproject.toml"
    if not (folder / SETTINGS).is_file() and project.is_file():
        try:
            read_toml(project)
        except (OSError, TomlError):
            return None
    found = _own_settings(folder)
    return None if found is None else _with_cache_folder(_with_dependencies(found))


def _own_settings(folder: Path) -> Config | None:
    for name in ("jaxlint.toml", "pyproject.toml"):
        path = folder / name
        if path.is_file():
            shown = Path(shown_path(path))
            if name == "pyproject.toml" and _is_of_an_example(path):
                continue
            table = _read_table(path, shown, required=name == "jaxlint.toml")
            if table is not None:
                return _from_table(table, shown, folder)
    return None


def broken_settings(folders: Iterable[Path], config: Config) -> list[str]:
    """A line for each ignored pyproject.toml in or above `folders`, up to the root of `config`, that is not
    valid TOML. The first ten are named: a clone may hold thousands.
    """
    around = {above for folder in folders for above in (folder, *folder.parents)}
    below = (folder for folder in around if folder.is_relative_to(config.root))
    paths = [path for path in sorted(folder / "pyproject.toml" for folder in below) if path.is_file()]
    found = []
    for path in paths:
        if config.source is None or path != Path(os.path.abspath(config.source)):
            try:
                read_toml(path)
            except TomlError as error:
                found.append(f"{shown_path(path)}: {error}; it was ignored")
            except OSError:
                continue
    if len(found) > _MOST_NAMED:
        more = len(found) - _MOST_NAMED
        found[_MOST_NAMED:] = [
            f"{more:,} more pyproject.toml {'is' if more == 1 else 'are'} not TOML and ignored"
        ]
    return found


def _is_of_an_example(path: Path) -> bool:
    """Whether a pyproject.toml below the current folder is not valid TOML and mentions no settings of
    jaxlint, as in an example.
    """
    here = Path.cwd()
    if path.parent == here or not path.parent.is_relative_to(here):
        return False
    try:
        data = read_regular(path, MAX_SETTINGS)
    except OSError:
        return False
    try:
        parse_toml(data)
    except TomlError:
        return b"jaxlint" not in data
    return False


def common_folder(paths: Iterable[str | os.PathLike[str]]) -> Path:
    """The innermost folder that contains all of `paths`; the current folder if there are none."""
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in map(os.path.abspath, paths)]
    if not folders:
        return Path.cwd()
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # on several drives
        return Path.cwd()


def _project_root(start: Path) -> Path:
    for folder in (start, *start.parents):
        if any((folder / marker).exists() for marker in _PROJECT_MARKERS):
            return folder
    return Path.cwd()


def _read_table(path: Path, shown: Path, *, required: bool) -> Mapping[str, Any] | None:
    """The table of settings in a TOML file; None if a pyproject.toml has none."""
    try:
        document = read_toml(path)
    except OSError as error:
        raise ConfigError(f"{shown}: cannot be read ({error.strerror}); check the path") from None
    except TomlError as error:
        raise ConfigError(f"{shown}: {error}") from None
    if path.name != "pyproject.toml":
        return document
    tool = document.get("tool", {})
    table = tool.get("jaxlint") if isinstance(tool, Mapping) else None
    if table is None:
        return {} if required else None
    if not isinstance(table, Mapping):
        raise ConfigError(f"{shown}: `tool.jaxlint` must be a table")
    return table


def _from_table(table: Mapping[str, Any], shown: Path, folder: Path) -> Config:
    values: dict[str, Any] = {}
    excludes = DEFAULT_EXCLUDES
    extend_excludes: tuple[str, ...] = ()
    for key, value in table.items():
        setting = BY_KEY.get(key)
        if setting is None:
            raise ConfigError(f"{shown}: unknown key {key[:_SHOWN]!r}{_did_you_mean(key, BY_KEY)}")
        try:
            result = setting.kind.read(value)
        except WrongValue as error:
            raise ConfigError(f"{shown}: {key} {error}") from None
        if key == "exclude":
            excludes = result
        elif key == "extend-exclude":
            extend_excludes = result
        elif key == "extend-include":
            values["extend_include"] = (PathPatterns(str(folder), result),)
        elif key == "cache-dir":
            values["cache_dir"] = folder / os.path.expanduser(result)
        elif key == "per-file-ignores":
            values["per_file_ignores"] = tuple(
                (PathPatterns(str(folder), (pattern,)), selectors) for pattern, selectors in result
            )
        else:
            values[setting.field] = result
    exclude = (PathPatterns(str(folder), excludes + extend_excludes),)
    return Config(
        root=folder, source=shown, said=frozenset(table), exclude=exclude, **values
    ).check_patterns()


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(word.replace("_", "-"), names, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; the keys are {', '.join(names)}"


def parse_version(text: str) -> str:
    """`text` if it names a version of JAX or a range of versions. Raises ConfigError."""
    try:
        return read_version(text)
    except WrongValue as error:
        raise ConfigError(f"--target-jax {error}") from None


def parse_severity(text: str) -> Severity:
    """Raises ConfigError."""
    try:
        severity: Severity = BY_KEY["severity"].kind.read(text)
    except WrongValue as error:
        raise ConfigError(f"severity {error}") from None
    return severity
