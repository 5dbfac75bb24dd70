// Hibernate over jTDS: an entity of a view, pages by each of its dialects, scrolling, transactions, procedures, its look at the tables.
import java.util.*;
import javax.persistence.*;
import org.hibernate.*;
import org.hibernate.cfg.Configuration;
import org.hibernate.criterion.*;

public class Orm {
    @Entity @org.hibernate.annotations.Proxy(lazy = false) @Table(name = "Items")
    public static class Item {
        @Id @Column(name = "Id", length = 512) public String id;
        @Column(name = "Locked") public boolean locked;
        @Column(name = "LockTime") public Date lockTime;
        @Column(name = "Bytes") public Long bytes;
    }

    static final String prefix = System.getenv("PT_PREFIX");
    static int counter;

    static String key(String name) { return name + "-" + prefix + "-orm-" + ++counter; }
    static void expect(boolean ok, String note) { if (!ok) throw new AssertionError(note); }

    static SessionFactory open(String dialect) {
        Configuration c = new Configuration().addAnnotatedClass(Item.class);
        c.setProperty("hibernate.connection.driver_class", "net.sourceforge.jtds.jdbc.Driver");
        c.setProperty("hibernate.connection.url", "jdbc:jtds:sqlserver://" + System.getenv("PT_HOST") + ":" + System.getenv("PT_PORT") + "/StateService");
        c.setProperty("hibernate.connection.username", System.getenv("PT_USER"));
        c.setProperty("hibernate.connection.password", System.getenv("PT_PASSWORD"));
        c.setProperty("hibernate.dialect", "org.hibernate.dialect." + dialect);
        c.setProperty("hibernate.connection.isolation", "8"); // SERIALIZABLE
        return c.buildSessionFactory();
    }

    static void add(Session s, String id) {
        s.createSQLQuery("exec proc_AddItem @id = :id, @item = 0x616263, @timeout = 20").setString("id", id).executeUpdate();
    }

    static String some(Session s, int n) {
        String p = key("page");
        Transaction t = s.beginTransaction();
        for (int i = 10; i < 10 + n; i++) add(s, p + "-" + i);
        t.commit();
        return p;
    }

    static String ids(List<?> rows) {
        StringBuilder b = new StringBuilder();
        for (Object o : rows) b.append(b.length() == 0 ? "" : ",").append(((Item) o).id.substring(((Item) o).id.length() - 2));
        return b.toString();
    }

    static void pages(Session s) {
        String p = some(s, 12);
        org.hibernate.Query q = s.createQuery("from Orm$Item i where i.id like :p order by i.id").setString("p", p + "%");
        expect(ids(q.setMaxResults(4).list()).equals("10,11,12,13"), "first page");
        expect(ids(q.setFirstResult(8).setMaxResults(3).list()).equals("18,19,20"), "later page: " + ids(q.list()));
        expect(ids(s.createCriteria(Item.class).add(Restrictions.like("id", p + "%")).addOrder(Order.desc("id")).setFirstResult(10).setMaxResults(5).list()).equals("11,10"), "criteria");
        expect(((Number) s.createQuery("select count(*) from Orm$Item i where i.id like :p").setString("p", p + "%").uniqueResult()).intValue() == 12, "count");
    }

    static void scrolls(Session s) {
        String p = some(s, 5);
        ScrollableResults r = s.createQuery("select i.id from Orm$Item i where i.id like :p order by i.id").setString("p", p + "%").scroll(ScrollMode.SCROLL_INSENSITIVE);
        expect(r.last() && r.getString(0).endsWith("14") && r.first() && r.scroll(2) && r.getString(0).endsWith("12") && r.previous() && r.getString(0).endsWith("11"), "moves");
        r.close();
    }

    static void conditions(Session s) {
        String p = some(s, 3);
        expect(s.createQuery("from Orm$Item i where i.id in (:ids) and i.lockTime is null and i.bytes > 2").setParameterList("ids", Arrays.asList(p + "-10", p + "-12  ")).list().size() == 2, "in");
        expect(((Item) s.get(Item.class, p + "-11")).bytes == 3, "get");
        Object[] g = (Object[]) s.createQuery("select i.bytes, count(*) from Orm$Item i where i.id like :p group by i.bytes having count(*) > 1").setString("p", p + "%").uniqueResult();
        expect(((Number) g[1]).intValue() == 3, "group");
    }

    static void transactions(Session s) {
        String a = key("a"), b = key("b");
        Transaction t = s.beginTransaction();
        add(s, a);
        expect(s.get(Item.class, a) != null, "not seen inside");
        t.rollback();
        s.clear();
        t = s.beginTransaction();
        expect(s.get(Item.class, a) == null, "seen after rollback");
        add(s, b);
        t.commit();
        s.clear();
        expect(s.get(Item.class, b) != null, "not seen after commit");
        Number level = (Number) s.createSQLQuery("select transaction_isolation_level as l from sys.dm_exec_sessions where session_id = @@spid").uniqueResult();
        expect(level.intValue() == 4, "level " + level);
    }

    static void procedures(Session s) {
        String id = key("p");
        Transaction t = s.beginTransaction();
        add(s, id);
        Object[] row = (Object[]) s.createSQLQuery("declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithLock :id, @i output, @l output, @a output, @c output select @l as locked, @c as cookie")
            .setString("id", id).uniqueResult();
        expect(row[0].equals(false) && row[1].equals(2), Arrays.toString(row));
        try {
            add(s, id);
            throw new AssertionError("no error");
        } catch (org.hibernate.exception.ConstraintViolationException e) {
            expect(e.getSQLException().getErrorCode() == 2627, e.toString());
        }
        t.rollback();
    }

    interface Part { void run(Session s) throws Exception; }

    public static void main(String[] args) {
        Map<String, Part> parts = new LinkedHashMap<>();
        parts.put("pages", Orm::pages);
        parts.put("scrolls", Orm::scrolls);
        parts.put("conditions", Orm::conditions);
        parts.put("transactions", Orm::transactions);
        parts.put("procedures", Orm::procedures);
        for (String dialect : args) {
            SessionFactory f = open(dialect);
            for (Map.Entry<String, Part> part : parts.entrySet()) {
                String note = "";
                Session s = f.openSession();
                try {
                    part.getValue().run(s);
                } catch (Throwable e) {
                    note = e + " " + (e.getCause() == null ? "" : e.getCause());
                } finally {
                    s.close();
                }
                System.out.println("{\"feature\": \"" + part.getKey() + " " + dialect + "\", \"ok\": " + note.isEmpty() + ", \"note\": \"" + note.replaceAll("[^ -!#-\\[\\]-~]", " ") + "\"}");
            }
            f.close();
        }
    }
}
