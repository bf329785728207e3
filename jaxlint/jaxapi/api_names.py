"""Every public name in the sampled releases of JAX, by module, and which names were removed.

The table is one text file. The line of a module is parsed on first use.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).with_name("data") / "api_names.txt"


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """The names of one module.

    `is_open`: some release also created names at import, so there may have been others; `is_open_now`: the newest
    release does.
    """

    there: frozenset[str]
    gone: Mapping[str, str]  # the first sampled release that lacks the name
    is_open: bool
    is_open_now: bool

    def all(self) -> Iterator[tuple[str, str | None]]:
        """Each name, and the first sampled release that lacks it again."""
        yield from ((name, None) for name in self.there)
        yield from self.gone.items()


class _Table:
    @functools.cached_property
    def _lines(self) -> tuple[str, dict[str, tuple[int, str]]]:
        head, *lines = DATA.read_text(encoding="utf-8").splitlines()
        found: dict[str, tuple[int, str]] = {}
        for line in lines:
            module, _, rest = line.partition("\t")
            found[module.rstrip("*")] = (module.count("*"), rest)
        return head, found

    def reread(self) -> None:
        """Forgets the parsed file, which has changed."""
        self.__dict__.pop("_lines", None)
        self._parsed.cache_clear()

    def versions(self) -> list[str]:
        """The sampled releases, oldest first."""
        return self._lines[0].split()

    def modules(self) -> list[str]:
        return list(self._lines[1])

    def open_modules(self) -> set[str]:
        return {module for module, (marks, _) in self._lines[1].items() if marks}

    def __contains__(self, module: str) -> bool:
        return module in self._lines[1]

    def __call__(self, module: str) -> ModuleNames:
        """The names of a module that `self` contains."""
        return self._parsed(module)

    @functools.cache  # noqa: B019
    def _parsed(self, module: str) -> ModuleNames:
        marks, text = self._lines[1][module]
        there, *groups = text.split("\t")
        gone: dict[str, str] = {}
        for group in groups:
            version, *names = group.split()
            gone.update(dict.fromkeys(names, version))
        return ModuleNames(frozenset(there.split()), gone, marks > 0, marks > 1)

    def split(self, qualified: str) -> tuple[str, str, str] | None:
        """The innermost known module of a dotted name, the name in it, and the rest; None for a module itself."""
        parts = qualified.split(".")
        for length in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:length])
            if module in self._lines[1]:
                return module, parts[length], ".".join(parts[length + 1 :])
        return None

    def what_became_of(self, qualified: str) -> str | None:
        """The fate of a name: "there", or the first sampled release that lacks the name; None if no release had it."""
        place = self.split(qualified)
        if place is None:
            return "there" if qualified in self._lines[1] else None
        names = self._parsed(place[0])
        return "there" if place[1] in names.there else names.gone.get(place[1])


known_names = _Table()
