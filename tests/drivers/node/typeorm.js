// TypeORM over mssql: an entity of a view, pages, transactions with their levels, procedures, what it asks about tables.
'use strict';
const { DataSource, EntitySchema, In, IsNull, Like, MoreThan } = require('typeorm');
const { key, expect, fails, run } = require('./common');
const env = process.env;

const Item = new EntitySchema({ name: 'Items', type: 'view', expression: 'SELECT 1', synchronize: false, columns: {
	Id: { type: 'varchar', length: 512, primary: true }, Locked: { type: 'bit' }, LockTime: { type: 'datetime', nullable: true }, Expires: { type: 'datetime' }, Bytes: { type: 'bigint' } } });
const open = () => new DataSource({ type: 'mssql', host: env.PT_HOST, port: Number(env.PT_PORT), username: env.PT_USER, password: env.PT_PASSWORD, database: 'StateService',
	entities: [Item], options: { encrypt: false }, extra: { trustServerCertificate: true } }).initialize();
const with_ = f => async () => { const db = await open(); try { await f(db, db.getRepository(Item)); } finally { await db.destroy(); } };
const add = (on, id) => on.query('exec proc_AddItem @id = @0, @item = @1, @timeout = @2', [id, Buffer.from('abc'), 20]);
const some = async (db, n) => { const prefix = key('page'); for (let i = 10; i < 10 + n; i++) await add(db, `${prefix}-${i}`); return prefix; };

run({
	connect: with_(async db => expect((await db.query('select db_name() as n'))[0].n === 'StateService', 'db_name')),
	pages: with_(async (db, items) => {
		const prefix = await some(db, 12), where = { Id: Like(`${prefix}%`) }, ids = rows => rows.map(r => Number(r.Id.slice(-2))).join();
		expect(ids(await items.find({ where, order: { Id: 'ASC' }, take: 4 })) === '10,11,12,13', 'first page');
		expect(ids(await items.find({ where, order: { Id: 'DESC' }, take: 4, skip: 8 })) === '13,12,11,10', 'last page');
		const [rows, n] = await items.findAndCount({ where, take: 5, skip: 10 }); expect(n === 12 && rows.length === 2, 'count of a page');
		const one = await items.findOneBy({ Id: `${prefix}-15` }); expect(one.Bytes === '3' && one.Locked === false && one.LockTime === null && one.Expires > new Date(), JSON.stringify(one));
		expect(ids(await items.createQueryBuilder('i').where('i.Id LIKE :p', { p: `${prefix}%` }).orderBy('i.Id').offset(3).limit(2).getMany()) === '13,14', 'query builder');
	}),
	conditions: with_(async (db, items) => {
		const prefix = await some(db, 3), mine = Like(`${prefix}%`);
		expect(await items.countBy({ Id: In([`${prefix}-10`, `${prefix}-12   `, 'nothing']) }) === 2, 'in');
		expect(await items.existsBy({ Id: mine, LockTime: IsNull(), Bytes: MoreThan('2') }), 'exists');
		const g = await items.createQueryBuilder('i').select('i.Bytes', 'bytes').addSelect('COUNT(*)', 'n').where({ Id: mine }).groupBy('i.Bytes').having('COUNT(*) > 1').getRawMany(); expect(g[0].n === 3, 'group');
	}),
	transactions: with_(async (db, items) => {
		const a = key('a'), b = key('b');
		await db.transaction(async m => { await add(m, a); expect(await m.getRepository(Item).countBy({ Id: a }) === 1, 'not seen inside'); throw new Error('back'); }).catch(e => expect(e.message === 'back', e.message));
		expect(await items.findOneBy({ Id: a }) === null, 'seen after rollback');
		await db.transaction(m => add(m, b)); expect(await items.findOneBy({ Id: b }) !== null, 'not seen after commit');
	}),
	isolation: with_(async db => {
		for (const [level, number] of Object.entries({ 'READ UNCOMMITTED': 1, 'READ COMMITTED': 2, 'REPEATABLE READ': 3, SERIALIZABLE: 4 }))
			await db.transaction(level, async m => {
				const seen = (await m.query('select transaction_isolation_level as l from sys.dm_exec_sessions where session_id = @@spid'))[0].l;
				expect(seen === number, `${level}: ${seen}`);
			});
	}),
	procedures: with_(async db => {
		const id = key('p'); await add(db, id);
		const [r] = await db.query('declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithLock @0, @i output, @l output, @a output, @c output select @i as item, @l as locked, @c as cookie', [id]);
		expect(r.item.toString() === 'abc' && r.locked === false && r.cookie === 2, JSON.stringify(r));
		await fails(2627, add(db, id)); await fails(2812, db.query('exec proc_Nothing'));
	}),
	metadata: with_(async db => {
		const runner = db.createQueryRunner();
		try {
			expect(await runner.hasDatabase('StateService') && !await runner.hasDatabase('Nothing') && await runner.hasSchema('dbo'), 'database and schema');
			expect(await runner.getCurrentDatabase() === 'StateService' && await runner.getCurrentSchema() === 'dbo', 'where it is');
			expect(await runner.hasColumn('Items', 'Expires') && !await runner.hasColumn('Items', 'Nothing'), 'hasColumn');
			expect((await runner.getTables()).length === 0, 'there are views only');
			const t = await runner.getTable('Items'); expect(t === undefined || t.columns.find(c => c.name === 'Id').length === '512', 'columns');
		} finally { await runner.release(); }
	}),
});
