"""Which settings hold for which file."""

from __future__ import annotations

from pathlib import Path

from jaxlint.config import Config, load_config
from jaxlint.nearest import Nearest


def nearest(folder: Path) -> Nearest:
    return Nearest(load_config([folder]).with_options(derive=lambda config: config))


def test_the_nearest_folder_with_settings(tmp_path: Path) -> None:
    (tmp_path / "jaxlint.toml").write_text('target-jax = "0.4.30"\n')
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/b/jaxlint.toml").write_text('severity = "error"\n')
    (tmp_path / "a/pyproject.toml").write_text('[project]\nname = "a"\n')  # none of ours
    found = nearest(tmp_path)
    assert found.of(tmp_path / "x.py") is found.top
    assert found.of(tmp_path / "a/x.py") is found.top
    below = found.of(tmp_path / "a/b/c/x.py")
    assert (below.root, str(below.severity), below.target_jax) == (tmp_path / "a/b", "error", "0.4.30")
    assert found.of(tmp_path / "a/b/x.py") is below


def test_one_file_of_settings_for_all(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/jaxlint.toml").write_text('severity = "error"\n')
    config = Config(tmp_path)
    assert Nearest(config).of(tmp_path / "a/x.py") == config


def test_folders_nested_beyond_the_stack(tmp_path: Path) -> None:
    deep = Path(tmp_path, *["d"] * 1_500, "x.py")  # none of them needs to be there
    found = nearest(tmp_path)
    assert found.of(deep) is found.top
