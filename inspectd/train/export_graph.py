"""Write the inference graph, in whichever Paddle runs this file.

Paddle 3.x writes `model.json`, Paddle 2.6 writes `model.pdmodel`; both write `model.pdiparams`. The
file is imported by `inspectd.train.export` and also started by path in a Paddle 2.6 environment,
where no inspectd is installed: it needs paddle, numpy and `network.py` beside it.
"""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import paddle

__all__ = ["write_graph"]


def _network() -> Any:
    """Load `network.py` from this folder, with or without the package around it."""
    path = Path(__file__).with_name("network.py")
    spec = importlib.util.spec_from_file_location("inspectd_network", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_graph(shape: dict[str, Any], weights: dict[str, Any], out: Path) -> None:
    """Write `model.*` into `out`.

    Args:
        shape: `classes` (count), `widths`, `depths`, `neck_width`, `levels`, `input_px`.
        weights: Arrays by the names of `Detector.state_dict()`.
        out: An existing folder.
    """
    network = _network()
    arguments = dict(shape)
    side = arguments.pop("input_px")
    detector = network.Detector(**arguments)
    missing = sorted(set(detector.state_dict()) - set(weights))
    if missing:
        raise KeyError(f"weights lack {missing[0]}")
    detector.set_state_dict({name: paddle.to_tensor(value) for name, value in weights.items()})
    deployed = network.DeployedDetector(detector, side, side)
    deployed.eval()
    static = paddle.jit.to_static(
        deployed,
        input_spec=[
            paddle.static.InputSpec([None, 3, side, side], "float32", "image"),
            paddle.static.InputSpec([None, 2], "float32", "scale_factor"),
        ],
        full_graph=True,
    )
    paddle.jit.save(static, str(out / "model"))


def _main(arguments: list[str]) -> None:
    shape, weights, out = arguments
    with np.load(weights) as arrays:
        values = {name: arrays[name] for name in arrays.files}
    write_graph(json.loads(Path(shape).read_text()), values, Path(out))


if __name__ == "__main__":
    _main(sys.argv[1:])
