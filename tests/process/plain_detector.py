"""What one writes first after PaddleDetection's deployment guide: no line of it is inspectd's.

Decode the file, BGR to RGB, `Resize` to the target size, `NormalizeImage`, `Permute`, the inputs
`image` and `scale_factor`; of the answered boxes, in frame pixels already (PP-YOLOE exported
without NMS), the best per class by a plain loop. The numbers come from the model's `infer_cfg.yml`.

Source of the steps: PaddleDetection, `deploy/python/preprocess.py` and `docs/deploy`.
"""

import json
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import yaml

__all__ = ["loaded", "look"]


def loaded(folder: Path) -> tuple[Any, dict[str, Any]]:
    """Answer Paddle's predictor for a model directory, and its configuration."""
    from paddle import inference  # noqa: PLC0415  - tests without paddle import this module too

    program = next(one for one in (folder / "model.json", folder / "model.pdmodel") if one.exists())
    config = inference.Config(str(program), str(folder / "model.pdiparams"))
    config.disable_gpu()
    config.disable_mkldnn()  # Paddle 3.3 cannot run `.json` programs with it as they are
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(1)
    settings = yaml.safe_load((folder / "infer_cfg.yml").read_text(encoding="utf-8"))
    return inference.create_predictor(config), settings


def look(predictor: Any, settings: dict[str, Any], file: Path) -> list[tuple[Any, ...]]:
    """Answer (label, score, x1, y1, x2, y2) of one picture in its pixels, best score first."""
    resize, normalize, _ = settings["Preprocess"]
    picture = cv2.cvtColor(np.asarray(cv2.imread(str(file))), cv2.COLOR_BGR2RGB)
    height, width = picture.shape[:2]
    target_h, target_w = resize["target_size"]
    scale = np.array([[target_h / height, target_w / width]], np.float32)
    small = cv2.resize(
        picture, None, None, fx=scale[0, 1], fy=scale[0, 0], interpolation=resize["interp"]
    )
    pixels = small.astype(np.float32) / np.float32(255.0)
    pixels = (pixels - np.float32(normalize["mean"])) / np.float32(normalize["std"])
    given = {
        "image": np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], np.float32),
        "scale_factor": scale,
        "im_shape": np.array([[target_h, target_w]], np.float32),
    }
    for name in predictor.get_input_names():
        predictor.get_input_handle(name).copy_from_cpu(given[name])
    predictor.run()
    outputs = [
        predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()
    ]
    boxes, scores = outputs[0][0], outputs[1][0]
    boxes = np.clip(boxes, 0, [width, height, width, height])
    limits = settings["NMS"]
    found = [
        (label, float(score), *map(float, box))
        for label, of_class in zip(settings["label_list"], scores, strict=True)
        for score, box in _best(of_class, boxes, limits)
    ]
    return sorted(found, key=lambda one: -one[1])[: limits["keep_top_k"]]


def _best(scores: Any, boxes: Any, limits: dict[str, Any]) -> list[tuple[Any, Any]]:
    """One class: from the best score down, what overlaps none that was kept."""
    kept: list[tuple[Any, Any]] = []
    for at in np.argsort(-scores)[: limits["nms_top_k"]]:
        if scores[at] <= limits["score_threshold"]:
            break
        if all(_overlap(boxes[at], box) <= limits["nms_threshold"] for _, box in kept):
            kept.append((scores[at], boxes[at]))
    return kept


def _overlap(one: Any, other: Any) -> float:
    """Intersection over union of two boxes."""
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    both = float(np.prod(np.maximum(sides, 0)))
    areas = float(np.prod(one[2:] - one[:2])) + float(np.prod(other[2:] - other[:2]))
    return both / max(areas - both, 1e-9)


if __name__ == "__main__":
    model, config = loaded(Path(sys.argv[1]))
    for path in sys.argv[2:]:
        sys.stdout.write(json.dumps({path: look(model, config, Path(path))}) + "\n")
