"""Path patterns as in .gitignore, anchored at a folder: for exclusions, per-file ignores and .gitignore itself."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


class PatternError(ValueError):
    """A pattern that means nothing; the message is one line."""


@dataclass(frozen=True)
class PathPatterns:
    """Patterns in the syntax of .gitignore. One with a slash in it counts from `base`, an absolute folder."""

    base: str
    patterns: tuple[str, ...]

    @functools.cached_property
    def _spec(self) -> Any:
        if not self.patterns:
            return None
        from pathspec import GitIgnoreSpec  # not needed by most commands

        try:
            return GitIgnoreSpec.from_lines(self.patterns)
        except (ValueError, TypeError) as error:
            raise PatternError(" ".join(str(error).split())) from None

    def check(self) -> PathPatterns:
        """Raises PatternError when a pattern means nothing."""
        _ = self._spec
        return self

    def decide(self, path: str, *, folder: bool = False) -> bool | None:
        """Whether the absolute `path` matches: True, False when a `!` pattern takes it back, None when none speaks.

        A path outside `base` matches by its name alone.
        """
        if self._spec is None:
            return None
        prefix = self.base if self.base.endswith(os.sep) else self.base + os.sep
        inside = path[len(prefix) :] if path.startswith(prefix) else os.path.basename(path)
        if not inside:
            return None
        relative = inside.replace(os.sep, "/") + ("/" if folder else "")
        include: bool | None = self._spec.check_file(relative).include
        return include

    def matches(self, path: str, *, folder: bool = False) -> bool:
        return bool(self.decide(path, folder=folder))

    def moved(self, base: str) -> PathPatterns:
        """The same patterns counted from another folder."""
        return PathPatterns(base, self.patterns)


def read_ignore_file(folder: str, name: str = ".gitignore") -> PathPatterns | None:
    """The patterns of the ignore file in `folder`, or None when there is none that can be read."""
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    patterns = PathPatterns(folder, tuple(lines))
    try:
        return patterns.check()
    except PatternError:
        return PathPatterns(folder, tuple(_valid(folder, lines)))


def _valid(folder: str, lines: Iterable[str]) -> Iterable[str]:
    """The lines that git would understand: it skips the others silently."""
    for line in lines:
        try:
            PathPatterns(folder, (line,)).check()
        except PatternError:
            continue
        yield line
