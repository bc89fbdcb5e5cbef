"""What `inspectd check` says of a station file against its models."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from inspectd.config.schema import (
    AbsentPlc,
    Budget,
    CountRule,
    EachHasRule,
    ForbidRule,
    Line,
    Model,
    PaddleEngine,
    Record,
    ReplayCamera,
    Rule,
    ScriptedEngine,
    Station,
    Template,
    TimerTrigger,
)
from inspectd.model.checks import check

from .conftest import Export, Shapes, paddledetection

RIGHT = ForbidRule(kind="forbid", name="r", labels=("Cap",), min_score=0.5)
TEMPLATE_STEP = {"type": "TemplateChannels"}


def line(folder: Path, *rules: Rule, template: Template | None = None, **engine: Any) -> Line:
    """One station of 64 x 48 px with this model."""
    station = Station(
        name="one",
        cycle_ms=100,
        deadline_ms=100,
        budget=Budget(camera_ms=1, gate_ms=1, infer_ms=1, judge_ms=1, sink_ms=1),
        trigger=TimerTrigger(kind="timer", rate_hz=1),
        camera=ReplayCamera(kind="replay", path="", width_px=64, height_px=48),
        model="caps",
        template=template,
        rules=rules or (RIGHT,),
        plc=AbsentPlc(kind="none"),
    )
    return Line(
        line="l",
        engine=PaddleEngine(kind="paddle", **engine),
        models=(Model(name="caps", path=str(folder)),),
        stations=(station,),
        record=Record(folder=""),
    )


@pytest.fixture
def templated(export: Export) -> Path:
    """A model that wants golden pictures."""
    config = paddledetection()
    config["Preprocess"].insert(0, TEMPLATE_STEP)
    return export(config)


def test_a_right_line_has_no_faults(export: Export) -> None:
    """Model, labels, size, engine."""
    assert check(line(export())) == []


def test_a_broken_model_is_told_at_its_path(tmp_path: Path) -> None:
    """Once, with the reader's own words."""
    ((key, what),) = check(line(tmp_path))
    assert key == "models[0].path"
    assert "neither infer_cfg.yml nor inference.yml" in what


@pytest.mark.parametrize(
    ("rule", "key"),
    [
        (replace(RIGHT, labels=("Cap", "Dent")), "labels[1]"),
        (CountRule(kind="count", name="r", label="Dent", min_score=0.5), "label"),
        (
            EachHasRule(
                kind="each_has",
                name="r",
                label="Bottle",
                needs="Dent",
                min_score=0.5,
                needs_min_score=0.5,
            ),
            "needs",
        ),
    ],
)
def test_a_class_that_the_model_lacks_is_a_fault(export: Export, rule: Rule, key: str) -> None:
    """Such a rule would never break, and every part would pass."""
    ((where, what),) = check(line(export(), RIGHT, rule))
    assert where == f"stations[0].rules[1].{key}"
    assert "no class 'Dent'; it has Bottle, Cap" in what


def test_a_score_that_the_model_does_not_keep_is_a_fault(export: Export) -> None:
    """The rule would be stricter than it reads: here a Cap of 0.25 would be lost unseen."""
    folder = export(paddledetection() | {"NMS": {"score_threshold": 0.3}})
    pair = EachHasRule(
        kind="each_has",
        name="p",
        label="Bottle",
        needs="Cap",
        min_score=0.3,
        needs_min_score=0.1,
    )
    faults = check(line(folder, replace(RIGHT, min_score=0.2), pair))
    assert [key for key, _ in faults] == [
        "stations[0].rules[0].min_score",
        "stations[0].rules[1].needs_min_score",
    ]
    assert "keeps nothing below 0.3" in faults[0][1]


def test_a_program_that_suppresses_itself_has_limits_of_its_own(export: Export) -> None:
    """Its file's NMS block is not used, so nothing is held against it."""
    outputs: Shapes = {"found": (-1, 6), "count": (-1,)}
    folder = export(paddledetection() | {"NMS": {"score_threshold": 0.9}}, outputs=outputs)
    assert check(line(folder)) == []


def test_openvino_needs_a_legacy_program(export: Export) -> None:
    """The file can be put right before a process is started."""
    folder = export(formats=("json",))
    ((key, what),) = check(line(folder, backend="openvino"))
    assert key == "models[0].path"
    assert "choose onednn" in what
    assert check(line(export(formats=("json", "pdmodel")), backend="openvino")) == []


def test_frames_that_cannot_fill_the_tensor_are_a_fault(export: Export) -> None:
    """Without a resize only one size fits."""
    config = paddledetection()
    del config["Preprocess"][0]
    ((key, what),) = check(line(export(config)))
    assert key == "stations[0].camera"
    assert "the tensor is 48 x 32" in what


def test_a_template_model_needs_templates(templated: Path) -> None:
    """And says so at the station."""
    ((key, what),) = check(line(templated))
    assert key == "stations[0].model"
    assert "golden picture" in what


def test_templates_for_a_model_without_them_are_a_fault(export: Export, tmp_path: Path) -> None:
    """Somebody believes that boards are compared, and they are not."""
    ((key, _),) = check(line(export(), template=Template(folder=str(tmp_path))))
    assert key == "stations[0].template"


@pytest.mark.parametrize(
    ("make", "key"),
    [
        (lambda folder: Template(folder=str(folder / "gone")), "template.folder"),
        (lambda folder: Template(folder=str(folder), pattern="no.png"), "template.pattern"),
        (lambda folder: Template(folder=str(folder), pattern="small.png"), "template.pattern"),
    ],
)
def test_golden_pictures_are_looked_for(
    templated: Path, tmp_path: Path, make: Callable[[Path], Template], key: str
) -> None:
    """The folder, and the one picture for all parts with its size."""
    cv2.imwrite(str(tmp_path / "small.png"), np.zeros((8, 8), np.uint8))
    ((where, _),) = check(line(templated, template=make(tmp_path)))
    assert where == f"stations[0].{key}"


def test_a_fitting_golden_picture_is_no_fault(templated: Path, tmp_path: Path) -> None:
    """One for all parts, of the frames' size."""
    cv2.imwrite(str(tmp_path / "good.png"), np.zeros((48, 64), np.uint8))
    template = Template(folder=str(tmp_path), pattern="good.png")
    assert check(line(templated, template=template)) == []


def test_a_golden_picture_with_orientation_is_read_as_the_gate_reads_it(
    templated: Path, tmp_path: Path
) -> None:
    """EXIF says "turn it"; frames are not turned, so neither are golden pictures."""
    ok, jpeg = cv2.imencode(".jpg", np.zeros((48, 64), np.uint8))
    assert ok
    turned = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    size = (len(turned) + 2).to_bytes(2, "big")
    content = jpeg.tobytes()[:2] + b"\xff\xe1" + size + turned + jpeg.tobytes()[2:]
    (tmp_path / "good.jpg").write_bytes(content)
    turning = cv2.imread(str(tmp_path / "good.jpg"), cv2.IMREAD_GRAYSCALE)
    assert turning is not None
    assert turning.shape == (64, 48)
    template = Template(folder=str(tmp_path), pattern="good.jpg")
    assert check(line(templated, template=template)) == []


def test_every_fault_of_a_line_is_told_at_once(export: Export, tmp_path: Path) -> None:
    """A broken model beside a right one: the stations of the right one are still checked."""
    right = line(export(), replace(RIGHT, labels=("Dent",)))
    broken = Model(name="gone", path=str(tmp_path / "gone"))
    second = replace(right.stations[0], name="two", model="gone")
    both = replace(right, models=(broken, *right.models), stations=(second, *right.stations))
    assert [key for key, _ in check(both)] == ["models[0].path", "stations[1].rules[0].labels[0]"]


def test_a_scripted_engine_needs_no_model(tmp_path: Path) -> None:
    """Measuring the pipeline is possible before there is a model."""
    scripted = ScriptedEngine(kind="scripted")
    assert check(replace(line(tmp_path / "gone"), engine=scripted)) == []
