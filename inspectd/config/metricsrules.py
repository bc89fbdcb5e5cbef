"""Rules of the key `metrics`; each a named function without I/O."""

import ipaddress
import re
from collections.abc import Iterator
from typing import NamedTuple

from inspectd.config.complaint import Complaint
from inspectd.config.schema import Metrics

__all__ = ["Address", "address_of", "listening_is_local_or_meant"]

_LISTEN = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<four>[0-9.]+)):(?P<port>[0-9]{1,5})")
_PORT_MAX = 65535


class Address(NamedTuple):
    """Where to listen."""

    host: str
    """IPv4 or IPv6 address."""
    port: int
    is_local: bool
    """Only this machine reaches it."""

    @property
    def url(self) -> str:
        """Of the metrics."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/metrics"


def address_of(listen: str) -> Address | None:
    """Read `ADDRESS:PORT`; None: it is none."""
    found = _LISTEN.fullmatch(listen)
    if found is None or not 1 <= int(found["port"]) <= _PORT_MAX:
        return None
    try:
        host = ipaddress.ip_address(found["six"] or found["four"])
    except ValueError:
        return None
    if (host.version == 6) != bool(found["six"]):  # noqa: PLR2004 - IPv6 stands in brackets
        return None
    return Address(str(host), int(found["port"]), host.is_loopback)


def listening_is_local_or_meant(metrics: Metrics) -> Iterator[Complaint]:
    """`listen` is an address and a port; other machines reach it only with `allow_remote`."""
    address = address_of(metrics.listen)
    if address is None:
        what = "no address and port; write e.g. 127.0.0.1:9464 or [::1]:9464"
        yield Complaint("listen", what)
    elif not address.is_local and not metrics.allow_remote:
        what = (
            "other machines reach this address, and there is no password; "
            "listen at 127.0.0.1, or add `allow_remote: true`"
        )
        yield Complaint("listen", what)
