"""Writes the skeleton of a new rule: its module, with documentation in the fixed sections, and specimens to fill in.

python tools/new_rule.py slow-thing --category transfer
python tools/new_rule.py slow-thing --category transfer --event on_call --severity info
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from jaxlint import api
from jaxlint.finding import Severity
from jaxlint.registry import all_rules
from jaxlint.rule import CATEGORIES
from jaxlint.specimens import FOLDER as SPECIMENS
from jaxlint.specimens import text_of

FOLDER = Path(__file__).resolve().parent.parent / "rules" / "jaxlint_rules"
EVENTS = {
    match.group(1): cls
    for cls in vars(api).values()
    if isinstance(cls, type) and issubclass(cls, api.Event)
    if (match := re.match(r"`(on_\w+)`", cls.__doc__ or ""))
}
MODULE = '''\
"""TODO: the pattern, in one line."""

from __future__ import annotations

from jaxlint.api import {imports}
from jaxlint.finding import Severity


class {cls}(Rule):
    """TODO: what is wrong, in one sentence.

    ## What it does
    TODO: what is found, as the user would write it.

    ## Why is this bad?
    TODO: what it costs, or how it fails, with a figure that was measured.

    ## Example
    ```python
    TODO
    ```

    ## Use instead
    ```python
    TODO
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    TODO: where the pattern is right.

    ## References
    - [TODO](https://docs.jax.dev/)
    """

    code = "{code}"
    name = "{name}"
    category = "{category}"
    severity = Severity.{severity}
    preview = True  # until its findings in real code were read: docs/writing-rules.md

{concern}    def {method}(self, event: {event}, report: Reporter) -> None:
        # Early returns for all that is not meant; then say what is wrong, and why that is known.
        return
'''
PROGRAMS = {
    "reported.py": (
        "TODO: what is reported",
        """
import jax

@jax.jit
def f(x):
    return x  # finding
""",
    ),
    "silent.py": (
        "TODO: what looks like it, and is right",
        """
import jax

@jax.jit
def f(x):
    return x
""",
    ),
}


class BadRule(Exception):
    """The rule cannot be made as it was asked for; the message says why."""


def next_code(category: str) -> str:
    """The first free code after those of the category. Raises BadRule when its hundred is full."""
    used = {int(rule.code[3:]) for rule in all_rules()}
    own = [int(rule.code[3:]) for rule in all_rules() if rule.category == category]
    if not own:
        raise BadRule(f"{category} has no rules yet, and so no codes; name one with --code")
    code = max(own) + 1
    if code in used or code // 100 != max(own) // 100:
        raise BadRule(f"the codes of {category} after JAX{max(own)} are taken; name one with --code")
    return f"JAX{code}"


def skeleton(
    name: str, category: str, *, code: str = "", event: str = "on_call", severity: str = "warning"
) -> str:
    """The text of the module. Raises BadRule for names and codes that cannot be used."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise BadRule(f"{name!r} is no name of a rule; write it like `tracer-branch`")
    if any(rule.name == name for rule in all_rules()):
        raise BadRule(f"there is a rule {name} already")
    code = code or next_code(category)
    if not re.fullmatch(r"[A-Z]+\d{3,4}", code) or any(rule.code == code for rule in all_rules()):
        raise BadRule(f"{code} is taken, or no code; one looks like {next_code(category)}")
    narrowed = event in ("on_call", "on_name")
    return MODULE.format(
        imports=", ".join([*sorted(["Reporter", "Rule", EVENTS[event].__name__]), *["concerns"] * narrowed]),
        event=EVENTS[event].__name__,
        method=event,
        cls="".join(part.capitalize() for part in name.split("-")),
        code=code,
        name=name,
        category=category,
        severity=severity.upper(),
        concern='    @concerns("jax.TODO")\n' if narrowed else "",
    )


def write(name: str, category: str, folder: Path = FOLDER, **options: str) -> Path:
    """Writes the module into the folder of its category, and its specimens. Raises BadRule, also where one of them exists."""
    text = skeleton(name, category, **options)
    path = folder / category / f"{name.replace('-', '_')}.py"
    specimens = path.parent / SPECIMENS / name
    for taken in (path, specimens):
        if taken.exists():
            raise BadRule(f"{taken} exists already")
    specimens.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    for file, (title, code) in PROGRAMS.items():
        (specimens / file).write_text(text_of(title, code), encoding="utf-8")
    return path


def main() -> int:
    """Runs the command; 2 when the rule cannot be made."""
    parser = argparse.ArgumentParser(
        prog="python tools/new_rule.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", help="the pattern, in words with hyphens")
    parser.add_argument("--category", required=True, choices=CATEGORIES)
    parser.add_argument("--code", default="", help="[the next free one of the category]")
    parser.add_argument("--event", default="on_call", choices=sorted(EVENTS), help="[%(default)s]")
    parser.add_argument(
        "--severity", default="warning", choices=[str(s) for s in Severity], help="[%(default)s]"
    )
    options = parser.parse_args()
    try:
        path = write(
            options.name, options.category, code=options.code, event=options.event, severity=options.severity
        )
    except BadRule as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(
        f"{path}\n{path.parent / SPECIMENS / options.name}\nFill in what says TODO, then `make rules` writes its page. docs/writing-rules.md says how."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
