"""`inspectd metrics FILE`: one scrape of a running line; the shipped alert rules and dashboard."""

import argparse
import http.client
from pathlib import Path

from inspectd import outfile
from inspectd.config.load import load
from inspectd.config.metricsrules import Address, address_of
from inspectd.errors import Exit, UsageFault
from inspectd.metrics.shipped import SHIPPED

__all__ = ["add_arguments", "run"]

_WAIT_S = 5.0
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is bound here
"""Where to ask a line that listens at every address."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the file, or a folder for what is shipped."""
    parser.add_argument("file", nargs="?", help="station file (YAML) of a running line")
    parser.add_argument(
        "--rules",
        type=Path,
        metavar="DIR",
        help="write the alert rules for Prometheus and the dashboard for Grafana there",
    )


def run(args: argparse.Namespace) -> int:
    """Do what was asked."""
    if args.rules is None and args.file is None:
        raise UsageFault("names nothing to do", "metrics", "give a station file, or --rules DIR")
    if args.rules is not None:
        _write_shipped(args.rules)
    if args.file is not None:
        print(_scrape(_address(args.file)), end="")
    return Exit.OK


def _write_shipped(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageFault("is no folder", str(folder), "make it first")
    targets = [folder / source.name for source in SHIPPED]
    for target in targets:
        outfile.check_writable(target)
    for source, target in zip(SHIPPED, targets, strict=True):
        outfile.write(target, source.read_text(encoding="utf-8"))
        print(f"wrote {target}")


def _address(file: str) -> Address:
    line = load(file, must_exist=False)
    address = None if line.metrics is None else address_of(line.metrics.listen)
    if address is None:
        remedy = "add `metrics: {listen: 127.0.0.1:9464}`, and start the line again"
        raise UsageFault("serves no metrics", file, remedy)
    return address._replace(host=_ANYWHERE.get(address.host, address.host))


def _scrape(address: Address) -> str:
    connection = http.client.HTTPConnection(address.host, address.port, timeout=_WAIT_S)
    try:
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        remedy = "start the line, and see whether its log says metrics_serving"
        raise UsageFault(f"does not answer ({error})", address.url, remedy) from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        remedy = "see the log of the line"
        raise UsageFault(f"answers {answer.status}: {text.strip()}", address.url, remedy)
    return text
