"""Numbers: named once, kept only where the library is."""

import pytest

from capture_consumer.metrics import METRICS, NoMetrics, Prometheus, open_metrics


def test_numbers_come_out_as_prometheus_reads_them():
    metrics = open_metrics()
    assert isinstance(metrics, Prometheus)

    metrics.add("claims_total", queue="jobs")
    metrics.add("claims_total", 2, queue="jobs")
    metrics.put("consumers", 3)
    metrics.took("perform_seconds", 1.5, queue="jobs", kind="capture")

    text = metrics.text()
    assert 'capture_claims_total{queue="jobs"} 3.0' in text
    assert "capture_consumers 3.0" in text
    assert 'capture_perform_seconds_sum{kind="capture",queue="jobs"} 1.5' in text


def test_two_sets_of_numbers_do_not_disturb_each_other():
    first, second = open_metrics(), open_metrics()
    assert isinstance(second, Prometheus)

    first.put("consumers", 3)

    assert "capture_consumers 0.0" in second.text()


def test_a_name_that_was_not_declared_is_a_bug():
    with pytest.raises(KeyError):
        open_metrics().add("typos_total")


def test_without_the_library_nothing_is_kept_and_nothing_fails(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "prometheus_client", None)

    metrics = open_metrics()

    assert isinstance(metrics, NoMetrics)
    metrics.add("claims_total", queue="jobs")
    metrics.put("consumers", 1)
    metrics.took("perform_seconds", 1.0)


def test_a_metric_s_name_says_its_unit():
    for metric in METRICS:
        assert metric.name.endswith("_total") == (metric.kind == "counter"), metric.name
        assert metric.name.endswith("_seconds") == (metric.kind == "seconds"), metric.name
