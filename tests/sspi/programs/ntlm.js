// tedious with an NTLM login: ntlm.js PORT DOMAIN USER PASSWORD ENCRYPT prints the login, or "error TEXT".
'use strict';
const { Connection, Request } = require('tedious');
const [port, domain, userName, password, encrypt] = process.argv.slice(2);
const c = new Connection({
	server: '127.0.0.1',
	authentication: { type: 'ntlm', options: { domain, userName, password } },
	options: { port: Number(port), database: 'StateService', encrypt: encrypt === 'yes', trustServerCertificate: true, connectTimeout: 15000 },
});
c.on('error', () => {});
c.connect(e => {
	if (e) { console.log(`error ${e.message}`); process.exit(0); }
	const r = new Request('SELECT suser_sname()', f => { if (f) console.log(`error ${f.message}`); c.close(); });
	r.on('row', columns => console.log(columns[0].value));
	c.execSqlBatch(r);
});
