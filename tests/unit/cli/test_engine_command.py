"""`inspectd engine`: what is asked, what is kept, what precision costs."""

import importlib.util
import json
from pathlib import Path

import pytest

from inspectd.__main__ import main
from inspectd.stages.infer.wheel import installed_build

ROOT = Path(__file__).parents[3]
FRAMES = ROOT / "stations" / "demo_frames" / "images"
TEXT = """\
line: press
engine: {engine}
models: [{{name: caps, path: {model}, batch_max: 3}}, {{name: spare, path: {model}}}]
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


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests leave nothing in the user's cache; tables are wide."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CACHE_DIRECTORY", raising=False)
    monkeypatch.setenv("COLUMNS", "160")


def station_file(folder: Path, engine: str = "{kind: paddle}") -> str:
    """A line that could run."""
    path = folder / "press.yaml"
    model = ROOT / "inspectd" / "models" / "bottle_cap_pdmodel"
    text = TEXT.format(engine=engine, model=model, folder=folder, frames=FRAMES)
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("action", ["build", "show", "parity"])
def test_a_line_without_a_model_is_a_wrong_argument(
    tmp_path: Path, action: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is built for a script."""
    assert main(["engine", action, station_file(tmp_path, "{kind: scripted}")]) == 2
    assert "runs no model" in capsys.readouterr().err


@pytest.mark.paddle
@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="paddle is not installed")
class TestWithPaddle:
    """What the installed Paddle answers."""

    def test_show_says_the_way_of_each_model_in_use(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """And what needs no engine."""
        assert main(["engine", "show", station_file(tmp_path)]) == 0
        told = capsys.readouterr().out
        for words in ("onednn with .pdmodel", "1x3x320x320..3x3x320x320", "none is built"):
            assert words in told
        assert "spare" not in told

    def test_build_has_nothing_to_do_on_the_cpu(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """It says so for each model."""
        assert main(["engine", "build", station_file(tmp_path)]) == 0
        assert capsys.readouterr().out == "caps: cpu with auto needs no engine\n"

    def test_what_cannot_be_had_here_is_said(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """With its reason, and exit 1."""
        build = installed_build()
        if build is None or build.cuda:
            pytest.skip("a CPU wheel of Paddle is wanted")
        engine = "{kind: paddle, device: gpu, backend: tensorrt, precision: fp16}"
        path = station_file(tmp_path, engine)
        assert main(["engine", "show", path]) == 1
        assert "inspectd[gpu]" in capsys.readouterr().out
        assert main(["engine", "build", path]) == 1
        assert "GPU" in capsys.readouterr().err

    @pytest.mark.parametrize("backend", ["onednn", "openvino", "plain"])
    def test_every_backend_of_the_cpu_is_within_the_tolerance(
        self, tmp_path: Path, backend: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """At every place of the batch, on the golden picture."""
        out = tmp_path / "parity.json"
        arguments = ["--backend", backend, "--json", str(out)]
        assert main(["engine", "parity", station_file(tmp_path), *arguments]) == 0
        (told,) = json.loads(out.read_text(encoding="utf-8"))
        assert told["engine"]["backend"] == backend
        places = [(one["size"], one["place"]) for one in told["places"]]
        assert places == [(1, 1), (3, 1), (3, 2), (3, 3)]
        assert max(one["score"] for one in told["places"]) < 1e-4
        assert "within the tolerance" in capsys.readouterr().out

    def test_what_differs_by_more_than_allowed_is_exit_1(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Kernels of oneDNN round otherwise than plain ones: without any tolerance it is over."""
        arguments = ["--images", str(FRAMES), "--limit", "2", "--score", "0", "--box", "0"]
        assert main(["engine", "parity", station_file(tmp_path), *arguments]) == 1
        told = capsys.readouterr().out
        assert "OVER" in told
        assert "2 pictures" in told

    @pytest.mark.parametrize(
        ("arguments", "part"),
        [
            (["--images", "nowhere"], "is no folder"),
            (["--images", "."], "holds no pictures"),
            (["--model", "spare"], "no station uses this model"),
        ],
    )
    def test_what_cannot_be_compared_is_a_wrong_argument(
        self,
        tmp_path: Path,
        arguments: list[str],
        part: str,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        """One sentence, exit 2."""
        monkeypatch.chdir(tmp_path)
        assert main(["engine", "parity", station_file(tmp_path), *arguments]) == 2
        assert part in capsys.readouterr().err
