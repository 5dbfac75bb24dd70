// Qt's SQL module with QODBC or QTDS (the first argument): cursors, pages, prepared statements, transactions, procedures, what it asks about tables.
#include <QtSql>

#include <cstdio>
#include <functional>

static QString driver;
static int counter;

static QString env(const char *name) { return QString::fromUtf8(qgetenv(name)); }
static QString key(const char *name) { return QString("%1-%2-%3-%4").arg(name, env("PT_PREFIX"), driver).arg(++counter); }

struct Failed { QString note; };
static void expect(bool ok, const QString &note) { if (!ok) throw Failed{ note }; }

struct Connection {
	QSqlDatabase db;
	Connection()
	{
		db = QSqlDatabase::addDatabase(driver, "c");
		db.setHostName(driver == "QTDS" ? "plain72" : "");
		db.setDatabaseName(driver == "QTDS" ? "StateService" : env("PT_ODBC"));
		db.setUserName(env("PT_USER"));
		db.setPassword(env("PT_PASSWORD"));
		expect(db.open(), "open: " + db.lastError().text());
	}
	~Connection()
	{
		db.close();
		db = QSqlDatabase();
		QSqlDatabase::removeDatabase("c");
	}
	QSqlQuery run(const QString &text, bool forward = false)
	{
		QSqlQuery q(db);
		q.setForwardOnly(forward);
		expect(q.exec(text), text + ": " + q.lastError().text());
		return q;
	}
	void add(const QString &id) { run(QString("EXEC proc_AddItem @id = '%1', @item = 0x616263, @timeout = 20").arg(id)); }
	int count(const QString &id)
	{
		QSqlQuery q = run(QString("SELECT count(*) FROM Items WHERE Id = '%1'").arg(id));
		expect(q.next(), "no row");
		return q.value(0).toInt();
	}
	QString some(int n)
	{
		QString prefix = key("page");
		for (int i = 10; i < 10 + n; i++)
			add(QString("%1-%2").arg(prefix).arg(i));
		return prefix;
	}
};

static void connects()
{
	Connection c;
	QSqlQuery q = c.run("SELECT DB_NAME() AS name");
	expect(q.next() && q.value("name").toString() == "StateService", "db_name");
}

static QString all(QSqlQuery &q)
{
	QStringList seen;
	while (q.next())
		seen << q.value(0).toString().right(2);
	return seen.join(",");
}

static void pages()
{
	Connection c;
	QString from = QString("FROM Items WHERE Id LIKE '%1%'").arg(c.some(12));
	for (bool forward : { false, true }) {
		QSqlQuery q = c.run("SELECT Id " + from + " ORDER BY Id OFFSET 4 ROWS FETCH NEXT 3 ROWS ONLY", forward);
		expect(all(q) == "14,15,16", "offset");
		q = c.run("SELECT Id FROM (SELECT Id, ROW_NUMBER() OVER (ORDER BY Id) AS n " + from + ") x WHERE n BETWEEN 3 AND 4", forward);
		expect(all(q) == "12,13", "row_number");
	}
	QSqlQueryModel model; // reads in portions of 255 rows and counts them
	model.setQuery(c.run("SELECT Id, CONVERT(int, Bytes), Expires " + from + " ORDER BY Id DESC"));
	expect(model.rowCount() == 12 && model.data(model.index(0, 0)).toString().endsWith("21"), QString("model: %1").arg(model.rowCount()));
	expect(model.data(model.index(3, 1)).toInt() == 3, model.data(model.index(3, 1)).toString());
	expect(model.data(model.index(3, 2)).toDateTime() > QDateTime::currentDateTimeUtc(), model.data(model.index(3, 2)).toString());
}

static void scrolls()
{
	Connection c;
	QSqlQuery q = c.run(QString("SELECT Id FROM Items WHERE Id LIKE '%1%' ORDER BY Id").arg(c.some(5)));
	auto at = [&](const char *n) { return q.value(0).toString().endsWith(n); };
	expect(q.last() && at("14") && q.first() && at("10") && q.seek(3) && at("13") && q.previous() && at("12"), "moves");
	expect(q.seek(-1, true) && at("11") && q.next() && at("12") && !q.seek(99), "relative");
}

static void prepared()
{
	Connection c;
	QString prefix = c.some(3);
	QSqlQuery q(c.db);
	expect(q.prepare("SELECT Id, Bytes FROM Items WHERE Id = ? AND Bytes > ?"), q.lastError().text());
	for (int i = 10; i < 14; i++) {
		q.addBindValue(QString("%1-%2").arg(prefix).arg(i));
		q.addBindValue(2);
		expect(q.exec(), q.lastError().text());
		expect(q.next() == (i < 13), QString("row %1").arg(i));
	}
}

// QTDS opens a connection for every QSqlQuery and has no transactions of its own: what belongs together is one QSqlQuery there.
static void transactions()
{
	Connection c;
	QString a = key("a"), b = key("b");
	QSqlQuery one(c.db);
	bool own = c.db.driver()->hasFeature(QSqlDriver::Transactions);
	auto text = [&](const QString &t) { expect(one.exec(t), t + ": " + one.lastError().text()); };
	auto does = [&](bool (QSqlDatabase::*call)(), const char *t) {
		if (own)
			expect((c.db.*call)(), c.db.lastError().text());
		else
			text(t);
	};
	auto adds = [&](const QString &id) { text(QString("EXEC proc_AddItem @id = '%1', @item = 0x616263, @timeout = 20").arg(id)); };
	expect(own == (driver == "QODBC"), "QTDS has learned transactions");
	does(&QSqlDatabase::transaction, "BEGIN TRAN");
	adds(a);
	text(QString("SELECT count(*) FROM Items WHERE Id = '%1'").arg(a));
	expect(one.next() && one.value(0).toInt() == 1, "not seen inside");
	does(&QSqlDatabase::rollback, "ROLLBACK");
	expect(c.count(a) == 0, "seen after rollback");
	does(&QSqlDatabase::transaction, "BEGIN TRAN");
	adds(b);
	does(&QSqlDatabase::commit, "COMMIT");
	expect(c.count(b) == 1, "not seen after commit");
}

static void isolation()
{
	Connection c;
	QSqlQuery one(c.db);
	const char *names[] = { "READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "SNAPSHOT" };
	one.setForwardOnly(true); // a cursor's text would have a scope of its own
	for (int i = 0; i < 5; i++) {
		expect(one.exec(QString("SET TRANSACTION ISOLATION LEVEL %1").arg(names[i])), one.lastError().text());
		expect(one.exec("SELECT CONVERT(int, transaction_isolation_level) FROM sys.dm_exec_sessions WHERE session_id = @@SPID"), one.lastError().text());
		expect(one.next() && one.value(0).toInt() == i + 1, QString("%1: %2").arg(names[i], one.value(0).toString()));
	}
}

static void procedures()
{
	Connection c;
	QString id = key("p");
	c.add(id);
	if (driver == "QODBC") {
		QSqlQuery q(c.db);
		expect(q.prepare("{call proc_ReleaseItemLock(?, ?)}"), q.lastError().text());
		q.bindValue(0, id);
		q.bindValue(1, 1);
		expect(q.exec(), q.lastError().text());
	}
	QSqlQuery q(c.db);
	expect(!q.exec(QString("EXEC proc_AddItem @id = '%1', @item = 0x61, @timeout = 20").arg(id)), "no error");
	// DB-Library's own last words cover the server's number
	expect(q.lastError().nativeErrorCode().contains(driver == "QTDS" ? "20018" : "2627"), q.lastError().nativeErrorCode() + " " + q.lastError().text());
	expect(c.count(id) == 1, "not usable after an error");
}

static void metadata()
{
	Connection c;
	expect(c.db.tables(QSql::Views).contains("Items", Qt::CaseInsensitive) || c.db.tables(QSql::Views).contains("dbo.Items"), c.db.tables(QSql::Views).join(","));
	expect(c.db.tables(QSql::Tables).isEmpty(), "there are views only: " + c.db.tables(QSql::Tables).join(","));
	QSqlRecord r = c.db.record("Items");
	expect(r.count() == 7 && r.field("Id").length() == 512 && r.field("Locked").isValid(), QString("%1 fields, length %2").arg(r.count()).arg(r.field("Id").length()));
	expect(driver == "QTDS" || r.field("Bytes").type() == QVariant::LongLong, "bigint"); // which QTDS does not know
	expect(c.db.primaryIndex("Items").isEmpty(), "key");
	QSqlTableModel model(nullptr, c.db);
	model.setTable("Items");
	model.setFilter(QString("Id LIKE '%1%'").arg(c.some(2)));
	model.setSort(0, Qt::DescendingOrder);
	expect(model.select() && model.rowCount() == 2 && model.record(0).value("Id").toString().endsWith("11"), "table model: " + model.lastError().text());
}

int main(int argc, char **argv)
{
	QCoreApplication app(argc, argv);
	driver = argv[1];
	const std::pair<const char *, void (*)()> parts[] = { { "connect", connects }, { "pages", pages }, { "scrolls", scrolls }, { "prepared", prepared },
		{ "transactions", transactions }, { "isolation", isolation }, { "procedures", procedures }, { "metadata", metadata } };
	for (auto &part : parts) {
		QJsonObject said{ { "feature", part.first }, { "ok", true }, { "note", "" } };
		try {
			part.second();
		} catch (const Failed &f) {
			said["ok"] = false;
			said["note"] = f.note;
		}
		puts(QJsonDocument(said).toJson(QJsonDocument::Compact).constData());
		fflush(stdout);
	}
	return 0;
}
