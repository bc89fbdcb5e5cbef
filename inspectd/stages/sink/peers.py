"""Which peer a station's PLC is: the one place where the kind of fieldbus is chosen.

The edge modules of optional fieldbuses are imported here, when a station needs them.
"""

from inspectd.config.schema import AbsentPlc, ModbusPlc
from inspectd.config.schema import Plc as PlcKeys
from inspectd.stages.sink.absent import NoPlc
from inspectd.stages.sink.port import Plc

__all__ = ["peer_of"]


def peer_of(plc: PlcKeys, port: int | None = None) -> Plc:
    """Make the peer of a station; nothing is opened yet.

    Args:
        plc: What the station file says.
        port: Overrides the file's (a simulator took a free one).
    """
    if isinstance(plc, AbsentPlc):
        return NoPlc()
    return _modbus(plc, plc.port if port is None else port)


def _modbus(plc: ModbusPlc, port: int) -> Plc:
    from inspectd.stages.sink.modbus import ModbusPeer  # noqa: PLC0415 - only who needs it pays

    return ModbusPeer(
        plc.host,
        port,
        device_id=plc.device_id,
        base_register=plc.base_register,
        word_order=plc.word_order,
        timeout_ms=plc.timeout_ms,
    )
