"""One case: a folder of files, and how the commands are called on it. The seed and the number of a case decide all of it."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from random import Random

from benchmarks.robustness import documents, encode, grown, seeds
from benchmarks.robustness.mutate import mutated, spliced

_BATCH = 25  # programs that Hypothesis is asked for at once
_KINDS = {
    "tokens": 46,
    "splice": 10,
    "encoding": 12,
    "grown": 14,
    "notebook": 6,
    "markdown": 5,
    "settings": 3,
    "project": 4,
}
_OPTIONS = (
    (),
    (),
    (),
    ("--severity", "info", "--preview"),
    ("--select", "ALL"),
    ("--target-jax", ">=0.10"),
    ("--target-jax", "0.4.30"),
    ("--report-unused-suppressions",),
)


@dataclass(frozen=True, slots=True)
class Case:
    """`name` is seed and number. `mutations` says what was done to which program."""

    name: str
    kind: str
    files: dict[str, bytes]
    mutations: tuple[str, ...]
    options: tuple[str, ...] = ()


def case(seed: int, number: int) -> Case:
    """The case of this number."""
    rng = Random(f"{seed}:{number}")
    kind = rng.choices(list(_KINDS), list(_KINDS.values()))[0]
    files, mutations = _MAKERS[kind](rng, seed, number)
    return Case(f"{seed}-{number}", kind, files, tuple(mutations), rng.choice(_OPTIONS))


_Made = tuple[dict[str, bytes], list[str]]


def _seed(rng: Random) -> str:
    return rng.choice(
        rng.choice((seeds.examples, seeds.examples, seeds.programs, seeds.programs, seeds.libraries))()
    ).text


def _tokens(rng: Random, seed: int, number: int) -> _Made:
    text, done = mutated(rng, _seed(rng))
    return {"program.py": encode.plain(text)}, done


def _splice(rng: Random, seed: int, number: int) -> _Made:
    text = spliced(rng, [_seed(rng) for _ in range(rng.choice((2, 2, 3)))])
    return {"program.py": encode.plain(text)}, ["splice"]


def _encoding(rng: Random, seed: int, number: int) -> _Made:
    text = _seed(rng)
    done: list[str] = []
    if rng.random() < 0.4:
        text, done = mutated(rng, text)
    data, way = encode.encoded(rng, text)
    return {"program.py": data}, [*done, way]


def _grown(rng: Random, seed: int, number: int) -> _Made:
    text, done = rng.choice(_batch(seed * 1_000_003 + number // (_BATCH * 7))), ["grown"]
    if rng.random() < 0.3:
        text, more = mutated(rng, text)
        done += more
    return {"program.py": encode.plain(text)}, done


@functools.lru_cache(4)
def _batch(seed: int) -> list[str]:
    return grown.drawn(seed, _BATCH)


def _notebook(rng: Random, seed: int, number: int) -> _Made:
    return {"notebook.ipynb": encode.plain(documents.notebook(rng, _seed(rng)))}, ["notebook"]


def _markdown(rng: Random, seed: int, number: int) -> _Made:
    text = encode.plain(documents.markdown(rng, _seed(rng)))
    return {rng.choice(("page.md", "page.qmd", "page.Rmd", "page.markdown")): text}, ["markdown"]


def _settings(rng: Random, seed: int, number: int) -> _Made:
    name = rng.choice(("pyproject.toml", "pyproject.toml", "jaxlint.toml"))
    text = documents.settings(rng)
    if name == "jaxlint.toml":
        text = text.partition("[tool.jaxlint]")[2]
    data = encode.plain(text) if rng.random() < 0.8 else encode.encoded(rng, text)[0]
    ignored = (
        {}
        if rng.random() < 0.7
        else {".gitignore": encode.plain(mutated(rng, "*.log\n!a\nbuild/\n**/x[a-z]\n")[0])}
    )
    return {name: data, "program.py": encode.plain(_seed(rng)), **ignored}, ["settings"]


def _project(rng: Random, seed: int, number: int) -> _Made:
    """Several modules that import each other, round in circles now and then."""
    names = [f"m{n}" for n in range(rng.choice((2, 3, 5)))]
    files = {"pyproject.toml": b"", "__init__.py": b""}
    done = []
    for name in names:
        text, more = _seed(rng), ["imports"]
        if rng.random() < 0.4:
            text, extra = mutated(rng, text)
            more += extra
        defined = re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE)
        other = rng.choice(names)
        line = rng.choice(
            (
                f"from {other} import *\n",
                f"import {other}\n",
                f"from . import {other}\n",
                f"from .{other} import f, x as y\n",
                f"from {other} import {', '.join(defined) or 'x'}\n",
            )
        )
        files[f"{name}.py"] = encode.plain(line + text if rng.random() < 0.7 else text + "\n" + line)
        done += more
    return files, done


_MAKERS = {
    "tokens": _tokens,
    "splice": _splice,
    "encoding": _encoding,
    "grown": _grown,
    "notebook": _notebook,
    "markdown": _markdown,
    "settings": _settings,
    "project": _project,
}
