"""`inspectd check` says what the installed Paddle cannot do, at the key that asks for it."""

from pathlib import Path
from typing import Any

import pytest

from inspectd.__main__ import main
from inspectd.cli.check import load_to_run
from inspectd.config.load import load
from inspectd.config.schema import Line
from inspectd.errors import StationFaults
from inspectd.stages.infer.checks import check_with
from inspectd.stages.infer.routes import Build
from inspectd.stages.infer.wheel import installed_build

ROOT = Path(__file__).parents[4]
FRAMES = ROOT / "stations" / "demo_frames" / "images"
CPU = Build(version=(3, 3, 1), has_openvino=True)
GPU = Build(version=(2, 6, 2), cuda="11.8", tensorrt="8.5.3")
GPU_3 = Build(version=(3, 3, 1), cuda="12.6", tensorrt="10.5", has_converter=True)
TEXT = """\
line: press
engine: {engine}
models:
  - {{name: caps, path: {model}{more}}}
record: {{folder: {folder}}}
stations:
  - name: one
    cycle_ms: 100
    deadline_ms: 200
    budget: {{camera_ms: 40, gate_ms: 40, infer_ms: 60, judge_ms: 20, sink_ms: 40}}
    trigger: {{kind: timer, rate_hz: 10}}
    camera: {{kind: replay, path: {frames}, width_px: 640, height_px: 640}}
    model: caps
    rules: [{{kind: count, name: there, label: Cap, min_score: 0.5, min: 1}}]
    plc: {{kind: none}}
"""


def station_file(
    folder: Path, engine: str, model: str = "bottle_cap_pdmodel", more: str = ""
) -> Path:
    """A station file with this engine."""
    path = folder / "press.yaml"
    models = ROOT / "inspectd" / "models"
    text = TEXT.format(engine=engine, model=models / model, folder=folder, more=more, frames=FRAMES)
    path.write_text(text, encoding="utf-8")
    return path


def line_of(folder: Path, *args: Any, **named: Any) -> Line:
    """The same, loaded."""
    return load(station_file(folder, *args, **named))


@pytest.mark.parametrize(
    ("engine", "model", "build", "key", "part"),
    [
        ("{kind: paddle, device: gpu}", "bottle_cap", CPU, "engine.device", "cannot use a GPU"),
        (
            "{kind: paddle, device: gpu, backend: tensorrt}",
            "bottle_cap",
            GPU,
            "models[0].path",
            "need Paddle 3",
        ),
        (
            "{kind: paddle, device: gpu, backend: tensorrt, tensorrt: {route: convert}}",
            "bottle_cap_pdmodel",
            GPU_3,
            "engine.tensorrt.route",
            "takes .json",
        ),
        (
            "{kind: paddle, device: gpu, backend: tensorrt, tensorrt: {route: engine}}",
            "bottle_cap",
            GPU_3,
            "engine.tensorrt.route",
            "takes .pdmodel",
        ),
        (
            "{kind: paddle, device: gpu, backend: tensorrt, precision: int8}",
            "bottle_cap_pdmodel",
            GPU,
            "models[0].path",
            "needs pictures to calibrate",
        ),
        (
            "{kind: paddle, device: gpu, backend: tensorrt}",
            "bottle_cap_pdmodel",
            Build(version=(3, 3, 1), cuda="12.6"),
            "engine.backend",
            "without TensorRT",
        ),
        ("{kind: paddle}", "bottle_cap", Build(version=(2, 6, 2)), "models[0].path", "Paddle 3"),
    ],
)
def test_what_this_paddle_cannot_do_is_a_fault(  # noqa: PLR0917
    tmp_path: Path, engine: str, model: str, build: Build, key: str, part: str
) -> None:
    """At the key that asks for it, with the remedy."""
    ((at, what),) = check_with(line_of(tmp_path, engine, model), lambda: build)
    assert at == key
    assert part in what
    assert "; " in what


@pytest.mark.parametrize(
    ("engine", "model", "build"),
    [
        ("{kind: paddle}", "bottle_cap", CPU),
        ("{kind: paddle, backend: openvino}", "bottle_cap_pdmodel", CPU),
        (
            "{kind: paddle, device: gpu, backend: tensorrt, precision: fp16}",
            "bottle_cap_pdmodel",
            GPU,
        ),
        ("{kind: paddle, device: gpu, backend: tensorrt, precision: fp16}", "bottle_cap", GPU_3),
        ("{kind: paddle, device: gpu, backend: tensorrt, precision: fp16}", "bottle_cap", None),
        ("{kind: paddle, device: gpu, precision: fp16}", "bottle_cap_pdmodel", None),
        ("{kind: scripted}", "bottle_cap", None),
    ],
)
def test_what_it_can_do_is_none(
    tmp_path: Path, engine: str, model: str, build: Build | None
) -> None:
    """Without Paddle everything that some Paddle can do is let pass."""
    assert check_with(line_of(tmp_path, engine, model), lambda: build) == []


def test_openvino_without_its_program_is_said_once(tmp_path: Path) -> None:
    """The rules about the disk say it; here it is not said again."""
    line = load(
        station_file(tmp_path, "{kind: paddle, backend: openvino}", "bottle_cap"), must_exist=False
    )
    assert check_with(line, lambda: CPU) == []


@pytest.mark.skipif(
    (here := installed_build()) is None or bool(here.cuda), reason="a CPU wheel of Paddle is wanted"
)
def test_the_fault_has_its_line_and_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As every other fault of the file; `--elsewhere` looks at the file alone."""
    path = station_file(tmp_path, "{kind: paddle, device: gpu, backend: tensorrt}")
    what = "press.yaml:2:32: engine.device: this Paddle cannot use a GPU"
    assert main(["check", str(path)]) == 2
    assert what in capsys.readouterr().err
    assert main(["check", "--elsewhere", str(path)]) == 0
    with pytest.raises(StationFaults, match=what):
        load_to_run(str(path))
