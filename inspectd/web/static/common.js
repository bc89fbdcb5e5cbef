"use strict";
// What all pages share: words, the head, requests. Texts reach the page as text, never as HTML.
const inspectd = (() => {
  const page = document.body.dataset.page;
  let words = {}, language = "en", me = null;

  const word = (key, ...values) => {
    const both = words[key];
    const text = both ? both[language === "zh" ? 1 : 0] : key;
    return text.replace(/\{(\d)\}/g, (_, n) => values[Number(n)]);
  };
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick") node.addEventListener("click", value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child != null));
    return node;
  };
  const svg = (tag, attributes = {}, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const text = (node, value) => { if (node.textContent !== value) node.textContent = value; };
  const number = (value, digits = 1) => value == null ? "–" :
    value.toLocaleString(language === "zh" ? "zh-CN" : "en-GB",
      {minimumFractionDigits: digits, maximumFractionDigits: digits});
  const percent = (value) => value == null ? "–" : number(100 * value, value > 0.9995 && value < 1 ? 2 : 1) + " %";
  const duration = (ms) => ms < 1e4 ? number(ms / 1000, 1) + " s" : ms < 12e4 ? number(ms / 1000, 0) + " s"
    : ms < 72e5 ? number(ms / 6e4, 0) + " min" : number(ms / 36e5, 0) + " h";
  const moment = (utc) => new Date(utc).toLocaleString(language === "zh" ? "zh-CN" : "en-GB",
    {month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit"});

  // A picture with its boxes. What is drawn lies over it, the file stays as it is.
  const picture = (part, width, height, isSmall = false) => {
    const frame = svg("svg", {viewBox: `0 0 ${width} ${height}`, class: "picture", role: "img",
      "aria-label": `${part.station} #${part.trigger_id} ${part.verdict}`});
    frame.append(svg("image", {href: `/picture/${part.sequence}`, width, height, preserveAspectRatio: "none"}));
    const size = Math.max(width, height) / 32;
    for (const [label, score, x1, y1, x2, y2] of part.boxes) {
      if (score < 0.3) continue;
      frame.append(svg("rect", {x: x1, y: y1, width: Math.max(0, x2 - x1), height: Math.max(0, y2 - y1), class: "box"}));
      if (isSmall) continue;
      const name = svg("text", {x: x1 + size / 4, y: Math.max(size, y1 - size / 4), "font-size": size, class: "label"});
      name.textContent = `${label} ${score.toFixed(2)}`;
      frame.append(name);
    }
    return frame;
  };

  const leave = (status) => { if (status === 401) location.assign("/login"); };
  const get = async (path) => {
    const answer = await fetch(path, {headers: {accept: "application/json"}});
    leave(answer.status);
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || String(answer.status));
    return answer.json();
  };
  const post = async (path, body = {}) => {
    const headers = {"content-type": "application/json"};
    if (me) headers["x-csrf-token"] = me.csrf;
    const answer = await fetch(path, {method: "POST", headers, body: JSON.stringify(body)});
    if (page !== "login") leave(answer.status);
    const given = await answer.json().catch(() => ({}));
    return {ok: answer.ok, status: answer.status, ...given};
  };

  const setLanguage = (chosen) => {
    localStorage.setItem("inspectd-language", chosen);
    const address = new URL(location);
    address.searchParams.delete("language");
    location.replace(address);
  };
  const drawHead = () => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
    document.title = `inspectd – ${word(page)}`;
    for (const node of document.querySelectorAll("[data-word]")) text(node, word(node.dataset.word));
    const head = document.getElementById("head");
    const other = make("button", {class: "plain", lang: language === "zh" ? "en" : "zh-CN",
      onclick: () => setLanguage(language === "zh" ? "en" : "zh")}, word("language"));
    if (page === "login") { head.replaceChildren(make("span", {class: "brand"}, "inspectd"), make("span", {class: "space"}), other); return; }
    const pages = ["line", "events", "review", "charts"].concat(me.right === "engineer" ? ["system"] : []);
    head.replaceChildren(
      make("span", {class: "brand", id: "brand"}, "inspectd"),
      make("nav", {}, ...pages.map((name) => make("a", {href: name === "line" ? "/" : `/${name}`,
        "aria-current": name === page ? "page" : null}, word(name)))),
      make("span", {class: "space"}),
      make("span", {id: "link", class: "link", role: "status"}),
      make("span", {class: "who"}, me.has_users ? `${me.name} (${word(me.right)})` : ""),
      other,
      ...(me.has_users ? [make("button", {class: "plain", onclick: async () => { await post("/api/logout"); location.assign("/login"); }}, word("logout"))] : []));
  };

  // What a person does keeps the login alive; pictures that come by themselves do not.
  let told = Date.now();
  const active = () => {
    if (me && me.has_users && Date.now() - told > 60000) { told = Date.now(); post("/api/alive"); }
  };

  const start = async (begin) => {
    words = await (await fetch("/static/words.json")).json();
    me = page === "login" ? null : await get("/api/me");
    const asked = new URLSearchParams(location.search).get("language");
    if (asked === "en" || asked === "zh") localStorage.setItem("inspectd-language", asked);
    language = localStorage.getItem("inspectd-language") || (me ? me.language : navigator.language.startsWith("zh") ? "zh" : "en");
    drawHead();
    for (const name of ["pointerdown", "keydown"]) addEventListener(name, active, {passive: true});
    await begin(document.getElementById("main"), me);
    document.body.dataset.ready = "yes";
  };
  return {word, make, svg, text, number, percent, duration, moment, picture, get, post, start};
})();
