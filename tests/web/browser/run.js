// node run.js SCENARIO URL OPTIONS: one scenario (scenarios.js) in a Chromium of its own. Prints its answer as JSON; a status other than 0 is a failure.
"use strict";
const fs = require("fs");
const os = require("os");
const path = require("path");
const { chromium } = require("playwright-core");
const scenarios = require("./scenarios.js");

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

async function main([name, url, options]) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "procession-browser-"));
  const wishes = JSON.parse(options || "{}");
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: "/usr/bin/chromium", headless: true, args: FLAGS, ignoreHTTPSErrors: Boolean(wishes.https),
    viewport: wishes.viewport ?? { width: 1280, height: 860 }, colorScheme: wishes.dark ? "dark" : "light", locale: "en-GB", timezoneId: "UTC",
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(60000);
  const problems = [];
  page.on("pageerror", (e) => problems.push(`error in the page: ${e.message}`));
  page.on("console", (m) => { if (/Content.Security.Policy/i.test(m.text())) problems.push(m.text()); });
  try {
    const answer = await scenarios[name](page, url, wishes, context);
    if (problems.length) throw new Error(problems.join("\n"));
    console.log(JSON.stringify(answer ?? null));
  } finally {
    await context.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

main(process.argv.slice(2)).catch((e) => { console.error(e.stack ?? String(e)); process.exit(1); });
