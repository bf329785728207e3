"""Notebooks, Markdown pages and settings, whole and broken."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from benchmarks.robustness.mutate import mutated

_ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1e308,
    "",
    "x",
    [],
    {},
    [None],
    {"": {}},
    "\ud800",
    "# %%",
    [["a"]],
    10**400,
    "\x1b[31m",
)
_MAGICS = (
    "%matplotlib inline\n",
    "!pip install jax\n",
    "%%bash\nls\n",
    "%%time\n",
    "?jax\n",
    "jax?\n",
    "%",
    "!",
    "%%\n",
    "files = !ls\n",
    "%load_ext x\n",
)


def notebook(rng: Random, text: str) -> str:
    """The program in cells of a notebook, and its JSON changed in a few places."""
    lines = text.splitlines(keepends=True)
    cells: list[Any] = []
    while lines:
        count = rng.choice((1, 4, 12))
        source: Any = lines[:count]
        del lines[:count]
        if rng.random() < 0.3:
            source = [rng.choice(_MAGICS), *source]
        if rng.random() < 0.3:
            source = "".join(source)
        kind = rng.choice(("code", "code", "code", "markdown", "raw"))
        cell = {"cell_type": kind, "metadata": {}, "source": source}
        if kind == "code":
            cell |= {"outputs": [], "execution_count": None}
        cells.append(cell)
    whole: Any = {
        "cells": cells,
        "metadata": {"kernelspec": {"language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    for _ in range(rng.choice((0, 0, 1, 2, 4))):
        whole = _changed(rng, whole)
    written = json.dumps(whole, indent=rng.choice((None, 1, 1, 2)), ensure_ascii=rng.random() < 0.7)
    if rng.random() < 0.15:
        written = mutated(rng, written)[0]
    if rng.random() < 0.03:
        written = '{"cells":' * 3000 + written
    return written


def _changed(rng: Random, value: Any, depth: int = 0) -> Any:
    """One place in it replaced, left out or doubled."""
    if isinstance(value, dict) and value and (depth < 1 or rng.random() < 0.7):
        key = rng.choice(list(value))
        way = rng.random()
        if way < 0.15:
            return {name: item for name, item in value.items() if name != key}
        if way < 0.25:
            return {**value, rng.choice(("source", "cell_type", "x", "cells")): rng.choice(_ODD)}
        return {**value, key: _changed(rng, value[key], depth + 1)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        way = rng.random()
        if way < 0.1:
            return value[:place] + value[place + 1 :]
        if way < 0.2:
            return value[:place] + value[place : place + 1] * rng.choice((2, 30)) + value[place:]
        return [*value[:place], _changed(rng, value[place], depth + 1), *value[place + 1 :]]
    return rng.choice(_ODD)


def markdown(rng: Random, text: str) -> str:
    """The program in the blocks of a page, some of them not closed, indented, quoted or of other languages."""
    lines = text.splitlines(keepends=True)
    page: list[str] = ["# Page\n\n"]
    while lines:
        count = rng.choice((2, 6, 20))
        part = lines[:count]
        del lines[:count]
        fence = rng.choice(("```", "```", "```", "~~~", "````", "``", ":::"))
        word = rng.choice(
            (
                "python",
                "python",
                "py",
                "{code-cell}",
                "{python}",
                "jax",
                "",
                "python title='x'",
                "pycon",
                "{code-cell} ipython3",
            )
        )
        before = rng.choice(("", "", "", "> ", "    ", "- ", "\t"))
        if word == "pycon":
            part = [f">>> {line}" if rng.random() < 0.8 else f"... {line}" for line in part]
        page += [f"{before}{fence}{word}\n", *(before + line for line in part)]
        if rng.random() < 0.9:
            page.append(f"{before}{fence}\n")
        page.append(rng.choice(("\ntext\n\n", "", "<!-- jaxlint: off -->\n", "\\\n", "<div>\n", "---\n")))
    whole = "".join(page)
    return mutated(rng, whole)[0] if rng.random() < 0.3 else whole


_SETTINGS = (
    'select = ["JAX1"]',
    'ignore = ["ALL"]',
    'exclude = ["**/x", "!"]',
    'extend-include = ["*.pyi"]',
    'severity = "info"',
    'target-jax = ">=0.4,<0.7"',
    "preview = true",
    "respect-gitignore = false",
    'cache-dir = ".c"',
    "report-unused-suppressions = true",
    '[tool.jaxlint.per-file-ignores]\n"*.py" = ["JAX101"]',
)


def settings(rng: Random) -> str:
    """A pyproject.toml, most of them wrong somewhere."""
    lines = [
        "[project]",
        'name = "x"',
        'version = "1"',
        f'dependencies = ["jax{rng.choice((">=0.4", "==0.5", "", " @ x", "[cuda]~=0.6", "<"))}"]',
        "[tool.jaxlint]",
    ]
    lines += rng.sample(_SETTINGS, rng.choice((1, 2, 3, 4)))
    text = "\n".join(lines) + "\n"
    return mutated(rng, text)[0] if rng.random() < 0.7 else text
