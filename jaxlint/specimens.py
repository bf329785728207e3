"""The examples of a rule: program files beside the rule's module.

    rules/jaxlint_rules/transfer/host_sync_in_loop.py
    rules/jaxlint_rules/transfer/specimens/host-sync-in-loop/a-metric-in-the-loop.py
    rules/jaxlint_rules/transfer/specimens/host-sync-in-loop/a-metric-in-the-loop.fixed.py

The first line of a specimen is a comment with its name; the rest is the program. If a fix changes the program,
`.fixed.py` has the whole fixed file, with the same first line. Only tests and tools read specimens: `check` never
loads them.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from pathlib import Path

FOLDER = "specimens"
FIXED = ".fixed.py"


@dataclass(frozen=True, slots=True)
class Example:
    """An example program of a rule.

    The rule must report at lines that end in the comment `# finding`; a program without one must stay silent. `fixed`
    is the whole program after the rule's own fixes (unsafe ones included), if it has any.
    """

    name: str
    code: str
    fixed: str | None = None


class BadSpecimen(ValueError):
    """A file that is not a valid specimen; the message names it and the problem."""


class Specimens:
    """The default attribute `examples` of a rule: the specimens in its folder, read on first use."""

    def __get__(self, _: object, rule: type) -> tuple[Example, ...]:
        folder = folder_of(rule)
        return read(folder) if folder is not None else ()


def folder_of(rule: type) -> Path | None:
    """The folder of a rule's specimens; None for a class that is not a rule in a file, such as a base class without a
    name."""
    name = getattr(rule, "name", None)
    try:
        return Path(inspect.getfile(rule)).parent / FOLDER / name if name is not None else None
    except (OSError, TypeError):
        return None


@functools.cache
def read(folder: Path) -> tuple[Example, ...]:
    """The specimens of a folder, by the names of their files. Raises BadSpecimen."""
    texts = {path.name: _parts(path) for path in sorted(folder.glob("*.py"))}
    found = []
    for file, (name, code) in texts.items():
        if file.endswith(FIXED):
            if (original := texts.get(file.removesuffix(FIXED) + ".py")) is None or original[0] != name:
                raise BadSpecimen(f"{folder / file}: there is no program of that name that it was before")
            continue
        _, fixed = texts.get(file.removesuffix(".py") + FIXED, ("", None))
        found.append(Example(name, code, fixed))
    return tuple(found)


def text_of(name: str, code: str) -> str:
    """The text of a specimen's file."""
    return f"# {name}\n{code}"


def _parts(path: Path) -> tuple[str, str]:
    """The name of a specimen, and its program with unchanged line ends."""
    first, _, code = path.read_bytes().decode("utf-8").partition("\n")
    if not first.startswith("# "):
        raise BadSpecimen(f"{path}: the first line has to be a comment that names the program")
    return first.removeprefix("# "), code
