"use strict";
inspectd.start(async (main, me) => {
  const {word, make, text, number, moment, get} = inspectd;
  const choice = (label, options) => {
    const select = make("select", {"aria-label": word(label)}, ...options.map(([value, name]) => make("option", {value}, name)));
    select.addEventListener("change", () => load(0));
    return select;
  };
  const station = choice("station", [["", `${word("station")}: ${word("all")}`], ...me.stations.map((one) => [one, one])]);
  const verdict = choice("verdict", [["", `${word("verdict")}: ${word("all")}`], ["REJECTS", word("all_rejects")],
    ...["OK", "NG", "UNFIT", "LATE", "FAULT"].map((one) => [one, word(one)])]);
  const newest = make("button", {onclick: () => load(0)}, word("newest"));
  const older = make("button", {onclick: () => load(last)}, word("older"));
  const rows = make("tbody"), said = make("p", {class: "caption", role: "status"});
  const heads = ["time", "station", "part", "verdict", "reason", "total", "review", "picture"];
  main.append(make("section", {class: "card"}, make("h1", {}, word("events")),
    make("div", {class: "tools"}, station, verdict, newest, older), said,
    make("div", {class: "scroll"}, make("table", {}, make("thead", {}, make("tr", {},
      ...heads.map((one) => make("th", {class: one === "total" ? "right" : null, scope: "col"}, word(one))))), rows))));
  let last = 0;

  const row = (event) => make("tr", {},
    make("td", {class: "time"}, moment(event.utc)), make("td", {}, event.station),
    make("td", {class: "part"}, `#${event.trigger_id}${event.part_id ? " " + event.part_id : ""}`),
    make("td", {}, make("span", {class: `verdict ${event.verdict}`}, word(event.verdict))),
    make("td", {class: "words"}, [event.reason === "NONE" ? "" : event.reason, event.why, event.judged ? word("judged", word(event.judged)) : ""].filter(Boolean).join(" · ")),
    make("td", {class: "right"}, event.total_ms == null ? "–" : number(event.total_ms) + " ms"),
    make("td", {}, event.review ? `${word(event.review.judgement)} (${event.review.reviewer})` : ""),
    make("td", {}, event.has_picture ? make("a", {href: `/review?at=${event.sequence}`}, word("picture")) : "–"));

  const load = async (before) => {
    const asked = new URLSearchParams({before, station: station.value, verdict: verdict.value});
    try {
      const found = await get(`/api/events?${asked}`);
      rows.replaceChildren(...found.map(row));
      last = found.length ? found[found.length - 1].sequence : 0;
      older.disabled = found.length < 50;
      text(said, found.length ? "" : word("none_found"));
    } catch (error) { text(said, error.message); }
  };
  await load(0);
});
