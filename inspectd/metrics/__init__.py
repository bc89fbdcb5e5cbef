"""Figures of a running line for Prometheus: what is counted, how it is served, what to alert on.

    snapshot   what was seen at one moment     catalog    every metric, with its meaning
    tally      what events add up to           families   a snapshot as metrics (pure)
    follow     reads the record                reviewed   reads what people said of verdicts
    machine    disk, /proc                     text       EDGE prometheus_client
    server     EDGE http                       step       the process
    shipped    rules and dashboard, as files   checks     for `inspectd check`

Nobody of the line waits for any of it, and it writes nothing the line reads (`docs/metrics.md`).
"""
