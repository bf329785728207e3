"""The site has every page, its programs do what it says, and what it shows of commands is what they print."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import yaml

from jaxlint import engine
from jaxlint.config import Config
from tests.helpers.command_line import jaxlint
from tools.list_indents import indented_by_four
from tools.site_links import broken_links

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ERRORS = sorted(page for page in DOCS.glob("errors/*.md") if page.name != "README.md")


def pages_in(navigation: Any) -> list[str]:
    """The pages that a part of the navigation names."""
    if isinstance(navigation, str):
        return [navigation]
    parts = navigation.values() if isinstance(navigation, dict) else navigation
    return [page for part in parts for page in pages_in(part)]


def test_every_page_stands_in_the_navigation_once() -> None:
    named = pages_in(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert len(named) == len(set(named))
    # tools/site_hooks.py puts there the pages of rules and of errors, and results that are not named.
    written = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    own = {page for page in written if not page.startswith(("rules/", "errors/"))}
    results = {f"results/{path.name}" for path in (ROOT / "benchmarks" / "results").glob("*.md")}
    from_elsewhere = {"changelog.md", "commands.md", "contributing.md", "security.md", "code-of-conduct.md"}
    assert own | from_elsewhere == {page for page in named if not page.startswith("results/")}
    assert {page for page in named if page.startswith("results/")} <= results


def test_the_index_of_errors_names_every_page() -> None:
    index = (DOCS / "errors" / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == {page.name for page in ERRORS}


def programs_of(page: Path) -> tuple[str, str]:
    """The program that fails and the one put right."""
    failing, right = re.findall(r"```python\n(.+?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return failing, right


@pytest.mark.parametrize("page", ERRORS, ids=lambda page: page.stem)
def test_a_program_raises_what_its_page_says_and_runs_when_it_is_put_right(page: Path) -> None:
    failing, right = programs_of(page)
    claimed = re.search(r"```text\n([\w.]+): (.+?)(?: \.\.\.)?\n", page.read_text(encoding="utf-8"))
    assert claimed is not None
    with pytest.raises(Exception) as raised:
        exec(compile(failing, page.stem, "exec"), {"__name__": "program"})
    kind = type(raised.value)
    assert claimed[1] in (kind.__name__, f"{kind.__module__}.{kind.__name__}")
    assert str(raised.value).startswith(claimed[2])
    exec(compile(right, page.stem, "exec"), {"__name__": "program"})


@pytest.mark.parametrize("page", ERRORS, ids=lambda page: page.stem)
def test_check_says_of_a_program_what_its_page_says(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    config = Config(Path("/"), preview="jaxlint check --preview" in text)
    failing, right = programs_of(page)
    for program, shown in ((failing, re.findall(r"^program\.py:.+\n.+$", text, re.MULTILINE)), (right, [])):
        stdin = engine.Stdin(program.encode(), "program.py")
        found = engine.check([], config, stdin=stdin, use_cache=False).findings
        lines = [
            f"{one.path}:{one.span.line}:{one.span.column}: {one.severity} {one.code} {one.message} [{one.name}]\n"
            f"  = reason: {one.reason}"
            for one in found
        ]
        assert lines == shown


def test_the_tutorial_shows_what_check_and_fix_print(tmp_path: Path) -> None:
    shutil.copy(ROOT / "fixtures" / "tutorial" / "train.py", tmp_path)
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    shown = re.findall(
        r"^```console\n\$ jaxlint ((?:check|fix) --se.+?)\n(.+?)```", text, re.MULTILINE | re.DOTALL
    )
    commands = [command for command, _ in shown]
    assert [command.split()[0] for command in commands] == ["check", "fix", "fix", "check"]
    for command, output in shown[:3]:
        done = jaxlint(*command.split(), cwd=tmp_path)
        printed = (done.stdout + done.stderr).splitlines()
        assert [line.rstrip() for line in printed] == output.splitlines(), command


def applied(diff: str, text: str) -> str:
    """A text with the hunks of a diff that names no lines; each has to fit one place."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        assert text.count(before) == 1, before
        text = text.replace(before, "".join(line[1:] for line in lines if line[0] != "-"))
    return text


def test_the_program_of_the_tutorial_has_no_findings_at_its_end(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    shutil.copy(ROOT / "fixtures" / "tutorial" / "train.py", program)
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    said = re.findall(r"^train\.py:23:20: .+$", text, re.MULTILINE)
    fixed = jaxlint("fix", "--select", "tracer-branch", "--unsafe-fixes", "train.py", cwd=tmp_path)
    assert fixed.returncode == 0
    written, by_hand = re.findall(r"```diff\n(.+?)```", text, re.DOTALL)
    program.write_text(applied(written, program.read_text(encoding="utf-8")), encoding="utf-8")
    random = jaxlint("check", "--select", "random", "--output-format", "concise", "train.py", cwd=tmp_path)
    assert random.stdout.splitlines()[:1] == said
    program.write_text(applied(by_hand, program.read_text(encoding="utf-8")), encoding="utf-8")
    done = jaxlint("check", "train.py", cwd=tmp_path)
    assert "No findings in 1 file." in done.stdout + done.stderr
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(compile(program.read_text(encoding="utf-8"), "train.py", "exec"), namespace)
    x = jax.numpy.ones((4, 64))
    params = namespace["init"](namespace["KEY"])
    params, loss = namespace["train_step"](params, x, x[:, :1], 0.1, namespace["KEY"])
    assert jax.numpy.isfinite(loss)
    assert np.isfinite(namespace["evaluate"](params, x, x[:, :1]))


def commands_of(page: Path, heading: str) -> list[str]:
    """The commands of the first block below a heading, without their comments."""
    text = page.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    block = re.search(r"```console\n(.+?)```", text, re.DOTALL)
    assert block is not None
    return [line.partition("#")[0].strip() for line in block[1].splitlines()]


# What each command of the README ends with, over a small project; `verify` is run by its own tests.
EXIT_CODES = {"check": 1, "fix": 1, "upgrade": 1, "explain": 0}


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "old.py").write_text(
        "import jax\n\n\ndef double(t):\n    return jax.tree_map(lambda x: 2 * x, t)\n"
    )
    (tmp_path / "requirements.txt").write_text("jax==0.6.2\n")
    commands = commands_of(ROOT / "README.md", "Use")
    assert len(commands) == 5
    for command in commands:
        program, name, *arguments = command.split()
        assert program == "jaxlint"
        if name == "verify":
            assert arguments == ["train.py"]
            continue
        done = jaxlint(name, *arguments, cwd=tmp_path)
        assert done.returncode == EXIT_CODES[name], (command, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr


def test_the_readme_fits_three_screens() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 95
    assert text.count("![") == 1  # a picture takes a whole screen


AS_WRITTEN = """\
1. First
   goes on

   | a table |
   ```python
   if x:
     y
   ```
2. Second

- x
  - y
    goes on

Text
```
- no list
  of ours
```
"""
AS_WANTED = """\
1. First
    goes on

    | a table |
    ```python
    if x:
      y
    ```

2. Second

- x
    - y
        goes on

Text
```
- no list
  of ours
```
"""


def test_what_belongs_to_an_item_is_indented_by_four() -> None:
    assert indented_by_four(AS_WRITTEN) == AS_WANTED


PAGE = """\
<h1 id="top">A page</h1><a href="{link}">there</a> <a href="https://example.com/#x">elsewhere</a> <code>&lt;a href="no"&gt;</code>
"""


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ("#top", True),
        ("../b/#top", True),
        ("/b/", True),
        ("../site.css?v=1", True),
        ("../playground/#rule=key-reuse", True),
        ("#bottom", False),
        ("../b/#bottom", False),
        ("../c/", False),
        ("../none.css", False),
        ("../../outside", False),
        ("../playground/#rule=no-such-rule", False),
    ],
)
def test_a_link_of_the_built_site_that_leads_nowhere_is_named(tmp_path: Path, link: str, leads: bool) -> None:
    for name in ("a", "b", "playground"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text(PAGE.format(link=link if name == "a" else "#top"))
    (tmp_path / "site.css").write_text("")
    (tmp_path / "playground" / "examples.json").write_text('[{"rule": "key-reuse"}]')
    assert broken_links(tmp_path) == ([] if leads else [f"a/index.html: {link}"])
