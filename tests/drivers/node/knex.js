// knex over tedious: pages, transactions with their levels, procedures, what it asks about tables.
'use strict';
const { knex } = require('knex');
const { key, expect, fails, run } = require('./common');
const env = process.env;

const open = (more = {}) => knex({ client: 'mssql', pool: { min: 0, max: 3 }, ...more, connection: {
	server: env.PT_HOST, port: Number(env.PT_PORT), userName: env.PT_USER, password: env.PT_PASSWORD, user: env.PT_USER, database: 'StateService',
	options: { encrypt: false, trustServerCertificate: true } } });
const with_ = f => async () => { const db = open(); try { await f(db); } finally { await db.destroy(); } };
const add = (on, id) => on.raw('exec proc_AddItem @id = ?, @item = ?, @timeout = ?', [id, Buffer.from('abc'), 20]);
const present = async (on, id) => (await on('Items').where({ Id: id })).length === 1;
const some = async (db, n) => { const prefix = key('page'); for (let i = 10; i < 10 + n; i++) await add(db, `${prefix}-${i}`); return prefix; };

run({
	connect: with_(async db => expect((await db.raw('select db_name() as n'))[0].n === 'StateService', 'db_name')),
	pages: with_(async db => {
		const prefix = await some(db, 12), all = () => db('Items').select('Id').where('Id', 'like', `${prefix}%`);
		const ids = async q => (await q).map(r => Number(r.Id.slice(-2))).join();
		expect(await ids(all().orderBy('Id').limit(4)) === '10,11,12,13', 'first page');
		expect(await ids(all().orderBy('Id').limit(4).offset(8)) === '18,19,20,21', 'last page');
		expect(await ids(all().orderBy('Id').limit(5).offset(12)) === '', 'behind the end');
		await fails(102, all().limit(5).offset(2)); // T-SQL has OFFSET after ORDER BY only, and knex adds none
		expect((await all().orderBy('Id', 'desc').first()).Id === `${prefix}-21`, 'first');
		expect((await all().clearSelect().count('* as n'))[0].n === 12, 'count');
		const numbered = db.with('numbered', all().rowNumber('n', 'Id'));
		expect(await ids(numbered.from('numbered').whereBetween('n', [3, 5]).orderBy('n')) === '12,13,14', 'with, row_number');
	}),
	conditions: with_(async db => {
		const prefix = await some(db, 3), of = q => q.then(rows => rows.length);
		expect(await of(db('Items').whereIn('Id', [`${prefix}-10`, `${prefix}-12   `, 'nothing'])) === 2, 'in');
		expect(await of(db('Items').where('Id', 'like', `${prefix}%`).whereNull('LockTime').andWhere('Bytes', '>', 2)) === 3, 'null and number');
		expect(await of(db('Items as a').join('Items as b', 'a.Id', 'b.Id').where('a.Id', 'like', `${prefix}%`).select('a.Id')) === 3, 'join');
		const g = await db('Items').where('Id', 'like', `${prefix}%`).groupBy('Bytes').select('Bytes').max('Id as last'); expect(g.length === 1 && g[0].last === `${prefix}-12`, 'group');
	}),
	transactions: with_(async db => {
		const a = key('a'), b = key('b');
		await db.transaction(async t => { await add(t, a); expect(await present(t, a), 'not seen inside'); throw new Error('back'); }).catch(e => expect(e.message === 'back', e.message));
		expect(!await present(db, a), 'seen after rollback');
		await db.transaction(t => add(t, b)); expect(await present(db, b), 'not seen after commit');
	}),
	isolation: with_(async db => {
		for (const [level, number] of Object.entries({ 'read uncommitted': 1, 'read committed': 2, 'repeatable read': 3, serializable: 4, snapshot: 5 }))
			await db.transaction(async t => {
				const seen = (await t('sys.dm_exec_sessions').select('transaction_isolation_level as l').where('session_id', t.raw('@@spid')))[0].l;
				expect(seen === number, `${level}: ${seen}`);
			}, { isolationLevel: level });
	}),
	procedures: with_(async db => {
		const id = key('p'); await add(db, id);
		const r = await db.raw('declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithLock ?, @i output, @l output, @a output, @c output select @i as item, @l as locked, @c as cookie', [id]);
		expect(r[0].item.toString() === 'abc' && r[0].locked === false && r[0].cookie === 2, JSON.stringify(r));
		await fails(2627, add(db, id));
	}),
	metadata: with_(async db => {
		expect(await db.schema.hasTable('Items') && !await db.schema.hasTable('Nothing'), 'hasTable');
		expect(await db.schema.hasColumn('Items', 'Expires') && !await db.schema.hasColumn('Items', 'Nothing'), 'hasColumn');
		const c = await db('Items').columnInfo(); expect(c.Id.type === 'varchar' && c.Id.maxLength === 512 && c.LockTime.nullable && !c.Id.nullable, JSON.stringify(c));
	}),
});
