"""The report of a run: counts, promises, labels, scores."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from inspectd.config.schema import Line
from inspectd.frame import Reason, Role, Ticket, Verdict
from inspectd.ports import Counter
from inspectd.record.report import build_report
from inspectd.record.summary import summary_lines
from inspectd.stages.judge.rules import evaluate

SCRATCHED, CLEAN = "scratched.png", "clean.png"
BOX = [10.0, 10.0, 20.0, 5.0]


@dataclass(frozen=True)
class Row:
    """One process on the board."""

    role: Role
    station: int
    counters: tuple[int, ...]
    restarts: int = 0


def row(role: Role, frames: int, copies: int) -> Row:
    """A process that finished and copied so many."""
    counters = [0] * len(Counter)
    counters[Counter.FRAMES], counters[Counter.PIXEL_COPIES] = frames, copies
    return Row(role, 0, tuple(counters))


@pytest.fixture
def labelled(desk: Any, tmp_path: Path) -> Line:
    """The desk's line, its first camera with labels: one scratched picture, one clean."""
    labels = tmp_path / "labels.json"
    labels.write_text(
        json.dumps(
            {
                "categories": [{"id": 1, "name": "Scratch"}],
                "images": [
                    {"id": 1, "file_name": SCRATCHED, "width": 64, "height": 48},
                    {"id": 2, "file_name": f"images/{CLEAN}", "width": 64, "height": 48},
                ],
                "annotations": [
                    {
                        "id": 1,
                        "image_id": 1,
                        "category_id": 1,
                        "bbox": BOX,
                        "area": 100,
                        "iscrowd": 0,
                    }
                ],
            }
        )
    )
    line: Line = desk.line()
    first = line.stations[0]
    camera = replace(first.camera, labels=str(labels))
    return replace(line, stations=(replace(first, camera=camera), *line.stations[1:]))


def seen(desk: Any, trigger_id: int, verdict: Verdict, **detail: Any) -> Ticket:
    """A part with a verdict and a detail."""
    reason = {Verdict.NG: Reason.DEFECT, Verdict.UNFIT: Reason.BLURRED}.get(verdict, Reason.NONE)
    ticket: Ticket = desk.ticket(
        trigger_id, verdict=verdict, reason=reason, detail=json.dumps(detail).encode()
    )
    return ticket


def reported(path: Path, line: Line | None, **more: Any) -> dict[str, Any]:
    """The report, as the JSON that a user gets."""
    report = build_report(line, "", path, evaluate=evaluate, **more)
    again: dict[str, Any] = json.loads(json.dumps(report))
    assert again == report
    return report


def test_verdicts_and_reasons_are_counted_by_station(desk: Any) -> None:
    """All five verdicts are always there."""
    path = desk.recorded(
        desk.ticket(1),
        desk.ticket(2, verdict=Verdict.OK, reason=Reason.NONE),
        desk.ticket(1, station=1, verdict=Verdict.UNFIT, reason=Reason.DARK),
    )
    report = reported(path, desk.line())
    assert report["parts"] == 3
    assert report["verdicts"] == {"OK": 1, "NG": 1, "UNFIT": 1, "LATE": 0, "FAULT": 0}
    assert report["reasons"] == {"DEFECT": 1, "DARK": 1}
    assert report["stations"]["cam-1"]["verdicts"]["NG"] == 1
    assert report["stations"]["cam-2"]["reasons"] == {"DARK": 1}
    assert report["stations"]["cam-1"]["batches"] == {"1": 2}
    assert report["is_complete"]
    assert report["run"]["run_id"] == "run-1"


def test_a_lost_verdict_makes_the_run_incomplete(desk: Any) -> None:
    """Each trigger gets one verdict: 2 has none."""
    report = reported(desk.recorded(desk.ticket(1), desk.ticket(3)), desk.line())
    assert not report["is_complete"]
    assert report["stations"]["cam-1"]["order"]["missing"]["ids"] == [2]


def test_verdicts_that_the_record_lost_make_the_run_incomplete(desk: Any) -> None:
    """With a full disk the last parts are missing, which no gap in the ids shows."""
    rows = [row(Role.SINK, 5, 0)]
    report = reported(desk.recorded(desk.ticket(1), desk.ticket(2)), desk.line(), board_rows=rows)
    assert (report["unrecorded"], report["is_complete"]) == (3, False)
    assert any("3 verdicts left that are NOT" in line for line in summary_lines(report))


def test_a_run_without_parts_proves_nothing(desk: Any) -> None:
    """Nothing was lost, but nothing was done either."""
    report = reported(desk.recorded(), desk.line())
    assert not report["is_complete"]
    assert any("no part came" in line for line in summary_lines(report))


def test_late_verdicts_are_those_that_say_so_and_those_that_do_not(desk: Any) -> None:
    """The second kind must never be seen."""
    late = desk.ticket(1, verdict=Verdict.LATE, reason=Reason.DEADLINE_PASSED, deadline_ns=1)
    path = desk.recorded(late, desk.ticket(2, deadline_ns=1))
    assert reported(path, desk.line())["late"] == {"said": 1, "unmarked": 1}


def test_what_the_plc_was_never_told_is_a_stray_and_no_part(desk: Any) -> None:
    """A verdict of an earlier life of the sink."""
    stray = desk.ticket(7, verdict=Verdict.NONE, judged=Verdict.OK)
    report = reported(desk.recorded(desk.ticket(1), stray, desk.ticket(2)), desk.line())
    assert (report["parts"], report["strays"], report["is_complete"]) == (2, 1, True)


def test_copies_of_pixels_are_told_apart_by_where_they_happen(desk: Any) -> None:
    """Into the slot, into the tensor, and anything else behind the camera."""
    rows = [row(Role.CAMERA, 10, 10), row(Role.GATE, 9, 9), row(Role.RECORD, 9, 0)]
    report = reported(desk.recorded(desk.ticket(1)), desk.line(), board_rows=rows)
    assert report["pixel_copies"] == {
        "camera": 1.0,
        "gate": 0.9,
        "record": 0.0,
        "after_capture": 0.9,
    }
    assert report["processes"][0]["counters"]["frames"] == 10


def test_afterwards_nothing_is_said_of_what_only_the_running_line_knew(desk: Any) -> None:
    """Also without the station file the record can be summed up."""
    report = reported(desk.recorded(desk.ticket(1)), None)
    assert (report["pixel_copies"], report["processes"], report["simulators"]) == (None, [], {})
    assert report["stations"]["cam-1"]["times_ms"]["total"]["budget"] is None


@pytest.mark.parametrize(
    ("verdict", "detail", "expected"),
    [
        pytest.param(Verdict.NG, {"image": SCRATCHED}, "NG", id="a labelled scratch"),
        pytest.param(Verdict.OK, {"image": f"x/{CLEAN}"}, "OK", id="a clean picture"),
        pytest.param(Verdict.UNFIT, {"image": CLEAN, "degraded": "blur"}, "UNFIT", id="blurred"),
        pytest.param(Verdict.FAULT, {"degraded": "drop"}, "FAULT", id="dropped"),
        pytest.param(
            Verdict.OK,
            {"image": SCRATCHED, "degraded": "erase:Scratch"},
            "OK",
            id="the scratch was painted over",
        ),
    ],
)
def test_the_truth_of_a_part_follows_from_its_picture(
    desk: Any, labelled: Line, verdict: Verdict, detail: dict[str, Any], expected: str
) -> None:
    """Each row: what was shown, what must come of it."""
    path = desk.recorded(seen(desk, 1, verdict, **detail))
    labels = reported(path, labelled)["stations"]["cam-1"]["labels"]
    assert labels["confusion"] == {expected: {expected: 1}}
    assert (labels["right"], labels["wrong"], labels["wrong_parts"]) == (1, 0, [])


def test_wrong_verdicts_are_escapes_false_calls_or_late(desk: Any, labelled: Line) -> None:
    """An escape is what was told OK and should not have been."""
    path = desk.recorded(
        seen(desk, 1, Verdict.OK, image=SCRATCHED),
        seen(desk, 2, Verdict.NG, image=CLEAN),
        seen(desk, 3, Verdict.LATE, image=CLEAN),
        seen(desk, 4, Verdict.OK, image="unknown.png"),
    )
    labels = reported(path, labelled)["stations"]["cam-1"]["labels"]
    counts = {key: labels[key] for key in ("checked", "escapes", "false_calls", "late")}
    assert counts == {"checked": 3, "escapes": 1, "false_calls": 1, "late": 1}
    assert labels["unlabelled"] == 1
    assert labels["confusion"] == {"NG": {"OK": 1}, "OK": {"LATE": 1, "NG": 1}}
    assert [one["trigger_id"] for one in labels["wrong_parts"]] == [1, 2, 3]


def test_labels_that_are_gone_are_said_and_not_fatal(desk: Any, labelled: Line) -> None:
    """The rest of the report stands."""
    Path(labelled.stations[0].camera.labels).unlink()
    report = reported(desk.recorded(desk.ticket(1)), labelled)
    assert "COCO" in report["stations"]["cam-1"]["labels"]["error"]


def test_recorded_boxes_are_scored_against_the_labels(desk: Any, labelled: Line) -> None:
    """Each picture once, only those that were judged as they are."""
    pytest.importorskip("pycocotools", reason="scores need pycocotools")
    right = ["Scratch", 0.9, 10.0, 10.0, 30.0, 15.0]
    path = desk.recorded(
        seen(desk, 1, Verdict.NG, image=SCRATCHED, detections=[right]),
        seen(desk, 2, Verdict.OK, image=CLEAN, detections=[]),
        seen(desk, 3, Verdict.OK, image=SCRATCHED, detections=[]),
        seen(desk, 4, Verdict.NG, image=CLEAN, degraded="glare", detections=[right]),
    )
    scores = reported(path, labelled)["stations"]["cam-1"]["scores"]
    assert (scores["images"], scores["ap50"], scores["ap33_by_class"]) == (2, 1.0, {"Scratch": 1.0})
    assert (scores["threshold"], scores["false_calls"], scores["escapes"]) == (0.5, 0, 0)


def told(*verdicts: tuple[int, str], **more: Any) -> dict[str, dict[str, Any]]:
    """The account of the first station's simulated PLC."""
    taken = [{"trigger_id": trigger, "verdict": verdict} for trigger, verdict in verdicts]
    return {"cam-1": {"fired": len(taken), "verdicts": taken, "missing": [], **more}}


def test_a_plc_that_took_what_was_sent_agrees(desk: Any) -> None:
    """Fired, taken, recorded: three accounts, one story."""
    path = desk.recorded(desk.ticket(1), desk.ticket(2, verdict=Verdict.OK))
    account = told((1, "NG"), (2, "OK"))
    report = reported(path, desk.line(), simulator_reports=account)
    simulator = report["simulators"]["cam-1"]
    assert (simulator["agrees"], simulator["fired"], simulator["verdicts_taken"]) == (True, 2, 2)


@pytest.mark.parametrize(
    "account",
    [
        told((1, "NG"), (2, "NG")),
        told((2, "OK"), (1, "NG")),
        told((1, "NG")),
        told((1, "NG"), (2, "OK"), fired=3),
        told((1, "NG"), (2, "OK"), duplicates=[1]),
    ],
)
def test_any_difference_to_the_plc_is_said(desk: Any, account: dict[str, dict[str, Any]]) -> None:
    """Another verdict, another order, one less, one never answered, one twice."""
    path = desk.recorded(desk.ticket(1), desk.ticket(2, verdict=Verdict.OK))
    report = reported(path, desk.line(), simulator_reports=account)
    assert not report["simulators"]["cam-1"]["agrees"]


def test_the_summary_tells_a_person_what_matters(desk: Any, labelled: Line) -> None:
    """Promises, stages, wrong verdicts, and where the pictures lie."""
    path = desk.recorded(seen(desk, 1, Verdict.OK, image=SCRATCHED, detections=[]), desk.ticket(2))
    account = told((1, "OK"), (2, "NG"))
    report = reported(path, labelled, simulator_reports=account)
    text = "\n".join(summary_lines({**report, "archived": 3}, "/var/archive"))
    assert "each trigger one verdict, in order; late and said so: 0" in text
    assert "wrong: trigger 1 (scratched.png): OK , expected NG" in text.replace("NONE", "")
    assert "agrees with the record" in text
    assert "3 pictures of rejected parts lie in /var/archive" in text
    broken = summary_lines(reported(desk.recorded(desk.ticket(9)), desk.line()))
    assert any("6 missing" in line for line in broken)
