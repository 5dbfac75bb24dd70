import java.sql.*;
import java.util.*;

/** A worker loop of WordAutomation: claims a batch, works on it, reports each item; ends when nothing waits. */
class Worker {
    static final String NAMESPACE = "http://schemas.microsoft.com/office/server/word/2009/08/databaseBatchUpdate";
    static final int BATCH = 10;
    static final UUID ME = UUID.randomUUID();           // tells this worker from others in the database

    static class Item {
        long job;
        short group;
        int id;
        String in, out;
    }

    /** Two workers that read the same batch would both start it. At SERIALIZABLE the second one waits until the first has started its items. */
    static List<Item> claim(Connection db) throws SQLException {
        List<Item> items = new ArrayList<>();
        db.setAutoCommit(false);
        try (PreparedStatement get = db.prepareStatement("EXEC proc_GetConversionBatch ?, ?")) {
            get.setInt(1, BATCH);
            get.setTimestamp(2, new Timestamp(System.currentTimeMillis() - 3600_000));    // started an hour ago: its worker is dead
            try (ResultSet rows = get.executeQuery()) {
                while (rows.next()) {
                    Item item = new Item();
                    item.job = rows.getLong("JobId");
                    item.group = rows.getShort("GroupId");
                    item.id = rows.getInt("ItemId");
                    item.in = rows.getString("InputFile");
                    item.out = rows.getString("OutputFile");
                    items.add(item);
                }
            }
            if (!items.isEmpty())
                start(db, items);
            db.commit();
        } catch (SQLException e) {
            db.rollback();
            throw e;
        } finally {
            db.setAutoCommit(true);
        }
        return items;
    }

    static void start(Connection db, List<Item> items) throws SQLException {
        StringBuilder xml = new StringBuilder("<batch xmlns=\"" + NAMESPACE + "\"><start>");
        for (Item i : items)
            xml.append(String.format("<item job=\"%d\" group=\"%d\" id=\"%d\" wsi=\"%s\"/>", i.job, i.group, i.id, ME));
        try (PreparedStatement update = db.prepareStatement("EXEC proc_UpdateConversionBatch ?")) {
            update.setString(1, xml + "</start><failed/></batch>");
            update.execute();
        }
    }

    static void report(Connection db, Item i, Integer error) throws SQLException {
        String call = error == null ? "EXEC proc_UpdateSucceededItem ?, ?, ?" : "EXEC proc_UpdateFailedItem ?, ?, ?, @ErrorCode = ?, @NoRetry = 0";
        try (PreparedStatement done = db.prepareStatement(call)) {
            done.setLong(1, i.job);
            done.setShort(2, i.group);
            done.setInt(3, i.id);
            if (error != null)
                done.setInt(4, error);
            done.execute();
        }
    }

    /** Stands for the work itself. */
    static void convert(Item i) {
        if (i.in.contains("broken"))
            throw new IllegalArgumentException(i.in);
        System.out.println(i.in + " -> " + i.out);
    }

    public static void main(String[] args) throws Exception {
        Class.forName("net.sourceforge.jtds.jdbc.Driver");
        String url = "jdbc:jtds:sqlserver://" + System.getenv("PROCESSION_HOST") + ":" + System.getenv("PROCESSION_PORT") + "/WordAutomation";
        try (Connection db = DriverManager.getConnection(url, System.getenv("PROCESSION_USER"), System.getenv("PROCESSION_PASSWORD"))) {
            db.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            for (List<Item> items = claim(db); !items.isEmpty(); items = claim(db)) {
                for (Item i : items) {
                    try {
                        convert(i);
                        report(db, i, null);
                    } catch (IllegalArgumentException e) {
                        report(db, i, 1);
                    }
                }
            }
        }
    }
}
