// The frame: who is logged in, which page is shown, and how pages ask the server.
import { pages } from "/pages.js";

export const state = { me: null };
const main = document.getElementById("main"), top = document.getElementById("top"), lost = document.getElementById("lost");

// An element: h("p", {class: "x", onclick: f}, "text", child).
export function h(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

export class Problem extends Error {
  constructor(status, text) { super(text); this.status = status; }
}

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    lost.hidden = false;
    throw new Problem(0, "The server does not answer.");
  }
  lost.hidden = true;
  const text = await answer.text();
  let body = {};
  try { body = text ? JSON.parse(text) : {}; } catch { body = { error: text.trim() }; }
  if (!answer.ok) {
    if (answer.status === 401 && state.me) leave("Your session is over. Log in again.");
    throw new Problem(answer.status, body.error ?? `The server answered ${answer.status}.`);
  }
  return body;
}

const query = (args) => new URLSearchParams(Object.entries(args).filter(([, v]) => v !== null && v !== undefined && v !== "")).toString();
export const get = (view, args = {}) => ask(`/api/${view}?${query(args)}`);
export const post = (change, body = {}) => ask(`/api/${change}`, {
  method: "POST", body: JSON.stringify(body),
  headers: { "Content-Type": "application/json", ...(state.me ? { "X-Procession-Token": state.me.token } : {}) },
});
// A result set as objects by column.
export const rows = (answer, n = 0) => (answer.sets?.[n]?.rows ?? []).map((row) => Object.fromEntries(answer.sets[n].columns.map((c, i) => [c, row[i]])));

// All that a page watches comes in one stream: a browser has six connections to a server for all of its windows.
let watched = [], source = null, timer = 0;

function listen() {
  clearTimeout(timer);
  source?.close();
  source = null;
  if (document.hidden || watched.length === 0) return;
  const list = watched, mine = new EventSource(`/api/events?${list.map((w) => query({ watch: w.view, ...w.args })).join("&")}`);
  source = mine;
  const tell = (e, how) => {
    const w = list[e.lastEventId];
    lost.hidden = true;
    if (watched.includes(w) && w.last !== e.data) how(w, JSON.parse(e.data));
    w.last = e.data;
  };
  const again = () => { mine.close(); if (source === mine) later(check, 1500); };
  mine.addEventListener("open", () => { lost.hidden = true; });
  mine.addEventListener("view", (e) => tell(e, (w, answer) => w.show(answer)));
  mine.addEventListener("problem", (e) => tell(e, (w, answer) => w.fail(new Problem(400, answer.error))));
  mine.addEventListener("end", again);
  mine.addEventListener("error", again);
}
const later = (f, ms) => { clearTimeout(timer); timer = setTimeout(f, ms); };
const check = () => ask("/api/me").then(listen, () => { if (watched.length > 0) later(check, 1500); });
document.addEventListener("visibilitychange", () => listen());

// Calls show(answer) now and whenever the view changes, until the page goes or nobody looks.
export function watch(view, args, show, fail = () => {}) {
  const mine = { view, args, show, fail };
  watched = [...watched, mine];
  later(listen, 0);
  return () => { watched = watched.filter((w) => w !== mine); later(listen, 0); };
}

// Puts new children in place and keeps the keyboard where it was (elements with the same data-key).
export function fill(node, ...children) {
  const key = node.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  node.replaceChildren(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  if (key) [...node.querySelectorAll("[data-key]")].find((e) => e.dataset.key === key)?.focus();
}

// A question in a dialog. content: elements of the form; resolves with the form's data, or null.
export function dialog(title, content, confirm, danger = false) {
  return new Promise((resolve) => {
    const head = h("h2", { id: "dialog-title" }, title);
    const form = h("form", { method: "dialog" }, head, content, h("div", { class: "row" },
      h("button", { type: "button", class: "quiet", onclick: () => box.close() }, "Back"),
      h("button", { type: "submit", class: danger ? "danger" : "" }, confirm)));
    const box = h("dialog", { "aria-labelledby": "dialog-title" }, form);
    let data = null;
    form.addEventListener("submit", (e) => { e.preventDefault(); data = Object.fromEntries(new FormData(form)); box.close(); });
    box.addEventListener("close", () => { box.remove(); resolve(data); });
    document.body.append(box);
    box.showModal();
  });
}

// ---- who ----

function showLogin(text = "") {
  endPage();
  top.hidden = true;
  document.title = "Log in · Procession";
  const said = h("p", { class: "said", role: "alert", hidden: !text }, text);
  const login = h("input", { name: "login", autocomplete: "username", required: true, autofocus: true });
  const password = h("input", { name: "password", type: "password", autocomplete: "current-password", required: true });
  const button = h("button", { type: "submit" }, "Log in");
  const form = h("form", {
    onsubmit: async (e) => {
      e.preventDefault();
      button.disabled = true;
      try {
        state.me = await post("login", { login: login.value, password: password.value });
        enter();
      } catch (problem) {
        said.textContent = problem.message;
        said.hidden = false;
        password.value = "";
        password.focus();
      }
      button.disabled = false;
    },
  }, h("label", {}, "Login", login), h("label", {}, "Password", password), said, button);
  main.replaceChildren(h("div", { class: "card login" }, h("img", { src: "/icon.svg", alt: "", width: 44, height: 44 }), h("h1", {}, "Procession"), form));
  login.focus();
}

function leave(text) {
  state.me = null;
  showLogin(text);
}

function enter() {
  top.hidden = false;
  document.getElementById("who").textContent = `${state.me.login} on ${state.me.server}`;
  show();
}

document.getElementById("logout").addEventListener("click", async () => {
  await post("logout").catch(() => {});
  leave("");
});

// ---- pages ----

function endPage() {
  watched = [];
  listen();
  for (const box of document.querySelectorAll("dialog")) box.remove();
}

function show() {
  if (!state.me) return;
  endPage();
  const [, name = "", ...rest] = location.hash.replace(/^#/, "").split("/").map(decodeURIComponent);
  const allowed = pages.filter((p) => !p.needs || p.needs(state.me));
  const page = allowed.find((p) => p.path === name) ?? allowed[0];
  document.title = `${page.title} · Procession`;
  document.getElementById("nav").replaceChildren(...allowed.map((p) => h("a", { href: `#/${p.path}`, "aria-current": p === page ? "page" : null }, p.title)));
  main.replaceChildren();
  page.show(main, ...rest);
}

window.addEventListener("hashchange", () => { show(); main.focus({ preventScroll: true }); });
window.addEventListener("unhandledrejection", (e) => { if (e.reason instanceof Problem) e.preventDefault(); });
ask("/api/me").then((me) => { state.me = me; enter(); }, (problem) => showLogin(problem.status === 401 ? "" : problem.message));
