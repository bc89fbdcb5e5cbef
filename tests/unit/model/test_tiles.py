"""How a large frame is cut."""

from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.config.schema import Tiles
from inspectd.errors import FrameFault
from inspectd.model.tiles import Tile, Tiling


@given(st.integers(64, 4096), st.integers(64, 4096), st.integers(64, 800), st.integers(0, 60))
def test_the_tiles_cover_the_frame_and_hang_over_no_edge(
    width: int, height: int, size: int, overlap: int
) -> None:
    """Every pixel is looked at, every tile has one size, neighbours share enough."""
    tiling = Tiling.of(Tiles(size_px=size, overlap_px=overlap), width, height)
    for axis, length in ((0, width), (1, height)):
        spans = sorted({(tile[axis], tile[axis + 2]) for tile in tiling.tiles})
        assert spans[0][0] == 0
        assert spans[-1][1] == length
        for (_, end), (start, _) in pairwise(spans):
            assert end - start >= overlap
    assert {(t.y2 - t.y1, t.x2 - t.x1) for t in tiling.tiles} == {tiling.tile_size}


def test_a_4k_frame_needs_no_more_tiles_than_it_must() -> None:
    """3840 x 2160 in tiles of 640 that share 40: seven by four."""
    tiling = Tiling.of(Tiles(size_px=640, overlap_px=40), 3840, 2160)
    assert len(tiling) == 7 * 4


def test_a_small_frame_is_one_tile() -> None:
    """A frame below the tile's size is looked at as it is."""
    assert Tiling.of(Tiles(size_px=640, overlap_px=40), 320, 200).tiles == (Tile(0, 0, 320, 200),)


def test_tiles_wholly_in_a_skipped_region_are_left_out() -> None:
    """The clamp of the fixture needs no inspection; a tile that shows more of it does."""
    tiles = Tiles(size_px=100, overlap_px=0, skip=((0, 0, 150, 100),))
    assert Tiling.of(tiles, 200, 200).tiles == (
        Tile(100, 0, 200, 100),
        Tile(0, 100, 100, 200),
        Tile(100, 100, 200, 200),
    )


def test_a_black_mask_leaves_tiles_out(tmp_path: Path) -> None:
    """One white pixel keeps a tile."""
    mask = np.zeros((200, 200), np.uint8)
    mask[150, 150] = 255
    cv2.imwrite(str(tmp_path / "mask.png"), mask)
    tiles = Tiles(size_px=100, overlap_px=0, mask=str(tmp_path / "mask.png"))
    assert Tiling.of(tiles, 200, 200).tiles == (Tile(100, 100, 200, 200),)


def test_a_mask_must_be_there_and_fit(tmp_path: Path) -> None:
    """Each fault names the file and what to do."""
    cv2.imwrite(str(tmp_path / "small.png"), np.ones((10, 10), np.uint8))
    (tmp_path / "no.png").write_bytes(b"no picture")
    for name, words in (
        ("away.png", "cannot be read"),
        ("small.png", "10 x 10 px; give a grey picture of 200 x 200"),
        ("no.png", "is no picture"),
    ):
        tiles = Tiles(size_px=100, overlap_px=0, mask=str(tmp_path / name))
        with pytest.raises(FrameFault, match=words):
            Tiling.of(tiles, 200, 200)


def test_nothing_left_to_look_at_is_refused() -> None:
    """A line that looks nowhere would pass everything."""
    tiles = Tiles(size_px=100, overlap_px=0, skip=((0, 0, 200, 200),))
    with pytest.raises(FrameFault, match="nothing to look at"):
        Tiling.of(tiles, 200, 200)


def test_the_overview_comes_last() -> None:
    """It is the whole frame."""
    tiling = Tiling.of(Tiles(size_px=100, overlap_px=0, overview=True), 200, 100)
    assert tiling.pieces == (Tile(0, 0, 100, 100), Tile(100, 0, 200, 100), Tile(0, 0, 200, 100))
    assert len(tiling) == 3
