"""Path patterns like those of .gitignore, relative to a folder: for exclusions, per-file ignores and .gitignore
itself."""

from __future__ import annotations

import functools
import itertools
import os
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jaxlint.source.regular import read_regular

_MAX_IGNORE_FILE = 1 << 20
_MAX_PATTERNS = 5_000
_MAX_PATTERN = 1_000  # characters
_PLAIN_NAME = re.compile(r"\.?[\w-][\w.-]{0,200}", re.ASCII)

# The building blocks of pathspec's patterns: some folders, any part of a name, a set of characters, and so on.
_TOKEN = re.compile(
    r"""\(\?:\.\+/\)\?|\(\?:/\.\+\)\?|\(\?:\(\?P<ps_d>/\)\|\$\)|\(\?P<ps_d>/\)|\[\^/\]\*|\[\^?\]?(?:\\.|[^\]\\])*\]|\\.|.""",
    re.DOTALL,
)
_STAR, _FOLDERS_BEFORE, _FOLDERS_BETWEEN = "[^/]*", "(?:.+/)?", "(?:/.+)?"


class PatternError(ValueError):
    """An invalid pattern. The message is one line."""


@dataclass(frozen=True)
class PathPatterns:
    """Patterns in the syntax of .gitignore. A pattern with a slash is relative to `base`, an absolute folder."""

    base: str
    patterns: tuple[str, ...]

    @functools.cached_property
    def _names(self) -> frozenset[str] | None:
        """The patterns, if all of them are plain names, as in the default settings."""
        plain = len(self.patterns) <= _MAX_PATTERNS and all(map(_PLAIN_NAME.fullmatch, self.patterns))
        return frozenset(self.patterns) if plain else None

    @functools.cached_property
    def _spec(self) -> Any:
        from pathspec import GitIgnoreSpec  # most projects do not need it

        if len(self.patterns) > _MAX_PATTERNS:
            raise PatternError(f"more than {_MAX_PATTERNS} patterns; name folders instead of files")
        if longest := next((one for one in self.patterns if len(one) > _MAX_PATTERN), None):
            raise PatternError(f"{longest[:20]!r}... is longer than {_MAX_PATTERN} characters")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a set in a set, which is not an error in a pattern
                patterns = GitIgnoreSpec.from_lines(self.patterns).patterns
                for pattern in patterns:
                    if (regex := getattr(pattern, "regex", None)) is not None:
                        pattern.regex = re.compile(linear(regex.pattern), re.DOTALL)
            return GitIgnoreSpec(patterns)
        except (ValueError, TypeError, re.error, RecursionError, OverflowError) as error:
            raise PatternError(" ".join(str(error).split())) from None

    def check(self) -> PathPatterns:
        """Raises PatternError if a pattern is invalid."""
        if self._names is None:
            _ = self._spec
        return self

    def decide(self, path: str, *, folder: bool = False) -> bool | None:
        """Whether the absolute `path` matches: True, False if a `!` pattern excludes it again, None if no pattern
        matches.

        A path outside `base` matches by its name alone.
        """
        if not self.patterns:
            return None
        prefix = self.base if self.base.endswith(os.sep) else self.base + os.sep
        inside = path[len(prefix) :] if path.startswith(prefix) else os.path.basename(path)
        if not inside:
            return None
        relative = inside.replace(os.sep, "/")
        if self._names is not None:
            return None if self._names.isdisjoint(relative.split("/")) else True
        relative += "/" if folder else ""
        include: bool | None = self._spec.check_file(relative).include
        return include

    def matches(self, path: str, *, folder: bool = False) -> bool:
        return bool(self.decide(path, folder=folder))

    def moved(self, base: str) -> PathPatterns:
        """The same patterns relative to another folder."""
        return PathPatterns(base, self.patterns)


def linear(regex: str) -> str:
    """An equivalent regular expression for a pattern that does not backtrack over its wildcards.

    In a name that matches, each piece of the pattern can be taken at its first place after the previous piece, so no
    other place need be tried. Otherwise `*a*a*a*a*b` takes practically forever, and a clone may contain such a
    `.gitignore`.
    """
    tokens = _TOKEN.findall(regex)
    if not tokens or tokens[0] != "^":
        return regex
    folders = [token for token in tokens if token in (_FOLDERS_BEFORE, _FOLDERS_BETWEEN)]
    parts: list[list[str]] = [[]]
    for token in tokens[1:]:
        if token in (_FOLDERS_BEFORE, _FOLDERS_BETWEEN):
            parts.append([])
        else:
            parts[-1].append(token)
    texts = ["".join(_each_segment(part)) for part in parts]
    # The last piece may need a later place, since the end of the path follows it.
    between = [
        f"(?>(?:.+?/)??{text}(?=/))" if token == _FOLDERS_BEFORE else f"(?>(?:/.+?)??{text}(?=/))"
        for token, text in zip(folders[:-1], texts[1:-1], strict=True)
    ]
    end = folders[-1] + texts[-1] if folders else ""
    return "^" + texts[0] + "".join(between) + end


def _each_segment(tokens: list[str]) -> Iterable[str]:
    segment: list[str] = []
    for token in tokens:
        if token == "/" or "/)" in token or token == "$":
            yield from _segment(segment)
            yield (
                token.replace("|$)", r"|\Z)") if token != "$" else r"\Z"
            )  # `$` would accept a line end as the end
            segment = []
        else:
            segment.append(token)
    yield from _segment(segment)


def _segment(tokens: list[str]) -> Iterable[str]:
    """One name: the piece after each wildcard but the last is taken at its first place."""
    tokens = [
        token
        for before, token in zip([None, *tokens], tokens, strict=False)
        if (before, token) != (_STAR, _STAR)
    ]
    stars = [number for number, token in enumerate(tokens) if token == _STAR]
    if len(stars) < 2:
        return tokens
    pieces = tokens[: stars[0]]
    for start, end in itertools.pairwise(stars):
        pieces.append(f"(?>[^/]*?{''.join(tokens[start + 1 : end])})")
    return [*pieces, *tokens[stars[-1] :]]


def read_ignore_file(folder: str, name: str = ".gitignore") -> PathPatterns | None:
    """The patterns of the ignore file in `folder`, or None if there is no readable one."""
    try:
        data = read_regular(os.path.join(folder, name), _MAX_IGNORE_FILE)
        lines = data.decode("utf-8", "surrogateescape").splitlines()[:_MAX_PATTERNS]
    except (OSError, ValueError):
        return None
    patterns = PathPatterns(folder, tuple(lines))
    try:
        return patterns.check()
    except PatternError:
        return PathPatterns(folder, tuple(_valid(folder, lines)))


def _valid(folder: str, lines: Iterable[str]) -> Iterable[str]:
    """The lines that git would understand; it skips the others silently."""
    for line in lines:
        try:
            PathPatterns(folder, (line,)).check()
        except PatternError:
            continue
        yield line
