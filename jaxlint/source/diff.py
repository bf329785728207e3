"""Unified diffs that `patch -p0` and `git apply -p0` accept."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from jaxlint.report.escaping import STEERING

# Letters of any script, and harmless characters between them.
_PLAIN_NAME = re.compile(rf'[^\\"{STEERING}\ud800-\udfff]+')
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def unified_diff(before: str, after: str, path: str, *, context: int = 3) -> str:
    """The diff from `before` to `after` of the file `path`; empty when they are equal."""
    return "".join(_diff_lines(before, after, path, context))


def _diff_lines(before: str, after: str, path: str, context: int) -> Iterator[str]:
    # Only "\n" ends a line here, as for `patch`: a carriage return or a form feed stays inside its line.
    name = quoted(path)
    lines = difflib.unified_diff(
        _LINE.findall(before), _LINE.findall(after), fromfile=name, tofile=name, n=context, lineterm="\n"
    )
    for line in lines:
        if line.endswith("\n"):
            yield line
        else:
            yield f"{line}\n\\ No newline at end of file\n"


def quoted(path: str) -> str:
    """The name as git writes it in a diff: a name with a line end or a quote must not start another file's part."""
    if _PLAIN_NAME.fullmatch(path) and not path.startswith('"'):
        return path
    escapes = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 92: "\\\\"}
    data = path.encode("utf-8", "surrogateescape" if _is_of_bytes(path) else "surrogatepass")
    plain = (escapes.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in data)
    return f'"{"".join(plain)}"'


def _is_of_bytes(path: str) -> bool:
    return all(not 0xD800 <= ord(one) <= 0xDFFF or 0xDC80 <= ord(one) <= 0xDCFF for one in path)
