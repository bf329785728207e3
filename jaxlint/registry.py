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
    return tuple(found[code] for code in sorted(found, key=code_order))


def code_order(code: str) -> tuple[int, str]:
    """Sorts codes by their number: JAX999 comes before JAX1001."""
    return (len(code), code)


def in_group(code: str, prefix: str) -> bool:
    """Whether a code is of the group that a prefix names: "JAX1" is JAX101 to JAX199, "JAX10" is JAX1001 to JAX1099."""
    return prefix in (code, code[:-2], "JAX")


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
    """Codes of the rules that the selectors name: a code, a group of codes ("JAX1"), a name, a category or "ALL"."""
    codes: set[str] = set()
    for selector in selectors:
        wanted = selector.strip()
        hits = {
            rule.code
            for rule in all_rules()
            if wanted.upper() == "ALL"
            or in_group(rule.code, wanted.upper())
            or wanted.lower() in (rule.name, rule.category)
        }
        if not hits:
            find_rule(wanted)  # raises with a suggestion
        codes |= hits
    return codes
