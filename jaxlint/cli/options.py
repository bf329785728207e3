"""Options that several commands share: files, rules, settings."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from jaxlint.cli.common import Failure
from jaxlint.cli.completion import complete_rules
from jaxlint.config import Config, ConfigError, load_config
from jaxlint.engine import Stdin
from jaxlint.finding import Severity
from jaxlint.source.patterns import PathPatterns, PatternError

_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run, with the configuration file already read."""

    paths: tuple[str, ...]
    config: Config
    stdin: Stdin | None
    use_cache: bool
    jobs: int


def run_options(command: _Command) -> _Command:
    """Adds the options of a run of rules over files to a command, which receives them as one `options: RunOptions`."""
    return _with_options(command, [*_RULES, *_FILES, *_CONFIGURATION, *_CACHE])


def file_options(command: _Command) -> _Command:
    """Like `run_options`, for a command that runs no rules and caches nothing."""
    return _with_options(command, [*_FILES, *_CONFIGURATION])


def _with_options(command: _Command, options: Sequence[Callable[[Any], Any]]) -> _Command:
    names = inspect.signature(_run_options).parameters

    @functools.wraps(command)
    def wrapper(**values: Any) -> Any:
        shared = {name: values.pop(name) for name in tuple(values) if name in names}
        return command(options=_run_options(**shared), **values)

    decorated: Any = wrapper
    for option in reversed(options):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _names(value: Sequence[str]) -> tuple[str, ...]:
    """The parts of comma-separated lists: `--select JAX101,JAX2 --select memory`."""
    return tuple(part.strip() for item in value for part in item.split(",") if part.strip())


_FILES = [
    click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path()),
    click.option(
        "--exclude", multiple=True, metavar="PATTERNS", help="Skip these instead of the usual folders."
    ),
    click.option("--extend-exclude", multiple=True, metavar="PATTERNS", help="Also skip these."),
    click.option(
        "--force-exclude/--no-force-exclude", default=None, help="Skip excluded files even if they are named."
    ),
    click.option(
        "--respect-gitignore/--no-respect-gitignore", default=None, help="Skip what git ignores (in folders)."
    ),
]
_RULES = [
    click.option(
        "--select",
        multiple=True,
        shell_complete=complete_rules,
        metavar="RULES",
        help="Only these rules: codes, prefixes, names, categories.",
    ),
    click.option(
        "--extend-select",
        shell_complete=complete_rules,
        multiple=True,
        metavar="RULES",
        help="Also these rules.",
    ),
    click.option(
        "--ignore", shell_complete=complete_rules, multiple=True, metavar="RULES", help="All but these rules."
    ),
    click.option("--preview/--no-preview", default=None, help="Also the rules in preview."),
    click.option(
        "--severity",
        type=click.Choice([str(severity) for severity in Severity]),
        help="The lowest severity to report (warning).",
    ),
    click.option("--target-jax", metavar="VERSION", help="The version of JAX that the code runs on."),
    click.option(
        "--report-unused-suppressions/--no-report-unused-suppressions",
        default=None,
        help="Report suppression comments that suppress nothing.",
    ),
]
_CONFIGURATION = [
    click.option(
        "--config", "config_file", type=click.Path(path_type=Path), help="A pyproject.toml or jaxlint.toml."
    ),
    click.option("--stdin-filename", metavar="PATH", help="The file name of standard input (`-`)."),
    click.option(
        "--jobs",
        "-j",
        type=click.IntRange(min=1),
        help="Number of parallel processes (all cores).",
    ),
]
_CACHE = [
    click.option("--no-cache", is_flag=True, help="Neither read nor write the cache."),
    click.option(
        "--cache-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="Where to keep the cache (.jaxlint_cache in the project).",
    ),
]


def _run_options(
    *,
    paths: tuple[str, ...],
    exclude: tuple[str, ...],
    extend_exclude: tuple[str, ...],
    force_exclude: bool | None,
    respect_gitignore: bool | None,
    config_file: Path | None,
    stdin_filename: str | None,
    jobs: int | None,
    select: tuple[str, ...] = (),
    extend_select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    preview: bool | None = None,
    severity: str | None = None,
    target_jax: str | None = None,
    report_unused_suppressions: bool | None = None,
    no_cache: bool = True,
    cache_dir: Path | None = None,
) -> RunOptions:
    given = tuple(path for path in paths if path != "-")
    stdin = None
    if "-" in paths:
        stdin = Stdin(sys.stdin.buffer.read(), stdin_filename)
    elif stdin_filename:
        raise Failure("--stdin-filename goes with `-`, which reads from standard input")
    elif not given:
        given = (".",)
    about: Iterable[str] = (*given, stdin_filename) if stdin and stdin_filename else given
    switches = {
        "preview": preview,
        "force_exclude": force_exclude,
        "respect_gitignore": respect_gitignore,
        "report_unused_suppressions": report_unused_suppressions,
    }

    def settled(config: Config) -> Config:
        """The settings of a file, changed by the command line."""
        changes: dict[str, Any] = {name: value for name, value in switches.items() if value is not None}
        if cache_dir is not None:
            changes |= {"cache_dir": cache_dir.absolute(), "cache_dir_given": True}
        changes["exclude"] = _excluded(config, _names(exclude), _names(extend_exclude))
        changed = config.overridden(
            select=_names(select),
            extend_select=_names(extend_select),
            ignore=_names(ignore),
            severity=severity,
            target_jax=target_jax,
            **changes,
        )
        return changed.check_patterns()

    try:
        config = settled(load_config(about, config_file, check=False))
        if config_file is None:
            config = config.with_options(derive=settled)
    except PatternError as error:
        raise Failure(f"--exclude, --extend-exclude: a path pattern is wrong: {error}") from None
    except ConfigError as error:
        raise Failure(str(error)) from None
    return RunOptions(given, config, stdin, not no_cache, jobs or _cores())


def _excluded(config: Config, instead: tuple[str, ...], besides: tuple[str, ...]) -> tuple[PathPatterns, ...]:
    """The exclusion patterns. Those of the command line are relative to the current folder, like its paths."""
    here = str(Path.cwd())
    excludes = (PathPatterns(here, instead),) if instead else config.exclude
    if besides:
        excludes = (*excludes, PathPatterns(here, besides))
    return tuple(one.check() for one in excludes)


def _cores() -> int:
    """The number of processors for this process, or its container's share of them."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):  # without a limit, "max" is not a number
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = map(int, file.read().split())
        count = min(count, max(1, quota // period))
    return count
