"""EDGE cv2: a picture in frame memory becomes the bytes of a JPEG file."""

import cv2
import numpy as np
import numpy.typing as npt

from inspectd.ports import Pixels

__all__ = ["SUFFIX", "encode"]

SUFFIX = ".jpg"


def encode(pixels: Pixels, quality: int) -> npt.NDArray[np.uint8]:
    """Encode a picture as it is: nothing is drawn into it.

    Args:
        pixels: A view of the slot, grey or blue, green, red; it is read where it lies.
        quality: 1 to 100.

    Returns:
        The bytes of the file as a one-dimensional array; the slot is not needed any more.

    Raises:
        ValueError: OpenCV cannot write such a picture.
    """
    try:
        done, encoded = cv2.imencode(SUFFIX, pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    except cv2.error as error:
        raise ValueError(str(error)) from error
    if not done:
        raise ValueError(f"no JPEG of shape {pixels.shape}")
    return np.asarray(encoded, np.uint8).reshape(-1)
