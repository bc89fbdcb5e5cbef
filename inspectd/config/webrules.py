"""Rules of the operator's view (`web`); each a named function without I/O."""

import ipaddress
from collections.abc import Iterator

from inspectd.config.complaint import Complaint, CrossRule
from inspectd.config.schema import Web

__all__ = ["RULES", "address_of", "is_loopback"]

_PORT_MAX = 65535


def address_of(listen: str) -> tuple[str, int] | None:
    """Host and port of `ADDRESS:PORT` or `[ADDRESS]:PORT`; None when it is neither."""
    host, colon, digits = listen.rpartition(":")
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(_PORT_MAX))
    if not colon or not is_number or int(digits) > _PORT_MAX:
        return None
    is_bracketed = host.startswith("[") and host.endswith("]")
    name = host[1:-1] if is_bracketed else host
    if name == "localhost":
        return name, int(digits)
    try:
        version = ipaddress.ip_address(name).version
    except ValueError:
        return None
    return (name, int(digits)) if is_bracketed == (version == 6) else None  # noqa: PLR2004


def is_loopback(host: str) -> bool:
    """Whether only this machine itself can reach an address."""
    return host == "localhost" or ipaddress.ip_address(host).is_loopback


def listen_is_an_address(web: Web) -> Iterator[Complaint]:
    """`listen` is `ADDRESS:PORT`, an IPv6 address in brackets; no name but `localhost`."""
    if address_of(web.listen) is None:
        what = "expected ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080; write it so"
        yield Complaint("listen", what)


def openness_has_a_price(web: Web) -> Iterator[Complaint]:
    """Other than loopback needs both `tls` and `users_file`."""
    address = address_of(web.listen)
    if address is None or is_loopback(address[0]):
        return
    missing = [name for name in ("tls", "users_file") if not getattr(web, name)]
    if missing:
        what = (
            f"others could reach {web.listen}, and {' and '.join(f'`{one}`' for one in missing)} "
            "is not given; give both (docs/web.md), or listen on 127.0.0.1"
        )
        yield Complaint("listen", what)


RULES: tuple[tuple[type[object], CrossRule], ...] = (
    (Web, listen_is_an_address),
    (Web, openness_has_a_price),
)
