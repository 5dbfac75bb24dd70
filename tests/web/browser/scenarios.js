// What a person does in the dashboard. Each scenario waits for what it sees, never for a time.
"use strict";
const assert = require("assert");
const fs = require("fs");
const axeSource = require("axe-core").source;

async function logIn(page, url, login, password) {
  await page.goto(url);
  await page.getByLabel("Login").fill(login);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
}

async function enter(page, url, o) {
  await logIn(page, url, o.login ?? "sa", o.password);
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
}

const open = async (page, name) => {
  await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1 }).first().waitFor();
};
const shot = async (page, o, name) => { if (o.shots) await page.screenshot({ path: `${o.shots}/${name}.png`, fullPage: true }); };
const seen = (page, text) => page.getByText(text).first().waitFor();

async function axe(page, where, found) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  for (const v of violations) found.push(`${where}: ${v.id} (${v.impact}): ${v.nodes.map((n) => n.html).slice(0, 2).join(" | ")}`);
}

// axe comes as a script of the test, which the page's own policy would refuse.
async function axeAllowed(page) {
  await page.route("**/*", async (route) => {
    if (route.request().resourceType() !== "document") return route.continue();
    const answer = await route.fetch();
    const headers = { ...answer.headers() };
    delete headers["content-security-policy"];
    return route.fulfill({ response: answer, headers });
  });
}

const PAGES = [
  ["Overview", (page) => page.getByRole("region", { name: "Databases" })],
  ["Jobs", (page) => page.getByRole("region", { name: "Jobs" })],
  ["Schedules", (page) => page.getByRole("region", { name: "Last runs" })],
  ["State", (page) => page.getByRole("img", { name: /Items by the hours/ })],
  ["Sessions", (page) => page.getByRole("region", { name: "Sessions" })],
  ["Logins", (page) => page.getByRole("region", { name: "Rights" })],
];

module.exports = {
  async wrongPassword(page, url, o) {
    await logIn(page, url, "sa", "wrong");
    await page.getByRole("alert").filter({ hasText: "Login or password is wrong." }).waitFor();
    await page.getByLabel("Password").fill(o.password);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const cookies = await page.context().cookies();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("Login").waitFor();
    await page.reload();
    await page.getByLabel("Login").waitFor();
    return cookies;
  },

  // Every page with data behind it: seen, checked by axe, pictured.
  async everyPage(page, url, o) {
    const found = [];
    if (o.axe) await axeAllowed(page);
    await page.goto(url);
    await page.getByRole("heading", { level: 1 }).waitFor();        // the page is made by its script
    if (o.axe) await axe(page, "Log in", found);
    await enter(page, url, o);
    await page.getByRole("img", { name: /Calls a second/ }).waitFor();
    for (const [name, ready] of PAGES) {
      await open(page, name);
      await ready(page).first().waitFor();
      if (name === "Overview") await page.getByRole("img", { name: /Calls a second/ }).waitFor();
      if (o.axe) await axe(page, name, found);
      await shot(page, o, `dashboard-${name.toLowerCase()}${o.suffix ?? ""}`);
      const width = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(width, 0, `${name} is wider than the window`);
    }
    await open(page, "Jobs");
    await page.getByRole("region", { name: "Jobs" }).getByRole("link", { name: "36", exact: true }).click();
    await page.getByRole("region", { name: "Items" }).getByText("no room on the disk").waitFor();
    if (o.axe) await axe(page, "one job", found);
    await shot(page, o, `dashboard-job${o.suffix ?? ""}`);
    await open(page, "Schedules");
    await page.getByRole("button", { name: "Add a job" }).click();
    await page.getByLabel("Recurrence").fill("daily at 1");
    await seen(page, "Not a recurrence.");
    await page.getByLabel("Recurrence").fill("daily at 01:00:00");
    await seen(page, "It would run at:");
    if (o.axe) await axe(page, "add a scheduled job", found);
    await shot(page, o, `dashboard-schedule${o.suffix ?? ""}`);
    return found;
  },

  // What each database holds, as the Overview and the page State tell it.
  async content(page, url, o) {
    await enter(page, url, o);
    const table = page.getByRole("region", { name: "Databases" });
    await table.getByText(o.until).first().waitFor();
    const cells = {};
    for (const line of (await table.getByRole("row").all()).slice(1)) {
      const texts = await line.getByRole("cell").allTextContents();
      cells[texts[0]] = { size: texts[3], holds: texts.at(-1) };
    }
    if (!o.state) return { cells };
    await open(page, "State");
    await page.locator(".figure").nth(3).waitFor();
    await page.getByRole("region", { name: "Oldest locks" }).waitFor();
    return { cells, figures: await page.locator(".figure b").allTextContents() };
  },

  // The words on the Overview, once they tell what is waited for.
  async wrongNow(page, url, o) {
    await enter(page, url, o);
    await seen(page, o.until);
    return page.getByText(o.until).first().textContent();
  },

  async plotsMove(page, url, o) {
    await enter(page, url, o);
    const plot = page.getByRole("img", { name: /Calls a second/ });
    await plot.waitFor();
    const path = () => page.locator(".plot path").nth(1).getAttribute("d");
    const first = await path();
    while ((await path()) === first) await page.waitForTimeout(200);
    return plot.getAttribute("aria-label");
  },

  // Each filter of the page Jobs, and what is shown then: the jobs that are expected, or it says which were.
  async filters(page, url, o) {
    await enter(page, url, o);
    await open(page, "Jobs");
    const table = page.getByRole("region", { name: "Jobs" });
    const shown = async () => (await table.getByRole("link").allTextContents()).map(Number);
    await table.getByRole("link", { name: "40", exact: true }).waitFor();
    for (const { state = "", name = "", partition = "", age = "any age", jobs } of o.filters) {
      await page.getByLabel("State").selectOption(state);
      await page.getByLabel("Name contains").fill(name);
      await page.getByLabel("Partition").fill(partition);
      await page.getByLabel(/^Age/).selectOption({ label: age });
      const deadline = Date.now() + 30000, same = async () => String(await shown()) === String(jobs);
      while (!(await same()) && Date.now() < deadline) await page.waitForTimeout(50);
      assert.deepEqual(await shown(), jobs, `state '${state}', name '${name}', partition '${partition}', ${age}`);
    }
  },

  // The documents of a job with more of them than a page has.
  async items(page, url, o) {
    await enter(page, url, o);
    await open(page, "Jobs");
    await page.getByLabel("Database").selectOption("Translation");
    await page.getByRole("region", { name: "Jobs" }).getByRole("link", { name: String(o.job), exact: true }).click();
    await page.getByRole("heading", { name: `Job ${o.job}` }).waitFor();
    const table = page.getByRole("region", { name: "Items" });
    const shown = async (some) => {
      await table.getByRole("cell", { name: `in${some[0]}.docx`, exact: true }).waitFor();
      const cells = await table.locator("tbody tr td:nth-child(2)").allTextContents();
      assert.deepEqual(cells.map(Number), some);
    };
    const from = (a, b) => Array.from({ length: b - a + 1 }, (_, i) => a + i);
    const only = page.getByLabel("only failed ones");
    await shown(from(1, 100));
    await page.getByRole("button", { name: "Next" }).click();
    await shown(from(101, o.items));
    assert.equal(await page.getByRole("button", { name: "Next" }).count(), 0);
    await page.getByRole("button", { name: "First" }).click();
    await shown(from(1, 100));
    await only.check();
    await table.getByRole("cell", { name: "in1.docx", exact: true }).waitFor({ state: "detached" });
    await shown(o.failed);
    const reasons = await table.getByText("no room on the disk").count();
    await only.uncheck();
    await shown(from(1, 100));
    return reasons;
  },

  async jobs(page, url, o) {
    await enter(page, url, o);
    await open(page, "Jobs");
    const table = page.getByRole("region", { name: "Jobs" });
    await table.getByRole("link", { name: "40", exact: true }).waitFor();
    const first = await table.getByRole("row").count();
    await page.getByRole("button", { name: "Older" }).click();
    await table.getByRole("link", { name: "1", exact: true }).waitFor();
    await page.getByRole("button", { name: "Newest" }).click();
    await table.getByRole("link", { name: "40", exact: true }).waitFor();
    await page.getByLabel("Name contains").fill("Handbook 37");
    await table.getByRole("link", { name: "37", exact: true }).waitFor();
    await table.getByRole("link", { name: "40", exact: true }).waitFor({ state: "detached" });
    await page.getByLabel("Name contains").fill("");
    await page.getByLabel("State").selectOption("open");
    await table.getByRole("link", { name: "39", exact: true }).waitFor({ state: "detached" });
    await table.getByRole("link", { name: "40", exact: true }).waitFor();
    await page.getByLabel("State").selectOption("");
    // cancel one, then the whole partition
    await table.getByRole("row").filter({ has: page.getByRole("link", { name: "30", exact: true }) }).getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel the job" }).click();
    await seen(page, "Job 30 is cancelled.");
    await table.getByRole("row").filter({ has: page.getByRole("link", { name: "30", exact: true }) }).getByText("cancelled").waitFor();
    await page.getByLabel("Partition").fill(o.partition);
    await page.getByRole("button", { name: "Cancel all of this partition" }).click();
    await page.getByRole("button", { name: "Cancel all", exact: true }).click();
    await seen(page, "5 jobs cancelled.");
    await page.getByRole("region", { name: "Failures" }).waitFor();
    // and one from its own page
    await page.getByLabel("Partition").fill("");
    await table.getByRole("link", { name: "28", exact: true }).click();
    await page.getByRole("heading", { name: "Job 28" }).waitFor();
    await page.getByRole("button", { name: "Cancel this job" }).click();
    await page.getByRole("button", { name: "Cancel the job" }).click();
    await seen(page, "Job 28 is cancelled.");
    await page.getByRole("definition").getByText("cancelled", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Cancel this job" }).waitFor({ state: "detached" });
    return { rows: first };
  },

  // The only job that fits is far behind the newest ones.
  async searchOn(page, url, o) {
    await enter(page, url, o);
    await open(page, "Jobs");
    await page.getByRole("region", { name: "Jobs" }).getByRole("row").nth(25).waitFor();
    await page.getByLabel("Name contains").fill("Needle");
    const button = page.getByRole("button", { name: "Search on" });
    await button.waitFor();
    await page.getByText("No job fits.").waitFor();
    const said = await page.getByText(/were looked through/).textContent();
    await button.click();
    await page.getByRole("region", { name: "Jobs" }).getByRole("link", { name: "5", exact: true }).waitFor();
    await button.waitFor({ state: "detached" });
    return said;
  },

  async schedules(page, url, o) {
    await enter(page, url, o);
    await open(page, "Schedules");
    const line = (name) => page.getByRole("row").filter({ hasText: name });
    await line("Night report").first().getByRole("img", { name: /Next: / }).waitFor();
    await line("Weekly digest").getByRole("img", { name: /^Last runs: ok .*; failed / }).waitFor();
    const runs = page.getByRole("region", { name: "Last runs" });
    await runs.getByText("failed").first().waitFor();
    assert.equal(await runs.getByRole("row").count(), 21);
    await line("Night report").first().getByRole("button", { name: "Disable" }).click();
    await line("Night report").first().getByText("disabled").waitFor();
    // who changes a disabled job does not enable it
    await line("Night report").first().getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Recurrence").fill("daily at 02:00:00");
    await seen(page, "It would run at:");
    await page.getByRole("button", { name: "Save" }).click();
    await seen(page, "Night report is changed.");
    for (const name of ["Cache clean-up", "Once only"]) {
      await line(name).first().getByRole("button", { name: "Disable" }).click();
      await line(name).first().getByText("disabled").waitFor();
      await line(name).first().getByRole("button", { name: "Enable" }).click();
      await line(name).first().getByRole("img", { name: /^Next: / }).waitFor();
      await line(name).first().getByRole("button", { name: "Disable" }).waitFor();
    }
    await line("Weekly digest").first().getByRole("button", { name: "Run now" }).click();
    await seen(page, "Weekly digest is due now");
    await page.getByRole("button", { name: "Add a job" }).click();
    await page.getByLabel("Name").fill("From the browser");
    await page.getByLabel("Class").selectOption("DLImportJob");
    await page.getByLabel("Recurrence").fill("daily at 03:30:00");
    await seen(page, "It would run at:");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await line("From the browser").waitFor();
    await line("From the browser").getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Class").selectOption("UserProfileChangeJob");
    await page.getByRole("button", { name: "Save" }).click();
    await line("UserProfileChangeJob").waitFor();
  },

  async sessions(page, url, o) {
    await enter(page, url, o);
    await open(page, "Sessions");
    const other = page.getByRole("row").filter({ hasText: o.program });
    await other.getByRole("button", { name: "End" }).click();
    await page.getByRole("button", { name: "End it" }).click();
    await other.waitFor({ state: "detached" });
    await page.getByRole("row").filter({ hasText: "dashboard" }).getByText("you").waitFor();
  },

  async logins(page, url, o) {
    await enter(page, url, o);
    await open(page, "Logins");
    await page.getByRole("button", { name: "Add a login" }).click();
    await page.getByLabel("Name").fill("shop");
    await page.getByLabel("Password").fill("shop-Password1");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByLabel("Rights of shop in StateService").selectOption("execute,select");
    await seen(page, "shop may execute and select in StateService.");
    const login = (name) => page.getByRole("region", { name: "Logins" }).getByRole("row").filter({ hasText: name });
    await login("shop").getByRole("button", { name: "Disable" }).click();
    await seen(page, "shop is disabled.");
    await login("shop").getByRole("button", { name: "Enable" }).click();
    await seen(page, "shop is enabled.");
    await login("shop").getByText("enabled", { exact: true }).waitFor();
    await login("reader").getByRole("button", { name: "Disable" }).click();
    await seen(page, "reader is disabled.");
  },

  // A login that may only SELECT in one database.
  async reader(page, url, o) {
    await enter(page, url, o);
    const links = await page.getByRole("navigation").getByRole("link").allTextContents();
    await seen(page, "Numbers of the server are shown to logins with the right monitor.");
    await open(page, "Jobs");
    await page.getByRole("region", { name: "Jobs" }).getByRole("link", { name: "40", exact: true }).waitFor();
    const cancels = await page.getByRole("button", { name: "Cancel" }).count();
    const status = await page.evaluate(async () => {
      const me = await (await fetch("/api/me")).json(), ask = (path) => fetch(path).then((a) => a.status);
      const change = (path, body) => fetch(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", "X-Procession-Token": me.token } }).then((a) => a.status);
      return { state: await ask("/api/state?db=StateService"), logins: await ask("/api/logins"), history: await ask("/api/history"), jobs: await ask("/api/jobs?db=WordAutomation"),
        cancel: await change("/api/cancel", { db: "WordAutomation", id: 40 }), kill: await change("/api/kill", { session: 60 }), grant: await change("/api/grant", { login: "reader", database: "StateService", rights: "select" }) };
    });
    return { links, cancels, status };
  },

  // By keyboard alone: the skip link, the pages, a job.
  async keyboard(page, url, o) {
    await page.goto(url);
    await page.getByLabel("Login").waitFor();
    await page.keyboard.type("sa");
    await page.keyboard.press("Tab");
    await page.keyboard.type(o.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    for (let n = 0; n < 12; n++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement.textContent === "Jobs")) break;
    }
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Jobs" }).getByRole("link", { name: "40", exact: true }).waitFor();
    for (let n = 0; n < 14; n++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement.textContent === "40")) break;
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Job 40" }).waitFor();
  },

  // The server goes away and comes back while somebody looks. Files tell the test when.
  async restart(page, url, o) {
    await enter(page, url, o);
    await open(page, "Sessions");
    await page.getByRole("region", { name: "Sessions" }).waitFor();
    fs.writeFileSync(o.ready, "");
    await page.getByText("The server does not answer.").waitFor();
    fs.writeFileSync(o.lost, "");
    await page.getByText("Your session is over. Log in again.").waitFor();
    await page.getByLabel("Login").fill("sa");
    await page.getByLabel("Password").fill(o.password);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("region", { name: "Sessions" }).waitFor();
  },

  // Nobody looks: the questions end, and nothing is asked; somebody looks again: they begin again.
  async hidden(page, url, o) {
    await enter(page, url, o);
    await page.getByRole("region", { name: "Databases" }).waitFor();
    const hide = (yes) => page.evaluate((h) => {
      Object.defineProperty(document, "hidden", { value: h, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, yes);
    const events = (r) => r.url().includes("/api/events"), asked = [];
    const closed = page.waitForEvent("requestfailed", events);
    await hide(true);
    await closed;
    page.on("request", (r) => asked.push(r.url()));
    await page.waitForTimeout(2500);        // somebody who looks is told news every two seconds
    const meanwhile = asked.length, again = page.waitForEvent("request", events);
    await hide(false);
    await again;
    return meanwhile;
  },

  // What cannot be found out in time is said, where it would stand.
  async refused(page, url, o) {
    const slow = JSON.stringify({ error: "It took too long." });
    await enter(page, url, o);
    await page.route("**/api/job_counts*", (route) => route.fulfill({ status: 504, contentType: "application/json", body: slow }));
    await open(page, "Jobs");
    await page.getByRole("region", { name: "Jobs" }).getByRole("link", { name: "40", exact: true }).waitFor();
    const counts = await page.getByText(/^Items were not counted/).textContent();
    await open(page, "Overview");
    // The page of the jobs watches two views; the one before may still ask for its own.
    await page.route("**/api/events*", (route) => new URL(route.request().url()).searchParams.getAll("watch").length < 2 ? route.continue()
      : route.fulfill({ contentType: "text/event-stream", body: `event: problem\nid: 1\ndata: ${slow}\n\n` }));
    await open(page, "Jobs");
    await page.getByRole("heading", { name: "Failures of the last seven days, by error" }).waitFor();
    return { counts, failures: await page.getByText(/^It took too long/).textContent() };
  },

  // How many streams of events each page holds, and what becomes of them when nobody looks.
  async streams(page, url, o) {
    const open = new Set(), count = {};
    page.on("request", (r) => { if (r.url().includes("/api/events")) open.add(r); });
    for (const end of ["requestfailed", "requestfinished"]) page.on(end, (r) => open.delete(r));
    const settled = async (n) => { for (let tries = 0; open.size !== n && tries < 100; tries++) await page.waitForTimeout(100); return open.size; };
    const hide = (yes) => page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, yes);
    await enter(page, url, o);
    for (const [name, ready] of PAGES.filter(([title]) => ["State", "Schedules", "Jobs"].includes(title)).reverse()) {
      await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
      await ready(page).first().waitFor();
      count[name] = await settled(1);
    }
    await hide(true);
    count.hidden = await settled(0);
    await hide(false);
    count.shown = await settled(1);
    return count;
  },
};
