"""What the inference process writes into a part's detail, without taking the JSON apart.

The detail is an object that other stages read; adding a key at its end costs microseconds whatever
its size.
"""

import functools
import json

__all__ = ["with_engine", "with_error"]


def with_engine(detail: bytes, model: str, digest: str) -> bytes:
    """Add which model judged: `engine: {model, digest}`."""
    return _joined(detail, _engine(model, digest))


def with_error(detail: bytes, error: str) -> bytes:
    """Add why there is no judgement: `error`, at most 500 characters."""
    return _joined(detail, _member("error", error[:500]))


@functools.lru_cache(maxsize=64)
def _engine(model: str, digest: str) -> bytes:
    """The same for every part of a model."""
    return _member("engine", {"model": model, "digest": digest})


def _member(key: str, value: object) -> bytes:
    return f"{json.dumps(key)}:{json.dumps(value)}".encode()


def _joined(detail: bytes, member: bytes) -> bytes:
    """Add one member to a JSON object; `{}` stays valid, and so does any other object."""
    head = detail.rstrip()[:-1].rstrip()
    return head + (b"" if head == b"{" else b",") + member + b"}"
