"""Lists as the Markdown of the site wants them: GitHub's knows what belongs to an item by the column of its text."""

from __future__ import annotations

import re


def indented_by_four(markdown: str) -> str:
    """What belongs to an item of a list, indented by four columns for each level: the site's Markdown knows it by that alone.

    An item that has several paragraphs ends with an empty line, or the next one would go on in its last.
    """
    lines: list[str] = []
    levels: list[
        tuple[int, int]
    ] = []  # where the text of the items around a line begins: as written, and as wanted
    several: set[int] = set()  # the levels whose item has an empty line
    fence = ""
    for line in markdown.split("\n"):
        bare = line.lstrip(" ")
        indent = len(line) - len(bare)
        ended = False
        while levels and bare and not fence and indent < levels[-1][0]:
            ended |= len(levels) in several
            several.discard(len(levels))
            levels.pop()
        if not bare:
            several |= {len(levels)} if levels else set()
            lines.append("")
            continue
        written, wanted = levels[-1] if levels else (0, 0)
        indent = max(indent - written, 0) + wanted
        item = None if fence else re.match(r"(?:[-*+]|\d+\.) +", bare)
        if item and ended and lines[-1]:
            lines.append("")
        lines.append(" " * indent + bare)
        if mark := re.match(r"```+|~~~+", bare):
            fence = "" if fence and bare.startswith(fence) else fence or mark[0]
        elif item:
            levels.append((len(line) - len(bare) + len(item[0]), indent + 4))
    return "\n".join(lines)
