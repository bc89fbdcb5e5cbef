"""Who else gets the events: receivers outside the line, served from the record."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from inspectd.config.schema.key import key

__all__ = ["Forward", "MqttForward", "MqttTls", "PostgresqlForward"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MqttTls:
    """Encrypt, check the broker's certificate and its name, and show our own when given."""

    ca_file: str = key("", is_path=True)
    """PEM of the authority that signed the broker's certificate; empty: those of the system."""
    cert_file: str = key("", is_path=True)
    """PEM of our certificate, for brokers that want one; goes with `key_file`."""
    key_file: str = key("", is_path=True)
    """PEM of our certificate's key, without a passphrase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MqttForward:
    """Each event as one message (JSON, quality of service 1) to an MQTT broker."""

    kind: Literal["mqtt"] = key()
    name: str = key(is_name=True)
    """Unique among the receivers. What has been sent is remembered under this name."""
    host: str = key(nonempty=True)
    """Name or address of the broker; with `tls` the name in its certificate."""
    port: int = key(1883, ge=1, le=65535)
    """With `tls` usually 8883."""
    tls: MqttTls | None = key(None)
    """Without it everything, the password too, goes over the network readable."""
    user: str = key("")
    """Empty: without a name."""
    password_file: str = key("", is_path=True)
    """File whose first line is the password, e.g. a systemd credential."""
    password_env: str = key("")
    """Or the environment variable that holds the password."""
    topic_prefix: str = key("inspectd", nonempty=True)
    """Events go to `<topic_prefix>/<line>/<station>/event`."""
    client_id: str = key("")
    """Unique at the broker; empty: `inspectd-<line>-<name>`."""
    keepalive_s: int = key(20, ge=5, le=600)
    """The broker takes us for gone, and says so for us, after one and a half times this long."""
    protocol: Literal["mqtt_5", "mqtt_3"] = key("mqtt_5")
    """mqtt_3 is 3.1.1, for old brokers; these cannot say that a topic is not allowed."""
    max_payload_kb: int = key(256, ge=4, le=65536)
    """A larger event is sent without its `detail`; must be within what the broker takes."""
    send_backlog: bool = key(True)
    """Whether a receiver with a new name gets the events that were recorded before."""
    keep_unsent_days: float = key(365.0, gt=0, le=3650)
    """The record keeps what this receiver has not got so long, also past `keep_events_days`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresqlForward:
    """Each event as one row of a PostgreSQL table (`inspectd forward FILE --ddl` prints it)."""

    kind: Literal["postgresql"] = key()
    name: str = key(is_name=True)
    """Unique among the receivers. What has been sent is remembered under this name."""
    dsn: str = key(nonempty=True)
    """libpq's words without a password: `host=... dbname=... user=... sslmode=verify-full`,
    a URL, or `service=...` (then the service file says the rest, `passfile=...` works too)."""
    password_file: str = key("", is_path=True)
    """File whose first line is the password, e.g. a systemd credential."""
    password_env: str = key("")
    """Or the environment variable that holds the password."""
    table: str = key("inspectd_events", nonempty=True)
    """Name of the table, or `schema.table`; lower-case letters, digits and _."""
    send_backlog: bool = key(True)
    """Whether a receiver with a new name gets the events that were recorded before."""
    keep_unsent_days: float = key(365.0, gt=0, le=3650)
    """The record keeps what this receiver has not got so long, also past `keep_events_days`."""


Forward: TypeAlias = MqttForward | PostgresqlForward
