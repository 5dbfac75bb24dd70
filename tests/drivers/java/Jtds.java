// jTDS: LOGIN7 without PRELOGIN, TDS 7.1, prepared handles, implicit transactions, metadata.
import java.sql.*;
import java.util.*;

public class Jtds {
	static int n;
	static final String PREFIX = System.getenv("PT_PREFIX"), HOST = System.getenv("PT_HOST"), PORT = System.getenv("PT_PORT"), TLS_PORT = System.getenv("PT_TLS_PORT");
	static final String GET = "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock ?, @i output, @l output, @a output, @c output select @i, @l, @c";

	interface Code { void run() throws Exception; }

	static String key(String name) { return name + "-" + PREFIX + "-" + ++n; }

	static Connection open(String port, String more, String user, String password, String database) throws SQLException {
		DriverManager.setLoginTimeout(15);
		return DriverManager.getConnection("jdbc:jtds:sqlserver://" + HOST + ":" + port + "/" + database + ";loginTimeout=15;socketTimeout=40;" + more, user, password);
	}

	static Connection open() throws SQLException { return open(PORT, "", System.getenv("PT_USER"), System.getenv("PT_PASSWORD"), "StateService"); }

	static void expect(boolean ok, String text) throws Exception { if (!ok) throw new Exception(text); }

	static void fails(int number, Code code) throws Exception {
		try { code.run(); } catch (SQLException e) {
			for (SQLException x = e; x != null; x = x.getNextException())
				if (x.getErrorCode() == number) return;
			throw new Exception("error " + e.getErrorCode() + " instead of " + number + ": " + e.getMessage());
		}
		throw new Exception("no error " + number);
	}

	static Object one(Connection c, String sql) throws SQLException {
		try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) { r.next(); return r.getObject(1); }
	}

	static void add(Connection c, String key, byte[] data) throws SQLException {
		try (CallableStatement s = c.prepareCall("{call proc_AddItem (?, ?, ?)}")) {
			s.setString(1, key); s.setBytes(2, data); s.setInt(3, 20); s.execute();
		}
	}

	static Object[] get(Connection c, String key) throws SQLException {
		try (PreparedStatement s = c.prepareStatement(GET)) {
			s.setString(1, key);
			boolean rows = s.execute();
			while (!rows) { if (s.getUpdateCount() == -1) throw new SQLException("no result set"); rows = s.getMoreResults(); }
			ResultSet r = s.getResultSet(); r.next();
			return new Object[] { r.getBytes(1), r.getObject(2), r.getInt(3) };
		}
	}

	static byte[] bytes(int size) { byte[] b = new byte[size]; for (int i = 0; i < size; i++) b[i] = (byte) (i * 7 + i / 256); return b; }

	static void connect() throws Exception { try (Connection c = open()) { expect("StateService".equals(one(c, "select db_name()")), "db_name"); expect("StateService".equals(c.getCatalog()), "catalog"); } }

	static void tls() throws Exception {
		String user = System.getenv("PT_USER"), password = System.getenv("PT_PASSWORD");
		for (String ssl : new String[] { "request", "require" })
			try (Connection c = open(PORT, "ssl=" + ssl, user, password, "StateService")) { expect(one(c, "select 1").equals(1), ssl); }
		for (int i = 0; i < 5; i++)
			try (Connection c = open(PORT, "ssl=request", user, password, "StateService")) { expect(one(c, "select 1").equals(1), "request again"); }
		try (Connection c = open(TLS_PORT, "ssl=require", user, password, "StateService")) { expect(one(c, "select 1").equals(1), "required"); }
	}

	static void wrongPassword() throws Exception {
		try { open(PORT, "", "nobody", "wrong", "StateService"); } catch (SQLException e) {
			expect(e.getErrorCode() == 18456 && e.getMessage().contains("Login failed for user 'nobody'"), e.getErrorCode() + " " + e.getMessage()); return;
		}
		throw new Exception("logged in");
	}

	static void missingDatabase() throws Exception {
		fails(4060, () -> open(PORT, "", System.getenv("PT_USER"), System.getenv("PT_PASSWORD"), "Nowhere"));
	}

	static void rpcOutput() throws Exception {
		try (Connection c = open()) {
			String k = key("k"); add(c, k, new byte[] { 1, 2, 3 });
			for (int round = 0; round < 2; round++)
				try (CallableStatement s = c.prepareCall("{? = call proc_GetItemWithLock (?, ?, ?, ?, ?)}")) {
					s.registerOutParameter(1, Types.INTEGER); s.setString(2, k); s.registerOutParameter(3, Types.VARBINARY); s.registerOutParameter(4, Types.BIT);
					s.registerOutParameter(5, Types.INTEGER); s.registerOutParameter(6, Types.INTEGER); s.execute();
					expect(s.getInt(1) == 0 && s.getInt(6) == 2, "cookie " + s.getInt(6));
					expect(s.getBoolean(4) == (round == 1), "locked");
					expect(round == 0 ? Arrays.equals(s.getBytes(3), new byte[] { 1, 2, 3 }) : s.getBytes(3) == null, "item");
				}
		}
	}

	static void rpcResults() throws Exception {
		try (Connection c = open(); CallableStatement s = c.prepareCall("{call sp_stored_procedures}"); ResultSet r = s.executeQuery()) {
			boolean found = false;
			while (r.next()) found |= r.getString(3).startsWith("proc_AddItem");
			expect(found, "proc_AddItem is not in the list");
		}
	}

	static void batch() throws Exception {
		try (Connection c = open(); Statement s = c.createStatement()) {
			String k = key("k"); s.execute("exec proc_AddItem @id = '" + k + "', @item = 0x0102, @timeout = 20");
			Object[] g = get(c, k); expect(Arrays.equals((byte[]) g[0], new byte[] { 1, 2 }) && g[2].equals(1), Arrays.toString(g));
		}
		try (Connection c = open(); CallableStatement s = c.prepareCall("{call proc_AddItem (?, ?, ?)}")) {     // several RPCs in one message
			String[] keys = { key("k"), key("k"), key("k") };
			for (String k : keys) { s.setString(1, k); s.setBytes(2, k.getBytes()); s.setInt(3, 20); s.addBatch(); }
			expect(s.executeBatch().length == 3, "batch");
			for (String k : keys) expect(Arrays.equals((byte[]) get(c, k)[0], k.getBytes()), "batch item");
		}
	}

	static void prepared() throws Exception {
		for (int mode : new int[] { 3, 2, 0 })
			try (Connection c = open(PORT, "prepareSQL=" + mode, System.getenv("PT_USER"), System.getenv("PT_PASSWORD"), "StateService");
			     PreparedStatement s = c.prepareStatement("select ? + 1, ?")) {
				for (int i = 1; i < 4; i++) {
					s.setInt(1, i); s.setString(2, "żółw " + i);
					try (ResultSet r = s.executeQuery()) { r.next(); expect(r.getInt(1) == i + 1 && r.getString(2).equals("żółw " + i), "prepareSQL=" + mode); }
				}
			}
	}

	static void values() throws Exception {
		try (Connection c = open()) {
			for (int size : new int[] { 0, 1, 8000, 8001, 1 << 20, 1 << 25 }) {
				String k = key("big"); byte[] data = bytes(size); add(c, k, data);
				expect(Arrays.equals((byte[]) get(c, k)[0], data), size + " bytes came back different");
			}
			String k = key("null"); add(c, k, null); expect(get(c, k)[0] == null, "NULL");
			k = key("ünïcode€"); add(c, k, new byte[1]); expect(get(c, k)[1] != null, "cp1252 key");
			try (PreparedStatement s = c.prepareStatement("select ?, ?, ?")) {
				String big = "żółw 😀".repeat(2000); s.setString(1, "żółw 😀"); s.setString(2, big); s.setNull(3, Types.VARCHAR);
				try (ResultSet r = s.executeQuery()) { r.next(); expect(r.getString(1).equals("żółw 😀") && r.getString(2).equals(big) && r.getString(3) == null, "text"); }
			}
		}
	}

	static void status() throws Exception {
		try (Connection c = open(); CallableStatement s = c.prepareCall("{? = call proc_RefreshItemExpiration (?)}")) {
			s.registerOutParameter(1, Types.INTEGER); s.setString(2, "nothing"); s.execute(); expect(s.getInt(1) == 0 && !s.wasNull(), "status");
		}
	}

	static void errors() throws Exception {
		try (Connection c = open()) {
			String k = key("k"); add(c, k, new byte[1]);
			fails(2627, () -> add(c, k, new byte[1]));
			fails(201, () -> { try (CallableStatement s = c.prepareCall("{call proc_AddItem (?)}")) { s.setString(1, "k"); s.execute(); } });
			fails(2812, () -> { try (CallableStatement s = c.prepareCall("{call proc_Nothing}")) { s.execute(); } });
			fails(2812, () -> { try (Statement s = c.createStatement()) { s.execute("exec proc_Nothing"); } });
			expect(one(c, "select 1").equals(1), "usable");
		}
	}

	static void transactions() throws Exception {
		try (Connection c = open(); Connection other = open()) {
			c.setAutoCommit(false);
			String a = key("a"), b = key("b");
			add(c, a, new byte[1]); expect(get(c, a)[1] != null, "own"); c.rollback(); expect(get(other, a)[1] == null, "seen after rollback");
			add(c, b, new byte[1]); c.commit(); expect(get(other, b)[1] != null, "not seen after commit");
			String d = key("d"), e = key("e");
			add(c, d, new byte[1]); Savepoint p = c.setSavepoint(); add(c, e, new byte[1]); c.rollback(p); c.commit();
			expect(get(other, d)[1] != null && get(other, e)[1] == null, "savepoint");
			c.setAutoCommit(true);
		}
	}

	static void cancel() throws Exception {
		try (Connection c = open(); Statement s = c.createStatement()) {
			long start = System.nanoTime();
			new Thread(() -> { try { Thread.sleep(300); s.cancel(); } catch (Exception e) { /* shown by the wait below */ } }).start();
			try { s.execute("waitfor delay '00:00:20'"); } catch (SQLException e) { /* expected */ }
			expect(System.nanoTime() - start < 10_000_000_000L, "too late");
			expect(one(c, "select 7").equals(7), "usable");
			s.setQueryTimeout(1);
			try { s.execute("waitfor delay '00:00:20'"); throw new Exception("no time-out"); } catch (SQLException e) { /* expected */ }
			expect(one(c, "select 8").equals(8), "usable after time-out");
		}
	}

	static void metadata() throws Exception {
		try (Connection c = open()) {
			DatabaseMetaData m = c.getMetaData(); int count = 0; List<String> names = new ArrayList<>();
			try (ResultSet r = m.getProcedures("StateService", null, "proc_%")) { while (r.next()) count++; }
			try (ResultSet r = m.getProcedureColumns("StateService", null, "proc_GetItemWithLock", "%")) { while (r.next()) names.add(r.getString("COLUMN_NAME")); }
			expect(count >= 8, count + " procedures"); expect(names.size() == 6 && names.contains("@lockCookie"), names.toString());
			expect(m.getDatabaseProductName().equals("Microsoft SQL Server"), m.getDatabaseProductName());
		}
	}

	static void feature(String name, Code code) {
		boolean ok = true; String note = "";
		try { code.run(); } catch (Throwable e) { ok = false; note = e + " at " + Arrays.stream(e.getStackTrace()).filter(x -> x.getClassName().startsWith("Jtds")).findFirst().orElse(null); }
		System.out.println("{\"feature\": \"" + name + "\", \"ok\": " + ok + ", \"note\": \"" + note.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\p{Cntrl}", " ") + "\"}");
		System.out.flush();
	}

	public static void main(String[] args) throws Exception {
		Class.forName("net.sourceforge.jtds.jdbc.Driver");
		feature("connect", Jtds::connect); feature("tls", Jtds::tls); feature("wrong_password", Jtds::wrongPassword); feature("missing_database", Jtds::missingDatabase);
		feature("rpc_output", Jtds::rpcOutput); feature("rpc_results", Jtds::rpcResults); feature("batch", Jtds::batch); feature("prepared", Jtds::prepared);
		feature("values", Jtds::values); feature("status", Jtds::status); feature("errors", Jtds::errors); feature("transactions", Jtds::transactions);
		feature("cancel", Jtds::cancel); feature("metadata", Jtds::metadata);
		System.exit(0);
	}
}
