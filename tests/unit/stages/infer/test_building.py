"""A kept engine is used, built anew, or refused; what is built is said while it lasts."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspectd.config.schema import Tensorrt
from inspectd.errors import EngineRefused
from inspectd.model.spec import Program
from inspectd.stages.infer.asking import Asked, Shapes
from inspectd.stages.infer.building import build_anew, have_ready, refuse_changed, stamp_of
from inspectd.stages.infer.cache import Cache, Condition
from inspectd.stages.infer.card import Card
from inspectd.stages.infer.routes import Build, Route
from inspectd.stages.infer.stamp import differences

ASKED = Asked(
    model="caps",
    program=Program("pdmodel", "model.pdmodel", "model.pdiparams"),
    route=Route.TENSORRT_ENGINE,
    precision="fp16",
    shapes={"image": Shapes((1, 3, 32, 32), (4, 3, 32, 32), (4, 3, 32, 32))},
)
BUILD = Build(version=(2, 6, 2), commit="8ce0de5", cuda="11.8", cudnn="8.6.0", tensorrt="8.5.3")
CARD = Card(name="Tesla T4", compute="7.5", driver="535.104.05", tensorrt="8.5.3")
NOW = stamp_of("0123456789ab", ASKED, BUILD, CARD, "")


class House:
    """What a process hears and says."""

    def __init__(self, folder: Path) -> None:
        self.cache = Cache(folder / "engine")
        self.told: list[str] = []
        self.events: list[str] = []
        self.built = 0

    def work(self) -> None:
        """A builder."""
        self.built += 1
        (self.cache.folder / "trt_serialized_1").write_bytes(b"an engine")

    def log(self, _level: str, event: str, **_fields: Any) -> None:
        """Keeps the events."""
        self.events.append(event)

    def ready(self, stale: Any, work: Callable[[], None] | None = None, now: Any = NOW) -> None:
        """Have the engine ready."""
        have_ready(
            self.cache,
            now,
            stale,
            work or self.work,
            model="caps",
            tell=self.told.append,
            log=self.log,
        )


@pytest.fixture
def house(tmp_path: Path) -> House:
    """With nothing kept."""
    return House(tmp_path)


class TestRefuse:
    """The default: building is for a pause, not for a start."""

    def test_without_an_engine_the_line_does_not_start(self, house: House) -> None:
        """The command that builds it is named, and nothing is built."""
        with pytest.raises(EngineRefused, match=r"absent.*inspectd engine build"):
            house.ready("refuse")
        assert (house.built, house.events) == (0, [])

    def test_a_stale_engine_is_refused_with_every_reason(self, house: House) -> None:
        """Driver and card were changed: both are said."""
        house.ready("rebuild")
        card = replace(CARD, driver="550.54.14", name="NVIDIA L4")
        with pytest.raises(EngineRefused, match=r"driver: 535\.104\.05 -> 550.*gpu: Tesla T4"):
            house.ready("refuse", now=stamp_of("0123456789ab", ASKED, BUILD, card, ""))
        assert house.built == 1

    def test_a_fresh_engine_is_used(self, house: House) -> None:
        """Without a build, and without a word of building."""
        house.ready("rebuild")
        house.told.clear()
        house.ready("refuse")
        assert house.built == 1
        assert house.told == [""]


class TestRebuild:
    """Where the station file says so."""

    def test_it_is_built_once(self, house: House) -> None:
        """The second start finds it, and is fast."""
        house.ready("rebuild")
        house.ready("rebuild")
        assert house.built == 1
        assert house.events == ["engine_building", "engine_built"]

    def test_building_is_said_until_it_is_over(self, house: House) -> None:
        """The last word is empty: nothing is being built any more."""
        house.ready("rebuild")
        assert "this takes minutes" in house.told[0]
        assert house.told[-1] == ""

    def test_half_a_build_is_built_again(self, house: House) -> None:
        """A builder that fails leaves nothing that a later start would use."""

        def half() -> None:
            (house.cache.folder / "trt_serialized_1").write_bytes(b"half")
            raise EngineRefused("caps", "the card is full", "free it")

        with pytest.raises(EngineRefused, match="the card is full"):
            house.ready("rebuild", half)
        assert house.cache.examine(NOW).condition is Condition.HALF_WRITTEN
        house.ready("rebuild")
        assert house.cache.examine(NOW).condition is Condition.FRESH

    def test_who_waited_for_another_builder_builds_nothing(self, house: House) -> None:
        """Two processes start at once: one builds, both use it."""
        begun, go_on = threading.Event(), threading.Event()

        def slow() -> None:
            begun.set()
            go_on.wait(10)
            house.work()

        def build(work: Callable[[], None]) -> None:
            build_anew(house.cache, NOW, work, model="caps", tell=house.told.append, log=house.log)

        first = threading.Thread(target=build, args=(slow,), daemon=True)
        first.start()
        assert begun.wait(10)
        second = threading.Thread(target=build, args=(house.work,), daemon=True)
        second.start()
        go_on.set()
        first.join(10)
        second.join(10)
        assert house.built == 1


def test_an_engine_that_paddle_replaced_is_refused(house: House) -> None:
    """It rebuilds what it cannot read, and only its log would say so."""
    house.ready("rebuild")
    refuse_changed(house.cache, NOW, "caps")
    (house.cache.folder / "trt_serialized_1").write_bytes(b"another")
    with pytest.raises(EngineRefused, match="did not use the kept engine"):
        refuse_changed(house.cache, NOW, "caps")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"precision": "int8"}, "precision"),
        ({"route": Route.TENSORRT_CONVERT}, "route"),
        ({"tensorrt": Tensorrt(fp32_ops=("softmax",))}, "fp32_ops"),
        ({"tensorrt": Tensorrt(workspace_mb=64)}, "workspace_mb"),
        ({"tensorrt": Tensorrt(min_subgraph_size=9)}, "min_subgraph_size"),
        ({"shapes": {"image": Shapes((1, 3), (8, 3), (8, 3))}}, "shapes"),
        ({"program": Program("json", "a", "b")}, "program"),
    ],
)
def test_what_is_asked_is_in_the_stamp(change: dict[str, Any], field: str) -> None:
    """Every setting that makes another engine makes another stamp."""
    other = stamp_of("0123456789ab", replace(ASKED, **change), BUILD, CARD, "")
    assert [one.field for one in differences(NOW, other)] == [field]


@pytest.mark.parametrize("setting", [{"use_static": True}, {"stale": "rebuild"}, {"cache": "/x"}])
def test_what_makes_no_other_engine_is_not_in_the_stamp(setting: dict[str, Any]) -> None:
    """Where it is kept, and what happens when it is stale."""
    other = replace(ASKED, tensorrt=Tensorrt(**setting))
    assert differences(NOW, stamp_of("0123456789ab", other, BUILD, CARD, "")) == ()
