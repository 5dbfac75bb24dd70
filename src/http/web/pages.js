// The pages. Each draws itself into a node and watches the views it shows; rights are the server's business: what it refuses is said.
import { dialog, fill, get, h, post, rows, state, watch } from "/app.js";
import { bars, lines, timeline } from "/plot.js";

// ---- words and numbers ----

const number = (n) => (n === null || n === undefined ? "–" : Number(n).toLocaleString("en"));
const bytes = (n) => {
  if (n === null || n === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < 4; i++) n /= 1024;
  return `${n < 10 && i ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
};
const seconds = (s) => (s >= 1 ? `${s.toFixed(2)} s` : s >= 0.001 ? `${(s * 1000).toFixed(s < 0.01 ? 1 : 0)} ms` : `${Math.round(s * 1e6)} µs`);
const rate = (n) => (n >= 100 ? number(Math.round(n)) : n.toFixed(n > 0 && n < 10 ? 1 : 0));
const date = (text) => (text ? new Date(`${text}Z`) : null);      // the server's times are UTC
const time = (text) => (text ? h("span", { class: "time", title: `${text} UTC` }, date(text).toLocaleString()) : "–");
const iso = (d) => d.toISOString().slice(0, 19);
const age = (text) => {
  const s = Math.max(0, (Date.now() - date(text)) / 1000);
  return s < 90 ? `${Math.round(s)} s` : s < 5400 ? `${Math.round(s / 60)} min` : s < 129600 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} d`;
};
const mark = (text, kind = "") => h("span", { class: `mark ${kind}` }, text);
const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

// ---- parts ----

const card = (...children) => h("section", { class: "card" }, ...children);
const figure = (value, text) => h("div", { class: "figure" }, h("b", {}, value), h("span", {}, text));
const area = (label, ...children) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
const said = () => h("p", { class: "said", role: "alert", hidden: true });
const say = (node, text, good = false) => { node.textContent = text; node.className = good ? "said good" : "said"; node.hidden = !text; };
const button = (text, key, onclick, kind = "quiet") => h("button", { type: "button", class: `${kind} small`, "data-key": key, onclick }, text);

// On narrow screens a row becomes a small form: each cell knows its head.
function table(label, heads, lines, empty) {
  if (lines.length === 0) return h("p", { class: "soft" }, empty);
  for (const line of lines) [...line.cells].forEach((cell, i) => { cell.dataset.label = heads[i].replace("#", ""); });
  const head = (t) => h("th", { scope: "col", role: "columnheader", class: t.startsWith("#") ? "n" : "" }, t.replace("#", "") || h("span", { class: "unseen" }, "Actions"));
  return area(label, h("table", { role: "table" }, h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map(head))), h("tbody", { role: "rowgroup" }, lines)));
}
const cell = (kind, ...children) => h("td", { role: "cell", class: kind }, ...children);
const row = (...cells) => h("tr", { role: "row" }, cells.map((c) => (c instanceof HTMLTableCellElement ? c : cell("", c))));
const right = (c) => cell("n", c);
const wide = (c) => cell("wide", c);
const whole = (c) => cell("whole", c);      // a line of its own on narrow screens
const actions = (...buttons) => cell("actions", buttons.filter(Boolean));

function progress(label, total, stopped, failed) {
  return h("div", { class: "bar" }, h("progress", { max: Math.max(total, 1), value: stopped, "aria-label": `${label}: ${stopped} of ${total}`, class: failed > 0 ? "bad" : "" }),
    h("span", { class: "soft" }, `${number(stopped)} of ${number(total)}`));
}

// Which database a page shows: a choice when there are several.
function choice(services, path, current) {
  const list = state.me.databases.filter((d) => services.includes(d.service));
  const name = list.find((d) => d.name === current)?.name ?? list[0]?.name;
  const select = h("select", { onchange: (e) => { location.hash = `#/${path}/${encodeURIComponent(e.target.value)}`; } },
    list.map((d) => h("option", { selected: d.name === name }, d.name)));
  return { name, may: list.find((d) => d.name === name)?.execute, label: list.length > 1 ? h("label", {}, "Database", select) : null };
}
const has = (...services) => (me) => me.databases.some((d) => services.includes(d.service));

async function act(node, change, body, done) {
  try {
    const answer = await post(change, body);
    if (answer.status) say(node, answer.messages.join(" ") || "The server refused.");
    else say(node, done, true);
    return !answer.status;
  } catch (problem) {
    say(node, problem.message);
    return false;
  }
}

// ---- Overview ----

function wrong(view) {
  const list = [], of = (name) => view.numbers.filter((n) => n[0] === name);
  const value = (name) => of(name)[0]?.[2];
  for (const d of view.databases) if (d.damage) list.push(["bad", `Database ${d.name} is damaged. ${d.damage === "damaged" ? "" : d.damage}`]);
  const days = (value("procession_certificate_expiry_timestamp_seconds") - Date.now() / 1000) / 86400;
  if (days < 0) list.push(["bad", "The server's certificate has expired: clients that check it are refused."]);
  else if (days < 30) list.push(["", `The server's certificate expires in ${plural(Math.ceil(days), "day")}. Put a new one in place and send SIGHUP.`]);
  for (const [, labels, n] of of("procession_queue_length")) if (n > 100) list.push(["", `${number(n)} calls wait in ${labels.database}.`]);
  for (const [, labels, n] of of("procession_wal_waiting_bytes")) if (n > 512 * 2 ** 20) list.push(["", `The write-ahead log of ${labels.database} has ${bytes(n)} that wait to be checkpointed: a long reader may hold it.`]);
  if (value("procession_memory_used_bytes") > 0.9 * value("procession_memory_limit_bytes")) list.push(["bad", "Clients use more than 90 % of the memory they may have."]);
  if (value("procession_connections") > 0.9 * value("procession_connections_limit")) list.push(["bad", "More than 90 % of all connections are taken."]);
  const last = view.points.at(-1);
  if (last && last[4] > 0.05 * last[1] && last[4] > 1) list.push(["", `${rate(last[4])} of ${rate(last[1])} calls a second end with an error.`]);
  return list;
}

const plots = [
  ["Calls a second", (p) => [p[0], p[1]], (p) => rate(p[1]), rate],
  ["Latency", (p) => [p[0], p[2], p[3]], (p) => [h("span", { class: "key1" }, `p50 ${seconds(p[2])}`), " ", h("span", { class: "key2" }, `p99 ${seconds(p[3])}`)], seconds],
  ["Errors a second", (p) => [p[0], p[4]], (p) => rate(p[4]), rate],
  ["Calls that wait", (p) => [p[0], p[5]], (p) => number(p[5]), number],
  ["Sessions", (p) => [p[0], p[6]], (p) => number(p[6]), number],
];

// What a database holds, by the numbers that the server keeps by counting; those of documents that have ended come last.
const ORDER = ["waiting", "running", "unsubmitted", "failed", "canceled", "succeeded", "enabled", "disabled"];
function holds(d, numbers) {
  const of = (name) => numbers.filter((n) => n[0] === name && n[1].database === d.name);
  const [items] = of("procession_state_items"), [held] = of("procession_state_bytes"), [locks] = of("procession_state_locks");
  if (items) return `${plural(items[2], "item")}, ${bytes(held?.[2] ?? 0)}, ${plural(locks?.[2] ?? 0, "lock")}`;
  const list = [...of("procession_job_items"), ...of("procession_scheduled_jobs")];
  if (list.length === 0) return "–";
  const some = list.filter((n) => n[2] > 0).sort((a, b) => ORDER.indexOf(a[1].state) - ORDER.indexOf(b[1].state));
  return some.map((n) => `${number(n[2])} ${n[1].state}`).join(", ") || "nothing";
}

function overview(node) {
  let points = [];
  const words = h("ul", { class: "words", "aria-live": "polite" }), figures = h("div", { class: "figures" }), grid = h("div", { class: "grid" }), databases = card();
  node.append(h("h1", {}, "Overview"), figures, card(h("h2", {}, "What is wrong now"), words), grid, databases);
  const draw = () => {
    if (points.length === 0) return;
    const to = points.at(-1)[0], last = points.at(-1), from = Math.max(to - 3600, Math.min(points[0][0], to - 60));
    fill(grid, plots.map(([title, pick, now, format]) => card(h("div", { class: "plothead" }, h("h2", {}, title), h("b", {}, now(last))),
      ...lines(`${title}, the last hour; now ${[now(last)].flat().map((x) => x.textContent ?? x).join("")}`, points.map(pick), from, to, format))));
  };
  const show = (view) => {
    const value = (name) => view.numbers.find((n) => n[0] === name)?.[2];
    const { monitor } = view, list = wrong(view);
    fill(words, list.length ? list.map(([kind, text]) => h("li", { class: kind }, text)) : [h("li", { class: "good" }, monitor ? "Nothing: every database is served, nothing waits too long." : "Nothing that this login can see.")]);
    for (const p of view.points) if (!points.length || p[0] > points.at(-1)[0]) points.push(p);
    points = points.slice(-720);
    if (monitor) {
      const last = points.at(-1);
      fill(figures, figure(last ? rate(last[1]) : "–", "calls a second"), figure(last ? seconds(last[3]) : "–", "p99 of a call"),
        figure(number(value("procession_connections")), "connections"), figure(bytes(value("process_resident_memory_bytes")), "memory"),
        figure(age(iso(new Date(value("procession_start_time_seconds") * 1000))), "up"));
      draw();
    }
    const of = (name, d) => view.numbers.find((n) => n[0] === name && n[1].database === d.name)?.[2];
    fill(databases, h("h2", {}, "Databases"), table("Databases", ["Name", "Service", "State", "#Size", "#WAL", "#Calls waiting", "Holds"], view.databases.map((d) => row(
      d.name, d.service, d.damage ? mark("damaged", "bad") : mark("online", "good"), right(bytes(of("procession_database_file_bytes", d))),
      right(bytes(of("procession_wal_bytes", d))), right(number(of("procession_queue_length", d))), whole(holds(d, view.numbers)))),
    "This login may enter no database. An administrator grants it: procession grant."));
  };
  if (state.me.monitor) get("history").then((a) => { points = [...a.points, ...points.filter((p) => p[0] > (a.points.at(-1)?.[0] ?? 0))]; draw(); }, () => {});
  else grid.append(card(h("p", { class: "soft" }, "Numbers of the server are shown to logins with the right monitor.")));
  watch("overview", {}, show);
}

// ---- Jobs ----

const jobState = (j) => (j.CancelTime ? ["cancelled", "warn"] : !j.Submitted ? ["open", ""] : j.Unfinished > 0 ? ["active", "good"] : ["finished", ""]);
const WINDOWS = 5;
const ages = [["", "any age"], [1, "last hour"], [24, "last day"], [168, "last week"], [720, "last month"]];

function jobs(node, database, id) {
  const db = choice(["word", "translation"], "jobs", database);
  if (id) { job(node, db, id); return; }
  const filter = { state: "", name: "", partition: "", hours: "" };
  const out = h("div"), note = said(), failures = card(), counts = new Map();
  let before = [], stop = null, turn = 0, further = null;
  const field = (key, control) => { control.addEventListener(control.tagName === "SELECT" ? "change" : "input", () => { filter[key] = control.value.trim(); before = []; restart(); }); return control; };
  const cancelAll = button("Cancel all of this partition", "all", () => cancelPartition(), "danger");
  cancelAll.hidden = true;
  node.append(h("div", { class: "row" }, h("h1", {}, "Jobs"), db.label,
    h("label", {}, "State", field("state", h("select", {}, h("option", { value: "" }, "all"), ["active", "finished", "cancelled", "open"].map((s) => h("option", { value: s }, s))))),
    h("label", {}, "Name contains", field("name", h("input", { type: "search" }))),
    h("label", {}, "Partition", field("partition", h("input", { type: "search", placeholder: "GUID" }))),
    h("label", {}, "Age", field("hours", h("select", {}, ages.map(([v, t]) => h("option", { value: v }, t)))))), note, card(out, cancelAll), failures);

  const args = () => ({
    db: db.name, before: before.at(-1), partition: filter.partition,
    name: filter.name && `%${filter.name.replace(/[[%_]/g, "[$&]")}%`, since: filter.hours && iso(new Date(Date.now() - filter.hours * 3600e3)),
  });
  const view = () => (filter.state ? `jobs_${filter.state}` : filter.name || filter.partition || filter.hours ? "jobs_any" : "jobs");
  const count = async (list) => {
    const answer = await get("job_counts", { db: db.name, ...Object.fromEntries(list.map((j, i) => [`j${i}`, j.JobId])) });
    for (const c of rows(answer)) counts.set(String(c.JobId), c);
  };
  // What fits is looked for in windows of so many jobs: where the newest hold less than a page, older ones are looked through, some windows at a time.
  const search = async (from, windows) => {
    const began = Date.now(), found = { rows: from.rows ?? [], end: from.end, looked: from.looked, windows: from.windows ?? 0 };
    for (let n = 0; n < windows && found.end.More && from.have + found.rows.length <= 25; n++, found.windows++) {
      const answer = await get(view(), { ...args(), before: found.end.Low });
      found.rows = [...found.rows, ...rows(answer)];
      [found.end] = rows(answer, 1);
      found.looked += found.end.Looked;
    }
    return { ...found, again: Date.now() + 10 * (Date.now() - began) };
  };
  const searchOn = async (first, end) => {
    const mine = turn, found = await search({ ...further, have: first.length }, WINDOWS);
    if (mine === turn) { further = found; await draw(first, end); }
  };
  const show = async (answer) => {
    const first = rows(answer), [end] = rows(answer, 1), mine = turn;
    if (end && (!further || further.again < Date.now())) {
      const found = await search({ end, looked: end.Looked, have: first.length }, further?.windows || WINDOWS);
      if (mine !== turn) return;
      further = found;
    }
    if (mine === turn) await draw(first, end);
  };
  const draw = async (first, end) => {
    const mine = turn, fits = end ? [...first, ...further.rows] : first, list = fits.slice(0, 25), more = fits.length > 25;
    const uncounted = list.length ? await count(list).then(() => "", (problem) => problem.message) : "";
    if (mine !== turn) return;      // something else is asked by now
    fill(out, table("Jobs", ["Job", "Name", "State", "Progress", "#Failed", "Created", ""], list.map((j) => {
      const c = counts.get(String(j.JobId)) ?? (uncounted ? null : { Items: 0, Stopped: 0, Failed: 0 }), [text, kind] = jobState(j);
      return row(h("a", { href: `#/jobs/${encodeURIComponent(db.name)}/${j.JobId}`, "data-key": `j${j.JobId}` }, String(j.JobId)), wide(j.Name ?? "–"), mark(text, kind),
        whole(c ? progress(`Job ${j.JobId}`, c.Items, c.Stopped, c.Failed) : "–"), right(number(c?.Failed)), time(j.CreateTime),
        actions(db.may && !j.CancelTime && (j.Unfinished > 0 || !j.Submitted) && button("Cancel", `c${j.JobId}`, () => cancel(j), "danger")));
    }), "No job fits."), uncounted && h("p", { class: "said" }, `Items were not counted: ${uncounted}`),
    h("div", { class: "row" }, before.length > 0 && button("Newest", "first", () => { before = []; restart(); }),
      more && button("Older", "older", () => { before.push(list.at(-1).JobId); restart(); }),
      end && !more && further.end.More && [button("Search on", "on", () => searchOn(first, end)), h("span", { class: "soft", role: "status" }, `${number(further.looked)} jobs were looked through, back to job ${further.end.Low}.`)]));
  };
  const cancel = async (j) => {
    if (await dialog(`Cancel job ${j.JobId}?`, h("p", {}, "Items that have not started are not worked on any more."), "Cancel the job", true))
      await act(note, "cancel", { db: db.name, id: String(j.JobId), partition: j.PartitionId }, `Job ${j.JobId} is cancelled.`);
  };
  const cancelPartition = async () => {
    if (!(await dialog("Cancel all jobs of this partition?", h("p", {}, `Every job of ${filter.partition} that still has work is cancelled.`), "Cancel all", true))) return;
    let n = 0;
    for (const name of ["jobs_active", "jobs_open"]) {
      for (let from, more = true; more;) {
        const answer = await get(name, { db: db.name, partition: filter.partition, before: from }), list = rows(answer), [end] = rows(answer, 1);
        for (const j of list) { if (!(await act(note, "cancel", { db: db.name, id: String(j.JobId), partition: j.PartitionId }, ""))) return; n++; }
        [from, more] = list.length > 25 ? [list.at(-1).JobId, true] : [end.Low, end.More];
      }
    }
    say(note, `${plural(n, "job")} cancelled.`, true);
  };
  const restart = () => {
    const whole = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(filter.partition);
    cancelAll.hidden = !whole || !db.may;
    if (filter.partition && !whole) return;
    stop?.();
    turn++;
    further = null;
    stop = watch(view(), args(), show, (problem) => { fill(out, h("p", { class: "said" }, problem.message)); });
  };
  restart();
  watch("failures", { db: db.name, since: iso(new Date(Date.now() - 7 * 86400e3)) }, (answer) => fill(failures, h("h2", {}, "Failures of the last seven days, by error"), h("p", { class: "soft" }, "In the newest 20,000 jobs."),
    table("Failures", ["#Error", "#Items", "#Jobs", "Last", "Last job"], rows(answer).map((f) => row(right(String(f.ErrorCode)), right(number(f.Items)), right(number(f.Jobs)), time(f.Last),
      h("a", { href: `#/jobs/${encodeURIComponent(db.name)}/${f.LastJob}` }, String(f.LastJob)))), "No item has failed.")), (problem) => fill(failures, h("h2", {}, "Failures of the last seven days, by error"), h("p", { class: "said" }, problem.message)));
}

function job(node, db, id) {
  const note = said(), head = card(), groups = card(), items = h("div"), at = [];
  let failed = false, stop = null;
  const only = h("input", { type: "checkbox", onchange: (e) => { failed = e.target.checked; at.length = 0; restart(); } });
  node.append(h("div", { class: "row" }, h("h1", {}, `Job ${id}`), h("a", { href: `#/jobs/${encodeURIComponent(db.name)}` }, `All jobs of ${db.name}`)), note, head, groups,
    card(h("div", { class: "row" }, h("h2", {}, "Items"), h("label", { class: "check" }, only, "only failed ones")), items));
  watch("job", { db: db.name, id }, (answer) => {
    const [j] = rows(answer), [c] = rows(answer, 2);
    if (!j) { fill(head, h("p", {}, "There is no such job.")); return; }
    const [text, kind] = jobState(j);
    fill(head, h("dl", {}, h("dt", {}, "Name"), h("dd", {}, j.Name ?? "–"), h("dt", {}, "State"), h("dd", {}, mark(text, kind)), h("dt", {}, "Created"), h("dd", {}, time(j.CreateTime)),
      h("dt", {}, "Cancelled"), h("dd", {}, time(j.CancelTime)), h("dt", {}, "Partition"), h("dd", {}, j.PartitionId ?? "none"),
      h("dt", {}, "Progress"), h("dd", {}, progress(`Job ${id}`, c.Items, c.Stopped, c.Failed)), h("dt", {}, "Failed"), h("dd", {}, plural(c.Failed ?? 0, "item"))),
    db.may && !j.CancelTime && (j.Unfinished > 0 || !j.Submitted) && h("div", { class: "row" }, button("Cancel this job", "cancel", async () => {
      if (await dialog(`Cancel job ${id}?`, h("p", {}, "Items that have not started are not worked on any more."), "Cancel the job", true))
        await act(note, "cancel", { db: db.name, id, partition: j.PartitionId }, `Job ${id} is cancelled.`);
    }, "danger")));
    fill(groups, h("h2", {}, "Groups"), table("Groups", ["#Group", "From", "To"], rows(answer, 1).map((g) => row(right(g.GroupId), wide(g.InputRoot ?? "–"), wide(g.OutputRoot ?? "–"))), "The job has no group."));
  }, (problem) => say(note, problem.message));
  const itemState = (i) => (i.ErrorCode ? ["failed", "bad"] : i.StopTime ? ["done", "good"] : i.StartTime ? ["at work", "warn"] : ["waits", ""]);
  const restart = () => {
    stop?.();
    const last = at.at(-1);
    stop = watch("items", { db: db.name, id, group: last?.GroupId, item: last?.ItemId, failed: failed ? 1 : 0 }, (answer) => {
      const list = rows(answer).slice(0, 100), more = rows(answer).length > 100;
      fill(items, table("Items", ["#Group", "#Item", "Document", "State", "Started", "Stopped", "#Attempts left", "#Error", "Why", "Worker"], list.map((i) => row(right(i.GroupId), right(i.ItemId), wide(i.InputFile),
        mark(...itemState(i)), time(i.StartTime), time(i.StopTime), right(i.AttemptsRemaining), right(i.ErrorCode ?? "–"), wide(i.Reason ?? "–"), cell("soft", i.WorkerServerInstance?.slice(0, 8) ?? "–"))), "No item fits."),
      h("div", { class: "row" }, at.length > 0 && button("First", "first", () => { at.length = 0; restart(); }), more && button("Next", "next", () => { at.push(list.at(-1)); restart(); })));
    });
  };
  restart();
}

// ---- Schedules ----

const NEVER = "9999-12-31T23:59:59.997";
const guid = () => crypto.randomUUID?.() ?? "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (c) => (+c ^ (crypto.getRandomValues(new Uint8Array(1))[0] & (15 >> (+c / 4)))).toString(16));

function editor(s, classes) {
  const said = h("p", { class: "soft", role: "status" }), list = h("ol", { class: "times" });
  let timer = 0;
  const due = h("input", { name: "due", type: "datetime-local", step: "1", required: true, value: s.NextDueTime && s.NextDueTime < "9999" ? s.NextDueTime.slice(0, 19) : iso(new Date(Date.now() + 60e3)) });
  const check = async () => {
    list.replaceChildren();
    if (!recurrence.value.trim()) { recurrence.setCustomValidity(""); said.textContent = "Without a recurrence it runs once."; return; }
    try {
      const { times } = await get("occurrences", { recurrence: recurrence.value, due: due.value });
      recurrence.setCustomValidity("");
      said.textContent = "It would run at:";
      list.replaceChildren(...times.map((t) => h("li", {}, `${t.replace("T", " ").slice(0, 19)} UTC`)));
    } catch (problem) {
      recurrence.setCustomValidity(problem.message);
      said.textContent = problem.message;
    }
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(check, 150); };
  const recurrence = h("input", { name: "recurrence", value: s.Recurrence ?? "", placeholder: "daily at 01:00:00", maxlength: 64, oninput: soon });
  due.addEventListener("input", soon);
  check();
  return [h("label", {}, "Name", h("input", { name: "name", value: s.DisplayName ?? "", maxlength: 256, required: true })),
    h("label", {}, "Class", h("select", { name: "class" }, classes.map(([name, , cls]) => h("option", { value: cls, selected: cls === s.Class }, name)))),
    h("div", { class: "pair" }, h("label", {}, "Recurrence", recurrence), h("label", {}, "Next time (UTC)", due)), said, list,
    h("label", {}, "Data", h("textarea", { name: "data" }, s.JobData ?? ""))];
}

// How a run ended: what ran to its end, what was left out on purpose, what went wrong.
const outcome = (r) => [r.Outcome, r.Outcome === "ok" ? "good" : ["skipped", "withdrawn", "stopped"].includes(r.Outcome) ? "warn" : "bad"];
const lasted = (s) => (s >= 600 ? `${Math.round(s / 60)} min` : `${s.toFixed(s > 0 && s < 10 ? 1 : 0)} s`);
const lately = (list) => (list.length ? h("span", { class: "runs", role: "img", "aria-label": `Last runs: ${list.slice(0, 10).map((r) => `${r.Outcome} ${date(r.EndTime).toLocaleString()}`).join("; ")}` },
  list.slice(0, 10).reverse().map((r) => h("span", { class: `dot ${outcome(r)[1]}`, title: `${r.Outcome}, ${date(r.EndTime).toLocaleString()}` })), ` ${list[0].Outcome} ${age(list[0].EndTime)} ago`) : "–");

function schedules(node, database) {
  const db = choice(["schedule"], "schedules", database), note = said(), out = card(), last = card(), times = new Map();
  let classes = [], shown = null, runs = [];
  get("classes").then((list) => { classes = list; }, () => {});
  const values = (s, form) => ({ db: db.name, id: s.JobId, assembly: classes.find((c) => c[2] === form.class)[1], class: form.class, recurrence: form.recurrence.trim() || null, data: form.data || null, due: s.Disabled ? NEVER : form.due.slice(0, 19), disabled: Boolean(s.Disabled), name: form.name });
  const add = async () => { const form = await dialog("Add a scheduled job", editor({}, classes), "Add"); if (form) await act(note, "schedule_add", values({ JobId: guid() }, form), `${form.name} is added.`); };
  const edit = async (s) => { const form = await dialog(`Edit ${s.DisplayName ?? s.JobId}`, editor(s, classes), "Save"); if (form) await act(note, "schedule_edit", values(s, form), `${form.name} is changed.`); };
  const same = (s) => ({ db: db.name, id: s.JobId, assembly: s.Assembly, class: s.Class, recurrence: s.Recurrence, data: s.JobData, name: s.DisplayName });
  const disable = (s) => act(note, "schedule_edit", { ...same(s), due: NEVER, disabled: true }, `${s.DisplayName} is disabled.`);
  const enable = async (s) => {
    const next = s.Recurrence ? (await get("occurrences", { recurrence: s.Recurrence })).times[0] : iso(new Date(Date.now() + 5000));
    await act(note, "schedule_edit", { ...same(s), due: next.slice(0, 19), disabled: false }, `${s.DisplayName} is enabled.`);
  };
  const run = (s) => act(note, "schedule_run", { db: db.name, id: s.JobId, due: iso(new Date(Date.now() + 2000)) }, `${s.DisplayName} is due now: a scheduler takes it.`);
  node.append(h("div", { class: "row" }, h("h1", {}, "Schedules"), db.label, db.may && h("button", { type: "button", onclick: add }, "Add a job")), note, out, last);
  const draw = (list) => fill(out, table("Scheduled jobs", ["Name", "Class", "Recurrence", "Next", "Next ten occurrences", "Last runs", ""], list.map((s) => {
    const at = s.Disabled ? [] : times.get(`${s.Recurrence} ${s.NextDueTime}`) ?? [date(s.NextDueTime)], name = s.DisplayName ?? s.JobId;
    return row(wide(h("b", {}, name)), wide(s.Class.split(".").at(-1)), s.Recurrence ?? "once", s.Disabled ? mark("disabled", "warn") : time(s.NextDueTime),
      whole(at.length ? timeline(`Next: ${at.map((t) => t.toLocaleString()).join("; ")}`, at) : "–"),
      lately(runs.filter((r) => r.JobId === s.JobId)),
      actions(db.may && !s.Disabled && button("Run now", `r${s.JobId}`, () => run(s)), db.may && button("Edit", `e${s.JobId}`, () => edit(s)),
        db.may && (s.Disabled ? button("Enable", `d${s.JobId}`, () => enable(s)) : button("Disable", `d${s.JobId}`, () => disable(s)))));
  }), "No job is scheduled."));
  watch("schedules", { db: db.name }, async (answer) => {
    const list = rows(answer);
    shown = list;
    draw(list);
    for (const s of list.filter((x) => !x.Disabled && x.Recurrence && !times.has(`${x.Recurrence} ${x.NextDueTime}`)).slice(0, 50))
      times.set(`${s.Recurrence} ${s.NextDueTime}`, await get("occurrences", { recurrence: s.Recurrence, due: s.NextDueTime }).then((a) => a.times.map(date), () => [date(s.NextDueTime)]));
    draw(list);
  }, (problem) => say(note, problem.message));
  watch("schedule_runs", { db: db.name }, (answer) => {
    runs = rows(answer);
    if (shown) draw(shown);
    fill(last, h("h2", {}, "Last runs"), table("Last runs", ["Ended", "Job", "Outcome", "#Exit status", "#Took", "#Late", "Scheduler"], runs.slice(0, 20).map((r) => row(time(r.EndTime),
      wide(r.DisplayName ?? r.JobId), mark(...outcome(r)), right(r.ExitStatus === null || r.ExitStatus < 0 ? "–" : r.ExitStatus), right(lasted((date(r.EndTime) - date(r.StartTime)) / 1000)),
      right(lasted(Math.max(0, date(r.StartTime) - date(r.DueTime)) / 1000)), r.Scheduler ?? "–")), "No scheduler has told of a run yet."));
  }, (problem) => fill(last, h("h2", {}, "Last runs"), h("p", { class: "said" }, problem.message)));
}

// ---- State ----

function stateItems(node, database) {
  const db = choice(["state"], "state", database), note = said(), figures = h("div", { class: "figures" }), ahead = card(), locks = card();
  node.append(h("div", { class: "row" }, h("h1", {}, "State"), db.label), note, figures, ahead, locks);
  let oldest = null, kept = null, counting = null;
  const show = () => kept && fill(figures, figure(number(kept.Items), "items"), figure(bytes(kept.Bytes ?? 0), "of data"), figure(number(kept.Locks ?? 0), "locks"), figure(oldest ? age(oldest) : "–", "oldest lock"));
  // The server keeps them by counting; where it does not know them yet, the items are counted here.
  watch("content", { db: db.name }, (answer) => {
    const of = (name) => answer.numbers.find((n) => n[0] === `procession_state_${name}`)?.[2];
    if (of("items") === undefined) { counting ??= watch("state", { db: db.name }, (counted) => { [kept] = rows(counted); show(); }, (problem) => say(note, problem.message)); return; }
    counting?.();
    counting = null;
    kept = { Items: of("items"), Bytes: of("bytes"), Locks: of("locks") };
    show();
  }, (problem) => say(note, problem.message));
  watch("state_expirations", { db: db.name }, (answer) => {
    const list = rows(answer).map((r) => [r.Hours, r.Items]), last = Math.max(24, ...list.map((x) => x[0]));
    const step = Math.ceil((last + 1) / 60), data = [];
    for (let at = 0; at <= last; at += step) data.push([`in ${at} to ${at + step} h`, list.filter(([hour]) => Math.max(hour, 0) >= at && Math.max(hour, 0) < at + step).reduce((sum, x) => sum + x[1], 0)]);
    const all = data.reduce((sum, d) => sum + d[1], 0), first = data[0][1];
    fill(ahead, h("h2", {}, "Expirations ahead"), bars(`Items by the hours until they expire: ${all} in all, ${first} within ${plural(step, "hour")}`, data),
      h("div", { class: "plothead soft" }, h("span", {}, "now"), h("span", {}, `${plural(first, "item")} within ${plural(step, "hour")}`), h("span", {}, `in ${plural(last + 1, "hour")}`)));
  }, (problem) => say(note, problem.message));
  watch("state_locks", { db: db.name }, (answer) => { oldest = rows(answer)[0]?.LockTime ?? null; show(); fill(locks, h("h2", {}, "Oldest locks"), table("Oldest locks", ["Locked", "#Age", "#Time-out", "Expires"], rows(answer).map((l) => row(time(l.LockTime), right(age(l.LockTime)),
    right(`${l.TimeoutMinutes} min`), time(l.Expires))), "No item is locked.")); }, (problem) => say(note, problem.message));
}

// ---- Sessions ----

function sessions(node) {
  const note = said(), out = card();
  node.append(h("h1", {}, "Sessions"), note, out);
  const end = async (s) => {
    if (await dialog(`End session ${s.session_id}?`, h("p", {}, `${s.login_name} from ${s.client_net_address}: what it runs is stopped, its transaction rolled back.`), "End it", true))
      await act(note, "kill", { session: s.session_id }, `Session ${s.session_id} is ended.`);
  };
  watch("sessions", {}, (answer) => fill(out, table("Sessions", ["#Session", "Login", "From", "Program", "Database", "Doing", "For", "Since", ""], rows(answer).map((s) => {
    const own = s.session_id === state.me.session;
    return row(right(s.session_id), s.login_name, `${s.client_net_address}${s.encrypt_option === "TRUE" ? " · TLS" : ""}`, wide([s.program_name, s.host_name].filter(Boolean).join(" on ") || "–"), s.database_name ?? "–",
      s.command && s.status !== "sleeping" ? [mark(s.command, "good"), s.blocking_session_id ? ` waits for ${s.blocking_session_id}` : ""] : mark("idle"), age(s.last_request_start_time), time(s.login_time),
      actions(own ? mark("you") : state.me.admin && button("End", `k${s.session_id}`, () => end(s), "danger")));
  }), "Nobody is here.")), (problem) => say(note, problem.message));
}

// ---- Logins ----

const RIGHTS = ["none", "execute", "select", "execute,select"];

function logins(node) {
  const note = said(), out = card(), grants = card();
  const add = async () => {
    const form = await dialog("Add a login", [h("label", {}, "Name", h("input", { name: "name", required: true, maxlength: 128, autocomplete: "off" })),
      h("label", {}, "Password (8 characters or more)", h("input", { name: "password", type: "password", required: true, minlength: 8, maxlength: 128, autocomplete: "new-password" })),
      h("label", { class: "check" }, h("input", { name: "admin", type: "checkbox", value: "1" }), "Administrator")], "Add");
    if (form) await act(note, "login_add", { name: form.name, password: form.password, admin: form.admin === "1" }, `${form.name} is added. Give it rights below.`);
  };
  const grant = async (login, database, rights) => act(note, "grant", { login, database, rights }, `${login} may ${rights === "none" ? "do nothing" : rights.replace(",", " and ")} in ${database}.`);
  node.append(h("div", { class: "row" }, h("h1", {}, "Logins and rights"), h("button", { type: "button", onclick: add }, "Add a login")), note, out, grants);
  watch("logins", {}, (answer) => {
    const all = rows(answer), given = rows(answer, 1);
    fill(out, h("h2", {}, "Logins"), table("Logins", ["Name", "Kind", "State", "Default database", "Changed", ""], all.map((l) => row(h("b", {}, l.name), l.admin ? mark("administrator", "good") : "login",
      l.disabled ? mark("disabled", "warn") : mark("enabled"), l.default_database ?? "–", time(l.changed),
      actions(button(l.disabled ? "Enable" : "Disable", `d${l.name}`, () => act(note, "login_disable", { name: l.name, disabled: !l.disabled }, `${l.name} is ${l.disabled ? "enabled" : "disabled"}.`), l.disabled ? "quiet" : "danger")))), "There is none."));
    const others = all.filter((l) => !l.admin), names = ["master", ...state.me.databases.map((d) => d.name)];
    const pick = (login, database, options) => {
      const now = given.find((g) => g.login === login && g.database === database)?.rights ?? "none";
      const list = options.includes(now) ? options : [...options, now];
      return h("select", { "aria-label": `Rights of ${login} in ${database}`, "data-key": `g${login}/${database}`, onchange: (e) => grant(login, database, e.target.value) }, list.map((r) => h("option", { selected: r === now }, r)));
    };
    fill(grants, h("h2", {}, "Rights"), table("Rights", ["Login", ...names], others.map((l) => row(h("b", {}, l.name), ...names.map((d) => pick(l.name, d, d === "master" ? ["none", "monitor"] : RIGHTS)))),
      "Administrators may do everything; there are no other logins yet."));
  }, (problem) => say(note, problem.message));
}

export const pages = [
  { path: "", title: "Overview", show: overview },
  { path: "jobs", title: "Jobs", show: jobs, needs: has("word", "translation") },
  { path: "schedules", title: "Schedules", show: schedules, needs: has("schedule") },
  { path: "state", title: "State", show: stateItems, needs: has("state") },
  { path: "sessions", title: "Sessions", show: sessions },
  { path: "logins", title: "Logins", show: logins, needs: (me) => me.admin },
];
