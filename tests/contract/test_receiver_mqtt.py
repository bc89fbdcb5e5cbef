"""What is MQTT's own: topics, the last will, who may come in, TLS."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspectd.config.schema import MqttForward, MqttTls
from inspectd.errors import ForwardFault
from inspectd.forward.event import Outgoing
from inspectd.forward.mqtt import MqttReceiver
from tests.contract.test_receiver import connected, outgoing, run
from tests.receivers.peers import Broker, Listener, until

pytestmark = [
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(60),
    # paho leaves the socket of a failed handshake to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <ssl:ResourceWarning"),
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in. <ssl:pytest.PytestUnraisableExceptionWarning"
    ),
]


def _tool(name: str) -> str:
    """Where a program lies."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"there is no {name} here: apt-get install mosquitto openssl")
    return path


def receiver(broker: Broker, **keys: Any) -> MqttReceiver:
    """A receiver at a broker of this machine."""
    values: dict[str, Any] = {"name": "broker", "host": "localhost", "port": broker.port, **keys}
    return MqttReceiver(MqttForward(kind="mqtt", **values), "line-1")


def refusal(broker: Broker, *events: Outgoing, **keys: Any) -> str:
    """What a person reads when a receiver does not get events through."""
    said: list[str] = []

    async def work() -> None:
        made = receiver(broker, **keys)
        try:
            await made.open()
            await made.deliver(events)
        except ForwardFault as fault:
            said.append(str(fault))
        finally:
            await made.close()

    run(work())
    return said[0]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """Lets everybody in."""
    made = Broker(tmp_path)
    yield made
    made.kill()


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Broker]:
    """Lets `hall` in, who may write below `inspectd/` only."""
    word, access = tmp_path / "passwords", tmp_path / "access"
    subprocess.run([_tool("mosquitto_passwd"), "-b", "-c", str(word), "hall", "sesame"], check=True)
    access.write_text("user hall\ntopic readwrite inspectd/#\ntopic write odd/line-1/status\n")
    (tmp_path / "secret").write_text("sesame\n")
    made = Broker(tmp_path, f"allow_anonymous false\npassword_file {word}\nacl_file {access}")
    yield made
    made.kill()


@pytest.mark.parametrize("protocol", ["mqtt_5", "mqtt_3"])
def test_events_states_and_status_have_their_topics(broker: Broker, protocol: str) -> None:
    """States and status are retained for those who come later, events are not."""

    async def work() -> None:
        async with connected(receiver(broker, protocol=protocol, topic_prefix="a/b")) as made:
            await made.deliver([outgoing(1)])
            await made.tell({"cam-1": "Operational"})

    listener = Listener(broker.port)
    run(work())
    until(lambda: len(listener.messages) == 4)
    listener.close()
    assert [
        (topic, payload) for topic, payload, _ in listener.messages if "event" not in topic
    ] == [
        ("a/b/line-1/status", b"online"),
        ("a/b/line-1/cam-1/state", b"Operational"),
        ("a/b/line-1/status", b"offline"),
    ]
    (event,) = listener.on("a/b/line-1/cam-1/event")
    assert json.loads(event)["trigger_id"] == 1
    late = Listener(broker.port)
    until(lambda: len(late.messages) >= 2)
    late.close()
    assert sorted((topic, payload) for topic, payload, kept in late.messages if kept) == [
        ("a/b/line-1/cam-1/state", b"Operational"),
        ("a/b/line-1/status", b"offline"),
    ]


def test_a_death_is_told_by_the_last_will(broker: Broker) -> None:
    """The broker says offline for a process that was killed."""

    async def work() -> None:
        made = receiver(broker)
        await made.open()
        assert made._client is not None
        made._client.cut()
        await asyncio.to_thread(until, lambda: listener.on("/status")[-1:] == [b"offline"])
        await made.close()

    listener = Listener(broker.port)
    run(work())
    listener.close()


def test_a_right_password_from_a_file_is_let_in(strict: Broker, tmp_path: Path) -> None:
    """Its first line, without the end of the line."""

    async def work() -> None:
        secret = str(tmp_path / "secret")
        async with connected(receiver(strict, user="hall", password_file=secret)) as made:
            await made.deliver([outgoing(1)])

    run(work())


def test_a_wrong_password_says_so(strict: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """And never what it was."""
    monkeypatch.setenv("WORD", "open-barley")
    said = refusal(strict, user="hall", password_env="WORD")  # noqa: S106 - a name
    assert "see `user`, the password" in said
    assert "open-barley" not in said


def test_a_password_that_is_not_there_says_where_it_was_looked_for(strict: Broker) -> None:
    """File or variable, before anything is connected."""
    assert "no environment variable NOT_SET; set NOT_SET" in refusal(
        strict,
        user="hall",
        password_env="NOT_SET",  # noqa: S106 - a name
    )
    assert "/nowhere cannot be read (No such file" in refusal(
        strict,
        user="hall",
        password_file="/nowhere",  # noqa: S106 - a path
    )


def test_a_topic_that_is_not_allowed_is_no_delivery(strict: Broker, tmp_path: Path) -> None:
    """The status topic is allowed here, the event's is not: its name is in the sentence."""
    login = {"user": "hall", "password_file": str(tmp_path / "secret")}
    said = refusal(strict, outgoing(1), topic_prefix="odd", **login)
    assert "Not authorized, topic odd/line-1/cam-1/event" in said
    assert "access list" in said


def test_another_client_of_the_same_name_is_told(broker: Broker) -> None:
    """Brokers throw the first one out; that looks like a broken network otherwise."""

    async def work() -> None:
        async with connected(receiver(broker)) as first, connected(receiver(broker)):
            with pytest.raises(ForwardFault, match="another client uses the same `client_id`"):
                await first.deliver([outgoing(1)])

    run(work())


def _openssl(folder: Path, *words: str) -> None:
    subprocess.run([_tool("openssl"), *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, the certificates of broker and line it signed, and another authority."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ca", "other"):
        _openssl(
            folder,
            *(
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                f"/CN={name}",
            ),
            *("-keyout", f"{name}.key", "-out", f"{name}.pem"),
        )
    for name, subject in (("server", "localhost"), ("line", "line-1")):
        (folder / f"{name}.ext").write_text(f"subjectAltName=DNS:{subject}\n")
        request = ("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={subject}")
        _openssl(folder, *request, "-keyout", f"{name}.key", "-out", f"{name}.csr")
        signing = ("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key")
        _openssl(
            folder,
            *(*signing, "-CAcreateserial", "-days", "2", "-extfile", f"{name}.ext"),
            *("-out", f"{name}.pem"),
        )
    return folder


@pytest.fixture
def secured(tmp_path: Path, keys: Path) -> Iterator[Broker]:
    """Speaks TLS and wants a certificate."""
    made = Broker(
        tmp_path,
        f"allow_anonymous true\ncafile {keys}/ca.pem\ncertfile {keys}/server.pem\n"
        f"keyfile {keys}/server.key\nrequire_certificate true",
    )
    yield made
    made.kill()


def _tls(keys: Path, ca: str = "ca.pem", cert: str = "line") -> MqttTls:
    return MqttTls(
        ca_file=str(keys / ca),
        cert_file=str(keys / f"{cert}.pem") if cert else "",
        key_file=str(keys / f"{cert}.key") if cert else "",
    )


def test_both_sides_show_their_certificates(secured: Broker, keys: Path) -> None:
    """TLS with our own certificate."""

    async def work() -> None:
        async with connected(receiver(secured, tls=_tls(keys))) as made:
            assert (await made.deliver([outgoing(1)])).done == 1

    run(work())


def test_each_tls_mistake_has_its_remedy(secured: Broker, keys: Path) -> None:
    """Authority, name, our certificate, files, and no TLS at all."""
    assert "tls.ca_file" in refusal(secured, tls=_tls(keys, ca="other.pem"))
    assert "name that stands in the broker's certificate" in refusal(
        secured, host="127.0.0.1", tls=_tls(keys)
    )
    said = refusal(secured, outgoing(1), tls=_tls(keys, cert=""))
    assert "certificate" in said or "alert" in said
    assert "correct `tls`" in refusal(secured, tls=_tls(keys, ca="nowhere.pem"))
    assert "broker" in refusal(secured)


def test_tls_where_the_broker_speaks_none_is_told(broker: Broker, keys: Path) -> None:
    """The commonest slip: the port without TLS."""
    assert "receiver broker" in refusal(broker, tls=_tls(keys))
