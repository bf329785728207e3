"""Old releases of five packages, moved to a newer JAX: all fixes come to rest, and nothing is lost.

They are fetched from PyPI once; without a network the test is skipped. `python -m benchmarks.fixes` tries more of them.
"""

from __future__ import annotations

import pytest

from benchmarks.corpora.fetch import FetchError, cache_folder, fetch
from benchmarks.fixes.examine import examine

# The least number of fixes to expect: no release may pass because nothing was tried.
RELEASES = {"chex==0.0.8": 20, "evosax==0.1.0": 5, "jaxopt==0.3.1": 5, "optax==0.0.6": 100, "rlax==0.0.4": 20}


@pytest.mark.parametrize(("release", "least"), RELEASES.items(), ids=RELEASES)
def test_fixes_of_an_old_release_come_to_rest(release: str, least: int) -> None:
    try:
        root = fetch(release, cache_folder())
    except FetchError as error:
        pytest.skip(str(error))
    outcome = examine(root, "0.10")
    assert outcome["never at rest"] == []
    assert outcome["broken"] == []
    assert int(str(outcome["made"])) >= least
