"""EDGE cryptography: certificates of OPC UA applications, and which check one does not pass.

What is checked, in this order (OPC 10000-4, 6.1.3): it is trusted, it is valid now, it names the
host, it names the application. The first one that fails is said in one sentence.
"""

import ipaddress
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from inspectd.errors import UsageFault

__all__ = [
    "Identity",
    "certificate_of",
    "identity_of",
    "is_expired",
    "objection_to",
    "trusted_in",
    "uri_of",
]

_PEM = b"-----BEGIN"
_MIN_BITS, _MAX_BITS = 2048, 4096
"""Of an RSA key (OPC 10000-7, policy Basic256Sha256)."""
_REPLACE = "name another file, or make a pair with `inspectd opcua-cert`"


class Identity(NamedTuple):
    """Our own certificate and what belongs to it."""

    certificate: x509.Certificate
    private_key: rsa.RSAPrivateKey
    uri: str
    """The application URI that stands in the certificate."""


def identity_of(certificate: str, private_key: str) -> Identity:
    """Read our own certificate and key.

    Raises:
        UsageFault: A file cannot be read or is something else, or the two are no pair.
    """
    ours = certificate_of(certificate)
    key = _key_in(private_key)
    if key.public_key().public_numbers() != _public_numbers(ours):
        raise UsageFault("it is not the key of the certificate", private_key, _REPLACE)
    if not _MIN_BITS <= key.key_size <= _MAX_BITS:
        what = f"a key of {key.key_size} bits; Basic256Sha256 takes {_MIN_BITS} to {_MAX_BITS}"
        raise UsageFault(what, private_key, _REPLACE)
    uri = uri_of(ours)
    if not uri:
        what = "the certificate names no application (no URI in subjectAltName)"
        raise UsageFault(what, certificate, _REPLACE)
    return Identity(ours, key, uri)


def certificate_of(path: str) -> x509.Certificate:
    """Read a certificate, PEM or DER.

    Raises:
        UsageFault: The file cannot be read, or is no certificate.
    """
    data = _bytes_of(path)
    try:
        if _PEM in data:
            return x509.load_pem_x509_certificate(data)
        return x509.load_der_x509_certificate(data)
    except ValueError as error:
        raise UsageFault("it is no certificate (PEM or DER)", path, _REPLACE) from error


def trusted_in(path: str) -> tuple[x509.Certificate, ...]:
    """Read the trusted certificates: a file, or all files of a folder.

    Raises:
        UsageFault: There is none, or one cannot be read.
    """
    place = Path(path)
    files = sorted(one for one in place.iterdir() if one.is_file()) if place.is_dir() else [place]
    if not files:
        raise UsageFault("no certificate in this folder", path, "put the other side's there")
    return tuple(certificate_of(str(file)) for file in files)


def uri_of(certificate: x509.Certificate) -> str:
    """The application URI in a certificate; empty when there is none."""
    uris = _names_in(certificate, x509.UniformResourceIdentifier)
    return uris[0] if uris else ""


def is_expired(certificate: x509.Certificate, now: datetime) -> str:
    """Say that a certificate is not valid now; empty when it is."""
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now > last:
        return f"it expired on {last:%Y-%m-%d %H:%M} UTC"
    if now < first:
        return f"it is valid only from {first:%Y-%m-%d %H:%M} UTC on; is the clock right?"
    return ""


def objection_to(
    certificate: x509.Certificate,
    trusted: Sequence[x509.Certificate],
    now: datetime,
    *,
    host: str = "",
    uri: str = "",
) -> str:
    """Say which check the other side's certificate does not pass; empty: it passes all.

    Args:
        certificate: Of the other side.
        trusted: Certificates that are believed, or whose signature is.
        now: With a time zone.
        host: The name or address that it must stand for; empty: any.
        uri: The application that it must name; empty: any.
    """
    subject = certificate.subject.rfc4514_string() or "without a name"
    if not any(_vouches(one, certificate) for one in trusted):
        print_ = certificate.fingerprint(hashes.SHA256()).hex()
        return f"its certificate ({subject}, SHA-256 {print_}) is not trusted"
    untimely = is_expired(certificate, now)
    if untimely:
        return f"its certificate ({subject}): {untimely}"
    if host and not _stands_for(certificate, host):
        names = ", ".join(_hosts_in(certificate)) or "none"
        return f"its certificate ({subject}) is not for the host {host}; hosts in it: {names}"
    if uri and uri_of(certificate) != uri:
        found = uri_of(certificate) or "none"
        return f"its certificate ({subject}) names the application {found}, but it says {uri}"
    return ""


def _vouches(trusted: x509.Certificate, certificate: x509.Certificate) -> bool:
    """Whether it is the same certificate, or an authority's that signed it."""
    if trusted == certificate:
        return True
    try:
        constraints = trusted.extensions.get_extension_for_class(x509.BasicConstraints)
        certificate.verify_directly_issued_by(trusted)
    except (x509.ExtensionNotFound, ValueError, TypeError, InvalidSignature):
        return False
    return constraints.value.ca


def _stands_for(certificate: x509.Certificate, host: str) -> bool:
    wanted = host.strip("[]").lower()
    try:
        wanted = str(ipaddress.ip_address(wanted))
    except ValueError:
        wanted = wanted.rstrip(".")
    return wanted in (name.lower().rstrip(".") for name in _hosts_in(certificate))


def _hosts_in(certificate: x509.Certificate) -> list[str]:
    addresses = _names_in(certificate, x509.IPAddress)
    return [*_names_in(certificate, x509.DNSName), *map(str, addresses)]


def _names_in(
    certificate: x509.Certificate,
    kind: type[x509.DNSName | x509.UniformResourceIdentifier | x509.IPAddress],
) -> list[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):  # an extension that cannot be parsed
        return []
    return [str(name.value) for name in names if isinstance(name, kind)]


def _key_in(path: str) -> rsa.RSAPrivateKey:
    data = _bytes_of(path)
    load = (
        serialization.load_pem_private_key if _PEM in data else serialization.load_der_private_key
    )
    try:
        key = load(data, password=None)
    except (ValueError, TypeError) as error:
        what = "it is no private key without a password (PEM or DER)"
        raise UsageFault(what, path, _REPLACE) from error
    if not isinstance(key, rsa.RSAPrivateKey):
        raise UsageFault("it is no RSA key", path, _REPLACE)
    return key


def _bytes_of(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageFault(error.strerror or str(error), path, "correct path or rights") from error


def _public_numbers(certificate: x509.Certificate) -> object:
    key = certificate.public_key()
    return key.public_numbers() if isinstance(key, rsa.RSAPublicKey) else None
