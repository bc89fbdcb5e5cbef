"""What the verdicts of a replayed run should have been, by the labels of its pictures.

The truth of a part follows from its picture alone: a picture that was made worse on purpose must be
found UNFIT, a dropped one must be FAULT, and any other is held against the station's own rules with
the labelled boxes in the place of detections. So the comparison measures camera, gate, model and
road together, and not whether the rules are wise.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from inspectd.coco import Labels, file_key
from inspectd.config.recipes import rules_by_recipe
from inspectd.config.schema import Rule, Station
from inspectd.frame import Detection, Verdict
from inspectd.record.event import recipe_of
from inspectd.record.reading import Part

__all__ = ["WRONG_MAX", "Evaluate", "Judged", "compared", "expected"]

WRONG_MAX = 200
"""Wrong verdicts that are listed; all are counted."""
_UNFIT = frozenset({"blur", "glare", "dark", "freeze", "occlude"})


class Judged(Protocol):
    """What the rules answer."""

    @property
    def verdict(self) -> Verdict:
        """OK or NG."""


Evaluate: TypeAlias = Callable[
    [Sequence[Rule], Sequence[Detection], int, int, float],
    Judged,
]
"""The judge's `rules.evaluate`, handed in: the record knows no stage."""


def expected(
    labels: Labels, station: Station, detail: Mapping[str, Any], evaluate: Evaluate
) -> Verdict | None:
    """What a part should have got; None when its picture has no labels, or it had no recipe.

    Args:
        labels: Of the station's camera.
        station: Whose rules apply.
        detail: Of the part's event: `image` names the picture, `degraded` what was done to it.
        evaluate: The rules.
    """
    how, erased = _degradation(detail.get("degraded", ""))
    if how in _UNFIT:
        return Verdict.UNFIT
    if how == "drop":
        return Verdict.FAULT
    image_id = image_of(labels, detail)
    if image_id is None:
        return None
    seen = [one for one in labels.boxes[image_id] if how != "erase" or one.label != erased]
    camera = station.camera
    width, height = camera.width_px, camera.height_px
    rules = rules_by_recipe(station).get(recipe_of(detail))
    if rules is None:
        return None
    return evaluate(rules, seen, width, height, camera.um_per_px).verdict


def compared(
    parts: Iterable[Part], labels: Labels, station: Station, evaluate: Evaluate
) -> dict[str, Any]:
    """Hold the verdicts that the PLC was told against what the labels say.

    Returns:
        Counts (`checked`, `right`, `wrong`, `unlabelled`; among the wrong ones `escapes`: told OK
        and should not, `false_calls`: should be OK and was not, `late` ones apart), `confusion`
        (expected -> told -> count) and the first `WRONG_MAX` wrong ones.
    """
    table: Counter[tuple[str, str]] = Counter()
    wrong: list[dict[str, Any]] = []
    unlabelled = 0
    for part in parts:
        detail = json.loads(part.detail)
        wanted = expected(labels, station, detail, evaluate)
        if wanted is None:
            unlabelled += 1
            continue
        table[wanted.name, part.verdict] += 1
        if part.verdict != wanted.name and len(wrong) < WRONG_MAX:
            wrong.append(_wrong(part, detail, wanted))
    return {**_counts(table), "unlabelled": unlabelled, "wrong_parts": wrong}


def image_of(labels: Labels, detail: Mapping[str, Any]) -> int | None:
    """Number of the labelled picture of a part; None: not labelled, or no picture came."""
    return labels.image_ids.get(file_key(str(detail.get("image", ""))))


def _counts(table: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    """Sum the table up."""
    total = sum(table.values())
    right = sum(count for (wanted, told), count in table.items() if wanted == told)
    late = sum(count for (_, told), count in table.items() if told == "LATE")
    escapes = sum(count for (wanted, told), count in table.items() if told == "OK" != wanted)
    false_calls = sum(
        count for (wanted, told), count in table.items() if wanted == "OK" and told not in _NO_CALL
    )
    confusion: dict[str, dict[str, int]] = {}
    for (wanted, told), count in sorted(table.items()):
        confusion.setdefault(wanted, {})[told] = count
    return {
        "checked": total,
        "right": right,
        "wrong": total - right,
        "escapes": escapes,
        "false_calls": false_calls,
        "late": late,
        "confusion": confusion,
    }


_NO_CALL = frozenset({"OK", "LATE"})


def _wrong(part: Part, detail: Mapping[str, Any], wanted: Verdict) -> dict[str, Any]:
    return {
        "trigger_id": part.trigger_id,
        "image": detail.get("image", ""),
        "degraded": detail.get("degraded", ""),
        "expected": wanted.name,
        "verdict": part.verdict,
        "reason": part.reason,
        "judged": part.judged,
        "broken": detail.get("broken", []),
        "archive": part.archive,
    }


def _degradation(value: str) -> tuple[str, str]:
    """How a picture was made worse, and the class that was erased (`erase:Cap`)."""
    how, _, label = value.partition(":")
    return how, label
