"""Finds the rules: the built-in pack and third-party packs register through one entry-point group."""

from __future__ import annotations

import difflib
import functools
import importlib.util
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

from jaxlint.rule import Rule

GROUP = "jaxlint.rules"
BUILT_IN = "jaxlint_rules:rules"


class UnknownRule(Exception):
    """No registered rule has this name."""


class RulePackError(Exception):
    """A rule pack cannot be used: it does not load, provides something that is not a rule, or reuses another pack's
    code."""


@functools.cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every registered rule class, sorted by code. An entry point is a callable that returns rule classes.

    Raises RulePackError, with the name of the pack.
    """
    found: dict[str, type[Rule]] = {}
    for entry in packs():
        for rule in _rules_of(entry):
            if found.setdefault(rule.code, rule) is not rule:
                raise RulePackError(
                    f"the rule pack {_named(entry)} brings a rule {rule.code} ({rule.name}), a code that "
                    f"{found[rule.code].name} of {found[rule.code].__module__} has; give it another, or uninstall the pack"
                )
    return tuple(found[code] for code in sorted(found, key=code_order))


def packs() -> list[EntryPoint]:
    """The entry points of all packs, the built-in one first. It is there also where jaxlint was copied or put on the path,
    and no installer wrote down its entry points: without rules `verify` would find no edit."""
    found = list(entry_points(group=GROUP))
    built_in = EntryPoint("jaxlint", BUILT_IN, GROUP)
    if all(entry.value != BUILT_IN for entry in found) and importlib.util.find_spec(built_in.module):
        found.append(built_in)
    return sorted(found, key=lambda entry: entry.value != BUILT_IN)


def _rules_of(entry: EntryPoint) -> list[type[Rule]]:
    try:
        rules = list(entry.load()())
    except Exception as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise RulePackError(
            f"the rule pack {_named(entry)} does not load ({what}); fix or uninstall it"
        ) from error
    for rule in rules:
        if not (isinstance(rule, type) and issubclass(rule, Rule)):
            raise RulePackError(
                f"the rule pack {_named(entry)} gives {rule!r}, which is not a subclass of jaxlint.rule.Rule; fix or uninstall it"
            )
    return rules


def _named(entry: EntryPoint) -> str:
    package = f" of {entry.dist.name}" if entry.dist is not None else ""
    return f"`{entry.value}`{package}"


def code_order(code: str) -> tuple[int, str]:
    """Sorts codes by their number: JAX999 comes before JAX1001."""
    return (len(code), code)


def in_group(code: str, prefix: str) -> bool:
    """Whether a code belongs to the group of a prefix: "JAX1" is JAX101 to JAX199, "JAX10" is JAX1001 to JAX1099."""
    return prefix in groups_of(code)


def groups_of(code: str) -> tuple[str, str, str]:
    """The prefixes of all groups that contain a code, the code itself included."""
    return code, code[:-2], "JAX"


def find_rule(key: str) -> type[Rule]:
    """The rule with this code or name. Raises UnknownRule with the nearest names."""
    for rule in all_rules():
        if key.upper() == rule.code or key.lower() == rule.name:
            return rule
    names = [rule.name for rule in all_rules()] + [rule.code for rule in all_rules()]
    close = difflib.get_close_matches(key, names, n=1)
    hint = f"; did you mean {close[0]}?" if close else "; `jaxlint rules` lists them"
    raise UnknownRule(f"there is no rule {key!r}{hint}")


def help_address(code: str) -> str | None:
    """The address of a code's documentation; none for a code that is not a rule's, such as that of an unused
    suppression."""
    return next((rule.help_address() for rule in all_rules() if rule.code == code), None)


def match_rules(selectors: Iterable[str]) -> set[str]:
    """Codes of the rules that the selectors name: a code, a group of codes ("JAX1"), a name, a category or "ALL"."""
    codes: set[str] = set()
    for selector in selectors:
        hits = codes_of(selector)
        if not hits:
            find_rule(selector.strip())  # raises with a suggestion
        codes |= hits
    return codes


def codes_of(selector: str) -> frozenset[str]:
    """Codes of the rules that one selector names; empty if there are none."""
    return _selectors(all_rules()).get(selector.strip().lower(), frozenset())


@functools.cache
def _selectors(rules: tuple[type[Rule], ...]) -> dict[str, frozenset[str]]:
    """All selectors in lower case, with the codes that they mean."""
    codes: dict[str, set[str]] = {}
    for rule in rules:
        for name in (*groups_of(rule.code), rule.name, rule.category, "ALL"):
            codes.setdefault(name.lower(), set()).add(rule.code)
    return {name: frozenset(meant) for name, meant in codes.items()}
