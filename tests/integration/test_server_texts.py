"""Whatever is typed, `jaxlint server` says what `jaxlint check` says of the same text on disk."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from lsprotocol import types

from jaxlint.config import load_config
from jaxlint.engine import check
from tests.integration.test_server import Editor, run

BRANCH = "\n\n@jax.jit\ndef added(value, other):\n    return value if value > 0 else other\n"
CHANGES: tuple[Callable[[str], str], ...] = (
    lambda text: text + BRANCH,  # behind the imports: these are not evaluated again
    lambda text: text + BRANCH + "\n\nnumber = float(added(1, 2)) +",  # no Python
    lambda text: text.replace("return ", "jax.tree_map\n    return ", 1),
    lambda text: "import numpy as np\n" + text + BRANCH,  # the imports are others
    lambda text: text.replace("import jax\n", "import jax; jax.tree_map\n", 1),
    lambda text: text.replace("jax", "xaj"),  # nothing of JAX is left
    lambda text: text + BRANCH.replace("value > 0", "value.shape"),
)


def said_by_check(path: Path) -> list[tuple[str, int, str]]:
    found = check([path], load_config([path]), use_cache=False)
    said = [(one.code, one.span.line, one.message) for one in found.findings]
    return sorted(said + [("", one.line or 1, one.message) for one in found.errors])


async def said_by_server(editor: Editor, uri: str) -> list[tuple[str, int, str]]:
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    report = await editor.client.text_document_diagnostic_async(params)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return sorted(
        (str(one.code or ""), one.range.start.line + 1, one.message.split("\n")[0]) for one in report.items
    )


def test_what_is_typed_gives_what_a_run_from_the_beginning_gives(tmp_path: Path) -> None:
    package = find_spec("chex")
    assert package is not None
    assert package.origin is not None
    shutil.copytree(Path(package.origin).parent, tmp_path / "chex")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    (tmp_path / "use.py").write_text(
        "import jax\nfrom chex._src.warnings import create_deprecated_function_alias\n\n\n"
        "@jax.jit\ndef f(x):\n    return create_deprecated_function_alias(x, x, x)\n"
    )
    path = tmp_path / "chex/_src/warnings.py"
    text = "import jax\n" + path.read_text()

    async def work(editor: Editor) -> None:
        uri = editor.open("chex/_src/warnings.py", text)
        for version, change in enumerate(CHANGES, start=2):
            new = change(text)
            assert new != text
            path.write_text(new)
            whole = types.TextDocumentContentChangeWholeDocument(new)
            document = types.VersionedTextDocumentIdentifier(version, uri)
            editor.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))
            assert await said_by_server(editor, uri) == said_by_check(path), version

    run(tmp_path, work, pull=True)


def held() -> tuple[int, float]:
    """The processes below this one, and the memory that they hold: what is shared counts once."""
    waiting, found, kilobytes = [os.getpid()], 0, 0
    while waiting:
        pid = waiting.pop()
        for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                below = [int(one) for one in tasks.read_text().split()]
                waiting += below
                found += len(below)
                rolls = [Path(f"/proc/{one}/smaps_rollup").read_text() for one in below]
                kilobytes += sum(int(one.partition("Pss:")[2].split()[0]) for one in rolls)
    return found, kilobytes / 1024


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="Linux says what is shared")
def test_what_is_typed_costs_no_more_memory_in_the_end(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    program = "import jax\n\n\n@jax.jit\ndef f(x):\n    return x\n"
    (tmp_path / "other.py").write_text("from program import f\n\nprint(f(1))\n")

    async def work(editor: Editor) -> None:
        uri = editor.open("program.py", program)
        sizes: list[tuple[int, float]] = []
        for number in range(24):
            await editor.diagnostics(uri)
            await editor.hover(uri, 4, 6)
            editor.type(uri, types.Range(types.Position(1, 0), types.Position(1, 0)), f"# {number}\n")
            if number in (5, 23):
                await editor.diagnostics(uri)
                sizes.append(held())
        assert max(count for count, _ in sizes) <= 6
        assert sizes[1][1] < sizes[0][1] + 30, sizes

    run(tmp_path, work)


def test_a_text_that_is_overtaken_is_not_waited_for(tmp_path: Path) -> None:
    """Each change while the last is looked at ends that; the answers are those of the last text."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    program = "import jax\n\n\n@jax.jit\ndef f(x):\n    return x\n"
    for number in range(10):
        (tmp_path / f"user{number}.py").write_text(
            "from program import f\nimport jax\n" + f"print(f({number}))\n" * 20
        )

    async def work(editor: Editor) -> None:
        uri = editor.open("program.py", program)
        for _ in range(6):
            editor.type(uri, types.Range(types.Position(5, 11), types.Position(5, 11)), "x > 0 and ")
            await asyncio.sleep(0.21)
        for _ in range(100):
            if len(await editor.diagnostics(uri)) == 6:
                break
            await asyncio.sleep(0.1)
        assert [one.code for one in await editor.diagnostics(uri)] == ["JAX101"] * 6

    run(tmp_path, work)
