"""What Neovim shows while `jaxlint server` runs in it: a hover, the menu of fixes, and the fixed code.

Neovim draws into this process instead of a terminal (`nvim --embed`), so what is recorded is its own screen.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import msgpack
from rich.style import Style
from rich.text import Text

TIMEOUT = 120  # seconds for anything that is waited for
# As docs/editor.md has it for this Neovim; the rest is how the picture looks.
SETTINGS = """
vim.o.number = true
vim.o.laststatus = 0
vim.o.signcolumn = "no"
vim.o.showmode = false
vim.o.ruler = false
vim.o.showtabline = 0
vim.o.shortmess = vim.o.shortmess .. "IF"
vim.o.swapfile = false
vim.cmd("syntax on")
vim.cmd("highlight NormalFloat guifg=#d9d9d9 guibg=#303040")
vim.cmd("highlight FloatBorder guifg=#8888a0 guibg=#303040")
vim.cmd("highlight MsgSeparator guifg=#8888a0 guibg=NONE gui=NONE cterm=NONE")
vim.cmd("highlight LineNr guifg=#707070")
vim.diagnostic.config({ virtual_text = false })
vim.lsp.handlers["textDocument/hover"] = vim.lsp.with(vim.lsp.handlers.hover, { border = "single" })
local name, python = ...
vim.cmd("edit " .. name)
local id = vim.lsp.start_client({
  name = "jaxlint", cmd = { python, "-P", "-m", "jaxlint", "server" }, root_dir = vim.fn.getcwd(),
})
vim.lsp.buf_attach_client(0, id)
"""


@dataclass
class Screen:
    """Neovim's screen, line by line, from the events that it draws with."""

    width: int
    height: int
    cells: list[list[tuple[str, int]]] = field(init=False)
    styles: dict[int, Style] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.cells = [[(" ", 0)] * self.width for _ in range(self.height)]

    def draw(self, name: str, call: list[Any]) -> None:
        if name == "hl_attr_define":
            number, attributes = call[0], call[1]
            self.styles[number] = _style(attributes)
        elif name == "grid_clear":
            self.__post_init__()
        elif name == "grid_line":
            _, row, column, cells = call[:4]
            style = 0
            for text, *more in cells:
                style = more[0] if more else style
                for _ in range(more[1] if len(more) > 1 else 1):
                    self.cells[row][column] = (text, style)
                    column += 1
        elif name == "grid_scroll":
            _, top, bottom, left, right, rows, _ = call
            for row in range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1):
                self.cells[row][left:right] = self.cells[row + rows][left:right]

    def plain(self) -> str:
        return "\n".join("".join(text for text, _ in row) for row in self.cells)

    def lines(self, first: int, last: int) -> list[Text]:
        """Lines `first` to `last` of the screen, from 0."""
        plain = Style()
        return [
            Text.assemble(
                *(
                    ("".join(text for text, _ in cells), self.styles.get(style, plain))
                    for style, cells in groupby(row, key=lambda cell: cell[1])
                )
            )
            for row in self.cells[first : last + 1]
        ]


def _style(attributes: dict[str, Any]) -> Style:
    def colour(name: str) -> str | None:
        return f"#{attributes[name]:06x}" if name in attributes else None

    return Style(
        color=colour("foreground"),
        bgcolor=colour("background"),
        bold=attributes.get("bold", False),
        italic=attributes.get("italic", False),
        underline=attributes.get("underline", False) or attributes.get("undercurl", False),
        reverse=attributes.get("reverse", False),
    )


class Neovim:
    """One Neovim, driven by its own messages."""

    def __init__(self, folder: Path, width: int, height: int) -> None:
        program = shutil.which("nvim")
        if program is None:
            raise RuntimeError("Neovim is not installed")
        self.process = subprocess.Popen(
            [program, "--embed", "--clean"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        self.unpacker = msgpack.Unpacker(strict_map_key=False, raw=False, unicode_errors="replace")
        self.screen = Screen(width, height)
        self.answers: dict[int, tuple[Any, Any]] = {}
        self.asked = 0
        self.ask("nvim_ui_attach", width, height, {"rgb": True, "ext_linegrid": True})

    def send(self, method: str, *arguments: Any) -> int:
        assert self.process.stdin is not None
        self.asked += 1
        self.process.stdin.write(msgpack.packb([0, self.asked, method, list(arguments)]))
        self.process.stdin.flush()
        return self.asked

    def ask(self, method: str, *arguments: Any) -> Any:
        number = self.send(method, *arguments)
        self.wait(method, lambda: number in self.answers)
        error, result = self.answers.pop(number)
        if error:
            raise RuntimeError(f"{method}: {error}")
        return result

    def lua(self, code: str, *arguments: Any) -> Any:
        return self.ask("nvim_exec_lua", code, list(arguments))

    def wait(self, what: str, ready: Callable[[], bool]) -> None:
        end = time.monotonic() + TIMEOUT
        while not ready():
            if time.monotonic() > end:
                raise RuntimeError(f"nothing came: {what}\n{self.screen.plain()}")
            self.read()

    def wait_to_see(self, pattern: str) -> None:
        self.wait(pattern, lambda: re.search(pattern, self.screen.plain()) is not None)

    def read(self) -> None:
        assert self.process.stdout is not None
        data = self.process.stdout.read()
        if not data:
            time.sleep(0.02)
            return
        self.unpacker.feed(data)
        for message in self.unpacker:
            if message[0] == 1:
                self.answers[message[1]] = (message[2], message[3])
            elif message[0] == 2 and message[1] == "redraw":
                for name, *calls in message[2]:
                    for call in calls:
                        self.screen.draw(name, call)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def hover_and_fix(folder: Path, name: str, place: tuple[int, int], width: int) -> list[Text]:
    """The lines of three screens: the hover at a line and column (from 1), the menu of fixes there, and the code after the first."""
    line, column = place
    neovim = Neovim(folder, width, 12)
    try:
        neovim.lua(SETTINGS, name, sys.executable)
        neovim.lua(
            "local line, column = ...; vim.api.nvim_win_set_cursor(0, { line, column - 1 })", line, column
        )
        neovim.lua("local line = ...; vim.fn.winrestview({ topline = line - 3 })", line)
        neovim.wait("diagnostics", lambda: neovim.lua("return #vim.diagnostic.get(0)") > 0)
        neovim.lua("vim.lsp.buf.hover()")
        neovim.wait_to_see("tracer")
        hover = neovim.screen.lines(0, 10)
        neovim.ask("nvim_input", "lh")
        neovim.wait("the hover to close", lambda: "tracer" not in neovim.screen.plain())
        neovim.send("nvim_exec_lua", "vim.lsp.buf.code_action()", [])
        neovim.wait_to_see("Type number")
        menu = neovim.screen.lines(0, 11)
        before = neovim.screen.plain()
        neovim.send("nvim_input", "1<CR>")
        neovim.wait("the fix", lambda: "Type number" not in neovim.screen.plain() != before)
        time.sleep(1)
        neovim.ask("nvim_command", "redraw!")
        after = neovim.screen.lines(0, 10)
    finally:
        neovim.close()
    titles = ("hover", "code actions", "after the first action")
    lines: list[Text] = []
    for title, part in zip(titles, (hover, menu, after), strict=True):
        lines += [Text(f" {title} ".center(width, "─"), style="dim"), *part]
    return lines
