"""Hooks of mkdocs: what the site shows beside docs/, links between the two, pages that are generated, and the playground.

The pages of docs/ are written to be read in the repository as well, where they link to files that are no pages of the site. Such a link becomes
the page that shows the file, or the name of the file.
"""

from __future__ import annotations

import functools
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parent))

import command_reference
import playground
from list_indents import indented_by_four
from site_links import broken_links

from jaxlint.registry import all_rules
from jaxlint.rule import category_title

ROOT = Path(__file__).resolve().parent.parent

# Files of the repository that are pages of the site.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
}
PAGES |= {
    path.relative_to(ROOT).as_posix(): f"results/{path.name}"
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.md"))
    if not path.stem.endswith("_history")
}
HOMES = {page: file for file, page in PAGES.items()}
REFERENCE = {"commands.md", "changelog.md", "contributing.md", "api.md"}
TITLE_OF_ERRORS = ": how to find and fix it"
COMMANDS = "commands.md"  # generated from the command line itself
WIDE = {"features.md", "playground/index.md"}  # pages without columns beside the text
# How much a page counts in a search: what to do before what was measured.
BOOSTS = {"results": 0.1, "rules": 1.5, "errors": 1.5, "": 2.0}
BOOST_OF_REFERENCE = 0.5  # its headings are the names of commands and functions
# Where a link to the README leads on the site, by its anchor.
README = {"": "index.md", "pre-commit": "pre-commit.md", "install": "install.md"}
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(\s*)(```+|~~~+).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)


def rule_navigation() -> list[Any]:
    """The part of the navigation that the rules themselves make, in the order of their codes."""
    parts: dict[str, list[dict[str, str]]] = {}
    for rule in all_rules():
        parts.setdefault(category_title(rule.category), []).append({rule.name: f"rules/{rule.name}.md"})
    categories = [{title: pages} for title, pages in parts.items()]
    return ["rules/README.md", *categories, {"unused-suppression": "rules/unused-suppression.md"}]


def error_navigation() -> list[Any]:
    """The pages of exceptions in the order of their table, by the exception alone."""
    index = (ROOT / "docs" / "errors" / "README.md").read_text(encoding="utf-8")
    pages = dict.fromkeys(re.findall(r"\]\(([\w-]+\.md)\)", index))
    parts: list[Any] = ["errors/README.md"]
    for page in pages:
        first = (ROOT / "docs" / "errors" / page).read_text(encoding="utf-8").partition("\n")[0]
        parts.append({first.removeprefix("# ").removesuffix(TITLE_OF_ERRORS): f"errors/{page}"})
    return parts


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Puts the rules and the exceptions where the navigation names them, and results that it does not name behind the others."""
    made = {"Rules": rule_navigation, "Errors of JAX": error_navigation}
    for entry in config.nav or []:
        for title in made.keys() & set(entry):
            entry[title] = made[title]()
        if "Results" in entry:
            entry["Results"] += [
                page
                for page in PAGES.values()
                if page.startswith("results/") and page not in entry["Results"]
            ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that do not lie in docs/."""
    for home, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / home).read_text(encoding="utf-8")))
    files.append(File.generated(config, COMMANDS, content=command_reference.page()))
    return files


def home_of(page: str) -> str:
    """Where in the repository a page of the site lies."""
    return HOMES.get(page, f"docs/{page}")


def page_of(file: str, anchor: str) -> str | None:
    """The page of the site that shows a file of the repository, or None."""
    if file == "README.md":
        return README.get(anchor)
    return PAGES.get(file) or (file.removeprefix("docs/") if file.startswith("docs/") else None)


def link_on_site(page: str, target: str) -> str | None:
    """The target of a link as the site needs it; None when the site does not show it."""
    if re.match(r"[a-z]+:|#|/", target):
        return target
    path, _, anchor = target.partition("#")
    file = posixpath.normpath(posixpath.join(posixpath.dirname(home_of(page)), path))
    shown = page_of(file, anchor)
    if shown is None:
        return target if not (ROOT / file).exists() else None  # mkdocs reports the former
    if file == "README.md":
        anchor = ""
    relative = posixpath.relpath(shown, posixpath.dirname(page) or ".")
    return relative + (f"#{anchor}" if anchor else "")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrites the links of a page, and adds what stands on the site alone."""
    if page.file.src_uri in WIDE:
        page.meta["hide"] = ["navigation", "toc"]
    boost = BOOSTS.get(page.file.src_uri.rpartition("/")[0], 1.0)
    page.meta["search"] = {"boost": BOOST_OF_REFERENCE if page.file.src_uri in REFERENCE else boost}

    def linked(match: re.Match[str]) -> str:
        target = link_on_site(page.file.src_uri, match[2])
        return match[1] if target is None else f"[{match[1]}]({target})"

    parts, end = [], 0
    for fence in _FENCE.finditer(markdown):
        parts += [_LINK.sub(linked, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    text = "".join([*parts, _LINK.sub(linked, markdown[end:])])
    return indented_by_four(text) + beside(page.file.src_uri)


def beside(page: str) -> str:
    """What a page gets at its end: a program to try in the playground; that of a rule also what its pattern costs, where that was measured."""
    folder, _, file = page.rpartition("/")
    name = file.removesuffix(".md")
    if page == "tutorial.md":
        return f"\n\n{button('../playground/', name, 'Try its program')}\n"
    if folder != "rules" or name == "README":
        return ""
    parts = []
    if name in measured_costs():
        what, worse, better, ratio = measured_costs()[name]
        parts.append(
            f"## Measured cost\n\n{what[:1].upper()}{what[1:]}: {worse}, or {better}; {ratio} times "
            "([how](../results/costs.md))."
        )
    if name in {str(one["rule"]) for one in examples()}:
        parts.append(button("../../playground/", name, "Try an example"))
    return "".join(f"\n\n{part}\n" for part in parts)


def button(playground: str, name: str, title: str) -> str:
    """A link to an example of the playground; in HTML, since what follows the `#` is for a script and no anchor of the page."""
    return f'<a class="md-button" href="{playground}#rule={name}">{title}</a>'


examples = functools.cache(playground.examples)


@functools.cache
def measured_costs() -> dict[str, list[str]]:
    """What runs, with the pattern and without, and the ratio, by rule, from the page of results."""
    text = (ROOT / "benchmarks" / "results" / "costs.md").read_text(encoding="utf-8")
    rows = [row.strip("| ").split(" | ") for row in text.splitlines() if row.startswith("| JAX")]
    return {row[1]: row[2:6] for row in rows}


def on_post_build(config: MkDocsConfig) -> None:
    """Puts beside the playground what it runs on, and fails if a link of the site leads nowhere."""
    site = Path(config.site_dir)
    try:
        playground.write(site / "playground")
    except playground.NoPyodide as reason:
        print(f"docs: the playground is left out, since {reason}; the rest is built", file=sys.stderr)
    if broken := broken_links(site):
        raise PluginError("these links of the site lead nowhere:\n" + "\n".join(broken))
