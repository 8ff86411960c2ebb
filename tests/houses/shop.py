"""An application in Python: "make" makes its tables by SQLAlchemy and Django, "work" writes by psycopg2 and both, migrates, and prints
all that it is given: ids, counts, notices, errors."""
import io
import os
import sys

import alembic.autogenerate
import alembic.migration
import django
import psycopg2
import psycopg2.extras
import sqlalchemy as sa
from django.conf import settings
from sqlalchemy import orm

NAME = os.environ["PGDATABASE"]
settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth"],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": NAME}},
    USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.AutoField")
django.setup()

from django.contrib.auth.models import Group, Permission, User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import IntegrityError, connection, models, transaction  # noqa: E402


def say(what, *values):
    print(what + ":", *values, flush=True)


# ---- SQLAlchemy and Alembic

Base = orm.declarative_base()


class Customer(Base):
    __tablename__ = "customer"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.Text, nullable=False, unique=True)
    version = sa.Column(sa.Integer, nullable=False)
    seen = sa.Column(sa.Integer, sa.Identity())
    orders = orm.relationship("Order", back_populates="customer", cascade="all, delete-orphan")
    __mapper_args__ = {"version_id_col": version}


class Order(Base):
    __tablename__ = "orders"
    id = sa.Column(sa.BigInteger, sa.Sequence("orders_seq", metadata=Base.metadata), primary_key=True)
    customer_id = sa.Column(sa.ForeignKey("customer.id", deferrable=True, initially="DEFERRED"), nullable=False, index=True)
    state = sa.Column(sa.Enum("new", "paid", name="state"), nullable=False, server_default="new")
    note = sa.Column(sa.dialects.postgresql.JSONB)
    tags = sa.Column(sa.ARRAY(sa.Text))
    customer = orm.relationship("Customer", back_populates="orders")


class Item(Base):
    __tablename__ = "item"
    id = sa.Column(sa.Integer, primary_key=True)
    word = sa.Column(sa.Text)


def engine(**options):
    return sa.create_engine("postgresql+psycopg2:///" + NAME, **options)


def changes(c, name):
    """What Alembic would change: in its default schema, and in all but rowrelay's."""
    for schemas in (False, True):
        context = alembic.migration.MigrationContext.configure(c, opts={
            "include_schemas": schemas,
            "include_name": lambda name, type_, parents: type_ != "schema" or name not in ("rowrelay", "rowrelay_target"),
            "include_object": lambda o, name, type_, reflected, other: not name.startswith(("auth_", "django_"))
            if type_ == "table" else True})
        say(name, schemas, sorted((op[0], op[-1].name) for op in alembic.autogenerate.compare_metadata(context, Base.metadata)))


def work_by_sqlalchemy(run):
    e = engine(executemany_mode="values_only")
    with orm.Session(e) as s:
        for n in range(3):
            customer = Customer(name="alchemy %d %d" % (run, n))
            customer.orders = [Order(note={"n": n}, tags=["a", None, "b,c"]), Order(state="paid")]
            s.add(customer)
            s.add_all(Item(word="word %d" % m) for m in range(30))
            s.commit()
            say("kept", customer.id, customer.version, customer.seen, [o.id for o in customer.orders])
        customer.name += " renamed"
        customer.orders.pop()
        s.flush()
        say("version", customer.version)
        with s.begin_nested() as inner:
            s.add(Item(word="never"))
            s.flush()
            inner.rollback()
        s.commit()
        try:
            s.execute(sa.text("update customer set version = version + 1 where id = :id"), {"id": customer.id})
            customer.name = "lost update"
            s.commit()
        except orm.exc.StaleDataError as error:
            say("stale", error)
            s.rollback()
        say("counts", s.query(Item).filter(Item.word == "word 1").update({"word": "one"}),
            s.query(Item).filter(Item.word == "word 2").delete())
        say("upsert", s.execute(sa.dialects.postgresql.insert(Item).values([{"id": 1, "word": "x"}, {"id": -run, "word": "y"}])
                                .on_conflict_do_update(index_elements=["id"], set_={"word": "again"})
                                .returning(Item.id, sa.literal_column("xmax <> 0"))).all())
        s.commit()
    with e.begin() as c:
        changes(c, "alembic")
        # The application's next release, in the transaction in which it fills the new column.
        o = alembic.operations.Operations(alembic.migration.MigrationContext.configure(c))
        o.add_column("item", sa.Column("extra%d" % run, sa.Integer, server_default="7"))
        c.execute(sa.text("update item set extra%d = id where id %% 2 = 0" % run))
        o.alter_column("item", "extra%d" % run, type_=sa.BigInteger)
        o.create_index("extra_index%d" % run, "item", ["extra%d" % run])
        c.execute(sa.text("insert into item (word) values ('migrated')"))
    with e.begin() as c:
        say("migrated", c.execute(sa.text("select count(*), sum(extra%d) from item" % run)).all())
    e.dispose()


# ---- psycopg2

def work_by_psycopg2(run):
    c = psycopg2.connect(dbname=NAME)
    k = c.cursor()
    k.execute("update item set word = word || '.' where id = 1")
    say("status", k.statusmessage, k.rowcount, k.lastrowid, c.notices)
    k.execute("insert into item (word) select 'w' || n from generate_series(1, 3) n returning id")
    say("returned", k.fetchall(), k.statusmessage)
    k.execute("select lastval(), currval('item_id_seq')")
    say("lastval", k.fetchall())
    c.commit()
    say("values", psycopg2.extras.execute_values(k, "insert into item (word) values %s returning id", [["v"]] * 5, fetch=True))
    psycopg2.extras.execute_batch(k, "update item set word = 'b' where id = %s", [[n] for n in range(5)])
    k.copy_expert("copy item (word) from stdin", io.StringIO("copied\n\\N\n"))
    say("copied", k.rowcount)
    k.execute("merge into item using (values (1), (-1000 - %s)) v (id) on item.id = v.id "
              "when matched then update set word = 'merged' when not matched then insert (id, word) values (v.id, 'm')" % run)
    say("merged", k.statusmessage)
    try:
        k.execute("insert into orders (id, customer_id) values (-1, -1)")
        c.commit()
    except psycopg2.Error as error:
        say("deferred", error.pgcode, error.diag.table_name, error.diag.constraint_name, error.diag.context)
        c.rollback()
    try:
        k.execute("insert into item (id, word) values (1, 'twice')")
    except psycopg2.Error as error:
        say("twice", error.pgcode, error.diag.message_primary, error.diag.context)
        c.rollback()
    c.set_session(isolation_level="SERIALIZABLE", deferrable=False)
    k.execute("update item set id = -id - 5000 where id in (select max(id) from item)")
    say("key", k.statusmessage)
    c.commit()
    c.tpc_begin(c.xid(1, NAME, "branch"))
    k.execute("insert into item (word) values ('two phases') returning lastval() - id")
    say("two phases", k.fetchall())
    c.tpc_prepare()
    c.tpc_commit()
    c.set_session(isolation_level="READ COMMITTED", autocommit=True)
    k.execute("listen shop")
    k.execute("delete from item where word = 'two phases'")
    k.execute("notify shop, 'hello'")
    say("heard", [(n.channel, n.payload) for n in c.notifies], c.notices, c.encoding)
    say("parameters", [(p, c.get_parameter_status(p)) for p in ("TimeZone", "DateStyle", "IntervalStyle", "client_encoding")])
    k.execute("select count(*), sum(id), max(word) from item")
    say("rows", k.fetchall())
    c.close()


# ---- Django

def work_by_django(run):
    call_command("migrate", verbosity=1, no_color=True)
    user = User.objects.create_user("user %d" % run, "u@shop", None)
    group, made = Group.objects.get_or_create(name="group %d" % run)
    user.groups.add(group)
    user.user_permissions.set(Permission.objects.all()[:5])
    say("kept", user.pk, group.pk, made, user.user_permissions.count())
    many = Group.objects.bulk_create([Group(name="bulk %d %d" % (run, n)) for n in range(50)])
    say("bulk", [g.pk for g in many][-3:])
    say("update", Group.objects.filter(name__startswith="bulk").update(name=models.functions.Concat("name", models.Value("!"))),
        User.objects.update_or_create(username="user %d" % run, defaults={"first_name": "né"})[1],
        Group.objects.bulk_update(many[:4], ["name"]))
    try:
        with transaction.atomic():
            Group.objects.create(name="inner")
            with transaction.atomic():
                Group.objects.create(name="group %d" % run)
    except IntegrityError as error:
        say("twice", error.__cause__.pgcode)
    with transaction.atomic():
        locked = Group.objects.select_for_update().get(pk=group.pk)
        locked.name = "locked %d" % run
        locked.save()
        locked.delete()
    say("deleted", User.objects.filter(username="user %d" % run).delete())
    say("rows", Group.objects.aggregate(models.Count("id"), models.Sum("id")))
    with connection.schema_editor() as editor:
        field = models.CharField(max_length=20, default="x")
        field.set_attributes_from_name("extra%d" % run)
        editor.add_field(Group, field)
        wider = models.TextField(null=True)
        wider.set_attributes_from_name("extra%d" % run)
        editor.alter_field(Group, field, wider)
    with connection.cursor() as k:
        k.execute("select count(extra%d) from auth_group" % run)
        say("migrated", k.fetchall())
        tables = connection.introspection.table_names(k)
        say("tables", tables, len(connection.introspection.get_constraints(k, "auth_group")))
    call_command("inspectdb", "auth_group")
    call_command("sqlsequencereset", "auth", no_color=True)


if sys.argv[1] == "make":
    Base.metadata.create_all(engine())
    call_command("migrate", "auth", "0011", verbosity=1, no_color=True)
else:
    with psycopg2.connect(dbname=NAME) as first:
        with first.cursor() as cursor:
            cursor.execute("select count(*) + 1 from pg_attribute where attrelid = 'item'::regclass and attname ~ '^extra'")
            number = cursor.fetchone()[0]
    work_by_psycopg2(number)
    work_by_sqlalchemy(number)
    work_by_django(number)
