"""Mutations of source text. Each takes a random generator and pieces of text (`lexemes.split`), and changes the list in place."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Sequence
from random import Random

from benchmarks.robustness.lexemes import kinds, split

Pieces = list[str]

_WORDS = (  # noqa: SIM905
    "def class return yield await async lambda global nonlocal if else elif for while try except finally with as match case "
    "None True False not in is and or jax jnp np lax jit vmap grad scan self cls x del import from raise assert print _ pass "
    "break continue type int float donate_argnums static_argnames range len zip list dict tuple"
).split()
_PIECES = (
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "=",
    ":=",
    "*",
    "**",
    "@",
    ".",
    "...",
    "->",
    ";",
    "\\",
    "`",
    "!",
    "$",
    "?",
)
_NUMBERS = ("0", "-1", "1e999", "0x", "1_000", "10**9", "1j", "9" * 5000, "0o8", "2**63", "nan")
_STRINGS = (
    "''",
    '""',
    "f'{x'",
    "f'{x!r:>{n}}'",
    "b'\\xff'",
    "'\\N{DASH}'",
    "'''",
    '"',
    "rb'\\'",
    "f'{f\"{x}\"}'",
    "'\\ud800'",
)
_SPACES = (
    "\f",
    "\t",
    "\v",
    "\x0c\n",
    "\r",
    "\r\n",
    "\u2028",
    "\u00a0",
    "\x1c",
    "\x85",
    "\ufeff",
    "\u200b",
    "\u202e",
    "\n" * 50,
)


def delete(rng: Random, pieces: Pieces) -> None:
    """Leave out a few neighbours."""
    place = rng.randrange(len(pieces))
    del pieces[place : place + rng.choice((1, 1, 1, 2, 5, 20))]


def duplicate(rng: Random, pieces: Pieces) -> None:
    """Repeat some neighbours, now and then very often."""
    place = rng.randrange(len(pieces))
    part = pieces[place : place + rng.choice((1, 2, 5, 20))]
    pieces[place:place] = part * rng.choice((1, 1, 1, 2, 3, 60))


def swap(rng: Random, pieces: Pieces) -> None:
    """Exchange two pieces."""
    one, other = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    pieces[one], pieces[other] = pieces[other], pieces[one]


def swap_alike(rng: Random, pieces: Pieces) -> None:
    """Exchange two pieces of a kind: what comes of it often parses."""
    places = rng.choice(list(kinds(pieces).values()) or [[0]])
    one, other = rng.choice(places), rng.choice(places)
    pieces[one], pieces[other] = pieces[other], pieces[one]


def rename(rng: Random, pieces: Pieces) -> None:
    """Give one name, or one operator, the place of another everywhere."""
    found = kinds(pieces)
    places = found.get(rng.choice(("word", "word", "operator"))) or [0]
    old, new = pieces[rng.choice(places)], pieces[rng.choice(places)]
    pieces[:] = [new if piece == old else piece for piece in pieces]


def insert(rng: Random, pieces: Pieces) -> None:
    """Put in a word, a number, a string or a space from the lists of troublesome ones."""
    choice = rng.choice((_WORDS, _WORDS, _PIECES, _NUMBERS, _STRINGS, _SPACES))
    pieces.insert(rng.randrange(len(pieces) + 1), rng.choice(choice))


def replace(rng: Random, pieces: Pieces) -> None:
    """Put one of those in the place of a piece."""
    places = [place for several in kinds(pieces).values() for place in several] or [0]
    pieces[rng.choice(places)] = rng.choice(rng.choice((_WORDS, _NUMBERS, _STRINGS, _PIECES)))


def move_line(rng: Random, pieces: Pieces) -> None:
    """Take a few lines to another place, with that place's indentation or their own."""
    lines = "".join(pieces).splitlines(keepends=True)
    if len(lines) < 3:
        return
    place = rng.randrange(len(lines))
    count = rng.choice((1, 1, 2, 4))
    part = lines[place : place + count]
    if rng.random() < 0.7:
        del lines[place : place + count]
    target = rng.randrange(len(lines) + 1)
    if rng.random() < 0.7 and target < len(lines):
        wanted = lines[target][: len(lines[target]) - len(lines[target].lstrip(" \t"))]
        own = part[0][: len(part[0]) - len(part[0].lstrip(" \t"))]
        part = [wanted + line[len(own) :] if line.startswith(own) else line for line in part]
    lines[target:target] = part
    pieces[:] = split("".join(lines))


def truncate(rng: Random, pieces: Pieces) -> None:
    """Keep the beginning or the end."""
    place = rng.randrange(len(pieces))
    pieces[:] = pieces[:place] if rng.random() < 0.7 else pieces[place:]


def wrap(rng: Random, pieces: Pieces) -> None:
    """Put brackets, a lambda or a call of a transformation around a few pieces, one or many times."""
    place = rng.randrange(len(pieces))
    end = min(len(pieces), place + rng.choice((1, 1, 3, 8)))
    times = rng.choice((1, 1, 2, 5, 40, 210))
    before, after = rng.choice(
        (
            ("(", ")"),
            ("[", "]"),
            ("jax.jit(", ")"),
            ("(lambda: ", ")()"),
            ("f'{", "}'"),
            ("not ", ""),
            ("{**", "}"),
        )
    )
    pieces[end:end] = [after] * times
    pieces[place:place] = [before] * times


def comment(rng: Random, pieces: Pieces) -> None:
    """A comment at the end of a line, some of which jaxlint reads."""
    ends = [place for place, piece in enumerate(pieces) if piece.startswith(("\n", "\r"))] or [len(pieces)]
    text = rng.choice(
        (
            "# c",
            "# jaxlint: ignore",
            "# jaxlint: ignore[JAX1",
            "# noqa",
            "# type: ignore",
            "# \u00e9\u4e2d",
            "# -*- coding: latin-1 -*-",
        )
    )
    pieces.insert(rng.choice(ends), "  " + text)


def nest(rng: Random, pieces: Pieces) -> None:
    """Indent the end of the text under new headers."""
    lines = "".join(pieces).splitlines(keepends=True)
    place = rng.randrange(len(lines) + 1) if lines else 0
    depth = rng.choice((1, 1, 2, 6, 25, 110))
    headers = (
        "if x:",
        "for i in range(3):",
        "while x.any():",
        "def f(x):",
        "class C:",
        "with open(x) as f:",
        "try:",
        "async def g():",
    )
    indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())] if place < len(lines) else ""
    added = [f"{indent}{' ' * level}{rng.choice(headers)}\n" for level in range(depth)]
    rest = [" " * depth + line for line in lines[place:]] or [f"{indent}{' ' * depth}pass\n"]
    pieces[:] = split("".join([*lines[:place], *added, *rest]))


MUTATIONS: tuple[Callable[[Random, Pieces], None], ...] = (
    delete,
    duplicate,
    swap,
    swap_alike,
    swap_alike,
    swap_alike,
    rename,
    rename,
    insert,
    replace,
    move_line,
    move_line,
    truncate,
    wrap,
    comment,
    comment,
    nest,
)


def mutated(rng: Random, text: str) -> tuple[str, list[str]]:
    """`text` after some mutations, and their names. Two in three are drawn again, a few times, until they parse."""
    wanted = rng.random() < 0.67
    result = _mutated(rng, text)
    for _ in range(6):
        if not wanted or _parses(result[0]):
            break
        result = _mutated(rng, text)
    return result


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _mutated(rng: Random, text: str) -> tuple[str, list[str]]:
    pieces = split(text)
    done = []
    for _ in range(rng.choice((1, 1, 2, 3, 4, 8))):
        if not pieces:
            break
        mutation = rng.choice(MUTATIONS)
        mutation(rng, pieces)
        done.append(mutation.__name__)
        if len(pieces) > 60_000:
            del pieces[60_000:]
    return "".join(pieces), done


def spliced(rng: Random, texts: Sequence[str]) -> str:
    """Lines of several programs: one after the other, or changing over from line to line."""
    blocks = [text.splitlines(keepends=True) for text in texts]
    if rng.random() < 0.5:
        return "".join(line for block in blocks for line in block[: rng.randrange(len(block) + 1)])
    result: list[str] = []
    while any(blocks):
        block = rng.choice([block for block in blocks if block])
        count = rng.choice((1, 3, 10, 40))
        result += block[:count]
        del block[:count]
    return "".join(result)
