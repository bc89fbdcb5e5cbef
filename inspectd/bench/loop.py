"""The same model on the same pictures: through the daemon, and in the loop that one writes first.

The loop reads a picture, prepares it, runs the model, takes the boxes apart, and begins again, all
in one process, with one thread for the engine, as the daemon's engine has. The engine alone runs
batches of ready tensors. Each is measured before and after the daemon, in a process of its own,
since a busy machine is busy for all. Other engines run the loop where they are installed: OpenVINO
reads the `.pdmodel` itself, ONNX Runtime what paddle2onnx makes of it.

    python -m inspectd.bench.loop ENGINE SECONDS     one measurement, pictures a second
"""

import argparse
import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from inspectd.bench.finding import Finding
from inspectd.bench.lines import bench_line
from inspectd.bench.window import watched_run
from inspectd.config.schema import Budget, Line, Model, PaddleEngine, ReplayCamera
from inspectd.errors import UsageFault
from inspectd.frame import Role
from inspectd.model import boxes, directory
from inspectd.model.geometry import Geometry
from inspectd.model.layout import split
from inspectd.model.prepare import Preparer
from inspectd.model.spec import ModelSpec
from inspectd.ports import Counter, Tensor
from inspectd.stages.infer.paddle import Paddle

__all__ = ["find", "main"]

_MODEL = Path(__file__).parents[1] / "models" / "bottle_cap_pdmodel"
_FRAMES = Path(__file__).parents[2] / "stations" / "demo_frames" / "images"
_BATCH_MAX = 4
_OFFERED = 1.2
"""Times the rate of the engine alone."""
_SHARE_MIN = 0.95
_GONE_S = 60
_OTHERS = {"onnxruntime": ("onnxruntime", "paddle2onnx"), "openvino": ("openvino",)}
"""Engines for comparison, and what must be installed for them."""

_Run = Callable[[Tensor], Sequence[Any]]


def find(seconds: float, pictures: Path = _FRAMES) -> Finding:
    """Measure the loop, the engine alone, the daemon, and the two again.

    Raises:
        UsageFault: there are no pictures, or a measurement failed.
    """
    if not any(pictures.glob("*.jpg")):
        raise UsageFault("no pictures", str(pictures), "run this from a checkout of the project")
    others = {name: _told(name, seconds, pictures) for name in _OTHERS if _is_there(name)}
    before = {name: _told(name, seconds, pictures) for name in ("loop", "alone")}
    daemon_hz = _daemon_hz(seconds, pictures, _OFFERED * before["alone"])
    after = {name: _told(name, seconds, pictures) for name in ("loop", "alone")}
    loop_hz, alone_hz = ((before[name] + after[name]) / 2 for name in ("loop", "alone"))
    missing = [name for name in _OTHERS if name not in others]
    return Finding(
        title="bottle_cap on one CPU thread, pictures a second",
        lines=[
            ("sequential loop", f"{loop_hz:7.1f}"),
            ("engine alone", f"{alone_hz:7.1f}   the best batch size up to {_BATCH_MAX}"),
            ("inspectd", f"{daemon_hz:7.1f}"),
            ("inspectd to the loop", f"{daemon_hz / loop_hz:7.2f}"),
            ("inspectd to the engine alone", f"{daemon_hz / alone_hz:7.2f}"),
            *((f"loop with {name}", f"{rate:7.1f}") for name, rate in others.items()),
            *((f"loop with {name}", "   not installed") for name in missing),
        ],
        numbers={
            "loop_hz": round(loop_hz, 2),
            "alone_hz": round(alone_hz, 2),
            "inspectd_hz": round(daemon_hz, 2),
            "others_hz": {name: round(rate, 2) for name, rate in others.items()},
        },
        aim=f"faster than the loop, at least {_SHARE_MIN} of the engine alone",
        is_met=daemon_hz > loop_hz and daemon_hz >= _SHARE_MIN * alone_hz,
    )


def _is_there(name: str) -> bool:
    return all(importlib.util.find_spec(module) is not None for module in _OTHERS[name])


def _told(engine: str, seconds: float, pictures: Path) -> float:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "inspectd.bench.loop", engine, str(seconds), str(pictures)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds + _GONE_S, check=False
    )
    if done.returncode:
        raise UsageFault(f"the measurement ended with {done.stderr[-500:]}", engine, "look there")
    return float(done.stdout.split()[-1])


# ---------------------------------------------------------------- the daemon


def _daemon_hz(seconds: float, pictures: Path, rate_hz: float) -> float:
    with tempfile.TemporaryDirectory(prefix="inspectd-bench-") as folder:
        seen = watched_run(_line(Path(folder), pictures, rate_hz), seconds)
    return seen.gained(Role.JUDGE, Counter.FRAMES) / seen.seconds


def _line(folder: Path, pictures: Path, rate_hz: float) -> Line:
    """The bench's line with the real model and pictures, offered more than it can take."""
    line = bench_line(folder, [rate_hz], _BATCH_MAX)
    station = replace(
        line.stations[0],
        camera=ReplayCamera(kind="replay", path=str(pictures), width_px=640, height_px=640),
        budget=Budget(camera_ms=400, gate_ms=400, infer_ms=400, judge_ms=400, sink_ms=400),
        model="bottle_cap",
        slots=12,
    )
    return replace(
        line,
        engine=PaddleEngine(kind="paddle", threads=1),
        models=(Model(name="bottle_cap", path=str(_MODEL), batch_max=_BATCH_MAX),),
        stations=(station,),
    )


# ---------------------------------------------------------------- one process


def main(argv: Sequence[str]) -> int:
    """Measure one engine and print its rate."""
    parser = argparse.ArgumentParser(prog="inspectd.bench.loop")
    parser.add_argument("engine", choices=("loop", "alone", *_OTHERS))
    parser.add_argument("seconds", type=float)
    parser.add_argument("pictures", type=Path)
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    spec = directory.read(str(_MODEL))
    if args.engine == "alone":
        rate = _alone_hz(spec, args.seconds)
    else:
        run = {"loop": _paddle, "onnxruntime": _onnxruntime, "openvino": _openvino}[args.engine]
        rate = _loop_hz(spec, run(spec), args.pictures, args.seconds)
    print(rate)
    return 0


def _loop_hz(spec: ModelSpec, run: _Run, pictures: Path, seconds: float) -> float:
    """Read, prepare, run, decode, and again; the first pictures warm up."""
    paths = sorted(pictures.glob("*.jpg"))
    first = cv2.imread(str(paths[0]))
    assert first is not None  # noqa: S101  the caller has looked
    preparer = Preparer(spec, first.shape)
    tensor = np.zeros(spec.tensor_shape, np.float32)

    def look(path: Path) -> None:
        frame = np.asarray(cv2.imread(str(path)), np.uint8)
        preparer.prepare(frame, "", tensor)
        [raw] = split(spec.layout, run(tensor[None]), 1)
        boxes.decode(spec, raw, frame.shape[1], frame.shape[0])

    for path in paths[:3]:
        look(path)
    endless = cycle(paths)
    return _rate_hz(lambda: look(next(endless)), seconds)


def _alone_hz(spec: ModelSpec, seconds: float) -> float:
    """Batches of ready tensors, nothing else: the rate of the best batch size."""
    engine = Paddle(spec, threads=1)
    room = np.random.default_rng(1).uniform(-1, 1, (_BATCH_MAX, *spec.tensor_shape))
    sizes = range(1, _BATCH_MAX + 1)
    return max(size * _runs_hz(engine, room[:size], seconds / _BATCH_MAX) for size in sizes)


def _runs_hz(engine: Paddle, pictures: Any, seconds: float) -> float:
    batch = np.ascontiguousarray(pictures, np.float32)
    ones = np.ones((len(batch), 2), np.float32)
    side = {"scale_factor": ones, "im_shape": ones}
    engine.run(batch, side)
    return _rate_hz(lambda: engine.run(batch, side), seconds)


def _rate_hz(work: Callable[[], object], seconds: float) -> float:
    begin_ns, done = time.monotonic_ns(), 0
    while time.monotonic_ns() - begin_ns < seconds * 1e9:
        work()
        done += 1
    return done / ((time.monotonic_ns() - begin_ns) / 1e9)


def _paddle(spec: ModelSpec) -> _Run:
    engine = Paddle(spec, threads=1)
    return lambda images: engine.run(images, _sides(spec))


def _openvino(spec: ModelSpec) -> _Run:
    openvino = importlib.import_module("openvino")
    core = openvino.Core()
    program = spec.program("pdmodel")
    assert program is not None  # noqa: S101  the packaged model has one
    model = core.read_model(program.program_path)
    compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1})
    names = {name: port for port in compiled.inputs for name in port.names}

    def run(images: Tensor) -> Sequence[Any]:
        given = {"image": images, **_sides(spec)}
        answer = compiled({port: given[name] for name, port in names.items() if name in given})
        return [answer[port] for port in compiled.outputs]

    return run


def _onnxruntime(spec: ModelSpec) -> _Run:
    onnxruntime = importlib.import_module("onnxruntime")
    converter = importlib.import_module("paddle2onnx")
    program = spec.program("pdmodel")
    assert program is not None  # noqa: S101  the packaged model has one
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "model.onnx")
        converter.export(program.program_path, program.params_path, save_file=file)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(file, settings)
    names = {one.name for one in session.get_inputs()}

    def run(images: Tensor) -> Sequence[Any]:
        given = {"image": images, **_sides(spec)}
        return list(session.run(None, {name: given[name] for name in names}))

    return run


def _sides(spec: ModelSpec) -> dict[str, Any]:
    """Further inputs of one picture of the demo."""
    place = Geometry.of(spec, 640, 640)
    return {name: values[None] for name, values in place.side_inputs().items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
