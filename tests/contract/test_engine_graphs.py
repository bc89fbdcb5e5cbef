"""Both layouts of outputs through a real engine: Paddle's own suppression against ours."""

import importlib
import importlib.util
import os
import warnings
from typing import Any

import cv2
import numpy as np
import pytest
import yaml

from inspectd.model import boxes, directory
from inspectd.model.geometry import Geometry
from inspectd.model.layout import split
from inspectd.model.prepare import Preparer
from inspectd.model.spec import ModelSpec
from inspectd.ports import Pixels
from inspectd.stages.infer.engine import Batch
from inspectd.stages.infer.paddle import Paddle

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("paddle") is None, reason="paddle is not installed"
    ),
]

HEIGHT, WIDTH, STRIDE = 64, 96, 8
NMS = {"name": "MultiClassNMS", "nms_threshold": 0.3, "score_threshold": 0.4, "keep_top_k": 20}
CONFIG = {
    "arch": "test",
    "draw_threshold": 0.5,
    "Preprocess": [
        {"type": "Resize", "target_size": [HEIGHT, WIDTH], "keep_ratio": False, "interp": 1},
        {"type": "NormalizeImage", "mean": [0.5] * 3, "std": [0.25] * 3, "is_scale": True},
        {"type": "Permute"},
    ],
    "label_list": ["Bottle", "Cap"],
    "NMS": NMS,
}


def network(*, has_nms: bool) -> Any:
    """A detector with random weights whose boxes overlap a lot."""
    paddle: Any = importlib.import_module("paddle")
    nn: Any = paddle.nn

    class Net(nn.Layer):  # type: ignore[misc]
        """One level of stride 8."""

        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Conv2D(3, 16, STRIDE, STRIDE)
            self.sides, self.classes = nn.Conv2D(16, 4, 1), nn.Conv2D(16, 2, 1)
            rows, columns = np.mgrid[: HEIGHT // STRIDE, : WIDTH // STRIDE].astype(np.float32)
            centres = np.stack([columns.ravel(), rows.ravel()] * 2, 1) * STRIDE + STRIDE / 2
            self.register_buffer("centres", paddle.to_tensor(centres[None].astype(np.float32)))

        def forward(self, image: Any, scale_factor: Any) -> Any:
            """Boxes in frame pixels and scores, or what is left of them."""
            features = nn.functional.relu(self.body(image))
            reach = nn.functional.softplus(paddle.flatten(self.sides(features), 2)) * 12
            reach = paddle.transpose(reach, [0, 2, 1])
            boxes_ = self.centres + paddle.concat([-reach[..., :2], reach[..., 2:]], -1)
            down, right = scale_factor[:, 0:1], scale_factor[:, 1:2]
            scale = paddle.concat([right, down, right, down], -1)
            boxes_ = boxes_ / paddle.unsqueeze(scale, 1)
            scores = nn.functional.sigmoid(paddle.flatten(self.classes(features), 2) * 4)
            return suppressed(boxes_, scores) if has_nms else (boxes_, scores)

    normalized = (True,)

    def suppressed(boxes_: Any, scores: Any) -> Any:
        rows, _, counts = paddle._C_ops.multiclass_nms3(
            boxes_, scores, None, 0.4, 1000, 20, 0.3, *normalized, 1.0, -1
        )
        return rows, counts

    paddle.seed(7)
    net = Net()
    net.eval()
    spec = paddle.static.InputSpec
    shapes = [
        spec([None, 3, HEIGHT, WIDTH], "float32", "image"),
        spec([None, 2], "float32", "scale_factor"),
    ]
    return paddle.jit.to_static(net, input_spec=shapes)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModelSpec]:
    """The same network exported with suppression in the graph and without."""
    os.environ.setdefault("GLOG_minloglevel", "2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paddle: Any = importlib.import_module("paddle")
        made = {}
        for layout in ("found", "scores"):
            folder = tmp_path_factory.mktemp(layout)
            paddle.jit.save(network(has_nms=layout == "found"), str(folder / "model"))
            text = yaml.safe_dump(CONFIG)
            (folder / "infer_cfg.yml").write_text(text, encoding="utf-8")
            made[layout] = directory.read(str(folder))
    return made


def frames() -> list[Pixels]:
    """Four different pictures of another size than the tensor; the third is black."""
    random = np.random.default_rng(9)
    noise = [random.integers(0, 256, (13, 17, 3), np.uint8) for _ in range(4)]
    noise[2][...] = 0
    return [np.asarray(cv2.resize(each, (150, 100)), np.uint8) for each in noise]


def prepared(spec: ModelSpec) -> tuple[Batch, dict[str, Batch]]:
    """The pictures as one batch, with its further inputs."""
    pictures = frames()
    preparer = Preparer(spec, pictures[0].shape)
    batch = np.empty((len(pictures), *spec.tensor_shape), np.float32)
    for at, picture in enumerate(pictures):
        preparer.prepare(picture, "", batch[at])
    side = Geometry.of(spec, *pictures[0].shape[:2]).side_inputs()
    return batch, {name: np.stack([values] * len(batch)) for name, values in side.items()}


@pytest.mark.parametrize("backend", ["onednn", "plain"])
def test_suppression_in_the_graph_and_ours_find_the_same(
    models: dict[str, ModelSpec], backend: Any
) -> None:
    """Rows that Paddle's `multiclass_nms3` kept, frame by frame, against our own choice."""
    found = {}
    for layout, spec in models.items():
        assert spec.layout == layout
        engine = Paddle(spec, backend=backend)
        batch, side = prepared(spec)
        raw = split(spec.layout, engine.run(batch, side), len(batch))
        found[layout] = [boxes.decode(spec, each, 150, 100) for each in raw]
    assert sum(len(each) for each in found["scores"]) > 10
    assert len({len(each) for each in found["scores"]}) > 1
    for theirs, ours in zip(found["found"], found["scores"], strict=True):
        assert [one.label for one in theirs] == [one.label for one in ours]
        for one, two in zip(theirs, ours, strict=True):
            sides = (one.score, one.x1, one.y1, one.x2, one.y2)
            np.testing.assert_allclose(
                sides, (two.score, two.x1, two.y1, two.x2, two.y2), rtol=1e-3, atol=0.01
            )
