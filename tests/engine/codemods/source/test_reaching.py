"""Which bindings of a variable a use may see."""

from __future__ import annotations

import ast
import contextlib
import random
import textwrap

import pytest

from jaxlint.codemods.source.name_scopes import Names
from jaxlint.codemods.source.reaching import reaching


def seen(text: str, name: str = "x") -> dict[int, list[int]]:
    """For each line that uses a variable, the lines of the bindings that it may see."""
    names = Names(ast.parse(textwrap.dedent(text).strip()))
    found: dict[int, list[int]] = {}
    for use in names.uses:
        home = use.scope.resolve(name)
        if use.name.id == name and home is not None and not isinstance(use.name.ctx, ast.Del):
            lines = {one.node.lineno for one in reaching(home, use.name, names)}  # type: ignore[attr-defined]
            found[use.name.lineno] = sorted({*found.get(use.name.lineno, ()), *lines})
    return found


CASES = {
    "the last one in sequence": ("x = 1\nx = 2\nx\n", {3: [2]}),
    "the one before an assignment of itself": ("x = 1\nx = f(\n    x)\nx\n", {3: [1], 4: [2]}),
    "before an augmented assignment": ("x = 1\nx = 2\nx += 3\nx\n", {3: [2], 4: [3]}),
    "both branches": ("if c:\n    x = 1\nelse:\n    x = 2\n    x\nx\n", {5: [4], 6: [2, 4]}),
    "a branch that leaves": ("x = 1\nwhile c:\n    if d:\n        x = 2\n        break\n    x\nx\n", {6: [1], 7: [1, 4]}),
    "the turn before": ("x = 1\nfor a in b:\n    x\n    x = 2\nx\n", {3: [1, 4], 5: [1, 4]}),
    "two turns before": ("x = y = 1\nfor a in b:\n    x\n    x = y\n    y = 2\n", {3: [1, 4]}),
    "the variable of a loop": ("x = 1\nfor x in b:\n    x\nx\n", {3: [2], 4: [1, 2]}),
    "a loop without an end": ("x = 1\nwhile True:\n    x = 2\n    if c:\n        break\nx\n", {6: [3]}),
    "the else of a loop": ("x = 1\nfor a in b:\n    if c:\n        x = 2\n        break\nelse:\n    x\n    x = 3\nx\n", {7: [1], 9: [4, 8]}),
    "a turn that is skipped": ("x = 1\nfor a in b:\n    x\n    if c:\n        x = 2\n        continue\n    x = 3\n", {3: [1, 5, 7]}),
    "an exception in between": ("try:\n    x = 1\n    x = f()\nexcept E:\n    x\n", {5: [2, 3]}),
    "an exception before": ("x = 0\ntry:\n    x = f()\nexcept E:\n    x\n    x = 2\nelse:\n    x\nx\n", {5: [1, 3], 8: [3], 9: [3, 6]}),
    "what runs finally": ("x = 0\ntry:\n    x = f()\n    x = g()\nfinally:\n    x\nx\n", {6: [1, 3, 4], 7: [4]}),
    "a jump past what runs finally": ("x = 0\nwhile c:\n    try:\n        break\n    finally:\n        x = 1\nx\n", {7: [1, 6]}),
    "a manager that may swallow an exception": ("x = 0\nwith suppress(E):\n    x = f()\nx\n", {4: [1, 3]}),
    "the pattern of a case": ("x = 0\nmatch a:\n    case [x]:\n        pass\nx\n", {5: [1, 3]}),
    "an assignment expression": ("x = 0\nif c or (x := 1):\n    x\n", {3: [1, 2]}),
    "a comprehension": ("x = 0\nx = 1\n[x for a in b]\nx = 2\n", {3: [2]}),
    "what a generator reads first": ("x = 0\nx = 1\ng = (a for a in x)\nx = 2\n", {3: [2]}),
    "what a generator reads later": ("x = 0\nx = 1\ng = (x for a in b)\nx = 2\n", {3: [1, 2, 4]}),
    "a generator that is used up": ("x = 0\nx = 1\ng = sum(x for a in b)\nx = 2\n", {3: [2]}),
    "a lambda": ("x = 0\nx = 1\ng = lambda: x\nx = 2\n", {3: [1, 2, 4]}),
    "a nested function": ("x = 0\nx = 1\ndef g():\n    return x\nx = 2\n", {4: [1, 2, 5]}),
    "a default": ("x = 0\nx = 1\ndef g(a=x):\n    return a\nx = 2\n", {3: [2]}),
    "a function that rebinds it": ("def f():\n    x = 0\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    g()\n    return x\n", {8: [2, 3, 6]}),
    "a function that rebinds a global": ("x = 0\nx = 1\ndef g():\n    global x\n    x = 2\ng()\nx\n", {7: [1, 2, 5]}),
    "a parameter": ("def f(x):\n    x\n    if c:\n        x = 2\n    return x\n", {2: [1], 5: [1, 4]}),
    "after it is deleted": ("x = 1\nif c:\n    del x\n    x = 2\nx\n", {5: [1, 4]}),
    "an annotation alone": ("x = 1\nx: int\nx\n", {3: [1]}),
    "an import": ("import a as x\nx\nimport b as x\nx\n", {2: [1], 4: [3]}),
    "an index and its list": ("x = [0]\ny = 1\nx, x[y] = [1], 2\n", {3: [1, 3]}),
    "code that never runs": ("x = 1\nx = 2\nwhile True:\n    pass\nx\n", {5: [1, 2]}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bindings_that_a_use_may_see(case: str) -> None:
    text, expected = CASES[case]
    found = seen(text)
    assert {line: found[line] for line in expected} == expected


class _Programs:
    """Random programs: each assignment of a variable gives it a number of its own, and each use tells it to `see`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def number(self) -> int:
        self.count += 1
        return self.count

    def block(self, depth: int, loop: bool) -> list[str]:
        return [line for _ in range(self.random.randint(1, 4)) for line in self.statement(depth, loop)]

    def inside(self, depth: int, loop: bool) -> list[str]:
        return [f"    {line}" for line in self.block(depth - 1, loop)]

    def statement(self, depth: int, loop: bool) -> list[str]:
        kinds = ["set", "set", "see", "see", "walrus", "fail"] + ["jump"] * loop
        kinds += ["if", "for", "while", "try", "finally", "with", "match"] * bool(depth)
        kind = self.random.choice(kinds)
        name = self.random.choice("xy")
        if kind == "set":
            return [f"{name} = {self.number()}"]
        if kind == "see":
            return [f"see({self.number()}, {name})"]
        if kind == "walrus":
            return [f"see({self.number()}, coin() or ({name} := {self.number()}), {name})"]
        if kind == "fail":
            return ["fail()"]
        if kind == "jump":
            return ["if coin():", f"    {self.random.choice(['break', 'continue'])}"]
        if kind == "if":
            return ["if coin():", *self.inside(depth, loop), "else:", *self.inside(depth, loop)]
        if kind in ("for", "while"):
            number = self.number()
            head = f"for {name} in some({number}):" if kind == "for" else "while coin():"
            rest = ["else:", *self.inside(depth, loop)] if self.random.random() < 0.5 else []
            return [head, *self.inside(depth, True), *rest]
        if kind == "with":
            return ["with suppress(ValueError):", *self.inside(depth, loop)]
        if kind == "match":
            captured = ["match coin():", f"    case True as {name}:", f"        {name} = {self.number()}"]
            return [*captured, *(f"    {one}" for one in self.inside(depth, loop))]
        lines = ["try:", *self.inside(depth, loop)]
        if kind == "try":
            lines += ["except ValueError:", *self.inside(depth, loop)]
            lines += ["else:", *self.inside(depth, loop)] if self.random.random() < 0.5 else []
        if kind == "finally" or self.random.random() < 0.3:
            lines += ["finally:", *self.inside(depth, False)]
        return lines


@pytest.mark.parametrize("seed", range(60))
def test_no_binding_is_missed_in_random_programs(seed: int) -> None:
    """Whatever a run sees is among the bindings that the analysis names."""
    made = _Programs(seed)
    body = [f"    {line}" for line in ["x = y = 0", *made.block(3, False), "see(-1, x)", "see(-1, y)"]]
    text = "\n".join(["def program():", *body])
    tree = ast.parse(text)
    names = Names(tree)
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    scope = names.scope_inside(function)
    assert scope is not None
    for node in ast.walk(tree):  # the numbers that each use may see
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "see":
            used = node.args[-1]
            assert isinstance(used, ast.Name)
            numbers = [_number(one.node, names) for one in reaching(scope, used, names)]
            node.args.append(ast.Constant(tuple(numbers)))
    code = compile(ast.fix_missing_locations(tree), "program", "exec")
    checked = 0
    for run in range(60):
        chance = random.Random(run)
        steps = 0

        def coin(chance: random.Random = chance) -> bool:
            nonlocal steps
            steps += 1
            if steps > 300:
                raise KeyboardInterrupt
            return chance.random() < 0.5

        def fail(chance: random.Random = chance) -> None:
            if chance.random() < 0.2:
                raise ValueError

        def see(*told: object) -> None:
            nonlocal checked
            checked += 1
            *_, value, allowed = told
            assert value in allowed or value is True, f"{value} is not in {allowed} of\n{text}"  # type: ignore[operator]

        def some(number: int, chance: random.Random = chance) -> list[int]:
            return [number] * chance.randint(0, 2)

        space = {"coin": coin, "fail": fail, "see": see, "some": some, "suppress": contextlib.suppress}
        exec(code, space)
        with contextlib.suppress(KeyboardInterrupt, ValueError):
            space["program"]()  # type: ignore[operator]
    assert checked


def _number(node: ast.AST, names: Names) -> object:
    """The number that a binding of a random program gives its variable."""
    above = names.parents[node]
    if isinstance(above, ast.For):
        (number,) = above.iter.args  # type: ignore[attr-defined]
        return number.value
    value = getattr(above, "value", None)
    return value.value if isinstance(value, ast.Constant) else True
