"""Finds the rules: the built-in pack and anybody's own come in through one entry-point group."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable
from importlib.metadata import entry_points

from jaxlint.rule import Rule

GROUP = "jaxlint.rules"


class UnknownRule(Exception):
    """A rule was named that nobody registered."""


@functools.cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every registered rule class, sorted by code. An entry point is a callable that returns rule classes."""
    found: dict[str, type[Rule]] = {}
    for entry in entry_points(group=GROUP):
        for rule in entry.load()():
            found.setdefault(rule.code, rule)
    return tuple(found[code] for code in sorted(found))


def find_rule(key: str) -> type[Rule]:
    """The rule with this code or name. Raises UnknownRule with the nearest names."""
    for rule in all_rules():
        if key.upper() == rule.code or key.lower() == rule.name:
            return rule
    names = [rule.name for rule in all_rules()] + [rule.code for rule in all_rules()]
    close = difflib.get_close_matches(key, names, n=1)
    hint = f"; did you mean {close[0]}?" if close else "; `jaxlint rules` lists them"
    raise UnknownRule(f"there is no rule {key!r}{hint}")


def match_rules(selectors: Iterable[str]) -> set[str]:
    """Codes of the rules that the selectors name: a code, a code prefix ("JAX1"), a name, a category or "ALL"."""
    codes: set[str] = set()
    for selector in selectors:
        wanted = selector.strip()
        hits = {
            rule.code
            for rule in all_rules()
            if wanted.upper() == "ALL"
            or rule.code.startswith(wanted.upper())
            or wanted.lower() in (rule.name, rule.category)
        }
        if not hits:
            find_rule(wanted)  # raises with a suggestion
        codes |= hits
    return codes
