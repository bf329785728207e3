"""`check`, `fix` and `inspect` in a clone that means harm: what it brings is text, and stays text."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest

from tests.helpers import command_line

ENDS_BY = 60  # seconds; what waits for a pipe waits for ever
BRANCH = """\
import jax


@jax.jit
def step(x):
    if x > 0:  # \x1b[2J\u202e ##vso[task.setvariable variable=PATH]here ##[add-path]here <script>
        return x
    return -x
"""
OLD = "import jax\n\n\ndef double(tree):\n    return jax.tree_map(lambda x: 2 * x, tree)\n"
NAMES = [
    b"line\nend.py",
    b"carriage\r\n::error file=x::pwned.py",
    b"::error::pwned.py",
    b"  ::warning::pwned.py",
    b"::stop-commands::x.py",
    b"%0A::error::percent.py",
    b"escape\x1b[31mred.py",
    b"bell\x07.py",
    b"delete\x7f.py",
    b"not-utf8-\xff\xfe.py",
    "next\x85line.py".encode(),
    "override\u202e.py".encode(),
    "isolate\u2066.py".encode(),
    "zero\u200bwidth.py".encode(),
    "separator\u2028.py".encode(),
    "noncharacter\uffff.py".encode(),
    b"<img src=x onerror=alert(1)>.py",
    b"a&b'\"]]>.py",
    b"colon:,comma;.py",
    b"##vso[task.setvariable variable=x]y.py",
    b"##[add-path]z.py",
    b"[bold red]markup.py",
    b"--config=x.py",
    b"{0} %s $(touch pwned) `touch pwned`.py",
    "na\u00efve \u65e5\u672c.py".encode(),
]
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def jaxlint(*arguments: str, cwd: Path, **environment: str) -> tuple[int, str, str]:
    """The exit code and what was printed, which has to be UTF-8."""
    environment = {"PYTHONIOENCODING": "utf-8", **environment}
    done = command_line.jaxlint(*arguments, cwd=cwd, timeout=ENDS_BY, **environment)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finding in each of the files with hostile names, and as many that cannot be parsed."""
    folder = tmp_path_factory.mktemp("named")
    (folder / "pyproject.toml").write_text("")
    (folder / "broken").mkdir()
    for name in NAMES:
        Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).write_text(BRANCH, encoding="utf-8")
        Path(os.fsdecode(os.path.join(os.fsencode(folder), b"broken", name))).write_text("def f(:\n")
    return folder


def check_lines(text: str) -> None:
    """Nothing that a terminal or a server of CI would act upon."""
    assert not STEERING.search(text.replace("\n", ""))
    for line in text.split("\n"):
        assert not line.lstrip().startswith("::"), line
        assert "##[" not in line
        assert "##vso[" not in line


def check_text(text: str, named: Path) -> None:
    check_lines(text)
    assert text.count("JAX101") == len(NAMES)


def check_json(text: str, named: Path) -> None:
    findings = json.loads(text)
    assert len(findings) == len(NAMES)
    paths = {finding["path"] for finding in findings}
    assert len(paths) == len(NAMES)
    assert "line\nend.py" in paths
    assert "not-utf8-\\xff\\xfe.py" in paths
    json.dumps(findings, ensure_ascii=False).encode()  # no half of a surrogate pair


def check_sarif(text: str, named: Path) -> None:
    log = json.loads(text)
    json.dumps(log, ensure_ascii=False).encode()
    (run,) = log["runs"]
    uris = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]
    ]
    assert {unquote_to_bytes(uri) for uri in uris} == set(NAMES)
    assert all(re.fullmatch(r"[A-Za-z0-9._~%/-]+", uri) for uri in uris)
    assert len(run["invocations"][0]["toolExecutionNotifications"]) == len(NAMES)


def check_junit(text: str, named: Path) -> None:
    suite = ElementTree.fromstring(text)[0]
    assert (suite.get("failures"), suite.get("errors"), len(suite)) == (str(len(NAMES)),) * 2 + (
        2 * len(NAMES),
    )
    files = {case.get("file") for case in suite}
    assert "<img src=x onerror=alert(1)>.py" in files
    assert "line\nend.py" in files
    assert "not-utf8-\\xff\\xfe.py" in files


def check_github(text: str, named: Path) -> None:
    assert not STEERING.search(text.replace("\n", ""))
    lines = text.rstrip("\n").split("\n")
    assert len(lines) == 2 * len(NAMES)
    files = set()
    for line in lines:
        found = re.fullmatch(
            r"::error title=[^,:]*,file=([^,:]*)(?:,(?:line|endLine|col|endColumn)=\d+)*::.*", line
        )
        assert found, line
        files.add(re.sub("%([0-9A-F]{2})", lambda code: chr(int(code[1], 16)), found[1]))
    assert {"line\nend.py", "::error::pwned.py", "%0A::error::percent.py", "colon:,comma;.py"} <= files


FORMATS: dict[str, Any] = {
    "full": check_text,
    "concise": check_text,
    "json": check_json,
    "sarif": check_sarif,
    "junit": check_junit,
    "github": check_github,
}


@pytest.mark.parametrize("form", FORMATS)
def test_no_name_breaks_a_format(named: Path, tmp_path: Path, form: str) -> None:
    code, out, err = jaxlint("check", ".", "--output-format", form, cwd=named)
    assert code == 2
    FORMATS[form](out, named)
    check_lines(err)
    assert err.count("error: ") >= len(NAMES)
    assert err.count("\n") == len(NAMES)
    report = tmp_path / "report"
    assert jaxlint("check", ".", "--output-format", form, "-o", str(report), cwd=named)[0] == 2
    written = report.read_bytes().decode("utf-8")
    assert re.sub(r'time="[\d.]+"', "", written) == re.sub(r'time="[\d.]+"', "", out)


@pytest.mark.parametrize("form", ["json", "sarif", "junit", "github"])
def test_formats_for_tools_are_utf8_whatever_the_terminal_is(tmp_path: Path, form: str) -> None:
    (tmp_path / "na\u00efve.py").write_text(BRANCH, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "jaxlint", "check", "--no-cache", "--output-format", form],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        timeout=ENDS_BY,
        check=False,
    )
    assert done.returncode == 1
    text = done.stdout.decode("utf-8")
    if form == "junit":
        assert ElementTree.fromstring(done.stdout)[0][0].get("file") == "na\u00efve.py"
    assert form == "sarif" or "na\u00efve.py" in text or "na\\u00efve.py" in text


def test_no_name_steers_what_inspect_and_fix_print(named: Path) -> None:
    for arguments in (["inspect", "."], ["fix", "--diff", "."], ["fix", "."]):
        code, out, err = jaxlint(*arguments, cwd=named)
        assert code == 2
        check_lines(out)
        check_lines(err)
    code, out, _ = jaxlint("inspect", ".", "--output-format", "json", cwd=named)
    assert len({record["path"] for record in json.loads(out)}) == len(NAMES)
    json.dumps(json.loads(out), ensure_ascii=False).encode()


OPTIONS = ["--output=train.py", "-o..{sep}outside.py", "--exit-zero", "--config=evil.py", "-q"]


@pytest.mark.parametrize("name", OPTIONS)
def test_the_name_of_a_file_is_no_option(tmp_path: Path, name: str) -> None:
    """Hooks of git and `*` in a shell hand over names as they are."""
    clone = tmp_path / "clone"
    clone.mkdir()
    name = name.format(sep="/")
    for file in ("train.py", "../outside.py", "evil.py", name):
        (clone / file).parent.mkdir(exist_ok=True)
        (clone / file).write_text(BRANCH, encoding="utf-8")
    code, out, err = jaxlint("check", "--force-exclude", "train.py", name, cwd=clone)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert name in err
    assert "put `--` before files" in err
    assert (clone / "train.py").read_text(encoding="utf-8") == BRANCH
    assert (tmp_path / "outside.py").read_text(encoding="utf-8") == BRANCH
    code, out, err = jaxlint("check", "train.py", "--", name, cwd=clone)
    assert (code, out.count("JAX101"), err) == (1, 2, "")


def test_a_name_begins_no_part_of_a_diff(tmp_path: Path) -> None:
    """What `git apply` or `patch` makes of it is a change of this file alone."""
    (tmp_path / "pyproject.toml").write_text("")
    name = "a.py\n--- victim.py\n+++ victim.py\n@@ -1 +1 @@\n-x\n+y\n.py"
    for one in (name, "plain.py", 'tab\t"quote".py', os.fsdecode(b"\xff.py")):
        (tmp_path / one).write_text(OLD)
    (tmp_path / "victim.py").write_text("x\n")
    code, out, _ = jaxlint("fix", "--diff", ".", cwd=tmp_path)
    assert code == 1
    diff = tmp_path / "diff"
    diff.write_bytes(out.encode())
    done = subprocess.run(["git", "apply", "-p0", "diff"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "victim.py").read_text() == "x\n"
    assert all("tree.map" in (tmp_path / one).read_text() for one in (name, "plain.py", 'tab\t"quote".py'))


# ---- special files ----

READ = [
    *(
        "source.py",
        "pyproject.toml",
        "jaxlint.toml",
        ".gitignore",
        "book.ipynb",
        "page.md",
        "setup.py",
        "setup.cfg",
    ),
    *(
        "Pipfile",
        "pixi.toml",
        "requirements.txt",
        "requirements-dev.txt",
        "environment.yml",
        "run.sh",
        "pytest.ini",
    ),
    *(
        "tox.ini",
        "build.mk",
        ".git/info/exclude",
        "package/__init__.py",
        ".jaxlint_cache",
        ".jaxlint_cache/CACHEDIR.TAG",
    ),
    *(".jaxlint_cache/.gitignore", "Makefile", "conftest.py"),
]


def pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # since the name of a socket may not be long
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_loop(path: Path) -> None:
    path.symlink_to(path.name)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


def without_end(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(1 << 40)  # takes no room


def of_the_kernel(path: Path) -> None:
    path.symlink_to("/proc/self/pagemap")  # says that it is empty, and does not end


def a_log_of_the_kernel(path: Path) -> None:
    path.symlink_to("/proc/kmsg")  # a regular file by its mode, which has nothing to say at times


@pytest.mark.parametrize(
    "make",
    [
        pipe,
        a_socket,
        a_device,
        a_loop,
        a_folder,
        a_dangling_link,
        without_end,
        of_the_kernel,
        a_log_of_the_kernel,
    ],
)
def test_no_special_file_is_waited_for_or_read_without_end(tmp_path: Path, make: Any) -> None:
    made = []
    for name in READ:
        path = tmp_path / name
        if path.is_symlink() or any(above.is_symlink() or above.is_fifo() for above in path.parents):
            continue
        if path.parent.exists() and not path.parent.is_dir():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in ("jaxlint.toml", "pyproject.toml", ".jaxlint_cache") and make in (
            without_end,
            of_the_kernel,
            a_log_of_the_kernel,
        ):
            path.touch()  # one that is too large ends the run, which is looked at below
            continue
        if not path.exists():
            make(path)
            made.append(name)
    assert len(made) > 15
    (tmp_path / "good.py").write_text(BRANCH.replace("\x1b", ""))
    limit = ["bash", "-c", 'ulimit -v 4000000; exec "$@"', "-", sys.executable, "-m", "jaxlint"]
    commands = [["check"], ["fix", "--diff", "good.py"]]
    if make is pipe:  # the others are refused in the same place
        commands += [["check", "good.py"], ["inspect"], ["fix"]]
    for command in commands:
        done = subprocess.run(
            [*limit, *command], cwd=tmp_path, capture_output=True, timeout=ENDS_BY, check=False
        )
        assert done.returncode in (0, 1, 2), done.stderr
        assert b"internal error" not in done.stderr
        assert b"step" in done.stdout or b"JAX101" in done.stdout or command[-2:] == ["--diff", "good.py"], (
            done
        )
        for line in done.stderr.decode().splitlines():
            assert line.startswith(("error: ", "warning: ")) or "fix" in command, line


@pytest.mark.parametrize("name", ["pyproject.toml", "jaxlint.toml"])
def test_settings_that_cannot_be_read_are_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "good.py").write_text("x = 1\n")
    for number, content in enumerate(
        (
            b"a = " + b"[" * 100_000,
            b"a = " + b"9" * 10_000,
            b"\xff\xfe",
            b"#" * (5 << 20),
            b".".join([b"a"] * 100_000) + b" = 1\n",
            b"".join(b"[" + b"a." * 300 + b"b%d]\n" % number for number in range(2_000)),
        )
    ):
        (tmp_path / name).write_bytes(content)
        code, out, err = jaxlint("check", ".", cwd=tmp_path)
        assert (code, out, err.count("\n")) == (2, "", 1), (number, err)
        assert err.startswith(f"error: {name}: ")


def test_settings_below_that_cannot_be_read_cost_nothing(tmp_path: Path) -> None:
    """They are looked at, too, to say that they say nothing."""
    contents = {
        "deep": b"a = " + b"[" * 100_000,
        "number": b"a = " + b"9" * 10_000,
        "dotted": b".".join([b"a"] * 100_000) + b" = 1\n",
        "bytes": b"\xff\xfe",
    }
    for name, content in contents.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_bytes(content)
        (tmp_path / name / "good.py").write_text(BRANCH, encoding="utf-8")
    (tmp_path / "large").mkdir()
    without_end(tmp_path / "large" / "pyproject.toml")
    (tmp_path / "large" / "good.py").write_text(BRANCH, encoding="utf-8")
    for name in (*contents, "large"):
        code, out, err = jaxlint("check", f"{name}/good.py", cwd=tmp_path)
        assert "internal error" not in err
        assert (code, out.count("JAX101")) == (1, 1) or (name == "large" and code == 2), (name, err)
    code, out, err = jaxlint("check", ".", cwd=tmp_path)
    assert (code, out.count("JAX101")) == (1, 5)
    assert err.count("it was ignored") == len(contents)


ABSURD = [
    "exclude = [" + "*a" * 300 + "b']",
    "exclude = ['" + "**/a/" * 150 + "b']",
    "exclude = [" + "'x'," * 100_000 + "]",
    "per-file-ignores = { '" + "*a" * 300 + "b' = ['ALL'] }",
    "extend-include = ['*.gyp', '" + "a*" * 300 + "']",
    "select = [" + "'JAX101'," * 2_000 + "]",
    "cache-dir = '" + "a/" * 3_000 + "'",
    "cache-dir = '/dev/full'",
    'cache-dir = "\\u0000"',
    'baseline = "a\\u0000b"',
    "target-jax = '" + "9" * 5_000 + "'",
    "target-jax = '" + ">=1," * 5_000 + "'",
    "target-jax = '>=" + "9" * 5_000 + ".1'",
    "target-jax = '" + " " * 100_000 + "x'",
    '"' + "k" * 1_000_000 + '" = 1',
    "select = ['" + "x" * 1_000_000 + "']",
    "[per-file-ignores]\n" + "".join(f"'**/q{number}*' = ['ALL']\n" for number in range(50_000)),
    "severity = 'info'\nexclude = ['\\\\']",
]


@pytest.mark.parametrize("settings", ABSURD, ids=range(len(ABSURD)))
def test_absurd_settings_end_soon(tmp_path: Path, settings: str) -> None:
    (tmp_path / "jaxlint.toml").write_text(settings)
    (tmp_path / ".gitignore").write_text("\n".join(["*a" * 120 + "b", "[" * 3000, "a/**/" * 60 + "b"]))
    deep = tmp_path / "/".join(["a" * 80] * 20)
    deep.mkdir(parents=True)
    (deep / ("a" * 200 + ".py")).write_text(BRANCH)
    code, _, err = jaxlint("check", ".", "-q", cwd=tmp_path)
    assert code in (1, 2)
    assert "internal error" not in err
    assert err.count("\n") <= 1
    assert len(err) < 5_000


def test_requirements_are_read_in_one_pass(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_text("x = 1\n")
    spaces = " " * 9_000
    lines = f"a{spaces}x\n- a{spaces}(\na<{spaces})x\na[{spaces}\njax>=1{spaces}!\njax{spaces}!\n- jax={spaces}x\0\n"
    for name in ("requirements.txt", "environment.yml"):
        (tmp_path / name).write_text(lines * 20)
    (tmp_path / "a.py").write_text("x = 1\n" + "\n" * 300_000)
    (tmp_path / "setup.py").write_text("setup(" + "(" * 50_000)
    (tmp_path / "setup.cfg").write_text(f"[options]\na = b{spaces * 50}c\n[{spaces * 50}\n")
    (tmp_path / "Pipfile").write_text(f"[packages]\n{'[' * 9_000}{spaces}\njax = '{spaces}'\n")
    assert jaxlint("check", "a.py", cwd=tmp_path)[0] == 0
    assert jaxlint("upgrade", "--check", "a.py", cwd=tmp_path)[0] == 0


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A file below more folders than Python recurses; taken away by `rm`, since pytest cannot."""
    here = os.getcwd()
    try:
        os.chdir(tmp_path)
        for _ in range(1_200):
            os.mkdir("d")
            os.chdir("d")
        Path("deep.py").write_text(BRANCH)
    finally:
        os.chdir(here)
    yield tmp_path
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_folders_beyond_the_limit_of_recursion(deep: Path) -> None:
    (deep / "pyproject.toml").write_text("")
    (deep / "top.py").write_text(BRANCH)
    code, out, err = jaxlint("check", ".", "--output-format", "concise", cwd=deep)
    assert "internal error" not in err
    assert code in (1, 2)
    assert "top.py:6" in out
    assert "deep.py:6" in out


# ---- what would act ----


def snapshot(folder: Path) -> dict[str, bytes | str]:
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_a_shipped_journal_runs_nothing(tmp_path: Path) -> None:
    """The journal of earlier versions, which wrote `.git/config`, and one as it is written now."""
    import base64
    import hashlib

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_text("x = 1\n")
    git_config = tmp_path / ".git" / "config"
    evil = git_config.read_bytes() + b'[core]\n\tfsmonitor = "touch pwned; false"\n'
    files = {
        str(git_config): {
            "original": base64.b64encode(evil).decode(),
            "written": hashlib.sha256(git_config.read_bytes()).hexdigest(),
        }
    }
    text = json.dumps({"process": 1 << 22, "project": str(tmp_path), "files": files})
    for place in (
        ".jaxlint_cache/apply-journal.json",
        "journals/0.json",
        ".local/state/jaxlint/journals/0.json",
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    before = snapshot(tmp_path)
    for command in (["check", "--no-cache"], ["fix", "--no-cache"], ["inspect"], ["check"]):
        jaxlint(*command, cwd=tmp_path)
    after = snapshot(tmp_path)
    assert {name: data for name, data in after.items() if not name.startswith(".jaxlint_cache")} == {
        name: data for name, data in before.items() if not name.startswith(".jaxlint_cache")
    }


def test_check_writes_nothing_but_its_cache_and_asks_no_git(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "git").write_text(f"#!/bin/sh\ntouch {outside}/asked\n")
    (outside / "git").chmod(0o755)
    path = f"{outside}:{os.environ['PATH']}"
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "old.py").write_text(OLD)
    before = snapshot(tmp_path)
    for arguments in (["check"], ["inspect"], ["fix", "--diff"], ["check", "--no-cache"]):
        jaxlint(*arguments, ".", cwd=tmp_path, PATH=path)
    after = {
        name: data for name, data in snapshot(tmp_path).items() if not name.startswith(".jaxlint_cache/")
    }
    assert after == before
    assert not (outside / "asked").exists()
    jaxlint("check", "--diff", "HEAD", ".", cwd=tmp_path, PATH=path)
    assert (outside / "asked").exists()  # so that the test would see it


def test_modules_and_rule_packs_of_the_current_folder_are_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    evil = "import pathlib; pathlib.Path('pwned').touch()\n"
    for name in (
        "signal",
        "gc",
        "click",
        "libcst",
        "pathspec",
        "platformdirs",
        "rich",
        "hmac",
        "json",
        "jaxlint_rules",
        "evil",
    ):
        (tmp_path / f"{name}.py").write_text(evil)
    information = tmp_path / "evil-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[jaxlint.rules]\nevil = evil:rules\n")
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "conftest.py").write_text(evil)
    for arguments in (["check", "."], ["fix", "."], ["inspect", "."], ["rules"]):
        code, _, err = jaxlint(*arguments, cwd=tmp_path)
        assert code in (0, 1), err
        assert not (tmp_path / "pwned").exists()
    assert "tree.map" in (tmp_path / "old.py").read_text()
    # an empty part of PYTHONPATH means the current folder, too
    code, _, err = jaxlint(
        "rules", cwd=tmp_path, PYTHONPATH=os.pathsep + os.environ.get("PYTHONPATH", ""), PYTHONSAFEPATH="1"
    )
    assert code == 0, err
    assert not (tmp_path / "pwned").exists()


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "victim.py").write_text(OLD)
    (folder / "own.txt").write_text("precious")
    yield folder
    assert (folder / "victim.py").read_text() == OLD
    assert (folder / "own.txt").read_text() == "precious"
    assert {path.name for path in folder.iterdir()} == {"victim.py", "own.txt"}


def test_fix_writes_sources_of_the_project_alone(tmp_path: Path, outside: Path) -> None:
    project = tmp_path / "project"
    (project / "in").mkdir(parents=True)
    (project / "jaxlint.toml").write_text('exclude = ["x"]\nextend-include = ["*"]\n')
    for name in (
        ".git/hooks/hook.py",
        ".hg/a.py",
        ".GIT/b.py",
        "bare.git/hooks/c.py",
        "notes.txt",
        "Makefile",
        "in/good.py",
    ):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(OLD)
    for part in ("objects", "refs"):
        (project / "bare.git" / part).mkdir()
    (project / "bare.git/HEAD").write_text("ref: refs/heads/main\n")
    (project / "file.py").symlink_to(outside / "victim.py")
    (project / "folder").symlink_to(outside)
    (project / "inner.py").symlink_to("in/good.py")
    named = [str(path.relative_to(project)) for path in sorted(project.rglob("*")) if path.is_file()]
    for arguments in (["."], named, [*named, "folder/victim.py"], ["folder"]):
        code, _, err = jaxlint("fix", *arguments, cwd=project)
        assert code == 2
        assert "leads out of the project" in err
    changed = {name for name in named if (project / name).read_text() != OLD} - {
        "jaxlint.toml",
        "bare.git/HEAD",
    }
    assert changed == {"in/good.py", "inner.py"}
    assert (project / "inner.py").is_symlink()


def test_a_bare_repository_is_not_written_to_from_within(tmp_path: Path) -> None:
    bare = tmp_path / "x.git"
    for name in ("hooks/pre-commit.py", "hooks/inner/a.py", "objects/b.py", "top.py", "tree/src/c.py"):
        (bare / name).parent.mkdir(parents=True, exist_ok=True)
        (bare / name).write_text(OLD)
    (bare / "refs").mkdir()
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "tree/.git").write_text(
        "gitdir: ../worktrees/tree\n"
    )  # a working tree, as `git worktree add` makes it
    (bare / "hooks/.git").write_text("gitdir: elsewhere\n")
    for folder in (bare, bare / "hooks", bare / "hooks/inner", bare / "objects"):
        code, _, err = jaxlint("fix", ".", cwd=folder)
        assert code == 2
        assert "in a folder of version control; not changed" in err
    changed = {path.relative_to(bare).as_posix() for path in bare.rglob("*.py") if path.read_text() != OLD}
    assert changed == {"tree/src/c.py"}


def test_a_report_is_not_written_to_a_pipe_of_the_clone(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(BRANCH, encoding="utf-8")
    pipe(tmp_path / "report.json")
    code, _, err = jaxlint("check", "good.py", "-o", "report.json", cwd=tmp_path)
    assert (code, err) == (2, "error: report.json: not a regular file; pipe standard output into it\n")


def test_a_report_does_not_go_through_a_link_of_the_clone(tmp_path: Path, outside: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("x = 1\n")
    (project / "report.json").symlink_to(outside / "own.txt")
    (project / "reports").symlink_to(outside)
    (project / "inside.json").symlink_to("other.json")
    for name in ("report.json", "reports/report.json"):
        code, out, err = jaxlint("check", "a.py", "--output-format", "json", "-o", name, cwd=project)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "a link that leads out of this folder" in err
    assert jaxlint("check", "a.py", "--output-format", "json", "-o", "inside.json", cwd=project)[0] == 0
    assert json.loads((project / "other.json").read_text()) == []


BOOKS = [
    *(
        "[]",
        "3",
        "null",
        '"text"',
        "{}",
        "[" * 200_000,
        '{"a":' * 100_000,
        '{"cells": 3}',
        '{"cells": [3, null, []]}',
    ),
    '{"cells": [{"cell_type": 3, "source": {}}]}',
    '{"cells": [{"cell_type": "code", "source": [1, null, {}]}], "metadata": []}',
    '{"cells": [{"cell_type": "code", "source": "x = 1"}], "metadata": {"kernelspec": [], "language_info": 3}}',
    '{"cells": [{"cell_type": "code", "source": "x = 1", "metadata": {"tags": 3}}], "nbformat": "\\ud800"}',
    '{"cells": [{"cell_type": "code", "source": "\\ud800"}], "nbformat": 1e999}',
    '{"cells": [{"cell_type": "code", "source": "x = 1", "source": 3}], "nbformat": ' + "9" * 10_000 + "}",
    '{"cells": [' + ", ".join(['{"cell_type": "code", "source": "f("}'] * 300) + "]}",
]
PAGES = [
    *(
        "```" * 50_000,
        "```python\n" * 20_000,
        "`" * 300_000,
        "~~~python\n```\n" * 20_000,
        ">" * 50_000 + " ```python\nx\n",
    ),
    *(
        "```python\n" + " " * 200_000 + "x = 1\n```\n",
        "- " * 20_000 + "```python\nx = 1\n",
        ">>> x\n... y\n" * 20_000,
    ),
    "```" + "{" * 100_000 + "\nx\n```\n",
    "```python " + "a=" * 100_000 + "\nx\n```\n",
]


def test_books_and_pages_of_any_content_end_soon(tmp_path: Path) -> None:
    (tmp_path / "jaxlint.toml").write_text('extend-include = ["*.md"]\n')
    for number, text in enumerate(BOOKS):
        (tmp_path / f"book{number}.ipynb").write_text(text)
    for number, text in enumerate(PAGES):
        (tmp_path / f"page{number}.md").write_text(text)
    (tmp_path / "good.py").write_text(OLD)
    code, out, err = jaxlint("check", ".", "--no-cache", cwd=tmp_path)
    assert code == 2
    assert "good.py" in out
    assert "internal error" not in err
    check_lines(err)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may follow any link")
def test_a_link_that_may_not_be_followed_costs_that_link(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(BRANCH, encoding="utf-8")
    (tmp_path / "link.py").symlink_to("/proc/1/root")
    code, out, err = jaxlint("check", "good.py", "link.py", cwd=tmp_path)
    assert (code, out.count("JAX101")) == (2, 1)
    assert err.startswith("error: link.py: cannot be read (")


def test_inspect_shows_the_rest_beside_a_file_that_is_not_python(tmp_path: Path) -> None:
    """A file of the kind that others import, which the run meets before it is asked for its functions."""
    (tmp_path / "broken.py").write_text('import jax\n\n\n@jax.jit\ndef f(x):\n    return "open\n')
    (tmp_path / "good.py").write_text("import broken\n\n\ndef g(x):\n    return broken.f(x)\n")
    for options in ([], ["--calls"], ["--output-format", "json"]):
        code, out, err = jaxlint("inspect", *options, cwd=tmp_path)
        assert code == 2
        assert re.fullmatch(r"error: broken\.py:6: not valid Python: .*\n", err)
        assert '"g"' in out or "g: unknown" in out or "g: not traced" in out, out


HEAD = "import jax\nimport jax.numpy as jnp\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n\n\n"
COSTLY = {
    "parts without end": "x = [jnp.split(jnp.zeros(10**10), 10**10), jnp.array_split(jnp.zeros(7), 10**10)]\ny, *_ = jnp.unstack(jnp.zeros(10**10))\n",
    "a length beyond floats": "x = jnp.arange(0, 1e308, 1e-308)\ny = x + jnp.zeros(3)\nz = jnp.arange(-1e308, 1e308, 5e-324).sum()\n",
    "a step of zero": "x = [1, 2][::0]\ny = (1, 2)[::0]\n",
    "functions that call each other": "".join(
        f"def g{one}(x):\n    return " + " + ".join(f"g{other}(x)" for other in range(60)) + "\n\n\n"
        for one in range(60)
    )
    + "".join(f"h{one} = jax.jit(g{one})\n" for one in range(60)),
}


@pytest.mark.parametrize("program", COSTLY, ids=[name.replace(" ", "-") for name in COSTLY])
def test_programs_that_blow_up_end_soon_with_their_findings(tmp_path: Path, program: str) -> None:
    (tmp_path / "a.py").write_text(HEAD + COSTLY[program])
    limit = [
        "bash",
        "-c",
        'ulimit -t 30; exec "$@"',
        "-",
        sys.executable,
        "-m",
        "jaxlint",
    ]  # of the processor
    done = subprocess.run(
        [*limit, "check", "--no-cache", "-j", "1", "a.py"], cwd=tmp_path, capture_output=True, check=False
    )
    assert b"internal error" not in done.stderr
    assert (done.returncode, b"JAX101" in done.stdout) == (1, True), done.stderr


def test_a_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    command = ["bash", "-c", 'mkdir gone; cd gone; rmdir ../gone; exec "$@"', "-", sys.executable, "-P", "-m"]
    done = subprocess.run(
        [*command, "jaxlint", "check"], cwd=tmp_path, capture_output=True, check=False, timeout=ENDS_BY
    )
    assert done.returncode == 2
    assert done.stderr == b"error: the current folder does not exist any more; change to another\n"


def test_targets_loads_nothing_of_the_current_folder(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    for name in ("runpy.py", "importlib/__init__.py", "jaxlint_runtime/__init__.py", "json/__init__.py"):
        (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "clone" / name).write_text(f"open({str(marker)!r}, 'w').close()\n")
    command = [sys.executable, "-P", "-m", "jaxlint", "targets"]
    done = subprocess.run(command, cwd=tmp_path / "clone", capture_output=True, check=False, timeout=ENDS_BY)
    assert b"error" not in done.stderr
    assert not marker.exists()
