"""The page of a real run in a real browser: nothing is loaded, the console stays empty, nothing runs over the edge."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WIDTHS = (1280, 920, 760, 340)

PROGRAM = """
import jax
import jax.numpy as jnp


def loss(params, x):
    h = x
    for w in params:
        h = jnp.tanh(h @ w)
    return jnp.mean((h - x) ** 2)


@jax.jit
def a_training_step_with_a_name_that_is_longer_than_a_narrow_screen_is_wide_because_people_do_that(params, x):
    gradient = jax.grad(loss)(params, x)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient)


def main():
    params = [jnp.eye(256) * 0.5 for _ in range(4)]
    x = jnp.ones((128, 256))
    for _ in range(12):
        params = a_training_step_with_a_name_that_is_longer_than_a_narrow_screen_is_wide_because_people_do_that(params, x)
    print(float(params[0][0, 0]))


if __name__ == "__main__":
    main()
"""

# Looks into a frame of each width once it is loaded, and writes what it sees into the page.
LOOK = """
<body><script>
const seen = [];
function look(frame, width) {
  const page = frame.contentDocument, root = page.documentElement;
  const over = [...page.querySelectorAll("body *")].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.right > width + 1 && !one.closest(".diff") && !one.closest(".skip");
  });
  seen.push({
    width: width,
    scrolls: root.scrollWidth > root.clientWidth,
    over: over.slice(0, 5).map((one) => one.outerHTML.slice(0, 120)),
    loaded: frame.contentWindow.performance.getEntriesByType("resource").map((one) => one.name),
    pictures: [...page.querySelectorAll("svg")].filter((one) => one.getBoundingClientRect().width > 0).length,
    rows: page.querySelectorAll("tbody tr").length,
  });
  document.getElementById("seen").textContent = JSON.stringify(seen);
}
</script><pre id="seen"></pre>FRAMES</body>
"""


def browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser is installed: none of {', '.join(BROWSERS)} is on PATH")
    return found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    browser()
    folder = tmp_path_factory.mktemp("report")
    (folder / "train.py").write_text(PROGRAM)
    command = [
        sys.executable,
        "-m",
        "jaxlint",
        "verify",
        "-q",
        "--transform",
        "donation",
        "--transform",
        "bf16",
    ]
    command += ["--timing", "0.3", "--html", "report.html", "--plots", "plots", "--dump", "dump", "train.py"]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / "report.html"


def test_the_page_in_a_browser(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    frames = "".join(
        f'<iframe style="width:{width}px;height:900px;border:0" onload="look(this, {width})" srcdoc="{html.escape(text)}"></iframe>'
        for width in WIDTHS
    )
    look = report.with_name("look.html")
    look.write_text(LOOK.replace("FRAMES", frames), encoding="utf-8")
    command = [
        browser(),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--window-size=1400,2000",
    ]
    command += ["--disable-background-networking", "--enable-logging=stderr", "--virtual-time-budget=5000"]
    command += [f"--user-data-dir={report.parent / 'profile'}", "--dump-dom", look.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    said = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert said is not None, done.stdout[-500:]
    seen = json.loads(html.unescape(said[1]))
    assert {frame["width"] for frame in seen} == set(WIDTHS)
    for frame in seen:
        assert not frame["scrolls"], frame
        assert frame["over"] == [], frame
        assert frame["loaded"] == [], frame
        assert frame["pictures"] >= 2, frame  # memory and roofline at least, drawn for this width
        assert frame["rows"] > 10, frame
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert console == []


def test_what_lies_beside_the_page(report: Path) -> None:
    data = json.loads(report.with_suffix(".json").read_text(encoding="utf-8"))
    (run,) = data["runs"]
    assert {one["version"] for one in run["inspections"]} >= {"original"}
    assert run["peaks"]["kind"] == "measured"
    folder = report.parent
    assert {path.suffix for path in (folder / "plots").iterdir()} >= {".svg"}
    kept = sorted(path.name for path in (folder / "dump").rglob("original/*"))
    assert kept == ["hlo.txt", "jaxpr.txt", "stablehlo.mlir"]
    assert "ENTRY" in next((folder / "dump").rglob("original/hlo.txt")).read_text(encoding="utf-8")
