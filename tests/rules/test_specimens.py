"""The examples of a rule lie beside it, in files; a rule may give its own in its class."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jaxlint import specimens
from jaxlint.cache import _files_of
from jaxlint.registry import all_rules
from jaxlint.rule import Example, Rule
from jaxlint.specimens import BadSpecimen, read, text_of

ROOT = Path(__file__).resolve().parents[2]


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name.replace('_fixed', '.fixed')}.py").write_bytes(text.encode())
    return folder


def test_what_is_written_is_read(tmp_path: Path) -> None:
    programs = {"b": "\nx = 1  # finding\r\n", "a": "x = 2"}
    write(tmp_path, **{name: text_of(f"program {name}", code) for name, code in programs.items()})
    write(tmp_path, b_fixed=text_of("program b", "\nx = 0\n"))
    assert read(tmp_path) == (
        Example("program a", "x = 2"),
        Example("program b", "\nx = 1  # finding\r\n", "\nx = 0\n"),
    )


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a": "import jax\n"}, "a.py: the first line has to be a comment"),
        ({"a_fixed": "# gone\nimport jax\n"}, "a.fixed.py: there is no program"),
        ({"a": "# one\nx = 1\n", "a_fixed": "# another\nx = 2\n"}, "a.fixed.py: there is no program"),
    ],
)
def test_what_is_no_specimen(files: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadSpecimen, match=message):
        read(write(tmp_path, **files))


def test_a_rule_may_give_its_own() -> None:
    class Own(Rule):
        name = "own"
        examples = (Example("inline", "x = 1\n"),)

    class Without(Rule):
        name = "without"

    assert [example.name for example in Own.examples] == ["inline"]
    assert Own().examples == Own.examples
    assert Without.examples == ()
    assert Rule.examples == ()


def test_each_folder_belongs_to_a_rule() -> None:
    folders = {specimens.folder_of(rule) for rule in all_rules()}
    lying = {path for path in (ROOT / "rules").rglob(f"{specimens.FOLDER}/*") if path.is_dir()}
    assert lying == {folder for folder in folders if folder is not None and folder.is_relative_to(ROOT)}


def test_check_does_not_read_them(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import jax\n")
    code = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "from jaxlint.__main__ import run\n"
        f"sys.argv = ['jaxlint', 'check', {str(program)!r}]\n"
        "try:\n    run()\nexcept SystemExit:\n    pass\n"
        "assert any(path.endswith('program.py') for path in opened), opened\n"
        "assert not [path for path in opened if 'specimens/' in path], opened\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=120)
    assert not [path for path in _files_of("jaxlint_rules") if specimens.FOLDER in path.parts]
