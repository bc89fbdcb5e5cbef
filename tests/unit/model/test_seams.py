"""Objects at the seams of tiles: none twice, none lost, none merged with its neighbour."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from inspectd.config.schema import Tiles
from inspectd.frame import Detection
from inspectd.model.seams import merge
from inspectd.model.tiles import Tiling

_TILING = Tiling.of(Tiles(size_px=200, overlap_px=40), 520, 360)
"""Tiles of 200 px with 40 px in common: three by two."""
_SEEN_FROM_PX = 6
"""The detector of these tests sees what shows so much of itself in a tile."""


def _object(x: float, y: float, w: float, h: float, label: str = "short") -> Detection:
    return Detection(label, 0.9, x, y, x + w, y + h)


def _seen(objects: Sequence[Detection], tiling: Tiling = _TILING) -> list[list[Detection]]:
    """What a perfect detector finds in each piece: every object, as far as the piece shows it."""
    answer = []
    for at, piece in enumerate(tiling.pieces):
        here = []
        for one in objects:
            x1, y1 = max(one.x1, piece.x1), max(one.y1, piece.y1)
            x2, y2 = min(one.x2, piece.x2), min(one.y2, piece.y2)
            if min(x2 - x1, y2 - y1) >= min(_SEEN_FROM_PX, one.width_px, one.height_px):
                here.append(Detection(one.label, one.score - at / 100, x1, y1, x2, y2))
        answer.append(here)
    return answer


def _boxes(found: Sequence[Detection]) -> set[tuple[str, float, float, float, float]]:
    return {(d.label, d.x1, d.y1, d.x2, d.y2) for d in found}


@st.composite
def _apart(draw: st.DrawFn) -> list[Detection]:
    """Objects on a loose grid, so that no two touch; any size up to two tiles."""
    objects = []
    for column in range(4):
        for row in range(3):
            if draw(st.booleans()):
                x, y = column * 130 + draw(st.integers(0, 20)), row * 120 + draw(st.integers(0, 20))
                w, h = draw(st.integers(3, 105)), draw(st.integers(3, 95))
                objects.append(_object(x, y, w, h, draw(st.sampled_from(["short", "open"]))))
    return [o for o in objects if o.x2 <= 520 and o.y2 <= 360]


@given(_apart())
def test_every_object_is_reported_once_with_its_own_box(objects: list[Detection]) -> None:
    """Wherever the seams run through it."""
    found = merge(_TILING, _seen(objects))
    assert len(found) == len(objects)
    assert _boxes(found) == _boxes(objects)


@given(st.integers(0, 300), st.integers(0, 160), st.integers(100, 500), st.integers(5, 190))
def test_an_object_longer_than_a_tile_is_put_together(x: int, y: int, w: int, h: int) -> None:
    """Fragments of two and more tiles become the box around them."""
    one = _object(x, y, min(w, 520 - x), h)
    assert _boxes(merge(_TILING, _seen([one]))) == _boxes([one])


def test_two_objects_side_by_side_on_a_seam_stay_two() -> None:
    """A gap of one pixel is enough."""
    pair = [_object(170, 50, 12, 20), _object(183, 50, 12, 20)]
    assert _boxes(merge(_TILING, _seen(pair))) == _boxes(pair)


def test_two_classes_in_one_place_stay_two_unless_asked() -> None:
    """A class-agnostic model says one object once."""
    pair = [_object(170, 50, 20, 20, "short"), _object(170, 50, 20, 20, "open")]
    assert len(merge(_TILING, _seen(pair))) == 2
    seen: list[list[Detection]] = [[] for _ in _TILING.pieces]
    seen[0], seen[1] = [pair[0]], [pair[1]]
    assert len(merge(_TILING, seen, is_agnostic=True)) == 1


def test_boxes_of_one_tile_are_never_merged() -> None:
    """What the model tells apart within a picture stays apart."""
    seen: list[list[Detection]] = [[] for _ in _TILING.pieces]
    seen[0] = [_object(50, 50, 30, 30), _object(60, 50, 30, 30)]
    assert len(merge(_TILING, seen)) == 2


def test_a_fragment_that_nobody_else_saw_is_kept() -> None:
    """Dropping it because it touches the seam could be an escape."""
    seen: list[list[Detection]] = [[] for _ in _TILING.pieces]
    seen[0] = [_object(190, 50, 10, 20)]
    assert merge(_TILING, seen) == seen[0]


def test_slightly_different_boxes_of_one_object_are_one() -> None:
    """Networks see the same pixels a little differently at another place."""
    seen: list[list[Detection]] = [[] for _ in _TILING.pieces]
    seen[0] = [Detection("short", 0.7, 172, 50, 184, 62)]
    seen[1] = [Detection("short", 0.8, 173, 51, 186, 62)]
    assert merge(_TILING, seen) == seen[1]


def test_the_overview_finds_what_is_larger_than_any_tile() -> None:
    """Its box stands for the fragments; a small object's comes from its tile."""
    tiling = Tiling.of(Tiles(size_px=200, overlap_px=40, overview=True), 520, 360)
    large, small = _object(10, 10, 480, 300), _object(300, 320, 10, 10)
    found = merge(tiling, _seen([large, small], tiling))
    assert _boxes(found) == _boxes([large, small])


def test_the_best_score_comes_first() -> None:
    """As without tiles."""
    pair = [_object(10, 10, 20, 20), _object(300, 100, 20, 20)]
    scores = [d.score for d in merge(_TILING, _seen(pair))]
    assert scores == sorted(scores, reverse=True)


def test_nothing_found_is_nothing() -> None:
    """An empty frame has no objects."""
    assert merge(_TILING, [[] for _ in _TILING.pieces]) == []
