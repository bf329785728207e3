"""The programs that mutants are made of: examples of the rules, the tests' programs, files of installed libraries of JAX."""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.marks import plain

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "flax",
    "optax",
    "equinox",
    "haiku",
    "chex",
    "lineax",
    "numpyro",
    "blackjax",
    "distrax",
    "treescope",
)
_LARGEST = 16_000  # characters; a larger file takes the time of several mutants and shows no more
_FOLDERS = ("tests/programs", "tests/adversarial", "fixtures", "benchmarks/optimise/programs")


@dataclass(frozen=True, slots=True)
class Seed:
    """A program, and where it is from."""

    origin: str
    text: str


@functools.cache
def examples() -> list[Seed]:
    """The examples of all rules. Those that a fix rewrites are there twice: fixes are what most of the properties are about."""
    from jaxlint.registry import all_rules

    found = []
    for rule in all_rules():
        for example in rule.examples:
            seed = Seed(f"{rule.code} {example.name}", plain(example.code))
            found += [seed, seed] if example.fixed is not None else [seed]
    return found


@functools.cache
def programs() -> list[Seed]:
    """The programs of the tests, the fixtures and the benchmarks, without their marks."""
    return [
        Seed(seed.origin, plain(seed.text, seed.origin))
        for folder in _FOLDERS
        for seed in _below(ROOT / folder, folder)
    ]


@functools.cache
def libraries() -> list[Seed]:
    """Files of the libraries of JAX that are installed here; another environment gives others."""
    found = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            found += _below(Path(folder), package)
    return found


def _below(folder: Path, name: str) -> list[Seed]:
    found = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_bytes().decode("utf-8", "replace")
        if 0 < len(text) <= _LARGEST:
            found.append(Seed(f"{name}/{path.relative_to(folder)}", text))
    return found
