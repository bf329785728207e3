"""Which `if` or loop set two processes apart, from their stacks and the text."""

from __future__ import annotations

import ast
import textwrap

import pytest

from jaxlint_runtime.lockstep.condition import condition
from jaxlint_runtime.protocol.launch_records import Place


def stacks(source: str) -> tuple[str, tuple[Place, ...], tuple[Place, ...] | None]:
    """The text without its marks, and the stacks of two processes: `# 0` and `# 1` at the ends of the lines where they are.

    A line of a function lies below each line that is marked and calls it.
    """
    text = textwrap.dedent(source).strip()
    lines = text.splitlines()
    functions = [
        (one.lineno, one.end_lineno or 0, one.name)
        for one in ast.walk(ast.parse(text))
        if isinstance(one, ast.FunctionDef)
    ]

    def function(line: int) -> str:
        inside = [name for begin, end, name in functions if begin < line <= end]
        return inside[-1] if inside else "<module>"

    found: list[list[Place]] = [[], []]
    for number, line in enumerate(lines, 1):
        for process in line.partition("#")[2].split():
            found[int(process)].append(Place("train.py", number, function(number)))
    depth = {"<module>": 0}
    for side in found:
        side.sort(key=lambda place: depth.get(place.function, 1))
    return text, tuple(found[0]), tuple(found[1]) or None


def told(source: str) -> tuple[str, int, bool] | None:
    text, first, second = stacks(source)
    found = condition(first, second, {"train.py": text}.get)
    return None if found is None else (found.text, found.inside, found.sure)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            """
            if jax.process_index() == 0:
                evaluate(w)  # 0
            step(w)  # 1
            """,
            ("if jax.process_index() == 0", 0, True),
            id="one is inside an if",
        ),
        pytest.param(
            """
            for x in batches:
                w = step(w, x)  # 1
                if i % 10 == 0:
                    if is_main:
                        log(evaluate(w))  # 0
            """,
            ("if i % 10 == 0", 0, True),
            id="the other is a turn further, and nothing says who is first",
        ),
        pytest.param(
            """
            is_main = jax.process_index() == 0
            for x in batches:
                w = step(w, x)  # 1
                if i % 10 == 0:
                    if is_main:
                        log(evaluate(w))  # 0
            """,
            ("if is_main", 0, True),
            id="a variable that asks who this is",
        ),
        pytest.param(
            """
            if jax.process_index() == 0:
                save(w)  # 0
            else:
                wait(w)  # 1
            """,
            ("if jax.process_index() == 0", 0, True),
            id="two branches",
        ),
        pytest.param(
            """
            def main():
                for x in batches:
                    w = step(w, x)  # 0
            if __name__ == "__main__":
                main()  # 0
            """,
            ("for x in batches", 0, False),
            id="one has ended",
        ),
        pytest.param(
            """
            for x in batches:
                w = step(w, x)  # 0
            evaluate(w)  # 1
            """,
            ("for x in batches", 0, True),
            id="one has left a loop",
        ),
        pytest.param(
            """
            def save(w):
                if jax.process_index() != 0:
                    return
                gather(w)  # 0
            save(w)  # 0
            step(w)  # 1
            """,
            ("if jax.process_index() != 0", 1, False),
            id="one has returned early",
        ),
        pytest.param(
            """
            def save(w):
                if done:
                    return
                gather(w)  # 0
            save(w)  # 0
            step(w)  # 1
            """,
            None,
            id="an early return that says nothing of processes",
        ),
        pytest.param("step(w)  # 0 1", None, id="the same line"),
        pytest.param(
            """
            with mesh:
                step(w)  # 0
            evaluate(w)  # 1
            """,
            None,
            id="a statement that decides nothing",
        ),
    ],
)
def test_what_set_two_apart(source, expected):
    assert told(source) == expected


def test_one_that_has_ended_ran_out_of_turns_unless_it_left_in_a_hurry():
    text, first, _ = stacks("""
        me = jax.process_index()
        for x in batches:
            w = step(w, x)  # 0
            if done and me == 1:
                os._exit(0)
    """)
    found = [condition(first, None, {"train.py": text}.get, exits) for exits in (False, True)]
    assert [one.text for one in found if one] == ["for x in batches", "if done and me == 1"]


def test_files_that_cannot_be_read_or_parsed_tell_nothing():
    first, second = (Place("a.py", 2, "f"),), (Place("a.py", 3, "f"),)
    assert condition(first, second, lambda path: None) is None
    assert condition(first, second, lambda path: "def (") is None
