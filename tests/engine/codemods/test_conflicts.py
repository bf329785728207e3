"""Fixes that are chosen together exclude each other in no pair."""

from __future__ import annotations

import ast
import random
import time
from pathlib import Path
from typing import Any, cast

from jaxlint.codemods.conflicts import ChosenChanges
from jaxlint.codemods.registry import Draft
from jaxlint.codemods.source.imports import ImportChanges, NewImport
from jaxlint.codemods.source.site import Site
from jaxlint.codemods.source.text_edits import overlaps
from jaxlint.finding import Edit, Span
from jaxlint.source.read import source_from_bytes


def draft(edits: list[Edit], imports: ImportChanges | None = None) -> Draft:
    return Draft(cast(Any, None), cast(Any, None), edits=edits, imports=imports or ImportChanges())


def random_edits(random_: random.Random) -> list[Edit]:
    """One or two edits of a short text, which do not overlap."""
    found: list[Edit] = []
    for _ in range(random_.randint(1, 2)):
        start, length = random_.randint(1, 30), random_.choice([0, 0, 1, 3, 8])
        edit = Edit("a.py", Span(1, start, 1, start + length), random_.choice("xy"))
        if not any(one != edit and overlaps(one.span, edit.span) for one in found):
            found.append(edit)
    return found


def test_edits_are_excluded_if_they_overlap_one_that_was_chosen() -> None:
    seen: set[bool] = set()
    for seed in range(300):
        random_ = random.Random(seed)
        chosen, taken, wholes = ChosenChanges(), list[Edit](), list[set[Edit]]()
        for _ in range(12):
            edits = random_edits(random_)
            expected = any(one != two and overlaps(one.span, two.span) for one in edits for two in taken)
            expected |= any(
                not (set(edits) <= whole or whole <= set(edits))
                for whole in wholes
                for one in whole & set(edits)
                if one.span.column != one.span.end_column
            )
            assert chosen.excludes(draft(edits)) is expected, (seed, edits, taken)
            seen.add(expected)
            if not expected:
                chosen.add(draft(edits))
                taken += edits
                wholes.append(set(edits))
    assert seen == {True, False}


def test_imports_are_excluded_if_they_contradict_one_that_was_chosen() -> None:
    alias = cast(ast.ImportFrom, ast.parse("from a import b").body[0]).names[0]
    moved = draft([], ImportChanges(moved={alias: NewImport("c", "d")}))
    chosen = ChosenChanges()
    chosen.add(moved)
    assert not chosen.excludes(moved)
    assert chosen.excludes(draft([], ImportChanges(moved={alias: None})))
    assert chosen.excludes(draft([], ImportChanges(added={NewImport("e", "d"): None})))
    assert chosen.excludes(draft([Edit("a.py", Span(5, 1, 5, 2), "x = b")]))
    assert not chosen.excludes(draft([Edit("a.py", Span(5, 1, 5, 2), "x = c.b + bb")]))
    chosen = ChosenChanges()
    chosen.add(draft([Edit("a.py", Span(5, 1, 5, 2), "x = b()")]))
    assert chosen.excludes(moved)


def test_thousands_of_edits_are_compared_with_their_neighbours_alone() -> None:
    chosen = ChosenChanges()
    start = time.process_time()
    for number in range(5000):
        one = draft(
            [
                Edit(
                    "a.py",
                    Span(
                        number % 2500 + 1, number // 2500 * 9 + 1, number % 2500 + 1, number // 2500 * 9 + 5
                    ),
                    "x",
                )
            ]
        )
        if not chosen.excludes(one):
            chosen.add(one)
    assert time.process_time() - start < 2


def test_two_fixes_do_not_define_one_name_in_a_module() -> None:
    file = source_from_bytes(b"def f(x):\n    return x\n\n\ndef g(x):\n    return x\n", Path("a.py"), "a.py")

    def inserts(line: int, column: int, text: str) -> Draft:
        place = Span(line, column, line, column)
        return Draft(Site(file), cast(Any, None), edits=[Edit("a.py", place, text)])

    chosen = ChosenChanges()
    chosen.add(inserts(1, 1, "@jax.jit\ndef step(x, y):\n    return x + y\n\n\n"))
    assert chosen.excludes(inserts(5, 1, "@jax.jit\ndef step(x):\n    return -x\n\n\n"))
    assert not chosen.excludes(inserts(5, 1, "@jax.jit\ndef step_2(x):\n    return -x\n\n\n"))
    # in a function it is used right after it
    assert not chosen.excludes(inserts(6, 1, "    def step(x):\n        return -x\n\n"))


def test_two_fixes_that_differ_do_not_replace_one_text_alike() -> None:
    file = source_from_bytes(
        b"def f(x):\n    return x + x\n\n\ndef g(x):\n    return x\n", Path("a.py"), "a.py"
    )
    call = Edit("a.py", Span(2, 12, 2, 17), "step(x)")

    def fix(*others: str) -> Draft:
        edits = [Edit("a.py", Span(2, 1, 2, 1), text) for text in others]
        return Draft(Site(file), cast(Any, None), edits=[*edits, call])

    chosen = ChosenChanges()
    chosen.add(fix("    step = jax.jit(double)\n"))
    assert chosen.excludes(fix("    step = jax.jit(double, donate_argnums=0)\n"))
    assert not chosen.excludes(fix("    step = jax.jit(double)\n"))
    assert not chosen.excludes(fix())  # the other one includes it
