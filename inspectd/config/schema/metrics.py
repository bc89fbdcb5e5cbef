"""How the line is watched from outside: the door for Prometheus."""

from dataclasses import dataclass

from inspectd.config.schema.key import key

__all__ = ["Metrics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Figures of the running line for Prometheus, served over HTTP without a password."""

    listen: str = key(nonempty=True)
    """`ADDRESS:PORT`, e.g. `127.0.0.1:9464` or `[::1]:9464`; an address, no name."""
    allow_remote: bool = key(False)
    """Must be true for an address that other machines reach: whoever reaches it can read."""
