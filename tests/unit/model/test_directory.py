"""A detector directory is understood as it is, or refused with file, key and remedy."""

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from inspectd.errors import ModelFault
from inspectd.model.directory import read
from inspectd.model.layout import raw_bytes_max
from inspectd.model.spec import LetterBox, Nms, Normalize, Pad, Resize, TemplateChannels

from .conftest import INPUTS, OUTPUTS, Export, paddledetection

MODELS = Path(__file__).parents[3] / "inspectd" / "models"


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


@pytest.mark.parametrize("source", ["bottle_cap", "bottle_cap_pdmodel"])
def test_the_shipped_model_is_the_same_in_paddlexs_layout(tmp_path: Path, source: str) -> None:
    """The files as PaddleX 3 names them, and its further keys: everything but the digest stays."""
    theirs = read(str(MODELS / source))
    for file in (MODELS / source).glob("model.*"):
        shutil.copyfile(file, tmp_path / file.name.replace("model.", "inference."))
    config = yaml.safe_load(Path(theirs.config_path).read_text(encoding="utf-8"))
    shapes = {"image": [[1, 3, 320, 320]] * 3, "scale_factor": [[1, 2], [1, 2], [8, 2]]}
    config |= {
        "Global": {"model_name": "PicoDet-S"},
        "Hpi": {"backend_configs": {"paddle_infer": {"trt_dynamic_shapes": shapes}}},
        "fpn_stride": [8, 16, 32, 64],
    }
    text = yaml.safe_dump(config, sort_keys=False)
    (tmp_path / "inference.yml").write_text(text, encoding="utf-8")
    ours = read(str(tmp_path))
    assert ours.name == "PicoDet-S"
    for same in ("labels", "ops", "tensor_shape", "inputs", "outputs", "layout", "nms", "colour"):
        assert getattr(ours, same) == getattr(theirs, same)
    assert ours.digest != theirs.digest


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
        (with_steps(RESIZE, NORMALIZE | {"std": [1, -1, 1]}, PERMUTE), "std", "above 0"),
        (with_steps(RESIZE, NORMALIZE | {"mean": [float("nan")] * 3}, PERMUTE), "mean", "finite"),
        (with_steps(RESIZE, NORMALIZE | {"mean": [10**400] * 3}, PERMUTE), "mean", "finite"),
        (with_steps(RESIZE, NORMALIZE | {"mean": [True] * 3}, PERMUTE), "mean", "numbers"),
        (with_steps(RESIZE, NORMALIZE | {"norm_type": "none"}, PERMUTE), "mean", "PaddleX"),
        (with_steps(RESIZE, NORMALIZE | {"is_scale": 1}, PERMUTE), "is_scale", "true or false"),
        (with_steps(RESIZE | {"keep_ratio": "no"}, PERMUTE), "keep_ratio", "true or false"),
        (with_steps(RESIZE | {"interp": 1.5}, PERMUTE), "interp", "whole number"),
        (with_steps(RESIZE | {"target_size": [0, 48]}, PERMUTE), "target_size", "in pixels"),
        (with_steps(RESIZE | {"target_size": 99999}, PERMUTE), "target_size", "at most"),
        (with_steps({"type": "LetterBoxResize"}, PERMUTE), "target_size", "in pixels"),
        (with_steps(RESIZE, {"Permute": 3}), "Preprocess[1]", "with a type"),
        (with_steps(RESIZE, {"a": {}, "b": {}}), "Preprocess[1]", "with a type"),
        (
            with_steps({"type": "DecodeImage", "channel_first": True}, RESIZE, PERMUTE),
            "channel_first",
            "Permute",
        ),
        (
            with_steps({"type": "DecodeImage"}, {"type": "TemplateChannels"}, RESIZE, PERMUTE),
            "Preprocess",
            "drop it",
        ),
        (with_steps(PERMUTE) | {"label_list": ["a", False]}, "label_list[1]", "quotes"),
        (changed(label_list=["a", None]), "label_list[1]", "quotes"),
        (changed(label_list=["a", ["b"]]), "label_list[1]", "quotes"),
        (changed(NMS={"nms_top_k": 0}), "NMS.nms_top_k", "-1 for all"),
        (changed(NMS={"keep_top_k": -5}), "NMS.keep_top_k", "-1 for all"),
        (changed(NMS={"nms_threshold": float("nan")}), "NMS.nms_threshold", "0 to 1"),
        (changed(Global=[]), "Global", "mapping"),
        (changed(Global={"model_name": 3}), "Global.model_name", "text"),
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


def test_a_neutral_normalisation_is_let_pass(export: Export) -> None:
    """PP-YOLOE+ says `norm_type: none` with means of 0 and deviations of 1."""
    step = {"type": "NormalizeImage", "norm_type": "none", "mean": [0.0] * 3, "std": [1.0] * 3}
    spec = read(str(export(with_steps(RESIZE, step, PERMUTE))))
    assert spec.ops[1] == Normalize((0.0,) * 3, (1.0,) * 3, is_scale=True)


def test_a_colour_step_orders_the_channels(export: Export) -> None:
    """BGR where it is said, RGB otherwise."""
    for step, colour in (
        ({"type": "DecodeImage", "img_mode": "BGR"}, "bgr"),
        ({"type": "DecodeImage"}, "rgb"),
        ({"type": "ReadImage", "format": "BGR"}, "bgr"),
    ):
        assert read(str(export(with_steps(step, RESIZE, PERMUTE)))).colour == colour


def test_an_input_of_other_dimensions_is_refused(export: Export) -> None:
    """A picture of three sides, not a row of numbers."""
    with pytest.raises(ModelFault, match="one of 1 dimensions"):
        read(str(export(inputs={"image": (-1, 32)})))


@pytest.mark.parametrize(
    "text",
    ["", "- a\n", "[1, 2\n", "\xff", "a: 2026-13-45\n", "[" * 1500, "{[a]: b}", "a: !!x 3", "\0"],
    ids=["empty", "list", "open", "latin", "date", "deep", "key", "tag", "nul"],
)
def test_a_file_that_is_no_mapping_is_refused(export: Export, text: str) -> None:
    """Empty, a list, broken, not UTF-8, or what a YAML parser stumbles over."""
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


def test_empty_parameters_are_named(export: Export) -> None:
    """A copy that was broken off."""
    folder = export()
    (folder / "model.pdiparams").write_bytes(b"")
    with pytest.raises(ModelFault, match=r"model\.pdiparams: the parameters are empty"):
        read(str(folder))


def test_a_file_that_cannot_be_read_is_named(export: Export) -> None:
    """Reading this one gives an input/output error, as a broken disk does."""
    folder = export()
    (folder / "infer_cfg.yml").unlink()
    (folder / "infer_cfg.yml").symlink_to("/proc/self/mem")
    with pytest.raises(ModelFault, match=r"infer_cfg\.yml: cannot be read"):
        read(str(folder))


@pytest.mark.parametrize("content", [b"", b"{", b"not a program", b"\x0a\xff"])
@pytest.mark.parametrize("form", ["json", "pdmodel"])
def test_a_broken_program_is_named(export: Export, form: str, content: bytes) -> None:
    """Empty, cut, something else."""
    folder = export(formats=(form,))
    (folder / f"model.{form}").write_bytes(content)
    with pytest.raises(ModelFault, match=rf"model\.{form}: is no Paddle program"):
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
