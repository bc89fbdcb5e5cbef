"""A cache of engines: fresh, stale, half-written, absent; one builder at a time."""

import multiprocessing
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspectd.stages.infer.cache import Cache, Condition
from inspectd.stages.infer.stamp import Stamp

NOW = Stamp(
    model="0123456789ab",
    program="pdmodel",
    route="tensorrt",
    paddle="2.6.2",
    commit="8ce0de5",
    tensorrt="8.5.3/8.5.3",
    cuda="11.8",
    cudnn="8.6.0",
    driver="535.104.05",
    gpu="Tesla T4",
    compute="7.5",
    precision="fp16",
    shapes="image 1x3x640x640..8x3x640x640",
    fp32_ops="",
    min_subgraph_size="3",
    workspace_mb="1024",
    calibration="",
)


def changed(**values: str) -> Stamp:
    """Circumstances that differ."""
    return Stamp(**{**{name: getattr(NOW, name) for name in Stamp.__slots__}, **values})


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """A folder that does not exist yet."""
    return Cache(tmp_path / "0123456789ab" / "tensorrt-fp16")


def build(cache: Cache) -> None:
    """What a builder does."""
    with cache.building():
        cache.empty()
        (cache.folder / "trt_serialized_1").write_bytes(b"an engine")
        (cache.folder / "below").mkdir()
        (cache.folder / "below" / "engine_2.trt").write_bytes(b"another")
        cache.vouch(NOW)


class TestCondition:
    """What is said of a folder."""

    def test_nothing_was_built(self, cache: Cache) -> None:
        """No folder, or an empty one."""
        assert cache.examine(NOW).condition is Condition.ABSENT
        cache.empty()
        assert cache.examine(NOW).condition is Condition.ABSENT

    def test_what_was_built_in_these_circumstances_is_fresh(self, cache: Cache) -> None:
        """With all files as they were."""
        build(cache)
        assert cache.examine(NOW).condition is Condition.FRESH
        assert cache.examine(NOW).words == "fresh"

    @pytest.mark.parametrize("name", Stamp.__slots__)
    def test_every_other_circumstance_makes_it_stale(self, cache: Cache, name: str) -> None:
        """And is named with both values."""
        build(cache)
        finding = cache.examine(changed(**{name: "another"}))
        assert finding.condition is Condition.STALE
        (why,) = finding.why
        assert why.startswith(f"{name}: ")
        assert why.endswith(" -> another")

    def test_files_without_a_stamp_are_half_written(self, cache: Cache) -> None:
        """Their builder died."""
        build(cache)
        (cache.folder / "stamp.json").unlink()
        assert cache.examine(NOW).condition is Condition.HALF_WRITTEN

    def test_a_stamp_that_cannot_be_read_is_half_written(self, cache: Cache) -> None:
        """Whatever stands in it."""
        build(cache)
        (cache.folder / "stamp.json").write_bytes(b"\xff{")
        assert cache.examine(NOW).condition is Condition.HALF_WRITTEN

    @pytest.mark.parametrize("how", ["lost", "changed", "added"])
    def test_other_files_than_stamped_are_half_written(self, cache: Cache, how: str) -> None:
        """Paddle replaces an engine that it cannot read, and says nothing."""
        build(cache)
        engine = cache.folder / "below" / "engine_2.trt"
        if how == "lost":
            engine.unlink()
        else:
            (engine if how == "changed" else engine.with_name("engine_3.trt")).write_bytes(b"new")
        finding = cache.examine(NOW)
        assert finding.condition is Condition.HALF_WRITTEN
        assert "engine_" in finding.why[0]


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["empty", "first", "second", "files", "scratch"]))
def test_a_builder_that_dies_anywhere_leaves_nothing_usable(
    tmp_path_factory: pytest.TempPathFactory, died: str
) -> None:
    """After an older engine was there: only the last step, a rename, makes the new one usable."""
    cache = Cache(tmp_path_factory.mktemp("cache") / "tensorrt-fp16")
    build(cache)
    steps = ["empty", "first", "second", "files", "scratch"]
    for step in steps[: steps.index(died) + 1]:
        if step == "empty":
            cache.empty()
        elif step == "first":
            (cache.folder / "trt_serialized_1").write_bytes(b"an en")
        elif step == "second":
            (cache.folder / "trt_serialized_1").write_bytes(b"an engine")
        elif step == "scratch":
            (cache.folder / "stamp.new").write_text("{", encoding="utf-8")
    assert cache.examine(NOW).condition in {Condition.ABSENT, Condition.HALF_WRITTEN}
    build(cache)
    assert cache.examine(NOW).condition is Condition.FRESH


def _hold(folder: str, ready: Any) -> None:
    """Another process that builds, and dies in the middle of it."""
    with Cache(Path(folder)).building():
        ready.set()
        threading.Event().wait(30)
    os._exit(0)


@pytest.mark.slow
class TestLock:
    """Two processes at one folder."""

    def test_a_second_builder_waits_and_the_lock_opens_when_the_first_is_killed(
        self, cache: Cache
    ) -> None:
        """The kernel opens it: no stale lock is ever left."""
        spawn = multiprocessing.get_context("spawn")
        ready = spawn.Event()
        other = spawn.Process(target=_hold, args=(str(cache.folder), ready))
        other.start()
        assert ready.wait(30)
        assert cache.is_busy()
        done = threading.Event()

        def build_here() -> None:
            build(cache)
            done.set()

        thread = threading.Thread(target=build_here, daemon=True)
        thread.start()
        assert not done.wait(0.3)
        other.kill()
        other.join(10)
        assert done.wait(10)
        thread.join(10)
        assert not cache.is_busy()
        assert cache.examine(NOW).condition is Condition.FRESH

    def test_users_keep_a_builder_away(self, cache: Cache) -> None:
        """An engine is not swept away while it is being loaded."""
        build(cache)
        done = threading.Event()

        def build_here() -> None:
            build(cache)
            done.set()

        thread = threading.Thread(target=build_here, daemon=True)
        with cache.using(), cache.using():
            thread.start()
            assert not done.wait(0.3)
        assert done.wait(10)
        thread.join(10)
