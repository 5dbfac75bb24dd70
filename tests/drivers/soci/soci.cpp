// SOCI with its ODBC backend over FreeTDS: rows whose columns are not known beforehand, pages, bound values, bulk fetches,
// transactions, procedures, what it asks about columns.
#include <soci/odbc/soci-odbc.h>
#include <soci/soci.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

using soci::into;
using soci::use;
using std::string;

static int counter;

static string env(const char *name) { return getenv(name); }
static string key(const string &name) { return name + "-" + env("PT_PREFIX") + "-soci-" + std::to_string(++counter); }

struct Failed { string note; };
static void expect(bool ok, const string &note) { if (!ok) throw Failed{ note }; }

static string connection_string(const string &password)
{
	return env("PT_ODBC") + ";UID=" + env("PT_USER") + ";PWD=" + password;
}

struct Connection {
	soci::session db{ soci::odbc, connection_string(env("PT_PASSWORD")) };
	void add(const string &id) { db << "EXEC proc_AddItem @id = '" << id << "', @item = 0x616263, @timeout = 20"; }
	string some(int n)
	{
		string prefix = key("page");
		for (int i = 10; i < 10 + n; i++)
			add(prefix + "-" + std::to_string(i));
		return prefix;
	}
	bool present(const string &id)
	{
		int n = 0;
		db << "SELECT count(*) FROM Items WHERE Id = :id", use(id), into(n);
		return n == 1;
	}
	// A rowset of soci::row: its columns are those that the server tells of the prepared statement.
	string endings(const string &text)
	{
		string seen;
		for (const soci::row &row : soci::rowset<soci::row>(db.prepare << text))
			seen += (seen.empty() ? "" : ",") + row.get<string>(0).substr(row.get<string>(0).size() - 2);
		return seen;
	}
};

static void connects()
{
	Connection c;
	string name;
	c.db << "SELECT DB_NAME()", into(name);
	expect(name == "StateService", name);
	try {
		soci::session refused(soci::odbc, connection_string("wrong"));
	} catch (const soci::odbc_soci_error &e) {
		expect(e.native_error_code() == 18456, e.what());
		return;
	}
	throw Failed{ "a wrong password was taken" };
}

// The types of a row come from what sp_prepare answers, before anything is executed.
static void columns()
{
	Connection c;
	string id = c.some(1) + "-10";
	soci::row row;
	c.db << "SELECT Id, Bytes, Expires, LockTime FROM Items WHERE Id = :id", use(id), into(row);
	expect(c.db.got_data() && row.size() == 4, "columns: " + std::to_string(row.size()));
	expect(row.get_properties(0).get_name() == "Id" && row.get_properties(0).get_data_type() == soci::dt_string, "Id");
	expect(row.get_properties(2).get_name() == "Expires" && row.get_properties(2).get_data_type() == soci::dt_date, "Expires");
	expect(row.get<string>("Id") == id && row.get_indicator(3) == soci::i_null, "values");
	expect(row.get<std::tm>("Expires").tm_year >= 126, "year: " + std::to_string(row.get<std::tm>("Expires").tm_year));

	// nvarchar(9): SOCI keeps a byte for each character, and UTF-8 needs two here.
	c.db << "SELECT 7 AS n, CONVERT(nvarchar(9), N'é') AS t, CONVERT(float, 0.5) AS f WHERE 1 = 0", into(row);
	expect(!c.db.got_data(), "a row where none is");
	c.db << "SELECT 7 AS n, CONVERT(nvarchar(9), N'é') AS t, CONVERT(float, 0.5) AS f", into(row);
	expect(row.get<int>("n") == 7 && row.get<string>("t") == "é" && row.get<double>("f") == 0.5,
		"constants: " + std::to_string(row.get<int>("n")) + " " + row.get<string>("t") + " " + std::to_string(row.get<double>("f")));
}

static void pages()
{
	Connection c;
	string from = " FROM Items WHERE Id LIKE '" + c.some(12) + "%'";
	expect(c.endings("SELECT Id" + from + " ORDER BY Id OFFSET 4 ROWS FETCH NEXT 3 ROWS ONLY") == "14,15,16", "offset");
	expect(c.endings("SELECT Id FROM (SELECT Id, ROW_NUMBER() OVER (ORDER BY Id) AS n" + from + ") x WHERE n BETWEEN 3 AND 4") == "12,13", "row_number");

	std::vector<string> ids(5);
	std::vector<int> bytes(5);
	soci::statement st = (c.db.prepare << "SELECT Id, Bytes" + from + " ORDER BY Id", into(ids), into(bytes));
	st.execute();
	string portions;
	while (st.fetch()) {
		portions += std::to_string(ids.size()) + ids.back().substr(ids.back().size() - 3) + " ";
		expect(bytes.back() == 3, "bytes");
		ids.resize(5);
		bytes.resize(5);
	}
	expect(portions == "5-14 5-19 2-21 ", "portions: " + portions);
}

static void prepared()
{
	Connection c;
	string prefix = c.some(3), id, found;
	int bytes = 2;
	soci::statement st = (c.db.prepare << "SELECT Id FROM Items WHERE Id = :id AND Bytes > :bytes", use(id), use(bytes), into(found));
	for (int i = 10; i < 14; i++) {
		id = prefix + "-" + std::to_string(i);
		expect(st.execute(true) == (i < 13), "row " + std::to_string(i));
		expect(i == 13 || found == id, found);
	}
}

static void transactions()
{
	Connection c, other;
	string a = key("a"), b = key("b");
	{
		soci::transaction t(c.db); // undone at the end of its scope
		c.add(a);
		expect(c.present(a), "not seen inside");
	}
	expect(!c.present(a), "seen after rollback");
	soci::transaction t(c.db);
	c.add(b);
	t.commit();
	expect(other.present(b), "not seen after commit");
}

static void procedures()
{
	Connection c;
	string id = key("p"), item;
	int cookie = 0;
	c.add(id);
	try {
		c.add(id);
		throw Failed{ "a second item was taken" };
	} catch (const soci::odbc_soci_error &e) {
		expect(e.native_error_code() == 2627, e.what());
	}
	c.db << "DECLARE @i varbinary(max), @l bit, @a int, @c int "
		"EXEC proc_GetItemWithLock '" << id << "', @i OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT "
		"SELECT CONVERT(varchar(20), @i, 1), @c", into(item), into(cookie);
	expect(item == "0x616263" && cookie == 2, "outputs: " + item);
}

static void metadata()
{
	Connection c;
	string name, names;
	soci::statement views = (c.db.prepare << "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'dbo'", into(name));
	for (bool more = views.execute(true); more; more = views.fetch())
		names += " " + name;
	expect(names.find(" Items") != string::npos, names);

	// prepare_column_descriptions asks for the schema 'public', whatever the server is: its text, with the right one.
	soci::column_info column;
	int count = 0;
	string table = "Items";
	soci::statement st = (c.db.prepare << "select column_name as \"COLUMN_NAME\", data_type as \"DATA_TYPE\","
		" character_maximum_length as \"CHARACTER_MAXIMUM_LENGTH\", numeric_precision as \"NUMERIC_PRECISION\","
		" numeric_scale as \"NUMERIC_SCALE\", is_nullable as \"IS_NULLABLE\" from information_schema.columns"
		" where table_schema = 'dbo' and table_name = :t", use(table), into(column));
	for (bool more = st.execute(true); more; more = st.fetch(), count++)
		if (column.name == "Id")
			expect(column.type == soci::dt_string && column.length == 512 && !column.nullable, "Id");
	expect(count == 7, "columns: " + std::to_string(count));
}

static string plain(string text)
{
	for (char &c : text)
		if (c < ' ' || c == '"' || c == '\\')
			c = ' ';
	return text;
}

int main()
{
	const std::pair<const char *, std::function<void()>> parts[] = {
		{ "connect", connects }, { "columns", columns }, { "pages", pages }, { "prepared", prepared },
		{ "transactions", transactions }, { "procedures", procedures }, { "metadata", metadata },
	};
	for (auto &[name, part] : parts) {
		string note;
		try {
			part();
		} catch (const Failed &f) {
			note = f.note.empty() ? "failed" : f.note;
		} catch (const std::exception &e) {
			note = e.what();
		}
		printf("{\"feature\": \"%s\", \"ok\": %s, \"note\": \"%s\"}\n", name, note.empty() ? "true" : "false", plain(note).c_str());
		fflush(stdout);
	}
	return 0;
}
