"""What has to hold of one folder of files, whatever is in them. Runs in the process that the commands run in: see `worker`."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

_TRACEBACK = "Traceback (most recent call last)"
_FORMATS = ("full", "concise", "sarif", "github", "junit", "json")
_SAID = re.compile(r"(error|warning): \S|Usage: |Try '|undid the half-done")
_NUMBER = re.compile(r"\d+")
_QUOTED = re.compile(r"""`[^`]*`|'[^']*'|"[^"]*\"""")
_INTERNAL = re.compile(r"internal error \((?P<what>.*?)\); please report", re.DOTALL)
_COMMAND = re.compile(r"^(check|fix|unsafe fix)( as \w+| again)?: ")
_NOT_PARSED = re.compile(r"not fixed: (?P<what>.*would no longer parse.*)")


@dataclass(frozen=True, slots=True)
class Answer:
    """One call of the command line."""

    code: Any
    out: str
    err: str


@dataclass(slots=True)
class Judgement:
    """What was found: [kind, message] of each thing that does not hold, and what was counted."""

    failures: list[list[str]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def fail(self, kind: str, message: str) -> None:
        """Something does not hold."""
        self.failures.append([kind, message])

    def count(self, what: str, number: int = 1) -> None:
        """One more of these."""
        self.counts[what] = self.counts.get(what, 0) + number


def call(arguments: Sequence[str]) -> Answer:
    """The command line, in this process. What it raises, other than SystemExit, is in `err` as a traceback."""
    from jaxlint.cli import main

    kept = sys.stdout, sys.stderr
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in kept]
    sys.stdout, sys.stderr = streams
    code: Any = 0
    try:
        main(args=list(arguments), prog_name="jaxlint")
    except SystemExit as end:
        code = 0 if end.code is None else end.code
    except BaseException:
        code = "raised"
        streams[1].write(traceback.format_exc())
    finally:
        sys.stdout, sys.stderr = kept
    out, err = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in streams)  # type: ignore[attr-defined]
    return Answer(code, out, err)


def judge(options: Sequence[str], limited: Callable[[], Any], number: int = 0) -> Judgement:
    """`check` and `fix` of the current folder. `limited()` is a context in which one command runs, under its limits."""
    found = Judgement()
    with limited():
        plain = call(["check", "--no-cache", "--output-format", "json", *options, "."])
    _sound(found, "check", plain)
    findings = _findings(found, plain)
    found.count("findings", len(findings))
    found.count("refused files", int(plain.code == 2))
    kind = _FORMATS[number % len(_FORMATS)]
    if kind != "json" and number % 3 == 0:
        with limited():
            other = call(["check", "--no-cache", "--output-format", kind, *options, "."])
        _sound(found, f"check as {kind}", other)
        _well_formed(found, kind, other)
        if other.code != plain.code:
            found.fail("unsteady", f"exit code {plain.code} as json, {other.code} as {kind}")
    if any(finding.get("fix") for finding in findings) or number % 40 == 0:
        _fixes(found, options, limited, "fix", [])
        _fixes(found, options, limited, "unsafe fix", ["--unsafe-fixes"])
    return found


def _sound(found: Judgement, what: str, answer: Answer) -> None:
    """No crash, an exit code that means something, and lines on stderr that name what is wrong."""
    text = answer.err + answer.out
    if answer.code not in (0, 1, 2):
        found.fail("crash", f"{what}: exit code {answer.code}: {last_frames(answer.err)}")
    elif _TRACEBACK in text:
        found.fail("crash", f"{what}: {last_frames(text)}")
    for internal in _INTERNAL.finditer(text):
        found.fail("internal error", f"{what}: {internal['what'][:300]}")
    for refused in _NOT_PARSED.finditer(answer.out):
        if all(map(_libcst_reads, Path().rglob("*.py"))):  # else it is no wonder
            found.fail("unparsable edit", f"{what}: {refused['what'][:300]}")
    if "its fixes do not converge" in text:
        found.fail(
            "restless fix", f"{what}: {text[max(0, text.index('its fixes do not converge') - 80) :][:200]}"
        )
    if answer.code == 2 and not answer.err.strip():
        found.fail("silent failure", f"{what}: exit code 2, and nothing on stderr")
    for line in answer.err.splitlines() if answer.code in (0, 1, 2) else ():
        if line.strip() and not _SAID.match(line):
            found.fail("odd message", f"{what}: {line[:200]!r}")
            break
        if len(line) > 1200:
            found.fail("long message", f"{what}: {len(line)} characters: {line[:200]!r}")


def _libcst_reads(path: Path) -> bool:
    """Form feeds before an indentation, which Python reads, are one of the things that libcst does not."""
    import libcst

    from jaxlint.syntax.guard import nesting_problem

    try:
        data = path.read_bytes()
        if nesting_problem(data.decode("utf-8", "replace"), concrete=True):
            return False  # it would bring the interpreter down
        libcst.parse_module(data)
    except Exception:
        return False
    return True


def _findings(found: Judgement, answer: Answer) -> list[dict[str, Any]]:
    if answer.code not in (0, 1, 2) or (answer.code == 2 and not answer.out):
        return []
    try:
        findings = json.loads(answer.out)
    except ValueError as error:
        found.fail("bad report", f"json: {error}")
        return []
    return list(findings)


def _well_formed(found: Judgement, kind: str, answer: Answer) -> None:
    if not answer.out.strip() or answer.code not in (0, 1, 2):
        return
    try:
        if kind == "sarif":
            json.loads(answer.out)
        elif kind == "junit":
            ElementTree.fromstring(answer.out)
        elif kind == "github":
            odd = [line for line in answer.out.splitlines() if line and not line.startswith("::")]
            if odd:
                raise ValueError(f"a line is no command: {odd[0][:120]!r}")
    except (ValueError, ElementTree.ParseError) as error:
        found.fail("bad report", f"{kind}: {error}")


def _fixes(
    found: Judgement, options: Sequence[str], limited: Callable[[], Any], what: str, more: list[str]
) -> None:
    """Fix, then fix again: the results parse, keep their comments' number, and come to rest."""
    before = _read()
    with limited():
        answer = call(["fix", "--no-cache", *more, *options, "."])
    _sound(found, what, answer)
    after = _read()
    if set(after) != set(before):
        found.fail("stray file", f"{what}: {sorted(set(after) ^ set(before))}")
    changed = [path for path in before if after.get(path) != before[path]]
    made = re.search(r"^Fixed (\d+) finding", answer.out, re.MULTILINE)
    found.count(f"{what}es applied", int(made[1]) if made else 0)
    found.count("files rewritten", len(changed))
    for path in changed:
        problem = _unreadable(path, before[path], after.get(path, b""))
        if problem:
            found.fail("broken result", f"{what}: {path}: {problem}")
    if bool(changed) != bool(made):
        found.fail(
            "unsteady",
            f"{what}: says {'it fixed something' if made else 'nothing was fixed'}; changed: {changed}",
        )
    if not changed:
        return
    with limited():
        again = call(["fix", "--no-cache", *more, *options, "."])
    _sound(found, f"{what} again", again)
    last = _read()
    if last != after:
        different = [path for path in after if last.get(path) != after[path]]
        found.fail("not idempotent", f"{what}: {different}: {again.out[:300]}")


def _read() -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in sorted(Path().rglob("*"))
        if path.is_file() and ".jaxlint_cache" not in path.parts
    }


def _not_python(data: bytes) -> str:
    """Why this Python does not parse it; "" where it does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return ""


def _unreadable(path: str, before: bytes, after: bytes) -> str | None:
    """Why the new text is none, or has lost something that no fix may touch: its byte-order mark, its encoding, its kind of lines."""
    if path.endswith(".py"):
        problem = _not_python(after)
        if problem and not _not_python(
            before
        ):  # syntax newer than this Python, and lines of notebooks, were there before
            return f"does not parse: {problem}"
        if before.startswith(b"\xef\xbb\xbf") != after.startswith(b"\xef\xbb\xbf"):
            return "its byte-order mark"
        if (
            b"\n" not in before.replace(b"\r\n", b"")
            and b"\r\n" in before
            and b"\n" in after.replace(b"\r\n", b"")
        ):
            return "its line ends were all CRLF"
    elif path.endswith(".ipynb"):
        try:
            old, new = (json.loads(data.decode("utf-8-sig", "surrogatepass")) for data in (before, after))
        except ValueError as error:
            return f"no JSON: {error}"
        strip = lambda value: [{k: v for k, v in cell.items() if k != "source"} for cell in value["cells"]]  # noqa: E731
        try:
            if strip(old) != strip(new):
                return "something other than the source of its cells changed"
        except (TypeError, AttributeError, KeyError):
            return None
    return None


def last_frames(text: str) -> str:
    """The innermost places of a traceback and its last line."""
    frames = re.findall(r'File "([^"]*)", line (\d+), in (\S+)', text)
    where = " < ".join(
        f"{os.path.basename(path)}:{line} {name}" for path, line, name in reversed(frames[-3:])
    )
    lines = [line for line in text.splitlines() if line.strip()]
    return f"{lines[-1][:200] if lines else 'no message'} ({where})"


def signature(kind: str, message: str) -> str:
    """What failures of one cause have in common: the message without its command, numbers and quoted source."""
    message = _COMMAND.sub("", message)
    if kind == "hang":  # wherever the trace was taken, but for the outermost place
        message = message.rpartition(" < ")[2]
    return f"{kind}: {_NUMBER.sub('N', _QUOTED.sub('..', ' '.join(message.split())))[:160]}"
