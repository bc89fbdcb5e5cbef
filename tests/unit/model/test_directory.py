"""A detector directory is understood as it is, or refused with file, key and remedy."""

import copy
from pathlib import Path
from typing import Any

import pytest

from inspectd.errors import ModelFault
from inspectd.model.directory import read
from inspectd.model.layout import raw_bytes_max
from inspectd.model.spec import LetterBox, Nms, Normalize, Pad, Resize, TemplateChannels

from .conftest import INPUTS, OUTPUTS, Export, paddledetection


def changed(**values: Any) -> dict[str, Any]:
    """PaddleDetection's file with some keys replaced; None takes a key out."""
    config = paddledetection() | values
    return {key: value for key, value in config.items() if value is not None}


def with_steps(*steps: dict[str, Any]) -> dict[str, Any]:
    """PaddleDetection's file with other preprocessing."""
    return changed(Preprocess=list(steps))


RESIZE, NORMALIZE, PERMUTE = paddledetection()["Preprocess"]


def test_a_paddledetection_export_is_understood(export: Export) -> None:
    """Every key that matters, and the defaults of the rest."""
    spec = read(str(export()))
    assert spec.name == "caps"
    assert spec.arch == "PPYOLOE"
    assert spec.labels == ("Bottle", "Cap")
    assert spec.ops == (
        Resize(32, 48, keep_ratio=False, interpolation=2),
        Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225), is_scale=True),
    )
    assert spec.tensor_shape == (3, 32, 48)
    assert spec.inputs == ("image", "scale_factor")
    assert spec.is_in_frame_pixels
    assert spec.layout == "scores"
    assert spec.colour == "rgb"
    assert spec.draw_threshold == 0.4
    assert spec.nms == Nms()
    assert not spec.wants_template


def test_a_paddlex_export_is_understood(export: Export) -> None:
    """`inference.yml` with the model's name in `Global`, and its keys for other tools."""
    config = changed(Global={"model_name": "PicoDet-S"}, Hpi={"backend_configs": {}})
    folder = export(config, config_name="inference.yml", stem="inference", formats=("json",))
    spec = read(str(folder))
    assert spec.name == "PicoDet-S"
    assert spec.programs[0].params_path.endswith("inference.pdiparams")


def test_paddlex_transform_ops_are_the_same_steps(export: Export) -> None:
    """The other layout: one key a step, under `PreProcess.transform_ops`."""
    steps = [
        {"ReadImage": {"format": "RGB"}},
        {"Resize": {"target_size": [32, 48], "keep_ratio": False, "interp": 2}},
        {"NormalizeImage": {"mean": NORMALIZE["mean"], "std": NORMALIZE["std"]}},
        {"ToCHWImage": None},
    ]
    config = changed(Preprocess=None, PreProcess={"transform_ops": steps})
    assert read(str(export(config))).ops == read(str(export())).ops


@pytest.mark.parametrize("formats", [("json",), ("pdmodel",), ("json", "pdmodel")])
def test_both_formats_say_the_same(export: Export, formats: tuple[str, ...]) -> None:
    """Inputs, outputs, sizes; the legacy program comes first when both are there."""
    spec = read(str(export(formats=formats)))
    assert spec.inputs == ("image", "scale_factor")
    assert dict(spec.outputs) == OUTPUTS
    assert spec.programs[0].format == formats[-1]
    assert {each.format for each in spec.programs} == set(formats)


def test_the_room_for_outputs_is_exact_when_the_program_says_it() -> None:
    """24 anchors of 4 sides and 2 scores, float32; otherwise the documented limits."""
    assert raw_bytes_max("scores", tuple(OUTPUTS.items())) == 24 * (4 + 2) * 4
    assert raw_bytes_max("scores", (("b", (-1, -1, 4)), ("s", (-1, 2, -1)))) == 4 << 20
    assert raw_bytes_max("found", (("b", (-1, 6)), ("n", (-1,)))) == 2000 * 6 * 4


def test_nms_in_the_graph_is_seen_by_the_outputs(export: Export) -> None:
    """Rows of six and their counts."""
    spec = read(str(export(outputs={"found": (-1, 6), "count": (-1,)})))
    assert spec.layout == "found"


def test_the_digest_changes_with_every_file(export: Export) -> None:
    """Config, program, parameters: a verdict names exactly what judged."""
    folder = export()
    seen = {read(str(folder)).digest}
    for name in ("infer_cfg.yml", "model.json", "model.pdiparams"):
        (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
        seen.add(read(str(folder)).digest)
    assert len(seen) == 4
    assert all(len(digest) == 12 for digest in seen)


def test_our_nms_block_is_read(export: Export) -> None:
    """Type or name, as PaddleDetection and our exports write it."""
    block = {
        "name": "MultiClassNMS",
        "nms_threshold": 0.5,
        "score_threshold": 0.3,
        "nms_top_k": 400,
        "keep_top_k": 50,
        "class_agnostic": True,
    }
    found = read(str(export(changed(NMS=block)))).nms
    assert found == Nms(
        iou_threshold=0.5, score_threshold=0.3, top_k=400, keep_top_k=50, class_agnostic=True
    )


def test_template_channels_make_the_model_want_golden_pictures(export: Export) -> None:
    """The channels are in the order that the file lists."""
    step = {"type": "TemplateChannels", "channels": ["image", "template", "absdiff"]}
    spec = read(str(export(with_steps(step, RESIZE, NORMALIZE, PERMUTE))))
    assert spec.ops[0] == TemplateChannels(("image", "template", "absdiff"))
    assert spec.wants_template


def test_keep_ratio_with_a_pad_has_a_fixed_size(export: Export) -> None:
    """As YOLOX is exported."""
    resize = {"type": "Resize", "target_size": [32, 48], "keep_ratio": True, "interp": 1}
    pad = {"type": "Pad", "size": [32, 48], "fill_value": [114.0, 114.0, 114.0]}
    spec = read(str(export(with_steps(resize, pad, PERMUTE))))
    assert spec.tensor_shape == (3, 32, 48)
    assert spec.ops[1] == Pad(32, 48, (114, 114, 114))


def test_a_letterbox_has_paddledetections_border(export: Export) -> None:
    """127.5, which OpenCV rounds to the even 128."""
    steps = with_steps({"type": "LetterBoxResize", "target_size": [32, 48]}, PERMUTE)
    assert read(str(export(steps))).ops == (LetterBox(32, 48, 128),)


def test_a_stride_that_has_nothing_to_do_is_let_pass(export: Export) -> None:
    """48 and 32 are multiples of 16."""
    config = with_steps(RESIZE, NORMALIZE, PERMUTE, {"type": "PadStride", "stride": 16})
    assert read(str(export(config))).tensor_shape == (3, 32, 48)


NO_PAD = {"type": "Resize", "target_size": [32, 48], "keep_ratio": True, "interp": 1}


@pytest.mark.parametrize(
    ("config", "key", "word"),
    [
        (changed(label_list=None), "label_list", "missing"),
        (changed(label_list=[]), "label_list", "no labels"),
        (changed(label_list=["One"]), "label_list", "scores 2 classes"),
        (changed(label_list="Cap"), "label_list", "expected a list"),
        (changed(Preprocess=None), "Preprocess", "list of steps"),
        (changed(Preprocess=[]), "Preprocess", "list of steps"),
        (changed(draw_threshold="high"), "draw_threshold", "number"),
        (changed(draw_threshold=2), "draw_threshold", "give 0 to 1"),
        (changed(NMS={"type": "MatrixNMS"}), "NMS.type", "only MultiClassNMS"),
        (changed(NMS=[1]), "NMS", "mapping"),
        (with_steps({"type": "Warp"}, PERMUTE), "Preprocess[0].type", "'Warp' is not known"),
        (with_steps(RESIZE, NORMALIZE), "Preprocess", "Permute"),
        (with_steps(NORMALIZE, RESIZE, PERMUTE), "Preprocess[1].type", "may not follow"),
        (with_steps(RESIZE, RESIZE, PERMUTE), "Preprocess[1].type", "may not follow"),
        (with_steps(NO_PAD, NORMALIZE, PERMUTE), "Preprocess", "keep_ratio"),
        (with_steps(RESIZE | {"blur": 1}, PERMUTE), "Preprocess[0].blur", "not known"),
        (with_steps(RESIZE | {"interp": 9}, PERMUTE), "Preprocess[0].interp", "0 to 4"),
        (with_steps(RESIZE | {"target_size": [32]}, PERMUTE), "target_size", "height and width"),
        (with_steps(RESIZE | {"target_size": [48, 32]}, PERMUTE), "Preprocess", "program takes"),
        (with_steps(RESIZE, NORMALIZE | {"std": [1, 0, 1]}, PERMUTE), "std", "above 0"),
        (with_steps(RESIZE, NORMALIZE | {"mean": [1]}, PERMUTE), "mean", "give 3"),
        (with_steps(RESIZE, NORMALIZE | {"norm_type": "max"}, PERMUTE), "norm_type", "mean_std"),
        (
            with_steps({"type": "DecodeImage", "img_mode": "YUV"}, RESIZE, PERMUTE),
            "img_mode",
            "RGB",
        ),
        (
            with_steps({"type": "TemplateChannels", "channels": ["depth"]}, RESIZE, PERMUTE),
            "channels",
            "choose from",
        ),
        (with_steps(RESIZE, PERMUTE, {"type": "PadStride", "stride": 64}), "stride", "multiple"),
        (
            with_steps(RESIZE, {"type": "Pad", "size": 48, "fill_value": [0.5] * 3}, PERMUTE),
            "fill_value",
            "whole numbers",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_key(
    export: Export, config: dict[str, Any], key: str, word: str
) -> None:
    """The file, the key and the remedy are in the message."""
    folder = export(copy.deepcopy(config))
    with pytest.raises(ModelFault) as caught:
        read(str(folder))
    assert caught.value.path == str(folder / "infer_cfg.yml")
    assert caught.value.key.endswith(key)
    assert word in str(caught.value)


@pytest.mark.parametrize("text", ["", "- a\n", "[1, 2\n", "\xff"])
def test_a_file_that_is_no_mapping_is_refused(export: Export, text: str) -> None:
    """Empty, a list, broken, not UTF-8."""
    folder = export()
    (folder / "infer_cfg.yml").write_bytes(text.encode("latin-1"))
    with pytest.raises(ModelFault, match=r"infer_cfg\.yml"):
        read(str(folder))


def test_missing_parameters_are_named(export: Export) -> None:
    """Half of an export was copied."""
    folder = export()
    (folder / "model.pdiparams").unlink()
    with pytest.raises(ModelFault, match=r"model\.pdiparams: the parameters are missing"):
        read(str(folder))


def test_a_missing_program_is_named(export: Export) -> None:
    """All names that would do are listed."""
    folder = export(formats=())
    with pytest.raises(ModelFault, match=r"model\.pdmodel, model\.json"):
        read(str(folder))


def test_a_folder_that_is_no_export_is_refused(tmp_path: Path) -> None:
    """With or without the folder."""
    with pytest.raises(ModelFault, match="neither infer_cfg"):
        read(str(tmp_path))
    with pytest.raises(ModelFault, match="no such directory"):
        read(str(tmp_path / "gone"))


@pytest.mark.parametrize(
    "inputs", [{"x": (-1, 3, 32, 48)}, {**INPUTS, "depth": (-1, 1)}], ids=["no image", "depth"]
)
def test_inputs_that_nobody_can_fill_are_refused(
    export: Export, inputs: dict[str, tuple[int, ...]]
) -> None:
    """A classifier or a depth camera's model is no detector for this line."""
    with pytest.raises(ModelFault, match="wants the inputs"):
        read(str(export(inputs=inputs)))


@pytest.mark.parametrize(
    "outputs", [{"probability": (-1, 1000)}, {"a": (-1, 80, 52, 52), "b": (-1, 80, 26, 26)}, {}]
)
def test_outputs_that_are_no_boxes_are_refused(
    export: Export, outputs: dict[str, tuple[int, ...]]
) -> None:
    """A classifier, and an export without its post-processing."""
    with pytest.raises(ModelFault, match="answers"):
        read(str(export(outputs=outputs)))
