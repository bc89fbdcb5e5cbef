"""What `inspectd check` asks of the certificates and passwords of OPC UA stations."""

from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from importlib import util

from inspectd.config.schema import Line, OpcuaPlc, OpcuaSecurity, OpcuaServerPlc, OpcuaUser
from inspectd.errors import UsageFault
from inspectd.stages.sink.password import is_open_to_others, password_of

__all__ = ["check"]

_CLOSE = "take the right to read it from others: chmod o-rwx"


def check(line: Line) -> list[tuple[str, str]]:
    """Answer (dotted key, what is wrong) for every file of theirs that cannot be used."""
    faults: list[tuple[str, str]] = []
    for index, station in enumerate(line.stations):
        plc = station.plc
        if not isinstance(plc, OpcuaPlc | OpcuaServerPlc):
            continue
        key = f"stations[{index}].plc"
        if plc.security is not None and util.find_spec("cryptography") is not None:
            faults += _of_security(f"{key}.security", plc.security)
        if plc.user is not None and plc.user.password_file:
            faults += _of_password(f"{key}.user.password_file", plc.user)
    return faults


def _of_security(key: str, security: OpcuaSecurity) -> Iterator[tuple[str, str]]:
    from inspectd.stages.sink import certificates  # noqa: PLC0415 - optional

    faults = list(
        _tried(
            f"{key}.certificate",
            lambda: certificates.identity_of(security.certificate, security.private_key),
        )
    )
    yield from faults
    if not faults:
        ours = certificates.certificate_of(security.certificate)
        untimely = certificates.is_expired(ours, datetime.now(timezone.utc))
        if untimely:
            yield f"{key}.certificate", f"{untimely}; make a new one with `inspectd opcua-cert`"
    yield from _tried(f"{key}.trusted", lambda: certificates.trusted_in(security.trusted))
    try:
        if is_open_to_others(security.private_key):
            yield f"{key}.private_key", f"everybody can read this key; {_CLOSE}"
    except OSError:
        return  # the file's own fault is said above


def _of_password(key: str, user: OpcuaUser) -> Iterator[tuple[str, str]]:
    faults = list(_tried(key, lambda: password_of(user)))
    yield from faults
    if not faults and is_open_to_others(user.password_file):
        yield key, f"everybody can read this password; {_CLOSE}"


def _tried(key: str, read: Callable[[], object]) -> Iterator[tuple[str, str]]:
    try:
        read()
    except UsageFault as fault:
        yield key, str(fault)
