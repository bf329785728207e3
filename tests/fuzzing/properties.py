"""What has to hold of every fix, as functions over sources: for tests, for the fuzzer and for the figures in benchmarks.

Each function gives what does not hold, in words; an empty list where all is well.
"""

from __future__ import annotations

import io
import random
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.edited_file import lost_comments
from jaxlint.config import Config
from jaxlint.engine import severe_enough
from jaxlint.examine import Examination, Outcome, resolved
from jaxlint.finding import Finding, Fix, Safety
from jaxlint.fixes import Check, FixResult, fix_sources
from jaxlint.gc_pause import no_garbage_collection
from jaxlint.registry import all_rules
from jaxlint.rule import Example, Rule
from jaxlint.source import SourceFile, source_from_bytes
from jaxlint.source.write import encode_text
from jaxlint.syntax.parse import parse_source, split_lines
from tests.helpers.marks import plain

_LINE_END = re.compile(r"\r\n|\r|\n")
_KEPT = 50  # sources whose findings a checker keeps


class Checker:
    """What `check` and `fix` find with all rules that are on by default; `target_jax` as on the command line.

    A `lenient` one passes over the files that cannot be examined.
    """

    def __init__(
        self,
        target_jax: str | None = None,
        rules: Sequence[type[Rule]] | None = None,
        *,
        lenient: bool = False,
    ) -> None:
        self.lenient = lenient
        self.config = Config(Path.cwd(), target_jax=target_jax)
        self.rules = list(rules) if rules is not None else self.config.rules()
        self.found: dict[object, list[Finding]] = {}

    def __call__(self, sources: Mapping[str, SourceFile]) -> list[Finding]:
        """As they come from the rules. Raises SourceError. Sources that were checked before are not checked again."""
        key = tuple((name, one.display, one.text, one.encoding, one.bom) for name, one in sources.items())
        if key not in self.found:
            if len(self.found) >= _KEPT:
                del self.found[next(iter(self.found))]
            self.found[key] = self.check(sources)
        return list(self.found[key])

    def check(self, sources: Mapping[str, SourceFile]) -> list[Finding]:
        outcome = Examination(list(sources.values()), (), self.rules, self.config).run()
        if outcome.errors and not self.lenient:
            raise outcome.errors[0]
        return severe_enough(outcome.findings, self.config)

    def shown(self, sources: Mapping[str, SourceFile]) -> list[Finding]:
        """As `check` shows them: each fix worked out, or the reason why there is none."""
        return resolved(Outcome(self(sources)), sources)

    def fixed(
        self, sources: Mapping[str, SourceFile], *, unsafe: bool = True, check: Check | None = None
    ) -> FixResult:
        with no_garbage_collection():
            return fix_sources(sources, check or self, unsafe=unsafe)


def one_file(code: str | bytes, name: str = "program.py") -> dict[str, SourceFile]:
    data = code.encode() if isinstance(code, str) else code
    return {name: source_from_bytes(data, Path(name), name)}


def examples() -> list[tuple[type[Rule], Example]]:
    """The specimens of all rules, without the marks of their findings."""
    return [
        (rule, Example(example.name, plain(example.code), example.fixed))
        for rule in all_rules()
        for example in rule.examples
    ]


# What has to hold


def problems(sources: Mapping[str, SourceFile], checker: Checker, *, unsafe: bool = True) -> list[str]:
    """Everything below, for one program."""
    before = checker(sources)
    result = fix_sources(sources, _first(before, checker), unsafe=unsafe)
    return [
        *not_kept(sources, result),
        *not_at_rest(result, checker, unsafe=unsafe),
        *contradictions(result, checker),
        *(f"new: {one}" for one in new_findings(before, result.remaining)),
    ]


def _first(findings: Sequence[Finding], checker: Checker) -> Check:
    """The checker, with what it says the first time."""
    waiting = [findings]
    return lambda sources: waiting.pop() if waiting else checker(sources)


def not_kept(sources: Mapping[str, SourceFile], result: FixResult) -> list[str]:
    """Comments, first lines, line ends and encoding stay, and the result parses."""
    found = [f"{error.path}: {error.message}" for error in result.errors]
    found += [
        f"{one.finding.code}: {one.reason}"
        for one in result.refused
        if "internal error" in one.reason or "parse" in one.reason
    ]
    for path in result.texts:
        before, after = sources[path], result.sources[path]
        meant = [one for one in result.applied if one.code == "JAX001"]
        lost = lost_comments(before.text, after.text)
        if lost and not meant:
            found.append(f"{path}: lost {dict(lost)}")
        if header(before.text) != header(after.text):
            found.append(f"{path}: its first lines were {header(before.text)}, are {header(after.text)}")
        new = set(_LINE_END.findall(after.text)) - set(_LINE_END.findall(before.text))
        if new and _LINE_END.search(before.text):
            found.append(f"{path}: ends lines in {new}")
        again = source_from_bytes(encode_text(before, after.file_text), before.path, path)
        if (again.text, again.encoding, again.bom) != (after.text, before.encoding, before.bom):
            found.append(f"{path}: is another text when it is read again")
        parse_source(after)
        cst.parse_module(after.text)
    return found


def header(text: str) -> list[str]:
    """The comments before any code: a `#!` line, an encoding, a licence."""
    lines = split_lines(text.removeprefix("\ufeff"))
    found = []
    for line in lines:
        bare = line.strip()
        if bare and not bare.startswith("#"):
            break
        if bare:
            found.append(bare)
    return found


def not_at_rest(result: FixResult, checker: Checker, *, unsafe: bool = True) -> list[str]:
    """A second run changes nothing."""
    again = checker.fixed(result.sources, unsafe=unsafe)
    # A fix that was refused as it would never rest is tried again, and refused again.
    return [f"{path}: a second run changes it" for path in again.texts]


def contradictions(result: FixResult, checker: Checker) -> list[str]:
    """What `check` says of the fixes of a file that `fix` has left, against what `fix` says of them."""
    refused = {id(one.finding): one.reason for one in result.refused}
    held_back = {id(one.finding) for one in result.held_back}
    found = []
    shown = resolved(Outcome(list(result.remaining)), result.sources)
    for left, finding in zip(result.remaining, shown, strict=True):
        reason = refused.get(id(left))
        said = finding.data.get("fix_refused")
        offered = finding.fix.safety if isinstance(finding.fix, Fix) else None
        if left.fix is None:
            agreed = offered is None and said is None and reason is None
        elif id(left) in held_back:
            agreed = offered is Safety.UNSAFE
        else:
            agreed = reason is not None and (said == reason or _is_about_rounds(reason))
        if not agreed:
            found.append(
                f"{finding.code} at line {finding.span.line}: check offers {offered}, says {said!r}; "
                f"fix says {reason!r}{' and waits to be asked' if id(left) in held_back else ''}"
            )
    return found


def each_fix_alone(sources: Mapping[str, SourceFile], checker: Checker) -> list[str]:
    """What each fix brings when it is the only one that is made, as an editor makes it."""
    before = checker(sources)
    workspace = Workspace(sources)
    fixable = [(one, one.fix) for one in before if one.fix is not None]
    found = []
    for (finding, _), proposal in zip(fixable, workspace.proposals([fix for _, fix in fixable]), strict=True):
        if proposal.plan is not None:
            after = checker({**sources, **workspace.edited([proposal.plan])})
            found += [
                f"{finding.code} at line {finding.span.line} brings {new}"
                for new in new_findings(before, after)
            ]
    return found


def _is_about_rounds(reason: str) -> bool:
    """Whether fixes were refused for what they do to each other, which no single finding tells."""
    return "undo each other" in reason or "not converge" in reason or "it would cause" in reason


Kind = tuple[str, str, str | None]
# What a fix may lead to, and from what. A removed name fails; where the one that took its place is on its way out as well
# and has no successor to write, the program runs and the rest is said.
LEADS_ON = {"JAX902": "JAX901"}


def new_findings(before: Iterable[Finding], after: Iterable[Finding], *, led_on: bool = False) -> list[Kind]:
    """The findings, by file, rule and function, of which there are more than before. `led_on`: but for those of `LEADS_ON`."""

    def kinds(findings: Iterable[Finding]) -> Counter[Kind]:
        return Counter((one.path, one.code, one.function) for one in findings)

    was, now = kinds(before), kinds(after)
    found = now - was
    for (path, code, function), count in list(found.items()) if led_on else ():
        earlier = LEADS_ON.get(code)
        if earlier is not None and (was - now)[path, earlier, function] >= count:
            del found[path, code, function]
    return sorted(found.elements(), key=str)


# Programs as people write them


@dataclass(frozen=True)
class Spelling:
    """How the bytes of a file are written."""

    newline: str = "\n"
    encoding: str = "utf-8"
    bom: bool = False
    tabs: bool = False
    form_feeds: bool = False
    last_newline: bool = True

    def bytes_of(self, code: str) -> bytes:
        text = code
        if self.tabs:
            text = re.sub(r"^(?: {4})+", lambda m: "\t" * (len(m[0]) // 4), text, flags=re.MULTILINE)
        if self.form_feeds:
            text = re.sub(r"\n\n\n(?=\S)", "\n\n\n\x0c", text)
        if self.encoding != "utf-8":
            text = f"# -*- coding: {self.encoding} -*-\n# caf\xe9\n{text}"
        if not self.last_newline:
            text = text.rstrip("\n")
        data = text.replace("\n", self.newline).encode(self.encoding)
        return b"\xef\xbb\xbf" + data if self.bom else data


SPELLINGS = (
    Spelling(),
    Spelling(newline="\r\n", bom=True),
    Spelling(newline="\r", last_newline=False),
    Spelling(newline="\r\n", encoding="latin-1", tabs=True),
    Spelling(newline="\r", form_feeds=True, tabs=True),
    Spelling(form_feeds=True, last_newline=False, bom=True),
    Spelling(newline="\r", encoding="latin-1"),
)


def sprinkled(code: str, seed: int, share: float = 1.0) -> str:
    """`code` with a comment at the end of lines, above statements, below decorators and between arguments; a header on top.

    `share` is how many of the places get one.
    """
    draw = random.Random(seed)
    count = 0

    def comment() -> str:
        nonlocal count
        count += 1
        return f"# c{count}: " + draw.choice(["why", "a b", "(x,", "'s", '"""', "# twice", "\\", "1_000"])

    lines = code.split("\n")
    ends: dict[int, list[tuple[int, str]]] = {}  # by line: what is put in at which column
    above: dict[int, str] = {}
    depth, begins = 0, True
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        row = token.start[0]
        if token.type in (tokenize.NEWLINE, tokenize.NL) and draw.random() < share and lines[row - 1].strip():
            if "#" not in lines[row - 1]:
                ends.setdefault(row, []).append((len(lines[row - 1]), f"  {comment()}"))
        if token.type == tokenize.NEWLINE:
            begins = True
            continue
        if token.type in (
            tokenize.NL,
            tokenize.COMMENT,
            tokenize.INDENT,
            tokenize.DEDENT,
            tokenize.ENDMARKER,
        ):
            continue
        if begins and depth == 0 and draw.random() < share:
            before = lines[row - 1][: token.start[1]]
            if not before.strip():
                above[row] = before + comment()
        begins = False
        if token.string in ("(", "[", "{"):
            depth += 1
        elif token.string in (")", "]", "}"):
            depth -= 1
        elif token.string == "," and depth and draw.random() < share / 2 and not _in_text(lines[row - 1]):
            rest = lines[row - 1][token.end[1] :]
            if rest.strip():
                ends.setdefault(row, []).append((token.end[1], f"  {comment()}\n        "))
    for row, puts in ends.items():
        for column, text in sorted(puts, reverse=True):
            lines[row - 1] = lines[row - 1][:column] + text + lines[row - 1][column:].lstrip(" ")
    result = "\n".join(f"{above[row]}\n{line}" if row in above else line for row, line in enumerate(lines, 1))
    return f"# Copyright of a header\n# {comment()}\n{result}"


def _in_text(line: str) -> bool:
    """Whether a comma of the line may stand in a string, in which newer tokenizers see none."""
    return bool(re.search(r"""[fF][rR]?['"]""", line))
