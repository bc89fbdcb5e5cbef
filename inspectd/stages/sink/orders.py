"""What the PLC commands is done here: RESET at once, GOLDEN_TEST by the engine, RECIPE in between.

    RECIPE n --> not Ready, open parts finish by the old rules --> n is active, Ready
    GOLDEN_TEST --> not Ready, GOLDEN to the engine --> PROVED --> Ready

A part that is triggered meanwhile is refused. Whatever is not done within `plc.command_timeout_ms`
has failed, and nothing has changed then.

A part is judged by the recipe in its ticket. Of a station that triggers itself the camera writes it
there, so the camera is told; until it follows, its tickets show another recipe than the active one,
and such parts are refused: none is ever judged by rules that were not meant for it.
"""

from inspectd.frame import Kind, Reason, Role, Ticket, Verdict
from inspectd.plc.codes import NO_RECIPE, Command, CommandResult
from inspectd.plc.registers import PlcPart
from inspectd.ports import Context, Counter, Out
from inspectd.stages.sink.commands import Asked, Commands
from inspectd.stages.sink.conversation import Conversation
from inspectd.stages.sink.manner import Manner
from inspectd.stages.sink.parts import Parts

__all__ = ["Orders"]

_RESULTS = {
    Reason.GOLDEN_MISSING: CommandResult.NO_GOLDEN,
    Reason.DEADLINE_PASSED: CommandResult.TIMED_OUT,
}
"""Why the golden picture was not run; every other reason is an error of the engine."""


class Orders:
    """Carries out the commands of one station's PLC."""

    def __init__(
        self,
        station: int,
        manner: Manner,
        context: Context,
        *,
        parts: Parts,
        plc: Conversation,
        outs: list[Out],
    ) -> None:
        """Nothing is asked, no recipe is active; `outs` takes the messages."""
        self._station, self._manner, self._parts = station, manner, parts
        self._plc, self._context, self._outs = plc, context, outs
        self.commands = Commands()
        self.recipe = NO_RECIPE
        """Number of the active one."""
        self._asked: Asked | None = None
        """What is under way."""
        self._by_ns = 0
        self._finish_first = 0
        """Parts that must be done before the recipe is changed."""
        self._is_stopping = False

    @property
    def is_holding(self) -> bool:
        """Whether parts cannot be taken: something is under way, or a recipe is wanted."""
        return self._asked is not None or self.recipe not in self._manner.recipes

    def resume_recipe(self, number: int) -> None:
        """Go on with the recipe of an earlier life, if there is one."""
        self.recipe = number if number in self._manner.recipes else NO_RECIPE

    def listen(self, part: PlcPart, now_ns: int) -> None:
        """Take up a new command."""
        asked = self.commands.take(part)
        if asked is None:
            return
        self._context.count(Counter.COMMANDS, 1)
        self._by_ns = now_ns + self._manner.timing.command_ns
        failure = self._begin(asked)
        self._context.log("info", "command_taken", **asked._asdict(), recipe=self.recipe)
        if failure is not None:
            self._fail(failure)
        elif asked.command == Command.RESET:
            self.commands.completed()
        else:
            self._asked = asked

    def proved(self, ticket: Ticket) -> None:
        """Take the engine's answer about the golden picture."""
        asked = self._asked
        is_awaited = asked is not None and asked.command == Command.GOLDEN_TEST
        if not is_awaited or asked is None or ticket.trigger_id != asked.sequence:
            return
        if ticket.verdict is Verdict.OK:
            self._complete()
        elif ticket.verdict is Verdict.NG:
            self._fail(CommandResult.GOLDEN_DIFFERS, ticket)
        else:
            self._fail(_RESULTS.get(ticket.reason, CommandResult.ENGINE_ERROR), ticket)

    def work(self, now_ns: int) -> None:
        """Finish what is under way, or give it up."""
        asked = self._asked
        if asked is None:
            return
        if asked.command == Command.RECIPE and self._parts.done >= self._finish_first:
            self.recipe = asked.argument
            self._complete()
        elif now_ns >= self._by_ns:
            self._fail(CommandResult.TIMED_OUT)
            self.tell_camera()

    def wakes_at_ns(self) -> int | None:
        """When `work` has something to do; None: nothing is under way."""
        return None if self._asked is None else self._by_ns

    def stop(self) -> None:
        """Give up what is under way, and take up nothing but RESET any more."""
        self._is_stopping = True
        if self._asked is not None:
            self._fail(CommandResult.STOPPING)

    def tell_camera(self, recipe: int | None = None) -> None:
        """Let a camera that triggers itself write the recipe (the active one) into its tickets."""
        if not self._manner.is_plc_triggered and NO_RECIPE not in self._manner.recipes:
            number = self.recipe if recipe is None else recipe
            self._outs.append(
                Out(Role.CAMERA, Kind.RECIPE, Ticket(self._station, 0, recipe=number))
            )

    def _begin(self, asked: Asked) -> CommandResult | None:
        """Begin a command; answer why it cannot be done."""
        if asked.command == Command.RESET:
            self._parts.tally.reset()
            self._plc.handshake.has_overrun = False
            return None
        if asked.command not in {Command.GOLDEN_TEST, Command.RECIPE}:
            return CommandResult.UNKNOWN_COMMAND
        if self._is_stopping:
            return CommandResult.STOPPING
        if asked.command == Command.GOLDEN_TEST:
            return self._begin_golden(asked)
        return self._begin_recipe(asked)

    def _begin_golden(self, asked: Asked) -> CommandResult | None:
        if not self._context.is_ready(Role.INFER, -1):
            return CommandResult.NOT_READY
        ticket = Ticket(self._station, asked.sequence, deadline_ns=self._by_ns)
        self._outs.append(Out(Role.INFER, Kind.GOLDEN, ticket))
        return None

    def _begin_recipe(self, asked: Asked) -> CommandResult | None:
        if asked.argument not in self._manner.recipes:
            return CommandResult.UNKNOWN_RECIPE
        self._finish_first = self._parts.opened
        self.tell_camera(asked.argument)
        return None

    def _complete(self) -> None:
        self._asked = None
        self.commands.completed()
        answer = self.commands.answer
        self._context.log("info", "command_done", sequence=answer.echo, recipe=self.recipe)

    def _fail(self, result: CommandResult, ticket: Ticket | None = None) -> None:
        self._asked = None
        self.commands.failed(result)
        more = {} if ticket is None else {"detail": ticket.detail.decode(errors="replace")}
        sequence = self.commands.answer.echo
        self._context.log("warning", "command_failed", sequence=sequence, why=result.name, **more)
