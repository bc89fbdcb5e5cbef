"""The door of the sink: triggers open parts, verdicts settle them, the PLC is told in order.

    PLC counter / TRIGGER --> ledger --(turn, deadline, acknowledgement)--> verdict block --> EVENT
    VERDICT, LOST -----------^

One thread, one request to the PLC at a time, each bounded by `plc.timeout_ms`
(`docs/decisions/0007-plc-contract.md` says why that is enough). A part that cannot be told in time,
because the PLC is away, is decided here and goes to the record without the stamp SENT. Slots are
not the sink's: a ticket's slot already belongs to the record, and travels on with the event.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inspectd.config.schema import Line, PlcTrigger
from inspectd.frame import Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.plc.registers import recipe_word
from inspectd.ports import Context, Counter, Out, Step
from inspectd.stages.sink.conversation import Conversation, Greeting
from inspectd.stages.sink.ledger import CAPACITY, GAP_MAX, ID_LIMIT, Ledger, Settlement
from inspectd.stages.sink.peers import peer_of
from inspectd.stages.sink.pulse import Condition, Pulse
from inspectd.stages.sink.timing import Timing, timing_of

__all__ = ["SinkStep", "build"]

_LOOK_NS = 20_000_000
"""How often the other processes of the station are looked at."""


def build(line: Line, station: int, context: Context) -> Step:
    """Make the sink of one station; the PLC is looked for when the loop first wakes it."""
    ours = line.stations[station]
    timing = timing_of(ours)
    conversation = Conversation(
        peer_of(ours.plc, context.extra.get("plc_port")),
        reconnect_ns=timing.reconnect_ns,
        ack_timeout_ns=timing.ack_timeout_ns,
        clock=context.clock,
        count=context.count,
        log=context.log,
    )
    return SinkStep(
        station,
        timing,
        conversation,
        context,
        recipe=recipe_word(line.digest),
        is_plc_triggered=isinstance(ours.trigger, PlcTrigger),
    )


class SinkStep:
    """Owns the parts of one station and the conversation with its PLC."""

    def __init__(
        self,
        station: int,
        timing: Timing,
        conversation: Conversation,
        context: Context,
        *,
        recipe: int,
        is_plc_triggered: bool,
    ) -> None:
        self._station, self._timing, self._context = station, timing, context
        self._plc = conversation
        self._is_plc_triggered = is_plc_triggered
        self._ledger = Ledger(timing.margin_ns)
        self._pulse = Pulse(timing.heartbeat_ns, recipe)
        self._has_met = False
        self._has_tried = False
        """The PLC is asked where we are before the first message is taken up."""
        self._is_stopping = False
        self._opened = 0
        self._done = 0
        self._settled_id = 0
        self._next_poll_ns = 0
        self._is_healthy = False
        self._next_look_ns = 0

    # ------------------------------------------------------------ the protocol `Step`

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        """Take a trigger, a verdict, or the news that a process took a part with it."""
        first = () if self._has_tried else self.wake(now_ns)
        return [*first, *self._take(kind, ticket, now_ns)]

    def wake_at_ns(self) -> int | None:
        """The next poll, heartbeat, deadline or attempt to connect."""
        times = [self._ledger.notes_at_ns()]
        if self._plc.is_connected:
            times.append(self._pulse.next_ns)
            handshake = self._plc.handshake
            if self._is_polling():
                times.append(self._next_poll_ns)
            if not handshake.is_waiting:
                times.append(self._ledger.leaves_at_ns())
            if len(self._ledger) > CAPACITY:
                times.append(0)
        else:
            times.extend((self._plc.next_attempt_ns, self._given_up_at_ns()))
        return min((time for time in times if time is not None), default=None)

    def wake(self, now_ns: int) -> Sequence[Out]:
        """Talk to the PLC: listen, show a sign of life, tell what may be told."""
        self._has_tried = True
        outs: list[Out] = []
        if not self._plc.is_connected:
            greeting = self._plc.greet(now_ns)
            if greeting is not None:
                outs.extend(self._meet(greeting))
        if self._plc.is_connected and self._is_polling() and now_ns >= self._next_poll_ns:
            outs.extend(self._poll())
        outs.extend(self._tell())
        self._show()
        outs.extend(self._notes(self._context.clock()))
        return outs

    def stop(self, now_ns: int) -> Sequence[Out]:  # noqa: ARG002 - of the protocol
        """Ready falls; triggers that come now are FAULT; what is open gets its verdict."""
        self._is_stopping = True
        self._show()
        return ()

    def is_drained(self) -> bool:
        """Every part is told, and the PLC has taken the last one (or had its time to)."""
        limit = self._context.part_limit
        is_ending = self._is_stopping or (limit > 0 and self._done >= limit)
        is_taken = not self._plc.is_connected or not self._plc.handshake.is_waiting
        return is_ending and is_taken and not self._ledger and self._ledger.notes_at_ns() is None

    def trouble(self) -> str:
        """Why the PLC cannot be told anything."""
        return self._plc.trouble

    def close(self) -> None:
        """Leave the registers in the reject state, then hang up.

        A verdict that the PLC has not taken yet stays: it is the right one for its part.
        """
        if self._plc.is_connected:
            self._plc.write_head(self._pulse.farewell())
        if self._plc.is_connected and self._has_met and not self._plc.handshake.is_waiting:
            self._plc.begin(self._settled_id)
        self._plc.close()

    # ------------------------------------------------------------ the first words

    def _meet(self, greeting: Greeting) -> Iterator[Out]:
        """Agree on where we are with a PLC that has just been reached."""
        now_ns = self._context.clock()
        self._pulse.next_ns = 0
        self._next_poll_ns = 0
        if self._has_met:
            yield from self._clear_up(greeting, now_ns)
        elif self._context.restarts:
            self._resume(greeting, now_ns)
        else:
            self._begin(greeting)
        self._context.log("info", "plc_reached", trigger_counter=greeting.part.trigger_counter)

    def _begin(self, greeting: Greeting) -> None:
        """The first life: whatever stood there is of an earlier run."""
        if self._is_plc_triggered:
            self._settled_id = greeting.part.trigger_counter
            self._ledger.begin_after(self._settled_id, Reason.TRIGGER_MISSED)
        self._pulse.start_counter = self._settled_id
        self._has_met = self._plc.begin(self._settled_id)

    def _resume(self, greeting: Greeting, now_ns: int) -> None:
        """A later life: what was triggered since the last verdict was lost with the earlier one."""
        self._has_met = True
        block, counter = greeting.block, greeting.part.trigger_counter
        self._plc.handshake.begin(block.sequence, now_ns)
        self._settled_id = block.trigger_id
        self._pulse.resume(greeting.head)
        self._done = self._opened = (block.trigger_id - self._pulse.start_counter) % ID_LIMIT
        if not self._is_plc_triggered:
            if (block.trigger_id or block.sequence) and self._ledger.last_id is None:
                self._ledger.begin_after(block.trigger_id, Reason.PROCESS_LOST)
            return
        if (counter - block.trigger_id) % ID_LIMIT > GAP_MAX:
            self._context.log("error", "parts_unknown", settled=block.trigger_id, counter=counter)
            self._settled_id = counter
        self._ledger.begin_after(self._settled_id, Reason.PROCESS_LOST)
        if counter != self._settled_id:
            lost = Ticket(self._station, counter, deadline_ns=now_ns + self._timing.deadline_ns)
            self._open(lost.decided(Verdict.FAULT, Reason.PROCESS_LOST, now_ns), now_ns)

    def _clear_up(self, greeting: Greeting, now_ns: int) -> Iterator[Out]:
        """After a loss: book the verdict in doubt when it was carried out."""
        told = greeting.doubtful
        if told is None or not greeting.is_applied:
            return
        if self._ledger.next_id == told.trigger_id:
            yield self._finish(told.stamped(Stamp.SENT, now_ns))
        else:  # given up meanwhile: the PLC's own window must have rejected the part
            self._context.log("error", "verdict_carried_out_late", trigger_id=told.trigger_id)

    # ------------------------------------------------------------ listen

    def _take(self, kind: Kind, ticket: Ticket, now_ns: int) -> list[Out]:
        """Put a message into the ledger."""
        if kind is Kind.TRIGGER:
            self._open(self._with_deadline(ticket, now_ns), now_ns)
        elif kind is Kind.VERDICT:
            came = self._ledger.settle(ticket.stamped(Stamp.SINK_QUEUED, now_ns), now_ns)
            if came is Settlement.STRAY:
                self._context.log("warning", "verdict_stray", trigger_id=ticket.trigger_id)
        elif kind is Kind.LOST:
            self._ledger.lose(ticket, now_ns)
        return self._notes(now_ns)

    def _is_polling(self) -> bool:
        return self._is_plc_triggered or self._plc.handshake.is_waiting

    def _poll(self) -> Iterator[Out]:
        """Look at the trigger counter and the acknowledgement."""
        part = self._plc.read_part()
        now_ns = self._context.clock()
        timing = self._timing
        is_waiting = self._plc.handshake.is_waiting
        self._next_poll_ns = now_ns + (timing.ack_poll_ns if is_waiting else timing.poll_ns)
        if part is None or not self._is_plc_triggered:
            return
        counter = part.trigger_counter
        if counter == self._ledger.last_id:
            return
        ticket = self._with_deadline(Ticket(self._station, counter), now_ns)
        if not self._is_taking():
            ticket = ticket.decided(Verdict.FAULT, Reason.STOPPING, now_ns)
        is_new = self._open(ticket, now_ns)
        if is_new and ticket.verdict is Verdict.NONE:
            yield Out(Role.CAMERA, Kind.FIRE, ticket)

    def _with_deadline(self, ticket: Ticket, now_ns: int) -> Ticket:
        """The ticket with the moment of its trigger and the deadline that follows from it."""
        fired_ns = ticket.stamps[Stamp.FIRED] or now_ns
        return replace(
            ticket.stamped(Stamp.FIRED, fired_ns),
            deadline_ns=ticket.deadline_ns or fired_ns + self._timing.deadline_ns,
        )

    def _open(self, ticket: Ticket, now_ns: int) -> bool:
        """Enter a part and the missed ones before it; whether it is a new one."""
        opening = self._ledger.open(ticket, now_ns)
        self._opened += opening.gap + opening.is_new
        if opening.gap:
            self._pulse.missed += opening.gap
            self._context.count(Counter.MISSED, opening.gap)
            self._context.log(
                "warning", "triggers_missed", before=ticket.trigger_id, count=opening.gap
            )
        if opening.is_restart:
            self._context.log("error", "trigger_ids_restarted", trigger_id=ticket.trigger_id)
        return opening.is_new

    # ------------------------------------------------------------ tell

    def _tell(self) -> Iterator[Out]:
        """Tell what may be told, and give up what cannot wait for the PLC any longer."""
        while True:
            now_ns = self._context.clock()
            ticket = self._given_up(now_ns)
            if ticket is not None:
                yield self._finish(ticket)
                continue
            ticket = self._ledger.leaving(now_ns) if self._may_write(now_ns) else None
            if ticket is None:
                return
            if self._plc.tell(ticket):
                sent_ns = self._context.clock()
                self._next_poll_ns = min(self._next_poll_ns, sent_ns + self._timing.ack_poll_ns)
                yield self._finish(ticket.stamped(Stamp.SENT, sent_ns))

    def _given_up(self, now_ns: int) -> Ticket | None:
        """The part that goes to the record untold, if there is one."""
        if self._plc.is_connected and len(self._ledger) <= CAPACITY:
            return None
        given_up_at_ns = self._given_up_at_ns()
        if given_up_at_ns is None or now_ns < given_up_at_ns:
            return None
        return self._ledger.overdue(now_ns)

    def _given_up_at_ns(self) -> int | None:
        next_id, overdue_at_ns = self._ledger.next_id, self._ledger.overdue_at_ns()
        if next_id is None or overdue_at_ns is None:
            return None
        return max(overdue_at_ns, self._plc.doubt_lasts_until_ns(next_id))

    def _may_write(self, now_ns: int) -> bool:
        if not self._plc.is_connected:
            return False
        is_free, is_overrun = self._plc.handshake.is_free(now_ns)
        if is_overrun:
            self._context.count(Counter.OVERRUNS, 1)
            self._context.log("warning", "verdict_not_acknowledged", trigger_id=self._settled_id)
        return is_free

    def _finish(self, ticket: Ticket) -> Out:
        """Book a part as told (with the stamp SENT) or as given up; the record learns of it."""
        self._ledger.left(ticket)
        self._done += 1
        self._settled_id = ticket.trigger_id
        self._context.count(Counter.FRAMES, 1)
        if ticket.verdict is Verdict.LATE:
            self._pulse.late += 1
            self._context.count(Counter.LATE, 1)
        return Out(Role.RECORD, Kind.EVENT, ticket)

    def _notes(self, now_ns: int) -> list[Out]:
        return [Out(Role.RECORD, Kind.EVENT, note) for note in self._ledger.notes(now_ns)]

    # ------------------------------------------------------------ how we are

    def _is_taking(self) -> bool:
        limit = self._context.part_limit
        return not self._is_stopping and (limit == 0 or self._opened < limit)

    def _show(self) -> None:
        """Write the head when it is due."""
        if not self._plc.is_connected:
            return
        now_ns = self._context.clock()
        if now_ns >= self._next_look_ns:
            self._is_healthy = self._context.is_line_healthy(self._station)
            self._next_look_ns = now_ns + _LOOK_NS
        head = self._pulse.head(
            now_ns,
            Condition(
                is_line_healthy=self._is_healthy,
                is_taking=self._is_taking(),
                has_parts=len(self._ledger) > 0,
                has_overrun=self._plc.handshake.has_overrun,
                late_in_a_row=self._ledger.late_in_a_row,
            ),
        )
        if head is not None:
            self._plc.write_head(head)
