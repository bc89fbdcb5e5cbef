"use strict";
inspectd.start(async (main, me) => {
  const {word, make, text, number, percent, moment, picture, get, post} = inspectd;
  const mayReview = me.right !== "viewer";
  const asked = Number(new URLSearchParams(location.search).get("at")) || 0;
  let parts = [], at = 0, kind = "REJECTS";

  const filter = make("select", {"aria-label": word("verdict")}, make("option", {value: "REJECTS"}, word("all_rejects")), make("option", {value: "OK"}, word("passes")),
    make("option", {value: ""}, word("all")));
  if (asked) filter.value = "";
  filter.addEventListener("change", () => load(0));
  const older = make("button", {onclick: () => load(parts.length ? parts[parts.length - 1].sequence : 0)}, word("older"));
  const newest = make("button", {onclick: () => load(0)}, word("newest"));
  const rates = make("span", {class: "caption"}), said = make("p", {class: "caption", role: "status"});
  const photo = make("div", {class: "photo"}), facts = make("dl", {class: "node"});
  const note = make("input", {maxlength: 1000, "aria-label": word("note"), placeholder: word("note")});
  const buttons = {};
  for (const one of ["confirmed", "false_call", "escape"])
    buttons[one] = make("button", {class: one, onclick: () => judge(one)}, word(one));
  const strip = make("div", {class: "strip"});
  main.append(
    make("section", {class: "card"}, make("div", {class: "tools"}, make("h1", {}, word("review")), filter, newest, older, rates)),
    make("section", {class: "card reviewing"}, make("div", {}, photo), make("div", {class: "buttons"}, facts, note, ...Object.values(buttons), said,
      make("p", {class: "caption"}, mayReview ? word("review_help") : word("not_allowed")))),
    make("section", {class: "card"}, strip));

  const draw = () => {
    const part = parts[at];
    strip.replaceChildren(...parts.map((one, i) => make("a", {class: `tile ${one.verdict}`, href: `/review?at=${one.sequence}`, "aria-current": i === at ? "true" : null,
      onclick: (event) => { event.preventDefault(); choose(i); }},
      one.has_picture ? picture(one, one.width, one.height, true) : make("span", {class: "empty"}, "–"),
      make("span", {class: `verdict ${one.verdict}`}, word(one.verdict)), make("span", {}, `${one.station} #${one.trigger_id}`),
      make("span", {class: "reason"}, one.review ? word(one.review.judgement) : ""))));
    if (!part) {
      photo.replaceChildren(make("p", {class: "empty"}, word("none_found")));
      facts.replaceChildren();
      for (const one of Object.values(buttons)) one.disabled = true;
      return;
    }
    photo.className = `photo ${part.verdict}`;
    photo.replaceChildren(part.has_picture ? picture(part, part.width, part.height) : make("p", {class: "empty"}, word("no_picture")));
    const pair = (key, ...value) => make("div", {}, make("dt", {}, word(key)), make("dd", {}, ...value));
    facts.replaceChildren(pair("verdict", make("span", {class: `verdict ${part.verdict}`}, word(part.verdict))),
      pair("part", `${part.station} #${part.trigger_id} ${part.part_id}`), pair("time", moment(part.utc)),
      pair("reason", part.reason === "NONE" ? "–" : part.reason), pair("why", part.why || "–"),
      pair("total", part.total_ms == null ? "–" : number(part.total_ms) + " ms"), pair("model", part.model || "–"), pair("recipe", part.recipe));
    const isPass = part.verdict === "OK";
    buttons.confirmed.disabled = !mayReview;
    buttons.false_call.disabled = !mayReview || isPass;
    buttons.escape.disabled = !mayReview || !isPass;
    for (const [name, one] of Object.entries(buttons)) one.setAttribute("aria-pressed", String(Boolean(part.review && part.review.judgement === name)));
    note.hidden = !mayReview;
    text(said, part.review ? word("said", word(part.review.judgement), part.review.reviewer, moment(part.review.reviewed_utc)) : "");
  };
  const show = () => {
    const tile = strip.children[at];
    if (tile) strip.scrollLeft = tile.offsetLeft - strip.offsetLeft - (strip.clientWidth - tile.clientWidth) / 2;
  };
  const choose = (index) => {
    if (index < 0 || index >= parts.length) return;
    at = index; note.value = ""; draw();
    show();
  };
  const judge = async (judgement) => {
    const part = parts[at];
    if (!part || buttons[judgement].disabled) return;
    const answer = await post("/api/review", {sequence: part.sequence, judgement, note: note.value});
    if (!answer.ok) { text(said, word("failed", answer.error || answer.status)); return; }
    part.review = {judgement, reviewer: me.name, reviewed_utc: new Date().toISOString(), note: note.value};
    draw();
    text(said, word("stored"));
    await count();
  };
  const count = async () => {
    const counts = await get("/api/reviews");
    text(rates, word("review_rate", number(counts.reviewed, 0), percent(counts.false_call_rate)));
  };
  const load = async (before) => {
    kind = filter.value;
    try {
      parts = await get(`/api/events?${new URLSearchParams({before, verdict: kind})}`);
      at = Math.max(0, parts.findIndex((one) => one.sequence === asked));
      draw();
      show();
    } catch (error) { text(said, error.message); }
  };
  addEventListener("keydown", (event) => {
    if (event.target === note || event.target === filter || event.ctrlKey || event.altKey || event.metaKey) return;
    const keys = {ArrowLeft: () => choose(at - 1), ArrowRight: () => choose(at + 1), 1: () => judge("confirmed"), 2: () => judge("false_call"), 3: () => judge("escape")};
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  await load(asked ? asked + 10 : 0);
  await count().catch((error) => text(said, error.message));
});
