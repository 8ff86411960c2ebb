// An application in Java: "make" makes its tables by EclipseLink, "work" writes by JDBC and by JPA, and prints all that it is given:
// keys, counts, warnings, errors.
import java.io.StringReader;
import java.sql.*;
import java.util.*;
import javax.persistence.*;
import javax.sql.XAConnection;
import javax.transaction.xa.*;
import org.postgresql.PGConnection;
import org.postgresql.xa.PGXADataSource;

public class Shop {
  @Entity(name = "Customer") @javax.persistence.Table(name = "customer")
  public static class Customer {
    @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Long id;
    public String name;
    @javax.persistence.Version public int version;
    @OneToMany(mappedBy = "customer", cascade = CascadeType.ALL) public List<Order> orders = new ArrayList<>();
  }

  @Entity(name = "Order_") @javax.persistence.Table(name = "orders")
  public static class Order {
    @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Integer id;
    @ManyToOne public Customer customer;
    public double total;
  }

  @Entity(name = "Note") @javax.persistence.Table(name = "note")
  public static class Note {
    @Id @GeneratedValue(strategy = GenerationType.TABLE) public Long id;
    public String text;
  }

  // A table that the application makes later, with the name of one of schema rowrelay.
  @Entity(name = "Document") @javax.persistence.Table(name = "document")
  public static class Document {
    @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public Long id;
    public String title;
  }

  static void say(String what, Object... values) {
    System.out.println(what + ": " + Arrays.deepToString(values));
  }

  static List<String> all(ResultSet rows) throws SQLException {
    List<String> list = new ArrayList<>();
    while (rows.next()) {
      StringJoiner row = new StringJoiner("|");
      for (int n = 1; n <= rows.getMetaData().getColumnCount(); ++n)
        row.add(rows.getString(n));
      list.add(row.toString());
    }
    return list;
  }

  static List<String> ask(Connection c, String sql) throws SQLException {
    try (Statement s = c.createStatement()) {
      List<String> list = all(s.executeQuery(sql));
      if (s.getWarnings() != null)
        list.add("warning " + s.getWarnings());
      return list;
    }
  }

  static int change(Connection c, String sql) throws SQLException {
    try (Statement s = c.createStatement()) {
      int count = s.executeUpdate(sql);
      if (s.getWarnings() != null)
        say("warning", s.getWarnings().getMessage());
      return count;
    }
  }

  static String url(String more) {
    return String.format("jdbc:postgresql://127.0.0.1:%s/%s?user=%s%s", System.getenv("PGPORT"),
                         System.getenv("PGDATABASE"), System.getenv("PGUSER"), more);
  }

  static void insertBatches(Connection c) throws SQLException {
    try (PreparedStatement s = c.prepareStatement("insert into customer (name, version) values (?, 1)",
                                                  Statement.RETURN_GENERATED_KEYS)) {
      for (int round = 0; round < 3; ++round) {
        for (int n = 0; n < 40; ++n) {
          s.setString(1, "batch " + n);
          s.addBatch();
        }
        say("batch", s.executeBatch().length, all(s.getGeneratedKeys()).subList(38, 40));
        s.setString(1, "single");
        say("single", s.executeUpdate(), all(s.getGeneratedKeys()), s.getWarnings());
      }
    }
    try (PreparedStatement s = c.prepareStatement("insert into orders (customer_id, total) values (?, ?)",
                                                  new String[] {"id"})) {
      for (int n = 1; n <= 5; ++n) {
        s.setLong(1, n == 4 ? -1 : n);
        s.setDouble(2, n);
        s.addBatch();
      }
      say("batch", s.executeBatch());
    } catch (BatchUpdateException e) {
      say("refused", e.getSQLState(), e.getUpdateCounts());
    }
    say("lastval", ask(c, "select lastval() - max(id) from orders"));
  }

  static void useResults(Connection c) throws SQLException {
    c.setAutoCommit(false);
    try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
      ResultSet rows = s.executeQuery("select id, name, version from customer where name like 'batch%' order by id desc");
      rows.next();
      rows.updateString("name", "by a result");
      rows.updateRow();
      rows.next();
      rows.deleteRow(); // no order has it
      rows.moveToInsertRow();
      rows.updateLong("id", 100000 + Long.parseLong(ask(c, "select max(id) from customer").get(0)));
      rows.updateString("name", "inserted");
      rows.updateInt("version", 0);
      rows.insertRow();
    }
    try (Statement s = c.createStatement()) {
      s.execute("declare kept cursor for select id from customer where name like 'batch 1%' for update; fetch 2 from kept");
      say("current", s.executeUpdate("update customer set name = 'current' where current of kept"));
      say("current", s.executeUpdate("delete from customer where current of kept"));
      say("several", s.execute("update customer set version = 2 where name = 'single'; select lastval() is null"),
          s.getUpdateCount());
    }
    Savepoint a = c.setSavepoint();
    change(c, "insert into customer (name) values ('never')");
    c.rollback(a);
    c.commit();
    c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
    change(c, "insert into orders (customer_id, total) select id, 5 from customer where version = 2 order by id limit 2");
    say("key changed", change(c, "update orders set id = id + 1000000 where total = 5 and id < 1000000"));
    c.commit();
    c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    c.setAutoCommit(true);
    say("rows", ask(c, "select count(*), sum(id), max(name) from customer"));
  }

  static void copyAndFreeze(Connection c) throws Exception {
    c.setAutoCommit(false);
    change(c, "truncate note");
    say("frozen", c.unwrap(PGConnection.class).getCopyAPI().copyIn("copy note from stdin (freeze)",
                                                                   new StringReader("-1\ta\n-2\tb\n-3\t\\N\n")));
    say("of frozen", change(c, "update note set text = 'c' where id = -1"), change(c, "delete from note where id = -2"));
    c.commit();
    c.setAutoCommit(true);
    say("copied", c.unwrap(PGConnection.class).getCopyAPI().copyIn("copy note (id, text) from stdin",
                                                                   new StringReader("-4\td\n")));
    say("notes", ask(c, "select * from note order by id"));
  }

  // The application's own notifications, and no others.
  static void listen(Connection c) throws SQLException {
    change(c, "listen shop");
    c.setAutoCommit(false);
    change(c, "update note set text = text || '.'");
    change(c, "notify shop, 'hello'");
    c.commit();
    c.setAutoCommit(true);
    List<String> heard = new ArrayList<>();
    for (org.postgresql.PGNotification n : c.unwrap(PGConnection.class).getNotifications(2000))
      heard.add(n.getName() + " " + n.getParameter());
    say("heard", heard, ask(c, "select pg_listening_channels()"));
    say("settings", ask(c, "select name, setting, source from pg_settings where name in ('search_path', 'TimeZone', "
                           + "'DateStyle', 'IntervalStyle', 'bytea_output', 'extra_float_digits', 'session_replication_role') order by 1"));
  }

  static Xid xid(int number) {
    return new Xid() {
      public int getFormatId() { return 1; }
      public byte[] getGlobalTransactionId() { return (System.getenv("PGDATABASE") + number).getBytes(); }
      public byte[] getBranchQualifier() { return new byte[] {1}; }
    };
  }

  static void commitInTwoPhases() throws Exception {
    PGXADataSource source = new PGXADataSource();
    source.setUrl(url(""));
    XAConnection xa = source.getXAConnection();
    for (int n = 0; n < 2; ++n) {
      Xid xid = xid(n);
      xa.getXAResource().start(xid, XAResource.TMNOFLAGS);
      Connection c = xa.getConnection();
      change(c, "insert into customer (name, version) values ('two phases', " + n + ")");
      say("in two phases", ask(c, "select lastval() - max(id) from customer where name = 'two phases'"));
      xa.getXAResource().end(xid, XAResource.TMSUCCESS);
      say("prepared", xa.getXAResource().prepare(xid));
      if (n == 0)
        xa.getXAResource().commit(xid, false);
      else
        xa.getXAResource().rollback(xid);
    }
    xa.close();
  }

  static EntityManagerFactory factory(String unit, String generation) {
    Map<String, String> p = new HashMap<>();
    p.put("javax.persistence.jdbc.url", url(""));
    p.put("javax.persistence.jdbc.driver", "org.postgresql.Driver");
    p.put("eclipselink.logging.level", "OFF");
    p.put("eclipselink.weaving", "false");
    p.put("eclipselink.ddl-generation", generation);
    p.put("eclipselink.jdbc.batch-writing", "JDBC");
    return Persistence.createEntityManagerFactory(unit, p);
  }

  static void workByJpa() {
    EntityManagerFactory factory = factory("later", "create-or-extend-tables");
    EntityManager manager = factory.createEntityManager();
    Customer customer = null;
    for (int n = 0; n < 4; ++n) {
      manager.getTransaction().begin();
      customer = new Customer();
      customer.name = "JPA " + n;
      for (int m = 0; m < 3; ++m) {
        Order order = new Order();
        order.customer = customer;
        order.total = m;
        customer.orders.add(order);
      }
      Note note = new Note();
      note.text = "note " + n;
      Document document = new Document();
      document.title = "document " + n;
      manager.persist(customer);
      manager.persist(note);
      manager.persist(document);
      manager.getTransaction().commit();
      say("kept", customer.id, customer.orders.get(0).id, customer.orders.get(2).id, note.id, document.id);
    }
    manager.getTransaction().begin();
    customer.name = "renamed";
    customer.orders.get(1).total = 9.5;
    manager.flush();
    say("version", customer.version);
    say("all", manager.createQuery("update Order_ o set o.total = o.total + 1 where o.total < 2").executeUpdate());
    manager.getTransaction().commit();
    manager.clear();
    manager.getTransaction().begin();
    Customer stale = manager.find(Customer.class, customer.id);
    manager.createNativeQuery("update customer set version = version + 1 where id = " + stale.id).executeUpdate();
    stale.name = "lost update";
    try {
      manager.getTransaction().commit();
    } catch (RollbackException e) {
      say("stale", e.getCause().getClass());
    }
    manager.getTransaction().begin();
    manager.remove(manager.find(Customer.class, customer.id));
    manager.getTransaction().commit();
    manager.close();
    factory.close();
  }

  public static void main(String[] words) throws Exception {
    if (words[0].equals("make")) {
      EntityManagerFactory factory = factory("shop", "create-tables");
      factory.createEntityManager().close();
      factory.close();
      return;
    }
    for (String more : new String[] {"", "&reWriteBatchedInserts=true", "&prepareThreshold=1&autosave=always", "&preferQueryMode=simple"})
      try (Connection c = DriverManager.getConnection(url(more))) {
        say("options", more);
        insertBatches(c);
        useResults(c);
        copyAndFreeze(c);
        listen(c);
      }
    commitInTwoPhases();
    workByJpa();
    try (Connection c = DriverManager.getConnection(url(""))) {
      say("tables", all(c.getMetaData().getTables(null, "public", "%", new String[] {"TABLE"})));
      say("rows", ask(c, "select count(*), sum(id), sum(version), max(name) from customer"));
    }
  }
}
