"""Scores of a checkpoint or of an exported directory on a COCO folder.

A plain road, without the daemon: read, resize, infer, suppress doubles, score. The exported
directory is run by `paddle.inference` and by what its `infer_cfg.yml` says: the artefact is checked
too. By hand: `python -m inspectd.train.evaluate MODEL DATA`.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import paddle
import yaml
from numpy.typing import NDArray

from inspectd.errors import UsageFault
from inspectd.scoring import Scores, score_detections
from inspectd.train.boxes import decode, select
from inspectd.train.checkpoint import load_checkpoint
from inspectd.train.dataset import network_input, read_coco, read_frame
from inspectd.train.network import Detector, anchor_centres
from inspectd.train.recipe import Recipe
from inspectd.train.trainer import build_detector, normalise

__all__ = [
    "Predict",
    "evaluate_checkpoint",
    "evaluate_detector",
    "evaluate_directory",
    "open_predictor",
    "prepare",
]

_LOWEST_SCORE = 0.01
"""Detections below do not move average precision."""
_BATCH = 4

Predict = Callable[
    [NDArray[np.float32], NDArray[np.float32]], tuple[NDArray[np.float32], NDArray[np.float32]]
]
"""image (B, 3, H, W), scale_factor (B, 2) -> boxes (B, A, 4) in frame pixels, scores (B, C, A)."""


def evaluate_detector(
    detector: Detector,
    recipe: Recipe,
    data: Path,
    coco: dict[str, Any],
    ids: list[int],
    *,
    threshold: float | None = None,
) -> Scores:
    """Score a network in memory on the images `ids` of a COCO folder."""
    centres, strides = anchor_centres(recipe.input_px, recipe.input_px, recipe.network.levels)
    points, reach = np.array(centres, np.float32), np.array(strides, np.float32)

    def predict(
        image: NDArray[np.float32], scale: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        with paddle.no_grad():
            logits, distances = detector(paddle.to_tensor(image))
        boxes = decode(distances.numpy(), points, reach)
        scores = 1.0 / (1.0 + np.exp(-logits.numpy()))
        return boxes / np.tile(scale[:, ::-1], 2)[:, None], scores

    found = _detect(predict, recipe, data, coco, ids)
    level = recipe.score_threshold if threshold is None else threshold
    return score_detections(data / "annotations.json", found, level, image_ids=ids)


def evaluate_directory(
    model: Path, data: Path, threshold: float | None = None, threads: int = 2
) -> Scores:
    """Score an exported directory on all images of a COCO folder.

    Raises:
        UsageFault: a file of the directory or of the folder is missing or wrong.
    """
    recipe = _recipe_of(model)
    coco = read_coco(data)
    ids = [image["id"] for image in coco["images"]]
    found = _detect(open_predictor(model, threads=threads), recipe, data, coco, ids)
    level = recipe.score_threshold if threshold is None else threshold
    return score_detections(data / "annotations.json", found, level)


def evaluate_checkpoint(path: Path, data: Path, threshold: float | None = None) -> Scores:
    """Score the averaged weights of a checkpoint on all images of a COCO folder.

    Raises:
        UsageFault: the checkpoint or a file of the folder is missing or wrong.
    """
    checkpoint = load_checkpoint(path)
    detector = build_detector(checkpoint.recipe)
    detector.set_state_dict({k: paddle.to_tensor(v) for k, v in checkpoint.average.items()})
    detector.eval()
    coco = read_coco(data)
    ids = [image["id"] for image in coco["images"]]
    return evaluate_detector(detector, checkpoint.recipe, data, coco, ids, threshold=threshold)


def _recipe_of(model: Path) -> Recipe:
    """Read back from `infer_cfg.yml` what `_detect` needs."""
    path = model / "infer_cfg.yml"
    if not path.is_file():
        raise UsageFault("infer_cfg.yml is missing", str(model), "give a folder written by export")
    config = yaml.safe_load(path.read_text())
    steps = {row["type"]: row for row in config["Preprocess"]}
    return Recipe(
        name=str(config["arch"]),
        classes=list(config["label_list"]),
        input_px=int(steps["Resize"]["target_size"][0]),
        template="TemplateChannels" in steps,
        mean=list(steps["NormalizeImage"]["mean"]),
        std=list(steps["NormalizeImage"]["std"]),
        nms_iou=float(config["NMS"]["nms_threshold"]),
        score_threshold=float(config["draw_threshold"]),
    )


def open_predictor(model: Path, engine: str = "plain", threads: int = 2) -> Predict:
    """Load an exported directory with `paddle.inference`.

    `engine` is `plain` (no oneDNN), `onednn`, or `openvino` (only for `model.pdmodel`).
    """
    graph = next((p for p in (model / "model.json", model / "model.pdmodel") if p.is_file()), None)
    if graph is None:
        raise UsageFault("no model.json or model.pdmodel", str(model), "give an exported folder")
    config = paddle.inference.Config(str(graph), str(model / "model.pdiparams"))
    config.disable_gpu()
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(threads)
    if graph.suffix == ".json":
        config.enable_new_ir(True)  # noqa: FBT003  takes no keyword
        config.enable_new_executor(True)  # noqa: FBT003
    if engine == "openvino":
        config.enable_openvino_engine(paddle.inference.PrecisionType.Float32)
    elif engine == "onednn":
        config.enable_mkldnn()
        if graph.suffix == ".json":
            config.delete_pass("onednn_placement_pass")
    else:
        config.disable_mkldnn()
    predictor = paddle.inference.create_predictor(config)

    def predict(
        image: NDArray[np.float32], scale: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        values = {"image": image, "scale_factor": scale}
        for name in predictor.get_input_names():
            predictor.get_input_handle(name).copy_from_cpu(np.ascontiguousarray(values[name]))
        predictor.run()
        outputs = [
            predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()
        ]
        boxes, scores = outputs
        return boxes, scores

    return predict


def prepare(
    frame: NDArray[np.uint8], recipe: Recipe
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Turn one frame (see `read_frame`) into image (3, S, S) and scale_factor (2,)."""
    pixels = network_input(frame, recipe)
    side = recipe.input_px
    height, width = pixels.shape[:2]
    if (height, width) != (side, side):
        pixels = np.asarray(
            cv2.resize(pixels, (side, side), interpolation=cv2.INTER_LINEAR), np.uint8
        )
    return normalise(pixels[None], recipe)[0], np.array([side / height, side / width], np.float32)


def _detect(
    predict: Predict, recipe: Recipe, data: Path, coco: dict[str, Any], ids: list[int]
) -> list[dict[str, Any]]:
    category = {row["name"]: row["id"] for row in coco["categories"]}
    if missing := [name for name in recipe.classes if name not in category]:
        raise UsageFault(
            f"the model's class {missing[0]!r} is not in the labels",
            str(data),
            "use matching labels",
        )
    images = {image["id"]: image for image in coco["images"]}
    found: list[dict[str, Any]] = []
    for part in _parts(ids, _BATCH):
        ready = [prepare(read_frame(data, images[i], recipe.template), recipe) for i in part]
        boxes, scores = predict(np.stack([r[0] for r in ready]), np.stack([r[1] for r in ready]))
        for image_id, one, score in zip(part, boxes, scores, strict=True):
            kept = select(one, score, recipe.nms_iou, _LOWEST_SCORE)
            for (x1, y1, x2, y2), label, value in zip(*kept, strict=True):
                found.append(
                    {
                        "image_id": image_id,
                        "category_id": category[recipe.classes[label]],
                        "bbox": [float(x1), float(y1), float(x2 - x1), float(y2 - y1)],
                        "score": float(value),
                    }
                )
    return found


def _parts(ids: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


def _main(arguments: list[str]) -> None:
    """Print the scores of a checkpoint or model directory: `MODEL DATA`."""
    model, data = (Path(argument) for argument in arguments)
    score = evaluate_directory if model.is_dir() else evaluate_checkpoint
    print(score(model, data).report())


if __name__ == "__main__":
    _main(sys.argv[1:])
