"""The tags of a Logix controller as a document and for import."""

import csv
import io
from pathlib import Path

from inspectd.config import crossrules
from inspectd.config.schema import EtherNetIpPlc
from inspectd.plc.registers import GROUPS, VERDICT
from inspectd.plc.tags import TagPlace, tags_as_csv, tags_as_markdown

PLACE = TagPlace("left", "10.0.0.2:44818", 0, "Inspectd")
HEADING = "TYPE SCOPE NAME DESCRIPTION DATATYPE SPECIFIER ATTRIBUTES"
LOGIX_NAME_CHARACTERS = 40
"""Rockwell publication 1756-PM004: the longest name of a tag."""


def records(place: TagPlace) -> list[list[str]]:
    """The records of the import file, without remarks, version and heading."""
    rows = list(csv.reader(io.StringIO(tags_as_csv([place]))))
    assert rows[0] == ["remark", "CSV-Import-Export"]
    at = rows.index(["0.3"])
    assert rows[at + 1] == HEADING.split()
    return rows[at + 2 :]


def test_each_group_is_one_array_of_dint() -> None:
    """One element for each register, also for those of 16 bits."""
    arrays = {row[2]: row[4] for row in records(PLACE) if row[0] == "TAG"}
    assert arrays == {f"Inspectd_{group.name}": f"DINT[{len(group.registers)}]" for group in GROUPS}


def test_each_element_has_an_alias_with_its_name() -> None:
    """Aliases are all different, and stand in the order of the map."""
    aliases = {row[2]: row[5] for row in records(PLACE) if row[0] == "ALIAS"}
    assert len(aliases) == sum(len(group.registers) for group in GROUPS)
    assert aliases["Inspectd_verdict_trigger_id"] == "Inspectd_verdict[0]"
    assert aliases["Inspectd_plc_test_constant"] == "Inspectd_plc[0]"
    last = len(GROUPS[1].registers) - 1
    assert aliases["Inspectd_verdict_sequence"] == f"Inspectd_verdict[{last}]"


def test_every_record_has_seven_columns() -> None:
    """Controller scope is an empty column."""
    assert all(len(row) == 7 and row[1] == "" for row in records(PLACE))


def test_the_longest_prefix_that_is_taken_gives_names_that_logix_takes() -> None:
    """What `inspectd check` accepts can be made in the controller."""
    prefix = "a" * 40
    while list(_complaints(prefix)):
        prefix = prefix[:-1]
    names = [row[2] for row in records(PLACE._replace(prefix=prefix))]
    assert len(prefix) >= 12
    assert max(map(len, names)) <= LOGIX_NAME_CHARACTERS


def test_the_page_names_arrays_and_elements() -> None:
    """For whoever makes the tags by hand."""
    page = tags_as_markdown(PLACE)
    assert "`Inspectd_verdict : DINT[" in page
    assert "| Inspectd_verdict_verdict | Inspectd_verdict[1] | vision | 1 is OK" in page


def test_the_page_about_fieldbuses_counts_elements_right() -> None:
    """What its examples say about the array of verdicts is what the table says."""
    page = (Path(__file__).parents[3] / "docs" / "fieldbuses.md").read_text(encoding="utf-8")
    count = len(VERDICT.registers)
    assert VERDICT.registers[count - 1].name == "sequence"
    assert f"`Inspectd_verdict[{count - 1}]`" in page
    assert f"CPS(Inspectd_verdict[0], Taken[0], {count});" in page


def _complaints(prefix: str) -> list[object]:
    plc = EtherNetIpPlc(kind="ethernet_ip", host="plc", tag_prefix=prefix)
    return list(crossrules.tags_can_have_these_names(plc))
