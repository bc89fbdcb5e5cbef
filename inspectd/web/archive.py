"""Pictures of the archive, by the number of their event: a request never names a file."""

from contextlib import closing
from pathlib import Path

from inspectd.record.archive import FOLDER_NAME
from inspectd.record.database import FILE_NAME
from inspectd.record.paging import Pages

__all__ = ["PICTURE_MAX_BYTES", "picture_of"]

PICTURE_MAX_BYTES = 64 * 2**20


def picture_of(folder: Path, sequence: int) -> bytes | None:
    """The archived JPEG of an event; None when there is none (any more).

    The path stands in the record, which could be anybody's file: what leads out of the archive,
    also by a link, is not served.

    Raises:
        UsageFault: The record cannot be read.
    """
    with closing(Pages(folder / FILE_NAME)) as pages:
        event = pages.event(sequence)
    if event is None or event.archive is None:
        return None
    try:
        target = (folder / event.archive).resolve(strict=True)
        inside = target.is_relative_to((folder / FOLDER_NAME).resolve(strict=True))
        if not inside or target.suffix != ".jpg" or target.stat().st_size > PICTURE_MAX_BYTES:
            return None
        return target.read_bytes()
    except OSError:
        return None
