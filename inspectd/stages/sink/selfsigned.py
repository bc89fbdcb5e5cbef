"""EDGE cryptography: a certificate of an OPC UA application, signed by itself.

Contents as OPC 10000-6, 6.2.2 asks for: the application URI and the hosts in subjectAltName, the
usages of a client and of a server, RSA 2048 and SHA-256 as Basic256Sha256 takes them.
"""

import ipaddress
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["Pair", "make"]

_KEY_BITS = 2048
_EXPONENT = 65537
_SKEW = timedelta(hours=1)
"""The clocks of PLCs are rarely right."""


class Pair(NamedTuple):
    """A certificate and its key, ready to be written."""

    certificate_pem: bytes
    certificate_der: bytes
    key_pem: bytes


def make(
    name: str, uri: str, hosts: Sequence[str], days: int, first: datetime | None = None
) -> Pair:
    """Make a pair.

    Args:
        name: Of the application, for people.
        uri: Of the application.
        hosts: Names and addresses of the machine.
        days: How long it is valid.
        first: From when on; by default from an hour ago.
    """
    key = rsa.generate_private_key(_EXPONENT, _KEY_BITS)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    begin = first or datetime.now(timezone.utc) - _SKEW
    places = [_host(one) for one in hosts]
    key_id = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    usages = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + timedelta(days=days))
        .add_extension(
            x509.SubjectAlternativeName([x509.UniformResourceIdentifier(uri), *places]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_USAGE, critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(key_id, critical=False)
        .sign(key, hashes.SHA256())
    )
    return Pair(
        certificate.public_bytes(serialization.Encoding.PEM),
        certificate.public_bytes(serialization.Encoding.DER),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


_USAGE = x509.KeyUsage(
    digital_signature=True,
    content_commitment=True,
    key_encipherment=True,
    data_encipherment=True,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)
"""As the OPC UA stacks expect it of a certificate that signs itself."""


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)
