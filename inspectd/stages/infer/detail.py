"""What the inference process writes into a part's detail, without taking the JSON apart.

The detail is an object that other stages read; adding a key at its end costs microseconds whatever
its size.
"""

import json

__all__ = ["with_engine", "with_error"]


def with_engine(detail: bytes, model: str, digest: str) -> bytes:
    """Add which model judged: `engine: {model, digest}`."""
    return _with(detail, "engine", {"model": model, "digest": digest})


def with_error(detail: bytes, error: str) -> bytes:
    """Add why there is no judgement: `error`, at most 500 characters."""
    return _with(detail, "error", error[:500])


def _with(detail: bytes, key: str, value: object) -> bytes:
    """Add one key to a JSON object; `{}` stays valid, and so does any other object."""
    head = detail.rstrip()[:-1].rstrip()
    comma = b"" if head == b"{" else b","
    return head + comma + json.dumps(key).encode() + b":" + json.dumps(value).encode() + b"}"
