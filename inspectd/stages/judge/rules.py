"""Whether the objects found in a frame make a good part.

Every rule is evaluated. The first broken one in the order of the station file gives the reason
code; all broken ones are named. A rule never looks outside its region, and the right and lower
edge of a region belong to its neighbour.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from inspectd.config.schema import CountRule, EachHasRule, ForbidRule, Region, Rule
from inspectd.frame import Detection, Reason, Verdict

__all__ = ["CUT_PX", "Broken", "Judgement", "evaluate"]

CUT_PX = 2.0
"""An object whose box comes this close to the frame's edge is taken as cut by it."""


class Broken(NamedTuple):
    """A rule that does not hold."""

    rule: str
    """Its name in the station file."""
    words: str
    """What was found, against what was wanted."""
    found: int
    """Objects counted: the forbidden, the counted, or those that lack their own."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules say of one part."""

    verdict: Verdict
    """OK or NG."""
    reason: Reason
    """Of the first broken rule; `Reason.NONE` for a good part."""
    broken: tuple[Broken, ...] = ()
    """In the order of the station file."""


class _Scene(NamedTuple):
    """What all rules look at."""

    detections: Sequence[Detection]
    frame_w: int
    frame_h: int
    um_per_px: float


_Finding = tuple[Reason, Broken] | None


def evaluate(
    rules: Sequence[Rule],
    detections: Sequence[Detection],
    frame_w: int,
    frame_h: int,
    um_per_px: float,
) -> Judgement:
    """Hold the detections of one frame against all rules of its station.

    Args:
        rules: In the order of the station file.
        detections: Boxes `x1 y1 x2 y2` in frame pixels, any order, any score.
        frame_w: Width of the frame, pixels.
        frame_h: Height of the frame, pixels.
        um_per_px: Size of a pixel on the part in micrometres; 0: unknown. A limit in mm cannot be
            applied then, and the object counts: not knowing never makes a part good.
    """
    scene = _Scene(detections, frame_w, frame_h, um_per_px)
    findings = [finding for rule in rules if (finding := _finding(rule, scene)) is not None]
    if not findings:
        return Judgement(Verdict.OK, Reason.NONE)
    return Judgement(Verdict.NG, findings[0][0], tuple(broken for _, broken in findings))


def _finding(rule: Rule, scene: _Scene) -> _Finding:
    """What one rule objects to."""
    if isinstance(rule, ForbidRule):
        return _forbidden(rule, scene)
    if isinstance(rule, CountRule):
        return _counted(rule, scene)
    return _paired(rule, scene)


def _forbidden(rule: ForbidRule, scene: _Scene) -> _Finding:
    seen = [
        one
        for label in rule.labels
        for one in _chosen(scene.detections, label, rule.min_score, rule.region)
        if _is_large_enough(one, rule, scene.um_per_px)
    ]
    if len(seen) <= rule.max_count:
        return None
    names = ", ".join(sorted({one.label for one in seen}))
    words = f"{_objects(len(seen))} of {names}, {rule.max_count} tolerated"
    return Reason.DEFECT, Broken(rule.name, words, len(seen))


def _counted(rule: CountRule, scene: _Scene) -> _Finding:
    found = len(_chosen(scene.detections, rule.label, rule.min_score, rule.region))
    if found < rule.min:
        words = f"{_objects(found)} of {rule.label}, at least {rule.min} wanted"
        return Reason.COUNT_LOW, Broken(rule.name, words, found)
    if found > rule.max:
        words = f"{_objects(found)} of {rule.label}, at most {rule.max} wanted"
        return Reason.COUNT_HIGH, Broken(rule.name, words, found)
    return None


def _paired(rule: EachHasRule, scene: _Scene) -> _Finding:
    """One needed object serves one object only, and they are shared out as well as can be.

    Only objects that must have something take part: what belongs to a cut one or lies outside the
    region may be lent, so that a good part is never called bad for the order of its boxes.
    """
    owners = [
        one
        for one in _chosen(scene.detections, rule.label, rule.min_score, rule.region)
        if not (rule.ignore_cut and _is_cut(one, scene))
    ]
    needed = _chosen(scene.detections, rule.needs, rule.needs_min_score, None)
    choices = [
        [i for i, need in enumerate(needed) if _share_inside(need, owner) >= rule.min_overlap]
        for owner in owners
    ]
    lacking = len(owners) - _most_pairs(choices)
    if lacking == 0:
        return None
    words = f"{lacking} of {_objects(len(owners))} of {rule.label} without {rule.needs}"
    return Reason.PAIR_MISSING, Broken(rule.name, words, lacking)


def _most_pairs(choices: Sequence[Sequence[int]]) -> int:
    """Size of the largest one-to-one assignment (augmenting paths, breadth first).

    Args:
        choices: For each owner, the things that could serve it.
    """
    owner_of: dict[int, int] = {}
    return sum(_augment(owner, choices, owner_of) for owner in range(len(choices)))


def _augment(start: int, choices: Sequence[Sequence[int]], owner_of: dict[int, int]) -> bool:
    """Serve one more owner, moving others to their second choice where that helps."""
    came_by: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        owner = waiting.popleft()
        for thing in choices[owner]:
            if thing in came_by:
                continue
            came_by[thing] = owner
            if thing not in owner_of:
                _hand_along(thing, start, came_by, owner_of)
                return True
            waiting.append(owner_of[thing])
    return False


def _hand_along(thing: int, start: int, came_by: dict[int, int], owner_of: dict[int, int]) -> None:
    """Give the free thing to the last owner of the path, what that one had to the one before."""
    held = {owner: had for had, owner in owner_of.items()}
    while True:
        owner = came_by[thing]
        owner_of[thing] = owner
        if owner == start:
            return
        thing = held[owner]


def _chosen(
    detections: Iterable[Detection], label: str, min_score: float, region: Region | None
) -> list[Detection]:
    """Those that a rule counts."""
    return [
        one
        for one in detections
        if one.label == label
        and one.score >= min_score
        and (region is None or _is_inside(one, region))
    ]


def _is_inside(one: Detection, region: Region) -> bool:
    """Whether the centre lies in the region; its right and lower edge are outside."""
    x, y = (one.x1 + one.x2) / 2, (one.y1 + one.y2) / 2
    x1, y1, x2, y2 = region
    return x1 <= x < x2 and y1 <= y < y2


def _is_cut(one: Detection, scene: _Scene) -> bool:
    """Whether the frame's edge cuts the object."""
    return (
        one.x1 <= CUT_PX
        or one.y1 <= CUT_PX
        or one.x2 >= scene.frame_w - CUT_PX
        or one.y2 >= scene.frame_h - CUT_PX
    )


def _is_large_enough(one: Detection, rule: ForbidRule, um_per_px: float) -> bool:
    """Whether the longer side reaches both limits; a limit in mm needs the size of a pixel."""
    side_px = max(one.width_px, one.height_px)
    reaches_mm = um_per_px <= 0 or side_px * um_per_px / 1000 >= rule.min_size_mm
    return side_px >= rule.min_size_px and reaches_mm


def _share_inside(need: Detection, owner: Detection) -> float:
    """Share of the area of `need` that lies in the box of `owner`; 0 for an empty box."""
    width = min(need.x2, owner.x2) - max(need.x1, owner.x1)
    height = min(need.y2, owner.y2) - max(need.y1, owner.y1)
    area = need.width_px * need.height_px
    return width * height / area if width > 0 and height > 0 and area > 0 else 0.0


def _objects(count: int) -> str:
    return "1 object" if count == 1 else f"{count} objects"
