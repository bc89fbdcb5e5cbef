"""The OPC UA client against a server that wants certificates and a password."""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("asyncua", reason="pip install 'inspectd[opcua]'")

from asyncua import ua

from inspectd.config.schema import OpcuaUser
from inspectd.errors import PlcFault
from inspectd.frame import Reason, Verdict
from inspectd.plc.registers import VerdictBlock
from inspectd.stages.sink.opcua import OpcuaPeer
from tests.contract.peers.secured import PASSWORD, Secured, security, serving

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.timeout(180)]

NG = VerdictBlock(0x12345678, Verdict.NG, Reason.DEFECT, sequence=7)


@pytest.fixture(scope="module")
def plc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A server with everything in order."""
    with serving(tmp_path_factory.mktemp("opcua")) as made:
        yield made


def refused(plc: Secured, says: str, **other: Any) -> None:
    """Connecting fails with these words, and leaves no session and nothing open."""
    peer = OpcuaPeer(plc.keys(**other), "one")
    with pytest.raises(PlcFault, match=says) as fault:
        peer.connect()
    assert not peer.is_connected
    assert PASSWORD not in str(fault.value)
    _wait(lambda: plc.sessions == 0)


def _wait(is_true: Any, limit_s: float = 20) -> None:
    end = time.monotonic() + limit_s
    while not is_true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)


def test_a_verdict_crosses_signed_and_encrypted(plc: Secured) -> None:
    """With certificate, key, user and password out of files."""
    peer = OpcuaPeer(plc.keys(), "one")
    peer.connect()
    peer.write_verdict(NG)
    assert peer.read_verdict() == NG
    assert plc.sessions == 1
    peer.close()
    _wait(lambda: plc.sessions == 0)


def test_sessions_are_given_back_however_often_we_come(plc: Secured) -> None:
    """FIELD_ISSUES 53: small PLCs have about five; one of ours is all that ever is."""
    peer = OpcuaPeer(plc.keys(), "one")
    for _ in range(8):
        peer.connect()
        assert plc.sessions == 1
        peer.close()
        _wait(lambda: plc.sessions == 0)


def test_a_session_of_a_killed_process_is_forgotten_soon(plc: Secured) -> None:
    """Its time-out is what the station file says, not the hour that libraries ask for."""
    peer = OpcuaPeer(plc.keys(session_timeout_ms=1000), "one")
    peer.connect()
    (session,) = plc.server.iserver._external_sessions.values()
    assert session.session_timeout == 1.0
    peer.close()


def test_a_server_that_nobody_vouches_for_is_refused(plc: Secured) -> None:
    """Before anything is encrypted for it; the fault shows the fingerprint to compare."""
    others = security(plc.folder, trusted=plc.folder / "stranger.pem")
    refused(plc, r"SHA-256 [0-9a-f]{64}\) is not trusted; when it is the PLC's", security=others)


def test_a_certificate_that_the_plc_does_not_like_is_named_with_the_remedy(plc: Secured) -> None:
    """FIELD_ISSUES 54 and 53: the status code, and what to do about it."""
    for code, says in (
        ("BadCertificateUntrusted", "have the PLC trust our certificate"),
        ("BadCertificateTimeInvalid", "out of date by the PLC's clock"),
        ("BadCertificateUriInvalid", "inspectd opcua-cert"),
        ("BadTooManySessions", "small PLCs have about 5 sessions"),
    ):
        plc.refusal[:] = [getattr(ua.StatusCodes, code)]
        try:
            refused(plc, f"no connection: {code}; .*{says}")
        finally:
            plc.refusal.clear()


def test_a_wrong_password_is_named_and_not_shown(plc: Secured, tmp_path: Path) -> None:
    """The remedy names the keys."""
    wrong = tmp_path / "wrong"
    wrong.write_text("guessed\n")
    user = OpcuaUser(name="vision", password_file=str(wrong))
    refused(plc, r"BadUserAccessDenied; check plc\.user, its password", user=user)


def test_a_missing_password_is_named_before_anything_is_sent(plc: Secured) -> None:
    """By the name of its variable."""
    user = OpcuaUser(name="vision", password_env="INSPECTD_NO_SUCH")  # noqa: S106 - a name
    refused(plc, "INSPECTD_NO_SUCH: this environment variable is not set", user=user)


def test_a_client_without_certificates_is_told_to_have_some(plc: Secured) -> None:
    """The server has no endpoint for it."""
    refused(plc, "no connection", security=None, user=None)


def test_a_value_that_the_plc_marks_as_bad_is_a_fault(plc: Secured) -> None:
    """Each status is looked at: a bad trigger counter must never count."""
    good = ua.DataValue(ua.Variant(3, ua.VariantType.UInt16))
    for code in ("BadDeviceFailure", "UncertainLastUsableValue", "GoodClamped"):
        peer = OpcuaPeer(plc.keys(), "one")
        peer.connect()
        status = ua.StatusCode(getattr(ua.StatusCodes, code))
        plc.set("plc.plc_heartbeat", ua.DataValue(ua.Variant(3, ua.VariantType.UInt16), status))
        with pytest.raises(PlcFault, match=f"Vision.plc.plc_heartbeat: {code}"):
            peer.read_part()
        assert not peer.is_connected
        plc.set("plc.plc_heartbeat", good)


def test_a_write_that_is_refused_for_one_value_is_a_fault(plc: Secured) -> None:
    """The others may have been carried out: it is in doubt, and the connection is closed."""
    peer = OpcuaPeer(plc.keys(), "one")
    peer.connect()
    node = plc.server.get_node(ua.NodeId("Vision.verdict.reason", plc.index))
    plc.within(node.set_writable(False))
    try:
        with pytest.raises(PlcFault, match=r"Vision\.verdict\.reason: BadUserAccessDenied"):
            peer.write_verdict(NG)
        assert not peer.is_connected
    finally:
        plc.within(node.set_writable(True))


def test_the_secure_channel_is_renewed_while_verdicts_go_on(plc: Secured) -> None:
    """The token of a channel ends; a renewed one takes its place, in time and unnoticed."""
    peer = OpcuaPeer(plc.keys(), "one", channel_lifetime_ms=1200)
    peer.connect()
    wire: Any = peer._wire
    first = wire._client.uaclient.protocol._connection.security_token.TokenId
    end = time.monotonic() + 4
    while time.monotonic() < end:
        peer.write_verdict(NG)
        assert peer.read_verdict() == NG
        time.sleep(0.05)
    assert wire._client.uaclient.protocol._connection.security_token.TokenId > first + 1
    peer.close()


def test_an_expired_certificate_of_the_plc_is_refused(tmp_path: Path) -> None:
    """It says when it ended."""
    long_ago = datetime.now(timezone.utc) - timedelta(days=9)
    with serving(tmp_path, first=long_ago) as plc:
        refused(plc, "it expired on .* UTC; have the PLC make a new one")


def test_a_certificate_for_another_host_is_refused_unless_told_otherwise(tmp_path: Path) -> None:
    """`check_host: false` is for PLCs whose certificates name none."""
    with serving(tmp_path, hosts=("plc.example",)) as plc:
        refused(plc, r"not for the host 127\.0\.0\.1; hosts in it: plc\.example; .*check_host")
        trusted = plc.folder / "plc.pem"
        loose = security(plc.folder, trusted=trusted, check_host=False)
        peer = OpcuaPeer(plc.keys(security=loose), "one")
        peer.connect()
        peer.close()


def test_a_server_without_encryption_is_refused(tmp_path: Path) -> None:
    """Nothing is sent unencrypted because the other side has nothing better."""
    with serving(tmp_path, is_secured=False) as plc:
        refused(plc, "offers no Basic256Sha256 with SignAndEncrypt, only None")
