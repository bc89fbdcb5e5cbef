"use strict";
inspectd.start((main) => {
  const {word, make, text, post} = inspectd;
  const name = make("input", {id: "name", name: "name", autocomplete: "username", required: true, maxlength: 32, autofocus: true});
  const password = make("input", {id: "password", name: "password", type: "password", autocomplete: "current-password", required: true, maxlength: 256});
  const said = make("p", {class: "alert", role: "alert", hidden: true});
  const form = make("form", {class: "card login"}, make("h1", {}, word("login")),
    make("label", {for: "name"}, word("name")), name, make("label", {for: "password"}, word("password")), password,
    said, make("button", {type: "submit"}, word("login")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = await post("/api/login", {name: name.value, password: password.value});
    if (answer.ok) { location.assign("/"); return; }
    text(said, answer.wait_s ? word("wait", answer.wait_s) : word("wrong"));
    said.hidden = false;
    password.value = "";
    password.focus();
  });
  main.append(form);
  name.focus();
});
