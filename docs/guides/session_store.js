// A session store on StateService: read with a lock, change, write back; a lock that somebody left is broken when it is old.
const sql = require('mssql');

const MINUTES = 20;             // an item that nobody touches for so long expires
const STALE_SECONDS = 30;       // a lock of this age belongs to nobody any more

async function open() {
  return sql.connect({
    server: process.env.PROCESSION_HOST, port: Number(process.env.PROCESSION_PORT), database: 'StateService',
    user: process.env.PROCESSION_USER, password: process.env.PROCESSION_PASSWORD, options: { trustServerCertificate: true },
  });
}

async function add(pool, id, session) {
  await pool.request().input('id', sql.VarChar(512), id).input('item', sql.VarBinary(sql.MAX), Buffer.from(JSON.stringify(session)))
    .input('timeout', sql.Int, MINUTES).execute('proc_AddItem');
}

// locked: null, there is no such session; true, somebody else has it; false, it is ours now.
async function lock(pool, id) {
  const { output } = await pool.request().input('id', sql.VarChar(512), id).output('item', sql.VarBinary(sql.MAX)).output('locked', sql.Bit)
    .output('lockAgeInSeconds', sql.Int).output('lockCookie', sql.Int).execute('proc_GetItemWithLock');
  return { session: output.item && JSON.parse(output.item), locked: output.locked, age: output.lockAgeInSeconds, cookie: output.lockCookie };
}

// Writes the session and gives the lock up, in one call. With an old cookie nothing happens.
async function save(pool, id, session, cookie) {
  await pool.request().input('id', sql.VarChar(512), id).input('item', sql.VarBinary(sql.MAX), Buffer.from(JSON.stringify(session)))
    .input('timeout', sql.Int, MINUTES).input('lockCookie', sql.Int, cookie).execute('proc_UpdateItem');
}

async function release(pool, id, cookie) {
  await pool.request().input('id', sql.VarChar(512), id).input('lockCookie', sql.Int, cookie).execute('proc_ReleaseItemLock');
}

async function change(pool, id, how) {
  for (;;) {
    const found = await lock(pool, id);
    if (found.locked === null) throw new Error(`no session ${id}`);
    if (found.locked === false) {
      const session = how(found.session);
      await save(pool, id, session, found.cookie);
      return session;
    }
    if (found.age >= STALE_SECONDS) await release(pool, id, found.cookie);
    else await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function main() {
  const pool = await open();
  const id = `session-${process.pid}-${Date.now()}`;
  await add(pool, id, { visits: 0 });
  await Promise.all(Array.from({ length: 8 }, () => change(pool, id, (session) => ({ visits: session.visits + 1 }))));
  const last = await lock(pool, id);
  console.log(last.session);            // { visits: 8 }: nobody's change was lost
  await release(pool, id, last.cookie);
  await pool.close();
}

main().catch((e) => { console.error(e.message); process.exit(1); });
