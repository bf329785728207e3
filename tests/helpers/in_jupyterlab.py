"""JupyterLab with its LSP extension in a headless Chromium.

Runs with the Python of `.venv-jupyter`: `-m tests.helpers.in_jupyterlab FOLDER BROWSER`. FOLDER has `train.ipynb` and
`config/`, with what the documentation says of JupyterLab. What was seen is printed as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from tests.helpers.browser_page import Page, answering, page_of

MARKED = "[...document.querySelectorAll('.cm-lintRange')].map((one) => one.textContent)"
# The text node of a function's name, as a range, which has a place.
DEFINED = """(() => {
  const line = [...document.querySelectorAll('.cm-line')].find((one) => one.textContent.startsWith('def step'));
  const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT), range = document.createRange();
  while (texts.nextNode() && !texts.currentNode.textContent.includes('step'));
  range.selectNodeContents(texts.currentNode);
  return range;
})()"""
LAST_LINE = "[...document.querySelectorAll('.jp-CodeCell .cm-line')].at(-1)"
CONTROL = {"key": "Control", "code": "ControlLeft", "windowsVirtualKeyCode": 17}


def seen(page: Page) -> dict[str, Any]:
    """What somebody sees who opens the notebook, points at an error and at a function, and silences a line."""
    saw: dict[str, Any] = {"marked": page.until(MARKED, lambda found: len(found or []) == 2)}
    page.point("document.querySelector('.cm-lintRange')")
    saw["tooltip"] = page.shown(".cm-tooltip")
    page.call("Input.dispatchKeyEvent", type="rawKeyDown", modifiers=2, **CONTROL)
    page.point(DEFINED, modifiers=2)
    saw["hover"] = page.shown(".lsp-hover")
    page.call("Input.dispatchKeyEvent", type="keyUp", **CONTROL)
    page.click(LAST_LINE)
    page.press("End", "End", 35)
    page.call("Input.insertText", text="  # jaxlint: ignore[removed-api]")
    saw["left"] = page.until(MARKED, lambda found: len(found or []) == 1)
    return saw


def main() -> None:
    folder, browser = Path(sys.argv[1]).resolve(), sys.argv[2]
    places = {"JUPYTER_CONFIG_DIR": "own", "JUPYTER_RUNTIME_DIR": "runtime", "JUPYTER_DATA_DIR": "data"}
    environment = {
        **os.environ,
        **{name: str(folder / place) for name, place in places.items()},
        "JUPYTER_CONFIG_PATH": str(folder / "config"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--port=0", "--allow-root"]
    command += ["--IdentityProvider.token=token", f"--ServerApp.root_dir={folder}"]
    lab, port = answering(command, folder / "lab.log", re.compile(r"http://127\.0\.0\.1:(\d+)/"), environment)
    try:
        with page_of(browser, folder, environment) as page:
            page.call("Page.navigate", url=f"http://127.0.0.1:{port}/lab/tree/train.ipynb?token=token")
            print(json.dumps(seen(page)))
    finally:
        lab.terminate()
        lab.wait(60)


if __name__ == "__main__":
    main()
