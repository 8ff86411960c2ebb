insert into rowrelay.migration (version) values (2);

-- Locks all tables that are altered here at once, or none. In a writer's transaction a trigger function may have read
-- one of them and read another one next: it would wait for this transaction, which waits for it. So this one waits for
-- only a tenth of a second, far less than the server takes to look for a deadlock, and then lets everybody pass. Only
-- processes of rowrelay read rowrelay.lease; they hold it for as long as a batch takes.
do $$
declare
  was     constant text := current_setting('lock_timeout');
  altered constant oid[] := '{rowrelay.capture,rowrelay.route,rowrelay.source,rowrelay.day,rowrelay.refusal,
    rowrelay.trouble,rowrelay.tick,rowrelay.target,rowrelay.receipt,rowrelay.document_source}'::regclass[];
  holders text;
begin
  loop
    begin
      lock table rowrelay.lease in access exclusive mode;
      perform set_config('lock_timeout', '100ms', true);
      lock table rowrelay.capture, rowrelay.route, rowrelay.source, rowrelay.day, rowrelay.refusal, rowrelay.trouble,
        rowrelay.tick, rowrelay.target, rowrelay.receipt, rowrelay.document_source in access exclusive mode;
      perform set_config('lock_timeout', was, true);
      return;
    exception when lock_not_available then
      exit when clock_timestamp() > now() + interval '5 minutes';
    end;
    perform pg_sleep(0.1);
  end loop;
  select string_agg(distinct l.pid::text, ', ') into holders
    from pg_locks l
   where l.database = (select d.oid from pg_database d where d.datname = current_database()) and l.granted
     and l.relation = any (altered);
  raise exception 'open transactions hold tables of schema rowrelay: process %', holders
    using errcode = 'lock_not_available', hint = 'Wait until they end, or end them: select pg_terminate_backend(PID)';
end
$$;

-- Claims ----------------------------------------------------------------------------------------------------------

-- Processes of version 1 lock lanes in another way, so they must not run beside those of this version. Renaming a
-- column that each of their claims reads waits until no claim is in flight, and makes their next claim fail.
alter table rowrelay.lease rename column failures to expiries;
alter table rowrelay.lease add lasts interval not null default interval '2 minutes';
alter table rowrelay.lease alter lasts drop default;
comment on column rowrelay.lease.lasts is
  'its duration from when it was taken or renewed, which bounds it even if the clock is set back';

create table rowrelay.lane (
  lane integer primary key
);
comment on table rowrelay.lane is 'the lanes of all targets: only the session that locks a row here (select ... '
                                  'for update) '
  'may claim from that lane or change its order; see schema/README.md';
comment on column rowrelay.lane.lane is 'number among the lanes of all targets, see rowrelay.lane_number()';
insert into rowrelay.lane (lane)
select (t.id << 12) + n from rowrelay.target t, generate_series(0, t.lanes) as n where t.dropped_at is null;

create table rowrelay.mutex (
  name text primary key
);
comment on table rowrelay.mutex is 'work that one session may do at a time: the session that locks the row (select ... '
                                   'for update), '
  'which takes rights here';
comment on column rowrelay.mutex.name is 'seal: appending to the chain of seals; index: rowrelay.index_closed_days(); '
                                  'configuration: rowrelay.lock_configuration(); change_id: rowrelay.continue_ids()';
insert into rowrelay.mutex (name) values ('seal'), ('index'), ('configuration'), ('change_id');

alter table rowrelay.trouble add probe_until timestamptz;
comment on column rowrelay.trouble.probe_until is 'until when one process probes the target, and no other does; null: '
                                                  'none does';
alter table rowrelay.target add column may_differ text;
comment on column rowrelay.target.may_differ is
  'that it may differ from the tables, because its server has lost what it had, or the source may have, and what '
  'helps; until changes are replayed, or it is resumed while it runs';
alter table rowrelay.trouble add sqlstate text;
comment on column rowrelay.trouble.sqlstate is 'of the last failure, as rowrelay.refusal.sqlstate; null: it has none';

-- Capture ---------------------------------------------------------------------------------------------------------

-- Its rows matter only while their transaction runs. After a crash none does.
create unlogged table rowrelay.follower (
  txid      xid8 not null,
  relation  oid not null,
  version   tid not null,
  change_id bigint not null,
  day       date not null,
  keys      text[],
  constraint follower_pkey primary key (txid, relation, version)
);
comment on table rowrelay.follower is 'row versions of tables without a key that the running transaction both made and '
                                      'removed: '
  'nested writes may be captured in the wrong order; see rowrelay.note_follower(). And tables that a TRUNCATE is about '
  'to empty; see rowrelay.capture_truncate()';
comment on column rowrelay.follower.txid is 'transaction';
comment on column rowrelay.follower.relation is
  'table with the version: the captured one, a partition or an inheritance child';
comment on column rowrelay.follower.version is 'ctid of the version; (0,0): a truncate';
comment on column rowrelay.follower.change_id is
  'the change that removed it; of a truncate, the last id when rows had been captured as deleted';
comment on column rowrelay.follower.day is 'partition of the change';
comment on column rowrelay.follower.keys is
  'of a truncate whose rows were captured as deleted, keys that other tables have, too; else null';

drop function if exists rowrelay.awkward_columns(regclass);
drop function if exists rowrelay.this_server();
drop function if exists rowrelay.skip_lost_ids(); -- it has a parameter now
drop function if exists rowrelay.check_children(rowrelay.capture);
drop function if exists rowrelay.lock_refused_lanes(text, bigint[]);
drop function if exists rowrelay.check_undone(rowrelay.undo_step[]);
drop function if exists rowrelay.image_expression(rowrelay.capture);
drop function if exists rowrelay.has_row_triggers(rowrelay.capture);
drop function if exists rowrelay.image_statements(rowrelay.capture, boolean);
drop function if exists rowrelay.is_superseded(oid, tid);
drop function if exists rowrelay.nesting_statements(rowrelay.capture, boolean, text, text, text, text, boolean, boolean,
                                                    text);

create table rowrelay.gap (
  capture  integer not null references rowrelay.capture,
  target   integer not null references rowrelay.target,
  noted_at timestamptz not null default clock_timestamp(),
  unfound  boolean not null default false,
  constraint gap_pkey primary key (capture, target, unfound)
);
comment on table rowrelay.gap is
  'targets that lack changes of a table, because nothing captured it for a while, or values of an added or '
  'altered column, or that differ for another reason; people query rowrelay.gaps';
comment on column rowrelay.gap.capture is 'the table';
comment on column rowrelay.gap.target is 'where it goes, or a document that is built from it';
comment on column rowrelay.gap.noted_at is
  'when the table was captured again, or it was noticed that columns were altered, or last that rows were not found';
comment on column rowrelay.gap.unfound is
  'whether it is a mirror in which rows without a key were not found that were to be changed or deleted there';

-- Added columns ---------------------------------------------------------------------------------------------------

create table rowrelay.older_value (
  capture     integer not null references rowrelay.capture,
  number      smallint not null,
  numbered_at text not null,
  value       text not null,
  constraint older_value_pkey primary key (capture, number, numbered_at)
);
comment on table rowrelay.older_value is
  'values of added columns in rows that are older, which the server forgets when it writes the table anew; see '
  'rowrelay.older_values()';
comment on column rowrelay.older_value.capture is 'the table';
comment on column rowrelay.older_value.number is 'attribute number of the column';
comment on column rowrelay.older_value.numbered_at is 'where that number is valid, see rowrelay.numbered_here()';
comment on column rowrelay.older_value.value is 'as the text of its type';

create table rowrelay.table_files (
  capture     integer primary key references rowrelay.capture,
  numbered_at text not null,
  relations   oid[] not null,
  files       oid[] not null,
  numbers     smallint[] not null,
  types       text[] not null,
  versions    text[] not null,
  defaults    oid[] not null
);
comment on table rowrelay.table_files is
  'where the rows of captured tables were when columns were last looked at; see rowrelay.note_files()';
comment on column rowrelay.table_files.capture is 'the table';
comment on column rowrelay.table_files.numbered_at is
  'where all this is valid, see rowrelay.numbered_here()';
comment on column rowrelay.table_files.relations is 'its parts: itself, partitions, inheritance children';
comment on column rowrelay.table_files.files is 'their relfilenode, another when all rows were written anew';
comment on column rowrelay.table_files.numbers is 'attribute numbers of the columns';
comment on column rowrelay.table_files.types is 'their types';
comment on column rowrelay.table_files.versions is
  'rowrelay.column_version() of each, another when ALTER COLUMN TYPE has written its values anew';
comment on column rowrelay.table_files.defaults is
  'their defaults in pg_attrdef, which it writes anew, too; 0: it has none';

create table rowrelay.type_parts (
  type        oid primary key,
  numbered_at text not null,
  parts       text[] not null
);
comment on table rowrelay.type_parts is
  'enums and composite types of columns, when they were last looked at; see rowrelay.note_type_parts()';
comment on column rowrelay.type_parts.type is 'the type of a column, or one that is made of such types';
comment on column rowrelay.type_parts.numbered_at is 'the database in which that is so, as in rowrelay.table_files';
comment on column rowrelay.type_parts.parts is 'its labels and attributes, each with its number and its name';

create table rowrelay.part_link (
  capture     integer references rowrelay.capture,
  relation    oid,
  numbered_at text not null,
  link        text not null,
  constraint part_link_pkey primary key (capture, relation)
);
comment on table rowrelay.part_link is
  'partitions and inheritance children of captured tables, when they were last looked at; see '
  'rowrelay.note_part_links()';
comment on column rowrelay.part_link.capture is 'the table';
comment on column rowrelay.part_link.relation is 'the partition or child';
comment on column rowrelay.part_link.numbered_at is 'the database in which that is so, as in rowrelay.table_files';
comment on column rowrelay.part_link.link is
  'transactions that wrote its rows of pg_inherits, others when it was taken away and put back';

-- Keys ------------------------------------------------------------------------------------------------------------

alter table rowrelay.refusal add column row_hash bigint not null default 0;
alter table rowrelay.refusal alter column row_hash drop default;
-- 0 stands for any row of the table, which is safe until the change is retried, skipped or superseded.
update rowrelay.refusal f
   set row_hash = coalesce(nullif(hashtextextended(coalesce(f.key, '') collate "C", 0), 0), 1)
  from rowrelay.capture c
 where c.id = f.capture and (c.key_is_exact or f.key is null);
update rowrelay.refusal f set row_hash = 0
  from rowrelay.change c
 where f.key is null and c.id = f.change_id and c.day = f.day and c.op = 't' and c.new_row is null;
drop index rowrelay.refusal_key;
create index refusal_row on rowrelay.refusal (target, capture, row_hash);
create index refusal_blocked on rowrelay.refusal (target) where state = 'blocked';
comment on column rowrelay.refusal.row_hash is 'hash of the key, equal for equal keys of any spelling: '
                                               'rowrelay.text_hash() or '
  'rowrelay.row_hashes(); 0: any row of the table';

create table rowrelay.row_hashing (
  capture  integer primary key,
  method   text,
  above_id bigint not null
);
comment on table rowrelay.row_hashing is
  'captures whose equal keys may have different texts: which changes rowrelay.change_key has under the hash of the row '
  'too, which is equal for all spellings of its key';
comment on column rowrelay.row_hashing.capture is 'the capture';
comment on column rowrelay.row_hashing.method is
  'how the hashes are computed, see rowrelay.hash_method(); null: they cannot be';
comment on column rowrelay.row_hashing.above_id is
  'of the indexed changes, all with larger ids are there; processes index the others too, from the last one down';
drop function if exists rowrelay.candidates(integer[], text);
drop function if exists rowrelay.candidates_since(integer[], text, bigint, date);
drop function if exists rowrelay.was_overtaken(integer, integer, bigint);
drop function if exists rowrelay.former_keys(integer[], text);
drop function if exists rowrelay.backfill_values(regclass, text[], text[]);

-- Rights ----------------------------------------------------------------------------------------------------------

-- They trusted a row that the caller could make up; the new ones take its number.
drop function if exists rowrelay.backfill_holder(rowrelay.backfill);
drop function if exists rowrelay.copy_join(integer, bigint, integer);
drop function if exists rowrelay.prune_day(rowrelay.day, boolean);
drop function if exists rowrelay.image_expression(rowrelay.capture, regclass);
-- The next rowrelay.maintain() replaces all trigger functions, because rowrelay.column_states() has changed: the old
-- ones run casts to json and to text by the owner of a captured table with the rights of the schema's owner.

drop function if exists rowrelay.route(regclass, text, text, boolean);
drop function if exists rowrelay.capture_table(regclass, text[], text[], text[], text[], jsonb, text, text, boolean,
                                               interval);
alter table rowrelay.capture add column key_is_chosen boolean not null default false;
comment on column rowrelay.capture.key_is_chosen is
  'whether a user chose the key; else it is determined again when the table is captured again';
do $$ -- the function exists where there are captures
begin
  if exists (select from rowrelay.capture) then
    update rowrelay.capture c set key_is_chosen = c.key_columns <> rowrelay.key_of(c.relation)
     where c.released_at is null and exists (select from pg_class r where r.oid = c.relation);
  end if;
end
$$;

-- The names that the tables had when their functions were made are the best that is known.
alter table rowrelay.capture add column chosen_name text;
update rowrelay.capture c set chosen_name = c.relation_name where true;
alter table rowrelay.capture alter chosen_name set not null;
comment on column rowrelay.capture.chosen_name is
  'its name when somebody last captured it, or of the document: another table that has this name now may be the one '
  'that is meant; see rowrelay.successor()';
alter table rowrelay.document_source add column relation_name text;
update rowrelay.document_source s
   set relation_name = (select c.relation_name from rowrelay.capture c where c.id = s.capture)
 where true;
alter table rowrelay.document_source alter relation_name set not null;
comment on column rowrelay.document_source.relation_name is
  'its name when the document was added: the query reads the table that has this name';

-- Names in what people write are resolved once, when they write it.
alter table rowrelay.capture add column resolved_filter text;
comment on column rowrelay.capture.resolved_filter is 'row_filter as PostgreSQL prints it, with all names in full';
alter table rowrelay.document add column resolved_query text;
comment on column rowrelay.document.resolved_query is 'query as PostgreSQL prints it, with all names in full';
alter table rowrelay.document_source add column resolved_query text;
comment on column rowrelay.document_source.resolved_query is 'keys_query as PostgreSQL prints it';
drop function if exists rowrelay.add_document(text, text, text, text, text[], text, boolean, text[], interval);
drop function if exists rowrelay.document_source_parts(text);
drop function if exists rowrelay.check_document_query(text, text, text, regtype);
drop function if exists rowrelay.filter_expression(regclass, text, text);
drop function if exists rowrelay.backfill(regclass, text, text, integer, boolean);

alter table rowrelay.capture add column lanes_since bigint;
comment on column rowrelay.capture.lanes_since is
  'the barrier at which rows last changed lanes, as when the table got another key; null: they never did';

do $$ -- only refused changes ask for it
begin
  if exists (select from rowrelay.refusal) then
    update rowrelay.capture c
       set lanes_since = (select max(b.id) from rowrelay.change b where b.capture = c.id and b.op = 'b')
     where c.id in (select f.capture from rowrelay.refusal f);
  end if;
end
$$;

alter table rowrelay.capture add column numbered_at text, add column column_names text[];
comment on column rowrelay.capture.numbered_at is
  'where the numbers of columns are valid: elsewhere, as after a restore, columns are found by their names; see '
  'rowrelay.renumbered()';
comment on column rowrelay.capture.column_names is
  'names of the table''s columns by number, when the trigger function was made';

alter table rowrelay.backfill add column held_to bigint;
comment on column rowrelay.backfill.held_to is
  'the last change id when the table''s changes began to go to the waiting room: a copy has all that is before';

alter table rowrelay.backfill add column perhaps_sent_to bigint;
comment on column rowrelay.backfill.perhaps_sent_to is
  'changes in the waiting room up to this id may have been delivered, unless the copy includes them: the source failed '
  'over since, see rowrelay.park_perhaps_sent(); null: none may';

alter table rowrelay.capture add column filter_state text;
comment on column rowrelay.capture.filter_state is
  'digest of the condition of the triggers, to detect another in its place; see rowrelay.filter_condition()';
update rowrelay.capture c
   set filter_state = (select encode(sha256(convert_to(t.tgqual::text, getdatabaseencoding())), 'hex') from pg_trigger t
                        where t.tgrelid = c.relation and t.tgname = '!rowrelay_insert')
 where c.row_filter is not null and c.released_at is null;

alter table rowrelay.capture
  add column per text not null default 'row',
  add constraint per_is_known check (per in ('row', 'statement'));
comment on column rowrelay.capture.per is
  'what its triggers are wanted for: row, or statement; a table that cannot be captured by statement has row triggers '
  'all the same, see rowrelay.statement_obstacle()';
drop function if exists rowrelay.wanted_triggers(rowrelay.capture);
drop function if exists rowrelay.triggers_to_create(rowrelay.capture, regclass[], boolean);
drop function if exists rowrelay.attach_triggers(rowrelay.capture, boolean, interval); -- a parameter has another name
drop function if exists rowrelay.lacking_triggers(); -- it gives one value more now

alter table rowrelay.route
  add column create_like text not null default 'minimal',
  add constraint create_like_is_known check (create_like in ('minimal', 'full'));
comment on column rowrelay.route.create_like is
  'what a mirror is created with: minimal: columns, types and key; full: what else lets it take what is delivered, see '
  'rowrelay.mirror_parts()';

alter table rowrelay.route
  add column place text generated always as (rowrelay.place_of(into_table)) stored,
  add column former_ends bigint[] not null default '{}';
comment on column rowrelay.route.place is
  'the table there, spelled in one way: routes of one place must stay in order';
comment on column rowrelay.route.former_ends is
  'until_id of the times before, when the route was removed and added again';

update rowrelay.source set server = null where true; -- which has other parts now; schema/server.sql records it again
alter table rowrelay.source add column restored_id bigint not null default 0;
comment on column rowrelay.source.restored_id is
  'change ids up to this were assigned before the database was restored from a dump: the transactions of these changes '
  'had other numbers';

-- Writers and processes see at once what one of them has set: see rowrelay.continue_ids().
create sequence rowrelay.server_run as bigint minvalue 0 cache 1;
comment on sequence rowrelay.server_run is
  'the run of the server in which change ids have continued after all that may be lost; see rowrelay.server_run()';
create sequence rowrelay.ids_from as bigint minvalue 0 cache 1;
comment on sequence rowrelay.ids_from is 'in this run change ids continue after this one';
create sequence rowrelay.ids_skipped as bigint minvalue 0 cache 1;
comment on sequence rowrelay.ids_skipped is
  'how many change ids were not assigned: the others are the changes that were captured';
do $$ begin
  perform setval('rowrelay.ids_skipped', s.ids_skipped) from rowrelay.source s;
end $$;
alter table rowrelay.source drop column ids_skipped;

-- Logged, though unlogged ones would be cheaper: up to 15.7 and 16.3 a single one fails pg_sequences of a standby.
create sequence rowrelay.lastval as bigint minvalue -9223372036854775808 cycle cache 1000;
create sequence rowrelay.no_lastval as bigint
  minvalue -9223372036854775808 maxvalue -9000000000000000000 start -9223372036854775808 cycle cache 1000;
comment on sequence rowrelay.no_lastval is
  'what lastval() reads, and may not, after a captured change where it was not defined before';
comment on sequence rowrelay.lastval is
  'what lastval() reads after a captured change, as it was before; its number means nothing: see '
  'rowrelay.keep_lastval()';

-- Delivery --------------------------------------------------------------------------------------------------------

-- Not validated: that would read all receipts under the lock.
alter table rowrelay.receipt
  drop constraint outcome_is_known,
  add constraint outcome_is_known
    check (outcome in ('delivered', 'refused', 'superseded', 'skipped', 'copied', 'retried', 'replayed')) not valid;
comment on column rowrelay.receipt.outcome is 'delivered; refused; and of refused changes: superseded by a newer '
  'change of the row, or skipped by a person; copied: the row came with a copy of the whole table; retried, replayed: '
  'a person has queued it once more';
comment on column rowrelay.receipt.actor is 'who skipped, retried or replayed it';
alter table rowrelay.receipt add column lanes integer[];
comment on column rowrelay.receipt.lanes is
  'in which the target has confirmed this claim: its fence has it, or a later one, unless it has lost what it had; '
  'null: it cannot be said';

alter table rowrelay.target add column resumed_by text, add column resumed_at timestamptz;
comment on column rowrelay.target.resumed_by is 'who resumed it last; who paused it is in its reason';
comment on column rowrelay.target.resumed_at is 'when that was';
-- Targets are numbered anew when rowrelay is installed anew. What a process still knows of an earlier installation must
-- not fit.
alter table rowrelay.target alter column version set default 1 + (random() * 1000000000)::integer;
comment on column rowrelay.target.version is 'goes up with every change that running processes must notice before '
  'their next claim; begins at random, so that a target of another installation has another one';

create table rowrelay.hold (
  target      integer not null,
  capture     integer not null,
  since       timestamptz not null default clock_timestamp(),
  attempts    bigint not null,
  retry_at    timestamptz not null,
  released_to bigint not null,
  released    bigint not null default 0,
  piece       integer not null default 1,
  sqlstate    text,
  message     text not null,
  hint        text,
  primary key (target, capture)
) with (fillfactor = 50);
comment on table rowrelay.hold is 'tables that a target cannot take at present, while it takes others: their '
                                  'changes wait in '
  'rowrelay.refusal; see replicator/queue/hold.h';
comment on column rowrelay.hold.target is 'the target';
comment on column rowrelay.hold.capture is 'the table';
comment on column rowrelay.hold.since is 'since when';
comment on column rowrelay.hold.attempts is 'number of attempts since then';
comment on column rowrelay.hold.retry_at is 'when more changes are released for another attempt';
comment on column rowrelay.hold.released_to is 'changes up to this id are delivered; later ones wait';
comment on column rowrelay.hold.released is 'number of released changes that are not settled yet';
comment on column rowrelay.hold.piece is 'number of changes to release next';
comment on column rowrelay.hold.sqlstate is 'the target''s code, if it is a PostgreSQL';
comment on column rowrelay.hold.message is 'why the target cannot take it';
comment on column rowrelay.hold.hint is 'what to do';

alter table rowrelay.refusal
  drop constraint state_is_known,
  add constraint state_is_known check (state in ('error', 'blocked', 'waiting'));
comment on column rowrelay.refusal.state is 'error: refused; blocked: waits behind a refused change of its key (option '
  'on_error=block); waiting: its target cannot take its table at present, see rowrelay.hold';
alter table rowrelay.refusal add column kind text;
comment on column rowrelay.refusal.kind is 'the message without its values, if it has any: of those that differ in '
  'nothing else; see replicator/common/error_kind.h';
alter table rowrelay.refusal add column perhaps_sent text;
comment on column rowrelay.refusal.perhaps_sent is
  'what happened to the source, so that the change may have been delivered, and must not come twice; null: nothing';
-- Millions may wait, while processes search for the others all the time.
create index refusal_waiting on rowrelay.refusal (target, capture, change_id) where state = 'waiting';
create index refusal_refused on rowrelay.refusal (target, lane, state) where state <> 'waiting';

-- The log by a cursor ---------------------------------------------------------------------------------------------

alter table rowrelay.day add column closed_in pg_snapshot, add column dropped_in xid8;
comment on column rowrelay.day.closed_in is
  'a snapshot that sees all of its changes; null: it was closed by version 1; see rowrelay.check_log_behind()';
comment on column rowrelay.day.dropped_in is 'transaction that dropped it, or last changes of some tables from it';

alter table rowrelay.source add column log_mark text not null default left(md5(gen_random_uuid()::text), 8);
comment on column rowrelay.source.log_mark is 'which log this is, in cursors; see rowrelay.log_mark()';
alter table rowrelay.tick add column timeline integer, add column started bigint;
comment on column rowrelay.tick.timeline is 'of the server; null: version 1 took it; see rowrelay.changes_since()';
comment on column rowrelay.tick.started is 'when the server had started, see rowrelay.server_started()';

create table rowrelay.server_start (
  id        integer generated always as identity primary key,
  timeline  integer not null,
  started   bigint not null,
  next_txid xid8 not null,
  noted_at  timestamptz not null default clock_timestamp(),
  constraint each_once unique (timeline, started)
);
comment on table rowrelay.server_start is
  'runs of servers that this one goes on from, and its own: what a cursor has seen of any other one is not here; see '
  'rowrelay.changes_since()';
comment on column rowrelay.server_start.id is 'order';
comment on column rowrelay.server_start.timeline is 'of the server';
comment on column rowrelay.server_start.started is 'when it had started, see rowrelay.server_started()';
comment on column rowrelay.server_start.next_txid is
  'no transaction with this number or a larger one had ended when it was noted: what ended in an earlier run with one '
  'is lost here';
comment on column rowrelay.server_start.noted_at is 'when rowrelay.skip_lost_ids() noted it';

-- Operations ------------------------------------------------------------------------------------------------------
alter table rowrelay.source add column native boolean not null default true;
comment on column rowrelay.source.native is
  'whether trigger functions use the server module rowrelay_native where it is installed';
alter table rowrelay.source add column publish_anyway boolean not null default false;
comment on column rowrelay.source.publish_anyway is
  'whether a publication of all tables may have those of schema rowrelay, too; see schema/check_published.sql';
drop function if exists rowrelay.changes_to_undo(regclass, text); -- replaced by rowrelay.latest_changes()
drop function if exists rowrelay.row_before(rowrelay.change, rowrelay.capture, rowrelay.change);
drop function if exists rowrelay.row_texts(rowrelay.capture, rowrelay.change, json);
drop function if exists rowrelay.row_condition(rowrelay.capture, jsonb, text, boolean);
drop function if exists rowrelay.is_same_row(rowrelay.capture, rowrelay.undo_step, rowrelay.undo_step);
drop function if exists rowrelay.typed_literal(regclass, text, text);
drop function if exists rowrelay.undo_insert(rowrelay.capture, rowrelay.undo_step);
drop function if exists rowrelay.undo_statement(rowrelay.undo_step);
drop function if exists rowrelay.document_cost(text, regtype, text); -- it gives one value now
drop function if exists rowrelay.document_key(json, text, text, oid);
drop function if exists rowrelay.document_key_expression(regclass, smallint, text);
drop function if exists rowrelay.document_statements(rowrelay.capture, text, boolean, text);
drop function if exists rowrelay.changed_statement(regclass, text, text);

-- Processes -------------------------------------------------------------------------------------------------------
alter table rowrelay.instance add backend integer;
comment on table rowrelay.instance is 'running processes; one without a heartbeat for half a minute hangs, or is gone';
comment on column rowrelay.instance.backend is
  'process of the server that its own session has: while that is there, the process has not ended';

-- The past --------------------------------------------------------------------------------------------------------
alter type rowrelay.past add attribute is_shown boolean; -- as JSON, not as rows of the table
drop function if exists rowrelay.past_images(rowrelay.capture, text, text, text, text);
drop function if exists rowrelay.past_statement(regclass, timestamptz, pg_snapshot, text);
