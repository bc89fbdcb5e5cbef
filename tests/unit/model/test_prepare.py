"""The tensor is the one that PaddleDetection would make, bit for bit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspectd.config.schema import Template
from inspectd.errors import FrameFault
from inspectd.model.prepare import Preparer
from inspectd.model.spec import LetterBox, ModelSpec, Normalize, Op, Pad, Resize, TemplateChannels
from inspectd.ports import Pixels, Tensor

from .test_geometry import model

NORMALIZE = Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225), is_scale=True)
STRETCH = Resize(40, 60, keep_ratio=False, interpolation=2)
KEEP = Resize(64, 64, keep_ratio=True, interpolation=1)


def picture(*shape: int) -> Pixels:
    """Noise."""
    return np.random.default_rng(5).integers(0, 256, shape, np.uint8)


def reference(frame: Pixels, *ops: Op) -> npt.NDArray[Any]:
    """PaddleDetection's `deploy/python/preprocess.py` in the words of its operators.

    Float arrays, means and deviations in double precision, one operator after the other.
    """
    image: npt.NDArray[Any] = cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)
    for op in ops:
        if isinstance(op, Resize) and not op.keep_ratio:
            size = (op.width_px, op.height_px)
            image = cv2.resize(image, size, interpolation=op.interpolation)
        elif isinstance(op, Resize):
            scale = op.height_px / max(image.shape[:2])
            image = cv2.resize(image, None, None, scale, scale, interpolation=op.interpolation)
        elif isinstance(op, Pad):
            canvas = np.ones((op.height_px, op.width_px, 3), np.float32)
            canvas *= np.array(op.fill, np.float32)
            canvas[: image.shape[0], : image.shape[1]] = image
            image = canvas
        elif isinstance(op, Normalize):
            image = image.astype(np.float32)
            if op.is_scale:
                image *= 1.0 / 255.0
            image -= np.array(op.mean)[np.newaxis, np.newaxis]
            image /= np.array(op.std)[np.newaxis, np.newaxis]
    return np.transpose(image, (2, 0, 1)).astype(np.float32)


def prepared(spec: ModelSpec, frame: Pixels, part_id: str = "", **more: Any) -> Tensor:
    """The tensor, in memory that was dirty before."""
    out = np.full(spec.tensor_shape, np.nan, np.float32)
    Preparer(spec, frame.shape, **more).prepare(frame, part_id, out)
    return out


@given(
    st.integers(8, 90),
    st.integers(8, 90),
    st.sampled_from([(STRETCH,), (KEEP, Pad(64, 64, (114, 0, 255)))]),
    st.builds(
        Normalize,
        mean=st.tuples(*[st.floats(0, 1)] * 3),
        std=st.tuples(*[st.floats(0.01, 2)] * 3),
        is_scale=st.booleans(),
    ),
)
def test_every_frame_size_and_normalisation_is_prepared_alike(
    height: int, width: int, steps: tuple[Op, ...], normalize: Normalize
) -> None:
    """Enlarged and reduced, any mean and deviation: within a millionth of the reference."""
    assume(steps[0] is STRETCH or 64 * min(height, width) / max(height, width) > 0.6)
    ops = (*steps, normalize)
    size = (40, 60) if steps[0] is STRETCH else (64, 64)
    frame = picture(height, width, 3)
    out = prepared(model(*ops, size=size), frame)
    np.testing.assert_allclose(out, reference(frame, *ops), rtol=1e-6, atol=1e-6)


@given(st.integers(8, 200), st.integers(8, 200))
def test_a_letterbox_is_prepared_as_paddledetection_does(height: int, width: int) -> None:
    """Area resize to whole pixels, then a border that OpenCV lays around it."""
    assume(80 * min(height, width) / max(height, width) > 0.6)
    frame = picture(height, width, 3)
    ratio = min(80 / height, 80 / width)
    size = (round(width * ratio), round(height * ratio))
    small = cv2.resize(frame[..., ::-1], size, interpolation=cv2.INTER_AREA)
    across, down = (80 - size[0]) / 2, (80 - size[1]) / 2
    boxed = cv2.copyMakeBorder(
        small,
        round(down - 0.1),
        round(down + 0.1),
        round(across - 0.1),
        round(across + 0.1),
        cv2.BORDER_CONSTANT,
        value=(127.5,) * 3,
    )
    out = prepared(model(LetterBox(80, 80, 128), size=(80, 80)), frame)
    np.testing.assert_array_equal(out, boxed.transpose(2, 0, 1))


@pytest.mark.parametrize(
    ("ops", "size"),
    [
        ((STRETCH, NORMALIZE), (40, 60)),
        ((STRETCH,), (40, 60)),
        ((Resize(50, 70, keep_ratio=False, interpolation=1), NORMALIZE), (50, 70)),
        ((KEEP, Pad(64, 64, (114, 115, 116))), (64, 64)),
        ((KEEP, Pad(64, 96, (0, 10, 255)), NORMALIZE), (64, 96)),
    ],
    ids=["stretch", "raw values", "same size", "pad", "pad and normalise"],
)
def test_colours_are_prepared_as_paddledetection_does(
    ops: tuple[Op, ...], size: tuple[int, int]
) -> None:
    """Equal, not close: the look-up table holds every pixel's own roundings."""
    frame = picture(50, 70, 3)
    np.testing.assert_array_equal(prepared(model(*ops, size=size), frame), reference(frame, *ops))


def test_blue_green_red_models_get_it_in_that_order() -> None:
    """A swapped order costs accuracy and says nothing."""
    frame = picture(40, 60, 3)
    spec = replace(model(STRETCH, size=(40, 60)), colour="bgr")
    np.testing.assert_array_equal(prepared(spec, frame), frame.transpose(2, 0, 1))


def test_grey_frames_fill_every_channel() -> None:
    """Each with its own mean and deviation."""
    grey = picture(50, 70)
    spec = model(STRETCH, NORMALIZE, size=(40, 60))
    wanted = reference(np.dstack([grey] * 3), STRETCH, NORMALIZE)
    np.testing.assert_array_equal(prepared(spec, grey), wanted)


def test_a_letterbox_has_its_border_all_around() -> None:
    """The picture is in the middle, every other pixel has the border's value."""
    frame = picture(40, 80, 3)
    out = prepared(model(LetterBox(80, 80, 128), size=(80, 80)), frame)
    np.testing.assert_array_equal(out[:, 20:60], frame[..., ::-1].transpose(2, 0, 1))
    assert (out[:, :20] == 128).all()
    assert (out[:, 60:] == 128).all()


def template_model() -> ModelSpec:
    """Picture, template, difference, at frame size."""
    same = Resize(40, 60, keep_ratio=False, interpolation=1)
    return model(TemplateChannels(("image", "template", "absdiff")), same, size=(40, 60))


def folder(tmp_path: Path, golden: Pixels, name: str = "pcb7.png") -> Template:
    """A folder of one golden picture."""
    cv2.imwrite(str(tmp_path / name), golden)
    return Template(folder=str(tmp_path), pattern="{part_id}.png", strip_suffix="_test")


@pytest.mark.parametrize("channels", [(), (3,)], ids=["grey", "colour"])
def test_the_template_is_a_channel(tmp_path: Path, channels: tuple[int, ...]) -> None:
    """Frames and golden pictures are turned to grey; the suffix is taken off the part's name."""
    frame, golden = picture(40, 60, *channels), picture(40, 60)[::-1].copy()
    grey = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY) if channels else frame
    template = folder(tmp_path, golden)
    out = prepared(template_model(), frame, "pcb7_test", template=template)
    wanted = [grey, golden, cv2.absdiff(grey, golden)]
    np.testing.assert_array_equal(out, np.array(wanted, np.float32))


def test_the_order_of_channels_is_the_models(tmp_path: Path) -> None:
    """And the difference is taken before the resize: a thin defect must not be averaged first."""
    frame, golden = picture(40, 60), picture(40, 60)[::-1].copy()
    small = Resize(20, 30, keep_ratio=False, interpolation=3)
    spec = replace(
        model(TemplateChannels(("absdiff", "image")), small, size=(20, 30)),
        tensor_shape=(2, 20, 30),
    )
    out = prepared(spec, frame, "pcb7", template=folder(tmp_path, golden))
    difference = cv2.resize(cv2.absdiff(frame, golden), (30, 20), interpolation=3)
    np.testing.assert_array_equal(out[0], difference)


@pytest.mark.parametrize(
    ("part_id", "word"),
    [("pcb8", "cannot be read"), ("../pcb7", "cannot name"), ("", "cannot name"), ("small", "are")],
)
def test_a_part_without_its_golden_picture_is_a_fault(
    tmp_path: Path, part_id: str, word: str
) -> None:
    """Missing, leading out of the folder, nameless, of another size."""
    template = folder(tmp_path, picture(40, 60))
    folder(tmp_path, picture(10, 10), "small.png")
    preparer = Preparer(template_model(), (40, 60), template)
    with pytest.raises(FrameFault, match=word):
        preparer.prepare(picture(40, 60), part_id, np.empty((3, 40, 60), np.float32))


def test_a_golden_picture_that_is_none_is_a_fault(tmp_path: Path) -> None:
    """The file is there, but no picture is in it."""
    (tmp_path / "pcb7.png").write_bytes(b"")
    template = Template(folder=str(tmp_path))
    with pytest.raises(FrameFault, match="no picture"):
        prepared(template_model(), picture(40, 60), "pcb7", template=template)


def test_golden_pictures_are_kept(tmp_path: Path) -> None:
    """The second part of a type does not read the disk."""
    template = folder(tmp_path, picture(40, 60))
    preparer = Preparer(template_model(), (40, 60), template)
    out = np.empty((3, 40, 60), np.float32)
    preparer.prepare(picture(40, 60), "pcb7", out)
    (tmp_path / "pcb7.png").unlink()
    preparer.prepare(picture(40, 60), "pcb7", out)


def test_one_golden_picture_may_serve_all_parts(tmp_path: Path) -> None:
    """A pattern without the part's name."""
    template = replace(folder(tmp_path, picture(40, 60)), pattern="pcb7.png")
    prepared(template_model(), picture(40, 60), "any/thing", template=template)


def test_a_template_model_without_templates_is_refused() -> None:
    """At the start, not at the first part."""
    with pytest.raises(FrameFault, match="give `template`"):
        Preparer(template_model(), (40, 60))


def test_a_frame_of_another_shape_is_refused() -> None:
    """A camera that was reconfigured must not fill half a tensor."""
    preparer = Preparer(model(STRETCH, size=(40, 60)), (50, 70, 3))
    with pytest.raises(FrameFault, match="the station says"):
        preparer.prepare(picture(50, 71, 3), "p", np.empty((3, 40, 60), np.float32))
