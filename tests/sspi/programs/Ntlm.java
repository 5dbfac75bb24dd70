// jTDS with an NTLM login: Ntlm PORT DOMAIN USER PASSWORD prints the login, or "error NUMBER".
import java.sql.*;

public class Ntlm {
	public static void main(String[] a) throws Exception {
		Class.forName("net.sourceforge.jtds.jdbc.Driver");
		String url = "jdbc:jtds:sqlserver://127.0.0.1:" + a[0] + "/StateService;loginTimeout=15;socketTimeout=30;useNTLMv2=true;domain=" + a[1];
		try (Connection c = DriverManager.getConnection(url, a[2], a[3]); Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT suser_sname()")) {
			r.next();
			System.out.println(r.getString(1));
		} catch (SQLException e) {
			System.out.println("error " + e.getErrorCode() + " " + e.getMessage());
		}
	}
}
