"""Time the parsers that read newer syntax than the running Python's, beside `ast`: `python -m benchmarks.parsers [FOLDER ...]`.

`check` parses with `ast`, and with `jaxlint.syntax.newer_grammar` what `ast` refuses. Each row is another parser on the same files, as a ratio to
`ast` in the same round: the files are given to all parsers in turn, in processor time, and the median over the rounds is shown with
its range. The last column is what a cold check of these files would take, were they all parsed by it: the check with its parse by `ast`
replaced. Parsers that are not installed are left out (`pip install tree-sitter tree-sitter-python`).
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib.util
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from benchmarks.corpora.present import table
from benchmarks.corpora.run import python_files
from jaxlint.config import load_config
from jaxlint.engine import check
from jaxlint.gc_pause import no_garbage_collection
from jaxlint.syntax.newer_grammar import parse_newer

OLD = (3, 11)  # of whose syntax `newer` is told that it is all there is, so that it goes its whole way

Parse = Callable[[str], object]


def with_positions(text: str) -> object:
    """libcst's tree with the place of each node, which an analysis asks for."""
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    return wrapper.resolve(PositionProvider)


@functools.cache
def _tree(text: str) -> ast.AST:
    return ast.parse(text)


def copied_tree(text: str) -> ast.AST:
    """The tree of `ast` made node by node from Python: what another parser's tree costs at least until rules can read it."""

    def copy(node: Any) -> Any:
        if isinstance(node, list):
            return [copy(one) for one in node]
        if not isinstance(node, ast.AST):
            return node
        fields = {name: copy(value) for name, value in ast.iter_fields(node)}
        return type(node)(**fields, **{name: getattr(node, name) for name in node._attributes})

    made: ast.AST = copy(_tree(text))
    return made


def tree_sitter_parsers() -> dict[str, Parse]:
    """tree-sitter's parse, and the same with each node visited once: the least that making another tree of it would take."""
    if not (importlib.util.find_spec("tree_sitter") and importlib.util.find_spec("tree_sitter_python")):
        return {}
    import tree_sitter  # type: ignore[import-not-found]
    import tree_sitter_python  # type: ignore[import-not-found]

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))

    def visited(text: str) -> int:
        cursor = parser.parse(text.encode()).walk()
        count = 0
        while True:
            node = cursor.node
            count += bool(node.type) + node.start_point[0] * 0 + node.end_point[0] * 0
            if cursor.goto_first_child() or cursor.goto_next_sibling():
                continue
            while cursor.goto_parent():
                if cursor.goto_next_sibling():
                    break
            else:
                return count

    named = f"tree-sitter {version('tree-sitter')}"
    return {
        f"{named}, bare parse": lambda text: parser.parse(text.encode()),
        f"{named}, each node visited from Python": visited,
    }


def parsers() -> dict[str, Parse]:
    """By what the table says of each; `ast` is the first."""
    return {
        "`ast`": ast.parse,
        "`jaxlint.syntax.newer_grammar` on every file": lambda text: parse_newer(text, OLD),
        f"libcst {version('libcst')}, bare parse": cst.parse_module,
        f"libcst {version('libcst')}, with positions": with_positions,
        **tree_sitter_parsers(),
        "no parser: the nodes of `ast` made from Python": copied_tree,
    }


def one_round(texts: Sequence[str], folders: Sequence[Path]) -> dict[str, float]:
    """Seconds by parser; those of a cold check under `check`."""
    spent = dict.fromkeys(known := parsers(), 0.0)
    with no_garbage_collection():
        for text in texts:
            for name, parse in known.items():
                start = time.process_time()
                parse(text)
                spent[name] += time.process_time() - start
    start = time.process_time()
    check(list(folders), load_config(list(folders)), use_cache=False)
    spent["check"] = time.process_time() - start
    return spent


def readable(folders: Sequence[Path]) -> list[str]:
    """The files that `ast` can parse, as all rows have to do the same work."""
    texts = []
    for path in (path for folder in folders for path in python_files(folder)):
        text = path.read_text(encoding="utf-8")
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        texts.append(text)
    return texts


def rows_of(rounds: Sequence[dict[str, float]]) -> list[list[str]]:
    first = next(iter(rounds[0]))
    rows = []
    for name in rounds[0]:
        if name == "check":
            continue
        ratios = [one[name] / one[first] for one in rounds]
        cold = [(one["check"] - one[first] + one[name]) / one["check"] for one in rounds]
        rows.append(
            [
                name,
                f"{statistics.median(ratios):.2f}",
                f"{min(ratios):.2f} to {max(ratios):.2f}",
                f"{statistics.median(cold):.2f}",
            ]
        )
    return rows


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.parsers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folders", nargs="*", type=Path, help="[the installed flax and optax]")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="[%(default)s]")
    options = parser.parse_args()
    folders = options.folders or [
        Path(found.origin).parent
        for name in ("flax", "optax")
        if (found := importlib.util.find_spec(name)) is not None and found.origin
    ]
    texts = readable(folders)
    for text in texts:
        _tree(text)  # which is no part of making it anew
    rounds = [one_round(texts, folders) for _ in range(options.rounds)]
    first = next(iter(rounds[0]))
    lines = sum(text.count("\n") for text in texts)
    print(
        f"{len(texts)} files of {', '.join(folder.name for folder in folders)}, {lines / 1000:.1f} kLOC, {options.rounds} rounds, "
        f"Python {platform.python_version()}: `ast` takes {statistics.median(one[first] for one in rounds):.2f} s, "
        f"a cold check {statistics.median(one['check'] for one in rounds):.2f} s of processor time.\n"
    )
    print(table(("parser", "of `ast`", "range", "a cold check with it"), rows_of(rounds)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
