// node-mssql: a pool over tedious; prepared statements call sp_prepare by name.
'use strict';
const sql = require('mssql');
const { key, expect, fails, get, bytes, run } = require('./common');
const env = process.env;

const open = (options = {}, more = {}) => new sql.ConnectionPool({
	server: env.PT_HOST, port: Number(env.PT_PORT), user: env.PT_USER, password: env.PT_PASSWORD, database: 'StateService', connectionTimeout: 15000, requestTimeout: 60000, ...more,
	options: { encrypt: false, trustServerCertificate: true, ...options },
}).connect();
const add = (on, k, data) => on.request().input('id', sql.VarChar(512), k).input('item', sql.VarBinary(sql.MAX), data).input('timeout', sql.Int, 20).execute('proc_AddItem');
const fetch = (on, k, proc = 'proc_GetItemWithoutLock') => on.request().input('id', sql.VarChar(512), k).output('item', sql.VarBinary(sql.MAX)).output('locked', sql.Bit)
	.output('lockAgeInSeconds', sql.Int).output('lockCookie', sql.Int).execute(proc);
const present = async (on, k) => (await fetch(on, k)).output.locked !== null;
const with_ = f => async () => { const pool = await open(); try { await f(pool); } finally { await pool.close(); } };

run({
	connect: with_(async p => expect((await p.request().query('select db_name() as n')).recordset[0].n === 'StateService', 'db_name')),
	tls: async () => { for (const port of [env.PT_PORT, env.PT_TLS_PORT]) { const p = await open({ encrypt: true }, { port: Number(port) }); expect((await p.request().query('select 1 as n')).recordset[0].n === 1, port); await p.close(); } },
	wrong_password: async () => { try { await open({}, { user: 'nobody', password: 'wrong' }); } catch (e) { expect(e.message.includes("Login failed for user 'nobody'"), e.message); return; } throw new Error('logged in'); },
	missing_database: async () => { try { await open({}, { database: 'Nowhere' }); } catch (e) { expect(/Login failed/.test(e.message), e.message); return; } throw new Error('logged in'); },
	rpc_output: with_(async p => {
		const k = key(); await add(p, k, Buffer.from('abc')); let r = await fetch(p, k, 'proc_GetItemWithLock');
		expect(r.output.item.toString() === 'abc' && r.output.locked === false && r.output.lockCookie === 2 && r.returnValue === 0, JSON.stringify(r.output));
		r = await fetch(p, k, 'dbo.proc_GetItemWithLock'); expect(r.output.item === null && r.output.locked === true, JSON.stringify(r.output));
	}),
	rpc_results: with_(async p => expect((await p.request().execute('sp_stored_procedures')).recordset.some(r => r.PROCEDURE_NAME.startsWith('proc_AddItem')), 'proc_AddItem is not in the list')),
	batch: with_(async p => { const k = key(); await p.request().batch(`exec proc_AddItem @id = '${k}', @item = 0x6162, @timeout = 20`); const r = (await p.request().batch(get(k))).recordset[0]; expect(r.item.toString() === 'ab' && r.cookie === 1, JSON.stringify(r)); }),
	prepared: with_(async p => {
		const ps = new sql.PreparedStatement(p); ps.input('a', sql.Int); ps.input('b', sql.NVarChar(50)); await ps.prepare('select @a + 1 as a, @b as b');
		for (let i = 1; i < 4; i++) { const r = (await ps.execute({ a: i, b: `żółw ${i}` })).recordset[0]; expect(r.a === i + 1 && r.b === `żółw ${i}`, JSON.stringify(r)); }
		await ps.unprepare();
	}),
	values: with_(async p => {
		for (const size of [0, 1, 8000, 8001, 1 << 20, 1 << 25]) { const k = key('big'), data = bytes(size); await add(p, k, data); expect((await fetch(p, k)).output.item.equals(data), `${size} bytes came back different`); }
		const k = key('null'); await add(p, k, null); const o = (await fetch(p, k)).output; expect(o.item === null && o.locked === false, 'NULL');
		const big = 'żółw 😀'.repeat(3000), r = (await p.request().input('a', big).input('b', sql.DateTime, null).query('select @a as a, @b as b')).recordset[0]; expect(r.a === big && r.b === null, 'parameters');
	}),
	status: with_(async p => expect((await p.request().input('id', sql.VarChar, 'nothing').execute('proc_RefreshItemExpiration')).returnValue === 0, 'status')),
	errors: with_(async p => {
		const k = key(); await add(p, k, bytes(1)); await fails(2627, add(p, k, bytes(1))); await fails(201, p.request().execute('proc_AddItem')); await fails(2812, p.request().execute('proc_Nothing'));
		await fails(2812, p.request().batch('exec proc_Nothing')); expect((await p.request().query('select 1 as n')).recordset[0].n === 1, 'usable');
	}),
	transactions: with_(async p => {
		const a = key('a'), b = key('b'); let t = new sql.Transaction(p);
		await t.begin(); await add(t, a, bytes(1)); await t.rollback(); expect(!await present(p, a), 'seen after rollback');
		t = new sql.Transaction(p); await t.begin(); await add(t, b, bytes(1)); await t.commit(); expect(await present(p, b), 'not seen after commit');
	}),
	cancel: with_(async p => {
		const r = p.request(), start = Date.now(); setTimeout(() => r.cancel(), 200);
		try { await r.batch("waitfor delay '00:00:20'"); throw new Error('not cancelled'); } catch (e) { expect(e.code === 'ECANCEL', `${e.code} ${e.message}`); }
		expect(Date.now() - start < 10000, 'too late'); expect((await p.request().query('select 7 as n')).recordset[0].n === 7, 'usable');
	}),
});
