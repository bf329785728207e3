"""Classes with many bases above them or many subclasses below: all of them count, and each is read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.codemods.purity.classes import Classes
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import Program
from jaxlint.codemods.purity.values import Cls, Value
from jaxlint.source.file import SourceFile
from tests.engine.codemods.test_purity import refusal


def chain(depth: int, last: str = "    pass") -> str:
    """A class `C0` with a method, and subclasses of subclasses. `last`: the body of the last one."""
    above = [f"class C{i}(C{i - 1}):\n    pass\n" for i in range(1, depth)]
    first = "class C0:\n    def scaled(self, x):\n        return x * 2.0\n"
    return "\n".join([first, *above, f"class C{depth}(C{depth - 1}):\n{last}\n"])


USE = "\nMODEL = C0()\n\ndef f(x):\n    return jnp.sin(MODEL.scaled(x))\n\nf(jnp.ones(3))\n"
PRINTS = "    def scaled(self, x):\n        print(x)\n        return x\n"


@pytest.mark.parametrize("depth", [2, 9, 30])
def test_an_override_far_below_counts(tmp_path: Path, depth: int) -> None:
    assert "print(" in refusal(tmp_path, chain(depth, PRINTS) + USE)
    assert refusal(tmp_path, chain(depth) + USE) == ""


@pytest.mark.parametrize("depth", [2, 9, 30])
def test_a_member_far_above_is_found(tmp_path: Path, depth: int) -> None:
    given = USE.replace("C0()", f"C{depth}()")
    assert refusal(tmp_path, chain(depth) + given) == ""
    effect = chain(depth).replace("        return x * 2.0", "        print(x)\n        return x")
    assert "print(" in refusal(tmp_path, effect + given)


def test_each_class_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    depth = 400
    path = tmp_path / "main.py"
    path.write_text(chain(depth))
    program = Program({str(path): SourceFile(path, str(path), chain(depth), "utf-8", False, "")})
    file = program.file(str(path))
    classes = PossibleValues(program).classes
    read: list[Cls] = []
    bases = Classes.bases

    def counted(self: Classes, cls: Cls) -> list[Value]:
        read.append(cls)
        return bases(self, cls)

    monkeypatch.setattr(Classes, "bases", counted)
    made = {one.name: Cls(one, file) for one in file.tree.body}  # type: ignore[attr-defined,arg-type]
    assert len(classes.heirs(made["C0"])) == depth + 1
    assert [one.node.name for one in classes.heirs(made[f"C{depth - 1}"])] == [f"C{depth - 1}", f"C{depth}"]
    assert len(read) == depth  # of C0 there is nothing to read
    assert len(classes.line(made[f"C{depth}"])) == depth + 1
    assert len(read) == 2 * depth + 1
