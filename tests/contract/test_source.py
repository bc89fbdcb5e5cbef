"""What every source of pictures must keep, run over every implementation."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from inspectd.config.schema import Degrade, ReplayCamera
from inspectd.errors import FrameFault, UsageFault
from inspectd.stages.camera.replay import Replay
from inspectd.stages.camera.source import (
    Captured,
    Nothing,
    Source,
    Unusable,
    Why,
    frames_between,
)

WIDTH, HEIGHT = 96, 64


def pictures(folder: Path, count: int = 3) -> list[np.ndarray]:
    """Write `count` different pictures without loss."""
    made = []
    for index in range(count):
        picture = np.random.default_rng(index).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
        cv2.imwrite(str(folder / f"part-{index}.png"), picture)
        made.append(picture)
    return made


def video(file: Path) -> None:
    """Write five frames of rising brightness."""
    writer = cv2.VideoWriter(str(file), cv2.VideoWriter.fourcc(*"MJPG"), 10, (WIDTH, HEIGHT))
    for level in range(0, 250, 50):
        writer.write(np.full((HEIGHT, WIDTH, 3), level, np.uint8))
    writer.release()


def replay(path: Path, **keys: object) -> Replay:
    """A replay of `path` with the sizes of these tests."""
    settings = {"width_px": WIDTH, "height_px": HEIGHT, **keys}
    return Replay(ReplayCamera(kind="replay", path=str(path), **settings))  # type: ignore[arg-type]


Make = Callable[[], Source]


@pytest.fixture(params=["folder", "video"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """How to get a source that holds at least three frames and loops."""
    if request.param == "folder":
        pictures(tmp_path)
        return lambda: replay(tmp_path)
    video(tmp_path / "line.avi")
    return lambda: replay(tmp_path / "line.avi")


@pytest.fixture
def source(make: Make) -> Iterator[Source]:
    """An open source."""
    made = make()
    made.open()
    yield made
    made.close()


def _number(part_id: str) -> int:
    """The number that ends a part's name in these tests."""
    return int(part_id.rpartition("-")[2])


def slot() -> np.ndarray:
    """Memory for one picture."""
    return np.zeros((HEIGHT, WIDTH, 3), np.uint8)


class TestEverySource:
    """The contract of `Source`."""

    def test_a_picture_lies_in_the_memory_given(self, source: Source) -> None:
        """`Captured` says that the whole picture is there, and how often it was copied."""
        into = slot()
        answers = [source.take(into, 100) for _ in range(2)]
        assert all(isinstance(answer, Captured) for answer in answers)
        assert into.any()

    def test_frame_ids_count_up_by_one(self, source: Source) -> None:
        """Without a loss the device's count has no gap."""
        ids = []
        for _ in range(7):
            answer = source.take(slot(), 100)
            assert isinstance(answer, Captured)
            ids.append(answer.frame_id)
        assert [b - a for a, b in itertools.pairwise(ids)] == [1] * 6

    def test_a_skipped_picture_is_not_handed_over(self, source: Source) -> None:
        """Its part went by; the next `take` brings the picture of the next trigger."""
        first = source.take(slot(), 100)
        source.skip()
        third = source.take(slot(), 100)
        assert isinstance(first, Captured)
        assert isinstance(third, Captured)
        assert frames_between(first.frame_id, third.frame_id, source.frame_ids) == 1
        assert _number(third.part_id) == _number(first.part_id) + 2

    def test_close_is_accepted_in_every_state(self, make: Make) -> None:
        """Before opening, after it, twice, and after a picture."""
        source = make()
        source.close()
        source.open()
        source.take(slot(), 100)
        source.close()
        source.close()

    def test_after_close_nothing_comes(self, source: Source) -> None:
        """A closed source answers a value and does not raise."""
        source.close()
        source.skip()
        assert isinstance(source.take(slot(), 100), Nothing)


class TestReplay:
    """What files add to the contract."""

    def test_pictures_come_by_name_pixel_for_pixel(self, tmp_path: Path) -> None:
        """A picture is copied once, into the slot."""
        made = pictures(tmp_path)
        source = replay(tmp_path)
        source.open()
        for index, picture in enumerate(made):
            into = slot()
            answer = source.take(into, 100)
            assert isinstance(answer, Captured)
            assert (answer.part_id, answer.image) == (f"part-{index}", f"part-{index}.png")
            assert answer.copies == 1
            assert np.array_equal(into, picture)

    def test_without_loop_the_reel_ends(self, tmp_path: Path) -> None:
        """After the last picture there is nothing, and that is a value."""
        pictures(tmp_path, 1)
        source = replay(tmp_path, loop=False)
        source.open()
        source.take(slot(), 100)
        assert source.take(slot(), 100) == Nothing(Why.ENDED)

    @pytest.mark.parametrize("wrong", ["size", "text", "empty", "cut", "gone"])
    def test_a_bad_file_is_named(self, tmp_path: Path, wrong: str) -> None:
        """A wrong size, no picture, an empty, a cut off or a vanished file is said by name."""
        file = tmp_path / "part.jpg"
        picture = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
        cv2.imwrite(str(file), picture[:, :50] if wrong == "size" else picture)
        source = replay(tmp_path)
        source.open()
        into = slot()
        into[...] = 77
        if wrong == "text":
            file.write_text("no picture")
        if wrong == "empty":
            file.write_bytes(b"")
        if wrong == "cut":
            file.write_bytes(file.read_bytes()[:2000])
        if wrong == "gone":
            file.unlink()
        answer = source.take(into, 100)
        assert isinstance(answer, Unusable)
        assert "part.jpg" in answer.detail

    def test_a_three_channel_file_of_a_grey_camera_is_read_grey(self, tmp_path: Path) -> None:
        """Some sets mix one- and three-channel files; the station's channels decide."""
        pictures(tmp_path, 1)
        source = replay(tmp_path, channels=1)
        source.open()
        into = np.zeros((HEIGHT, WIDTH), np.uint8)
        assert isinstance(source.take(into, 100), Captured)
        assert into.any()

    def test_a_frozen_frame_is_the_last_one_again(self, tmp_path: Path) -> None:
        """Byte for byte, as a stuck driver delivers it."""
        pictures(tmp_path)
        source = replay(tmp_path, degrade=(Degrade(how="freeze", every=3, offset=1),))
        source.open()
        first, second = slot(), slot()
        source.take(first, 100)
        answer = source.take(second, 100)
        assert isinstance(answer, Captured)
        assert answer.degraded == "freeze"
        assert np.array_equal(first, second)

    def test_a_dropped_frame_is_nothing(self, tmp_path: Path) -> None:
        """No picture comes, and the next one is the one after."""
        pictures(tmp_path)
        source = replay(tmp_path, degrade=(Degrade(how="drop", every=9, offset=1),))
        source.open()
        source.take(slot(), 100)
        assert source.take(slot(), 100) == Nothing(Why.DROPPED, "part-1.png", "drop")
        answer = source.take(slot(), 100)
        assert isinstance(answer, Captured)
        assert answer.image == "part-2.png"

    def test_an_empty_folder_cannot_be_opened(self, tmp_path: Path) -> None:
        """The fault names the folder and the remedy."""
        with pytest.raises(FrameFault, match="holds no picture"):
            replay(tmp_path).open()

    def test_labels_that_are_no_coco_cannot_be_opened(self, tmp_path: Path) -> None:
        """The fault names the file."""
        (tmp_path / "labels.json").write_text("[]")
        with pytest.raises(UsageFault, match=r"labels\.json"):
            replay(tmp_path, labels=str(tmp_path / "labels.json")).open()
