"""EDGE asyncua server: the station as a vision system of OPC 40100-1, as far as that is honest.

The types are the OPC Foundation's own (`nodesets/`). Of `VisionSystemType` there is what inspectd
has: the state machine with its automatic mode, and the event `ResultReady` for each verdict. What
is optional and not there (recipe, configuration and result management) is left out; the methods
that the type demands answer BadNotSupported, because commands come through the PLC's own values.
"""

import gzip
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib import resources
from typing import Any

from asyncua import Node, Server, ua

from inspectd.frame import Verdict
from inspectd.plc.registers import VerdictBlock
from inspectd.plc.vision import Automatic, Vision, VisionState, result_state_of

__all__ = ["NAMESPACE", "VisionSystem"]

NAMESPACE = "http://opcfoundation.org/UA/MachineVision"
_FILE = "nodesets/Opc.Ua.MachineVision.NodeSet2.xml.gz"
_SYSTEM_TYPE, _MACHINE_TYPE, _AUTOMATIC_TYPE, _RESULT_READY_TYPE = 1003, 1017, 1021, 1024
"""Identifiers in the nodeset."""
_NO_STATE = ua.NodeId()
_SEVERITY_OK, _SEVERITY_REJECT = 1, 300


class VisionSystem:
    """One station."""

    def __init__(self, server: Server, *, recipe: str, station: str, is_simulated: bool) -> None:
        """Keep what is the same in every result.

        Args:
            server: Not started yet.
            recipe: Digest of the station file: what the parts are judged by.
            station: Its name.
            is_simulated: The pictures come from files.
        """
        self._server, self._recipe, self._station = server, recipe, station
        self._is_simulated = is_simulated
        self._index = 0
        self._states: dict[str, ua.NodeId] = {}
        self._shown: Vision | None = None
        self._top: Any = None
        self._automatic: Any = None
        self._events: Any = None

    async def build(self, own_index: int) -> None:
        """Load the types and make the objects; nothing is shown yet."""
        text = gzip.decompress(resources.files(__package__).joinpath(_FILE).read_bytes())
        await self._server.import_xml(xmlstring=text.decode())
        self._index = await self._server.get_namespace_index(NAMESPACE)
        name = ua.QualifiedName("VisionSystem", own_index)
        place = ua.NodeId(f"{self._station}.VisionSystem", own_index)
        system = await self._server.nodes.objects.add_object(
            place, name, objecttype=self._type(_SYSTEM_TYPE), instantiate_optional=False
        )
        machine = await system.get_child(self._named("VisionStateMachine"))
        mode = await machine.add_object(
            ua.NodeId(f"{self._station}.VisionSystem.AutomaticModeStateMachine", own_index),
            self._named("AutomaticModeStateMachine"),
            objecttype=self._type(_AUTOMATIC_TYPE),
            instantiate_optional=False,
        )
        await self._keep_states(_MACHINE_TYPE, [state.value for state in VisionState])
        await self._keep_states(_AUTOMATIC_TYPE, [state.value for state in Automatic])
        self._top = await machine.get_child("0:CurrentState")
        self._automatic = await mode.get_child("0:CurrentState")
        await self._refuse_methods([machine, mode])
        kind = self._server.get_node(self._type(_RESULT_READY_TYPE))
        self._events = await self._server.get_event_generator(kind, system)

    async def show(self, vision: Vision) -> None:
        """Show the states, when they are others than before."""
        if vision == self._shown:
            return
        self._shown = vision
        await self._set_state(self._top, vision.state.value)
        automatic = vision.automatic
        await self._set_state(self._automatic, automatic.value if automatic else "")

    async def tell(self, block: VerdictBlock, run_id: str) -> None:
        """Raise the event of a verdict."""
        if block.verdict is Verdict.NONE:
            return
        self._fill(self._events.event, block, run_id)
        words = f"{self._station}: part {block.trigger_id} is {block.verdict.name}"
        await self._events.trigger(message=words)

    def _fill(self, event: Any, block: VerdictBlock, run_id: str) -> None:
        """Set the fields; asyncua knows no type for those whose default is empty."""
        job = f"{run_id}-{self._station}-{block.trigger_id}"
        now = datetime.now(timezone.utc)
        event.Severity = _SEVERITY_OK if block.verdict is Verdict.OK else _SEVERITY_REJECT
        content = [ua.Variant(block.verdict.name), ua.Variant(block.reason.name)]
        recipe = ua.RecipeIdInternalDataType(Id=self._recipe, Hash=None)
        configuration = ua.ConfigurationIdDataType(Id=self._recipe, Hash=None)
        times = ua.ProcessingTimesDataType(StartTime=now, EndTime=now)
        kinds = ua.VariantType
        for name, value, kind in (
            ("ResultId", ua.ResultIdDataType(Id=f"{job}-{block.sequence}"), kinds.ExtensionObject),
            ("JobId", ua.JobIdDataType(Id=job), kinds.ExtensionObject),
            ("MeasId", ua.MeasIdDataType(Id=str(block.trigger_id)), kinds.ExtensionObject),
            ("PartId", ua.PartIdDataType(Id=str(block.trigger_id)), kinds.ExtensionObject),
            ("InternalRecipeId", recipe, kinds.ExtensionObject),
            ("InternalConfigurationId", configuration, kinds.ExtensionObject),
            ("ResultState", int(result_state_of(block.verdict)), kinds.Int32),
            ("IsPartial", False, kinds.Boolean),
            ("IsSimulated", self._is_simulated, kinds.Boolean),
            ("CreationTime", now, kinds.DateTime),
            ("ProcessingTimes", times, kinds.ExtensionObject),
            ("ResultContent", content, kinds.Variant),
        ):
            event.add_property(name, value, kind)

    async def _set_state(self, variable: Node, name: str) -> None:
        await variable.write_value(ua.LocalizedText(name, "en"))
        number = await variable.get_child("0:Id")
        state = self._states.get(name, _NO_STATE)
        await number.write_value(ua.Variant(state, ua.VariantType.NodeId))

    async def _keep_states(self, machine_type: int, names: Sequence[str]) -> None:
        """The state nodes of a machine's type, which `CurrentState.Id` names."""
        kind = self._server.get_node(self._type(machine_type))
        for name in names:
            self._states[name] = (await kind.get_child(self._named(name))).nodeid

    async def _refuse_methods(self, machines: Sequence[Node]) -> None:
        for machine in machines:
            for method in await machine.get_methods():
                self._server.link_method(method, _not_supported)

    def _type(self, identifier: int) -> ua.NodeId:
        return ua.NodeId(identifier, self._index)

    def _named(self, name: str) -> ua.QualifiedName:
        return ua.QualifiedName(name, self._index)


async def _not_supported(*_arguments: Any) -> ua.StatusCode:
    return ua.StatusCode(ua.StatusCodes.BadNotSupported)
