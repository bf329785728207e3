"""JupyterLab with its LSP extension in a headless Chromium, driven by Chromium's own protocol.

Runs with the Python of `.venv-jupyter`: `in_jupyterlab.py FOLDER BROWSER`. FOLDER has `train.ipynb` and `config/`, with what
the documentation says of JupyterLab. What was seen is printed as JSON.
"""

from __future__ import annotations

import base64
import importlib
import itertools
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

MARKED = "[...document.querySelectorAll('.cm-lintRange')].map((one) => one.textContent)"
MIDDLE = """(() => {
  const box = (%s).getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2, box.right - 4];
})()"""
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


class Page:
    """One page of the browser."""

    def __init__(self, address: str) -> None:
        client: Any = importlib.import_module("websocket")  # it comes with jupyter-server
        self.socket = client.create_connection(address, timeout=60, suppress_origin=True)
        self.numbers = itertools.count(1)

    def call(self, method: str, **params: Any) -> Any:
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            said = json.loads(self.socket.recv())
            if said.get("id") == number:
                assert "error" not in said, said
                return said["result"]

    def value(self, expression: str) -> Any:
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return done["result"].get("value")

    def until(self, expression: str, ready: Callable[[Any], bool] = bool, seconds: float = 240) -> Any:
        """The value of an expression, once it is what is waited for."""
        end = time.monotonic() + seconds
        while not ready(found := self.value(expression)):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} stayed {found!r}")
            time.sleep(0.2)
        return found

    def point(self, element: str, modifiers: int = 0) -> None:
        """Moves the mouse onto an element, or a range."""
        x, y, _ = self.value(MIDDLE % element)
        for step in (-3, -1, 0):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + step, y=y, modifiers=modifiers)
            time.sleep(0.2)

    def shown(self, selector: str) -> str:
        """The text of the elements of a kind, once there is some."""
        found = self.until(
            f"[...document.querySelectorAll('{selector}')].map((one) => one.textContent).join('')"
        )
        return str(found)

    def type_at_the_end(self, text: str) -> None:
        """Clicks the last line of code, and types behind it."""
        _, y, right = self.value(MIDDLE % LAST_LINE)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=right, y=y, button="left", clickCount=1)
        self.call("Input.dispatchKeyEvent", type="keyDown", key="End", code="End", windowsVirtualKeyCode=35)
        self.call("Input.insertText", text=text)


def answering(command: list[str], log: Path, address: re.Pattern[str], environment: dict[str, str]) -> Any:
    """A process, and the address that it prints."""
    with log.open("w") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, env=environment)
    for _ in range(1200):
        if (found := address.search(log.read_text(errors="replace"))) is not None:
            return process, found[1]
        if process.poll() is not None:
            break
        time.sleep(0.2)
    process.kill()
    raise AssertionError(f"{command[0]}: {log.read_text(errors='replace')[-2000:]}")


def seen(page: Page) -> dict[str, Any]:
    """What somebody sees who opens the notebook, points at an error and at a function, and silences a line."""
    saw: dict[str, Any] = {"marked": page.until(MARKED, lambda found: len(found or []) == 2)}
    page.point("document.querySelector('.cm-lintRange')")
    saw["tooltip"] = page.shown(".cm-tooltip")
    page.call("Input.dispatchKeyEvent", type="rawKeyDown", modifiers=2, **CONTROL)
    page.point(DEFINED, modifiers=2)
    saw["hover"] = page.shown(".lsp-hover")
    page.call("Input.dispatchKeyEvent", type="keyUp", **CONTROL)
    page.type_at_the_end("  # jaxlint: ignore[removed-api]")
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
    chromium = None
    try:
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        command += ["--remote-debugging-port=0", "--disable-background-networking", "--window-size=1200,900"]
        command += [f"--user-data-dir={folder / 'profile'}", "about:blank"]
        pattern = re.compile(r"DevTools listening on ws://([\w.:]+)/")
        chromium, host = answering(command, folder / "chromium.log", pattern, environment)
        with urllib.request.urlopen(f"http://{host}/json", timeout=60) as said:
            pages = json.load(said)
        page = Page(next(one for one in pages if one["type"] == "page")["webSocketDebuggerUrl"])
        page.call("Page.navigate", url=f"http://127.0.0.1:{port}/lab/tree/train.ipynb?token=token")
        try:
            print(json.dumps(seen(page)))
        finally:
            picture = page.call("Page.captureScreenshot")["data"]
            (folder / "seen.png").write_bytes(base64.b64decode(picture))
    finally:
        if chromium is not None:
            chromium.kill()
            chromium.wait(20)
        lab.terminate()
        lab.wait(60)


if __name__ == "__main__":
    main()
