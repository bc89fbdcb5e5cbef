"""Model directories made by hand, as exporters write them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

Export: TypeAlias = Callable[..., Path]
Shapes: TypeAlias = dict[str, tuple[int, ...]]

INPUTS: Shapes = {"image": (-1, 3, 32, 48), "scale_factor": (-1, 2)}
OUTPUTS: Shapes = {"boxes": (-1, 24, 4), "scores": (-1, 2, 24)}


def paddledetection() -> dict[str, Any]:
    """What PaddleDetection writes into `infer_cfg.yml`."""
    return {
        "mode": "paddle",
        "draw_threshold": 0.4,
        "metric": "COCO",
        "use_dynamic_shape": False,
        "arch": "PPYOLOE",
        "min_subgraph_size": 3,
        "Preprocess": [
            {"interp": 2, "keep_ratio": False, "target_size": [32, 48], "type": "Resize"},
            {
                "mean": [0.485, 0.456, 0.406],
                "norm_type": "mean_std",
                "std": [0.229, 0.224, 0.225],
                "type": "NormalizeImage",
            },
            {"type": "Permute"},
        ],
        "label_list": ["Bottle", "Cap"],
    }


def pir(inputs: Shapes, outputs: Shapes) -> bytes:
    """A `.json` program of Paddle 3 with these inputs and outputs and nothing between."""

    def operation(kind: str, name: str, shape: tuple[int, ...]) -> dict[str, Any]:
        named = {"AT": {"#": "0.a_str", "D": name}, "N": "name"}
        kept = {"TT": {"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, list(shape), "NCHW", [], 0]}}
        return {"#": f"1.{kind}", "A": [named], "I": [], "O": [kept]}

    ops = [{"#": "p", "A": [0, 1, 1, "conv.w"], "O": {}}]
    ops += [operation("data", *each) for each in inputs.items()]
    ops += [operation("fetch", *each) for each in outputs.items()]
    block = {"blocks": [{"ops": ops}]}
    return json.dumps({"base_code": {}, "program": {"regions": [block]}}).encode()


def _varint(value: int) -> bytes:
    value %= 1 << 64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, content: bytes | str | int) -> bytes:
    """One field of a protobuf message."""
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    data = content.encode() if isinstance(content, str) else content
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def pdmodel(inputs: Shapes, outputs: Shapes) -> bytes:
    """A `.pdmodel` program of Paddle 2 with these inputs and outputs and nothing between."""
    block = field(1, 0) + field(2, 2**64 - 1)
    for name, shape in (inputs | outputs).items():
        tensor = field(1, 5) + b"".join(field(2, side) for side in shape)
        block += field(3, field(1, name) + field(2, field(1, 7) + field(3, field(1, tensor))))
    # Feeds are prepended one by one, so that they stand in the file in reverse order.
    for kind, column, name in [
        *reversed([("feed", column, name) for column, name in enumerate(inputs)]),
        *[("fetch", column, name) for column, name in enumerate(outputs)],
    ]:
        other, ours = field(1, "X"), field(1, "Out") + field(2, name)
        slots = field(1, other) + field(2, ours)
        if kind == "fetch":
            slots = field(1, field(1, "X") + field(2, name)) + field(2, field(1, "Out"))
        attribute = field(1, "col") + field(2, 0) + field(3, column)
        block += field(4, slots + field(3, kind) + field(4, attribute))
    return field(1, block) + field(4, field(1, 0))


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a tree of lists and mappings."""
    if not isinstance(tree, dict | list):
        return []
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    return [(tree, key) for key in keys] + [each for key in keys for each in places(tree[key])]


@pytest.fixture
def export(tmp_path: Path) -> Export:
    """Write a model directory; answer its path."""

    def write(
        config: dict[str, Any] | None = None,
        *,
        inputs: Shapes = INPUTS,
        outputs: Shapes = OUTPUTS,
        formats: tuple[str, ...] = ("json",),
        config_name: str = "infer_cfg.yml",
        stem: str = "model",
    ) -> Path:
        folder = tmp_path / "caps"
        folder.mkdir(exist_ok=True)
        text = yaml.safe_dump(paddledetection() if config is None else config)
        (folder / config_name).write_text(text, encoding="utf-8")
        writers = {"json": pir, "pdmodel": pdmodel}
        for each in formats:
            (folder / f"{stem}.{each}").write_bytes(writers[each](inputs, outputs))
        (folder / f"{stem}.pdiparams").write_bytes(b"weights")
        return folder

    return write
