"""`inspectd gate`: what a person types, and what comes back."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from inspectd.__main__ import main
from inspectd.stages.gate.picture import median_picture

STATION_TEXT = "stations/demo.yaml"


def fill(folder: Path, count: int = 24, size: tuple[int, int] = (640, 640)) -> None:
    """Good pictures of a scene: a shape and some grain; the first is black."""
    rng = np.random.default_rng(5)
    y, x = np.mgrid[: size[1], : size[0]]
    shape = 100 + 40 * np.sin(x / 90) + 30 * np.cos(y / 70)
    for number in range(count):
        grain = rng.normal(0, 6, shape.shape)
        picture = np.clip(shape + grain, 0, 255).astype(np.uint8)
        cv2.imwrite(str(folder / f"{number:03}.png"), picture)


@pytest.mark.slow
def test_learn_prints_a_block_and_writes_the_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reference is the median picture; presence refers to it."""
    fill(tmp_path, size=(160, 120))
    reference = tmp_path.parent / f"{tmp_path.name}-reference.png"
    code = main(["gate", "learn", str(tmp_path), "--reference-out", str(reference)])
    told = capsys.readouterr().out
    assert code == 0
    assert told.startswith("gate:\n")
    for check in ("sharpness", "exposure", "saturation", "glare", "presence", "frozen"):
        assert f"\n  {check}: {{" in told
    assert f"reference: '{reference}'" in told
    written = cv2.imread(str(reference), cv2.IMREAD_GRAYSCALE)
    assert written is not None
    assert written.shape == (120, 160)


@pytest.mark.slow
def test_measure_tells_which_pictures_a_station_would_refuse(
    tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One picture went black."""
    fill(tmp_path, count=3)
    cv2.imwrite(str(tmp_path / "zzz.png"), np.zeros((640, 640), np.uint8))
    file = root / STATION_TEXT
    code = main(["gate", "measure", str(tmp_path), "--station", f"{file}:capper"])
    told = capsys.readouterr().out
    assert code == 0
    (row,) = [line for line in told.splitlines() if line.startswith("zzz.png")]
    assert row.split()[-1] == "DARK"
    assert "(85.34)" in row
    assert "pictures would be UNFIT at station capper" in told


def test_measure_without_a_station_prints_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To look at before limits are chosen."""
    cv2.imwrite(str(tmp_path / "white.png"), np.full((40, 50), 255, np.uint8))
    assert main(["gate", "measure", str(tmp_path), "--channels", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["white.png", "0", "255", "1", "2000"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ([], "at least 20"),
        (["--region", "0", "0", "51", "10"], "at least 20"),
    ],
)
def test_too_few_pictures_are_refused_with_a_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], told: str
) -> None:
    """A limit needs to have seen the worst of the good."""
    fill(tmp_path, count=19, size=(50, 40))
    assert main(["gate", "learn", str(tmp_path), *more]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--region", "0", "0", "51", "10"], "no region of a picture of 50 x 40 px"),
        (["--region", "10", "0", "10", "10"], "x1 < x2"),
        (["--reference-out", "somewhere.jpg"], "let it end with .png"),
        (["--reference-out", "/nowhere/at/all.png"], "choose another place"),
    ],
)
def test_wrong_arguments_of_learn_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    """With what is wrong and the remedy."""
    fill(tmp_path, count=20, size=(50, 40))
    assert main(["gate", "learn", str(tmp_path), *arguments]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("option", [["--margin", "-1"], ["--level", "0"], ["--outliers", "0.5"]])
def test_numbers_outside_their_range_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    """By the parser, which names the option."""
    with pytest.raises(SystemExit) as ended:
        main(["gate", "learn", str(tmp_path), *option])
    assert ended.value.code == 2
    assert option[0] in capsys.readouterr().err


def test_pictures_of_two_sizes_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One camera gives one size; the odd one is named."""
    fill(tmp_path, count=20, size=(50, 40))
    cv2.imwrite(str(tmp_path / "007.png"), np.zeros((40, 51), np.uint8))
    assert main(["gate", "learn", str(tmp_path)]) == 2
    assert "007.png: is 51 x 40 px where 50 x 40 are expected" in capsys.readouterr().err


def test_pictures_of_two_sizes_give_no_median(tmp_path: Path) -> None:
    """The same when a reference is wanted."""
    fill(tmp_path, count=20, size=(50, 40))
    cv2.imwrite(str(tmp_path / "007.png"), np.zeros((40, 51), np.uint8))
    arguments = ["--reference-out", str(tmp_path.parent / f"{tmp_path.name}.png")]
    assert main(["gate", "learn", str(tmp_path), *arguments]) == 2


@pytest.mark.parametrize("name", ["file.txt", "empty", "nowhere"])
def test_a_folder_without_pictures_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """No folder, an empty one, or a file."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("x", encoding="utf-8")
    assert main(["gate", "measure", str(tmp_path / name)]) == 2
    assert name in capsys.readouterr().err


def test_a_broken_picture_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A half-copied file."""
    (tmp_path / "half.png").write_bytes(b"\x89PNG")
    assert main(["gate", "measure", str(tmp_path)]) == 1
    assert "half.png: is no picture" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "told"), [("", "stations; say"), (":palletiser", "palletiser")])
def test_the_station_must_be_told_when_there_are_several(
    tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str], name: str, told: str
) -> None:
    """The answer lists them."""
    fill(tmp_path, count=1)
    file = root / "stations" / "example.yaml"
    assert main(["gate", "measure", str(tmp_path), "--station", f"{file}{name}"]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "capper, etching" in error


def test_the_median_forgets_what_moves(tmp_path: Path) -> None:
    """A part that wanders through the scene leaves no trace."""
    for number in range(9):
        picture = np.full((30, 90), 80, np.uint8)
        picture[:, 10 * number : 10 * number + 10] = 250
        cv2.imwrite(str(tmp_path / f"{number}.png"), picture)
    median = median_picture(sorted(tmp_path.iterdir()))
    assert np.unique(median).tolist() == [80]
