"""The door of the sink: triggers open parts, verdicts settle them, the PLC is told in order.

    PLC counter / TRIGGER --> parts --(turn, deadline, acknowledgement)--> verdict block --> EVENT
    VERDICT, LOST -----------^

    `meeting` agrees with a PLC that was reached     `parts` keeps the ledger, counts
    `orders` carries out its commands                `teller` tells, or gives up
    `watch` sees whether its program runs            `pulse` says how we are

One thread, one request to the PLC at a time, each bounded by `plc.timeout_ms`
(`docs/decisions/0007-plc-contract.md` says why that is enough). Slots are not the sink's: a
ticket's slot already belongs to the record, and travels on with the event.
"""

from collections.abc import Sequence
from dataclasses import replace

from inspectd.config.schema import Line
from inspectd.frame import Kind, Reason, Role, Stamp, Ticket, Verdict
from inspectd.plc.registers import Flag, PlcPart
from inspectd.ports import Context, Counter, Out, Step
from inspectd.stages.sink.conversation import Conversation
from inspectd.stages.sink.manner import Manner, manner_of
from inspectd.stages.sink.meeting import Meeting
from inspectd.stages.sink.memory import Memory
from inspectd.stages.sink.orders import Orders
from inspectd.stages.sink.paper import PaperJournal
from inspectd.stages.sink.parts import Parts
from inspectd.stages.sink.peers import peer_of
from inspectd.stages.sink.pulse import Condition, Pulse
from inspectd.stages.sink.served import road_of
from inspectd.stages.sink.teller import Teller
from inspectd.stages.sink.watch import PlcWatch

__all__ = ["SinkStep", "build"]

_LOOK_NS = 20_000_000
"""How often the other processes of the station are looked at."""


def build(line: Line, station: int, context: Context) -> Step:
    """Make the sink of one station; the PLC is looked for when the loop first wakes it."""
    ours, manner = line.stations[station], manner_of(line, station)
    conversation = Conversation(
        peer_of(
            ours.plc,
            context.extra.get("plc_port"),
            station=ours.name,
            road=road_of(context.run_id, station),
        ),
        reconnect_ns=manner.timing.reconnect_ns,
        ack_timeout_ns=manner.timing.ack_timeout_ns,
        ids=manner.ids,
        clock=context.clock,
        count=context.count,
        log=context.log,
    )
    return SinkStep(station, manner, conversation, context)


class SinkStep:
    """Owns the parts of one station and the conversation with its PLC."""

    def __init__(
        self, station: int, manner: Manner, conversation: Conversation, context: Context
    ) -> None:
        """Serve one station; nothing is asked of the PLC before the first message or moment."""
        self._station, self._manner, self._context = station, manner, context
        timing = self._timing = manner.timing
        self._outs: list[Out] = []
        self._plc = conversation
        memory = Memory(context.journals.get(station, PaperJournal()), context)
        self._parts = Parts(manner, context, self._outs, memory)
        self._watch = PlcWatch(timing.plc_watchdog_ns)
        self._pulse = Pulse(timing.heartbeat_ns, manner.recipe_digest)
        self._orders = Orders(
            station, manner, context, parts=self._parts, plc=self._plc, outs=self._outs
        )
        self._teller = Teller(self._parts, self._plc, self._watch, timing, context)
        self._meeting = Meeting(
            station,
            manner,
            context,
            parts=self._parts,
            plc=self._plc,
            pulse=self._pulse,
            orders=self._orders,
            memory=memory,
        )
        self._has_tried = False
        """The PLC is asked where we are before the first message is taken up."""
        self._is_stopping = False
        self._polled_ns = 0
        self._is_healthy = False
        self._next_look_ns = 0

    # ------------------------------------------------------------ the protocol `Step`

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:
        """Take a trigger, a verdict, an answer, or the news that a process took a part with it."""
        if not self._has_tried:
            self._work(now_ns)
        if kind is Kind.TRIGGER:
            self._take_trigger(self._with_deadline(ticket, now_ns), now_ns)
        elif kind is Kind.VERDICT:
            self._parts.settle(ticket, now_ns)
        elif kind is Kind.LOST:
            self._parts.lose(ticket, now_ns)
        elif kind is Kind.PROVED:
            self._orders.proved(ticket)
        return self._taken()

    def wake_at_ns(self) -> int | None:
        """The next poll, heartbeat, deadline or attempt to connect."""
        times = [
            self._parts.ledger.notes_at_ns(),
            self._teller.wakes_at_ns(),
            self._orders.wakes_at_ns(),
        ]
        if self._plc.is_connected:
            times.extend((self._pulse.next_ns, self._poll_at_ns()))
        else:
            times.append(self._plc.next_attempt_ns)
        return min((time for time in times if time is not None), default=None)

    def wake(self, now_ns: int) -> Sequence[Out]:
        """Talk to the PLC: listen, tell what may be told, show a sign of life."""
        self._work(now_ns)
        return self._taken()

    def stop(self, now_ns: int) -> Sequence[Out]:
        """Ready falls; triggers that come now are FAULT; what is open gets its verdict."""
        self._is_stopping = True
        self._orders.stop()
        self._teller.hurry(now_ns)
        self._show()
        return self._taken()

    def is_drained(self) -> bool:
        """Every part is told, and the PLC has taken the last one (or had its time to)."""
        limit, ledger = self._context.part_limit, self._parts.ledger
        is_ending = self._is_stopping or (limit > 0 and self._parts.done >= limit)
        is_away = not self._plc.is_connected or self._watch.is_silent
        is_taken = is_away or not self._plc.handshake.is_waiting
        return is_ending and is_taken and not ledger and ledger.notes_at_ns() is None

    def trouble(self) -> str:
        """Why the PLC cannot be told anything, or does not look."""
        if self._plc.trouble or not self._watch.is_silent:
            return self._plc.trouble
        limit_ms = self._timing.plc_watchdog_ns // 1_000_000
        return (
            f"the PLC answers, but its heartbeat has stood still for over {limit_ms} ms; "
            "look whether its program runs, and counts plc_heartbeat up"
        )

    def close(self) -> None:
        """Leave the registers in the reject state, then hang up.

        A verdict that the PLC has not taken yet stays: it is the right one for its part.
        """
        if self._plc.is_connected:
            answer = self._orders.commands.answer
            self._plc.write_head(self._pulse.farewell(self._parts.tally, answer))
        is_taken = self._meeting.has_met and not self._plc.handshake.is_waiting
        if self._plc.is_connected and is_taken:
            self._plc.begin(self._parts.settled_id)
        self._plc.close()

    # ------------------------------------------------------------ a turn

    def _work(self, now_ns: int) -> None:
        self._has_tried = True
        if not self._plc.is_connected:
            self._greet(now_ns)
        poll_at_ns = self._poll_at_ns()
        if self._plc.is_connected and poll_at_ns is not None and now_ns >= poll_at_ns:
            self._poll()
        self._teller.tell()
        self._orders.work(self._context.clock())
        self._show()
        self._parts.note(self._context.clock())

    def _taken(self) -> Sequence[Out]:
        """The messages of this turn."""
        outs = tuple(self._outs)
        self._outs.clear()
        return outs

    def _greet(self, now_ns: int) -> None:
        greeting = self._plc.greet(now_ns)
        if greeting is None:
            return
        met_ns = self._context.clock()
        self._polled_ns = 0
        self._watch.meet(met_ns)
        self._meeting.meet(greeting, met_ns)

    # ------------------------------------------------------------ listen

    def _poll_at_ns(self) -> int | None:
        """When to look at what the PLC says; None: there is nothing to wait for."""
        if self._plc.handshake.is_waiting:
            return self._polled_ns + self._timing.ack_poll_ns
        return self._polled_ns + self._timing.poll_ns if self._timing.poll_ns else None

    def _poll(self) -> None:
        """Look at heartbeat, acknowledgement, trigger counter and command."""
        begun_ns = self._context.clock()
        part = self._plc.read_part()
        now_ns = self._polled_ns = self._context.clock()
        if part is None or not self._meeting.has_met:
            return
        self._parts.ejector.look(begun_ns)
        if self._watch.look(now_ns, part.heartbeat):
            self._note_silence(part)
        if self._manner.is_plc_triggered:
            self._follow_counter(part, now_ns)
        self._orders.listen(part, now_ns)

    def _note_silence(self, part: PlcPart) -> None:
        if self._watch.is_silent:
            self._context.count(Counter.PLC_SILENT, 1)
            self._context.log("error", "plc_silent", plc_heartbeat=part.heartbeat)
        else:
            self._context.log("info", "plc_beats_again", plc_heartbeat=part.heartbeat)

    def _follow_counter(self, part: PlcPart, now_ns: int) -> None:
        """Take the PLC's triggers from its counter."""
        counter, ledger = part.trigger_counter, self._parts.ledger
        if counter == ledger.last_id:
            return
        ticket = self._with_deadline(Ticket(self._station, counter), now_ns)
        if Flag.TRIGGER_ENABLE in part.flags:
            if self._take_trigger(replace(ticket, recipe=self._orders.recipe), now_ns):
                fired = replace(ticket, recipe=self._orders.recipe)
                self._outs.append(Out(Role.CAMERA, Kind.FIRE, fired))
        elif self._manner.ids.follows(ledger.last_id, counter):
            self._refuse(ticket, Reason.TRIGGER_DISABLED, now_ns)
        else:
            ledger.set_to(counter)
            self._context.log("info", "trigger_counter_set", counter=counter)

    def _take_trigger(self, ticket: Ticket, now_ns: int) -> bool:
        """Open a part; whether its picture is wanted."""
        reason = self._refusal(ticket)
        if reason is not Reason.NONE:
            self._refuse(ticket, reason, now_ns)
            return False
        return self._parts.open(ticket, now_ns)

    def _refusal(self, ticket: Ticket) -> Reason:
        """Why a part cannot be taken; NONE: it can."""
        if not self._is_taking():
            return Reason.STOPPING
        if self._orders.commands.is_executing:
            return Reason.COMMANDED
        if self._orders.is_holding:
            return Reason.WRONG_RECIPE
        if ticket.recipe != self._orders.recipe:
            self._orders.tell_camera()
            return Reason.WRONG_RECIPE
        return Reason.NONE

    def _refuse(self, ticket: Ticket, reason: Reason, now_ns: int) -> None:
        self._parts.refuse(ticket.decided(Verdict.FAULT, reason, now_ns), now_ns)

    def _with_deadline(self, ticket: Ticket, now_ns: int) -> Ticket:
        """The ticket with the moment of its trigger and the deadline that follows from it."""
        fired_ns = ticket.stamps[Stamp.FIRED] or now_ns
        return replace(
            ticket.stamped(Stamp.FIRED, fired_ns),
            deadline_ns=ticket.deadline_ns or fired_ns + self._timing.deadline_ns,
        )

    # ------------------------------------------------------------ how we are

    def _is_taking(self) -> bool:
        limit = self._context.part_limit
        return not self._is_stopping and (limit == 0 or self._parts.opened < limit)

    def _show(self) -> None:
        """Write the head when it is due."""
        if not self._plc.is_connected or not self._meeting.has_met:
            return
        now_ns = self._context.clock()
        if now_ns >= self._next_look_ns:
            self._is_healthy = self._context.is_line_healthy(self._station)
            self._next_look_ns = now_ns + _LOOK_NS
        condition = Condition(
            is_line_healthy=self._is_healthy,
            is_taking=self._is_taking(),
            is_held=self._orders.is_holding,
            is_plc_silent=self._watch.is_silent,
            has_parts=len(self._parts.ledger) > 0,
            has_overrun=self._plc.handshake.has_overrun,
            active_recipe=self._orders.recipe,
            answer=self._orders.commands.answer,
        )
        head = self._pulse.head(now_ns, condition, self._parts.tally)
        if head is not None:
            self._plc.write_head(head)
