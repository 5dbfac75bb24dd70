import java.sql.*;

/** jTDS with scrolling results, directly and out of HikariCP's pool: both are server cursors. */
public class Scroll {
	static String walk(Connection db) throws SQLException {
		StringBuilder said = new StringBuilder();
		try (PreparedStatement st = db.prepareStatement("SELECT name FROM sys.databases WHERE name IN (?, 'Translation', 'WordAutomation') ORDER BY name",
				ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
			st.setString(1, "StateService");
			ResultSet rs = st.executeQuery();
			said.append(rs.getMetaData().getColumnCount());
			while (rs.next()) said.append(' ').append(rs.getString(1).charAt(0));
			rs.last(); said.append(" last ").append(rs.getRow());
			rs.absolute(2); said.append(' ').append(rs.getString(1).charAt(0));
			rs.previous(); said.append(' ').append(rs.getString(1).charAt(0));
			rs.relative(2); said.append(' ').append(rs.getString(1).charAt(0));
			rs.beforeFirst(); said.append(' ').append(rs.next() && rs.isFirst());
		}
		return said.toString();
	}

	public static void main(String[] args) throws Exception {
		Class.forName("net.sourceforge.jtds.jdbc.Driver");
		String url = "jdbc:jtds:sqlserver://" + System.getenv("PT_HOST") + ":" + System.getenv("PT_PORT") + "/StateService;loginTimeout=15;socketTimeout=40";
		try (Connection db = DriverManager.getConnection(url, System.getenv("PT_USER"), System.getenv("PT_PASSWORD"))) {
			System.out.println(walk(db));
		}
		com.zaxxer.hikari.HikariDataSource pool = new com.zaxxer.hikari.HikariDataSource();
		pool.setDriverClassName("net.sourceforge.jtds.jdbc.Driver");
		pool.setJdbcUrl(url);
		pool.setUsername(System.getenv("PT_USER"));
		pool.setPassword(System.getenv("PT_PASSWORD"));
		pool.setConnectionTestQuery("SELECT 1");
		pool.setMaximumPoolSize(2);
		for (int i = 0; i < 3; i++) {
			try (Connection db = pool.getConnection()) {
				System.out.println(walk(db));
			}
		}
		pool.close();
	}
}
