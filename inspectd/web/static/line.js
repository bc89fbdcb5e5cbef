"use strict";
inspectd.start((main, me) => {
  const {word, make, text, number, percent, duration, picture} = inspectd;
  const KINDS = ["OK", "NG", "UNFIT", "LATE", "FAULT"];
  const views = new Map();

  const note = make("p", {class: "alert", hidden: true, role: "alert"});
  const troubles = make("ul", {class: "troubles"});
  const grid = make("div", {class: "stations"});
  const strip = make("div", {class: "strip"});
  const node = make("dl", {class: "node"});
  main.append(note, troubles, grid,
    make("section", {class: "card"}, make("h2", {}, word("rejects")), strip),
    make("section", {class: "card"}, make("h2", {}, word("node")), node));

  const stationView = (station) => {
    const view = {shown: null, chart: null};
    view.verdict = make("span", {class: "verdict"});
    view.reason = make("span", {class: "reason"});
    view.age = make("span", {class: "age"});
    view.photo = make("div", {class: "photo"}, make("p", {class: "empty"}, word("waiting")));
    view.badge = make("span", {class: "verdict"});
    view.caption = make("span", {});
    view.counts = make("div", {class: "counts"});
    for (const kind of [...KINDS, "yield"]) {
      const figure = make("b", {});
      view[`n_${kind}`] = figure;
      view.counts.append(make("div", {class: `count ${kind}`}, make("span", {}, word(kind)), figure));
    }
    view.stages = make("div", {class: "stages"});
    view.rows = station.stages.map((stage) => {
      const row = {bar: make("progress", {max: 100, value: 0}), figure: make("span", {class: "figure"}), mark: null};
      row.mark = inspectd.svg("line", {x1: 0, x2: 0, y1: 0, y2: 10, class: "mark"});
      row.fill = inspectd.svg("rect", {x: 0, y: 2, width: 0, height: 6, class: "fill"});
      row.svg = inspectd.svg("svg", {viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "bar"},
        inspectd.svg("rect", {x: 0, y: 2, width: 100, height: 6, class: "room"}), row.fill, row.mark);
      view.stages.append(make("span", {}, word(stage.name)), row.svg, row.figure);
      return row;
    });
    view.rhythm = make("span", {class: "figure"});
    view.plot = make("div", {class: "plot"});
    view.card = make("section", {class: "card station", "aria-label": station.name},
      make("div", {class: "top"}, make("h2", {}, station.name), view.verdict, view.reason, view.age),
      make("div", {class: "body"},
        make("div", {class: "left"}, view.photo, make("p", {class: "caption"}, view.badge, " ", view.caption)),
        make("div", {class: "right"}, view.counts,
          make("h3", {title: word("stages_key")}, word("stages")), view.stages, make("p", {class: "caption"}, word("stages_key")),
          make("h3", {}, word("rhythm"), " ", view.rhythm), view.plot)));
    grid.append(view.card);
    return view;
  };

  const drawPlot = (view, station) => {
    const gaps = station.rhythm.intervals_ms;
    if (gaps.length < 2) return;
    const width = Math.max(200, view.plot.clientWidth), at = gaps.map((_, i) => i - gaps.length + 1);
    const data = [at, gaps, gaps.map(() => station.cycle_ms)];
    if (!view.chart) {
      const colour = getComputedStyle(document.body);
      const axis = {stroke: colour.getPropertyValue("--soft"), grid: {stroke: colour.getPropertyValue("--edge"), width: 1}, ticks: {show: false}};
      view.chart = new uPlot({width, height: 110, legend: {show: false}, cursor: {show: false},
        scales: {x: {time: false}, y: {range: (_, low, high) => [0, Math.max(high, station.cycle_ms) * 1.15]}},
        axes: [{...axis, show: false}, {...axis, size: 54, values: (_, all) => all.map((v) => number(v, 0) + " ms")}],
        series: [{}, {stroke: colour.getPropertyValue("--accent"), width: 1.5, points: {show: false}},
          {stroke: colour.getPropertyValue("--NG"), width: 1, dash: [4, 4], points: {show: false}}]}, data, view.plot);
    } else {
      if (view.chart.width !== width) view.chart.setSize({width, height: 110});
      view.chart.setData(data);
    }
  };

  const drawStation = (station) => {
    if (!views.has(station.name)) views.set(station.name, stationView(station));
    const view = views.get(station.name), last = station.last, shown = station.pictured;
    if (last) {
      view.verdict.className = `verdict ${last.verdict}`;
      text(view.verdict, word(last.verdict));
      text(view.reason, last.reason === "NONE" ? "" : last.why ? `${last.reason} · ${last.why}` : last.reason);
      text(view.age, `#${last.trigger_id} · ${word("ago", duration(last.age_ms))}`);
      if (shown && shown.sequence !== view.shown) {
        view.shown = shown.sequence;
        view.photo.replaceChildren(picture(shown, station.width, station.height));
        view.photo.className = `photo ${shown.verdict}`;
      } else if (!shown && view.shown === null) {
        text(view.photo.firstChild, word("no_picture"));
      }
      view.badge.className = `verdict ${shown ? shown.verdict : ""}`;
      text(view.badge, shown ? word(shown.verdict) : "");
      text(view.caption, !shown ? "" : shown.sequence !== last.sequence ? word("earlier", shown.trigger_id, duration(shown.age_ms))
        : word(shown.is_archived ? "archived" : "small"));
    }
    for (const kind of KINDS) text(view[`n_${kind}`], number(station.counts[kind], 0));
    text(view.n_yield, percent(station.yield));
    station.stages.forEach((stage, i) => {
      const row = view.rows[i], share = (ms) => ms == null || !stage.budget ? 0 : Math.min(100, 100 * ms / stage.budget);
      row.fill.setAttribute("width", share(stage.p99));
      row.fill.setAttribute("class", stage.p99 > stage.budget ? "fill over" : "fill");
      row.mark.setAttribute("x1", share(stage.p50));
      row.mark.setAttribute("x2", share(stage.p50));
      text(row.figure, `${number(stage.p99)} / ${number(stage.budget, 0)} ms`);
    });
    const rhythm = station.rhythm;
    text(view.rhythm, rhythm.rate_hz == null ? "" : word("rhythm_words", number(rhythm.rate_hz), number(rhythm.mean_ms, 0), number(rhythm.deviation_ms, 1)));
    drawPlot(view, station);
  };

  let stripKey = "";
  const drawStrip = (news) => {
    const key = news.rejects.map((part) => part.sequence).join();
    if (key !== stripKey || !strip.firstChild) {
      stripKey = key;
      const sizes = new Map(news.stations.map((one) => [one.name, [one.width, one.height]]));
      const cards = news.rejects.map((part) => make("a", {class: `tile ${part.verdict}`, href: `/review?at=${part.sequence}`},
        part.has_picture ? picture(part, ...sizes.get(part.station), true) : make("span", {class: "empty"}, "–"),
        make("span", {class: `verdict ${part.verdict}`}, word(part.verdict)),
        make("span", {}, `${part.station} #${part.trigger_id}`), make("span", {class: "reason"}, part.reason)));
      strip.replaceChildren(...(cards.length ? cards : [make("p", {class: "caption"}, word("no_rejects"))]));
    }
  };

  let nodeKey = "";
  const drawNode = (news) => {
    const n = news.node, pair = (key, value) => make("div", {}, make("dt", {}, word(key)), make("dd", {}, value));
    const key = JSON.stringify([n, news.processes.map((one) => [one.status, one.restarts])]);
    if (n.cores == null || key === nodeKey) return;
    nodeKey = key;
    const ready = news.processes.filter((one) => one.status === "READY").length;
    node.replaceChildren(
      pair("cpu", `${number(n.cpu_percent, 0)} %`), pair("load", `${number(n.load_1min)} / ${word("cores", n.cores)}`),
      pair("memory", `${number(n.memory_used_mb / 1024)} / ${number(n.memory_total_mb / 1024)} GiB`),
      pair("disk", n.disk_free_mb == null ? "–" : `${number(n.disk_free_mb / 1024, 0)} GiB`),
      pair("processes", `${ready} / ${news.processes.length} ${word("READY")}`),
      pair("restarts", String(news.processes.reduce((sum, one) => sum + one.restarts, 0))),
      pair("recipe", news.recipe), ...Object.entries(news.models).map(([name, digest]) => pair("model", `${name} ${digest}`)));
  };

  const draw = (news) => {
    text(document.getElementById("brand"), news.line);
    text(note, word("unread"));
    note.hidden = news.is_record_read;
    const bad = news.processes.filter((one) => one.trouble);
    const lines = bad.map((one) => `${one.station ? one.station + " " : ""}${word(one.role)}: ${one.trouble}`);
    if ([...troubles.children].map((one) => one.textContent).join("\n") !== lines.join("\n"))
      troubles.replaceChildren(...lines.map((one) => make("li", {}, one)));
    news.stations.forEach(drawStation);
    drawStrip(news);
    drawNode(news);
  };

  const link = document.getElementById("link");
  const stream = new EventSource("/api/stream");
  stream.onopen = () => { link.className = "link live"; text(link, word("live")); };
  stream.onmessage = (event) => draw(JSON.parse(event.data));
  stream.onerror = () => {
    link.className = "link lost"; text(link, word("lost"));
    inspectd.get("/api/me").catch(() => {});
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
  };
  addEventListener("pagehide", () => stream.close());
});
