// Sequelize over tedious: a model of a view, pages, transactions with their levels, procedures, what it asks about tables.
'use strict';
const { Sequelize, DataTypes, Op, QueryTypes, Transaction } = require('sequelize');
const { key, expect, fails, run } = require('./common');
const env = process.env;

const open = () => new Sequelize('StateService', env.PT_USER, env.PT_PASSWORD, { dialect: 'mssql', host: env.PT_HOST, port: Number(env.PT_PORT), logging: false, pool: { max: 3 },
	dialectOptions: { options: { encrypt: false, trustServerCertificate: true } } });
const model = db => db.define('Item', { Id: { type: DataTypes.STRING(512), primaryKey: true }, Locked: DataTypes.BOOLEAN, LockTime: DataTypes.DATE, Expires: DataTypes.DATE, Bytes: DataTypes.BIGINT },
	{ tableName: 'Items', timestamps: false });
const with_ = f => async () => { const db = open(); try { await f(db, model(db)); } finally { await db.close(); } };
const add = (db, id, transaction) => db.query('exec proc_AddItem @id = :id, @item = 0x616263, @timeout = 20', { replacements: { id }, transaction });
const some = async (db, n) => { const prefix = key('page'); for (let i = 10; i < 10 + n; i++) await add(db, `${prefix}-${i}`); return prefix; };
const level = (db, transaction) => db.query('select transaction_isolation_level as l from sys.dm_exec_sessions where session_id = @@spid', { type: QueryTypes.SELECT, plain: true, transaction }).then(r => r.l);

run({
	connect: with_(async db => { await db.authenticate(); expect(/^\d+\./.test(await db.databaseVersion()), 'version'); }),
	pages: with_(async (db, Item) => {
		const prefix = await some(db, 12), where = { Id: { [Op.like]: `${prefix}%` } };
		const ids = rows => rows.map(r => Number(r.Id.slice(-2))).join();
		expect(ids(await Item.findAll({ where, order: ['Id'], limit: 4 })) === '10,11,12,13', 'first page');
		expect(ids(await Item.findAll({ where, order: [['Id', 'DESC']], limit: 4, offset: 8 })) === '13,12,11,10', 'last page');
		const page = await Item.findAndCountAll({ where, limit: 5, offset: 10 }); expect(page.count === 12 && page.rows.length === 2, 'count of a page');
		expect(await Item.count({ where }) === 12 && (await Item.max('Id', { where })) === `${prefix}-21`, 'count, max');
		const one = await Item.findByPk(`${prefix}-15`); expect(one.Bytes === '3' && one.Locked === false && one.LockTime === null && one.Expires > new Date(), JSON.stringify(one));
	}),
	conditions: with_(async (db, Item) => {
		const prefix = await some(db, 3), mine = { Id: { [Op.startsWith]: prefix } };
		expect((await Item.findAll({ where: { Id: [`${prefix}-10`, `${prefix}-12`, 'nothing'] } })).length === 2, 'in');
		expect((await Item.findAll({ where: { [Op.and]: [mine, { LockTime: null }, { Bytes: { [Op.between]: [1, 5] } }] } })).length === 3, 'and, null, between');
		expect((await Item.findAll({ where: mine, attributes: ['Bytes', [db.fn('COUNT', db.col('Id')), 'n']], group: ['Bytes'], raw: true }))[0].n === 3, 'group');
		expect((await Item.findOne({ where: { Id: { [Op.notLike]: 'a%', [Op.startsWith]: prefix } }, order: [['Id', 'DESC']] })).Id === `${prefix}-12`, 'one');
	}),
	transactions: with_(async (db, Item) => {
		const a = key('a'), b = key('b');
		await db.transaction(async t => { await add(db, a, t); expect(await Item.count({ where: { Id: a }, transaction: t }) === 1, 'not seen inside'); throw new Error('back'); }).catch(e => expect(e.message === 'back', e.message));
		expect(await Item.findByPk(a) === null, 'seen after rollback');
		await db.transaction(t => add(db, b, t)); expect(await Item.findByPk(b) !== null, 'not seen after commit');
	}),
	isolation: with_(async db => {
		// its own constants have a blank, where tedious looks for an underscore: with them the level stays as it is
		expect(Transaction.ISOLATION_LEVELS.READ_COMMITTED === 'READ COMMITTED', 'mended meanwhile');
		const numbers = { READ_UNCOMMITTED: 1, READ_COMMITTED: 2, REPEATABLE_READ: 3, SERIALIZABLE: 4, SNAPSHOT: 5 };
		for (const [name, number] of Object.entries(numbers))
			await db.transaction({ isolationLevel: name }, async t => { const seen = await level(db, t); expect(seen === number, `${name}: ${seen}`); });
	}),
	procedures: with_(async db => {
		const id = key('p'); await add(db, id);
		const [r] = await db.query('declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithLock $1, @i output, @l output, @a output, @c output select @i as item, @l as locked, @c as cookie', { bind: [id], type: QueryTypes.SELECT });
		expect(r.item.toString() === 'abc' && r.locked === false && r.cookie === 2, JSON.stringify(r));
		await add(db, id).then(() => { throw new Error('no error'); }, e => expect(e.name === 'SequelizeUniqueConstraintError' && e.parent.number === 2627, `${e.name} ${e.message}`));
		await fails(2812, db.query('exec proc_Nothing').catch(e => { throw e.parent; }));
	}),
	metadata: with_(async db => {
		const q = db.getQueryInterface(), c = await q.describeTable('Items');
		expect(c.Id.type === 'VARCHAR(512)' && c.LockTime.allowNull && !c.Id.allowNull, JSON.stringify(c));
		expect((await q.showAllTables()).length === 0 && await q.tableExists('Nothing') === false, 'there are views only');
		expect((await q.showIndex('Items')).length === 0, 'indexes');
	}),
});
