"""The processes of a line and what they share: births, deaths, the slots and restarts of the dead.

It answers what happened as values (`Fate`); whether the line goes on is the supervisor's decision.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from inspectd.bus.arena import MemfdArena
from inspectd.bus.journal import MemfdJournal
from inspectd.bus.link import Road
from inspectd.errors import Exit
from inspectd.frame import Kind, Reason, Role, Stamp, Ticket
from inspectd.host.board import Board, State
from inspectd.host.children import Child, Inheritance, is_overdue
from inspectd.host.journey import EXPENDABLE, Member, crew_of
from inspectd.host.manifest import Manifest
from inspectd.host.restart import RestartBudget
from inspectd.ports import Status

__all__ = ["Crew", "Fate"]


@dataclass(frozen=True, slots=True)
class Fate:
    """Why the line cannot go on."""

    code: Exit
    why: str


class Crew:
    """All processes of one run, with their memory and their links."""

    def __init__(
        self,
        manifest: Manifest,
        log: Callable[..., None],
        rest: ExitStack,
        former_fds: Sequence[int] = (),
    ) -> None:
        """Make the memory; start nobody.

        Args:
            manifest: what every process is told.
            log: `log(level, event, **fields)`.
            rest: lets go of memory and links at the end.
            former_fds: journals of a run that was killed whole, for the record.

        Raises:
            ArenaFault: there is not enough memory.
        """
        self._line, self._log = manifest.line, log
        self._arenas: list[MemfdArena] = []
        self.journals: list[MemfdJournal] = []
        """Of the sinks, by station."""
        for geometry, station in zip(manifest.geometries, manifest.line.stations, strict=True):
            self._arenas.append(MemfdArena.create(geometry, station.name))
            rest.callback(self._arenas[-1].close)
            self.journals.append(MemfdJournal.create(manifest.origin_of(station)))
            rest.callback(self.journals[-1].close)
        self.board = Board.create(crew_of(manifest.line))
        rest.callback(self.board.close)
        self._road = Road(manifest.run_id, manifest.token)
        rest.callback(self._road.close)
        self._outboxes = {m: self._road.outbox(*m) for m in self.board.members}
        manifest_file = manifest.write()
        rest.enter_context(manifest_file)
        self._given = Inheritance(
            manifest_fd=manifest_file.fileno(),
            board_fd=self.board.fd,
            arena_fds={i: arena.fd for i, arena in enumerate(self._arenas)},
            journal_fds={i: journal.fd for i, journal in enumerate(self.journals)},
            former_fds=former_fds,
        )
        self._children: dict[Member, Child] = {}
        self._due_ns: dict[Member, int] = {}
        self._budgets: dict[Member, RestartBudget] = {}
        self._restarts: dict[Member, int] = {}

    # ------------------------------------------------------------ who is there

    def of(self, role: Role) -> list[Child]:
        """The living processes of a role."""
        return [child for child in self._children.values() if child.member[0] is role]

    def unready(self) -> list[str]:
        """Names of the roles whose processes a line waits for at its start, each once."""
        waiting = [member for member, child in self._children.items() if not child.was_ready]
        roles = (role for role, _ in [*waiting, *self._due_ns] if role not in EXPENDABLE)
        return list(dict.fromkeys(role.name.lower() for role in roles))

    def are_done(self) -> bool:
        """Whether every sink has had all parts of the run."""
        sinks = [member for member in self.board.members if member[0] is Role.SINK]
        return all(self.board.row(*sink).state().status is Status.DONE for sink in sinks)

    def states(self) -> tuple[State, ...]:
        """How everybody says he is."""
        return self.board.states()

    # ------------------------------------------------------------ births

    def start(self, role: Role, now_ns: int) -> None:
        """Start the processes of a role."""
        if role is Role.CAMERA:
            self.board.begin(now_ns)
        for member in self.board.members:
            if member[0] is role:
                self._spawn(member, now_ns)

    def restart_due(self, now_ns: int) -> None:
        """Start again whose back-off is over."""
        for member in [member for member, at_ns in self._due_ns.items() if at_ns <= now_ns]:
            del self._due_ns[member]
            self._spawn(member, now_ns)

    def _spawn(self, member: Member, now_ns: int) -> None:
        restarts = self._restarts.get(member, 0)
        row = self.board.row(*member)
        self._children[member] = Child.spawn(member, row, restarts, self._given, now_ns)
        self._log("info", "process_starting", **self.named(member), restarts=restarts)

    # ------------------------------------------------------------ lives

    def look_after(self, now_ns: int, *, is_stopping: bool) -> Fate | None:
        """See who was born well, who is stuck and who died; answer a fate that ends the line."""
        fates = [
            self._look_after(child, now_ns, is_stopping) for child in list(self._children.values())
        ]
        return next((fate for fate in fates if fate is not None), None)

    def _look_after(self, child: Child, now_ns: int, is_stopping: bool) -> Fate | None:
        if child.code() is not None:
            return self._bury(child, now_ns, is_stopping)
        if is_overdue(child.row, now_ns) and not is_stopping:
            self._log("error", "process_stalled", **self.named(child.member))
            child.kill()
            return self._bury(child, now_ns, is_stopping)
        if not child.was_ready and child.has_begun():
            child.was_ready = True
            self._log("info", "process_ready", **self.named(child.member))
        return None

    # ------------------------------------------------------------ deaths

    def _bury(self, child: Child, now_ns: int, is_stopping: bool) -> Fate | None:
        """Free what it held, tell the sinks, and decide whether it comes back."""
        member, code = child.member, child.process.returncode
        del self._children[member]
        child.row.gone()
        self._reclaim(member)
        if is_stopping and code == 0:
            self._log("info", "process_ended", **self.named(member))
            return None
        self._log("error", "process_died", **self.named(member), code=code)
        return None if is_stopping else self._judge(child, code, now_ns)

    def _judge(self, child: Child, code: int, now_ns: int) -> Fate | None:
        """Decide on a death: a wrong file and a failed first start are beyond a restart."""
        member = child.member
        name = member[0].name.lower()
        budget = self._budgets.setdefault(member, RestartBudget())
        if member[0] in EXPENDABLE:
            self._plan_restart(member, budget.died(now_ns) or now_ns + budget.delay_max_ns)
            return None
        if code == Exit.WRONG_FILE:
            return Fate(Exit.WRONG_FILE, f"{name} cannot work with this file")
        if code > 0 and not child.was_ready and not self._restarts.get(member):
            return Fate(Exit.FAULT, f"{name} cannot start")
        at_ns = budget.died(now_ns)
        if at_ns is None:
            return Fate(Exit.FAULT, f"{name} died too often")
        self._plan_restart(member, at_ns)
        return None

    def _plan_restart(self, member: Member, at_ns: int) -> None:
        self._restarts[member] = self._restarts.get(member, 0) + 1
        self._due_ns[member] = at_ns

    def _reclaim(self, member: Member) -> None:
        """Free the slots of the dead, and tell each part's sink that it is lost.

        A part whose picture the record owned has a verdict: only its picture is lost.
        """
        role, station = member
        for index, arena in enumerate(self._arenas):
            if station not in (-1, index):
                continue
            held = arena.reclaim(role)
            if held:
                named = self.named((role, index))
                self._log("warning", "slots_reclaimed", **named, slots=len(held))
            if role is Role.RECORD:
                continue
            for slot, generation, trigger_id in held:
                lost = Ticket(
                    station=index,
                    trigger_id=trigger_id,
                    generation=generation,
                    reason=Reason.PROCESS_LOST,
                ).stamped(Stamp.CAPTURED, arena.captured_ns(slot))
                self._outboxes[Role.SINK, index].send(Kind.LOST, lost)

    # ------------------------------------------------------------ ends

    def forget_restarts(self) -> None:
        """Start nobody any more."""
        self._due_ns.clear()

    def ask_to_stop(self, role: Role) -> None:
        """Tell the processes of a role to finish; one that has not begun holds nothing and dies."""
        for child in self.of(role):
            if child.was_ready:
                station = child.member[1]
                self._outboxes[child.member].send(Kind.STOP, Ticket(station, 0))
            else:
                child.kill()

    def hurry(self, role: Role) -> None:
        """Have the processes of a role leave what they hold and put their outputs in safety."""
        for child in self.of(role):
            self._log("warning", "process_hurried", **self.named(child.member))
            child.hurry()

    def kill(self, role: Role) -> None:
        """Kill the processes of a role that did not finish."""
        for child in self.of(role):
            self._log("error", "process_late", **self.named(child.member))
            child.kill()

    def named(self, member: Member) -> dict[str, Any]:
        """Fields of a log line that tell which process."""
        role, station = member
        named = {"role": role.name.lower()}
        if station >= 0:
            named["station"] = self._line.stations[station].name
        return named
