"""An engine is loaded, proves itself, or is replaced or refused as the station file says."""

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from inspectd.config.schema import PaddleEngine, ScriptedEngine
from inspectd.errors import EngineRefused
from inspectd.model import directory, distributions
from inspectd.model.spec import ModelSpec
from inspectd.stages.infer.loading import cache_folder, load
from inspectd.stages.infer.scripted import Scripted
from inspectd.stages.infer.selftest import read_golden

ROOT = Path(__file__).parents[4]
MODELS = ROOT / "inspectd" / "models"
SHIPPED = [
    *(MODELS / name for name in ("bottle_cap", "bottle_cap_pdmodel")),
    *(ROOT / "models" / name for name in ("deeppcb", "deeppcb_pdmodel")),
]


class Log:
    """Keeps what is logged."""

    def __init__(self) -> None:
        self.events: dict[str, dict[str, Any]] = {}

    def __call__(self, level: str, event: str, **fields: Any) -> None:
        """One event with its level and fields."""
        self.events[event] = {"level": level, **fields}


@pytest.fixture
def log() -> Log:
    """Empty."""
    return Log()


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests leave nothing in the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CACHE_DIRECTORY", raising=False)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of the shipped model (`.json` only), to be changed."""
    return Path(shutil.copytree(MODELS / "bottle_cap", tmp_path / "bottle_cap"))


def spec_of(model: Path) -> ModelSpec:
    """The directory, read."""
    return directory.read(str(model))


class TestCacheFolder:
    """Where a backend may keep what it compiled."""

    def test_it_is_named_by_the_digest(self, model: Path, tmp_path: Path) -> None:
        """Another state of the model never meets what was compiled for this one."""
        spec = spec_of(model)
        folder = cache_folder(spec)
        assert folder == tmp_path / "cache" / "inspectd" / spec.digest
        assert folder.is_dir()
        (model / "infer_cfg.yml").write_bytes((model / "infer_cfg.yml").read_bytes() + b"\n")
        assert cache_folder(spec_of(model)) != folder

    def test_systemds_folder_comes_first(
        self, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A service may write there and nowhere else."""
        monkeypatch.setenv("CACHE_DIRECTORY", str(tmp_path / "service"))
        assert cache_folder(spec_of(model)).is_relative_to(tmp_path / "service")

    def test_the_home_folder_comes_last(
        self, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As XDG says where nothing is set."""
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        assert cache_folder(spec_of(model)).is_relative_to(tmp_path / "home" / ".cache")

    def test_where_nothing_can_be_written_a_temporary_folder_serves(
        self, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A file stands in the way: the line starts all the same."""
        (tmp_path / "cache").write_text("in the way", encoding="utf-8")
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        folder = cache_folder(spec_of(model))
        assert folder.is_dir()
        assert folder.parent == tmp_path


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_every_shipped_model_has_golden_outputs_of_its_state(folder: Path) -> None:
    """Whoever exports anew stores them anew."""
    golden = read_golden(spec_of(folder))
    assert golden is not None
    assert golden.detections


def test_a_scripted_engine_needs_no_proof(model: Path, log: Log) -> None:
    """It is no inspection, and says so itself."""
    engine = load(spec_of(model), ScriptedEngine(kind="scripted"), 4, log)
    assert isinstance(engine, Scripted)
    assert not log.events


@pytest.mark.paddle
@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="paddle is not installed")
class TestWithPaddle:
    """What runs the model."""

    @pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
    def test_every_shipped_model_proves_itself(self, folder: Path, log: Log) -> None:
        """With the backend that a station file gets without asking, alone and in a batch."""
        load(spec_of(folder), PaddleEngine(kind="paddle"), 2, log)
        assert not log.events

    def test_a_proven_engine_is_silent(self, model: Path, log: Log) -> None:
        """Golden picture and outputs are there and are met: nothing to say."""
        engine = load(spec_of(model), PaddleEngine(kind="paddle"), 3, log)
        assert engine.describe()["backend"] == "onednn"
        assert not log.events

    def test_without_golden_outputs_the_log_says_so(self, model: Path, log: Log) -> None:
        """The backends are compared with each other; the remedy is a command."""
        (model / "golden.json").unlink()
        engine = load(spec_of(model), PaddleEngine(kind="paddle"), 2, log)
        assert engine.describe()["backend"] == "onednn"
        assert list(log.events) == ["engine_unproven"]
        assert log.events["engine_unproven"]["remedy"] == f"inspectd model golden {model}"

    def test_what_cannot_be_had_falls_back_where_that_is_allowed(
        self, model: Path, log: Log
    ) -> None:
        """OpenVINO takes no `.json`: the plain backend proves itself and serves."""
        settings = PaddleEngine(kind="paddle", backend="openvino", self_test="fall_back")
        engine = load(spec_of(model), settings, 2, log)
        assert engine.describe()["backend"] == "plain"
        told = log.events["engine_fell_back"]
        assert told["level"] == "warning"
        assert "openvino takes .pdmodel" in told["why"]

    def test_what_cannot_be_had_is_refused_where_that_is_said(self, model: Path, log: Log) -> None:
        """The default: no line starts with another engine than its file names."""
        settings = PaddleEngine(kind="paddle", backend="openvino")
        with pytest.raises(EngineRefused, match="choose onednn"):
            load(spec_of(model), settings, 2, log)
        assert not log.events

    @pytest.mark.parametrize("backend", ["onednn", "plain"])
    @pytest.mark.parametrize("self_test", ["refuse", "fall_back"])
    def test_a_model_that_finds_other_things_than_stored_never_serves(
        self, model: Path, log: Log, backend: Any, self_test: Any
    ) -> None:
        """No backend gives what is stored: falling back is no way around the proof."""
        stored = json.loads((model / "golden.json").read_text(encoding="utf-8"))
        stored["detections"][0]["x1"] += 5
        (model / "golden.json").write_text(json.dumps(stored), encoding="utf-8")
        settings = PaddleEngine(kind="paddle", backend=backend, self_test=self_test)
        with pytest.raises(EngineRefused, match="the self-test failed alone: missing"):
            load(spec_of(model), settings, 1, log)

    def test_golden_outputs_of_another_state_are_refused(self, model: Path, log: Log) -> None:
        """The parameters were replaced, what they must find was not stored again."""
        (model / "infer_cfg.yml").write_bytes((model / "infer_cfg.yml").read_bytes() + b"\n")
        with pytest.raises(EngineRefused, match=r"store them again: inspectd model golden"):
            load(spec_of(model), PaddleEngine(kind="paddle"), 1, log)

    def test_a_gpu_is_never_replaced(self, model: Path, log: Log) -> None:
        """Falling back is for kernels, not for devices: the line would be too slow unnoticed."""
        settings = PaddleEngine(kind="paddle", device="gpu", self_test="fall_back")
        if distributions.GPU in distributions.installed():
            pytest.skip("the GPU wheel of Paddle is here, and may find a GPU")
        with pytest.raises(EngineRefused, match="cannot use a GPU"):
            load(spec_of(model), settings, 1, log)
        assert not log.events
