"""EDGE prometheus_client: metrics as the text that Prometheus reads."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric as TheirFamily
from prometheus_client.registry import Collector, CollectorRegistry

from inspectd.metrics.catalog import Type, bounds_of
from inspectd.metrics.families import Bucketed, Family

__all__ = ["CONTENT_TYPE", "text_of"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def text_of(line: str, families: Sequence[Family]) -> bytes:
    """Write all metrics, each series with the label `line`."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(line, families))
    return bytes(generate_latest(registry))


class _Collector(Collector):
    """Hands families over; nothing is kept."""

    def __init__(self, line: str, families: Iterable[Family]) -> None:
        self._line, self._families = line, families

    def describe(self) -> Iterable[TheirFamily]:
        """Nothing: there is one collector in the registry, so no name can be taken twice."""
        return ()

    def collect(self) -> Iterator[TheirFamily]:
        for family in self._families:
            yield _theirs(self._line, family)


def _theirs(line: str, family: Family) -> TheirFamily:
    metric = family.metric
    labels = ("line", *metric.labels)
    if metric.type is Type.HISTOGRAM:
        return _histogram(line, family, labels)
    made: CounterMetricFamily | GaugeMetricFamily
    if metric.type is Type.COUNTER:
        made = CounterMetricFamily(metric.name, metric.help, labels=labels)
    else:
        made = GaugeMetricFamily(metric.name, metric.help, labels=labels)
    for sample in family.samples:
        if not isinstance(sample, Bucketed):
            made.add_metric((line, *sample.labels), float(sample.value))
    return made


def _histogram(line: str, family: Family, labels: Sequence[str]) -> TheirFamily:
    metric = family.metric
    made = HistogramMetricFamily(metric.name, metric.help, labels=labels)
    bounds = [*map(str, bounds_of(metric.name)), "+Inf"]
    for sample in family.samples:
        if isinstance(sample, Bucketed):
            buckets = list(zip(bounds, map(float, accumulate(sample.counts)), strict=True))
            made.add_metric((line, *sample.labels), buckets, sample.sum)
    return made
