// tedious: encrypt false, true and strict (TDS 8.0); RPC by name with PLP, prepared handles, TM requests, cancel, reset.
'use strict';
const { Connection, Request, TYPES, ISOLATION_LEVEL } = require('tedious');
const { key, expect, fails, get, bytes, ca, run } = require('./common');
const env = process.env;

function open(options = {}, login = {}, port = env.PT_PORT) {
	const connection = new Connection({
		server: env.PT_HOST,
		authentication: { type: 'default', options: { userName: env.PT_USER, password: env.PT_PASSWORD, ...login } },
		options: { port: Number(port), database: 'StateService', encrypt: false, trustServerCertificate: true, connectTimeout: 15000, requestTimeout: 60000, useColumnNames: false, ...options },
	});
	connection.on('error', () => {});       // told by the request that was running
	return new Promise((yes, no) => connection.connect(e => (e ? no(e) : yes(connection))));
}

// send: 'execSql' | 'execSqlBatch' | 'callProcedure' | 'execute' …; gives rows, outputs, status
function call(c, send, text, params = [], values, started) {
	return new Promise((yes, no) => {
		const out = { rows: [], outputs: {}, status: undefined };
		const r = new Request(text, e => (e ? no(e) : yes(out)));
		for (const [name, type, value, length] of params) length ? r.addOutputParameter(name, type, value, { length }) : r.addParameter(name, type, value);
		r.on('row', columns => out.rows.push(columns.map(x => x.value)));
		r.on('returnValue', (name, value) => { out.outputs[name] = value; });
		r.on('doneProc', (count, more, status) => { if (status !== undefined) out.status = status; });
		c[send](r, values);
		if (started) started(r);
	});
}
const batch = (c, text) => call(c, 'execSqlBatch', text);
const add = (c, k, data) => call(c, 'callProcedure', 'proc_AddItem', [['id', TYPES.VarChar, k], ['item', TYPES.VarBinary, data], ['timeout', TYPES.Int, 20]]);
const outputs = [['item', TYPES.VarBinary, null, 65535], ['locked', TYPES.Bit, null, 1], ['lockAgeInSeconds', TYPES.Int, null, 1], ['lockCookie', TYPES.Int, null, 1]];
const fetch = async (c, k, proc = 'proc_GetItemWithoutLock') => (await call(c, 'callProcedure', proc, [['id', TYPES.VarChar, k], ...outputs])).outputs;
const present = async (c, k) => (await fetch(c, k)).locked !== null;
const each = f => async () => { for (const tdsVersion of ['7_1', '7_2', '7_3_A', '7_3_B', '7_4']) { const c = await open({ tdsVersion }); try { await f(c, tdsVersion); } catch (e) { e.message = `TDS ${tdsVersion}: ${e.message}`; throw e; } finally { c.close(); } } };

run({
	connect: each(async c => expect((await batch(c, 'select db_name()')).rows[0][0] === 'StateService', 'db_name')),
	tls: async () => {
		for (const tdsVersion of ['7_1', '7_2', '7_3_B', '7_4']) { const c = await open({ tdsVersion, encrypt: true }); expect((await batch(c, 'select 1')).rows[0][0] === 1, tdsVersion); c.close(); }
		let c = await open({ encrypt: true }, {}, env.PT_TLS_PORT); c.close();
		c = await open({ encrypt: 'strict', trustServerCertificate: false, serverName: 'localhost', cryptoCredentialsDetails: { ca: ca('PT_CA') } });
		expect((await batch(c, 'select 1')).rows[0][0] === 1, 'strict'); await add(c, key(), bytes(100000)); c.close();
	},
	wrong_password: async () => { try { await open({}, { userName: 'nobody', password: 'wrong' }); } catch (e) { expect(e.message.includes("Login failed for user 'nobody'"), e.message); return; } throw new Error('logged in'); },
	missing_database: async () => { try { await open({ database: 'Nowhere' }); } catch (e) { expect(/Login failed/.test(e.message), e.message); return; } throw new Error('logged in'); },
	rpc_output: each(async (c, v) => {
		const k = key(); const r = await add(c, k, Buffer.from('abc')); expect(r.status === 0, 'status');
		if (v === '7_1') return;        // an output above 8000 bytes is declared, which 7.1 cannot have
		let o = await fetch(c, k, 'dbo.proc_GetItemWithLock'); expect(o.item.toString() === 'abc' && o.locked === false && o.lockCookie === 2, JSON.stringify(o));
		o = await fetch(c, k, 'proc_GetItemWithLock'); expect(o.item === null && o.locked === true, JSON.stringify(o));
	}),
	rpc_results: each(async c => expect((await call(c, 'callProcedure', 'sp_stored_procedures')).rows.some(r => r[2].startsWith('proc_AddItem')), 'proc_AddItem is not in the list')),
	batch: each(async c => { const k = key(); await batch(c, `exec proc_AddItem @id = '${k}', @item = 0x6162, @timeout = 20`); const r = (await batch(c, get(k))).rows[0]; expect(r[0].toString() === 'ab' && r[2] === 1, String(r)); }),
	prepared: each(async c => {
		const r = new Request('select @a + 1, @b', () => {}); r.addParameter('a', TYPES.Int); r.addParameter('b', TYPES.NVarChar);
		await new Promise((yes, no) => { r.once('prepared', yes); r.once('error', no); r.userCallback = e => e && no(e); c.prepare(r); });
		for (let i = 1; i < 4; i++) {
			const rows = []; const on = columns => rows.push(columns.map(x => x.value)); r.on('row', on);
			await new Promise((yes, no) => { r.userCallback = e => (e ? no(e) : yes()); c.execute(r, { a: i, b: `żółw ${i}` }); }); r.removeListener('row', on);
			expect(rows.length === 1 && rows[0][0] === i + 1 && rows[0][1] === `żółw ${i}`, JSON.stringify(rows));
		}
		await new Promise((yes, no) => { r.userCallback = e => (e ? no(e) : yes()); c.unprepare(r); });
	}),
	values: async () => {
		const c = await open();
		for (const size of [0, 1, 8000, 8001, 1 << 20, 1 << 25]) { const k = key('big'), data = bytes(size); await add(c, k, data); expect((await fetch(c, k)).item.equals(data), `${size} bytes came back different`); }
		const k = key('null'); await add(c, k, null); const o = await fetch(c, k); expect(o.item === null && o.locked === false, 'NULL');
		const big = 'żółw 😀'.repeat(3000);
		const row = (await call(c, 'execSql', 'select @a, @b, @c', [['a', TYPES.NVarChar, big], ['b', TYPES.UniqueIdentifier, '00112233-4455-6677-8899-AABBCCDDEEFF'], ['c', TYPES.BigInt, null]])).rows[0];
		expect(row[0] === big && row[1] === '00112233-4455-6677-8899-AABBCCDDEEFF' && row[2] === null, 'parameters'); c.close();
	},
	status: each(async c => expect((await call(c, 'callProcedure', 'proc_RefreshItemExpiration', [['id', TYPES.VarChar, 'nothing']])).status === 0, 'status')),
	errors: each(async c => {
		const k = key(); await add(c, k, bytes(1)); await fails(2627, add(c, k, bytes(1))); await fails(201, call(c, 'callProcedure', 'proc_AddItem')); await fails(2812, call(c, 'callProcedure', 'proc_Nothing'));
		await fails(2812, batch(c, 'exec proc_Nothing')); expect((await batch(c, 'select 1')).rows.length === 1, 'usable');
	}),
	transactions: each(async c => {
		const other = await open(), a = key('a'), b = key('b');
		const begin = () => new Promise((yes, no) => c.beginTransaction(e => (e ? no(e) : yes()), '', ISOLATION_LEVEL.READ_COMMITTED)), end = how => new Promise((yes, no) => c[how](e => (e ? no(e) : yes())));
		await begin(); await add(c, a, bytes(1)); await end('rollbackTransaction'); expect(!await present(other, a), 'seen after rollback');
		await begin(); await add(c, b, bytes(1)); await end('commitTransaction'); expect(await present(other, b), 'not seen after commit'); other.close();
	}),
	cancel: each(async c => {
		const start = Date.now();
		try { await call(c, 'execSqlBatch', "waitfor delay '00:00:20'", [], undefined, () => setTimeout(() => c.cancel(), 200)); throw new Error('not cancelled'); } catch (e) { expect(e.code === 'ECANCEL', `${e.code} ${e.message}`); }
		expect(Date.now() - start < 10000, 'too late'); expect((await batch(c, 'select 7')).rows[0][0] === 7, 'usable');
	}),
	pool_reset: each(async c => {
		await batch(c, 'begin tran; use master'); await new Promise((yes, no) => c.reset(e => (e ? no(e) : yes())));
		const r = (await batch(c, 'select @@trancount, db_name()')).rows[0]; expect(r[0] === 0 && r[1] === 'StateService', String(r));
	}),
});
