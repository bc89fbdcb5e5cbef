"""The first words with a PLC that has just been reached: where are we, and what was lost?

first life ------> whatever stands there is of an earlier run: empty the block, begin after it
later life ------> what was triggered while nobody was here is lost; and, as
after a loss ----> was the verdict in doubt carried out?
"""

from inspectd.frame import Reason, Ticket, Verdict
from inspectd.plc.registers import Head
from inspectd.ports import Context
from inspectd.stages.sink.conversation import Conversation, Greeting
from inspectd.stages.sink.manner import Manner
from inspectd.stages.sink.memory import Memory
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
        memory: Memory,
    ) -> None:
        """Nobody was met."""
        self._station, self._manner, self._context = station, manner, context
        self._parts, self._plc, self._pulse, self._orders = parts, plc, pulse, orders
        self._memory = memory
        plc.resume(memory.sequence, memory.doubt)
        self.has_met = False
        """The two agree since some time; until then the registers are of an earlier run."""

    def meet(self, greeting: Greeting, now_ns: int) -> None:
        """Take up what was read when the connection had been made."""
        self._pulse.next_ns = 0
        if self.has_met:
            self._clear_up(greeting)
        elif self._memory.has_begun:
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
        if self.has_met:
            self._memory.begin(parts.settled_id)

    def _resume(self, greeting: Greeting, now_ns: int) -> None:
        """A later life: parts go on from the journal, the head from the registers."""
        self.has_met = True
        if greeting.block.sequence == self._plc.handshake.sequence:
            self._plc.handshake.begin(greeting.block.sequence, now_ns)
        self._orders.commands.resume(greeting.head)
        self._orders.resume_recipe(greeting.head.active_recipe)
        self._parts.tally.resume(greeting.head)
        self._pulse.resume(greeting.head)
        self._clear_up(greeting)
        if self._manner.is_plc_triggered:
            self._lose_unseen(greeting.part.trigger_counter, now_ns)

    def _lose_unseen(self, counter: int, now_ns: int) -> None:
        """Whatever was triggered while nobody was here is FAULT: the moment for it is over."""
        ledger, last_id = self._parts.ledger, self._parts.ledger.last_id
        if counter == last_id:
            return
        if last_id is None or not self._manner.ids.follows(last_id, counter):
            self._context.log("error", "parts_unknown", settled=last_id, counter=counter)
            ledger.set_to(counter)
            return
        deadline_ns = now_ns + self._manner.timing.deadline_ns
        lost = Ticket(self._station, counter, deadline_ns=deadline_ns)
        self._parts.open(lost.decided(Verdict.FAULT, Reason.PROCESS_LOST, now_ns), now_ns)

    def _clear_up(self, greeting: Greeting) -> None:
        """After a loss: book the verdict in doubt when it was carried out."""
        told = greeting.doubtful
        if told is None or not greeting.is_applied:
            return
        if self._parts.ledger.next_id == told.trigger_id:
            self._parts.finish(told, is_told=True)
        else:  # given up meanwhile: the PLC's own window must have rejected the part
            self._context.log("error", "verdict_carried_out_late", trigger_id=told.trigger_id)
