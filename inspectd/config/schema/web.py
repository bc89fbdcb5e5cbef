"""The operator's view: a page in a browser, served by a process of its own."""

from dataclasses import dataclass
from typing import Literal

from inspectd.config.schema.key import key

__all__ = ["Web", "WebTls"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebTls:
    """Encrypt with a certificate of this machine; needed wherever others can listen."""

    cert_file: str = key(is_path=True, nonempty=True)
    """PEM of the certificate, with those that signed it behind it."""
    key_file: str = key(is_path=True, nonempty=True)
    """PEM of its key, without a passphrase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """Show the line to people. Reads the record and the board; the pipeline never waits for it."""

    listen: str = key("127.0.0.1:8080", nonempty=True)
    """Address and port; IPv6 in brackets. Other than loopback only with `tls` and `users_file`."""
    tls: WebTls | None = key(None)
    """Without it the page goes unencrypted, which only this machine itself may see."""
    users_file: str = key("", is_path=True)
    """Who may look and do what; `inspectd web-user add` writes it. Empty: whoever is at this
    machine may do everything, without a name."""
    session_minutes: float = key(30.0, gt=0, le=1440)
    """Who did nothing for so long has to log in again; in any case after twelve hours."""
    connections_max: int = key(64, ge=8, le=512)
    """Open connections at once; a browser takes up to six. Further ones are closed at once."""
    language: Literal["en", "zh"] = key("en")
    """Of a browser that has not chosen one."""
    live_pictures: bool = key(True)
    """Show small pictures, at most two a second and station, of parts that are not archived."""
