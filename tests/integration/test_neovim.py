"""`jaxlint server` in Neovim, with its own client: findings, a hover, and a fix that it makes and saves."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NEOVIM = shutil.which("nvim")

PROGRAM = """import jax


@jax.jit
def double(value):
    return jax.tree_map(lambda leaf: 2 * leaf, value)
"""
# What a user does, one after the other, with the settings of the documentation.
SESSION = """
local root, out = arg_root, arg_out
local function wait(what, ready)
  if not vim.wait(60000, ready, 50) then error("nothing came: " .. what) end
end
vim.cmd("edit " .. root .. "/program.py")
local said = {}
wait("diagnostics", function() said = vim.diagnostic.get(0); return #said > 0 end)
local id = next(vim.lsp.buf_get_clients(0))
local at = vim.lsp.util.make_position_params(0, "utf-16")
at.position = { line = 5, character = 49 }
local hover = vim.lsp.buf_request_sync(0, "textDocument/hover", at, 60000)
local about = {
  textDocument = at.textDocument, context = { diagnostics = {}, only = { "quickfix" } },
  range = { start = { line = 5, character = 12 }, ["end"] = { line = 5, character = 12 } },
}
local actions = vim.lsp.buf_request_sync(0, "textDocument/codeAction", about, 60000)
vim.lsp.util.apply_workspace_edit(actions[id].result[1].edit, "utf-16")
vim.cmd("write")
wait("the finding to go", function() return #vim.diagnostic.get(0) == 0 end)
local file = io.open(out, "w")
file:write(vim.json.encode({
  said = said[1].message, code = said[1].code, line = said[1].lnum,
  hover = hover[id].result.contents.value, action = actions[id].result[1].title,
}))
file:close()
vim.cmd("qall!")
"""


def settings() -> str:
    """Those of the documentation for this Neovim, as they stand."""
    assert NEOVIM is not None
    said = subprocess.run([NEOVIM, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"v0\.(\d+)", said)
    new = version is None or int(version[1]) >= 11
    page = (Path(__file__).resolve().parents[2] / "docs/editor.md").read_text(encoding="utf-8")
    first, second = re.findall(r"```lua\n(.*?)```", page, re.DOTALL)
    return str(first if new else second)


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")
def test_neovim_shows_findings_and_hovers_and_makes_a_fix(tmp_path: Path) -> None:
    assert NEOVIM is not None
    program, out = tmp_path / "program.py", tmp_path / "out.json"
    (tmp_path / "pyproject.toml").touch()
    program.write_text(PROGRAM)
    (tmp_path / "jaxlint").write_text(f'#!/bin/sh\nexec {sys.executable} -P -m jaxlint "$@"\n')
    (tmp_path / "jaxlint").chmod(0o755)
    (tmp_path / "init.lua").write_text(settings())
    given = {"arg_root": str(tmp_path), "arg_out": str(out)}
    script = tmp_path / "session.lua"
    script.write_text(
        "".join(f"local {name} = {json.dumps(value)}\n" for name, value in given.items()) + SESSION
    )
    done = subprocess.run(
        [NEOVIM, "--headless", "-u", str(tmp_path / "init.lua"), "-c", f"luafile {script}", "-c", "cquit"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert out.exists(), done.stderr
    found = json.loads(out.read_text())
    assert (found["code"], found["line"]) == ("JAX901", 5)
    assert "jax.tree_map" in found["said"]
    assert "`value` is **a tracer** in `double`" in found["hover"]
    assert found["action"].startswith("jaxlint: ")
    assert program.read_text() == PROGRAM.replace("jax.tree_map", "jax.tree.map")
    assert done.returncode == 0, done.stderr
