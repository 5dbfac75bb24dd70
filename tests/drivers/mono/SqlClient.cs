// System.Data.SqlClient on Mono: RPC with declared types, TM requests, pool reset, DeriveParameters.
using System;
using System.Data;
using System.Data.SqlClient;
using System.Linq;
using System.Text;

static class Program
{
	static int n;
	static string Env(string name) { return Environment.GetEnvironmentVariable(name); }
	static string Key(string name) { return name + "-" + Env("PT_PREFIX") + "-" + ++n; }

	static string Text(bool pool = false, string port = null, string more = "", string user = null, string password = null, string database = "StateService")
	{
		return string.Format("Server={0},{1};User ID={2};Password={3};Database={4};Pooling={5};Connect Timeout=15;ConnectRetryCount=0;{6}", Env("PT_HOST"), port ?? Env("PT_PORT"), user ?? Env("PT_USER"),
			password ?? Env("PT_PASSWORD"), database, pool, more);
	}

	static SqlConnection Open(string text = null) { var c = new SqlConnection(text ?? Text()); c.Open(); return c; }
	static void Expect(bool ok, string text) { if (!ok) throw new Exception(text); }

	static void Fails(int number, Action code)
	{
		try { code(); } catch (SqlException e) {
			Expect(e.Errors.Cast<SqlError>().Any(x => x.Number == number), "error " + e.Number + " instead of " + number + ": " + e.Message);
			return;
		}
		throw new Exception("no error " + number);
	}

	static object One(SqlConnection c, string sql) { using (var k = new SqlCommand(sql, c)) return k.ExecuteScalar(); }

	static void Add(SqlConnection c, string key, byte[] data, SqlTransaction t = null)
	{
		using (var k = new SqlCommand("proc_AddItem", c, t) { CommandType = CommandType.StoredProcedure }) {
			k.Parameters.Add("@id", SqlDbType.VarChar, 512).Value = key;
			k.Parameters.Add("@item", SqlDbType.VarBinary, -1).Value = (object)data ?? DBNull.Value;
			k.Parameters.Add("@timeout", SqlDbType.Int).Value = 20;
			k.ExecuteNonQuery();
		}
	}

	static SqlCommand Get(SqlConnection c, string key, string proc = "proc_GetItemWithoutLock", SqlTransaction t = null)
	{
		var k = new SqlCommand(proc, c, t) { CommandType = CommandType.StoredProcedure };
		k.Parameters.Add("@id", SqlDbType.VarChar, 512).Value = key;
		k.Parameters.Add("@item", SqlDbType.VarBinary, -1).Direction = ParameterDirection.Output;
		k.Parameters.Add("@locked", SqlDbType.Bit).Direction = ParameterDirection.Output;
		k.Parameters.Add("@lockAgeInSeconds", SqlDbType.Int).Direction = ParameterDirection.Output;
		k.Parameters.Add("@lockCookie", SqlDbType.Int).Direction = ParameterDirection.Output;
		k.Parameters.Add("@rc", SqlDbType.Int).Direction = ParameterDirection.ReturnValue;
		k.ExecuteNonQuery();
		return k;
	}

	static bool Present(SqlConnection c, string key) { using (var k = Get(c, key)) return k.Parameters["@locked"].Value != DBNull.Value; }

	static byte[] Bytes(int size) { var b = new byte[size]; for (int i = 0; i < size; i++) b[i] = (byte)(i * 7 + i / 256); return b; }

	static void Connect() { using (var c = Open()) Expect((string)One(c, "select db_name()") == "StateService" && c.Database == "StateService", "database"); }

	static void Tls()
	{
		using (var c = Open(Text(more: "Encrypt=true;TrustServerCertificate=true"))) Expect((int)One(c, "select 1") == 1, "encrypt");
		using (var c = Open(Text(port: Env("PT_TLS_PORT"), more: "Encrypt=true;TrustServerCertificate=true"))) Expect((int)One(c, "select 1") == 1, "required");
	}

	static void WrongPassword() { Fails(18456, () => Open(Text(user: "nobody", password: "wrong")).Close()); }
	static void MissingDatabase() { Fails(4060, () => Open(Text(database: "Nowhere")).Close()); }

	static void RpcOutput()
	{
		using (var c = Open()) {
			var key = Key("k"); Add(c, key, new byte[] { 1, 2, 3 });
			using (var k = Get(c, key, "dbo.proc_GetItemWithLock"))
				Expect(((byte[])k.Parameters["@item"].Value).SequenceEqual(new byte[] { 1, 2, 3 }) && !(bool)k.Parameters["@locked"].Value && (int)k.Parameters["@lockCookie"].Value == 2
					&& (int)k.Parameters["@rc"].Value == 0, "first lock");
			using (var k = Get(c, key, "[dbo].[proc_GetItemWithLock]"))
				Expect(k.Parameters["@item"].Value == DBNull.Value && (bool)k.Parameters["@locked"].Value, "second lock");
		}
	}

	static void RpcResults()
	{
		using (var c = Open()) using (var k = new SqlCommand("sp_stored_procedures", c) { CommandType = CommandType.StoredProcedure }) using (var r = k.ExecuteReader()) {
			bool found = false;
			while (r.Read()) found |= r.GetString(2).StartsWith("proc_AddItem");
			Expect(found, "proc_AddItem is not in the list");
		}
	}

	static void Batch()
	{
		using (var c = Open()) {
			var key = Key("k");
			using (var k = new SqlCommand("exec proc_AddItem @id = '" + key + "', @item = 0x0102, @timeout = 20", c)) k.ExecuteNonQuery();
			var sql = "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock '" + key + "', @i output, @l output, @a output, @c output select @i as item, @c as cookie";
			using (var k = new SqlCommand(sql, c)) using (var r = k.ExecuteReader()) {
				Expect(r.Read() && ((byte[])r["item"]).SequenceEqual(new byte[] { 1, 2 }) && (int)r["cookie"] == 1, "item");
			}
		}
	}

	static void Prepared()
	{
		using (var c = Open()) using (var k = new SqlCommand("select @a + 1, @b", c)) {
			k.Parameters.Add("@a", SqlDbType.Int).Value = 0; k.Parameters.Add("@b", SqlDbType.NVarChar, 50).Value = "";
			k.Prepare();
			for (int i = 1; i < 4; i++) {
				k.Parameters["@a"].Value = i; k.Parameters["@b"].Value = "żółw " + i;
				using (var r = k.ExecuteReader()) Expect(r.Read() && r.GetInt32(0) == i + 1 && r.GetString(1) == "żółw " + i, "row " + i);
			}
		}
	}

	static void Values()
	{
		using (var c = Open()) {
			foreach (int size in new[] { 0, 1, 8000, 8001, 1 << 20, 1 << 25 }) {
				var key = Key("big"); var data = Bytes(size); Add(c, key, data);
				using (var k = Get(c, key)) Expect(((byte[])k.Parameters["@item"].Value).SequenceEqual(data), size + " bytes came back different");
			}
			var nul = Key("null"); Add(c, nul, null);
			using (var k = Get(c, nul)) Expect(k.Parameters["@item"].Value == DBNull.Value && k.Parameters["@locked"].Value != DBNull.Value, "NULL");
			using (var k = new SqlCommand("select @a, @b, @c, @d", c)) {
				var big = string.Concat(Enumerable.Repeat("żółw 😀", 5000)); var guid = Guid.NewGuid();
				k.Parameters.AddWithValue("@a", big); k.Parameters.AddWithValue("@b", guid); k.Parameters.AddWithValue("@c", DBNull.Value); k.Parameters.AddWithValue("@d", 12.5m);
				using (var r = k.ExecuteReader()) Expect(r.Read() && r.GetString(0) == big && r.GetGuid(1) == guid && r.IsDBNull(2) && r.GetDecimal(3) == 12.5m, "parameters");
			}
		}
	}

	static void Status() { using (var c = Open()) using (var k = Get(c, "nothing")) Expect((int)k.Parameters["@rc"].Value == 0, "status"); }

	static void Errors()
	{
		using (var c = Open()) {
			var key = Key("k"); Add(c, key, new byte[1]);
			Fails(2627, () => Add(c, key, new byte[1]));
			Fails(201, () => { using (var k = new SqlCommand("proc_AddItem", c) { CommandType = CommandType.StoredProcedure }) k.ExecuteNonQuery(); });
			Fails(2812, () => { using (var k = new SqlCommand("proc_Nothing", c) { CommandType = CommandType.StoredProcedure }) k.ExecuteNonQuery(); });
			Fails(2812, () => One(c, "exec proc_Nothing"));
			Expect((int)One(c, "select 1") == 1, "usable");
		}
	}

	static void Transactions()
	{
		using (var c = Open()) using (var other = Open()) {
			string a = Key("a"), b = Key("b"), d = Key("d"), e = Key("e");
			using (var t = c.BeginTransaction()) { Add(c, a, new byte[1], t); t.Rollback(); }
			Expect(!Present(other, a), "seen after rollback");
			using (var t = c.BeginTransaction()) { Add(c, b, new byte[1], t); t.Commit(); }
			Expect(Present(other, b), "not seen after commit");
			using (var t = c.BeginTransaction()) { Add(c, d, new byte[1], t); t.Save("here"); Add(c, e, new byte[1], t); t.Rollback("here"); t.Commit(); }
			Expect(Present(other, d) && !Present(other, e), "savepoint");
		}
	}

	// Mono sends the attention when the answer has begun: rows left unread are what can be cancelled.
	static void Cancel()
	{
		using (var c = Open()) {
			using (var k = new SqlCommand("exec sp_stored_procedures", c)) using (var r = k.ExecuteReader()) { r.Read(); k.Cancel(); }
			Expect((int)One(c, "select 7") == 7, "usable");
		}
	}

	static void PoolReset()
	{
		var text = Text(pool: true, more: "Application Name=pool;Max Pool Size=1"); var key = Key("k"); object spid;
		using (var c = Open(text)) {
			spid = One(c, "select @@spid");
			using (var k = new SqlCommand("begin tran; set nocount on; use master", c)) k.ExecuteNonQuery();
		}
		using (var c = Open(text)) {
			Expect(One(c, "select @@spid").Equals(spid), "another connection");
			Expect((int)One(c, "select @@trancount") == 0, "transaction is still open"); Expect((string)One(c, "select db_name()") == "StateService", "database is not back");
			Add(c, key, new byte[1]);
		}
		using (var c = Open()) Expect(Present(c, key), "not committed");
	}

	static void Metadata()
	{
		using (var c = Open()) using (var k = new SqlCommand("proc_GetItemWithLock", c) { CommandType = CommandType.StoredProcedure }) {
			SqlCommandBuilder.DeriveParameters(k);
			var names = string.Join(" ", k.Parameters.Cast<SqlParameter>().Select(p => p.ParameterName + ":" + p.SqlDbType + ":" + p.Direction));
			Expect(names == "@RETURN_VALUE:Int:ReturnValue @id:VarChar:Input @item:VarBinary:InputOutput @locked:Bit:InputOutput @lockAgeInSeconds:Int:InputOutput @lockCookie:Int:InputOutput", names);
		}
	}

	static void Feature(string name, Action code)
	{
		bool ok = true; string note = "";
		try { code(); } catch (Exception e) { ok = false; note = e.GetType().Name + ": " + e.Message + " " + (e.StackTrace ?? "").Split('\n').FirstOrDefault(); }
		var b = new StringBuilder();
		foreach (char x in note) { if (x == '"' || x == '\\') b.Append('\\'); b.Append(x < ' ' ? ' ' : x); }
		Console.WriteLine("{\"feature\": \"" + name + "\", \"ok\": " + (ok ? "true" : "false") + ", \"note\": \"" + b + "\"}");
	}

	static int Main()
	{
		Feature("connect", Connect); Feature("tls", Tls); Feature("wrong_password", WrongPassword); Feature("missing_database", MissingDatabase);
		Feature("rpc_output", RpcOutput); Feature("rpc_results", RpcResults); Feature("batch", Batch); Feature("prepared", Prepared); Feature("values", Values);
		Feature("status", Status); Feature("errors", Errors); Feature("transactions", Transactions); Feature("cancel", Cancel); Feature("pool_reset", PoolReset);
		Feature("metadata", Metadata);
		return 0;
	}
}
