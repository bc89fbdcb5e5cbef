"""One receiver's place in the record: which file, how far, and where that is kept."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

from inspectd.cursor import Cursor, CursorFile, cursor_path, is_known
from inspectd.errors import ForwardFault
from inspectd.forward.outbox import FILE_NAME, Outbox, Pending

__all__ = ["Ledger"]


class Ledger:
    """Opens what is there, follows a database that was moved aside, keeps the cursor.

    A cursor that cannot be kept is no reason to stop: what was sent is sent, and a restart sends
    some of it again.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        log: Callable[..., None],
        *,
        send_backlog: bool = True,
        database: Path | None = None,
        patience: int = 0,
    ) -> None:
        """Open nothing yet.

        Args:
            folder: of the record.
            name: of the receiver.
            log: as in `inspectd.ports.Context`.
            send_backlog: whether a receiver that was never here gets what is there already.
            database: another file than the record's own (one that was moved aside).
            patience: looks at a file that is being made or recovered, until that is a fault.
        """
        self._folder, self._name, self._log = folder, name, log
        self._send_backlog = send_backlog
        self._path = database or folder / FILE_NAME
        self._patience = patience
        self._misses = 0
        self._outbox: Outbox | None = None
        self._file: CursorFile | None = None
        self._cursor = Cursor("")
        self.trouble = ""
        """Why the cursor is not kept; empty when it is."""

    def bite(self, limit: int) -> list[Pending]:
        """Read the next events to send; none when there are none, or no record yet.

        Raises:
            ForwardFault: the record cannot be read.
        """
        try:
            pending = self._read(limit)
            if not pending and self._outbox is not None and not self._outbox.is_current():
                self._leave()
                pending = self._read(limit)
            self._misses = 0
        except (sqlite3.Error, LookupError) as error:
            self._leave()
            self._misses += 1
            may_pass = isinstance(error, sqlite3.OperationalError | LookupError)
            if may_pass and self._misses <= self._patience:
                return []
            what = f"the record {self._path} cannot be read ({error})"
            raise ForwardFault(self._name, what, "see what the record process says") from error
        return pending

    def move(self, cursor: Cursor) -> None:
        """Go on to a cursor, and keep it if the disk lets us."""
        self._cursor = cursor
        try:
            if self._file is None:
                self._file = CursorFile(self._cursor_path())
            self._file.write(cursor)
        except OSError as error:
            self.trouble = (
                f"receiver {self._name}: its place {self._cursor_path()} cannot be kept"
                f" ({error.strerror}), a restart will send events again; make room on the disk"
            )
            return
        self.trouble = ""

    def close(self) -> None:
        """Close both files."""
        self._leave()

    # ---------------------------------------------------------------- within

    def _read(self, limit: int) -> list[Pending]:
        if self._outbox is None:
            if not self._path.exists():
                return []
            self._outbox = self._enter()
        pending, cursor = self._outbox.bite(self._cursor, limit)
        if cursor != self._cursor:
            self.move(cursor)
        return pending

    def _enter(self) -> Outbox:
        """Open the database, find our place in it."""
        outbox = Outbox(self._path)
        if self._cursor.database_id == outbox.database_id and self.trouble:
            return outbox  # what could not be kept is better than what was
        try:
            kept = self._kept(outbox)
            self._cursor = outbox.verified(kept, with_backlog=self._send_backlog)
        except sqlite3.Error:
            outbox.close()
            raise
        if kept is not None and self._cursor.sequence < kept.sequence:
            self._log(
                "warning",
                "forward_set_back",
                receiver=self._name,
                sent_up_to=kept.sequence,
                goes_on_after=self._cursor.sequence,
            )
        self.move(self._cursor)
        return outbox

    def _kept(self, outbox: Outbox) -> Cursor | None:
        """The cursor as it was kept; one that is new, or begun with an unreadable file."""
        was_known = is_known(self._folder, self._name)
        self._cursor = Cursor(outbox.database_id)
        try:
            self._file = CursorFile(self._cursor_path())
        except OSError:
            self._file = None  # `move` tries again, and says so
        kept = self._file.cursor if self._file else None
        if kept is None and was_known:
            self._log(
                "warning", "forward_begins_anew", receiver=self._name, database=self._path.name
            )
            return Cursor(outbox.database_id)
        return kept

    def _leave(self) -> None:
        if self._outbox is not None:
            self._outbox.close()
            self._outbox = None
        if self._file is not None:
            self._file.close()
            self._file = None

    def _cursor_path(self) -> Path:
        return cursor_path(self._folder, self._name, self._cursor.database_id)
