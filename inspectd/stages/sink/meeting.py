"""The first words with a PLC that has just been reached: where are we, and what was lost?

first life ------> whatever stands there is of an earlier run: empty the block, begin after it
later life ------> what was triggered since the last verdict was lost with the earlier life
after a loss ----> was the verdict in doubt carried out?
"""

from inspectd.frame import Reason, Ticket, Verdict
from inspectd.plc.registers import Head
from inspectd.ports import Context
from inspectd.stages.sink.conversation import Conversation, Greeting
from inspectd.stages.sink.ids import GAP_MAX
from inspectd.stages.sink.manner import Manner
from inspectd.stages.sink.orders import Orders
from inspectd.stages.sink.parts import Parts
from inspectd.stages.sink.pulse import Pulse

__all__ = ["Meeting"]


class Meeting:
    """Agrees with the PLC of one station on where we are."""

    def __init__(
        self,
        station: int,
        manner: Manner,
        context: Context,
        *,
        parts: Parts,
        plc: Conversation,
        pulse: Pulse,
        orders: Orders,
    ) -> None:
        """Nobody was met."""
        self._station, self._manner, self._context = station, manner, context
        self._parts, self._plc, self._pulse, self._orders = parts, plc, pulse, orders
        self.has_met = False
        """The two agree since some time; until then the registers are of an earlier run."""

    def meet(self, greeting: Greeting, now_ns: int) -> None:
        """Take up what was read when the connection had been made."""
        self._pulse.next_ns = 0
        if self.has_met:
            self._clear_up(greeting)
        elif self._context.restarts:
            self._resume(greeting, now_ns)
        else:
            self._begin(greeting)
        self._context.log("info", "plc_reached", trigger_counter=greeting.part.trigger_counter)

    def _begin(self, greeting: Greeting) -> None:
        """The first life: outputs into the reject state before anything else."""
        parts = self._parts
        if self._manner.is_plc_triggered:
            parts.settled_id = greeting.part.trigger_counter
            parts.ledger.begin_after(parts.settled_id, Reason.TRIGGER_MISSED)
        self._pulse.start_counter = parts.settled_id
        self._orders.commands.begin(greeting.part)
        is_told = self._plc.write_head(Head())
        self.has_met = is_told and self._plc.begin(parts.settled_id)

    def _resume(self, greeting: Greeting, now_ns: int) -> None:
        """A later life: go on with what the registers say of the earlier one."""
        self.has_met = True
        parts, block, counter = self._parts, greeting.block, greeting.part.trigger_counter
        self._plc.handshake.begin(block.sequence, now_ns)
        self._orders.commands.resume(greeting.head)
        self._orders.resume_recipe(greeting.head.active_recipe)
        parts.settled_id = block.trigger_id
        parts.tally.resume(greeting.head)
        self._pulse.resume(greeting.head)
        parts.done = parts.opened = self._manner.ids.ahead(
            self._pulse.start_counter, block.trigger_id
        )
        if self._manner.is_plc_triggered:
            self._lose_open(counter, now_ns)
        elif (block.trigger_id or block.sequence) and parts.ledger.last_id is None:
            parts.ledger.begin_after(block.trigger_id, Reason.PROCESS_LOST)

    def _lose_open(self, counter: int, now_ns: int) -> None:
        """Whatever was triggered and not told is FAULT: nobody knows how far it had come."""
        parts = self._parts
        if self._manner.ids.ahead(parts.settled_id, counter) > GAP_MAX:
            settled = parts.settled_id
            self._context.log("error", "parts_unknown", settled=settled, counter=counter)
            parts.settled_id = counter
        parts.ledger.begin_after(parts.settled_id, Reason.PROCESS_LOST)
        if counter != parts.settled_id:
            deadline_ns = now_ns + self._manner.timing.deadline_ns
            lost = Ticket(self._station, counter, deadline_ns=deadline_ns)
            parts.open(lost.decided(Verdict.FAULT, Reason.PROCESS_LOST, now_ns), now_ns)

    def _clear_up(self, greeting: Greeting) -> None:
        """After a loss: book the verdict in doubt when it was carried out."""
        told = greeting.doubtful
        if told is None or not greeting.is_applied:
            return
        if self._parts.ledger.next_id == told.trigger_id:
            self._parts.finish(told, is_told=True)
        else:  # given up meanwhile: the PLC's own window must have rejected the part
            self._context.log("error", "verdict_carried_out_late", trigger_id=told.trigger_id)
