"""Certificates of OPC UA applications, and which check one does not pass."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

pytest.importorskip("cryptography", reason="pip install 'inspectd[opcua]'")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from inspectd.__main__ import main
from inspectd.errors import UsageFault
from inspectd.stages.sink.certificates import (
    certificate_of,
    identity_of,
    objection_to,
    trusted_in,
)
from inspectd.stages.sink.selfsigned import Pair, make

NOW = datetime.now(timezone.utc)
HOSTS = ("plc-7", "192.168.0.10")
URI = "urn:plc-7:server"


@pytest.fixture(scope="module")
def pair() -> Pair:
    """The PLC's own pair."""
    return make("plc", URI, HOSTS, 30)


@pytest.fixture(scope="module")
def stranger() -> Pair:
    """Another one that says the same of itself."""
    return make("plc", URI, HOSTS, 30)


def loaded(pair: Pair) -> x509.Certificate:
    """The certificate of a pair."""
    return x509.load_der_x509_certificate(pair.certificate_der)


def test_a_trusted_certificate_that_fits_passes_all_checks(pair: Pair) -> None:
    """By name, by address in any spelling, and by application."""
    theirs = loaded(pair)
    for host in ("plc-7", "PLC-7.", "192.168.0.10"):
        assert objection_to(theirs, [theirs], NOW, host=host, uri=URI) == ""


def test_the_check_that_fails_is_named(pair: Pair, stranger: Pair) -> None:
    """Trust first, then time, host and application."""
    theirs, other = loaded(pair), loaded(stranger)
    late = NOW + timedelta(days=31)
    early = NOW - timedelta(days=2)
    assert "SHA-256" in objection_to(theirs, [other], NOW)
    assert "is not trusted" in objection_to(theirs, [], NOW)
    assert "it expired on" in objection_to(theirs, [theirs], late)
    assert "is the clock right?" in objection_to(theirs, [theirs], early)
    assert "not for the host plc-8; hosts in it: plc-7, 192.168.0.10" in objection_to(
        theirs, [theirs], NOW, host="plc-8"
    )
    assert f"names the application {URI}, but it says urn:x" in objection_to(
        theirs, [theirs], NOW, uri="urn:x"
    )


def signed_by(authority: str, *, is_authority: bool, pair: Pair) -> list[x509.Certificate]:
    """An authority's certificate, and one that it signed."""
    key = rsa.generate_private_key(65537, 2048)
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, authority)])
    begin, end = NOW - timedelta(days=1), NOW + timedelta(days=9)
    theirs = loaded(pair)
    made = []
    for subject, public, is_ca in (
        (issuer, key.public_key(), is_authority),
        (theirs.subject, theirs.public_key(), False),
    ):
        assert isinstance(public, rsa.RSAPublicKey)
        made.append(
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(end)
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
    return made


@pytest.mark.parametrize("is_authority", [True, False])
def test_an_authority_vouches_for_what_it_signed(pair: Pair, is_authority: bool) -> None:
    """A certificate that is none must not: anybody could sign with his own."""
    authority, theirs = signed_by("plant", is_authority=is_authority, pair=pair)
    assert (objection_to(theirs, [authority], NOW) == "") is is_authority


def test_a_folder_of_trusted_certificates_is_read_whole(
    tmp_path: Path, pair: Pair, stranger: Pair
) -> None:
    """PEM and DER side by side."""
    (tmp_path / "a.der").write_bytes(pair.certificate_der)
    (tmp_path / "b.pem").write_bytes(stranger.certificate_pem)
    assert set(trusted_in(str(tmp_path))) == {loaded(pair), loaded(stranger)}
    assert trusted_in(str(tmp_path / "a.der")) == (loaded(pair),)


def test_files_that_cannot_be_used_are_one_sentence(
    tmp_path: Path, pair: Pair, stranger: Pair
) -> None:
    """Each names the file, and what is wrong with it."""
    certificate, key, other = (tmp_path / name for name in ("c.pem", "k.pem", "o.pem"))
    certificate.write_bytes(pair.certificate_pem)
    key.write_bytes(stranger.key_pem)
    other.write_bytes(b"no certificate at all")
    empty = tmp_path / "empty"
    empty.mkdir()
    for read, says in (
        (lambda: certificate_of(str(other)), r"o\.pem: it is no certificate"),
        (lambda: certificate_of(str(tmp_path / "none")), "No such file"),
        (lambda: trusted_in(str(empty)), "no certificate in this folder"),
        (lambda: identity_of(str(certificate), str(key)), "it is not the key of the certificate"),
        (lambda: identity_of(str(certificate), str(other)), "it is no private key"),
    ):
        with pytest.raises(UsageFault, match=says):
            read()


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    """Basic256Sha256 takes 2048 bits and more; PLCs would refuse it without a word."""
    key = rsa.generate_private_key(65537, 1024)  # noqa: S505 - that is the point
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "short")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW)
        .not_valid_after(NOW + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    (tmp_path / "c").write_bytes(certificate.public_bytes(encoding))
    (tmp_path / "k").write_bytes(
        key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    with pytest.raises(UsageFault, match="a key of 1024 bits"):
        identity_of(str(tmp_path / "c"), str(tmp_path / "k"))


def test_the_command_makes_a_pair_that_can_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the hosts asked for; the key is closed to others, and nothing is overwritten."""
    command = ["opcua-cert", str(tmp_path / "new"), "--host", "vision-3", "--host", "10.0.0.2"]
    assert main(command) == 0
    assert "urn:vision-3:inspectd" in capsys.readouterr().out
    folder = tmp_path / "new"
    ours = identity_of(str(folder / "inspectd.pem"), str(folder / "inspectd.key.pem"))
    assert ours.uri == "urn:vision-3:inspectd"
    assert objection_to(ours.certificate, [ours.certificate], NOW, host="10.0.0.2") == ""
    assert certificate_of(str(folder / "inspectd.der")) == ours.certificate
    assert (folder / "inspectd.key.pem").stat().st_mode & 0o777 == 0o600
    assert main(command) == 2
    assert "it is there already" in capsys.readouterr().err
