"""From text to bytes, in the ways that editors, old systems and broken copies do."""

from __future__ import annotations

import re
from random import Random

COOKIES = (
    "# -*- coding: latin-1 -*-",
    "# coding: utf-8",
    "# vim: set fileencoding=cp1252 :",
    "# coding: utf-7",
    "# coding: utf-16",
    "# coding: rot13",
    "# coding: undefined",
    "# coding: unicode_escape",
    "# coding: raw_unicode_escape",
    "# coding: idna",
    "# coding: punycode",
    "# coding: hex",
    "# coding: shift_jis",
    "# coding: hz",
    "# coding: iso2022_jp",
    "# coding: euc_kr",
    "# coding: mbcs",
    "# coding: nonsense",
    "# coding: ../../etc/passwd",
    "# coding: utf_8_sig",
    "# coding: cp037",
    "# coding: " + "x" * 2000,
)
_CODECS = (
    "latin-1",
    "cp1252",
    "utf-16",
    "utf-16-le",
    "utf-32",
    "utf-8-sig",
    "utf-7",
    "shift_jis",
    "cp037",
    "iso2022_jp",
)


def plain(text: str) -> bytes:
    """UTF-8; what has no bytes there (a lone surrogate) goes in as it may."""
    return text.encode("utf-8", "surrogatepass")


def _cookie(rng: Random, text: str) -> bytes:
    line = rng.choice(COOKIES)
    name = re.search(r"coding[:=]\s*([-\w.]+)", line)
    text = f"{line}\n{text}" if rng.random() < 0.8 else f"\n{line}\n{text}"
    text = text.replace("x", rng.choice(("x", "\u00e9", "\u00df", "\u4e2d", "x")), 3)
    try:
        return text.encode(name[1] if name and rng.random() < 0.8 else "utf-8", "replace")
    except (LookupError, UnicodeError, ValueError):
        return plain(text)


def _codec(rng: Random, text: str) -> bytes:
    return text.encode(rng.choice(_CODECS), "replace")


def _ends(rng: Random, text: str) -> bytes:
    """All line ends of one other kind, or a mix."""
    mix = rng.choice(
        (
            ("\r\n",),
            ("\r",),
            ("\n", "\r\n", "\r"),
            ("\n", "\n", "\n", "\r"),
            ("\n", "\f\n", "\n\f"),
            ("\n", "\\\n"),
        )
    )
    return plain("".join(line.rstrip("\r\n") + rng.choice(mix) for line in text.splitlines(keepends=True)))


def _broken(rng: Random, text: str) -> bytes:
    """A few bytes put in, changed, or the file cut off in the middle of one."""
    data = bytearray(plain(text) or b"x")
    for _ in range(rng.choice((1, 1, 3))):
        place = rng.randrange(len(data))
        new = rng.choice(
            (
                b"\0",
                b"\xff",
                b"\xc3",
                b"\xed\xa0\x80",
                b"\xf4\x90\x80\x80",
                b"\xef\xbb\xbf",
                b"\x1a",
                b"\x1b[2J",
                b"\x7f",
            )
        )
        data[place : place + rng.choice((0, 1))] = new
    if rng.random() < 0.3:
        del data[rng.randrange(len(data)) :]
    return bytes(data)


def _last(rng: Random, text: str) -> bytes:
    """Without the last line end, or with something odd in its place."""
    return plain(
        text.rstrip("\n") + rng.choice(("", "\\", "\f", "\x1a", " \\\n", "\n\\", "#", "\r", "\n" * 300, "\t"))
    )


_WAYS = (_cookie, _codec, _ends, _ends, _broken, _last)


def encoded(rng: Random, text: str) -> tuple[bytes, str]:
    """The bytes, and the name of what was done."""
    way = rng.choice(_WAYS)
    return way(rng, text), way.__name__.lstrip("_")
