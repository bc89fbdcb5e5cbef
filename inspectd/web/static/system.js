"use strict";
inspectd.start(async (main, me) => {
  const {word, make, number, moment, get} = inspectd;
  if (me.right !== "engineer") { main.append(make("p", {class: "alert"}, word("forbidden"))); return; }
  const bodies = {};
  const table = (name, heads) => {
    bodies[name] = make("tbody");
    main.append(make("section", {class: "card"}, make("h2", {}, word(name)), make("div", {class: "scroll"}, make("table", {},
      make("thead", {}, make("tr", {}, ...heads.map((one) => make("th", {scope: "col"}, one.startsWith("pid") ? "PID" : word(one))))), bodies[name]))));
  };
  const facts = make("dl", {class: "node"});
  main.append(make("section", {class: "card"}, make("h1", {}, word("system")), facts));
  table("processes", ["processes", "station", "status", "pid", "cpu", "memory", "restarts", "trouble"]);
  table("sessions", ["name", "right"]);
  table("trail", ["time", "who", "review", "station", "part", "verdict", "note"]);
  const fill = (name, rows) => bodies[name].replaceChildren(...(rows.length ? rows.map((cells) => make("tr", {}, ...cells.map((one, i) =>
    make("td", {class: i === cells.length - 1 ? "words" : null}, one)))) : [make("tr", {}, make("td", {}, word("nothing")))]));
  const load = async () => {
    const [line, system] = await Promise.all([get("/api/line"), get("/api/system")]);
    if (!line.processes) return;
    document.getElementById("brand").textContent = line.line;
    const pair = (key, value) => make("div", {}, make("dt", {}, word(key)), make("dd", {}, value));
    facts.replaceChildren(pair("run", line.run_id), pair("recipe", line.recipe), ...Object.entries(line.models).map(([name, digest]) => pair("model", `${name} ${digest}`)));
    fill("processes", line.processes.map((one) => [word(one.role), one.station || "–", word(one.status), String(one.pid || "–"),
      one.cpu_percent == null ? "–" : number(one.cpu_percent, 0) + " %", one.memory_mb == null ? "–" : number(one.memory_mb, 0) + " MiB", String(one.restarts), one.trouble]));
    fill("sessions", system.sessions.map((one) => [one.name, word(one.right)]));
    fill("trail", system.trail.map((one) => [moment(one.reviewed_utc), one.reviewer, word(one.judgement), one.station, `#${one.sequence}`, word(one.verdict), one.note]));
  };
  await load();
  setInterval(() => load().catch(() => {}), 3000);
});
