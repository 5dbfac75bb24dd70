// What both Node programs share: keys, expectations, one JSON line a feature.
'use strict';
const fs = require('fs');
const env = process.env;
let n = 0;

exports.key = (name = 'k') => `${name}-${env.PT_PREFIX}-${++n}`;
exports.expect = (ok, text) => { if (!ok) throw new Error(text); };
exports.get = key => `declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock '${key}', @i output, @l output, @a output, @c output select @i as item, @l as locked, @c as cookie`;
exports.bytes = size => { const b = Buffer.alloc(size); for (let i = 0; i < size; i++) b[i] = i * 7 + (i >> 8); return b; };
exports.ca = name => fs.readFileSync(env[name]);

exports.fails = async (number, promise) => {
	try { await promise; } catch (e) {
		const numbers = [e, ...(e.precedingErrors || []), e.originalError, e.originalError && e.originalError.info, ...(e.errors || [])].filter(Boolean).map(x => x.number);
		if (numbers.includes(number)) return;
		throw new Error(`error ${e.number} instead of ${number}: ${e.message}`);
	}
	throw new Error(`no error ${number}`);
};

exports.run = async features => {
	for (const [feature, code] of Object.entries(features)) {
		let ok = true, note = '';
		try {
			await Promise.race([code(), new Promise((_, no) => setTimeout(() => no(new Error('time-out')), 30000).unref())]);
		} catch (e) { ok = false; note = `${e.code || ''} ${e.message} ${(e.stack || '').split('\n').slice(1, 4).join(' ')}`; }
		process.stdout.write(JSON.stringify({ feature, ok, note }) + '\n');
	}
	setTimeout(() => process.exit(0), 200).unref();
};
