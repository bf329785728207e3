"""The settings: where they are found, what they mean, and what is said of a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.config import Config, ConfigError, load_config
from jaxlint.finding import Severity
from jaxlint.registry import code_order, in_group

pytestmark = pytest.mark.usefixtures("stand_in")


def codes(config: Config) -> list[str]:
    return [rule.code for rule in config.rules()]


def test_nearest_file_counts(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.jaxlint]\nignore = ['JAX901']\n")
    (project / "sub/deep").mkdir(parents=True)
    (project / "sub/pyproject.toml").write_text("[tool.black]\n")  # not ours: the search goes on
    assert load_config([project / "sub/deep"]).root == project
    (project / "sub/jaxlint.toml").write_text("ignore = ['JAX902']\n")
    config = load_config([project / "sub/deep/a.py"])
    assert (config.root, config.ignore) == (project / "sub", ("JAX902",))
    # Over several paths, the file above all of them.
    assert load_config([project / "sub/deep", project / "a.py"]).root == project


def test_without_a_file_the_project_is_the_root(project: Path) -> None:
    (project / "sub").mkdir()
    config = load_config([project / "sub"])
    assert config.root == project
    assert config.source is None


def test_every_key(project: Path) -> None:
    (project / "jaxlint.toml").write_text(
        """\
        select = ["JAX9"]
        extend-select = ["names-novel"]
        ignore = ["memory"]
        exclude = ["old"]
        extend-exclude = ["older"]
        per-file-ignores = { "tests/**" = ["JAX901"] }
        respect-gitignore = false
        force-exclude = true
        target-jax = "0.6.0"
        preview = true
        severity = "info"
        report-unused-suppressions = true
        cache-dir = "../cache"
        """
    )
    config = load_config([project])
    assert codes(config) == ["JAX901", "JAX921"]
    assert config.exclude[0].patterns == ("old", "older")
    assert config.ignored_in(project / "tests/a/b.py") == {"JAX901"}
    assert config.ignored_in(project / "a.py") == frozenset()
    assert config.severity is Severity.INFO
    assert config.target_jax == "0.6.0"
    assert config.cache_dir is not None
    assert config.cache_dir.resolve() == project.parent / "cache"
    assert not config.search.respect_gitignore
    assert config.search.force_exclude


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("selct = []", "unknown key 'selct'; did you mean 'select'?", id="key"),
        pytest.param("per_file_ignores = {}", "did you mean 'per-file-ignores'?", id="underscores"),
        pytest.param("jit-checks = true", "unknown key 'jit-checks'", id="foreign-key"),
        pytest.param("select = 'JAX9'", "select must be a list of strings", id="list"),
        pytest.param("preview = 'yes'", "preview must be true or false", id="boolean"),
        pytest.param(
            "severity = 'fatal'", 'severity must be one of "error", "warning", "info"', id="severity"
        ),
        pytest.param("target-jax = 'new'", "target-jax must be a version of JAX", id="version"),
        pytest.param("per-file-ignores = ['a']", "per-file-ignores must be a table", id="table"),
        pytest.param(
            "select = ['names-bda']", "there is no rule 'names-bda'; did you mean names-bad?", id="rule"
        ),
        pytest.param("ignore = ['']", "an empty name selects no rule", id="empty"),
        pytest.param("per-file-ignores = { 'a' = ['JAX999'] }", "there is no rule 'JAX999'", id="file-rule"),
        pytest.param("exclude = ['!']", "a path pattern is wrong", id="pattern"),
        pytest.param("select = [", "not valid TOML", id="toml"),
        pytest.param(f"cache{'9' * 5_000} = 1", f"unknown key 'cache{'9' * 55}'", id="long-key"),
    ],
)
def test_mistakes_name_the_file_in_one_line(project: Path, text: str, message: str) -> None:
    (project / "jaxlint.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config([project])
    assert str(caught.value).startswith("jaxlint.toml: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_table_must_be_a_table(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool]\njaxlint = 3\n")
    with pytest.raises(ConfigError, match="must be a table"):
        load_config([project])


def test_explicit_file_must_exist(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read"):
        load_config([project], Path("none.toml"))


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        pytest.param(["ALL"], [], ["JAX901", "JAX902", "JAX911"], id="preview-is-off"),
        pytest.param(["ALL"], ["JAX9"], [], id="group"),
        pytest.param(["memory"], [], ["JAX902", "JAX911"], id="category"),
        pytest.param(["names-bad"], ["ALL"], ["JAX901"], id="exact-beats-general"),
        pytest.param(["JAX901"], ["JAX901"], [], id="ignored-on-a-tie"),
        pytest.param(["jax9"], ["memory"], ["JAX901"], id="category-counts-as-a-block"),
    ],
)
def test_selection(project: Path, select: list[str], ignore: list[str], expected: list[str]) -> None:
    assert codes(Config(project, select=tuple(select), ignore=tuple(ignore))) == expected


def test_groups_of_codes_do_not_overlap() -> None:
    assert in_group("JAX101", "JAX1")
    assert in_group("JAX1001", "JAX10")
    assert in_group("JAX101", "JAX101")
    assert not in_group("JAX1001", "JAX1")
    assert not in_group("JAX1011", "JAX101")
    assert in_group("JAX1001", "JAX")
    assert not in_group("JAX101", "JAX10")


def test_codes_sort_by_number() -> None:
    assert sorted(["JAX1001", "JAX101", "JAX901"], key=code_order) == ["JAX101", "JAX901", "JAX1001"]
