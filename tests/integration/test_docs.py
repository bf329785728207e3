"""The documentation says what is so: keys, commands, links, pins and the table of rules."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jaxlint import config, settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/errors/*.md")])


def headings(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


LINKED = sorted({*PAGES, *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/results/*.md")})


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", page.read_text(encoding="utf-8")):
        link = "".join(target)
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in headings(file), f"{page.name}: {link}"


HOUSE = [
    ROOT / "docs" / name
    for name in (
        *("architecture.md", "finding.md", "inside-check.md", "inside-fix.md", "inside-verify.md"),
        *("verify-details.md", "shardings.md"),
    )
]
SOURCES = [
    *ROOT.glob("jaxlint/**/*.py"),
    *ROOT.glob("rules/jaxlint_rules/**/*.py"),
    *ROOT.glob("runtime/jaxlint_runtime/**/*.py"),
]


@pytest.mark.parametrize("page", HOUSE, ids=lambda page: page.name)
def test_modules_and_folders_that_a_page_names_are_there(page: Path) -> None:
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", page.read_text(encoding="utf-8")))
    known = {path.relative_to(ROOT).as_posix() for path in [*SOURCES, *ROOT.glob("t*/**/*.py")]}
    known |= {f"{Path(path).parent.as_posix()}/" for path in known} | {
        f"{Path(path).parent.parent.as_posix()}/" for path in known
    }
    lost = [name for name in named if not any(path == name or path.endswith(f"/{name}") for path in known)]
    assert len(named) > 5
    assert lost == []


def test_functions_on_the_way_of_a_finding_are_there() -> None:
    named = re.findall(r"`([A-Z]\w+)\.(\w+)`", HOUSE[1].read_text(encoding="utf-8"))
    classes = {
        node.name: {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        for path in SOURCES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    assert len(named) > 10
    assert [f"{owner}.{name}" for owner, name in named if name not in classes.get(owner, ())] == []


def test_every_configuration_key_is_documented_and_no_other() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    section = text.partition("## Keys")[2].partition("\n## ")[0]
    documented = re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)
    assert sorted(documented) == sorted(settings.BY_KEY)


def test_the_configuration_example_is_valid(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    example = re.search(r"```toml\n(.+?)```", text, re.DOTALL)
    assert example
    (tmp_path / "pyproject.toml").write_text(example.group(1))
    loaded = config.load_config([str(tmp_path)])
    assert loaded.source is not None
    assert loaded.ignore == ("missing-donation",)


def test_the_rules_of_the_readme_are_current() -> None:
    done = subprocess.run(
        [sys.executable, "tools/rule_table.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_make_target_in_the_documentation_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"(?:`|^)make (?:[A-Z]+=\S+ )?([a-z-]+)", text, re.MULTILINE)
        assert set(named) <= targets, page.name


def test_constraints_pin_exactly_and_name_no_address() -> None:
    files = sorted((ROOT / "constraints").glob("*.txt"))
    assert {"py311.txt", "py312.txt", "py313.txt", "uv.txt"} <= {file.name for file in files}
    for file in files:
        for line in file.read_text().splitlines():
            assert re.fullmatch(r"[a-z0-9.-]+==[0-9a-z.+]+( ;.+)?", line), f"{file.name}: {line}"


def test_nobody_is_told_to_install_the_unrelated_package() -> None:
    wrong = re.compile(r"(pip|uv|uvx|pipx)[^\n`]*install[^\n`]*\bjaxlint(?![-/.\w])")
    assert wrong.search("pip install jaxlint")
    for page in PAGES:
        assert not wrong.search(page.read_text(encoding="utf-8")), page.name


@pytest.mark.parametrize(
    ("page", "word"),
    [
        ("recompiles.md", "recompiles"),
        ("upgrade.md", "Upgrade"),
        ("gate.md", "gate"),
        ("shardings.md", "Sharding"),
        ("repository.md", "baseline"),
    ],
)
def test_a_heading_of_a_how_to_has_the_word_that_people_search(page: str, word: str) -> None:
    """The search of the site does not stem words, and a match in a heading counts a thousand times."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    first = [line for line in text.splitlines() if line.startswith("#")][:2]
    assert any(re.search(rf"\b{word}\b", line) for line in first)


@pytest.mark.slow
def test_the_demo_runs_on_less_work() -> None:
    """`make demo` takes a minute: here verify tries one kind of candidate, on a shorter run of the same program."""
    whole = ["--calls", "0", "--for", "0"]  # on a busy machine, too
    fewer = [*whole, "--transform", "donation", "--timing", "1", "--", "--epochs", "2", "--points", "1024"]
    done = subprocess.run(
        [sys.executable, "tools/demo.py", *fewer],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert "Found 10 errors and 4 warnings in 5 files." in done.stdout
    assert "Would fix 8 findings in 3 files:" in done.stderr + done.stdout
    losses = [float(loss) for loss in re.findall(r"loss (\d+\.\d+) accuracy", done.stderr + done.stdout)]
    assert losses[1] < losses[0]
    assert re.search(r"\d of \d candidates? proven\.", done.stdout), done.stdout
