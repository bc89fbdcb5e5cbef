"""Walks a protobuf message without its description; raises ValueError for what is none.

Of Paddle's legacy programs a dozen fields are needed: not worth a library and generated code.
"""

from collections.abc import Iterator

__all__ = ["as_bytes", "fields", "first", "packed", "signed", "text"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
"""Wire types."""


def first(content: bytes, wanted: int) -> int | bytes | None:
    """Answer the first field of a number; None: there is none."""
    return next((value for number, value in fields(content) if number == wanted), None)


def as_bytes(value: int | bytes | None) -> bytes:
    """Answer a field that holds bytes."""
    if not isinstance(value, bytes):
        raise ValueError("not a Paddle program")  # noqa: TRY004  it is the file that is wrong
    return value


def text(value: int | bytes | None) -> str:
    """Answer a field that holds text."""
    return as_bytes(value).decode()


def signed(value: int) -> int:
    """Answer a 64-bit two's complement varint as it was meant (-1 is a free size)."""
    return value - (1 << 64) if value >= 1 << 63 else value


def packed(content: bytes) -> list[int]:
    """Answer the varints of a packed field."""
    sizes, at = [], 0
    while at < len(content):
        value, at = _varint(content, at)
        sizes.append(value)
    return sizes


def fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Walk the fields of one protobuf message: (number, varint value or bytes)."""
    at = 0
    while at < len(content):
        tag, at = _varint(content, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(content, at)
            yield number, value
            continue
        size, at = _size(content, at, wire)
        if at + size > len(content):
            raise ValueError("the file is cut short")
        yield number, content[at : at + size]
        at += size


def _size(content: bytes, at: int, wire: int) -> tuple[int, int]:
    """Answer how long the next value is, and where it begins."""
    if wire == _BYTES:
        return _varint(content, at)
    if wire in (_FIXED64, _FIXED32):
        return (8 if wire == _FIXED64 else 4), at
    raise ValueError("not a protobuf message")


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(content) or shift > 63:  # noqa: PLR2004  a varint has at most 64 bits
            raise ValueError("the file is cut short, or no protobuf message")
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at
