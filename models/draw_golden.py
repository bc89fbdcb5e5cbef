"""Draws the golden pictures of the DeepPCB models: no picture of the set may be copied here.

    python models/draw_golden.py models/deeppcb    then    inspectd model golden models/deeppcb

Black tracks on white, as in the set, with one open and one short; and the same board without them.
"""

import sys
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt


def board() -> npt.NDArray[np.uint8]:
    """Answer a board of 640 x 640 px without a defect."""
    picture = np.full((640, 640), 255, np.uint8)
    for row in (140, 220, 420, 500):
        cv2.line(picture, (60, row), (580, row), 0, 26)
        for column in (60, 580):
            cv2.circle(picture, (column, row), 32, 0, -1)
            cv2.circle(picture, (column, row), 12, 255, -1)
    return picture


def main(folder: Path) -> None:
    """Write `golden.png` with two defects and `golden_template.png` without."""
    good = board()
    bad = good.copy()
    cv2.line(bad, (300, 120), (316, 160), 255, 9)  # open: the track is cut through
    cv2.line(bad, (380, 420), (384, 500), 0, 6)  # short: two tracks are joined
    cv2.imwrite(str(folder / "golden.png"), bad)
    cv2.imwrite(str(folder / "golden_template.png"), good)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
