"""A page of a headless Chromium, driven by Chromium's own protocol.

It needs the package `websocket-client`, which `.venv-jupyter` has.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import itertools
import json
import re
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

MIDDLE = """(() => {
  const box = (%s).getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2, box.right - 4];
})()"""


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

    def click(self, element: str) -> None:
        """Clicks the right end of an element."""
        _, y, right = self.value(MIDDLE % element)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=right, y=y, button="left", clickCount=1)

    def press(self, key: str, code: str, number: int, modifiers: int = 0) -> None:
        """Presses a key and lets it go."""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=code,
                windowsVirtualKeyCode=number,
                modifiers=modifiers,
            )

    def shown(self, selector: str) -> str:
        """The text of the elements of a kind, once there is some."""
        found = self.until(
            f"[...document.querySelectorAll('{selector}')].map((one) => one.textContent).join('')"
        )
        return str(found)


def answering(
    command: list[str], log: Path, address: re.Pattern[str], environment: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], str]:
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


@contextlib.contextmanager
def page_of(browser: str, folder: Path, environment: Mapping[str, str]) -> Iterator[Page]:
    """The page of a new browser whose files are in `folder`; at the end a picture of it is there as `seen.png`."""
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += ["--remote-debugging-port=0", "--disable-background-networking", "--window-size=1200,900"]
    command += [f"--user-data-dir={folder / 'profile'}", "about:blank"]
    pattern = re.compile(r"DevTools listening on ws://([\w.:]+)/")
    chromium, host = answering(command, folder / "chromium.log", pattern, environment)
    try:
        with urllib.request.urlopen(f"http://{host}/json", timeout=60) as said:
            pages = json.load(said)
        page = Page(next(one for one in pages if one["type"] == "page")["webSocketDebuggerUrl"])
        try:
            yield page
        finally:
            picture = page.call("Page.captureScreenshot")["data"]
            (folder / "seen.png").write_bytes(base64.b64decode(picture))
    finally:
        chromium.kill()
        chromium.wait(20)
