"""Rules between keys: each a named function of one object of the schema, without I/O.

A rule answers its complaints with keys relative to the object it was given. Rules that need only a
part of the file are asked about every part that is whole, even when another part is faulty.
Rules of the whole line are in `inspectd.config.linerules`, what the disk must hold is in
`inspectd.config.diskrules`.
"""

import math
import re
from collections.abc import Iterator
from typing import Any

from inspectd.config import (
    enginerules,
    forwardrules,
    linerules,
    metricsrules,
    opcuarules,
    reciperules,
    rejectrules,
    webrules,
)
from inspectd.config.complaint import Complaint, CrossRule, repeated_names
from inspectd.config.recipes import every_rule
from inspectd.config.schema import (
    CountRule,
    EachHasRule,
    EtherNetIpPlc,
    Exposure,
    ForbidRule,
    Line,
    Metrics,
    ModbusPlc,
    MqttForward,
    MqttTls,
    OpcuaPlc,
    PaddleEngine,
    PlcTrigger,
    PostgresqlForward,
    Region,
    ReplayCamera,
    S7Plc,
    Station,
    Tensorrt,
    Tiles,
    TimerTrigger,
)
from inspectd.config.schema.fieldbus import FieldbusPlc
from inspectd.config.shapes import plain

__all__ = ["RULES"]

_PART_ID = "{part_id}"
_TAG_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
_TAG_PREFIX_MAX = 16
"""With the longest name of an alias behind it, a tag keeps to Logix' 40 characters."""


# ---------------------------------------------------------------- one group


def exposure_limits_are_ordered(exposure: Exposure) -> Iterator[Complaint]:
    """`min_mean` is not above `max_mean`: otherwise no picture is fit."""
    if exposure.min_mean > exposure.max_mean:
        what = f"above max_mean ({plain(exposure.max_mean)}): no picture would be fit; lower it"
        yield Complaint("min_mean", what)


def tiles_step_forward(tiles: Tiles) -> Iterator[Complaint]:
    """`overlap_px` is at most half of `size_px`: more only looks at everything many times."""
    if tiles.overlap_px > tiles.size_px // 2:
        what = f"more than half of size_px ({tiles.size_px}); lower it, or take larger tiles"
        yield Complaint("overlap_px", what)


def counts_are_ordered(rule: CountRule) -> Iterator[Complaint]:
    """`min` is not above `max`: otherwise every part is NG."""
    if rule.min > rule.max:
        yield Complaint("min", f"above max ({rule.max}): every part would be NG; lower it")


def count_limits_something(rule: CountRule) -> Iterator[Complaint]:
    """A count rule has `min` or `max`: without them it holds for every part."""
    if rule.min == 0 and rule.max == CountRule.__dataclass_fields__["max"].default:
        yield Complaint("", "this rule holds for every part; give `min`, `max` or both")


def pair_has_two_classes(rule: EachHasRule) -> Iterator[Complaint]:
    """`needs` is another class than `label`: an object always has itself."""
    if rule.label == rule.needs:
        yield Complaint("needs", "the same class as `label`: it always has itself; name another")


def erasing_has_its_label(camera: ReplayCamera) -> Iterator[Complaint]:
    """`how: erase` has a `label`, and the camera has `labels` that say where the objects are."""
    for index, one in enumerate(camera.degrade):
        key = f"degrade[{index}]"
        if one.how == "erase" and not one.label:
            yield Complaint(key, "erase needs `label`: the class whose objects vanish; add it")
        if one.how == "erase" and not camera.labels:
            yield Complaint(f"{key}.how", "erase needs the camera's `labels` (COCO JSON); add them")
        if one.how != "erase" and one.label:
            what = f"only erase looks at `label`, this is {one.how}; take it out"
            yield Complaint(f"{key}.label", what)


def free_port_has_simulator(plc: ModbusPlc) -> Iterator[Complaint]:
    """`port: 0` (take a free one) goes with `simulator`: a real PLC listens where it listens."""
    if plc.port == 0 and plc.simulator is None:
        what = "0 lets the simulator take a free port, but there is none; give the PLC's port"
        yield Complaint("port", what)


def data_block_is_addressed_by_words(plc: S7Plc) -> Iterator[Complaint]:
    """`start_byte` is even: a data block keeps its words at even bytes."""
    if plc.start_byte % 2:
        yield Complaint("start_byte", "odd, but words lie at even bytes; give an even number")


def tags_can_have_these_names(plc: EtherNetIpPlc) -> Iterator[Complaint]:
    """`tag_prefix` begins a name that a Logix controller takes."""
    if len(plc.tag_prefix) > _TAG_PREFIX_MAX or not _TAG_PREFIX.fullmatch(plc.tag_prefix):
        what = (
            "no beginning of a tag's name; give a letter, then letters, digits and single `_`, "
            f"at most {_TAG_PREFIX_MAX}, no `_` at the end"
        )
        yield Complaint("tag_prefix", what)


def heartbeat_outlives_a_request(plc: FieldbusPlc) -> Iterator[Complaint]:
    """`heartbeat_ms` is not below `timeout_ms`: one lost answer costs one beat at most."""
    if plc.heartbeat_ms < plc.timeout_ms:
        what = (
            f"below timeout_ms ({plain(plc.timeout_ms)}): one lost answer would cost several "
            "beats; raise it, or lower timeout_ms"
        )
        yield Complaint("heartbeat_ms", what)


# ---------------------------------------------------------------- one station


def budget_fits_deadline(station: Station) -> Iterator[Complaint]:
    """The sum of `budget` is not above `deadline_ms`."""
    total = _before_sink_ms(station) + station.budget.sink_ms
    if _is_above(total, station.deadline_ms):
        what = (
            f"the budget's sum is {total:g} ms, above deadline_ms ({plain(station.deadline_ms)}); "
            "shorten a stage or move the reject point"
        )
        yield Complaint("budget", what)


def margin_leaves_the_judge_its_time(station: Station) -> Iterator[Complaint]:
    """The budget up to the judge and `plc.write_margin_ms` fit `deadline_ms` together.

    Otherwise a part that kept its budget would be called LATE.
    """
    if not isinstance(station.plc, FieldbusPlc):
        return
    left = station.deadline_ms - _before_sink_ms(station)
    if _is_above(station.plc.write_margin_ms, left):
        what = (
            f"the stages before the sink leave {left:g} ms until the deadline: parts that keep "
            "their budget would be LATE; lower it, or shorten a stage"
        )
        yield Complaint("plc.write_margin_ms", what)


def slots_last_until_the_deadline(station: Station) -> Iterator[Complaint]:
    """`slots` hold the parts that can be under way at once: deadline / cycle, rounded up, and one.

    The deadline may exceed the cycle, as parts overlap.
    """
    needed = math.ceil(station.deadline_ms / station.cycle_ms - 1e-9) + 1
    if station.slots < needed:
        what = (
            f"with a part every {plain(station.cycle_ms)} ms and {plain(station.deadline_ms)} ms "
            f"until its deadline, {needed} frames can be in work; give at least so many"
        )
        yield Complaint("slots", what)


def rule_names_are_unique(station: Station) -> Iterator[Complaint]:
    """No two rules of a station, or of a recipe, have the same `name`: the record names them."""
    yield from repeated_names("rules", [rule.name for rule in station.rules])
    for at, recipe in enumerate(station.recipes):
        yield from repeated_names(f"recipes[{at}].rules", [rule.name for rule in recipe.rules])


def regions_lie_in_the_frame(station: Station) -> Iterator[Complaint]:
    """Every `region` is inside the frame and not empty."""
    width, height = station.camera.width_px, station.camera.height_px
    for key, region in _regions(station):
        x1, y1, x2, y2 = region
        if x1 >= x2 or y1 >= y2:
            what = "the region is empty; give x1, y1, x2, y2 with x1 < x2 and y1 < y2"
            yield Complaint(key, what)
        elif x1 < 0 or y1 < 0 or x2 > width or y2 > height:
            what = f"the region leaves the frame of {width} x {height} px; keep it inside"
            yield Complaint(key, what)


def millimetres_have_a_scale(station: Station) -> Iterator[Complaint]:
    """A limit in mm goes with `camera.um_per_px`."""
    for key, rule in every_rule(station):
        is_in_mm = isinstance(rule, ForbidRule) and rule.min_size_mm > 0
        if is_in_mm and station.camera.um_per_px == 0:
            what = "a size in mm needs the camera's `um_per_px`; add it, or use min_size_px"
            yield Complaint(f"{key}.min_size_mm", what)


def template_pattern_is_known(station: Station) -> Iterator[Complaint]:
    """`template.pattern` has no braces but those of `{part_id}`."""
    if station.template is None:
        return
    rest = station.template.pattern.replace(_PART_ID, "")
    if "{" in rest or "}" in rest:
        what = "`{part_id}` is the only thing that may stand in braces; correct it"
        yield Complaint("template.pattern", what)


def triggering_plc_exists(station: Station) -> Iterator[Complaint]:
    """`trigger.kind: plc` goes with a PLC that can be asked."""
    if isinstance(station.trigger, PlcTrigger) and not isinstance(station.plc, FieldbusPlc):
        what = "there is no PLC that could trigger; name one under `plc`, or use a timer"
        yield Complaint("trigger.kind", what)


def trigger_is_polled_in_time(station: Station) -> Iterator[Complaint]:
    """`trigger.poll_ms` is below `cycle_ms`: otherwise two triggers fall into one look."""
    if isinstance(station.trigger, PlcTrigger) and station.trigger.poll_ms >= station.cycle_ms:
        what = f"not below cycle_ms ({plain(station.cycle_ms)}): triggers would be missed; lower it"
        yield Complaint("trigger.poll_ms", what)


def timer_keeps_the_cycle(station: Station) -> Iterator[Complaint]:
    """A timer of `rate_hz` leaves at least `cycle_ms` between two parts."""
    if isinstance(station.trigger, TimerTrigger):
        yield from _rate_keeps_cycle("trigger.rate_hz", station.trigger.rate_hz, station.cycle_ms)


def simulator_keeps_the_cycle(station: Station) -> Iterator[Complaint]:
    """A simulator that triggers leaves at least `cycle_ms` between two parts."""
    if not isinstance(station.plc, ModbusPlc) or station.plc.simulator is None:
        return
    if isinstance(station.trigger, PlcTrigger):
        rate_hz = station.plc.simulator.rate_hz
        yield from _rate_keeps_cycle("plc.simulator.rate_hz", rate_hz, station.cycle_ms)


RULES: tuple[tuple[type[Any], CrossRule], ...] = (
    (Exposure, exposure_limits_are_ordered),
    (CountRule, counts_are_ordered),
    (CountRule, count_limits_something),
    (EachHasRule, pair_has_two_classes),
    (PaddleEngine, enginerules.backend_fits_the_device),
    (PaddleEngine, enginerules.precision_fits_device_and_backend),
    (PaddleEngine, enginerules.gpu_settings_have_a_gpu),
    (PaddleEngine, enginerules.tensorrt_settings_have_tensorrt),
    (PaddleEngine, enginerules.convert_works_on_the_first_card),
    (Tensorrt, enginerules.cache_has_something_to_keep),
    (ReplayCamera, erasing_has_its_label),
    (ModbusPlc, free_port_has_simulator),
    (ModbusPlc, heartbeat_outlives_a_request),
    (S7Plc, data_block_is_addressed_by_words),
    (S7Plc, heartbeat_outlives_a_request),
    (EtherNetIpPlc, tags_can_have_these_names),
    (EtherNetIpPlc, heartbeat_outlives_a_request),
    (OpcuaPlc, heartbeat_outlives_a_request),
    (Station, budget_fits_deadline),
    (Station, margin_leaves_the_judge_its_time),
    (Station, slots_last_until_the_deadline),
    *reciperules.RULES,
    (Station, rule_names_are_unique),
    (Station, regions_lie_in_the_frame),
    (Tiles, tiles_step_forward),
    (Station, millimetres_have_a_scale),
    (Station, template_pattern_is_known),
    (Station, triggering_plc_exists),
    (Station, trigger_is_polled_in_time),
    (Station, timer_keeps_the_cycle),
    (Station, simulator_keeps_the_cycle),
    *rejectrules.RULES,
    *opcuarules.RULES,
    (Line, linerules.model_names_are_unique),
    (Line, linerules.station_names_are_unique),
    (Line, linerules.stations_know_their_model),
    (Line, linerules.waiting_fits_the_budget),
    (Line, linerules.stations_share_no_registers),
    (Line, linerules.stations_share_no_data_block),
    (Line, linerules.stations_share_no_tags),
    (Line, linerules.frames_fit_memory),
    (MqttTls, forwardrules.certificate_has_its_key),
    (MqttForward, forwardrules.mqtt_password_is_given_once),
    (MqttForward, forwardrules.topic_prefix_is_a_topic),
    (PostgresqlForward, forwardrules.postgresql_password_is_given_once),
    (PostgresqlForward, forwardrules.dsn_holds_no_password),
    (PostgresqlForward, forwardrules.table_is_a_plain_name),
    (Line, forwardrules.receiver_names_are_unique),
    *webrules.RULES,
    (Metrics, metricsrules.listening_is_local_or_meant),
)
"""Every rule, with the class of the objects it is asked about."""


def _before_sink_ms(station: Station) -> float:
    budget = station.budget
    return budget.camera_ms + budget.gate_ms + budget.infer_ms + budget.judge_ms


def _is_above(value: float, limit: float) -> bool:
    """Whether it is above by more than the rounding of sums of decimal fractions."""
    return value > limit + 1e-6


def _rate_keeps_cycle(key: str, rate_hz: float, cycle_ms: float) -> Iterator[Complaint]:
    period_ms = 1000 / rate_hz
    if _is_above(cycle_ms, period_ms):
        what = (
            f"a part every {period_ms:g} ms, below cycle_ms ({plain(cycle_ms)}); "
            f"at most {math.floor(1e6 / cycle_ms) / 1000:g} keep the cycle"
        )
        yield Complaint(key, what)


def _regions(station: Station) -> Iterator[tuple[str, Region]]:
    gate = station.gate
    checks = {
        "sharpness": gate.sharpness,
        "exposure": gate.exposure,
        "saturation": gate.saturation,
        "glare": gate.glare,
        "presence": gate.presence,
    }
    for name, check in checks.items():
        if check is not None and check.region is not None:
            yield f"gate.{name}.region", check.region
    for key, rule in every_rule(station):
        if rule.region is not None:
            yield f"{key}.region", rule.region
    for index, region in enumerate(station.tiles.skip if station.tiles else ()):
        yield f"tiles.skip[{index}]", region
