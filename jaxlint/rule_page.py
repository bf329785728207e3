"""The page of a rule: what it finds, why it matters, an example, the fix."""

from __future__ import annotations

from jaxlint.finding import Severity
from jaxlint.registry import find_rule
from jaxlint.rule import Rule
from jaxlint.suppress import UNUSED_CODE, UNUSED_NAME, UNUSED_PAGE

_FIXES = {
    "safe": "`jaxlint fix` rewrites it.",
    "partly safe": "`jaxlint fix` rewrites some cases, `jaxlint fix --unsafe-fixes` more; review the change.",
    "unsafe": "`jaxlint fix --unsafe-fixes` rewrites it; review the change.",
}


def page_of(key: str) -> str:
    """The page of a code or name. Raises UnknownRule."""
    if key.upper() == UNUSED_CODE or key.lower() == UNUSED_NAME:
        return UNUSED_PAGE  # a code of the engine itself, in no rule pack
    return page(find_rule(key))


_ELSEWHERE = " (`warning` if it depends on a caller in another file, `info` if that caller is a test)"


_IN_PROJECTS = " (`info` in a file of a project, unless the program shows that it matters)"


def page(rule: type[Rule]) -> str:
    """The documentation of `rule` in Markdown."""
    lowered = rule.follows_calls and rule.severity is Severity.ERROR
    facts = f"Category `{rule.category}`, severity `{rule.severity}`{_ELSEWHERE if lowered else _IN_PROJECTS if rule.needs_whole_program else ''}."
    if rule.preview:
        facts += " In preview: runs only with `--preview`."
    if rule.fixable:
        facts += f" {_FIXES[rule.fixable]}"
    if rule.proven_by():
        facts += f" `jaxlint verify --transform {rule.proven_by()} PROGRAM` measures the gain."
    return f"# {rule.name} ({rule.code})\n\n{facts}\n\n{rule.documentation()}\n"
