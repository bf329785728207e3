"""The page: nothing of a program becomes markup, nothing is loaded from anywhere, every figure says its kind."""

from __future__ import annotations

import copy
import io
import itertools
import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from rich.console import Console

from jaxlint_runtime.proof.gain import is_proven
from jaxlint_runtime.report.best_versions import best_of, subjects
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.html.markup import escaped, tag
from jaxlint_runtime.report.html.page import page
from jaxlint_runtime.report.html.page_files import write_page, write_plots
from jaxlint_runtime.report.html.plots import memory_chart, roofline_chart, times_chart
from jaxlint_runtime.report.html.svg_chart import powers, ticks
from jaxlint_runtime.report.inspection_tables import peaks
from jaxlint_runtime.report.targets_table import rows_of, verdicts
from jaxlint_runtime.wording.paths import file_name

VOID = {"meta", "link", "br", "hr", "img"}
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>alert(1)</script>",
    "javascript:alert(1)",
    "a\u202eb\u0000c\ud800\u061c\U000e0041",
    "{{7*7}} &lt;b&gt; ]]> --> <!--",
    "x" * 400,
)


def cost(peak, time=None, kind="measured"):
    return {
        "time_ms": None if time is None else {"median": time, "low": time, "high": time, "level": 0.95},
        "time_kind": None if time is None else kind,
        "compile_s": 1.5,
        "peak_bytes": peak,
        "temp_bytes": peak // 2,
        "flops": 4e9,
        "bytes_accessed": 1e8,
        "collective_bytes": 0.0,
        "residual_bytes": None,
    }


def inspection(version, peak, name="step", path="train.py"):
    place = {"path": path, "line": 4, "function": name}
    return {
        "function": name,
        "path": path,
        "line": 3,
        "target": "cpu",
        "version": version,
        "cost": cost(peak),
        "memory": {
            "kind": "estimate",
            "bytes": [peak // 4, peak // 2, peak, peak // 3],
            "phases": ["forward", "forward", "backward", "other"],
            "equations": 4,
            "peak_bytes": peak,
            "peak_index": 2,
            "peak_operation": "dot_general",
            "peak_path": path,
            "peak_line": 9,
            "peak_function": name,
            "alive": [
                {
                    "shape": "f32[8]",
                    "bytes": 32,
                    "count": 1,
                    "operation": "argument",
                    "path": None,
                    "line": None,
                }
            ],
        },
        "flops": {"forward": 1e9, "backward": 2e9, "other": 1e9},
        "flops_exact": True,
        "matmul_flops": 3e9,
        "matmul_dtype": "float32",
        "bytes": {"forward": 1e8, "backward": 2e8, "other": 1e8},
        "bytes_exact": True,
        "hlo": {
            "kernels": 12,
            "fusions": 7,
            "launches": 20,
            "custom_calls": {},
            "collectives": {},
            "facts": [{"kind": "copy", "text": f"copies {name}", "bytes": 70000, "count": 2, **place}],
            "facts_left_out": 1,
        },
        "lines": [{"flops": 1e9, "bytes": 1e6, **place}],
    }


def result(candidate="donation", status="verified", name="step", path="train.py", before=2**20, after=2**19):
    speedup = {"median": 1.3, "low": 1.2, "high": 1.4, "level": 0.95}
    return {
        "function": name,
        "path": path,
        "line": 3,
        "code": "JAX601",
        "candidate": candidate,
        "status": status,
        "evidence": "the same bits, run on cpu",
        "reason": f"because {name}",
        "before": cost(before, 10.0),
        "after": cost(after, 8.0),
        "speedup": speedup,
        "numerics": {
            "max_abs": 0.0,
            "max_rel": 0.0,
            "gradient_cosine": None,
            "tolerance": 0.0,
            "passed": True,
        },
        "codemod": None,
        "parameters": {},
        "pairs_ms": [*[[10.0, 8.0], [11.0, 8.5]] * 6, [10.5, 40.0]],
    }


def document(name="step", path="train.py", target="cpu"):
    made = Document(program={"kind": "script", "target": path, "arguments": [name]}, targets=[target])
    made.ran = True
    made.ending = {"how": "finished", "status": 0, "message": f"the program ended: {name}"}
    made.versions = {"python": "3.11.7", "jax": "0.10.2"}
    made.device = f"cpu: {name}"
    made.step = name
    finding = {
        "path": path,
        "line": 3,
        "code": "JAX601",
        "name": "missing-donation",
        "severity": "warning",
        "message": name,
    }
    made.functions = [
        {
            "function": name,
            "path": path,
            "line": 3,
            "calls": 20,
            "inner_calls": 0,
            "call_ms": 1.5,
            "compiles": [
                {"trace_s": 0.1, "lower_s": 0.1, "compile_s": 0.4, "cause": "the first call"},
                {"trace_s": 0.1, "lower_s": 0.1, "compile_s": 0.4, "cause": f"new shape of {name}"},
            ],
            "constants": [{"shape": [4, 4], "dtype": "float32", "nbytes": 2**21}],
            "findings": [finding],
        }
    ]
    made.flagged = [
        {
            "function": name, "path": path, "line": 8, "calls": None, "inner_calls": 0, "seconds": 1.0, "call_ms": None,
            "uncounted": name, "findings": [finding],
        }
    ]  # fmt: skip
    made.syncs = [
        {
            "path": path,
            "line": 9,
            "kind": name,
            "count": 3,
            "per_step": 1.0,
            "seconds": 0.1,
            "findings": [finding],
        }
    ]
    made.eager = {"compiles": 2, "seconds": 0.5}
    made.inspections = [inspection("original", 2**20, name, path), inspection("donation", 2**19, name, path)]
    made.inspections = [{**one, "target": target} for one in made.inspections]
    made.peaks = {
        target: {
            "name": name, "flops": {"float32": 1e11}, "bandwidth": 2e10, "memory": 2**21, "kind": "measured", "source": name,
        }
    }  # fmt: skip
    made.results = [(target, result(name=name, path=path)), (target, result("bf16", "rejected", name, path))]
    made.diffs = [
        {
            "function": name,
            "path": path,
            "line": 3,
            "candidate": "donation",
            "diff": f"--- a\n+++ b\n@@ -1 +1 @@\n-{name}\n+y\n",
            "note": "",
        }
    ]
    made.applied = [
        {"function": name, "path": path, "line": 3, "candidate": "donation", "kept": True, "message": name}
    ]
    made.notes, made.errors, made.regressions = [name], [name], [name]
    return made


class Reader(HTMLParser):
    """Elements, their text, and whether each is closed where it should be."""

    def __init__(self):
        super().__init__()
        self.open, self.found, self.text, self.problems = [], [], [], []

    def handle_starttag(self, name, attributes):
        self.found.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        if not self.open or self.open.pop() != name:
            self.problems.append(name)

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert (reader.problems, reader.open) == ([], [])
    return reader


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_of_a_program_becomes_markup(name):
    text = page(json.loads(json.dumps(document(name, name).as_json())), "data.json", "today")
    plain = read(page(document().as_json(), "data.json", "today"))
    hostile = read(text)
    assert [name for name, _ in hostile.found] == [name for name, _ in plain.found]
    assert all(not key.startswith("on") for _, attributes in hostile.found for key in attributes)
    links = {attributes["href"] for element, attributes in hostile.found if element == "a"}
    assert links == {"#main", "data.json"}
    assert escaped(name) in text
    text.encode("utf-8")


def test_the_page_loads_nothing():
    text = page(document().as_json(), "report.json", "today")
    for name, attributes in read(text).found:
        assert name not in ("script", "iframe", "object", "embed", "img")
        assert "src" not in attributes
        if name == "link":
            assert attributes["href"] == "data:,"
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src &#x27;none&#x27;" in text


def test_what_the_page_says():
    text = " ".join("".join(read(page(document().as_json(), None, None)).text).split())
    for said in (
        "1 of 2", "1.30x", "0.50x", "because step", "new shape of step", "missing-donation", "copies step", "captures float32",
        "What --apply writes", "donation of step", "worse than the baseline: step", "measured", "compiler", "estimate", "counted",
    ):  # fmt: skip
        assert said in text, said


def test_headings_go_down_by_one_and_pictures_have_names():
    found = read(page(document().as_json())).found
    levels = [int(name[1]) for name, _ in found if name in ("h1", "h2", "h3")]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    pictures = [attributes for name, attributes in found if name == "svg"]
    assert len(pictures) == 6
    assert all(picture["role"] == "img" and picture["aria-label"] for picture in pictures)
    assert all(attributes.get("scope") for name, attributes in found if name == "th")


@pytest.mark.parametrize("change", ["functions", "results", "inspections", "peaks", "nothing ran", "no cost"])
def test_what_is_missing_is_left_out(change):
    made = document()
    if change == "nothing ran":
        made = Document(program={"kind": "script", "target": "x.py", "arguments": []}, targets=[])
    elif change == "no cost":
        made.results = [
            (
                "cpu",
                {
                    **result(),
                    "before": None,
                    "after": None,
                    "speedup": None,
                    "numerics": None,
                    "pairs_ms": [],
                },
            )
        ]
        for one in made.inspections:
            one.update(cost=None, hlo=None, bytes=None)
    elif change == "peaks":
        made.peaks = {}
    else:
        setattr(made, change, [])
    read(page(made.as_json()))


def test_the_best_is_the_combination_else_what_gains_most():
    donation, remat = result(), result("remat", before=2**20, after=2**17)
    assert best_of([donation, remat]) is remat
    both = result("donation + remat")
    assert best_of([remat, both, donation]) is both
    assert best_of([result(status="rejected")]) is None


def test_a_diff_of_no_function_is_shown_all_the_same():
    made = document()
    made.diffs.append(
        {
            "function": None,
            "path": None,
            "line": None,
            "candidate": "source",
            "diff": "-old\n+new line\n",
            "note": "",
        }
    )
    text = page(made.as_json())
    assert text.count("+new line") == 1
    assert text.count("donation of step") == 2  # heading and label of one


def test_targets_say_whether_it_fits():
    made = document(target="tpu:v5e-1x1")
    run = made.as_json()["runs"][0]
    assert [(row.version, row.fits) for row in rows_of([run])] == [
        ("as written", "fits"),
        ("donation", "fits"),
    ]
    small = copy.deepcopy(run)
    small["peaks"]["memory"] = 2**19
    assert [row.fits for row in rows_of([small])] == ["too big", "fits"]
    assert "too big" in page({**made.as_json(), "runs": [small]})
    (fits,), (helped,) = list(verdicts([run])), list(verdicts([small]))
    assert fits.startswith("step fits the 2 MiB of tpu:v5e-1x1: it needs 1 MiB, with donation 512 KiB")
    assert helped.startswith("step does not fit the 512 KiB of tpu:v5e-1x1: it needs 1 MiB; with donation ")
    assert helped.endswith(" and fits")
    for one in small["results"]:
        one["base"] = "bf16"  # what it was tried on top of belongs to the version that fits
    assert " with bf16 + donation it needs " in next(verdicts([small]))
    small["results"] = [one for one in small["results"] if not is_proven(one)]
    (lost,) = verdicts([small])
    assert lost.endswith("no candidate makes it smaller")
    assert len(subjects(run)) == 1


def test_where_nothing_was_tried_the_page_says_why():
    made = document()
    (run,) = made.as_json()["runs"]
    never = [
        {**run["results"][0], "candidate": "all", "status": "not-applicable", "reason": "it was never called"}
    ]
    text = page({**made.as_json(), "runs": [{**run, "results": never, "inspections": []}]})
    assert "Nothing was tried: it was never called." in text
    never.append({**never[0], "candidate": "kernels", "reason": "the function computes no attention"})
    text = page({**made.as_json(), "runs": [{**run, "results": never, "inspections": []}]})
    assert "No candidate applies." in text


def test_files(tmp_path):
    (said,) = write_page(document(), tmp_path / "report.html")
    assert "report.html" in said
    assert json.loads((tmp_path / "report.json").read_text())["runs"][0]["inspections"]
    read((tmp_path / "report.html").read_text())
    (said,) = write_plots(document("a/b<c>"), tmp_path)
    assert said.startswith("wrote 3 plots to")
    pictures = sorted(tmp_path.glob("*.svg"))
    assert len(pictures) == 3
    for picture in pictures:
        assert ElementTree.parse(picture).getroot().tag.endswith("svg")


def test_pictures_are_drawn_as_png_where_the_library_is_installed(tmp_path):
    pytest.importorskip("resvg_py")
    write_plots(document(), tmp_path)
    pictures = list(tmp_path.glob("*.png"))
    assert len(pictures) == 3
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)


def test_charts_of_little():
    one = inspection("original", 1)["memory"]
    ElementTree.fromstring(
        memory_chart(
            {**one, "bytes": [0], "phases": ["other"], "peak_index": 0, "peak_bytes": 0}, None, None, "f", 350
        ).svg()
    )
    ElementTree.fromstring(times_chart([[1.0, 1.0]], "f", 350).svg())
    nothing = {**inspection("original", 1), "bytes": {}, "flops": {}}
    assert (
        roofline_chart(
            {"name": "x", "flops": {"float32": 1e9}, "bandwidth": 1e9, "kind": "measured"},
            {"before": nothing},
            "f",
            350,
        )
        is None
    )


def test_round_numbers_on_axes():
    assert ticks(0, 100, 5) == [0, 20, 40, 60, 80, 100]
    assert ticks(3, 3, 5) == [3]
    assert powers(0.5, 2000, 6) == [1, 10, 100, 1000]
    assert file_name("a b/c<d>") == "a_b_c_d"
    assert tag("p", "a<b", None, [1, "c"], class_="x") == '<p class="x">a&lt;b1c</p>'


def test_the_terminal_shows_what_is_alive_at_the_peak() -> None:
    one = inspection("original", 8)
    memory = one["memory"]
    memory["peak_bytes"] = 2**23
    entry = {
        "shape": "f32[8,8]",
        "bytes": 2**22,
        "count": 3,
        "operation": "mul",
        "path": "train.py",
        "line": 7,
        "function": "f",
    }
    memory["alive"] = [entry, {**entry, "operation": "argument", "path": None, "line": None}]
    run = {"results": [], "inspections": [one]}
    stream = io.StringIO()
    console = Console(file=stream, width=120, color_system=None)
    for part in peaks([run]):
        console.print(part)
    text = stream.getvalue()
    assert "8 MiB" in text
    assert "4 MiB  train.py:7 mul, 3 x f32[8,8]" in text
    assert "4 MiB  argument, 3 x f32[8,8]" in text
    assert "by liveness over the jaxpr" in text
    memory["assigned"] = {
        **memory,
        "kind": "compiler",
        "alive": [{**entry, "shape": "", "operation": "output", "path": None}],
    }
    console.print(*peaks([run]))
    assert "by the compiler's buffer assignment" in stream.getvalue()
    assert "4 MiB  output, 3 buffers" in stream.getvalue()
    memory["assigned"] = None
    memory["peak_bytes"] = 1000
    assert list(peaks([run])) == []
