"""What a station file may say: one frozen tree of dataclasses.

The loader (`inspectd.config.load`) is driven by these classes: the annotation is the type, `key()`
holds range, choices and default, the docstring under a field is the text of the manual. Units are
in the names. Rules between fields are in `inspectd.config.crossrules`.
A class with `kind: Literal[...]` as its first field is one of the variants of a union.
Regions are `x1, y1, x2, y2` in frame pixels, the right and lower edge excluded.
"""

from inspectd.config.schema.camera import (
    Camera,
    Degrade,
    PlcTrigger,
    ReplayCamera,
    TimerTrigger,
    Trigger,
)
from inspectd.config.schema.engine import (
    Engine,
    Gpu,
    Model,
    PaddleEngine,
    ScriptedEngine,
    Template,
    Tensorrt,
)
from inspectd.config.schema.fieldbus import EtherNetIpPlc, S7Plc
from inspectd.config.schema.forward import Forward, MqttForward, MqttTls, PostgresqlForward
from inspectd.config.schema.gate import (
    Exposure,
    Frozen,
    Gate,
    Glare,
    Presence,
    Saturation,
    Sharpness,
)
from inspectd.config.schema.key import Region, key
from inspectd.config.schema.line import Budget, Line, Station
from inspectd.config.schema.metrics import Metrics
from inspectd.config.schema.opcua import OpcuaPlc, OpcuaSecurity, OpcuaServerPlc, OpcuaUser
from inspectd.config.schema.plc import AbsentPlc, ModbusPlc, Plc, PlcSimulator
from inspectd.config.schema.recipes import Recipe
from inspectd.config.schema.record import Record
from inspectd.config.schema.reject import (
    ClockEncoder,
    Encoder,
    GpioEncoder,
    GpioIo,
    Io,
    ModbusEncoder,
    ModbusIo,
    OutputReject,
    PlcReject,
    Reject,
    RejectConfirm,
    RejectEye,
)
from inspectd.config.schema.rules import CountRule, EachHasRule, ForbidRule, Rule
from inspectd.config.schema.tiles import Tiles
from inspectd.config.schema.web import Web, WebTls

__all__ = [
    "AbsentPlc",
    "Budget",
    "Camera",
    "ClockEncoder",
    "CountRule",
    "Degrade",
    "EachHasRule",
    "Encoder",
    "Engine",
    "EtherNetIpPlc",
    "Exposure",
    "ForbidRule",
    "Forward",
    "Frozen",
    "Gate",
    "Glare",
    "GpioEncoder",
    "GpioIo",
    "Gpu",
    "Io",
    "Line",
    "Metrics",
    "ModbusEncoder",
    "ModbusIo",
    "ModbusPlc",
    "Model",
    "MqttForward",
    "MqttTls",
    "OpcuaPlc",
    "OpcuaSecurity",
    "OpcuaServerPlc",
    "OpcuaUser",
    "OutputReject",
    "PaddleEngine",
    "Plc",
    "PlcReject",
    "PlcSimulator",
    "PlcTrigger",
    "PostgresqlForward",
    "Presence",
    "Recipe",
    "Record",
    "Region",
    "Reject",
    "RejectConfirm",
    "RejectEye",
    "ReplayCamera",
    "Rule",
    "S7Plc",
    "Saturation",
    "ScriptedEngine",
    "Sharpness",
    "Station",
    "Template",
    "Tensorrt",
    "Tiles",
    "TimerTrigger",
    "Trigger",
    "Web",
    "WebTls",
    "key",
]
