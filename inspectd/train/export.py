"""From a checkpoint to a model directory in PaddleDetection's layout.

`infer_cfg.yml` says how frames become tensors and boxes become answers; the graph itself holds
network and box decoding, and no NMS, so that batching and thresholds stay with the daemon.
"""

from pathlib import Path
from typing import Any

import yaml

from inspectd.train.checkpoint import Checkpoint, weights_of
from inspectd.train.export_graph import write_graph
from inspectd.train.legacy import write_legacy_graph
from inspectd.train.recipe import Recipe

__all__ = ["export_model", "graph_shape", "infer_config"]

_LINEAR = 1
"""cv2.INTER_LINEAR."""
_KEEP = 100


def graph_shape(recipe: Recipe) -> dict[str, Any]:
    """Answer what `write_graph` must know of the recipe."""
    network = recipe.network
    return {
        "classes": len(recipe.classes),
        "widths": network.widths,
        "depths": network.depths,
        "neck_width": network.neck_width,
        "levels": network.levels,
        "input_px": recipe.input_px,
    }


def infer_config(recipe: Recipe) -> dict[str, Any]:
    """Answer the content of `infer_cfg.yml`, keys as PaddleDetection's, plus `NMS`."""
    side = recipe.input_px
    steps: list[dict[str, Any]] = [
        {"type": "Resize", "interp": _LINEAR, "keep_ratio": False, "target_size": [side, side]},
        {
            "type": "NormalizeImage",
            "is_scale": True,
            "mean": list(recipe.mean),
            "std": list(recipe.std),
            "norm_type": "mean_std",
        },
        {"type": "Permute"},
    ]
    if recipe.template:
        channels = ["image", "template", "absdiff"]
        steps.insert(0, {"type": "TemplateChannels", "channels": channels})
    return {
        "mode": "paddle",
        "draw_threshold": recipe.score_threshold,
        "metric": "COCO",
        "arch": f"Inspectd-{recipe.name}",
        "min_subgraph_size": 3,
        "use_dynamic_shape": True,
        "Preprocess": steps,
        "label_list": list(recipe.classes),
        "NMS": {
            "type": "MultiClassNMS",
            "nms_threshold": recipe.nms_iou,
            "score_threshold": 0.05,
            "nms_top_k": 400,
            "keep_top_k": _KEEP,
        },
    }


def export_model(checkpoint: Checkpoint, out: Path, legacy: Path | None) -> None:
    """Write graph, weights and `infer_cfg.yml` into `out`.

    `legacy` is the Python of a Paddle 2.6 environment: with it `model.pdmodel` is written, without
    it `model.json`. The averaged weights are exported.
    """
    out.mkdir(parents=True, exist_ok=True)
    shape, weights = graph_shape(checkpoint.recipe), weights_of(checkpoint.average)
    if legacy is None:
        write_graph(shape, weights, out)
    else:
        write_legacy_graph(legacy, shape, weights, out)
    (out / "model.pdiparams.info").unlink(missing_ok=True)
    text = yaml.safe_dump(infer_config(checkpoint.recipe), sort_keys=False)
    (out / "infer_cfg.yml").write_text(text)
