"""VS Code's workbench in a headless Chromium, with the extension of this project.

Runs with the Python of `.venv-jupyter`: `-m tests.helpers.in_vscode FOLDER BROWSER WORKBENCH JAXLINT`. FOLDER has
`program.py`, WORKBENCH is what `make test-vscode` installs, JAXLINT is the program that the extension starts. What was
seen is printed as JSON.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path
from typing import Any

from tests.helpers.browser_page import Page, answering, page_of

ROOT = Path(__file__).resolve().parents[2]
WAVE = "document.querySelector('.squiggly-error')"
# The parameter's name in the first line of the function.
PARAMETER = """[...document.querySelectorAll('.view-line span')].find(
  (one) => one.children.length === 0 && one.textContent.trim() === 'value')"""
CONTROL = 2


def seen(page: Page) -> dict[str, Any]:
    """What somebody sees who opens the program, asks why a value is a tracer, opens the menu of fixes and makes one."""
    page.until(WAVE + " !== null")
    lines = "document.querySelector('.view-lines').innerText"
    saw: dict[str, Any] = {"lines": page.until(lines, lambda text: "traced" in text)}
    page.point(PARAMETER)
    saw["hover"] = page.shown(".monaco-hover-content")
    page.point(WAVE)
    saw["message"] = page.until(
        "[...document.querySelectorAll('.monaco-hover-content')].map((one) => one.innerText).join('')",
        lambda text: "JAX" in text,
    )
    page.click(WAVE)
    page.press(".", "Period", 190, CONTROL)
    rows = (
        "[...document.querySelectorAll('.action-widget .monaco-list-row.action')].map((one) => one.innerText)"
    )
    saw["menu"] = page.until(rows)
    page.press("Enter", "Enter", 13)
    page.until(WAVE + " === null")
    page.press("s", "KeyS", 83, CONTROL)
    page.until("document.querySelector('.tab.dirty') === null")
    time.sleep(1)  # until it is on disk
    return saw


def main() -> None:
    folder, browser, workbench, jaxlint = Path(sys.argv[1]).resolve(), *sys.argv[2:]
    settings = {
        "security.workspace.trust.enabled": False,
        "telemetry.telemetryLevel": "off",
        "jaxlint.command": [jaxlint],
    }
    for place in ("User", "Machine"):
        (folder / "user" / place).mkdir(parents=True)
        (folder / "user" / place / "settings.json").write_text(json.dumps(settings))
    environment = {**os.environ, "HOME": str(folder)}
    code = ["node", f"{workbench}/node_modules/code-server/out/node/entry.js"]
    code += ["--user-data-dir", str(folder / "user"), "--extensions-dir", str(folder / "extensions")]
    extension = ROOT / "editors/vscode/jaxlint.vsix"
    subprocess.run(
        [*code, "--install-extension", extension], env=environment, check=True, capture_output=True
    )
    code += ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"]
    server, port = answering(
        code, folder / "code.log", re.compile(r"http://127\.0\.0\.1:(\d+)/"), environment
    )
    try:
        with page_of(browser, folder, environment) as page:
            opened = [["openFile", f"vscode-remote://127.0.0.1:{port}{folder}/program.py"]]
            asked = urllib.parse.urlencode({"folder": str(folder), "payload": json.dumps(opened)})
            page.call("Page.navigate", url=f"http://127.0.0.1:{port}/?{asked}")
            print(json.dumps(seen(page)))
    finally:
        server.terminate()
        server.wait(60)


if __name__ == "__main__":
    main()
