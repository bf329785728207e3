"""Links of the built site that lead nowhere: to a page, a file or an anchor that it does not have.

mkdocs checks the links of Markdown. This checks what a browser gets, so that links in HTML, pictures, scripts and generated pages count as well.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
import urllib.parse
from pathlib import Path

_TAG = re.compile(r"<[a-z][a-z0-9]*\s[^<>]*>")
_ATTRIBUTE = re.compile(r'\s(href|src|id|name)="([^"]*)"')
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//")


def _attributes(page: str) -> tuple[list[str], set[str]]:
    """What a page links to, and its anchors."""
    links, anchors = [], {"", "__top"}
    for tag in _TAG.finditer(page):
        for name, value in _ATTRIBUTE.findall(tag[0]):
            if name in ("href", "src"):
                links.append(html.unescape(value))
            else:
                anchors.add(html.unescape(value))
    return links, anchors


def _examples(site: Path) -> set[str]:
    """The anchors of the playground, which its script reads."""
    file = site / "playground" / "examples.json"
    return {f"rule={one['rule']}" for one in json.loads(file.read_bytes())} if file.exists() else set()


def broken_links(site: Path) -> list[str]:
    """A line for each link that leads nowhere: the page, and the link as it stands there."""
    pages = {
        path.relative_to(site).as_posix(): _attributes(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
    for name, (_, anchors) in pages.items():
        if name == "playground/index.html":
            anchors |= _examples(site)
    broken = []
    for name, (links, _) in pages.items():
        for link in dict.fromkeys(links):
            if _ELSEWHERE.match(link):
                continue
            path, _, anchor = link.partition("#")
            target = name
            if path:
                base = "" if path.startswith("/") else posixpath.dirname(name)
                path = urllib.parse.unquote(path.partition("?")[0]).lstrip("/")
                target = posixpath.normpath(posixpath.join(base, path))
                if (site / target).is_dir():
                    target = posixpath.normpath(f"{target}/index.html")
            known = anchor == "" or target not in pages or urllib.parse.unquote(anchor) in pages[target][1]
            if target.startswith("../") or not (site / target).is_file() or not known:
                broken.append(f"{name}: {link}")
    return broken
