"""The playground in a real browser: it finds what the command line finds, its links hold the code, and nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import http.server
import json
import queue
import re
import shutil
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jaxlint import engine
from jaxlint.config import Config
from jaxlint.finding import Severity
from tools import playground

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "playground"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

REUSED = (
    "import jax\n\n\ndef draw(key):\n    a = jax.random.normal(key)\n    return a + jax.random.normal(key)\n"
)
BROKEN = "import jax\n\ndef f(x:\n    return x\n"
FINE = "import jax\n\n\n@jax.jit\ndef f(x):  # ä, 🙂 and `+/=`\n    return x + 1\n"
LONG = (
    "import jax\n\n\n@jax.jit\ndef f(x, n):\n    if n == 0:\n        return x\n"
    + "".join(f"    elif n == {number}:\n        return x + {number}\n" for number in range(1, 250))
    + "    return x\n"
)

# What the page does by hand, done by a script: it waits until the page has answered, and tells the test what is seen.
VISIT = """
const texts = TEXTS;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const state = () => document.querySelector(".pg-state");
async function answered() {  // and has been quiet for a second: a busy machine begins late
  for (let quiet = 0; quiet < 20; quiet++) {
    await sleep(50);
    if (state().textContent === "" || state().classList.contains("pg-busy")) quiet = -1;
  }
}
async function follow(hash) {
  const before = document.querySelector("textarea").value;
  location.hash = hash;
  while (document.querySelector("textarea").value === before) await sleep(50);
  await answered();
}
const seen = () => ({
  state: state().textContent,
  code: document.querySelector("textarea").value,
  findings: [...document.querySelectorAll(".pg-findings li")].map((one) => ({
    line: Number(one.dataset.line), message: one.querySelector(".pg-message").textContent,
    rule: one.querySelector(".pg-rule a")?.textContent ?? null,
  })),
  marked: [...document.querySelectorAll(".pg-gutter span")].filter((one) => one.className).map((one) => Number(one.textContent)),
});
await answered();
const visits = [seen()];
for (const text of texts) {
  const box = document.querySelector("textarea");
  box.value = text;
  box.dispatchEvent(new Event("input"));
  await answered();
  visits.push(seen());
}
document.querySelector(".pg-findings button")?.click();
const chosen = document.querySelector("textarea");
const selected = chosen.value.slice(chosen.selectionStart, chosen.selectionEnd);
document.querySelector(".pg-share").click();
while (!location.hash) await sleep(50);
const link = location.hash;
await follow("#rule=key-reuse");
visits.push(seen());
await follow(link);
visits.push(seen());
location.hash = "#code=damaged";
await sleep(500);
const loaded = performance.getEntriesByType("resource").map((one) => new URL(one.name).origin);
const body = JSON.stringify({ visits, selected, link, damaged: state().textContent, loaded, origin: location.origin });
await fetch("/seen", { method: "POST", body });
"""


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser is installed: none of {', '.join(BROWSERS)} is on PATH")
    return found


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, queue.Queue[dict[str, Any]]]]:
    """The address of the page, and what it tells."""
    folder = tmp_path / "playground"
    shutil.copytree(PAGE, folder)
    try:
        playground.write(folder)
    except playground.NoPyodide as reason:
        pytest.skip(f"Pyodide cannot be had here: {reason}")
    markdown = (PAGE / "index.md").read_text(encoding="utf-8")
    page = re.search(r'<div id="pg">.*</script>', markdown, re.DOTALL)
    assert page is not None
    visit = VISIT.replace("TEXTS", json.dumps([REUSED, BROKEN, LONG, FINE, REUSED]))
    html = (
        f'<!doctype html><meta charset="utf-8"><body>{page[0]}<script type="module">{visit}</script></body>'
    )
    (folder / "index.html").write_text(html, encoding="utf-8")
    told: queue.Queue[dict[str, Any]] = queue.Queue()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_POST(self) -> None:
            told.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/playground/", told
        server.shutdown()


def by_the_engine(text: str) -> list[tuple[int, str, str]]:
    """Line, message and rule of what `check` finds in a text."""
    stdin = engine.Stdin(text.encode(), "program.py")
    config = Config(Path("/"), severity=Severity.INFO)
    found = engine.check([], config, stdin=stdin, use_cache=False).findings
    return [(one.span.line, one.message.replace("`", ""), f"{one.code} {one.name}") for one in found]


def by_the_page(visit: dict[str, Any]) -> list[tuple[int, str, str]]:
    return [(one["line"], one["message"], one["rule"]) for one in visit["findings"]]


@pytest.mark.slow
def test_the_playground_in_a_browser(
    browser: str, served: tuple[str, queue.Queue[dict[str, Any]]], tmp_path: Path
) -> None:
    address, told = served
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += [
        "--disable-background-networking",
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    with (tmp_path / "console").open("w") as console:
        process = subprocess.Popen([*command, address], stdout=subprocess.DEVNULL, stderr=console)
        try:
            seen = told.get(timeout=240)  # a busy machine takes minutes
        except queue.Empty:
            pytest.fail(f"the page told nothing: {(tmp_path / 'console').read_text()[-2000:]}")
        finally:
            process.terminate()
            process.wait(10)
    first, reused, broken, long, fine, again, example, linked = seen["visits"]
    assert first["code"] == playground.examples()[0]["code"]
    assert by_the_page(first) == by_the_engine(first["code"]) != []
    assert by_the_page(reused) == by_the_engine(REUSED) != []
    assert reused["marked"] == [6]
    assert reused["state"] == "1 finding."
    assert [one["line"] for one in broken["findings"]] == [3]
    assert "cannot be parsed" in broken["findings"][0]["message"]
    assert by_the_page(long)[:1] == by_the_engine(LONG)[:1] != []
    assert (fine["findings"], fine["marked"], fine["state"]) == ([], [], "Nothing was found.")
    assert seen["selected"] in REUSED.splitlines()[5]
    assert "jax.random.normal(key)" in seen["selected"]
    assert seen["link"].startswith("#code=")
    assert len(seen["link"]) < len(REUSED) + 20
    assert by_the_page(example) == by_the_engine(example["code"])
    assert any(rule.endswith("key-reuse") for _, _, rule in by_the_page(example))
    assert linked == again
    assert linked["code"] == REUSED
    assert "damaged" in seen["damaged"]
    assert set(seen["loaded"]) == {seen["origin"]}
    problems = [line for line in (tmp_path / "console").read_text().splitlines() if "CONSOLE" in line]
    assert problems == []


def test_the_archive_is_the_same_each_time_and_needs_no_libcst(tmp_path: Path) -> None:
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    playground.write_archive(first, PAGE / "check_text.py")
    playground.write_archive(second, PAGE / "check_text.py")
    assert first.read_bytes() == second.read_bytes()
    shutil.unpack_archive(first, tmp_path / "unpacked")
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path / "unpacked")!r})
for name in ("libcst", "click", "rich", "pathspec", "platformdirs", "yaml"):
    sys.modules[name] = None  # an import of it fails
import json
from check_text import check_text
print(json.dumps([json.loads(check_text(text)) for text in {[REUSED, BROKEN]!r}]))
"""
    command = [sys.executable, "-I", "-S", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    reused, broken = json.loads(done.stdout)
    assert [one["name"] for one in reused["findings"]] == ["key-reuse"]
    assert (broken["findings"], broken["errors"][0]["line"]) == ([], 3)


LINK = """
const long = "x = 1\\n".repeat(100_000);
if (await unpacked(await packed(long)) !== long) throw new Error("a link does not give back its code");
for (const make of [() => packed("x".repeat(2_000_000)), () => unpacked(BOMB)]) {
  const caught = await make().then(() => null, (error) => error);
  if (!(caught instanceof RangeError)) throw new Error(`no bound: ${caught}`);
}
console.log(Math.round(process.memoryUsage().rss / 1e6));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_link_holds_no_more_than_a_megabyte(tmp_path: Path) -> None:
    """A link of 400 kB could unpack to half a gigabyte."""
    page = (PAGE / "playground.mjs").read_text("utf-8")
    functions = page[page.index("const most") : page.index("async function fromLink")]
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"".join(squeeze.compress(bytes(1 << 20)) for _ in range(400)) + squeeze.flush()
    bomb = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    (tmp_path / "link.mjs").write_text(f"const BOMB = {bomb!r};\n{functions}\n{LINK}")
    done = subprocess.run(
        ["node", "link.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 300


@pytest.mark.parametrize("example", playground.examples(), ids=lambda one: str(one["rule"]))
def test_each_example_shows_its_finding(example: dict[str, object]) -> None:
    found = [rule for _, _, rule in by_the_engine(str(example["code"]))]
    assert found != []
    assert example["rule"] == "tutorial" or any(rule.endswith(f" {example['rule']}") for rule in found)
