"""The table in PostgreSQL: what makes it, what fills it. Pure text.

`table` has passed the station file's rule: `name` or `schema.name`, of lower-case letters, digits
and `_`.
"""

import re

from inspectd.forward.event import FIELDS, FORMAT, KEY

__all__ = ["COMMENT", "ddl", "insertion"]

_USER = re.compile(r"\buser\s*=\s*'?([\w.-]+)|://([\w.-]+)@")

COMMENT = f"inspectd events {FORMAT}"
"""The table's comment says which version it is."""


def ddl(table: str, dsn: str) -> str:
    """What a database administrator runs once: `psql DATABASE < FILE`.

    Args:
        table: of the station file.
        dsn: of the station file: it may name the role that will write.
    """
    width = max(map(len, FIELDS))
    columns = "\n".join(f"    {name:<{width}} {type_}," for name, type_ in FIELDS.items())
    name = table.rpartition(".")[2]
    named = _USER.search(dsn)
    writer = f'"{named[1] or named[2]}"' if named else "WRITER"
    return f"""\
-- Events of inspectd, version {FORMAT}. A part is one row, named by its key.
-- sequence numbers the events within database_id; revision is higher when a row was told again.
BEGIN;
CREATE TABLE {table} (
{columns}
    PRIMARY KEY ({", ".join(KEY)})
);
COMMENT ON TABLE {table} IS '{COMMENT}';
CREATE INDEX {name}_by_time ON {table} (recorded_utc);
CREATE INDEX {name}_by_sequence ON {table} (database_id, sequence);
-- All that inspectd needs:
GRANT SELECT, INSERT, UPDATE ON {table} TO {writer};
COMMIT;
"""


def insertion(table: str) -> str:
    """One event: a new row, a newer revision of a row, or nothing that is not there already."""
    names = ", ".join(FIELDS)
    places = ", ".join(["%s"] * len(FIELDS))
    changed = ", ".join(f"{name} = excluded.{name}" for name in FIELDS if name not in KEY)
    return (
        f"INSERT INTO {table} AS present ({names}) VALUES ({places})"  # noqa: S608 - our names
        f" ON CONFLICT ({', '.join(KEY)}) DO UPDATE SET {changed}"
        " WHERE excluded.revision > present.revision"
    )
