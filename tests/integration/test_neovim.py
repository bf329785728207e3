"""`jaxlint server` in Neovim, with its own client: findings, a hover, and a fix that it makes and saves."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.editor_session import PAGE, project, run

NEOVIM = shutil.which("nvim")

# With the settings of the documentation.
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
  said = said[1].message, hover = hover[id].result.contents.value,
  action = actions[id].result[1].title,
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
    page = PAGE.read_text(encoding="utf-8")
    first, second = re.findall(r"```lua\n(.*?)```", page, re.DOTALL)
    return str(first if new else second)


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")
def test_neovim_shows_findings_and_hovers_and_makes_a_fix(tmp_path: Path) -> None:
    assert NEOVIM is not None
    project(tmp_path)
    out = tmp_path / "out.json"
    (tmp_path / "init.lua").write_text(settings())
    given = {"arg_root": str(tmp_path), "arg_out": str(out)}
    script = tmp_path / "session.lua"
    script.write_text(
        "".join(f"local {name} = {json.dumps(value)}\n" for name, value in given.items()) + SESSION
    )
    run(
        [NEOVIM, "--headless", "-u", tmp_path / "init.lua", "-c", f"luafile {script}", "-c", "cquit"],
        tmp_path,
        out,
    )
