"""json, yaml, toml and argparse: their sequences are lists, which jit does not take as static arguments."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.helpers.projects import expected, findings_in, reported

HEAD = """
import argparse
import functools
import json
import jax
import tomllib
import yaml

@functools.partial(jax.jit, static_argnames=("sizes",))
def scaled(x, sizes):
    return [x * size for size in sizes]

@functools.partial(jax.jit, static_argnums=1)
def to_the(x, power):
    return x if power else -x
"""

PROGRAMS = {
    "a part of a part of a document": """
        def load(x, text):
            options = yaml.safe_load(text)
            other = tomllib.loads(text)
            inner = options["net"]
            scaled(x, inner["sizes"])  # finding
            to_the(x, inner["power"])
            return scaled(x, tuple(other["sizes"]))
    """,
    "an attribute holds the document": """
        class Net:
            def __init__(self, options):
                self.options = options

            def run(self, x):
                return scaled(x, sizes=self.options["sizes"])  # finding

        def load(x, path):
            with open(path) as file:
                return Net(json.load(file)).run(x)
    """,
    "a known text": """
        options = json.loads('{"sizes": [1, 2], "power": 2, "none": null}')
        to_the(1.0, options["power"])
        to_the(1.0, options["sizes"])  # finding
        to_the(1.0, options["none"])
    """,
    "a text that is no document": """
        options = json.loads("{")
        scaled(1.0, options["sizes"])
    """,
    "classes for what a document holds": """
        options = json.loads('{"sizes": [1, 2]}', object_hook=tuple)
        scaled(1.0, options["sizes"])
    """,
    "options of several values": """
        parser = argparse.ArgumentParser()
        parser.add_argument("sizes", nargs="+", type=int)
        parser.add_argument("--known", nargs="*", type=int, default=[1])
        parser.add_argument("--pair", nargs=2, type=int, default=(1, 2))
        parser.add_argument("--single", nargs="?", type=int, required=True)
        args = parser.parse_args()
        scaled(1.0, args.sizes)  # finding
        scaled(1.0, args.known)  # finding
        scaled(1.0, args.pair)
        to_the(1.0, args.single)
        scaled(1.0, tuple(args.sizes))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_lists_are_no_static_arguments(name: str, tmp_path: Path) -> None:
    text = HEAD + textwrap.dedent(PROGRAMS[name]).replace(
        "# finding", "# finding: unhashable-static-argument"
    )
    files = {"program.py": text}
    assert reported(findings_in(tmp_path, files)) == expected(files)
