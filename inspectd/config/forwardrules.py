"""Rules between the keys of receivers (`forward`); each a named function without I/O."""

import re
from collections.abc import Iterator

from inspectd.config.complaint import Complaint, repeated_names
from inspectd.config.schema import Line, MqttForward, MqttTls, PostgresqlForward

__all__ = [
    "certificate_has_its_key",
    "dsn_holds_no_password",
    "mqtt_password_is_given_once",
    "postgresql_password_is_given_once",
    "receiver_names_are_unique",
    "table_is_a_plain_name",
    "topic_prefix_is_a_topic",
]

_TABLE = re.compile(r"[a-z_][a-z0-9_]{0,62}(\.[a-z_][a-z0-9_]{0,62})?")
_PASSWORD_IN_DSN = re.compile(r"\bpassword\s*=|://[^/@\s]*:[^/@\s]*@", re.IGNORECASE)
_TOPIC_MAX_BYTES = 1024
"""Of the prefix; a whole topic may have 65535 (MQTT 5.0, 1.5.4)."""


def receiver_names_are_unique(line: Line) -> Iterator[Complaint]:
    """No two entries of `forward` have the same `name`."""
    yield from repeated_names("forward", [one.name for one in line.forward])


def certificate_has_its_key(tls: MqttTls) -> Iterator[Complaint]:
    """`cert_file` and `key_file` go together."""
    if bool(tls.cert_file) != bool(tls.key_file):
        present, missing = ("cert_file", "key_file") if tls.cert_file else ("key_file", "cert_file")
        yield Complaint(present, f"goes with `{missing}`, which is not given; add it")


def mqtt_password_is_given_once(receiver: MqttForward) -> Iterator[Complaint]:
    """A password comes from `password_file` or from `password_env`, and goes with `user`."""
    yield from _given_once(receiver)
    if (receiver.password_file or receiver.password_env) and not receiver.user:
        yield Complaint("user", "a password goes with a name; add `user`")


def topic_prefix_is_a_topic(receiver: MqttForward) -> Iterator[Complaint]:
    """`topic_prefix` has no `+` and `#`, and begins and ends with a word.

    A topic that begins with `$` belongs to the broker (MQTT 5.0, 4.7.2).
    """
    prefix = receiver.topic_prefix
    if set(prefix) & set("+#\0") or len(prefix.encode()) > _TOPIC_MAX_BYTES:
        what = "no topic to write to: + and # are for readers, and it may have 1024 bytes"
        yield Complaint("topic_prefix", f"{what}; write words with / between them")
    elif prefix.startswith(("/", "$")) or prefix.endswith("/"):
        what = "begins with $ or /, or ends with /; write words with / between them"
        yield Complaint("topic_prefix", what)


def postgresql_password_is_given_once(receiver: PostgresqlForward) -> Iterator[Complaint]:
    """A password comes from `password_file` or from `password_env`, not from both."""
    yield from _given_once(receiver)


def dsn_holds_no_password(receiver: PostgresqlForward) -> Iterator[Complaint]:
    """`dsn` holds no password: station files are copied, printed and kept in version control."""
    if _PASSWORD_IN_DSN.search(receiver.dsn):
        what = "a password does not belong into a station file; give `password_file` instead"
        yield Complaint("dsn", what)


def table_is_a_plain_name(receiver: PostgresqlForward) -> Iterator[Complaint]:
    """`table` is `name` or `schema.name` of lower-case letters, digits and `_`."""
    if not _TABLE.fullmatch(receiver.table):
        what = "no plain name: use lower-case letters, digits and _, with a schema in front or not"
        yield Complaint("table", what)


def _given_once(receiver: MqttForward | PostgresqlForward) -> Iterator[Complaint]:
    if receiver.password_file and receiver.password_env:
        yield Complaint("password_env", "`password_file` is given too; keep one of the two")
