# An application in Perl: "make" makes its tables, "work" writes by DBI and DBIx::Class, and prints all that it is given: ids, counts,
# notices, errors.
use strict;
use warnings;
use DBI;

package Shop::Result::Customer {
    use base 'DBIx::Class::Core';
    __PACKAGE__->table('customer');
    __PACKAGE__->add_columns(id => { data_type => 'integer', is_auto_increment => 1 }, name => {}, born => { is_nullable => 1 });
    __PACKAGE__->set_primary_key('id');
    __PACKAGE__->has_many(orders => 'Shop::Result::Order', 'customer_id');
}

package Shop::Result::Order {
    use base 'DBIx::Class::Core';
    __PACKAGE__->table('orders');
    __PACKAGE__->add_columns(id => { data_type => 'integer', is_auto_increment => 1, sequence => 'orders_number' },
        customer_id => {}, total => { is_nullable => 1 });
    __PACKAGE__->set_primary_key('id');
    __PACKAGE__->belongs_to(customer => 'Shop::Result::Customer', 'customer_id');
}

package Shop {
    use base 'DBIx::Class::Schema';
    __PACKAGE__->register_class(Customer => 'Shop::Result::Customer');
    __PACKAGE__->register_class(Order => 'Shop::Result::Order');
}

package main;

sub say_of { my $what = shift; print "$what: ", join(' ', map { $_ // 'undef' } @_), "\n"; return }
$SIG{__WARN__} = sub { print 'warning: ', @_ };
my $name = "dbi:Pg:dbname=$ENV{PGDATABASE}";

sub connection { return DBI->connect($name, undef, undef, { RaiseError => 1, PrintError => 0, AutoCommit => 1, @_ }) }

sub work_by_dbi {
    my $dbh = connection(@_);
    for my $who ('Ann', "Bob's", "\x{fc}") {
        say_of('inserted', $dbh->do('insert into customer (name) values (?)', undef, $who),
            $dbh->last_insert_id(undef, undef, 'customer', undef), $dbh->last_insert_id('', '', '', '', 'customer_id_seq'),
            $dbh->selectrow_array('select lastval()'));
    }
    my $id = $dbh->last_insert_id(undef, 'public', 'customer', undef);
    my $sth = $dbh->prepare('insert into orders (customer_id, total) values (?, ?)');
    my @status;
    say_of('array', scalar $sth->execute_array({ ArrayTupleStatus => \@status }, [($id) x 5], [1 .. 5]), @status);
    say_of('ids', $dbh->last_insert_id(undef, undef, 'orders', undef, { sequence => 'orders_number' }),
        $dbh->selectrow_array('select lastval()'));
    $dbh->begin_work;
    say_of('updated', $dbh->do('update orders set total = total + 1 where customer_id = ?', undef, $id),
        $dbh->do('update orders set id = id + 100000 where total = 3 and id < 100000'), $dbh->do('delete from orders where total = 4'),
        $dbh->do('update orders set total = 0 where false'));
    $dbh->pg_savepoint('a');
    eval { $dbh->do('insert into orders (customer_id) values (-1)'); 1 } or say_of('refused', $dbh->state, $dbh->err, $dbh->errstr);
    $dbh->pg_rollback_to('a');
    say_of('after the savepoint', $dbh->selectrow_array('select lastval()'));
    $dbh->do('copy customer (name, born) from stdin');
    $dbh->pg_putcopydata("copied $_\t2001-02-0$_\n") for 1 .. 3;
    $dbh->pg_putcopyend;
    $dbh->commit;
    say_of('returned', map { @$_ } @{ $dbh->selectall_arrayref("update customer set born = '1999-12-31' where name like 'copied%'
        returning id, born, name") });
    # Several statements in one string, each of which may use another one's number.
    $dbh->do("insert into customer (name) values ('first'); insert into orders (total, customer_id, id) values (5, currval('customer_id_seq'), 7 + lastval() * 1000000);
        update customer set name = 'first of ' || lastval() where name = 'first'");
    say_of('several', $dbh->selectrow_array("select name, lastval() from customer where name like 'first of%' order by id desc limit 1"));
    $dbh->do("do 'begin insert into customer (name) values (''do''); raise notice ''% %'', found, lastval(); end'");
    $dbh->do('listen shop');
    $dbh->do("notify shop, 'x'");
    my $heard = $dbh->pg_notifies;
    say_of('heard', @$heard[0, 2], $dbh->pg_notifies // 'nothing more');
    say_of('settings', map { @$_ } @{ $dbh->selectall_arrayref("select name, setting from pg_settings where name in
        ('search_path', 'TimeZone', 'DateStyle', 'IntervalStyle', 'bytea_output', 'role') order by 1") });
    say_of('keys', map { "@$_[2, 3]" } @{ $dbh->primary_key_info(undef, 'public', 'orders')->fetchall_arrayref });
    say_of('tables', map { "@$_[1, 2]" } @{ $dbh->table_info(undef, 'public', '%', 'TABLE')->fetchall_arrayref });
    say_of('rows', $dbh->selectrow_array('select count(*), sum(id), sum(total) from orders'));
    $dbh->disconnect;
    return;
}

sub work_by_dbic {
    my $shop = Shop->connect($name);
    for my $n (1 .. 3) {
        my $customer = $shop->txn_do(sub {
            my $row = $shop->resultset('Customer')->create({ name => "class $n", orders => [{ total => 1 }, { total => 2 }] });
            $row->update({ name => "class $n renamed" });
            return $row;
        });
        say_of('kept', $customer->id, map { $_->id } $customer->orders);
        $customer->discard_changes;
        say_of('read', $customer->name, $shop->resultset('Order')->search({ customer_id => $customer->id })->update({ total => 9 }),
            $customer->delete_related('orders'));
    }
    say_of('many', map { $_->id } $shop->resultset('Customer')->populate([map { { name => "many $_" } } 1 .. 4]));
    return;
}

if ($ARGV[0] eq 'make') {
    my $dbh = connection(PrintWarn => 0);
    $dbh->do('create table customer (id serial primary key, name text not null, born date)');
    $dbh->do('create sequence orders_number increment 5');
    $dbh->do("create table orders (id int8 primary key default nextval('orders_number'), customer_id int references customer, total numeric)");
} else {
    work_by_dbi();
    work_by_dbi(pg_server_prepare => 0, AutoCommit => 1);
    work_by_dbic();
}
