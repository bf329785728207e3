"""A pytest plugin that records which arrays variables were.

Read from the environment: ARRAYS_ROOTS (folders whose code is watched), ARRAYS_OUT (the JSON file to write), ARRAYS_SECONDS
of processor time (no test starts after so many), ARRAYS_TEST_SECONDS (longest test), ARRAYS_SEED.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from arrays_watch import Watch  # type: ignore[import-not-found]


class Plugin:
    def __init__(self) -> None:
        self.watch = Watch(os.environ["ARRAYS_ROOTS"].split(os.pathsep))
        self.until = time.process_time() + float(os.environ["ARRAYS_SECONDS"])
        self.longest = float(os.environ["ARRAYS_TEST_SECONDS"])
        self.ran = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        random.Random(int(os.environ.get("ARRAYS_SEED", "0"))).shuffle(items)
        self.until = time.process_time() + float(os.environ["ARRAYS_SECONDS"])

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        if time.process_time() > self.until:
            pytest.skip("out of time")
        self.ran += 1

        def late(*_: object) -> None:
            raise TimeoutError("longer than a test may take")

        signal.signal(signal.SIGPROF, late)
        signal.setitimer(signal.ITIMER_PROF, self.longest)
        try:
            with self.watch.watching():
                yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_sessionfinish(self) -> None:
        places = self.watch.record()
        Path(os.environ["ARRAYS_OUT"]).write_text(json.dumps({"ran": self.ran, "places": places}))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Plugin(), "jaxlint-arrays")
