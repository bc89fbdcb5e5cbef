"use strict";
inspectd.start(async (main, me) => {
  const {word, make, text, number, percent, get} = inspectd;
  const station = make("select", {"aria-label": word("station")}, ...me.stations.map((one) => make("option", {value: one}, one)));
  const size = make("select", {"aria-label": word("group")}, ...[20, 50, 100, 200].map((one) => make("option", {value: one}, word("spc", one))));
  size.value = 20;
  const said = make("p", {class: "caption", role: "status"}), alarm = make("p", {class: "caption"});
  const spc = make("div", {class: "plot"}), times = make("div", {class: "plot"});
  main.append(make("section", {class: "card"}, make("div", {class: "tools"}, make("h1", {}, word("charts")), station, size)),
    make("section", {class: "card"}, make("h2", {id: "spc"}, word("rate")), said, alarm, spc),
    make("section", {class: "card"}, make("h2", {}, word("total_ms")), times));
  let plots = [], series = [];
  const colour = (name) => getComputedStyle(document.body).getPropertyValue(`--${name}`);

  const plot = (target, data, lines, values) => {
    const axis = {stroke: colour("soft"), grid: {stroke: colour("edge"), width: 1}, ticks: {stroke: colour("edge")}};
    plots.push(new uPlot({width: Math.max(260, target.clientWidth), height: 260, cursor: {drag: {x: false, y: false}},
      scales: {x: {time: false}, y: {range: (_, low, high) => [0, (high || 1) * 1.15]}},
      axes: [{...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]}, {...axis, size: 70, values: (_, all) => all.map(values)}],
      series: [{label: word(lines[0])}, ...lines.slice(1).map(([name, tone, more]) => ({label: word(name), stroke: colour(tone), width: 1.5,
        points: {show: false}, value: (_, v) => v == null ? "–" : values(v), ...more}))]}, data, target));
  };

  const draw = () => {
    plots.forEach((one) => one.destroy());
    plots = [];
    const n = Number(size.value), groups = [];
    for (let i = series.length % n; i + n <= series.length; i += n)
      groups.push(series.slice(i, i + n).filter((one) => one[2] !== "OK").length / n);
    text(alarm, "");
    if (groups.length < 2) {
      text(said, word("few", series.length));
    } else {
      const mean = groups.reduce((a, b) => a + b, 0) / groups.length, sigma = Math.sqrt(mean * (1 - mean) / n);
      const upper = Math.min(1, mean + 3 * sigma), lower = Math.max(0, mean - 3 * sigma);
      const outside = groups.filter((one) => one > upper || one < lower).length;
      text(said, word("spc_words", percent(mean), percent(lower), percent(upper)));
      text(alarm, word("out_of_control", outside, groups.length));
      alarm.className = outside ? "alert" : "caption";
      const flat = (value) => groups.map(() => value), dash = {dash: [6, 4]};
      plot(spc, [groups.map((_, i) => i - groups.length + 1), groups, flat(mean), flat(upper), flat(lower)],
        ["group", ["rate", "accent", {points: {show: true, size: 6}}], ["mean", "soft", {}], ["upper", "NG", dash], ["lower", "NG", dash]], (v) => percent(v));
    }
    if (series.length > 1)
      plot(times, [series.map((_, i) => i - series.length + 1), series.map((one) => one[3])], ["index", ["total", "accent", {}]], (v) => number(v, 0) + " ms");
  };
  const load = async () => {
    try { series = await get(`/api/series?${new URLSearchParams({station: station.value})}`); draw(); }
    catch (error) { text(said, error.message); }
  };
  station.addEventListener("change", load);
  size.addEventListener("change", draw);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
  await load();
  setInterval(load, 10000);
});
