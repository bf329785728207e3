"""Comparison of standard error between runs, without the noise of JAX and XLA."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxlint_runtime.rewrites.printed_output import first_difference

# Messages of XLA, absl and JAX about themselves.
_NOISE = re.compile(
    r"^(?:WARNING: All log messages before absl::InitializeLog"
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\.(?:cc|h|cpp):\d+\]"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF] "
    r"|(?:DEBUG|INFO|WARNING|ERROR):[-\d:, .]*jax(?:lib)?\b"
    r"|\S*site-packages/\S+:\d+: \w*Warning:)"
)
_ABSL = re.compile(r"^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (\S+?):\d+\]")
_WARNED = re.compile(r"^(\S+\.py):\d+: (\w*Warning: )")


def said_on_errors(text: str) -> str:
    """Error output without the messages of JAX, XLA and absl, and without line numbers, which an edit moves."""
    lines = []
    skipped = False
    for line in text.replace("\r\n", "\n").split("\n"):
        line = line.rpartition("\r")[2] if "\r" in line.rstrip("\r") else line
        if _NOISE.match(line):
            skipped = "Warning:" in line
            continue
        if skipped and line.startswith("  "):  # the source line in a warning
            skipped = False
            continue
        skipped = False
        if _WARNED.match(line):
            line = _WARNED.sub(r"\1: \2", line)
            skipped = True
        lines.append(_ABSL.sub(r"\1 \2]", line))
    return "\n".join(lines)


def other_errors(base: str, repeats: Sequence[str], found: str, *, coarse: bool = False) -> str | None:
    """How the error output differs beyond repetition and rounding; None if it does not."""
    texts = [said_on_errors(one) for one in (base, *repeats, found)]
    other = first_difference(texts[0], texts[1:-1], texts[-1], coarse=coarse)
    if other is None:
        return None
    if other.lines is not None:
        new, old = other.lines
        return f"it writes {new} line{'' if new == 1 else 's'} to stderr instead of {old}"
    return f"it writes {other.new[:80]!r} to stderr instead of {other.old[:80]!r}"
