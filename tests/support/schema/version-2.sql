-- Installs schema rowrelay, or upgrades it:  psql -f schema/install.sql
-- `rowrelay init` runs the same files in the same order. It can be run again, and by two people at once. It touches no
-- table of yours, and schema/uninstall.sql removes all that it creates.
begin;
set local client_min_messages = warning;
set local standard_conforming_strings = on; -- else backslashes in strings would be read as escapes
-- One installation or removal of schema rowrelay at a time: both take this lock first, in the transaction
-- that does it. Its number is 'rowrelay' in ASCII. Whoever may log in can hold it, so who waits is told for whom.
do $$
declare
  holder text;
begin
  for attempt in 1..20 loop
    if pg_catalog.pg_try_advisory_xact_lock(x'726f7772656c6179'::bigint) then
      return;
    end if;
    perform pg_catalog.pg_sleep(0.1);
  end loop;
  select pg_catalog.string_agg(pg_catalog.format('%s of user %s', l.pid, a.usename), ', ') into holder
    from pg_catalog.pg_locks l left join pg_catalog.pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.classid = x'726f7772'::integer::oid
     and l.objid = x'656c6179'::integer::oid
     and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database());
  raise warning 'waiting for another session that installs or removes schema rowrelay: process %', holder
    using hint = 'If it does neither, end it: select pg_terminate_backend(PID)';
  perform pg_catalog.pg_advisory_xact_lock(x'726f7772656c6179'::bigint);
end
$$;
-- Nobody changes captures and targets meanwhile. Version 1 has no such lock.
do $$
begin
  if pg_catalog.to_regprocedure('rowrelay.lock_configuration()') is not null then
    perform rowrelay.lock_configuration();
  end if;
end
$$;
-- Runs first after the lock, in the same transaction: creates a table to record versions in.
do $$
begin
  -- "if not exists" would ask for the right to create schemas even where there is nothing to create.
  if pg_catalog.to_regnamespace('rowrelay') is null then
    begin
      create schema rowrelay;
    exception when insufficient_privilege then
      raise exception '%', sqlerrm using errcode = 'insufficient_privilege',
        hint = pg_catalog.format('Ask the owner of the database to run: grant create on database %I to %I',
                                 pg_catalog.current_database(), current_user);
    end;
    comment on schema rowrelay is 'rowrelay: captures changes of tables and relays them to targets';
  end if;
  if pg_catalog.to_regclass('rowrelay.migration') is not null then
    if pg_catalog.to_regclass('rowrelay.source') is not null and not exists (select from rowrelay.migration) then
      raise exception 'schema rowrelay exists without its contents (a schema-only restore?)'
        using errcode = 'object_not_in_prerequisite_state',
              hint = 'Remove it and its triggers, then install again: '
                     || case when pg_catalog.current_setting('rowrelay.shell', true) = 'on' then 'rowrelay uninstall'
                             else 'psql -f schema/uninstall.sql' end;
    end if;
  else
    create table rowrelay.migration (
      version    integer primary key,
      applied_at timestamptz not null default pg_catalog.now()
    );
    comment on table rowrelay.migration is 'the migrations that have been applied to schema rowrelay';
    comment on column rowrelay.migration.version is 'number of the file in schema/migrations';
    comment on column rowrelay.migration.applied_at is 'when';
  end if;
end
$$;

insert into rowrelay.migration (version) values (1);

-- The source itself ---------------------------------------------------------------------------------------------

create table rowrelay.source (
  only_row    boolean primary key default true check (only_row),
  id          uuid not null default gen_random_uuid(),
  keep        interval constraint keep_is_positive check (keep > interval '0'),
  seals       boolean not null default false,
  open_from   date,
  open_until  date,
  open_since  timestamptz,
  prunings    bigint not null default 0,
  server      text[],
  ids_skipped bigint not null default 0
);
comment on table rowrelay.source is 'who this database is, for targets that are fed by several sources: one row';
comment on column rowrelay.source.only_row is 'keeps it at one row';
comment on column rowrelay.source.id is 'what a target keeps fences and change ids under';
comment on column rowrelay.source.keep is 'how long changes are kept; null: for ever; see rowrelay.keep()';
comment on column rowrelay.source.seals is 'days of the log are sealed when they are closed; see rowrelay.seal_days()';
comment on column rowrelay.source.open_from is 'first day that rowrelay.partition_day() names';
comment on column rowrelay.source.open_until is 'last day that it names';
comment on column rowrelay.source.open_since is 'since when it is so';
comment on column rowrelay.source.prunings is 'how often a day of the log was dropped, as far as a snapshot sees it; see rowrelay.sees_log()';
comment on column rowrelay.source.server is 'which server, since which start and which crash of it, processes were at last; see rowrelay.this_server()';
comment on column rowrelay.source.ids_skipped is 'how many change ids rowrelay.skip_lost_ids() has skipped: the others are the changes that were captured';
insert into rowrelay.source default values;

-- What is captured, and where it goes ---------------------------------------------------------------------------

create table rowrelay.capture (
  id              integer generated always as identity primary key,
  relation        regclass not null,
  relation_name   text not null,
  key_columns     smallint[] not null,
  key_names       text[] not null default '{}',
  key_is_exact    boolean not null,
  lane_columns    smallint[],
  only_columns    smallint[],
  only_names      text[],
  exclude_columns smallint[] not null,
  exclude_names   text[] not null default '{}',
  mask            jsonb not null,
  mask_names      jsonb not null default '{}',
  row_filter      text,
  before          text not null constraint before_is_known check (before in ('none', 'full')),
  capture_origin  boolean not null,
  column_state    text,
  lane_state      text,
  keep            interval constraint keep_is_positive check (keep > interval '0'),
  created_at      timestamptz not null default now(),
  log_since       timestamptz not null default clock_timestamp(),
  released_at     timestamptz
);
create unique index capture_relation on rowrelay.capture (relation) where released_at is null;
comment on table rowrelay.capture is 'tables whose changes are captured, now or once; see rowrelay.capture_table()';
comment on column rowrelay.capture.id is 'what rowrelay.change refers to, and the number in the name of the trigger function';
comment on column rowrelay.capture.relation is 'the table';
comment on column rowrelay.capture.relation_name is 'its name when the trigger function was made, for when it is gone';
comment on column rowrelay.capture.key_columns is 'attribute numbers of the key; empty: no key, rows are told apart by all they hold';
comment on column rowrelay.capture.key_names is 'their names when the trigger function was made, for when the table is gone';
comment on column rowrelay.capture.key_is_exact is 'equal keys always have equal texts (not so for citext or float8), so a batch''s changes of a key may be collapsed';
comment on column rowrelay.capture.lane_columns is 'attribute numbers of what keeps changes in order; null: the key; empty: the whole table';
comment on column rowrelay.capture.only_columns is 'attribute numbers of the columns to capture, which survive a rename; null: all';
comment on column rowrelay.capture.only_names is 'names of the columns to capture, which survive that one is dropped and made anew; null: all';
comment on column rowrelay.capture.exclude_columns is 'attribute numbers of columns that are left out, under whatever name';
comment on column rowrelay.capture.exclude_names is 'names of columns that are left out, also when another column has one of them by now';
comment on column rowrelay.capture.mask is 'attribute number -> JSON value that takes the place of what the column holds';
comment on column rowrelay.capture.mask_names is 'name of a column -> the same';
comment on column rowrelay.capture.row_filter is 'SQL condition on a row: only rows for which it holds are captured; null: all';
comment on column rowrelay.capture.before is 'full: an update''s row before it is kept too';
comment on column rowrelay.capture.capture_origin is 'capture also what rowrelay itself writes here';
comment on column rowrelay.capture.column_state is 'what the table was like when the trigger function was made, to see that it is out of date; see rowrelay.column_state()';
comment on column rowrelay.capture.lane_state is 'what the lanes of rows depended on when the trigger function was made; see rowrelay.lane_state()';
comment on column rowrelay.capture.keep is 'how long its changes are kept; null: as the source says; see rowrelay.keep()';
comment on column rowrelay.capture.created_at is 'since when';
comment on column rowrelay.capture.log_since is 'since when the log holds every change of the table: since its triggers are there, or what was removed of the log by age ended';
comment on column rowrelay.capture.released_at is 'until when; null: it is captured now';

create table rowrelay.shape (
  id         integer generated always as identity primary key,
  capture    integer not null references rowrelay.capture,
  from_id    bigint not null,
  noticed_at timestamptz not null default clock_timestamp(),
  txid       xid8 not null default pg_current_xact_id(),
  begins     boolean not null,
  was_empty  boolean not null,
  numbers    smallint[] not null,
  names      text[] not null,
  masks      json not null,
  hidden     smallint[] not null,
  key_types  regtype[] not null,
  altered_by xid8 not null
);
create index shape_capture on rowrelay.shape (capture, id);
comment on table rowrelay.shape is 'what the rows of a captured table looked like in the log, from when on: so that old images are read right under the names of now';
comment on column rowrelay.shape.id is 'the later has the larger';
comment on column rowrelay.shape.capture is 'of which table';
comment on column rowrelay.shape.from_id is 'changes with a larger id have this shape, or a later one; some before may have it, because it is noticed when the trigger function is made anew';
comment on column rowrelay.shape.noticed_at is 'when it was noticed';
comment on column rowrelay.shape.txid is 'transaction that noticed it';
comment on column rowrelay.shape.begins is 'nothing before it can be compared: the table is captured from here on, or with another key or filter';
comment on column rowrelay.shape.was_empty is 'the table had no row when that began, so the log knows all that ever was in it';
comment on column rowrelay.shape.numbers is 'attribute numbers of the columns that an image has, in its order';
comment on column rowrelay.shape.names is 'their names';
comment on column rowrelay.shape.masks is 'name of a column -> JSON value that stands in its place';
comment on column rowrelay.shape.hidden is 'attribute numbers of the columns that it has not';
comment on column rowrelay.shape.key_types is 'types of the key''s columns, on which the text of a key depends';
comment on column rowrelay.shape.altered_by is 'the last transaction that altered a column';

create table rowrelay.truncation (
  capture     integer not null,
  change_id   bigint not null,
  day         date not null,
  txid        xid8 not null,
  captured_at timestamptz not null,
  condition   text,
  is_known    boolean not null,
  primary key (capture, change_id)
);
comment on table rowrelay.truncation is 'the truncates in the log once more, because the past of every row of a table depends on them';
comment on column rowrelay.truncation.capture is 'of which table';
comment on column rowrelay.truncation.change_id is 'as in rowrelay.change';
comment on column rowrelay.truncation.day is 'as in rowrelay.change';
comment on column rowrelay.truncation.txid is 'as in rowrelay.change';
comment on column rowrelay.truncation.captured_at is 'as in rowrelay.change';
comment on column rowrelay.truncation.condition is 'which rows, where only a partition was truncated; null: all';
comment on column rowrelay.truncation.is_known is 'false: it could not be captured which rows';

-- What rowrelay.as_of() has found out about a moment, on its way from function to function.
create type rowrelay.past as (
  capture  rowrelay.capture,
  begun    rowrelay.shape, -- with which the log begins
  shape    rowrelay.shape, -- that rows have now
  log      text,           -- SQL behind FROM: what of the log may be used, as h
  recent   text,           -- the part of it in which all is that does not count
  counts   text,           -- SQL: whether h had happened
  known    bigint,         -- changes up to this id do not say what a row is: it may have been truncated since
  complete boolean,        -- no row was there at that id, so what is there comes later in the log
  cut_at   bigint          -- the first truncate after the moment; null: none
);
comment on type rowrelay.past is 'what is known of a moment in the past of a captured table; see rowrelay.past_of()';

create table rowrelay.target (
  id         integer generated always as identity primary key constraint id_fits_lane_locks check (id < 524288),
  name       text not null constraint name_is_given check (name <> ''),
  url        text not null,
  options    jsonb not null,
  lanes      smallint not null constraint lanes_fit_lane_locks check (lanes between 1 and 1024),
  state      text not null default 'running' constraint state_is_known check (state in ('running', 'paused', 'halted')),
  reason     text,
  version    integer not null default 1,
  created_at timestamptz not null default now(),
  dropped_at timestamptz
);
create unique index target_name on rowrelay.target (name) where dropped_at is null;
comment on table rowrelay.target is 'where changes go; see rowrelay.add_target()';
comment on column rowrelay.target.id is 'what queue and receipts refer to';
comment on column rowrelay.target.name is 'how people call it';
comment on column rowrelay.target.url is 'what and where it is; ${NAME} in it is filled from the environment of the process that pushes';
comment on column rowrelay.target.options is 'what was set, without defaults';
comment on column rowrelay.target.lanes is 'how many ordered streams; changes of one key are always in the same';
comment on column rowrelay.target.state is 'paused: by a person; halted: by a refused change, as option on_error=halt asks';
comment on column rowrelay.target.reason is 'why it is halted';
comment on column rowrelay.target.version is 'goes up with every change that running processes must notice before their next claim';
comment on column rowrelay.target.created_at is 'since when';
comment on column rowrelay.target.dropped_at is 'until when; null: it is in use';

create table rowrelay.route (
  capture      integer not null references rowrelay.capture,
  target       integer not null references rowrelay.target,
  into_table   text not null,
  create_table boolean not null,
  from_id      bigint not null,
  until_id     bigint,
  primary key (capture, target)
);
comment on table rowrelay.route is 'which capture goes to which target; see rowrelay.route()';
comment on column rowrelay.route.capture is 'what';
comment on column rowrelay.route.target is 'where to';
comment on column rowrelay.route.into_table is 'name of the table there';
comment on column rowrelay.route.create_table is 'make that table, and columns it lacks, when they are missing';
comment on column rowrelay.route.from_id is 'last change id when the route was made';
comment on column rowrelay.route.until_id is 'last change id when it was ended; null: it is in use';

-- Documents -----------------------------------------------------------------------------------------------------

create table rowrelay.document (
  target      integer primary key references rowrelay.target,
  delivers_to integer not null references rowrelay.target,
  capture     integer not null references rowrelay.capture,
  key_name    text not null,
  key_type    regtype not null,
  query       text not null,
  search_path text not null,
  build_query text not null,
  columns     jsonb not null,
  created_at  timestamptz not null default now()
);
comment on table rowrelay.document is 'rows or JSON that a query builds from several tables, refreshed when one of them changes; see rowrelay.add_document()';
comment on column rowrelay.document.target is 'the document as a target, with lanes, state and refused changes of its own';
comment on column rowrelay.document.delivers_to is 'the target whose URL it goes to';
comment on column rowrelay.document.capture is 'what the log and routes know it by; no table stands behind it';
comment on column rowrelay.document.key_name is 'column of the query''s result that tells documents apart';
comment on column rowrelay.document.key_type is 'type of the keys in $1';
comment on column rowrelay.document.query is 'as it was given: $1 is the array of keys';
comment on column rowrelay.document.search_path is 'in which its names are looked up';
comment on column rowrelay.document.build_query is 'what is run: gives each key as text, and the document as JSON';
comment on column rowrelay.document.columns is '[{"name", "type"}] of a table that holds the documents, with "index" where one is wanted';
comment on column rowrelay.document.created_at is 'since when';

create table rowrelay.document_source (
  document     integer not null references rowrelay.document,
  position     smallint not null,
  capture      integer not null references rowrelay.capture,
  key_column   smallint,
  key_name     text,
  keys_query   text,
  only_columns smallint[],
  primary key (document, position),
  constraint column_or_query check ((key_column is null) = (keys_query is not null))
);
create index document_source_capture on rowrelay.document_source (capture);
comment on table rowrelay.document_source is 'the tables that a document is built from, and how a changed row leads to documents';
comment on column rowrelay.document_source.document is 'which';
comment on column rowrelay.document_source.position is '1: its column holds all the keys there are';
comment on column rowrelay.document_source.capture is 'the table';
comment on column rowrelay.document_source.key_column is 'attribute number of the column that holds the document''s key; null: a query finds the keys';
comment on column rowrelay.document_source.key_name is 'its name when the trigger function was made';
comment on column rowrelay.document_source.keys_query is 'gives the keys for the rows of "changed"';
comment on column rowrelay.document_source.only_columns is 'attribute numbers of the columns that the document uses; an update of others does not refresh it; null: all';

-- The log and the queue -----------------------------------------------------------------------------------------

-- cache 1: a change that saw another committed change has a larger id only if no session hoards numbers.
create sequence rowrelay.change_id as bigint cache 1;
comment on sequence rowrelay.change_id is 'order of all changes';

-- No check constraints on these two: PostgreSQL compiles them anew for every row that a trigger writes.
create table rowrelay.change (
  id           bigint not null default nextval('rowrelay.change_id'),
  txid         xid8 not null,
  captured_at  timestamptz not null,
  day          date not null,
  capture      integer not null,
  op           "char" not null,
  key          text,
  actor        text,
  db_user      text,
  application_name text,
  client_addr  inet,
  old_row      json,
  new_row      json,
  caveat       json,
  primary key (id, day)
) partition by range (day);
comment on table rowrelay.change is 'the log: every captured change, never updated; people query rowrelay.history';
comment on column rowrelay.change.id is 'order: of one row''s changes the later has the larger id';
comment on column rowrelay.change.txid is 'transaction that made the change';
comment on column rowrelay.change.captured_at is 'when the row was written, by the server''s clock';
comment on column rowrelay.change.day is 'partition: the day (UTC) on which the transaction began, or the nearest for which there is a partition';
comment on column rowrelay.change.capture is 'of which table';
comment on column rowrelay.change.op is 'i insert, u update, d delete, t truncate, s snapshot; r: documents to be refreshed, by their keys or by a row that has left them; b: nothing happened to a row, but what is before must be delivered before what is after';
comment on column rowrelay.change.key is 'the key as text; a JSON array of several columns; null: the table has none';
comment on column rowrelay.change.actor is 'setting rowrelay.actor of the transaction, else the session''s user; null: db_user';
comment on column rowrelay.change.db_user is 'the session''s user; "web as anna" after SET ROLE anna';
comment on column rowrelay.change.application_name is 'what the session called itself: its setting application_name';
comment on column rowrelay.change.client_addr is 'where the session came from; null: a local socket';
comment on column rowrelay.change.old_row is 'the row before, if it was asked for or the table has no key; of a deleted row, and of one that moved between documents, at least the keys';
comment on column rowrelay.change.new_row is 'the row after; of a truncate that emptied one partition, which rows; of a refresh, the keys';
comment on column rowrelay.change.caveat is 'what to know of the images, mostly nothing. text_columns: json columns given as a string of JSON text, because they would not survive otherwise (JSON null, \u0000); redacted: columns whose values were removed later, so that null says nothing; problem: why the row could not be captured, and every target must refuse it; target: of a snapshot, the one that it is for';

create sequence rowrelay.prunings as bigint cache 1;
comment on sequence rowrelay.prunings is 'how often a day of the log was dropped, as everybody sees it at once';

create table rowrelay.day (
  day         date primary key,
  waits_for   text[],
  closed_at   timestamptz,
  ends_at     timestamptz,
  first_id    bigint,
  last_id     bigint,
  captures    integer[],
  deleting    integer[],
  deleted_to  bigint,
  gone        integer[] not null default '{}',
  note        text,
  archive     text,
  sha256      text,
  archived_at timestamptz,
  dropped_at  timestamptz,
  restored_at timestamptz
);
comment on table rowrelay.day is 'what is known of the past days of the log; see rowrelay.close_days(), rowrelay.prune()';
comment on column rowrelay.day.day is 'partition of rowrelay.change, there or gone';
comment on column rowrelay.day.waits_for is 'virtual transactions that may still write into it';
comment on column rowrelay.day.closed_at is 'since when it is known that no transaction can write into it any more; null: it is not';
comment on column rowrelay.day.ends_at is 'from when on its age is counted: the end of the day after it, or its newest change if that is younger';
comment on column rowrelay.day.first_id is 'its first change; null: none when it was closed';
comment on column rowrelay.day.last_id is 'its last change';
comment on column rowrelay.day.captures is 'of which tables it has changes; null: nobody has looked';
comment on column rowrelay.day.deleting is 'tables whose changes are just being deleted from it; null: none';
comment on column rowrelay.day.deleted_to is 'up to which id they are deleted';
comment on column rowrelay.day.gone is 'tables whose changes were deleted from it';
comment on column rowrelay.day.note is 'why it is still there although it is old enough to go';
comment on column rowrelay.day.archive is 'name of the file that it was written to';
comment on column rowrelay.day.sha256 is 'checksum of that file';
comment on column rowrelay.day.archived_at is 'when that was';
comment on column rowrelay.day.dropped_at is 'when its changes were dropped';
comment on column rowrelay.day.restored_at is 'when they were brought back from the archive, to stay until somebody asks; null: they were not';

create table rowrelay.queue (
  change_id bigint not null,
  lane      integer not null,
  day       date not null,
  bytes     integer not null,
  primary key (lane, change_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table rowrelay.queue is 'one row for each (change, target) that is not settled yet';
comment on column rowrelay.queue.change_id is 'what';
comment on column rowrelay.queue.lane is 'where to: number of an ordered stream of a target, see rowrelay.lane_number()';
comment on column rowrelay.queue.day is 'partition of the change';
comment on column rowrelay.queue.bytes is 'size of its row images';

create table rowrelay.refusal (
  target     integer not null,
  change_id  bigint not null,
  lane       integer not null,
  day        date not null,
  bytes      integer not null,
  capture    integer not null,
  key        text,
  state      text not null constraint state_is_known check (state in ('error', 'blocked')),
  attempts   integer not null,
  sqlstate   text,
  message    text not null,
  detail     text,
  refused_at timestamptz not null default now(),
  primary key (target, change_id)
);
create index refusal_key on rowrelay.refusal (target, capture, key);
comment on table rowrelay.refusal is 'changes that a target refused, until they are retried or skipped; people query rowrelay.errors';
comment on column rowrelay.refusal.target is 'who refused';
comment on column rowrelay.refusal.change_id is 'what';
comment on column rowrelay.refusal.lane is 'as it was queued';
comment on column rowrelay.refusal.day is 'as it was queued';
comment on column rowrelay.refusal.bytes is 'as it was queued';
comment on column rowrelay.refusal.capture is 'of which table';
comment on column rowrelay.refusal.key is 'of which row';
comment on column rowrelay.refusal.state is 'error: refused; blocked: waits behind a refused change of its key (option on_error=block)';
comment on column rowrelay.refusal.attempts is 'how often it was tried';
comment on column rowrelay.refusal.sqlstate is 'the target''s code, if it is a PostgreSQL';
comment on column rowrelay.refusal.message is 'the target''s words';
comment on column rowrelay.refusal.detail is 'the target''s words, continued';
comment on column rowrelay.refusal.refused_at is 'when';

create table rowrelay.lease (
  lane        integer primary key,
  process_id  uuid not null,
  instance    uuid not null,
  token       bigint not null,
  claimed_at  timestamptz not null,
  lease_until timestamptz not null,
  failures    integer not null default 0,
  change_id   bigint,
  deaths      integer not null default 0
) with (fillfactor = 50);
comment on table rowrelay.lease is 'lanes whose batch is being pushed outside any transaction (option claim=lease); nobody else claims from them before lease_until';
comment on column rowrelay.lease.lane is 'which; its rows stay in the queue until they are settled';
comment on column rowrelay.lease.process_id is 'of this claim: only who knows it may settle';
comment on column rowrelay.lease.instance is 'which process';
comment on column rowrelay.lease.token is 'number of the claim';
comment on column rowrelay.lease.claimed_at is 'when, by the server''s clock';
comment on column rowrelay.lease.lease_until is 'until when, by the server''s clock; renewed before each push; -infinity: it was given back';
comment on column rowrelay.lease.failures is 'how often a claim of this lane has expired, because its process died; each batch that is settled takes one off';
comment on column rowrelay.lease.change_id is 'the change, if it is the only one of the claim';
comment on column rowrelay.lease.deaths is 'how often a process has died when it was';

create sequence rowrelay.claim_token as bigint cache 1;
comment on sequence rowrelay.claim_token is 'number of each claim: a later claim of a lane has a larger one';

create table rowrelay.receipt (
  token      bigint not null,
  part       smallint not null,
  target     integer not null,
  outcome    text not null
             constraint outcome_is_known check (outcome in ('delivered', 'refused', 'superseded', 'skipped', 'copied')),
  answer     text,
  error      text,
  attempts   integer not null,
  actor      text,
  instance   uuid,
  host       text,
  pid        integer,
  claimed_at timestamptz,
  settled_at timestamptz not null,
  change_ids bigint[] not null,
  first_id   bigint not null,
  last_id    bigint not null,
  primary key (token, part)
);
create index receipt_settled on rowrelay.receipt (target, settled_at);
-- Batches overlap, and a retried change may be in one far from its neighbours: so not by the last id.
create index receipt_changes on rowrelay.receipt using gist (int8range(first_id, last_id, '[]'));
comment on table rowrelay.receipt is 'what became of changes, batch by batch; people query rowrelay.history';
comment on column rowrelay.receipt.token is 'of the claim; the target''s fence knows it too';
comment on column rowrelay.receipt.part is 'of a batch: changes of which the same is to be said';
comment on column rowrelay.receipt.target is 'where to';
comment on column rowrelay.receipt.outcome is 'delivered; refused; and of refused changes: superseded by a newer change of the row, or skipped by a person; copied: the row came with a copy of the whole table';
comment on column rowrelay.receipt.answer is 'what the target said of what it took';
comment on column rowrelay.receipt.error is 'why what was superseded or skipped had been refused';
comment on column rowrelay.receipt.attempts is 'how often it was tried by that process';
comment on column rowrelay.receipt.actor is 'who skipped it';
comment on column rowrelay.receipt.instance is 'which process; null: it was a person';
comment on column rowrelay.receipt.host is 'where that ran';
comment on column rowrelay.receipt.pid is 'its process id there';
comment on column rowrelay.receipt.claimed_at is 'when the batch was taken';
comment on column rowrelay.receipt.settled_at is 'when it was settled';
comment on column rowrelay.receipt.change_ids is 'which changes';
comment on column rowrelay.receipt.first_id is 'the smallest of them';
comment on column rowrelay.receipt.last_id is 'the largest of them';

-- Finding changes -----------------------------------------------------------------------------------------------

create table rowrelay.tick (
  id           bigint generated always as identity primary key,
  taken_at     timestamptz not null,
  era          integer not null,
  snapshot     pg_snapshot not null,
  low          bigint not null,
  high         bigint not null,
  writers      xid8[] not null,
  writers_from bigint[] not null,
  indexed_to   bigint,
  open_from    date,
  first_day    date,
  last_day     date,
  block_ids    int8range[],
  block_txids  int8range[],
  constraint ids_are_in_order check (low <= high)
);
create index tick_xmax on rowrelay.tick (era, pg_snapshot_xmax(snapshot), id);
create index tick_taken_at on rowrelay.tick (taken_at);
comment on table rowrelay.tick is 'moments of the log: which changes were committed by then; see rowrelay.tick()';
comment on column rowrelay.tick.id is 'order';
comment on column rowrelay.tick.taken_at is 'when, by the server''s clock';
comment on column rowrelay.tick.era is 'goes up when the log was restored from a dump into a server with other transaction ids';
comment on column rowrelay.tick.snapshot is 'which transactions had ended';
comment on column rowrelay.tick.low is 'a change of a transaction that had not ended has a larger id, unless the transaction is one of writers';
comment on column rowrelay.tick.high is 'a change of a transaction that had ended has no larger id';
comment on column rowrelay.tick.writers is 'transactions that had not ended, and may have changes up to low';
comment on column rowrelay.tick.writers_from is 'for each of these: its changes have larger ids than this';
comment on column rowrelay.tick.open_from is 'changes of transactions that had not ended are in this partition or a later one; null: in any';
comment on column rowrelay.tick.indexed_to is 'up to which id rowrelay.change_key has the changes that had been committed by then; null: it has all of them';
comment on column rowrelay.tick.first_day is 'of the changes that were committed since the tick before, the first partition; null: there are none';
comment on column rowrelay.tick.last_day is 'and the last one';
comment on column rowrelay.tick.block_ids is 'their ids, in blocks of up to 512';
comment on column rowrelay.tick.block_txids is 'between which transactions the changes of each block are';

-- The day comes first, so that what is written in the background are always the same few pages of the index.
create table rowrelay.change_key (
  change_id bigint not null,
  day       date not null,
  key_hash  integer not null
) partition by range (day);
create index change_key_hash on rowrelay.change_key (day, key_hash, change_id);
comment on table rowrelay.change_key is 'where the changes of a row are: filled behind the writers by rowrelay.tick(); see rowrelay.changes_of_key()';
comment on column rowrelay.change_key.change_id is 'which change';
comment on column rowrelay.change_key.day is 'its partition of rowrelay.change; here one is a month';
comment on column rowrelay.change_key.key_hash is 'rowrelay.key_hash() of its capture and key';

-- Rows that were there before -----------------------------------------------------------------------------------

create table rowrelay.backfill (
  id             integer generated always as identity primary key constraint id_fits_waiting_rooms check (id < 1048575),
  capture        integer not null references rowrelay.capture,
  target         integer not null references rowrelay.target,
  state          text not null default 'waiting'
                 constraint state_is_known check (state in ('waiting', 'copying', 'joining', 'running', 'done', 'cancelled')),
  way            text not null default 'pieces' constraint way_is_known check (way in ('copy', 'pieces')),
  snapshot       pg_snapshot,
  give_up        text,
  row_filter     text,
  condition      text,
  rate           integer constraint rate_is_positive check (rate > 0),
  waits_for      text[],
  waits_since    timestamptz,
  part           regclass,
  position       text[],
  rows_read      bigint not null default 0,
  rows_queued    bigint not null default 0,
  rows_estimated bigint not null,
  looked_at_rows bigint,
  note           text,
  retry_at       timestamptz,
  registered_at  timestamptz not null default now(),
  started_at     timestamptz,
  finished_at    timestamptz,
  constraint one_for_each_route unique (capture, target)
) with (fillfactor = 50);
comment on table rowrelay.backfill is 'rows that were in a table before it went to a target, on their way there; people query rowrelay.backfills';
comment on column rowrelay.backfill.id is 'number of the advisory lock (1919907682, id) that its driver holds, and of its waiting room';
comment on column rowrelay.backfill.capture is 'what';
comment on column rowrelay.backfill.target is 'where to';
comment on column rowrelay.backfill.state is 'waiting: for transactions that write with the trigger function as it was before; running: chunk by chunk; copying: as a whole, while new changes of the table stand in a waiting room; joining: those come out of it';
comment on column rowrelay.backfill.way is 'copy: as a whole, if that turns out to be possible; pieces: chunk by chunk; see replicator/copy.h';
comment on column rowrelay.backfill.snapshot is 'that is copied as a whole, or was; null: none yet, or nothing came of it';
comment on column rowrelay.backfill.give_up is 'why a copy that was begun is to be given up, once it is known how far it got; null: it is not';
comment on column rowrelay.backfill.row_filter is 'only rows for which this holds, as it was given; null: all that the capture wants';
comment on column rowrelay.backfill.condition is 'the same with all names resolved, on a row that is called new';
comment on column rowrelay.backfill.rate is 'rows per second at most; null: as fast as it goes';
comment on column rowrelay.backfill.waits_for is 'virtual transactions that wrote to the table when this began; null: nobody has looked yet';
comment on column rowrelay.backfill.waits_since is 'when they were listed';
comment on column rowrelay.backfill.part is 'the table that is being read: the captured one, a partition or an inheritance child, in the order of their numbers';
comment on column rowrelay.backfill.position is 'where in it: values of the columns of rowrelay.backfill_order(), as text; null: at its beginning';
comment on column rowrelay.backfill.rows_read is 'rows passed so far';
comment on column rowrelay.backfill.rows_queued is 'rows queued so far: those that the filters let through';
comment on column rowrelay.backfill.rows_estimated is 'how many rows there were when it was registered, as the planner guesses';
comment on column rowrelay.backfill.looked_at_rows is 'rows_queued when the target''s backlog was last looked at';
comment on column rowrelay.backfill.note is 'what it waits for, or why it ended';
comment on column rowrelay.backfill.retry_at is 'when running processes try it again after it failed; null: it did not';
comment on column rowrelay.backfill.registered_at is 'since when it is wanted';
comment on column rowrelay.backfill.started_at is 'when its first chunk was read';
comment on column rowrelay.backfill.finished_at is 'when it was done or given up';

-- Tamper evidence, and what was removed from the log ------------------------------------------------------------

create table rowrelay.redaction (
  id            integer generated always as identity primary key,
  redacted_at   timestamptz not null,
  redacted_by   text not null,
  reason        text,
  relation      regclass not null,
  relation_name text not null,
  keys          text[] not null,
  columns       text[] not null,
  change_ids    bigint[] not null,
  hashes_before bytea[] not null,
  hashes_after  bytea[] not null
);
comment on table rowrelay.redaction is 'values that were removed from the log; see rowrelay.redact()';
comment on column rowrelay.redaction.id is 'what the seal of this record refers to';
comment on column rowrelay.redaction.redacted_at is 'when';
comment on column rowrelay.redaction.redacted_by is 'who had logged in; "web as anna" after SET ROLE anna';
comment on column rowrelay.redaction.reason is 'why, as it was given';
comment on column rowrelay.redaction.relation is 'of which table';
comment on column rowrelay.redaction.relation_name is 'its name then';
comment on column rowrelay.redaction.keys is 'of which rows';
comment on column rowrelay.redaction.columns is 'which columns';
comment on column rowrelay.redaction.change_ids is 'the changes that held values in them';
comment on column rowrelay.redaction.hashes_before is 'rowrelay.change_hash() of each before; null: its day was not sealed';
comment on column rowrelay.redaction.hashes_after is 'the same after it, with another salt';

create table rowrelay.seal (
  position  bigint primary key,
  sealed_at timestamptz not null,
  day       date,
  block     integer,
  ends_day  boolean,
  first_id  bigint,
  last_id   bigint,
  changes   integer,
  redaction integer,
  ids       bigint[],
  captures  integer[],
  hashes    bytea,
  secret    bytea,
  salts     bytea,
  content   bytea not null,
  digest    bytea not null,
  constraint of_a_day_or_redaction check ((day is null) <> (redaction is null)),
  constraint one_for_each_block unique (day, block),
  constraint one_for_each_redaction unique (redaction)
);
alter table rowrelay.seal alter hashes set storage external, alter salts set storage external;
create index seal_digest on rowrelay.seal (digest);
comment on table rowrelay.seal is 'a chain of digests: of the changes of each day that is closed, some thousands a block, and of each redaction; see rowrelay.verify_log()';
comment on column rowrelay.seal.position is 'place in the chain: 1, 2, 3, ...';
comment on column rowrelay.seal.sealed_at is 'when';
comment on column rowrelay.seal.day is 'whose changes; null: it seals a redaction';
comment on column rowrelay.seal.block is 'which of that day''s blocks, from 0 up; changes are in order of id';
comment on column rowrelay.seal.ends_day is 'it is the day''s last';
comment on column rowrelay.seal.first_id is 'id of its first change';
comment on column rowrelay.seal.last_id is 'id of its last change';
comment on column rowrelay.seal.changes is 'how many there are';
comment on column rowrelay.seal.redaction is 'the redaction that it seals';
comment on column rowrelay.seal.ids is 'of the changes; null: the day was dropped, and is in no archive';
comment on column rowrelay.seal.captures is 'of which tables they are, in the order of ids';
comment on column rowrelay.seal.hashes is 'rowrelay.change_hash() of each, 32 bytes, in the order of ids';
comment on column rowrelay.seal.secret is 'the salt of a change''s hash is SHA-256 of this and its id; null: see salts';
comment on column rowrelay.seal.salts is 'the salt of each, 32 bytes, once one of them was redacted: without the salt that it had, its hash does not help to guess what was removed';
comment on column rowrelay.seal.content is 'SHA-256 of ids, captures and hashes, or of the redaction';
comment on column rowrelay.seal.digest is 'SHA-256 of the digest before and of this row''s position, times, numbers and content';

-- The processes -------------------------------------------------------------------------------------------------

create table rowrelay.instance (
  id           uuid primary key,
  host         text not null,
  pid          integer not null,
  version      text not null,
  workers      integer not null,
  targets      integer[],
  started_at   timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  doing        text not null default 'begins'
) with (fillfactor = 50);
comment on table rowrelay.instance is 'running processes; one without a heartbeat for half a minute is gone';
comment on column rowrelay.instance.id is 'made by the process when it starts';
comment on column rowrelay.instance.host is 'where it runs';
comment on column rowrelay.instance.pid is 'its process id there';
comment on column rowrelay.instance.version is 'of the program';
comment on column rowrelay.instance.workers is 'for each target';
comment on column rowrelay.instance.targets is 'which it serves; null: all';
comment on column rowrelay.instance.started_at is 'when it started';
comment on column rowrelay.instance.heartbeat_at is 'when it last said that it is alive';
comment on column rowrelay.instance.doing is 'what it did then, for people';

create table rowrelay.trouble (
  target     integer primary key,
  since      timestamptz not null default now(),
  last_at    timestamptz not null default now(),
  attempts   bigint not null default 1,
  retry_at   timestamptz not null,
  message    text not null,
  hint       text
);
comment on table rowrelay.trouble is 'targets that cannot be delivered to at present; a row goes when a push succeeds';
comment on column rowrelay.trouble.target is 'which';
comment on column rowrelay.trouble.since is 'when it began';
comment on column rowrelay.trouble.last_at is 'when it was last tried';
comment on column rowrelay.trouble.attempts is 'how often it was tried since';
comment on column rowrelay.trouble.retry_at is 'when it may be tried again, by one process for all';
comment on column rowrelay.trouble.message is 'what went wrong';
comment on column rowrelay.trouble.hint is 'what to do';

create table rowrelay.floor (
  target  integer primary key,
  version integer not null,
  floor   bigint not null
) with (fillfactor = 50);
comment on table rowrelay.floor is 'where a process that starts begins to look for queued rows; see replicator/floor.h';
comment on column rowrelay.floor.target is 'of which target';
comment on column rowrelay.floor.version is 'rowrelay.target.version for which it holds';
comment on column rowrelay.floor.floor is 'every change up to this id is settled';

create table rowrelay.job (
  name       text primary key,
  taken_at   timestamptz not null,
  held_until timestamptz not null,
  failed     text[] not null default '{}'
);
comment on table rowrelay.job is 'timeout locks: work that one process may do at a time; see rowrelay.take_job()';
comment on column rowrelay.job.name is 'which work';
comment on column rowrelay.job.taken_at is 'when it was last begun';
comment on column rowrelay.job.held_until is 'until when nobody else may begin it';
comment on column rowrelay.job.failed is 'what of it could not be done, and why; it was told, and is not told again';

-- An armed doorbell holds the last change id for which a writer rings. It is a sequence because that is the one thing
-- in PostgreSQL that can be flipped a thousand times and read by every writer without ever needing vacuum, and whose
-- new value everybody sees at once.
create sequence rowrelay.doorbell as bigint minvalue 0 start 0 cache 1;
comment on sequence rowrelay.doorbell is 'last change id for which a writer wakes the sleeping processes; 0: nobody sleeps';

-- Undoing -------------------------------------------------------------------------------------------------------

create type rowrelay.undo_step as (
  change_id bigint,
  first_id  bigint,
  capture   integer,
  relation  regclass,
  was_key   text,
  be_key    text,
  was       jsonb,
  be        jsonb
);
comment on type rowrelay.undo_step is 'what takes one change back; see rowrelay.undo_steps()';
comment on column rowrelay.undo_step.change_id is 'the change';
comment on column rowrelay.undo_step.first_id is 'where an update is captured as a delete and an insert, the former; else the same';
comment on column rowrelay.undo_step.capture is 'of the table';
comment on column rowrelay.undo_step.relation is 'the table';
comment on column rowrelay.undo_step.was_key is 'key of the row as the change left it; null: it has left none';
comment on column rowrelay.undo_step.be_key is 'key of the row as it is to be; null: it is to go';
comment on column rowrelay.undo_step.was is 'values that the change left, as rowrelay.row_texts() gives them; null: no row';
comment on column rowrelay.undo_step.be is 'values that the row is to have; null: it is to go';

-- Searching -----------------------------------------------------------------------------------------------------

create table rowrelay.history_index (
  id         integer generated always as identity primary key,
  expression text not null,
  method     text not null,
  wanted_at  timestamptz not null default now(),
  failed     date[] not null default '{}',
  problem    text,
  constraint wanted_once unique (expression, method)
);
comment on table rowrelay.history_index is 'expressions by which closed days of the log are to be indexed; people query rowrelay.history_indexes';
comment on column rowrelay.history_index.id is 'stands in the names of the indexes';
comment on column rowrelay.history_index.expression is 'on the columns of rowrelay.change';
comment on column rowrelay.history_index.method is 'access method';
comment on column rowrelay.history_index.wanted_at is 'since when';
comment on column rowrelay.history_index.failed is 'days on which the index could not be made';
comment on column rowrelay.history_index.problem is 'why, the last time';
insert into rowrelay.migration (version) values (2);

-- Locks all tables that are altered here at once, or none. In a writer's transaction a trigger function may have read
-- one of them and read another one next: it would wait for this transaction, which waits for it. So this one waits for
-- only a tenth of a second, far less than the server takes to look for a deadlock, and then lets everybody pass. Only
-- processes of rowrelay read rowrelay.lease; they hold it for as long as a batch takes.
do $$
declare
  was     constant text := current_setting('lock_timeout');
  altered constant oid[] := '{rowrelay.capture,rowrelay.route,rowrelay.source,rowrelay.day,rowrelay.refusal,
    rowrelay.trouble}'::regclass[];
  holders text;
begin
  loop
    begin
      lock table rowrelay.lease in access exclusive mode;
      perform set_config('lock_timeout', '100ms', true);
      lock table rowrelay.capture, rowrelay.route, rowrelay.source, rowrelay.day, rowrelay.refusal, rowrelay.trouble
        in access exclusive mode;
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
                                  'configuration: rowrelay.lock_configuration()';
insert into rowrelay.mutex (name) values ('seal'), ('index'), ('configuration');

alter table rowrelay.trouble add probe_until timestamptz;
comment on column rowrelay.trouble.probe_until is 'until when one process probes the target, and no other does; null: '
                                                  'none does';

-- Capture ---------------------------------------------------------------------------------------------------------

-- Its rows matter only while their transaction runs. After a crash none does.
create unlogged table rowrelay.follower (
  txid      xid8 not null,
  relation  oid not null,
  version   tid not null,
  change_id bigint not null,
  day       date not null,
  constraint follower_pkey primary key (txid, relation, version)
);
comment on table rowrelay.follower is 'row versions of tables without a key that the running transaction both made and '
                                      'removed: '
  'nested writes may be captured in the wrong order; see rowrelay.note_follower()';
comment on column rowrelay.follower.txid is 'transaction';
comment on column rowrelay.follower.relation is
  'table with the version: the captured one, a partition or an inheritance child';
comment on column rowrelay.follower.version is 'ctid of the version';
comment on column rowrelay.follower.change_id is 'the change that removed it';
comment on column rowrelay.follower.day is 'partition of the change';

drop function if exists rowrelay.awkward_columns(regclass);
drop function if exists rowrelay.check_undone(rowrelay.undo_step[]);
drop function if exists rowrelay.image_expression(rowrelay.capture);
drop function if exists rowrelay.has_row_triggers(rowrelay.capture);
drop function if exists rowrelay.image_statements(rowrelay.capture, boolean);
drop function if exists rowrelay.is_superseded(oid, tid);
drop function if exists rowrelay.nesting_statements(rowrelay.capture, boolean, text, text, text, text, boolean, boolean,
                                                    text);

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

-- Delivery --------------------------------------------------------------------------------------------------------

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
-- Millions may wait, while processes search for the others all the time.
create index refusal_waiting on rowrelay.refusal (target, capture, change_id) where state = 'waiting';
create index refusal_refused on rowrelay.refusal (target, lane, state) where state <> 'waiting';

-- The log by a cursor ---------------------------------------------------------------------------------------------

alter table rowrelay.day add column closed_in pg_snapshot, add column dropped_in xid8;
comment on column rowrelay.day.closed_in is
  'a snapshot that sees all of its changes; null: it was closed by version 1; see rowrelay.check_log_behind()';
comment on column rowrelay.day.dropped_in is 'transaction that dropped it, or last changes of some tables from it';

-- Operations ------------------------------------------------------------------------------------------------------
alter table rowrelay.source add column native boolean not null default true;
comment on column rowrelay.source.native is
  'whether trigger functions use the server module rowrelay_native where it is installed';
drop function if exists rowrelay.changes_to_undo(regclass, text); -- replaced by rowrelay.latest_changes()
drop function if exists rowrelay.row_before(rowrelay.change, rowrelay.capture, rowrelay.change);
drop function if exists rowrelay.row_texts(rowrelay.capture, rowrelay.change, json);
drop function if exists rowrelay.row_condition(rowrelay.capture, jsonb, text, boolean);
drop function if exists rowrelay.is_same_row(rowrelay.capture, rowrelay.undo_step, rowrelay.undo_step);
drop function if exists rowrelay.typed_literal(regclass, text, text);
drop function if exists rowrelay.undo_insert(rowrelay.capture, rowrelay.undo_step);
drop function if exists rowrelay.undo_statement(rowrelay.undo_step);
drop function if exists rowrelay.document_cost(text, regtype, text); -- it gives one value now

-- The past --------------------------------------------------------------------------------------------------------
alter type rowrelay.past add attribute is_shown boolean; -- as JSON, not as rows of the table
drop function if exists rowrelay.past_images(rowrelay.capture, text, text, text, text);
drop function if exists rowrelay.past_statement(regclass, timestamptz, pg_snapshot, text);

-- Purpose:    quotes a word of a command for a shell, so that the command can be pasted
-- Parameters: the word
-- Result:     the word as a shell reads it, in single quotes if needed; null for null
create or replace function rowrelay.shell_word(word text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case when word ~ '^[A-Za-z0-9_./:@%+=,][-A-Za-z0-9_./:@%+=,]*$' then word
              else '''' || replace(word, '''', E'''\\''''') || '''' end
$$;
-- Purpose:    tells people what to run, in the words in which they asked: a command, or SQL
-- Parameters: in_shell: the command of rowrelay; in_sql: the same for psql; names that both hold, as for format(): %s
--             in in_shell, where each becomes a word of the shell; %s (of tables, quoted already) and %L in in_sql
-- Result:     in_shell in a session of rowrelay's own, which has the setting rowrelay.shell
--             (replicator/postgres/sql/session_settings.sql); else in_sql
create or replace function rowrelay.command(in_shell text, in_sql text, variadic names text[] default '{}')
  returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when current_setting('rowrelay.shell', true) = 'on'
              then format(in_shell, variadic array(select rowrelay.shell_word(n.name)
                                                     from unnest(names) with ordinality as n(name, place)
                                                    order by n.place))
              else format(in_sql, variadic names) end
$$;
-- Purpose:    returns who makes the change, for the log
-- Result:     the setting rowrelay.actor, else the session's user
create or replace function rowrelay.actor() returns text
language sql stable as $$
  select case when pg_catalog.current_setting('rowrelay.actor', true) operator(pg_catalog.<>) ''
              then pg_catalog.current_setting('rowrelay.actor', true) else session_user::pg_catalog.text end
$$;
-- Purpose:    returns who is logged in, for the log, also inside a security definer function
-- Result:     the session's user; after SET ROLE anna, "web as anna"
create or replace function rowrelay.db_user() returns text
language sql stable as $$
  select case when pg_catalog.current_setting('role') operator(pg_catalog.=) 'none' then session_user::pg_catalog.text
              else pg_catalog.concat(session_user, ' as ', pg_catalog.current_setting('role')) end
$$;
-- Purpose:    returns the client's address, for the log. It is declared immutable because a session's address never
--             changes: cached plans of triggers then have it as a constant, which costs nothing per row.
-- Result:     the address; null: a local socket
create or replace function rowrelay.client_addr() returns inet
language sql immutable parallel restricted as $$
  select pg_catalog.inet_client_addr()
$$;
-- Purpose:    returns the differences between two images of a row. Columns that only one of them has (added or dropped
--             in between, or only the key was kept) are not compared. Values are compared as text, so a json value
--             differs even if only its white space does.
-- Parameters: row before; row after
-- Result:     {"column": [before, after]}; null when one of the images is missing
create or replace function rowrelay.changed(old_row json, new_row json) returns json
language sql stable parallel safe as $$
  select ('{' || coalesce(string_agg(concat(to_json(a.key), ': [', b.value, ', ', a.value, ']'), ', '
                                     order by a.position), '') || '}')::json
    from json_each(new_row) with ordinality as a(key, value, position)
    join json_each(old_row) as b on b.key operator(pg_catalog.=) a.key
   where b.value::text operator(pg_catalog.<>) a.value::text
  having old_row is not null and new_row is not null
$$;
-- Purpose:    whether the caller may see the captured changes of all tables: the schema's owner and rowrelay_admin may
create or replace function rowrelay.may_read_all() returns boolean
language plpgsql stable parallel safe cost 1000 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$ -- whatever the caller has set
begin
  return pg_has_role((select n.nspowner from pg_namespace n where n.nspname = 'rowrelay'), 'usage')
         or exists (select from pg_roles r where r.rolname = 'rowrelay_admin' and pg_has_role(r.oid, 'usage'));
end
$$;
-- Purpose:    whether the caller may see the captured changes of a table. Views that show rows call it before any other
--             condition; it checks the caller's rights, not those of the view's owner.
-- Parameters: relation; for one that is gone the rights are unknown, so the result is false
-- Result:     true for users who may select from the whole table and from whom no policy hides rows of it, for the
--             schema's owner and for rowrelay_admin
create or replace function rowrelay.may_read(relation regclass) returns boolean
language plpgsql stable parallel safe cost 1000 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$ -- whatever the caller has set
begin
  if rowrelay.may_read_all() then
    return true;
  end if;
  if has_table_privilege(relation, 'select') then
    return not row_security_active(relation);
  end if;
  return false;
end
$$;
-- Purpose:    returns the captures whose changes the caller may see: views call it once, not for each row
-- Result:     capture ids
create or replace function rowrelay.readable_captures() returns integer[]
language plpgsql stable parallel safe cost 1000 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$ -- whatever the caller has set
begin
  return case when rowrelay.may_read_all() then array(select c.id from rowrelay.capture c)
              else array(select c.id from rowrelay.capture c where rowrelay.may_read(c.relation)) end;
end
$$;
-- Purpose:    returns the tables whose history the caller may see: views call it once, not for each row
-- Result:     tables that are or were captured
create or replace function rowrelay.readable_relations() returns regclass[]
language plpgsql stable parallel safe cost 1000 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$ -- whatever the caller has set
begin
  return case when rowrelay.may_read_all() then array(select distinct c.relation::oid from rowrelay.capture c)
              else array(select distinct c.relation::oid from rowrelay.capture c
                         where rowrelay.may_read(c.relation)) end;
end
$$;
-- The changes that the caller may read: for functions that search the log with their caller's rights.
create or replace view rowrelay.readable_change with (security_barrier) as
select h.*
  from rowrelay.change h
 where h.capture = any ((select rowrelay.readable_captures())::integer[]);
comment on view rowrelay.readable_change is 'rows of rowrelay.change of tables that the caller may read';
-- Purpose:    whether the caller may see a change
-- Parameters: id; day
create or replace function rowrelay.may_read_change(change_id bigint, day date) returns boolean
language plpgsql stable parallel safe cost 1000 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$ -- whatever the caller has set
begin
  return exists (select from rowrelay.readable_change h
                  where h.id = may_read_change.change_id and h.day = may_read_change.day);
end
$$;
-- The entries of rowrelay.change_key that the caller may read; and the range of days that the table covers.
create or replace view rowrelay.readable_key with (security_barrier) as
select k.*
  from rowrelay.change_key k
 where (select rowrelay.may_read_all()) or rowrelay.may_read_change(k.change_id, k.day);
comment on view rowrelay.readable_key is 'rows of rowrelay.change_key of changes that the caller may read';

create or replace view rowrelay.key_days as
select min(k.day) as first, max(k.day) as last from rowrelay.change_key k;
comment on view rowrelay.key_days is 'first and last day in rowrelay.change_key';
-- Truncates of the tables that the caller may read.
create or replace view rowrelay.readable_truncation with (security_barrier) as
select h.*
  from rowrelay.truncation h
 where h.capture = any ((select rowrelay.readable_captures())::integer[]);
comment on view rowrelay.readable_truncation is 'rows of rowrelay.truncation of tables that the caller may read';
-- Purpose:    returns the number of a target's lane among the lanes of all targets. Queued rows carry it; a session
--             that changes the lane's order holds the lock of its row in rowrelay.lane.
-- Parameters: target; lane of that target, from 0 up; -1: the lane of its barriers
-- Result:     the number; see rowrelay.lane_target() and rowrelay.lane_position() for its parts. Negative numbers are
--             lanes of a waiting room (triggers/waiting_room.sql, rowrelay.waiting_lane).
create or replace function rowrelay.lane_number(target integer, lane integer) returns integer
language sql immutable as $$
  select (target << 12) | (lane + 1)
$$;
-- Purpose:    returns the target of a lane; see rowrelay.lane_number()
-- Parameters: number of a lane, not one of a waiting room
create or replace function rowrelay.lane_target(lane integer) returns integer
language sql immutable as $$
  select lane >> 12
$$;
-- Purpose:    returns a lane's position among its target's lanes; see rowrelay.lane_number()
-- Parameters: number of a lane
-- Result:     from 0 up; -1: the lane of barriers
create or replace function rowrelay.lane_position(lane integer) returns integer
language sql immutable as $$
  select (lane & 4095) - 1
$$;
-- Purpose:    returns the number of a lane in the waiting room of a backfill, for changes queued while its table is
--             copied as a whole
-- Parameters: id of the backfill; lane of the target, from 0 up; -1: the lane of its barriers
-- Result:     a negative number, so that no process delivers from it
create or replace function rowrelay.waiting_lane(backfill integer, lane integer) returns integer
language sql immutable as $$
  select rowrelay.lane_number(0, lane) - 2048 * (backfill + 1)
$$;
-- Purpose:    creates the rows of a target's lanes, which a worker locks while it works on a lane, and removes those
--             beyond its number of lanes: when it is added, and when that number changes, which happens only while
--             nothing is queued
-- Parameters: target
create or replace function rowrelay.add_lanes(target integer) returns void
language sql as $$
  delete from rowrelay.lane l
   using rowrelay.target t
   where t.id = add_lanes.target and l.lane > rowrelay.lane_number(t.id, t.lanes - 1)
     and l.lane <= rowrelay.lane_number(t.id, 1023);
  insert into rowrelay.lane (lane)
  select rowrelay.lane_number(t.id, n) from rowrelay.target t, generate_series(-1, t.lanes - 1) as n
   where t.id = add_lanes.target
  on conflict (lane) do nothing;
$$;
-- Purpose:    the same as rowrelay.lock_configuration(), if nobody else holds that lock
-- Result:     whether this transaction holds it now
create or replace function rowrelay.try_lock_configuration() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Not with lock_timeout: that needs a subtransaction, and the row would be free again at its end.
  perform from rowrelay.mutex m where m.name = 'configuration' for update skip locked;
  if not found then
    return false;
  end if;
  -- A mark for those who wait, which nobody waits for: pg_locks shows who has it, also if the row was locked in a
  -- subtransaction.
  lock table rowrelay.mutex in row exclusive mode;
  return true;
end
$$;
-- Purpose:    lets one transaction at a time change what is captured and where it goes. It is locked before everything
--             else: lanes, captures, targets, tables, trigger functions. So two such transactions never wait for each
--             other, whatever they change, in whatever order. Writers, and delivery, never take this lock; what
--             processes do by themselves takes it only if it is free.
-- Errors:     lock_not_available, if the caller has set lock_timeout
create or replace function rowrelay.lock_configuration() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  holder text;
begin
  for attempt in 1 .. 20 loop
    if rowrelay.try_lock_configuration() then
      return;
    end if;
    perform pg_sleep(0.05);
  end loop;
  select coalesce('process ' || l.pid, format('prepared transaction %L', p.gid)) into holder
    from pg_locks l
    left join pg_locks x on l.pid is null and x.pid is null and x.virtualtransaction = l.virtualtransaction
                        and x.locktype = 'transactionid'
    left join pg_prepared_xacts p on p.transaction = x.transactionid
   where l.locktype = 'relation' and l.relation = 'rowrelay.mutex'::regclass and l.mode = 'RowExclusiveLock'
     and l.database = (select d.oid from pg_database d where d.datname = current_database())
   order by p.gid limit 1;
  raise warning 'waiting for another transaction that changes captures or targets%', coalesce(': ' || holder, '');
  begin
    perform from rowrelay.mutex m where m.name = 'configuration' for update;
  exception when lock_not_available then
    raise exception 'another transaction that changes captures or targets did not end within %',
                    current_setting('lock_timeout')
      using errcode = 'lock_not_available', detail = coalesce('It is ' || holder || '.', ''),
            hint = 'Nothing was changed. Try again later.';
  end;
  perform rowrelay.try_lock_configuration();
end
$$;
-- Purpose:    returns the lanes of a target
-- Parameters: target
-- Result:     their numbers, ascending; the first is the lane of barriers
create or replace function rowrelay.lanes_of(target integer) returns integer[]
language sql stable as $$
  select array_agg(l.lane order by l.lane)
    from rowrelay.lane l
   where l.lane between rowrelay.lane_number(target, -1) and rowrelay.lane_number(target, 1023)
$$;
-- Purpose:    waits until nothing in some lanes is in flight, and keeps other sessions from claiming or reordering them
--             until the transaction ends. Call it before queueing a change ahead of others or removing one from the
--             queue, and read the queue in a later statement. Call it before taking any other lock: a batch that is
--             about to halt its target would wait for us while we wait for its lane. A claim in a transaction holds the
--             same lock to its end. A lease outlives its transaction, so this waits for its end while it holds the
--             lock: the holder settles without that lock, and nobody can take a new lease.
-- Parameters: numbers of lanes
-- Errors:     the transaction is not READ COMMITTED: it would see the queue as it was before; lock_not_available, if
--             the caller has set lock_timeout
create or replace function rowrelay.lock_lanes(lanes integer[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  began_at  constant timestamptz := clock_timestamp();
  patience  constant text := current_setting('lock_timeout');
  lease     record;
  has_told  boolean := false;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the queue can only be changed in a READ COMMITTED transaction'
      using errcode = 'object_not_in_prerequisite_state',
      detail = 'It has to see what others commit meanwhile.';
  end if;
  begin
    perform set_config('lock_timeout', '1s', true);
    perform from rowrelay.lane l where l.lane = any (lock_lanes.lanes) order by l.lane for update;
    perform set_config('lock_timeout', patience, true);
  exception when lock_not_available then
    raise warning 'waiting for a batch that is in flight';
    has_told := true;
    perform set_config('lock_timeout', patience, true);
    begin
      perform from rowrelay.lane l where l.lane = any (lock_lanes.lanes) order by l.lane for update;
    exception when lock_not_available then
      raise exception 'a batch that is in flight did not end within %', patience
        using errcode = 'lock_not_available', hint = 'Nothing was changed. Try again later.';
    end;
  end;
  loop
    -- Wait no longer than a lease lasts, even if the clock was ahead when it was taken.
    select t.name, least(e.lease_until, began_at + e.lasts) as until into lease
      from rowrelay.lease e left join rowrelay.target t on t.id = rowrelay.lane_target(e.lane)
     where e.lane = any (lock_lanes.lanes) and least(e.lease_until, began_at + e.lasts) > clock_timestamp()
     order by 2 desc limit 1;
    exit when not found;
    if not has_told and clock_timestamp() > began_at + interval '1 s' then
      raise warning 'waiting for a lease of target "%", until % at the latest', lease.name, lease.until;
      has_told := true;
    end if;
    perform pg_sleep(0.02);
  end loop;
  -- A process that returns after its lease has ended must not settle.
  update rowrelay.lease e set process_id = gen_random_uuid() where e.lane = any (lock_lanes.lanes)
    and e.lease_until > '-infinity';
end
$$;
-- Purpose:    waits until nothing is in flight to a target, or of documents that go there, and keeps other sessions
--             from claiming until the transaction ends: see rowrelay.lock_lanes()
-- Parameters: target
-- Errors:     as rowrelay.lock_lanes()
create or replace function rowrelay.lock_target(target integer) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform rowrelay.lock_lanes(array(
    select unnest(rowrelay.lanes_of(t.id)) from rowrelay.target t
     where t.id = lock_target.target
        or t.id in (select d.target from rowrelay.document d where d.delivers_to = lock_target.target)));
end
$$;
-- Purpose:    whether a row of a capture can change its lane while its key stays: then a change that takes a row out of
--             its lane (a delete, an update of the columns that choose the lane) has to be a barrier, because lanes are
--             not ordered among each other
-- Parameters: capture
-- Result:     true where a column that chooses the lane is not part of the key
create or replace function rowrelay.can_change_lane(capture rowrelay.capture) returns boolean
language sql immutable as $$
  select capture.key_columns <> '{}' and capture.lane_columns is not null
    and not capture.lane_columns <@ capture.key_columns
$$;
-- Purpose:    returns the last change id that was assigned, whether its transaction has ended or not
-- Result:     0 before the first
create or replace function rowrelay.last_change_id() returns bigint
language sql volatile as $$
  select case when s.is_called then s.last_value else 0 end from rowrelay.change_id s
$$;
-- Purpose:    identifies the server, its current run, and this copy of the database
-- Result:     server: [1] the system identifier; the timeline, which differs after point-in-time recovery and after a
--             failover; and oids that differ in a restored dump; [2] when the server started; [3] when its statistics
--             began: any crash resets them, even one after which the postmaster goes on. It is the oldest of several
--             times, because a user may reset some statistics, but a crash resets all. is_empty: all statistics began
--             at one moment, as after a crash
create or replace function rowrelay.this_server(out server text[], out is_empty boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  system text;
begin
  begin
    select c.system_identifier::text into system from pg_control_system() as c;
  exception when insufficient_privilege or feature_not_supported then -- a managed server may not tell
  end;
  select array[concat_ws(' ', system, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), d.oid,
                         'rowrelay.change_id'::regclass::oid),
               (date_part('epoch', pg_postmaster_start_time()) * 1000000)::bigint::text,
               (date_part('epoch', min(s.began)) * 1000000)::bigint::text],
         count(distinct s.began) = 1
    into server, is_empty
    from pg_database d,
         (select stats_reset from pg_stat_bgwriter
          union all select stats_reset from pg_stat_archiver
          union all select stats_reset from pg_stat_slru) as s(began)
   where d.datname = current_database()
   group by d.oid;
end
$$;
-- Purpose:    returns how long ago a change was committed, if the server keeps commit times (track_commit_timestamp),
--             else how long ago it was captured
-- Parameters: its transaction; when it was captured
-- Result:     microseconds
create or replace function rowrelay.change_age(txid xid8, captured_at timestamptz) returns bigint
language sql volatile as $$
  select (date_part('epoch', clock_timestamp() - coalesce(
            case when current_setting('track_commit_timestamp')::boolean then pg_xact_commit_timestamp(txid::xid) end,
            captured_at)) * 1000000)::bigint
$$;
-- Purpose:    returns the range of change ids and times of each day of the log. It reads the ends of each partition's
--             index, a tenth of a millisecond a day. Ids of days may overlap: a transaction that began before midnight
--             writes to the day on which it began.
-- Result:     one row for each day with changes: its first and last id, and when those two were captured
create or replace function rowrelay.day_bounds()
returns table (day date, first_id bigint, last_id bigint, first_at timestamptz, last_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  partition name;
begin
  for partition in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'rowrelay.change'::regclass
  loop
    begin
      return query execute format(
        'select a.day, a.id, z.id, a.captured_at, z.captured_at
           from (select c.day, c.id, c.captured_at from rowrelay.%1$I c order by c.id limit 1) a,
                (select c.id, c.captured_at from rowrelay.%1$I c order by c.id desc limit 1) z', partition);
    exception when undefined_table then
      null; -- dropped meanwhile
    end;
  end loop;
end
$$;
-- Purpose:    finds the next id for a reader that goes through the log in ranges of ids, because
--             rowrelay.skip_lost_ids() leaves huge gaps
-- Parameters: an id; days of the log
-- Result:     the largest id up to that one among the changes of these days; null: there is none
create or replace function rowrelay.last_id_up_to(id bigint, days date[]) returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select c.id from rowrelay.change c
   where c.id <= last_id_up_to.id and c.day = any (last_id_up_to.days)
   order by c.id desc limit 1
$$;
-- Purpose:    takes a lock with a timeout, for work that one process may do at a time: one conditional update by the
--             server's clock
-- Parameters: name of the work; for how long nobody else may begin it, the same at each call for that work
-- Result:     true: the caller has to do it
create or replace function rowrelay.take_job(job_name text, hold_for interval) returns boolean
language plpgsql as $$
begin
  insert into rowrelay.job as j (name, taken_at, held_until)
  values (job_name, clock_timestamp(), clock_timestamp() + hold_for)
  on conflict (name) do update
    set taken_at = excluded.taken_at, held_until = excluded.held_until
    -- a job held for longer than that was taken while the clock was ahead
    where j.held_until not between clock_timestamp() and clock_timestamp() + hold_for;
  return found;
end
$$;
-- Purpose:    whether a process with this last heartbeat counts as alive. A heartbeat in the future was sent while the
--             clock was ahead and tells nothing: a live process sends another within seconds.
-- Parameters: time of the last heartbeat (rowrelay.instance.heartbeat_at)
create or replace function rowrelay.is_alive(heard_at timestamptz) returns boolean
language sql stable as $$
  select heard_at between now() - interval '30 s' and now() + interval '30 s'
$$;
-- Purpose:    returns the partitions of rowrelay.change
-- Result:     one row for each: its day and its table
create or replace function rowrelay.partition_days() returns table (day date, partition regclass)
language sql stable as $$
  -- a plan may evaluate this for any table, before it has checked that it is a partition
  select case when c.relname ~ '^change_[0-9]{8}$' then to_date(substr(c.relname, 8), 'YYYYMMDD') end, c.oid::regclass
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
   where i.inhparent = 'rowrelay.change'::regclass
$$;
-- Purpose:    how much room the log takes
-- Result:     its first day; how many days it has, today's included; bytes on disk, with its indexes
create or replace function rowrelay.log_size(out first_day date, out days integer, out bytes bigint)
language sql stable as $$
  select min(p.day), count(*) filter (where p.day <= (now() at time zone 'UTC')::date), sum(p.bytes)
    from (select d.day, pg_total_relation_size(d.partition) as bytes from rowrelay.partition_days() as d
          union all
          select null, pg_total_relation_size(i.inhrelid) from pg_inherits i
           where i.inhparent = 'rowrelay.change_key'::regclass) as p
$$;
-- Purpose:    creates the partitions of rowrelay.change ahead of time, and rowrelay.partition_day(), which tells
--             writers which of them to use. That function only returns days with a partition, so writers never fail: if
--             nobody runs this for a year, changes go to the last partition. It returns no closed day and none before
--             yesterday: a longer transaction goes on in the first open day, so that old days no longer change and can
--             be dropped. A new partition is created as a table and then attached, because that does not block writers.
--             Days that were closed while the clock was ahead stay closed, and later open days take their place: a
--             change may be in a day up to a fortnight later.
-- Parameters: days to create ahead
-- Result:     number of partitions created
-- Errors:     lock_not_available: another session holds a lock on rowrelay.change
create or replace function rowrelay.maintain_partitions(days_ahead integer default 14) returns integer
language plpgsql set lock_timeout = '200ms' as $$
declare
  today     date := (now() at time zone 'UTC')::date;
  wanted    date;
  made      integer := 0;
  partition text;
  first_day date;
  last_day  date;
begin
  for wanted in
    -- this many days that are not closed
    select o.day
      from (select g::date as day
              from generate_series(today::timestamp,
                                   today + days_ahead + (select count(*) from rowrelay.day d
                                                          where d.day >= today and d.closed_at is not null)::integer,
                                   interval '1 day') as g) as o
     where not exists (select from rowrelay.day d where d.day = o.day and d.closed_at is not null)
     order by o.day limit days_ahead + 1
  loop
    partition := 'change_' || to_char(wanted, 'YYYYMMDD');
    continue when to_regclass('rowrelay.' || partition) is not null;
    execute format('create table rowrelay.%I (like rowrelay.change including all)', partition);
    execute format('alter table rowrelay.change attach partition rowrelay.%I for values from (%L) to (%L)',
                   partition, wanted, wanted + 1);
    made := made + 1;
  end loop;

  -- The days from first_day to last_day must have no gap. Gaps arise when nobody runs this for weeks, or by a wrong
  -- clock.
  select min(p.day) into first_day
    from rowrelay.partition_days() p
   where p.day >= today - 1 and not exists (select from rowrelay.day d where d.day = p.day and d.closed_at is not null);
  select min(p.day) into last_day
    from rowrelay.partition_days() p
   where p.day >= first_day
     and not exists (select from rowrelay.partition_days() n
                      where n.day = p.day + 1
                        and not exists (select from rowrelay.day d where d.day = n.day and d.closed_at is not null));

  update rowrelay.source s set open_from = first_day, open_until = last_day, open_since = clock_timestamp()
   where (s.open_from, s.open_until) is distinct from (first_day, last_day)
      or s.open_since > clock_timestamp(); -- set while the clock was ahead
  if found then
    -- Triggers call it under the application's search_path.
    execute format('create or replace function rowrelay.partition_day() returns date language sql stable as %L', format(
      'select least(greatest(pg_catalog.timezone(''UTC'', pg_catalog.now())::pg_catalog.date, %L::pg_catalog.date), '
      '%L::pg_catalog.date)',
      first_day, last_day));
    comment on function rowrelay.partition_day() is
      'the day (UTC) on which the transaction began, or the nearest that is open; made by '
      'rowrelay.maintain_partitions()';
  end if;
  return made;
end
$$;
-- Purpose:    hash by which a key is found in rowrelay.change_key; different keys may have the same
-- Parameters: capture; key, null for truncates, which have none
create or replace function rowrelay.key_hash(capture_id integer, key text) returns integer
language sql immutable parallel safe as $$
  select (pg_catalog.hashtextextended(coalesce(key, '') collate "C", capture_id) operator(pg_catalog.>>) 32)::integer
$$;
-- Purpose:    returns the hash of a key that equals another only in the same spelling; see rowrelay.row_hashes() for
--             other keys
-- Parameters: key, null: none
-- Result:     never 0
create or replace function rowrelay.text_hash(key text) returns bigint
language sql immutable parallel safe as $$
  select coalesce(nullif(pg_catalog.hashtextextended(coalesce(key, '') collate "C", 0), 0), 1)
$$;
-- Purpose:    hashes keys with the caller's rights. One that cannot be read as the types are now does not keep the
--             others from being hashed.
-- Parameters: statement (rowrelay.hash_statement), null for none; keys
-- Result:     the hashes, in the order of the keys; 0: unknown
create or replace function rowrelay.hash_keys(statement text, keys text[]) returns bigint[]
language plpgsql stable as $$
declare
  half   constant integer := cardinality(keys) / 2;
  hashes bigint[];
begin
  if statement is not null then
    execute statement into hashes using keys;
  end if;
  return coalesce(hashes, array_fill(0::bigint, array[cardinality(keys)]));
exception when others then
  return case when half = 0 then '{0}'
              else rowrelay.hash_keys(statement, keys[:half]) || rowrelay.hash_keys(statement, keys[half + 1:]) end;
end
$$;
-- Purpose:    creates the partitions of rowrelay.change_key, one for each month of which rowrelay.change has a day.
--             Does not block readers.
-- Result:     number of partitions created
create or replace function rowrelay.key_partitions() returns integer
language plpgsql as $$
declare
  month     date;
  partition text;
  made      integer := 0;
begin
  for month in
    select distinct date_trunc('month', p.day)::date from rowrelay.partition_days() p
  loop
    partition := 'change_key_' || to_char(month, 'YYYYMM');
    continue when to_regclass('rowrelay.' || partition) is not null;
    execute format('create table rowrelay.%I (like rowrelay.change_key including all)', partition);
    execute format('alter table rowrelay.change_key attach partition rowrelay.%I for values from (%L) to (%L)',
                   partition, month, month + interval '1 month');
    made := made + 1;
  end loop;
  return made;
end
$$;
-- Purpose:    returns the transactions of rowrelay.writers() by the transaction ids that changes have. One read of
--             pg_locks shows both: a transaction locks its id before it locks rowrelay.change, and keeps both locks to
--             its end.
-- Result:     xids; nameless: whether there are transactions without an id. Such a transaction has ended meanwhile or
--             has not written anything yet, but may have taken change ids.
create or replace function rowrelay.writing_xids(out xids xid8[], out nameless boolean)
language sql volatile as $$
  with locks as materialized (
    select l.* from pg_locks l where l.granted and l.locktype in ('relation', 'transactionid')
  ), writers as (
    select distinct l.virtualtransaction
      from locks l
     where l.locktype = 'relation'
       and l.database = (select d.oid from pg_database d where d.datname = current_database())
       and l.relation = 'rowrelay.change'::regclass
       and l.mode = 'RowExclusiveLock'
  ), named as (
    -- a subtransaction has a lock and a later id too; pg_locks shows ids modulo 2^32
    select w.virtualtransaction,
      min(now.xid + ((l.transactionid::text::bigint - now.xid + 2147483648) & 4294967295) - 2147483648) as xid
      from writers w
      cross join (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xid) as now
      left join locks l on l.virtualtransaction = w.virtualtransaction and l.locktype = 'transactionid'
        and l.mode = 'ExclusiveLock'
     group by w.virtualtransaction
  )
  select coalesce(array_agg(n.xid::text::xid8 order by n.xid) filter (where n.xid is not null), '{}'),
         coalesce(bool_or(n.xid is null), false)
    from named n
$$;
-- Purpose:    puts a piece of a tick's changes into rowrelay.change_key: those committed by this tick and not by the
--             previous
-- Parameters: tick; the previous tick, null for none; the id after which the piece begins; rows to read at most
-- Result:     looked_at: rows that were read, fewer than max_rows in the last piece; last_id of them; first_day,
--             last_day of those that were indexed; block_ids, block_txids: see rowrelay.tick
create or replace function rowrelay.index_changes(tick rowrelay.tick, previous rowrelay.tick, after_id bigint,
                                                  max_rows integer,
                                                  out looked_at bigint, out last_id bigint, out first_day date,
                                                    out last_day date,
                                                  out block_ids int8range[], out block_txids int8range[])
language plpgsql set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  -- Transaction ids of another era mean nothing: index a change twice rather than not at all.
  elsewhere constant boolean := coalesce(tick.era > previous.era, false);
  low       constant bigint := coalesce(previous.low, 0);
  high      constant bigint := coalesce(previous.high, 0);
  writers   constant xid8[] := coalesce(previous.writers, '{}');
  hashed    constant integer[] := array(select r.capture from rowrelay.row_hashing r
                                            where r.method is not null);
  -- changes of keys that may have other spellings
  ids       bigint[];
  days      date[];
  captures  integer[];
  keys      text[];
begin
  with looked as (
    select c.id, c.day, c.capture, c.op, c.key, c.txid
      from rowrelay.change c
     where c.id > after_id and c.id <= tick.high and c.day >= coalesce(previous.open_from, '-infinity')
     order by c.id limit max_rows
  ), fresh as (
    select l.*, l.txid::text::bigint as number
      from looked l
     where (elsewhere or pg_visible_in_snapshot(l.txid, tick.snapshot))
       and (l.id > low or l.txid = any (writers))
       and (l.id > high or not pg_visible_in_snapshot(l.txid, previous.snapshot))
  ), indexed as (
    insert into rowrelay.change_key (change_id, day, key_hash)
    select f.id, f.day, rowrelay.key_hash(f.capture, f.key)
      from fresh f
     where case when f.key is null then f.op = 't' else f.op not in ('b', 'r') end
     order by 2, 3, 1
  ), block as (
    select int8range(min(f.id), max(f.id), '[]') as ids, int8range(min(f.number), max(f.number), '[]') as txids
      from fresh f group by f.id / 512
  ), respelled as (
    select array_agg(f.id) as ids, array_agg(f.day) as days, array_agg(f.capture) as captures, array_agg(f.key) as keys
      from fresh f
     where hashed <> '{}' and f.capture = any (hashed) and f.key is not null and f.op not in ('b', 'r')
  )
  select l.looked_at, l.last_id, f.first_day, f.last_day, b.ids, b.txids, r.ids, r.days,
         r.captures, r.keys
    into index_changes.looked_at, index_changes.last_id, index_changes.first_day, index_changes.last_day,
      index_changes.block_ids, index_changes.block_txids, ids, days, captures, keys
    from (select count(*) as looked_at, max(id) as last_id from looked) as l,
         (select min(f.day) as first_day, max(f.day) as last_day from fresh f) as f,
         (select array_agg(b.ids order by b.ids) as ids, array_agg(b.txids order by b.ids) as txids from block b) as b,
         respelled r;
  if ids is not null then
    perform rowrelay.index_rows(ids, days, captures, keys);
  end if;
end
$$;
-- Purpose:    whether a tick is worthwhile: for a few changes a tick costs more than it saves
-- Parameters: the last tick, null for none; at_once: true makes it due
create or replace function rowrelay.tick_is_due(last rowrelay.tick, at_once boolean) returns boolean
language plpgsql volatile as $$
declare
  fresh constant bigint := rowrelay.last_change_id() - coalesce(last.high, 0);
  age   constant interval := clock_timestamp() - last.taken_at;
begin
  if at_once or fresh >= 5000 then
    return true;
  elsif age between '0' and '10 s' then
    return false;
  end if;
  -- or a transaction that was open at the last tick has ended
  return fresh >= 500
      or fresh > 0 and (age is null or age not between '0' and '1 min')
      or exists (select from unnest(last.writers) as w where pg_visible_in_snapshot(w, pg_current_snapshot()));
end
$$;
-- Purpose:    takes a tick (PgQ's word): a moment for which it is known which changes were committed by then. Puts the
--             changes committed since the previous tick into rowrelay.change_key, so that the changes of a row can be
--             found by key although writers maintain no index. Running processes call it every second, or every ten
--             seconds while they deliver a backlog; without them a search only takes longer.
--
--             It reads in this order, each statement with a snapshot of its own: the last id (low); the transactions
--             that hold the writers' lock; the snapshot; the last id (high). A change that is not visible in the
--             snapshot has an id above low, or its transaction took the lock before low was read and still held it when
--             the snapshot was taken: then it is listed. So transactions that write no changes cost nothing, however
--             long they last. A transaction with the lock but without an id cannot be listed, so low then stays at its
--             previous value. A change that is visible in the snapshot has an id up to high, because its transaction
--             had ended by then.
-- Parameters: max_rows: how many changes to read at most; at_once: do not wait until a tick is worthwhile
-- Result:     number of changes read; fewer than max_rows: this tick is done, and all older changes are indexed
-- Errors:     the transaction has written something, or is not READ COMMITTED
create or replace function rowrelay.tick(max_rows integer default 10000, at_once boolean default false) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  last     rowrelay.tick;
  previous rowrelay.tick;
  tick     rowrelay.tick;
  nameless boolean;
  piece    record;
begin
  if current_setting('transaction_isolation') <> 'read committed' or pg_current_xact_id_if_assigned() is not null then
    raise exception 'a tick needs a READ COMMITTED transaction that has not written anything'
      using errcode = 'active_sql_transaction', hint = 'Commit first, and call it by itself.';
  end if;
  -- One at a time, so that ticks are in order and each one sees the previous one. Nobody else has the right to lock the
  -- table so, and unlike a row's lock it writes nothing.
  begin
    lock table rowrelay.tick in share update exclusive mode nowait;
  exception when lock_not_available then
    return 0;
  end;
  select t.* into last from rowrelay.tick t order by t.id desc limit 1;

  if last.indexed_to is not null then
    tick := last;
    select t.* into previous from rowrelay.tick t where t.id < last.id order by t.id desc limit 1;
  elsif rowrelay.tick_is_due(last, at_once) then
    previous := last;
    tick.taken_at := clock_timestamp();
    select min(p.day) into tick.open_from
      from rowrelay.partition_days() p
     where not exists (select from rowrelay.day d where d.day = p.day and d.closed_at is not null);
    for attempt in 1..20 loop
      tick.low := rowrelay.last_change_id();
      select w.xids, w.nameless into tick.writers, nameless from rowrelay.writing_xids() as w;
      exit when not nameless;
      perform pg_sleep(0.001); -- most get their id at once
    end loop;
    tick.snapshot := pg_current_snapshot();
    tick.high := rowrelay.last_change_id();
    tick.era := coalesce(last.era + (pg_snapshot_xmax(last.snapshot) > pg_snapshot_xmax(tick.snapshot))::integer, 0);
    if nameless then
      tick.low := coalesce(last.low, 0);
    end if;
    select coalesce(array_agg(w order by w), '{}'),
           coalesce(array_agg(coalesce(last.writers_from[array_position(last.writers, w)], last.low, 0)
                              order by w), '{}')
      into tick.writers, tick.writers_from
      from unnest(tick.writers) as w
     where not pg_visible_in_snapshot(w, tick.snapshot);
    tick.indexed_to := least(coalesce(last.low, 0),
                             (select min(w.from_id) from unnest(last.writers, last.writers_from) as w(xid, from_id)
                                         where w.xid <> all (tick.writers)));
    perform rowrelay.key_partitions();
  else
    return rowrelay.index_older_rows(max_rows);
  end if;

  -- comparing how hashes are computed takes milliseconds, so it is done once a minute
  perform rowrelay.note_row_hashing(greatest(coalesce(previous.high, 0), tick.indexed_to),
                                    date_trunc('minute', last.taken_at) = date_trunc('minute', clock_timestamp()));
  select * into piece from rowrelay.index_changes(tick, previous, tick.indexed_to, max_rows);
  tick.indexed_to := case when piece.looked_at >= max_rows then piece.last_id end;
  tick.first_day := least(tick.first_day, piece.first_day);
  tick.last_day := greatest(tick.last_day, piece.last_day);
  tick.block_ids := coalesce(tick.block_ids, '{}') || coalesce(piece.block_ids, '{}');
  tick.block_txids := coalesce(tick.block_txids, '{}') || coalesce(piece.block_txids, '{}');
  if tick.id is null then
    insert into rowrelay.tick (taken_at, era, snapshot, low, high, writers, writers_from, open_from, indexed_to,
                               first_day, last_day,
                               block_ids, block_txids)
    values (tick.taken_at, tick.era, tick.snapshot, tick.low, tick.high, tick.writers, tick.writers_from,
            tick.open_from,
            tick.indexed_to, tick.first_day, tick.last_day, tick.block_ids, tick.block_txids);
  else
    update rowrelay.tick t set indexed_to = tick.indexed_to, first_day = tick.first_day, last_day = tick.last_day,
                               block_ids = tick.block_ids, block_txids = tick.block_txids
     where t.id = tick.id;
  end if;
  return piece.looked_at + rowrelay.index_older_rows(max_rows - piece.looked_at);
end
$$;
-- Purpose:    lists changes of some keys that no tick has indexed yet
-- Parameters: capture ids; keys; after_id: only changes with larger ids; from_day: only in this partition or a later
--             one, null: in any
-- Result:     changes and their partitions, in no order
create or replace function rowrelay.candidates_since(captures integer[], keys text[], after_id bigint, from_day date)
returns table (change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
begin
  return query
    select c.id, c.day
      from rowrelay.readable_change c
     where c.id > after_id and c.day >= coalesce(from_day, '-infinity')
       and c.capture = any (captures) and c.key = any (candidates_since.keys);
end
$$;
-- Purpose:    tells how far the index of changes by key (rowrelay.change_key) is complete in the calling statement's
--             snapshot
-- Result:     up_to: the index has all changes up to this id; 0: it has none; from_day: later changes are in this
--             partition or a later one, null: in any
create or replace function rowrelay.indexed_up_to(out up_to bigint, out from_day date)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  known rowrelay.tick;
begin
  select t.* into known from rowrelay.tick t where t.indexed_to is null order by t.id desc limit 1;
  -- Some transactions that were writing at the tick may have ended since.
  up_to := coalesce(least(known.low, (
    select min(w.from_id)
      from unnest(known.writers, known.writers_from) as w(xid, from_id)
     where pg_visible_in_snapshot(w.xid, pg_current_snapshot())
        -- after a restore from a dump, transaction ids mean nothing
        or pg_snapshot_xmax(known.snapshot) > pg_snapshot_xmax(pg_current_snapshot()))), 0);
  from_day := known.open_from;
end
$$;
-- Purpose:    lists changes that may be of some keys: from rowrelay.change_key up to the last tick, and from the log
--             after it. The result is consistent with the calling statement's snapshot: an older snapshot sees an older
--             tick, and reads more of the log. Plans are cached, because planning takes longer than execution.
-- Parameters: capture ids; keys: of one row, in all spellings (rowrelay.spellings)
-- Result:     changes and their partitions, each once, in no order; changes of other keys with the same hash may be
--             among them
create or replace function rowrelay.candidates(captures integer[], keys text[])
returns table (change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
declare
  rest     bigint; -- the index may lack changes with larger ids
  from_day date;
  hashes   integer[];
begin
  select u.up_to, u.from_day into rest, from_day from rowrelay.indexed_up_to() as u;
  hashes := array(select distinct rowrelay.key_hash(c, k) from unnest(captures) as c, unnest(keys) as k);
  return query
    select distinct k.change_id, k.day
      from rowrelay.key_days as span
      cross join lateral (select d::date as day
                          from generate_series(span.first::timestamp, span.last, interval '1 day') as d
                           offset 0) as d -- no cast is pushed down through a security_barrier view to its index
      cross join unnest(hashes) as h
      cross join lateral (select k.change_id, k.day from rowrelay.readable_key k
                           where k.day = d.day and k.key_hash = h and k.change_id <= rest offset 0) as k;
  if rowrelay.last_change_id() > rest then
    return query select r.change_id, r.day
      from rowrelay.candidates_since(captures, candidates.keys, rest, from_day) as r;
  end if;
end
$$;
-- Purpose:    finds the last change of each of many keys among those that no tick has indexed yet, in one pass through
--             the log
-- Parameters: relations, keys, above_ids, below_ids: for each key its table, its text, and the ids between which the
--             change must be; ops: the operations that count; after_id: only changes with larger ids; from_day: only in
--             this partition or a later one, null: in any
-- Result:     position of the key; the change and its partition. No row for a key without such a change.
create or replace function rowrelay.latest_since(relations regclass[], keys text[], above_ids bigint[],
                                                 below_ids bigint[], ops "char"[],
                                                 after_id bigint, from_day date)
returns table ("position" integer, change_id bigint, day date)
-- puts the keys into a hash table and scans the log; the caller has set other plans
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_hashjoin = on set enable_seqscan = on
set enable_nestloop = off set enable_mergejoin = off set jit = off as $$
declare
  -- known to the planner, so that it leaves out partitions
  first_id constant bigint := greatest(after_id, (select min(a) from unnest(above_ids) as a));
  last_id  constant bigint := (select max(b) from unnest(below_ids) as b);
  since    constant date := coalesce(from_day, '-infinity');
begin
  return query
    with wanted as materialized (
      select u.n::integer as n, c.id as capture, u.key, u.above, u.below
        from unnest(relations, keys, above_ids, below_ids) with ordinality as u(relation, key, above, below, n)
        join rowrelay.capture c on c.relation = u.relation
    )
    select distinct on (w.n) w.n, h.id, h.day
      from rowrelay.readable_change h
      join wanted w on w.capture = h.capture and w.key = h.key
     where h.id > first_id and h.id < last_id and h.day >= since and h.op = any (ops)
       and h.id > w.above and h.id < w.below
     order by w.n, h.id desc;
end
$$;
-- Purpose:    lists the days in rowrelay.change_key from the last one back, for a search that has to know when to stop.
--             It reveals nothing about the changes.
-- Result:     day; older_to: no change of an earlier day has a larger id than this, null: unknown
create or replace function rowrelay.key_days_from_last() returns table (day date, older_to bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query
    with listed as (
      select g.day::date as day, case when d.closed_at is not null then coalesce(d.last_id, 0) end as last_id
        from rowrelay.key_days as span
       cross join lateral generate_series(span.first::timestamp, span.last, interval '1 day') as g(day)
        left join rowrelay.day d on d.day = g.day::date
       where exists (select from rowrelay.partition_days() p where p.day = g.day::date)
    )
    select l.day,
           case when bool_and(l.last_id is not null)
             over older is not false then coalesce(max(l.last_id) over older, 0) end
      from listed l
    window older as (order by l.day rows between unbounded preceding and 1 preceding)
     order by l.day desc;
end
$$;
-- Purpose:    as rowrelay.latest_changes(), of keys in the given spelling only. Changes that no tick has indexed yet
--             are read once for all keys; the others day by day, from the last day back, until all are found.
-- Parameters: as for rowrelay.latest_changes()
-- Result:     the same
create or replace function rowrelay.latest_by_text(relations regclass[], keys text[], above_ids bigint[],
                                                   below_ids bigint[], ops "char"[])
returns table ("position" integer, change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set jit = off as $$
declare
  positions integer[] := array(select generate_subscripts(keys, 1)); -- of the keys still to be found
  best_ids  bigint[];  -- the last change found for each so far
  best_days date[];
  rest      bigint;    -- the index may lack changes with larger ids
  from_day  date;
  this_day  record;
begin
  above_ids := array(select coalesce(above_ids[p], 0) from unnest(positions) as p order by p);
  below_ids := array(select coalesce(below_ids[p], 9223372036854775807) from unnest(positions) as p order by p);
  select u.up_to, u.from_day into rest, from_day from rowrelay.indexed_up_to() as u;
  if (select max(b) from unnest(below_ids) as b) > rest + 1 then
    select array_agg(l.change_id order by l.position), array_agg(l.day order by l.position),
      array_agg(l.position order by l.position)
      into best_ids, best_days, positions
      from rowrelay.latest_since(relations, keys, above_ids, below_ids, ops, rest, from_day) as l;
    return query select * from unnest(positions, best_ids, best_days);
    positions := array(select generate_subscripts(keys, 1) except select unnest(positions));
  end if;
  positions := array(select p from unnest(positions) as p where above_ids[p] < rest);
  best_ids := array_fill(null::bigint, array[cardinality(positions)]);
  best_days := array_fill(null::date, array[cardinality(positions)]);

  for this_day in select d.day, d.older_to from rowrelay.key_days_from_last() as d loop
    exit when cardinality(positions) = 0;
    select array_agg(coalesce(k.id, u.id) order by u.n),
      array_agg(case when k.id is null then u.day else this_day.day end order by u.n)
      into best_ids, best_days
      from unnest(positions, best_ids, best_days) with ordinality as u(p, id, day, n)
      left join lateral (
        select h.id
          -- no function is pushed down through a security_barrier view to its index
          from (select c.id, rowrelay.key_hash(c.id, keys[u.p]) as hash, greatest(above_ids[u.p], u.id) as above,
                below_ids[u.p] as below
                  from rowrelay.capture c where c.relation = relations[u.p] offset 0) as c
         cross join lateral (select k.change_id from rowrelay.readable_key k
                              where k.day = this_day.day and k.key_hash = c.hash and k.change_id <= rest
                                and k.change_id > c.above and k.change_id < c.below
                             offset 0) as k
         cross join lateral (select h.id, h.capture, h.key, h.op from rowrelay.readable_change h
                              where h.id = k.change_id and h.day = this_day.day offset 0) as h
         where h.capture = c.id and h.key = keys[u.p] and h.op = any (ops)
         order by h.id desc limit 1) as k on true;
    -- a change is the last one if all older days have smaller ids; there is none if all those ids are too small
    return query
      select u.p, u.id, u.day from unnest(positions, best_ids, best_days) as u(p, id, day)
        where u.id > this_day.older_to;
    select array_agg(u.p order by u.n), array_agg(u.id order by u.n), array_agg(u.day order by u.n)
      into positions, best_ids, best_days
      from unnest(positions, best_ids, best_days) with ordinality as u(p, id, day, n)
     where (u.id > this_day.older_to or above_ids[u.p] >= this_day.older_to) is not true;
    positions := coalesce(positions, '{}');
  end loop;
  return query select u.p, u.id, u.day from unnest(positions, best_ids, best_days) as u(p, id, day)
    where u.id is not null;
end
$$;
-- Purpose:    turns a key that a person wrote into the log's spelling: 1.5 into 1.50, [1,"a"] into [1, "a"]
-- Parameters: relation; key: the text of a single column, a JSON array of several
-- Result:     the key; unchanged where it is not a key of the table as it is now
create or replace function rowrelay.key_as_logged(relation regclass, key text) returns text
language plpgsql stable as $$
begin
  return (select p.key from rowrelay.past_row(relation, key) as p);
exception when others then
  return key;
end
$$;
-- Purpose:    lists the changes of a row by its key
-- Parameters: relation; key, in any spelling: the text of a single column, a JSON array of several
-- Result:     the changes and their partitions, the newest first; truncates are not among them
create or replace function rowrelay.changes_of_key(relation regclass, key text)
  returns table (change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  captures constant integer[] := array(select c.id from rowrelay.capture c where c.relation = changes_of_key.relation);
  keys     text[]; -- all spellings
  ids      bigint[];
  days     date[];
  all_days date[]; -- for the planner, so that it leaves out other partitions, of which there may be years
begin
  if changes_of_key.key is null then
    return;
  end if;
  for spelling in 1 .. 2 loop
    keys := rowrelay.spellings(captures, array[changes_of_key.key]);
    select array_agg(f.change_id), array_agg(f.day), array_agg(distinct f.day) into ids, days, all_days
      from rowrelay.candidates(captures, keys) as f;
    exit when ids is not null;
    key := rowrelay.key_as_logged(relation, key);
  end loop;
  if ids is not null then
    return query
      select c.id, c.day
        from unnest(ids, days) as f(id, day)
        cross join lateral (select h.* from rowrelay.readable_change h
                             where h.id = f.id and h.day = f.day and h.day = any (all_days) offset 0) as c
       where c.capture = any (captures) and c.key = any (keys) and c.op not in ('b', 'r')
       order by c.id desc;
  end if;
end
$$;
-- Purpose:    lists the truncates of a table
-- Parameters: relation
-- Result:     the changes and their partitions, the newest first, with those that were dropped with their day
create or replace function rowrelay.truncates_of(relation regclass) returns table (change_id bigint, day date)
language sql stable as $$
  select t.change_id, t.day
    from rowrelay.readable_truncation t
   where t.capture = any (array(select c.id from rowrelay.capture c where c.relation = truncates_of.relation))
   order by t.change_id desc
$$;
-- Purpose:    lists the changes of a transaction. Ticks tell between which ids and in which partitions they are. In a
--             log that was restored from a dump into another server, two transactions can have the same id.
-- Parameters: txid
-- Result:     the changes and their partitions, in order; none if it made none or has not ended
create or replace function rowrelay.changes_of_transaction(txid xid8) returns table (change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  wanted constant xid8 := changes_of_transaction.txid;
  last   rowrelay.tick;
  before rowrelay.tick; -- it had written nothing
  after  rowrelay.tick; -- it was over
  eras   integer;
  passed bigint := 0; -- all eras up to this id have been searched
begin
  select t.* into last from rowrelay.tick t order by t.id desc limit 1;
  eras := coalesce(last.era + (pg_snapshot_xmax(last.snapshot) > pg_snapshot_xmax(pg_current_snapshot()))::integer, 0);
  for this in 0..eras loop
    select t.* into before
      from rowrelay.tick t
     where t.era = this and pg_snapshot_xmax(t.snapshot) <= wanted and wanted <> all (t.writers)
     order by pg_snapshot_xmax(t.snapshot) desc, t.id desc limit 1;
    if before.id is null and this > 0 then
      select t.* into before from rowrelay.tick t where t.era = this - 1 order by pg_snapshot_xmax(t.snapshot) desc,
        t.id desc limit 1;
      before.low := greatest(before.high, passed);
    end if;
    select t.* into after
      from rowrelay.tick t
     where t.era = this and pg_snapshot_xmax(t.snapshot) > wanted and pg_visible_in_snapshot(wanted, t.snapshot)
       and t.indexed_to is null
     order by pg_snapshot_xmax(t.snapshot), t.id limit 1;
    if after.id is not null then
      continue when after.first_day is null and before.id is not null;
      -- It had not ended at the previous tick, so it is in the blocks of this one.
      if eras = 0 and after.block_ids is not null and exists (select from rowrelay.tick t where t.id < after.id) then
        return query
          select c.id, c.day
            from (select lower(b.ids) as first_id, upper(b.ids) as end_id
                    from unnest(after.block_ids, after.block_txids) as b(ids, txids)
                   where b.txids @> wanted::text::bigint
                  offset 0) as b -- no function is pushed down through a security_barrier view to its index
            cross join lateral (
              select h.id, h.day from rowrelay.readable_change h
               where h.id >= b.first_id and h.id < b.end_id and h.day between after.first_day and after.last_day
                 and h.txid = wanted
              offset 0) as c
           order by c.id;
        continue;
      end if;
      return query
        select c.id, c.day from rowrelay.readable_change c
         where c.id > coalesce(before.low, 0) and c.id <= after.high
           -- earlier ticks may have been dropped with their days
           and c.day between case when before.id is null then '-infinity' else after.first_day end
                         and case when before.id is null then 'infinity' else after.last_day end
           and c.txid = wanted
         order by c.id;
    else
      select t.high into passed from rowrelay.tick t where t.era = this + 1 order by pg_snapshot_xmax(t.snapshot),
        t.id limit 1;
      passed := coalesce(passed, 9223372036854775807);
      return query
        select c.id, c.day from rowrelay.readable_change c
         where c.id > coalesce(before.low, 0) and c.id <= passed
           and c.day >= coalesce(before.open_from, '-infinity') and c.txid = wanted
         order by c.id;
    end if;
  end loop;
end
$$;
-- Purpose:    counts all changes of a transaction, readable by the caller or not, so that a part is not taken for the
--             whole
-- Parameters: txid
create or replace function rowrelay.changes_in_transaction(txid xid8) returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select count(*) from rowrelay.changes_of_transaction(txid)
$$;
-- Purpose:    puts the changes of a restored day into rowrelay.change_key, so that they can be found by key. A change
--             that is in there twice is still found once.
-- Parameters: day
-- Result:     number of changes
create or replace function rowrelay.index_day(day date) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  hashed  constant integer[] := array(select r.capture from rowrelay.row_hashing r
                                            where r.method is not null);
  indexed bigint;
begin
  perform rowrelay.key_partitions();
  insert into rowrelay.change_key (change_id, day, key_hash)
  select c.id, c.day, rowrelay.key_hash(c.capture, c.key)
    from rowrelay.change c
   where c.day = index_day.day and case when c.key is null then c.op = 't' else c.op not in ('b', 'r') end
   order by 3, 1;
  get diagnostics indexed = row_count;
  if hashed <> '{}' then
    perform rowrelay.index_rows(array_agg(c.id), array_agg(c.day), array_agg(c.capture), array_agg(c.key))
       from rowrelay.change c
      where c.day = index_day.day and c.capture = any (hashed) and c.key is not null and c.op not in ('b', 'r')
      group by c.id / 10000;
  end if;
  return indexed;
end
$$;
-- Purpose:    returns the tables that match a pattern, as psql's \d does: * and ? are wildcards, a dot separates schema
--             and table, letters are folded to lower case outside double quotes (in which "" is a quote), and a pattern
--             without a schema matches tables in search_path.
-- Parameters: pattern
-- Result:     ordinary and partitioned tables that can be captured, in order of name. A pattern with wildcards does not
--             match partitions, except those that are captured by themselves.
create or replace function rowrelay.matching_tables(pattern text) returns setof regclass
language plpgsql stable as $$
declare
  letter        text;
  previous      text;
  quoted        boolean := false;
  regex         text := '';
  schema_regex  text;
  wild          boolean := false;
begin
  foreach letter in array string_to_array(pattern, null) loop
    if letter = '"' then
      -- as in SQL, "" within quotes is one quote
      if not quoted and previous = '"' then
        regex := regex || '"';
      end if;
      quoted := not quoted;
    elsif not quoted and letter = '*' then
      regex := regex || '.*';
      wild := true;
    elsif not quoted and letter = '?' then
      regex := regex || '.';
      wild := true;
    elsif not quoted and letter = '.' and schema_regex is null then
      schema_regex := regex;
      regex := '';
    else
      regex := regex || regexp_replace(case when quoted then letter else lower(letter) end,
                                       E'([][\\\\.*+?(){}|^$])', E'\\\\\\1');
    end if;
    previous := letter;
  end loop;
  return query
    select c.oid::regclass
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p')
       and c.relpersistence <> 't'
       and c.relname ~ ('^(' || regex || ')$')
       and case when schema_regex is null then pg_table_is_visible(c.oid)
         else n.nspname ~ ('^(' || schema_regex || ')$') end
       and n.nspname not in ('pg_catalog', 'information_schema', 'rowrelay', 'rowrelay_target')
       and n.nspname !~ '^pg_toast'
       and not (wild and c.relispartition
                and not exists (select from rowrelay.capture k where k.relation = c.oid and k.released_at is null))
     order by n.nspname, c.relname;
end
$$;
-- Purpose:    returns the present capture of a table and locks the configuration, then its row
-- Parameters: relation
-- Result:     its row in rowrelay.capture
-- Errors:     the table is not captured
create or replace function rowrelay.captured(relation regclass) returns rowrelay.capture
language plpgsql as $$
declare
  found_capture rowrelay.capture;
begin
  perform rowrelay.lock_configuration();
  select c.* into found_capture from rowrelay.capture c
   where c.relation = captured.relation and c.released_at is null
     for update;
  if not found then
    raise exception 'table % is not captured', relation
      using errcode = 'undefined_object',
            hint = 'Capture it first: '
                     || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);', relation::text);
  end if;
  return found_capture;
end
$$;
-- Purpose:    finds a target by name and locks the configuration, then its row, against changes by others
-- Parameters: name
-- Result:     its id
-- Errors:     no target has that name
create or replace function rowrelay.target_id(target_name text) returns integer
language plpgsql as $$
declare
  found_id integer;
begin
  perform rowrelay.lock_configuration();
  select t.id into found_id from rowrelay.target t where t.name = target_name
    and t.dropped_at is null for no key update;
  if not found then
    raise exception 'target "%" does not exist', target_name
      using errcode = 'undefined_object',
            hint = coalesce('Targets are: '
                              || (select string_agg(format('"%s"', name), ', ' order by name)
                                    from rowrelay.target where dropped_at is null),
                            'Add one first: '
                              || rowrelay.command('rowrelay target add NAME URL',
                                                  'select rowrelay.add_target(''NAME'', ''URL'');'));
  end if;
  return found_id;
end
$$;
-- Purpose:    refuses a name of a target or document that no command line could hold, or that would end running
--             processes, and with them delivery to all targets
-- Parameters: name
-- Errors:     say what is wrong with it
create or replace function rowrelay.check_target_name(name text) returns void
language plpgsql immutable as $$
begin
  if coalesce(name, '') !~ E'\\S' then
    raise exception 'the target''s name is empty' using errcode = 'invalid_parameter_value';
  end if;
  if octet_length(name) > 63 then
    raise exception 'the target''s name is longer than 63 bytes' using errcode = 'invalid_parameter_value';
  end if;
  if name ~ E'[\\x01-\\x1f\\x7f]' then
    raise exception 'the target''s name contains a control character' using errcode = 'invalid_parameter_value';
  end if;
end
$$;
-- Generated by `make options` from replicator/targets/; do not edit.
-- Purpose:    lists the kinds of targets
-- Result:     for each: place in lists, name, URL schemes, those of them that hints name, whether its URL is a path,
--             whether it keeps current rows (unless mode is append), whether rows with the same key overwrite each
--             other, defaults of its options, and rules for its URLs
create or replace function rowrelay.target_kinds(out place integer, out name text, out schemes text[],
  out shown_schemes text[], out is_path boolean, out keeps_state boolean, out overwrites boolean,
  out defaults jsonb, out url_rules jsonb) returns setof record
language sql immutable as $table$
  values
    (1, 'postgresql'::text, '{postgresql,postgres}'::text[],
     '{postgresql}'::text[],
     false, true, true,
     '{"lanes": "64", "batch_rows": "10000", "batch_bytes": "8388608", "push_timeout": "60",
       "retries": "3", "on_error": "park", "claim": "transaction", "lease": "120",
       "guarantee": "at-least-once", "mode": "mirror"}'::jsonb,
     '[{"pattern": "^[a-z]+:(//.*)?$",
       "problem": "names no database",
       "hint": "Write postgresql://HOST/DATABASE, or postgresql: for the source itself."}]'::jsonb),
    (2, 'webhook'::text, '{https,http}'::text[],
     '{https}'::text[],
     false, false, false,
     '{"lanes": "64", "batch_rows": "2000", "batch_bytes": "8388608", "push_timeout": "60",
       "retries": "3", "on_error": "park", "claim": "transaction", "lease": "120",
       "guarantee": "at-least-once", "timeout": "30", "http2": "false", "follow_redirects": "false",
       "concurrency": "16", "events": "1", "method": "POST"}'::jsonb,
     '[{"pattern": "^[a-z+]+://[^/?#]+",
       "problem": "names no host",
       "hint": "Write SCHEME://HOST/PATH."}]'::jsonb),
    (3, 'search'::text, '{elasticsearch+https,elasticsearch+http,opensearch+https,opensearch+http}'::text[],
     '{elasticsearch+https,opensearch+https}'::text[],
     false, true, true,
     '{"lanes": "64", "batch_rows": "2000", "batch_bytes": "8388608", "push_timeout": "60",
       "retries": "3", "on_error": "park", "claim": "transaction", "lease": "120",
       "guarantee": "at-least-once", "timeout": "30", "http2": "false", "follow_redirects": "false",
       "bulk_bytes": "5242880", "gzip": "false"}'::jsonb,
     E'[{"pattern": "^[a-z+]+://[^/?#]+",
       "problem": "names no host",
       "hint": "Write SCHEME://HOST/PATH."},
      {"pattern": "[?#]", "forbidden": true,
       "problem": "has parameters, which the URL of a search engine cannot have",
       "hint": "Write SCHEME://HOST:9200/INDEX or SCHEME://HOST:9200/."},
      {"pattern": "^[a-z+]+://[^/]+/(.*/)?(?![^/]*\\\\$\\\\{)[^/]*[A-Z][^/]*$", "forbidden": true,
       "problem": "names an index with a capital letter",
       "hint": "A search engine accepts only lower-case names of indexes."}]'::jsonb),
    (4, 'clickhouse'::text, '{clickhouse+https,clickhouse+http}'::text[],
     '{clickhouse+https}'::text[],
     false, false, true,
     '{"lanes": "64", "batch_rows": "2000", "batch_bytes": "8388608", "push_timeout": "60",
       "retries": "3", "on_error": "park", "claim": "transaction", "lease": "120",
       "guarantee": "at-least-once", "timeout": "30", "http2": "false", "follow_redirects": "false"}'::jsonb,
     '[{"pattern": "^[a-z+]+://[^/?#]+",
       "problem": "names no host",
       "hint": "Write SCHEME://HOST/PATH."},
      {"pattern": "^[a-z+]+://[^/?#]+/[^/?#]+",
       "problem": "names no table",
       "hint": "Write SCHEME://HOST:8123/DATABASE.TABLE."}]'::jsonb),
    (5, 'ndjson'::text, '{ndjson+https,ndjson+http}'::text[],
     '{ndjson+https}'::text[],
     false, false, false,
     '{"lanes": "64", "batch_rows": "2000", "batch_bytes": "8388608", "push_timeout": "60",
       "retries": "3", "on_error": "park", "claim": "transaction", "lease": "120",
       "guarantee": "at-least-once", "timeout": "30", "http2": "false", "follow_redirects": "false"}'::jsonb,
     '[{"pattern": "^[a-z+]+://[^/?#]+",
       "problem": "names no host",
       "hint": "Write SCHEME://HOST/PATH."}]'::jsonb),
    (6, 'kafka'::text, '{kafka}'::text[],
     '{kafka}'::text[],
     false, false, false,
     '{"lanes": "64", "batch_rows": "2000", "batch_bytes": "8388608", "push_timeout": "60",
       "retries": "3", "on_error": "park", "claim": "transaction", "lease": "120",
       "guarantee": "at-least-once", "format": "rowrelay", "schema": "false", "tombstones": "true",
       "whole_transactions": "false", "compression": "none", "request_bytes": "1000000", "tls": "false",
       "sasl": "none"}'::jsonb,
     E'[{"pattern": "@", "forbidden": true,
       "problem": "names a user",
       "hint": "Set options sasl and sasl_username."},
      {"pattern": "^kafka://[^/?#,]+(,[^/?#,]+)*(/|$)",
       "problem": "names no broker",
       "hint": "Write kafka://HOST:9092/TOPIC, with a comma between brokers."},
      {"pattern": "^kafka://[^/]+(/([A-Za-z0-9._-]|\\\\{table\\\\}|\\\\$\\\\{[A-Za-z_][A-Za-z0-9_]*\\\\})*)?$",
       "problem": "names a topic that cannot be",
       "hint": "Use letters, digits, ''.'', ''_'' and ''-''; {table} stands for a table''s name."}]'::jsonb),
    (7, 'redis'::text, '{redis,rediss}'::text[],
     '{redis,rediss}'::text[],
     false, false, false,
     '{"lanes": "64", "batch_rows": "2000", "batch_bytes": "8388608", "push_timeout": "60",
       "retries": "3", "on_error": "park", "claim": "transaction", "lease": "120",
       "guarantee": "at-least-once", "format": "rowrelay", "schema": "false", "maxlen": "0",
       "replicas": "0"}'::jsonb,
     E'[{"pattern": "^rediss?://([^/?#@]*@)?[^/?#@:,][^/?#@,]*(/|$)",
       "problem": "names no host, or more than one",
       "hint": "Write SCHEME://HOST:6379/STREAM, or SCHEME://USER:${PASSWORD}@HOST:6379/STREAM."},
      {"pattern": "^rediss?://[^/]+(/[0-9]+)?(/([A-Za-z0-9._:-]|[{]table[}]|[$][{]\\\\w+[}])*)?$",
       "problem": "names a stream that cannot be",
       "hint": "Write letters, digits, ._:- or {table}, the table''s name; /2/NAME is one in database 2."}]'::jsonb),
    (8, 'nats'::text, '{nats,nats+tls}'::text[],
     '{nats,nats+tls}'::text[],
     false, false, false,
     '{"lanes": "64", "batch_rows": "2000", "batch_bytes": "8388608", "push_timeout": "60",
       "retries": "3", "on_error": "park", "claim": "transaction", "lease": "120",
       "guarantee": "at-least-once", "format": "rowrelay", "schema": "false", "create_stream": "false"}'::jsonb,
     E'[{"pattern": "^nats([+]tls)?://([^/?#@]*@)?[^/?#@:,][^/?#@,]*(,[^/?#@,]+)*(/|$)",
       "problem": "names no server",
       "hint": "Write SCHEME://HOST:4222/SUBJECT, with a comma between servers."},
      {"pattern": "^nats([+]tls)?://[^/]+(/([A-Za-z0-9._-]|[{]table[}]|[$][{]\\\\w+[}])*)?$",
       "problem": "names a subject that cannot be",
       "hint": "Write letters, digits, ''_'' and ''-'', with dots in between; {table} is a table''s name."},
      {"pattern": "^[^/]+//[^/]+/([.]|.*[.]([.]|$))", "forbidden": true,
       "problem": "names a subject that cannot be",
       "hint": "Write letters, digits, ''_'' and ''-'', with dots in between; {table} is a table''s name."}]'::jsonb),
    (9, 'amqp'::text, '{amqp,amqps}'::text[],
     '{amqp,amqps}'::text[],
     false, false, false,
     '{"lanes": "64", "batch_rows": "2000", "batch_bytes": "8388608", "push_timeout": "60",
       "retries": "3", "on_error": "park", "claim": "transaction", "lease": "120",
       "guarantee": "at-least-once", "format": "rowrelay", "schema": "false", "routing_key": "{table}"}'::jsonb,
     E'[{"pattern": "^amqps?://([^/?#@]*@)?[^/?#@:,][^/?#@,]*(/|$)",
       "problem": "names no host, or more than one",
       "hint": "Write SCHEME://USER:${PASSWORD}@HOST/EXCHANGE."},
      {"pattern": "^amqps?://[^/]+(/([A-Za-z0-9._:%-]|[$][{]\\\\w+[}])+)?(/([A-Za-z0-9._:%-]|[$][{]\\\\w+[}])*)?$",
       "problem": "names an exchange that cannot be",
       "hint": "Write /VHOST/EXCHANGE or /EXCHANGE: letters, digits, ._:- and %XX for all else."}]'::jsonb),
    (10, 'file'::text, '{file}'::text[],
     '{file}'::text[],
     true, false, false,
     '{"lanes": "64", "batch_rows": "2000", "batch_bytes": "8388608", "push_timeout": "60",
       "retries": "3", "on_error": "park", "claim": "transaction", "lease": "120",
       "guarantee": "at-least-once"}'::jsonb,
     '[{"pattern": "^file:.",
       "problem": "names no file",
       "hint": "Write file:PATH, such as file:/var/log/changes.jsonl."}]'::jsonb),
    (11, 'stdout'::text, '{stdout}'::text[],
     '{stdout}'::text[],
     true, false, false,
     '{"lanes": "64", "batch_rows": "2000", "batch_bytes": "8388608", "push_timeout": "60",
       "retries": "3", "on_error": "park", "claim": "transaction", "lease": "120",
       "guarantee": "at-least-once"}'::jsonb,
     '[]'::jsonb)
$table$;
-- Generated by `make options` from replicator/targets/; do not edit.
-- Purpose:    lists the options of targets
-- Result:     for each: name, the kinds that have it (null: all), bounds of a number, whether its value is secret,
--             whether it does not apply to the source as its own target, pattern of its values, and that in words
create or replace function rowrelay.target_options(out name text, out kinds text[], out lowest bigint,
  out highest bigint, out is_secret boolean, out elsewhere boolean, out pattern text,
  out words text) returns setof record
language sql immutable as $table$
  values
    ('lanes'::text, null::text[], 1::bigint, 1024::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number from 1 to 1024'::text),
    ('batch_rows'::text, null::text[], 1::bigint, 100000::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number of rows from 1 to 100000'::text),
    ('batch_bytes'::text, null::text[], 1024::bigint, 268435456::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number of bytes from 1024 to 268435456'::text),
    ('push_timeout'::text, null::text[], 1::bigint, 86400::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number of seconds from 1 to 86400'::text),
    ('retries'::text, null::text[], 0::bigint, 1000::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number from 0 to 1000'::text),
    ('on_error'::text, null::text[], null::bigint, null::bigint, false, false,
     '^(park|block|halt)$'::text,
     'park, block or halt'::text),
    ('claim'::text, null::text[], null::bigint, null::bigint, false, true,
     '^(transaction|lease)$'::text,
     'transaction or lease'::text),
    ('lease'::text, null::text[], 1::bigint, 86400::bigint, false, true,
     E'^\\d{1,9}$'::text,
     'a number of seconds from 1 to 86400'::text),
    ('guarantee'::text, null::text[], null::bigint, null::bigint, false, true,
     '^(at-least-once|at-most-once)$'::text,
     'at-least-once or at-most-once'::text),
    ('mode'::text,
     '{postgresql}'::text[], null::bigint, null::bigint, false, false,
     '^(mirror|append)$'::text,
     'mirror or append'::text),
    ('timeout'::text,
     '{webhook,search,clickhouse,ndjson}'::text[], 1::bigint, 3600::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number of seconds from 1 to 3600'::text),
    ('headers'::text,
     '{webhook,search,clickhouse,ndjson}'::text[], null::bigint, null::bigint, true, false,
     E'^[!-9;-~]+:[^\\r\\n]*([\\r\\n]+[!-9;-~]+:[^\\r\\n]*)*[\\r\\n]*$'::text,
     'one "Name: value" per line'::text),
    ('http2'::text,
     '{webhook,search,clickhouse,ndjson}'::text[], null::bigint, null::bigint, false, false,
     '^(true|false)$'::text,
     'true or false'::text),
    ('follow_redirects'::text,
     '{webhook,search,clickhouse,ndjson}'::text[], null::bigint, null::bigint, false, false,
     '^(true|false)$'::text,
     'true or false'::text),
    ('proxy'::text,
     '{webhook,search,clickhouse,ndjson}'::text[], null::bigint, null::bigint, true, false,
     E'^(https?|socks5h?)://([^/?#@:]*(:\\$\\{[A-Za-z_][A-Za-z0-9_]*\\})?@)?[^/?#@]+/?$'::text,
     'a URL such as http://HOST:PORT; a password is ${NAME}, taken from the environment of rowrelay run'::text),
    ('ca_file'::text,
     '{webhook,search,clickhouse,ndjson,kafka,redis,nats,amqp}'::text[], null::bigint, null::bigint, false, false,
     '^/'::text,
     'the absolute path of a file on the machine of rowrelay run'::text),
    ('certificate'::text,
     '{webhook,search,clickhouse,ndjson,kafka,redis,nats,amqp}'::text[], null::bigint, null::bigint, false, false,
     '^/'::text,
     'the absolute path of a file on the machine of rowrelay run'::text),
    ('private_key'::text,
     '{webhook,search,clickhouse,ndjson,kafka,redis,nats,amqp}'::text[], null::bigint, null::bigint, false, false,
     '^/'::text,
     'the absolute path of a file on the machine of rowrelay run'::text),
    ('concurrency'::text,
     '{webhook}'::text[], 1::bigint, 256::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number of requests in flight from 1 to 256'::text),
    ('events'::text,
     '{webhook}'::text[], 1::bigint, 1000::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number of events in a request from 1 to 1000'::text),
    ('method'::text,
     '{webhook}'::text[], null::bigint, null::bigint, false, false,
     '^(POST|PUT|PATCH)$'::text,
     'POST, PUT or PATCH'::text),
    ('body'::text,
     '{webhook}'::text[], null::bigint, null::bigint, false, false,
     E'\\S'::text,
     'an SQL expression'::text),
    ('secret'::text,
     '{webhook}'::text[], null::bigint, null::bigint, true, false,
     E'^\\s*\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}(\\s+\\$\\{[A-Za-z_][A-Za-z0-9_]*\\})*\\s*$'::text,
     '${NAME}, taken from the environment of rowrelay run; several during a change of keys'::text),
    ('bulk_bytes'::text,
     '{search}'::text[], 1024::bigint, 104857600::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number of bytes in a request from 1024 to 104857600'::text),
    ('gzip'::text,
     '{search}'::text[], null::bigint, null::bigint, false, false,
     '^(true|false)$'::text,
     'true or false'::text),
    ('api_key'::text,
     '{search}'::text[], null::bigint, null::bigint, true, false,
     E'^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$'::text,
     '${NAME}, taken from the environment of rowrelay run'::text),
    ('format'::text,
     '{kafka,redis,nats,amqp}'::text[], null::bigint, null::bigint, false, false,
     '^(rowrelay|cloudevents-binary|debezium|row)$'::text,
     'rowrelay, cloudevents-binary, debezium or row'::text),
    ('schema'::text,
     '{kafka,redis,nats,amqp}'::text[], null::bigint, null::bigint, false, false,
     '^(true|false)$'::text,
     'true or false'::text),
    ('source_name'::text,
     '{kafka,redis,nats,amqp}'::text[], null::bigint, null::bigint, false, false,
     E'^\\S+$'::text,
     'a name without blanks'::text),
    ('tombstones'::text,
     '{kafka}'::text[], null::bigint, null::bigint, false, false,
     '^(true|false)$'::text,
     'true or false'::text),
    ('whole_transactions'::text,
     '{kafka}'::text[], null::bigint, null::bigint, false, false,
     '^(true|false)$'::text,
     'true or false'::text),
    ('compression'::text,
     '{kafka}'::text[], null::bigint, null::bigint, false, false,
     '^(none|gzip|snappy|lz4|zstd)$'::text,
     'none, gzip, snappy, lz4 or zstd'::text),
    ('request_bytes'::text,
     '{kafka}'::text[], 1024::bigint, 100000000::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number of bytes from 1024 to 100000000'::text),
    ('tls'::text,
     '{kafka}'::text[], null::bigint, null::bigint, false, false,
     '^(true|false)$'::text,
     'true or false'::text),
    ('private_key_password'::text,
     '{kafka}'::text[], null::bigint, null::bigint, true, false,
     E'^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$'::text,
     '${NAME}, taken from the environment of rowrelay run'::text),
    ('sasl'::text,
     '{kafka}'::text[], null::bigint, null::bigint, false, false,
     '^(none|PLAIN|SCRAM-SHA-256|SCRAM-SHA-512|OAUTHBEARER)$'::text,
     'none, PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER'::text),
    ('sasl_username'::text,
     '{kafka}'::text[], null::bigint, null::bigint, false, false,
     E'\\S'::text,
     'a name'::text),
    ('sasl_password'::text,
     '{kafka}'::text[], null::bigint, null::bigint, true, false,
     E'^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$'::text,
     '${NAME}, taken from the environment of rowrelay run'::text),
    ('oauth_url'::text,
     '{kafka}'::text[], null::bigint, null::bigint, false, false,
     '^https?://[^/?#@]+'::text,
     'a URL such as https://HOST/token'::text),
    ('oauth_scope'::text,
     '{kafka}'::text[], null::bigint, null::bigint, false, false,
     E'\\S'::text,
     'a text'::text),
    ('maxlen'::text,
     '{redis}'::text[], 0::bigint, 999999999::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number of entries from 0 to 999999999'::text),
    ('replicas'::text,
     '{redis}'::text[], 0::bigint, 100::bigint, false, false,
     E'^\\d{1,9}$'::text,
     'a number of replicas from 0 to 100'::text),
    ('stream'::text,
     '{nats}'::text[], null::bigint, null::bigint, false, false,
     E'^[^\\s.*>/\\\\]+$'::text,
     E'a name without blanks and without any of .*>/\\'::text),
    ('create_stream'::text,
     '{nats}'::text[], null::bigint, null::bigint, false, false,
     '^(true|false)$'::text,
     'true or false'::text),
    ('token'::text,
     '{nats}'::text[], null::bigint, null::bigint, true, false,
     E'^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$'::text,
     '${NAME}, taken from the environment of rowrelay run'::text),
    ('credentials'::text,
     '{nats}'::text[], null::bigint, null::bigint, false, false,
     '^/'::text,
     'the absolute path of a file on the machine of rowrelay run'::text),
    ('routing_key'::text,
     '{amqp}'::text[], null::bigint, null::bigint, false, false,
     E'^([A-Za-z0-9._:-]|\\{table\\})*$'::text,
     'letters, digits, any of ._:- and {table}'::text)
$table$;
-- Purpose:    finds the kind of a target
-- Parameters: url
-- Result:     its row of rowrelay.target_kinds(); no row: the URL is not supported
create or replace function rowrelay.target_kind(url text, out place integer, out name text, out schemes text[],
  out shown_schemes text[], out is_path boolean, out keeps_state boolean, out overwrites boolean, out defaults jsonb,
  out url_rules jsonb) returns setof record
language sql immutable as $$
  select k.* from rowrelay.target_kinds() as k
   where split_part(target_kind.url, ':', 1) = any (k.schemes) and strpos(target_kind.url, ':') > 0
$$;
-- Purpose:    lists names for people
-- Parameters: names; the word before the last one
-- Result:     such as "a, b and c"
create or replace function rowrelay.in_words(names text[], word text) returns text
language sql immutable as $$
  select case when cardinality(names) > 1
              then concat_ws(' ', array_to_string(names[:cardinality(names) - 1], ', '), word,
                             names[cardinality(names)])
              else names[1] end
$$;
-- Purpose:    refuses a target URL that cannot work or contains a password
-- Parameters: url
-- Errors:     say what is wrong and what to write
create or replace function rowrelay.check_target_url(url text) returns void
language plpgsql stable as $$
declare
  kind   record;
  rule   record;
  secret constant text := E'\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}';
begin
  select k.* into kind from rowrelay.target_kind(url) as k;
  if not found then
    raise exception 'target URL "%" is not supported', url
      using errcode = 'invalid_parameter_value',
            hint = format('A URL begins with %s; http: may stand for https:.',
                          (select rowrelay.in_words(array_agg(s.scheme || ':' order by k.place, s.place), 'or')
                             from rowrelay.target_kinds() as k,
                                  unnest(k.shown_schemes) with ordinality as s(scheme, place)));
  end if;
  if not kind.is_path and (url ~ '^[a-z+]+://[^/?@]*:[^/?@]+@' and url !~ ('^[a-z+]+://[^/?@:]*:' || secret || '@')
                           or url ~ ('[?&](ssl)?password=(?!' || secret || '(&|$))')) then
    raise exception 'target URL contains a password'
      using errcode = 'invalid_parameter_value',
            hint = 'Keep it in ~/.pgpass or a service file, or write ${NAME} and set NAME in the environment of '
                   'rowrelay run.';
  end if;
  for rule in
    select r.value ->> 'pattern' as pattern, coalesce((r.value ->> 'forbidden')::boolean, false) as forbidden,
           r.value ->> 'problem' as problem, r.value ->> 'hint' as hint
      from jsonb_array_elements(kind.url_rules) with ordinality as r(value, place)
     order by r.place
  loop
    if (url ~ rule.pattern) = rule.forbidden then
      raise exception 'target URL "%" %', url, rule.problem
        using errcode = 'invalid_parameter_value', hint = replace(rule.hint, 'SCHEME', split_part(url, ':', 1));
    end if;
  end loop;
end
$$;
-- Purpose:    refuses options that a target does not have, and values that are not allowed
-- Parameters: url, options (null values are allowed: they reset an option)
-- Errors:     name what is wrong and what is allowed
create or replace function rowrelay.check_target_options(url text, options jsonb) returns void
language plpgsql stable as $$
declare
  kind   constant text    := (select k.name from rowrelay.target_kind(url) as k);
  itself constant boolean := url ~ '^postgres(ql)?:$';
  option record;
begin
  for option in
    select o.key as name, o.value, k.lowest, k.highest, k.is_secret, k.pattern, k.words, k.name is not null as is_known,
           exists (select from rowrelay.target_options() as a where a.name = o.key) as is_known_elsewhere
      from jsonb_each_text(options) as o
      left join rowrelay.target_options() as k
        on k.name = o.key and (k.kinds is null or kind = any (k.kinds)) and not (k.elsewhere and itself)
  loop
    if not option.is_known_elsewhere or option.value is not null and not option.is_known then
      raise exception 'option "%" does not exist%', option.name,
                      case when option.is_known_elsewhere then ' for this kind of target' else '' end
        using errcode = 'invalid_parameter_value',
              hint = format('%sOptions are %s.',
                            (select format('Only targets of kind %s have it. ', rowrelay.in_words(
                                             array_agg(distinct n order by n), 'and'))
                               from rowrelay.target_options() as k, unnest(k.kinds) as n
                              where k.name = option.name having count(*) > 0),
                            (select rowrelay.in_words(array_agg(k.name order by k.name collate "C"), 'and')
                               from rowrelay.target_options() as k
                              where (k.kinds is null or kind = any (k.kinds)) and not (k.elsewhere and itself)));
    end if;
    if option.value !~ option.pattern
       or option.lowest is not null and option.value::bigint not between option.lowest and option.highest then
      raise exception '% must be %, not "%"', option.name, option.words,
                      case when option.is_secret then '...' else option.value end
        using errcode = 'invalid_parameter_value';
    end if;
  end loop;
end
$$;
-- Purpose:    refuses headers that rowrelay sets itself, and those that hold a secret
-- Parameters: options of a target
-- Errors:     names the header
create or replace function rowrelay.check_target_headers(options jsonb) returns void
language plpgsql stable as $$
declare
  header record;
begin
  for header in
    select m[1] as name, m[2] as value from regexp_matches(options ->> 'headers', E'([!-9;-~]+):([^\\r\\n]*)', 'g') as m
  loop
    if header.name ~* '^(webhook-.*|content-length|transfer-encoding|host|connection|expect)$' then
      raise exception 'option headers must not set %', header.name
        using errcode = 'invalid_parameter_value', hint = 'rowrelay sets that header itself.';
    end if;
    if header.name ~* '(^authorization|^proxy-authorization|^cookie|[-_]key|token|secret|password)$'
       and header.value !~ E'\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' then
      raise exception 'option headers contains a secret in %', header.name
        using errcode = 'invalid_parameter_value',
              hint = 'Write ${NAME} and set NAME in the environment of rowrelay run.';
    end if;
  end loop;
end
$$;
-- Purpose:    refuses options of a target that exclude each other, or lack another one
-- Parameters: options, with the defaults of the target's kind
-- Errors:     name both options, and what to do
create or replace function rowrelay.check_target_pairs(in_force jsonb) returns void
language plpgsql immutable as $$
declare
  sasl   constant text := in_force ->> 'sasl';
  lacked constant text := (select n.name
                             from unnest(array['sasl_username', 'sasl_password', 'oauth_url'])
                                    with ordinality as n(name, place)
                            where in_force ->> n.name is null and (n.name <> 'oauth_url' or sasl = 'OAUTHBEARER')
                            order by n.place limit 1);
  excess text;
begin
  if in_force ->> 'body' is not null and (in_force ->> 'events')::integer > 1 then
    raise exception 'options body and events exclude each other' using errcode = 'invalid_parameter_value',
      hint = 'A request with option body carries one change: omit events or set it to 1.';
  end if;
  if in_force ->> 'format' = 'row' and in_force ->> 'tombstones' = 'false' then
    raise exception 'options format=row and tombstones=false exclude each other'
      using errcode = 'invalid_parameter_value',
            hint = 'With format=row a message without a value is all that tells of a deleted row.';
  end if;
  if in_force ->> 'schema' = 'true' and in_force ->> 'format' <> 'debezium' then
    raise exception 'option schema=true needs option format=debezium' using errcode = 'invalid_parameter_value';
  end if;
  if in_force ->> 'whole_transactions' = 'true' and in_force ->> 'format' <> 'debezium' then
    raise exception 'option whole_transactions=true needs option format=debezium'
      using errcode = 'invalid_parameter_value';
  end if;
  if in_force ->> 'whole_transactions' = 'true' and in_force ->> 'lanes' <> '1' then
    raise exception 'option whole_transactions=true needs option lanes=1' using errcode = 'invalid_parameter_value',
      hint = 'Only a target with one lane gets whole transactions; set lanes=1 when the target is added.';
  end if;
  if in_force ->> 'create_stream' = 'true' and in_force ->> 'stream' is null then
    raise exception 'option create_stream=true needs option stream' using errcode = 'invalid_parameter_value';
  end if;
  if sasl <> 'none' and lacked is not null then
    raise exception 'option sasl=% needs option %', sasl, lacked using errcode = 'invalid_parameter_value';
  end if;
  select n.name into excess
    from unnest(array['sasl_username', 'sasl_password', 'oauth_url', 'oauth_scope']) as n(name)
   where in_force ->> n.name is not null
     and (sasl = 'none' or n.name like 'oauth%' and sasl <> 'OAUTHBEARER') limit 1;
  if found then
    raise exception 'option % needs option sasl', excess using errcode = 'invalid_parameter_value',
      hint = case when excess like 'oauth%' then 'Set sasl=OAUTHBEARER.'
                  else 'Set sasl to the mechanism to log in by.' end;
  end if;
  select n.name into excess
    from unnest(array['ca_file', 'certificate', 'private_key', 'private_key_password']) as n(name)
   where in_force ->> n.name is not null and in_force ->> 'tls' = 'false' limit 1;
  if found then
    raise exception 'option % needs option tls=true', excess using errcode = 'invalid_parameter_value';
  end if;
end
$$;
-- Purpose:    refuses a URL or options that cannot work, before anything is stored
-- Parameters: url, options (null values are allowed: they reset an option)
-- Errors:     each names what is wrong and what is allowed
create or replace function rowrelay.check_target(url text, options jsonb) returns void
language plpgsql as $$
declare
  in_force     jsonb;
  lease        integer;
  push_timeout integer;
begin
  perform rowrelay.check_target_url(url);
  perform rowrelay.check_target_options(url, options);
  perform rowrelay.check_target_headers(options);
  select k.defaults || jsonb_strip_nulls(options) into in_force from rowrelay.target_kind(url) as k;
  lease := in_force ->> 'lease';
  push_timeout := in_force ->> 'push_timeout';
  -- Else another process could claim a batch that is still being pushed.
  if (in_force ->> 'claim' = 'lease' or in_force ->> 'guarantee' = 'at-most-once') and lease <= push_timeout then
    raise exception 'lease must be longer than push_timeout (%), not %', push_timeout, lease
      using errcode = 'invalid_parameter_value',
            hint = format('Set lease to more than %s, better %s, or push_timeout to less than %s.', push_timeout,
                          2 * push_timeout, lease);
  end if;
  perform rowrelay.check_target_pairs(in_force);
end
$$;
-- Purpose:    adds a target. It receives nothing before a table is routed to it.
-- Parameters: name; url (see the README for the kinds); options, such as {"mode": "append", "lanes": 1}
-- Result:     its id
-- Errors:     the name is taken or not allowed; a bad URL or option
create or replace function rowrelay.add_target(name text, url text, options jsonb default '{}') returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_id integer;
begin
  perform rowrelay.lock_configuration(); -- who adds the same name waits for its index
  perform rowrelay.check_target_name(name);
  perform rowrelay.check_target(url, options);
  insert into rowrelay.target as t (name, url, options, lanes)
  values (add_target.name, add_target.url, jsonb_strip_nulls(add_target.options),
          (select coalesce(add_target.options ->> 'lanes', k.defaults ->> 'lanes')::smallint
             from rowrelay.target_kind(add_target.url) as k))
  returning t.id into new_id;
  perform rowrelay.add_lanes(new_id);
  return new_id;
exception when unique_violation then
  raise exception 'target "%" already exists', name
    using errcode = 'duplicate_object',
          hint = case when exists (select from rowrelay.document d join rowrelay.target t on t.id = d.target
                              where t.name = add_target.name and t.dropped_at is null)
                      then 'It is a document; choose another name.'
                      else rowrelay.command('Change it: rowrelay target set %1$s --url %2$s; or drop it first: '
                                            'rowrelay target drop %1$s',
                                            'Change it: select rowrelay.set_target(%1$L, %2$L); or drop it first: '
                                            'select rowrelay.drop_target(%1$L);', name, url) end;
end
$$;
-- Purpose:    returns the name of a table's index in a search engine, when the target's URL does not set it
-- Parameters: into_table: the table's name there, as SQL writes it
-- Result:     that in lower case, with "_" for characters that an index name may not have; replicator/targets/search.c
--             must return the same
create or replace function rowrelay.index_name(into_table text) returns text
language sql immutable strict as $$
  select regexp_replace(regexp_replace(lower(replace(into_table, '"', '') collate "C"), '[^a-z0-9._-]', '_', 'g'),
                        '^[_.-]+', '')
$$;
-- Purpose:    refuses to send two tables or documents into one index of a search engine or one table of ClickHouse.
--             Does nothing for any other target.
-- Parameters: target that the tables or documents go to
-- Errors:     two of them would share an index; a table has no key; a name has no letter that an index may have
create or replace function rowrelay.check_indexes(target integer) returns void
language plpgsql as $$
declare
  destination rowrelay.target;
  found_one   record;
begin
  select t.* into destination from rowrelay.target t where t.id = check_indexes.target;
  if destination.url !~ E'^(elasticsearch|opensearch|clickhouse)\\+' then
    return;
  end if;
  for found_one in
    select s.index, array_agg(s.name order by s.name) as names, bool_or(s.keyless) as keyless, s.index_is_told
      from (select coalesce(u.index, rowrelay.index_name(r.into_table)) as index, u.index is not null as index_is_told,
                   coalesce(rowrelay.full_name(c.relation), c.relation_name) as name,
                   cardinality(c.key_columns) = 0 as keyless
              from rowrelay.route r
              join rowrelay.capture c on c.id = r.capture
              left join rowrelay.document d on d.target = r.target
              cross join lateral (select substring(destination.url
                                                   from '^[a-z+]+://[^/?#]+/(?:[^?#]*/)?([^/?#]+)(?:[?#].*)?$'))
                                                     as u(index)
             where r.until_id is null and (c.released_at is null or d.target is not null)
               and (r.target = destination.id or d.delivers_to = destination.id)) as s
     group by s.index, s.index_is_told
  loop
    if found_one.index = '' then
      raise exception 'the name of % has no letter that an index may have', found_one.names[1]
        using errcode = 'invalid_parameter_value',
              hint = 'Name it with ' || rowrelay.command('option --into', 'parameter into_table') || '.';
    end if;
    if found_one.keyless and destination.url !~ '^clickhouse' then
      raise exception 'table % has no key to identify its rows in an index', found_one.names[1]
        using errcode = 'invalid_parameter_value',
          hint = 'Name columns that identify a row: '
                   || rowrelay.command('rowrelay capture %s --key COLUMNS',
                                       'select rowrelay.capture_table(%L, key => ''{COLUMNS}'');', found_one.names[1]);
    end if;
    if cardinality(found_one.names) > 1 then
      raise exception '% "%" cannot be both % and %', case when destination.url ~ '^clickhouse' then 'table'
        else 'index' end, found_one.index, found_one.names[1], found_one.names[2]
        using errcode = 'invalid_parameter_value',
              hint = case when destination.url ~ '^clickhouse' then 'Add a target for each of them.'
                          when found_one.index_is_told
                          then 'Add a target whose URL ends with a slash: then each table has an index of its own.'
                          else 'Give one of them another name with '
                                 || rowrelay.command('option --into', 'parameter into_table') || '.' end;
    end if;
  end loop;
end
$$;
-- Purpose:    refuses a change of a target's URL or options that cannot work, before anything is stored
-- Parameters: known: the target as it is; url (null: unchanged); options to set (a null value resets one; null:
--             unchanged)
-- Result:     its number of lanes afterwards
-- Errors:     a bad URL or option; a new number of lanes while tables are routed there
create or replace function rowrelay.check_target_change(known rowrelay.target, url text, options jsonb)
  returns smallint
language plpgsql stable as $$
declare
  new_lanes smallint;
begin
  perform rowrelay.check_target(coalesce(check_target_change.url, known.url),
                                known.options || coalesce(check_target_change.options, '{}'));
  new_lanes := known.lanes;
  if check_target_change.options ? 'lanes' then
    select coalesce(check_target_change.options ->> 'lanes', k.defaults ->> 'lanes') into new_lanes
      from rowrelay.target_kind(coalesce(check_target_change.url, known.url)) as k;
  end if;
  if exists (select from rowrelay.document d where d.target = known.id)
     and (check_target_change.url is not null or check_target_change.options ?| '{lanes,mode}') then
    raise exception '"%" is a document: its URL, lanes and mode cannot be set', known.name
      using errcode = 'invalid_parameter_value', hint = 'Set those of the target that it goes to.';
  end if;
  -- The trigger functions compute a key's lane. If it changed, two lanes would hold changes of one key, and nobody
  -- would claim from removed lanes.
  if new_lanes <> known.lanes
     and (exists (select from rowrelay.route r where r.target = known.id and r.until_id is null)
          or exists (select from rowrelay.queue q where rowrelay.lane_target(q.lane) = known.id)
          or exists (select from rowrelay.refusal f where f.target = known.id)) then
    raise exception 'the number of lanes of target "%" cannot change while tables are routed to it or changes wait',
      known.name
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Add another target, and route the tables to it: '
                     || rowrelay.command('rowrelay target add NAME %s --option lanes=%s',
                                         'select rowrelay.add_target(''NAME'', %L, ''{"lanes": %s}'');', known.url,
                                         new_lanes::text);
  end if;
  if check_target_change.url is not null then
    known.url := check_target_change.url;
    perform rowrelay.check_into(c, known, r.into_table, true)
       from rowrelay.route r join rowrelay.capture c on c.id = r.capture and c.released_at is null
      where r.target = known.id and r.until_id is null;
  end if;
  return new_lanes;
end
$$;
-- Purpose:    changes a target's URL or options; running processes apply it at their next claim. Before the URL, or how
--             batches are held, changes, it waits until no batch of the target is in flight.
-- Parameters: name; url (null: unchanged); options to set (a null value resets one; null: unchanged)
-- Errors:     no such target; a bad URL or option; a new number of lanes while tables are routed there
create or replace function rowrelay.set_target(name text, url text default null, options jsonb default null)
  returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target_id integer;
  known     rowrelay.target;
  new_lanes smallint;
begin
  perform rowrelay.lock_configuration();
  -- A batch in flight goes where it went, under the rules it was claimed by; what comes after it must not overtake it.
  if set_target.url is not null or set_target.options ?| '{claim,guarantee,mode}' then
    -- Before its row: a batch that is about to halt its target would wait for us while we wait for it.
    perform rowrelay.lock_target(t.id) from rowrelay.target t
      where t.name = set_target.name and t.dropped_at is null;
  end if;
  target_id := rowrelay.target_id(name);
  select t.* into known from rowrelay.target t where t.id = target_id;
  new_lanes := rowrelay.check_target_change(known, url, options);
  update rowrelay.target t
     set url = coalesce(set_target.url, t.url),
         options = jsonb_strip_nulls(t.options || coalesce(set_target.options, '{}')),
         lanes = new_lanes,
         version = t.version + 1
   where t.id = target_id;
  -- A copy that is under way goes to the former URL: it begins again.
  if set_target.url is not null then
    update rowrelay.backfill b set snapshot = null where b.target = target_id and b.state = 'copying';
  end if;
  perform rowrelay.add_lanes(target_id);
  update rowrelay.target t set version = t.version + 1
   where t.id in (select d.target from rowrelay.document d where d.delivers_to = target_id);
  perform rowrelay.check_indexes(target_id);
end
$$;
-- Purpose:    drops a target with its routes, documents, queue and refused changes. The log and its receipts stay.
--             Waits until no batch of the target is in flight.
-- Parameters: name
-- Errors:     no such target
create or replace function rowrelay.drop_target(name text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target_id integer;
  relation  regclass;
begin
  perform rowrelay.lock_configuration();
  -- What is in flight could arrive after what another target of this name delivers.
  -- Before its row: a batch that is about to halt its target would wait for us while we wait for it.
  perform rowrelay.lock_target(t.id) from rowrelay.target t
    where t.name = drop_target.name and t.dropped_at is null;
  target_id := rowrelay.target_id(name);
  perform rowrelay.drop_target(t.name)
     from rowrelay.document d join rowrelay.target t on t.id = d.target
    where d.delivers_to = target_id and t.dropped_at is null;
  for relation in
    select c.relation from rowrelay.route r join rowrelay.capture c on c.id = r.capture
     where r.target = target_id and r.until_id is null and c.released_at is null
  loop
    perform rowrelay.unroute(relation, name);
  end loop;
  update rowrelay.target t set dropped_at = now(), version = t.version + 1 where t.id = target_id;
  update rowrelay.route r set until_id = rowrelay.last_change_id() where r.target = target_id and r.until_id is null;
  perform rowrelay.make_trigger_function(c.id)
     from rowrelay.capture c
    where c.released_at is null
      and c.id in (select s.capture from rowrelay.document_source s where s.document = target_id);
  delete from rowrelay.refusal f where f.target = target_id;
  delete from rowrelay.hold h where h.target = target_id;
  delete from rowrelay.trouble o where o.target = target_id;
  delete from rowrelay.floor o where o.target = target_id;
  -- rowrelay.maintain() later removes what a process has claimed just now and what a writer still adds.
  delete from rowrelay.queue q
   where q.ctid = any (array(select u.ctid from rowrelay.queue u where u.lane between rowrelay.lane_number(target_id,
       -1) and rowrelay.lane_number(target_id, 1023)
                              for update skip locked));
end
$$;
-- Purpose:    stops delivery to a target, and of documents that go there, until rowrelay.resume(); changes captured
--             meanwhile wait in the queue. Waits until no batch of the target is in flight. Who did it is kept if the
--             session's setting rowrelay.actor says so.
-- Parameters: name
-- Errors:     no such target
create or replace function rowrelay.pause(target text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  paused_id integer;
  paused_by text := 'paused by ' || nullif(current_setting('rowrelay.actor', true), '');
begin
  perform rowrelay.lock_configuration();
  -- Before its row: a batch that is about to halt its target would wait for us while we wait for it.
  perform rowrelay.lock_target(t.id) from rowrelay.target t
    where t.name = pause.target and t.dropped_at is null;
  paused_id := rowrelay.target_id(target);
  update rowrelay.target t
     set state = 'paused', reason = paused_by, version = t.version + 1
   where (t.id = paused_id or t.id in (select d.target from rowrelay.document d where d.delivers_to = paused_id))
     and t.state <> 'paused' and t.dropped_at is null;
end
$$;
-- Purpose:    continues delivery to a target that was paused or that a refused change halted. The refused change stays
--             in rowrelay.errors: use rowrelay.retry() or rowrelay.skip(). Claims go on behind those of a copy of this
--             database that has delivered to the target until now; see rowrelay.skip_lost_ids().
-- Parameters: name
-- Errors:     no such target
create or replace function rowrelay.resume(target text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  resumed_id integer := rowrelay.target_id(target);
  clock      constant bigint := extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000;
begin
  perform setval('rowrelay.claim_token', clock) from rowrelay.claim_token t where t.last_value < clock;
  update rowrelay.target t
     set state = 'running', reason = null, version = t.version + 1
   where (t.id = resumed_id or t.id in (select d.target from rowrelay.document d where d.delivers_to = resumed_id))
     and t.state <> 'running' and t.dropped_at is null;
  perform rowrelay.ring_doorbell();
end
$$;
-- Purpose:    wakes sleeping processes. Writers call it only while rowrelay.doorbell is armed. It does nothing on a
--             server that allows prepared transactions: PostgreSQL refuses to prepare a transaction after NOTIFY, and
--             an application's PREPARE TRANSACTION must not fail. Processes poll there.
create or replace function rowrelay.ring_doorbell() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('max_prepared_transactions') = '0' then
    perform pg_notify('rowrelay_doorbell', '');
  end if;
end
$$;
-- Purpose:    has to be called after queueing changes with older ids than those being claimed: processes remember up to
--             which id a lane is empty, and would skip them. The caller holds the lanes' locks, so that nobody claims
--             from them before it commits.
-- Parameters: target; the smallest change id that was queued
create or replace function rowrelay.rewind(target integer, change_id bigint) returns void
language plpgsql as $$
begin
  update rowrelay.target t set version = t.version + 1 where t.id = rewind.target;
  update rowrelay.floor f set floor = least(f.floor, rewind.change_id - 1) where f.target = rewind.target;
  perform rowrelay.ring_doorbell();
end
$$;
-- Purpose:    the lane in which a refused change is queued again. If rows of its table have changed lanes since, newer
--             changes of its row are in another one: then it is the barrier lane, whose order counts for all.
-- Parameters: refused change
create or replace function rowrelay.lane_of_return(refused rowrelay.refusal) returns integer
language sql stable as $$
  select case when c.lanes_since > refused.change_id and t.lanes > 1 then rowrelay.lane_number(t.id, -1)
              else refused.lane end
    from rowrelay.capture c, rowrelay.target t where c.id = refused.capture and t.id = refused.target
$$;
-- Purpose:    locks the lanes of refused changes, as rowrelay.lock_lanes() does, and the barrier lanes of their
--             targets: a TRUNCATE in flight supersedes older refused changes. For a refused barrier it locks all lanes
--             of its target; for a row that can change lanes, or has done so, the barrier lane counts as one of its
--             lanes.
-- Parameters: target (null: all); change ids (null: all that were refused)
-- Result:     numbers of the lanes that it has locked. What was refused or set aside there while it waited is there
--             now: look again.
create or replace function rowrelay.lock_refused_lanes(target text, change_ids bigint[]) returns integer[]
language plpgsql as $$
declare
  lanes integer[];
begin
  lanes := array(
    select distinct u.lane from rowrelay.refusal f
      join rowrelay.target t on t.id = f.target
      join rowrelay.capture c on c.id = f.capture
     cross join unnest(case when rowrelay.can_change_lane(c) or c.lanes_since > f.change_id
                            then array[f.lane, rowrelay.lane_number(t.id, -1)]
                            else array[f.lane] end) as u(lane)
     where f.state <> 'waiting'
       and (lock_refused_lanes.target is null or t.name = lock_refused_lanes.target and t.dropped_at is null)
       and (change_ids is null or f.change_id = any (change_ids))
     order by 1);
  lanes := array(
    select distinct n
      from unnest(lanes) as l
     cross join unnest(case when rowrelay.lane_position(l) = -1 then rowrelay.lanes_of(rowrelay.lane_target(l))
                            else array[l, rowrelay.lane_number(rowrelay.lane_target(l), -1)] end) as n);
  perform rowrelay.lock_lanes(lanes);
  return lanes;
end
$$;
-- Purpose:    retries at once tables that targets could not take: a part of rowrelay.retry()
-- Parameters: target (null: all); ids of waiting changes of these tables (null: all)
-- Result:     how many of these changes will be tried: first one, then the others
create or replace function rowrelay.hurry_held(target text, change_ids bigint[]) returns bigint
language plpgsql as $$
declare
  waiting bigint;
begin
  with chosen as (
    select f.target, f.capture, count(*) as n
      from rowrelay.refusal f
      join rowrelay.target t on t.id = f.target and t.dropped_at is null
     where f.state = 'waiting'
       and (hurry_held.target is null or t.name = hurry_held.target)
       and (change_ids is null or f.change_id = any (change_ids))
     group by f.target, f.capture
  ), hurried as (
    update rowrelay.hold h set retry_at = clock_timestamp()
      from chosen c where h.target = c.target and h.capture = c.capture
  )
  select coalesce(sum(c.n), 0) into waiting from chosen c;
  if waiting > 0 then
    perform rowrelay.ring_doorbell();
  end if;
  return waiting;
end
$$;
-- Purpose:    whether a target keeps the last state of rows rather than every change
-- Parameters: target
-- Result:     true for mirrors, search indexes and documents
create or replace function rowrelay.keeps_state(target rowrelay.target) returns boolean
language sql stable as $$
  select exists (select from rowrelay.document d where d.target = target.id)
         or target.options ->> 'mode' is distinct from 'append'
            and coalesce((select k.keeps_state from rowrelay.target_kind(target.url) as k), false)
$$;
-- Purpose:    handles the queue of a database that was restored from a dump or copied: queued changes may have been
--             delivered after the dump was made. Delivering a row with a key again does no harm. A row without a key
--             would appear twice, so its changes become refused changes until a person has compared both sides.
-- Result:     number of these changes
create or replace function rowrelay.park_restored() returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  parked bigint;
begin
  with gone as (
    delete from rowrelay.queue q
     using rowrelay.change c, rowrelay.target t
     where c.id = q.change_id and c.day = q.day and c.key is null and c.op in ('i', 'u', 'd', 's')
       and q.lane > 0 and t.id = rowrelay.lane_target(q.lane) and t.dropped_at is null
       and rowrelay.keeps_state(t) and not exists (select from rowrelay.document d where d.target = t.id)
    returning q.change_id, q.lane, q.day, q.bytes, c.capture, t.id as target, t.name
  )
  insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, row_hash, state, attempts,
                                message, detail)
  select g.target, g.change_id, g.lane, g.day, g.bytes, g.capture, null, rowrelay.text_hash(''), 'error', 0,
         'the source was restored from a dump, so this change may have been delivered before',
         format('Its table has no key, so the row could appear twice. Compare both sides: rowrelay verify %1$s; then '
                'deliver the change: rowrelay retry %2$s --target %1$s; or discard it: rowrelay skip %2$s '
                '--target %1$s',
                rowrelay.shell_word(g.name), g.change_id)
    from gone g;
  get diagnostics parked = row_count;
  return parked;
end
$$;
-- Purpose:    makes sure that change ids are not assigned twice. A server that crashed, was restored, or is a promoted
--             standby may have lost the last ids that it assigned. Targets know them, and would take new changes with
--             these ids for old ones. So the sequence continues at the number of microseconds since the beginning of
--             2026: no source has made that many changes, so this is past every id assigned before, and two servers
--             that continue from the same data assign different ids. The sequence of claim tokens continues likewise.
--             Every process calls this when it connects, before it claims anything. Every start of a server counts,
--             because restored files cannot be told from those of the stopped server. See rowrelay.this_server(). If
--             the clock is behind the sequence (a wrong clock, or two starts in a row), the sequence continues after a
--             random gap, because another server may continue from the same data.
-- Result:     goes_on_after: the change id after which it continues; null: the same server and the same start as
--             before. is_alarm: this was certainly more than a restart of the same server
create or replace function rowrelay.skip_lost_ids(out goes_on_after bigint, out is_alarm boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  step   constant bigint := 1000000000; -- a day of 10,000 changes a second
  near   constant bigint := 1000000;    -- ids that may be lost where clocks differ by little
  clock  bigint;
  gap    bigint;
  this   record;
  last   text[];
  before bigint;
begin
  if pg_is_in_recovery() then
    return;
  end if;
  select * into this from rowrelay.this_server();
  select s.server into last from rowrelay.source s;
  if last = this.server then
    return;
  end if;
  -- Others use the sequence before this transaction commits, so its commit must not be lost in a crash.
  perform set_config('synchronous_commit', 'local', true);
  -- Processes that connect at the same time wait here until the sequence has been set.
  select s.server into last from rowrelay.source s for update;
  if last = this.server then
    return;
  end if;
  is_alarm := last[1] is distinct from this.server[1] or last[3] is distinct from this.server[3] and this.is_empty;

  -- Two oids of this database, which are different after a restore from a dump.
  if substring(last[1] from '[0-9]+ [0-9]+$') is distinct from substring(this.server[1] from '[0-9]+ [0-9]+$')
    and last is not null then
    perform rowrelay.park_restored();
  end if;

  clock := extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000;
  gap := step + (random() * step)::bigint;
  perform setval('rowrelay.claim_token', case when t.last_value + near < clock then clock else t.last_value + gap end)
    from rowrelay.claim_token t;
  -- In one statement: ids that writers take in between would be counted as skipped.
  select case when i.is_called then i.last_value else 0 end,
         setval('rowrelay.change_id', case when i.last_value + near < clock then clock else i.last_value + gap end)
    into before, goes_on_after
    from rowrelay.change_id i;
  update rowrelay.source s set server = this.server, ids_skipped = s.ids_skipped + goes_on_after - before;
end
$$;
-- Purpose:    up to which change of a table a target that keeps the last state of rows has since received something
--             newer that the order of the rows' lanes does not cover: a truncate of one of the table's partitions, or
--             changes made after the table was captured again or by another key. Delivered now, an older change could
--             restore a deleted row. Not so for a truncate: behind a refused one, changes of its table wait.
-- Parameters: target; capture
-- Result:     a change id; 0: there is nothing of the kind. A partition's truncate does not count while it is queued
--             for the target or was refused: then the order holds
create or replace function rowrelay.overtaken_up_to(target integer, capture integer) returns bigint
language sql stable as $$
  select coalesce(greatest(
           (select max(u.change_id) - 1 from rowrelay.truncation u
             where u.capture = overtaken_up_to.capture and u.condition is not null
               and not exists (select from rowrelay.queue q
                                where q.lane = rowrelay.lane_number(t.id, -1) and q.change_id = u.change_id)
               and not exists (select from rowrelay.refusal r where r.target = t.id and r.change_id = u.change_id)),
           (select max(s.from_id)
              from rowrelay.capture c
              join rowrelay.capture a on a.id = c.id or c.relation <> 0 and a.relation = c.relation
              join rowrelay.shape s on s.capture = a.id and s.begins
             where c.id = overtaken_up_to.capture)), 0)
    from rowrelay.target t
   where t.id = overtaken_up_to.target and rowrelay.keeps_state(t)
  union all
  select 0
   limit 1
$$;
-- Purpose:    updates rows whose refused changes were overtaken (rowrelay.overtaken_up_to): queues each row as it is
--             now (rowrelay.requeue), which supersedes the refused change. The caller holds the locks of the lanes of
--             these changes and of the barrier lanes.
-- Parameters: numbers of the lanes; change ids (null: all that were refused there)
-- Result:     number of superseded changes. Warns of changes whose rows cannot be identified; these stay where they
--             are.
-- Errors:     as for rowrelay.requeue()
create or replace function rowrelay.retry_overtaken(lanes integer[], change_ids bigint[]) returns bigint
language plpgsql as $$
declare
  moot    record;
  refused record;
  present rowrelay.capture; -- as the table is captured now
  keys    text[];
  ids     bigint[];
  left_out bigint;
  total   bigint := 0;
begin
  for moot in
    with old as materialized (
      select g.target, g.capture, rowrelay.overtaken_up_to(g.target, g.capture) as up_to
        from (select distinct r.target, r.capture from rowrelay.refusal r
               where r.lane = any (retry_overtaken.lanes) and r.state <> 'waiting') as g
    )
    select f.target, t.name, c.relation, min(c.relation_name) as relation_name,
           array_agg(f.change_id order by f.change_id) as ids
      from rowrelay.refusal f
      join rowrelay.target t on t.id = f.target
      join rowrelay.capture c on c.id = f.capture
      join old o on o.target = f.target and o.capture = f.capture
     where f.lane = any (retry_overtaken.lanes) and f.state <> 'waiting'
       and (change_ids is null or f.change_id = any (change_ids))
       and f.change_id <= o.up_to and not (f.row_hash = 0 and f.key is null)
     group by f.target, t.name, c.relation
  loop
    keys := '{}';
    ids := '{}';
    left_out := 0;
    select c.* into present
      from rowrelay.capture c
      join rowrelay.route r on r.capture = c.id and r.target = moot.target and r.until_id is null
     where c.relation = moot.relation and c.released_at is null;
    for refused in
      select h.id, k.old_key, k.new_key
        from rowrelay.refusal f
        join rowrelay.change h on h.id = f.change_id and h.day = f.day
        cross join lateral rowrelay.key_and_hash(present, h.old_row, h.new_row) as k
       where f.target = moot.target and f.change_id = any (moot.ids) and present.id is not null
    loop
      if refused.new_key is null and refused.old_key is null then
        left_out := left_out + 1;
      else
        keys := keys || array_remove(array[refused.old_key, refused.new_key], null);
        ids := ids || refused.id;
      end if;
    end loop;
    if left_out > 0 or present.id is null then
      raise warning 'target "%": changes of table % are not retried, because newer ones have arrived', moot.name,
        moot.relation_name
        using hint = (select 'It is unknown which of these rows still exist. Discard the changes: '
                              || rowrelay.command(format('rowrelay skip %s --target %%s', string_agg(l.id::text, ' ')),
                                                  'select rowrelay.skip(%L, %L);', moot.name,
                                                  array_agg(l.id)::text)
                       from (select i as id from unnest(moot.ids) as i where i <> all (ids) limit 20) as l);
    end if;
    continue when ids = '{}';
    perform rowrelay.requeue(moot.relation, moot.name, keys);
    delete from rowrelay.refusal f where f.target = moot.target and f.change_id = any (ids);
    insert into rowrelay.receipt (token, part, target, outcome, error, attempts, actor, settled_at, change_ids,
                                  first_id, last_id)
    values (nextval('rowrelay.claim_token'), 0, moot.target, 'superseded', 'the row was queued as it is now', 0,
            rowrelay.actor(), clock_timestamp(), ids, ids[1], ids[cardinality(ids)]);
    total := total + cardinality(ids);
  end loop;
  return total;
end
$$;
-- Purpose:    returns the captures whose changes identify rows as those of one capture do: of the same table by the
--             same key, before it was released and captured again
-- Parameters: capture
-- Result:     their ids, with its own
create or replace function rowrelay.captures_alike(capture integer) returns integer[]
language sql stable as $$
  select array_agg(a.id)
    from rowrelay.capture c
    join rowrelay.capture a on a.id = c.id or c.relation <> 0 and a.relation = c.relation
      and a.key_columns = c.key_columns
   where c.id = captures_alike.capture
$$;
-- Purpose:    adds to a list of refused changes those that wait behind them (on_error=block), in any lane
-- Parameters: ids of refused changes; null: all
-- Result:     these ids and those of the waiting changes
create or replace function rowrelay.with_blocked(change_ids bigint[]) returns bigint[]
language sql stable as $$
  select case when change_ids is not null then change_ids || array(
    select b.change_id
      from rowrelay.refusal f
      join rowrelay.refusal b on b.target = f.target and b.capture = any (rowrelay.captures_alike(f.capture))
       and (b.row_hash = f.row_hash or 0 in (b.row_hash, f.row_hash))
     where f.change_id = any (change_ids) and f.state = 'error' and b.state = 'blocked') end
$$;
-- Purpose:    queues refused changes again at their old place in the order, with the changes that wait behind them
--             (on_error=block). Waits until batches in flight in their lanes, and barriers of their targets, are
--             settled. Changes that wait because their target cannot take their table are tried at once.
-- Parameters: target (null: all); change ids (null: all refused changes)
-- Result:     number of changes that were queued again or will be
-- Errors:     no such target
create or replace function rowrelay.retry(target text default null, change_ids bigint[] default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  locked      integer[];
  lanes       integer[];
  lane_number integer;
  first_id    bigint;
  moved       bigint;
  total       bigint := 0;
begin
  perform rowrelay.lock_configuration();
  locked := rowrelay.lock_refused_lanes(target, rowrelay.with_blocked(change_ids));
  -- A batch that was in flight may have set more aside behind them.
  change_ids := rowrelay.with_blocked(change_ids);
  lanes := array(select distinct f.lane from rowrelay.refusal f
                  where f.lane = any (locked) and f.state <> 'waiting'
                    and (retry.change_ids is null or f.change_id = any (retry.change_ids)) order by 1);
  if target is not null then
    perform rowrelay.target_id(target);
  end if;

  total := rowrelay.retry_overtaken(lanes, change_ids);
  foreach lane_number in array lanes loop
    with old as materialized (
      select g.target, g.capture, rowrelay.overtaken_up_to(g.target, g.capture) as up_to
        from (select distinct r.target, r.capture from rowrelay.refusal r
               where r.lane = lane_number and r.state <> 'waiting') as g
    ), chosen as (
      select f.change_id, f.capture, f.row_hash from rowrelay.refusal f
        join old o on o.target = f.target and o.capture = f.capture
       where f.lane = lane_number and f.state <> 'waiting'
         and (change_ids is null or f.change_id = any (change_ids))
         and (f.change_id > o.up_to or f.row_hash = 0 and f.key is null)
    ), moving as (
      delete from rowrelay.refusal f
       where f.lane = lane_number and f.state <> 'waiting'
         and (f.change_id in (select c.change_id from chosen c)
              or f.state = 'blocked'
                 and exists (select from chosen c
                              where c.capture = f.capture
                                and (c.row_hash = f.row_hash or 0 in (c.row_hash, f.row_hash))))
      returning f.*
    ), queued as (
      insert into rowrelay.queue (change_id, lane, day, bytes)
      select m.change_id, rowrelay.lane_of_return(m), m.day, m.bytes from moving m
      returning change_id
    )
    select min(q.change_id), count(*) into first_id, moved from queued q;
    if moved > 0 then
      perform rowrelay.rewind(rowrelay.lane_target(lane_number), first_id);
      total := total + moved;
    end if;
  end loop;
  return total + rowrelay.hurry_held(target, change_ids);
end
$$;
-- Purpose:    queues changes again that wait behind a refused one that is not there any more. It may have gone while
--             they were set aside: what is sent at most once counts as refused until it is known to have arrived, which
--             may be after its lease has ended. rowrelay.maintain() calls it.
-- Result:     number of changes that were queued again. Those whose lanes are in use wait for the next call.
create or replace function rowrelay.free_blocked() returns bigint
language plpgsql set lock_timeout = '1s' as $$
declare
  orphans record;
  freed   bigint := 0;
begin
  for orphans in
    select t.name, array_agg(b.change_id) as ids
      from rowrelay.refusal b
      join rowrelay.target t on t.id = b.target
     where b.state = 'blocked'
       and not exists (select from rowrelay.refusal f
                        where f.target = b.target and f.capture = any (rowrelay.captures_alike(b.capture))
                          and (f.row_hash in (b.row_hash, 0) or b.row_hash = 0)
                          and f.state = 'error' and f.change_id < b.change_id)
       and not exists (select from rowrelay.lease e
                        where e.lane in (b.lane, rowrelay.lane_number(b.target, -1))
                          and e.lease_until > clock_timestamp())
     group by t.name
  loop
    begin
      freed := freed + rowrelay.retry(orphans.name, orphans.ids);
    exception when lock_not_available then
      null;
    end;
  end loop;
  return freed;
end
$$;
-- Purpose:    discards changes that wait because their target cannot take their table: a part of rowrelay.skip()
-- Parameters: target (null: all); captures (null: all); change ids (null: all of these)
-- Result:     number of discarded changes
create or replace function rowrelay.skip_waiting(target_id integer, captures integer[], change_ids bigint[])
  returns bigint
language plpgsql as $$
declare
  given_up bigint;
begin
  -- Locks the targets, so that no process releases changes meanwhile.
  perform from rowrelay.target t where t.id = coalesce(target_id, t.id) order by t.id for no key update;
  with gone as (
    delete from rowrelay.refusal f
     where f.state = 'waiting'
       and (target_id is null or f.target = target_id)
       and (captures is null or f.capture = any (captures))
       and (change_ids is null or f.change_id = any (change_ids))
    returning f.target, f.capture, f.change_id
  ), parts as (
    select g.*, (row_number() over (partition by g.target, g.capture order by g.change_id) - 1) / 10000 as part
      from gone g
  ), noted as (
    insert into rowrelay.receipt (token, part, target, outcome, error, attempts, actor, settled_at, change_ids,
                                  first_id, last_id)
    select nextval('rowrelay.claim_token'), 0, p.target, 'skipped', min(h.message), 0, rowrelay.actor(),
      clock_timestamp(),
           array_agg(p.change_id order by p.change_id), min(p.change_id), max(p.change_id)
      from parts p left join rowrelay.hold h on h.target = p.target and h.capture = p.capture
     group by p.target, p.capture, p.part
  )
  select count(*) into given_up from gone;
  -- A table without waiting changes is no longer held. While its row is locked nobody adds any.
  perform from rowrelay.hold h
    where h.target = coalesce(target_id, h.target) and (captures is null or h.capture = any (captures))
    order by h.target, h.capture for update;
  with idle as (
    delete from rowrelay.hold h
     where h.target = coalesce(target_id, h.target) and (captures is null or h.capture = any (captures))
       and h.released = 0
       and not exists (select from rowrelay.refusal f
                        where f.target = h.target and f.capture = h.capture and f.state = 'waiting')
    returning h.target
  )
  -- A new version makes all processes read that.
  update rowrelay.target t set version = t.version + 1 where t.id in (select i.target from idle i);
  update rowrelay.hold h set retry_at = clock_timestamp()
   where h.target = coalesce(target_id, h.target) and (captures is null or h.capture = any (captures));
  return given_up;
end
$$;
-- Purpose:    discards refused changes: they are never delivered to that target, and changes that waited behind them
--             (on_error=block) go on. The log keeps them and who discarded them.
-- Parameters: target (null: all); change ids (null: all refused changes, but none that wait because the target cannot
--             take their table: rowrelay.skip_table() discards these)
-- Result:     number of discarded changes
-- Errors:     no such target
create or replace function rowrelay.skip(target text default null, change_ids bigint[] default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  only_target integer;
  lanes       integer[];
  given_up    bigint;
  waiting     bigint[];
begin
  perform rowrelay.lock_configuration();
  lanes := rowrelay.lock_refused_lanes(target, change_ids);
  -- Locks the target, so that no process adds blocked changes meanwhile.
  if target is not null then
    only_target := rowrelay.target_id(target);
  end if;

  with gone as (
    delete from rowrelay.refusal f
     where (only_target is null or f.target = only_target)
       and f.lane = any (lanes)
       and f.state = 'error'
       and (change_ids is null or f.change_id = any (change_ids))
    returning f.target, f.capture, f.row_hash, f.change_id, f.message as error
  ), noted as (
    insert into rowrelay.receipt (token, part, target, outcome, error, attempts, actor, settled_at, change_ids,
                                  first_id, last_id)
    select nextval('rowrelay.claim_token'), 0, g.target, 'skipped', g.error, 0, rowrelay.actor(), clock_timestamp(),
           array_agg(g.change_id order by g.change_id), min(g.change_id), max(g.change_id)
      from gone g group by g.target, g.error
  ), freed as (
    select b.change_id from rowrelay.refusal b
     where b.state = 'blocked'
       and exists (select from gone g
                    where g.target = b.target and b.capture = any (rowrelay.captures_alike(g.capture))
                      and (g.row_hash = b.row_hash or 0 in (g.row_hash, b.row_hash)))
  )
  select (select count(*) from gone), array(select f.change_id from freed f) into given_up, waiting;
  if cardinality(waiting) > 0 then
    perform rowrelay.retry(target, waiting);
  end if;
  if change_ids is not null then
    given_up := given_up + rowrelay.skip_waiting(only_target, null, change_ids);
  end if;
  return given_up;
end
$$;
-- Purpose:    finds the captures, present and former, of a table that may be gone
-- Parameters: name as views and hints show it
-- Errors:     no table of that name was ever captured
create or replace function rowrelay.captures_named(name text) returns integer[]
language plpgsql stable as $$
declare
  parts    constant text[] := parse_ident(name);
  captures integer[];
begin
  captures := array(
    select c.id from rowrelay.capture c
     where c.relation = (select r.oid from pg_class r join pg_namespace n on n.oid = r.relnamespace
                          where r.relname = parts[cardinality(parts)]
                            and (n.nspname = parts[cardinality(parts) - 1]
                                 or cardinality(parts) = 1 and c.relation = r.oid) limit 1)
        or parse_ident(c.relation_name) = parts
        or cardinality(parts) = 1 and (parse_ident(c.relation_name))[2] = parts[1]);
  if cardinality(captures) = 0 then
    raise exception 'no table "%" was ever captured', name using errcode = 'undefined_table',
      hint = 'To see the table of each change: '
               || rowrelay.command('rowrelay errors', 'select * from rowrelay.errors;');
  end if;
  return captures;
end
$$;
-- Purpose:    discards a table's changes that a target refused, as rowrelay.skip() does, and those that wait because
--             the target cannot take the table: for a table that is gone here, or should not go there. The log keeps
--             the changes.
-- Parameters: relation: name of the table, which may be gone; target (null: all)
-- Result:     number of discarded changes
-- Errors:     no such target; no table of that name was ever captured
create or replace function rowrelay.skip_table(relation text, target text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  captures   integer[];
  change_ids bigint[];
  given_up   bigint := 0;
begin
  perform rowrelay.lock_configuration();
  captures := rowrelay.captures_named(relation);
  -- by id, so that only changes of this table are discarded
  change_ids := array(select f.change_id from rowrelay.refusal f where f.capture = any (captures)
                      and f.state = 'error');
  if cardinality(change_ids) > 0 then
    given_up := rowrelay.skip(target, change_ids);
  end if;
  return given_up + rowrelay.skip_waiting(case when target is not null then rowrelay.target_id(target) end,
                                          captures, null);
end
$$;
-- Purpose:    retries tables that a target could not take, when they are due: puts waiting changes back into the queue,
--             the oldest first, one at first and more each time that all were delivered. A table without waiting
--             changes is no longer held. Running processes call it; see replicator/queue/hold.h. Tables that are due
--             within seconds are tried too, because each release makes all processes read their settings again.
-- Parameters: target's id
-- Result:     number of released changes
create or replace function rowrelay.release_held(target_id integer) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off as $$
declare
  held     rowrelay.hold;
  first_id bigint;
  last_id  bigint;
  moved    bigint;
  oldest   bigint;
  total    bigint := 0;
begin
  -- the longest wait is a minute: a later time was written while the clock was ahead
  if not exists (select from rowrelay.hold h
                  where h.target = target_id
                    and h.retry_at not between clock_timestamp() and clock_timestamp() + interval '1 min') then
    return 0;
  end if;
  perform from rowrelay.target t where t.id = target_id for no key update; -- before holds, in the same order everywhere
  for held in
    select h.* from rowrelay.hold h
     where h.target = target_id
       and h.retry_at not between clock_timestamp() + interval '3 s' and clock_timestamp() + interval '1 min'
     order by h.capture for update skip locked
  loop
    -- Changes of a table that is being copied as a whole leave by its waiting room.
    continue when rowrelay.waiting_room(held.capture, target_id) <> 0;
    -- Changes of an earlier capture of the table go first.
    continue when exists (
      select from rowrelay.capture c
        join rowrelay.capture a on a.relation = c.relation and a.id < c.id
        join rowrelay.refusal f on f.target = target_id and f.capture = a.id and f.state = 'waiting'
       where c.id = held.capture and c.relation <> 0);
    -- While the row is locked nobody adds waiting changes, so a statement that begins now sees all of them.
    with piece as materialized (
      select f.change_id from rowrelay.refusal f
       where f.target = target_id and f.capture = held.capture and f.state = 'waiting'
       order by f.change_id limit held.piece
    ), moving as (
      delete from rowrelay.refusal f using piece p where f.target = target_id and f.change_id = p.change_id
      returning f.change_id, f.lane, f.day, f.bytes
    ), queued as (
      insert into rowrelay.queue (change_id, lane, day, bytes)
      select m.change_id, m.lane, m.day, m.bytes from moving m
      returning change_id
    )
    select min(q.change_id), max(q.change_id), count(*) into first_id, last_id, moved from queued q;
    if moved = 0 then
      delete from rowrelay.hold h where h.target = target_id and h.capture = held.capture;
      -- A new version makes all processes read that the table is no longer held.
      update rowrelay.target t set version = t.version + 1 where t.id = target_id;
      continue;
    end if;
    -- the next ones follow after a minute, even if no process reports the result of these
    update rowrelay.hold h
       set released_to = last_id, released = moved, retry_at = clock_timestamp() + interval '1 min'
     where h.target = target_id and h.capture = held.capture;
    oldest := least(oldest, first_id);
    total := total + moved;
  end loop;
  if total > 0 then
    perform rowrelay.rewind(target_id, oldest);
  end if;
  return total;
end
$$;
-- Purpose:    returns the transactions that can still commit a change id assigned before now: a trigger locks
--             rowrelay.change before it takes an id, and keeps the lock to the end. Read the last id first, then this
--             list.
-- Result:     virtual transaction ids, or xids of prepared transactions; empty when there is none
create or replace function rowrelay.writers() returns text[]
language sql volatile as $$
  select coalesce(array_agg(distinct l.virtualtransaction), '{}')
    from pg_catalog.pg_locks l
   where l.locktype = 'relation'
     and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
     and l.relation = 'rowrelay.change'::regclass
     and l.mode = 'RowExclusiveLock'
     and l.granted
$$;
-- Purpose:    closes past days of the log, into which nobody can write any more. First rowrelay.partition_day() has to
--             return a later day; then every transaction that was writing at that time has to end. From then on only
--             rowrelay itself changes the day's partition.
-- Result:     how many days were closed
-- Errors:     the transaction is not READ COMMITTED
create or replace function rowrelay.close_days() returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- A writer learns its day shortly before it takes the lock by which it can be seen.
  settled constant interval := '10 s';
  open_from date;
  present   text[];
  closing   record;
  closed    integer := 0;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'days of the log can only be closed in a READ COMMITTED transaction'
      using errcode = 'object_not_in_prerequisite_state', detail = 'It has to see what others commit meanwhile.';
  end if;
  -- Changes captured while the clock was ahead must not keep a day for longer than two days from now.
  update rowrelay.day d set ends_at = clock_timestamp() + interval '2 days'
   where d.ends_at > clock_timestamp() + interval '2 days';
  -- After the clock was set back a day may be open again, and will have to wait for other writers once it is past.
  delete from rowrelay.day d using rowrelay.source s where d.closed_at is null and d.day >= s.open_from;
  select s.open_from into open_from from rowrelay.source s where s.open_since < clock_timestamp() - settled;
  if not exists (select from rowrelay.partition_days() p
                  where p.day < open_from
                    and not exists (select from rowrelay.day d where d.day = p.day and d.closed_at is not null)) then
    return 0;
  end if;

  present := rowrelay.writers();
  insert into rowrelay.day as d (day, waits_for)
  select p.day, present from rowrelay.partition_days() p where p.day < open_from
  on conflict (day) do update
    -- A prepared transaction has a new name (-1/...) after a restart, and nobody knows when it began.
    set waits_for = array(select w from unnest(present) as w where w = any (d.waits_for) or w like '-1/%')
    where d.closed_at is null;
  for closing in
    select d.day, p.partition from rowrelay.day d join rowrelay.partition_days() p on p.day = d.day
     where d.closed_at is null and d.waits_for = '{}'
       for update of d
  loop
    execute format('with ids as (select min(c.id) as first_id, max(c.id) as last_id from %s c) '
                   'update rowrelay.day d set closed_at = clock_timestamp(), closed_in = pg_current_snapshot(), '
                   'waits_for = null, first_id = i.first_id, last_id = i.last_id, '
                   'ends_at = greatest((d.day + 2)::timestamp at time zone ''UTC'', '
                   '(select c.captured_at from %s c where c.id = i.last_id)) from ids i where d.day = $1',
                   closing.partition, closing.partition) using closing.day;
    closed := closed + 1;
  end loop;
  return closed;
end
$$;
-- Purpose:    reads an interval that a person has typed
-- Parameters: its text; null: null
-- Errors:     it is no interval
create or replace function rowrelay.read_interval(words text) returns interval
language plpgsql stable as $$
begin
  return words::interval;
exception when data_exception then
  raise exception '"%" is not an interval', words using errcode = sqlstate,
    hint = 'Give an interval such as ''90 days'' or ''6 months''.';
end
$$;
-- Purpose:    reads how long changes are to be kept
-- Parameters: an interval of at least a day; 'forever'; or 'default'
-- Result:     the interval; 100000 years: for ever; null: default
-- Errors:     no interval; shorter than a day
create or replace function rowrelay.interval_to_keep(how_long text) returns interval
language plpgsql stable as $$
declare
  forever constant interval := '100000 years';
  chosen  interval;
begin
  if how_long is null then
    raise exception 'no interval was given for how long to keep changes' using errcode = 'invalid_parameter_value',
      hint = 'Give an interval such as ''90 days'', or ''forever''.';
  elsif how_long = 'forever' then
    chosen := forever;
  elsif how_long <> 'default' then
    chosen := rowrelay.read_interval(how_long);
    if chosen < interval '1 day' or chosen > forever then
      raise exception 'changes cannot be kept for %', how_long using errcode = 'invalid_parameter_value',
        detail = 'The log is dropped by whole days.', hint = 'Give an interval of at least a day, or ''forever''.';
    end if;
  end if;
  return chosen;
end
$$;
-- Purpose:    sets how long changes are kept, for the log or for single tables. The default is for ever. Running
--             processes drop older changes, see rowrelay.prune().
-- Parameters: an interval of at least a day; 'forever'; or, for tables, 'default': as the rest of the log. Tables;
--             null: the whole log, except tables with a setting of their own
-- Errors:     no interval; shorter than a day; a table is not captured
create or replace function rowrelay.keep(how_long text, relations regclass[] default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- For a table, null means the setting of the log.
  forever constant interval := rowrelay.interval_to_keep('forever');
  chosen   interval;
  captured integer;
begin
  perform rowrelay.lock_configuration();
  chosen := rowrelay.interval_to_keep(case when how_long <> 'default' or relations is not null then how_long end);
  if relations is null then
    update rowrelay.source set keep = nullif(chosen, forever);
    return;
  end if;
  for captured in select (rowrelay.captured(r)).id from unnest(relations) as r loop
    update rowrelay.capture c set keep = chosen where c.id = captured;
  end loop;
end
$$;
-- Purpose:    whether the caller's snapshot shows the whole log. Dropped days vanish at once, even for transactions
--             that began before; called after reading, this tells whether anything was missing.
-- Result:     false: a day was dropped after the snapshot was taken, and may be missing in what was read
create or replace function rowrelay.sees_log() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select coalesce(pg_sequence_last_value('rowrelay.prunings'::regclass), 0) <= s.prunings from rowrelay.source s
$$;
-- Purpose:    counts prunings that were rolled back, because rowrelay.sees_log() would stay false after them
create or replace function rowrelay.settle_prunings() returns void
language sql as $$
  -- A session that is dropping a day holds the row.
  update rowrelay.source s set prunings = pg_sequence_last_value('rowrelay.prunings'::regclass)
   where s.only_row in (select k.only_row from rowrelay.source k for update skip locked)
     and s.prunings < pg_sequence_last_value('rowrelay.prunings'::regclass)
$$;
-- Purpose:    says why changes of a day must not be dropped: some are queued (found lane by lane, however long the
--             queue is), were refused and neither retried nor skipped, or wait until a table is copied
-- Parameters: day; its first and last change; quick: use the stored floors, which is faster for a queue that was not
--             vacuumed for long
-- Result:     one text for each target and reason
create or replace function rowrelay.undelivered(day date, first_id bigint, last_id bigint, quick boolean default false)
returns setof text language sql volatile as $$
  select format('changes are queued for target %s', t.name)
    from rowrelay.target t
    left join rowrelay.floor f on quick and f.target = t.id and f.version = t.version
   where t.dropped_at is null
     and exists (select from generate_series(-1, t.lanes - 1) as n
                  cross join lateral (select from rowrelay.queue q
                                       where q.lane = rowrelay.lane_number(t.id, n)
                                         and q.change_id >= greatest(undelivered.first_id, f.floor + 1)
                                         and q.change_id <= undelivered.last_id and q.day = undelivered.day
                                       limit 1) as queued)
  union all
  select format('changes wait until %s is copied to target %s', c.relation_name, t.name)
    from rowrelay.backfill b
    join rowrelay.target t on t.id = b.target and t.dropped_at is null
    join rowrelay.capture c on c.id = b.capture
   where b.state in ('waiting', 'copying', 'joining', 'running')
     and exists (select from generate_series(-1, t.lanes - 1) as n
                  cross join lateral (select from rowrelay.queue q
                                       where q.lane = rowrelay.waiting_lane(b.id, n)
                                         and q.change_id >= undelivered.first_id
                                         and q.change_id <= undelivered.last_id and q.day = undelivered.day
                                       limit 1) as queued)
  union all
  select format('%s %s target %s', case count(*) when 1 then '1 change' else count(*) || ' changes' end,
                case f.state when 'error' then 'refused by' when 'waiting' then 'waiting for their table in'
                             else 'waiting behind refused ones of' end, t.name)
    from rowrelay.refusal f
    join rowrelay.target t on t.id = f.target and t.dropped_at is null
   where f.change_id >= undelivered.first_id and f.change_id <= undelivered.last_id and f.day = undelivered.day
   group by t.name, f.state
$$;
-- Purpose:    records that changes of a day are gone: the log of these tables is complete only since that day was
--             closed, when all transactions that had written into it had ended
-- Parameters: the day; captures, null: all
create or replace function rowrelay.raise_log_since(day rowrelay.day, captures integer[]) returns void
language sql as $$
  -- it may have been closed while the clock was ahead
  update rowrelay.capture c set log_since = least(day.closed_at, clock_timestamp())
   where c.id = any (coalesce(captures, array(select k.id from rowrelay.capture k)))
     and c.log_since < least(day.closed_at, clock_timestamp())
$$;
-- Purpose:    discards all undelivered changes of a day: removes them from the queue and from the refused changes
-- Parameters: the day
-- Errors:     lock_not_available: some of them are being delivered
create or replace function rowrelay.give_up_day(day rowrelay.day) returns void
language plpgsql as $$
declare
  lanes integer[];
begin
  lanes := array(select rowrelay.lane_number(t.id, n)
                   from rowrelay.target t cross join lateral generate_series(-1, t.lanes - 1) as n
                 union all
                 select rowrelay.waiting_lane(b.id, n)
                   from rowrelay.backfill b join rowrelay.target t on t.id = b.target
                  cross join lateral generate_series(-1, t.lanes - 1) as n);
  if exists (select from rowrelay.lease l
              where l.lane = any (lanes) and l.lease_until > clock_timestamp()
                and exists (select from rowrelay.queue q
                             where q.lane = l.lane and q.change_id between day.first_id and day.last_id
                               and q.day = give_up_day.day.day)) then
    raise exception 'changes of day % are being delivered', day.day using errcode = 'lock_not_available';
  end if;
  delete from rowrelay.queue q
   where q.lane = any (lanes) and q.change_id between day.first_id and day.last_id and q.day = give_up_day.day.day;
  delete from rowrelay.refusal f
   where f.change_id between day.first_id and day.last_id and f.day = give_up_day.day.day;
end
$$;
-- Purpose:    drops the changes of a closed day. It truncates the day's partition, under a lock on that partition
--             alone, which writers and deliveries do not use, and waits for it a tenth of a second, so that readers of
--             old history, such as a dump, are not disturbed. rowrelay.drop_empty_days() drops the empty partition.
-- Parameters: the day; force: discard undelivered changes
-- Result:     'dropped', 'kept' (something is not delivered) or 'busy' (another session reads it); and why
create or replace function rowrelay.prune_day(pruned date, force boolean, out outcome text, out note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' as $$
declare
  day       rowrelay.day;
  partition constant regclass := to_regclass('rowrelay.change_' || to_char(pruned, 'YYYYMMDD'));
begin
  select d.* into strict day from rowrelay.day d where d.day = pruned;
  note := (select string_agg(u, '; ') from rowrelay.undelivered(day.day, day.first_id, day.last_id) as u);
  if note is not null and not force then
    outcome := 'kept';
    return;
  end if;
  begin
    execute format('lock table only %s in access exclusive mode', partition);
    if note is not null then
      perform rowrelay.give_up_day(day);
    elsif exists (select from rowrelay.undelivered(day.day, day.first_id, day.last_id, true)) then
      raise exception using errcode = 'lock_not_available';
    end if;
    perform rowrelay.raise_log_since(day, day.captures);
    update rowrelay.day d set dropped_at = clock_timestamp(), dropped_in = pg_current_xact_id(),
                              restored_at = null, note = null
     where d.day = pruned;
    -- see rowrelay.sees_log(); nothing below waits for a lock
    perform from rowrelay.source for update;
    update rowrelay.source s set prunings = nextval('rowrelay.prunings');
    execute format('truncate only %s', partition);
    outcome := 'dropped';
    note := concat_ws('; ', coalesce('ids ' || day.first_id || ' to ' || day.last_id, 'it was empty'),
                      'discarded: ' || note);
  exception when lock_not_available then
    outcome := 'busy';
    note := 'another session reads or delivers its changes';
  end;
end
$$;
-- Purpose:    deletes the changes of some tables from a closed day, one piece at a time, while other tables are kept
--             longer
-- Parameters: the day; tables (captures) whose changes may go; a day that is being deleted from keeps its earlier list
-- Result:     'deleting': call it again; 'deleted'; 'kept': something is not delivered; note: why, or how many changes
create or replace function rowrelay.delete_from_day(day rowrelay.day, captures integer[], out outcome text,
                                                    out note text)
language plpgsql as $$
declare
  piece constant integer := 20000; -- changes to read
  up_to   bigint;
  deleted bigint;
begin
  note := (select string_agg(u, '; ') from rowrelay.undelivered(day.day, day.first_id, day.last_id) as u);
  if note is not null then
    outcome := 'kept';
    return;
  end if;
  if day.deleting is null then
    day.deleting := captures;
    day.deleted_to := 0;
    perform rowrelay.raise_log_since(day, captures);
  end if;
  execute format('select max(p.id) from (select c.id from %1$s c where c.id > $1 order by c.id limit $2) as p',
                 'rowrelay.change_' || to_char(day.day, 'YYYYMMDD')) using day.deleted_to, piece into up_to;
  if up_to is not null then
    execute format('delete from %1$s c where c.id > $1 and c.id <= $2 and c.capture = any ($3)',
                   'rowrelay.change_' || to_char(day.day, 'YYYYMMDD')) using day.deleted_to, up_to, day.deleting;
    get diagnostics deleted = row_count;
    outcome := 'deleting';
    note := format('%s changes', deleted);
    update rowrelay.day d set deleting = delete_from_day.day.deleting, deleted_to = up_to,
                              dropped_in = pg_current_xact_id()
     where d.day = delete_from_day.day.day;
  else
    outcome := 'deleted';
    note := (select string_agg(c.relation_name, ', ' order by c.id) from rowrelay.capture c
             where c.id = any (day.deleting));
    update rowrelay.day d set deleting = null, deleted_to = null, gone = d.gone || d.deleting, note = null
     where d.day = delete_from_day.day.day;
  end if;
end
$$;
-- Purpose:    returns the tables whose changes of a day have been kept for long enough, by the table's setting, else by
--             that of the whole log
-- Parameters: when the day ended; how long to keep tables without a setting of their own (null: the setting of the log)
-- Result:     captures
create or replace function rowrelay.prune_captures(ends_at timestamptz, older_than interval) returns integer[]
language sql stable as $$
  select coalesce(array_agg(c.id order by c.id), '{}')
    from rowrelay.capture c, rowrelay.source s
   where prune_captures.ends_at + coalesce(c.keep, older_than, s.keep) <= clock_timestamp()
$$;
-- Purpose:    deletes receipts and ticks of dropped changes, some at a time. Ticks stay while their day has an archive,
--             so that its changes can be found after it is restored.
create or replace function rowrelay.prune_rest() returns void
language plpgsql as $$
declare
  piece constant integer := 10000;
  oldest_id bigint;
  day       record;
  found_id  bigint;
begin
  if not exists (select from rowrelay.day d where d.dropped_at is not null) then
    return;
  end if;
  -- Restored days do not count: their receipts are already gone.
  for day in
    select p.partition from rowrelay.partition_days() p
     where not exists (select from rowrelay.day d where d.day = p.day and d.dropped_at is not null)
     order by p.day
  loop
    execute format('select min(c.id) from %s c', day.partition) into found_id;
    oldest_id := least(oldest_id, found_id);
  end loop;
  oldest_id := coalesce(oldest_id, (select max(d.last_id) from rowrelay.day d where d.dropped_at is not null));
  delete from rowrelay.receipt r
   where r.ctid = any (array(select o.ctid from rowrelay.receipt o
                              where int8range(o.first_id, o.last_id, '[]') << int8range(oldest_id, null)
                                and o.settled_at < now() - interval '1 day'
                               order by o.token limit piece));
  delete from rowrelay.tick t
   where t.id in (select o.id from rowrelay.tick o
                   where o.id < (select max(k.id) from rowrelay.tick k
                                  where k.high < least(oldest_id, (select min(d.first_id) from rowrelay.day d
                                                                              where d.archived_at is not null)))
                   order by o.id limit piece);
end
$$;
-- Purpose:    drops changes that have been kept for long enough: whole days where all tables allow it, else the changes
--             of single tables from closed days, a piece at a time. Never touches a day with changes that are
--             undelivered, refused, or waiting until a table is copied. Running processes call it every minute.
-- Parameters: how long to keep tables without a setting of their own (null: as rowrelay.keep() says for the log);
--             force: discard undelivered changes; restored: drop restored days too; how many days to drop at most
-- Result:     one row for each day that is old enough: outcome 'dropped', 'deleting' (call it again), 'deleted' (of
--             some tables), 'kept', 'busy' or 'more' (call it again); why; and whether that is new
-- Errors:     the transaction is not READ COMMITTED
create or replace function rowrelay.prune(older_than interval default null, force boolean default false,
                                          restored boolean default false, most integer default 10)
returns table (day date, outcome text, note text, is_news boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  shortest interval;
  known    text;
  old_day  rowrelay.day;
  may_go   integer[];
  dropped  integer := 0;
begin
  perform rowrelay.settle_prunings();
  perform rowrelay.close_days();
  select min(coalesce(c.keep, older_than, s.keep)) into shortest from rowrelay.capture c, rowrelay.source s;
  for old_day in
    select d.* from rowrelay.day d
     where d.ends_at + shortest <= clock_timestamp()
       and d.day in (select p.day from rowrelay.partition_days() p)
       and case when d.restored_at is null then d.dropped_at is null else prune.restored end
     order by d.day
       for update skip locked
  loop
    may_go := rowrelay.prune_captures(old_day.ends_at, older_than);
    known := old_day.note;
    if old_day.captures is null and exists (select from rowrelay.capture c where c.id <> all (may_go)) then
      execute format(
          'update rowrelay.day d set captures = array(select distinct c.capture from %s c) where d.day = $1 '
          'returning d.*',
                     'rowrelay.change_' || to_char(old_day.day, 'YYYYMMDD')) using old_day.day into old_day;
    end if;
    if old_day.captures is null or old_day.captures <@ (may_go || old_day.gone) then
      if dropped >= most then
        return query select old_day.day, 'more', null::text, false;
        return;
      end if;
      select p.outcome, p.note into outcome, note from rowrelay.prune_day(old_day.day, force) as p;
    elsif old_day.deleting is null
      and not old_day.captures && array(select unnest(may_go) except select unnest(old_day.gone)) then
      continue;
    else
      select p.outcome, p.note into outcome, note
        from rowrelay.delete_from_day(old_day, array(select unnest(may_go) except select unnest(old_day.gone))) as p;
    end if;
    day := old_day.day;
    dropped := dropped + (outcome in ('dropped', 'deleting'))::integer;
    is_news := outcome in ('dropped', 'deleted') or (outcome = 'kept' and known is distinct from note);
    if outcome = 'kept' and is_news then
      update rowrelay.day d set note = prune.note where d.day = old_day.day;
    end if;
    return next;
  end loop;
  perform rowrelay.prune_rest();
end
$$;
-- Purpose:    drops what rowrelay.keep() no longer keeps, for roles that may run rowrelay but not decide what is
--             dropped
-- Result:     as for rowrelay.prune(), of one day at most
create or replace function rowrelay.prune_what_is_due()
returns table (day date, outcome text, note text, is_news boolean)
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select p.day, p.outcome, p.note, p.is_news from rowrelay.prune(most => 1) as p
$$;
-- Purpose:    returns the other transactions that hold any lock on the log as a whole
-- Result:     virtual transaction ids
create or replace function rowrelay.log_users() returns text[]
language sql volatile as $$
  select coalesce(array_agg(distinct l.virtualtransaction), '{}')
    from pg_catalog.pg_locks l
   where l.locktype = 'relation'
     and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
     and l.relation = 'rowrelay.change'::regclass
     and l.granted and l.pid is distinct from pg_catalog.pg_backend_pid()
$$;
-- Purpose:    returns partitions of days whose changes have been dropped
create or replace function rowrelay.empty_days() returns setof regclass
language sql volatile as $$
  select p.partition
    from rowrelay.day d
    join rowrelay.partition_days() p on p.day = d.day
   where d.dropped_at is not null and d.restored_at is null
   order by d.day
$$;
-- Purpose:    returns partitions of rowrelay.change_key for months of which the log has no day left
create or replace function rowrelay.empty_months() returns setof regclass
language sql volatile as $$
  select c.oid::regclass
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    -- a plan may evaluate this for any table, before it has checked that it is a partition
    cross join lateral (select case when c.relname ~ '^change_key_[0-9]{6}$' then to_date(substr(c.relname, 12),
        'YYYYMM') end) as m(month)
   where i.inhparent = 'rowrelay.change_key'::regclass
     and not exists (select from rowrelay.partition_days() p where date_trunc('month', p.day) = m.month)
   order by m.month
$$;
-- Purpose:    drops partitions of months without a day left from rowrelay.change_key. Only searches by key wait
--             meanwhile.
-- Result:     number of dropped partitions; -1: not now
create or replace function rowrelay.drop_empty_months() returns integer
language plpgsql set lock_timeout = '100ms' as $$
declare
  empty_month regclass;
  dropped     integer := 0;
begin
  if not exists (select from rowrelay.empty_months()) then
    return 0;
  end if;
  -- List them again under the lock: another session may have dropped some.
  lock table only rowrelay.change_key in access exclusive mode;
  for empty_month in select e from rowrelay.empty_months() as e loop
    execute format('lock table only %s in access exclusive mode nowait', empty_month);
    execute format('drop table %s', empty_month);
    dropped := dropped + 1;
  end loop;
  return dropped;
exception when lock_not_available then
  return -1;
end
$$;
-- Purpose:    drops the empty partitions of dropped days from rowrelay.change, and those of months without a day left
--             from rowrelay.change_key. That needs a lock that blocks writers, so it is not requested while another
--             transaction holds a lock on the log for long (a dump, a slow delivery), and then only for a tenth of a
--             second. Call it in a transaction of its own.
-- Parameters: how many to drop at most, at a millisecond or two each; looks: how often to check, twenty times a second,
--             whether the transactions that use the log now have ended
-- Result:     number of dropped partitions; -1: not now
create or replace function rowrelay.drop_empty_days(most integer default 10, looks integer default 20) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' as $$
declare
  empty_day regclass;
  holders   text[];
  dropped   integer := 0;
begin
  if not exists (select from rowrelay.empty_days()) then
    return rowrelay.drop_empty_months();
  end if;
  holders := rowrelay.log_users();
  while holders && rowrelay.log_users() loop
    if looks = 0 then
      return -1;
    end if;
    looks := looks - 1;
    perform pg_sleep(0.05);
  end loop;
  begin
    lock table only rowrelay.change in access exclusive mode;
    for empty_day in select e from rowrelay.empty_days() as e limit most loop
      execute format('lock table only %s in access exclusive mode nowait', empty_day);
      execute format('drop table %s', empty_day);
      dropped := dropped + 1;
    end loop;
  exception when lock_not_available then
    return -1;
  end;
  return dropped;
end
$$;
-- Purpose:    whether the caller has to run rowrelay.prune(), rowrelay.drop_empty_days() and
--             rowrelay.index_closed_days(): one of them has work, and no other process took the job within the last
--             minute
create or replace function rowrelay.prune_is_due() returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform rowrelay.settle_prunings();
  if not exists (select from rowrelay.empty_days()) and not exists (select from rowrelay.empty_months())
     and not exists (select from rowrelay.history_index_work())
     and not exists (select from rowrelay.day d
                      where d.dropped_at is null
                        and d.ends_at + (select min(coalesce(c.keep, s.keep)) from rowrelay.capture c,
                                         rowrelay.source s)
                            <= clock_timestamp()) then
    return false;
  end if;
  return rowrelay.take_job('prune', '1 min');
end
$$;
-- Purpose:    returns a change as one line of JSON, from which rowrelay.archived_change() restores it exactly. Images
--             keep their text to the byte; one with line breaks becomes a string.
create or replace function rowrelay.archive_line(change rowrelay.change) returns text
language plpgsql stable as $$
declare
  line text := row_to_json(change)::text;
begin
  if line ~ E'[\\n\\r]' then
    change.old_row := case when change.old_row::text ~ E'[\\n\\r]' then to_json(change.old_row::text)
      else change.old_row end;
    change.new_row := case when change.new_row::text ~ E'[\\n\\r]' then to_json(change.new_row::text)
      else change.new_row end;
    change.caveat := case when change.caveat::text ~ E'[\\n\\r]' then to_json(change.caveat::text)
      else change.caveat end;
    line := row_to_json(change)::text;
  end if;
  return line;
end
$$;
-- Purpose:    returns the change in a line that rowrelay.archive_line() wrote
create or replace function rowrelay.archived_change(line text) returns rowrelay.change
language plpgsql stable as $$
declare
  change rowrelay.change := json_populate_record(null::rowrelay.change, line::json);
begin
  if json_typeof(change.old_row) = 'string' then
    change.old_row := (change.old_row #>> '{}')::json;
  end if;
  if json_typeof(change.new_row) = 'string' then
    change.new_row := (change.new_row #>> '{}')::json;
  end if;
  if json_typeof(change.caveat) = 'string' then
    change.caveat := (change.caveat #>> '{}')::json;
  end if;
  return change;
end
$$;
-- Purpose:    begins to archive a day: until the transaction ends, nothing else modifies its changes
-- Parameters: day
-- Result:     header of the file; statement that copies its changes out, one per line; or note: why it cannot be
--             archived
-- Errors:     lock_not_available: another session is modifying or deleting its changes
create or replace function rowrelay.archive_begin(day date, out header text, out statement text, out note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
declare
  partition constant text := 'rowrelay.change_' || to_char(day, 'YYYYMMDD');
  closed    rowrelay.day;
  changes   bigint;
begin
  -- images are JSON already; times shall look alike in all files
  perform set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true),
    set_config('synchronous_commit', 'on', true);
  select d.* into strict closed from rowrelay.day d where d.day = archive_begin.day for update;
  if closed.dropped_at is not null then
    note := 'another session has just dropped it';
    return;
  end if;
  note := (select string_agg(u, '; ') from rowrelay.undelivered(day, closed.first_id, closed.last_id) as u);
  if note is not null then
    return;
  end if;
  execute format('lock table only %s in share mode', partition);
  execute format('select count(*) from %s', partition) into changes;
  header := json_build_object('rowrelay', 'archive', 'format', 1, 'source', (select s.id from rowrelay.source s),
                              'day', day,
              'changes', changes, 'first_id', closed.first_id, 'last_id', closed.last_id,
              'captures', (select json_object_agg(c.id, c.relation_name) from rowrelay.capture c))::text;
  -- JSON never contains these bytes, so COPY neither quotes nor escapes anything.
  statement := format(E'copy (select rowrelay.archive_line(c) from rowrelay.change c where c.day = %L order by c.id) '
                      'to stdout (format csv, quote e''\\x01'', delimiter e''\\x02'')', day);
end
$$;
-- Purpose:    records where a day was archived
-- Parameters: day; name of the file; its SHA-256
create or replace function rowrelay.archive_note(day date, archive text, sha256 text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update rowrelay.day d set archive = archive_note.archive, sha256 = archive_note.sha256,
    archived_at = clock_timestamp()
   where d.day = archive_note.day
$$;
-- Purpose:    begins to restore a day from an archive: the caller then copies the lines after the header into the
--             temporary table rowrelay_restored
-- Parameters: header, the first line of the file
-- Result:     the day
-- Errors:     the file is no archive, or of another source; the day is in the log, or may still be written to
create or replace function rowrelay.restore_begin(header text) returns date
language plpgsql as $$
declare
  head json;
  day  date;
  held bigint;
begin
  begin
    head := header::json;
    day := (head ->> 'day')::date;
  exception when data_exception then
    head := null;
  end;
  if head ->> 'rowrelay' is distinct from 'archive' or day is null then
    raise exception 'this is not an archive of rowrelay' using errcode = 'invalid_parameter_value',
      hint = 'Name a file with an archived day.';
  elsif head ->> 'format' <> '1' then
    raise exception 'the archive of % has format %, which this version cannot read', day, head ->> 'format'
      using errcode = 'feature_not_supported', hint = 'Use a newer version of rowrelay.';
  elsif (head ->> 'source')::uuid <> (select s.id from rowrelay.source s) then
    raise exception 'the archive of % is from another source', day using errcode = 'invalid_parameter_value',
      detail = 'The numbers of its tables mean other tables here.',
        hint = 'Each line of the file is JSON: read it with zcat.';
  end if;
  if day >= (select s.open_from from rowrelay.source s) then
    raise exception 'day % is not over yet', day using errcode = 'object_not_in_prerequisite_state';
  end if;
  if to_regclass('rowrelay.change_' || to_char(day, 'YYYYMMDD')) is not null then
    execute format('select c.id from %s c limit 1', 'rowrelay.change_' || to_char(day, 'YYYYMMDD')) into held;
  end if;
  if held is not null then
    raise exception 'day % is in the log', day using errcode = 'object_not_in_prerequisite_state',
      hint = case when exists (select from rowrelay.day d
                               where d.day = (head ->> 'day')::date and d.restored_at is not null)
                  then 'It was restored before; to drop it: '
                         || rowrelay.command('rowrelay prune --restored',
                                             'select * from rowrelay.prune(restored => true);')
                  else 'It need not be restored.' end;
  end if;
  create temporary table rowrelay_restored (line text) on commit drop;
  return day;
end
$$;
-- Purpose:    turns the lines in the temporary table rowrelay_restored into a partition of the log. rowrelay.prune()
--             keeps it unless it is called with restored => true.
-- Parameters: header, the first line of the file
-- Result:     number of changes
-- Errors:     there are more or fewer than the header says; lock_not_available: another session locks the log for
--             longer than a second
create or replace function rowrelay.restore_end(header text) returns bigint
language plpgsql set lock_timeout = '1s' as $$
declare
  day       constant date := header::json ->> 'day';
  partition constant text := 'change_' || to_char(day, 'YYYYMMDD');
  restored  bigint;
begin
  -- Does not block writers, but nobody drops the empty partition meanwhile.
  lock table only rowrelay.change in share update exclusive mode;
  if to_regclass('rowrelay.' || partition) is null then
    execute format('create table rowrelay.%I (like rowrelay.change including all)', partition);
    execute format('alter table rowrelay.change attach partition rowrelay.%I for values from (%L) to (%L)',
                   partition, day, day + 1);
  end if;
  execute format('insert into rowrelay.%I select c.* from pg_temp.rowrelay_restored r '
                 'cross join lateral rowrelay.archived_change(r.line) as c', partition);
  get diagnostics restored = row_count;
  if restored <> (header::json ->> 'changes')::bigint then
    raise exception 'the archive of % has % changes instead of %', day, restored, header::json ->> 'changes'
      using errcode = 'data_corrupted';
  end if;
  insert into rowrelay.day as d (day, closed_at, ends_at, first_id, last_id, dropped_at, restored_at)
  values (day, (day + 2)::timestamp at time zone 'UTC', (day + 2)::timestamp at time zone 'UTC',
          (header::json ->> 'first_id')::bigint,
          (header::json ->> 'last_id')::bigint, clock_timestamp(), clock_timestamp())
  on conflict on constraint day_pkey do update
    set restored_at = clock_timestamp(), dropped_at = coalesce(d.dropped_at, clock_timestamp()), captures = null;
  perform rowrelay.index_day(day);
  return restored;
end
$$;
-- Purpose:    whether rowrelay.maintain() would do anything if it were called now; costs next to nothing
create or replace function rowrelay.maintain_is_due() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select not exists (select from rowrelay.job j
                      where j.name = 'maintain'
                        and j.held_until between clock_timestamp() and clock_timestamp() + interval '30 s')
$$;
-- Purpose:    lets the past of tables whose log began, or was pruned, while the clock was ahead begin now. Else it
--             would have none until that time has come. The caller holds the lock of rowrelay.lock_configuration().
create or replace function rowrelay.bound_log_since() returns void
language plpgsql as $$
declare
  this_moment constant timestamptz := clock_timestamp();
  latest      constant timestamptz := this_moment + interval '1 min'; -- what others record now is no later
begin
  -- how much later the log was pruned stays
  update rowrelay.shape s set noticed_at = s.noticed_at - (c.log_since - this_moment)
    from rowrelay.capture c
   where c.id = s.capture and c.log_since > latest and s.begins and s.noticed_at > latest;
  update rowrelay.capture c set log_since = this_moment where c.log_since > latest;
end
$$;
-- Purpose:    regular maintenance, at once; a run that is under way is waited for. Running processes call
--             rowrelay.maintain_when_due(). A task that fails does not stop the others. What changes captures or the
--             queue is left to the next run while a transaction changes captures or targets.
-- Result:     one text for each thing done and for each failure. A failure is reported once, and again when its reason
--             changes or after it had worked. No row: nothing to do.
create or replace function rowrelay.maintain() returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- tables in one call, chosen at random: they stay locked until it ends, and some may fail each time
  most constant integer := 500;
  n        bigint;
  capture  rowrelay.capture;
  dropped  integer;
  problems text[] := '{}';
  lacking  record;
  busy     integer[] := '{}';
  -- whether nobody else changes captures or targets until this transaction ends
  may_change boolean;
begin
  -- waits for another run, and puts off the next one of a process
  perform rowrelay.take_job('maintain', '30 s');

  begin
    n := rowrelay.maintain_partitions();
    if n > 0 then
      return next format('created %s of rowrelay.change', case n when 1 then '1 partition' else n || ' partitions' end);
    end if;
  exception
    when lock_not_available then
      null; -- there are partitions for days ahead, and the next run is soon
    when others then
      problems := problems || format('partitions of rowrelay.change could not be created: %s', sqlerrm);
  end;

  begin
    perform rowrelay.close_days();
  exception when others then
    problems := problems || format('days of the log could not be closed: %s', sqlerrm);
  end;

  may_change := rowrelay.try_lock_configuration();
  if not may_change then
    return next 'another transaction is changing captures or targets: what is captured was left to the next run';
  end if;

  begin
    n := case when may_change then rowrelay.free_blocked() end;
    if n > 0 then
      return next format('%s queued again', case n when 1
                         then '1 change that waited behind a refused one that is gone was'
                         else n || ' changes that waited behind refused ones that are gone were' end);
    end if;
  exception when others then
    problems := problems || format('changes that wait behind nothing could not be queued again: %s', sqlerrm);
  end;

  -- before functions are replaced: one that knows of no children would take a former child's rows for the table's
  begin
    for lacking in
      select l.* from rowrelay.lacking_triggers() as l where may_change and l.left_over is not null
       order by random() limit most
    loop
      begin
        select c.* into capture from rowrelay.capture c where c.id = lacking.capture for update skip locked;
        if found then
          perform rowrelay.drop_left_over(capture, lacking.left_over, '0 s');
          return next format('table %s: triggers dropped from tables that no longer belong to it: %s', capture.relation,
                             array_to_string(lacking.left_over, ', '));
        end if;
      exception when others then
        busy := busy || lacking.capture;
        problems := problems || format('table %s: its triggers could not be dropped from tables that no longer '
                                       'belong to it (%s): %s', capture.relation,
                                       array_to_string(lacking.left_over, ', '), sqlerrm);
      end;
    end loop;
  exception when others then
    problems := problems || format('triggers of tables that no longer belong to another could not be found: %s',
                                   sqlerrm);
  end;

  begin
    for capture in
      select c.* from rowrelay.capture c
       where may_change and c.id <> all (busy) and c.id = any (array(select k.id
                                 from rowrelay.column_states(array(select a.id from rowrelay.capture a
                                                                   where a.released_at is null)) as s
                                 join rowrelay.capture k on k.id = s.capture
                                where k.column_state is distinct from s.state
                                order by random() limit most))
         for update skip locked
    loop
      begin
        -- Captures and targets of earlier rounds are locked still. So it waits for nobody who has locked a target,
        -- who may wait for those.
        perform from rowrelay.target t
          where t.id in (select r.target from rowrelay.route r where r.capture = capture.id and r.until_id is null)
            for no key update nowait;
        perform rowrelay.make_trigger_function(capture.id, '1 s');
        return next format('table %s was altered: trigger function replaced', capture.relation);
      exception
        when lock_not_available then
          null; -- until it can be, changes are captured the slow way
        when others then
          problems := problems || format('table %s was altered, and its trigger function could not be replaced: %s',
                                         capture.relation, sqlerrm);
      end;
    end loop;
  exception when others then
    problems := problems || format('tables that were altered could not be found: %s', sqlerrm);
  end;

  -- new partitions and inheritance children
  begin
    for capture in
      select c.* from rowrelay.capture c
       where may_change
         and c.id = any (array(select l.capture from rowrelay.lacking_triggers() as l
                                where l.for_rows or l.for_truncates order by random() limit most))
         for update skip locked
    loop
      -- until its function knows of children, it would capture their own columns
      continue when rowrelay.has_children(capture.relation)
                and capture.column_state is distinct from rowrelay.column_state(capture);
      begin
        -- fails for a child that is captured by itself
        perform rowrelay.check_overlap(capture.relation);
        n := rowrelay.attach_triggers(capture, false, '0 s');
        return next format('table %s: %s attached', capture.relation,
                           case n when 1 then '1 trigger' else n || ' triggers' end)
          || coalesce((select '; some had been dropped or disabled, and changes made meanwhile are not in its log: '
                              'rowrelay verify TARGET --repair copies those rows to a mirror'
                         from rowrelay.capture c where c.id = capture.id and c.log_since > capture.log_since), '');
      exception when others then
        problems := problems || format('table %s: triggers are missing, and could not be attached: %s',
                                     capture.relation, sqlerrm);
      end;
    end loop;
  exception when others then
    problems := problems || format('tables that lack triggers could not be found: %s', sqlerrm);
  end;

  begin
    -- what a writer added, or a process released, while the target was being dropped
    for dropped in select t.id from rowrelay.target t where t.dropped_at > now() - interval '1 day' loop
      delete from rowrelay.queue q
       where q.ctid = any (array(select u.ctid from rowrelay.queue u
                                  where u.lane between rowrelay.lane_number(dropped, -1)
                                    and rowrelay.lane_number(dropped, 1023)
                                  limit 10000 for update skip locked));
    end loop;
    -- what a writer added while the copy of its table was cancelled
    delete from rowrelay.queue q
     using rowrelay.backfill b
     where b.state = 'cancelled' and b.finished_at > now() - interval '1 day'
       and q.lane between rowrelay.waiting_lane(b.id, -1) and rowrelay.waiting_lane(b.id, 1023);
  exception when others then
    problems := problems || format('leftover rows of the queue could not be deleted: %s', sqlerrm);
  end;

  -- Trigger functions of dropped tables: roles that may execute one (rowrelay.trigger_grants) cannot be dropped.
  begin
    for capture in
      select c.* from rowrelay.capture c
       where may_change and c.released_at is null
         and to_regprocedure(format('rowrelay.%I()', 'capture_' || c.id)) is not null
         and not exists (select from pg_class r where r.oid = c.relation)
         for update skip locked
    loop
      execute format('drop function rowrelay.%I()', 'capture_' || capture.id);
      execute format('drop function if exists rowrelay.%I', rowrelay.rest_name(capture.id));
      execute format('drop function if exists rowrelay.%I()', rowrelay.statement_name(capture.id));
      return next format('table %s was dropped: trigger function dropped', capture.relation_name);
    end loop;
  exception when others then
    problems := problems || format('trigger functions of dropped tables could not be dropped: %s', sqlerrm);
  end;

  begin
    if may_change then
      perform rowrelay.bound_log_since();
    end if;
  exception when others then
    problems := problems || format('where the log of tables begins could not be corrected: %s', sqlerrm);
  end;

  begin
    delete from rowrelay.follower f where f.txid < pg_snapshot_xmin(pg_current_snapshot());
  exception when others then
    problems := problems
      || format('row versions of ended transactions (rowrelay.follower) could not be deleted: %s', sqlerrm);
  end;

  begin
    -- Leases taken while the clock was ahead end as if they had been taken now.
    update rowrelay.lease e set lease_until = clock_timestamp() + e.lasts
     where e.lease_until > clock_timestamp() + e.lasts;
    -- lanes of targets that are gone
    delete from rowrelay.lane l
     where l.lane in (select k.lane from rowrelay.lane k join rowrelay.target t on t.id = rowrelay.lane_target(k.lane)
                       where t.dropped_at is not null for update of k skip locked);
  exception when others then
    problems := problems || format('lanes and leases could not be cleaned up: %s', sqlerrm);
  end;

  begin
    delete from rowrelay.instance i where i.heartbeat_at not between now() - interval '1 day'
      and now() + interval '1 day';
  exception when others then
    problems := problems || format('processes that are gone could not be removed: %s', sqlerrm);
  end;

  return query
    select f from unnest(problems) as f
     where f <> all (array(select unnest(j.failed) from rowrelay.job j where j.name = 'maintain'));
  update rowrelay.job j set failed = problems
   where j.name = 'maintain' and j.failed is distinct from problems;
end
$$;
-- Purpose:    rowrelay.maintain(), unless it began within the last 30 seconds: running processes call this, so that one
--             of them at a time does it
-- Result:     as rowrelay.maintain()
create or replace function rowrelay.maintain_when_due() returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if rowrelay.take_job('maintain', '30 s') then
    return query select m from rowrelay.maintain() as m;
  end if;
end
$$;
-- Purpose:    returns the present names of columns; captures store numbers, because a number survives a rename
-- Parameters: relation; attribute numbers
-- Result:     names in the order of the numbers, null for a column that has been dropped; null for null
create or replace function rowrelay.attribute_names(relation regclass, numbers smallint[]) returns text[]
language plpgsql stable strict as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select array(select a.attname::text
                   from unnest(numbers) with ordinality as u(n, position)
                   left join pg_attribute a on a.attrelid = relation and a.attnum = u.n and not a.attisdropped
                  order by u.position));
end
$$;
-- Purpose:    returns the numbers of columns by their names
-- Parameters: relation; names; their purpose, for the error message
-- Result:     numbers in the order of the names; null for null
-- Errors:     a column does not exist
create or replace function rowrelay.attribute_numbers(relation regclass, names text[], purpose text) returns smallint[]
language plpgsql stable as $$
declare
  name    text;
  number  smallint;
  numbers smallint[];
begin
  if names is null then
    return null;
  end if;
  numbers := '{}';
  foreach name in array names loop
    select a.attnum into number from pg_attribute a
     where a.attrelid = relation and a.attname = name and a.attnum > 0 and not a.attisdropped;
    if not found then
      raise exception 'column "%" of table % does not exist (%)', name, relation, purpose
        using errcode = 'undefined_column',
              hint = 'Its columns are: ' || (select string_agg(a.attname, ', ' order by a.attnum) from pg_attribute a
                                              where a.attrelid = relation and a.attnum > 0
                                                and not a.attisdropped) || '.';
    end if;
    numbers := numbers || number;
  end loop;
  return numbers;
end
$$;
-- Purpose:    returns a table's name with its schema, quoted where necessary, under any search_path
-- Parameters: relation
-- Result:     such as shop.orders or "Old Shop"."Order"; null when it is gone
create or replace function rowrelay.full_name(relation regclass) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (select format('%I.%I', n.nspname, c.relname)
            from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = relation);
end
$$;
-- Purpose:    tells people how to compare a table with its mirrors. There is no function for that, so in SQL it is the
--             same command.
-- Parameters: relation, null: all tables; whether to repair them; target (default: each mirror that the table goes to)
-- Result:     a command for each of them; of a target called TARGET when there is none
create or replace function rowrelay.verify_commands(relation regclass, repair boolean, target text default null)
  returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select string_agg(rowrelay.command('rowrelay verify %1$s' || w.words, 'in a shell, rowrelay verify %2$s' || w.words,
                                     n.name, rowrelay.shell_word(n.name)), '; ' order by n.place)
    from unnest(coalesce(nullif(case when target is not null then array[target]
           else array(select t.name
                        from rowrelay.capture c
                        join rowrelay.route r on r.capture = c.id and r.until_id is null
                        join rowrelay.target t on t.id = r.target
                       where c.relation = verify_commands.relation and c.released_at is null
                         and t.dropped_at is null and t.url ~ '^postgres(ql)?:'
                         and coalesce(t.options ->> 'mode', 'mirror') = 'mirror'
                         and not exists (select from rowrelay.document d where d.target = t.id)
                       order by t.name) end, '{}'), '{TARGET}')) with ordinality as n(name, place),
         (select coalesce(' ' || replace(rowrelay.shell_word(rowrelay.full_name(relation)), '%', '%%'), '')
                   || case when repair then ' --repair' else '' end as words) as w
$$;
-- Purpose:    lists the tables that are or were captured, for users who may read some of the log but not
--             rowrelay.capture
-- Result:     each once: the table; its full name, for one that is gone its last name; whether it is gone
create or replace function rowrelay.logged_tables() returns table (relation oid, relation_name text, is_gone boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select distinct on (c.relation) c.relation::oid, coalesce(n.name, c.relation_name), n.name is null
    from rowrelay.capture c
    cross join lateral rowrelay.full_name(c.relation) as n (name)
   where not exists (select from rowrelay.document d where d.capture = c.id)
   order by c.relation, c.id desc
$$;
-- Purpose:    returns the base type of a domain
-- Parameters: a type
-- Result:     that type, or the base type of a domain
create or replace function rowrelay.base_type(of_type oid) returns oid
language plpgsql stable as $$
declare
  base oid := of_type;
begin
  if of_type < 10000 then
    return of_type; -- one of PostgreSQL's own by number, of which none is a domain
  end if;
  while exists (select from pg_type t where t.oid = base and t.typtype = 'd') loop
    select t.typbasetype into base from pg_type t where t.oid = base;
  end loop;
  return base;
end
$$;
-- Purpose:    returns the element type of an array type
-- Parameters: type
-- Result:     null: it is not an array type
create or replace function rowrelay.element_type(of_type oid) returns oid
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  -- pg_type has no index on typarray
  return (select e.oid from pg_type t join pg_type e on e.oid = t.typelem and e.typarray = t.oid where t.oid = of_type);
end
$$;
-- Purpose:    whether a type is built in, so that no user's code runs when a value of it becomes JSON or text. For
--             other types to_json() looks for a cast to json, and ::text for one to text; the type's owner may create
--             such a cast at any time, and it would run with the rights of the schema's owner. Output functions are
--             safe: only superusers can create them.
-- Parameters: type; a domain counts as its base type, because PostgreSQL ignores casts from domains
-- Result:     false also for a type that this transaction cannot see yet
create or replace function rowrelay.is_safe_type(of_type oid) returns boolean
language plpgsql stable as $$
begin
  return rowrelay.base_type(of_type) < 16384; -- the first oid of users' objects
end
$$;
-- Purpose:    returns the names of the columns that rows of a type have at this moment; see rowrelay.current_columns()
-- Parameters: a composite type, such as that of a table's rows
-- Result:     names in their order
create or replace function rowrelay.current_names(row_type oid) returns text[]
language plpgsql stable as $$
declare
  names text[];
begin
  -- All values are null, so no cast to json is called.
  execute format('select array(select k.name from pg_catalog.json_object_keys(pg_catalog.row_to_json(rowrelay_row.*)) '
                 'with ordinality as k(name, place) order by k.place) '
                 'from (select (null::%s).*) as rowrelay_row', row_type::regtype) into names;
  return names;
end
$$;
-- Purpose:    returns the columns that rows of a type have at this moment. The catalogs may not show them to a
--             repeatable read transaction, which nevertheless gets rows with them; an expression on a row always has
--             them.
-- Parameters: a composite type, such as that of a table's rows
-- Result:     position, name and type of each column
create or replace function rowrelay.current_columns(row_type oid) returns table (place integer, name text, type oid)
language plpgsql stable as $$
declare
  names constant text[] := rowrelay.current_names(row_type);
  types oid[];
begin
  if names = '{}' then
    return;
  end if;
  -- by position, because a column's name may be that of something else
  execute format('select array[%s]::pg_catalog.oid[] from (select (null::%s).*) as t(%s)',
                 (select string_agg(format('pg_catalog.pg_typeof(t.c%s)', n), ', ' order by n)
                  from generate_subscripts(names, 1) as n),
                 row_type::regtype,
                 (select string_agg('c' || n, ', ' order by n) from generate_subscripts(names, 1) as n))
     into types;
  return query select u.place::integer, u.name, u.type
    from unnest(names, types) with ordinality as u(name, type, place);
end
$$;
-- Purpose:    returns SQL for the text of a value by the output function of its type, not by a cast
--             (rowrelay.is_safe_type)
-- Parameters: SQL for the value; its type
-- Result:     an expression of type text; null for null
create or replace function rowrelay.safe_text(expression text, of_type oid) returns text
language plpgsql stable as $$
begin
  return case when rowrelay.is_safe_type(of_type) then expression || '::pg_catalog.text'
              else format('case when %1$s is distinct from null then pg_catalog.concat(%1$s) end', expression) end;
end
$$;
-- Purpose:    returns SQL for a value that to_json() and row_to_json() convert as they convert the column, but without
--             any user-defined cast to json (rowrelay.is_safe_type). A value of a user-defined type becomes a string of
--             its text, as PostgreSQL does without such a cast; rows and arrays are split, because they may contain
--             such values. An array of rows with several dimensions becomes a string too.
-- Parameters: SQL for the value; its type; depth of nested arrays
-- Result:     an expression
create or replace function rowrelay.safe_json(expression text, of_type oid, depth integer default 1) returns text
language plpgsql stable as $$
declare
  base    constant oid := rowrelay.base_type(of_type);
  part    constant text := format('i%s', depth);
  type    pg_type;
  element pg_type;
  shown   text;
begin
  if rowrelay.is_safe_type(base) then
    return expression;
  end if;
  select t.* into type from pg_type t where t.oid = base;
  select e.* into element from pg_type e where e.oid = rowrelay.element_type(base);
  if element.oid is not null and rowrelay.is_safe_type(element.oid) then
    return expression; -- an array of a domain
  elsif element.typtype in ('c', 'd') then
    return format('case when pg_catalog.array_ndims(%1$s) operator(pg_catalog.>) 1 then '
                  'pg_catalog.to_json(pg_catalog.concat(%1$s)) '
                  'when %1$s is distinct from null then pg_catalog.array_to_json(array('
                  'select pg_catalog.to_json(%2$s) from pg_catalog.generate_subscripts(%1$s, 1) as %3$s order by '
                  '%3$s)) end',
                  expression, rowrelay.safe_json(format('(%s)[%s]', expression, part), element.oid, depth + 1), part);
  elsif element.typdelim = ',' then
    return format('case when %1$s is distinct from null then pg_catalog.concat(%1$s)::pg_catalog.text[] end',
                  expression);
  elsif type.typtype = 'c' then
    select string_agg(format('%s as %I',
                             rowrelay.safe_json(format('(%s).%I', expression, c.name), c.type, depth), c.name),
                      ', ' order by c.place)
      into shown from rowrelay.current_columns(base) as c;
    return format('case when %s is distinct from null then (select pg_catalog.row_to_json(rowrelay_row.*) from (select '
                  '%s) as rowrelay_row) end',
                  expression, shown);
  end if;
  return rowrelay.safe_text(expression, base);
end
$$;
-- Purpose:    returns SQL for the image of a whole row: as row_to_json() makes it, but without user-defined casts
--             (rowrelay.safe_json). Rows are written as name.*, which cannot be a column's name.
-- Parameters: type of the row; its name in the statement, such as new, or $1; columns to show, null: all
-- Result:     an expression of type json; null for null
create or replace function rowrelay.row_image(row_type oid, row_name text, shown text[] default null) returns text
language plpgsql stable as $$
declare
  whole constant text := row_name || case when row_name !~ E'^\\$' then '.*' else '' end;
begin
  return (
    select case when shown is null and coalesce(bool_and(rowrelay.is_safe_type(c.type)), true)
                then format('pg_catalog.row_to_json(%s)', whole)
                else format('case when %s is distinct from null then '
                            '(select pg_catalog.row_to_json(rowrelay_row.*) from (select %s) as rowrelay_row) end',
                              whole,
                            string_agg(format('%s as %I',
                                              rowrelay.safe_json(format('%s.%I', row_name, c.name), c.type), c.name),
                                       ', ' order by c.place) filter (where shown is null or c.name = any (shown))) end
      from rowrelay.current_columns(row_type) as c);
end
$$;
-- Purpose:    returns the type of a row at run time
-- Parameters: row before, row after; null where there is none
-- Result:     the type of the row after, else of the row before; null when there is neither
create or replace function rowrelay.row_type(before_row record, after_row record) returns regtype
language plpgsql stable as $$
declare
  type regtype;
begin
  if after_row is distinct from null then
    execute 'select pg_catalog.pg_typeof($1)' into type using after_row;
  elsif before_row is distinct from null then
    execute 'select pg_catalog.pg_typeof($1)' into type using before_row;
  end if;
  return type;
end
$$;
-- Purpose:    returns SQL for two rows called old and new whose type is known only at run time, for the expressions of
--             a trigger function (rowrelay.key_expression and the like)
-- Parameters: rows before and after; null where there is none
-- Result:     items for a FROM clause with $1 as the row before and $2 as the row after; a row of nulls where there is
--             none
create or replace function rowrelay.rows_given(before_row record, after_row record) returns text
language plpgsql stable as $$
declare
  nobody constant text := format('null::%s', rowrelay.row_type(before_row, after_row));
begin
  return format('(select (%s).*) as old, (select (%s).*) as new',
                case when before_row is distinct from null then '$1' else nobody end,
                case when after_row is distinct from null then '$2' else nobody end);
end
$$;
-- Purpose:    whether other tables inherit from a table, so that its rows may have further columns
-- Parameters: relation
-- Result:     false for a partitioned table
create or replace function rowrelay.has_children(relation regclass) returns boolean
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return exists (select from pg_inherits i join pg_class c on c.oid = i.inhparent
                  where i.inhparent = relation and c.relkind = 'r');
end
$$;
-- Purpose:    replaces a domain by its base type, and an array of domains by an array of the base type
-- Parameters: type
-- Result:     type; the same for an array of domains over arrays, because no other type has its values
create or replace function rowrelay.plain_oid(of_type oid) returns oid
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
declare
  base constant oid := rowrelay.base_type(of_type);
begin
  return coalesce((select nullif(e.typarray, 0) from pg_type e
                    where e.oid = (select rowrelay.base_type(d.oid) from pg_type d
                                   where d.oid = rowrelay.element_type(base) and d.typtype = 'd')),
                  base);
end
$$;
-- Purpose:    returns the types of a value's parts: an array's elements, a range's bounds, a row's columns
-- Parameters: type (a domain counts as its base type); collation of the column
-- Result:     types with their collations; none for a type that has no parts
create or replace function rowrelay.type_parts(of_type oid, of_collation oid) returns table (type oid, collation oid)
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
declare
  base constant oid := rowrelay.plain_oid(of_type);
begin
  return query
    select e.type, of_collation from rowrelay.element_type(base) as e(type) where e.type is not null
    union all
    select r.rngsubtype, r.rngcollation from pg_range r
     where r.rngtypid = base or to_jsonb(r) ->> 'rngmultitypid' = base::text -- PostgreSQL 14 has multiranges
    union all
    select a.atttypid, a.attcollation from pg_type t join pg_attribute a on a.attrelid = t.typrelid
     where t.oid = base and t.typtype = 'c' and a.attnum > 0 and not a.attisdropped;
end
$$;
-- Purpose:    returns the type under which a type has a default hash operator class: itself, text for varchar, or the
--             pseudo-type of all arrays, enums, ranges or rows
-- Parameters: type (a domain counts as its base type)
-- Result:     that type; null: there is none
create or replace function rowrelay.hashed_as(of_type oid) returns oid
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
declare
  base   constant oid := rowrelay.base_type(of_type);
  others constant oid := case
    when base = 'varchar'::regtype then 'text'::regtype
    when rowrelay.element_type(base) is not null then 'anyarray'::regtype
    else (select case t.typtype when 'e' then to_regtype('anyenum') when 'r' then to_regtype('anyrange')
                                when 'm' then to_regtype('anymultirange') when 'c' then to_regtype('record') end
            from pg_type t where t.oid = base) end;
begin
  return (select c.opcintype from pg_opclass c
           where c.opcmethod = (select m.oid from pg_am m where m.amname = 'hash') and c.opcdefault
             and c.opcintype in (base, others)
           order by c.opcintype = base desc
           limit 1);
end
$$;
-- Purpose:    whether every value of a type can be hashed so that equal values have equal hashes. The hash functions of
--             arrays, ranges and rows fail if a part has none.
-- Parameters: type (a domain counts as its base type)
create or replace function rowrelay.has_hash(of_type oid) returns boolean
language plpgsql stable as $$
declare
  hashed_as constant oid := rowrelay.hashed_as(of_type);
begin
  return hashed_as is not null
     and (exists (select from pg_type t where t.oid = hashed_as and t.typtype <> 'p')
          or not exists (select from rowrelay.type_parts(of_type, 0) as p where not rowrelay.has_hash(p.type)));
end
$$;
-- Purpose:    whether two values of a type are equal exactly when their texts are (for numeric, after trim_scale())
-- Parameters: type (a domain counts as its base type); collation of the column; whether it is a part of an array, range
--             or row, where a numeric keeps its scale and char(n) its blanks
-- Result:     false also for types not listed here
create or replace function rowrelay.text_is_exact(of_type oid, of_collation oid, is_part boolean default false)
returns boolean language plpgsql stable as $$
declare
  base constant oid := rowrelay.base_type(of_type);
begin
  if exists (select from pg_collation c where c.oid = of_collation and not c.collisdeterministic) then
    return false;
  end if;
  return base = any ('{int2,int4,int8,oid,xid,xid8,uuid,text,varchar,name,bool,bytea,bit,varbit,date,timestamp,
                       timestamptz,time,timetz,"char",money,inet,cidr,macaddr,macaddr8,pg_lsn,tid,tsvector}'::regtype[])
      or base = any ('{numeric,bpchar}'::regtype[]) and not is_part
      or exists (select from pg_type t where t.oid = base and t.typtype = 'e')
      or exists (select from pg_type t join pg_proc p on p.oid = t.typinput
                  where t.oid = base and t.typname = 'ltree' and p.probin like '%/ltree')
      or exists (select from rowrelay.type_parts(base, of_collation))
         and not exists (select from rowrelay.type_parts(base, of_collation) as p
                          where not rowrelay.text_is_exact(p.type, p.collation, true));
end
$$;
-- Purpose:    returns the name of a type, with the column's collation, for SQL that must mean the same in every
--             session. Base types replace domains, because some functions and operators (those of enums) refuse a
--             domain, and its CHECK must not run again on a value that was once a key.
-- Parameters: type; collation of the column, 0 for none
-- Result:     such as pg_catalog.int4, or pg_catalog.text collate public.german; for use after "::" and in column lists
create or replace function rowrelay.plain_type(of_type oid, of_collation oid) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select format('%I.%I', n.nspname, t.typname)
             || coalesce((select format(' collate %I.%I', cn.nspname, c.collname)
                            from pg_collation c join pg_namespace cn on cn.oid = c.collnamespace
                           where c.oid = of_collation and c.collname <> 'default'), '')
      from pg_type t join pg_namespace n on n.oid = t.typnamespace
     where t.oid = rowrelay.plain_oid(of_type));
end
$$;
-- Purpose:    returns SQL for a column of a row, for use with functions and operators of its type; see
--             rowrelay.plain_type()
-- Parameters: name of the row; name and type of the column
-- Result:     an expression
create or replace function rowrelay.plain_value(row_name text, column_name name, of_type oid) returns text
language plpgsql stable as $$
begin
  return format(case when rowrelay.plain_oid(of_type) = of_type then '%I.%I' else '(%I.%I)::%s' end,
                row_name, column_name, rowrelay.plain_type(of_type, 0));
end
$$;
-- Purpose:    returns SQL for the hash of one column's value; equal values have equal hashes
-- Parameters: name of the row; name, type and collation of the column
-- Result:     an expression of type integer; null when there is none for this type
create or replace function rowrelay.column_hash(row_name text, column_name name, of_type oid, of_collation oid)
returns text language plpgsql stable as $$
declare
  hashed_as constant oid := rowrelay.hashed_as(of_type);
  hashes    text;
begin
  if rowrelay.has_hash(of_type) then
    select format('%I.%I(%s)', n.nspname, p.proname, rowrelay.plain_value(row_name, column_name, of_type)) into hashes
      from pg_opclass c
      join pg_amproc ap on ap.amprocfamily = c.opcfamily and ap.amproclefttype = c.opcintype
                       and ap.amprocrighttype = c.opcintype and ap.amprocnum = 1
      join pg_proc p on p.oid = ap.amproc
      join pg_namespace n on n.oid = p.pronamespace
     where c.opcmethod = (select m.oid from pg_am m where m.amname = 'hash') and c.opcdefault
       and c.opcintype = hashed_as
       -- date, for one, uses the function of integer, which SQL cannot call with a date
       and p.proargtypes[0] = c.opcintype;
  end if;
  if hashes is null and rowrelay.text_is_exact(of_type, of_collation) then
    hashes := format('pg_catalog.hashtext(%s)', rowrelay.safe_text(format('%I.%I', row_name, column_name), of_type));
  end if;
  return hashes;
end
$$;
-- Purpose:    whether reading a value of a type may run a user's CHECK, because an array, range or row in it has a
--             domain inside. (For a domain, or an array of one, the base type is used, see rowrelay.plain_oid().)
-- Parameters: type
create or replace function rowrelay.has_inner_domain(of_type oid) returns boolean
language plpgsql stable set jit = off as $$ -- compiling it takes a second, and it is called for each search
begin
  return exists (with recursive part(type) as (
                   select p.type from rowrelay.type_parts(of_type, 0) as p
                   union
                   select p.type from part cross join lateral rowrelay.type_parts(part.type, 0) as p
                 )
                 select from part join pg_type t on t.oid = part.type and t.typtype = 'd');
end
$$;
-- Purpose:    whether reading a key may run a user's CHECK, see rowrelay.has_inner_domain()
-- Parameters: relation; attribute numbers
create or replace function rowrelay.has_domain_parts(relation regclass, numbers smallint[]) returns boolean
language sql stable as $$
  select exists (select from pg_attribute a
                  where a.attrelid = relation and a.attnum = any (numbers) and not a.attisdropped
                    and rowrelay.has_inner_domain(a.atttypid))
$$;
-- Purpose:    returns the columns that identify a row: the primary key, else the smallest unique index on NOT NULL
--             columns. A deferrable one does not count, because while it is deferred two rows may have one key; nor
--             does one that distinguishes values which the column's collation does not.
-- Parameters: relation
-- Result:     attribute numbers in the index's order; empty when there is no such index
create or replace function rowrelay.key_of(relation regclass) returns smallint[]
language sql stable as $$
  select coalesce(
    (select array(select k::smallint from unnest(i.indkey::smallint[]) with ordinality as u(k, position)
                   where position <= i.indnkeyatts order by position)
       from pg_index i
      where i.indrelid = relation and i.indisunique and i.indisvalid and i.indimmediate
        and i.indpred is null and i.indexprs is null
        and not exists (select from unnest(i.indkey::smallint[]) with ordinality as u(k, position)
                         join pg_attribute a on a.attrelid = relation and a.attnum = u.k
                        where position <= i.indnkeyatts
                          and (not a.attnotnull
                               or exists (select from pg_collation c
                                           where c.oid = a.attcollation and not c.collisdeterministic
                                             and i.indcollation[u.position::integer - 1] <> c.oid)))
      order by i.indisprimary desc, i.indnkeyatts, i.indexrelid
      limit 1),
    '{}')
$$;
-- Purpose:    returns the key that rows still have. When a key column was dropped, the others do not identify rows:
--             then changes are captured as for a table without a key, with the image before, until the table is
--             captured again.
-- Parameters: capture
-- Result:     attribute numbers; empty when there is no key, or no longer
create or replace function rowrelay.live_key(capture rowrelay.capture) returns smallint[]
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select case when array_position(rowrelay.attribute_names(capture.relation, capture.key_columns), null) is null
                then capture.key_columns else '{}' end);
end
$$;
-- Purpose:    returns the columns of a capture's row images, as the table is now. Columns are left out or masked both
--             by number, which survives a rename, and by name, which survives a drop and re-creation: in doubt a column
--             is left out. For the same reason a chosen column (option columns) is found by its name only if the column
--             that had that name was dropped. Virtual generated columns are left out always.
-- Parameters: capture
-- Result:     keep: names to keep, null: all; leave_out: names to leave out; masks: {name: value to show instead}
create or replace function rowrelay.image_columns(capture rowrelay.capture, out keep text[], out leave_out text[],
                                                  out masks json)
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  with present as (
    select a.attnum, a.attname::text as name, a.attnum = any (capture.key_columns) as in_key,
           a.attgenerated = 'v' as is_virtual -- PostgreSQL tells a trigger nothing of it
      from pg_attribute a
     where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
  )
  select case
           when capture.only_columns is not null then
             array(select p.name from present p
                    where p.attnum = any (capture.only_columns)
                       or capture.only_columns[array_position(capture.only_names, p.name)] not in (select attnum
                           from present))
           -- an inheritance child's own columns are not captured
           when rowrelay.has_children(capture.relation) then
             array(select p.name from present p)
         end,
         array(select p.name from present p
                where not p.in_key
                  and (p.is_virtual or p.attnum = any (capture.exclude_columns)
                       or p.name = any (capture.exclude_names))),
         (select coalesce(json_object_agg(p.name,
                                          coalesce(capture.mask -> p.attnum::text, capture.mask_names -> p.name)), '{}')
            from present p
           where not p.in_key and (capture.mask ? p.attnum::text or capture.mask_names ? p.name))
    into keep, leave_out, masks;
end
$$;
-- Purpose:    whether the catalogs show a table's columns as its rows have them. A repeatable read transaction may
--             write to a table that was altered since it began: its rows have the new names and types.
-- Parameters: relation
create or replace function rowrelay.names_are_current(relation regclass) returns boolean
language plpgsql stable as $$
declare
  shown constant text := (select string_agg(format('%I %s', a.attname, a.atttypid), ',' order by a.attnum)
                            from pg_attribute a where a.attrelid = relation and a.attnum > 0 and not a.attisdropped);
begin
  return shown is not distinct from (select string_agg(format('%I %s', c.name, c.type), ',' order by c.place)
                                       from pg_class r, rowrelay.current_columns(r.reltype) as c
                                         where r.oid = relation);
end
$$;
-- Purpose:    whether two keys of these columns are equal exactly when their texts (rowrelay.key_expression) are
-- Parameters: relation; attribute numbers
-- Result:     false also when there is no key
create or replace function rowrelay.key_is_exact(relation regclass, numbers smallint[]) returns boolean
language sql stable as $$
  select count(*) = cardinality(numbers) and cardinality(numbers) > 0
    from pg_attribute a
   where a.attrelid = relation and a.attnum = any (numbers) and not a.attisdropped
     and rowrelay.text_is_exact(a.atttypid, a.attcollation)
     -- in a JSON array char(n) keeps its blanks, and arrays lose their lower bounds
     and (cardinality(numbers) = 1
          or rowrelay.base_type(a.atttypid) <> 'bpchar'::regtype
             and not exists (select from rowrelay.type_parts(a.atttypid, a.attcollation)))
$$;
-- Purpose:    returns SQL for the text of a key: the text of a single column, a JSON array of several
-- Parameters: relation; attribute numbers; name of the row, new or old
-- Result:     an expression; 'null' when there is no key
create or replace function rowrelay.key_expression(relation regclass, numbers smallint[], row_name text) returns text
language plpgsql stable as $$
declare
  parts text[];
  texts text[];
begin
  -- numeric keeps trailing zeros, but 1.0 and 1.00 are one key.
  select array_agg(rowrelay.safe_json(p.value, a.atttypid) order by u.position),
         array_agg(rowrelay.safe_text(p.value, a.atttypid) order by u.position)
    into parts, texts
    from unnest(numbers) with ordinality as u(n, position)
    join pg_attribute a on a.attrelid = relation and a.attnum = u.n and not a.attisdropped
   cross join lateral format(case
                             when rowrelay.base_type(a.atttypid) = 'numeric'::regtype
                               then 'pg_catalog.trim_scale(%s.%I)'
                                  else '%s.%I' end, row_name, a.attname) as p(value);
  return case coalesce(cardinality(parts), 0)
           when 0 then 'null'
           when 1 then texts[1]
           else format('pg_catalog.json_build_array(%s)::pg_catalog.text', array_to_string(parts, ', '))
         end;
end
$$;
-- Purpose:    returns SQL for the hash that chooses the lane. It uses each type's own hash function, which agrees with
--             the type's equality where texts do not: 1.0 and 1.00, or two spellings in citext, are one key. A type
--             without a hash function whose equal values may have different texts adds nothing: if the key has only
--             such types, the whole table is one lane.
-- Parameters: capture id (the hash of a table that is one lane); relation; attribute numbers; new or old
-- Result:     an expression of type integer
create or replace function rowrelay.hash_expression(capture_id integer, relation regclass, numbers smallint[],
                                                    row_name text) returns text
language plpgsql stable as $$
declare
  hashed text;
begin
  select string_agg(rowrelay.column_hash(row_name, a.attname, a.atttypid, a.attcollation), ', ' order by u.position)
    into hashed
    from unnest(numbers) with ordinality as u(n, position)
    join pg_attribute a on a.attrelid = relation and a.attnum = u.n and not a.attisdropped;
  return case
    when hashed is null then format('pg_catalog.hashint4(%s)', capture_id)
    when cardinality(numbers) = 1 then format('coalesce(%s, 0)', hashed)
    else format('pg_catalog.hashtext(pg_catalog.concat_ws('','', %s))', hashed)
  end;
end
$$;
-- Purpose:    whether row_to_json preserves every value of a type that is a part of another value. Parts are not
--             checked one by one: if any may not survive, the whole value becomes text.
-- Parameters: a type
-- Result:     false for json (JSON null would become SQL null), for arrays (their lower bounds are lost), and for
--             records with any of these. Casts to json do not matter: images never use them (rowrelay.safe_json).
create or replace function rowrelay.survives_json(part oid) returns boolean
language plpgsql stable as $$
declare
  base  oid := rowrelay.base_type(part);
  type  pg_type;
begin
  select t.* into strict type from pg_type t where t.oid = base;
  return base not in ('json'::regtype, 'jsonb'::regtype)
    and type.typcategory <> 'A'
    and (type.typtype <> 'c'
         or not exists (select from pg_attribute a
                         where a.attrelid = type.typrelid and a.attnum > 0 and not a.attisdropped
                           and not rowrelay.survives_json(a.atttypid)));
end
$$;
-- Purpose:    whether a trigger function can still make images of the rows of a table: the table may have new columns
--             that it would leave out, or whose type has a user's cast to json (rowrelay.is_safe_type). It costs a
--             writer nothing: it is declared immutable, so PostgreSQL evaluates it when it plans the expression, and
--             plans again whenever the table named in it is altered.
-- Parameters: a table or composite type; the types of its columns when the function was made; whether the function
--             takes the row unchanged, so that new columns of safe types may be added
-- Result:     false: the slow path must capture the change
create or replace function rowrelay.row_is_known(relation regclass, types oid[], is_plain boolean) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  is_same boolean;
begin
  begin
    execute format(
        'select array[%s]::oid[] = $1 and (select count(*) from json_object_keys(row_to_json(rowrelay_row.*))) = '
        'cardinality($1) '
                   'from (select (null::%s).*) as rowrelay_row%s',
                   (select string_agg(format('pg_typeof(rowrelay_row.c%s)', n), ', ' order by n)
                    from generate_subscripts(types, 1) as n),
                   (select c.reltype::regtype from pg_class c where c.oid = relation),
                   (select format('(%s)', string_agg('c' || n, ', ' order by n)) from generate_subscripts(types, 1) as n
                    having count(*) > 0))
       into is_same using types;
    if is_same then
      return true;
    end if;
  exception when others then
    null; -- it has fewer columns now
  end;
  return is_plain
     and not exists (select
                     from rowrelay.current_columns((select r.reltype from pg_class r where r.oid = relation)) as c
                      where not rowrelay.is_safe_type(c.type)
                         -- or values of the new column may not survive as JSON (rowrelay.awkward_columns)
                         or not rowrelay.survives_json(c.type) and c.type <> all (types));
exception when others then
  return false;
end
$$;
-- Purpose:    whether a trigger function can make images, keys and lanes of the rows of a table with nothing that could
--             fail: as rowrelay.row_is_known(), and the columns that it names have their names and types still
-- Parameters: a table; the types of its columns when the function was made; the names and types of those that it names
-- Result:     false: the row must be captured in a guarded block
create or replace function rowrelay.row_is_unaltered(relation regclass, types oid[], names text[], named_types oid[])
  returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return rowrelay.row_is_known(relation, types, true)
     and not exists (select from unnest(names, named_types) as n(name, type)
                      where (n.name, n.type) not in (
                              select c.name, c.type from rowrelay.current_columns(
                                       (select r.reltype from pg_class r where r.oid = relation)) as c));
exception when others then
  return false;
end
$$;
-- Purpose:    returns SQL that calls rowrelay.row_is_known() for a table and for the composite types in its images
-- Parameters: a table or composite type; whether images take its rows unchanged
-- Result:     a condition
create or replace function rowrelay.row_check(relation regclass, is_plain boolean) returns text
language plpgsql stable as $$
begin
  return (
    with recursive part(relation, types) as (
      select r.oid, array(select c.type from rowrelay.current_columns(r.reltype) as c order by c.place)
        from pg_class r where r.oid = row_check.relation
      union
      select t.typrelid, array(select c.type from rowrelay.current_columns(t.oid) as c order by c.place)
        from part p
       cross join lateral unnest(p.types) as u(type)
       cross join lateral (select rowrelay.base_type(u.type) as type offset 0) as b
       cross join lateral (select rowrelay.base_type(coalesce(rowrelay.element_type(b.type),
                                                              b.type)) as type offset 0) as i
        join pg_type t on t.oid = i.type and t.typtype = 'c'
       where not rowrelay.is_safe_type(i.type)
    )
    select string_agg(format('rowrelay.row_is_known(%L::pg_catalog.regclass, %L::pg_catalog.oid[], %s)',
                             p.relation, p.types,
                             case when is_plain and p.relation = row_check.relation then 'true' else 'false' end),
                               E'\n       and '
                      order by p.relation)
      from part p);
end
$$;
-- Purpose:    lists the columns whose values may not survive as JSON (see rowrelay.exact_image), and under which
--             condition
-- Parameters: relation
-- Result:     name; condition on the value, which %s stands for; whether it is a json column, whose text has to be told
--             apart from a JSON string (caveat.text_columns); whether it may contain what PostgreSQL refuses to read as
--             JSON: \u0000, half of a surrogate pair; its type
create or replace function rowrelay.awkward_columns(relation regclass, out name text, out condition text,
                                                    out is_json boolean,
                                                    out is_unreadable boolean, out type oid) returns setof record
language sql stable as $$
  select a.name, c.condition, t.oid in ('json'::regtype, 'jsonb'::regtype),
         t.oid <> 'jsonb'::regtype and not rowrelay.survives_json(coalesce(nullif(t.typelem, 0), t.oid)),
         a.type
    from pg_class r
    cross join lateral rowrelay.current_columns(r.reltype) as a
    -- offset 0: evaluates what follows only for these types, not for all types of the database. All others survive
    -- (rowrelay.survives_json), and most tables have no other.
    cross join lateral (select x.* from (select rowrelay.base_type(a.type) as oid offset 0) as b
                          join pg_type x on x.oid = b.oid
                         where x.typcategory = 'A' or x.typtype = 'c' or x.oid in ('json'::regtype, 'jsonb'::regtype)
                        offset 0) as t
    cross join lateral (
      -- \u0000, or half of a surrogate pair; only a database in UTF8 has a letter for every other escape
      select case when pg_catalog.getdatabaseencoding() = 'UTF8' then $sql$(
          pg_catalog.strpos(%1$s::pg_catalog.text, E'\\u0000') operator(pg_catalog.>) 0
          or (pg_catalog.strpos(%1$s::pg_catalog.text, E'\\ud') operator(pg_catalog.>) 0
              or pg_catalog.strpos(%1$s::pg_catalog.text, E'\\uD') operator(pg_catalog.>) 0)
             and pg_catalog.regexp_replace(%1$s::pg_catalog.text,
               E'\\\\\\\\|\\\\u[dD][89abAB]..\\\\u[dD][c-fC-F]..', '',
                 'g') operator(pg_catalog.~) E'\\\\u[dD][89a-fA-F]')$sql$
        else 'true' end
    ) as u(is_unreadable)
    cross join lateral (
      select case
        when t.oid = 'json'::regtype then
          $sql$pg_catalog.json_typeof(%1$s::pg_catalog.json) operator(pg_catalog.=) 'null'
          or pg_catalog.strpos(%1$s::pg_catalog.text, E'\\u') operator(pg_catalog.>) 0
            and $sql$ || u.is_unreadable || $sql$
          or pg_catalog.btrim(%1$s::pg_catalog.text, E' \\n\\r\\t') operator(pg_catalog.<>) %1$s::pg_catalog.text$sql$
        when t.oid = 'jsonb'::regtype
          then 'pg_catalog.jsonb_typeof(%1$s::pg_catalog.jsonb) operator(pg_catalog.=) ''null'''
        when t.typcategory = 'A' and t.typname not in ('int2vector', 'oidvector')
          and rowrelay.survives_json(t.typelem) then
          'pg_catalog.array_lower(%1$s, 1) operator(pg_catalog.<>) 1 or pg_catalog.array_lower(%1$s, 2) '
          'operator(pg_catalog.<>) 1 '
          'or pg_catalog.array_lower(%1$s, 3) operator(pg_catalog.<>) 1 or pg_catalog.array_ndims(%1$s) '
          'operator(pg_catalog.>) 3'
        -- not "is not null", which is about a record's fields; nor is = looked up here
        when not rowrelay.survives_json(t.oid) then '%1$s is distinct from null'
      end) as c(condition)
   where r.oid = relation and c.condition is not null
   order by a.place
$$;
-- Purpose:    lists the session's settings on which the text of a table's values depends
-- Parameters: relation; attribute numbers of columns whose text becomes key or lane
-- Result:     name; the value that it must have while a row is captured; all values that give the same texts
create or replace function rowrelay.pinned_settings(relation regclass, key_columns smallint[], out name text,
                                                    out wanted text, out good text) returns setof record
language plpgsql stable as $$ -- step by step, because every plan of a recursive query for it is bad at times
declare
  -- Types of values and of their parts: all, and those that are read through a type's own output function, where JSON's
  -- ISO dates do not help.
  types      oid[] := '{}';
  texts      oid[] := '{}';
  todo       oid[];
  todo_texts oid[];
  parts      oid[];
  is_text    boolean;
  type       pg_type;
  is_name    boolean := false;
  is_foreign boolean := false;
begin
  select array_agg(rowrelay.base_type(a.atttypid)) filter (where not u.is_text),
         array_agg(rowrelay.base_type(a.atttypid)) filter (where u.is_text)
    into todo, todo_texts
    from pg_attribute a
    left join rowrelay.awkward_columns(relation) as w on w.name = a.attname and not w.is_json
   cross join lateral (select coalesce(a.attnum = any (key_columns), false) or w.name is not null) as u(is_text)
   where a.attrelid = relation and a.attnum > 0 and not a.attisdropped;
  while cardinality(todo) > 0 or cardinality(todo_texts) > 0 loop
    is_text := (cardinality(todo) > 0) is not true;
    select t.* into type from pg_type t where t.oid = case when is_text then todo_texts[1] else todo[1] end;
    if is_text then
      todo_texts := todo_texts[2:];
      continue when type.oid = any (texts);
      texts := texts || type.oid;
    else
      todo := todo[2:];
      continue when type.oid = any (types);
    end if;
    types := types || type.oid;
    is_name := is_name or type.typname like 'reg%';
    is_foreign := is_foreign or type.typtype = 'b' and type.typelem = 0 and type.oid >= 16384;
    if type.typelem <> 0 then
      todo_texts := todo_texts || rowrelay.base_type(type.typelem);
    elsif type.typtype in ('r', 'm') then
      todo_texts := todo_texts || array(select rowrelay.base_type(r.rngsubtype) from pg_range r
                                         -- PostgreSQL 14 has multiranges
                                         where type.oid::text in (r.rngtypid::text, to_jsonb(r) ->> 'rngmultitypid'));
    elsif type.typtype = 'c' then
      parts := array(select rowrelay.base_type(a.atttypid) from pg_attribute a
                      where a.attrelid = type.typrelid and a.attnum > 0 and not a.attisdropped);
      if is_text then
        todo_texts := todo_texts || parts;
      else
        todo := todo || parts;
      end if;
    end if;
  end loop;

  return query
  select n.name, n.wanted, n.good
    from (values ('bytea_output', 'hex', '{hex}', 'bytea'::regtype = any (types)),
                 ('datestyle', 'ISO, MDY', '{"ISO, MDY","ISO, DMY","ISO, YMD"}',
                  texts && '{date,timestamp,timestamptz}'::regtype[]::oid[]),
                 -- an extension's type may depend on any setting
                 ('extra_float_digits', '1', case when is_foreign then '{1}' else '{1,2,3}' end,
                  is_foreign or types && '{float4,float8,point,lseg,path,box,polygon,line,circle}'::regtype[]::oid[]),
                 ('intervalstyle', 'postgres', '{postgres}', 'interval'::regtype = any (types)),
                 ('lc_monetary', 'C', '{C}', 'money'::regtype = any (types)),
                 ('quote_all_identifiers', 'off', '{off}', is_name),
                 -- names of objects have their schema only when it is not in search_path
                 ('search_path', 'pg_catalog, pg_temp', '{"pg_catalog, pg_temp"}', is_name or is_foreign),
                 ('timezone', 'UTC', '{UTC,Etc/UTC}', 'timestamptz'::regtype = any (types)))
           as n(name, wanted, good, is_needed)
   where n.is_needed
   order by n.name;
end
$$;
-- Purpose:    returns the statements of a trigger function that keep the session's settings from changing the text of
--             this table's values. A SET clause on the function would cost every writer about a microsecond per row; so
--             the function checks the settings, which costs next to nothing, changes those that are wrong, and restores
--             them. This happens in the guarded block, where an error undoes the change too. The statements are
--             assignments, because PERFORM is a query, and most sessions are not in UTC.
-- Parameters: relation; attribute numbers of columns whose text becomes key or lane
-- Result:     declarations, statements before and after; null when no column needs any
create or replace function rowrelay.pin_statements(relation regclass, key_columns smallint[], out declarations text,
                                                   out pin text, out unpin text)
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  with numbered as (
    select n.*, format('set_%s', row_number() over (order by n.name)) as variable
      from rowrelay.pinned_settings(relation, key_columns) as n
  )
  select E'  pinned   key%type;\n' || string_agg(format('  %s    key%%type;', n.variable), E'\n' order by n.name),
         string_agg(concat_ws(E'\n',
           format('    if pg_catalog.current_setting(%L) operator(pg_catalog.<>) all (%L::pg_catalog.text[]) then',
                  n.name, n.good),
           format('      %s := pg_catalog.current_setting(%L);', n.variable, n.name),
           format('      pinned := pg_catalog.set_config(%L, %L, true);', n.name, n.wanted),
           '    end if;'), E'\n' order by n.name),
         string_agg(concat_ws(E'\n',
           format('    if %s is not null then', n.variable),
           format('      pinned := pg_catalog.set_config(%L, %s, true);', n.name, n.variable),
           '    end if;'), E'\n' order by n.name)
    into declarations, pin, unpin
    from numbered n;
end
$$;
-- Purpose:    returns a row image without left-out columns and with masks in place of values
-- Parameters: image; names to keep (null: all); names to leave out; {name: value to show instead}
-- Result:     the image; null for null
create or replace function rowrelay.trim_image(image json, keep text[], leave_out text[], masks json) returns json
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case
    when image is null or keep is null and cardinality(leave_out) = 0 and masks::text = '{}' then
      image
    else
      (select coalesce(json_object_agg(e.key, coalesce(masks -> e.key, e.value)), '{}')
         from json_each(image) as e
        where (keep is null or e.key = any (keep)) and e.key <> all (leave_out))
  end
$$;
-- Purpose:    returns a row image in which some columns are strings of their text, because JSON does not preserve their
--             values: JSON null, \u0000 or half of a surrogate pair in json, an array that does not begin at 1, a type
--             with a JSON form of its own
-- Parameters: image; {name: text or null}: a column whose text is not null is replaced by that string
-- Result:     the image
create or replace function rowrelay.exact_image(image json, texts json) returns json
language sql stable set search_path = pg_catalog, pg_temp as $$
  -- takes keys and values from the text unparsed, because \u0000 in it could not be read
  select json_object_agg(e.key, case when json_typeof(texts -> e.key) = 'string' then texts -> e.key else e.value end)
    from json_each(image) as e
$$;
-- Purpose:    returns the text of a document's key from a row image; the generated triggers compute the same text from
--             the row (rowrelay.document_key_expression)
-- Parameters: image; present and former name of the column; its base type
-- Result:     null when the image is null, or the column is null or missing in it
create or replace function rowrelay.document_key(image json, name text, former_name text, of_type oid) returns text
language sql stable as $$
  select case of_type
           when 'numeric'::regtype then trim_scale((k.text)::numeric)::text
           when 'bpchar'::regtype then rtrim(k.text, ' ')
           else k.text
         end
    from (select coalesce(image -> name, image -> former_name) #>> '{}' as text) as k
$$;
-- Purpose:    returns SQL for the text of a document's key, as rowrelay.document_key() reads it from an image
-- Parameters: relation; attribute number; name of the row, new or old
-- Result:     an expression of type text; null when the column is gone
create or replace function rowrelay.document_key_expression(relation regclass, number smallint, row_name text)
  returns text
language sql stable as $$
  select case rowrelay.base_type(a.atttypid)
           when 'numeric'::regtype then format('pg_catalog.trim_scale(%s.%I)::pg_catalog.text', row_name, a.attname)
           else rowrelay.safe_text(format('%s.%I', row_name, a.attname), a.atttypid)
         end
    from pg_attribute a
   where a.attrelid = relation and a.attnum = number and not a.attisdropped
$$;
-- Purpose:    returns the columns of a captured table that hold keys of documents
-- Parameters: capture id
-- Result:     attribute numbers, each once
create or replace function rowrelay.document_columns(capture_id integer) returns smallint[]
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select array(select distinct s.key_column
                   from rowrelay.document_source s
                   join rowrelay.target t on t.id = s.document
                  where s.capture = capture_id and s.key_column is not null and t.dropped_at is null
                  order by 1));
end
$$;
-- Purpose:    returns the line of a trigger function's text that says where its table's changes go. What captures
--             apart from this text reads it there (rowrelay.written_routes()) if it cannot read it in tables.
-- Parameters: capture id
-- Result:     a comment
create or replace function rowrelay.routes_line(capture_id integer) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select '-- goes to ' || jsonb_build_object(
             'targets', (select coalesce(jsonb_agg(jsonb_build_object('target', t.id, 'lanes', t.lanes)), '[]')
                           from rowrelay.route r join rowrelay.target t on t.id = r.target
                          where r.capture = capture_id and r.until_id is null and t.dropped_at is null),
             'sources', (select coalesce(jsonb_agg(jsonb_build_object(
                                  'document', s.document, 'lanes', t.lanes, 'position', s.position,
                                  'key_column', s.key_column, 'key_name', s.key_name)), '[]')
                           from rowrelay.document_source s join rowrelay.target t on t.id = s.document
                          where s.capture = capture_id and t.dropped_at is null))::text);
end
$$;
-- Purpose:    returns where changes of a captured table go, according to its trigger function, if this transaction sees
--             tables as they were when it began (REPEATABLE READ, SERIALIZABLE): it may not see routes that were made
--             since, and what it writes would be missing there. PostgreSQL looks up functions by the latest committed
--             catalogs. The line is the first that it finds, above all names of users.
-- Parameters: capture id
-- Result:     what rowrelay.routes_line() wrote; null: read the tables
create or replace function rowrelay.written_routes(capture_id integer) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('transaction_isolation') like 'read %' then
    return null;
  end if;
  return substring(pg_get_functiondef(to_regproc(format('rowrelay.capture_%s', capture_id)))
                   from '(?n)^-- goes to (\{.*\})$');
end
$$;
-- Purpose:    returns the targets that changes of a captured table go to now
-- Parameters: capture id
-- Result:     number of the target, its lanes
create or replace function rowrelay.present_routes(capture_id integer) returns table (target integer, lanes integer)
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
declare
  written constant jsonb := rowrelay.written_routes(capture_id);
begin
  if written is not null then
    return query
      select w.target, w.lanes from jsonb_to_recordset(written -> 'targets') as w(target integer, lanes integer);
    return;
  end if;
  return query
    select t.id, t.lanes::integer
      from rowrelay.route r join rowrelay.target t on t.id = r.target
     where r.capture = capture_id and r.until_id is null and t.dropped_at is null;
end
$$;
-- Purpose:    returns the documents that are built from a captured table now
-- Parameters: capture id
-- Result:     number of the document, its lanes; position of the table among its sources; number and last known name of
--             the column with the document's key (null: a query returns the keys)
create or replace function rowrelay.present_sources(capture_id integer)
  returns table (document integer, lanes integer, "position" integer, key_column smallint, key_name text)
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
declare
  written constant jsonb := rowrelay.written_routes(capture_id);
begin
  if written is not null then
    return query
      select w.* from jsonb_to_recordset(written -> 'sources')
        as w(document integer, lanes integer, "position" integer, key_column smallint, key_name text);
    return;
  end if;
  return query
    select s.document, t.lanes::integer, s.position::integer, s.key_column, s.key_name::text
      from rowrelay.document_source s join rowrelay.target t on t.id = s.document
     where s.capture = capture_id and t.dropped_at is null;
end
$$;
-- Purpose:    returns the lanes in which a change is queued for the documents that it affects, as the generated
--             triggers do inline
-- Parameters: capture; operation; hash of the change's key; its images, both null when the row could not be captured
-- Result:     lanes, each once
create or replace function rowrelay.document_lanes(capture_id integer, op "char", lane_hash integer, old_row json,
                                                   new_row json) returns setof integer
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return query
    select distinct rowrelay.lane_number(s.document, case
             -- when the first source, which has all keys, is truncated, all documents are deleted
             when op = 't' and s.position = 1 then -1
             when op = 't' or old_row is null and new_row is null then 0
             when s.key_column is null then mod(coalesce(lane_hash, 0) & 2147483647, s.lanes / 2)
             else mod(hashtext(k.key) & 2147483647, s.lanes / 2)
           end)
      from rowrelay.present_sources(capture_id) as s
      left join rowrelay.capture c on c.id = capture_id
      left join pg_attribute a on a.attrelid = c.relation and a.attnum = s.key_column and not a.attisdropped
      left join lateral (
        select rowrelay.document_key(i.image, a.attname, s.key_name, rowrelay.base_type(a.atttypid)) as key
          from (values (old_row), (new_row)) as i(image)
         where s.key_column is not null) as k on true
     where s.key_column is null or k.key is not null or op = 't' or old_row is null and new_row is null;
end
$$;
-- Purpose:    returns the statements of a trigger function that queue a change for the documents that it affects. A
--             document's keys choose its lanes, so a row that moves from one document to another is queued in the lanes
--             of both. Columns are compared as text, because IS DISTINCT FROM would look up "=" in the application's
--             search_path.
-- Parameters: capture; expression for the bytes of the change's images; whether the image before is kept anyway;
--             expression for what is kept of a row that moved
-- Result:     declarations; guarded: statements that compute the keys and may fail; queueing: statements after the
--             change is logged; all null when no document is built from this table
create or replace function rowrelay.document_statements(capture rowrelay.capture, size text, keeps_before boolean,
                                                        key_row text, out declarations text, out guarded text,
                                                        out queueing text)
language plpgsql stable as $$
declare
  source  record;
  changed text;
  moves   text;
begin
  for source in
    select s.*, row_number() over (order by s.document, s.position) as n, t.lanes / 2 as lanes,
           rowrelay.lane_number(s.document, 0) as first_lane,
           coalesce(capture.key_columns = array[s.key_column], false) as is_key,
           rowrelay.document_key_expression(capture.relation, s.key_column, 'new') as new_key,
           rowrelay.document_key_expression(capture.relation, s.key_column, 'old') as old_key
      from rowrelay.document_source s
      join rowrelay.target t on t.id = s.document
     where s.capture = capture.id and t.dropped_at is null
     order by s.document, s.position
  loop
    -- column dropped; view rowrelay.documents notes it
    continue when source.keys_query is null and source.new_key is null;
    select string_agg(format('pg_catalog.concat(new.%1$I is distinct from null, new.%1$I) operator(pg_catalog.<>) '
                             'pg_catalog.concat(old.%1$I is distinct from null, old.%1$I)', name), E'\n        or ')
      into changed
      from unnest(rowrelay.attribute_names(capture.relation, source.only_columns)) as name
     where name is not null;
    if source.only_columns is not null then
      declarations := concat_ws(E'\n', declarations, format('  touches_%s pg_catalog.bool := true;', source.n));
      guarded := concat_ws(E'\n', guarded,
                 '    if op operator(pg_catalog.=) ''u'' then',
        -- with another key it is another row, which may belong to other documents
        format(E'      touches_%s := %s%s;', source.n,
               case when cardinality(capture.key_columns) > 0 then E'rekeyed\n        or ' end,
                 coalesce(changed, 'false')),
                 '    end if;');
    end if;
    -- The table's own key does not change here: such an update is a delete and an insert.
    if source.keys_query is not null or source.is_key then
      queueing := concat_ws(E'\n', queueing,
        case when source.only_columns is not null then
          format('  if touches_%s then', source.n) end,
                 '    insert into rowrelay.queue (change_id, lane, day, bytes)',
        format('    values (id, pg_catalog.int4pl(%s, pg_catalog.mod(pg_catalog.int4and(%s, 2147483647), %s)), '
               'day, %s)',
               source.first_lane, case when source.is_key then 'pg_catalog.hashtext(key)' else 'hash' end,
                 source.lanes, size),
                 '    on conflict do nothing;',
        case when source.only_columns is not null then
                 '  end if;' end);
      continue;
    end if;
    declarations := concat_ws(E'\n', declarations,
      format('  document_%s pg_catalog.text;', source.n),
      format('  former_%s pg_catalog.text;', source.n));
    moves := format(
        'op operator(pg_catalog.=) ''u'' and pg_catalog.concat(former_%1$s is null, former_%1$s) '
        'operator(pg_catalog.<>) '
                    'pg_catalog.concat(document_%1$s is null, document_%1$s)', source.n);
    guarded := concat_ws(E'\n', guarded,
               '    if op operator(pg_catalog.<>) ''d'' then',
      format('      document_%s := %s;', source.n, source.new_key),
               '    end if;',
               '    if op operator(pg_catalog.<>) ''i'' then',
      format('      former_%s := %s;', source.n, source.old_key),
               '    end if;',
      case when not keeps_before or source.only_columns is not null then concat_ws(E'\n',
        format('    if %s then', moves),
        case when not keeps_before then
          format('      old_row := %s;', key_row) end,
        case when source.only_columns is not null then
          format('      touches_%s := true;', source.n) end,
               '    end if;') end);
    queueing := concat_ws(E'\n', queueing,
      format('  if op operator(pg_catalog.<>) ''d'' and document_%s is not null%s then', source.n,
             case when source.only_columns is not null then ' and touches_' || source.n end),
               '    insert into rowrelay.queue (change_id, lane, day, bytes)',
      format('    values (id, pg_catalog.int4pl(%s, '
             'pg_catalog.mod(pg_catalog.int4and(pg_catalog.hashtext(document_%s), 2147483647), %s)), day, %s)',
             source.first_lane, source.n, source.lanes, size),
               '    on conflict do nothing;',
               '  end if;',
      format('  if former_%s is not null and (op operator(pg_catalog.=) ''d'' or %s) then', source.n, moves),
               '    insert into rowrelay.queue (change_id, lane, day, bytes)',
      format('    values (id, pg_catalog.int4pl(%s, pg_catalog.mod(pg_catalog.int4and(pg_catalog.hashtext(former_%s), '
             '2147483647), %s)), day, %s)',
             source.first_lane, source.n, source.lanes, size),
               '    on conflict do nothing;',
               '  end if;');
  end loop;
end
$$;
-- Purpose:    whether to keep the image before an update: by option, because rows without a key are identified by all
--             of their values, or because a document's query may return other keys for the old row
-- Parameters: capture
create or replace function rowrelay.keeps_before(capture rowrelay.capture) returns boolean
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select capture.before = 'full' or cardinality(rowrelay.live_key(capture)) = 0
        or exists (select from rowrelay.document_source s join rowrelay.target t on t.id = s.document
                    where s.capture = capture.id and s.keys_query is not null and t.dropped_at is null));
end
$$;
-- Purpose:    returns SQL for columns of a row as JSON that preserves their values. Values that JSON does not preserve
--             become text, as in images: an array that does not begin at 1, a type with a JSON form of its own.
-- Parameters: relation; names of its columns; name of the row
-- Result:     an expression of type json; null when there are no names
create or replace function rowrelay.key_json(relation regclass, names text[], row_name text) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select format('pg_catalog.json_build_object(%s)', string_agg(
             format(case when w.name is null then '%1$L, %3$s'
                         else '%1$L, case when %2$s then pg_catalog.to_json(%4$s) '
                              'else pg_catalog.to_json(%3$s) end' end,
                    u.name, format(w.condition, v.value), rowrelay.safe_json(v.value, a.atttypid),
                    rowrelay.safe_text(v.value, a.atttypid)),
             ', ' order by u.position))
      from unnest(names) with ordinality as u(name, position)
      join pg_attribute a on a.attrelid = relation and a.attname = u.name and not a.attisdropped
      cross join lateral format('%I.%I', row_name, u.name) as v(value)
      left join rowrelay.awkward_columns(relation) w on w.name = u.name and not w.is_json
    having count(*) > 0);
end
$$;
-- Purpose:    returns SQL for what is kept of the old row when its image is not: its key, and the keys of documents
--             built from it
-- Parameters: capture
-- Result:     an expression of type json on the row "old"; 'null' when there is nothing to keep
create or replace function rowrelay.key_row(capture rowrelay.capture) returns text
language sql stable as $$
  select coalesce(rowrelay.key_json(capture.relation, array_agg(k.name order by k.position), 'old'), 'null')
    from (select u.name, min(u.position) as position
            from unnest(rowrelay.attribute_names(capture.relation, capture.key_columns)
                          || rowrelay.attribute_names(capture.relation, rowrelay.document_columns(capture.id)))
                   with ordinality as u(name, position)
           where u.name is not null
           group by u.name) as k
$$;
-- Purpose:    finds the waiting room for changes of a table that is being copied to a target as a whole: a set of lanes
--             from which nobody delivers, until it is known which of these changes the copy includes. A function that
--             exists only during the copy marks it, because PostgreSQL looks up functions by the latest committed
--             catalogs. A repeatable read transaction would see a row in a table as it was when it began.
-- Parameters: capture; target
-- Result:     what to add to the number of one of the target's lanes; 0: the table is not being copied
create or replace function rowrelay.waiting_room(capture integer, target integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  room integer := 0;
begin
  if to_regproc(format('rowrelay.copies_%s_%s', capture, target)) is not null then
    execute format('select rowrelay.%I()', format('copies_%s_%s', capture, target)) into room;
  end if;
  return room;
end
$$;
-- Purpose:    queues a change for every target that its table is routed to, and for the documents that it affects, as
--             the generated triggers do inline
-- Parameters: the change as it is in the log; hash that chooses the lane, null for a barrier
create or replace function rowrelay.enqueue(change rowrelay.change, lane_hash integer) returns void
language plpgsql as $$ -- rather than SQL, because its plans are kept
declare
  bytes constant integer := coalesce(pg_column_size(change.old_row), 0) + coalesce(pg_column_size(change.new_row), 0);
begin
  insert into rowrelay.queue (change_id, lane, day, bytes)
  select change.id,
         rowrelay.lane_number(r.target, coalesce(mod(lane_hash & 2147483647, r.lanes), -1))
           + rowrelay.waiting_room(change.capture, r.target),
         change.day, bytes
    from rowrelay.present_routes(change.capture) as r
   where change.op <> 'r';
  if change.op <> 'b' then
    insert into rowrelay.queue (change_id, lane, day, bytes)
    select change.id, lane, change.day, bytes
      from rowrelay.document_lanes(change.capture, change.op, lane_hash, change.old_row, change.new_row) as lane;
  end if;
  if change.id <= pg_sequence_last_value('rowrelay.doorbell'::regclass) then
    perform rowrelay.ring_doorbell();
  end if;
end
$$;
-- Purpose:    the size of images from which a change is logged in a guarded block, which costs a subtransaction:
--             PostgreSQL may refuse a row of that size, or lack the memory for it
-- Result:     bytes
create or replace function rowrelay.large_image() returns integer
language sql immutable as $$ select 52428800 $$;
-- Purpose:    logs and queues one change; rowrelay.add_change() handles those that are too large
-- Parameters: as the columns of rowrelay.change; hash that chooses the lane, null for a barrier; problem: for the
--             caveat
-- Result:     its id
create or replace function rowrelay.insert_change(capture_id integer, op "char", key text, lane_hash integer,
                                                  old_row json,
                                               new_row json, problem text default null, caveat json default null)
                                                 returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  added rowrelay.change;
begin
  insert into rowrelay.change as c (txid, captured_at, day, capture, op, key, actor, db_user,
                                    application_name, client_addr, old_row, new_row, caveat)
  values (pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), capture_id, insert_change.op,
          insert_change.key,
          rowrelay.actor(), rowrelay.db_user(),
          current_setting('application_name'), rowrelay.client_addr(), insert_change.old_row, insert_change.new_row,
          case when problem is not null then json_build_object('problem', problem) else insert_change.caveat end)
  returning c.* into added;
  if insert_change.op = 't' then
    insert into rowrelay.truncation (capture, change_id, day, txid, captured_at, condition, is_known)
    values (capture_id, added.id, added.day, added.txid, added.captured_at, insert_change.new_row ->> 'where',
            problem is null);
  end if;
  perform rowrelay.enqueue(added, lane_hash);
  return added.id;
end
$$;
-- Purpose:    logs and queues one change. PostgreSQL refuses a row of more than a gigabyte, and may lack the memory for
--             less, although the writer's own statement succeeded: then the change is logged without images, and says
--             why.
-- Parameters: as the columns of rowrelay.change; hash that chooses the lane, null for a barrier; problem: for the
--             caveat
-- Result:     its id
create or replace function rowrelay.add_change(capture_id integer, op "char", key text, lane_hash integer, old_row json,
                                               new_row json, problem text default null, caveat json default null)
                                                 returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if coalesce(pg_column_size(old_row), 0) + coalesce(pg_column_size(new_row), 0) > rowrelay.large_image() then
    begin
      return rowrelay.insert_change(capture_id, op, key, lane_hash, old_row, new_row, problem, caveat);
    exception when program_limit_exceeded or out_of_memory or internal_error or data_exception then
      old_row := null;
      new_row := null;
      problem := sqlerrm;
    end;
  end if;
  return rowrelay.insert_change(capture_id, op, key, lane_hash, old_row, new_row, problem, caveat);
end
$$;
-- Purpose:    writes a change with large images to the log. PostgreSQL refuses a row of more than a gigabyte, and may
--             lack the memory for less, although the writer's own statement succeeded: then the change is logged
--             without images, and says why. That takes a subtransaction, which other changes avoid.
-- Parameters: as for rowrelay.log_change()
-- Result:     bytes of the images in the log
create or replace function rowrelay.log_large_images(capture integer, op "char", key text, actor text, db_user text,
                                                     old_row json,
                                                     new_row json, caveat json, bytes integer) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into rowrelay.change (txid, captured_at, day, capture, op, key, actor, db_user,
                               application_name, client_addr, old_row, new_row, caveat)
  values (pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), capture, op, key, actor, db_user,
          current_setting('application_name'), rowrelay.client_addr(), old_row, new_row, caveat);
  return bytes;
exception when program_limit_exceeded or out_of_memory or internal_error then
  insert into rowrelay.change (txid, captured_at, day, capture, op, key, actor, db_user,
                               application_name, client_addr, caveat)
  values (pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), capture, op, key, actor, db_user,
          current_setting('application_name'), rowrelay.client_addr(), json_build_object('problem', sqlerrm));
  return 0;
end
$$;
-- Purpose:    writes a change to the log and the queue, and wakes sleeping processes: the last step of every generated
--             trigger function. It is one function for all tables, because a session caches the plans of each function,
--             some kilobytes for each statement. Nothing in it depends on the session's search_path.
-- Parameters: as the columns of rowrelay.change; lanes: where it is queued; bytes: size of its images
-- Result:     true
create or replace function rowrelay.log_change(capture integer, op "char", key text, actor text, db_user text,
                                               old_row json,
                                               new_row json, caveat json, lanes integer[], bytes integer)
                                                 returns boolean
language plpgsql as $$
declare
  id  pg_catalog.int8;
  day pg_catalog.date := rowrelay.partition_day();
begin
  -- an INSERT prepares its expressions for every row, an assignment once per transaction
  db_user := coalesce(db_user, session_user);
  if bytes operator(pg_catalog.>) 52428800 then -- rowrelay.large_image()
    bytes := rowrelay.log_large_images(capture, op, key, actor, db_user, old_row, new_row, caveat, bytes);
  else
    insert into rowrelay.change (txid, captured_at, day, capture, op, key, actor, db_user,
                                 application_name, client_addr, old_row, new_row, caveat)
    values (pg_catalog.pg_current_xact_id(), pg_catalog.clock_timestamp(), day, capture, op, key, actor, db_user,
            pg_catalog.current_setting('application_name'), rowrelay.client_addr(), old_row, new_row, caveat);
  end if;
  id := pg_catalog.currval('rowrelay.change_id'::pg_catalog.regclass);
  if lanes is null then
    return true;
  end if;
  insert into rowrelay.queue (change_id, lane, day, bytes) values (id, lanes[1], day, bytes);
  for other in 2 .. pg_catalog.cardinality(lanes) loop
    insert into rowrelay.queue (change_id, lane, day, bytes) values (id, lanes[other], day, bytes);
  end loop;
  if id operator(pg_catalog.<=) pg_catalog.pg_sequence_last_value('rowrelay.doorbell'::pg_catalog.regclass) then
    perform rowrelay.ring_doorbell();
  end if;
  return true;
end
$$;
-- Purpose:    whether not to capture what this transaction writes: it has set rowrelay.skip, or is rowrelay's own
-- Parameters: capture_origin: whether to capture rowrelay's own writes
create or replace function rowrelay.is_left_out(capture_origin boolean) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- as PostgreSQL reads a boolean, but without an error
  return coalesce(lower(current_setting('rowrelay.skip', true)) = any ('{1,on,t,tr,tru,true,y,ye,yes}')
                  or not capture_origin and current_setting('rowrelay.origin', true) <> '', false);
end
$$;
-- Purpose:    whether a key that a table's trigger is told was deleted may exist again: this transaction has inserted
--             into the table or updated a key there, or PostgreSQL does not count that
-- Parameters: the table with the row
create or replace function rowrelay.may_be_back(relation oid) returns boolean
language plpgsql as $$
begin
  return pg_catalog.pg_stat_get_xact_tuples_inserted(relation) operator(pg_catalog.>) 0
      or pg_catalog.pg_stat_get_xact_tuples_updated(relation) operator(pg_catalog.>) 0
      or pg_catalog.current_setting('track_counts') operator(pg_catalog.<>) 'on';
end
$$;
-- Purpose:    whether a trigger function may look into its table by its name and sees all rows there: another table may
--             have the name by now, or policies may hide rows
-- Parameters: the table with the row: the captured one, or a partition; the captured table; its name
create or replace function rowrelay.may_look(of_row oid, relation oid, name text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return to_regclass(name)::oid is not distinct from relation
     and not row_security_active(of_row) and not row_security_active(relation);
end
$$;
-- Purpose:    the whole of what a trigger function does with an ordinary row, once its key and images are made: writes
--             it to the log and the queue, with who did it, and wakes sleeping processes. It does what
--             rowrelay.log_change() and the head of rowrelay.trigger_body() do, for all tables with the same plans: a
--             session keeps some kilobytes for each statement of each function.
-- Parameters: capture; operation: TG_OP; key; hash that chooses the lane; images; whether the
--             image before is kept; lanes: of each target the number of its first lane, and how many it has;
--             the time zone to restore, null: none
-- Result:     true
create or replace function rowrelay.log_row(capture integer, operation text, key text,
                                            hash integer, old_row json, new_row json, keeps_before boolean,
                                            lanes integer[], former_timezone text) returns boolean
language plpgsql as $$
declare
  id      pg_catalog.int8;
  day     pg_catalog.date;
  actor   pg_catalog.text;
  -- an INSERT prepares its expressions for every row, an assignment once per transaction
  db_user pg_catalog.text := session_user;
  bytes   pg_catalog.int4 := coalesce(pg_catalog.pg_column_size(new_row), 0);
begin
  if former_timezone is not null then
    former_timezone := pg_catalog.set_config('timezone', former_timezone, true);
  end if;
  if pg_catalog.concat(pg_catalog.current_setting('rowrelay.actor', true), pg_catalog.current_setting('role'))
       operator(pg_catalog.<>) 'none'
  then
    actor := rowrelay.actor();
    db_user := rowrelay.db_user();
  end if;
  if keeps_before then
    bytes := pg_catalog.int4pl(bytes, coalesce(pg_catalog.pg_column_size(old_row), 0));
  end if;
  day := rowrelay.partition_day();
  insert into rowrelay.change (txid, captured_at, day, capture, op, key, actor, db_user, application_name, client_addr,
                               old_row, new_row)
  values (pg_catalog.pg_current_xact_id(), pg_catalog.clock_timestamp(), day, capture,
          pg_catalog.lower(pg_catalog.left(operation, 1))::pg_catalog."char", key, actor, db_user,
          pg_catalog.current_setting('application_name'), rowrelay.client_addr(), old_row, new_row);
  if lanes operator(pg_catalog.=) '{}' then
    return true;
  end if;
  hash := pg_catalog.int4and(hash, 2147483647);
  id := pg_catalog.currval('rowrelay.change_id'::pg_catalog.regclass);
  insert into rowrelay.queue (change_id, lane, day, bytes)
  values (id, pg_catalog.int4pl(lanes[1], pg_catalog.mod(hash, lanes[2])), day, bytes);
  for place in 3 .. pg_catalog.cardinality(lanes) by 2 loop
    insert into rowrelay.queue (change_id, lane, day, bytes)
    values (id, pg_catalog.int4pl(lanes[place], pg_catalog.mod(hash, lanes[pg_catalog.int4pl(place, 1)])), day, bytes);
  end loop;
  if id operator(pg_catalog.<=) pg_catalog.pg_sequence_last_value('rowrelay.doorbell'::pg_catalog.regclass) then
    perform rowrelay.ring_doorbell();
  end if;
  return true;
end
$$;
-- Purpose:    sets the session's time zone to UTC, in which images are written, for the rest of a trigger function
-- Result:     the former time zone; the caller has to restore it (rowrelay.restore_timezone)
create or replace function rowrelay.change_timezone() returns text
language plpgsql as $$
declare
  former constant pg_catalog.text := pg_catalog.current_setting('timezone');
  pinned pg_catalog.text;
begin
  pinned := pg_catalog.set_config('timezone', 'UTC', true);
  return former;
end
$$;
-- Purpose:    undoes rowrelay.change_timezone()
-- Parameters: former: its result, null when the time zone was not changed
-- Result:     false
create or replace function rowrelay.restore_timezone(former text) returns boolean
language plpgsql as $$
declare
  pinned pg_catalog.text;
begin
  if former is not null then
    pinned := pg_catalog.set_config('timezone', former, true);
  end if;
  return false;
end
$$;
-- Purpose:    raises an error in the guarded part of a trigger function, so that the slow path captures the change
-- Result:     none
-- Errors:     always
create or replace function rowrelay.raise_altered() returns integer
language plpgsql as $$
begin
  raise exception 'the table was altered';
end
$$;
-- Purpose:    returns SQL that gives key texts and lane hashes of two row images, as the generated triggers compute them
--             from the rows: old_key, old_hash, new_key, new_hash; a key is null when there is no image, the table has
--             none, or a key column was dropped
-- Parameters: capture; SQL of the untrimmed row images before and after, which are json, null where there is none
create or replace function rowrelay.key_and_hash_query(capture rowrelay.capture, before_image text, after_image text)
returns text
language plpgsql stable as $$
declare
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  definitions  text;
begin
  select string_agg(format('%I %s', a.attname, rowrelay.plain_type(a.atttypid, a.attcollation)), ', ') into definitions
    from pg_attribute a
   where a.attrelid = capture.relation and not a.attisdropped and a.attnum = any (key_columns || lane_columns);
  if definitions is null then
    return format('select null::text as old_key, hash as old_hash, null::text as new_key, hash as new_hash '
                  'from hashint4(%s) as hash', capture.id);
  end if;
  -- a row of nulls for a missing image
  return format(
    'select case when %1$s is not null then %2$s end as old_key, %3$s as old_hash, '
           'case when %4$s is not null then %5$s end as new_key, %6$s as new_hash '
      'from json_to_record(coalesce(%1$s, ''{}'')) as old(%7$s), json_to_record(coalesce(%4$s, ''{}'')) as new(%7$s)',
    before_image, rowrelay.key_expression(capture.relation, key_columns, 'old'),
    rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'old'),
    after_image, rowrelay.key_expression(capture.relation, key_columns, 'new'),
    rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'new'), definitions);
end
$$;
-- Purpose:    returns key texts and lane hashes of two row images, as the generated triggers compute them from the rows
-- Parameters: capture; untrimmed row images before and after, null where there is none
-- Result:     old and new key: null when the table has none, or a key column was dropped; old and new hash
create or replace function rowrelay.key_and_hash(capture rowrelay.capture, before_image json, after_image json,
                                                 out old_key text, out old_hash integer, out new_key text,
                                                   out new_hash integer)
language plpgsql as $$
begin
  execute rowrelay.key_and_hash_query(capture, '$1', '$2')
     into old_key, old_hash, new_key, new_hash using before_image, after_image;
end
$$;
-- Purpose:    returns the tables whose rows a capture covers: the table, its partitions or inheritance children, and
--             theirs
-- Parameters: capture
-- Result:     tables, parents first, so that locks are taken in the order in which writers take them
create or replace function rowrelay.captured_tables(capture rowrelay.capture) returns regclass[]
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  -- Most tables stand alone. This runs for each of thousands, so it must not scan a catalog: it looks up relkind for
  -- each table, where a join would read all of pg_class.
  if not exists (select from pg_class c where c.oid = capture.relation and c.relhassubclass) then
    return array(select c.oid::regclass from pg_class c where c.oid = capture.relation and c.relkind in ('r', 'p'));
  end if;
  return (
    with recursive member(relation, depth) as (
      select c.oid, 0 from pg_class c where c.oid = capture.relation
      union all
      select i.inhrelid, m.depth + 1 from member m join pg_inherits i on i.inhparent = m.relation
    )
    select array(select m.relation::regclass
                   from member m
                  -- a join could find two versions of a table's row, if it was altered and truncated concurrently
                  where exists (select from pg_class c where c.oid = m.relation and c.relkind in ('r', 'p'))
                  group by m.relation order by min(m.depth), m.relation));
end
$$;
-- Purpose:    returns the name of the function that a capture's statement triggers run
-- Parameters: capture id
create or replace function rowrelay.statement_name(capture_id integer) returns text
language sql immutable as $$ select 'capture_' || capture_id || '_statement' $$;
-- Purpose:    trigger function of a trigger that is never enabled: PostgreSQL refuses to make a table with a row
--             trigger that has a transition table a partition or an inheritance child, and says why. The statement
--             triggers of such a table would not be fired by all writes to it.
-- Parameters: TG_ARGV[0]: capture id
create or replace function rowrelay.stand_alone() returns trigger
language plpgsql as $$
begin
  return null;
end
$$;
-- Purpose:    lists the triggers of a capture on some tables
-- Parameters: capture; tables, null: any table, which reads all triggers of the database
-- Result:     table; trigger's name; its state, as in pg_trigger; whether it is a partition's copy, which is dropped
--             with its parent's
create or replace function rowrelay.triggers_on(capture rowrelay.capture, tables regclass[], out relation regclass,
                                                out name text,
                                                out state "char", out is_copy boolean) returns setof record
language plpgsql stable as $$ -- rather than SQL, so that the functions' oids are looked up once
declare
  row_function      constant oid := to_regprocedure(format('rowrelay.%I()', 'capture_' || capture.id));
  truncate_function constant oid := to_regprocedure('rowrelay.capture_truncate()');
  truncate_argument constant bytea := convert_to(capture.id::text, 'UTF8') || E'\\x00'::bytea;
  -- of a table that is captured by statement
  statement_function constant oid := to_regprocedure(format('rowrelay.%I()', rowrelay.statement_name(capture.id)));
  alone_function    constant oid := to_regprocedure('rowrelay.stand_alone()');
  found             oid[];
begin
  if tables is null then
    found := array(select t.oid from pg_trigger t
                    where t.tgfoid in (row_function, statement_function)
                       or t.tgfoid in (truncate_function, alone_function) and t.tgargs = truncate_argument);
  else
    -- one table at a time, or the planner reads all triggers when there are a few tables
    found := array(select t.oid
                     from unnest(tables) as m(relation)
                    cross join lateral (
                      select t.oid from pg_trigger t
                       where t.tgrelid = m.relation
                         and (t.tgfoid in (row_function, statement_function)
                              or t.tgfoid in (truncate_function, alone_function) and t.tgargs = truncate_argument)
                      offset 0) as t);
  end if;
  return query
    select t.tgrelid::regclass, t.tgname::text, t.tgenabled,
           exists (select from pg_depend d
                    where d.classid = 'pg_trigger'::regclass and d.objid = t.oid
                      and d.refclassid = 'pg_trigger'::regclass)
      from unnest(found) as f(oid)
     cross join lateral (select * from pg_trigger t where t.oid = f.oid offset 0) as t;
end
$$;
-- Purpose:    lists rowrelay's triggers on the tables of a capture that do not belong to it, left by another capture of
--             which the table was once a partition. Triggers of the application with such names do not count.
-- Parameters: capture; its tables
-- Result:     table; trigger's name
create or replace function rowrelay.other_triggers(capture rowrelay.capture, tables regclass[], out relation regclass,
                                                   out name text)
returns setof record language sql stable as $$
  select t.tgrelid::regclass, t.tgname::text
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid and p.pronamespace = 'rowrelay'::regnamespace
   where t.tgrelid = any (tables) and t.tgname like '!rowrelay%'
     and not exists (select from rowrelay.triggers_on(capture, tables) o where o.relation = t.tgrelid
                     and o.name = t.tgname)
$$;
-- Purpose:    lists the triggers of a capture on any table: a detached partition still has the one for TRUNCATE
-- Parameters: capture
-- Result:     table; trigger's name; whether it is enabled always; whether it is a partition's copy, which is dropped
--             with its parent's
create or replace function rowrelay.own_triggers(capture rowrelay.capture, out relation regclass, out name text,
                                                 out is_always boolean, out is_copy boolean) returns setof record
language sql stable as $$
  select o.relation, o.name, o.state = 'A', o.is_copy from rowrelay.triggers_on(capture, null) as o
$$;
-- Purpose:    returns SQL that PostgreSQL only accepts where the rows of a table are of the same type as one that a
--             trigger was given, or that one's partition or child: a trigger function runs with the rights of the
--             schema's owner, and what it finds under a table's name could be somebody's view by then. Types are
--             compared when the statement is parsed, before a view's functions could run.
-- Parameters: names of the row that is read, and of the one that was given
-- Result:     a condition that is always true; it costs nothing
create or replace function rowrelay.same_row_type(row_read text, row_given text) returns text
language sql immutable as $$
  select format('case when true then true else coalesce(%s, %s) is null end', row_read, row_given)
$$;
-- Purpose:    whether the row version that a trigger gets no longer exists: another trigger, fired by an earlier row of
--             the same statement, has changed or deleted the row since, and that was captured already. This change is
--             older than what the log has.
-- Parameters: the table with the row; ctid of the version; the row, by which the table is known
--             (rowrelay.same_row_type)
-- Result:     false also when this is unknown
create or replace function rowrelay.is_superseded(relation oid, version tid, given record default null) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_there boolean;
begin
  if row_security_active(relation) then
    return false;
  end if;
  execute format('select exists (select from only %s as t where t.ctid = $1%s)', relation::regclass,
                 case when pg_column_size(given) is not null then ' and ' || rowrelay.same_row_type('t.*', '$2') end)
     into is_there using version, given;
  return not is_there;
exception when others then
  return false;
end
$$;
-- Purpose:    describes the composite types in a table's columns: images split such values (rowrelay.safe_json), so a
--             trigger function has to be replaced when one of them is altered
-- Parameters: relation
-- Result:     '' for most tables
create or replace function rowrelay.part_state(relation regclass) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  if not exists (select from pg_attribute a where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
                 and a.atttypid >= 16384) then
    return '';
  end if;
  return (
    with recursive part(relation) as (
      select part_state.relation::oid
      union
      select t.typrelid
        from part p
        join pg_attribute a on a.attrelid = p.relation and a.attnum > 0 and not a.attisdropped
       cross join lateral (select rowrelay.base_type(a.atttypid) as type offset 0) as b
        left join pg_type e on e.typarray = b.type
        join pg_type t on t.oid = rowrelay.base_type(coalesce(e.oid, b.type))
       where t.typtype = 'c' and t.oid >= 16384
    )
    select coalesce(string_agg(format('%s %s %s', a.attrelid, a.attname, a.atttypid), ',' order by a.attrelid,
                               a.attnum), '')
      from part p join pg_attribute a on a.attrelid = p.relation and a.attnum > 0 and not a.attisdropped
     where p.relation <> part_state.relation);
end
$$;
-- Purpose:    returns SQL that compares the keys of two rows by each type's own equality operator, which need not be in
--             search_path: two spellings in citext are one key
-- Parameters: capture; names of the two rows
-- Result:     a condition
create or replace function rowrelay.same_key(capture rowrelay.capture, one text, other text) returns text
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  return (
    select string_agg(format('%s operator(%s) %s', rowrelay.plain_value(one, a.attname, a.atttypid),
                             coalesce(e.operator, 'pg_catalog.='), rowrelay.plain_value(other, a.attname, a.atttypid)),
                      ' and ' order by u.position)
      from unnest(capture.key_columns) with ordinality as u(number, position)
      join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.number and not a.attisdropped
      cross join lateral (select rowrelay.base_type(a.atttypid) as type offset 0) as b -- once, not for each class
      left join lateral (
        select format('%I.%s', n.nspname, o.oprname) as operator
          from pg_opclass c
          join pg_am m on m.oid = c.opcmethod and m.amname = 'btree'
          join pg_amop p on p.amopfamily = c.opcfamily and p.amoplefttype = c.opcintype
            and p.amoprighttype = c.opcintype
                        and p.amopstrategy = 3
          join pg_operator o on o.oid = p.amopopr
          join pg_namespace n on n.oid = o.oprnamespace
         where c.opcdefault and c.opcintype = b.type) as e on true);
end
$$;
-- Purpose:    returns SQL that splits keys as the log has them into the columns of the key
-- Parameters: capture; keys: SQL for an array of texts
-- Result:     items for a FROM clause: u.key is the text, wanted.* are the columns, with base types in place of domains
create or replace function rowrelay.parsed_keys(capture rowrelay.capture, keys text) returns text
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  return (
    select format(case when cardinality(capture.key_columns) = 1
                       then 'unnest(%1$s) as u(key) cross join lateral (select u.key::%2$s as %3$I) as wanted'
                       -- a key of several columns is a JSON array; an array or a row in it is JSON too
                       else 'unnest(%1$s) as u(key) '
                            'cross join lateral json_to_record(json_build_object(%4$s)) as part(%5$s) '
                            'cross join lateral (select %6$s) as wanted' end,
                  keys, min(k.type), min(k.name),
                  string_agg(format('%L, u.key::json -> %s', k.name, k.position - 1), ', '),
                  string_agg(format('%I %s', k.name, k.type), ', ' order by k.position),
                  -- no key column is null, so a null there is the JSON value null
                  string_agg(format(case
                                    when k.type = 'pg_catalog.jsonb'
                                      then '(u.key::json -> %1$s)::text::pg_catalog.jsonb as %2$I'
                                         else 'part.%2$I' end, k.position - 1, k.name), ', ' order by k.position))
      from (select a.attname::text as name, u.position, rowrelay.plain_type(a.atttypid, a.attcollation) as type
              from unnest(capture.key_columns) with ordinality as u(number, position)
              join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.number and not a.attisdropped) as k
    having count(*) > 0);
end
$$;
-- Purpose:    whether reading a key from its text would call a cast of its type's owner, with the rights of who reads.
--             A function in C can only be a superuser's. A key of several columns is read from JSON, without casts.
-- Parameters: relation; attribute numbers
create or replace function rowrelay.has_text_cast(relation regclass, numbers smallint[]) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (select from pg_attribute a
                   join pg_cast c on c.castsource = 'text'::regtype and c.casttarget = rowrelay.plain_oid(a.atttypid)
                   join pg_proc p on p.oid = c.castfunc
                   join pg_language l on l.oid = p.prolang and l.lanname not in ('internal', 'c')
                  where a.attrelid = relation and a.attnum = any (numbers) and not a.attisdropped
                    and cardinality(numbers) = 1)
$$;
-- Purpose:    returns SQL that hashes keys of a capture as the log has them, so that keys that are equal by their
--             types' operators have equal hashes
-- Parameters: capture
-- Result:     a SELECT of the hashes, never 0, of the keys in $1, an array, in its order; null: there is none, because
--             the table is gone, its key was altered, or reading the key would run code of the table's owner: CHECKs of
--             domains in it, or a cast from text
create or replace function rowrelay.hash_statement(capture rowrelay.capture) returns text
language sql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off as $$
  select format('select array_agg(coalesce(nullif(%s, 0), 1)::bigint order by g.n) '
                'from unnest($1) with ordinality as g(key, n) '
                'cross join lateral (select wanted.* from %s) as wanted',
                rowrelay.hash_expression(capture.id, capture.relation, capture.key_columns, 'wanted'), p.keys)
    from rowrelay.parsed_keys(capture, 'array[g.key]') as p(keys)
   where p.keys is not null and not rowrelay.has_domain_parts(capture.relation, capture.key_columns)
     and not rowrelay.has_text_cast(capture.relation, capture.key_columns)
$$;
-- Purpose:    identifies how rowrelay.row_hashes() hashes the keys of a capture on this server: another type of the
--             key, another version of a collation, or another major version of PostgreSQL may give other hashes
-- Parameters: capture
-- Result:     a digest; null: the keys cannot be hashed
create or replace function rowrelay.hash_method(capture rowrelay.capture) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select encode(sha256(convert_to(concat_ws(' ', current_setting('server_version_num')::integer / 10000,
                       -- that of the database, by which citext lowers the case; then those that types may hash by
                       (select string_agg(format('%s:%s', c.oid, pg_collation_actual_version(c.oid)), ' '
                                          order by c.oid)
                          from pg_collation c where c.oid = 'pg_catalog."default"'::regcollation
                                                 or not c.collisdeterministic),
                       s.statement), getdatabaseencoding())), 'hex')
    from rowrelay.hash_statement(capture) as s(statement) where s.statement is not null
$$;
-- Purpose:    whether no two rows of a capture can have the same key, not even within a statement
-- Parameters: capture
-- Result:     false also when there is no key, or no longer, and for a table with inheritance children, which an index
--             does not cover
create or replace function rowrelay.key_is_unique(capture rowrelay.capture) returns boolean
language sql stable as $$
  select exists (
           select from pg_index i
            where i.indrelid = capture.relation and i.indisunique and i.indisvalid and i.indimmediate
              and i.indpred is null and i.indexprs is null
              and (i.indkey::smallint[])[0:i.indnkeyatts - 1] <@ rowrelay.live_key(capture))
     and not rowrelay.has_children(capture.relation)
$$;
-- Purpose:    whether the caller's transaction sees a captured row with a key
-- Parameters: capture id; key as the log has it
-- Result:     false also when this is unknown
create or replace function rowrelay.is_present(capture_id integer, key text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp set datestyle = 'ISO, MDY' set timezone = 'UTC'
set intervalstyle = 'postgres' set bytea_output = 'hex' set extra_float_digits = 1 set lc_monetary = 'C'
set quote_all_identifiers = off as $$
declare
  capture  rowrelay.capture;
  is_there boolean;
begin
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  if row_security_active(capture.relation) then
    return false;
  end if;
  execute format('select exists (select from %s as new, %s where %s)', capture.relation,
                 rowrelay.parsed_keys(capture, 'array[$1]'),
                 concat_ws(' and ', rowrelay.same_key(capture, 'new', 'wanted'), rowrelay.filter_condition(capture)))
     into is_there using key;
  return is_there;
exception when others then
  return false;
end
$$;
-- Purpose:    counts the captured rows that have a key now, up to two
-- Parameters: capture id; key as the log has it
-- Result:     null: unknown
create or replace function rowrelay.rows_with_key(capture_id integer, key text) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp set datestyle = 'ISO, MDY' set timezone = 'UTC'
set intervalstyle = 'postgres' set bytea_output = 'hex' set extra_float_digits = 1 set lc_monetary = 'C'
set quote_all_identifiers = off as $$
declare
  capture rowrelay.capture;
  n       bigint;
begin
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  if row_security_active(capture.relation) then
    return null;
  end if;
  execute format('select count(*) from (select from %s as new, %s where %s limit 2) as u', capture.relation,
                 rowrelay.parsed_keys(capture, 'array[$1]'),
                 concat_ws(' and ', rowrelay.same_key(capture, 'new', 'wanted'), rowrelay.filter_condition(capture)))
     into n using key;
  return n;
exception when others then
  return null;
end
$$;
-- Purpose:    why a change cannot be captured whose row shares its key with another one
create or replace function rowrelay.shared_key() returns text
language sql immutable as $$
  select 'another row of the table, or of its inheritance children, has the same key'::pg_catalog.text
$$;
-- Purpose:    whether a target may lack a row after it got a change of its key, because rows of a table and of its
--             inheritance children share the key, or shared it: what was refused of that key stays listed until the
--             target has what is in the table. A change says nothing of the other rows.
-- Parameters: capture; key as the log has it; the delivered change
-- Result:     false at once for a table without inheritance children
create or replace function rowrelay.is_undecided(capture_id integer, key text, change_id bigint) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  n          bigint;
  is_deleted boolean;
begin
  if not exists (select from rowrelay.capture c where c.id = capture_id and rowrelay.has_children(c.relation)) then
    return false;
  end if;
  n := rowrelay.rows_with_key(capture_id, key);
  select h.op = 'd' into is_deleted from rowrelay.change h where h.id = change_id;
  return n is null or n > 1 or (n = 1) is not distinct from is_deleted;
end
$$;
-- Purpose:    records which change removed a row version that this transaction had made itself, in a table without a
--             key. The change that made the version may be captured later: then the two cancel each other, and
--             rowrelay.take_follower() removes them.
-- Parameters: table and ctid of the version; the change that removed it, and its partition
create or replace function rowrelay.note_follower(relation oid, version tid, change_id bigint, day date) returns void
language plpgsql as $$
begin
  insert into rowrelay.follower as f (txid, relation, version, change_id, day)
  values (pg_catalog.pg_current_xact_id(), note_follower.relation, note_follower.version, note_follower.change_id,
          note_follower.day)
  on conflict on constraint follower_pkey do update set change_id = excluded.change_id, day = excluded.day;
end
$$;
-- Purpose:    removes the change that removed a row version of a table without a key from the log, because the change
--             that made the version is captured only now, and is not logged either. Nobody has seen the removed change:
--             it is this transaction's own.
-- Parameters: table and ctid of the version
-- Result:     false: the log has no such change, because it will be captured later
create or replace function rowrelay.take_follower(relation oid, version tid) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  gone rowrelay.follower;
begin
  delete from rowrelay.follower f
   where f.txid = pg_current_xact_id() and f.relation = take_follower.relation and f.version = take_follower.version
  returning f.* into gone;
  if not found then
    return false;
  end if;
  update rowrelay.change c set op = 'i', old_row = null
   where c.id = gone.change_id and c.day = gone.day and c.txid = gone.txid and c.op = 'u';
  if not found then
    delete from rowrelay.queue q
     using rowrelay.change c,
           lateral (select t.id as target, t.lanes, rowrelay.waiting_room(r.capture, r.target) as room
                      from rowrelay.route r join rowrelay.target t on t.id = r.target where r.capture = c.capture
                     union
                    select r.target, r.lanes, rowrelay.waiting_room(c.capture, r.target)
                      from rowrelay.present_routes(c.capture) as r
                     union
                    select s.document, s.lanes, 0 from rowrelay.present_sources(c.capture) as s) as way
     where c.id = gone.change_id and c.day = gone.day
       and q.change_id = c.id
       and q.lane between rowrelay.lane_number(way.target, -1) + way.room
                      and rowrelay.lane_number(way.target, way.lanes) + way.room;
    delete from rowrelay.change c where c.id = gone.change_id and c.day = gone.day and c.txid = gone.txid;
  end if;
  return true;
end
$$;
-- Purpose:    returns digests of what generated trigger functions depend on, which show that a function is out of date.
--             For many captures at once, because one by one thousands would take seconds. (A server in FIPS mode has no
--             md5.)
-- Parameters: ids of captures
-- Result:     capture; digest of its table's number (which a restored table has not kept), its columns and the row
--             types in them, whether its key is unique, whether it has inheritance children, the owner if it is
--             partitioned, whether functions are made in language rowrelay, whether it is captured by
--             statement, and the version of
--             rowrelay.trigger_function(). No row for a capture whose table is gone.
create or replace function rowrelay.column_states(captures integer[]) returns table (capture integer, state text)
-- resets the planner settings of processes, which suit only the queue
language plpgsql stable set plan_cache_mode = auto set enable_seqscan = on set enable_bitmapscan = on
  set enable_hashjoin = on
set enable_mergejoin = on set jit = off as $$
begin
  return query
    with described as (
      select c.id, string_agg(format('%s %s %s %s %s %s', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation,
                                          a.attnotnull), ',' order by a.attnum) as columns,
             bool_or(a.atttypid >= 16384) as has_own_types
        from rowrelay.capture c
        join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
       where c.id = any (captures)
       group by c.id
    )
    select c.id,
           encode(sha256(convert_to(
             d.columns || format(' 2 %s %s ', c.relation::oid, rowrelay.key_is_unique(c))
               || case when n.is_native then 'native' else '' end
               || case when c.per = 'statement' then 'per statement ' || rowrelay.is_by_statement(c) else '' end
               || case when d.has_own_types then rowrelay.part_state(c.relation) else '' end
               || exists (select from pg_inherits i where i.inhparent = c.relation)
               || coalesce((select r.relowner::text from pg_class r where r.oid = c.relation and r.relkind = 'p'), ''),
             getdatabaseencoding())), 'hex')
      from described d
      join rowrelay.capture c on c.id = d.id
     cross join (select rowrelay.has_native() as is_native) as n;
end
$$;
-- Purpose:    returns a digest of what a generated trigger function depends on; see rowrelay.column_states()
-- Parameters: capture
-- Result:     null when the table is gone
create or replace function rowrelay.column_state(capture rowrelay.capture) returns text
language sql stable as $$
  select s.state from rowrelay.column_states(array[capture.id]) as s
$$;
-- Purpose:    describes what decides the lane of a row: the columns and their types, whose hash functions differ
-- Parameters: capture
-- Result:     a text that changes when rows may change lanes; renames do not count
create or replace function rowrelay.lane_state(capture rowrelay.capture) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select coalesce(string_agg(format('%s %s %s%s', u.n, a.atttypid, a.attcollation,
                                      case when rowrelay.column_hash('', a.attname, a.atttypid, a.attcollation) is null
                                           then ' any' end), ',' order by u.position), '')
      from unnest(coalesce(capture.lane_columns, capture.key_columns)) with ordinality as u(n, position)
      left join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.n and not a.attisdropped);
end
$$;
-- Purpose:    returns the statements of a trigger function that make the row images. For most tables that is only
--             row_to_json; columns that are left out or masked, and values that JSON does not preserve, need more.
-- Parameters: capture; whether to keep the image before; whether every change has both rows
-- Result:     declarations; statements; expression for the column caveat, null when it is always null; restore: what
--             gives the rows back what the statements took out of them, for rowrelay.record_row(); null: nothing
create or replace function rowrelay.image_statements(capture rowrelay.capture, keeps_before boolean,
                                                     has_both boolean, out declarations text, out statements text,
                                                     out caveat text, out restore text)
language plpgsql stable as $$
declare
  relation   regclass := capture.relation;
  keep       text[];
  leave_out  text[];
  masks      json;
  row_type   oid;
  own        text[]; -- the table's columns: an inheritance child's own ones are not captured
  plain      text;
  same_names text;
  awkward    record;
  condition  text;
  conditions text;
  names      text[];
  new_texts  text;
  old_texts  text;
  json_names text;
  hiding     text;
  hidden     text;
  given      constant text := concat_ws(E'\n', '    given_new := new;',
                                        case when keeps_before then '    given_old := old;' end, '    given := true;');
begin
  select i.keep, i.leave_out, i.masks into keep, leave_out, masks from rowrelay.image_columns(capture) as i;
  select c.reltype into row_type from pg_class c where c.oid = relation;
  if rowrelay.has_children(relation) then
    own := rowrelay.current_names(row_type);
  end if;
  plain := format('    new_row := %s;', rowrelay.row_image(row_type, 'new', own));
  if keeps_before then
    plain := plain || format(E'\n    old_row := %s;', rowrelay.row_image(row_type, 'old', own));
  end if;

  -- A left-out column that was renamed would be captured under its new name. So the guard checks the columns' names in
  -- the catalog cache, which is cheap, and correct even if this transaction cannot see the alteration yet.
  select string_agg(
      format('(pg_catalog.pg_identify_object_as_address(%s, %s, %s)).object_names[3] operator(pg_catalog.=) %L',
                           'pg_class'::regclass::oid, relation::oid, a.attnum, a.attname),
                    E'\n        and ' order by a.attnum)
    into same_names
    from pg_attribute a
   where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
     and a.attname = any (coalesce(keep, leave_out || array(select json_object_keys(masks))));

  -- trim_image() has to read left-out columns too, so unreadable ones are set to null.
  select string_agg(concat_ws(E'\n', format('    new.%I := null;', a.name),
                              case when keeps_before then format('    old.%I := null;', a.name) end), E'\n')
    into hidden
    from rowrelay.awkward_columns(relation) as a
   where a.is_unreadable and (a.name <> all (keep) or a.name = any (leave_out));

  for awkward in
    select a.* from rowrelay.awkward_columns(relation) as a
     where (keep is null or a.name = any (keep)) and a.name <> all (leave_out)
  loop
    -- Both images take the same form, because text_columns applies to both.
    condition := format(awkward.condition, format('new.%I', awkward.name));
    if keeps_before then
      condition := condition || ' or ' || format(awkward.condition, format('old.%I', awkward.name));
    end if;
    conditions := concat_ws(E'\n       or ', conditions, condition);
    names := array_append(names, awkward.name);
    new_texts := concat_ws(E',\n          ', new_texts,
      format('case when %s then %s end', condition, rowrelay.safe_text(format('new.%I', awkward.name), awkward.type)));
    old_texts := concat_ws(E',\n          ', old_texts,
      format('case when %s then %s end', condition, rowrelay.safe_text(format('old.%I', awkward.name), awkward.type)));
    if awkward.is_json then
      json_names := concat_ws(E'\n', json_names, format('      if %s then', condition),
        format('        text_columns := pg_catalog.array_append(text_columns, %L);', awkward.name),
        '      end if;');
    end if;
    if awkward.is_unreadable then
      -- exact_image() and trim_image() cannot read \u0000 and the like
      hiding := concat_ws(E'\n', hiding, format('      if %s then', condition),
        format('        new.%I := null;', awkward.name),
        case when keeps_before then format('        old.%I := null;', awkward.name) end,
        '      end if;');
    end if;
  end loop;

  declarations := nullif(concat_ws(E'\n',
    case when conditions is not null then
           '  new_texts pg_catalog.json;' end,
    case when conditions is not null and keeps_before then
           '  old_texts pg_catalog.json;' end,
    case when json_names is not null then
           '  text_columns pg_catalog.text[];' end,
    case when coalesce(hidden, hiding) is not null then
           E'  given     pg_catalog.bool;\n  given_new pg_catalog.record;' end,
    case when coalesce(hidden, hiding) is not null and keeps_before then
           '  given_old pg_catalog.record;' end), '');
  if coalesce(hidden, hiding) is not null then
    restore := concat_ws(E'\n',
             '      if given then',
             '        if tg_op operator(pg_catalog.<>) ''DELETE'' then',
             '          new := given_new;',
             '        end if;',
      case when keeps_before then concat_ws(E'\n',
             '        if tg_op operator(pg_catalog.<>) ''INSERT'' then',
             '          old := given_old;',
             '        end if;') end,
             '      end if;');
  end if;
  if json_names is not null then
    caveat := 'case when text_columns is not null then pg_catalog.json_build_object(''text_columns'', '
              'text_columns) end';
  end if;
  statements := concat_ws(E'\n',
    case when same_names is not null then concat_ws(E'\n',
      format('    if (%s) is not true then', same_names),
             '      raise exception ''a column was renamed'';',
             '    end if;') end,
    case when hidden is not null then concat_ws(E'\n', given, hidden) end,
    case when conditions is null then plain else concat_ws(E'\n',
      format('    if %s then', conditions),
      -- from arrays, because a function takes at most 100 arguments
      format(E'      new_texts := pg_catalog.json_object(%L, array[\n          %s]);', names, new_texts),
      case when keeps_before then
      format(E'      old_texts := pg_catalog.json_object(%L, array[\n          %s]);', names, old_texts) end,
      json_names,
      case when hidden is null and hiding is not null then given end,
      hiding,
             '      new_row := rowrelay.exact_image(' || rowrelay.row_image(row_type, 'new', own) || ', new_texts);',
      case when keeps_before then
             '      old_row := rowrelay.exact_image(' || rowrelay.row_image(row_type, 'old', own)
               || ', old_texts);' end,
             '    else',
      plain,
             '    end if;') end,
    case when keep is not null or cardinality(leave_out) > 0 or masks::text <> '{}' then concat_ws(E'\n',
      format('    new_row := rowrelay.trim_image(new_row, %L, %L, %L);', keep, leave_out, masks),
      case when keeps_before then
      format('    old_row := rowrelay.trim_image(old_row, %L, %L, %L);', keep, leave_out, masks) end) end,
    -- With a filter an update may count as insert or delete, but has both rows; so has a row that was assigned to
    -- above.
    case when has_both or capture.row_filter is not null or hiding is not null or hidden is not null then
      concat_ws(E'\n',
             '    if op operator(pg_catalog.=) ''d'' then',
             '      new_row := null;',
             '    end if;',
      case when keeps_before then concat_ws(E'\n',
             '    if op operator(pg_catalog.=) ''i'' then',
             '      old_row := null;',
             '    end if;') end) end);
end
$$;
-- Purpose:    returns SQL for the image of a row, the same byte for byte as the trigger makes it
--             (rowrelay.image_statements)
-- Parameters: capture; name of the row in the statement; name of another row whose image has to take the same form,
--             null: none
-- Result:     two expressions on the row, which may be of the table, a partition or a child: the image; and
--             caveat.text_columns, an array that may be empty (null when it always is)
create or replace function rowrelay.image_expression(capture rowrelay.capture, row_name text default 'new',
                                                     other text default null,
                                                     out image text, out text_columns text)
language plpgsql stable as $$
declare
  row_type   oid := (select c.reltype from pg_class c where c.oid = capture.relation);
  keep       text[];
  leave_out  text[];
  masks      json;
  awkward    record;
  condition  text;
  conditions text;
  names      text[];
  texts      text;
  json_names text;
  shown      text;
  readable   text;
  whole      constant text := '(select pg_catalog.row_to_json(rowrelay_row.*) from (select %s) as rowrelay_row)';
begin
  select i.keep, i.leave_out, i.masks into keep, leave_out, masks from rowrelay.image_columns(capture) as i;

  -- the row without values that trim_image() or exact_image() cannot read
  select string_agg(case when a.is_hidden then format('null as %I', a.name) else format('%s as %I', a.value,
      a.name) end, ', '
                    order by a.place) filter (where a.any_hidden),
         string_agg(case when a.is_hidden then format('null as %I', a.name)
                         when a.condition is not null then format('case when %s then null else %s end as %I',
                                                                  a.condition, a.value, a.name)
                         else format('%s as %I', a.value, a.name) end, ', '
                    order by a.place) filter (where a.any_hidden or a.any_condition)
    into readable, shown
    from (select c.place, c.name, rowrelay.safe_json(format('%I.%I', row_name, c.name), c.type) as value, w.condition,
                 coalesce(w.is_hidden, false) as is_hidden, bool_or(w.is_hidden) over () as any_hidden,
                 bool_or(w.condition is not null) over () as any_condition
            from rowrelay.current_columns(row_type) as c
            left join (select u.name, u.name <> all (keep) or u.name = any (leave_out) as is_hidden,
                              concat_ws(' or ', format(u.condition, format('%I.%I', row_name, u.name)),
                                        case when other is not null then format(u.condition,
                                            format('%I.%I', other, u.name)) end) as condition
                         from rowrelay.awkward_columns(capture.relation) as u where u.is_unreadable) as w
              on w.name = c.name) as a;

  for awkward in
    select a.* from rowrelay.awkward_columns(capture.relation) as a
     where (keep is null or a.name = any (keep)) and a.name <> all (leave_out)
  loop
    condition := format(awkward.condition, format('%I.%I', row_name, awkward.name));
    if other is not null then
      condition := condition || ' or ' || format(awkward.condition, format('%I.%I', other, awkward.name));
    end if;
    conditions := concat_ws(' or ', conditions, condition);
    names := array_append(names, awkward.name);
    texts := concat_ws(', ', texts, format('case when %s then %s end', condition,
                                             rowrelay.safe_text(format('%I.%I', row_name, awkward.name),
                                                                awkward.type)));
    if awkward.is_json then
      json_names := concat_ws(', ', json_names, format('case when %s then %L end', condition, awkward.name));
    end if;
  end loop;

  image := case when readable is not null then format(whole, readable)
                else rowrelay.row_image(row_type, row_name, case when rowrelay.has_children(capture.relation)
                                                                 then rowrelay.current_names(row_type) end) end;
  if conditions is not null then
    image := format('case when %s then rowrelay.exact_image(%s, pg_catalog.json_object(%L, array[%s])) else %s end',
                    conditions,
                    case when shown is not null then format(whole, shown) else image end,
                    names, texts, image);
  end if;
  if keep is not null or cardinality(leave_out) > 0 or masks::text <> '{}' then
    image := format('rowrelay.trim_image(%s, %L, %L, %L)', image, keep, leave_out, masks);
  end if;
  text_columns := format('pg_catalog.array_remove(array[%s]::pg_catalog.text[], null)', json_names);
  if json_names is null then
    text_columns := null;
  end if;
end
$$;
-- Purpose:    returns keys and lane hashes of two rows, as the trigger functions compute them
-- Parameters: capture; rows before and after, null where there is none
-- Result:     old and new key: null where there is no row, when the table has no key, or a key column was dropped; old
--             and new hash; whether a row has null in its key; what is kept of the old row when its image is not
create or replace function rowrelay.row_keys(capture rowrelay.capture, before_row record, after_row record,
                                             out old_key text,
                                             out old_hash integer, out new_key text, out new_hash integer,
                                               out is_null boolean,
                                             out key_row json)
language plpgsql as $$
declare
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  has_old      constant boolean := before_row is distinct from null;
  has_new      constant boolean := after_row is distinct from null;
  nulls        text;
begin
  select string_agg(format('%I.%I is not distinct from null', r.name, a.attname), ' or ') into nulls
    from pg_attribute a
    join (values ('old', has_old), ('new', has_new)) as r(name, is_there) on r.is_there
   where a.attrelid = capture.relation and a.attnum = any (key_columns) and not a.attisdropped;
  execute format('select %s, %s, %s, %s, %s, %s from %s',
                 case when has_old then rowrelay.key_expression(capture.relation, key_columns, 'old') else 'null' end,
                 rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'old'),
                 case when has_new then rowrelay.key_expression(capture.relation, key_columns, 'new') else 'null' end,
                 rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'new'),
                 coalesce(nulls, 'false'),
                 case when has_old and cardinality(key_columns) > 0 then rowrelay.key_row(capture) else 'null' end,
                 rowrelay.rows_given(before_row, after_row))
     into old_key, old_hash, new_key, new_hash, is_null, key_row using before_row, after_row;
end
$$;
-- Purpose:    returns the images of two rows, the same byte for byte as the trigger functions make them
--             (rowrelay.image_statements)
-- Parameters: capture; rows before and after, null where there is none; whether the image before is kept: then both
--             take one form
-- Result:     images without left-out columns; null where there is no row, or it is not kept; their caveat
create or replace function rowrelay.row_images(capture rowrelay.capture, before_row record, after_row record,
                                               keeps_before boolean,
                                               out old_row json, out new_row json, out caveat json)
language plpgsql as $$
declare
  new_image constant record := rowrelay.image_expression(capture, 'new', case when keeps_before then 'old' end);
  old_image constant record := rowrelay.image_expression(capture, 'old', 'new');
begin
  execute format('select %s, %s, %s from %s',
                 case when keeps_before and before_row is distinct from null then old_image.image else 'null' end,
                 case when after_row is distinct from null then new_image.image else 'null' end,
                 case when new_image.text_columns is null then 'null'
                      else format('case when %1$s <> ''{}'' then pg_catalog.json_build_object(''text_columns'', '
                                  '%1$s) end',
                                  new_image.text_columns) end,
                 rowrelay.rows_given(before_row, after_row))
     into old_row, new_row, caveat using before_row, after_row;
end
$$;
-- Purpose:    captures a change by the slow path, as rowrelay.record_row() does, for trigger functions of version 1 of
--             the schema: they call it until they are replaced, half a minute after an upgrade. It does not handle
--             nested writes.
-- Parameters: capture; TG_OP; images before and after, untrimmed (null where there is none); the error that led here
create or replace function rowrelay.record_change(capture_id integer, operation text, before_image json,
                                                  after_image json, problem text default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
declare
  capture     rowrelay.capture;
  key_names   text[];
  old_key     text;
  new_key     text;
  old_hash    integer;
  new_hash    integer;
  images      record;
  new_row     json;
  old_row     json;
  old_key_row json;
  keeps_before boolean;
begin
  begin
    select c.* into capture from rowrelay.capture c where c.id = capture_id;
    if not found then
      raise exception 'the table was captured by a transaction that this one cannot see yet';
    end if;
    -- a row may have moved from one document to another
    keeps_before := rowrelay.keeps_before(capture) or rowrelay.document_columns(capture_id) <> '{}';
    key_names := rowrelay.attribute_names(capture.relation, rowrelay.live_key(capture));
    select i.* into images from rowrelay.image_columns(capture) as i;
    if (images.keep is not null or cardinality(images.leave_out) > 0 or images.masks::text <> '{}')
       and not rowrelay.names_are_current(capture.relation) then
      raise exception 'its columns were renamed by a transaction that this one cannot see yet';
    end if;
    select k.* into old_key, old_hash, new_key, new_hash
      from rowrelay.key_and_hash(capture, before_image, after_image) as k;
    -- Rows have changed lanes, and there is no barrier between old and new lanes yet: make each change a barrier.
    if capture.lane_state <> rowrelay.lane_state(capture) then
      old_hash := null;
      new_hash := null;
    end if;
    new_row := rowrelay.trim_image(after_image, images.keep, images.leave_out, images.masks);
    old_row := rowrelay.trim_image(before_image, images.keep, images.leave_out, images.masks);
    old_key_row := case when cardinality(key_names) > 0 then rowrelay.trim_image(before_image, key_names, '{}',
        '{}') end;
    if exists (select from unnest(key_names) as name, (values (before_image), (after_image)) as v(image)
                where v.image is not null and coalesce(json_typeof(v.image -> name), 'null') = 'null') then
      problem := 'its key is null';
    elsif new_row is not null or old_row is not null then
      problem := null; -- the change was captured after all
    end if;
  exception when others then
    problem := sqlerrm;
    if sqlstate in ('22P02', '22P05') then
      -- unlike rowrelay.image_statements(), this does not remove unreadable values from the images
      problem := concat(problem, (select format(' (in column %s)', string_agg(a.name, ' or '))
                                    from rowrelay.awkward_columns(capture.relation) a where a.is_unreadable
                                  having count(*) > 0));
    end if;
    new_row := null;
    old_row := null;
    old_key_row := null;
  end;

  if operation = 'UPDATE' and old_key is distinct from new_key and cardinality(key_names) > 0 then
    perform rowrelay.add_change(capture_id, 'd', old_key, old_hash,
                                case when keeps_before then old_row else old_key_row end, null, problem);
    perform rowrelay.add_change(capture_id, 'i', new_key, new_hash, null, new_row, problem);
  elsif operation = 'DELETE' then
    perform rowrelay.add_change(capture_id, 'd', old_key, old_hash,
                                case when keeps_before then old_row else coalesce(old_key_row, old_row) end,
                                null, problem);
  elsif operation = 'UPDATE' then
    perform rowrelay.add_change(capture_id, 'u', new_key, new_hash,
                                case when keeps_before then old_row end,
                                new_row, problem);
  else
    perform rowrelay.add_change(capture_id, 'i', new_key, new_hash, null, new_row, problem);
  end if;
end
$$;
-- Purpose:    captures a change of a row that cannot be passed to a function, because as one value it would have more
--             than the gigabyte that PostgreSQL allows; only its key is known. A deletion needs no more; any other
--             change is recorded as a problem. Lanes are not computed for it: it is a barrier.
-- Parameters: capture; TG_OP; keys before and after; columns of the key before; the error that led here
-- Result:     null, which a trigger function can return
create or replace function rowrelay.record_key(capture_id integer, operation text, old_key text, new_key text,
                                               key_row json, problem text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_same constant boolean := operation = 'UPDATE' and old_key is not distinct from new_key;
begin
  if operation <> 'INSERT' and not is_same then
    perform rowrelay.add_change(capture_id, 'd', old_key, null, key_row, null,
                                case when old_key is null then problem end);
  end if;
  if operation <> 'DELETE' then
    perform rowrelay.add_change(capture_id, case when is_same then 'u' else 'i' end::"char", new_key, null, null, null,
                                problem);
  end if;
  return null;
end
$$;
-- Purpose:    the slow path of capture: captures a change by the present catalogs, as a new trigger function would. The
--             generated triggers fall back to it when a column that they name was renamed, dropped or given another
--             type, or when a row is too large for an image. It must not fail where the writer would not, so it records
--             what it cannot do as a problem. It handles nested writes as rowrelay.nesting_statements() does.
-- Parameters: capture; TG_OP; rows before and after (null where there is none); the error that led here; the table with
--             the row; ctid of its new version, if another write may have changed it since; and of its old one
create or replace function rowrelay.record_row(capture_id integer, operation text, before_row record, after_row record,
                                               problem text, relation oid default null, is_at tid default null,
                                               was_at tid default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
declare
  capture      rowrelay.capture;
  old_key      text;
  new_key      text;
  old_hash     integer;
  new_hash     integer;
  new_row      json;
  old_row      json;
  old_key_row  json;
  caveat       json;
  key_is_null  boolean;
  keeps_before boolean;
  has_key      boolean := true;
  rekeyed      boolean := false;
  is_gone      boolean := false;
  is_back      boolean := false;
  is_double    boolean := false;
  id           bigint;
begin
  begin
    select c.* into capture from rowrelay.capture c where c.id = capture_id;
    if not found then
      raise exception 'the table was captured by a transaction that this one cannot see yet';
    end if;
    -- a row may have moved from one document to another
    keeps_before := rowrelay.keeps_before(capture) or exists (select from rowrelay.present_sources(capture_id));
    has_key := cardinality(rowrelay.live_key(capture)) > 0;
    if exists (select from rowrelay.image_columns(capture) as i
                where i.keep is not null or cardinality(i.leave_out) > 0 or i.masks::text <> '{}')
       and not rowrelay.names_are_current(capture.relation) then
      raise exception 'its columns were altered';
    end if;
    select k.* into old_key, old_hash, new_key, new_hash, key_is_null, old_key_row
      from rowrelay.row_keys(capture, before_row, after_row) as k;
    rekeyed := has_key and operation = 'UPDATE' and old_key is distinct from new_key;
    -- as the trigger function does: see rowrelay.can_change_lane()
    if rowrelay.can_change_lane(capture) or not has_key and cardinality(capture.lane_columns) > 0 then
      -- a key with only another spelling is the same row, so the row moves too
      if operation = 'UPDATE' and old_hash <> new_hash and (not rekeyed or not capture.key_is_exact) then
        new_hash := null;
      end if;
      if operation = 'DELETE' or rekeyed then
        old_hash := null;
      end if;
    end if;
    -- Rows have changed lanes, and there is no barrier between old and new lanes yet: make each change a barrier.
    if capture.lane_state <> rowrelay.lane_state(capture) then
      old_hash := null;
      new_hash := null;
    end if;
    is_gone := is_at is not null and operation <> 'DELETE' and rowrelay.is_superseded(relation, is_at, after_row);
    is_back := has_key and (operation = 'DELETE' or rekeyed) and rowrelay.is_present(capture_id, old_key);
    if has_key and (operation = 'INSERT' or rekeyed) and rowrelay.has_children(capture.relation) then
      is_double := rowrelay.rows_with_key(capture_id, new_key) > 1;
    end if;
    select i.* into old_row, new_row, caveat
      from rowrelay.row_images(capture, before_row, after_row, keeps_before) as i;
    -- an update after which the row begins or ceases to meet the row filter
    if capture.row_filter is not null and operation <> 'UPDATE' and pg_column_size(before_row) is not null
       and pg_column_size(after_row) is not null then
      caveat := json_strip_nulls(json_build_object('filtered', true, 'text_columns', caveat -> 'text_columns'));
    end if;
    problem := case when key_is_null then 'its key is null' end; -- else the change was captured after all
  exception when others then
    problem := case when rowrelay.names_are_current(capture.relation) then sqlerrm
                    else 'its columns were altered by a transaction that this one cannot see yet' end;
    old_key_row := null;
  end;

  if not has_key then
    if is_gone and rowrelay.take_follower(relation, is_at) then
      if operation = 'INSERT' then
        return;
      end if;
      operation := 'DELETE';
    end if;
    id := rowrelay.add_change(capture_id,
                              case operation when 'INSERT' then 'i' when 'UPDATE' then 'u' else 'd' end::"char", null,
                              case operation when 'DELETE' then old_hash else new_hash end,
                              case when operation <> 'INSERT' then old_row end,
                                case when operation <> 'DELETE' then new_row end,
                              problem, caveat);
    if operation <> 'INSERT' and was_at is not null then
      perform rowrelay.note_follower(relation, was_at, id, rowrelay.partition_day());
    end if;
    return;
  end if;

  if operation = 'DELETE' or rekeyed then
    -- if the key exists again under another spelling, the old spelling is still gone
    if not is_back or not capture.key_is_exact then
      perform rowrelay.add_change(capture_id, 'd', old_key, old_hash,
                                  case when keeps_before then old_row else old_key_row end,
                                  null, problem, case when keeps_before then caveat end);
    end if;
    if is_back then
      perform rowrelay.log_change(capture_id, 'r', old_key, rowrelay.actor(), rowrelay.db_user(), null, null,
                                  '{"left_out":true}', null, 0);
      perform rowrelay.record_state(capture_id, old_key, old_hash);
    end if;
    if operation = 'DELETE' then
      return;
    end if;
    operation := 'INSERT';
  end if;
  if is_gone then
    -- rare enough to log everything: documents that the row has left, another lane
    perform rowrelay.add_change(capture_id, 'r', new_key, new_hash, old_row, null, null, '{"left_out":true}');
    perform rowrelay.record_state(capture_id, new_key, new_hash);
  elsif is_double then
    perform rowrelay.add_change(capture_id, case operation when 'INSERT' then 'i' else 'u' end::"char", new_key,
                                new_hash, null, null, rowrelay.shared_key());
  else
    perform rowrelay.add_change(capture_id, case operation when 'INSERT' then 'i' else 'u' end::"char",
                                new_key, new_hash,
                                case when operation = 'UPDATE' and keeps_before then old_row end, new_row,
                                  problem, caveat);
  end if;
end
$$;
-- Purpose:    logs the present state of the row with a key: its values, or that it does not exist. It is called where
--             logged changes of the row may arrive in another order: across lanes, or for keys that are not unique. It
--             must not fail where the writer would not.
-- Parameters: capture id; key as the log has it; hash that chooses the lane, null: a barrier
create or replace function rowrelay.record_state(capture_id integer, key text, lane_hash integer) returns void
language plpgsql set search_path = pg_catalog, pg_temp set datestyle = 'ISO, MDY' set timezone = 'UTC'
set intervalstyle = 'postgres' set bytea_output = 'hex' set extra_float_digits = 1 set lc_monetary = 'C'
set quote_all_identifiers = off as $$
declare
  capture rowrelay.capture;
  part    regclass;
  images  record;
  present record;
  is_gone boolean := true;
  key_row json;
  shown   text; -- without an inheritance child's own columns
begin
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  if row_security_active(capture.relation) then
    raise exception 'row-level security hides the row from role %', current_user;
  end if;
  if rowrelay.has_children(capture.relation) and rowrelay.rows_with_key(capture_id, key) > 1 then
    raise exception '%', rowrelay.shared_key();
  end if;
  select * into strict images from rowrelay.image_expression(capture);
  select string_agg(format('t.%I', a.attname), ', ' order by a.attnum) into shown
    from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped;
  for part in
    select m from unnest(rowrelay.captured_tables(capture)) as m join pg_class c on c.oid = m and c.relkind = 'r'
  loop
    for present in
      execute format(
          'select %s as key, %s as image, %s as names from (select %s from only %s as t) as new, %s where %s',
                     rowrelay.key_expression(capture.relation, rowrelay.live_key(capture), 'new'),
                     images.image, coalesce(images.text_columns, 'null::text[]'),
                     case when rowrelay.has_children(capture.relation) then shown else 't.*' end, part,
                     rowrelay.parsed_keys(capture, 'array[$1]'),
                     concat_ws(' and ', rowrelay.same_key(capture, 'new', 'wanted'),
                               rowrelay.filter_condition(capture)))
        using key
    loop
      perform rowrelay.add_change(capture_id, 'u', present.key, lane_hash, null, present.image, null,
                                  case when present.names <> '{}' then json_build_object('text_columns',
                                      present.names) end);
      is_gone := false;
    end loop;
  end loop;
  if is_gone then
    execute format('select %s from %s',
                   rowrelay.key_json(capture.relation,
                                     rowrelay.attribute_names(capture.relation, capture.key_columns), 'wanted'),
                   rowrelay.parsed_keys(capture, 'array[$1]')) into key_row using key;
    perform rowrelay.add_change(capture_id, 'd', key, lane_hash, key_row, null);
  end if;
exception when others then
  perform rowrelay.add_change(capture_id, 'u', key, lane_hash, null, null, sqlerrm);
end
$$;
-- Purpose:    returns SQL for a system column of a row in a generated function, which loses it when the row is passed
--             on
-- Parameters: new or old; name of the column; is_apart: as for rowrelay.trigger_body()
-- Result:     an expression
create or replace function rowrelay.system_column(row_name text, column_name text, is_apart boolean) returns text
language sql immutable as $$ select row_name || case when is_apart then '_' else '.' end || column_name $$;
-- Purpose:    returns the statements of a trigger function that keep the last change of a row the last one in the log
--             when writes nest.
--
--             PostgreSQL fires AFTER triggers when a statement has ended. Writes made while it ran (by a BEFORE
--             trigger, by a function in it, by an AFTER trigger of an earlier row) are statements of their own, which
--             end sooner and whose triggers fire sooner. So a trigger may get a change that is older than what is in
--             the log. The rule is: log for a key what is true at this moment, or leave it to the trigger of the write
--             that made it so.
--
--             - Leave out a row version that no longer exists: the write that changed or deleted it was captured
--               already or, for a cascade, will be. A version that nobody has changed, deleted or locked has no xmax;
--               the others (locked before, or upserted) are looked up by ctid, with a snapshot that sees all that this
--               transaction has done so far. Rolled-back writes do not count.
--             - Leave out the delete of a key if a row has the key again: the write that made that row was captured
--               already, or will be. This can only happen if this transaction has inserted into the table or updated a
--               key, and PostgreSQL counts that. Do not leave it out if the same statement made that row after the key
--               was free, because its trigger fires later. The two versions then have the same xmin and cmin. A
--               version that this transaction has changed, even if that was rolled back, has a combined cmin, which may
--               equal any other; it has an xmax, and proves nothing. (A row that moved to another partition arrives as
--               a delete: then compare what deleted it, unless this transaction had made it.) If the key may not be
--               unique, or equal keys may have different texts, or rows change lanes, do not leave it out, but log the
--               present row once more.
--             - Without a key only the number of equal rows counts, so changes are left out in pairs: the one that made
--               a version that no longer exists, and the one that removed it. See rowrelay.note_follower().
--
--             A change left out for a key is marked by a change that goes to no target (op r, caveat left_out), because
--             the log no longer shows what the row was before: rowrelay.undo_steps() has to know.
-- Parameters: capture; whether the image before is kept anyway; expression for what is kept of a deleted row;
--             expressions for keys and hashes, and for whether an update changed the key; whether a row may change
--             lanes; whether documents are built from the table; expression for the caveat of an image; is_apart: as
--             for rowrelay.trigger_body()
-- Result:     declarations; then, for writes that may nest: guarded: statements that check; settled: statements before
--             the change is logged; noted: statements after it
create or replace function rowrelay.nesting_statements(
  capture rowrelay.capture, keeps_before boolean, key_row text, old_key text, old_hash text, rekeyed text,
    can_move boolean,
  has_documents boolean, caveat text, is_apart boolean, out declarations text,
  out guarded text, out settled text, out noted text)
language plpgsql stable as $$
declare
  has_key     constant boolean := cardinality(rowrelay.live_key(capture)) > 0;
  is_filtered constant boolean := capture.row_filter is not null;
  is_firm     constant boolean := has_key and rowrelay.key_is_unique(capture);
  -- the text of a key does not identify one row in one lane
  is_told     constant boolean := not is_firm or not capture.key_is_exact or can_move;
  marked      constant text := '{"left_out":true}';
  -- system columns of the rows, which a function gets one by one
  new_xmax    constant text := rowrelay.system_column('new', 'xmax', is_apart);
  new_xmin    constant text := rowrelay.system_column('new', 'xmin', is_apart);
  new_cmin    constant text := rowrelay.system_column('new', 'cmin', is_apart);
  new_ctid    constant text := rowrelay.system_column('new', 'ctid', is_apart);
  old_xmin    constant text := rowrelay.system_column('old', 'xmin', is_apart);
  old_xmax    constant text := rowrelay.system_column('old', 'xmax', is_apart);
  old_cmax    constant text := rowrelay.system_column('old', 'cmax', is_apart);
  followed    constant text := new_xmax || ' operator(pg_catalog.<>) 0';
  -- A transaction's ids are not smaller than its first one; others may be larger too, which does no harm.
  is_own      constant text := '(pg_catalog.int8mi(' || old_xmin || '::pg_catalog.text::pg_catalog.int8,'
                               ' pg_catalog.pg_current_xact_id()::pg_catalog.text::pg_catalog.int8)'
                               ' operator(pg_catalog.&) 4294967295) operator(pg_catalog.<) 2147483648';
  came_back   constant text := 'rowrelay.may_be_back(tg_relid)';
  name        constant text := rowrelay.full_name(capture.relation);
  -- children may share keys with the table
  has_children constant boolean := rowrelay.has_children(capture.relation);
  -- another table may have the name by now
  is_named    constant text :=
    format('pg_catalog.to_regclass(%L)::pg_catalog.oid operator(pg_catalog.=) %s::pg_catalog.oid',
                                      rowrelay.full_name(capture.relation), capture.relation::oid);
  at_write    text; -- whether writes may nest
  at_delete   text;
begin
  declarations := concat_ws(E'\n',
           '  is_gone  pg_catalog.bool;',
    case when has_key then
           '  is_at    key%type;' else
           '  is_at    pg_catalog.tid;' end,
    case when not has_key then concat_ws(E'\n',
           '  may_nest is_gone%type;',
           '  was_at   is_at%type;') end,
    case when has_key then concat_ws(E'\n',
           '  rekeyed  is_gone%type;',
           '  is_back  is_gone%type;',
           '  former   key%type;',
           '  former_hash hash%type;',
           '  former_row  new_row%type;',
      case when has_children then
           '  is_double   is_gone%type;' end) end);

  if has_key then
    at_write := concat_ws(' or ', rekeyed, followed, case when has_children then 'op operator(pg_catalog.=) ''i''' end);
    at_delete := case when not is_firm then 'true'
                      when is_filtered then format(E'tg_op operator(pg_catalog.=) ''DELETE'' and %s'
                                                   '\n        or tg_op operator(pg_catalog.=) ''UPDATE'' and '
                                                   '(%s or %s)',
                                                   came_back, rekeyed, followed)
                      else came_back end;
  else
    at_write := format('%s or %s', is_own, followed);
    at_delete := is_own;
  end if;

  guarded := concat_ws(E'\n',
    -- an insert has no old row, so comparisons with it are null
    format(E'    if op operator(pg_catalog.<>) ''d'' and (%s)\n       or op operator(pg_catalog.=) ''d'' and (%s) '
            'then', at_write, at_delete),
    -- Each statement costs a session some 13 kB per table, so there are few.
    case when has_key then
    format('      rekeyed := case when %s then op operator(pg_catalog.=) ''u'' and (%s) else rowrelay.raise_altered() '
           'is null end;',
           is_named, rekeyed)
    else concat_ws(E'\n',
    format('      may_nest := case when %s then true else rowrelay.raise_altered() is null end;', is_named),
           '      is_at := new.ctid;',
           '      was_at := old.ctid;') end,
    format('      if op operator(pg_catalog.<>) ''d'' and %s and not pg_catalog.row_security_active(tg_relid) then',
           followed),
    case when has_key then
           -- system columns such as ctid are lost after an assignment to the row
    format('        is_at := %s;', new_ctid) end,
    -- a later child gets a trigger of its own, and this function is replaced before
    case when has_children or (select c.relkind = 'p' from pg_class c where c.oid = capture.relation) then
           '        is_gone := rowrelay.is_superseded(tg_relid, is_at::pg_catalog.tid, new);' else
    format('        is_gone := not exists (select from only %s as t where t.ctid operator(pg_catalog.=) '
           'is_at::pg_catalog.tid and %s);', name, rowrelay.same_row_type('t.*', 'new.*')) end,
           '      end if;',
    case when has_key then concat_ws(E'\n',
    format('      if (op operator(pg_catalog.=) ''d'' or rekeyed) and not '
           'pg_catalog.row_security_active(%s::pg_catalog.oid) then',
           capture.relation::oid),
    format('        is_back := exists (select from %s as t where %s and %s%s);', name,
           rowrelay.same_key(capture, 't', 'old'), rowrelay.same_row_type('t.*', 'old.*'),
           case when is_firm then
             format(' and (t.xmax operator(pg_catalog.=) 0'
                    ' and case when op operator(pg_catalog.=) ''d'''
                    ' then t.xmin operator(pg_catalog.=) %s and t.cmin operator(pg_catalog.=) %s and not %s'
                    ' else %s operator(pg_catalog.=) 0 and t.xmin operator(pg_catalog.=) %s'
                    ' and t.cmin operator(pg_catalog.=) %s end) is not true',
                    old_xmax, old_cmax, is_own, new_xmax, new_xmin, new_cmin) end),
           '      end if;',
           '      if rekeyed or is_back then',
    format('        former := %s;', old_key),
    format('        former_hash := %s;', old_hash),
    case when not keeps_before and not has_documents then
    format('        former_row := %s;', key_row) end,
    case when is_filtered then
    format('        is_back := is_back and rowrelay.is_present(%s, former);', capture.id) end,
           '      end if;',
    case when has_children then concat_ws(E'\n',
    format('      if (op operator(pg_catalog.=) ''i'' or rekeyed) and not '
           'pg_catalog.row_security_active(%s::pg_catalog.oid) then',
           capture.relation::oid),
    -- a child may lack a unique index
    format('        is_double := exists (select from %s as t where %s and (t.tableoid operator(pg_catalog.<>) '
           'tg_relid or t.ctid operator(pg_catalog.<>) %s) and %s)%s;', name, rowrelay.same_key(capture, 't', 'new'),
           new_ctid, rowrelay.same_row_type('t.*', 'new.*'),
           case when is_filtered then
             format(' and rowrelay.rows_with_key(%s, key) is distinct from 1', capture.id) end),
           '      end if;') end,
    case when not keeps_before and has_documents then concat_ws(E'\n',
           '      if op operator(pg_catalog.<>) ''i'' then',
    format('        former_row := %s;', key_row),
           '      end if;') end) end,
           '    end if;');

  if has_key then
    settled := concat_ws(E'\n',
    format('  if rekeyed or is_back or is_gone%s then', case when has_children then ' or is_double' end),
    case when keeps_before then
           '    former_row := old_row;' end,
           '    if rekeyed or is_back then',
           -- if the key exists again under another spelling, the old spelling is still gone
    case when capture.key_is_exact then
           '      if is_back is not true then' else
           '      if true then' end,
    format('        perform rowrelay.add_change(%s, ''d'', former, %s, former_row, null%s);', capture.id,
           case when can_move then 'null' else 'former_hash' end,
           case when keeps_before then ', null, ' || caveat end),
    case when has_documents then concat_ws(E'\n',
           -- this may be the only change that shows which documents the row has left
           '      else',
    format('        perform rowrelay.add_change(%s, ''r'', former, former_hash, former_row, null, null, %L);',
           capture.id, marked))
         when capture.key_is_exact then concat_ws(E'\n',
           '      else',
    format('        perform rowrelay.log_change(%s, ''r'', former, actor, db_user, null, null, %L, null, 0);',
           capture.id, marked)) end,
           '      end if;',
    case when is_told then concat_ws(E'\n',
           '      if is_back then',
    format('        perform rowrelay.record_state(%s, former, %s);', capture.id,
           case when can_move then 'null' else 'former_hash' end),
           '      end if;') end,
           '      if rekeyed is not true then',
           '        return null;',
           '      end if;',
           '      op := ''i'';',
           '      old_row := null;',
           '    end if;',
           '    if is_gone then',
    case when can_move then
    format('      perform rowrelay.record_state(%s, key, null);', capture.id) end,
    case when has_documents then concat_ws(E'\n',
           '      if op operator(pg_catalog.<>) ''i'' then',
    format('        perform rowrelay.add_change(%s, ''r'', key, hash, former_row, null, null, %L);',
           capture.id, marked),
           '        return null;',
           '      end if;') end,
    format('      perform rowrelay.log_change(%s, ''r'', key, actor, db_user, null, null, %L, null, 0);',
           capture.id, marked),
           '      return null;',
           '    end if;',
    case when has_children then concat_ws(E'\n',
           '    if is_double then',
    format('      perform rowrelay.add_change(%s, op::pg_catalog."char", key, hash, null, null, '
           'rowrelay.shared_key());', capture.id),
           '      return null;',
           '    end if;') end,
           '  end if;');
  else
    settled := concat_ws(E'\n',
           '  if is_gone and rowrelay.take_follower(tg_relid, is_at) then',
           '    if op operator(pg_catalog.=) ''i'' then',
           '      return null;',
           '    end if;',
           '    op := ''d'';',
           '    new_row := null;',
           '  end if;');
    noted := concat_ws(E'\n',
           '  if may_nest and op operator(pg_catalog.<>) ''i'' then',
           '    perform rowrelay.note_follower(tg_relid, was_at, id, day);',
           '  end if;');
  end if;
end
$$;
-- Purpose:    returns SQL for whether an update changed the key of a row
-- Parameters: capture
-- Result:     a condition on the rows "new" and "old", null if one of them is missing; null when there is no key
create or replace function rowrelay.rekeyed_expression(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  key_columns constant smallint[] := rowrelay.live_key(capture);
begin
  -- Equal keys have equal texts where the type is exact, and comparing values is cheaper.
  return (
    select case when capture.key_is_exact
                then string_agg(format('%s operator(pg_catalog.<>) %s',
                                       rowrelay.plain_value('new', a.attname, a.atttypid),
                                       rowrelay.plain_value('old', a.attname, a.atttypid)), ' or ' order by u.position)
                else format('(%s) collate pg_catalog."C" operator(pg_catalog.<>) (%s) collate pg_catalog."C"',
                            rowrelay.key_expression(capture.relation, key_columns, 'new'),
                            rowrelay.key_expression(capture.relation, key_columns, 'old')) end
      from unnest(key_columns) with ordinality as u(number, position)
      join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.number and not a.attisdropped);
end
$$;
-- Purpose:    whether a table inherits from another, or from a table that does. A child that no longer inherits keeps
--             its triggers until maintenance drops them, and its rows are not the parent's any more.
-- Parameters: the two tables
-- Result:     false also for the parent itself
create or replace function rowrelay.is_heir(relation oid, parent oid) returns boolean
language plpgsql stable as $$
begin
  return exists (select from pg_catalog.pg_inherits i
                  where i.inhrelid operator(pg_catalog.=) relation and i.inhparent operator(pg_catalog.=) parent)
    or exists (select from pg_catalog.pg_inherits i
                where i.inhrelid operator(pg_catalog.=) relation and rowrelay.is_heir(i.inhparent, parent));
end
$$;
-- Purpose:    returns SQL for whether a trigger function is called for a table that it does not capture. The owner of a
--             partitioned table needs the right to execute it (rowrelay.trigger_grants), and could attach it to another
--             one; a child that no longer inherits has its triggers until maintenance drops them.
-- Parameters: capture
-- Result:     a condition; null for a table that stands alone
create or replace function rowrelay.foreign_table(capture rowrelay.capture) returns text
language plpgsql stable as $$
begin
  return (
    select case when c.relkind = 'p'
                then format('tg_relid operator(pg_catalog.<>) all (%L::pg_catalog.oid[])'
                            ' and pg_catalog.pg_partition_root(tg_relid) is distinct from %L::pg_catalog.regclass',
                            rowrelay.captured_tables(capture)::oid[], c.oid)
                when rowrelay.has_children(capture.relation)
                     or exists (select from pg_depend d join pg_trigger t on t.oid = d.objid
                                 where d.classid = 'pg_trigger'::regclass and d.refclassid = 'pg_proc'::regclass
                                   and d.refobjid = to_regprocedure(format('rowrelay.%I()', 'capture_' || capture.id))
                                   and t.tgrelid <> c.oid)
                then format('tg_relid operator(pg_catalog.<>) %1$s::pg_catalog.oid'
                            ' and not rowrelay.is_heir(tg_relid, %1$s::pg_catalog.oid)', c.oid) end
      from pg_class c where c.oid = capture.relation);
end
$$;
-- Purpose:    returns the body of a function that captures any change of a row of a table: of the function that the
--             table's row triggers run, or of one beside it, to which that passes what it leaves
--             (rowrelay.trigger_function). It is generated for the table, so that its SQL is static and its plans are
--             cached. All names in it have their schema, even operators, so that nothing in the application's session
--             can change what is captured.
--
--             What it does with a row:
--               1. nothing, when this transaction has set rowrelay.skip or is rowrelay's own;
--               2. computes key, lane hash and images, if it knows the row's columns (rowrelay.row_is_known). Only
--                  this part could fail where the application's statement did not (a column was renamed, a row is too
--                  large), so it is guarded, and rowrelay.record_row() captures the change by the slow path instead;
--               3. writes one row to rowrelay.change, and one to rowrelay.queue for each target (rowrelay.log_change).
--                  The INSERT takes the id, when it already holds its lock on rowrelay.change: rowrelay.writers()
--                  relies on it;
--               4. wakes sleeping processes.
--             An update of a key is two changes: the old key deleted, the new one inserted. A change that takes a row
--             out of its lane, while its key stays or may return in another lane, is a barrier, because lanes are not
--             ordered among each other: see rowrelay.can_change_lane(). Writes nested in a statement are captured
--             before those of the statement: see rowrelay.nesting_statements().
-- Parameters: capture; whether it is a function beside the trigger's, with parameters in place of what a trigger knows
--             (rowrelay.rest_function), where each change has both rows
-- Result:     declarations and statements of PL/pgSQL
create or replace function rowrelay.trigger_body(capture rowrelay.capture, is_apart boolean) returns text
language plpgsql stable as $$
declare
  relation     regclass := capture.relation;
  key_columns  smallint[] := rowrelay.live_key(capture);
  lane_columns smallint[] := coalesce(capture.lane_columns, key_columns);
  has_key      boolean := cardinality(key_columns) > 0;
  keeps_before boolean := rowrelay.keeps_before(capture);
  -- without a key, an updated row may have been inserted in another lane
  can_move     boolean := case when has_key then rowrelay.can_change_lane(capture)
                               else coalesce(cardinality(capture.lane_columns), 0) > 0 end;
  -- with a filter the trigger's argument tells the operation: an update may count as insert or delete
  operation    text := case when capture.row_filter is null then 'tg_op' else 'tg_argv[0]' end;
  key_row      text;
  lanes        text;
  logged       text;
  pins         record;
  images       record;
  documents    record;
  nesting      record;
  -- the expressions that stand in it
  new_key      text := rowrelay.key_expression(relation, key_columns, 'new');
  old_key      text := rowrelay.key_expression(relation, key_columns, 'old');
  new_hash     text := rowrelay.hash_expression(capture.id, relation, lane_columns, 'new');
  old_hash     text := rowrelay.hash_expression(capture.id, relation, lane_columns, 'old');
  rekeyed      text := rowrelay.rekeyed_expression(capture);
  new_is_null  text;
  old_is_null  text;
  size         text;
  is_relayed   text := case
    when not capture.capture_origin then ' pg_catalog.current_setting(''rowrelay.origin'', true),' end;
  known        text := rowrelay.row_check(relation, not rowrelay.has_children(relation)
                                                    and rowrelay.row_image((select c.reltype from pg_class c
                                                        where c.oid = relation), 'new')
                                                        = 'pg_catalog.row_to_json(new.*)');
  foreign_to   text := rowrelay.foreign_table(capture);
  -- PL/pgSQL accepts its keywords as fields of a row only after they appeared in quotes.
  own_words    text := (select string_agg(format('new."%1$s", old."%1$s"', a.attname), ', ') from pg_attribute a
                         where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
                           and a.attname = any ('{begin,by,declare,execute,foreach,if,loop,strict,while}'));
begin
  select * into images from rowrelay.image_statements(capture, keeps_before, is_apart);
  -- A user chose this key; a row with a null in it cannot be identified.
  select format('      if %s then raise exception ''its key is null''; end if;',
                string_agg(format('new.%I is null', a.attname), ' or ')),
         format('      if %s then raise exception ''its key is null''; end if;',
                string_agg(format('old.%I is null', a.attname), ' or '))
    into new_is_null, old_is_null
    from pg_attribute a
   where a.attrelid = relation and a.attnum = any (key_columns) and not a.attnotnull
  having count(*) > 0;
  size := case when keeps_before
               then 'pg_catalog.int4pl(coalesce(pg_catalog.pg_column_size(new_row), 0), '
                    'coalesce(pg_catalog.pg_column_size(old_row), 0))'
               else 'coalesce(pg_catalog.pg_column_size(new_row), 0)' end;
  select * into pins
    from rowrelay.pin_statements(relation, key_columns || lane_columns || rowrelay.document_columns(capture.id));
  key_row := rowrelay.key_row(capture);
  select * into documents from rowrelay.document_statements(capture, size, keeps_before, key_row);
  select * into nesting
    from rowrelay.nesting_statements(capture, keeps_before, key_row, old_key, old_hash, rekeyed, can_move,
                                     documents.queueing is not null, images.caveat, is_apart);

  select string_agg(
           format(case when can_move and t.lanes > 1 then 'case when moves then %1$s else %2$s end' else '%2$s' end,
                  rowrelay.lane_number(t.id, -1) + room,
                  format('pg_catalog.int4pl(%s, pg_catalog.mod(pg_catalog.int4and(hash, 2147483647), %s))',
                         rowrelay.lane_number(t.id, 0) + room, t.lanes)),
           E',\n         ' order by t.id)
    into lanes
    from rowrelay.route r join rowrelay.target t on t.id = r.target
    cross join lateral rowrelay.waiting_room(r.capture, r.target) as room
   where r.capture = capture.id and r.until_id is null and t.dropped_at is null;

  -- Mark inserts and deletes that are really updates across the row filter.
  if capture.row_filter is not null then
    images.caveat := format('case when tg_op operator(pg_catalog.=) ''UPDATE'' and op operator(pg_catalog.<>) ''u'''
                            ' and pg_catalog.lower(tg_argv[0]) operator(pg_catalog.<>) ''update'' then %s else %s end',
                            case when images.caveat is null then '''{"filtered":true}''::pg_catalog.json'
                                 else format('pg_catalog.json_strip_nulls(pg_catalog.json_build_object(''filtered'', '
                                             'true,'
                                             ' ''text_columns'', (%s) operator(pg_catalog.->) ''text_columns''))',
                                               images.caveat) end,
                            coalesce(images.caveat, 'null'));
  end if;
  logged := format(
      'rowrelay.log_change(%s, op::pg_catalog."char", key, actor, db_user, old_row, new_row, %s, %s, %s)', capture.id,
                   coalesce(images.caveat, 'null'), coalesce('array[' || lanes || ']', 'null'), size);

  return concat_ws(E'\n',
           'declare',
           '  key      pg_catalog.text;',
           -- %type and text wherever possible: each type name that PostgreSQL has to look up costs a session 2 kB per
           -- table
    format('  op       key%%type := pg_catalog.left(pg_catalog.lower(%s), 1);', operation),
           '  hash     pg_catalog.int4;',
           '  new_row  pg_catalog.json;',
           '  old_row  new_row%type;',
    nesting.declarations,
    case when can_move then
           '  moves    is_gone%type;' end,
    case when nesting.noted is not null or documents.queueing is not null then concat_ws(E'\n',
           '  id       pg_catalog.int8;',
           '  day      pg_catalog.date;') end,
           '  actor    key%type;',
           '  db_user  key%type;',
    images.declarations,
    documents.declarations,
    pins.declarations,
           'begin',
           -- one check of all rarely used settings
    format('  if pg_catalog.concat(pg_catalog.current_setting(''rowrelay.skip'', true),%s', is_relayed),
           '       pg_catalog.current_setting(''rowrelay.actor'', true), pg_catalog.current_setting(''role'')) '
           'operator(pg_catalog.<>) ''none''',
           '  then',
    format('    if rowrelay.is_left_out(%L) then', capture.capture_origin),
           '      return null;',
           '    end if;',
           '    actor := rowrelay.actor();',
           '    db_user := rowrelay.db_user();',
           '  end if;',
           '',
    case when foreign_to is not null then concat_ws(E'\n',
    format('  if %s then', foreign_to),
    case when (select c.relkind = 'p' from pg_class c where c.oid = relation) then
           '    raise exception ''table % is not captured by this trigger'', tg_relid::pg_catalog.regclass using '
           'errcode = ''insufficient_privilege'';' else
           '    return null;' end,
           '  end if;') end,
           '  begin',
    case when own_words is not null then
      format(E'    if false then\n      key := pg_catalog.concat(%s);\n    end if;', own_words) end,
    pins.pin,
    -- first, because a row with other columns must not be processed
    format('    hash := case when %s then case when op operator(pg_catalog.<>) ''d'' then %s else %s end else '
           'rowrelay.raise_altered() end;',
           known, new_hash, old_hash),
    format('    key := case when op operator(pg_catalog.<>) ''d'' then %s else %s end;', new_key, old_key),
    case when new_is_null is not null or can_move then concat_ws(E'\n',
           '    if op operator(pg_catalog.<>) ''d'' then',
    new_is_null,
    case when old_is_null is not null then concat_ws(E'\n',
           '      if op operator(pg_catalog.=) ''u'' then',
    old_is_null,
           '      end if;') end,
    case when can_move then
      -- a key with only another spelling is the same row, so the row moves too
      format('      moves := op operator(pg_catalog.=) ''u'' and %shash operator(pg_catalog.<>) %s;',
             case when has_key and capture.key_is_exact then format('not (%s) and ', rekeyed) end, old_hash) end,
           '    end if;') end,
    case when old_is_null is not null or can_move or not keeps_before then concat_ws(E'\n',
           '    if op operator(pg_catalog.=) ''d'' then',
    case when can_move then
           '      moves := true;' end,
    old_is_null,
    case when not keeps_before then
      format('      old_row := %s;', key_row) end,
           '    end if;') end,
    nesting.guarded,
    images.statements,
    documents.guarded,
    pins.unpin,
           '  exception when others then',
           '    declare',
           '      problem key%type := sqlerrm;',
           '    begin',
    images.restore,
    case when not is_apart then
           '      begin' end,
           -- system columns such as ctid are lost after an assignment to the row
    format('      perform rowrelay.record_row(%s, %s, %s, problem, tg_relid,', capture.id, operation,
           case when is_apart or images.restore is not null -- in an INSERT, old may be a row of nulls by now
                then 'case when tg_op operator(pg_catalog.<>) ''INSERT'' then old end, '
                     'case when tg_op operator(pg_catalog.<>) ''DELETE'' then new end'
                else 'old, new' end),
    format('        coalesce(is_at::pg_catalog.tid, case when %s operator(pg_catalog.<>) 0 then %s end)%s);',
           rowrelay.system_column('new', 'xmax', is_apart), rowrelay.system_column('new', 'ctid', is_apart),
           case when not has_key then ', coalesce(was_at, old.ctid)' end),
    case when not is_apart then concat_ws(E'\n',
           '      exception when program_limit_exceeded or out_of_memory or internal_error then',
    format('        return rowrelay.record_key(%s, %s, %s, %s, %s, problem);', capture.id, operation, old_key,
           new_key, key_row),
           '      end;') end,
           '      return null;',
           '    end;',
           '  end;',
           '',
    nesting.settled,
    -- an assignment is cheaper than PERFORM
    format('  is_gone := %s;', logged),
    case when nesting.noted is not null or documents.queueing is not null then concat_ws(E'\n',
             '  id := pg_catalog.currval(''rowrelay.change_id''::pg_catalog.regclass);',
             '  day := rowrelay.partition_day();') end,
    nesting.noted,
    documents.queueing,
    case when documents.queueing is not null then concat_ws(E'\n',
             '  if id operator(pg_catalog.<=) '
             'pg_catalog.pg_sequence_last_value(''rowrelay.doorbell''::pg_catalog.regclass) then',
             '    perform rowrelay.ring_doorbell();',
             '  end if;') end,
           -- the result does not matter, and a variable needs no plan
    case when is_apart then
           '  return null;' else
           '  return old;' end,
           'end');
end
$$;
-- Purpose:    whether a value may have so much text that a row of such values has no image: more than a gigabyte. A
--             numeric has 150 kB at most, and a row has room for some 400 of them.
-- Parameters: the type of a column
create or replace function rowrelay.may_be_large(of_type oid) returns boolean
language sql stable as $$
  select t.typlen = -1 and t.oid not in ('numeric'::regtype, 'inet'::regtype, 'cidr'::regtype)
    from pg_type t where t.oid = rowrelay.base_type(of_type)
$$;
-- Purpose:    returns SQL for whether a row is so small that no image of it can be too large for PostgreSQL: stored
--             values may be compressed to a 255th of their size and grow by six in JSON, and an image may have a
--             gigabyte. Values are looked at one by one: the row itself may be too large to be passed to a function.
-- Parameters: relation; name of the row; one that is null counts as small
-- Result:     a condition; null for a table all of whose rows are small
create or replace function rowrelay.small_row(relation regclass, row_name text) returns text
language plpgsql stable as $$
begin
  return (
    select format('coalesce(greatest(%s), 0) operator(pg_catalog.<) %s',
                  string_agg(format('pg_catalog.pg_column_size(%s.%I)', row_name, a.attname), ', ' order by a.attnum),
                  least(100000, 500000 / count(*)))
      from pg_attribute a
     where a.attrelid = relation and a.attnum > 0 and not a.attisdropped and rowrelay.may_be_large(a.atttypid)
    having count(*) > 0);
end
$$;
-- Purpose:    returns the name of the function beside a trigger function; see rowrelay.rest_function()
-- Parameters: capture id
create or replace function rowrelay.rest_name(capture_id integer) returns text
language sql immutable as $$ select 'capture_' || capture_id || '_rest' $$;
-- Purpose:    whether the trigger function of a table can be made of two, of which the first captures ordinary rows
--             (rowrelay.ordinary_body)
-- Parameters: capture
-- Result:     false for a table with a filter, excluded or masked columns, documents, rows that change lanes, no key, a
--             key that may be null, inheritance children, or columns whose types or names need more
create or replace function rowrelay.has_ordinary_rows(capture rowrelay.capture) returns boolean
language plpgsql stable as $$
declare
  relation    constant regclass := capture.relation;
  key_columns constant smallint[] := rowrelay.live_key(capture);
begin
  return cardinality(key_columns) > 0 and capture.row_filter is null and not rowrelay.can_change_lane(capture)
     and not rowrelay.has_children(relation)
     and rowrelay.row_image((select c.reltype from pg_class c where c.oid = relation), 'new')
           = 'pg_catalog.row_to_json(new.*)'
     and not exists (select from pg_attribute a
                      where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
                        and (a.attnum = any (key_columns) and not a.attnotnull
                             or a.attname = any ('{begin,by,declare,execute,foreach,if,loop,strict,while}')))
     and not exists (select from rowrelay.document_source s join rowrelay.target t on t.id = s.document
                      where s.capture = capture.id and t.dropped_at is null)
     and not exists (select from rowrelay.image_columns(capture) as i
                      where i.keep is not null or cardinality(i.leave_out) > 0 or i.masks::text <> '{}')
     -- The size of an array, jsonb or a multirange does not bound that of its text: numbers in it may have 131,072
     -- digits, and nulls take a bit.
     and not exists (select from pg_attribute a
                      cross join lateral (select rowrelay.base_type(a.atttypid) as oid offset 0) as b
                       join pg_type t on t.oid = b.oid
                      where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
                        and (t.typelem <> 0 and t.typlen = -1 or t.typtype = 'm' or t.oid = 'jsonb'::regtype))
     -- each of them makes the function larger
     and (select count(*) <= 4 from rowrelay.awkward_columns(relation))
     -- no application has this one as it would have to be
     and not exists (select from rowrelay.pinned_settings(relation, key_columns || capture.lane_columns) as p
                      where p.name = 'search_path');
end
$$;
-- Purpose:    returns the body of a trigger function that captures ordinary rows of a table, and passes all others on
--             to the function beside it (rowrelay.rest_function), which captures any row. A session keeps a compiled
--             copy of each function and its plans, for each table that it writes to; so this one is short, and rows for
--             which it is not enough are rare: a key was changed, another write to the row may have been captured
--             before (rowrelay.nesting_statements), the row is large, the table was altered, the transaction leaves its
--             rows out.
--
--             Nothing in it can fail where the application's statement did not, so nothing is guarded: all columns have
--             built-in types, and an image of a small row fits. Only passing on a large row is: see
--             rowrelay.record_key(). See rowrelay.trigger_body() for what is done with a row.
-- Parameters: capture
-- Result:     declarations and statements of PL/pgSQL; null for a table without ordinary rows
create or replace function rowrelay.ordinary_body(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  relation     constant regclass := capture.relation;
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  is_firm      constant boolean := rowrelay.key_is_unique(capture);
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  old_image    constant text := case when keeps_before then 'pg_catalog.row_to_json(old.*)' end;
  name         constant text := rowrelay.full_name(relation);
  new_is_small constant text := rowrelay.small_row(relation, 'new'); -- null: always
  old_is_small constant text := rowrelay.small_row(relation, 'old');
  has_timezone boolean;
  known        text;
  is_ordinary  text;
  new_is_awkward text; -- conditions on the rows, null for a table without such columns
  old_is_awkward text;
  lanes        text;
  logged       text;
begin
  if rowrelay.has_ordinary_rows(capture) is not true then
    return null;
  end if;

  -- What this transaction leaves out must cost it nothing, so that is asked first.
  with pinned as materialized (
    select p.* from rowrelay.pinned_settings(relation, key_columns || lane_columns) as p
  )
  select concat_ws(E'\n     and ',
           format('pg_catalog.concat(pg_catalog.current_setting(''rowrelay.skip'', true)%s)'
                  ' operator(pg_catalog.=) ''''',
                  case when not capture.capture_origin then
                    ', pg_catalog.current_setting(''rowrelay.origin'', true)' end),
           format('rowrelay.row_is_unaltered(%L::pg_catalog.regclass, %L::pg_catalog.oid[], %L::pg_catalog.text[], '
                  '%L::pg_catalog.oid[])', relation::oid, array_agg(a.atttypid order by a.attnum),
                  array_agg(a.attname order by a.attnum) filter (where n.is_named),
                  array_agg(a.atttypid order by a.attnum) filter (where n.is_named)),
           (select string_agg(format('pg_catalog.current_setting(%L) operator(pg_catalog.=) any '
                                     '(%L::pg_catalog.text[])', p.name, p.good), E'\n     and ' order by p.name)
              from pinned p where p.name <> 'timezone'),
           'not (' || rowrelay.foreign_table(capture) || ')'),
         exists (select from pinned p where p.name = 'timezone')
    into known, has_timezone
    from pg_attribute a
   cross join lateral (select a.attnum = any (key_columns || lane_columns)
                              or rowrelay.may_be_large(a.atttypid) -- rowrelay.small_row() names it
                              or a.attname in (select w.name from rowrelay.awkward_columns(relation) as w))
           as n(is_named)
   where a.attrelid = relation and a.attnum > 0 and not a.attisdropped;
  select string_agg(format(w.condition, format('new.%I', w.name)), ' or '),
         string_agg(format(w.condition, format('old.%I', w.name)), ' or ')
    into new_is_awkward, old_is_awkward
    from rowrelay.awkward_columns(relation) as w;
  select concat_ws(E'\n        and ', format('(%s) is not true', rowrelay.rekeyed_expression(capture)),
                   '(new.xmax operator(pg_catalog.=) 0 or is_last)',
                   new_is_small, case when keeps_before then old_is_small end,
                   '(' || new_is_awkward || ') is not true',
                   case when keeps_before then '(' || old_is_awkward || ') is not true' end)
    into is_ordinary;
  select coalesce(string_agg(format('%s,%s', rowrelay.lane_number(t.id, 0) + room, t.lanes), ',' order by t.id), '')
    into lanes
    from rowrelay.route r join rowrelay.target t on t.id = r.target
    cross join lateral rowrelay.waiting_room(r.capture, r.target) as room
   where r.capture = capture.id and r.until_id is null and t.dropped_at is null;
  logged := format('rowrelay.log_row(%s, tg_op, %%s, %%s, %%s, %%s, %L, %L, %s)', capture.id,
                   keeps_before, '{' || lanes || '}',
                   case when has_timezone then 'former_timezone' else 'null' end);

  return concat_ws(E'\n',
           'declare',
           -- each type that is named costs a session two kilobytes
           '  is_last found%type;',
    case when has_timezone then
           '  former_timezone tg_op%type;' end,
           'begin',
    format('  while %s', known),
           '  loop',
    case when has_timezone then concat_ws(E'\n',
           '    former_timezone := case when pg_catalog.current_setting(''timezone'')'
           ' operator(pg_catalog.<>) all (''{UTC,Etc/UTC}''::pg_catalog.text[]) then rowrelay.change_timezone() end;')
    end,
           '    if (case when tg_op operator(pg_catalog.<>) ''DELETE'' then',
    format(E'      case when %s then\n        %s%s end', is_ordinary,
           format(logged, rowrelay.key_expression(relation, key_columns, 'new'),
                  rowrelay.hash_expression(capture.id, relation, lane_columns, 'new'),
                  case when keeps_before then
                    format('case when tg_op operator(pg_catalog.=) ''UPDATE'' then %s end', old_image)
                  else 'null' end,
                  'pg_catalog.row_to_json(new.*)'),
           case when has_timezone then E'\n        else rowrelay.restore_timezone(former_timezone)' end),
    case when is_firm then
    format(E'    when (is_last or not rowrelay.may_be_back(tg_relid))%s then\n        %s',
           case when keeps_before then
             concat_ws(' and ', '', old_is_small,
                       '(' || old_is_awkward || ') is not true')
           end,
           format(logged, rowrelay.key_expression(relation, key_columns, 'old'),
                  rowrelay.hash_expression(capture.id, relation, lane_columns, 'old'),
                  coalesce(old_image, rowrelay.key_row(capture)), 'null')) end,
    case when has_timezone then
           '    else rowrelay.restore_timezone(former_timezone)' end,
           '    end) then',
           -- the result does not matter, and a variable needs no plan
           '      return old;',
           '    end if;',
           '    exit when is_last is not null;',
           '    is_last := false;',
           '    begin',
    format('      if rowrelay.may_look(tg_relid, %s, %L) then', relation::oid, name),
           '        if tg_op operator(pg_catalog.=) ''DELETE'' then',
    format('          is_last := not exists (select from %s as t where %s and %s);', name,
           rowrelay.same_key(capture, 't', 'old'), rowrelay.same_row_type('t.*', 'old.*')),
           '        else',
    case when (select c.relkind = 'p' from pg_class c where c.oid = relation) then
           '          is_last := not rowrelay.is_superseded(tg_relid, new.ctid, new);' else
    format('          is_last := exists (select from only %s as t'
           ' where t.ctid operator(pg_catalog.=) new.ctid and %s);', name, rowrelay.same_row_type('t.*', 'new.*')) end,
           '        end if;',
           '      end if;',
           '    exception when others then', -- then nothing is known
           '    end;',
           '  end loop;',
    case when new_is_small is not null then
           '  begin' end, -- as one value the row may be too large to be passed on
    format('  return rowrelay.%I(tg_op, tg_relid, coalesce(old, new), coalesce(new, old),',
           rowrelay.rest_name(capture.id)),
           '    new.xmax, new.xmin, new.cmin, new.ctid, old.xmax, old.xmin, old.cmax);',
    case when new_is_small is not null then concat_ws(E'\n',
           '  exception when program_limit_exceeded or out_of_memory or internal_error then',
    format('    return rowrelay.record_key(%s, tg_op, %s, %s, %s, sqlerrm);', capture.id,
           rowrelay.key_expression(relation, key_columns, 'old'),
           rowrelay.key_expression(relation, key_columns, 'new'), rowrelay.key_row(capture)),
           '  end;') end,
           'end');
end
$$;
-- Purpose:    tells why a table of its kind cannot be captured by statement: the statement triggers of a table are not
--             fired for its partitions and inheritance children, when these are written to by their own names
-- Parameters: relation
-- Result:     the reason; null: it is of no such kind
create or replace function rowrelay.kind_obstacle(relation regclass) returns text
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  return case
    when exists (select from pg_class c where c.oid = relation and c.relkind = 'p') then 'it is partitioned'
    when exists (select from pg_class c where c.oid = relation and c.relispartition) then 'it is a partition'
    when exists (select from pg_inherits i where i.inhrelid = relation) then 'it is an inheritance child'
    when rowrelay.has_children(relation) then 'it has inheritance children'
  end;
end
$$;
-- Purpose:    tells why a table cannot be captured by statement (rowrelay.statement_body)
-- Parameters: capture
-- Result:     the reason; null: it can be
create or replace function rowrelay.statement_obstacle(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  obstacle text := rowrelay.kind_obstacle(capture.relation);
begin
  return case
    when obstacle is not null then obstacle
    when capture.row_filter is not null then 'it has a row filter'
    when not rowrelay.key_is_unique(capture) then 'it has no key that is certainly unique'
    when capture.key_is_exact is not true then 'equal keys may have different texts'
    when rowrelay.can_change_lane(capture) then 'a column that is not in the key chooses its lane'
    when exists (select from rowrelay.document_source s join rowrelay.target t on t.id = s.document
                  where s.capture = capture.id and t.dropped_at is null) then
      'documents are built from it'
    when exists (select from rowrelay.image_columns(capture) as i
                  where i.keep is not null or cardinality(i.leave_out) > 0 or i.masks::text <> '{}') then
      'columns are left out or masked'
    -- PostgreSQL 18 has columns that are made when they are read: transition tables lack their values
    when exists (select from pg_attribute a
                  where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
                    and a.attgenerated = 'v') then
      'it has a virtual generated column'
    when not rowrelay.has_ordinary_rows(capture) then 'it has columns of types that are captured one by one'
    -- both images of a row would have to take the same form
    when rowrelay.keeps_before(capture)
         and exists (select from rowrelay.awkward_columns(capture.relation)) then
      'it keeps the image before, and has a json column'
  end;
end
$$;
-- Purpose:    whether a capture has statement triggers: that is wanted, and possible
-- Parameters: capture
create or replace function rowrelay.is_by_statement(capture rowrelay.capture) returns boolean
language plpgsql stable as $$
begin
  return capture.per = 'statement' and rowrelay.statement_obstacle(capture) is null;
end
$$;
-- Purpose:    returns a query for the rows of a writer's statement one by one, for what cannot be captured in one
--             statement. It is made of the present catalogs, as rowrelay.record_row() captures rows.
-- Parameters: capture id; TG_OP; TG_RELID; attempt: 1 looks at what the table has now; 2 does not, because that may
--             fail (columns that this transaction cannot see yet); 3 gives only the keys of rows that may be too large
--             for one value
-- Result:     a query that gives old_row and new_row, null where there is none; at: null, or the place of the new
--             version, which is one that nobody has if the row is another by now; is_large; for large ones old_key,
--             new_key, key_row
create or replace function rowrelay.statement_rows(capture_id integer, operation text, relation oid, attempt integer)
  returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  -- as the caller will have its search_path
  name    constant text := (select format('%I.%I', n.nspname, c.relname)
                              from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = relation);
  capture rowrelay.capture;
  keys    smallint[];
  at      text := 'null';
  is_large text := 'false';
  old_key text := 'null';
  new_key text := 'null';
  key_row text := 'null';
begin
  if attempt <> 2 then
    select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
    keys := rowrelay.live_key(capture);
  end if;
  if attempt = 1 and cardinality(keys) > 0 and not row_security_active(relation) then
    at := format('coalesce((select t.ctid from only %s as t where %s and t.* operator(pg_catalog.*=) new.* limit 1), '
                 '''(0,0)'')', name, rowrelay.same_key(capture, 't', 'new'));
  elsif attempt = 3 then
    old_key := rowrelay.key_expression(capture.relation, keys, 'old');
    new_key := rowrelay.key_expression(capture.relation, keys, 'new');
    key_row := rowrelay.key_row(capture);
    is_large := '(%s) is not true';
  end if;
  return (
    with side as (
      select s.side, format('select pg_catalog.row_number() over () as place, case when %s then null::%s else %s end '
                            'as row, %s as is_large, %s::pg_catalog.text as key, %s::pg_catalog.json as key_row, '
                            '%s::pg_catalog.tid as at from rowrelay_%s as %s',
                            format(is_large, coalesce(rowrelay.small_row(relation, s.side), 'true')), name,
                            format('%s::%s', s.side, name),
                            format(is_large, coalesce(rowrelay.small_row(relation, s.side), 'true')),
                            case s.side when 'old' then old_key else new_key end,
                            case s.side when 'old' then key_row else 'null' end,
                            case s.side when 'old' then 'null' else at end, s.side, s.side) as query
        from (values ('old'), ('new')) as s(side)
    )
    select case operation
             when 'INSERT' then format('select null::%s as old_row, n.row as new_row, n.is_large, '
                                       'null::pg_catalog.text '
                                       'as old_key, n.key as new_key, n.key_row, n.at from (%s) as n order by n.place',
                                       name, n.query)
             when 'DELETE' then format('select o.row as old_row, null::%s as new_row, o.is_large, o.key as old_key, '
                                       'null::pg_catalog.text as new_key, o.key_row, o.at from (%s) as o '
                                       'order by o.place', name, o.query)
             else format('select o.row as old_row, n.row as new_row, o.is_large or n.is_large as is_large, '
                         'o.key as old_key, n.key as new_key, o.key_row, n.at from (%s) as o full join (%s) as n '
                         'on n.place operator(pg_catalog.=) o.place order by n.place', o.query, n.query) end
      from side o, side n where o.side = 'old' and n.side = 'new');
end
$$;
-- Purpose:    returns the statement that logs and queues all rows of a writer's statement at once, with the same
--             contents as the row triggers and ids in the order of the rows. See rowrelay.statement_body().
-- Parameters: capture; operation: TG_OP; looks: whether to compare with what the table has now; is_paired: whether an
--             update needs both versions of each row; given: what stands for the day, who made the change and the
--             user, in this order
-- Result:     a statement that reads rowrelay_old and rowrelay_new
create or replace function rowrelay.statement_changes(capture rowrelay.capture, operation text, looks boolean,
                                                      is_paired boolean, given text[]) returns text
language plpgsql stable as $$
declare
  relation     constant regclass := capture.relation;
  name         constant text := rowrelay.full_name(relation);
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  new_image    constant record := rowrelay.image_expression(capture, 'new');
  old_image    constant text := case when keeps_before then (rowrelay.image_expression(capture, 'old')).image end;
  old_keys     constant text := format('%s as key, %s as hash', rowrelay.key_expression(relation, key_columns, 'old'),
                                       rowrelay.hash_expression(capture.id, relation, lane_columns, 'old'));
  new_keys     constant text := format('%s as key, %s as hash', rowrelay.key_expression(relation, key_columns, 'new'),
                                       rowrelay.hash_expression(capture.id, relation, lane_columns, 'new'));
  marked       constant text := '''{"left_out":true}''::pg_catalog.json';
  -- Without OFFSET they might become a join with all of the table.
  is_last      constant text := format(
    ' cross join lateral (select exists (select from %s as t where %s and t.* operator(pg_catalog.*=) new.* offset 0)'
    ' as is_last offset 0) as l', name, rowrelay.same_key(capture, 't', 'new'));
  is_gone      constant text := format(
    ' cross join lateral (select not exists (select from %s as t where %s offset 0) as is_last offset 0) as l', name,
    rowrelay.same_key(capture, 't', 'old'));
  caveat       constant text := case when new_image.text_columns is null then 'null::pg_catalog.json' else format(
    '(select case when c.names operator(pg_catalog.<>) ''{}'' then pg_catalog.json_build_object(''text_columns'', '
    'c.names) end from (select %s) as c(names))', new_image.text_columns) end;
  changes      text;
  lanes        text;
  logged       text;
begin
  if operation = 'DELETE' then
    changes := format('select %s as op, %s, %s as old_row, null::pg_catalog.json as new_row, %s as caveat '
                      'from rowrelay_old as old%s',
                      case when looks then 'case when l.is_last then ''d'' else ''r'' end' else '''d''' end,
                      old_keys,
                      format(case when looks then 'case when l.is_last then %s end' else '%s' end,
                             coalesce(old_image, rowrelay.key_row(capture))),
                      case when looks then format('case when not l.is_last then %s end', marked)
                           else 'null::pg_catalog.json' end,
                      case when looks then is_gone end);
  elsif is_paired then
    changes := format(
      'select case when w.step operator(pg_catalog.=) 1 then case when o.is_last then ''d'' else ''r'' end '
      'when not n.is_last then ''r'' when w.is_other then ''i'' else ''u'' end as op, '
      'case when w.step operator(pg_catalog.=) 1 then o.key else n.key end as key, '
      'case when w.step operator(pg_catalog.=) 1 then o.hash else n.hash end as hash, '
      'case when w.step operator(pg_catalog.=) 1 then case when o.is_last then o.key_row end%s end as old_row, '
      'case when w.step operator(pg_catalog.=) 2 and n.is_last then n.image end as new_row, '
      'case when not case when w.step operator(pg_catalog.=) 1 then o.is_last else n.is_last end then %s '
      'when w.step operator(pg_catalog.=) 2 then n.caveat end as caveat, w.is_other '
      -- a full join is never a nested loop, which would take the square of the time
      'from (select pg_catalog.row_number() over () as place, %s, %s as is_last, %s as key_row%s '
      'from rowrelay_old as old%s) as o '
      'full join (select pg_catalog.row_number() over () as place, %s, %s as is_last, %s as image, %s as caveat '
      'from rowrelay_new as new%s) as n on n.place operator(pg_catalog.=) o.place '
      'cross join lateral (select 1 as step, true as is_other where (o.key collate pg_catalog."C") '
      'operator(pg_catalog.<>) n.key union all select 2, (o.key collate pg_catalog."C") operator(pg_catalog.<>) '
      'n.key) as w order by o.place, w.step',
      case when keeps_before then ' when n.is_last and not w.is_other then o.image' end, marked,
      old_keys, case when looks then 'l.is_last' else 'true' end,
      case when keeps_before then old_image else rowrelay.key_row(capture) end,
      case when keeps_before then format(', %s as image', old_image) end,
      case when looks then is_gone end,
      new_keys, case when looks then 'l.is_last' else 'true' end, new_image.image, caveat,
      case when looks then is_last end);
  else
    changes := format('select %s as op, %s, null::pg_catalog.json as old_row, %s as new_row, %s as caveat '
                      'from rowrelay_new as new%s',
                      format(case when looks then 'case when l.is_last then %1$L else ''r'' end' else '%1$L' end,
                             lower(left(operation, 1))),
                      new_keys,
                      format(case when looks then 'case when l.is_last then %s end' else '%s' end, new_image.image),
                      format(case when looks then 'case when l.is_last then %s else %s end' else '%s' end, caveat,
                             marked),
                      case when looks then is_last end);
  end if;

  select string_agg(format('(%s, %s)', rowrelay.lane_number(t.id, 0) + room, t.lanes), ', ' order by t.id)
    into lanes
    from rowrelay.route r join rowrelay.target t on t.id = r.target
    cross join lateral rowrelay.waiting_room(r.capture, r.target) as room
   where r.capture = capture.id and r.until_id is null and t.dropped_at is null;
  logged := format(
    'insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, actor, db_user, application_name, '
    'client_addr, old_row, new_row, caveat) '
    'select c.id, pg_catalog.pg_current_xact_id(), pg_catalog.clock_timestamp(), %s, %s, c.op::pg_catalog."char", '
    'c.key, %s, %s, pg_catalog.current_setting(''application_name''), rowrelay.client_addr(), c.old_row, c.new_row, '
    'c.caveat from told as c', given[1], capture.id,
    -- as rowrelay.add_change() tells of a key that was given away
    case when is_paired then format('case when c.is_other and c.op operator(pg_catalog.=) ''d'' then coalesce(%1$s, '
                                    'session_user::pg_catalog.text) else %1$s end', given[2])
         else given[2] end,
    given[3]);
  return concat(
    'with told as materialized (select pg_catalog.nextval(''rowrelay.change_id''::pg_catalog.regclass) as id, ',
    -- as pg_column_size() measures a value that is not packed yet
    'coalesce(pg_catalog.int4pl(4, pg_catalog.octet_length(w.new_row::pg_catalog.text)), 0)',
    case when keeps_before or is_paired then
      ' operator(pg_catalog.+) coalesce(pg_catalog.octet_length(w.old_row::pg_catalog.text), 0)'
      ' operator(pg_catalog.+) case when w.old_row::pg_catalog.text is null then 0'
      || case when is_paired then
           -- as rowrelay.enqueue() measures it: packed
           ' when w.op operator(pg_catalog.=) ''d'''
           ' and pg_catalog.octet_length(w.old_row::pg_catalog.text) operator(pg_catalog.<) 127 then 1'
         else '' end
      || ' else 4 end'
    end,
    ' as bytes, w.* from (', changes, ' offset 0) as w)',
    case when lanes is null then ' ' || logged
         else format(', logged as (%s) insert into rowrelay.queue (change_id, lane, day, bytes) '
                     'select c.id, pg_catalog.int4pl(t.first, pg_catalog.mod(pg_catalog.int4and(c.hash, 2147483647), '
                     't.lanes)), %s, c.bytes from told as c cross join (values %s) as t(first, lanes)'
                     ' where c.op operator(pg_catalog.<>) ''r''',
                     logged, given[1], lanes) end);
end
$$;
-- Purpose:    returns the first statements of rowrelay.statement_body(): what the transaction leaves out, and who makes
--             the changes
-- Parameters: capture
create or replace function rowrelay.statement_head(capture rowrelay.capture) returns text
language sql stable as $$
  select concat_ws(E'\n',
    format('  if pg_catalog.concat(pg_catalog.current_setting(''rowrelay.skip'', true), '
           'pg_catalog.current_setting(''rowrelay.origin'', true),'),
           '       pg_catalog.current_setting(''rowrelay.actor'', true), pg_catalog.current_setting(''role'')) '
           'operator(pg_catalog.<>) ''none''',
           '  then',
    format('    if rowrelay.is_left_out(%L) then', capture.capture_origin),
           '      return null;',
           '    end if;',
           '    who := rowrelay.actor();',
           '    as_user := rowrelay.db_user();',
           '  end if;')
$$;
-- Purpose:    returns the statements of rowrelay.statement_body() that capture rows one by one
-- Parameters: capture id
create or replace function rowrelay.statement_fallback(capture_id integer) returns text
language sql stable as $$
  select concat_ws(E'\n',
           '  for attempt in 1 .. 3 loop',
           '    begin',
    format('      for given in execute rowrelay.statement_rows(%s, tg_op, tg_relid, attempt) loop', capture_id),
           '        if given.is_large then',
    format('          perform rowrelay.record_key(%s, tg_op, given.old_key, given.new_key, given.key_row, problem);',
           capture_id),
           '        else',
    format('          perform rowrelay.record_row(%s, tg_op, case when tg_op operator(pg_catalog.<>) ''INSERT'' then '
           'given.old_row end, case when tg_op operator(pg_catalog.<>) ''DELETE'' then given.new_row end, problem, '
           'tg_relid, given.at);', capture_id),
           '        end if;',
           '      end loop;',
           '      return null;',
           '    exception when others then',
           '      if attempt operator(pg_catalog.=) 3 then',
           '        raise;',
           '      end if;',
           '      problem := sqlerrm;',
           '    end;',
           '  end loop;',
           '  return null;')
$$;
-- Purpose:    returns the statements of rowrelay.statement_body() that count the rows, and find out whether there are
--             few and small ones, whose images cannot fail, and whether an update changed keys
-- Parameters: capture; few: how many rows at most are looked at one by one
create or replace function rowrelay.statement_counts(capture rowrelay.capture, few integer) returns text
language plpgsql stable as $$
declare
  relation     constant regclass := capture.relation;
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  new_is_small text;
  old_is_small text;
  rekeyed      text;
begin
  select concat_ws(' and ', rowrelay.small_row(relation, 'new'),
                   '(' || string_agg(format(w.condition, format('new.%I', w.name)), ' or ') || ') is not true')
    into new_is_small from rowrelay.awkward_columns(relation) as w;
  old_is_small := case when keeps_before then coalesce(rowrelay.small_row(relation, 'old'), '') else '' end;
  -- arrays are equal where all keys are, in their order
  select string_agg(format('(select pg_catalog.array_agg(%s) from rowrelay_new as new) operator(pg_catalog.<>) '
                           '(select pg_catalog.array_agg(%s) from rowrelay_old as old)',
                           rowrelay.plain_value('new', a.attname, a.atttypid),
                           rowrelay.plain_value('old', a.attname, a.atttypid)), E'\n        or ' order by a.attnum)
    into rekeyed
    from pg_attribute a where a.attrelid = relation and a.attnum = any (key_columns);

  return concat_ws(E'\n',
           '    if tg_op operator(pg_catalog.=) ''DELETE'' then',
    format('      select pg_catalog.count(*), %s into counted, is_small',
           case when old_is_small <> '' then format('coalesce(pg_catalog.bool_and(%s), true)', old_is_small)
                else 'true' end),
    format('        from (select * from rowrelay_old as t limit %s) as old;', few + 1),
           '    elsif tg_op operator(pg_catalog.=) ''INSERT'' then',
    format('      select pg_catalog.count(*), %s into counted, is_small',
           case when new_is_small <> '' then format('coalesce(pg_catalog.bool_and(%s), true)', new_is_small)
                else 'true' end),
    format('        from (select * from rowrelay_new as t limit %s) as new;', few + 1),
           '    else',
    format('      select pg_catalog.count(*), %s into counted, is_small',
           case when new_is_small <> '' then format('coalesce(pg_catalog.bool_and(%s), true)', new_is_small)
                else 'true' end),
    format('        from (select * from rowrelay_new as t limit %s) as new;', few + 1),
    case when old_is_small <> '' then concat_ws(E'\n',
    format('      is_small := is_small and (select coalesce(pg_catalog.bool_and(%s), true)', old_is_small),
    format('        from (select * from rowrelay_old as t limit %s) as old);', few + 1)) end,
           '    end if;',
           '    if counted operator(pg_catalog.=) 0 then',
           '      return null;',
           '    end if;',
    format('    if counted operator(pg_catalog.>) %s then', few),
           '      is_small := false;',
           '      if tg_op operator(pg_catalog.=) ''DELETE'' then',
           '        counted := (select pg_catalog.count(*) from rowrelay_old as old);',
           '      else',
           '        counted := (select pg_catalog.count(*) from rowrelay_new as new);',
           '      end if;',
    case when not keeps_before then concat_ws(E'\n',
           '      is_other := tg_op operator(pg_catalog.=) ''UPDATE'';', -- to be found out
           '    elsif tg_op operator(pg_catalog.=) ''UPDATE'' then',
    format('      is_other := %s;', rekeyed)) end,
           '    end if;');
end
$$;
-- Purpose:    returns the statements of rowrelay.statement_body() for few small rows: nothing can fail, and plans are
--             kept
-- Parameters: capture
create or replace function rowrelay.statement_few(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  given        constant text[] := '{today,who,as_user}';
begin
  return concat_ws(E'\n',
           '      if tg_op operator(pg_catalog.=) ''INSERT'' then',
           '        if is_alone then',
           '          ' || rowrelay.statement_changes(capture, 'INSERT', false, false, given) || ';',
           '        else',
           '          ' || rowrelay.statement_changes(capture, 'INSERT', true, false, given) || ';',
           '        end if;',
           '      elsif tg_op operator(pg_catalog.=) ''UPDATE'' then',
           '        if is_alone then',
           '          ' || rowrelay.statement_changes(capture, 'UPDATE', false, keeps_before, given) || ';',
           '        else',
           '          ' || rowrelay.statement_changes(capture, 'UPDATE', true, keeps_before, given) || ';',
           '        end if;',
           '      elsif is_alone then',
           '        ' || rowrelay.statement_changes(capture, 'DELETE', false, false, given) || ';',
           '      else',
           '        ' || rowrelay.statement_changes(capture, 'DELETE', true, false, given) || ';',
           '      end if;');
end
$$;
-- Purpose:    returns the statements of rowrelay.statement_body() for many rows or large ones: they are guarded, and
--             planned each time, because that takes little compared to the rows
-- Parameters: capture
create or replace function rowrelay.statement_many(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  places       constant text[] := '{$1,$2,$3}';
  relation     constant regclass := capture.relation;
  key_columns  constant smallint[] := rowrelay.live_key(capture);
begin
  return concat_ws(E'\n',
    case when not keeps_before then concat_ws(E'\n',
           '        if is_other and not is_small then',
    format('          execute %L into is_other;', format(
             'select coalesce(pg_catalog.bool_or((o.key collate pg_catalog."C") operator(pg_catalog.<>) n.key), false)'
             ' from (select pg_catalog.row_number() over () as place, %s as key from rowrelay_old as old) as o'
             ' full join (select pg_catalog.row_number() over () as place, %s as key from rowrelay_new as new) as n'
             ' on n.place operator(pg_catalog.=) o.place',
             rowrelay.key_expression(relation, key_columns, 'old'),
             rowrelay.key_expression(relation, key_columns, 'new'))),
           '        end if;') end,
           '        execute case when tg_op operator(pg_catalog.=) ''INSERT'' then case when is_alone then',
    format('%L', rowrelay.statement_changes(capture, 'INSERT', false, false, places)),
           '          else',
    format('%L', rowrelay.statement_changes(capture, 'INSERT', true, false, places)),
           '          end when tg_op operator(pg_catalog.=) ''DELETE'' then case when is_alone then',
    format('%L', rowrelay.statement_changes(capture, 'DELETE', false, false, places)),
           '          else',
    format('%L', rowrelay.statement_changes(capture, 'DELETE', true, false, places)),
    case when not keeps_before then concat_ws(E'\n',
           '          end when not is_other then case when is_alone then',
    format('%L', rowrelay.statement_changes(capture, 'UPDATE', false, false, places)),
           '          else',
    format('%L', rowrelay.statement_changes(capture, 'UPDATE', true, false, places))) end,
           '          end else case when is_alone then',
    format('%L', rowrelay.statement_changes(capture, 'UPDATE', false, true, places)),
           '          else',
    format('%L', rowrelay.statement_changes(capture, 'UPDATE', true, true, places)),
           '          end end using today, who, as_user;');
end
$$;
-- Purpose:    returns the body of a function that captures a writer's statement as a whole, for the statement triggers
--             of a table. Its rows are in transition tables, rowrelay_old and rowrelay_new; each event has a trigger of
--             its own, because a trigger with transition tables takes one event.
--
--             Row triggers fire for each row, and PostgreSQL keeps an event for each until then. A statement trigger
--             fires once, so the key, images and lanes of all rows are made, and both INSERTs run, in one statement,
--             which costs a third and whose memory does not grow.
--
--             - Both versions of an updated row stand at the same place of both transition tables, because PostgreSQL
--               adds them together. A full join by this place is never a nested loop. It is needed only for the image
--               before, and where a key changed.
--             - What is captured last must be what the row is. A statement that another one began (by a function in
--               it, by a BEFORE trigger, by an AFTER trigger of a row, which fires before those of statements) has been
--               captured before. The versions of a transition table have no system columns, so the rule differs from
--               that of rowrelay.nesting_statements(), and is simpler: log a version if the table has that very row
--               now, log a delete if the table no longer has the key; what is left out was told already, or will be,
--               by who made it so. It is marked as there.
--             - No look is needed if nobody else wrote to the table meanwhile. PostgreSQL counts what a session wrote
--               to a table since it last reported that, which it never does within a transaction. So if it counts as
--               many as this statement has, there was nothing else in this transaction. Else the last count, that a
--               statement of this transaction left in setting rowrelay.told_N, tells what there was before: a
--               statement without others in between leaves its own count; one that had to look leaves none, so that
--               the one which began it, and the second trigger of MERGE and ON CONFLICT, have to look too. Counts do
--               not become fewer when a subtransaction is rolled back; a setting returns to its former value; after
--               TRUNCATE it is reset. So a mistake leads to a look.
--             - Under session_replication_role = replica, and in the processes that apply logical replication,
--               statement triggers that are enabled as usual do not fire. The row trigger is enabled for those alone.
--             - What cannot be done at once is done row by row by rowrelay.record_row(): an altered table, an image
--               that fails. Whatever could fail where the writer's statement did not stands in a guarded block:
--               statements of many rows, large rows, values that do not survive as JSON.
-- Parameters: capture
-- Result:     declarations and statements of PL/pgSQL
create or replace function rowrelay.statement_body(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  relation     constant regclass := capture.relation;
  name         constant text := rowrelay.full_name(relation);
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  -- statements of more rows are guarded, which costs them little
  few          constant integer := 1000;
  pins         record;
  known        text;
  told         text := 'rowrelay.told_' || capture.id;
begin
  if rowrelay.statement_obstacle(capture) is not null then
    -- maintenance will put row triggers in the place of these
    return concat_ws(E'\n',
             'declare',
             '  who      pg_catalog.text;',
             '  as_user  who%type;',
             '  problem  who%type := ''the table was altered'';',
             '  given    pg_catalog.record;',
             'begin',
      rowrelay.statement_head(capture),
      rowrelay.statement_fallback(capture.id),
             'end');
  end if;
  select * into pins from rowrelay.pin_statements(relation, key_columns || lane_columns);
  select format('rowrelay.row_is_unaltered(%L::pg_catalog.regclass, %L::pg_catalog.oid[], %L::pg_catalog.text[], '
                '%L::pg_catalog.oid[])', relation::oid, array_agg(a.atttypid order by a.attnum),
                array_agg(a.attname order by a.attnum) filter (where n.is_named),
                array_agg(a.atttypid order by a.attnum) filter (where n.is_named))
    into known
    from pg_attribute a
   cross join lateral (select a.attnum = any (key_columns || lane_columns) or rowrelay.may_be_large(a.atttypid)
                              or a.attname in (select w.name from rowrelay.awkward_columns(relation) as w))
           as n(is_named)
   where a.attrelid = relation and a.attnum > 0 and not a.attisdropped;

  return concat_ws(E'\n',
           '#variable_conflict use_column',
           'declare',
           '  counted  pg_catalog.int8;',
           '  written  counted%type;',
           '  last_id  counted%type;',
           '  is_small pg_catalog.bool := false;',
           '  is_other is_small%type := false;',
           '  is_alone is_small%type;',
           '  today    pg_catalog.date;',
           '  who      pg_catalog.text;',
           '  as_user  who%type := session_user;',
           '  problem  who%type := ''the table was altered'';',
           '  key      who%type;', -- what rowrelay.pin_statements() declares is of its type
           '  given    pg_catalog.record;',
    pins.declarations,
           'begin',
    rowrelay.statement_head(capture),
    format('  if %s then', known),
    rowrelay.statement_counts(capture, few),
           '    written := pg_catalog.pg_stat_get_xact_tuples_inserted(tg_relid)',
           '      operator(pg_catalog.+) pg_catalog.pg_stat_get_xact_tuples_updated(tg_relid)',
           '      operator(pg_catalog.+) pg_catalog.pg_stat_get_xact_tuples_deleted(tg_relid);',
           '    is_alone := written operator(pg_catalog.=) counted',
    format('      or pg_catalog.current_setting(%L, true) operator(pg_catalog.=) '
           '(written operator(pg_catalog.-) counted)::pg_catalog.text;', told),
           '    if is_alone then',
    format('      problem := pg_catalog.set_config(%L, written::pg_catalog.text, true);', told),
    format('    elsif not rowrelay.may_look(tg_relid, %s, %L) then', relation::oid, name),
           '      is_alone := true;', -- nothing can be known
           '    else',
           '      is_alone := false;',
           '    end if;',
           '    last_id := pg_catalog.pg_sequence_last_value(''rowrelay.change_id''::pg_catalog.regclass);',
           '    today := rowrelay.partition_day();',
           '    if is_small and not is_other then',
    pins.pin,
    rowrelay.statement_few(capture),
    pins.unpin,
           '    else',
           '      begin',
    pins.pin,
    rowrelay.statement_many(capture),
    pins.unpin,
           '      exception when others then',
           '        problem := sqlerrm;',
           '        is_small := null;',
           '      end;',
           '    end if;',
           '    if is_small is distinct from null then',
           -- it may be one of the first ids for which somebody wants to be woken
           '      if coalesce(last_id, 0) operator(pg_catalog.<) '
           'pg_catalog.pg_sequence_last_value(''rowrelay.doorbell''::pg_catalog.regclass) then',
           '        perform rowrelay.ring_doorbell();',
           '      end if;',
           '      return null;',
           '    end if;',
           '  end if;',
    rowrelay.statement_fallback(capture.id),
           'end');
end
$$;
-- Purpose:    returns the end of a CREATE FUNCTION statement
-- Parameters: language; the function's text
create or replace function rowrelay.function_body(language text, body text) returns text
language plpgsql immutable as $$
declare
  quote text := '$rowrelay$';
begin
  -- A column's name may contain the quote.
  while position(quote in body) > 0 loop
    quote := '$' || replace(quote, '$', '') || '_$';
  end loop;
  return concat_ws(E'\n', format('language %s as %s', language, quote), body, quote);
end
$$;
-- Purpose:    returns the text of the function beside a trigger function that is made for ordinary rows
--             (rowrelay.ordinary_body): it captures any row. Nobody may execute it but its owner, as whom the trigger
--             function runs.
-- Parameters: capture; whether its trigger function passes rows on. If not, a session may still run an older one that
--             does: then all its rows go the slow way.
-- Result:     statements; they make a function whose parameters have the names of what a trigger knows. Both rows are
--             never null, because a record must have a type: an insert has its new row twice, a delete its old one.
create or replace function rowrelay.rest_function(capture rowrelay.capture, is_used boolean) returns text
language plpgsql stable as $$
begin
  return concat_ws(E'\n',
    format('create or replace function rowrelay.%I(', rowrelay.rest_name(capture.id)),
           '  tg_op pg_catalog.text, tg_relid pg_catalog.oid, old pg_catalog.record, new pg_catalog.record,',
           '  new_xmax pg_catalog.xid, new_xmin pg_catalog.xid, new_cmin pg_catalog.cid, new_ctid pg_catalog.tid,',
           '  old_xmax pg_catalog.xid, old_xmin pg_catalog.xid, old_cmax pg_catalog.cid) returns pg_catalog.record',
    rowrelay.function_body('plpgsql',
      case when is_used then rowrelay.trigger_body(capture, true)
           else concat_ws(E'\n',
           'begin',
    format('  perform rowrelay.record_row(%s, tg_op, case when tg_op operator(pg_catalog.<>) ''INSERT'' then old end, '
           'case when tg_op operator(pg_catalog.<>) ''DELETE'' then new end,', capture.id),
           '    ''the table was captured anew'', tg_relid,',
           '    case when new_xmax operator(pg_catalog.<>) 0 then new_ctid end);',
           '  return null;',
           'end') end) || ';',
    format('revoke all on function rowrelay.%I from public', rowrelay.rest_name(capture.id)));
end
$$;
-- Purpose:    tells whether trigger functions are made in language rowrelay: the server module rowrelay_native is
--             installed in this database, the schema's owner may use it, and it is not switched off
--             (rowrelay.capture_natively)
create or replace function rowrelay.has_native() returns boolean
language sql stable as $$
  select exists (select from pg_language l join pg_namespace n on n.nspname = 'rowrelay'
                  where l.lanname = 'rowrelay' and has_language_privilege(n.nspowner, l.oid, 'usage'))
     and exists (select from rowrelay.source s where s.native)
$$;
-- Purpose:    returns the first line of a trigger function in language rowrelay. It tells the server module what the
--             function does with an ordinary row, so that the module can do the same without PL/pgSQL; see
--             triggers/native/rowrelay_native.c.
-- Parameters: capture
-- Result:     a comment; null if every row needs something that the module cannot do: a filter, excluded or masked
--             columns, documents, a lane of its own, a key that is not certainly unique, partitions, types that are
--             neither built in nor enums
create or replace function rowrelay.native_plan(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  -- the module pins each setting that changes how these are written
  types     constant oid[] := '{bool,bytea,name,int8,int2,int4,text,oid,jsonb,float4,float8,macaddr,macaddr8,
                                inet,cidr,bpchar,varchar,date,time,timetz,timestamp,timestamptz,interval,bit,varbit,
                                numeric,uuid}'::regtype[] || '"char"'::regtype;
  key_types constant oid[] := '{int2,int4,int8,text,varchar,uuid}'::regtype[];
  -- times with a zone in an array would be written in the session's zone
  arrays    constant oid[] := array(select t.typarray from pg_type t
                                     where t.oid = any (types) and t.typname not in ('jsonb', 'timestamptz'));
  keys      text;
  lanes     text;
begin
  if capture.row_filter is not null or capture.lane_columns is not null or not capture.key_is_exact
     or not rowrelay.key_is_unique(capture) or rowrelay.can_change_lane(capture)
     or (select c.relkind from pg_class c where c.oid = capture.relation) is distinct from 'r'
     or rowrelay.foreign_table(capture) is not null
     or exists (select from rowrelay.document_source s join rowrelay.target t on t.id = s.document
                 where s.capture = capture.id and t.dropped_at is null)
     or exists (select from rowrelay.image_columns(capture) as i
                 where i.keep is not null or cardinality(i.leave_out) > 0 or i.masks::text <> '{}')
     or exists (select from pg_attribute a
                 cross join lateral (select rowrelay.base_type(a.atttypid) as oid offset 0) as b
                  join pg_type t on t.oid = b.oid
                 where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
                   -- PostgreSQL 18 has columns that are made when they are read
                   and (t.oid <> all (types || arrays || 'json'::regtype::oid) and t.typtype <> 'e'
                        or a.attgenerated = 'v'))
  then
    return null;
  end if;

  select string_agg(format('%s:%s', a.attnum, encode(convert_to(a.attname, getdatabaseencoding()), 'hex')), ','
                    order by k.position)
    into keys
    from unnest(rowrelay.live_key(capture)) with ordinality as k(number, position)
    join pg_attribute a on a.attrelid = capture.relation and a.attnum = k.number
  having count(*) between 1 and 8 and bool_and(rowrelay.base_type(a.atttypid) = any (key_types));

  select string_agg(format('%s:%s', rowrelay.lane_number(t.id, 0) + room, t.lanes), ',' order by t.id) into lanes
    from rowrelay.route r join rowrelay.target t on t.id = r.target
    cross join lateral rowrelay.waiting_room(r.capture, r.target) as room
   where r.capture = capture.id and r.until_id is null and t.dropped_at is null
  having count(*) <= 32;
  lanes := coalesce(lanes, case when not exists (select from rowrelay.route r join rowrelay.target t on t.id = r.target
                                                  where r.capture = capture.id and r.until_id is null
                                                    and t.dropped_at is null) then '' end);

  return '-- plan 1 capture=' || capture.id || ' relation=' || capture.relation::oid
    || ' origin=' || case when capture.capture_origin then 't' else 'f' end
    || ' before=' || case when rowrelay.keeps_before(capture) then 't' else 'f' end
    || ' types=' || (select string_agg(a.atttypid::text, ',' order by a.attnum) from pg_attribute a
                      where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped)
    || ' keys=' || keys || ' lanes=' || lanes;
end
$$;
-- Purpose:    returns the text of the function that a capture's statement triggers run. The planner's settings are
--             fixed: a plan is kept for statements of any number of rows on a table of any size, so it must not read
--             the whole table, nor be compiled.
-- Parameters: capture
-- Result:     statements
create or replace function rowrelay.statement_function(capture rowrelay.capture) returns text
language plpgsql stable as $$
begin
  return concat_ws(E'\n',
    format('create or replace function rowrelay.%I() returns trigger security definer',
           rowrelay.statement_name(capture.id)),
           'set enable_seqscan = off set jit = off',
    rowrelay.function_body('plpgsql', rowrelay.statement_body(capture)) || ';',
    format('revoke all on function rowrelay.%I() from public', rowrelay.statement_name(capture.id)));
end
$$;
-- Purpose:    returns the text of the function that a captured table's row triggers run, and of the one beside it, if
--             it has one; and of the one that its statement triggers run, if it was wished for. In
--             language rowrelay the text begins with a plan for the server module, which passes what it
--             cannot do on to the text: see rowrelay.native_plan(). Else the function for any row is one beside it, if
--             there are ordinary rows: see rowrelay.ordinary_body().
-- Parameters: capture
-- Result:     CREATE OR REPLACE FUNCTION statements
create or replace function rowrelay.trigger_function(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  plan constant text := case when rowrelay.has_native() then rowrelay.native_plan(capture) end;
  body constant text := case when plan is null then rowrelay.ordinary_body(capture) end;
begin
  return concat_ws(E';\n',
    case when body is not null or to_regproc(format('rowrelay.%I', rowrelay.rest_name(capture.id))) is not null then
      rowrelay.rest_function(capture, body is not null) end,
    format(E'create or replace function rowrelay.%I() returns trigger security definer\n%s',
           'capture_' || capture.id,
           rowrelay.function_body(case when plan is null then 'plpgsql' else 'rowrelay' end, concat_ws(E'\n', plan,
             rowrelay.routes_line(capture.id),
             format('-- captures %s; made by rowrelay.trigger_function()',
                    regexp_replace(capture.relation::text, E'\\s', ' ', 'g')),
             coalesce(body, rowrelay.trigger_body(capture, false))))),
    case when capture.per = 'statement' then rowrelay.statement_function(capture) end);
end
$$;
-- Purpose:    returns the present shape of a capture's row images: the columns that row_to_json() puts into them, in
--             order
-- Parameters: capture
-- Result:     as a row of rowrelay.shape, with the largest possible id; null when the table is gone
create or replace function rowrelay.current_shape(capture rowrelay.capture) returns rowrelay.shape
language plpgsql stable as $$
declare
  shape  rowrelay.shape;
  images record;
begin
  if rowrelay.full_name(capture.relation) is null then
    return null;
  end if;
  select * into images from rowrelay.image_columns(capture);
  select capture.id, coalesce(array_agg(a.attnum order by a.attnum) filter (where s.is_shown), '{}'),
         coalesce(array_agg(a.attname::text order by a.attnum) filter (where s.is_shown), '{}'),
         coalesce(array_agg(a.attnum order by a.attnum) filter (where not s.is_shown), '{}')
    into shape.capture, shape.numbers, shape.names, shape.hidden
    from pg_attribute a
   cross join lateral (
     select (images.keep is null or a.attname = any (images.keep))
       and a.attname <> all (images.leave_out)) as s(is_shown)
   where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped;
  shape.id := 2147483647;
  shape.masks := images.masks;
  shape.key_types := array(select rowrelay.base_type(a.atttypid)::regtype
                             from unnest(capture.key_columns) with ordinality as u(number, position)
                             join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.number
                               and not a.attisdropped
                            order by u.position);
  -- xmin has 32 bits, and a frozen one is older than everything
  select greatest(0, pg_snapshot_xmax(pg_current_snapshot())::text::bigint - coalesce(min(age(a.xmin)),
      0))::text::xid8 into shape.altered_by
    from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0;
  return shape;
end
$$;
-- Purpose:    records the shape of a capture's row images from now on (rowrelay.shape), if it has changed
-- Parameters: capture
create or replace function rowrelay.note_shape(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  shape rowrelay.shape := rowrelay.current_shape(capture);
  last  rowrelay.shape;
begin
  select s.* into last from rowrelay.shape s where s.capture = note_shape.capture.id order by s.id desc limit 1;
  if (last.numbers, last.names, last.masks::text, last.hidden, last.key_types)
     is distinct from (shape.numbers, shape.names, shape.masks::text, shape.hidden, shape.key_types) then
    -- The id is read last: all changes with larger ids have this shape.
    insert into rowrelay.shape (capture, from_id, begins, was_empty, numbers, names, masks, hidden, key_types,
                                altered_by)
    values (shape.capture, rowrelay.last_change_id(), false, false, shape.numbers, shape.names, shape.masks,
            shape.hidden,
            shape.key_types, shape.altered_by);
  end if;
end
$$;
-- Purpose:    records that the log has every change of a table from now on. The caller has created the triggers and
--             still holds the lock for that, so earlier writers have ended and later ones are captured.
-- Parameters: capture
create or replace function rowrelay.begin_log(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  shape rowrelay.shape := rowrelay.current_shape(capture);
begin
  update rowrelay.capture c set log_since = clock_timestamp()
   where c.id = begin_log.capture.id
  returning c.log_since into shape.noticed_at;
  insert into rowrelay.shape (capture, from_id, noticed_at, begins, was_empty, numbers, names, masks, hidden,
                              key_types, altered_by)
  values (shape.capture, rowrelay.last_change_id(), shape.noticed_at, true,
          -- An empty file has no rows. Searching for live rows could take long while writers wait.
          not exists (select from unnest(rowrelay.captured_tables(capture)) as t(relation)
                      where pg_relation_size(t.relation) > 0),
          shape.numbers, shape.names, shape.masks, shape.hidden, shape.key_types, shape.altered_by);
end
$$;
-- Purpose:    returns statements that set the rights on a capture's trigger function. Nobody may execute it, because
--             that would be a way to write to the log; except the owner of a partitioned table, because PostgreSQL
--             checks that right when it creates the triggers on a new partition.
-- Parameters: capture whose trigger function exists
-- Result:     GRANT and REVOKE statements; none when the rights are correct
create or replace function rowrelay.trigger_grants(capture rowrelay.capture) returns setof text
language plpgsql stable as $$
begin
  return query
    with trigger_function as (
      select p.oid, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner)) as acl
        from pg_proc p where p.oid = format('rowrelay.%I()', 'capture_' || capture.id)::regprocedure
    ), wanted(grantee) as (
      select c.relowner from pg_class c, trigger_function f
       where c.oid = capture.relation and c.relkind = 'p' and c.relowner <> f.proowner
    ), present(grantee) as (
      select a.grantee from trigger_function f, aclexplode(f.acl) as a where a.grantee <> f.proowner
    )
    select format('revoke all on function %s from %s', f.oid::regprocedure,
                  case p.grantee when 0 then 'public' else p.grantee::regrole::text end)
      from trigger_function f, (table present except table wanted) as p
     union all
    select format('grant execute on function %s to %s', f.oid::regprocedure, w.grantee::regrole)
      from trigger_function f, (table wanted except table present) as w;
end
$$;
-- Purpose:    creates or replaces a capture's trigger function for the present table, options and routes. It does not
--             block writers: it takes no lock on the table, and running transactions go on with the old function. But
--             if rows change lanes (another key, or another type of it), changes in the old lanes must be delivered
--             before those in the new ones: then it locks the table against writers and queues a barrier between them.
-- Parameters: capture id; how long to try for that lock
-- Errors:     as for rowrelay.lock_tables()
create or replace function rowrelay.make_trigger_function(capture_id integer, lock_wait interval default '10 s')
  returns void
-- fixed, because all functions called from here would be planned again for each caller's search_path, and five times
-- before a plan is kept
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  capture   rowrelay.capture;
  barrier   bigint;
  statement text;
  owner     name := (select r.rolname from pg_namespace n join pg_roles r on r.oid = n.nspowner
                     where n.nspname = 'rowrelay');
begin
  -- before the capture, and one after the other, so that two who lock several of them do not wait for each other
  perform from rowrelay.target t
    where t.id in (select r.target from rowrelay.route r where r.capture = capture_id and r.until_id is null)
    order by t.id for no key update;
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id for update;
  if rowrelay.full_name(capture.relation) is null then
    return; -- the table was dropped with its triggers
  end if;
  if capture.lane_state <> rowrelay.lane_state(capture) then
    perform rowrelay.lock_tables(rowrelay.captured_tables(capture), 'share row exclusive', lock_wait);
    barrier := rowrelay.add_change(capture_id, 'b', null, null, null, null);
  end if;
  -- another type may define equality differently
  update rowrelay.capture c set key_is_exact = rowrelay.key_is_exact(capture.relation, capture.key_columns)
   where c.id = capture_id and rowrelay.live_key(c) = c.key_columns;
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  execute rowrelay.trigger_function(capture);
  -- It runs with its owner's rights, and only the schema's owner is sure to have enough.
  if owner <> current_user then
    execute format('alter function rowrelay.%I() owner to %I', 'capture_' || capture_id, owner);
    if to_regproc(format('rowrelay.%I', rowrelay.rest_name(capture_id))) is not null then
      execute format('alter function rowrelay.%I owner to %I', rowrelay.rest_name(capture_id), owner);
    end if;
    if to_regproc(format('rowrelay.%I', rowrelay.statement_name(capture_id))) is not null then
      execute format('alter function rowrelay.%I owner to %I', rowrelay.statement_name(capture_id), owner);
    end if;
  end if;
  for statement in select g.statement from rowrelay.trigger_grants(capture) as g(statement) loop
    execute statement;
  end loop;
  update rowrelay.capture c
     set column_state = rowrelay.column_state(capture), lane_state = rowrelay.lane_state(capture),
         relation_name = rowrelay.full_name(capture.relation),
         key_names = rowrelay.attribute_names(capture.relation, capture.key_columns),
         lanes_since = coalesce(barrier, c.lanes_since)
   where c.id = capture_id;
  -- rowrelay.capture_table() records the first shape of a new capture
  if exists (select from rowrelay.shape s where s.capture = capture_id) then
    perform rowrelay.note_shape(capture);
  end if;
  update rowrelay.document_source s
     set key_name = (rowrelay.attribute_names(capture.relation, array[s.key_column]))[1]
   where s.capture = capture_id and s.key_column is not null
     and (rowrelay.attribute_names(capture.relation, array[s.key_column]))[1] is not null;
  -- A new version makes processes read the table's settings again.
  update rowrelay.target t set version = t.version + 1
   where t.id in (select r.target from rowrelay.route r where r.capture = capture_id and r.until_id is null);
end
$$;
-- Purpose:    tells whether a capture's trigger function is in language rowrelay
-- Parameters: capture id
create or replace function rowrelay.is_native(capture_id integer) returns boolean
language sql stable as $$
  select exists (select from pg_proc p
                   join pg_namespace n on n.oid = p.pronamespace
                   join pg_language l on l.oid = p.prolang
                  where n.nspname = 'rowrelay' and p.proname = 'capture_' || capture_id and l.lanname = 'rowrelay')
$$;
-- Purpose:    switches all captured tables to the server module rowrelay_native, or back to PL/pgSQL, as has to be done
--             before the module is removed from the server. Writers go on meanwhile, and what is captured is the same.
-- Parameters: whether to use the module where it can be used
-- Result:     a row for each table: what captures it now
create or replace function rowrelay.capture_natively(wanted boolean default true)
returns table (relation regclass, captured_by text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture rowrelay.capture;
begin
  perform rowrelay.lock_configuration();
  update rowrelay.source s set native = wanted where s.native <> wanted;
  for capture in select c.* from rowrelay.capture c where c.released_at is null order by c.id loop
    perform rowrelay.make_trigger_function(capture.id);
    relation := capture.relation;
    captured_by := case when rowrelay.is_native(capture.id) then 'rowrelay_native' else 'PL/pgSQL' end;
    return next;
  end loop;
end
$$;
-- Purpose:    captures all rows of a table as deleted, in one statement, because there may be many
-- Parameters: capture; the table or partition with the rows
create or replace function rowrelay.add_deletes(capture rowrelay.capture, relation regclass) returns void
language plpgsql as $$
declare
  key_columns  smallint[] := rowrelay.live_key(capture);
  lane_columns smallint[] := coalesce(capture.lane_columns, key_columns);
  images       record;
  shown        text; -- without an inheritance child's own columns
  old_row      text;
  caveat       text := 'null::json';
begin
  -- The statement would name columns that have changed since, whose types may have casts that run a user's code.
  if not rowrelay.names_are_current(capture.relation) then
    raise exception 'its columns were altered by a transaction that this one cannot see yet';
  end if;
  if rowrelay.keeps_before(capture) then
    select * into images from rowrelay.image_expression(capture);
    select string_agg(format('old.%I', a.attname), ', ' order by a.attnum) into shown
      from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped;
    old_row := format('(select %s from (select %s) as new)', images.image, shown);
    if images.text_columns is not null then
      caveat := format('(select case when n.names <> ''{}'' then json_build_object(''text_columns'', n.names) end '
                       'from (select %s from (select %s) as new) as n(names))', images.text_columns, shown);
    end if;
  else
    old_row := rowrelay.key_row(capture);
  end if;
  execute format(
    'with gone as materialized (select nextval(''rowrelay.change_id'') as id, %s as key, %s as hash, %s as old_row, %s '
    'as caveat from only %s as old%s), '
    'logged as (insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, actor, db_user, '
    'application_name, client_addr, old_row, caveat) '
    '           select id, pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), $1, ''d'', key, $2, '
    '         rowrelay.db_user(), current_setting(''application_name''), rowrelay.client_addr(), old_row, caveat '
    'from gone) '
    'insert into rowrelay.queue (change_id, lane, day, bytes) '
    'select g.id, rowrelay.lane_number(t.target, coalesce(mod(g.hash & 2147483647, t.lanes), -1)) + t.room, '
    'rowrelay.partition_day(), pg_column_size(g.old_row) '
    '  from gone g, (select r.target, r.lanes, rowrelay.waiting_room($1, r.target) as room '
    '                  from rowrelay.present_routes($1) as r) as t '
    'union all '
    'select g.id, d.lane, rowrelay.partition_day(), pg_column_size(g.old_row) '
    '  from gone g, rowrelay.document_lanes($1, ''d'', g.hash, g.old_row, null) as d(lane)',
    rowrelay.key_expression(capture.relation, key_columns, 'old'),
    case when rowrelay.can_change_lane(capture) then 'null::integer'
         else rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'old') end,
    old_row, caveat, relation,
    -- rows that do not meet the filter were never captured
    ' where (select ' || rowrelay.filter_condition(capture) || ' from (select old.*) as new)')
    using capture.id, rowrelay.actor();
  if pg_sequence_last_value('rowrelay.doorbell'::regclass) > 0 then
    perform rowrelay.ring_doorbell();
  end if;
end
$$;
-- Purpose:    trigger function for TRUNCATE, the same for all tables. A truncate has no key, so it is queued as a
--             barrier: delivered alone, after all earlier changes and before all later ones. For a truncated partition,
--             the change has the condition of its rows; if the target could not evaluate it (an inheritance child, a
--             hash partition, columns that are not captured), each row is captured as deleted. It runs twice: before,
--             while the rows can still be captured as deleted; and after, when rows that other triggers wrote meanwhile
--             are gone too. PostgreSQL fires it for a table and then for each of its partitions, first all before and
--             then all after. A truncate of the whole table is captured once: setting rowrelay.truncates lists the
--             tables whose truncate is to be captured.
-- Parameters: TG_ARGV[0]: capture id
create or replace function rowrelay.capture_truncate() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off
set row_security = off set standard_conforming_strings = on as $$
declare
  is_before  constant boolean := tg_when = 'BEFORE';
  -- a trigger of an older version runs only before
  is_alone   constant boolean := not exists (select from pg_trigger t
                                              where t.tgrelid = tg_relid and t.tgname = '!rowrelay_truncated'
                                                and t.tgenabled = 'A');
  truncates  oid[] := string_to_array(nullif(current_setting('rowrelay.truncates', true), ''), ' ');
  capture    rowrelay.capture;
  is_whole   boolean;
  condition  text;
begin
  -- PostgreSQL counts anew from here on: see rowrelay.statement_body()
  perform set_config('rowrelay.told_' || tg_argv[0], '', true);
  if not is_before then
    if tg_relid = any (truncates) is not true then
      return null;
    end if;
    truncates := array_remove(truncates, tg_relid);
    perform set_config('rowrelay.truncates', array_to_string(truncates, ' '), true);
  end if;
  if lower(current_setting('rowrelay.skip', true)) = any ('{1,on,t,tr,tru,true,y,ye,yes}')
     or exists (select from pg_partition_ancestors(tg_relid) as a(relid) where a.relid <> tg_relid
                and a.relid = any (truncates)) then
    return null;
  end if;
  select c.* into capture from rowrelay.capture c where c.id = tg_argv[0]::integer;
  if not found then
    if is_before and not is_alone then
      perform set_config('rowrelay.truncates', array_to_string(truncates || tg_relid, ' '), true);
    else
      perform rowrelay.add_change(tg_argv[0]::integer, 't', null, null, null, null,
                                  'the table was captured by a transaction that this one cannot see yet');
    end if;
    return null;
  end if;
  if not capture.capture_origin and current_setting('rowrelay.origin', true) <> ''
     -- a detached partition keeps this trigger, but its rows no longer belong to the table
     or tg_relid <> all (rowrelay.captured_tables(capture))
        -- which is up to date in any transaction
        and not exists (select from pg_partition_ancestors(tg_relid) as a(relid) where a.relid = capture.relation) then
    return null;
  end if;
  -- Inheritance children keep their rows under TRUNCATE ONLY; else their own triggers fire.
  is_whole := tg_relid = capture.relation
              and not exists (select from pg_inherits i join pg_class c on c.oid = i.inhparent
                               where i.inhparent = tg_relid and c.relkind = 'r');
  if not is_whole and capture.only_columns is null and capture.exclude_columns = '{}' and capture.mask = '{}' then
    condition := pg_get_partition_constraintdef(tg_relid);
    -- it needs the oid of the parent, which means nothing elsewhere
    if position('satisfies_hash_partition' in condition) > 0 then
      condition := null;
    end if;
  end if;
  if is_whole or condition is not null then
    if not is_before or is_alone then
      perform rowrelay.add_change(capture.id, 't', null, null, null,
                                  case when not is_whole then json_build_object('where', condition) end);
    else
      perform set_config('rowrelay.truncates', array_to_string(truncates || tg_relid, ' '), true);
    end if;
    return null;
  end if;
  if not is_before then
    return null;
  end if;
  begin
    perform rowrelay.add_deletes(capture, tg_relid);
  exception when others then -- such as columns that this transaction cannot see yet
    perform rowrelay.add_change(capture.id, 't', null, null, null, null, sqlerrm);
  end;
  return null;
end
$$;
-- Purpose:    refuses a table if another capture covers it, or one of its partitions or children: two captures of one
--             row would deliver its changes in two independent orders
-- Parameters: relation
-- Errors:     names the other table, and one that belongs to both
create or replace function rowrelay.check_overlap(relation regclass) returns void
language plpgsql stable as $$
declare
  wanted rowrelay.capture;
  other  regclass;
  shared regclass;
begin
  wanted.relation := relation;
  -- upwards from the tables, because checking each capture's tables would take longer with every capture
  with recursive belongs(relation, upper) as (
    select m, m::oid from unnest(rowrelay.captured_tables(wanted)) as m
    union
    select b.relation, i.inhparent from belongs b join pg_inherits i on i.inhrelid = b.upper
  )
  select c.relation, b.relation into other, shared
    from belongs b
    join rowrelay.capture c on c.relation = b.upper and c.released_at is null
   where c.relation <> check_overlap.relation
   order by c.id, b.relation
   limit 1;
  if found then
    raise exception 'table % is already captured with table %', relation, other using errcode = 'duplicate_object',
      detail = format('Rows of %s would be captured twice.', shared),
      hint = 'Release that table first: '
               || rowrelay.command('rowrelay release %s', 'select rowrelay.release_table(%L);', other::text);
  end if;
end
$$;
-- Purpose:    refuses relations that have no changes of their own, or that the schema's owner does not own
-- Parameters: relation
-- Errors:     say why not, and what to do
create or replace function rowrelay.check_capturable(relation regclass) returns void
language plpgsql stable as $$
declare
  kind   "char";
  schema name;
  owner  oid;
  temporary boolean;
begin
  select c.relkind, n.nspname, c.relowner, c.relpersistence = 't' into strict kind, schema, owner, temporary
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = relation;
  if kind not in ('r', 'p') then
    raise exception '% is not a table', relation using errcode = 'wrong_object_type',
      hint = case kind when 'v' then 'Capture the tables that the view reads.'
                       when 'm' then 'Capture the tables that the materialized view reads.'
                       when 'f' then 'Capture the table in its own database.'
                       else 'Only tables have rows that change.' end;
  end if;
  if temporary or schema in ('pg_catalog', 'information_schema', 'rowrelay', 'rowrelay_target')
    or schema like E'pg\\_toast%' then
    raise exception 'table % cannot be captured', relation using errcode = 'wrong_object_type',
      detail = case when temporary then 'It is temporary.' else format('It is in schema %s.', schema) end;
  end if;
  -- current_user is the schema's owner here: rowrelay.capture_table() is security definer
  if not pg_has_role(owner, 'usage') then
    raise exception 'role %, which owns schema rowrelay, does not own table %', current_user, relation
      using errcode = 'insufficient_privilege',
            hint = format('Make it a member of the owner: grant %I to %I.', pg_get_userbyid(owner), current_user);
  end if;
  perform rowrelay.check_overlap(relation);
end
$$;
-- Purpose:    whether a unique index of the table itself covers a key; see rowrelay.key_guard()
-- Parameters: relation; attribute numbers of the key
-- Result:     table, deferrable or none
create or replace function rowrelay.index_guard(relation regclass, numbers smallint[]) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return coalesce(
    (select case when i.indimmediate then 'table' else 'deferrable' end
       from pg_index i
      where i.indrelid = relation and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
        and (i.indkey::smallint[])[0:i.indnkeyatts - 1] <@ numbers
        -- an index that distinguishes values which the column's collation does not would allow equal keys
        and not exists (select from generate_series(0, i.indnkeyatts - 1) as n
                          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[n]
                          join pg_collation c on c.oid = a.attcollation and not c.collisdeterministic
                         where i.indcollation[n] <> a.attcollation)
      order by i.indimmediate desc
      limit 1),
    'none');
end
$$;
-- Purpose:    tells what enforces that a key is unique
-- Parameters: relation; attribute numbers of the key
-- Result:     table: a unique index on these columns, or on some of them; parts: each partition has its own;
--             deferrable: only a deferrable one, which two rows may violate for a while; none: nothing
create or replace function rowrelay.key_guard(relation regclass, numbers smallint[]) returns text
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
declare
  guard text := rowrelay.index_guard(relation, numbers);
begin
  if guard <> 'table'
     and (select c.relkind = 'p' from pg_class c where c.oid = relation)
     and not exists (
       select from pg_partition_tree(relation) as p
        where p.isleaf
          and rowrelay.index_guard(p.relid, array(
                select own.attnum from unnest(numbers) as u(number)
                  join pg_attribute a on a.attrelid = relation and a.attnum = u.number
                  join pg_attribute own on own.attrelid = p.relid and own.attname = a.attname
                                       and not own.attisdropped)) <> 'table') then
    guard := 'parts';
  end if;
  return guard;
end
$$;
-- Purpose:    refuses a key that several rows may have: they would be one row in a mirror
-- Parameters: relation; attribute numbers of the chosen key; none: there is no key to check
-- Result:     Warns when each partition enforces uniqueness by itself, so that two of them may share a key
-- Errors:     no unique index covers it
create or replace function rowrelay.check_key(relation regclass, numbers smallint[]) returns void
language plpgsql stable as $$
declare
  guard text;
  names text;
begin
  if coalesce(cardinality(numbers), 0) = 0 then
    return;
  end if;
  guard := rowrelay.key_guard(relation, numbers);
  select string_agg(quote_ident(n), ', ') into names from unnest(rowrelay.attribute_names(relation, numbers)) as n;
  if guard = 'parts' then
    raise warning 'table %: the key (%) is unique within each partition, but rows of two partitions may share one',
      relation, names
      using hint = 'They would be one row in a target. To find such rows: '
                   || rowrelay.verify_commands(relation, false);
  elsif guard <> 'table' then
    raise exception 'no unique index covers the key (%) of table %', names, relation
      using errcode = 'invalid_parameter_value',
            detail = case guard when 'deferrable'
                       then 'Its unique constraint is deferrable: while it is deferred, two rows may have the same key.'
                       else 'Rows with the same key would be one row in a target.' end,
            hint = format('Create one: create unique index on %s (%s); or omit the key: then rows are identified '
                          'by all of '
                          'their values.', relation, names);
  end if;
end
$$;
-- Purpose:    returns a mask with columns' numbers instead of names, so that a rename does not uncover anything
-- Parameters: relation; {"name": value}
-- Result:     {"number": value}
-- Errors:     not an object; a column does not exist
create or replace function rowrelay.mask_by_number(relation regclass, mask jsonb) returns jsonb
language plpgsql stable as $$
begin
  if jsonb_typeof(mask) <> 'object' then
    raise exception 'mask is not a JSON object' using errcode = 'invalid_parameter_value',
      hint = 'Write {"column": "value to show instead"}.';
  end if;
  return (select coalesce(jsonb_object_agg((rowrelay.attribute_numbers(relation, array[m.key], 'mask'))[1]::text,
                                           m.value), '{}')
            from jsonb_each(mask) as m);
end
$$;
-- Purpose:    locks tables without blocking others for long: a request for a strong lock blocks all later requests
--             while it waits for one old transaction. So this waits for a tenth of a second, withdraws, lets others
--             pass, and tries again.
-- Parameters: tables; lock mode, as in LOCK TABLE; how long to keep trying
-- Errors:     lock_not_available, with the processes that hold the lock
create or replace function rowrelay.lock_tables(relations regclass[], mode text, patience interval) returns void
language plpgsql as $$
declare
  give_up_at constant timestamptz := clock_timestamp() + patience;
  before     constant text := current_setting('lock_timeout');
  relation   regclass;
  waited_for regclass;
  ask_until  timestamptz;
  holders    text;
  endings    text; -- statements that end prepared transactions
begin
  loop
    begin
      ask_until := clock_timestamp() + interval '100 ms';
      foreach relation in array relations loop
        waited_for := relation;
        -- one time limit for all tables together
        perform set_config('lock_timeout',
                           greatest(1, extract(epoch from ask_until - clock_timestamp()) * 1000)::integer::text, true);
        execute format('lock table only %s in %s mode', relation, mode);
      end loop;
      perform set_config('lock_timeout', before, true);
      return;
    exception when lock_not_available or deadlock_detected then
      -- the block was a subtransaction, so its locks are released
      perform set_config('lock_timeout', before, true);
    end;
    if clock_timestamp() > give_up_at then
      with holder as (
        select l.pid, l.virtualtransaction from pg_locks l
         where l.locktype = 'relation' and l.relation = waited_for and l.granted and l.pid is distinct
           from pg_backend_pid()
           and l.database = (select d.oid from pg_database d where d.datname = current_database())
      ), named as (
        select a.backend_start as since, null as gid,
          format('process %s (%s, %s)', a.pid, a.usename, left(a.query, 60)) as words
          from pg_stat_activity a where a.pid in (select h.pid from holder h)
        union all
        select p.prepared, p.gid, format('prepared transaction %L (%s, prepared %s ago)', p.gid, p.owner,
                                         date_trunc('second', clock_timestamp() - p.prepared))
          from pg_prepared_xacts p
         where exists (select from holder h join pg_locks l on l.virtualtransaction = h.virtualtransaction
                        where h.pid is null and l.pid is null and l.transactionid = p.transaction)
      )
      select string_agg(n.words, ', ' order by n.since),
             string_agg(format('commit prepared %1$L or rollback prepared %1$L', n.gid), '; ' order by n.since)
               filter (where n.gid is not null)
        into holders, endings from named n;
      raise exception 'table % is in use: no lock within %', waited_for, patience
        using errcode = 'lock_not_available',
              detail = coalesce('It is held by ' || holders || '.', 'It is held by a series of short transactions.'),
              hint = 'Nothing was changed. '
                     || coalesce('A prepared transaction holds its locks until you end it: ' || endings || '.',
                                 format('Try again when that transaction has ended, or wait longer (%s).',
                                        rowrelay.command('--lock-wait', 'lock_wait')));
    end if;
    perform pg_sleep(0.05 + random() * 0.2);
  end loop;
end
$$;
-- Purpose:    returns a row filter as a trigger's WHEN needs it, with the row's name before each column. PostgreSQL
--             itself parses and prints the condition: this creates a view with it and takes the view's text.
--             standard_conforming_strings is fixed, because the session that creates the trigger may have another
--             setting.
-- Parameters: relation; condition as a person writes it, such as  status = 'open'; name of the row, new or old
-- Result:     the condition with all names resolved, so that it means the same under any search_path
-- Errors:     the condition is not valid; detail is PostgreSQL's message
create or replace function rowrelay.filter_expression(relation regclass, row_filter text, row_name text) returns text
language plpgsql set standard_conforming_strings = on as $$
declare
  definition text;
  view_name  text := 'filter_probe_' || pg_backend_pid(); -- other sessions may do the same
  path       constant text := current_setting('search_path');
begin
  begin
    -- the second table makes PostgreSQL write names in full
    execute format('create view rowrelay.%I as select (%s)::boolean as rowrelay_filter '
                   'from %s as rowrelay_row, (values (1)) as rowrelay_other (rowrelay_other)', view_name, row_filter,
                     relation);
  exception when syntax_error or undefined_column or undefined_function or undefined_table or cannot_coerce then
    raise exception 'row filter "%" of table % is not a condition on its columns', row_filter, relation
      using errcode = 'invalid_parameter_value', detail = sqlerrm,
            hint = 'Write it as in a WHERE clause, such as  status = ''open''.';
  end;
  perform set_config('search_path', 'pg_catalog, pg_temp', true);
  definition := pg_get_viewdef(format('rowrelay.%I', view_name)::regclass);
  perform set_config('search_path', path, true);
  execute format('drop view rowrelay.%I', view_name);
  definition := substring(definition from E'^\\s*SELECT\\s+(.*)\\s+AS rowrelay_filter\\s+FROM');
  return regexp_replace(definition, E'\\mrowrelay_row\\.', row_name || '.', 'g');
end
$$;
-- Purpose:    returns the condition of a trigger on its new row as one on its old row
-- Parameters: condition, as PostgreSQL prints it
-- Result:     the condition with old. for new. wherever that is not within quotes
create or replace function rowrelay.condition_on_old(condition text) returns text
language sql immutable as $$
  select string_agg(case when left(m.piece[1], 1) in ('''', '"') then m.piece[1]
                         else regexp_replace(m.piece[1], E'\\mnew\\.', 'old.', 'g') end, '' order by m.place)
    from regexp_matches(condition, '''(?:[^'']|'''')*''|"(?:[^"]|"")*"|[^''"]+', 'g') with ordinality as m(piece, place)
$$;
-- Purpose:    returns the triggers that a capture needs: on the table, on its inheritance children, and for TRUNCATE on
--             every partition, because PostgreSQL does not create that one for partitions. Their names begin with ! so
--             that they fire before the table's own triggers, which may change the row again: an earlier write must be
--             captured first.
-- Parameters: capture; is_new: whether its row filter is another one than that of the triggers that there are. Else
--             their condition is taken: the capture's text may name columns that were renamed since.
-- Result:     table; trigger name; CREATE TRIGGER statement; state: A: always enabled; O: as usual; R: only under
--             session_replication_role = replica; D: never, see rowrelay.stand_alone()
create or replace function rowrelay.wanted_triggers(capture rowrelay.capture, is_new boolean, out relation regclass,
                                                    out name text, out statement text, out state "char")
returns setof record
language plpgsql as $$
declare
  old_passes text;
  new_passes text;
  by_statement constant boolean := rowrelay.is_by_statement(capture);
  has_parts  boolean := (select c.relkind = 'p' from pg_class c where c.oid = capture.relation);
begin
  if not is_new and rowrelay.filter_state(capture) is not null then
    begin
      new_passes := rowrelay.filter_condition(capture);
      old_passes := rowrelay.condition_on_old(new_passes);
    exception when object_not_in_prerequisite_state then
      null; -- another trigger has taken the place of rowrelay's
    end;
  end if;
  if capture.row_filter is not null and new_passes is null then
    old_passes := rowrelay.filter_expression(capture.relation, capture.row_filter, 'old');
    new_passes := rowrelay.filter_expression(capture.relation, capture.row_filter, 'new');
  end if;
  return query
    with recursive member(relation) as (
      select capture.relation::oid
      union
      select i.inhrelid from member m join pg_inherits i on i.inhparent = m.relation
    ), row_trigger(name, event, condition, argument) as (
      select '!rowrelay', 'insert or update or delete', null, null where capture.row_filter is null
      union all
      select v.* from (values
        ('!rowrelay_insert', 'insert', format('(%s)', new_passes), 'INSERT'),
        ('!rowrelay_delete', 'delete', format('(%s)', old_passes), 'DELETE'),
        ('!rowrelay_update', 'update', format('((%s) and (%s))', old_passes, new_passes), 'UPDATE'),
        ('!rowrelay_update_in', 'update', format('((%s) and (%s) is not true)', new_passes, old_passes), 'INSERT'),
        ('!rowrelay_update_out', 'update', format('((%s) and (%s) is not true)', old_passes, new_passes), 'DELETE')
      ) as v where capture.row_filter is not null
    )
    select m.relation::regclass, t.name,
           format('create trigger %I after %s on %s for each row %s execute function rowrelay.%I(%s)',
                  t.name, t.event, m.relation::regclass, 'when ' || t.condition, 'capture_' || capture.id,
                  quote_literal(t.argument)),
           (case when by_statement then 'R' else 'A' end)::"char"
      from member m cross join row_trigger t
     where m.relation = capture.relation or not has_parts
    union all
    select m.relation::regclass, t.name,
           format('create trigger %I %s truncate on %s for each statement execute function '
                  'rowrelay.capture_truncate(%L)',
                  t.name, t.moment, m.relation::regclass, capture.id), 'A'::"char"
      from (values ('!rowrelay_truncate', 'before'), ('!rowrelay_truncated', 'after')) as t(name, moment)
      cross join member m
     where (select c.relkind from pg_class c where c.oid = m.relation) in ('r', 'p')
    union all
    select capture.relation, t.name,
           format('create trigger %I after %s on %s referencing %s for each statement execute function rowrelay.%I()',
                  t.name, t.event, capture.relation, t.tables, rowrelay.statement_name(capture.id)), 'O'::"char"
      from (values ('!rowrelay_inserted', 'insert', 'new table as rowrelay_new'),
                   ('!rowrelay_updated', 'update', 'old table as rowrelay_old new table as rowrelay_new'),
                   ('!rowrelay_deleted', 'delete', 'old table as rowrelay_old')) as t(name, event, tables)
     where by_statement
    union all
    select capture.relation, '!rowrelay_alone',
           format('create trigger %I after insert on %s referencing new table as rowrelay_new for each row '
                  'execute function rowrelay.stand_alone(%L)', '!rowrelay_alone', capture.relation, capture.id), 'D'
     where by_statement;
end
$$;
-- Purpose:    returns the statement that enables a trigger in one of PostgreSQL's ways
-- Parameters: relation; name of the trigger; state, as in pg_trigger
create or replace function rowrelay.trigger_setting(relation regclass, name text, state "char") returns text
language sql stable as $$
  select format('alter table %s %s trigger %I', relation,
                case state when 'A' then 'enable always' when 'R' then 'enable replica' when 'O' then 'enable'
                           else 'disable' end, name)
$$;
-- Purpose:    lists the triggers that a capture needs and its tables lack
-- Parameters: capture; its tables; anew: whether the existing ones will be dropped; is_new: as for
--             rowrelay.wanted_triggers()
-- Result:     table, trigger name, CREATE TRIGGER statement; the state it is to have
create or replace function rowrelay.triggers_to_create(capture rowrelay.capture, tables regclass[], anew boolean,
                                                       is_new boolean, out relation regclass, out name text,
                                                       out statement text, out state "char")
returns setof record language sql as $$
  select w.relation, w.name, w.statement, w.state
    from rowrelay.wanted_triggers(capture, is_new) w
   where anew or not exists (select from rowrelay.triggers_on(capture, tables) o where o.relation = w.relation
                             and o.name = w.name)
$$;
-- Purpose:    lists the triggers of a capture that are not enabled as they have to be. Most are to fire under
--             session_replication_role = replica too, which tools that load data set.
-- Parameters: capture; its tables
-- Result:     table; ALTER TABLE statement
create or replace function rowrelay.triggers_to_set(capture rowrelay.capture, tables regclass[],
                                                    out relation regclass, out statement text) returns setof record
language sql as $$
  select o.relation, rowrelay.trigger_setting(o.relation, o.name, coalesce(w.state, 'A'))
    from rowrelay.triggers_on(capture, tables) o
    -- partitions have copies of their table's triggers
    left join rowrelay.wanted_triggers(capture, false) w on w.relation = o.relation and w.name = o.name
   where o.relation = any (tables) and o.state <> coalesce(w.state, 'A')
$$;
-- Purpose:    whether a table has triggers by which it is captured by statement, although it is captured by row
-- Parameters: capture; its tables
create or replace function rowrelay.has_surplus_triggers(capture rowrelay.capture, tables regclass[]) returns boolean
language plpgsql stable as $$
begin
  return not rowrelay.is_by_statement(capture)
     and exists (select from rowrelay.triggers_on(capture, tables) o
                  where o.name = any ('{!rowrelay_inserted,!rowrelay_updated,!rowrelay_deleted,!rowrelay_alone}'));
end
$$;
-- Purpose:    whether triggers of a captured table were dropped or disabled, so that changes made meanwhile are unknown
-- Parameters: capture, with a log; its tables
-- Result:     false for a new partition or child without triggers, for triggers that only newer versions create, and
--             while the table changes between capture by row and by statement, or gets or loses a row filter
create or replace function rowrelay.has_lost_triggers(capture rowrelay.capture, tables regclass[]) returns boolean
language plpgsql stable as $$
declare
  events  constant text[] := '{!rowrelay_inserted,!rowrelay_updated,!rowrelay_deleted}';
  present constant text[] := array(select o.name from rowrelay.triggers_on(capture, array[capture.relation]) o);
  was_by_statement constant boolean := present && events;
begin
  return exists (select from rowrelay.shape s where s.capture = has_lost_triggers.capture.id)
     and (exists (select from rowrelay.triggers_on(capture, tables) o
                   where o.relation = any (tables) and o.name <> '!rowrelay_alone'
                     and case when o.name = any (events) then o.state not in ('O', 'A')
                              when o.name = '!rowrelay' and was_by_statement then o.state = 'D'
                              else o.state <> 'A' end)
          or '!rowrelay_truncate' <> all (present)
          or was_by_statement and not present @> events
          or '!rowrelay' <> all (present)
             and not present @> '{!rowrelay_insert,!rowrelay_delete,!rowrelay_update,!rowrelay_update_in,'
                                '!rowrelay_update_out}');
end
$$;
-- Purpose:    lists the triggers to drop before a capture's are created again: its own, and those that another capture
--             left on its tables. A partition's copy is dropped with its parent's.
-- Parameters: capture
-- Result:     table, trigger name
create or replace function rowrelay.triggers_to_drop(capture rowrelay.capture, out relation regclass, out name text)
returns setof record language sql stable as $$
  select o.relation, o.name from rowrelay.own_triggers(capture) o where not o.is_copy
  union
  select o.relation, o.name from rowrelay.other_triggers(capture, rowrelay.captured_tables(capture)) o
$$;
-- Purpose:    drops a capture's triggers from its tables, and leftover triggers of other captures; the caller has
--             locked the tables
-- Parameters: capture
create or replace function rowrelay.detach_triggers(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  doomed record;
begin
  for doomed in
    select t.relation, t.name from rowrelay.triggers_to_drop(capture) t
  loop
    execute format('drop trigger if exists %I on %s', doomed.name, doomed.relation);
  end loop;
end
$$;
-- Purpose:    returns a digest of the triggers' condition for a capture with a row filter; a renamed column does not
--             change it
-- Parameters: capture
-- Result:     null when there is no filter, or no trigger
create or replace function rowrelay.filter_state(capture rowrelay.capture) returns text
language sql stable as $$
  select encode(sha256(convert_to(t.tgqual::text, getdatabaseencoding())), 'hex')
    from pg_trigger t
   where t.tgrelid = capture.relation and t.tgname = '!rowrelay_insert'
     and t.tgfoid = to_regprocedure(format('rowrelay.%I()', 'capture_' || capture.id))
$$;
-- Purpose:    drops the triggers of a capture from tables that no longer belong to it: children that no longer inherit,
--             detached partitions
-- Parameters: capture; the tables; how long to try for their locks
-- Errors:     as for rowrelay.lock_tables()
create or replace function rowrelay.drop_left_over(capture rowrelay.capture, tables regclass[], patience interval)
  returns void
language plpgsql as $$
declare
  doomed record;
begin
  perform rowrelay.lock_tables(tables, 'access exclusive', patience);
  for doomed in
    select t.relation, t.name from rowrelay.triggers_on(capture, tables) t
     where not t.is_copy and t.relation <> all (rowrelay.captured_tables(capture))
  loop
    execute format('drop trigger %I on %s', doomed.name, doomed.relation);
  end loop;
end
$$;
-- Purpose:    creates a capture's triggers on its tables: those that are missing, or all of them again. If triggers of
--             the table were dropped or disabled, changes made meanwhile are unknown, and its log starts again
--             (rowrelay.begin_log).
-- Parameters: capture; is_new: drop the existing triggers first, because its row filter is another one; how long to
--             try for the locks
-- Result:     number of triggers created or enabled again
-- Errors:     as for rowrelay.lock_tables()
create or replace function rowrelay.attach_triggers(capture rowrelay.capture, is_new boolean, patience interval)
  returns integer
language plpgsql set standard_conforming_strings = on as $$ -- as rowrelay.filter_expression() writes
declare
  anew       boolean;
  tables     regclass[] := rowrelay.captured_tables(capture);
  locked     regclass[];
  statements text[];
  statement  text;
  made       integer;
  filters    boolean; -- whether the condition of the row filter is among them
  was_cut    boolean;
begin
  -- A table that was a partition may have a trigger left from that time; one that was captured by statement, too.
  anew := is_new or exists (select from rowrelay.other_triggers(capture, tables))
          or rowrelay.has_surplus_triggers(capture, tables);
  was_cut := rowrelay.has_lost_triggers(capture, tables);
  select array_agg(w.statement), array_agg(w.relation),
         bool_or(w.relation = capture.relation and w.name = '!rowrelay_insert') into statements, locked, filters
    from rowrelay.triggers_to_create(capture, tables, anew, is_new) w;
  locked := locked || array(select t.relation from rowrelay.triggers_to_set(capture, tables) t);
  if cardinality(locked) = 0 then
    return 0;
  end if;
  -- DDL on a partitioned table applies to its partitions too.
  locked := array(select u.relation from unnest(tables) with ordinality as u(relation, position)
                   where anew or u.relation = any (locked) or (capture.relation = any (locked)) order by u.position);

  -- All that takes time is done: from here to the commit writers of these tables wait.
  perform rowrelay.lock_tables(locked, case when anew then 'access exclusive' else 'share row exclusive' end, patience);
  if anew then
    perform rowrelay.detach_triggers(capture);
  end if;
  made := coalesce(cardinality(statements), 0);
  foreach statement in array coalesce(statements, '{}') loop
    begin
      execute statement;
    exception when feature_not_supported or grouping_error or windowing_error then
      if capture.row_filter is null then
        raise;
      end if;
      raise exception 'row filter "%" of table % uses more than the row', capture.row_filter, capture.relation
        using errcode = 'invalid_parameter_value', detail = sqlerrm,
              hint = 'Move it into a function, and pass the row''s columns to it.';
    end;
  end loop;
  for statement in select t.statement from rowrelay.triggers_to_set(capture, tables) t loop
    execute statement;
    made := made + 1;
  end loop;
  if filters then
    update rowrelay.capture c set filter_state = rowrelay.filter_state(capture) where c.id = capture.id;
  end if;
  if was_cut then
    perform rowrelay.begin_log(capture);
    raise warning 'table % had lost triggers: changes made meanwhile are not in the log, which starts again now',
      capture.relation
      using hint = 'To repair a mirror: ' || rowrelay.verify_commands(capture.relation, true);
  end if;
  return made;
end
$$;
-- Purpose:    refuses a key that rows of a table and of its inheritance children share: a mirror would have one row for
--             all of them. Later duplicates are found when they are written (rowrelay.nesting_statements).
-- Parameters: capture
-- Errors:     names a key and the tables with rows of that key
create or replace function rowrelay.check_children(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  shared record;
begin
  if cardinality(capture.key_columns) = 0 or not rowrelay.has_children(capture.relation) then
    return;
  end if;
  execute format(
      'select min(%1$s) as key, array_agg(distinct t.tableoid::regclass) as tables from %2$s as t group by %3$s having '
      'count(*) > 1 limit 1',
                 rowrelay.key_expression(capture.relation, capture.key_columns, 't'), capture.relation,
                 (select string_agg(format('t.%I', name), ', ')
                  from unnest(rowrelay.attribute_names(capture.relation, capture.key_columns)) as name))
     into shared;
  if shared.key is not null then
    raise exception 'table % and its inheritance children have several rows with the key %', capture.relation,
      shared.key
      using errcode = 'unique_violation', detail = format('They are in %s.', array_to_string(shared.tables, ' and ')),
            hint = format('A unique index does not cover a table''s children. Name columns that identify a row in all '
                          'of them, or capture the table without a key: %s',
                          rowrelay.command('rowrelay capture %s --key ""',
                                           'select rowrelay.capture_table(%L, key => ''{}'');',
                                           capture.relation::text));
  end if;
end
$$;
-- Purpose:    applies options to a capture. Options that are null stay as they are; a key that no user chose is
--             determined again, and so is one that has lost a column.
-- Parameters: relation; capture as it is, or with the defaults of a new one; then as for rowrelay.capture_table()
-- Result:     the capture with its options
-- Errors:     unknown columns; a key without a unique index; before is neither none nor full; per is neither row nor
--             statement, or the table's kind excludes that; mask is not an object
create or replace function rowrelay.wanted_capture(
  relation regclass, was rowrelay.capture, key text[], lane text[], columns text[], exclude text[], mask jsonb,
    row_filter text,
  before text, capture_origin boolean, per text) returns rowrelay.capture
language plpgsql stable as $$
declare
  wanted  rowrelay.capture := was;
  present constant smallint[] := array(select a.attnum from pg_attribute a
                                        where a.attrelid = relation and a.attnum > 0 and not a.attisdropped);
begin
  wanted.relation_name := rowrelay.full_name(relation);
  if key is not null then
    wanted.key_columns := rowrelay.attribute_numbers(relation, key, 'key');
    wanted.key_is_chosen := true;
    perform rowrelay.check_key(relation, wanted.key_columns);
  elsif not was.key_is_chosen or not was.key_columns <@ present then
    wanted.key_columns := rowrelay.key_of(relation);
    wanted.key_is_chosen := false;
  end if;
  wanted.key_is_exact := rowrelay.key_is_exact(relation, wanted.key_columns);
  if lane is not null then
    wanted.lane_columns := rowrelay.attribute_numbers(relation, lane, 'lane');
  elsif not was.lane_columns <@ present then
    wanted.lane_columns := nullif(array(select u.number
                                        from unnest(was.lane_columns) with ordinality as u(number, place)
                                         where u.number = any (present) order by u.place), '{}');
    raise warning 'table %: lane columns were dropped, so they no longer keep changes in order', relation
      using hint = 'Name others: '
                   || rowrelay.command('rowrelay capture %s --lane COLUMNS',
                                       'select rowrelay.capture_table(%L, lane => ''{COLUMNS}'');', relation::text);
  end if;
  if columns is not null then
    wanted.only_columns := rowrelay.attribute_numbers(relation, columns, 'columns');
    wanted.only_names := columns;
  end if;
  if exclude is not null then
    wanted.exclude_columns := rowrelay.attribute_numbers(relation, exclude, 'exclude');
    wanted.exclude_names := exclude;
  end if;
  if mask is not null then
    wanted.mask := rowrelay.mask_by_number(relation, mask);
    wanted.mask_names := mask;
  end if;
  if row_filter is not null then
    wanted.row_filter := nullif(row_filter, '');
  end if;
  if before not in ('none', 'full') then
    raise exception 'before must be none or full, not "%"', before using errcode = 'invalid_parameter_value';
  end if;
  wanted.before := coalesce(wanted_capture.before, was.before);
  wanted.capture_origin := coalesce(wanted_capture.capture_origin, was.capture_origin);
  if per not in ('row', 'statement') then
    raise exception 'per must be row or statement, not "%"', per using errcode = 'invalid_parameter_value';
  end if;
  if per = 'statement' and rowrelay.kind_obstacle(relation) is not null then
    raise exception 'table % cannot be captured by statement: %', relation, rowrelay.kind_obstacle(relation)
      using errcode = 'wrong_object_type',
            hint = 'Capture it by row, as is the default.';
  end if;
  wanted.per := coalesce(wanted_capture.per, was.per);
  return wanted;
end
$$;
-- Purpose:    the part of rowrelay.capture_table() before any table is locked: checks what is wanted and stores it
-- Parameters: as for rowrelay.capture_table(); new_id: number of a new capture; null: the next one; per:
--             as for that function
-- Result:     was: the capture as it was; its id is null if the table was not captured. capture: as it is now
--             Warns as rowrelay.capture_table() does.
-- Errors:     as for rowrelay.capture_table(), without those of locks
create or replace function rowrelay.store_capture(
  relation regclass, key text[], lane text[], columns text[], exclude text[], mask jsonb, row_filter text, before text,
  capture_origin boolean, reset boolean, new_id integer, per text, out was rowrelay.capture,
  out capture rowrelay.capture)
language plpgsql as $$
declare
  begun       rowrelay.capture; -- as a new one begins
  former      rowrelay.capture; -- what a person may remember of the table
  documents   text;
  rebuilds    text;
  shown       text;
begin
  perform rowrelay.lock_configuration();
  perform rowrelay.check_capturable(relation);
  select c.* into was from rowrelay.capture c
   where c.relation = store_capture.relation and c.released_at is null for update;
  if was.id is null then
    insert into rowrelay.capture as c (id, relation, relation_name, key_columns, key_is_exact, lane_columns,
                                       only_columns, exclude_columns, mask, row_filter, before, capture_origin)
    overriding system value
    values (coalesce(new_id, nextval('rowrelay.capture_id_seq')), relation, rowrelay.full_name(relation), '{}', false,
            null, null, '{}', '{}', null, 'none', false)
    returning c.* into begun;
  else
    begun := was;
    if reset then
      begun.key_is_chosen := false;
      begun.lane_columns := null;
      begun.only_columns := null;
      begun.only_names := null;
      begun.exclude_columns := '{}';
      begun.exclude_names := '{}';
      begun.mask := '{}';
      begun.mask_names := '{}';
      begun.row_filter := null;
      begun.before := 'none';
      begun.capture_origin := false;
      begun.per := 'row';
    end if;
  end if;
  capture := rowrelay.wanted_capture(relation, begun, key, lane, columns, exclude, mask, row_filter, before,
                                     capture_origin, per);

  update rowrelay.capture c
     set relation_name = capture.relation_name, key_columns = capture.key_columns, key_is_exact = capture.key_is_exact,
         key_is_chosen = capture.key_is_chosen, lane_columns = capture.lane_columns,
         only_columns = capture.only_columns, only_names = capture.only_names,
         exclude_columns = capture.exclude_columns, exclude_names = capture.exclude_names,
         mask = capture.mask, mask_names = capture.mask_names, row_filter = capture.row_filter,
         before = capture.before, capture_origin = capture.capture_origin, per = capture.per
   where c.id = capture.id
  returning c.* into capture;
  -- A user who changes one option may not notice what else it uncovers; nor one who captures a table that was released,
  -- or dropped and created, that it begins anew.
  former := was;
  if was.id is null then
    select c.* into former from rowrelay.capture c
     where (c.relation = store_capture.relation or c.relation_name = capture.relation_name) and c.id <> capture.id
     order by c.id desc limit 1;
  end if;
  select string_agg(format('%I', a.attname), ', ' order by a.attnum) into shown
    from pg_attribute a
    cross join lateral (
      select case when former.relation = a.attrelid
                  then a.attnum = any (former.exclude_columns) or former.mask ? a.attnum::text
                    or a.attnum <> all (former.only_columns)
                  else a.attname = any (former.exclude_names) or former.mask_names ? a.attname::text
                    or a.attname <> all (former.only_names) end) as f(was_hidden)
   where a.attrelid = store_capture.relation and a.attnum > 0 and not a.attisdropped and f.was_hidden
     and (a.attnum = any (capture.exclude_columns) or capture.mask ? a.attnum::text
          or a.attnum <> all (capture.only_columns)) is not true;
  if shown is not null then
    raise warning 'table %: columns % are no longer left out or masked', relation, shown
      using hint = 'If that is not what you want, capture it again: '
                   || rowrelay.command('rowrelay capture %s --exclude COLUMNS',
                                       'select rowrelay.capture_table(%L, exclude => ''{COLUMNS}'');', relation::text);
  end if;
  if former.row_filter is not null and capture.row_filter is null then
    raise warning 'table %: rows that do not meet (%) are no longer left out', relation, former.row_filter
      using hint = 'If that is not what you want, capture it again: '
                   || rowrelay.command('rowrelay capture %s --where %s',
                                       'select rowrelay.capture_table(%L, row_filter => %L);', relation::text,
                                       former.row_filter);
  end if;
  if capture.key_columns && (capture.exclude_columns || array(select m::smallint
                                                              from jsonb_object_keys(capture.mask) as m))
     or not capture.key_columns <@ coalesce(capture.only_columns, capture.key_columns) then
    raise exception 'the key of table % cannot be left out or masked', relation
      using errcode = 'invalid_parameter_value',
            hint = 'Choose other columns, or another key.';
  end if;

  select string_agg(c.oid::regclass::text, ', ' order by c.oid::regclass::text) into shown
    from pg_class c where c.oid = any (rowrelay.captured_tables(capture)) and c.relpersistence = 'u';
  if shown is not null then
    raise warning 'a crash empties unlogged tables without firing triggers: %', shown
      using hint = 'After a crash, remove the lost rows from a mirror: ' || rowrelay.verify_commands(relation, true);
  end if;

  if row_security_active(relation) then
    raise warning 'row-level security hides rows of table % from role %, which owns schema rowrelay', relation,
      current_user
      using detail =
        'If triggers of the table change rows that the same statement writes, changes may be captured in the '
        'wrong order.',
            hint = format('Have a superuser run: alter role %I bypassrls; or the table''s owner: '
                          'alter table %s no force row level security;', current_user, relation);
  end if;

  if was.id is null then
    -- It was captured before, and documents are built from it.
    with ours as (
      update rowrelay.document_source s set capture = capture.id
        from rowrelay.capture c, rowrelay.target t
       where c.id = s.capture and c.relation = store_capture.relation and c.released_at is not null
         and t.id = s.document and t.dropped_at is null
      returning t.name
    )
    select string_agg(format('"%s"', o.name), ', ' order by o.name),
           string_agg(rowrelay.command('rowrelay document rebuild %s', 'select rowrelay.rebuild(%L);', o.name), '; '
                      order by o.name)
      into documents, rebuilds from (select distinct u.name from ours u) as o;
    if documents is not null then
      raise warning 'table % was not captured for a while, so documents % may be out of date', relation, documents
        using hint = 'Rebuild them: ' || rebuilds;
    end if;
  end if;
  select string_agg(distinct format('"%s"', t.name), ', ') into documents
    from rowrelay.document_source s join rowrelay.target t on t.id = s.document
   where s.capture = capture.id and t.dropped_at is null
     and (s.key_column = any (capture.exclude_columns) or s.key_column <> all (capture.only_columns)
          or capture.mask ? s.key_column::text);
  if documents is not null then
    raise exception 'the column of table % with the keys of documents % cannot be left out or masked',
      relation, documents
      using errcode = 'invalid_parameter_value';
  end if;

  perform rowrelay.check_children(capture);
end
$$;
-- Purpose:    begins to capture the changes of a table, or changes how it is captured. Takes SHARE ROW EXCLUSIVE on the
--             table for a moment, and blocks others for at most a tenth of a second at a time.
-- Parameters: relation; if the table is already captured, parameters below that are null stay as they are
--             key: columns that identify a row, with a unique index on them, or on some of them (default: primary key,
--               else a unique index on NOT NULL columns, else none)
--             lane: columns whose equal values keep changes in order (default: the key; {}: the whole table)
--             columns / exclude: columns to capture (default: all) / to leave out ({}: none)
--             mask: {"column": value to show instead} ({}: none)
--             row_filter: condition on a row; an update after which a row begins to meet it is captured as insert, one
--               after which it ceases to as delete (default, and '': none)
--             before: none (the default), or full to keep the image before an update too
--             capture_origin: also capture what rowrelay itself writes to this table (default: false)
--             lock_wait: how long to try for the lock
--             target: also route the table there; create_table: create the table there; create_like: how; see
--               rowrelay.route()
--             per: row (the default), or statement: capture each statement as a whole, which costs less for many rows.
--               A table that cannot be captured so is captured by row; view rowrelay.captures says why
--             reset: reset parameters that are null to their defaults
-- Result:     id of the capture
--             Warns of columns or rows that were left out before and no longer are, of an unlogged table, of row-level
--             security that hides rows, and of partitions that may share keys.
-- Errors:     the relation cannot be captured; no unique index covers the key, or rows of the table and of inheritance
--             children share one; unknown columns; per statement is
--             wanted of a partitioned table, a partition, or a table with inheritance; no lock within lock_wait. Then
--             nothing has changed.
create or replace function rowrelay.capture_table(
  relation regclass, key text[] default null, lane text[] default null, columns text[] default null,
  exclude text[] default null, mask jsonb default null, row_filter text default null, before text default null,
  capture_origin boolean default null, lock_wait interval default '1 min', reset boolean default false,
  target text default null, create_table boolean default null, create_like text default null, per text default null)
  returns integer
language plpgsql security definer as $$
declare
  stored  record;
  was     rowrelay.capture;
  capture rowrelay.capture;
  begins  boolean;
begin
  select s.* into stored
    from rowrelay.store_capture(relation, key, lane, columns, exclude, mask, row_filter, before, capture_origin, reset,
                                null, per) as s;
  was := stored.was;
  capture := stored.capture;
  begins := was.id is null
         or (was.key_columns, was.row_filter, was.capture_origin)
            is distinct from (capture.key_columns, capture.row_filter, capture.capture_origin);
  if was.id is not null and begins then
    -- transactions that capture with the old options must have ended before the log starts again
    perform rowrelay.lock_tables(rowrelay.captured_tables(capture), 'share row exclusive', lock_wait);
  end if;
  if target is not null then
    perform rowrelay.add_route(capture, target, null, create_table, false, create_like);
  end if;
  perform rowrelay.make_trigger_function(capture.id, lock_wait);
  perform rowrelay.attach_triggers(capture, was.id is not null and was.row_filter is distinct from capture.row_filter,
                                   lock_wait);
  if begins then
    perform rowrelay.begin_log(capture);
  end if;
  return capture.id;
end
$$;
-- Purpose:    returns what rowrelay.capture_table() would run on a table, and changes nothing. It stores the capture,
--             composes the statements and undoes the first, so it checks the same; but it takes no lock on the table
--             that a writer would wait for.
-- Parameters: as for rowrelay.capture_table()
-- Result:     the statements in their order. They would be run in one transaction, under the locks that
--             rowrelay.capture_table() takes, and those of its other changes (rowrelay.capture, rowrelay.route).
-- Errors:     as for rowrelay.capture_table(), without those of locks
create or replace function rowrelay.capture_statements(
  relation regclass, key text[] default null, lane text[] default null, columns text[] default null,
  exclude text[] default null, mask jsonb default null, row_filter text default null, before text default null,
  capture_origin boolean default null, reset boolean default false, target text default null,
  create_table boolean default null, create_like text default null, per text default null) returns setof text
language plpgsql security definer as $$
declare
  next_id    integer := (select s.last_value + s.is_called::integer from rowrelay.capture_id_seq s);
  stored     record;
  was        rowrelay.capture;
  capture    rowrelay.capture;
  target_id  integer;
  delivers   rowrelay.target;
  into_table text;
  anew       boolean;
  is_new     boolean;
  statements text[] := '{}';
begin
  begin
    select s.* into stored
      from rowrelay.store_capture(relation, key, lane, columns, exclude, mask, row_filter, before, capture_origin,
                                  reset, next_id, per) as s;
    was := stored.was;
    capture := stored.capture;
    if target is not null then
      target_id := rowrelay.target_id(target);
      select t.* into delivers from rowrelay.target t where t.id = target_id;
      into_table := rowrelay.check_route(capture, delivers, null, false);
      if create_table and create_like = 'full' then
        perform rowrelay.tell_left_out(capture, target, into_table);
      end if;
      insert into rowrelay.route as r (capture, target, into_table, create_table, create_like, from_id)
      values (capture.id, delivers.id, into_table, coalesce(create_table, false), coalesce(create_like, 'minimal'),
              rowrelay.last_change_id())
      on conflict on constraint route_pkey do update set until_id = null;
    end if;
    is_new := was.id is not null and was.row_filter is distinct from capture.row_filter;
    anew := is_new
            or exists (select from rowrelay.other_triggers(capture, rowrelay.captured_tables(capture)))
            or rowrelay.has_surplus_triggers(capture, rowrelay.captured_tables(capture));
    statements := statements || rowrelay.trigger_function(capture);
    if anew then
      statements := statements || array(select format('drop trigger if exists %I on %s', t.name, t.relation)
                                          from rowrelay.triggers_to_drop(capture) as t);
    end if;
    statements := statements
      || array(select t.statement
                 from rowrelay.triggers_to_create(capture, rowrelay.captured_tables(capture), anew, is_new) t)
      || array(select rowrelay.trigger_setting(t.relation, t.name, t.state)
                 from rowrelay.triggers_to_create(capture, rowrelay.captured_tables(capture), anew, is_new) t
                where t.state <> 'O')
      || array(select t.statement from rowrelay.triggers_to_set(capture, rowrelay.captured_tables(capture)) t
                where not anew);
    raise exception using errcode = 'RR000';
  exception when sqlstate 'RR000' then
    null; -- all of it is undone
  end;
  return query select u.statement from unnest(statements) with ordinality as u(statement, place) order by u.place;
end
$$;
-- Purpose:    ends the capture of a table and drops its triggers. Captured changes stay in the log, and queued ones are
--             still delivered. Takes ACCESS EXCLUSIVE on the table for a moment, as DROP TRIGGER must, and blocks
--             others for at most a tenth of a second at a time.
-- Parameters: relation; lock_wait: how long to try for the lock
-- Errors:     the table is not captured; no lock within lock_wait
create or replace function rowrelay.release_table(relation regclass, lock_wait interval default '1 min') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture rowrelay.capture := rowrelay.captured(relation);
begin
  perform rowrelay.lock_tables(
    rowrelay.captured_tables(capture)
      || array(select distinct o.relation from rowrelay.own_triggers(capture) o
                where o.relation <> all (rowrelay.captured_tables(capture))), -- detached partitions
    'access exclusive', lock_wait);
  perform rowrelay.detach_triggers(capture);
  execute format('drop function if exists rowrelay.%I()', 'capture_' || capture.id);
  execute format('drop function if exists rowrelay.%I', rowrelay.rest_name(capture.id));
  execute format('drop function if exists rowrelay.%I()', rowrelay.statement_name(capture.id));
  perform rowrelay.copy_forget(r.capture, r.target)
     from rowrelay.route r where r.capture = capture.id and r.until_id is null;
  update rowrelay.route r set until_id = rowrelay.last_change_id()
   where r.capture = capture.id and r.until_id is null;
  update rowrelay.capture c set released_at = now() where c.id = capture.id;
end
$$;
-- Purpose:    returns statements that create a table's column types in another database: user-defined types, in the
--             order of their dependencies. Types of extensions are left out, because the extension has to be installed
--             there.
-- Parameters: relation
-- Result:     [{"type": name, "definition": CREATE statement}]
create or replace function rowrelay.type_definitions(relation regclass) returns json
language sql stable as $$
  with recursive used(type, depth) as (
    select a.atttypid, 0 from pg_attribute a where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
    union all
    select part.type, u.depth + 1
      from used u
      cross join lateral (
        select t.typelem from pg_type t where t.oid = u.type and t.typelem <> 0
        union all
        select t.typbasetype from pg_type t where t.oid = u.type and t.typtype = 'd'
        union all
        select a.atttypid from pg_type t join pg_attribute a on a.attrelid = t.typrelid
         where t.oid = u.type and t.typtype = 'c' and a.attnum > 0 and not a.attisdropped
        union all
        select r.rngsubtype from pg_range r where r.rngtypid = u.type
        union all
        select r.rngtypid from pg_range r where to_jsonb(r) ->> 'rngmultitypid' = u.type::text
      ) as part(type)
     where u.depth < 20
  ), own as (
    select t.oid, t.typname, t.typtype, t.typrelid, t.typbasetype, t.typtypmod, n.nspname, u.depth
      from (select type, max(depth) as depth from used group by type) as u
      join pg_type t on t.oid = u.type
      join pg_namespace n on n.oid = t.typnamespace
     where t.oid >= 16384 and t.typtype in ('e', 'c', 'd', 'r')
       and not exists (select from pg_depend d where d.classid = 'pg_type'::regclass and d.objid = t.oid
                       and d.deptype = 'e')
  )
  select json_agg(json_build_object('schema', o.nspname, 'type', format('%I.%I', o.nspname, o.typname), 'definition',
           case o.typtype
             when 'e' then format('create type %I.%I as enum (%s)', o.nspname, o.typname,
               (select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder) from pg_enum e
                where e.enumtypid = o.oid))
             when 'c' then format('create type %I.%I as (%s)', o.nspname, o.typname,
               (select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', '
                                  order by a.attnum)
                  from pg_attribute a where a.attrelid = o.typrelid and a.attnum > 0 and not a.attisdropped))
             -- without its constraints: the source checks the values
             when 'd' then format('create domain %I.%I as %s', o.nspname, o.typname,
                                  format_type(o.typbasetype, o.typtypmod))
             else (select format('create type %I.%I as range (subtype = %s)', o.nspname, o.typname,
                                 format_type(r.rngsubtype, null))
                     from pg_range r where r.rngtypid = o.oid)
           end) order by o.depth desc, o.oid)
    from own o
$$;
-- Purpose:    cancels copying a table to a target as a whole, because it is no longer routed there. Changes captured
--             meanwhile are not delivered. The caller replaces the trigger function.
-- Parameters: capture; target
create or replace function rowrelay.copy_forget(capture_id integer, target_id integer) returns void
language plpgsql as $$
declare
  room integer := rowrelay.waiting_room(capture_id, target_id);
begin
  update rowrelay.backfill b
     set state = 'cancelled', snapshot = null, finished_at = clock_timestamp(),
         note = 'the table is no longer routed to the target'
   where b.capture = capture_id and b.target = target_id and b.state in ('copying', 'joining');
  if room = 0 then
    return;
  end if;
  execute format('drop function rowrelay.%I()', format('copies_%s_%s', capture_id, target_id));
  -- rowrelay.maintain() later removes what a writer still adds
  delete from rowrelay.queue q
   where q.lane between rowrelay.lane_number(target_id, -1) + room and rowrelay.lane_number(target_id, 1023) + room;
end
$$;
-- Purpose:    names the table that holds a table's changes in an append target: its name and _changes. PostgreSQL would
--             truncate a name of more than 63 bytes to what may be another table's name, or the table's own.
-- Parameters: relation
-- Result:     the name with its schema, quoted where it must be
create or replace function rowrelay.changes_name(relation regclass) returns text
language plpgsql stable as $$
declare
  room    constant integer := 63 - octet_length('_changes');
  schema  name;
  name    text;
  begins  text;
begin
  select n.nspname, c.relname into schema, name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = relation;
  if octet_length(name) > room then
    begins := name;
    while octet_length(begins) > room - 9 loop
      begins := left(begins, -1);
    end loop;
    name := begins || '_' || left(encode(sha256(convert_to(name, getdatabaseencoding())), 'hex'), 8);
  end if;
  return format('%I.%I', schema, name || '_changes');
end
$$;
-- Purpose:    whether the table that receives changes is the captured one: that table itself, a partition or a child of
--             it, a table that it is a partition of, or a view of it
-- Parameters: capture; name of the table that is written to, which need not exist yet
create or replace function rowrelay.is_captured_itself(capture rowrelay.capture, into_table text) returns boolean
language plpgsql stable as $$
declare
  written  regclass;
begin
  begin
    -- The delivering process looks the name up by another search_path.
    written := coalesce(to_regclass(into_table),
                        case when cardinality(parse_ident(into_table)) = 1 then to_regclass('public.'
                            || into_table) end);
  exception when others then -- not the name of a table here, or one that the caller may not look up
    return false;
  end;
  return exists (
    with recursive reached(relation) as (
      select written::oid
      union
      select u.relation
        from reached r
       cross join lateral (
         select i.inhrelid as relation from pg_inherits i where i.inhparent = r.relation
         union all
         select rowrelay.read_tables(v.oid)::oid from pg_class v where v.oid = r.relation and v.relkind = 'v') as u
    )
    select from reached r where r.relation = any (rowrelay.captured_tables(capture)::oid[]));
end
$$;
-- Purpose:    whether two names mean one table; a name without a schema is in public
-- Parameters: names, quoted where they must be
create or replace function rowrelay.same_table_name(one text, other text) returns boolean
language plpgsql immutable as $$
begin
  return case when cardinality(parse_ident(one)) = 1 then array['public'] || parse_ident(one) else parse_ident(one) end
       = case when cardinality(parse_ident(other)) = 1 then array['public'] || parse_ident(other)
         else parse_ident(other) end;
exception when others then -- names of other kinds of targets
  return one = other;
end
$$;
-- Purpose:    refuses to send a table's changes into that table itself, or into a table that receives another one's
--             changes, unless the user allowed that
-- Parameters: capture; target; name of the table there; whether tables may share it
-- Errors:     names the other table and what to do
create or replace function rowrelay.check_into(capture rowrelay.capture, target rowrelay.target, into_table text,
                                               shared boolean) returns void
language plpgsql stable as $$
declare
  other  text;
  ending text; -- of any spelling of that name, without quotes and capitals: rules out most other names cheaply
begin
  if target.url ~ '^postgres(ql)?:$' and rowrelay.is_captured_itself(capture, into_table) then
    raise exception 'table % cannot be its own target', capture.relation using errcode = 'invalid_parameter_value',
      detail = format('Target "%s" is this database, so old changes would overwrite newer rows of table %s.',
                      target.name, into_table),
      hint = 'Name another table: '
               || rowrelay.command('rowrelay route --into NAME %s %s',
                                   'select rowrelay.route(%L, %L, into_table => ''NAME'');', capture.relation::text,
                                   target.name);
  end if;
  if shared or target.options ->> 'mode' = 'append'
     or not coalesce((select k.overwrites from rowrelay.target_kind(target.url) as k), false) then
    return;
  end if;
  begin
    ending := replace(lower((parse_ident(into_table))[cardinality(parse_ident(into_table))]), '"', '');
  exception when others then -- a name of another kind of target
    ending := replace(lower(into_table), '"', '');
  end;
  select rowrelay.full_name(c.relation) into other
    from rowrelay.route r
    join rowrelay.capture c on c.id = r.capture and c.released_at is null
    join rowrelay.target t on t.id = r.target and t.dropped_at is null
   where r.until_id is null and (t.id = target.id or t.url = target.url)
     and (r.capture, r.target) <> (capture.id, target.id)
     and case when right(replace(lower(rtrim(r.into_table)), '"', ''), length(ending)) = ending
              then rowrelay.same_table_name(r.into_table, check_into.into_table)
                and rowrelay.full_name(c.relation) is not null
              else false end
     and not exists (select from rowrelay.document d where d.target = t.id)
   order by c.id limit 1;
  if found then
    raise exception 'the changes of table % already go into table % of target "%"', other, into_table, target.name
      using errcode = 'invalid_parameter_value',
            detail = 'A row of one table would overwrite the row of the other with the same key.',
            hint = format('Name another table: %s; tables without a key in common may share it: %s',
                          rowrelay.command('rowrelay route --into NAME %s %s',
                                           'select rowrelay.route(%L, %L, into_table => ''NAME'')',
                                           capture.relation::text, target.name),
                          rowrelay.command('rowrelay route --shared --into %3$s %1$s %2$s',
                                           'select rowrelay.route(%L, %L, into_table => %L, shared => true);',
                                           capture.relation::text, target.name, into_table));
  end if;
end
$$;
-- Purpose:    refuses a route that cannot work, before anything is stored
-- Parameters: capture and target, also new ones whose id is 0; into_table: name of the table there (null: as for an
--             existing route, else the default); shared: whether another table's changes may go into the same table
-- Result:     the name that the table has there by default
-- Errors:     the target is a document; into_table is empty; the table is being copied there, or would be its own
--             target, or share another one's
create or replace function rowrelay.check_route(capture rowrelay.capture, target rowrelay.target, into_table text,
                                                shared boolean) returns text
language plpgsql stable as $$
declare
  relation      constant regclass := capture.relation;
  -- read now, before another session renames the table
  default_table text := rowrelay.full_name(capture.relation);
  known_table   text;
begin
  if exists (select from rowrelay.document d where d.target = target.id) then
    raise exception '"%" is a document, not a target', target.name using errcode = 'invalid_parameter_value',
      hint = 'The tables that a document is built from are named when it is added.';
  end if;
  if into_table = '' then
    raise exception 'into_table is empty' using errcode = 'invalid_parameter_value',
      hint = 'Omit it to use the name that the table has here.';
  end if;
  if target.options ->> 'mode' = 'append' then
    default_table := rowrelay.changes_name(relation);
  end if;
  if rowrelay.waiting_room(capture.id, target.id) <> 0
     and exists (select from rowrelay.route r
                  where r.capture = capture.id and r.target = target.id and r.into_table <> check_route.into_table) then
    raise exception 'table % is being copied to target "%"', relation, target.name
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Wait until it is copied, or cancel that: '
                     || rowrelay.command('rowrelay backfill %s --to %s --cancel',
                                         'select rowrelay.cancel_backfill(%L, %L);', relation::text, target.name);
  end if;
  select r.into_table into known_table from rowrelay.route r where r.capture = capture.id and r.target = target.id;
  -- an existing route was checked when it was added
  if not exists (select from rowrelay.route r
                  where r.capture = capture.id and r.target = target.id and r.until_id is null
                    and r.into_table = coalesce(check_route.into_table, r.into_table))
     or target.url ~ '^postgres(ql)?:$' then
    perform rowrelay.check_into(capture, target, coalesce(check_route.into_table, known_table, default_table), shared);
  end if;
  return default_table;
end
$$;
-- Purpose:    says why an expression of a table, a default or a CHECK, cannot be used in another database. Of
--             functions that are not immutable only some are taken, by name: one that reads files or runs statements
--             would do so there.
-- Parameters: catalog and object: where the expression is, pg_attrdef or pg_constraint; relation: its table; tree: the
--             expression as the catalog has it; is_check: it must give the same on any day and in any session
-- Result:     "it uses ...", null: it can be used
create or replace function rowrelay.expression_obstacle(catalog regclass, object oid, relation oid, tree text,
                                                        is_check boolean) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
declare
  operators constant oid[] := array(
    select m[1] from regexp_matches(tree, ':opno ([0-9]+)', 'g') as m
    union
    select n
      from regexp_matches(tree, ':opnos [(]o ([0-9 ]+)[)]', 'g') as m
      cross join regexp_split_to_table(m[1], ' +') as n
     where n <> '');
  functions constant oid[] := array(
    select m[1]::oid from regexp_matches(tree, ':(?:funcid|aggfnoid|winfnoid) ([0-9]+)', 'g') as m
    union
    select o.oprcode from pg_operator o where o.oid = any (operators));
begin
  return coalesce(
    -- what is not PostgreSQL's own depends on it
    (select format('it uses %s', pg_describe_object(d.refclassid, d.refobjid, 0))
       from pg_depend d
      where d.classid = catalog and d.objid = object
        and not (d.refclassid = 'pg_class'::regclass and d.refobjid = relation)
        and not (d.refclassid = 'pg_type'::regclass
                 and exists (select from pg_type t where t.oid = d.refobjid and t.typtype in ('e', 'd')))
      order by 1 limit 1),
    (select format('it uses function %s()', min(p.proname))
       from pg_proc p
      where p.oid = any (functions) and p.provolatile <> 'i'
        and (is_check
             or p.proname !~ ('^(now|(transaction|statement|clock)_timestamp|timeofday|random|gen_random_uuid|'
                              'uuidv[47]|timezone|to_(char|date|timestamp|number)|age|date_(trunc|part)|extract|'
                              'make_timestamptz|concat|concat_ws|'
                              '(date|time|timetz|timestamp|timestamptz|interval)(_.*)?)$'))
     having count(*) > 0),
    case
      when is_check and tree ~ '[{]SQLVALUEFUNCTION ' then 'it uses the current time or user'
      when is_check and tree ~ '[{](COERCEVIAIO|JSONEXPR|XMLEXPR) '
        then 'its conversions may depend on settings of a session'
      when tree ~ ':varattno (0|-[0-9]+) ' then 'it uses the whole row or a system column'
    end);
end
$$;
-- Purpose:    returns what a table has beyond its columns, types and key, of which a mirror that is created with
--             create_like => 'full' gets what lets it take every row that the table has
-- Parameters: capture; mirror: name of the table there, for hints
-- Result:     in the order in which they are created: kind: collation, not null, identity, default, check, comment of
--               a column, comment of the table; name: of the column or CHECK; definition
--             left_out: why a mirror does not get it, null: it does; kind and name are then for people, and hint says
--               what to do there
create or replace function rowrelay.mirror_parts(capture rowrelay.capture, mirror text)
  returns table (kind text, name text, definition text, left_out text, hint text)
language plpgsql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set extra_float_digits = 1 set quote_all_identifiers = off
as $$ -- rather than SQL, because its plan is kept
#variable_conflict use_column
begin
  return query
  with present as (
    select a.attnum, a.attname::text as name, a.attnotnull, a.attgenerated, a.attidentity, a.atttypid, a.atttypmod,
           a.attcollation, i.masks::jsonb ? a.attname::text as is_masked, a.attnum = any (capture.key_columns) as in_key
      from pg_attribute a
      cross join rowrelay.image_columns(capture) as i
     where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
       and a.attname::text <> all (i.leave_out) and (i.keep is null or a.attname::text = any (i.keep))
  ), initial as (
    select p.name, p.attnum, p.attnotnull, p.attgenerated, p.atttypid, p.is_masked, d.oid as definition, d.adbin,
           pg_get_expr(d.adbin, d.adrelid) as expression, s.oid as sequence
      from present p
      left join pg_attrdef d on d.adrelid = capture.relation and d.adnum = p.attnum
      left join lateral (
        -- of an identity column, or of nextval() as the whole default
        select e.objid as oid
          from pg_depend e
         where p.attidentity <> '' and e.refclassid = 'pg_class'::regclass and e.refobjid = capture.relation
           and e.refobjsubid = p.attnum and e.classid = 'pg_class'::regclass and e.deptype = 'i'
         union all
        select e.refobjid
          from pg_depend e
          join pg_class c on c.oid = e.refobjid and c.relkind = 'S'
         where e.classid = 'pg_attrdef'::regclass and e.objid = d.oid and e.refclassid = 'pg_class'::regclass
           and pg_get_expr(d.adbin, d.adrelid) ~ '^nextval[(]''[^()]+''::regclass[)]$'
         limit 1) as s on true
     where d.oid is not null or p.attidentity <> ''
  ), checked as (
    select c.conname::text as name, c.oid, c.conbin, c.convalidated, c.connoinherit,
           (select min(a.attname) from pg_attribute a
             where a.attrelid = capture.relation and a.attnum = any (c.conkey)
               and not exists (select from present p where p.attnum = a.attnum and not p.is_masked)) as hidden
      from pg_constraint c
     where c.conrelid = capture.relation and c.contype = 'c'
  ), indexed as (
    -- but for the key, on which the mirror has its primary key
    select c.relname::text as name, x.indisunique, x.indisexclusion, pg_get_indexdef(x.indexrelid) as definition,
           format('CREATE %sINDEX %I ON %s%s USING ', case when x.indisunique then 'UNIQUE ' end, c.relname,
                  case when to_jsonb(t) ->> 'relkind' = 'p' then 'ONLY ' end, rowrelay.full_name(t.oid)) as head,
           exists (select from pg_depend d
                    where d.classid = 'pg_class'::regclass and d.objid = x.indexrelid
                      and d.refclassid = 'pg_class'::regclass and d.refobjid = capture.relation and d.refobjsubid > 0
                      and d.refobjsubid not in (select p.attnum from present p)) as is_partly_hidden
      from pg_index x
      join pg_class c on c.oid = x.indexrelid
      join pg_class t on t.oid = x.indrelid
     where x.indrelid = capture.relation
       and not (x.indisunique and x.indpred is null and x.indexprs is null
                and (select array_agg(u.n order by u.n)
                       from unnest(x.indkey::smallint[]) with ordinality as u(n, place)
                      where u.place <= x.indnkeyatts)
                    = (select array_agg(k order by k) from unnest(capture.key_columns) as k))
  ), part(place, kind, name, definition, left_out, hint) as (
    select 1, 'collation', p.name,
           format('%s collate %I.%I', format_type(p.atttypid, p.atttypmod), n.nspname, c.collname),
           case when c.oid >= 16384 then format('collation %I.%I is not PostgreSQL''s own', n.nspname, c.collname) end,
           format('Create the collation there, then run there: alter table %s alter %I type %s collate %I.%I;',
                  mirror, p.name, format_type(p.atttypid, p.atttypmod), n.nspname, c.collname)
      from present p
      join pg_type t on t.oid = p.atttypid
      join pg_collation c on c.oid = p.attcollation
      join pg_namespace n on n.oid = c.collnamespace
     where p.attcollation <> t.typcollation
    union all
    select 2, 'not null', p.name, '',
           case when p.is_masked then 'its values are masked'
                when exists (select from pg_constraint c
                              where c.conrelid = capture.relation and c.contype = 'n' and p.attnum = any (c.conkey)
                                and not c.convalidated) then 'it is not valid for rows that were there before it' end,
           null
      from present p where p.attnotnull and not p.in_key
    union all
    select 3, 'identity', i.name,
           format('(increment by %s minvalue %s maxvalue %s start with %s cache %s%s)', q.seqincrement,
                  greatest(q.seqmin, b.least), least(q.seqmax, b.most), q.seqstart, q.seqcache,
                  case when q.seqcycle then ' cycle' end),
           case when i.is_masked then 'its values are masked'
                when b.most is null then 'an identity column must be smallint, integer or bigint'
                when not i.attnotnull then 'an identity column must be NOT NULL' end,
           null
      from initial i
      join pg_sequence q on q.seqrelid = i.sequence
      left join (values ('int2'::regtype, -32768, 32767), ('int4', -2147483648, 2147483647),
                        ('int8', -9223372036854775808, 9223372036854775807)) as b(type, least, most)
        on b.type = i.atttypid
    union all
    select 4, case when i.attgenerated <> '' then 'generated column' else 'default' end, i.name, i.expression,
           case when i.attgenerated <> '' then 'its values come from here, into a plain column'
                else rowrelay.expression_obstacle('pg_attrdef', i.definition, capture.relation, i.adbin::text,
                                                  false) end,
           null
      from initial i where i.sequence is null
    union all
    select 5, 'check', c.name, pg_get_constraintdef(c.oid),
           case when not c.convalidated then 'it is not valid for rows that were there before it'
                when c.connoinherit and rowrelay.has_children(capture.relation)
                  then 'rows of inheritance children need not meet it'
                when c.hidden is not null then format('column %s is masked or not captured', c.hidden)
                else rowrelay.expression_obstacle('pg_constraint', c.oid, capture.relation, c.conbin::text, true) end,
           null
      from checked c
    union all
    select 6, 'comment of a column', p.name, d.description, null, null
      from pg_description d
      join present p on p.attnum = d.objsubid
     where d.classoid = 'pg_class'::regclass and d.objoid = capture.relation and d.objsubid > 0
    union all
    select 7, 'comment of the table', '', d.description, null, null
      from pg_description d
     where d.classoid = 'pg_class'::regclass and d.objoid = capture.relation and d.objsubid = 0
    union all
    select 8, case when x.indisexclusion then 'exclusion constraint' when x.indisunique then 'unique index'
                   else 'index' end, x.name, x.definition,
           case when x.indisunique or x.indisexclusion
                then 'rows arrive in several lanes, and may conflict until all have arrived'
                else 'delivering and copying is faster without it' end,
           case when not x.is_partly_hidden and starts_with(x.definition, x.head)
                then format('If queries there need it, run there once rows are copied: CREATE INDEX ON %s USING %s;',
                            mirror, substr(x.definition, length(x.head) + 1)) end
      from indexed x
    union all
    select 9, 'foreign key', c.conname, null, 'rows of different tables arrive in any order', null
      from pg_constraint c
     where c.conrelid = capture.relation and c.contype = 'f'
    union all
    select distinct 10, 'constraints of domain', format_type(t.oid, null), null, 'the source checks the values', null
      from present p
      join pg_type t on t.oid = p.atttypid
     where t.typtype = 'd' and (t.typnotnull or exists (select from pg_constraint c where c.contypid = t.oid))
    union all
    select distinct 11, 'type', format_type(t.oid, null), null, format('extension %I has it', e.extname),
           format('Before the first row is delivered, run there: create extension if not exists %I;', e.extname)
      from present p
      join pg_depend d on d.classid = 'pg_type'::regclass and d.objid = p.atttypid and d.deptype = 'e'
      join pg_extension e on e.oid = d.refobjid
      join pg_type t on t.oid = p.atttypid
    union all
    select 12, 'partitions of', c.relname, null, 'the mirror is a plain table', null
      from pg_class c where c.oid = capture.relation and c.relkind = 'p'
  )
  select p.kind, p.name, p.definition, p.left_out, case when p.left_out is not null then p.hint end
    from part p
   order by p.place, p.name;
end
$$;
-- Purpose:    tells with a notice for each what a mirror that is created with create_like => 'full' does not get of its
--             table
-- Parameters: capture; target: its name; mirror: name of the table there
create or replace function rowrelay.tell_left_out(capture rowrelay.capture, target text, mirror text) returns void
language plpgsql stable as $$
declare
  part record;
begin
  for part in select p.* from rowrelay.mirror_parts(capture, mirror) p where p.left_out is not null loop
    if part.hint is null then
      raise notice 'mirror of % at %: without % %: %', mirror, target, part.kind, part.name, part.left_out;
    else
      raise notice 'mirror of % at %: without % %: %', mirror, target, part.kind, part.name, part.left_out
        using hint = part.hint;
    end if;
  end loop;
end
$$;
-- Purpose:    sends the changes of a captured table to a target, as soon as the trigger function is made again
-- Parameters: capture of an existing table; the others as for rowrelay.route()
-- Errors:     as rowrelay.route(); a warning where a table cannot be created
create or replace function rowrelay.add_route(capture rowrelay.capture, target text, into_table text,
                                              create_table boolean,
                                              shared boolean, create_like text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  target_id constant integer := rowrelay.target_id(target);
  default_table text;
  added         rowrelay.route;
  is_again      boolean;
begin
  if create_like not in ('minimal', 'full') then
    raise exception 'a mirror cannot be created like "%"', create_like using errcode = 'invalid_parameter_value',
      hint = 'It is created minimal (columns, types and key) or full.';
  end if;
  default_table := rowrelay.check_route(capture, t, into_table, shared) from rowrelay.target t where t.id = target_id;
  if create_table and exists (select from rowrelay.target t
                               where t.id = target_id and t.url !~ '^(postgres|elasticsearch|opensearch)') then
    raise warning 'target "%" has no tables: nothing is created there for table %', add_route.target,
      capture.relation_name;
  end if;
  if create_like = 'full' and exists (select from rowrelay.target t
                                       where t.id = target_id
                                         and (t.url !~ '^postgres' or t.options ->> 'mode' = 'append')) then
    raise warning 'target "%" has no mirrors: there is nothing to be like table %', add_route.target,
      capture.relation_name;
  end if;
  -- What is still queued may be in other lanes than new changes.
  is_again := exists (select from rowrelay.route r join rowrelay.capture c on c.id = r.capture
                       where r.target = target_id and c.relation = add_route.capture.relation
                         and (c.id <> capture.id or r.until_id is not null));
  insert into rowrelay.route as r (capture, target, into_table, create_table, create_like, from_id)
  values (capture.id, target_id, coalesce(add_route.into_table, default_table),
          coalesce(add_route.create_table, false), coalesce(add_route.create_like, 'minimal'),
          rowrelay.last_change_id())
  on conflict on constraint route_pkey do update
    set into_table = coalesce(add_route.into_table, r.into_table), until_id = null,
        create_table = coalesce(add_route.create_table, r.until_id is null and r.create_table),
        create_like = coalesce(add_route.create_like, case when r.until_id is null then r.create_like end, 'minimal'),
        from_id = case when r.until_id is null then r.from_id else excluded.from_id end
  returning * into added;
  if added.create_table and add_route.create_like = 'full' then
    perform rowrelay.tell_left_out(capture, add_route.target, added.into_table);
  end if;
  perform rowrelay.check_indexes(target_id);
  if is_again then
    perform rowrelay.add_change(capture.id, 'b', null, null, null, null);
    -- Changes that wait because the target cannot take the table go before new ones.
    insert into rowrelay.hold (target, capture, attempts, retry_at, released_to, message, hint)
    select distinct on (h.target) h.target, capture.id, 0, clock_timestamp(), rowrelay.last_change_id(),
      h.message, h.hint
      from rowrelay.hold h join rowrelay.capture c on c.id = h.capture
     where h.target = target_id and c.relation = add_route.capture.relation and c.id <> capture.id
     order by h.target, h.capture desc
    on conflict on constraint hold_pkey do nothing;
  end if;
end
$$;
-- Purpose:    sends the changes of a captured table to a target from now on. Takes no lock on the table.
-- Parameters: relation; target; into_table: name of the table there (null: as here); create_table: create that table
--             when it is missing, and add columns that it lacks later (null: as for an existing route, else no);
--             shared: whether another table's changes may go into the same table there; create_like: a mirror is
--             created with columns, types and key ('minimal'), or with all that lets it take what is delivered ('full';
--             null: as for an existing route, else 'minimal'), see rowrelay.mirror_parts()
-- Result:     a notice for each thing of the table that a mirror created like that does not have
-- Errors:     table not captured; no such target; the table would be its own target, or share another one's
create or replace function rowrelay.route(relation regclass, target text, into_table text default null,
                                          create_table boolean default null,
                                          shared boolean default false, create_like text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture rowrelay.capture := rowrelay.captured(relation);
begin
  if rowrelay.full_name(relation) is null then
    raise exception 'table % is gone', capture.relation_name using errcode = 'undefined_table';
  end if;
  perform rowrelay.add_route(capture, target, into_table, create_table, shared, create_like);
  perform rowrelay.make_trigger_function(capture.id);
end
$$;
-- Purpose:    stops sending the changes of a table to a target. What is queued is still delivered, unless the table is
--             being copied there as a whole.
-- Parameters: relation; target
-- Errors:     table not captured; no such target; the table is not routed there
create or replace function rowrelay.unroute(relation regclass, target text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture   rowrelay.capture := rowrelay.captured(relation);
  target_id integer := rowrelay.target_id(target);
begin
  update rowrelay.route r set until_id = rowrelay.last_change_id()
   where r.capture = capture.id and r.target = target_id and r.until_id is null;
  if not found then
    raise exception 'table % is not routed to target "%"', relation, target using errcode = 'undefined_object',
      hint = 'To see where each table goes: '
               || rowrelay.command('rowrelay status --tables', 'select relation, targets from rowrelay.captures;');
  end if;
  perform rowrelay.copy_forget(capture.id, target_id);
  perform rowrelay.make_trigger_function(capture.id);
end
$$;
-- Purpose:    stops sending a table to a target, as unroute() does, and discards its changes that are queued for the
--             target or were refused by it: for a table that is gone there and holds up all others. The log keeps the
--             changes and who discarded them. Waits until no batch of the target is in flight. Changes of open
--             transactions are not visible yet and will be queued: call it again to discard them.
-- Parameters: relation; target
-- Result:     number of discarded changes
-- Errors:     table not captured; no such target; the table was never routed there
create or replace function rowrelay.discard(relation regclass, target text) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target_id integer;
  capture   rowrelay.capture;
  lanes     integer[];
  given_up  bigint;
begin
  perform rowrelay.lock_configuration();
  lanes := rowrelay.lanes_of(t.id) from rowrelay.target t where t.name = discard.target and t.dropped_at is null;
  -- Before any other lock: a batch that is about to halt its target would wait for us while we wait for it.
  perform rowrelay.lock_lanes(lanes);

  capture := rowrelay.captured(relation);
  target_id := rowrelay.target_id(target);
  if exists (select from rowrelay.route r where r.capture = capture.id and r.target = target_id
             and r.until_id is not null) then
    null; -- the route has ended, but changes of open transactions may have been queued since
  else
    perform rowrelay.unroute(relation, target);
  end if;

  delete from rowrelay.hold h where h.target = target_id and h.capture = capture.id;
  with unqueued as (
    delete from rowrelay.queue q
     using rowrelay.change c
     where q.lane = any (lanes) and c.id = q.change_id and c.day = q.day and c.capture = capture.id
    returning q.change_id, null::text as error
  ), unrefused as (
    delete from rowrelay.refusal f
     where f.target = target_id and f.capture = capture.id
    returning f.change_id, f.message as error
  ), gone as (
    select u.change_id, u.error, (row_number() over (partition by u.error order by u.change_id) - 1) / 10000 as part
      from (select * from unqueued union all select * from unrefused) as u
  ), noted as (
    insert into rowrelay.receipt (token, part, target, outcome, error, attempts, actor, settled_at, change_ids,
                                  first_id, last_id)
    select nextval('rowrelay.claim_token'), 0, target_id, 'skipped', g.error, 0, rowrelay.actor(), clock_timestamp(),
           array_agg(g.change_id order by g.change_id), min(g.change_id), max(g.change_id)
      from gone g group by g.error, g.part
  )
  select count(*) into given_up from gone;
  return given_up;
end
$$;
-- Purpose:    whether the rows of a capture now go to a target: by a route, or as the first source of a document, which
--             has all of its keys
-- Parameters: capture id; target id
create or replace function rowrelay.goes_to(capture_id integer, target_id integer) returns boolean
language sql stable as $$
  select exists (select from rowrelay.route r where r.capture = capture_id and r.target = target_id
                 and r.until_id is null)
      or exists (select from rowrelay.document_source s join rowrelay.target t on t.id = s.document
                  where s.capture = capture_id and s.document = target_id and s.position = 1 and t.dropped_at is null)
$$;
-- Purpose:    returns the planner's estimate of a table's rows, with its partitions and children, from its present size
--             and last statistics
-- Parameters: relation
-- Result:     number of rows
create or replace function rowrelay.estimated_rows(relation regclass) returns bigint
language plpgsql as $$
declare
  plan json;
begin
  execute format('explain (format json) select from %s', relation) into plan;
  return (plan #>> '{0,Plan,Plan Rows}')::numeric::bigint;
end
$$;
-- Purpose:    counts the rows queued for a target
-- Parameters: target; where to stop counting
-- Result:     number of queued rows
create or replace function rowrelay.backlog(target rowrelay.target, at_most bigint) returns bigint
language sql volatile as $$
  select count(*)
    from (select from generate_series(-1, target.lanes - 1) as n
            join rowrelay.queue q on q.lane = rowrelay.lane_number(target.id, n)
           -- skips dead rows that VACUUM has not removed yet
           where q.change_id > coalesce((select f.floor from rowrelay.floor f where f.target = backlog.target.id), 0)
           limit at_most) as q
$$;
-- Purpose:    returns what rowrelay.value_text() has to know of a type: the built-in types that it is made of, and how.
--             verify_target.sql asks the same of a mirror's columns, where there are no functions of ours.
-- Parameters: type and type modifier of a column
-- Result:     {name: {base: name} for a domain, {fields: [[field, name], ...]} for a row type, {element: name} for an
--             array of a user's type, {type: as in SQL} for a built-in type, {} for any other}; the column's type has
--             the name ''
create or replace function rowrelay.type_structure(of_type oid, modifier integer) returns json
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    with recursive part(oid, modifier) as (
      select of_type, modifier
      union
      select n.oid, n.modifier
        from part p
        join pg_type t on t.oid = p.oid and t.oid >= 16384
        cross join lateral (
          select t.typbasetype, t.typtypmod where t.typtype = 'd'
          union all
          select t.typelem, -1 where t.typtype <> 'd' and t.typcategory = 'A'
          union all
          select a.atttypid, a.atttypmod from pg_attribute a
           where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped)
          as n(oid, modifier)
    )
    select json_object_agg(
             case when p.oid = of_type and p.modifier = type_structure.modifier then '' else
               concat(p.oid, ':', p.modifier) end,
             case when p.oid < 16384 then json_build_object('type', format_type(p.oid, p.modifier))
                  when t.typtype = 'd' then json_build_object('base', concat(t.typbasetype, ':', t.typtypmod))
                  when t.typcategory = 'A' then json_build_object('element', concat(t.typelem, ':-1'))
                  when t.typtype = 'c' then json_build_object('fields', (
                    select coalesce(json_agg(json_build_array(a.attname, concat(a.atttypid, ':', a.atttypmod))
                                             order by a.attnum), '[]')
                      from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped))
                  else '{}' end)
      from part p join pg_type t on t.oid = p.oid);
end
$$;
-- Purpose:    turns the elements of an array in a row image into the texts that they have as values of a type
-- Parameters: elements: a JSON array, whose arrays are further dimensions; the others as for rowrelay.value_text()
-- Result:     the same array of texts
-- Errors:     an element is not valid for the type
create or replace function rowrelay.element_texts(elements json, types json, of_type text, is_text boolean) returns json
language plpgsql stable as $$
begin
  return (select coalesce(json_agg(case when json_typeof(e.value) = 'array'
                                        then rowrelay.element_texts(e.value, types, of_type, is_text)
                                        else to_json(rowrelay.value_text(e.value, types, of_type, is_text)) end
                                   order by e.n), '[]')
            from json_array_elements(elements) with ordinality as e(value, n));
end
$$;
-- Purpose:    returns a value of a row image as the text that a column of some type has after it was filled with the
--             value, without reading it as that type: CHECKs of domains do not run, and the type need not exist here.
--             Only built-in types are read; a value of another one that has no parts is its text.
-- Parameters: value; types as rowrelay.type_structure() returns them; the type, a name in types; is_text: the value is
--             a string of the type's own text, rather than what json_populate_record() takes
-- Result:     the text, as the type's output function writes it; null for null
-- Errors:     the value is not valid for the type
create or replace function rowrelay.value_text(value json, types json, of_type text, is_text boolean default false)
  returns text
language plpgsql stable as $$
declare
  type      json := types -> of_type;
  is_string constant boolean := json_typeof(value) = 'string';
  parts     text[];
  bounds    text;
  result    text;
begin
  while type -> 'base' is not null loop
    type := types -> (type ->> 'base');
  end loop;
  if value is null or json_typeof(value) = 'null' then
    return null;
  elsif type -> 'fields' is not null then
    if is_string then
      -- (1,"a ""b""",) as json strings
      select array_agg(case when f.part[1] = '' then null
                            when f.part[1] ~ '^".*"$'
                              then regexp_replace(substr(f.part[1], 2, length(f.part[1]) - 2), E'\\\\(.)|"(")',
                                                  E'\\1\\2', 'g')
                            else regexp_replace(f.part[1], E'\\\\(.)', E'\\1', 'g') end)
        into parts
        from regexp_matches(substr(value #>> '{}', 2), E'((?:[^"\\\\,()]|\\\\.|"(?:[^"\\\\]|\\\\.|"")*")*)[,)]', 'g')
               as f(part);
    elsif json_typeof(value) <> 'object' then
      raise exception 'not a row: %', value using errcode = 'invalid_text_representation';
    end if;
    if is_string and cardinality(parts) <> greatest(json_array_length(type -> 'fields'), 1) then
      raise exception 'not a row of this type: %', value using errcode = 'invalid_text_representation';
    end if;
    select string_agg(case when v.text is not null then substr(row(v.text)::text, 2, length(row(v.text)::text) - 2)
                           else '' end, ',' order by v.n)
      into result
      from (select f.n, case when is_string then rowrelay.value_text(to_json(parts[f.n]), types, f.field ->> 1, true)
                             else rowrelay.value_text(value -> (f.field ->> 0), types, f.field ->> 1) end as text
              from json_array_elements(type -> 'fields') with ordinality as f(field, n)) as v;
    return format('(%s)', result);
  elsif type -> 'element' is not null then
    if not is_string and json_typeof(value) <> 'array' then
      raise exception 'not an array: %', value using errcode = 'invalid_text_representation';
    end if;
    if is_string then
      parts := (value #>> '{}')::text[];
      select case when bool_or(array_lower(parts, n) <> 1) then array_dims(parts) || '=' end into bounds
        from generate_series(1, array_ndims(parts)) as n;
      value := to_json(parts);
    end if;
    select concat(bounds, r.v) into result
      from json_to_record(json_build_object('v', rowrelay.element_texts(value, types, type ->> 'element', is_string)))
             as r(v text[]);
    return result;
  end if;

  if type -> 'type' is null or type ->> 'type' = 'text' or to_regtype(type ->> 'type') is null then
    return value #>> '{}';
  elsif is_text and type ->> 'type' in ('json', 'jsonb') then
    execute format('select concat($1::%s)', type ->> 'type') into result using value #>> '{}';
  else
    execute format('select concat(r.v) from json_to_record($1) as r(v %s)', type ->> 'type')
       into result using json_build_object('v', value);
  end if;
  return result;
end
$$;
-- Purpose:    returns a value of a row image as the text that it has in a mirror (rowrelay.value_text)
-- Parameters: as for rowrelay.value_text()
-- Result:     the text; for a value that cannot have been delivered, because it is not valid for the mirror's type, one
--             that no value has
create or replace function rowrelay.delivered_text(value json, types json, of_type text, is_text boolean default false)
  returns text
language plpgsql stable as $$
begin
  return rowrelay.value_text(value, types, of_type, is_text);
exception when others then
  return gen_random_uuid();
end
$$;
-- Purpose:    returns SQL for the value that each column of a row has in its image, as the trigger makes it
--             (rowrelay.image_expression)
-- Parameters: relation; name of the row in the statement
-- Result:     number of each column; an expression of type json; for a json column a condition on its value: whether
--             the value is a string of the JSON, which caveat.text_columns tells; null: it never is
create or replace function rowrelay.image_values(relation regclass, row_name text, out number smallint, out value text,
                                                 out is_json_text text) returns setof record
language sql stable as $$
  select a.attnum,
         format(case when w.name is null then 'pg_catalog.to_json(%1$s)'
                     else 'case when %3$s then pg_catalog.to_json(%2$s) else pg_catalog.to_json(%1$s) end' end,
                rowrelay.safe_json(v.value, a.atttypid), rowrelay.safe_text(v.value, a.atttypid),
                format(w.condition, v.value)),
         case when w.is_json then format(w.condition, v.value) end
    from pg_attribute a
    cross join lateral format('%I.%I', row_name, a.attname) as v(value)
    left join rowrelay.awkward_columns(relation) w on w.name = a.attname
   where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
$$;
-- Purpose:    returns the row filter of a capture as a condition on a row called new, as the trigger stores it:
--             independent of search_path and of renamed columns
-- Parameters: capture
-- Result:     a condition in parentheses; null when the capture has no filter
-- Errors:     the table has lost its triggers, or another trigger has taken the place of rowrelay's
create or replace function rowrelay.filter_condition(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  condition text;
begin
  if capture.row_filter is null then
    return null;
  end if;
  -- Only a role that may execute the trigger function can create a trigger with it. Where the owner of a partitioned
  -- table may (rowrelay.trigger_grants), the condition must be the one that rowrelay wrote.
  select '(' || substring(pg_get_triggerdef(t.oid) from E' WHEN \\((.*)\\) EXECUTE FUNCTION ') || ')' into condition
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid
   where t.tgrelid = capture.relation and t.tgname = '!rowrelay_insert'
     and p.oid = to_regprocedure(format('rowrelay.%I()', 'capture_' || capture.id))
     and (capture.filter_state = rowrelay.filter_state(capture)
          or not exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
                         where a.grantee <> p.proowner));
  if condition is null then
    raise exception 'table % has lost its triggers', capture.relation
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Capture it again: '
                     || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);',
                                         capture.relation::text);
  end if;
  return condition;
end
$$;
-- Purpose:    returns the statement that logs rows of a table as they are and queues them for one target. It locks each
--             row FOR SHARE before its change gets an id, so that later writes have larger ids; it waits for a row that
--             another session is writing, or fails. The image is the same as the trigger's.
-- Parameters: capture; target; a table with rows of its own: the captured one, a partition or an inheritance child;
--             condition on a row called new, in addition to the capture's row filter; waits: whether to wait for rows
--             that others have locked; problem: why there can be no image, recorded in the change instead
-- Result:     a statement that returns one row: the number of queued rows and the largest id (null: none)
create or replace function rowrelay.snapshot_statement(capture rowrelay.capture, target rowrelay.target,
                                                       relation regclass,
                                                       condition text, waits boolean,
                                                       problem text default null) returns text
language plpgsql stable as $$
declare
  images  record;
  caveat  text := format('%L::json', json_build_object('target', target.id));
  key     smallint[] := rowrelay.live_key(capture);
  shown   text := 'new.*';
begin
  if not rowrelay.names_are_current(capture.relation) then
    raise exception 'table % was altered by a transaction that this one cannot see yet', capture.relation
      using errcode = 'object_not_in_prerequisite_state', hint = 'Try again in a new transaction.';
  end if;
  select * into strict images from rowrelay.image_expression(capture);
  if exists (select from pg_inherits i join pg_class p on p.oid = i.inhparent
              where i.inhrelid = relation and p.relkind = 'r') then
    -- an inheritance child's own columns are not captured
    select string_agg(format('new.%I', a.attname), ', ' order by a.attnum) into shown
      from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped;
  end if;
  if problem is not null then
    images.image := 'null::json';
    caveat := format('%L::json', json_build_object('target', target.id, 'problem', problem));
  elsif images.text_columns is not null then
    caveat := format(
        '(select case when n.names = ''{}'' then %s else json_build_object(''target'', %s, ''text_columns'', '
        'n.names) end '
                     'from (select %s) as n(names))', caveat, target.id, images.text_columns);
  end if;
  return format($statement$
    with taken as materialized (
      select nextval('rowrelay.change_id') as id, %s as key, %s as hash, %s as image, %s as caveat
        -- read and locked in there; what stands above is made of the row that was locked
        from (select %s from only %s as new where %s for share of new%s) as new
    ), logged as (
      insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, actor,
                                   db_user, application_name, client_addr, new_row, caveat)
      select t.id, pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), %s, 's', t.key,
             rowrelay.actor(), rowrelay.db_user(), current_setting('application_name'), rowrelay.client_addr(),
               t.image, t.caveat
        from taken t
    ), queued as (
      insert into rowrelay.queue (change_id, lane, day, bytes)
      select t.id, %s + mod(t.hash & 2147483647, %s), rowrelay.partition_day(), coalesce(pg_column_size(t.image), 0)
        from taken t
    )
    select count(*), max(t.id) from taken t$statement$,
    rowrelay.key_expression(capture.relation, key, 'new'),
    rowrelay.hash_expression(capture.id, capture.relation, coalesce(capture.lane_columns, key), 'new'),
    images.image, caveat,
    shown, relation, concat_ws(' and ', '(' || condition || ')', rowrelay.filter_condition(capture)),
      case when not waits then ' nowait' end,
    capture.id, rowrelay.lane_number(target.id, 0), target.lanes);
end
$$;
-- Purpose:    finds an order for reading a table piece by piece, each piece starting after the last one: the columns of
--             a unique index that are not null. The capture's key is preferred, but any such index will do.
-- Parameters: a table with rows of its own; columns to prefer
-- Result:     names in the index's order; empty when there is no such index
create or replace function rowrelay.backfill_order(relation regclass, preferred text[]) returns text[]
language sql stable as $$
  select coalesce(
    (select k.names
       from pg_index i
       join pg_class c on c.oid = i.indexrelid and c.relam = (select m.oid from pg_am m where m.amname = 'btree')
       cross join lateral (
         select array_agg(a.attname::text order by u.position) as names,
                -- usable for this order: all columns ascending or all descending, with the columns' own collations and
                -- their types' default operators
                bool_and(a.attnotnull and i.indcollation[u.position::integer - 1] = a.attcollation and o.opcdefault
                         and i.indoption[u.position::integer - 1] = i.indoption[0]
                           and i.indoption[0] in (0, 3)) as usable
           from unnest(i.indkey::smallint[]) with ordinality as u(number, position)
           left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = u.number and a.attnum > 0
           left join pg_opclass o on o.oid = i.indclass[u.position::integer - 1]
          where u.position <= i.indnkeyatts) as k
      where i.indrelid = relation and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
        and k.usable
      order by k.names @> preferred and k.names <@ preferred desc, i.indisprimary desc, i.indnkeyatts, i.indexrelid
      limit 1),
    '{}')
$$;
-- Purpose:    returns the condition for rows after a position in the order of some columns, or up to and including it
-- Parameters: relation; names of the columns; their values at the position, as text; behind: true for rows after it
-- Result:     a condition on a row called new, with the types' own operators, which need not be in search_path
-- Errors:     values of a column cannot be read without running a user's CHECK
create or replace function rowrelay.backfill_bound(relation regclass, names text[], texts text[], behind boolean)
returns text language plpgsql stable as $$
declare
  direction  constant text := case when behind then '>' else '<' end;
  of_columns text;
  of_values  text;
  condition  text; -- of the columns so far, from the last on
  first_one  text;
  is_usual   boolean := true;
  part       record;
begin
  for part in
    select u.name, rowrelay.has_domain_parts(relation, array[a.attnum]) as is_checked,
           rowrelay.plain_value('new', a.attname, a.atttypid) as mine,
           format('%L::%s', u.value, rowrelay.plain_type(a.atttypid, a.attcollation)) as bound,
           -- of a type that has a class of its own; arrays, enums, ranges and rows share those of PostgreSQL
           coalesce(o.schema, 'pg_catalog') as schema, coalesce(o.equal, '=') as equal,
           coalesce(o.beyond, direction) as beyond,
           coalesce(o.not_before, direction || '=') as not_before
      from unnest(names, texts) with ordinality as u(name, value, position)
      join pg_attribute a on a.attrelid = relation and a.attname = u.name and not a.attisdropped
      left join lateral (
        select min(n.nspname) as schema, min(p.oprname) filter (where s.amopstrategy = 3) as equal,
               min(p.oprname) filter (where s.amopstrategy = case when behind then 5 else 1 end) as beyond,
               min(p.oprname) filter (where s.amopstrategy = case when behind then 4 else 2 end) as not_before
          from pg_opclass c
          join pg_amop s on s.amopfamily = c.opcfamily and s.amoplefttype = c.opcintype
                        and s.amoprighttype = c.opcintype
          join pg_operator p on p.oid = s.amopopr
          join pg_namespace n on n.oid = p.oprnamespace
         where c.opcmethod = (select m.oid from pg_am m where m.amname = 'btree') and c.opcdefault
           and c.opcintype = rowrelay.base_type(a.atttypid)) as o on true
     order by u.position desc
  loop
    if part.is_checked then
      raise exception 'table % cannot be read piece by piece: column "%" holds rows with domains', relation, part.name
        using errcode = 'object_not_in_prerequisite_state',
          detail = 'Their CHECKs would have to be run again for each piece.',
              hint = 'Copy the table as a whole into an empty mirror, or make a unique index on other columns.';
    end if;
    is_usual := is_usual and part.schema = 'pg_catalog';
    of_columns := concat_ws(', ', part.mine, of_columns);
    of_values := concat_ws(', ', part.bound, of_values);
    first_one := format('%s operator(%I.%s) %s', part.mine, part.schema, part.not_before, part.bound);
    if condition is null and not behind then
      condition := first_one;
    else
      condition := format('(%1$s operator(%2$I.%3$s) %4$s', part.mine, part.schema, part.beyond, part.bound)
                   || coalesce(format(' or %s operator(%I.%s) %s', part.mine, part.schema, part.equal, part.bound)
                               || ' and ' || condition, '') || ')';
    end if;
  end loop;
  if is_usual then
    return format('(%s) %s (%s)', of_columns, case when behind then '>' else '<=' end, of_values);
  end if;
  return format('%s and %s', first_one, condition); -- the first for the index
end
$$;
-- Purpose:    returns the next table that a backfill reads: the captured one, its partitions or inheritance children,
--             in the order of their oids
-- Parameters: capture; the table that was read last (null: none)
-- Result:     the next one; null: there is none
create or replace function rowrelay.backfill_part(capture rowrelay.capture, after regclass) returns regclass
language sql stable as $$
  select m
    from unnest(rowrelay.captured_tables(capture)) as m
    join pg_class c on c.oid = m and c.relkind = 'r'
   where after is null or m::oid > after::oid
   order by m::oid limit 1
$$;
-- Purpose:    returns the transactions that are writing to a capture's tables now, and may go on using the trigger
--             function as it was when they began
-- Parameters: capture
-- Result:     virtual transaction ids; empty when there is none
create or replace function rowrelay.backfill_writers(capture rowrelay.capture) returns text[]
language sql volatile as $$
  select coalesce(array_agg(distinct l.virtualtransaction), '{}')
    from pg_locks l
   where l.locktype = 'relation'
     and l.database = (select d.oid from pg_database d where d.datname = current_database())
     and l.relation = any (rowrelay.captured_tables(capture)::oid[])
     and l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
     and l.granted
     and l.pid is distinct from pg_backend_pid()
$$;
-- Purpose:    lists the transactions for which a backfill has to wait before it reads: those that were writing to the
--             table when it began may still use the trigger function from before the route, and their rows cannot be
--             read yet. It waits as CREATE INDEX CONCURRENTLY does, by polling, without a lock.
-- Parameters: backfill; its capture
-- Result:     waits_for: those that are still open, null: not listed yet; waits_since: when they were listed, or when
--             this was first called; note: the same for people
create or replace function rowrelay.backfill_waits(backfill rowrelay.backfill, capture rowrelay.capture,
                                                   out waits_for text[],
                                                   out waits_since timestamptz, out note text)
language plpgsql as $$
declare
  writers text[];
begin
  waits_for := backfill.waits_for;
  waits_since := coalesce(backfill.waits_since, clock_timestamp());
  -- Other processes may learn that functions have changed a moment after the transaction is seen as committed.
  if waits_since between clock_timestamp() - interval '50 ms' and clock_timestamp() then
    return;
  end if;
  writers := rowrelay.backfill_writers(capture);
  -- A time in the future was written while the clock was ahead, and tells nothing.
  if waits_for is null or waits_since > clock_timestamp() then
    waits_for := writers;
    waits_since := clock_timestamp();
  else
    -- Prepared transactions outlive a restart or crash of the server under new names: -1 and their number. All of them
    -- began before it, so wait for all.
    waits_for := array(select w from unnest(writers) as w where w = any (backfill_waits.waits_for) or w like '-1/%');
  end if;
  select 'waits for transactions that wrote to the table before this began: '
         || string_agg(case when l.pid is null then 'a prepared transaction'
                             else format('process %s (%s, %s, since %s)', l.pid, a.usename, a.state,
                                         to_char(a.xact_start, 'HH24:MI:SS')) end, ', ' order by l.pid)
    into note
    from (select distinct k.pid, k.virtualtransaction from pg_locks k
           where k.virtualtransaction = any (backfill_waits.waits_for)) as l
    left join pg_stat_activity a on a.pid = l.pid;
end
$$;
-- Purpose:    queues the next rows of the table that a backfill is reading, which the caller has locked. It first finds
--             the end of the piece without locks, then locks, logs and queues the rows (rowrelay.snapshot_statement).
-- Parameters: backfill; its capture; its target; how many rows to read at most
-- Result:     passed: rows read, fewer than most_rows in the last piece; queued: rows queued; bound: the new position,
--             null: there was no row; held: for how many milliseconds rows may have been locked
-- Errors:     as for rowrelay.backfill_step()
create or replace function rowrelay.backfill_piece(backfill rowrelay.backfill, capture rowrelay.capture,
                                                   target rowrelay.target,
                                                   most_rows integer, out passed integer, out queued bigint,
                                                     out bound text[],
                                                   out held integer)
language plpgsql as $$
declare
  names     text[];
  columns   text; -- new.a, new.b
  ascending text; -- a, b: as columns of what was read
  downwards text;
  texts     text;
  condition text;
  document_key text;
  last_id   bigint;
  locked_at timestamptz;
begin
  passed := 0;
  queued := 0;
  held := 0;
  if rowrelay.full_name(backfill.part) is null then
    return; -- a partition that was dropped
  end if;
  perform rowrelay.check_sees_all(backfill.part);
  names := rowrelay.backfill_order(backfill.part, rowrelay.attribute_names(capture.relation, capture.key_columns));
  if names = '{}' then
    raise exception 'table % has no unique index by which it can be copied piece by piece', backfill.part
      using errcode = 'object_not_in_prerequisite_state', hint = 'Create a unique index on NOT NULL columns.';
  end if;
  select string_agg(format('new.%I', u.name), ', ' order by u.position),
    string_agg(format('%I', u.name), ', ' order by u.position),
         string_agg(format('%I desc', u.name), ', ' order by u.position),
         string_agg(rowrelay.safe_text(format('%I', u.name), a.atttypid), ', ' order by u.position)
    into columns, ascending, downwards, texts
    from unnest(names) with ordinality as u(name, position)
    join pg_attribute a on a.attrelid = backfill.part and a.attname = u.name and not a.attisdropped;

  condition := case when backfill.position is null then 'true'
                    else rowrelay.backfill_bound(backfill.part, names, backfill.position, true) end;
  execute format(
      'select array[%s], (count(*) over ())::integer from (select %s from only %s as new where %s order by %s limit '
      '%s) as piece '
                 'order by %s limit 1',
                 texts, columns, backfill.part, condition, columns, most_rows, downwards)
     into bound, passed;
  if bound is null then
    passed := 0;
    return;
  end if;

  condition := concat_ws(' and ', condition,
                         rowrelay.backfill_bound(backfill.part, names, bound, false),
                         '(' || backfill.condition || ')');
  -- For a document only keys are queued, because it is read when it is built: no row has to be locked.
  select rowrelay.document_key_expression(capture.relation, s.key_column, 'new') into document_key
    from rowrelay.document_source s where s.document = target.id and s.position = 1;
  if document_key is not null then
    queued := rowrelay.queue_documents(target.id,
                                       format('select distinct %1$s from only %2$s as new where (%3$s) and %1$s is '
                                              'not null',
                                                         document_key, backfill.part, condition), null);
    return;
  end if;
  locked_at := clock_timestamp();
  if most_rows > 1 then
    execute rowrelay.snapshot_statement(capture, target, backfill.part, condition, false) into queued, last_id;
  else
    begin
      execute rowrelay.snapshot_statement(capture, target, backfill.part, condition, true) into queued, last_id;
    exception when data_exception or program_limit_exceeded or out_of_memory or internal_error then
      -- if the condition fails rather than the row, this fails again
      execute rowrelay.snapshot_statement(capture, target, backfill.part, condition, true,
                                          sqlerrm) into queued, last_id;
    end;
  end if;
  held := extract(epoch from clock_timestamp() - locked_at) * 1000;
  if last_id <= pg_sequence_last_value('rowrelay.doorbell'::regclass) then
    perform rowrelay.ring_doorbell();
  end if;
end
$$;
-- Purpose:    says which transaction has locked the row that a backfill has to read next, or its whole table. The
--             parameter is a number rather than a row, because a caller could make up a row, which would be used with
--             the rights of the schema's owner.
-- Parameters: number of a backfill
-- Result:     for people: what is locked, and by which process; null: unknown
create or replace function rowrelay.backfill_holder(backfill_id integer) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off
-- a policy of the table would run with the owner's rights; now it is an error instead
set row_security = off
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  backfill rowrelay.backfill;
  capture  rowrelay.capture;
  names    text[];
  columns  text;
  key      text;
  locker   xid;
  lockers  xid[];
  holders  text;
begin
  select b.* into backfill from rowrelay.backfill b where b.id = backfill_id;
  select string_agg(case when l.pid is null then 'a prepared transaction'
                         else format('process %s (%s, %s)', l.pid, a.usename, left(a.query, 60)) end, ', '
                           order by l.pid)
    into holders
    from pg_locks l left join pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'relation' and l.relation = backfill.part and l.granted
     and l.database = (select d.oid from pg_database d where d.datname = current_database())
     and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock');
  if holders is not null then
    return format('waits for table %s, locked by %s', backfill.part, holders);
  end if;
  select c.* into strict capture from rowrelay.capture c where c.id = backfill.capture;
  names := rowrelay.backfill_order(backfill.part, rowrelay.attribute_names(capture.relation, capture.key_columns));
  select string_agg(format('new.%I', name), ', ') into columns from unnest(names) as name;
  execute format('select %s, xmax from only %s as new where %s order by %s limit 1',
                 rowrelay.key_expression(capture.relation, capture.key_columns, 'new'), backfill.part,
                 case when backfill.position is null then 'true'
                      else rowrelay.backfill_bound(backfill.part, names, backfill.position, true) end,
                 columns)
     into key, locker;
  lockers := array[locker];
  if not exists (select from pg_locks l where l.transactionid = locker) then
    begin -- several transactions may have locked it: then xmax is the number of their list
      lockers := array(select m.xid from pg_get_multixact_members(locker) as m);
    exception when others then
      return null;
    end;
  end if;
  select string_agg(case when l.pid is null then 'a prepared transaction'
                         else format('process %s (%s, %s, since %s)', l.pid, a.usename, a.state,
                                     to_char(a.xact_start, 'HH24:MI:SS')) end, ', ' order by l.pid)
    into holders
    from pg_locks l left join pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'transactionid' and l.granted and l.transactionid = any (lockers);
  return 'waits for row ' || key || ', locked by ' || holders;
exception when others then
  return null; -- it is only for information
end
$$;
-- Purpose:    runs the next step of a backfill. Call it repeatedly, each time in a transaction of its own: it waits for
--             the transactions that may still use the old trigger function, then queues the rows piece by piece. The
--             same transaction stores the progress, so nothing is left out or repeated however a step ends. It waits
--             for no lock, except for the lock of the row in a piece of one row, for a tenth of a second.
-- Parameters: number of the backfill; how many rows to read at most
-- Result:     outcome: progress; waits (note says for what: call it again later); done; cancelled; gone passed: rows
--             read by this step; held: for how many milliseconds others may have waited for it; queued, read,
--             estimated: rows so far and in all; rate: rows per second at most, null: unlimited; note
-- Errors:     lock_not_available: another session is writing one of the rows, so try again with fewer of them;
--             insufficient_privilege: row-level security hides rows of the table;
--             any error that a row causes; in a piece of one row the change records it, and targets refuse the change
create or replace function rowrelay.backfill_step(backfill_id integer, most_rows integer, out outcome text,
                                                  out passed integer,
                                                  out held integer, out queued bigint, out read bigint,
                                                    out estimated bigint,
                                                  out rate integer, out note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off set lock_timeout = '100ms'
-- hidden rows are an error, not missing rows
set row_security = off
-- rows are read in the order of an index, whatever statistics there are
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  most_queued constant bigint := 100000; -- of the target, before this waits for it
  look_each   constant integer := 10000; -- rows between checks of that
  b           rowrelay.backfill;
  capture     rowrelay.capture;
  target      rowrelay.target;
  piece       record;
begin
  -- A crash must not lose ids that targets have seen, whatever the session's setting is.
  perform set_config('synchronous_commit', 'on', true);
  select k.* into b from rowrelay.backfill k where k.id = backfill_id for update skip locked;
  if b.id is null then
    outcome := case when exists (select from rowrelay.backfill k where k.id = backfill_id) then 'waits' else 'gone' end;
    note := case outcome when 'waits' then 'another process works on it' end;
    passed := 0;
    held := 0;
    return;
  end if;
  -- This lock keeps the columns' names and the rows' lanes as they are: changing them takes a conflicting lock
  -- (rowrelay.make_trigger_function).
  if b.state = 'running' and rowrelay.full_name(b.part) is not null then
    execute format('lock table only %s in row exclusive mode', b.part);
  end if;
  select c.* into strict capture from rowrelay.capture c where c.id = b.capture;
  select t.* into strict target from rowrelay.target t where t.id = b.target;

  outcome := 'waits';
  passed := 0;
  held := 0;
  if b.state in ('copying', 'joining') then
    note := 'the table is being copied as a whole';
  elsif b.state in ('done', 'cancelled') then
    outcome := b.state;
    note := b.note;
  elsif capture.released_at is not null or target.dropped_at is not null
     or not rowrelay.goes_to(b.capture, b.target) then
    outcome := 'cancelled';
    note := 'the table is no longer routed to the target';
  elsif rowrelay.full_name(capture.relation) is null then
    outcome := 'cancelled';
    note := 'the table is gone';
  elsif b.way = 'copy' and capture.key_columns = '{}' then
    note := 'a table without a key can only be copied as a whole';
  elsif cardinality(rowrelay.live_key(capture)) = 0 then
    note := 'a key column was dropped: capture the table again';
  elsif capture.lane_state is distinct from rowrelay.lane_state(capture) then
    note := 'the key was altered: waits until maintenance replaces the trigger function';
  elsif b.state = 'waiting' then
    select w.waits_for, w.waits_since, w.note into b.waits_for, b.waits_since, note
      from rowrelay.backfill_waits(b, capture) as w;
    if b.waits_for = '{}' then
      outcome := 'progress';
      b.state := 'running';
      b.started_at := clock_timestamp();
      b.part := rowrelay.backfill_part(capture, null);
    end if;
  elsif exists (select from rowrelay.hold h where h.target = b.target and h.capture = b.capture) then
    -- else all rows would join the changes that wait there
    note := format('target "%s" cannot take the table: rowrelay status says why', target.name);
  elsif (b.looked_at_rows is null or b.rows_queued >= b.looked_at_rows + look_each)
        and rowrelay.backlog(target, most_queued) >= most_queued then
    note := format('waits for the delivery of %s queued changes to target "%s"%s', most_queued, target.name,
                   case when not exists (select from rowrelay.instance i
                                          where rowrelay.is_alive(i.heartbeat_at)
                                            and (i.targets is null or target.id = any (i.targets)))
                        then ', but no rowrelay run delivers to it' end);
  else
    outcome := 'progress';
    if b.looked_at_rows is null or b.rows_queued >= b.looked_at_rows + look_each then
      b.looked_at_rows := b.rows_queued;
    end if;
    if b.part is not null then
      select p.* into piece from rowrelay.backfill_piece(b, capture, target, most_rows) as p;
      passed := piece.passed;
      held := piece.held;
      b.rows_read := b.rows_read + piece.passed;
      b.rows_queued := b.rows_queued + piece.queued;
      b.position := piece.bound;
      if piece.passed < most_rows then
        b.part := rowrelay.backfill_part(capture, b.part);
        b.position := null;
      end if;
    end if;
    if b.part is null then
      outcome := 'done';
    end if;
  end if;

  if outcome in ('done', 'cancelled') and b.state <> outcome then
    b.state := outcome;
    b.finished_at := clock_timestamp();
  end if;
  queued := b.rows_queued;
  read := b.rows_read;
  estimated := b.rows_estimated;
  rate := b.rate;
  update rowrelay.backfill k
     set state = b.state, way = case when outcome = 'progress' then 'pieces' else k.way end, waits_for = b.waits_for,
         waits_since = b.waits_since, part = b.part, position = b.position, rows_read = b.rows_read,
         rows_queued = b.rows_queued, looked_at_rows = b.looked_at_rows,
         note = backfill_step.note, retry_at = null, started_at = b.started_at, finished_at = b.finished_at
   where k.id = backfill_id;
end
$$;
-- Purpose:    refuses to read a table when row-level security hides rows of it from the reader, because hidden rows
--             would be taken for missing ones. FORCE ROW LEVEL SECURITY also applies to members of the table's owner.
-- Parameters: a table
-- Errors:     names the role and what to do
create or replace function rowrelay.check_sees_all(relation regclass) returns void
language plpgsql stable as $$
begin
  if row_security_active(relation) then
    raise exception 'row-level security hides rows of table % from role %', relation, current_user
      using errcode = 'insufficient_privilege', detail = 'Hidden rows would be taken for missing ones.',
            hint = format('Have a superuser run: alter role %I bypassrls; or the table''s owner: '
                          'alter table %s no force row level security;', current_user, relation);
  end if;
end
$$;
-- Purpose:    refuses a captured table that cannot be copied piece by piece
-- Parameters: capture
-- Errors:     it has no key; it or a partition has no suitable unique index; row-level security hides rows
create or replace function rowrelay.check_pieces(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  part regclass;
begin
  if cardinality(rowrelay.live_key(capture)) = 0 then
    raise exception 'table % has no key', capture.relation using errcode = 'object_not_in_prerequisite_state',
      detail = 'A row that is written while it is copied would arrive twice.',
      hint = 'Add a primary key, or name columns that identify a row: '
               || rowrelay.command('rowrelay capture %s --key COLUMNS',
                                   'select rowrelay.capture_table(%L, key => ''{COLUMNS}'');', capture.relation::text);
  end if;
  -- only a first check: partitions may come and go before they are read
  for part in
    select m from unnest(rowrelay.captured_tables(capture)) as m join pg_class c on c.oid = m and c.relkind = 'r'
     where rowrelay.backfill_order(m, '{}') = '{}'
  loop
    raise exception 'table % has no unique index by which it can be copied piece by piece', part
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Create a unique index on NOT NULL columns.';
  end loop;
  perform rowrelay.check_sees_all(m) from unnest(rowrelay.captured_tables(capture)) as m;
end
$$;
-- Purpose:    returns the columns of a captured table that go to targets, for comparison with those of a target's table
-- Parameters: capture
-- Result:     [{"name", "type": with its schema; for a domain the base type, "plain": COPY transfers the same value as
--             the trigger's image}]
create or replace function rowrelay.copy_columns(capture rowrelay.capture) returns json
language sql stable as $$
  select json_agg(json_build_object(
           'name', a.attname,
           'type', n.nspname || '.' || t.typname,
           -- a mask is JSON: only a scalar can stand for a value of any type
           'plain', coalesce(json_typeof(m.value) not in ('object', 'array')
                             or t.oid in ('json'::regtype, 'jsonb'::regtype), true))
           order by a.attnum)
    from pg_attribute a
    join pg_type t on t.oid = rowrelay.base_type(a.atttypid)
    join pg_namespace n on n.oid = t.typnamespace
    cross join rowrelay.image_columns(capture) as i
    left join json_each(i.masks) as m on m.key = a.attname
   where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
     and a.attname::text <> all (i.leave_out) and (i.keep is null or a.attname::text = any (i.keep))
$$;
-- Purpose:    returns the statement that copies all rows of a captured table out, with the values that the trigger's
--             images have
-- Parameters: capture; names of columns; condition on a row called new, beside that of the capture (null: none)
-- Result:     COPY ... TO STDOUT
-- Errors:     the table has a row filter and has lost its triggers
create or replace function rowrelay.copy_statement(capture rowrelay.capture, columns text[], condition text)
  returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  masks     constant json := (select i.masks from rowrelay.image_columns(capture) as i);
  is_simple boolean := condition is null and capture.row_filter is null and masks::text = '{}';
  shown     text;
begin
  is_simple := is_simple and exists (select from pg_class c where c.oid = capture.relation and c.relkind = 'r')
               and not exists (select from pg_inherits i where i.inhparent = capture.relation)
               and not exists (select from pg_attribute a where a.attrelid = capture.relation and a.attgenerated <> '');
  if is_simple then
    -- faster than a query
    return format('copy %s (%s) to stdout', rowrelay.full_name(capture.relation),
                  (select string_agg(format('%I', name), ', ') from unnest(columns) as name));
  end if;
  select string_agg(case
           when m.value is null then format('new.%I', u.name)
           when json_typeof(m.value) = 'null' then 'null'
           when rowrelay.base_type(a.atttypid) in ('json'::regtype, 'jsonb'::regtype) then quote_literal(m.value::text)
           else quote_literal(m.value #>> '{}') end, ', ' order by u.position)
    into shown
    from unnest(columns) with ordinality as u(name, position)
    join pg_attribute a on a.attrelid = capture.relation and a.attname = u.name and not a.attisdropped
    left join json_each(masks) as m on m.key = a.attname;
  return format('copy (select %s from %s as new where %s) to stdout', shown, rowrelay.full_name(capture.relation),
                coalesce(nullif(concat_ws(' and ', '(' || condition || ')', rowrelay.filter_condition(capture)),
                                ''), 'true'));
end
$$;
-- Purpose:    takes a lock that blocks writers to a capture's tables, once all transactions that were writing at the
--             last call have ended
-- Parameters: backfill, whose waits_for has the writers of the last call and is set to those of this one; its capture
-- Result:     may_lock: true: the lock is held until the transaction ends; note: the writers that it waits for
-- Errors:     as for rowrelay.lock_tables()
create or replace function rowrelay.copy_writers(backfill rowrelay.backfill, capture rowrelay.capture,
                                                 out may_lock boolean,
                                                 out note text)
language plpgsql as $$
declare
  writers text[] := rowrelay.backfill_writers(capture);
begin
  -- waits_for is null at the first call
  may_lock := writers = '{}' or coalesce(not backfill.waits_for && writers, false);
  if may_lock then
    perform rowrelay.lock_tables(rowrelay.captured_tables(capture), 'share row exclusive', '0 s');
    return;
  end if;
  update rowrelay.backfill k set waits_for = writers where k.id = backfill.id;
  select 'waits for transactions that write to the table: '
         || string_agg(coalesce(format('process %s (%s, %s, since %s)', l.pid, a.usename, a.state,
                                       to_char(a.xact_start, 'HH24:MI:SS')),
                                'a prepared transaction'), ', ' order by l.pid)
    into note
    from (select distinct k.pid, k.virtualtransaction from pg_locks k where k.virtualtransaction = any (writers)) as l
    left join pg_stat_activity a on a.pid = l.pid
   where a.xact_start is null or a.xact_start < clock_timestamp() - interval '1 s';
end
$$;
-- Purpose:    begins to copy a table to a target as a whole: from now on its changes go into a waiting room. It briefly
--             takes a lock that blocks writers, so that every transaction either has ended with all its changes in the
--             target's lanes, or has all of them in the waiting room. It requests the lock only when all transactions
--             that were writing at the last call have ended, and for a tenth of a second: nobody queues behind it for
--             longer, and it waits for long transactions without it.
-- Parameters: number of the backfill
-- Result:     switched: true when done; else note says what it waits for: call it again later
-- Errors:     the backfill is not waiting to be copied as a whole
create or replace function rowrelay.copy_switch(backfill_id integer, out switched boolean, out note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
declare
  first_lane constant integer := rowrelay.waiting_lane(backfill_id, -1);
  b          rowrelay.backfill;
  capture    rowrelay.capture;
  flag       text;
begin
  switched := false;
  -- in the same order as everywhere: configuration, capture, target, backfill
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id;
  if not rowrelay.try_lock_configuration() then
    note := 'another session is changing captures or targets';
    return;
  end if;
  select c.* into strict capture from rowrelay.capture c where c.id = b.capture for update;
  perform from rowrelay.target t where t.id = b.target for update;
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id for update;
  if b.state <> 'waiting' or b.way <> 'copy' then
    raise exception 'backfill % is not waiting to copy its table as a whole', backfill_id
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  if capture.released_at is not null
     or not exists (select from rowrelay.route r where r.capture = b.capture and r.target = b.target
                    and r.until_id is null) then
    update rowrelay.backfill k
       set state = 'cancelled', finished_at = clock_timestamp(), note = 'the table is no longer routed to the target'
     where k.id = backfill_id;
    return;
  end if;
  flag := format('copies_%s_%s', b.capture, b.target);
  select w.may_lock, w.note into switched, note from rowrelay.copy_writers(b, capture) as w;
  if not switched then
    return;
  end if;

  execute format('create or replace function rowrelay.%I() returns integer language sql immutable as %L', flag,
                 format('select %s', first_lane - rowrelay.lane_number(b.target, -1)));
  execute format('comment on function rowrelay.%I() is %L', flag,
                 'the table is being copied to the target; see rowrelay.waiting_room()');
  execute format('revoke all on function rowrelay.%I() from public', flag);
  delete from rowrelay.queue q where q.lane between first_lane and rowrelay.waiting_lane(backfill_id, 1023);
  perform rowrelay.make_trigger_function(b.capture);
  update rowrelay.backfill k
     set state = 'copying', waits_for = null, started_at = clock_timestamp(), note = null, retry_at = null
   where k.id = backfill_id;
exception when lock_not_available then
  switched := false;
  note := 'waits for a moment without writers to the table';
  update rowrelay.backfill k set waits_for = rowrelay.backfill_writers(capture) where k.id = backfill_id;
end
$$;
-- Purpose:    returns the captures whose queued changes are older than a copy of the table: its own, and those from
--             before it was released and captured again that were routed to the same table
-- Parameters: capture; target
-- Result:     capture ids
create or replace function rowrelay.copied_captures(capture_id integer, target_id integer) returns integer[]
language sql stable as $$
  select array(select c.id
                 from rowrelay.route own
                 join rowrelay.capture now on now.id = own.capture
                 join rowrelay.capture c on c.relation = now.relation
                 join rowrelay.route r on r.capture = c.id and r.target = own.target and r.into_table = own.into_table
                where own.capture = capture_id and own.target = target_id)
$$;
-- Purpose:    moves queued changes of a table that is copied as a whole into the waiting room, piece by piece, the
--             newest first, so that the changes outside always precede those inside. Changes in lanes that a process
--             works on, in a transaction or by a lease, stay outside: call this again for them. At the end the table's
--             refused changes are moved too: the copy includes them, and nobody may retry them after it.
-- Parameters: number of the backfill; the id below which it continues (null: from the newest); how many rows to read
-- Result:     next: where the next piece begins, null: that was the last; busy: whether any of these were in flight
create or replace function rowrelay.copy_hold(backfill_id integer, below bigint, most_rows integer, out next bigint,
                                              out busy boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off as $$
declare
  most_id   constant bigint := 9223372036854775807;
  b         rowrelay.backfill;
  target    rowrelay.target;
  room      integer;
  each_lane integer;
  captures  integer[];
  lanes     integer[]; -- locked until this commits
begin
  busy := false;
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id;
  -- waits for a release of held changes, so that they are in the queue when it is read
  perform from rowrelay.target t where t.id = b.target for no key update; -- before the backfill, as others lock them
  -- nobody cancels it meanwhile
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id for update;
  if b.state <> 'copying' then
    return;
  end if;
  select t.* into strict target from rowrelay.target t where t.id = b.target;
  room := rowrelay.waiting_room(b.capture, b.target);
  captures := rowrelay.copied_captures(b.capture, b.target);
  -- Do not wait for lanes that others hold: a busy target always has some.
  lanes := array(select l.lane from rowrelay.lane l where l.lane = any (rowrelay.lanes_of(b.target)) order by l.lane
                    for update skip locked);
  lanes := array(select l from unnest(lanes) as l
                  where not exists (select from rowrelay.lease e where e.lane = l
                                    and e.lease_until > clock_timestamp()));
  each_lane := greatest(100, most_rows / target.lanes);
  -- the lowest id such that no lane has more than each_lane rows above it
  select max(l.lowest) into next
    from generate_series(rowrelay.lane_number(b.target, -1), rowrelay.lane_number(b.target, target.lanes - 1)) as lane
    cross join lateral (
      select min(q.change_id) as lowest, count(*) as n
        from (select u.change_id from rowrelay.queue u
               where u.lane = lane.lane and u.change_id < coalesce(below, most_id)
               order by u.change_id desc limit each_lane) as q) as l
   where l.n = each_lane;
  with found as materialized (
    select q.lane, q.change_id
      from generate_series(rowrelay.lane_number(b.target, -1), rowrelay.lane_number(b.target, target.lanes - 1)) as lane
      cross join lateral (
        select u.lane, u.change_id, u.day from rowrelay.queue u
         where u.lane = lane.lane and u.change_id >= coalesce(copy_hold.next, 0)
           and u.change_id < coalesce(below, most_id)
        offset 0) as q
      cross join lateral (select c.capture from rowrelay.change c where c.id = q.change_id
                          and c.day = q.day offset 0) as c
     where c.capture = any (captures)
  ), held as (
    update rowrelay.queue q set lane = q.lane + room from found f
     where q.lane = f.lane and q.change_id = f.change_id and f.lane = any (lanes)
  )
  select exists (select from found f where f.lane <> all (lanes)) into busy;
  if next is null and not busy then
    -- with guarantee at-most-once, changes in flight are among the refused
    busy := exists (select from rowrelay.refusal f
                     where f.target = b.target and f.capture = any (captures) and f.lane <> all (lanes));
  end if;
  if next is null and not busy then
    with freed as (
      delete from rowrelay.refusal f where f.target = b.target and f.capture = any (captures) returning f.*
    )
    insert into rowrelay.queue (change_id, lane, day, bytes)
    select f.change_id, rowrelay.lane_of_return(f) + room, f.day, f.bytes from freed f;
  end if;
end
$$;
-- Purpose:    moves changes of a table that was copied as a whole out of the waiting room, the oldest first: those that
--             the copy's snapshot includes are settled, the others are queued in their lanes at their old place. If the
--             copy failed there is no snapshot, and all are queued. The lanes' locks are not needed: no newer change of
--             a key is in flight, because those are in the waiting room too.
-- Parameters: number of the backfill; the id above which it continues; how many rows to read
-- Result:     next: where the next piece begins, null: there is no more at present; passed: number of changes moved
-- Errors:     lock_not_available: another session is changing the target; nothing was done
create or replace function rowrelay.copy_join(backfill_id integer, above bigint, most_rows integer, out next bigint,
                                              out passed bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms'
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off as $$
declare
  most_id   constant bigint := 9223372036854775807;
  b         rowrelay.backfill;
  target    rowrelay.target;
  each_lane integer;
  room      integer;
  bound     bigint;
  first_id  bigint;
  captures  integer[];
begin
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id;
  select t.* into strict target from rowrelay.target t where t.id = b.target;
  perform from rowrelay.target t where t.id = b.target for update; -- before the backfill, as others lock them
  -- nobody cancels it meanwhile
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id for update;
  passed := 0;
  if b.state <> 'joining' then
    return;
  end if;
  room := rowrelay.waiting_room(b.capture, b.target);
  captures := rowrelay.copied_captures(b.capture, b.target);
  each_lane := greatest(100, most_rows / target.lanes);
  -- the highest id such that no lane has more than each_lane rows below it
  select min(l.highest) into bound
    from generate_series(rowrelay.lane_number(b.target, -1) + room,
                         rowrelay.lane_number(b.target, target.lanes - 1) + room) as lane
    cross join lateral (
      select max(q.change_id) as highest, count(*) as n
        from (select u.change_id from rowrelay.queue u
               where u.lane = lane.lane and u.change_id > above
               order by u.change_id limit each_lane) as q) as l
   where l.n = each_lane;
  with leaving as materialized (
    select q.lane, q.change_id, coalesce(pg_visible_in_snapshot(c.txid, b.snapshot), false) as is_copied
      from generate_series(rowrelay.lane_number(b.target, -1) + room,
                           rowrelay.lane_number(b.target, target.lanes - 1) + room) as lane
      cross join lateral (
        select u.lane, u.change_id, u.day from rowrelay.queue u
         where u.lane = lane.lane and u.change_id > above and u.change_id <= coalesce(bound, most_id)
        offset 0) as q
      cross join lateral (select c.capture, c.txid from rowrelay.change c where c.id = q.change_id
                          and c.day = q.day offset 0) as c
     where c.capture = any (captures)
  ), gone as (
    delete from rowrelay.queue q using leaving l
     where l.is_copied and q.lane = l.lane and q.change_id = l.change_id
  ), noted as (
    insert into rowrelay.receipt (token, part, target, outcome, answer, attempts, settled_at, change_ids,
                                  first_id, last_id)
    select nextval('rowrelay.claim_token'), 0, b.target, 'copied', 'it came with a copy of the table', 0,
      clock_timestamp(),
           array_agg(l.change_id order by l.change_id), min(l.change_id), max(l.change_id)
      from leaving l where l.is_copied having count(*) > 0
  ), queued as (
    update rowrelay.queue q set lane = q.lane - room from leaving l
     where not l.is_copied and q.lane = l.lane and q.change_id = l.change_id
    returning q.change_id
  )
  select (select count(*) from leaving), (select min(q.change_id) from queued q) into passed, first_id;
  if first_id is not null then
    perform rowrelay.rewind(b.target, first_id);
  end if;
  next := bound;
end
$$;
-- Purpose:    finishes copying a table as a whole: moves the last changes out of the waiting room, and queues new ones
--             in the target's lanes again. It takes a lock that blocks writers, as rowrelay.copy_switch() does.
-- Parameters: number of the backfill; how many changes to move at most under that lock: if there are more, it is
--             released
-- Result:     finished: true when done; else note says what it waits for: call rowrelay.copy_join(), then this again
--             later
-- Errors:     lock_not_available: another session is changing the target; nothing was done
create or replace function rowrelay.copy_finish(backfill_id integer, most_rows integer, out finished boolean,
                                                out note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms'
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off as $$
declare
  b       rowrelay.backfill;
  capture rowrelay.capture;
  target  rowrelay.target;
  room    integer;
  writers record;
begin
  finished := false;
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id;
  select t.* into strict target from rowrelay.target t where t.id = b.target;
  -- in the same lock order as everywhere
  if not rowrelay.try_lock_configuration() then
    note := 'another session is changing captures or targets';
    return;
  end if;
  select c.* into strict capture from rowrelay.capture c where c.id = b.capture for update;
  perform from rowrelay.target t where t.id = b.target for update;
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id for update;
  if b.state <> 'joining' then
    finished := true;
    return;
  end if;
  room := rowrelay.waiting_room(b.capture, b.target);
  begin
    select w.* into writers from rowrelay.copy_writers(b, capture) as w;
    if not writers.may_lock then
      note := writers.note;
      return;
    end if;
    if (select count(*) from (
          select from generate_series(rowrelay.lane_number(b.target, -1) + room,
                                      rowrelay.lane_number(b.target, target.lanes - 1) + room) as lane
            join rowrelay.queue q on q.lane = lane.lane limit most_rows + 1) as q) > most_rows then
      raise exception 'too many' using errcode = 'lock_not_available';
    end if;
    perform rowrelay.copy_join(backfill_id, 0, 2147483647);
    execute format('drop function rowrelay.%I()', format('copies_%s_%s', b.capture, b.target));
    perform rowrelay.make_trigger_function(b.capture);
  exception when lock_not_available then
    note := 'waits for a moment without writers to the table';
    update rowrelay.backfill k set waits_for = rowrelay.backfill_writers(capture) where k.id = backfill_id;
    return;
  end;
  finished := true;
  update rowrelay.backfill k
     set state = case when b.snapshot is not null then 'done' when b.give_up is not null then 'cancelled'
       else 'waiting' end,
         finished_at = case when b.snapshot is not null or b.give_up is not null then clock_timestamp() end,
         note = case when b.snapshot is null then coalesce(b.give_up, b.note) end,
         waits_for = null, waits_since = null, rows_read = case when b.snapshot is null then 0 else b.rows_read end
   where k.id = backfill_id;
end
$$;
-- Purpose:    switches a backfill from copying the table as a whole to copying it piece by piece; cancels it if that is
--             not possible. Changes in the waiting room leave it again.
-- Parameters: number of the backfill, which has copied nothing yet; why, for people
create or replace function rowrelay.copy_abandon(backfill_id integer, why text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  b       rowrelay.backfill;
  capture rowrelay.capture;
begin
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id for update;
  select c.* into strict capture from rowrelay.capture c where c.id = b.capture;
  if b.give_up is null then
    begin
      perform rowrelay.check_pieces(capture);
    exception when object_not_in_prerequisite_state then
      b.give_up := format('%s; and %s', why, sqlerrm);
    end;
  end if;
  update rowrelay.backfill k
     set way = 'pieces', snapshot = null, give_up = b.give_up, waits_for = null, waits_since = null,
         note = coalesce(b.give_up, format('not as a whole: %s', why)), rows_read = 0,
         state = case when b.state <> 'waiting' then 'joining' when b.give_up is not null then 'cancelled'
           else 'waiting' end,
         finished_at = case when b.state = 'waiting' and b.give_up is not null then clock_timestamp() end
   where k.id = backfill_id and k.state in ('waiting', 'copying');
end
$$;
-- Purpose:    orders a copy of the existing rows of a captured table to a target that it is routed to. `rowrelay run`
--             and `rowrelay backfill` do the work. An unfinished backfill continues, and parameters that are null stay
--             as they were; a finished one starts again.
-- Parameters: relation; target; row_filter: condition on the rows to copy (null: all captured rows); rate: rows per
--             second at most (0: unlimited); copy: as a whole, if the target is an empty mirror, rather than piece by
--             piece
-- Result:     its number in rowrelay.backfill
-- Errors:     the table is not captured or not routed there; it has no key and cannot be copied as a whole; no such
--             target; the unfinished backfill has another filter
create or replace function rowrelay.backfill(relation regclass, target text, row_filter text default null,
                                             rate integer default null, copy boolean default true) returns integer
language plpgsql security definer as $$
declare
  capture    rowrelay.capture := rowrelay.captured(relation);
  target_id  integer := rowrelay.target_id(target);
  wanted_way text := 'copy';
  found_id   integer;
  unfinished rowrelay.backfill;
begin
  if not rowrelay.goes_to(capture.id, target_id) then
    raise exception 'table % is not routed to target "%"', relation, target using errcode = 'undefined_object',
      hint = 'Route it first: '
               || rowrelay.command('rowrelay route %s %s', 'select rowrelay.route(%L, %L);', relation::text, target);
  end if;
  if not copy or not exists (select from rowrelay.target t
                              where t.id = target_id and t.url ~ '^postgres(ql)?:.'
                                and coalesce(t.options ->> 'mode', 'mirror') = 'mirror'
                                and not exists (select from rowrelay.document d where d.target = t.id)) then
    perform rowrelay.check_pieces(capture);
    wanted_way := 'pieces';
  end if;

  select b.* into unfinished from rowrelay.backfill b
   where b.capture = capture.id and b.target = target_id and b.state in ('waiting', 'copying', 'joining', 'running');
  if found then
    if unfinished.row_filter is distinct from coalesce(backfill.row_filter, unfinished.row_filter) then
      raise exception 'a backfill of table % to target "%" with another filter is under way', relation, target
        using errcode = 'object_not_in_prerequisite_state',
              detail = coalesce('Its filter is: ' || unfinished.row_filter, 'It has none.'),
              hint = 'Let it finish, or cancel it: '
                     || rowrelay.command('rowrelay backfill %s --to %s --cancel',
                                         'select rowrelay.cancel_backfill(%L, %L);', relation::text, target);
    end if;
    update rowrelay.backfill b set rate = nullif(coalesce(backfill.rate, b.rate), 0), retry_at = null,
           give_up = case when b.state = 'copying' then null else b.give_up end,
           way = case when b.state = 'waiting' then wanted_way else b.way end
     where b.id = unfinished.id;
    return unfinished.id;
  end if;

  insert into rowrelay.backfill as b (capture, target, way, row_filter, condition, rate, rows_estimated)
  values (capture.id, target_id, wanted_way, row_filter,
          case when row_filter is not null then rowrelay.filter_expression(relation, row_filter, 'new') end,
          nullif(rate, 0), rowrelay.estimated_rows(relation))
  on conflict on constraint one_for_each_route do update
    set state = 'waiting', way = excluded.way, snapshot = null, give_up = null, row_filter = excluded.row_filter,
        condition = excluded.condition, rate = excluded.rate,
        waits_for = null, waits_since = null, part = null, position = null, rows_read = 0, rows_queued = 0,
        rows_estimated = excluded.rows_estimated, looked_at_rows = null, note = null, retry_at = null,
          registered_at = now(),
        started_at = null, finished_at = null
  returning b.id into found_id;
  return found_id;
end
$$;
-- Purpose:    cancels an unfinished backfill. Rows that it has queued are still delivered. It waits for the piece that
--             is being read. A copy of the whole table is cancelled by the process that works on it, or the next
--             running process, unless the target already has it.
-- Parameters: relation; target
-- Errors:     table not captured; no such target; no backfill under way
create or replace function rowrelay.cancel_backfill(relation regclass, target text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture   rowrelay.capture := rowrelay.captured(relation);
  target_id integer := rowrelay.target_id(target);
begin
  update rowrelay.backfill b
     set state = case when b.state in ('waiting', 'running') then 'cancelled' else b.state end,
         finished_at = case when b.state in ('waiting', 'running') then clock_timestamp() end,
         note = format('cancelled by %s', session_user),
         give_up = format('cancelled by %s', session_user)
   where b.capture = capture.id and b.target = target_id
     and b.state in ('waiting', 'copying', 'joining', 'running');
  if not found then
    raise exception 'no backfill of table % to target "%" is under way', relation, target
      using errcode = 'undefined_object',
            hint = 'To see those under way: '
                     || rowrelay.command('rowrelay status', 'select * from rowrelay.backfills;');
  end if;
end
$$;
-- Purpose:    returns the name of a key's type for SQL; format_type() would return "character", which is char(1)
-- Parameters: a type of schema pg_catalog
-- Result:     such as pg_catalog.int8
create or replace function rowrelay.document_key_type(key_type oid) returns text
language sql stable as $$
  select format('pg_catalog.%I', t.typname) from pg_type t where t.oid = key_type
$$;
-- Purpose:    returns SQL for the text of a document's key, as rowrelay.document_key() reads it from a row image, for
--             an expression of any type and under any session settings
-- Parameters: expression; type of the document's keys
-- Result:     an expression of type text
create or replace function rowrelay.document_key_text(expression text, key_type oid) returns text
language sql stable as $$
  select format(case key_type
                  when 'numeric'::regtype then 'pg_catalog.trim_scale(%s)::pg_catalog.text'
                  -- always ISO
                  when 'date'::regtype then 'pg_catalog.to_json(%s) operator(pg_catalog.#>>) ''{}'''
                  else '(%s)::pg_catalog.text'
                end,
                -- the cast of a user-defined type may run a user's code: see rowrelay.is_safe_type()
                format('case when pg_catalog.pg_typeof(%1$s)::pg_catalog.oid operator(pg_catalog.<) 16384 then '
                       '(%1$s)::%2$s '
                       'when %1$s is distinct from null then pg_catalog.concat(%1$s)::%2$s end',
                       expression, rowrelay.document_key_type(key_type)))
$$;
-- Purpose:    finds a document by name. Nothing is locked: if it is dropped meanwhile, rowrelay.maintain() removes what
--             is queued for it.
-- Parameters: name
-- Result:     its id
-- Errors:     no document has that name
create or replace function rowrelay.document_id(document_name text) returns integer
language plpgsql as $$
declare
  found_id integer;
begin
  select t.id into found_id
    from rowrelay.document d join rowrelay.target t on t.id = d.target
   where t.name = document_name and t.dropped_at is null;
  if not found then
    raise exception 'document "%" does not exist', document_name
      using errcode = 'undefined_object',
            hint = coalesce('Documents are: '
                              || (select string_agg(format('"%s"', t.name), ', ' order by t.name)
                                    from rowrelay.document d join rowrelay.target t on t.id = d.target
                                   where t.dropped_at is null),
                            'Add one first: '
                              || rowrelay.command('rowrelay document add NAME --target TARGET --key COLUMN '
                                                  '--query FILE --from TABLE:COLUMN',
                                                  'select rowrelay.add_document(''NAME'', ''TARGET'', ''COLUMN'', '
                                                  '''QUERY'', ''{TABLE:COLUMN}'');'));
  end if;
  return found_id;
end
$$;
-- Purpose:    returns the tables that a view reads, directly or through other views
-- Parameters: the view
-- Result:     tables, partitioned tables, foreign tables and materialized views, each once
create or replace function rowrelay.read_tables(of_view regclass) returns setof regclass
language sql stable as $$
  with recursive reads(relation) as (
    select of_view::oid
    union
    select d.refobjid
      from reads
      join pg_class c on c.oid = reads.relation and c.relkind = 'v'
      join pg_rewrite w on w.ev_class = c.oid
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
       and d.refclassid = 'pg_class'::regclass and d.refobjid <> c.oid
  )
  select reads.relation::regclass
    from reads join pg_class c on c.oid = reads.relation
   where c.relkind in ('r', 'p', 'f', 'm')
   order by 1
$$;
-- Purpose:    parses a source of a document: TABLE:COL, TABLE:COL(columns...), TABLE:QUERY or TABLE(columns...):QUERY
-- Parameters: the text
-- Result:     relation; number of the column with the document's key, or the query that returns keys for the rows of
--             "changed"; numbers of the columns that the document uses, null: all
-- Errors:     it cannot be parsed; no such table or column
create or replace function rowrelay.document_source_parts(source text, out relation regclass, out key_column smallint,
                                                          out keys_query text, out only_columns smallint[])
language plpgsql stable as $$
declare
  part      text[] := regexp_match(source,
                 E'^\\s*((?:"(?:[^"]|"")+"|[^":(\\s])+)\\s*(?:\\(([^()]*)\\))?\\s*:\\s*(.*?)\\s*;?\\s*$');
  col       text[];
  columns   text := part[2];
  leads_to  text := part[3];
begin
  if part is null or leads_to = '' then
    raise exception 'source "%" is neither TABLE:COLUMN nor TABLE:QUERY', source
      using errcode = 'invalid_parameter_value',
            hint = 'COLUMN has the documents'' keys; QUERY returns the keys for the rows of "changed".';
  end if;
  relation := to_regclass(part[1]);
  if relation is null then
    raise exception 'table % does not exist', part[1] using errcode = 'undefined_table',
      hint = format('Source "%s" names it.', source);
  end if;
  if leads_to ~* E'^(select|with|values|table)\\M|^\\(' then
    keys_query := leads_to;
  else
    col := regexp_match(leads_to, E'^((?:"(?:[^"]|"")+"|[^"()\\s])+)\\s*(?:\\(([^()]*)\\))?$');
    if col is null then
      raise exception '"%" is neither a column nor a query', leads_to using errcode = 'invalid_parameter_value',
        hint = format('It has to give the documents'' keys for rows of %s.', relation);
    end if;
    columns := coalesce(col[2], columns);
    key_column := (rowrelay.attribute_numbers(relation, parse_ident(col[1]), 'key of the document'))[1];
  end if;
  if columns is not null then
    only_columns := rowrelay.attribute_numbers(relation,
      array(select (parse_ident(c))[1] from unnest(string_to_array(columns, ',')) as c), 'columns of the document');
  end if;
end
$$;
-- Purpose:    writes a source of a document as rowrelay.document_source_parts() reads it
-- Parameters: relation; name to write for it; name of the column with the document's key, or the query that returns
--             keys; numbers of the columns that the document uses, null: all
-- Result:     TABLE:COLUMN, TABLE:COLUMN(columns...), TABLE:QUERY or TABLE(columns...):QUERY
create or replace function rowrelay.document_source_text(relation regclass, relation_name text, key_name text,
                                                         keys_query text, only_columns smallint[]) returns text
language plpgsql stable as $$
declare
  columns text := (select '(' || string_agg(quote_ident(u.name), ', ' order by u.n) || ')'
                     from unnest(rowrelay.attribute_names(relation, only_columns)) with ordinality as u(name, n));
begin
  return concat(relation_name, case when keys_query is not null then columns end,
                ':', coalesce(keys_query, quote_ident(key_name)), case when keys_query is null then columns end);
end
$$;
-- Purpose:    returns a user's query for the keys of changed rows, in which "changed" stands for these rows
-- Parameters: relation; the query; an expression of type json for the rows: an array of their images
-- Result:     a query with the same columns
create or replace function rowrelay.changed_statement(relation regclass, keys_query text, images text) returns text
language sql stable as $$
  select case when keys_query ~* E'^with\\s+recursive\\M'
                then 'with recursive ' || c.changed || ', '
                     || regexp_replace(keys_query, E'^with\\s+recursive\\M', '', 'i')
              when keys_query ~* E'^with\\M'
                then 'with ' || c.changed || ', ' || regexp_replace(keys_query, E'^with\\M', '', 'i')
              else 'with ' || c.changed || ' ' || keys_query end
    from (select format('changed as (select * from pg_catalog.json_to_recordset(%s) as changed (%s))', images,
                        string_agg(format('%I %s', a.attname, c.type), ', ' order by a.attnum)) as changed
            from pg_attribute a
           cross join lateral (
             -- as text what would run CHECKs of domains, which are the code of who owns them
             select case when rowrelay.has_inner_domain(a.atttypid) then 'pg_catalog.text'
                         else rowrelay.plain_type(a.atttypid, 0) end as type) as c
           where a.attrelid = relation and a.attnum > 0 and not a.attisdropped) as c
$$;
-- Purpose:    returns the statement that finds a document's keys for changed rows of one of its tables
-- Parameters: relation; a query of the user's, in which "changed" stands for these rows; type of the keys; an
--             expression of type json for these rows: an array of their images
-- Result:     a query with one column, the keys as text
create or replace function rowrelay.keys_statement(relation regclass, keys_query text, key_type oid, images text)
  returns text
language sql stable as $$
  select format(E'select distinct %s from (%s\n) as q(k) where k is not null',
                rowrelay.document_key_text('k', key_type),
                rowrelay.changed_statement(relation, keys_query, images))
$$;
-- Purpose:    queues documents for a refresh, in pieces of some hundred keys, each logged as a change with operation r.
--             Many keys go to the document's late lanes, which are delivered after those of live changes.
-- Parameters: document; a query with $1 that returns keys as text; its parameter
-- Result:     number of keys
create or replace function rowrelay.queue_documents(document_id integer, keys_query text, parameter text) returns bigint
language plpgsql as $$
declare
  -- keys per piece; fewer keys than that in all do not go to the late lanes
  piece_size constant integer := 200;
  document   rowrelay.document;
  lanes      integer;
  queued     bigint;
begin
  select d.* into strict document from rowrelay.document d where d.target = document_id;
  select t.lanes / 2 into strict lanes from rowrelay.target t where t.id = document_id;
  execute format($sql$
    with wanted as (
      select w.key, mod(hashtext(w.key) & 2147483647, $2) as lane, count(*) over () > $3 as late
        from (%s) as w(key)
    ), numbered as (
      select w.*, row_number() over (partition by w.lane) / $3 as piece from wanted w
    ), piece as (
      select json_agg(n.key) as keys, count(*) as n, bool_or(n.late) as late from numbered n group by n.lane, n.piece
    ), logged as (
      insert into rowrelay.change (txid, captured_at, day, capture, op, db_user, application_name, client_addr, new_row)
      select pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), $4, 'r', session_user,
             current_setting('application_name'), rowrelay.client_addr(), p.keys from piece p
      returning id, day, new_row
    ), queued as (
      insert into rowrelay.queue (change_id, lane, day, bytes)
      select l.id,
             rowrelay.lane_number($5, mod(hashtext(l.new_row ->> 0) & 2147483647, $2)
                                        + case when (select bool_or(p.late) from piece p) then $2 else 0 end),
             l.day, pg_column_size(l.new_row)
        from logged l
    )
    select coalesce(sum(p.n), 0) from piece p $sql$, keys_query)
    into queued using parameter, lanes, piece_size, document.capture, document_id;
  if queued > 0 and pg_sequence_last_value('rowrelay.doorbell'::regclass) > 0 then
    perform rowrelay.ring_doorbell();
  end if;
  return queued;
end
$$;
-- Purpose:    queues the documents whose keys the sources' queries return for changed rows, such as all orders of a
--             customer. Runs all queries as one, so that each document is queued once.
-- Parameters: document; ids of changes of its tables; their days
-- Errors:     those of the queries; row-level security hides rows that they read
create or replace function rowrelay.expand_documents(document_id integer, change_ids bigint[], days date[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set row_security = off as $$
declare
  path_before constant text := current_setting('search_path');
  document    rowrelay.document;
  images      json; -- by table rather than by capture, because a table may have had several captures
  statement   text;
begin
  select d.* into strict document from rowrelay.document d where d.target = document_id;
  -- planned for these days alone, because there may be years of partitions
  execute 'select json_object_agg(t.relation, t.images)'
          '  from (select c.relation::oid, json_agg(i.image) as images'
          '          from rowrelay.change h'
          '          join rowrelay.capture c on c.id = h.capture'
          '         cross join lateral (values (h.old_row), (h.new_row)) as i(image)'
          '         where h.id = any ($1) and h.day = any ($2) and i.image is not null'
          '         group by c.relation) as t'
     into images using change_ids, days;
  select string_agg(format('(%s)', rowrelay.keys_statement(c.relation, s.keys_query, document.key_type,
                                                           format('$1::pg_catalog.json -> %L', c.relation::oid))),
                                                             ' union ')
    into statement
    from rowrelay.document_source s join rowrelay.capture c on c.id = s.capture
   where s.document = document_id and s.keys_query is not null and images -> c.relation::oid::text is not null;
  if statement is not null then
    perform set_config('search_path', document.search_path, true);
    perform rowrelay.queue_documents(document_id, statement, images::text);
    perform set_config('search_path', path_before, true);
  end if;
end
$$;
-- Purpose:    queues all documents: those with keys in the first of the document's tables
-- Parameters: document
-- Result:     number of documents
-- Errors:     the key column was dropped; row-level security hides rows of that table
create or replace function rowrelay.queue_all_documents(document_id integer) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp set row_security = off as $$
declare
  relation   regclass;
  key_column text;
  key_type   oid;
begin
  select c.relation, (rowrelay.attribute_names(c.relation, array[s.key_column]))[1], d.key_type
    into relation, key_column, key_type
    from rowrelay.document d
    join rowrelay.document_source s on s.document = d.target and s.position = 1
    join rowrelay.capture c on c.id = s.capture
   where d.target = document_id;
  if key_column is null then
    raise exception 'the column with the keys of the document was dropped' using errcode = 'undefined_column',
      hint = (select 'Drop it, and add it again with another column: '
                       || rowrelay.command('rowrelay document drop %s', 'select rowrelay.drop_document(%L);', t.name)
                from rowrelay.target t where t.id = document_id);
  end if;
  perform rowrelay.check_sees_all(relation);
  return rowrelay.queue_documents(document_id, format(
    'select distinct %s from %s as r where r.%I is not null and $1::text is null',
    rowrelay.document_key_text(format('r.%I', key_column), key_type), relation, key_column), null);
end
$$;
-- Purpose:    records documents that their target refused: each gets a change of its own in the log, so that it can be
--             retried
-- Parameters: document; [{"key", "attempts", "sqlstate", "message", "detail"}]
create or replace function rowrelay.refuse_documents(document_id integer, refused json) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  with refused as materialized (
    select * from json_to_recordset(refuse_documents.refused)
                    as r(key text, attempts integer, sqlstate text, message text, detail text)
  ), gone as (
    delete from rowrelay.refusal f
     using rowrelay.document d, refused r
     where d.target = document_id and f.target = d.target and f.capture = d.capture
       and f.row_hash = rowrelay.text_hash(r.key) and f.key = r.key
  ), logged as (
    insert into rowrelay.change (txid, captured_at, day, capture, op, key, db_user, application_name,
                                 client_addr, new_row)
    select pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), d.capture, 'r', r.key, session_user,
           current_setting('application_name'), rowrelay.client_addr(), json_build_array(r.key)
      from refused r, rowrelay.document d where d.target = document_id
    returning id, day, capture, key, new_row
  )
  insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, row_hash, state, attempts, sqlstate,
                                message, detail)
  select t.id, l.id, rowrelay.lane_number(t.id, mod(hashtext(l.key) & 2147483647, t.lanes / 2)), l.day,
         pg_column_size(l.new_row), l.capture, l.key, rowrelay.text_hash(l.key), 'error', r.attempts, r.sqlstate,
         r.message, r.detail
    from logged l
    join refused r on r.key = l.key
    join rowrelay.target t on t.id = document_id;
end
$$;
-- Purpose:    queues documents to be built again: those with these keys, or all. They wait behind documents that live
--             changes refresh.
-- Parameters: name; keys (null: all keys in the first of its tables)
-- Result:     number of queued documents
-- Errors:     no such document
create or replace function rowrelay.rebuild(document text, keys text[] default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  document_id integer := rowrelay.document_id(document);
begin
  if keys is null then
    return rowrelay.queue_all_documents(document_id);
  end if;
  return rowrelay.queue_documents(document_id, format(
    'select distinct %s from unnest($1::%s[]) as k where k is not null',
    rowrelay.document_key_text('k', d.key_type), rowrelay.document_key_type(d.key_type)), keys::text)
    from rowrelay.document d where d.target = document_id;
end
$$;
-- Purpose:    finds the columns that a document's query returns and the tables that it reads, without running it
-- Parameters: name, for messages; query; name and type of the key
-- Result:     columns: [{"name", "type"}] in their order; is_json: the only column is the document; reads: tables
-- Errors:     it is not a valid query, or does not return the key
create or replace function rowrelay.check_document_query(name text, query text, key_name text, key_type regtype,
                                                         out columns jsonb, out is_json boolean, out reads regclass[])
language plpgsql as $$
declare
  made       regclass;
  words      text;
  hint_words text;
begin
  if query !~ E'\\$1(?!\\d)' then
    raise exception 'the query of document "%" does not use $1', name using errcode = 'invalid_parameter_value',
      hint = '$1 is the array of the keys to build, as in: where o.id = any ($1)';
  end if;
  begin
    -- A view shows the query's columns and tables; in it, a null of its type replaces $1.
    execute format('create temporary view rowrelay_document_check as %s',
                   regexp_replace(query, E'\\$1(?!\\d)',
                                  format('(null::%s[])', rowrelay.document_key_type(key_type)), 'g'));
  exception when others then
    get stacked diagnostics words = message_text, hint_words = pg_exception_hint;
    raise exception 'the query of document "%" cannot be run: %', name, words
      using errcode = sqlstate, hint = coalesce(nullif(hint_words, ''), format('In it, $1 is of type %s[].', key_type));
  end;
  made := 'pg_temp.rowrelay_document_check'::regclass;
  reads := array(select rowrelay.read_tables(made));
  select jsonb_agg(jsonb_build_object('name', a.attname,
                     'type', case when t.typnamespace = 'pg_catalog'::regnamespace
                       or e.typnamespace = 'pg_catalog'::regnamespace
                                  then format_type(a.atttypid, a.atttypmod)
                                  -- user-defined types may not exist at the target
                                  when b.typtype = 'b'
                                    and b.typnamespace = 'pg_catalog'::regnamespace then format_type(b.oid, -1)
                                  else 'text' end) order by a.attnum),
         count(*) = 1 and bool_and(t.oid in ('json'::regtype, 'jsonb'::regtype))
    into columns, is_json
    from pg_attribute a
    join pg_type t on t.oid = a.atttypid
    join pg_type b on b.oid = rowrelay.base_type(t.oid)
    left join pg_type e on e.oid = t.typelem and t.typelem <> 0 and t.typcategory = 'A'
   where a.attrelid = made and a.attnum > 0;
  drop view pg_temp.rowrelay_document_check;
  if not is_json and not columns @> jsonb_build_array(jsonb_build_object('name', key_name)) then
    raise exception 'the query of document "%" does not return its key "%"', name, key_name
      using errcode = 'undefined_column',
            hint = 'It returns: ' || (select string_agg(c ->> 'name', ', ')
                                      from jsonb_array_elements(columns) as c) || '.';
  end if;
end
$$;
-- Purpose:    returns the planner's cost of building documents
-- Parameters: query; type of the keys; a query that returns keys
-- Result:     cost in the planner's units; null: there are no keys
create or replace function rowrelay.document_cost(query text, key_type regtype, keys_query text) returns numeric
language plpgsql as $$
declare
  keys text;
  plan json;
begin
  execute format('select array_agg(k)::text from (%s) as q(k)', keys_query) into keys;
  if keys is null then
    return null;
  end if;
  execute format('explain (format json) %s', regexp_replace(query, E'\\$1(?!\\d)', format('(%L::%s[])',
      replace(keys, E'\\', E'\\\\'), rowrelay.document_key_type(key_type)), 'g'))
     into plan;
  return (plan #>> '{0,Plan,Total Cost}')::numeric;
end
$$;
-- Purpose:    returns a statement that creates the index by which a table's rows would be found
-- Parameters: relation; aliases: a regular expression for its names in conditions; conditions: of a plan, as EXPLAIN
--             (verbose) prints them, the most telling first
-- Result:     one statement, or several where either of two columns may be equal; null: no condition compares a column
--             for equality
create or replace function rowrelay.index_creation(relation regclass, aliases text, conditions text[]) returns text
language plpgsql stable as $$
declare
  -- a column, with a type that it may be cast to
  operand   constant text := '(?<![[:alnum:]_"])(?:' || aliases || ')[.]("(?:[^"]|"")+"|[[:alpha:]_][[:alnum:]_$]*)'
                             '[)]?(?:::([a-z ]+?))?[)]?';
  condition text;
  columns   text[];
  creations text;
begin
  foreach condition in array coalesce(conditions, '{}') loop
    select array_agg(i.item order by i.place) into columns
      from (select case when f.type is null or f.type = a.atttypid
                             or exists (select from pg_cast k where k.castsource = a.atttypid and k.casttarget = f.type
                                                                and k.castmethod = 'b')
                        then quote_ident(a.attname) else format('(%I::%s)', a.attname, f.type::text) end as item,
                   min(f.place) as place
              from (select r.place, coalesce(r.m[1], r.m[3]) as name,
                           to_regtype(coalesce(r.m[2], r.m[4])) as type
                      from regexp_matches(condition, operand || ' = (?![''0-9])| = (?:ANY )?[(]*' || operand, 'g')
                           with ordinality as r(m, place)) as f
              join pg_attribute a on a.attrelid = index_creation.relation and a.attnum > 0 and not a.attisdropped
                                 and quote_ident(a.attname) = f.name
             group by 1) as i;
    if columns is null then
      continue;
    end if;
    -- where either may be equal, each of them alone must lead to rows
    select string_agg(format('CREATE INDEX %sON %s (%s);',
                             case when c.relkind = 'p' then '' else 'CONCURRENTLY ' end,
                             rowrelay.full_name(c.oid), u.list), ' ' order by u.list)
      into creations
      from pg_class c
      cross join lateral (
        select array_to_string(columns, ', ') as list where condition !~ ' OR '
        union all
        select l.item from unnest(columns) as l(item) where condition ~ ' OR ') as u
     where c.oid = index_creation.relation;
    return creations;
  end loop;
  return null;
end
$$;
-- Purpose:    finds the large tables that a statement can only read as a whole, because an index is missing
-- Parameters: a statement; it is explained, and not run
-- Result:     relation; rows: estimated; creation: a statement that creates the missing index, null where no comparison
--             for equality shows of which columns
create or replace function rowrelay.missing_indexes(statement text, out relation regclass, out rows bigint,
                                                    out creation text) returns setof record
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set max_parallel_workers_per_gather = 0 set jit = off as $$
declare
  plan    json;
  whole   record;
  aliases text;
begin
  -- with all other ways taken first, what is still read as a whole has no other
  execute 'explain (verbose, format json) ' || statement into plan;
  for whole in
    with recursive node(plan) as (
      select plan #> '{0,Plan}'
      union all
      select child from node cross join lateral json_array_elements(node.plan -> 'Plans') as child
    )
    select coalesce(pg_partition_root(c.oid)::oid, c.oid) as oid,
           array_agg(distinct n.plan ->> 'Alias') as aliases,
           -- a join's condition says more than a table's own
           (select array_agg(d.text order by d.place, d.text)
              from (select distinct o.value as text, case when o.key = 'Filter' then 2 else 1 end as place
                      from node m cross join lateral json_each_text(m.plan) as o
                     where o.key in ('Filter', 'Join Filter')) as d) as conditions
      from node n
      join pg_namespace s on s.nspname = n.plan ->> 'Schema'
      join pg_class c on c.relnamespace = s.oid and c.relname = n.plan ->> 'Relation Name'
     where n.plan ->> 'Node Type' in ('Seq Scan', 'Index Scan', 'Index Only Scan')
       and coalesce(n.plan ->> 'Index Cond', '') ~ '^([(][^=<>@&|~]* IS NOT NULL[)])?$'
     group by 1
     order by 1
  loop
    relation := whole.oid;
    rows := rowrelay.estimated_rows(relation);
    continue when rows <= 5000;
    -- the planner numbers the aliases of partitions
    select string_agg(distinct regexp_replace(quote_ident(n.name), '([^[:alnum:]_])', E'\\\\\\1', 'g'), '|')
      into aliases
      from unnest(whole.aliases) as a(alias)
      cross join lateral (values (a.alias), (regexp_replace(a.alias, '_[0-9]+$', ''))) as n(name);
    creation := rowrelay.index_creation(relation, aliases, whole.conditions);
    return next;
  end loop;
end
$$;
-- Purpose:    checks the query of a source TABLE:QUERY: that it runs, uses "changed", and returns one column of
--             keys; warns of keys of another kind, and of large tables that it reads as a whole for each change
-- Parameters: document: its name, for messages; source: its text; relation and query: its parts; key_type: of the
--             document's keys
-- Errors:     the query cannot be used
create or replace function rowrelay.check_keys_query(document text, source text, relation regclass, query text,
                                                     key_type regtype) returns void
language plpgsql as $$
declare
  -- without literals and comments
  words    constant text := regexp_replace(query, E'''(?:[^'']|'''')*''|--[^\\n]*|/[*].*?[*]/', ' ', 'g');
  returned regtype;
  kind     "char";
  columns  integer;
  missing  record;
begin
  if words !~* E'(?<![[:alnum:]_"])changed(?![[:alnum:]_"])' and words !~ '"changed"' then
    raise exception 'the query in "%" does not use "changed"', source using errcode = 'invalid_parameter_value',
      hint = format('"changed" stands for the changed rows of %s, as in: select o.id from orders o join changed c on '
                    'c.id = o.customer_id. If each change concerns all documents, add: cross join changed', relation);
  end if;
  begin
    execute format('create temporary view rowrelay_keys_check as %s',
                   rowrelay.keys_statement(relation, query, key_type, 'null'));
    execute 'drop view pg_temp.rowrelay_keys_check';
  exception when others then
    raise exception 'the query in "%" cannot be run: %', source, sqlerrm using errcode = sqlstate,
      hint = 'It must return one column, the documents'' keys; "changed" stands for the changed rows of the table.';
  end;
  execute format('create temporary view rowrelay_keys_check as %s',
                 rowrelay.changed_statement(relation, query, 'null'));
  select a.atttypid::regtype, t.typcategory, c.relnatts into returned, kind, columns
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_type t on t.oid = rowrelay.base_type(a.atttypid)
   where a.attrelid = 'pg_temp.rowrelay_keys_check'::regclass and a.attnum = 1;
  execute 'drop view pg_temp.rowrelay_keys_check';
  if columns <> 1 then
    raise exception 'the query in "%" returns % columns', source, columns using errcode = 'invalid_parameter_value',
      hint = 'It must return one column, the documents'' keys.';
  end if;
  if kind = 'S' and (select t.typcategory from pg_type t where t.oid = key_type) <> 'S' then
    raise warning 'the query in "%" returns keys of type %, but those of document "%" are of type %', source,
      returned, document, key_type
      using hint = 'Return the column that has the documents'' keys, or make sure that each text is such a key.';
  end if;
  for missing in
    select m.* from rowrelay.missing_indexes(rowrelay.keys_statement(relation, query, key_type, '''[]''::json')) as m
  loop
    if missing.creation is null then
      raise warning 'document "%": each change of % reads the whole of % (% rows) to find the documents', document,
        relation, missing.relation, missing.rows;
    else
      raise warning 'document "%": each change of % reads the whole of % (% rows) to find the documents: an index is '
        'missing', document, relation, missing.relation, missing.rows
        using hint = format('Create it with psql at the source: %s', missing.creation);
    end if;
  end loop;
end
$$;
-- Purpose:    checks a document and composes what is stored of it. Nothing is stored, and no table is locked.
-- Parameters: delivers_to: the target, also a new one; the others as for rowrelay.add_document()
-- Result:     type of the keys; the query; the statement that builds documents; their columns; all tables that need
--             triggers
-- Errors:     as for rowrelay.add_document(), without those of locks, with its warnings
create or replace function rowrelay.document_plan(
  name text, delivers_to rowrelay.target, key text, query text, sources text[], search text[], out key_type regtype,
  out statement text, out build text, out columns jsonb, out tables regclass[])
language plpgsql set standard_conforming_strings = on as $$ -- as in processes that build documents
declare
  source      record;
  root        record;
  column_type regtype;
  captured    rowrelay.capture;
  checked     record;
  is_table    boolean;
  one         numeric;
  thousand    numeric;
  missing     text;
  missing_index record;
begin
  statement := regexp_replace(query, E'[;\\s]+$', '');
  tables := '{}';
  perform rowrelay.check_target_name(name);
  if exists (select from rowrelay.document d where d.target = delivers_to.id) then
    raise exception '"%" is a document, not a target', delivers_to.name using errcode = 'invalid_parameter_value';
  end if;
  if delivers_to.options ->> 'mode' = 'append' then
    raise exception 'target "%" keeps every change, so it cannot hold documents', delivers_to.name
      using errcode = 'invalid_parameter_value', hint = 'Add a target that mirrors rows: '
               || rowrelay.command('rowrelay target add NAME %s', 'select rowrelay.add_target(''NAME'', %L);',
                                   delivers_to.url);
  end if;
  if coalesce(cardinality(sources), 0) = 0 then
    raise exception 'document "%" has no sources', name using errcode = 'invalid_parameter_value',
      hint = 'Name its tables as TABLE:COLUMN or TABLE:QUERY.';
  end if;
  is_table := delivers_to.url ~ '^postgres';

  select p.* into root from rowrelay.document_source_parts(sources[1]) as p;
  if root.key_column is null then
    raise exception 'the first source must be TABLE:COLUMN, not the query "%"', sources[1]
      using errcode = 'invalid_parameter_value',
        hint = 'Name the table and column that have the keys of all documents.';
  end if;
  select rowrelay.base_type(a.atttypid)::regtype into key_type
    from pg_attribute a where a.attrelid = root.relation and a.attnum = root.key_column;
  if key_type <> all ('{int2,int4,int8,oid,numeric,text,varchar,bpchar,name,uuid,date}'::regtype[])
     or not rowrelay.key_is_exact(root.relation, array[root.key_column]) then
    raise exception 'the key of a document cannot be of type %', key_type using errcode = 'invalid_parameter_value',
      hint = 'It may be an integer, numeric, text, uuid or date.';
  end if;

  select c.* into checked from rowrelay.check_document_query(name, statement, key, key_type) as c;
  columns := case when checked.is_json
                  -- with -1 it is bpchar, not char(1)
                  then jsonb_build_array(jsonb_build_object('name', key, 'type', format_type(key_type, -1)))
                         || case when is_table then jsonb_build_array(jsonb_build_object('name', 'document', 'type',
                             'jsonb')) else '[]' end
                  else checked.columns end;
  if search is not null then
    select string_agg(format('"%s"', s), ', ') into missing
      from unnest(search) as s
     where not exists (select from jsonb_array_elements(columns) as c
                        where c ->> 'name' = s and c ->> 'type' ~ '^(text|character|json|jsonb|name)');
    if missing is not null or not is_table then
      raise exception 'document "%" cannot be searched by %', name, coalesce(missing, 'columns')
        using errcode = 'invalid_parameter_value',
              hint = 'Name columns of the query''s result of type text, varchar, json or jsonb; only PostgreSQL '
                     'targets have search.';
    end if;
    columns := columns || jsonb_build_object('name', 'search', 'index', 'gin', 'type',
      format('tsvector generated always as (%s) stored',
             (select string_agg(case
                                when c ->> 'type' ~ '^json'
                                  then format('to_tsvector(''simple'', coalesce(%I, ''{}''))', s)
                                     else format('to_tsvector(''simple'', coalesce(%I, ''''))', s) end, ' || ')
                from unnest(search) as s join jsonb_array_elements(columns) as c on c ->> 'name' = s)));
  end if;
  -- The first mention of $1 sets its type.
  build := format('with "the keys" as (select $1::%s[]) ', rowrelay.document_key_type(key_type)) || case
    when checked.is_json then
      format(E'select %s, %s from (%s\n) as d(j)',
             rowrelay.document_key_text(format('d.j operator(pg_catalog.->>) %L', key), key_type),
             case when is_table
                  then format('pg_catalog.json_build_object(%1$L, d.j operator(pg_catalog.->) %1$L, ''document'', '
                              'd.j)', key)
                  else 'd.j' end, statement)
    else
      format(E'select %s, pg_catalog.row_to_json(d.*) from (%s\n) as d',
             rowrelay.document_key_text(format('d.%I', key), key_type), statement)
    end;

  for source in
    select p.*, u.text
      from unnest(sources) with ordinality as u(text, position)
      cross join lateral rowrelay.document_source_parts(u.text) as p
     order by u.position
  loop
    if source.key_column is not null then
      select rowrelay.base_type(a.atttypid)::regtype into column_type
        from pg_attribute a where a.attrelid = source.relation and a.attnum = source.key_column;
      -- Equal keys must have equal texts in all tables.
      if column_type <> key_type and not (array[column_type, key_type] <@ '{int2,int4,int8,oid}'::regtype[]
                                          or array[column_type, key_type] <@ '{text,varchar,name}'::regtype[]) then
        raise exception 'the column in "%" is of type %, but the keys are of type %', source.text, column_type, key_type
          using errcode = 'datatype_mismatch',
            hint = 'Write TABLE:QUERY, with a query that returns keys for the rows of "changed".';
      end if;
    else
      perform rowrelay.check_keys_query(name, source.text, source.relation, source.keys_query, key_type);
    end if;
    -- all tables that get triggers
    captured.relation := source.relation;
    tables := tables || rowrelay.captured_tables(captured);
  end loop;
  select string_agg(r::text, ', ') into missing from unnest(checked.reads) as r where r <> all (tables);
  if missing is not null then
    raise warning 'document "%" reads %, which no source names: changes there will not refresh it', name, missing;
  end if;
  one := rowrelay.document_cost(statement, key_type,
    format('select %I from %s limit 1', (rowrelay.attribute_names(root.relation, array[root.key_column]))[1],
           root.relation));
  thousand := rowrelay.document_cost(statement, key_type,
    format('select %I from %s limit 1000', (rowrelay.attribute_names(root.relation, array[root.key_column]))[1],
           root.relation));
  if one is not null then
    raise notice 'document "%": the planner expects % documents, at a cost of % for one key, % for a thousand', name,
      rowrelay.estimated_rows(root.relation), one, thousand;
  end if;
  for missing_index in
    select m.*
      from rowrelay.missing_indexes(regexp_replace(statement, E'\\$1(?!\\d)',
                                                   format('(''{}''::%s[])', rowrelay.document_key_type(key_type)), 'g'))
        as m
  loop
    if missing_index.creation is null then
      raise warning 'document "%" reads the whole of % (% rows) to build one document', name, missing_index.relation,
        missing_index.rows;
    else
      raise warning 'document "%" reads the whole of % (% rows) to build one document: an index is missing', name,
        missing_index.relation, missing_index.rows
        using hint = format('Create it with psql at the source: %s', missing_index.creation);
    end if;
  end loop;
end
$$;
-- Purpose:    finds how foreign keys lead from tables to the key of a document
-- Parameters: root and key_column: the table and column that have the keys of all documents
--             used: {"oid of a table": [numbers of the columns that the document uses]}: only these tables are passed,
--               and only by foreign keys with such columns; null: any
--             several: tables that the document reads more than once, whose foreign keys to themselves count
--             longest: how many foreign keys a path may have
-- Result:     for each path the table that it begins at; what a source says behind the table's name: a column, or a
--             query; the numbers of the table's columns by which it goes; how many foreign keys it has
create or replace function rowrelay.key_paths(root regclass, key_column smallint, used jsonb, several oid[],
                                              longest integer)
  returns table (relation regclass, leads_to text, columns smallint[], hops integer)
language sql stable as $$
  with recursive foreign_key as (
    select c.conrelid, c.confrelid, c.conkey, c.confkey
      from pg_constraint c
     where c.contype = 'f' and (c.conparentid = 0 or used ? c.conrelid::text)
       and (used is null
            -- the query compares one of its columns at least
            or exists (select from unnest(c.conkey, c.confkey) as u(own, other)
                        where used -> c.conrelid::text @> to_jsonb(u.own)
                          and used -> c.confrelid::text @> to_jsonb(u.other)))
       and (c.conrelid <> c.confrelid or c.conrelid = any (several))
  ), edge as (
    select f.conrelid as near, f.confrelid as far, f.conkey as near_columns, f.confkey as far_columns from foreign_key f
    union
    select f.confrelid, f.conrelid, f.confkey, f.conkey from foreign_key f
  ), path as (
    -- key: its column that has the key of the document, too. Else joins lead to it from base, the last table that had
    -- one; "before" are these without its own, and "at" is what its rows must meet
    select root::oid as relation, key_column as key, root::oid as base, key_column as base_key, 0 as depth,
           '' collate "C" as joins, '' collate "C" as before, '' collate "C" as at, '{}'::smallint[] as columns,
           array[root::oid] as passed, 0 as hops, false as is_end
    union all
    select e.far, n.key, n.base, n.base_key,
           case when n.key is null then n.depth + 1 else 0 end,
           case when n.key is null
                then format('%s join %s %s on %s', n.joins, rowrelay.full_name(e.far), n.alias, c.joined) else '' end,
           n.joins, c.at, e.far_columns, p.passed || e.far, p.hops + 1, e.far = e.near
      from path p
      join edge e on e.near = p.relation and not p.is_end and p.hops < longest
                 and (e.far <> all (p.passed) or e.far = e.near)
     cross join lateral (
       select case when p.key is not null then e.far_columns[array_position(e.near_columns, p.key)] end as key,
              case when p.key is not null then p.relation else p.base end as base,
              case when p.key is not null then p.key else p.base_key end as base_key,
              case when p.key is not null then 0 else p.depth end as depth,
              case when p.key is not null then '' else p.joins end as joins,
              chr(case when p.key is not null then 98 else 98 + p.depth end) as alias) as n
     cross join lateral (
       select string_agg(format('changed.%I = %s.%I', f.attname, chr(ascii(n.alias) - 1), a.attname), ' and '
                         order by u.place) as at,
              string_agg(format('%s.%I = %s.%I', n.alias, f.attname, chr(ascii(n.alias) - 1), a.attname), ' and '
                         order by u.place) as joined
         from unnest(e.far_columns, e.near_columns) with ordinality as u(far, near, place)
         join pg_attribute f on f.attrelid = e.far and f.attnum = u.far
         join pg_attribute a on a.attrelid = e.near and a.attnum = u.near) as c
  )
  select p.relation::regclass,
         case when p.key is not null
              -- as rowrelay.document_plan() takes a column
              then format(case when k.type = r.type or array[k.type, r.type] <@ '{int2,int4,int8,oid}'::regtype[]
                                    or array[k.type, r.type] <@ '{text,varchar,name}'::regtype[]
                               then '%1$I' else 'select changed.%1$I from changed' end, k.name)
              else format('select a.%I from %s a%s join changed on %s', b.attname, rowrelay.full_name(p.base), p.before,
                          p.at) end,
         case when p.key is not null then p.columns || p.key else p.columns end,
         p.hops
    from path p
   cross join lateral (select rowrelay.base_type(a.atttypid)::regtype as type from pg_attribute a
                        where a.attrelid = root and a.attnum = key_column) as r
    left join lateral (select a.attname as name, rowrelay.base_type(a.atttypid)::regtype as type from pg_attribute a
                        where a.attrelid = p.relation and a.attnum = p.key) as k on true
    left join pg_attribute b on b.attrelid = p.base and b.attnum = p.base_key
   where p.hops > 0
$$;
-- Purpose:    finds which column a document's query compares with $1, by its plan; makes the temporary view
--             rowrelay_document_check of it
-- Parameters: query
-- Result:     root and key_column: that column; output: the column of the result that returns it, null: not known;
--             occurrences: {"oid of a table": how often the plan reads it}
-- Errors:     the query cannot be run, or compares no column with $1
create or replace function rowrelay.key_of_query(query text, out root regclass, out key_column smallint,
                                                 out output text, out occurrences jsonb)
language plpgsql as $$
declare
  -- values by which the comparison is found again in the plan
  sample    record;
  statement text;
  plan      json;
  found     record;
  place     bigint;
  words     text;
  state     text;
begin
  for sample in
    select * from (values ('int8', '7205759403792793601', '7205759403792793602'), ('text', 'rowrelay:1', 'rowrelay:2'),
                          ('uuid', '72057594-0379-2793-6017-205759403792', '72057594-0379-2793-6017-205759403793'),
                          ('numeric', '7205759403792793601', '7205759403792793602'),
                          ('date', '4713-01-02', '4713-01-03')) as v(type, one, other)
  loop
    statement := regexp_replace(query, E'\\$1(?!\\d)',
                                format('(''{%s,%s}''::pg_catalog.%I[])', sample.one, sample.other, sample.type), 'g');
    begin
      execute 'create temporary view rowrelay_document_check as ' || statement;
      words := null;
      exit;
    exception when undefined_function or datatype_mismatch or indeterminate_datatype then
      get stacked diagnostics words = message_text, state = returned_sqlstate;
    when others then
      raise exception 'the query cannot be run: %', sqlerrm using errcode = sqlstate,
        hint = 'Names of tables without a schema are looked up in search_path.';
    end;
  end loop;
  if words is not null then
    raise exception 'the query cannot be run: %', words using errcode = state,
      hint = '$1 is an array of keys: integers, texts, uuids, numbers or dates.';
  end if;
  execute 'explain (verbose, format json) ' || statement into plan;
  select f.* into found
    from (
      with recursive node(plan) as (
        select plan #> '{0,Plan}'
        union all
        select child from node cross join lateral json_array_elements(node.plan -> 'Plans') as child
      ), read as (
        select coalesce(pg_partition_root(c.oid)::oid, c.oid) as oid, n.plan ->> 'Alias' as alias, n.plan
          from node n
          join pg_namespace s on s.nspname = n.plan ->> 'Schema'
          join pg_class c on c.relnamespace = s.oid and c.relname = n.plan ->> 'Relation Name'
      ), compared as (
        select distinct on (r.oid, m[1]) r.oid, r.alias, m[1] as name
          from read r
          cross join lateral json_each_text(r.plan) as o
          cross join lateral regexp_matches(o.value,
            regexp_replace(quote_ident(r.alias), '([^[:alnum:]_])', E'\\\\\\1', 'g')
              || '[.]("(?:[^"]|"")+"|[[:alpha:]_][[:alnum:]_$]*)[)]*(?:::[a-z ]+)?[)]* = ANY [(]*''[{]"?'
              || replace(sample.one, '.', '[.]'), 'g') as m
         where o.key in ('Filter', 'Index Cond', 'Recheck Cond')
      )
      select c.oid, c.alias, c.name, a.attnum,
             (select jsonb_object_agg(t.oid, t.times)
                from (select r.oid, count(distinct r.alias) as times from read r
                       where not exists (select from pg_class p where p.oid = r.oid and p.relkind = 'p')
                       group by 1) as t) as times
        from compared c
        join pg_attribute a on a.attrelid = c.oid and quote_ident(a.attname) = c.name and a.attnum > 0
       order by exists (select from pg_index i
                         where i.indrelid = c.oid and i.indisunique and i.indpred is null
                           and i.indkey::smallint[] = array[a.attnum]) desc, c.oid
       limit 1) as f;
  if found.oid is null then
    raise exception 'the query compares no column of a table with $1' using errcode = 'invalid_parameter_value',
      hint = '$1 is the array of the keys to build, as in: where o.id = any ($1)';
  end if;
  root := found.oid;
  key_column := found.attnum;
  occurrences := found.times;
  select o.place into place
    from json_array_elements_text(plan #> '{0,Plan,Output}') with ordinality as o(value, place)
   where o.value = quote_ident(found.alias) || '.' || found.name
   order by o.place limit 1;
  select a.attname into output
    from pg_attribute a
   where a.attrelid = 'pg_temp.rowrelay_document_check'::regclass
     and (a.attnum = place or place is null and quote_ident(a.attname) = found.name)
   limit 1;
end
$$;
-- Purpose:    returns which columns of tables a view uses, directly or through other views
-- Parameters: the view
-- Result:     {"oid of a table": [numbers of columns]}; all columns of each table where the view uses a whole row
create or replace function rowrelay.columns_read(of_view regclass) returns jsonb
language sql stable as $$
  with recursive reads(relation) as (
    select of_view::oid
    union
    select d.refobjid
      from reads
      join pg_class c on c.oid = reads.relation and c.relkind = 'v'
      join pg_rewrite w on w.ev_class = c.oid
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
       and d.refclassid = 'pg_class'::regclass and d.refobjid <> c.oid
  ), rule as (
    select w.oid, w.ev_action::text ~ ':varattno 0 ' as has_whole_rows
      from reads r
      join pg_class c on c.oid = r.relation and c.relkind = 'v'
      join pg_rewrite w on w.ev_class = c.oid
  ), used as (
    select a.attrelid, a.attnum
      from rowrelay.read_tables(of_view) as t(relation)
      join pg_attribute a on a.attrelid = t.relation and a.attnum > 0 and not a.attisdropped
     where exists (select from rule where has_whole_rows)
        or exists (select from rule join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = rule.oid
                    where d.refclassid = 'pg_class'::regclass and d.refobjid = a.attrelid and d.refobjsubid = a.attnum)
  )
  select coalesce(jsonb_object_agg(t.relation::oid,
                                   coalesce((select jsonb_agg(u.attnum order by u.attnum) from used u
                                              where u.attrelid = t.relation), '[]')), '{}')
    from rowrelay.read_tables(of_view) as t(relation)
$$;
-- Purpose:    proposes the sources of a document, by the foreign keys of the tables that it reads
-- Parameters: root and key_column: the table and column that have the keys; used: as rowrelay.columns_read() gives it;
--             several: tables that are read more than once
-- Result:     the root first: source: a text for rowrelay.add_document(), null: none is known; problem: what a person
--             should look at, else null
create or replace function rowrelay.suggest_sources(root regclass, key_column smallint, used jsonb, several oid[])
  returns table (source text, problem text)
language sql stable as $$
  with read as (
    select u.key::oid::regclass as relation, c.relkind,
           array(select n::smallint from jsonb_array_elements_text(u.value) as n) as columns
      from jsonb_each(used) as u join pg_class c on c.oid = u.key::oid
  ), near as (
    select p.* from rowrelay.key_paths(root, key_column, used, several, 6) as p
  ), far as (
    -- by tables and columns that the query does not use, where there is no other path
    select p.*, rank() over (partition by p.relation order by p.hops) as place
      from rowrelay.key_paths(root, key_column, null, several, 4) as p
     where p.relation in (select r.relation from read r) and p.relation <> root
       and p.relation not in (select n.relation from near n)
       and exists (select from read r where r.relation not in (select n.relation from near n) and r.relation <> root)
  ), way as (
    select root as relation, (rowrelay.attribute_names(root, array[key_column]))[1] as column_name, null as leads_to,
           array[key_column] as columns, 0 as hops, null as problem
    union all
    select n.relation, null, n.leads_to, n.columns, n.hops, null from near n
    union all
    select f.relation, null, f.leads_to, f.columns, f.hops,
           format('the query does not join all that leads from %s to the documents: check its --from',
                  f.relation)
      from far f where f.place = 1
  ), proposed as (
    select distinct on (w.relation, t.leads_to) w.relation, t.leads_to, w.hops, w.problem,
           case when cardinality(l.names) < (select count(*) from pg_attribute a
                                              where a.attrelid = w.relation and a.attnum > 0 and not a.attisdropped)
                     and array_to_string(l.names, '') !~ '[(),]'
                then '(' || array_to_string(array(select quote_ident(x) from unnest(l.names) as x), ', ') || ')'
                else '' end as list
      from way w
      join read r on r.relation = w.relation
     cross join lateral (select coalesce(w.leads_to, quote_ident(w.column_name)) as leads_to) as t
     cross join lateral (
       select rowrelay.attribute_names(w.relation, array(select distinct n from unnest(r.columns || w.columns) as n
                                                          order by n)) as names) as l
     where r.relkind in ('r', 'p')
     order by w.relation, t.leads_to, w.hops
  )
  select s.source, s.problem
    from (
      select case when p.leads_to like 'select %' then format('%s%s:%s', rowrelay.full_name(p.relation), p.list,
                                                              p.leads_to)
                  else format('%s:%s%s', rowrelay.full_name(p.relation), p.leads_to, p.list) end as source,
             p.problem, p.relation <> root or p.hops > 0 as is_later, rowrelay.full_name(p.relation) as name, p.hops
        from proposed p
      union all
      select null,
             case r.relkind
               when 'm' then format('%s is a materialized view: changes there are not captured', r.relation)
               when 'f' then format('%s is a foreign table: changes there are not captured', r.relation)
               else format('no foreign key leads from %s to the documents: add --from ''%s:QUERY'' with a query that '
                           'returns the keys for the rows of "changed"', r.relation, rowrelay.full_name(r.relation))
             end, true, rowrelay.full_name(r.relation), 0
        from read r
       where r.relation not in (select p.relation from proposed p)) as s
   order by s.is_later, s.name, s.hops, s.source
$$;
-- Purpose:    proposes how to add a document, from its query alone. Nothing is stored.
-- Parameters: query: as for rowrelay.add_document()
-- Result:     for rowrelay.add_document(): key; sources; problems: what a person has to look at, such as tables from
--             which no foreign key leads to the documents
-- Errors:     the query cannot be run, or not by the caller, or compares no column with $1
create or replace function rowrelay.suggest_document(query text, out key text, out sources text[], out problems text[])
language plpgsql set standard_conforming_strings = on as $$
declare
  statement constant text := regexp_replace(query, E'[;\\s]+$', '');
  root      record;
  several   oid[];
begin
  if statement !~ E'\\$1(?!\\d)' then
    raise exception 'the query does not use $1' using errcode = 'invalid_parameter_value',
      hint = '$1 is the array of the keys to build, as in: where o.id = any ($1)';
  end if;
  select k.* into root from rowrelay.key_of_query(statement) as k;
  several := array(select t.key::oid from jsonb_each_text(root.occurrences) as t where t.value::integer > 1);
  select array_agg(s.source order by s.place) filter (where s.source is not null),
         coalesce(array_agg(distinct s.problem) filter (where s.problem is not null), '{}')
    into sources, problems
    from rowrelay.suggest_sources(root.root, root.key_column,
                                  rowrelay.columns_read('pg_temp.rowrelay_document_check'::regclass), several)
         with ordinality as s(source, problem, place);
  execute 'drop view pg_temp.rowrelay_document_check';
  key := coalesce(root.output, (rowrelay.attribute_names(root.root, array[root.key_column]))[1]);
  if root.output is null then
    problems := problems || format('no column of the result is %s.%I: name the key with --key', root.root, key);
  end if;
  if statement ~* E'\\mwith\\s+recursive\\M' then
    problems := problems || 'the query is recursive: --from follows one step of a tree, not all'::text;
  end if;
end
$$;
-- Purpose:    refuses a document that cannot work, before anything is stored
-- Parameters: name; the target's name, URL and options, also of one that is not added yet; where the query's names are
--             looked up (null: as in this session); the others as for rowrelay.add_document()
-- Errors:     as for rowrelay.add_document(), without those of locks
create or replace function rowrelay.check_document(
  name text, target text, target_url text, target_options jsonb, key text, query text, sources text[], search text[],
  path text) returns void
language plpgsql security definer as $$
declare
  delivers_to rowrelay.target;
  path_before constant text := current_setting('search_path');
begin
  select t.* into delivers_to from rowrelay.target t where t.name = check_document.target and t.dropped_at is null;
  delivers_to.id := coalesce(delivers_to.id, 0);
  delivers_to.name := target;
  delivers_to.url := target_url;
  delivers_to.options := target_options;
  perform set_config('search_path', coalesce(path, path_before), true);
  perform rowrelay.document_plan(name, delivers_to, key, query, sources, search);
  perform set_config('search_path', path_before, true);
end
$$;
-- Purpose:    adds a document: rows or JSON that a query builds from several tables, maintained at a target. Captures
--             its tables where they are not captured yet. rowrelay.rebuild() or rowrelay backfill builds documents of
--             existing rows.
-- Parameters: name: name of the document, and of the table at the target unless into_table is given
--             target: where it goes
--             key: the column of the query's result that identifies a document
--             query: plain SQL; $1 is the array of keys to build. It returns any columns, or one json or jsonb
--             sources: the tables that it is built from, as TABLE:COLUMN (a column with the document's key) or
--               TABLE:QUERY (a query that returns keys for the rows of "changed"). The first one has to be a column,
--               which has all keys. TABLE:COLUMN(columns...) or TABLE(columns...):QUERY: updates of other columns
--               change no document.
--             create_table: create the table, and add columns that it lacks
--             search: columns for full-text search: adds a column "search" with an index
--             lock_wait: how long to try to lock all of its tables, since no writer may continue with a trigger
--               function that does not know the document
-- Result:     its id
-- Errors:     no such target, or one that keeps every change; the query cannot be run; sources that do not match.
--             Warnings: the query reads tables that no source names, or whole tables.
create or replace function rowrelay.add_document(
  name text, target text, key text, query text, sources text[], into_table text default null,
  create_table boolean default false, search text[] default null, lock_wait interval default '1 min') returns integer
language plpgsql security definer set standard_conforming_strings = on as $$ -- as in processes that build documents
declare
  delivers_to rowrelay.target;
  plan        record;
  source      record;
  captured    rowrelay.capture;
  own_target  integer;
  own_capture integer;
  changed     integer[] := '{}';
begin
  own_target := rowrelay.target_id(target);
  select t.* into delivers_to from rowrelay.target t where t.id = own_target;
  select p.* into plan from rowrelay.document_plan(name, delivers_to, key, query, sources, search) as p;

  -- All that takes time is done: from here to the commit writers of these tables wait. All are locked together, so that
  -- none stays locked while another is not free.
  perform rowrelay.lock_tables(array(select u.relation from unnest(plan.tables) with ordinality as u(relation, position)
                                      group by u.relation order by min(u.position)), 'share row exclusive', lock_wait);

  insert into rowrelay.target as t (name, url, options, lanes)
  values (add_document.name, delivers_to.url, '{}', 128)
  returning t.id into own_target;
  perform rowrelay.add_lanes(own_target);
  insert into rowrelay.capture as c (relation, relation_name, key_columns, key_names, key_is_exact,
                                     exclude_columns, mask,
                                     before, capture_origin, released_at)
  values (0, add_document.name, '{1}', array[key], true, '{}', '{}', 'none', false, now())
  returning c.id into own_capture;
  insert into rowrelay.route (capture, target, into_table, create_table, from_id)
  values (own_capture, own_target, coalesce(add_document.into_table, quote_ident(add_document.name)), create_table,
          rowrelay.last_change_id());
  insert into rowrelay.document (target, delivers_to, capture, key_name, key_type, query, search_path,
                                 build_query, columns)
  values (own_target, delivers_to.id, own_capture, key, plan.key_type, plan.statement,
          -- "$user" is another role where it is built
          coalesce((select string_agg(quote_ident(s), ', ') from unnest(current_schemas(false)) as s), 'pg_catalog'),
          plan.build, plan.columns);

  for source in
    select p.*, u.position, u.text
      from unnest(sources) with ordinality as u(text, position)
      cross join lateral rowrelay.document_source_parts(u.text) as p
     order by u.position
  loop
    select c.* into captured from rowrelay.capture c where c.relation = source.relation and c.released_at is null;
    if not found then
      perform rowrelay.capture_table(source.relation, lock_wait => lock_wait);
      select c.* into captured from rowrelay.capture c where c.relation = source.relation and c.released_at is null;
    end if;
    if source.key_column = any (captured.exclude_columns)
       or source.key_column <> all (captured.only_columns) or captured.mask ? source.key_column::text then
      raise exception 'the column in "%" is left out or masked where table % is captured', source.text, source.relation
        using errcode = 'invalid_parameter_value',
          hint = 'Capture it with that column, by other '
                   || case when source.key_column = any (captured.exclude_columns)
                           then rowrelay.command('columns to leave out: rowrelay capture %s --exclude COLUMNS',
                                                 'columns to leave out: select rowrelay.capture_table(%L, '
                                                 'exclude => ''{COLUMNS}'');', source.relation::text)
                           when source.key_column <> all (captured.only_columns)
                           then rowrelay.command('columns: rowrelay capture %s --columns COLUMNS',
                                                 'columns: select rowrelay.capture_table(%L, '
                                                 'columns => ''{COLUMNS}'');', source.relation::text)
                           else rowrelay.command('masks: rowrelay capture %s --mask COLUMN=VALUE',
                                                 'masks: select rowrelay.capture_table(%L, '
                                                 'mask => ''{"COLUMN": "VALUE"}'');', source.relation::text) end;
    end if;
    if captured.row_filter is not null then
      raise warning 'table % is captured with a row filter: changes of other rows will not refresh the document',
        source.relation;
    end if;
    if delivers_to.url ~ '^postgres(ql)?:$'
      and rowrelay.is_captured_itself(captured, coalesce(into_table, quote_ident(name))) then
      raise exception 'document "%" cannot go into table %, from which it is built', name, source.relation
        using errcode = 'invalid_parameter_value',
          hint = 'Name another table with ' || rowrelay.command('option --into', 'parameter into_table') || '.';
    end if;
    insert into rowrelay.document_source (document, position, capture, key_column, key_name, keys_query, only_columns)
    values (own_target, source.position, captured.id, source.key_column,
            (rowrelay.attribute_names(source.relation, array[source.key_column]))[1], source.keys_query,
              source.only_columns);
    changed := changed || captured.id;
  end loop;
  perform rowrelay.check_indexes(delivers_to.id);
  perform rowrelay.make_trigger_function(c) from (select distinct unnest(changed)) as u(c);
  return own_target;
exception when unique_violation then
  raise exception 'a target or document "%" already exists', name using errcode = 'duplicate_object',
    hint = case when exists (select from rowrelay.document d join rowrelay.target t on t.id = d.target
                              where t.name = add_document.name and t.dropped_at is null)
                then 'Drop it first: '
                       || rowrelay.command('rowrelay document drop %s', 'select rowrelay.drop_document(%L);', name)
                else 'Choose another name.' end;
end
$$;
-- Purpose:    drops a document: its tables no longer queue for it, and its queue is removed. What it wrote to the
--             target stays there.
-- Parameters: name
-- Errors:     no such document
create or replace function rowrelay.drop_document(name text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform rowrelay.lock_configuration();
  perform rowrelay.document_id(name);
  perform rowrelay.drop_target(name);
end
$$;
-- Purpose:    returns hashes by which keys of different spelling can be compared: keys that are equal by their types'
--             operators have equal hashes. Different keys may have the same.
-- Parameters: captures and keys, in pairs
-- Result:     the hash of each distinct pair. 0: unknown, see rowrelay.hash_statement(), or because the key cannot be
--             read any more. Such a row may be any row of the table.
create or replace function rowrelay.row_hashes(captures integer[], keys text[])
returns table (capture integer, key text, hash bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
declare
  captured  rowrelay.capture;
  statement text;
  of_one    text[];
  hashes    bigint[];
begin
  for captured in select c.* from rowrelay.capture c where c.id = any (captures) loop
    of_one := array(select distinct w.key from unnest(captures, keys) as w(capture, key) where w.capture = captured.id);
    begin
      statement := rowrelay.hash_statement(captured);
    exception when others then
      statement := null;
    end;
    hashes := rowrelay.hash_keys(statement, of_one); -- the planner would call it once more
    return query select captured.id, o.key, coalesce(o.hash, 0) from unnest(of_one, hashes) as o(key, hash);
  end loop;
end
$$;
-- Purpose:    whether two keys are equal by the equality operators of their types
-- Parameters: capture; two keys as the log has them
-- Result:     null: unknown, because the table is gone or its key was altered
create or replace function rowrelay.is_same_key(capture_id integer, one text, other text) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
declare
  capture rowrelay.capture;
  is_same boolean;
begin
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  if rowrelay.has_domain_parts(capture.relation, capture.key_columns)
     or rowrelay.has_text_cast(capture.relation, capture.key_columns) then
    return null;
  end if;
  execute format('select %s from (select wanted.* from %s) as one, (select wanted.* from %s) as other',
                 rowrelay.same_key(capture, 'one', 'other'),
                 rowrelay.parsed_keys(capture, 'array[$1]'), rowrelay.parsed_keys(capture, 'array[$2]'))
     into is_same using one, other;
  return is_same;
exception when others then
  return null;
end
$$;
-- Purpose:    whether a change in the log is of the row with a key, in whatever spelling
-- Parameters: capture of the change; its key; the key of the row
create or replace function rowrelay.is_key_of_row(capture_id integer, logged text, key text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when logged = key then true
              else coalesce((select rowrelay.is_same_key(c.id, logged, key) from rowrelay.capture c
                              where c.id = capture_id and not c.key_is_exact and cardinality(c.key_columns) > 0), false)
         end
$$;
-- Purpose:    finds out which keys of different spelling are one row's, by their types' equality operators
-- Parameters: captures and keys, in pairs
-- Result:     for each key of which another one in the list is a spelling: the one of these that stands for them all
create or replace function rowrelay.one_spelling(captures integer[], keys text[])
returns table (capture integer, key text, row_key text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with inexact as materialized (
    select array_agg(w.capture) as captures, array_agg(w.key) as keys
      from unnest(captures, keys) as w(capture, key)
      join rowrelay.capture c on c.id = w.capture and not c.key_is_exact and cardinality(c.key_columns) > 0
  ), hashed as materialized (
    select r.* from inexact i cross join lateral rowrelay.row_hashes(i.captures, i.keys) as r where r.hash <> 0
  )
  select h.capture, h.key, min(o.key)
    from hashed h
    join hashed o on o.capture = h.capture and o.hash = h.hash
     and case when o.key = h.key then true else rowrelay.is_same_key(h.capture, h.key, o.key) end
   group by 1, 2
  having count(*) > 1
$$;
-- Purpose:    puts changes into rowrelay.change_key once more, under the hash of their row, by which they are found
--             under all spellings of its key. Only changes of captures whose equal keys may have different texts need
--             it.
-- Parameters: ids, days, captures, keys: the changes
create or replace function rowrelay.index_rows(ids bigint[], days date[], captures integer[], keys text[]) returns void
language sql as $$
  insert into rowrelay.change_key (change_id, day, key_hash)
  select u.id, u.day, rowrelay.key_hash(u.capture, r.hash::text)
    from unnest(ids, days, captures, keys) as u(id, day, capture, key)
    join rowrelay.row_hashes(captures, keys) as r on r.capture = u.capture and r.key = u.key and r.hash <> 0
   order by 2, 3, 1
$$;
-- Purpose:    notes for which captures changes are indexed under the hashes of their rows from now on, and how these
--             are computed. If that has changed, what was indexed before has to be indexed again
--             (rowrelay.index_older_rows). At most 10 captures are compared in a call, so that many tables do not slow
--             it down.
-- Parameters: up_to: changes with larger ids are not indexed yet; only_new: captures that are noted are not compared
create or replace function rowrelay.note_row_hashing(up_to bigint, only_new boolean) returns void
language plpgsql as $$
begin
  delete from rowrelay.row_hashing r
   where not exists (select from rowrelay.capture c
                      where c.id = r.capture and not c.key_is_exact and cardinality(c.key_columns) > 0);
  insert into rowrelay.row_hashing as r (capture, method, above_id)
  select m.id, m.method, case when m.method is null then 0 else up_to end
    from (select s.id, rowrelay.hash_method(s.capture) as method
            from (select c.id, c as capture
                    from rowrelay.capture c left join rowrelay.row_hashing r on r.capture = c.id
                   where not c.key_is_exact and cardinality(c.key_columns) > 0 and (r.capture is null or not only_new)
                   order by r.capture is not null, random() limit 10) as s) as m
   where not exists (select from rowrelay.row_hashing r
                      where r.capture = m.id and r.method is not distinct from m.method)
  on conflict (capture) do update set method = excluded.method, above_id = excluded.above_id;
end
$$;
-- Purpose:    puts a piece of the older log, from the end, into rowrelay.change_key under the hashes of the rows: what
--             was indexed before these were computed as they are now (rowrelay.row_hashing)
-- Parameters: max_rows: changes to read at most
-- Result:     number of changes read; fewer than max_rows: nothing is left to do
create or replace function rowrelay.index_older_rows(max_rows bigint) returns bigint
language plpgsql set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  last  constant bigint := (select max(r.above_id) from rowrelay.row_hashing r where r.above_id > 0);
  piece record;
begin
  if last is null or max_rows <= 0 then
    return 0;
  end if;
  select count(*) as looked_at, min(o.id) as first_id, array_agg(o.id) filter (where o.is_wanted) as ids,
         array_agg(o.day) filter (where o.is_wanted) as days,
         array_agg(o.capture) filter (where o.is_wanted) as captures,
         array_agg(o.key) filter (where o.is_wanted) as keys
    into piece
    from (select c.id, c.day, c.capture, c.key,
                 c.id <= r.above_id and c.key is not null and c.op not in ('b', 'r') as is_wanted
            from (select h.id, h.day, h.capture, h.op, h.key from rowrelay.change h
                   where h.id <= last order by h.id desc limit max_rows) as c
            left join rowrelay.row_hashing r on r.capture = c.capture) as o;
  if piece.ids is not null then
    perform rowrelay.key_partitions();
    perform rowrelay.index_rows(piece.ids, piece.days, piece.captures, piece.keys);
  end if;
  update rowrelay.row_hashing r
     set above_id = case when piece.looked_at < max_rows then 0 else piece.first_id - 1 end
   where r.above_id >= case when piece.looked_at < max_rows then 1 else piece.first_id end;
  return piece.looked_at;
end
$$;
-- Purpose:    reads the texts of keys from the changes that rowrelay.change_key has under the hashes of their rows
-- Parameters: capture; hashes of rows; only in changes with ids greater than after_id and up to last_id
-- Result:     the texts, each once; those of other rows with the same hash may be among them
create or replace function rowrelay.indexed_spellings(capture_id integer, hashes bigint[], after_id bigint,
                                                      last_id bigint) returns text[]
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
begin
  return array(
    select distinct h.key
      from (select l.day, lag(l.older_to) over (order by l.day desc) as last_id
              from rowrelay.key_days_from_last() as l) as d
      -- no function is pushed down through a security_barrier view to its index
      cross join (select rowrelay.key_hash(capture_id, u.hash::text) as hash
                    from unnest(hashes) as u(hash) offset 0) as w
      cross join lateral (select k.change_id from rowrelay.readable_key k
                           where k.day = d.day and k.key_hash = w.hash and k.change_id > after_id
                             and k.change_id <= indexed_spellings.last_id offset 0) as k
      cross join lateral (select c.capture, c.key from rowrelay.readable_change c
                           where c.id = k.change_id and c.day = d.day offset 0) as h
     where coalesce(d.last_id > after_id, true) and h.capture = capture_id and h.key is not null);
end
$$;
-- Purpose:    finds other spellings of keys in the log of a capture whose equal keys may have different texts. The
--             index (rowrelay.change_key) has its changes under the hash of the row too; where it does not, the log is
--             read.
-- Parameters: capture; keys; after_id: only in changes with larger ids
-- Result:     pairs of one of the keys and another text in the log that equals it; only of what the caller may read
create or replace function rowrelay.other_spellings(capture_id integer, keys text[], after_id bigint)
returns table (key text, spelling text)
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  hashes   bigint[];
  known    text[]; -- those of the keys that have a hash
  rest     bigint; -- the index may lack changes with larger ids
  from_day date;
  unhashed bigint; -- and has those up to this id only by their texts
  first_id bigint;
  logged   text[];
begin
  select array_agg(r.key), array_agg(r.hash) into known, hashes
    from rowrelay.row_hashes(array_fill(capture_id, array[cardinality(keys)]), keys) as r where r.hash <> 0;
  if known is null then
    return;
  end if;
  select u.up_to, u.from_day into rest, from_day from rowrelay.indexed_up_to() as u;
  unhashed := coalesce((select r.above_id
                          from rowrelay.row_hashing r join rowrelay.capture c on c.id = r.capture
                         where r.capture = capture_id and r.method = rowrelay.hash_method(c)), rest);
  if rest > greatest(unhashed, after_id) then
    logged := rowrelay.indexed_spellings(capture_id, hashes, greatest(unhashed, after_id), rest);
  end if;
  if unhashed > after_id then
    logged := logged || array(select distinct h.key from rowrelay.readable_change h
                               where h.capture = capture_id and h.key is not null
                                 and h.id > after_id and h.id <= unhashed);
  end if;
  first_id := greatest(rest, unhashed, after_id);
  if rowrelay.last_change_id() > first_id then
    logged := logged || array(select distinct h.key from rowrelay.readable_change h
                               where h.capture = capture_id and h.key is not null
                                 and h.id > first_id and h.day >= coalesce(from_day, '-infinity'));
  end if;
  if logged <> '{}' then
    return query
      select k.key, r.key
        from rowrelay.row_hashes(array_fill(capture_id, array[cardinality(logged)]), logged) as r
        join unnest(known, hashes) as k(key, hash) on k.hash = r.hash and k.key <> r.key
       where rowrelay.is_same_key(capture_id, k.key, r.key);
  end if;
end
$$;
-- Purpose:    returns all spellings of keys in the log: texts of equal keys may differ, as "Ann" and "ann" do in citext
-- Parameters: captures of one table; keys as the log has them, or as a person writes them
-- Result:     these keys and all keys in the log, as far as the caller may read it, that equal one of them
create or replace function rowrelay.spellings(captures integer[], keys text[]) returns text[]
language plpgsql stable as $$
declare
  found text[] := keys;
begin
  if exists (select from rowrelay.capture c where c.id = any (captures) and not c.key_is_exact) then
    found := found || array(
      select distinct o.spelling
        from rowrelay.capture c
       cross join lateral rowrelay.other_spellings(c.id, spellings.keys, 0) as o
       where c.id = any (captures) and not c.key_is_exact and cardinality(c.key_columns) > 0);
  end if;
  return array(select distinct f from unnest(found) as f);
end
$$;
-- Purpose:    finds the last change between two ids of each of many rows by their keys
-- Parameters: relations, keys, above_ids, below_ids: for each key its table, its text in any spelling, and the ids
--             between which the change must be (null: no bound); ops: the operations that count
-- Result:     position of the key; the change and its partition. No row for a key without such a change.
create or replace function rowrelay.latest_changes(relations regclass[], keys text[], above_ids bigint[],
                                                   below_ids bigint[], ops "char"[])
returns table ("position" integer, change_id bigint, day date)
language plpgsql stable set plan_cache_mode = force_generic_plan set jit = off as $$
declare
  spelled record; -- all spellings, and of which key each is one
begin
  if not exists (select from rowrelay.capture c where c.relation = any (relations) and not c.key_is_exact) then
    return query select l.* from rowrelay.latest_by_text(relations, keys, above_ids, below_ids, ops) as l;
    return;
  end if;
  with asked as materialized (
    select u.* from unnest(relations, keys, above_ids, below_ids) with ordinality as u(relation, key, above, below, n)
  ), other as materialized (
    select c.relation, o.key, o.spelling
      from (select a.relation, array_agg(distinct a.key) as keys, min(coalesce(a.above, 0)) as above
              from asked a group by 1) as a
      join rowrelay.capture c on c.relation = a.relation and not c.key_is_exact and cardinality(c.key_columns) > 0
     cross join lateral rowrelay.other_spellings(c.id, a.keys, a.above) as o
  ), every as (
    select a.* from asked a
    union
    select a.relation, o.spelling, a.above, a.below, a.n
      from asked a join other o on o.relation = a.relation and o.key = a.key
  )
  select array_agg(e.relation order by e.n) as relations, array_agg(e.key order by e.n) as keys,
         array_agg(e.above order by e.n) as above_ids, array_agg(e.below order by e.n) as below_ids,
         array_agg(e.n::integer order by e.n) as positions
    into spelled from every e;
  return query
    select distinct on (1) spelled.positions[l.position], l.change_id, l.day
      from rowrelay.latest_by_text(spelled.relations, spelled.keys, spelled.above_ids, spelled.below_ids, ops) as l
     order by 1, 2 desc;
end
$$;
-- Purpose:    queues snapshots of existing rows for one target. Does not wait for a row that another session is
--             writing.
-- Parameters: capture; target; keys as the log has them; problem: why there can be no image, recorded in the change
--             instead
-- Result:     number of queued rows
-- Errors:     lock_not_available: another session is writing one of them; any error that a row causes
create or replace function rowrelay.requeue_present(capture rowrelay.capture, target rowrelay.target, keys text[],
                                                    problem text default null) returns bigint
language plpgsql as $$
declare
  condition text := format('exists (select from %s where %s)',
                           rowrelay.parsed_keys(capture, quote_literal(keys) || '::text[]'),
                             rowrelay.same_key(capture, 'new', 'wanted'));
  part      regclass;
  queued    bigint;
  last_id   bigint;
  total     bigint := 0;
begin
  for part in
    select m from unnest(rowrelay.captured_tables(capture)) as m join pg_class c on c.oid = m and c.relkind = 'r'
  loop
    execute rowrelay.snapshot_statement(capture, target, part, condition, false, problem) into queued, last_id;
    total := total + queued;
  end loop;
  return total;
end
$$;
-- Purpose:    queues deletes of missing rows for one target. A missing row cannot be locked, so another session may be
--             inserting it. Therefore this first takes ids for the deletes; then waits for all transactions that were
--             writing to the table by then, whose changes could have smaller ids; then locks the rows' lanes, so that
--             nothing with a larger id is delivered before this commits; and then checks again that the rows are
--             missing.
-- Parameters: capture; target; keys as the log has them; patience: how long to wait for other writers
-- Result:     number of queued deletes
-- Errors:     lock_not_available: another session writes to the table for longer than patience
create or replace function rowrelay.requeue_absent(capture rowrelay.capture, target rowrelay.target, keys text[],
                                                   patience interval) returns bigint
language plpgsql as $$
declare
  give_up_at constant timestamptz := clock_timestamp() + patience;
  -- Of a missing row only the key is known: if other columns choose the lane, its delete has to be a barrier.
  lane_columns constant smallint[] := coalesce(capture.lane_columns, capture.key_columns);
  lane_is_known constant boolean := lane_columns <@ capture.key_columns;
  is_there   text; -- conditions and expressions on the columns of parsed_keys
  lane_of    text;
  old_row    text;
  absent     text[];
  ids        bigint[];
  lanes      integer[];
  writers    text[];
  holders    text;
  queued     bigint;
begin
  is_there := format('exists (select from %s as new where %s%s)', capture.relation,
                     rowrelay.same_key(capture, 'new', 'wanted'), ' and ' || rowrelay.filter_condition(capture));
  old_row := rowrelay.key_json(capture.relation, rowrelay.attribute_names(capture.relation, capture.key_columns),
                               'wanted');
  lane_of := case when lane_is_known
                  then format('%s + mod(%s & 2147483647, %s)', rowrelay.lane_number(target.id, 0),
                              rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'wanted'),
                                target.lanes)
                  else rowrelay.lane_number(target.id, -1)::text end;

  execute format('select array(select u.key from %s where not %s)', rowrelay.parsed_keys(capture, '$1'), is_there)
     into absent using keys;
  if absent = '{}' then
    return 0;
  end if;
  lock table only rowrelay.change in row exclusive mode; -- before the ids are taken: see rowrelay.writers()
  ids := array(select nextval('rowrelay.change_id') from unnest(absent));
  writers := rowrelay.backfill_writers(capture);
  while writers && rowrelay.backfill_writers(capture) loop
    if clock_timestamp() > give_up_at then
      select string_agg(format('process %s (%s, %s)', a.pid, a.usename, a.state), ', ' order by a.pid) into holders
        from pg_stat_activity a
       where a.pid in (select l.pid from pg_locks l where l.virtualtransaction = any (writers));
      raise exception 'another transaction that writes to table % did not end within %', capture.relation, patience
        using errcode = 'lock_not_available',
          detail = coalesce('It is ' || holders || '.', 'It is a prepared transaction.'),
              hint = 'Nothing was queued. Try again later.';
    end if;
    perform pg_sleep(0.01);
  end loop;

  if lane_is_known then
    execute format('select array(select distinct %s from %s order by 1)', lane_of, rowrelay.parsed_keys(capture, '$1'))
       into lanes using absent;
  else
    lanes := rowrelay.lanes_of(target.id);
  end if;
  perform rowrelay.lock_lanes(lanes);
  execute format(
    'with gone as materialized ('
      'select d.id, %s as key, %s as lane, %s as old_row '
        'from unnest($2, $3) as d(key, id) join (%s) on u.key = d.key where not %s), '
    'logged as ('
      'insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, actor, db_user, application_name, '
      'client_addr, '
                                   'old_row, caveat) '
      'select g.id, pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), $4, ''d'', g.key, $5, '
             'rowrelay.db_user(), current_setting(''application_name''), rowrelay.client_addr(), g.old_row, '
             'json_build_object(''target'', $6) from gone g) '
    'insert into rowrelay.queue (change_id, lane, day, bytes) '
    'select g.id, g.lane, rowrelay.partition_day(), pg_column_size(g.old_row) from gone g',
    rowrelay.key_expression(capture.relation, capture.key_columns, 'wanted'), lane_of, old_row,
    rowrelay.parsed_keys(capture, '$1'), is_there)
    using absent, absent, ids, capture.id, rowrelay.actor(), target.id;
  get diagnostics queued = row_count;
  return queued;
end
$$;
-- Purpose:    queues rows of a captured table again for one target, as they are now: an existing row as a snapshot, a
--             missing one as a delete. `rowrelay verify --repair` calls it for rows that differ. Call it in a
--             transaction of its own: until it commits, the rows cannot be written and their lanes are not delivered.
-- Parameters: relation; target; keys as the log has them: the text of a single column, a JSON array of several;
--             patience: how long to wait, for missing rows, until other transactions that write to the table end
-- Result:     number of queued rows, without those that another session is writing now, whose changes will be queued
-- Errors:     the table is not captured, has no key, or is not routed there; no such target; row-level security hides
--             rows of it; a key is not valid for its type; lock_not_available: another session writes to the table for
--             longer than patience
create or replace function rowrelay.requeue(relation regclass, target text, keys text[],
                                            patience interval default '10 s')
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off set lock_timeout = '10s'
set row_security = off as $$
declare
  capture rowrelay.capture;
  goes_to rowrelay.target;
  key     text;
  queued  bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'rows can only be queued again in a READ COMMITTED transaction'
      using errcode = 'object_not_in_prerequisite_state', detail = 'It has to see what others commit meanwhile.';
  end if;
  -- A crash must not lose ids that targets have seen.
  perform set_config('synchronous_commit', 'on', true);
  capture := rowrelay.captured(relation);
  -- Not locked: a batch in flight may have to update it before it releases a lane that we wait for.
  select t.* into goes_to from rowrelay.target t where t.name = requeue.target and t.dropped_at is null;
  if goes_to.id is null then
    perform rowrelay.target_id(target);
  end if;
  if not exists (select from rowrelay.route r where r.capture = capture.id and r.target = goes_to.id
                 and r.until_id is null) then
    raise exception 'table % is not routed to target "%"', relation, target using errcode = 'undefined_object',
      hint = 'To see where each table goes: '
               || rowrelay.command('rowrelay status --tables', 'select relation, targets from rowrelay.captures;');
  end if;
  if rowrelay.waiting_room(capture.id, goes_to.id) <> 0 then
    raise exception 'table % is being copied to target "%"', relation, target
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Wait until it is copied, or cancel that: '
                     || rowrelay.command('rowrelay backfill %s --to %s --cancel',
                                         'select rowrelay.cancel_backfill(%L, %L);', relation::text, target);
  end if;
  if cardinality(rowrelay.live_key(capture)) = 0 then
    raise exception 'table % has no key', relation using errcode = 'object_not_in_prerequisite_state',
      detail = 'Its rows cannot be identified, so none of them can be queued again.';
  end if;
  if capture.lane_state is distinct from rowrelay.lane_state(capture) then
    raise exception 'the key of table % was altered', relation using errcode = 'object_not_in_prerequisite_state',
      hint = 'Capture it again: '
               || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);', relation::text);
  end if;

  -- A hidden row must not be deleted at the target.
  perform rowrelay.check_sees_all(m) from unnest(rowrelay.captured_tables(capture)) as m;

  keys := array(select distinct k from unnest(keys) as k where k is not null);
  -- Existing rows come last, so that they are locked only for a moment.
  queued := rowrelay.requeue_absent(capture, goes_to, keys, patience);
  begin
    queued := queued + rowrelay.requeue_present(capture, goes_to, keys);
  exception when lock_not_available or data_exception or program_limit_exceeded or internal_error then
    foreach key in array keys loop
      begin
        queued := queued + rowrelay.requeue_present(capture, goes_to, array[key]);
      exception
        when lock_not_available then
          null;
        when data_exception or program_limit_exceeded or internal_error then
          queued := queued + rowrelay.requeue_present(capture, goes_to, array[key], sqlerrm);
      end;
    end loop;
  end;
  if pg_sequence_last_value('rowrelay.doorbell'::regclass) > 0 then
    perform rowrelay.ring_doorbell();
  end if;
  return queued;
end
$$;
-- Purpose:    queues changes of the log again for a target that receives every change (events, lines, append): after
--             the receiver lost them, or because it was added later. They are delivered in their order, before newer
--             queued changes. For a target that keeps the last state of rows use rowrelay.requeue() or
--             rowrelay.backfill(). All in one transaction, or a newer change of a key could precede an older one.
-- Parameters: target; since, until: when they were captured; relation: only of this table
-- Result:     number of queued changes; those that are queued already, or refused and not settled, stay where they are
-- Errors:     no such target; it keeps the last state; no table, or not this one, is routed there
create or replace function rowrelay.replay(target text, since timestamptz, until timestamptz default now(),
                                           relation regclass default null)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_nestloop = off set jit = off as $$ -- statistics of the queue may be those of an empty one
declare
  goes_to  rowrelay.target;
  capture  rowrelay.capture;
  first_id bigint;
  queued   bigint := 0;
  oldest   bigint; -- of one capture
  moved    bigint;
begin
  if since is null or until is null then
    raise exception 'since and until must not be null' using errcode = 'null_value_not_allowed';
  end if;
  perform rowrelay.lock_configuration();
  -- Not locked: a batch in flight may have to update it before it releases a lane that we wait for.
  select t.* into goes_to from rowrelay.target t where t.name = replay.target and t.dropped_at is null;
  if goes_to.id is null then
    perform rowrelay.target_id(target);
  end if;
  if rowrelay.keeps_state(goes_to) then
    raise exception 'target "%" keeps the last state of rows, so old changes cannot be replayed there', target
      using errcode = 'invalid_parameter_value',
            hint = 'To repair missing or different rows: '
                     || case when goes_to.url ~ '^postgres' then rowrelay.verify_commands(relation, true, target)
                             else rowrelay.command('rowrelay backfill %s --to %s', 'select rowrelay.backfill(%L, %L);',
                                                   coalesce(relation::text, 'TABLE'), target) end;
  end if;
  if not exists (select from rowrelay.route r join rowrelay.capture c on c.id = r.capture
                  where r.target = goes_to.id and r.until_id is null and c.released_at is null
                    and (replay.relation is null or c.relation = replay.relation)) then
    raise exception '% to target "%"',
      coalesce(format('table %s is not routed', relation), 'no table is routed'), target
      using errcode = 'undefined_object',
        hint = 'Route it first: '
                 || rowrelay.command('rowrelay route %s %s', 'select rowrelay.route(%L, %L);',
                                     coalesce(relation::text, 'TABLE'), target);
  end if;

  -- No batch may be in flight or claimed while older changes are queued ahead of it.
  perform rowrelay.lock_lanes(rowrelay.lanes_of(goes_to.id));

  for capture in
    select c.* from rowrelay.route r join rowrelay.capture c on c.id = r.capture
     where r.target = goes_to.id and r.until_id is null and c.released_at is null
       and (replay.relation is null or c.relation = replay.relation)
  loop
    -- One statement for all of its changes: others that change captures or targets wait meanwhile.
    execute format(
      'with image as ('
        'select h.id, h.day, h.op, h.old_row, h.new_row, '
               -- They choose no lane: a barrier, or what could not be captured.
               'h.op in (''t'', ''b'') or h.caveat ->> ''problem'' is not null as is_barrier '
          'from rowrelay.change h '
         'where h.capture = $1 and h.captured_at >= $2 and h.captured_at < $3 and h.op <> ''r'' '
           'and coalesce((h.caveat ->> ''target'')::integer, $4) = $4 '
           'and not exists (select from rowrelay.refusal f where f.target = $4 and f.change_id = h.id) '
           -- it may still be queued, in another lane than the one computed now
           'and not exists (select from rowrelay.queue q where q.change_id = h.id '
                            'and q.lane between rowrelay.lane_number($4, -1) and rowrelay.lane_number($4, 1023))), '
      'queued as ('
        'insert into rowrelay.queue (change_id, lane, day, bytes) '
        'select i.id, rowrelay.lane_number($4, coalesce(mod(l.hash & 2147483647, $5), -1)), i.day, '
               -- their size uncompressed
               'coalesce(octet_length(i.old_row::text), 0) + coalesce(octet_length(i.new_row::text), 0) '
          'from image i '
         'cross join lateral (%s) as k '
         'cross join lateral (select case '
           'when i.is_barrier then null '
           -- A change that takes a row out of its lane, or may do so, is a barrier, as when it was captured.
           'when not $6 then case i.op when ''d'' then k.old_hash else k.new_hash end '
           'when i.op in (''i'', ''s'') or i.op = ''u'' and k.old_hash = k.new_hash then k.new_hash end) as l(hash) '
        'on conflict do nothing returning change_id) '
      'select count(*), min(change_id) from queued',
      rowrelay.key_and_hash_query(capture, 'case when not i.is_barrier then i.old_row end',
                                  'case when not i.is_barrier then i.new_row end'))
       into moved, oldest
      using capture.id, since, until, goes_to.id, goes_to.lanes::integer, rowrelay.can_change_lane(capture);
    queued := queued + moved;
    first_id := least(first_id, oldest);
  end loop;
  if queued > 0 then
    perform rowrelay.rewind(goes_to.id, first_id);
  end if;
  return queued;
end
$$;
-- Purpose:    whether a snapshot sees everything that an earlier one sees
-- Parameters: the later; the earlier
create or replace function rowrelay.snapshot_includes(later pg_snapshot, earlier pg_snapshot) returns boolean
language sql immutable as $$
  select pg_snapshot_xmax(earlier) <= pg_snapshot_xmax(later)
     and not exists (select from pg_snapshot_xip(later) as running(xid)
                     where pg_visible_in_snapshot(running.xid, earlier))
$$;
-- Purpose:    returns SQL for whether a change counts at a time or snapshot: it is visible in the snapshot; or it was
--             captured by that time, in a transaction of which nothing was captured later. A transaction is never shown
--             in part.
-- Parameters: at: a time, or null; seen: a snapshot, or null; unfinished: transactions captured only in part by then
-- Result:     a condition on a row of rowrelay.change, or rowrelay.truncation, that is called h
create or replace function rowrelay.counts_at(at timestamptz, seen pg_snapshot, unfinished xid8[]) returns text
language sql stable as $$
  select case
    when seen is not null then format('pg_catalog.pg_visible_in_snapshot(h.txid, %L)', seen)
    when unfinished = '{}' then format('h.captured_at <= %L', at)
    else format('(h.captured_at <= %L and h.txid <> all (%L::pg_catalog.xid8[]))', at, unfinished)
  end
$$;
-- Purpose:    raises the error for a row image that the log does not have
-- Parameters: relation; key, null: not known; the change that is too late or has no image
-- Result:     none
-- Errors:     always no_data_found
create or replace function rowrelay.missing_image(relation regclass, key text, change_id bigint) returns json
language plpgsql stable as $$
begin
  if key is null then
    raise exception 'the log does not say which row of table % change % belongs to', relation, change_id
      using errcode = 'no_data_found',
            detail = (select 'It could not be captured: ' || (h.caveat ->> 'problem') || '.'
                      from rowrelay.readable_change h where h.id = change_id),
            hint = 'Ask for a later time, or for one row.';
  end if;
  raise exception 'the log does not have row % of table % as it was before change %', key, relation, change_id
    using errcode = 'no_data_found',
          detail = 'That change is the row''s first, or follows one that could not be captured, and no image before it '
                   'was kept.',
          hint = 'To keep such images from now on: '
                   || rowrelay.command('rowrelay capture %s --before',
                                       'select rowrelay.capture_table(%L, before => ''full'');', relation::text);
end
$$;
-- Purpose:    raises the error for a row of a table without a key that was removed more often than it existed
-- Parameters: relation; the row
-- Errors:     always no_data_found
create or replace function rowrelay.missing_row(relation regclass, row_text text) returns integer
language plpgsql stable as $$
begin
  raise exception 'the log of table % does not match the table', relation
    using errcode = 'no_data_found',
          detail = format('The log has a row that no longer exists: %s.', left(row_text, 200)),
          hint = 'Rows were changed without being captured: in a detached partition, or by a session with '
                 'rowrelay.skip set.';
end
$$;
-- Purpose:    renames the columns of a row image
-- Parameters: image; names of json columns that it has as text; old names; new names, null: the column is left out, as
--             are columns that are not listed
-- Result:     the image; the new names of the json columns that it has as text
create or replace function rowrelay.rename_image(image json, texts text[], was text[], becomes text[], out renamed json,
                                                 out renamed_texts text[])
language sql immutable as $$
  select (select coalesce(json_object_agg(b.name, e.value), '{}')
            from json_each(image) as e
            join unnest(was, becomes) as b(was, name) on b.was = e.key and b.name is not null),
         array(select b.name from unnest(was, becomes) as b(was, name) where b.was = any (texts) and b.name is not null)
$$;
-- Purpose:    returns SQL for the value that a masked column has in the past of a table
-- Parameters: mask: JSON value; type and type modifier of the column
-- Result:     an expression of that type; null when the mask is not valid for the type
create or replace function rowrelay.mask_value(mask json, type oid, modifier integer) returns text
language plpgsql stable as $$
declare
  value text;
begin
  if rowrelay.base_type(type) in ('json'::regtype, 'jsonb'::regtype) then
    return format('%L::%s', mask, format_type(type, modifier));
  end if;
  execute format('select x.v::text from json_to_record($1) as x(v %s)', format_type(type, modifier))
     into value using json_build_object('v', mask);
  return format('%L::%s', value, format_type(type, modifier));
exception when others then
  return null;
end
$$;
-- Purpose:    returns the table that a row type belongs to
-- Parameters: type
-- Errors:     it is not the row type of a table
create or replace function rowrelay.table_of(type regtype) returns regclass
language plpgsql stable as $$
declare
  relation regclass := (select c.oid from pg_type t join pg_class c on c.oid = t.typrelid
                         where t.oid = type and c.relkind in ('r', 'p', 'v', 'm', 'f'));
begin
  if relation is null then
    raise exception 'type % is not the row type of a table', type using errcode = 'wrong_object_type',
      hint = 'Pass null cast to the table, such as null::shop.orders.';
  end if;
  return relation;
end
$$;
-- Purpose:    refuses questions about the past that the log cannot answer
-- Parameters: relation; its capture, null: it was never captured; shape with which the log begins; at: a time, or null;
--             seen: a snapshot, or null
-- Errors:     the table is not captured; the caller may not read all of it; the time is before the log begins
create or replace function rowrelay.check_past(relation regclass, capture rowrelay.capture, begun rowrelay.shape,
                                               at timestamptz, seen pg_snapshot) returns void
language plpgsql stable as $$
declare
  parent  regclass;
  reaches boolean;
begin
  if capture.id is null or begun.id is null then
    select c.relation into parent from rowrelay.capture c
     where c.released_at is null and c.relation <> check_past.relation
       and check_past.relation = any (rowrelay.captured_tables(c));
    raise exception 'table % is not captured', relation
      using errcode = 'undefined_object',
            hint = case when parent is not null then format('It is captured as a part of %s: query that table.', parent)
                        else 'Capture it first: '
                               || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);',
                                                   relation::text) end;
  end if;
  if capture.released_at is not null then
    raise exception 'table % is no longer captured', relation
      using errcode = 'undefined_object', detail = 'The log does not have the changes made since it was released.',
            hint = 'To see the captured changes: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         relation::text);
  end if;
  if not has_table_privilege(relation, 'select') or row_security_active(relation) then
    raise exception 'permission denied for table %', relation using errcode = 'insufficient_privilege',
      detail = 'Only a role that may read all of its rows may read its past.';
  end if;
  if (at is null) = (seen is null) then
    raise exception 'the time or snapshot is null' using errcode = 'null_value_not_allowed';
  end if;

  if seen is null then
    reaches := at >= capture.log_since;
  else
    if not rowrelay.snapshot_includes(pg_current_snapshot(), seen) then
      raise exception 'snapshot % is not in the past', seen using errcode = 'invalid_parameter_value',
        detail = format('This statement sees %s.', pg_current_snapshot()),
        hint = 'Give a snapshot of this server that is not later than that of this transaction.';
    end if;
    reaches := pg_visible_in_snapshot(begun.txid, seen)
      and (capture.log_since <= begun.noticed_at -- else changes were dropped, and only a remaining one can tell
           or exists (select from rowrelay.readable_change h
                       where h.capture = capture.id and h.captured_at >= capture.log_since
                         and pg_visible_in_snapshot(h.txid, seen)));
  end if;
  if not reaches then
    raise exception 'the log of table % begins at %', relation, capture.log_since
      using errcode = 'invalid_parameter_value',
            detail = case when seen is null then format('It does not have the rows of %s.', at)
                          else 'That snapshot was taken before, or no remaining change shows that it was taken '
                               'later.' end,
            hint = 'Ask for a later time. To see earlier changes: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         relation::text);
  end if;
end
$$;
-- Purpose:    finds the last tick before a time or snapshot: only changes not committed at that tick can be later
-- Parameters: at: a time, or null; seen: a snapshot, or null
-- Result:     from_id, from_day: later changes have larger ids and are in this partition or a later one; the lowest
--             values if there is no such tick
create or replace function rowrelay.past_tick(at timestamptz, seen pg_snapshot, out from_id bigint, out from_day date)
language plpgsql stable as $$
declare
  tick rowrelay.tick;
begin
  if seen is not null then
    select t.* into tick from rowrelay.tick t
     where pg_snapshot_xmax(t.snapshot) <= pg_snapshot_xmin(seen)
     order by pg_snapshot_xmax(t.snapshot) desc, t.id desc limit 1;
  else
    -- by id rather than by time, because the clock may have been set back
    select t.* into tick from rowrelay.tick t
     where t.id < coalesce((select min(l.id) from rowrelay.tick l where l.taken_at > at), 9223372036854775807)
     order by t.id desc limit 1;
  end if;
  from_id := coalesce(least(tick.low, (select min(f) from unnest(tick.writers_from) as f)), 0);
  from_day := coalesce(tick.open_from, '-infinity');
end
$$;
-- Purpose:    whether a transaction with changes captured by a given time made more changes after it
-- Parameters: txid; at
create or replace function rowrelay.is_unfinished(txid xid8, at timestamptz) returns boolean
language plpgsql stable as $$
declare
  last   record;
  answer boolean;
begin
  -- a tick taken by then shows that it had ended
  if (select t.taken_at
        from generate_series(0, (select t.era from rowrelay.tick t order by t.id desc limit 1)) as this(era)
        cross join lateral (
          select t.* from rowrelay.tick t
           where t.era = this.era
             and pg_snapshot_xmax(t.snapshot) > is_unfinished.txid
               and pg_visible_in_snapshot(is_unfinished.txid, t.snapshot)
           order by pg_snapshot_xmax(t.snapshot), t.id limit 1) as t
       order by pg_snapshot_xmax(t.snapshot), t.id limit 1) <= at then
    return false;
  end if;
  -- a transaction's last change has its largest id
  select f.change_id, f.day into last from rowrelay.changes_of_transaction(txid) as f order by f.change_id desc limit 1;
  execute format('select h.captured_at > $1 from rowrelay.readable_change h where h.id = %s and h.day = %L',
                 last.change_id, last.day)
     into answer using at;
  return answer;
end
$$;
-- Purpose:    finds the few changes that determine what the row with one spelling of a key was at a time: the last one
--             that counts and the first one that does not. Queries then read only these, not all partitions in which
--             the row was ever changed.
-- Parameters: as for rowrelay.past_of_key(); key: in this spelling only
-- Result:     the same
create or replace function rowrelay.past_of_spelling(capture rowrelay.capture, after_id bigint, log_since timestamptz,
                                                     at timestamptz, seen pg_snapshot, key text,
                                                     out ids bigint[], out days date[], out unfinished xid8[])
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  found      bigint[];
  found_days date[];
  all_days   date[]; -- for the planner, so that it leaves out other partitions, of which there may be years
  change     record;
  is_settled boolean := seen is not null; -- all unfinished transactions are known
  chosen     bigint[] := '{null,null,null,null}'; -- first and last; then first and last of those with the row's values
  on_days    date[] := '{null,null,null,null}';
begin
  unfinished := '{}';
  select array_agg(f.change_id), array_agg(f.day), array_agg(distinct f.day) into found, found_days, all_days
    from rowrelay.candidates(array[(past_of_spelling.capture).id], array[past_of_spelling.key]) as f;
  for change in
    select h.id, h.day, h.txid, h.captured_at, h.says
      from unnest(found, found_days) as f(id, day)
      cross join lateral (
        select c.*,
               c.op in ('i', 'u') or c.op = 's' and c.new_row is not null or c.op = 'd'
                 and c.caveat -> 'target' is null as says
          from rowrelay.readable_change c
         where c.id = f.id and c.day = f.day and c.day = any (all_days) offset 0) as h
     where h.id > after_id and h.capture = (past_of_spelling.capture).id and h.key = past_of_spelling.key
       and h.op in ('i', 'u', 'd', 's')
     order by h.id desc
  loop
    if not is_settled and change.captured_at <= at and change.txid <> all (unfinished) then
      if rowrelay.is_unfinished(change.txid, at) then
        unfinished := unfinished || change.txid;
      else
        is_settled := true; -- transactions of earlier changes had ended before it wrote
      end if;
    end if;
    for n in 1..case when change.says then 2 else 1 end loop
      if not (case when seen is not null then pg_visible_in_snapshot(change.txid, seen)
                   else change.captured_at <= at and change.txid <> all (unfinished) end) then
        chosen[n * 2 - 1] := change.id;
        on_days[n * 2 - 1] := change.day;
      elsif chosen[n * 2] is null and change.captured_at >= log_since then
        chosen[n * 2] := change.id;
        on_days[n * 2] := change.day;
      end if;
    end loop;
  end loop;
  ids := array(select distinct c from unnest(chosen) as c where c is not null);
  days := array(select distinct d from unnest(on_days) as d where d is not null);
end
$$;
-- Purpose:    finds the few changes that determine what one row was at a time, under each spelling of its key
-- Parameters: capture; after_id: changes up to this id are ignored; log_since: changes captured before this do not tell
--             what the row was; at: a time, or null; seen: a snapshot, or null; key
-- Result:     ids and days of these changes; unfinished: see rowrelay.counts_at()
create or replace function rowrelay.past_of_key(capture rowrelay.capture, after_id bigint, log_since timestamptz,
                                                at timestamptz, seen pg_snapshot, key text,
                                                out ids bigint[], out days date[], out unfinished xid8[])
language plpgsql stable as $$
declare
  spelling text;
  found    record;
begin
  ids := '{}';
  days := '{}';
  unfinished := '{}';
  foreach spelling in array rowrelay.spellings(array[(past_of_key.capture).id], array[past_of_key.key]) loop
    found := rowrelay.past_of_spelling(past_of_key.capture, after_id, log_since, at, seen, spelling);
    ids := ids || found.ids;
    days := days || found.days;
    unfinished := unfinished || found.unfinished;
  end loop;
end
$$;
-- Purpose:    finds what a query of a table's past needs: the part of the log to read, which changes count, and
--             truncates
-- Parameters: relation; at: a time, or null; seen: a snapshot, or null; key: of the one wanted row, null: all
-- Result:     see rowrelay.past
-- Errors:     the table is not captured; the caller may not read it; the log does not reach back to that time
create or replace function rowrelay.past_of(relation regclass, at timestamptz, seen pg_snapshot, key text)
  returns rowrelay.past
language plpgsql stable as $$
declare
  past       rowrelay.past;
  capture    rowrelay.capture;
  begun      rowrelay.shape;
  pruned     boolean;
  unfinished xid8[] := '{}';
  emptied    bigint;
  unknown    bigint;
  told       record;
  since      text;
begin
  select c.* into capture from rowrelay.capture c where c.relation = past_of.relation order by c.id desc limit 1;
  select s.* into begun from rowrelay.shape s where s.capture = capture.id and s.begins order by s.id desc limit 1;
  perform rowrelay.check_past(relation, capture, begun, at, seen);
  pruned := capture.log_since > begun.noticed_at;

  past.capture := capture;
  past.begun := begun;
  past.shape := rowrelay.current_shape(capture);
  past.log := format('rowrelay.readable_change h where h.capture = %s and h.id > %s', capture.id, begun.from_id);
  if key is not null then
    select * into told
      from rowrelay.past_of_key(past.capture, begun.from_id,
                                case when pruned then capture.log_since else '-infinity' end,
                                                 at, seen, key);
    unfinished := told.unfinished;
    past.log := past.log || format(' and h.id = any (%L) and h.day = any (%L)', told.ids, told.days);
    past.recent := past.log;
  else
    select format('h.id > %s and h.day >= %L', t.from_id, t.from_day) into since from rowrelay.past_tick(at, seen) as t;
    past.recent := past.log || ' and ' || since;
    if seen is null then
      execute format(
          'select coalesce(array_agg(distinct o.txid), ''{}'') from (select h.* from %s) as o where '
          'o.captured_at <= %L '
                     'and o.txid in (select h.txid from rowrelay.readable_change h where %s and h.captured_at > %L)',
                     past.recent, at, since, at)
         into unfinished;
    end if;
  end if;
  past.counts := rowrelay.counts_at(at, seen, unfinished);

  execute format(
    'select max(h.change_id) filter (where h.is_known and h.condition is null and h.captured_at >= $3 and %1$s), '
    '       max(h.change_id) filter (where not h.is_known and %1$s), '
    '       min(h.change_id) filter (where not %1$s) '
    '  from rowrelay.readable_truncation h where h.capture = $1 and h.change_id > $2', past.counts)
    into emptied, unknown, past.cut_at
   using capture.id, begun.from_id, case when pruned then capture.log_since else '-infinity' end;
  past.complete := emptied is not null or (begun.was_empty and not pruned);
  past.known := coalesce(emptied, begun.from_id);
  if unknown > past.known then
    past.known := unknown;
    past.complete := false;
  end if;
  if pruned then
    -- later changes of the same row may have been dropped
    past.log := past.log || format(' and h.captured_at >= %L', capture.log_since);
  end if;
  return past;
end
$$;
-- Purpose:    returns SQL for reading row images of a captured table, whatever its columns were called then
-- Parameters: past
-- Result:     statement: for a WITH clause, as shape (n, until_id, altered_by, numbers, names, sorted, hidden,
--             becomes): position; last change id that may have this shape; columns of rowrelay.shape; names sorted;
--             present names, null: the column is not shown or no longer exists. last_from: changes with larger ids have
--             the last shape, last_n; is_plain: there is only one shape, and all of its columns still have their names
create or replace function rowrelay.past_shapes(past rowrelay.past, out statement text, out last_from bigint,
                                                out last_n integer, out is_plain boolean)
language plpgsql stable as $$
declare
  now_shape  rowrelay.shape := past.shape;
  last_shape rowrelay.shape;
begin
  select s.* into last_shape from rowrelay.shape s where s.capture = (past.capture).id order by s.id desc limit 1;
  with noted as (
    select s.* from rowrelay.shape s where s.capture = (past.capture).id and s.id >= (past.begun).id
    union all
    -- an alteration that maintenance has not noticed yet
    select now_shape.*
     where (now_shape.numbers, now_shape.names, now_shape.masks::text)
           is distinct from (last_shape.numbers, last_shape.names, last_shape.masks::text)
  ), own as materialized (
    select t.* from rowrelay.past_types(past) as t
  ), numbered as (
    select s.*, row_number() over w as n, coalesce(lead(s.from_id) over w, 9223372036854775807) as until_id,
           array(select a.name::text
                   from unnest(s.numbers, s.names) with ordinality as u(number, name, position)
                   left join own a
                          on a.number = u.number
                         and a.number <> all (now_shape.hidden)
                         and now_shape.masks -> a.name is null
                         and (s.masks -> u.name is null
                              or rowrelay.mask_value(s.masks -> u.name, a.type, a.modifier) is not null)
                  order by u.position) as becomes
      from noted s
    window w as (order by s.id)
  )
  select 'values ' || string_agg(
           format('(%s, %s::pg_catalog.int8, %L::pg_catalog.xid8, %L::pg_catalog.int2[], %L::pg_catalog.text[], '
                  '%L::pg_catalog.text[], '
                  '%L::pg_catalog.int2[], %L::pg_catalog.text[])', s.n, s.until_id, s.altered_by, s.numbers, s.names,
                  array(select u.name from unnest(s.names) as u(name) order by u.name collate "C"), s.hidden,
                    s.becomes),
           ', ' order by s.n),
         (array_agg(s.from_id order by s.n desc))[1], max(s.n), count(*) = 1 and bool_and(s.names = s.becomes)
    into statement, last_from, last_n, is_plain
    from numbered s;
  last_from := coalesce(last_from, 9223372036854775807);
end
$$;
-- Purpose:    lists the columns of a captured table with the types in which as_of() reads them. Rows that are only
--             shown are not read as the table's types: CHECKs of domains are the code of who owns these, and must not
--             run for who looks back.
-- Parameters: past
-- Result:     number and name of each column; the type, its modifier and its name in SQL; whether the value stays as it
--             is in images, because no type reads it without a CHECK; SQL for the present value on a row called new
create or replace function rowrelay.past_types(past rowrelay.past, out number smallint, out name name, out type oid,
                                               out modifier integer, out type_name text, out is_image boolean,
                                               out present text) returns setof record
language plpgsql stable as $$
begin
  return query
    select a.attnum, a.attname, t.oid, t.modifier, format_type(t.oid, t.modifier), t.is_image,
           case when t.is_image then (select v.value from rowrelay.image_values((past.capture).relation, 'new') as v
                                       where v.number = a.attnum)
                when t.oid <> a.atttypid then rowrelay.plain_value('new', a.attname, a.atttypid)
                else format('new.%I', a.attname) end
      from pg_attribute a
      cross join lateral (
        select a.atttypid, a.atttypmod, false where past.is_shown is not true
        union all
        select 'json'::regtype, -1, true where past.is_shown and rowrelay.has_inner_domain(a.atttypid)
        union all
        select p.oid, case when p.oid = a.atttypid then a.atttypmod else -1 end, false
          from rowrelay.plain_oid(a.atttypid) as p(oid)
         where past.is_shown and not rowrelay.has_inner_domain(a.atttypid)) as t(oid, modifier, is_image)
     where a.attrelid = (past.capture).relation and a.attnum > 0 and not a.attisdropped
     order by a.attnum;
end
$$;
-- Purpose:    returns SQL for the columns of a captured table as as_of() shows them: columns left out of the log are
--             null in all rows, and masked columns have their mask in all rows, so that they do not reveal whether a
--             row has changed
-- Parameters: past
-- Result:     present: expressions on a row of the table called new; past_row: the same on r (a record read from an
--             image), image, texts (its json columns that it has as text), numbers and hidden (of its shape); base:
--             record with the values of columns that an image lacks, on the shape s; for rows that are only shown the
--             names and types of the columns of r
create or replace function rowrelay.past_columns(past rowrelay.past, out present text, out past_row text, out base text)
language plpgsql stable as $$
declare
  capture   rowrelay.capture := past.capture;
  now_shape rowrelay.shape := past.shape;
begin
  select string_agg(coalesce(w.fixed, c.present), ', ' order by c.number),
         string_agg(coalesce(w.fixed,
                             case when past.is_shown and a.attmissingval is not null
                                  then format('case when i.image -> %L is null then %s else %s end', c.name,
                                              w.missing, w.past_row)
                                  else w.past_row end), ', ' order by c.number),
         case when past.is_shown
              then coalesce(string_agg(format('%I %s', c.name, c.type_name), ', ' order by c.number)
                              filter (where not c.is_image), 'rowrelay_none pg_catalog.text')
              -- the value in rows that were not written since the column was added
              else 'row(' || string_agg(case when a.attmissingval is null or w.fixed is not null
                                             then 'null::' || c.type_name else w.missing end, ', ' order by c.number)
                   || format(')::%s', capture.relation) end
    into present, past_row, base
    from rowrelay.past_types(past) as c
    join pg_attribute a on a.attrelid = capture.relation and a.attnum = c.number
   cross join lateral (
     select case when c.number = any (now_shape.hidden) then 'null::' || c.type_name
                 when now_shape.masks -> c.name is not null
                 then coalesce(rowrelay.mask_value(now_shape.masks -> c.name, c.type, c.modifier),
                               'null::' || c.type_name) end as fixed,
            format(case when c.is_image then 'case when %1$s <> all (%4$s.numbers) and %1$s <> all (%4$s.hidden) then '
                                             'pg_catalog.to_json(%2$L::pg_catalog.text) end'
                        else 'case when %1$s <> all (%4$s.numbers) and %1$s <> all (%4$s.hidden) then %2$L::%3$s end'
                   end, c.number, (a.attmissingval::text::text[])[1], c.type_name,
                   case when past.is_shown then 'i' else 's' end) as missing,
            case when c.is_image then format('i.image -> %L', c.name)
                 when rowrelay.base_type(c.type) in ('json'::regtype, 'jsonb'::regtype) then format(
                   'case when %1$L = any (i.texts) then (i.image ->> %1$L)::%3$s '
                   'when pg_catalog.json_typeof(i.image -> %1$L) <> ''null'' then (i.image -> '
                   '%1$L)::pg_catalog.text::%3$s '
                   'else (i.r).%2$I end', c.name, c.name, c.type_name)
                 else format('(i.r).%I', c.name) end as past_row) as w;
  if past.is_shown is not true
     and not exists (select from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0
                     and a.attmissingval is not null) then
    base := format('null::%s', capture.relation);
  end if;
end
$$;
-- Purpose:    returns SQL for what as_of() gives of a past row
-- Parameters: past
-- Result:     names: of the row's columns, behind the name p of the row; value: the row itself, or as JSON; text:
--             equal for equal rows
create or replace function rowrelay.past_shown(past rowrelay.past, out names text, out value text, out text text)
language plpgsql stable as $$
begin
  if past.is_shown is not true then
    value := format('row(p.*)::%s', (past.capture).relation);
    text := format('pg_catalog.concat(%s)', value); -- not a cast, which would be the table owner's code
    return;
  end if;
  select '(' || string_agg(quote_ident(c.name), ', ' order by c.number) || ')',
         format('(select pg_catalog.row_to_json(x.*) from (select %s) as x)',
                string_agg(format('%s as %I', case when c.is_image then format('p.%I', c.name)
                                                   else rowrelay.safe_json(format('p.%I', c.name), c.type) end, c.name),
                           ', ' order by c.number)),
         format('pg_catalog.concat(row(%s))',
                string_agg(case when c.is_image
                                then format('rowrelay.value_text(p.%I, %L, '''')', c.name,
                                            rowrelay.type_structure(a.atttypid, a.atttypmod))
                                else format('p.%I', c.name) end, ', ' order by c.number))
    into names, value, text
    from rowrelay.past_types(past) as c
    join pg_attribute a on a.attrelid = (past.capture).relation and a.attnum = c.number;
end
$$;
-- Purpose:    returns SQL that finds the shape of an image in the log by the names of its columns and their order,
--             which is that of their numbers. Only if a column was dropped and another added under its name, both
--             between two checks of the table, the age of the writing transaction decides.
-- Parameters: expressions for image, change id and transaction
-- Result:     an expression: n of shape; null when the image lacks columns (a deleted row's may have only the key)
create or replace function rowrelay.past_shape_of(image text, change_id text, txid text) returns text
language sql immutable as $$
  select format($sql$(
      select s.n from shape s, (select array(select pg_catalog.json_object_keys(%1$s)) as names offset 0) as k
       where %2$s <= s.until_id
         and (s.names = k.names
              or s.sorted = array(select u.name from unnest(k.names) as u(name) order by u.name collate "C"))
       order by s.names = k.names desc, s.altered_by <= %3$s desc, case when s.altered_by <= %3$s then -s.n else s.n end
       limit 1)$sql$, image, change_id, txid)
$$;
-- Purpose:    returns SQL that turns images in the log into rows of a captured table, whatever its columns were called
--             then
-- Parameters: past; columns and base: past_row and base of rowrelay.past_columns(); source: SQL for rows of id, key,
--             n, image, caveat (those without n cannot be read); condition on a row called i with id and record r
-- Result:     a SELECT of the table's columns, which needs rowrelay.past_shapes() in WITH
create or replace function rowrelay.past_images(past rowrelay.past, columns text, base text, source text,
                                                condition text default 'true') returns text
language plpgsql stable as $$
declare
  capture rowrelay.capture := past.capture;
  texts   text := '''{}''::pg_catalog.text[]';
begin
  if exists (select from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
                                          and rowrelay.base_type(a.atttypid) in ('json'::regtype,
                                              'jsonb'::regtype)) then
    texts := 'array(select pg_catalog.json_array_elements_text(x.caveat -> ''text_columns''))';
  end if;
  return format($sql$
    select %1$s
      from (select x.id, %2$s as r, f.image, f.texts, s.numbers, s.hidden
              from (select w.id, coalesce(w.n, 1) as n, w.caveat,
                           case when w.n is null then rowrelay.missing_image(%5$s, w.key, w.id)
                             else w.image end as image
                      from (%3$s) as w) as x
              join shape s on s.n = x.n
             cross join lateral (
               select x.image, %4$s where s.becomes = s.names
               union all
               select f.renamed, f.renamed_texts from rowrelay.rename_image(x.image, %4$s, s.names, s.becomes) as f
                where s.becomes is distinct from s.names) as f(image, texts)
             %7$s
            offset 0) as i
     where %6$s$sql$,
    columns,
    case when past.is_shown then 'rowrelay_row' else format('pg_catalog.json_populate_record(%s, f.image)', base) end,
    source, texts, capture.relation::oid, condition,
    case when past.is_shown
         then format('cross join lateral pg_catalog.json_to_record(f.image) as rowrelay_row(%s)', base) end);
end
$$;
-- Purpose:    refuses to reconstruct the past from a table that was truncated after the caller's snapshot was taken: a
--             snapshot does not hide TRUNCATE, so the table would show a change that the log does not show yet
-- Parameters: capture
-- Errors:     serialization_failure
create or replace function rowrelay.check_present(capture rowrelay.capture) returns void
language plpgsql stable as $$
declare
  tables   constant regclass[] := rowrelay.captured_tables(capture);
  relation regclass;
begin
  execute format('select from %s limit 0', capture.relation); -- locks it and its partitions against TRUNCATE
  -- relfilenode as the snapshot sees it, and as it is now
  select c.oid into relation from pg_class c
   where c.oid = any (tables) and c.relkind = 'r' and c.relfilenode <> pg_relation_filenode(c.oid)
   limit 1;
  if relation is not null then
    raise exception 'table % was truncated or rewritten after this transaction took its snapshot', relation
      using errcode = 'serialization_failure', hint = 'Try again in a new transaction.';
  end if;
end
$$;
-- Purpose:    returns SQL for the captured rows that a table has now
-- Parameters: capture; columns: present of rowrelay.past_columns()
-- Result:     a SELECT from a row called new, ending in a WHERE clause that can be extended
-- Errors:     as for rowrelay.check_present(); the triggers with the row filter are missing
create or replace function rowrelay.past_present(capture rowrelay.capture, columns text) returns text
language plpgsql stable as $$
declare
  passes text := 'true';
begin
  perform rowrelay.check_present(capture);
  if capture.row_filter is not null then
    -- as the trigger stores it, independent of search_path and of renamed columns
    select '(' || substring(pg_get_triggerdef(t.oid) from E' WHEN \\((.*)\\) EXECUTE FUNCTION ') || ')' into passes
      from pg_trigger t where t.tgrelid = capture.relation and t.tgname = '!rowrelay_insert';
    if passes is null then
      raise exception 'table % has lost its triggers', capture.relation
        using errcode = 'object_not_in_prerequisite_state',
          hint = 'Capture it again: '
                   || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);',
                                       capture.relation::text);
    end if;
  end if;
  return format('select %s from %s as new where %s', columns, capture.relation, passes);
end
$$;
-- Purpose:    returns SQL for whether a row read from an image survived truncates of single partitions until the given
--             time
-- Parameters: past
-- Result:     a condition on a row called i with id, of the change that the image is from, and record r
create or replace function rowrelay.past_truncated(past rowrelay.past) returns text
language plpgsql stable as $$
declare
  condition text;
begin
  execute format($sql$
    with own as materialized (select t.* from rowrelay.past_types($3) as t where not t.is_image)
    select string_agg(format('not (i.id < %%s and (select (%%s) is true from (select %%s) as o))', h.change_id,
                             h.condition,
             -- the condition has the columns' former names
             (select string_agg(format('(i.r).%%I as %%I', a.name, u.name), ', ')
                from (select s.numbers, s.names from rowrelay.shape s
                       where s.capture = h.capture and s.from_id < h.change_id order by s.id desc limit 1) as s
               cross join lateral unnest(s.numbers, s.names) as u(number, name)
                join own a on a.number = u.number)),
           ' and ')
      from rowrelay.readable_truncation h
     where h.capture = $1 and h.change_id > $2 and h.condition is not null and %s$sql$, past.counts)
    into condition
   using (past.capture).id, past.known, past;
  return coalesce(condition, 'true');
end
$$;
-- Purpose:    returns the statement for a past state of a table with a key. It works backwards from now: a row that has
--             not changed since then is as the table has it. For a changed row, the first later change tells whether it
--             existed, and what it was if its image before was kept; else the last earlier change does. After a
--             truncate it cannot work backwards: it builds all rows from the log, which has to begin with an empty
--             table.
-- Parameters: past; only_row: condition on the one wanted row, called new, null: all rows
-- Result:     a SELECT of the table's columns
create or replace function rowrelay.past_keyed(past rowrelay.past, only_row text default null) returns text
language plpgsql stable as $$
declare
  capture  rowrelay.capture := past.capture;
  shapes   record;
  columns  record;
  said     text;
  changes  constant text := '(h.op in (''i'', ''u'') or h.op = ''s'' and h.new_row is not null '
                            'or h.op = ''d'' and h.caveat -> ''target'' is null)';
begin
  select * into shapes from rowrelay.past_shapes(past);
  select * into columns from rowrelay.past_columns(past);
  said := format('case when b.new_row is null then null when b.id > %s then %s else %s end', shapes.last_from,
                 shapes.last_n,
                 rowrelay.past_shape_of('b.new_row', 'b.id', 'b.txid'));
  if past.cut_at is not null then
    return format($sql$
      with shape (n, until_id, altered_by, numbers, names, sorted, hidden, becomes) as (%1$s),
      last_before as materialized (
        select distinct on (h.key) h.id, h.txid, h.key, h.op, h.new_row, h.caveat
          from %2$s and %3$s and h.id > %4$s and %5$s
         order by h.key, h.id desc)
      %6$s$sql$,
      shapes.statement, past.log, past.counts, past.known, changes,
      rowrelay.past_images(past, columns.past_row, columns.base, format(
        'select b.id, b.key, case when b.key is not null then %s end as n, b.new_row as image, b.caveat '
        'from last_before b where b.op <> ''d'' or b.key is null', said), rowrelay.past_truncated(past)));
  end if;

  return format($sql$
    with shape (n, until_id, altered_by, numbers, names, sorted, hidden, becomes) as (%1$s),
    first_after as materialized (
      select distinct on (h.key) h.id, h.txid, h.key, h.op, h.old_row, h.new_row, h.caveat
        from %2$s and not %3$s and %4$s
       order by h.key, h.id),
    told as materialized (
      select t.*, case when t.key is not null then %5$s end as n
        from (select a.id, a.txid, a.key, a.caveat, case a.op when 's' then a.new_row else a.old_row end as image
                from first_after a where a.op <> 'i' or a.key is null) as t),
    last_before as materialized (
      select distinct on (h.key) h.id, h.txid, h.key, h.op, h.new_row, h.caveat
        from %6$s and %3$s and h.id > %7$s and %4$s
         and exists (select from told t where t.n is null)
         and (h.key is null or h.key in (select t.key from told t where t.n is null))
       order by h.key, h.id desc),
    said as materialized (
      select t.id, t.key, b.new_row as image, b.caveat,
             -- a change that could not be captured may have been of this row
             case when b.id > coalesce((select u.id from last_before u where u.key is null), 0) then %8$s end as n
        from told t left join last_before b on b.key = t.key
       where t.n is null and b.op is distinct from 'd')
    %9$s
       and not exists (select from first_after a where a.key = %10$s)
    union all
    %11$s
    union all
    %12$s$sql$,
    shapes.statement, past.recent, past.counts, changes, rowrelay.past_shape_of('t.image', 't.id', 't.txid'),
    past.log, past.known, said,
    concat_ws(' and ', rowrelay.past_present(capture, columns.present), only_row),
    rowrelay.key_expression(capture.relation, capture.key_columns, 'new'),
    rowrelay.past_images(past, columns.past_row, columns.base,
                         'select t.id, t.key, t.n, t.image, t.caveat from told t where t.n is not null'),
    rowrelay.past_images(past, columns.past_row, columns.base,
                         'select s.id, s.key, s.n, s.image, s.caveat from said s'));
end
$$;
-- Purpose:    returns the statement for a past state of a table without a key. Rows are identified by all of their
--             values, so it counts equal rows: those that exist now and, for every later change, one less of the row
--             after it and one more of the row before it. After a truncate it counts forwards from an empty table.
-- Parameters: past
-- Result:     a SELECT of the table's columns, or of each row as JSON
create or replace function rowrelay.past_keyless(past rowrelay.past) returns text
language plpgsql stable as $$
declare
  capture  rowrelay.capture := past.capture;
  shapes   record;
  columns  record;
  shown    record;
  forwards boolean := past.cut_at is not null;
  changes  text;
  rows     text[] := '{}';
  part     record;
begin
  select * into shapes from rowrelay.past_shapes(past);
  select * into columns from rowrelay.past_columns(past);
  select * into shown from rowrelay.past_shown(past);
  changes := case when forwards then format('%s and %s and h.id > %s', past.log, past.counts, past.known)
                  else format('%s and not %s', past.recent, past.counts) end || ' and h.op in (''i'', ''u'', ''d'')';
  if not forwards then
    rows := array[format('select %s as r, %s as text, 1 as weight from (%s) as p%s', shown.value, shown.text,
                         rowrelay.past_present(capture, columns.present), shown.names)];
  end if;
  for part in
    select * from (values ('new_row', '''d''', case when forwards then 1 else -1 end),
                          ('old_row', '''i''', case when forwards then -1 else 1 end)) as v(image, without, weight)
  loop
    rows := rows || format('select %s, %s, %s from (%s) as p%s', shown.value, shown.text, part.weight,
      rowrelay.past_images(past, columns.past_row, columns.base, format(
        'select c.id, c.key, case when c.key is null then %s end as n, c.%I as image, c.caveat from changes c where '
        'c.op <> %s',
        rowrelay.past_shape_of('c.' || part.image, 'c.id', 'c.txid'), part.image, part.without),
        case when forwards then rowrelay.past_truncated(past) else 'true' end), shown.names);
  end loop;
  return format($sql$
    with shape (n, until_id, altered_by, numbers, names, sorted, hidden, becomes) as (%1$s),
    changes as materialized (
      select h.id, h.txid, h.op, h.key, h.old_row, h.new_row, h.caveat from %2$s),
    counted as materialized (
      select (pg_catalog.array_agg(w.r))[1] as r, w.text, sum(w.weight)::pg_catalog.int4 as weight
        from (%3$s) as w(r, text, weight)
       group by w.text
      having sum(w.weight) <> 0)
    select %5$s
      from counted c
     cross join pg_catalog.generate_series(1, case when c.weight > 0 then c.weight
                                                   else rowrelay.missing_row(%4$s, c.text) end)$sql$,
    shapes.statement, changes, array_to_string(rows, E'\n union all\n'), capture.relation::oid,
    case when past.is_shown then 'c.r' else '(c.r).*' end);
end
$$;
-- Purpose:    returns a condition for one row of a captured table by its key
-- Parameters: relation; key: as the log has it, the text of a single column, a JSON array of several
-- Result:     the key as the log spells it; condition on a row of the table called new
-- Errors:     the table is not captured or has no key; the key is not valid for its type
create or replace function rowrelay.past_row(relation regclass, inout key text, out condition text)
language plpgsql stable as $$
declare
  capture rowrelay.capture;
begin
  select c.* into capture from rowrelay.capture c where c.relation = past_row.relation order by c.id desc limit 1;
  if cardinality(rowrelay.live_key(capture)) = 0 then
    raise exception 'table % has no key', relation using errcode = 'invalid_parameter_value',
      hint = 'Query all of its rows: '
               || rowrelay.command('rowrelay log %s --as-of TIME', 'select * from rowrelay.as_of(null::%s, ''TIME'');',
                                   relation::text);
  end if;
  if rowrelay.has_domain_parts(relation, capture.key_columns)
     or rowrelay.has_text_cast(relation, capture.key_columns) then
    -- reading it would run code of the table's owner for who asks: it has to be spelled as in the log
    condition := format('%s = %L', rowrelay.key_expression(relation, capture.key_columns, 'new'), key);
  elsif capture.id is not null then
    execute format('select %s, format(''exists (select from %%s where %%s)'', $1, $2) from %s',
                   rowrelay.key_expression(relation, capture.key_columns, 'wanted'),
                     rowrelay.parsed_keys(capture, 'array[$3]'))
       into key, condition
      using rowrelay.parsed_keys(capture, format('array[%L]', key)), rowrelay.same_key(capture, 'new', 'wanted'), key;
  end if;
end
$$;
-- Purpose:    handles a truncate of the table after the given time, for one row: a change of the row between the two
--             tells what the row was, as if there were no truncate
-- Parameters: past of that one row; its key
-- Result:     past, without the truncate if it does not matter
-- Errors:     no_data_found: the log has nothing of the row but the truncate
create or replace function rowrelay.past_before_cut(past rowrelay.past, key text) returns rowrelay.past
language plpgsql stable as $$
declare
  is_told boolean;
begin
  if past.cut_at is null then
    return past;
  end if;
  execute format('select exists (select from %s and not %s and h.id < %s and h.op in (''i'', ''u'', ''d'', ''s''))',
                 past.recent, past.counts, past.cut_at) into is_told;
  if is_told then
    past.recent := past.recent || format(' and h.id < %s', past.cut_at);
    past.cut_at := null;
    return past;
  end if;
  execute format('select exists (select from %s and %s and h.id > %s and h.op in (''i'', ''u'', ''d'', ''s''))',
                 past.log, past.counts, past.known) into is_told;
  if not is_told and not past.complete then
    raise exception 'the log does not have row % of table % as it was before change %', key, (past.capture).relation,
      past.cut_at
      using errcode = 'no_data_found',
        detail = 'That change truncated the table, and the log has no earlier change of the row.';
  end if;
  return past;
end
$$;
-- Purpose:    returns the statement for a past state of a captured table or of one of its rows
-- Parameters: relation; at: a time, or null; seen: a snapshot, or null; key: of the one wanted row, null: all;
--             is_shown: whether people only read the rows, so that no CHECK of a domain has to run
-- Result:     a SELECT of the table's columns; of each row as JSON if is_shown. It fails with no_data_found when the
--             log does not tell what a row was.
-- Errors:     as for rowrelay.past_of(); no_data_found: the table was truncated later; a key is not valid for its type
create or replace function rowrelay.past_statement(relation regclass, at timestamptz, seen pg_snapshot,
                                                   key text default null, is_shown boolean default false)
returns text language plpgsql stable as $$
declare
  past     rowrelay.past;
  only_row record;
  shown    record;
  keyed    text;
begin
  if key is null then
    past := rowrelay.past_of(relation, at, seen, null);
    past.is_shown := is_shown;
    if past.cut_at is not null and not past.complete then
      raise exception 'change % truncated table %, and the log does not have all rows from before it',
        past.cut_at, relation
        using errcode = 'no_data_found',
              detail = 'Rows that did not change between the beginning of the log and the truncate are lost.',
              hint = 'Query single rows: '
                     || rowrelay.command('rowrelay log %1$s KEY --as-of %2$s',
                                         case when seen is null
                                              then 'select * from rowrelay.row_as_of(null::%1$s, ''KEY'', %2$L);'
                                              else 'select * from rowrelay.row_as_of_snapshot(null::%1$s, ''KEY'', '
                                                   '%2$L);' end,
                                         relation::text, coalesce(at::text, seen::text));
    end if;
    if cardinality(rowrelay.live_key(past.capture)) = 0 then
      return rowrelay.past_keyless(past);
    end if;
    keyed := rowrelay.past_keyed(past);
  else
    select * into only_row from rowrelay.past_row(relation, key);
    past := rowrelay.past_of(relation, at, seen, only_row.key);
    past.is_shown := is_shown;
    keyed := rowrelay.past_keyed(rowrelay.past_before_cut(past, only_row.key), only_row.condition);
  end if;
  select * into shown from rowrelay.past_shown(past);
  return case when is_shown then format('select %s from (%s) as p%s', shown.value, keyed, shown.names) else keyed end;
end
$$;
-- Purpose:    returns the rows of a captured table as they were at a time or in a snapshot
-- Parameters: null cast to the table's row type; at: a time, or null; seen: a snapshot, or null; key: of the one wanted
--             row, null: all
-- Result:     its rows, in no order
-- Errors:     as for rowrelay.past_statement(); no_data_found: the log does not tell what a row was;
--             serialization_failure: changes were dropped meanwhile
create or replace function rowrelay.past_rows(relation anyelement, at timestamptz, seen pg_snapshot,
                                              key text default null)
returns setof anyelement
language plpgsql stable set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off set enable_seqscan = on
  set jit = off as $$
declare
  message text;
  detail  text;
  hint    text;
begin
  if key is not null then
    perform set_config('enable_seqscan', 'off', true); -- a day without statistics looks small to the planner
  end if;
  return query execute rowrelay.past_statement(rowrelay.table_of(pg_typeof(relation)), at, seen, key);
  if not rowrelay.sees_log() then
    raise exception 'old changes were dropped since this transaction began' using errcode = 'serialization_failure',
      detail = 'The result may lack some of them.', hint = 'Try again in a new transaction.';
  end if;
exception when no_data_found then
  -- raised again, without a statement of a hundred lines as its context
  get stacked diagnostics message = message_text, detail = pg_exception_detail, hint = pg_exception_hint;
  raise exception '%', message using errcode = 'no_data_found', detail = detail, hint = hint;
end
$$;
-- Purpose:    returns the rows of a captured table as they were, for people to read: as rowrelay.past_rows(), but no
--             code of the table's owner runs for the caller, as CHECKs of domains do where a value is read as the
--             table's type
-- Parameters: relation; at; key: as for rowrelay.past_rows()
-- Result:     its rows as JSON, in no order. A value with domains inside arrays, rows or ranges is as in the log.
-- Errors:     as for rowrelay.past_rows()
create or replace function rowrelay.past_json(relation regclass, at timestamptz, key text) returns setof json
language plpgsql stable set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off set enable_seqscan = on
  set jit = off as $$
declare
  -- without one, no CHECK can run, and it is faster to read rows as the table's type
  has_domain constant boolean := exists (
    select from pg_attribute a
     where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
       and (rowrelay.plain_oid(a.atttypid) <> a.atttypid or rowrelay.has_inner_domain(a.atttypid)));
  statement  text;
  message    text;
  detail     text;
  hint       text;
begin
  if key is not null then
    perform set_config('enable_seqscan', 'off', true); -- a day without statistics looks small to the planner
  end if;
  statement := rowrelay.past_statement(relation, at, null, key, is_shown => has_domain);
  if not has_domain then
    statement := format('select %s from (%s) as rowrelay_row',
                        rowrelay.row_image((select c.reltype from pg_class c where c.oid = relation), 'rowrelay_row'),
                        statement);
  end if;
  return query execute statement;
  if not rowrelay.sees_log() then
    raise exception 'old changes were dropped since this transaction began' using errcode = 'serialization_failure',
      detail = 'The result may lack some of them.', hint = 'Try again in a new transaction.';
  end if;
exception when no_data_found then
  -- raised again, without a statement of a hundred lines as its context
  get stacked diagnostics message = message_text, detail = pg_exception_detail, hint = pg_exception_hint;
  raise exception '%', message using errcode = 'no_data_found', detail = detail, hint = hint;
end
$$;
-- Purpose:    returns a captured table as it was at a time, as in
--
--               select * from rowrelay.as_of(null::shop.orders, '2026-03-01 12:00');
--
--             A transaction counts if all of its changes were captured by then; a clock cannot tell when it committed.
--             For exact results while others write, use a snapshot: rowrelay.as_of_snapshot(). The columns are the
--             present ones: one that was added later has the value that unchanged rows have, columns left out of the
--             log are null, and masked columns have their mask, in all rows.
-- Parameters: null cast to the table's row type; at
-- Result:     its rows, in no order
-- Errors:     as for rowrelay.past_rows()
create or replace function rowrelay.as_of(relation anyelement, at timestamptz) returns setof anyelement
language sql stable as $$
  select * from rowrelay.past_rows(relation, at, null)
$$;
-- Purpose:    returns a captured table exactly as a transaction with this snapshot (pg_current_snapshot()) saw it, even
--             while others were writing; see rowrelay.as_of()
-- Parameters: null cast to the table's row type; seen: the snapshot
-- Result:     its rows, in no order
-- Errors:     as for rowrelay.past_rows()
create or replace function rowrelay.as_of_snapshot(relation anyelement, seen pg_snapshot) returns setof anyelement
language sql stable as $$
  select * from rowrelay.past_rows(relation, null, seen)
$$;
-- Purpose:    returns one row of a captured table as it was:  select * from rowrelay.row_as_of(null::shop.orders, '42',
--             ...)
-- Parameters: null cast to the table's row type; key: the text of a single column, a JSON array of several;
--             at: a time, see rowrelay.as_of()
-- Result:     the row; none if it did not exist
-- Errors:     as for rowrelay.past_rows()
create or replace function rowrelay.row_as_of(relation anyelement, key text, at timestamptz) returns setof anyelement
language sql stable as $$
  select * from rowrelay.past_rows(relation, at, null, coalesce(key, ''))
$$;
-- Purpose:    returns one row of a captured table as it was in a snapshot
-- Parameters: null cast to the table's row type; key: the text of a single column, a JSON array of several;
--             seen: a snapshot, see rowrelay.as_of_snapshot()
-- Result:     the row; none if it did not exist
-- Errors:     as for rowrelay.past_rows()
create or replace function rowrelay.row_as_of_snapshot(relation anyelement, key text, seen pg_snapshot)
  returns setof anyelement
language sql stable as $$
  select * from rowrelay.past_rows(relation, null, seen, coalesce(key, ''))
$$;
-- Purpose:    returns the table's shape at a change, which tells the columns behind the names in its images
-- Parameters: change; image
-- Result:     null: not known
create or replace function rowrelay.image_shape(change rowrelay.change, image json) returns rowrelay.shape
language sql stable set search_path = pg_catalog, pg_temp as $$
  select noted.shape
    from (select s as shape, coalesce(lead(s.from_id) over (order by s.id), 9223372036854775807) as until_id
            from rowrelay.shape s where s.capture = change.capture) as noted
    cross join (select array(select json_object_keys(image)) as names) as k
   where change.id <= noted.until_id and k.names <@ (noted.shape).names
   -- a deleted row's image may have only the key; else the names decide, then the age
   order by cardinality((noted.shape).names) = cardinality(k.names) desc, (noted.shape).altered_by <= change.txid desc,
            case when (noted.shape).altered_by <= change.txid then -(noted.shape).id else (noted.shape).id end
   limit 1
$$;
-- Purpose:    tells how to read the values of a row image as texts
-- Parameters: change; image. The result is the same for every image with the same columns, and arrays or objects in
--             the same of them, whose change has the same shape and the same caveat text_columns.
-- Result:     names: the columns that can be written, null: none; expressions: SQL for their texts, where i.image is
--             the image; called and becomes: names of the columns in the image and now, null: they are the same
-- Errors:     other columns were left out or masked then than now; a column of the image no longer exists
create or replace function rowrelay.text_columns(change rowrelay.change, image json, out names text[],
                                                 out expressions text, out called text[], out becomes text[])
language plpgsql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off as $$
declare
  capture rowrelay.capture;
  shape   rowrelay.shape;
  renamed record;
  texts   text[] := array(select json_array_elements_text(change.caveat -> 'text_columns'));
  unknown text;
begin
  select c.* into strict capture from rowrelay.capture c where c.id = change.capture;
  shape := rowrelay.image_shape(change, image);
  if exists (select from rowrelay.current_shape(capture) as n
              where not (shape.hidden <@ n.hidden)
                 or exists (select from json_object_keys(shape.masks) as m(name)
                             where n.masks -> (select a.attname from pg_attribute a
                                                where a.attrelid = capture.relation
                                                  and a.attnum = shape.numbers[array_position(shape.names, m.name)]
                                                  and not a.attisdropped)::text is null)) then
    raise exception 'when change % of table % was captured, other columns were left out or masked than now',
      change.id, capture.relation
      using errcode = 'object_not_in_prerequisite_state', hint = 'Correct the row by hand.';
  end if;
  becomes := rowrelay.attribute_names(capture.relation, shape.numbers);
  if becomes <> shape.names then
    called := shape.names;
    select r.* into renamed from rowrelay.rename_image(image, texts, called, becomes) as r;
    image := renamed.renamed;
    texts := renamed.renamed_texts;
  else
    becomes := null;
  end if;
  select string_agg(format('"%s"', e.key), ', ') into unknown
    from json_object_keys(image) as e(key)
   where not exists (select from pg_attribute a
                      where a.attrelid = capture.relation and a.attname = e.key and a.attnum > 0
                        and not a.attisdropped);
  if unknown is not null then
    raise exception 'the log has values of column % of table %, which no longer exists', unknown, capture.relation
      using errcode = 'undefined_column',
            hint = 'If it was renamed, restore its name for the undo; else correct the row by hand.';
  end if;

  select array_agg(a.attname::text order by a.attnum),
         string_agg(
           case
             when a.base in ('json'::regtype, 'jsonb'::regtype) then
               -- its own text; a JSON null in the image is an SQL null, except in a key, which is never null
               format(case when a.attname = any (texts)
                           then 'i.image ->> %1$L'
                           when a.attnum = any (capture.key_columns) then '(i.image -> %1$L)::text'
                           else 'case when json_typeof(i.image -> %1$L) <> ''null'' then (i.image -> %1$L)::text end'
                           end, a.attname)
             when a.base = 'money'::regtype then
               format('(i.image ->> %L)::money::numeric::text', a.attname)
             when a.is_built then
               -- not read as a row of the table: the CHECKs of its domains are the code of who owns them
               format('rowrelay.value_text(i.image -> %L, %L, '''')', a.attname,
                      rowrelay.type_structure(a.atttypid, a.atttypmod))
             else
               format('i.image ->> %L', a.attname)
           end, ', ' order by a.attnum)
    into names, expressions
    from (select p.attname, p.attnum, p.atttypid, p.atttypmod, b.base,
                 json_typeof(image -> p.attname) in ('array', 'object') as is_built
            from pg_attribute p, rowrelay.base_type(p.atttypid) as b(base)
           where p.attrelid = capture.relation and p.attnum > 0 and not p.attisdropped and p.attgenerated = ''
             and p.attname in (select json_object_keys(image))) as a;
end
$$;
-- Purpose:    returns the values of row images as texts that the columns' types read back exactly, under any session
--             settings. Images of one table with the same columns are read by one query.
-- Parameters: changes; one image of each, null for none
-- Result:     for each image its position; {column: text, or null} for the columns of the image that can be written, by
--             their present names; null for null
-- Errors:     see rowrelay.text_columns()
create or replace function rowrelay.row_texts(changes rowrelay.change[], images json[], out place bigint,
                                              out texts jsonb) returns setof record
language plpgsql stable set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off
set plan_cache_mode = force_custom_plan as $$ -- plans for as many rows as there are
declare
  part    record;
  columns record;
begin
  return query select u.n, null::jsonb from unnest(images) with ordinality as u(image, n) where u.image is null;
  for part in
    select (array_agg(g.change order by g.n))[1] as change, array_agg(g.n order by g.n) as places,
           array_agg(i.image order by g.n) as images
      from (select c as change, c.id, c.capture, c.txid, (c.caveat -> 'text_columns')::text as text_columns,
                   row_number() over () as n
              from unnest(changes) as c) as g
      join unnest(images) with ordinality as i(image, n) on i.n = g.n and i.image is not null
     cross join lateral (select string_agg(format('%I %s', e.key, json_typeof(e.value) in ('array', 'object')), ', ')
                           from json_each(i.image) as e) as k(columns)
     -- what rowrelay.image_shape() asks of the change
     cross join lateral (select string_agg(concat(g.id <= s.from_id, s.altered_by <= g.txid), ', ' order by s.id)
                           from rowrelay.shape s where s.capture = g.capture) as h(shapes)
     group by g.capture, g.text_columns, k.columns, h.shapes
     order by min(g.id)
  loop
    columns := rowrelay.text_columns(part.change, part.images[1]);
    return query execute
      format('select u.n, %s from unnest($1, $2) as u(n, given) cross join lateral (select %s) as i(image)',
             case when columns.names is null then '''{}''::jsonb'
                  else format('jsonb_object($3, array[%s]::text[])', columns.expressions) end,
             case when columns.becomes is null then 'u.given'
                  else '(rowrelay.rename_image(u.given, null, $4, $5)).renamed' end)
      using part.places, part.images, columns.names, columns.called, columns.becomes;
  end loop;
end
$$;
-- Purpose:    returns the columns of captured tables, as the statements of an undo name and compare them
-- Parameters: captures
-- Result:     capture; number and name; name in SQL; type_cast: what follows a text of rowrelay.row_texts() to make it
--             a value that means the same under any session settings; key_place: position in the key, null: not of it;
--             equality: operator of the key's type; is_masked; what an INSERT has to know: is_generated, is_identity
--             (GENERATED ALWAYS), added_value: of rows that are older than the column
create or replace function rowrelay.undo_columns(captures integer[])
returns table (capture integer, number smallint, name text, identifier text, type_cast text, key_place bigint,
               equality text, is_masked boolean, is_generated boolean, is_identity boolean, added_value text)
language sql stable set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
  select c.id, a.attnum, a.attname, format('%I', a.attname),
         case when b.base = 'money'::regtype then '::numeric' else '' end
           || '::' || format_type(a.atttypid, a.atttypmod),
         u.place, coalesce(e.operator, '='), c.mask ? a.attnum::text or c.mask_names ? a.attname::text,
         a.attgenerated <> '', a.attidentity = 'a',
         case when not a.atthasmissing then null
              when b.base = 'money'::regtype then (a.attmissingval::text::money[])[1]::numeric::text
              else (a.attmissingval::text::text[])[1] end
    from rowrelay.capture c
    join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
   cross join rowrelay.base_type(a.atttypid) as b(base)
    left join unnest(rowrelay.live_key(c)) with ordinality as u(number, place) on u.number = a.attnum
    left join lateral (
      select format('operator(%I.%s)', n.nspname, o.oprname) as operator
        from pg_opclass k
        join pg_am m on m.oid = k.opcmethod and m.amname = 'btree'
        join pg_amop p on p.amopfamily = k.opcfamily and p.amoplefttype = k.opcintype and p.amoprighttype = k.opcintype
                      and p.amopstrategy = 3
        join pg_operator o on o.oid = p.amopopr
        join pg_namespace n on n.oid = o.oprnamespace and n.nspname <> 'pg_catalog'
       where k.opcdefault and k.opcintype = b.base and u.place is not null) as e on true
   where c.id = any (captures)
$$;
-- Purpose:    returns SQL that finds each of many rows, which are called t
-- Parameters: captures; values of a row of each, see rowrelay.row_texts()
-- Result:     position; by_key: "this row exists", empty for a table without a key; exactly: "this row exists with
--             exactly these values": the key, and all values that the log has, compared byte by byte (*=), because =
--             takes 1.0 for 1.00 and some types have no =
create or replace function rowrelay.row_conditions(captures integer[], texts jsonb[])
returns table (place bigint, by_key text, exactly text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with known as materialized (
    select k.*, k.key_place is null or not c.key_is_exact as is_compared
      from rowrelay.undo_columns(captures) as k join rowrelay.capture c on c.id = k.capture
     where k.key_place is not null or not k.is_masked -- a mask is not the row's value
  ), row_values as (
    select g.place,
           coalesce(string_agg(format('t.%s %s %s', k.identifier, k.equality, v.literal), ' and ' order by k.key_place)
                      filter (where k.key_place is not null), '') as by_key,
           string_agg('t.' || k.identifier, ', ' order by k.number) filter (where k.is_compared) as names,
           string_agg(v.literal, ', ' order by k.number) filter (where k.is_compared) as literals
      from unnest(captures, texts) with ordinality as g(capture, texts, place)
      left join known k on k.capture = g.capture and g.texts ? k.name
     cross join lateral (select quote_nullable(g.texts ->> k.name) || k.type_cast) as v(literal)
     group by g.place
  )
  select r.place, r.by_key,
         concat_ws(' and ', nullif(r.by_key, ''),
                   'row(' || r.names || ')::record *= row(' || r.literals || ')::record')
    from row_values r
$$;
-- Purpose:    whether an image of a deleted row is the whole row rather than only its key (rowrelay.key_row)
-- Parameters: capture; values, see rowrelay.row_texts()
-- Result:     true also for an image from before columns were added, which have higher numbers than those in the image
create or replace function rowrelay.is_whole_row(capture rowrelay.capture, image jsonb) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  with wanted as (
    select a.attnum, a.attname in (select jsonb_object_keys(image)) as is_there,
           a.attnum = any (capture.key_columns || rowrelay.document_columns(capture.id)) as is_always_there
      from pg_attribute a, rowrelay.image_columns(capture) as i
     where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       and (i.keep is null or a.attname = any (i.keep)) and a.attname <> all (i.leave_out)
  )
  select (bool_or(w.is_there and not w.is_always_there) or bool_and(w.is_there))
     and not bool_or(not w.is_there and w.attnum < (select max(t.attnum) from wanted t where t.is_there))
    from wanted w
$$;
-- Purpose:    refuses a change whose images no longer show what the row was, because values were redacted
-- Parameters: change; its capture
-- Errors:     values of the change were redacted
create or replace function rowrelay.check_not_redacted(change rowrelay.change, capture rowrelay.capture) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if change.caveat -> 'redacted' is not null then
    raise exception 'row % of table % cannot be undone: change % is redacted', change.key, capture.relation, change.id
      using errcode = 'object_not_in_prerequisite_state',
            detail = format('The values of these columns were removed from the log, which has null for them: %s.',
                            (select string_agg(c, ', ')
                             from json_array_elements_text(change.caveat -> 'redacted') as c)),
            hint = 'Correct the row by hand; for what the log has: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         capture.relation::text);
  end if;
end
$$;
-- Purpose:    refuses a change that cannot be undone, whatever its row was before
-- Parameters: change; its capture
-- Errors:     a truncate, one that could not be captured, an update that a row filter turned into an insert or delete,
--             one whose values were redacted
create or replace function rowrelay.check_undoable(change rowrelay.change, capture rowrelay.capture) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if change.op = 't' then
    raise exception 'change % cannot be undone: it truncated table %', change.id, capture.relation
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'The rows are in the log, at a time before it: '
                     || rowrelay.command('rowrelay log %1$s --as-of TIME',
                                         'insert into %1$s select * from rowrelay.as_of(null::%1$s, ''TIME'');',
                                         capture.relation::text);
  elsif change.caveat -> 'problem' is not null or change.op <> 'd' and change.new_row is null then
    raise exception 'change % of table % cannot be undone: it could not be captured', change.id, capture.relation
      using errcode = 'object_not_in_prerequisite_state', detail = change.caveat ->> 'problem';
  elsif change.caveat -> 'filtered' is not null then
    raise exception 'change % of table % cannot be undone: %', change.id, capture.relation,
                    case change.op when 'i' then 'the row existed before' else 'the row still exists' end
      using errcode = 'object_not_in_prerequisite_state',
            detail = format(
              'An update made it %s the row filter (%s), and the log does not have the row from before it.',
              case change.op when 'i' then 'meet' else 'fail' end, capture.row_filter),
            hint = 'Correct the row by hand.';
  end if;
  perform rowrelay.check_not_redacted(change, capture);
end
$$;
-- Purpose:    returns what each change left of its row, and what the row was before: the image kept with the change,
--             else that of the row's previous change
-- Parameters: changes of one transaction that passed rowrelay.check_undoable()
-- Result:     a step for each change of a row
-- Errors:     the log lacks the row before an update or delete; see rowrelay.row_texts()
create or replace function rowrelay.undo_rows(changes rowrelay.change[]) returns setof rowrelay.undo_step
language plpgsql stable set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan as $$ -- plans for as many rows as there are
declare
  given    rowrelay.change[];
  keys     text[];
  previous rowrelay.change[]; -- of the same row
  kept     jsonb[];           -- images before the changes
  is_kept  boolean[];         -- they are whole rows, or all that is needed
  lacking  rowrelay.change;
  capture  rowrelay.capture;
begin
  -- the previous change of each row: of this transaction, else the last one before it
  with spelled as materialized (
    select s.* from rowrelay.one_spelling(array(select c.capture from unnest(changes) as c),
                                          array(select c.key from unnest(changes) as c)) as s
  ), change as materialized (
    select c as change, coalesce(s.row_key, c.key) as row_key,
           lag(c) over (partition by c.capture, coalesce(s.row_key, c.key) order by c.id) as previous
      from unnest(changes) as c left join spelled s on s.capture = c.capture and s.key = c.key
     where c.op in ('i', 'u', 'd', 't')
  ), wanted as materialized (
    select array_agg((g.change).id order by (g.change).id) as ids,
           array_agg(k.relation order by (g.change).id) as relations,
           array_agg((g.change).key order by (g.change).id) as keys
      from change g join rowrelay.capture k on k.id = (g.change).capture
     where (g.previous).id is null and (g.change).key is not null
       and ((g.change).op = 'u' and (g.change).old_row is null or (g.change).op = 'd')
  ), former as materialized (
    select w.ids[l.position] as id, l.change_id, l.day
      from wanted w
     cross join lateral rowrelay.latest_changes(w.relations, w.keys, null, w.ids, '{i,u,d,s}') as l
  )
  select array_agg(g.change order by (g.change).id), array_agg(g.row_key order by (g.change).id),
         array_agg(case when (g.change).key is null then null when (g.previous).id is not null then g.previous
                   else h.former end order by (g.change).id)
    into given, keys, previous
    from change g
    left join former f on f.id = (g.change).id
    left join lateral (select row(c.*)::rowrelay.change as former from rowrelay.readable_change c
                       where c.id = f.change_id and c.day = f.day offset 0) as h on true;

  kept := array(select t.texts from rowrelay.row_texts(given, array(select c.old_row from unnest(given) as c)) as t
                 order by t.place);
  with image as materialized (
    select c.n, c.op, c.capture, k.texts,
           case when c.op = 'd' then array(select jsonb_object_keys(k.texts)) end as names
      from (select g.op, g.capture, row_number() over () as n from unnest(given) as g) as c
      join unnest(kept) with ordinality as k(texts, n) using (n)
  ), whole as materialized ( -- asked once for all images with the same columns
    select i.capture, i.names, rowrelay.is_whole_row(c, i.texts) as is_whole
      from (select distinct on (e.capture, e.names) e.* from image e where e.op = 'd' and e.texts is not null) as i
      join rowrelay.capture c on c.id = i.capture
  )
  select array_agg(i.op = 'i' or i.texts is not null and (i.op = 'u' or w.is_whole) order by i.n) into is_kept
    from image i left join whole w on w.capture = i.capture and w.names = i.names;

  select (g.change).* into lacking
    from (select c as change, c.capture, row_number() over () as n from unnest(given) as c) as g
    join (select p.capture, p.new_row, row_number() over () as n from unnest(previous) as p) as p using (n)
   where not is_kept[n] and (p.new_row is null or p.capture <> g.capture)
   order by n limit 1;
  if lacking.id is not null then
    select c.* into strict capture from rowrelay.capture c where c.id = lacking.capture;
    raise exception 'the log does not have row % of table % as it was before change %', lacking.key,
      capture.relation, lacking.id
      using errcode = 'object_not_in_prerequisite_state',
            detail = 'No image before the change was kept, and the row''s previous change is not in the log.',
            hint = 'To keep such images from now on: '
                     || rowrelay.command('rowrelay capture %s --before',
                                         'select rowrelay.capture_table(%L, before => ''full'');',
                                         rowrelay.full_name(capture.relation));
  end if;
  perform rowrelay.check_not_redacted(p.previous, c)
     from (select u as previous, u.capture, row_number() over () as n from unnest(previous) as u) as p
     join rowrelay.capture c on c.id = p.capture
    where not is_kept[p.n];

  return query
    select c.id, c.id, c.capture, k.relation, case when c.op <> 'd' then c.key end,
           case when c.op <> 'i' then c.key end, w.texts,
           case when c.op = 'i' then null when is_kept[c.n] then o.texts
                else p.texts || coalesce(o.texts, '{}') end
      from (select g.id, g.capture, g.op, keys[row_number() over ()] as key, row_number() over () as n
              from unnest(given) as g) as c
      join rowrelay.capture k on k.id = c.capture
      join unnest(kept) with ordinality as o(texts, n) on o.n = c.n
      join rowrelay.row_texts(given, array(select case when g.op <> 'd' then g.new_row end from unnest(given) as g))
             as w on w.place = c.n
      join rowrelay.row_texts(previous, array(select case when not is_kept[u.n] then u.new_row end
                                                from (select p.new_row, row_number() over () as n
                                                        from unnest(previous) as p) as u)) as p on p.place = c.n;
end
$$;
-- Purpose:    whether a delete and the insert right after it are an update of one row: they have the same key, or
--             differ only in the key, or foreign keys follow updates of the key
-- Parameters: capture; names of its key's columns; step that restores the old row; step that removes the new one
create or replace function rowrelay.is_same_row(capture rowrelay.capture, key_names text[],
                                                gone rowrelay.undo_step, come rowrelay.undo_step) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select gone.capture = come.capture and cardinality(key_names) > 0
     and (gone.be_key = come.was_key
          or (gone.be - key_names = come.was - key_names
              or exists (select from pg_constraint c where c.contype = 'f' and c.confrelid = capture.relation
                         and c.confupdtype = 'c'))
             -- GENERATED ALWAYS AS IDENTITY cannot be updated
             and not exists (select from pg_attribute a
                              where a.attrelid = capture.relation and a.attname = any (key_names)
                                and a.attidentity = 'a'))
$$;
-- Purpose:    returns the steps that undo changes, one each, in the order of the changes. A delete and the insert right
--             after it are one step when they are one row: an update of a key, or one that moves a row to another
--             partition, is captured so.
-- Parameters: changes of one transaction
-- Result:     steps; none for what changed no row (snapshots, barriers, refreshed documents)
-- Errors:     a change of a row that its statement wrote several times; see rowrelay.check_undoable() and
--             rowrelay.undo_rows()
create or replace function rowrelay.undo_steps(changes rowrelay.change[]) returns rowrelay.undo_step[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  change    rowrelay.change;
  capture   rowrelay.capture;
  step      rowrelay.undo_step;
  last      rowrelay.undo_step;
  steps     rowrelay.undo_step[] := '{}';
  key_names text[];
begin
  -- The image before is that of one of several rows with this key that came and went in one statement.
  select c.* into change
    from unnest(changes) as c
   where c.op = 'r' and c.caveat -> 'left_out' is not null
   order by c.id limit 1;
  if found then
    select c.* into strict capture from rowrelay.capture c where c.id = change.capture;
    raise exception 'row % of table % cannot be undone: one statement wrote it several times', change.key,
      capture.relation_name
      using errcode = 'object_not_in_prerequisite_state',
            detail = 'A trigger or function wrote it too, and the log does not have the row as it was in between.',
            hint = 'Correct the row by hand; for what the log has: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         capture.relation_name);
  end if;
  for change in
    select c.* from unnest(changes) as c where c.op in ('i', 'u', 'd', 't') order by c.id
  loop
    if capture.id is distinct from change.capture then
      select c.* into strict capture from rowrelay.capture c where c.id = change.capture;
      if not exists (select from pg_class r where r.oid = capture.relation) then
        raise exception 'change % cannot be undone: table % is gone', change.id, capture.relation_name
          using errcode = 'undefined_table';
      elsif cardinality(rowrelay.live_key(capture)) = 0
            and (capture.only_columns is not null or capture.exclude_names <> '{}' or capture.mask_names <> '{}') then
        raise exception 'change % cannot be undone: table % has no key, and not all of its columns are captured',
                        change.id, capture.relation
          using errcode = 'object_not_in_prerequisite_state',
                detail = 'Several rows may be equal in those that are captured, so nobody knows which one it changed.',
                hint = 'Correct the row by hand.';
      end if;
    end if;
    perform rowrelay.check_undoable(change, capture);
  end loop;

  for step in
    select s.* from rowrelay.undo_rows(changes) as s order by s.change_id
  loop
    if capture.id is distinct from step.capture then
      select c.* into strict capture from rowrelay.capture c where c.id = step.capture;
      key_names := null;
    end if;
    key_names := coalesce(key_names, rowrelay.attribute_names(capture.relation, rowrelay.live_key(capture)));
    if step.be is null and last.was is null and last.be is not null
       and rowrelay.is_same_row(capture, key_names, last, step) then
      step.first_id := last.first_id;
      step.be_key := last.be_key;
      step.be := last.be;
      steps[cardinality(steps)] := step;
    else
      steps := steps || step;
    end if;
    last := step;
  end loop;
  return steps;
end
$$;
-- Purpose:    lists the tables in which the delete of a row would delete or update rows (ON DELETE CASCADE, SET NULL,
--             SET DEFAULT)
-- Parameters: relation; names of the referenced row and of the one that refers, in the statement
-- Result:     table; condition
create or replace function rowrelay.rows_that_would_follow(relation regclass, row_name text, child_name text,
                                                           out child regclass, out condition text) returns setof record
language sql stable set search_path = pg_catalog, pg_temp as $$
  select k.conrelid::regclass,
         (select string_agg(format('%I.%I = %I.%I', child_name, c.attname, row_name, p.attname), ' and '
                            order by u.position)
            from unnest(k.conkey, k.confkey) with ordinality as u(child_number, parent_number, position)
            join pg_attribute c on c.attrelid = k.conrelid and c.attnum = u.child_number
            join pg_attribute p on p.attrelid = k.confrelid and p.attnum = u.parent_number)
           -- a row may refer to itself
           || case when k.conrelid = relation
             then format(' and (%1$I.tableoid, %1$I.ctid) <> (%2$I.tableoid, %2$I.ctid)', child_name, row_name)
                   else '' end
    from pg_constraint k
   where k.contype = 'f' and k.confrelid = relation and k.confdeltype in ('c', 'n', 'd')
     -- the constraint of the partitioned table stands for those of its partitions
     and not exists (select from pg_constraint w where w.oid = k.conparentid and w.confrelid = k.confrelid)
$$;
-- Purpose:    refuses to insert a deleted row again if the log does not have all of it
-- Parameters: step that inserts a row
-- Errors:     columns were left out or masked when it was captured; a column was added since then, whose values were
--             computed for each row; the table has inheritance children
create or replace function rowrelay.check_insertable(step rowrelay.undo_step) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  lost text;
begin
  if exists (select from pg_inherits i join pg_class p on p.oid = i.inhparent
              where i.inhparent = step.relation and p.relkind = 'r') then
    raise exception 'change % of table % cannot be undone: the log does not say which inheritance child held the row',
                    step.change_id, step.relation using errcode = 'feature_not_supported';
  end if;
  select string_agg(format('"%s"', a.attname), ', ' order by a.attnum)
    into lost
    from rowrelay.capture c
   cross join rowrelay.image_columns(c) as i
    join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   where c.id = step.capture
     and (not step.be ? a.attname::text
            and (a.attname = any (i.leave_out) or a.attname <> all (i.keep)
                 -- what a row that is older than the column has is known only while it is not written into each row
                 or not a.atthasmissing and (a.atthasdef or a.attidentity <> ''))
          or a.attname in (select json_object_keys(i.masks)));
  if lost is not null then
    raise exception 'change % of table % cannot be undone: the log does not have column %', step.change_id,
      step.relation, lost
      using errcode = 'object_not_in_prerequisite_state',
            detail = 'It is left out, masked or newer than the change, and the row would come back without it.',
            hint = 'Insert the row by hand; for its other columns: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         step.relation::text);
  end if;
end
$$;
-- Purpose:    returns the statement of each step. It changes nothing when the row is not as the log left it, or when a
--             row with the key of one that comes back exists.
-- Parameters: steps
-- Result:     position of the step; INSERT, UPDATE or DELETE, null: there is nothing to change that the log knows of
-- Errors:     the log does not have columns that it would have to write, because they are left out or masked
create or replace function rowrelay.undo_statements(steps rowrelay.undo_step[])
returns table (place bigint, statement text)
language plpgsql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off
set plan_cache_mode = force_custom_plan as $$ -- plans for as many rows as there are
begin
  perform rowrelay.check_insertable(i.step) -- asked once for all rows with the same columns
     from (select distinct on (s.capture, n.names) s as step
             from unnest(steps) as s cross join lateral (select array(select jsonb_object_keys(s.be))) as n(names)
            where s.was is null
            order by s.capture, n.names, s.change_id) as i;
  return query
    with keyed as materialized (
      select c.id from rowrelay.capture c
       where c.id in (select u.capture from unnest(steps) as u) and cardinality(rowrelay.live_key(c)) > 0
    ), step as materialized (
      select s.*, s.capture in (select k.id from keyed k) as has_key
        from unnest(steps) with ordinality as s(change_id, first_id, capture, relation, was_key, be_key, was, be, n)
    ), condition as materialized (
      select r.*
        from (select array_agg(s.capture order by s.n) as captures,
                     array_agg(coalesce(s.was, s.be) order by s.n) as texts
                from step s) as a
       cross join rowrelay.row_conditions(a.captures, a.texts) as r
    ), written as materialized (
      select s.n, bool_or(c.is_identity) as is_identity, string_agg(c.identifier, ', ' order by c.number) as names,
             string_agg(v.literal, ', ' order by c.number) as literals,
             string_agg(c.identifier || ' = ' || v.literal, ', ' order by c.number) as assignments
        from step s
        join rowrelay.undo_columns(array(select distinct u.capture from unnest(steps) as u)) as c
          on c.capture = s.capture and not c.is_generated
       cross join lateral (select quote_nullable(case when s.be ? c.name then s.be ->> c.name else c.added_value end)
                                    || c.type_cast) as v(literal)
       where s.was is null
          or s.be ? c.name and s.was ? c.name and s.was ->> c.name is distinct from s.be ->> c.name and not c.is_masked
       group by s.n
    ), follower as materialized (
      -- rows that refer to it are not part of this change, and must not be deleted with it
      select d.relation, string_agg(format(' and not exists (select from %s as c where %s)', r.child, r.condition), ''
                                    order by r.child::text) as absent
        from (select distinct s.relation from step s where s.be is null) as d
       cross join rowrelay.rows_that_would_follow(d.relation, 't', 'c') as r
       group by d.relation
    )
    select s.n,
           case
             when s.was is null then
               case when w.n is null then format('insert into %s default values', s.relation) -- it has no columns
                    else format('insert into %s (%s)%s select %s', s.relation, w.names,
                                case when w.is_identity then ' overriding system value' else '' end, w.literals) end
                 || case when c.by_key <> ''
                         then format(' where not exists (select from %s as t where %s)', s.relation, c.by_key)
                         else '' end
             when s.be is null then
               format('delete from %s as t where %s', s.relation, p.condition) || coalesce(f.absent, '')
             when w.n is not null then
               format('update %s as t set %s where %s', s.relation, w.assignments, p.condition)
           end
      from step s
      join condition c on c.place = s.n
      left join written w on w.n = s.n
      left join follower f on f.relation = s.relation
     cross join lateral (
       select case when s.has_key then c.exactly
                   -- one of several equal rows
                   else format('(t.tableoid, t.ctid) = (select t.tableoid, t.ctid from %s as t where %s limit 1)',
                               s.relation, coalesce(nullif(c.exactly, ''), 'true')) end) as p(condition);
end
$$;
-- Purpose:    returns a row's values in some columns, to find rows that refer to each other
-- Parameters: values, see rowrelay.row_texts(); columns
-- Result:     texts in the order of the columns; null when one of them is null
create or replace function rowrelay.values_of(texts jsonb, names text[]) returns text[]
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case when bool_and(texts ->> n.name is not null) then array_agg(texts ->> n.name order by n.position) end
    from unnest(names) with ordinality as n(name, position)
$$;
-- Purpose:    finds the steps that foreign keys make wait for a step of an earlier change. The reverse order is usually
--             right. But what a constraint did to referring rows (ON DELETE CASCADE, ...) is captured after the change
--             of the row they refer to, which has to be restored first. Deferrable constraints are deferred
--             (rowrelay.undo_defers) and need no order.
-- Parameters: steps in the order of their changes
-- Result:     position of a step; of one that must be done before it; whether the first needs no statement, because ON
--             UPDATE CASCADE will do it
create or replace function rowrelay.undo_references(steps rowrelay.undo_step[], out step integer, out needs integer,
                                                    out follows boolean) returns setof record
language sql stable set search_path = pg_catalog, pg_temp
set enable_nestloop = off set enable_mergejoin = off as $$ -- the planner expects ten steps, there may be many thousands
  with given as materialized (
    select u.position::integer as position, u.relation, u.was_key, u.be_key, u.was, u.be
      from unnest(steps) with ordinality as u(change_id, first_id, capture, relation, was_key, be_key, was,
                                              be, position)
  ), reference as materialized (
    select k.oid, k.conrelid, k.confrelid, k.confupdtype, k.condeferrable,
           rowrelay.attribute_names(k.conrelid, k.conkey) as child_names,
           rowrelay.attribute_names(k.confrelid, k.confkey) as parent_names
      from pg_constraint k
     where k.contype = 'f' and k.conrelid in (select relation from given)
       and k.confrelid in (select relation from given)
  ), child as materialized (
    -- rows whose reference changed
    select r.oid, r.confupdtype, r.condeferrable, g.position, rowrelay.values_of(g.was, r.child_names) as was,
           rowrelay.values_of(g.be, r.child_names) as be,
           coalesce(g.was - r.child_names = g.be - r.child_names, false) as rest_stays
      from given g join reference r on r.conrelid = g.relation
     where rowrelay.values_of(g.was, r.child_names) is distinct from rowrelay.values_of(g.be, r.child_names)
  ), parent as materialized (
    -- rows whose referenced values changed
    select r.oid, g.position, rowrelay.values_of(g.was, r.parent_names) as was,
           rowrelay.values_of(g.be, r.parent_names) as be, g.was is not null and g.be is not null as is_update
      from given g join reference r on r.confrelid = g.relation
     where rowrelay.values_of(g.was, r.parent_names) is distinct from rowrelay.values_of(g.be, r.parent_names)
  ), event as (
    -- a referenced value may come and go several times, and so may the rows that refer to it
    select p.oid, p.was as referred, p.position, 'comes' as what from parent p where p.was is not null
    union all
    select p.oid, p.be, p.position, 'goes' from parent p where p.be is not null
    union all
    select c.oid, c.be, c.position, 'was used' from child c where c.be is not null
  ), neighbour as (
    select e.what, e.position,
           max(e.position) filter (where e.what = 'goes') over before as gone,
           max(e.position) filter (where e.what = 'comes') over before as come_before,
           e.oid
      from event e
    window before as (partition by e.oid, e.referred order by e.position range between unbounded preceding
                      and 1 preceding)
  )
  select n.position, n.gone, f.follows
    from neighbour n
    join child c on c.oid = n.oid and c.position = n.position
    join parent p on p.oid = n.oid and p.position = n.gone
    cross join lateral (select c.confupdtype = 'c' and p.is_update and c.was = p.was and c.rest_stays) as f(follows)
   where n.what = 'was used' and n.gone > coalesce(n.come_before, 0) and (f.follows or not c.condeferrable)
  union all
  -- the steps of one row stay in their order
  select o.position, o.newer, false
    from (select s.position, lead(s.position) over (partition by s.relation, s.key order by s.position) as newer
            from (select g.position, g.relation, unnest(array[g.was_key, nullif(g.be_key, g.was_key)]) as key
                  from given g) as s
           where s.key is not null and exists (select from reference)) as o
   where o.newer <> o.position
$$;
-- Purpose:    puts steps into the order to run: the last change first, unless a foreign key needs another order
-- Parameters: steps in the order of their changes
-- Result:     the steps that need a statement
create or replace function rowrelay.undo_order(steps rowrelay.undo_step[]) returns rowrelay.undo_step[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  -- which steps each one needs done before it; and those that a constraint does, so that they need no statement
  needs    jsonb;
  follows  integer[];
  begun    boolean[] := array_fill(false, array[cardinality(steps)]);
  done     boolean[] := begun;
  waiting  integer[];
  awaited  jsonb;
  top      integer;
  next     integer;
  ordered  rowrelay.undo_step[] := '{}';
begin
  select jsonb_object_agg(e.step, e.needs), array_agg(distinct e.step) filter (where e.follows)
    into needs, follows
    from (select r.step, jsonb_agg(r.needs order by r.needs desc) as needs, bool_or(r.follows) as follows
            from rowrelay.undo_references(steps) r group by r.step) as e;

  for start in reverse cardinality(steps) .. 1 loop
    waiting := array[start];
    while cardinality(waiting) > 0 loop
      top := waiting[cardinality(waiting)];
      begun[top] := true;
      -- steps that need each other: stop at the one that has begun
      awaited := needs -> top::text;
      next := null;
      if awaited is not null and not done[top] then
        select n::integer into next from jsonb_array_elements_text(awaited) as n where not begun[n::integer] limit 1;
      end if;
      if next is not null then
        waiting := waiting || next;
      else
        if not done[top] then
          done[top] := true;
          if top = any (follows) is not true then
            ordered := ordered || steps[top];
          end if;
        end if;
        waiting := waiting[1:cardinality(waiting) - 1];
      end if;
    end loop;
  end loop;
  return ordered;
end
$$;
-- Purpose:    whether constraints of the tables can be deferred: only so can rows that refer to each other be written
-- Parameters: steps
create or replace function rowrelay.undo_defers(steps rowrelay.undo_step[]) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select cardinality(steps) > 1
     and exists (select from pg_constraint c where c.condeferrable
                 and c.conrelid in (select s.relation from unnest(steps) as s))
$$;
-- Purpose:    refuses to undo changes after which their rows were changed again
-- Parameters: the changes to undo, each the last of its row
-- Errors:     the log has a later change of one of the rows, or a truncate of its table
create or replace function rowrelay.check_not_changed_since(changes rowrelay.change[]) returns void
language plpgsql stable as $$
declare
  last record;
begin
  with ours as materialized (
    select array_agg(r.relation order by r.last_id) as relations, array_agg(r.key order by r.last_id) as keys,
           array_agg(r.last_id order by r.last_id) as ids
      from (select c.relation, h.key, max(h.id) as last_id
              from unnest(changes) as h join rowrelay.capture c on c.id = h.capture
             where h.op in ('i', 'u', 'd') and h.key is not null
             group by c.relation, h.key) as r
  )
  select o.relations[l.position] as relation, o.keys[l.position] as key, o.ids[l.position] as last_id, h.id, h.op,
         coalesce(h.actor, h.db_user) as actor, h.captured_at into last
    from ours o
    cross join lateral rowrelay.latest_changes(o.relations, o.keys, o.ids, null, '{i,u,d}') as l
    cross join lateral (select c.* from rowrelay.readable_change c where c.id = l.change_id
                        and c.day = l.day offset 0) as h
   where not exists (select from unnest(changes) as u where u.id = h.id) -- under another spelling of the key
   order by h.id desc limit 1;
  if last.id is not null then
    raise exception 'row % of table % was changed again later', last.key, last.relation
      using errcode = 'object_not_in_prerequisite_state',
            detail = format('Change %s (%s by %s at %s) came after change %s.', last.id,
                            case last.op when 'i' then 'insert' when 'u' then 'update' else 'delete' end,
                            last.actor, last.captured_at, last.last_id),
            hint = 'Undo that change first, or correct the row by hand.';
  end if;

  select o.relation, t.change_id into last
    from (select c.relation, min(h.id) as first_id
            from unnest(changes) as h join rowrelay.capture c on c.id = h.capture group by c.relation) as o
    cross join lateral rowrelay.truncates_of(o.relation) as t
   where t.change_id > o.first_id
     and not exists (select from unnest(changes) as h where h.id = t.change_id)
   limit 1;
  if found then
    raise exception 'table % was truncated later', last.relation
      using errcode = 'object_not_in_prerequisite_state', detail = format('Change %s truncated it.', last.change_id),
            hint = 'Correct the rows by hand.';
  end if;
end
$$;
-- Purpose:    says in words how a row differs from what it should be
-- Parameters: capture; values with the row's key; the values that the row should have, null: it should not exist
-- Result:     null: it does not differ
create or replace function rowrelay.undo_obstacle(capture_id integer, key_texts jsonb, texts jsonb) returns text
language plpgsql as $$
declare
  capture rowrelay.capture;
  name    text;
  place   text;
  there   boolean;
  other   text;
begin
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  name := rowrelay.full_name(capture.relation);
  select coalesce(nullif(r.by_key, ''), nullif(r.exactly, ''), 'true') into strict place
    from rowrelay.row_conditions(array[capture_id], array[key_texts]) as r;
  execute format('select exists (select from %s as t where %s)', name, place) into there;
  if texts is null or not there then
    return case when there then 'A row with its key exists' when texts is not null then 'The row does not exist' end;
  end if;
  select string_agg(format('case when not row(t.%s)::record *= row(%s)::record then %L end', c.identifier,
                           quote_nullable(texts ->> c.name) || c.type_cast, c.name), ', ' order by c.number)
    into other
    from rowrelay.undo_columns(array[capture_id]) as c
   where texts ? c.name and not c.is_masked;
  -- an array, because a function takes at most 100 arguments
  execute format('select array_to_string(array[%s]::text[], '', '') from %s as t where %s limit 1', other, name,
                 place) into other;
  return 'It has other values in: ' || nullif(other, '');
end
$$;
-- Purpose:    counts the rows of tables without a key that are equal to those of some steps: such a row is known by its
--             values alone
-- Parameters: steps
-- Result:     a row for each set of values, in the same order each time: how many rows have them now; how many more will
--             have them when all steps are undone; the first change of such a row
create or replace function rowrelay.rows_alike(steps rowrelay.undo_step[])
returns table (place bigint, relation regclass, change_id bigint, n bigint, added bigint)
language plpgsql as $$ -- with the caller's rights and search_path, as rowrelay.undo_apply()
declare
  condition text;
begin
  for place, relation, change_id, added, condition in
    with keyless as materialized (
      select c.id from rowrelay.capture c
       where c.id in (select s.capture from unnest(steps) as s) and cardinality(rowrelay.live_key(c)) = 0
    ), alike as materialized (
      select row_number() over (order by s.relation::oid, v.texts) as place, s.relation, s.capture, v.texts,
             min(s.change_id) as change_id, sum(v.added) as added
        from unnest(steps) as s
        join keyless k on k.id = s.capture
       cross join lateral (values (s.was, -1), (s.be, 1)) as v(texts, added)
       where v.texts is not null
       group by s.relation, s.capture, v.texts
    ), asked as materialized (
      select array_agg(a.capture order by a.place) as captures, array_agg(a.texts order by a.place) as texts
        from alike a
    )
    select a.place, a.relation, a.change_id, a.added, coalesce(nullif(r.exactly, ''), 'true')
      from alike a
      join (select r.* from asked cross join rowrelay.row_conditions(asked.captures, asked.texts) as r) as r
           on r.place = a.place
     order by a.place
  loop
    execute format('select count(*) from %s as t where %s', rowrelay.full_name(relation), condition) into n;
    return next;
  end loop;
end
$$;
-- Purpose:    verifies that all rows are as they were before the changes
-- Parameters: steps in the order of their changes; what rowrelay.rows_alike() returned for them before they were undone
-- Errors:     a row is not, because a trigger or default of its table changed what was written
create or replace function rowrelay.check_undone(steps rowrelay.undo_step[], alike_before bigint[]) returns void
language plpgsql as $$
declare
  row_was   record;
  is_undone boolean;
  obstacle  text;
begin
  for row_was in
    select a.relation, a.change_id
      from rowrelay.rows_alike(steps) as a
     where a.n is distinct from alike_before[a.place] + a.added
     order by a.change_id limit 1
  loop
    raise exception 'table % would not have the row that it had before change %', row_was.relation, row_was.change_id
      using errcode = 'triggered_data_change_violation',
            detail = 'Another number of rows would be equal to it. Nothing was undone.',
            hint = format('A trigger or default of the table changes what is written. Without %s you get the '
                          'statements, to run by hand.', rowrelay.command('--apply', 'apply'));
  end loop;
  for row_was in
    -- each row before its first change; one whose key was updated is checked under both keys
    with row_was as materialized (
      select distinct on (s.relation, k.key) k.key, s.relation, s.change_id, s.capture,
             case when k.key = s.be_key then s.be else s.was end as key_texts,
             case when k.key = s.be_key then s.be end as texts
        from unnest(steps) as s, unnest(array[s.was_key, nullif(s.be_key, s.was_key)]) as k(key)
       where k.key is not null
       order by s.relation, k.key, s.change_id
    ), asked as materialized (
      select array_agg(w.capture order by w.relation, w.key) as captures,
             array_agg(w.key_texts order by w.relation, w.key) as texts
        from row_was w
    )
    select w.*,
           format(case when w.texts is null then 'select not exists (select from %s as t where %s)'
                       else 'select exists (select from %s as t where %s)' end, rowrelay.full_name(w.relation),
                  case when w.texts is null then coalesce(nullif(r.by_key, ''), r.exactly) else r.exactly end) as query
      from (select w.*, row_number() over (order by w.relation, w.key) as place from row_was w) as w
      join (select r.* from asked a cross join rowrelay.row_conditions(a.captures, a.texts) as r) as r using (place)
     order by w.place
  loop
    execute row_was.query into is_undone;
    continue when is_undone;
    obstacle := rowrelay.undo_obstacle(row_was.capture, row_was.key_texts, row_was.texts);
    if obstacle is not null then
      raise exception 'row % of table % would not be as it was before change %', row_was.key, row_was.relation,
        row_was.change_id
        using errcode = 'triggered_data_change_violation', detail = obstacle || '. Nothing was undone.',
              hint = format('A trigger or default of the table changes what is written. Without %s you get the '
                            'statements, to run by hand.', rowrelay.command('--apply', 'apply'));
    end if;
  end loop;
end
$$;
-- Purpose:    undoes changes: locks the rows, checks again that nobody has changed them, runs each step, and verifies
--             the result
-- Parameters: changes; steps as rowrelay.undo_steps() returns them; the same in the order to run
-- Result:     the statements that were run
-- Errors:     row-level security hides rows of a table from the caller; a row is not as the log left it; a trigger or
--             default changes what is written. Nothing has changed then.
create or replace function rowrelay.undo_apply(changes rowrelay.change[], steps rowrelay.undo_step[],
                                               ordered rowrelay.undo_step[]) returns setof text
language plpgsql as $$ -- with the caller's search_path: the table's own triggers may count on it
declare
  step         record;
  row_lock     text;
  obstacle     text;
  n            bigint;
  alike_before bigint[];
begin
  -- the tables of the rows, and those that a foreign key would change with them
  perform rowrelay.check_sees_all(t.relation)
     from (select s.relation from unnest(steps) as s
            union
           select k.conrelid from pg_constraint k
            where k.contype = 'f' and k.confdeltype in ('c', 'n', 'd')
              and k.confrelid in (select s.relation from unnest(steps) as s)) as t;
  for row_lock in
    select format('select from %s as t where %s for update', rowrelay.full_name(a.relations[r.place]), r.by_key)
      from (select array_agg(s.capture order by s.relation::oid, s.was_key) as captures,
                   array_agg(s.was order by s.relation::oid, s.was_key) as texts,
                   array_agg(s.relation order by s.relation::oid, s.was_key) as relations
              from (select distinct on (u.relation, u.was_key) u.*
                      from unnest(steps) as u where u.was_key is not null) as s) as a
     cross join rowrelay.row_conditions(a.captures, a.texts) as r
     where r.by_key <> ''
     order by r.place
  loop
    execute row_lock;
  end loop;
  perform rowrelay.check_not_changed_since(changes);

  alike_before := array(select a.n from rowrelay.rows_alike(steps) as a order by a.place);
  if rowrelay.undo_defers(steps) then
    set constraints all deferred;
    return next 'set constraints all deferred';
  end if;
  for step in
    select s.*, w.statement
      from unnest(ordered) with ordinality as s(change_id, first_id, capture, relation, was_key, be_key, was, be, place)
      join rowrelay.undo_statements(ordered) as w using (place)
     where w.statement is not null
     order by place
  loop
    execute step.statement;
    get diagnostics n = row_count;
    if n <> 1 then
      obstacle := coalesce(rowrelay.undo_obstacle(step.capture, coalesce(step.was, step.be), step.was),
                           'Rows of other tables refer to it and would be deleted with it');
      raise exception 'row % of table % is not as change % left it',
        coalesce(step.was_key, step.be_key, 'without a key'), step.relation, step.change_id
        using errcode = 'object_not_in_prerequisite_state', detail = obstacle || '. Nothing was undone.',
              hint = format('Correct the row by hand; without %s you get the statements.',
                            rowrelay.command('--apply', 'apply'));
    end if;
    return next step.statement;
  end loop;
  if rowrelay.undo_defers(steps) then
    set constraints all immediate;
  end if;
  perform rowrelay.check_undone(steps, alike_before);
end
$$;
-- Purpose:    returns the statements that undo changes, or runs them
-- Parameters: changes, each the last of its row; apply: run the statements
-- Result:     the statements, to be run in this order in one transaction
create or replace function rowrelay.undo_changes(changes rowrelay.change[], apply boolean) returns setof text
language plpgsql as $$
declare
  steps   rowrelay.undo_step[];
  ordered rowrelay.undo_step[];
begin
  perform rowrelay.check_not_changed_since(changes);
  steps := rowrelay.undo_steps(changes);
  if cardinality(steps) = 0 then
    return;
  end if;
  ordered := rowrelay.undo_order(steps);
  if apply then
    return query select rowrelay.undo_apply(changes, steps, ordered);
  else
    return query
      select 'set constraints all deferred' where rowrelay.undo_defers(steps)
      union all
      (select s.statement from rowrelay.undo_statements(ordered) as s where s.statement is not null order by s.place);
  end if;
end
$$;
-- Purpose:    undoes the last change of a row: returns the statement that restores the row, for a person to read and
--             run, or runs it. An update of a key, or one that moved a row to another partition, is captured as two
--             changes: either of them stands for both.
-- Parameters: relation; key in any spelling (null or empty: the table has none); change id; apply: run the
--             statement. It runs with the caller's rights and is captured like any other change.
-- Result:     the statement; no row when the change changed nothing that the log knows of. The statement changes
--             nothing when the row is not as the log left it.
-- Errors:     no such change; the row was changed again later; the log lacks what it takes (images, columns that are
--             left out or masked); with apply: the row is not as the log left it
create or replace function rowrelay.undo(relation regclass, key text, change_id bigint, apply boolean default false)
returns setof text
language plpgsql as $$
declare
  change    rowrelay.change;
  neighbour rowrelay.change;
  changes   rowrelay.change[];
  marks     rowrelay.change[];
begin
  select h.* into change
    from rowrelay.readable_change h join rowrelay.capture c on c.id = h.capture
   where h.id = change_id and c.relation = undo.relation
     and (coalesce(h.key, '') = coalesce(undo.key, '') or h.key = rowrelay.key_as_logged(undo.relation, undo.key)
          or rowrelay.is_key_of_row(h.capture, h.key, undo.key));
  if not found then
    raise exception 'row % of table % has no change %', coalesce(key, 'without a key'), relation, change_id
      using errcode = 'no_data_found',
            hint = case when exists (select from rowrelay.capture c where c.relation = undo.relation)
                        then 'To list its changes: '
                               || rowrelay.command('rowrelay log %s',
                                                   'select * from rowrelay.history where relation = %L::regclass;',
                                                   relation::text)
                        else 'Capture it first: '
                               || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);',
                                                   relation::text) end;
  elsif change.op not in ('i', 'u', 'd', 't') then
    raise exception 'change % did not change row % of table %', change_id, key, relation
      using errcode = 'object_not_in_prerequisite_state', hint = 'Only inserts, updates and deletes can be undone.';
  end if;

  if change.op in ('i', 'd') and change.key is not null then
    select h.* into neighbour
      from rowrelay.readable_change h
     where case change.op when 'i' then h.id between change.id - 1000 and change.id - 1
                          else h.id between change.id + 1 and change.id + 1000 end
       and h.day between change.day - 1 and change.day + 1 and h.txid = change.txid and h.op in ('i', 'u', 'd', 't')
     order by abs(h.id - change.id) limit 1;
    changes := case change.op when 'i' then array[neighbour, change] else array[change, neighbour] end;
    if neighbour.capture = change.capture and (change.op, neighbour.op) in (('i', 'd'), ('d', 'i')) then
      begin
        if cardinality(rowrelay.undo_steps(changes)) > 1 then
          changes := null; -- two rows
        end if;
      exception when others then
        changes := null; -- the log lacks what it takes to undo the other, which nobody named
      end;
    else
      changes := null;
    end if;
  end if;
  -- changes that were left out of the log, see rowrelay.nesting_statements()
  select array_agg(h) into marks
    from rowrelay.changes_of_transaction(change.txid) as f
    cross join lateral (select c.* from rowrelay.readable_change c where c.id = f.change_id
                        and c.day = f.day offset 0) as h
   where h.op = 'r' and h.capture = change.capture
     and exists (select from unnest(array[change.key, neighbour.key]) as k
                  where rowrelay.is_key_of_row(h.capture, h.key, k));
  return query select rowrelay.undo_changes(coalesce(changes, array[change]) || marks, apply);
end
$$;
-- Purpose:    undoes a whole transaction: returns the statements that restore its rows, for a person to read and run in
--             one transaction, or runs them
-- Parameters: txid; apply: run the statements. They run with the caller's rights and are captured like any other
--             change.
-- Result:     statements in the order to run: the last change first, unless a foreign key needs another order
-- Errors:     the log has no such transaction; one of its changes cannot be undone, see rowrelay.undo(). Then nothing
--             is undone.
create or replace function rowrelay.undo_transaction(txid xid8, apply boolean default false) returns setof text
language plpgsql as $$
declare
  changes rowrelay.change[];
begin
  select array_agg(h order by h.id) into changes
    from rowrelay.changes_of_transaction(txid) as f
    cross join lateral (select c.* from rowrelay.readable_change c where c.id = f.change_id
                        and c.day = f.day offset 0) as h;
  if changes is null then
    raise exception 'the log has no change of transaction %', txid
      using errcode = 'no_data_found',
            hint = 'To see the ids of transactions: '
                     || rowrelay.command('rowrelay log --json', 'select txid, change_id from rowrelay.history;');
  end if;
  if cardinality(changes) <> rowrelay.changes_in_transaction(txid) then
    raise exception 'transaction % also changed tables that % may not read', txid, current_user
      using errcode = 'insufficient_privilege', detail = 'A transaction is undone as a whole or not at all.';
  end if;
  return query select rowrelay.undo_changes(changes, apply);
end
$$;
-- Purpose:    turns the sealing of the log on or off. While it is on, running processes seal each day that is over:
--             from then on rowrelay.verify_log() finds changes that were altered, removed or inserted. Earlier days are
--             sealed too, as they are. When it is off, sealed days stay sealed and can be verified.
-- Parameters: on: true turns it on
create or replace function rowrelay.seal_days("on" boolean default true) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update rowrelay.source set seals = coalesce("on", true)
$$;
-- Purpose:    SHA-256 of a change of the log, independent of the session's settings and the server's version. The
--             lengths in front tell apart values that would read the same when put together.
-- Parameters: change; salt, without which the hash does not help to guess the values
-- Result:     32 bytes
create or replace function rowrelay.change_hash(change rowrelay.change, salt bytea) returns bytea
language sql stable as $$
  select pg_catalog.sha256(salt operator(pg_catalog.||) pg_catalog.convert_to(
    pg_catalog.concat_ws('|', change.id, change.txid,
                         pg_catalog.encode(pg_catalog.timestamptz_send(change.captured_at), 'hex'),
                         change.day operator(pg_catalog.-) date '2000-01-01', change.capture, change.op,
                         coalesce(pg_catalog.length(change.key), -1), coalesce(pg_catalog.length(change.actor), -1),
                         coalesce(pg_catalog.length(change.db_user), -1),
                         coalesce(pg_catalog.length(change.application_name), -1),
                         coalesce(pg_catalog.text(change.client_addr), '-'),
                         coalesce(pg_catalog.length(change.old_row::text), -1),
                         coalesce(pg_catalog.length(change.new_row::text), -1),
                         coalesce(pg_catalog.length(change.caveat::text), -1),
                         pg_catalog.concat(change.key, change.actor, change.db_user, change.application_name,
                                           change.old_row,
                                           change.new_row, change.caveat)),
    case when pg_catalog.getdatabaseencoding() operator(pg_catalog.=) 'SQL_ASCII' then name 'SQL_ASCII'
      else name 'UTF8' end))
$$;
-- Purpose:    SHA-256 of the ids, captures and hashes in a block of seals
-- Parameters: ids, captures and hashes of rowrelay.seal
-- Result:     32 bytes
create or replace function rowrelay.seal_content(ids bigint[], captures integer[], hashes bytea) returns bytea
language sql immutable as $$
  select pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat(ids, captures),
                                                 'SQL_ASCII') operator(pg_catalog.||) hashes)
$$;
-- Purpose:    SHA-256 of a record of rowrelay.redaction
-- Parameters: the record
-- Result:     32 bytes
create or replace function rowrelay.redaction_content(redaction rowrelay.redaction) returns bytea
language sql stable as $$
  -- the text of a row tells null from empty, and quotes values, so that no two rows have the same text
  select pg_catalog.sha256(pg_catalog.convert_to(
    row(redaction.id, pg_catalog.encode(pg_catalog.timestamptz_send(redaction.redacted_at), 'hex'),
        redaction.redacted_by, redaction.reason, redaction.relation_name,
        redaction.keys, redaction.columns, redaction.change_ids,
        array(select pg_catalog.encode(h, 'hex')
              from pg_catalog.unnest(redaction.hashes_before) with ordinality as u(h, n) order by n),
        array(select pg_catalog.encode(h, 'hex')
              from pg_catalog.unnest(redaction.hashes_after) with ordinality as u(h, n) order by n))::text,
    case when pg_catalog.getdatabaseencoding() operator(pg_catalog.=) 'SQL_ASCII' then name 'SQL_ASCII'
      else name 'UTF8' end))
$$;
-- Purpose:    the digest of a seal, which depends on all seals before it
-- Parameters: seal; digest of the one before (null: it is the first)
-- Result:     32 bytes
create or replace function rowrelay.seal_digest(seal rowrelay.seal, previous bytea) returns bytea
language sql stable as $$
  select pg_catalog.sha256(
    coalesce(previous, '') operator(pg_catalog.||)
    pg_catalog.convert_to(row(seal.position, pg_catalog.encode(pg_catalog.timestamptz_send(seal.sealed_at), 'hex'),
                              seal.day operator(pg_catalog.-) date '2000-01-01', seal.block, seal.ends_day,
                              seal.first_id, seal.last_id, seal.changes, seal.redaction)::text, 'SQL_ASCII')
    operator(pg_catalog.||) seal.content)
$$;
-- Purpose:    appends a seal to the chain. The caller holds the chain's lock: row 'seal' of rowrelay.mutex.
-- Parameters: seal, without position, time and digest
create or replace function rowrelay.add_seal(seal rowrelay.seal) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  previous bytea;
begin
  select s.position + 1, s.digest into seal.position, previous from rowrelay.seal s order by s.position desc limit 1;
  seal.position := coalesce(seal.position, 1);
  seal.sealed_at := clock_timestamp();
  seal.digest := rowrelay.seal_digest(seal, previous);
  insert into rowrelay.seal select seal.*;
end
$$;
-- Purpose:    seals the next changes of a closed day
-- Parameters: day; number of the block; id of the last change of the previous block; number of changes
-- Result:     the seal
create or replace function rowrelay.seal_block(day date, block integer, after_id bigint, size integer)
  returns rowrelay.seal
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  seal rowrelay.seal;
begin
  seal.day := day;
  seal.block := block;
  -- two random numbers of 122 bits each
  seal.secret := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
  -- planned for this day alone, because there may be years of partitions
  execute format(
    'select coalesce(array_agg(b.id order by b.id), ''{}''), coalesce(array_agg(b.capture order by b.id), ''{}''),'
    '       coalesce(string_agg(b.hash, '''' order by b.id), '''')'
    '  from (select h.id, h.capture, rowrelay.change_hash(h, sha256($1 || int8send(h.id))) as hash'
    '          from rowrelay.change h where h.day = %L and h.id > $2 order by h.id limit $3) as b', day)
     into seal.ids, seal.captures, seal.hashes using seal.secret, after_id, size;
  seal.changes := cardinality(seal.ids);
  seal.ends_day := seal.changes < size;
  seal.first_id := seal.ids[1];
  seal.last_id := seal.ids[seal.changes];
  seal.content := rowrelay.seal_content(seal.ids, seal.captures, seal.hashes);
  perform rowrelay.add_seal(seal);
  return seal;
end
$$;
-- Purpose:    seals the next part of closed days, the oldest first, and removes the hashes of dropped days. Running
--             processes call it repeatedly.
-- Parameters: about how many changes to seal; changes per block
-- Result:     number of blocks made; 0: nothing to seal at present, or another session is sealing
create or replace function rowrelay.seal_next(changes integer default 10000, block_size integer default 5000)
  returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  previous rowrelay.seal;
  next_day date;
  made     integer := 0;
  sealed   integer := 0;
begin
  if not exists (select from rowrelay.source s where s.seals) then
    return 0;
  end if;
  perform from rowrelay.mutex m where m.name = 'seal' for update skip locked;
  if not found then
    return 0;
  end if;
  perform rowrelay.close_days();
  select s.* into previous from rowrelay.seal s where s.day is not null order by s.position desc limit 1;
  while sealed < changes loop
    if not previous.ends_day then
      previous := rowrelay.seal_block(previous.day, previous.block + 1, previous.last_id, block_size);
    else
      -- the next day that exists, if it is closed
      select p.day into next_day
        from rowrelay.partition_days() p left join rowrelay.day d on d.day = p.day
       where p.day > coalesce(previous.day, '-infinity') and d.dropped_at is null
       order by p.day limit 1;
      exit when not exists (select from rowrelay.day d where d.day = next_day and d.closed_at is not null);
      previous := rowrelay.seal_block(next_day, 0, -9223372036854775808, block_size);
    end if;
    made := made + 1;
    sealed := sealed + previous.changes + 1;
  end loop;
  if made = 0 then
    update rowrelay.seal s
       set ids = null, captures = null, hashes = null, secret = null, salts = null
      from rowrelay.day d
     where d.day = s.day and s.ids is not null and d.dropped_at is not null and d.archived_at is null;
  end if;
  return made;
end
$$;
-- Purpose:    whether rowrelay.seal_next() has anything to do
create or replace function rowrelay.seal_is_due() returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  sealed_to date;
  ends_day  boolean;
begin
  if not exists (select from rowrelay.source s where s.seals) then
    return false;
  end if;
  select s.day, s.ends_day into sealed_to, ends_day from rowrelay.seal s where s.day is not null
    order by s.position desc limit 1;
  return not ends_day
      or exists (select from rowrelay.day d
                  where d.closed_at is not null and d.dropped_at is null and d.day > coalesce(sealed_to, '-infinity'))
      or exists (select from rowrelay.day d join rowrelay.seal s on s.day = d.day
                  where d.dropped_at is not null and d.archived_at is null and s.ids is not null);
end
$$;
-- Purpose:    returns the digest of the last seal. Keep it elsewhere (on paper, in another database) to prove later
--             that nobody has sealed the log again: pass it to rowrelay.verify_log() or `rowrelay verify-log --head`.
-- Result:     64 hexadecimal digits; null: nothing has been sealed yet
create or replace function rowrelay.seal_head() returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select encode(s.digest, 'hex') from rowrelay.seal s order by s.position desc limit 1
$$;
-- Purpose:    returns what a seal says of each of its changes, updated by later redactions
-- Parameters: seal
-- Result:     change id, capture, salt, and the hash that the change must have; null: the records of redactions
--             contradict each other
create or replace function rowrelay.sealed_changes(seal rowrelay.seal)
returns table (id bigint, capture integer, salt bytea, hash bytea)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with sealed as materialized (
    select u.id, u.capture, substr(seal.hashes, 32 * u.n::integer - 31, 32) as hash,
           coalesce(substr(seal.salts, 32 * u.n::integer - 31, 32), sha256(seal.secret || int8send(u.id))) as salt
      from unnest(seal.ids, seal.captures) with ordinality as u(id, capture, n)
  ), redacted as (
    select r.id as redaction, u.id, u.before, u.after
      from rowrelay.redaction r
     cross join unnest(r.change_ids, r.hashes_before, r.hashes_after) as u(id, before, after)
     where u.before is not null and u.id between seal.first_id and seal.last_id
  ), final as (
    select f.id, bool_and(f.fits) as fits, (array_agg(f.after order by f.redaction desc))[1] as hash
      from (select d.id, d.redaction, d.after,
                   d.before = coalesce(lag(d.after) over (partition by d.id order by d.redaction), s.hash) as fits
              from redacted d join sealed s on s.id = d.id) as f
     group by f.id
  )
  select s.id, s.capture, s.salt, case when f.id is null then s.hash when f.fits then f.hash end
    from sealed s left join final f on f.id = s.id
$$;
-- Purpose:    whether retention has dropped a day's changes by now: a truncated partition is empty even for statements
--             that began before
-- Parameters: day
create or replace function rowrelay.day_is_dropped(day date) returns boolean
language plpgsql volatile as $$
begin
  return exists (select from rowrelay.day d
                  where d.day = day_is_dropped.day and d.dropped_at is not null and d.restored_at is null);
end
$$;
-- Purpose:    verifies that the seals and the records of redactions were not tampered with
-- Parameters: a head that was kept elsewhere and must be in the chain (null: none)
-- Result:     one row for each problem, as for rowrelay.verify_log()
-- Errors:     the parameter is not a head
create or replace function rowrelay.verify_chain(head text default null)
returns table (problem text, day date, change_id bigint, relation text, key text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if head !~ '^[0-9a-fA-F]{64}$' then
    raise exception '"%" is not a head of the log', head using errcode = 'invalid_parameter_value',
      hint = 'A head has 64 hexadecimal digits, as shown by: '
               || rowrelay.command('rowrelay seal', 'select rowrelay.seal_head();');
  end if;
  if not exists (select from rowrelay.seal s where s.digest = decode(verify_chain.head, 'hex'))
    and head is not null then
    return query select 'head', null::date, null::bigint, null, null,
                        format('no seal has the digest %s: the log was sealed again, or the last seals were removed',
                               head);
  end if;
  return query
    select 'seal', c.day, null::bigint, null, null,
           format('seal %s %s', c.position,
                  case when c.position <> coalesce(c.before, 0) + 1
                       then format('follows seal %s: those between were removed', coalesce(c.before, 0))
                       when c.digest <> rowrelay.seal_digest(c.seal, c.previous) then 'was altered or inserted'
                       else 'no longer has the content that was sealed' end)
      from (select s.position, s.day, s.digest, s.content, s as seal,
                   lag(s.position) over (order by s.position) as before,
                   lag(s.digest) over (order by s.position) as previous,
                   coalesce(case when s.day is not null then rowrelay.seal_content(s.ids, s.captures, s.hashes)
                                 else rowrelay.redaction_content(r) end, s.content) as present
              from rowrelay.seal s
              left join rowrelay.redaction r on r.id = s.redaction) as c
     where c.position <> coalesce(c.before, 0) + 1
        or c.digest <> rowrelay.seal_digest(c.seal, c.previous)
        or c.content <> c.present
     order by c.position;
  return query
    select 'redaction', null::date, null::bigint,
      coalesce(r.relation_name, 'redaction ' || coalesce(r.id, s.redaction)), null,
           case when s.redaction is null then format('redaction %s was inserted by hand', r.id)
                else format('the record of redaction %s was removed', s.redaction) end
      from rowrelay.redaction r
      full join (select t.redaction from rowrelay.seal t where t.redaction is not null) as s on s.redaction = r.id
     where r.id is null or s.redaction is null;
end
$$;
-- Purpose:    compares the changes of one seal with the log
-- Parameters: position of the seal
-- Result:     one row for each problem, as for rowrelay.verify_log()
create or replace function rowrelay.verify_seal("position" bigint)
returns table (problem text, day date, change_id bigint, relation text, key text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  seal      rowrelay.seal;
  after_id  bigint;
  until_id  bigint;
  of_day    rowrelay.day;
  is_intact boolean;
begin
  select s.* into seal from rowrelay.seal s where s.position = verify_seal.position;
  if seal.day is null then -- a redaction
    return;
  end if;
  select d.* into of_day from rowrelay.day d where d.day = seal.day;
  if rowrelay.day_is_dropped(seal.day) then
    return;
  end if;
  if seal.ids is null then
    return query select 'seal', seal.day, null::bigint, null, null,
      format('seal %s no longer lists its changes', seal.position);
    return;
  end if;
  -- a change inserted between two blocks belongs to the later one
  select coalesce(max(s.last_id), -9223372036854775808) into after_id from rowrelay.seal s where s.day = seal.day
    and s.block = seal.block - 1;
  until_id := case when seal.ends_day then 9223372036854775807 else seal.last_id end;
  -- detoasted once, not for each change
  seal.hashes := seal.hashes || ''::bytea;
  if seal.salts is null then
    execute format(
      'select coalesce(array_agg(b.id order by b.id), ''{}'') = $4 and coalesce(string_agg(b.hash, '''' order by '
      'b.id), '''') = $5'
      '  from (select h.id, rowrelay.change_hash(h, sha256($1 || int8send(h.id))) as hash'
      '          from rowrelay.change h where h.day = %L and h.id > $2 and h.id <= $3 order by h.id) as b', seal.day)
       into is_intact using seal.secret, after_id, until_id, seal.ids, seal.hashes;
    if is_intact then
      return;
    end if;
  end if;
  return query execute format(
    'select p.problem, %1$L::date, p.id, coalesce(to_regclass(c.relation::text)::text, c.relation_name), p.key, null'
    '  from (select coalesce(s.id, h.id) as id, coalesce(h.capture, s.capture) as capture, h.key,'
    '               case when h.id is null then ''removed'' when s.id is null then ''inserted'''
    '                    when rowrelay.change_hash(h, s.salt) is distinct from s.hash then ''changed'' end as problem'
    '          from (select h.* from rowrelay.change h where h.day = %1$L and h.id > $1 and h.id <= $2) as h'
    '          full join rowrelay.sealed_changes($3) as s on s.id = h.id) as p'
    '  left join rowrelay.capture c on c.id = p.capture'
    ' where p.problem is not null'
    '   and not (p.problem = ''removed'' and (p.capture = any ($4.gone) or p.capture = any ($4.deleting) and p.id <= '
    '$4.deleted_to) is true)'
    '   and not (p.problem = ''removed'' and rowrelay.day_is_dropped(%1$L))'
    ' order by p.id', seal.day)
    using after_id, until_id, seal, of_day;
end
$$;
-- Purpose:    finds changes in days that had none, or no partition, when the days around them were sealed
-- Result:     one row for each of them, as for rowrelay.verify_log()
create or replace function rowrelay.verify_unsealed()
returns table (problem text, day date, change_id bigint, relation text, key text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  unsealed date;
begin
  for unsealed in
    select p.day from rowrelay.partition_days() p
     where p.day between (select min(s.day) from rowrelay.seal s)
       and (select max(s.day) from rowrelay.seal s where s.ends_day)
       and not exists (select from rowrelay.seal s where s.day = p.day)
       -- dropped before it was sealed
       and not exists (select from rowrelay.day d where d.day = p.day and d.dropped_at is not null)
     order by p.day
  loop
    return query execute format(
      'select ''inserted'', h.day, h.id, coalesce(to_regclass(c.relation::text)::text, c.relation_name), h.key, '
      'null::text'
      '  from rowrelay.change h left join rowrelay.capture c on c.id = h.capture where h.day = %L order by h.id',
        unsealed);
  end loop;
end
$$;
-- Purpose:    finds tampering with sealed days of the log. What rowrelay.redact() or retention removed is no problem.
--             `rowrelay verify-log` does the same seal by seal in short transactions, which is better for a large log.
-- Parameters: a head (rowrelay.seal_head()) that was kept elsewhere; without one, a log that was altered and then
--             sealed again looks intact
-- Result:     one row for each problem: changed, removed, inserted (change_id names the change); seal, redaction, head
--             (the evidence itself was altered; detail says how); no row: the log is as it was sealed
-- Errors:     the parameter is not a head
create or replace function rowrelay.verify_log(head text default null)
returns table (problem text, day date, change_id bigint, relation text, key text, detail text)
language sql stable as $$
  select c.* from rowrelay.verify_chain(head) as c
  union all
  select v.* from rowrelay.seal s cross join lateral rowrelay.verify_seal(s.position) as v
  union all
  select u.* from rowrelay.verify_unsealed() as u
$$;
-- Purpose:    returns a row image in which some columns are null. Other values keep their text, digit for digit.
-- Parameters: image; names of columns
-- Result:     the image; null for null
create or replace function rowrelay.redacted_image(image json, columns text[]) returns json
language sql immutable strict set search_path = pg_catalog, pg_temp as $$
  -- takes keys and values from the text unparsed, because \u0000 in it could not be read
  select ('{' || coalesce(string_agg(to_json(e.key)::text || ':' || case when e.key = any (columns) then 'null'
                                     else e.value::text end,
                                     ',' order by e.n), '') || '}')::json
    from json_each(image) with ordinality as e(key, value, n)
$$;
-- Purpose:    whether a row image has a value in one of some columns
-- Parameters: image; names of columns
create or replace function rowrelay.has_value(image json, columns text[]) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(json_typeof(image) = 'object'
                  and exists (select from unnest(columns) as c where json_typeof(image -> c) <> 'null'), false)
$$;
-- Purpose:    returns the keys that a row had before its present one: the log has an update of a key as a delete of the
--             old key and an insert of the new one. A transaction that deletes one row and then inserts another looks
--             the same.
-- Parameters: captures of its table; keys, in all spellings (rowrelay.spellings)
-- Result:     these keys and the former ones
create or replace function rowrelay.former_keys(captures integer[], of_row text[]) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  keys text[] := of_row;
  more text[] := keys;
begin
  while more <> '{}' loop
    more := array(
      select distinct before.key
        from rowrelay.change h
       cross join lateral (select b.op, b.key from rowrelay.change b
                            where b.txid = h.txid and b.capture = h.capture and b.day = h.day and b.id < h.id
                            order by b.id desc limit 1) as before
       where h.capture = any (captures) and h.key = any (more) and h.op = 'i'
         and before.op = 'd' and before.key <> all (keys));
    more := array(select s from unnest(rowrelay.spellings(captures, more)) as s where s <> all (keys));
    keys := keys || more;
  end loop;
  return keys;
end
$$;
-- Purpose:    refuses to redact what must not be redacted
-- Parameters: relation; its captures, present and former; columns; changes that may have values in them
-- Errors:     a column is part of the key; one of the changes is not delivered yet, or was refused
create or replace function rowrelay.check_redactable(relation regclass, captures integer[], columns text[],
                                                     change_ids bigint[])
returns void language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  name   text;
  target text;
  n      bigint;
  ids    bigint[];
begin
  select min(c) into name
    from unnest(columns) as c
   where exists (select from rowrelay.capture k
                  where k.id = any (captures)
                    and (c = any (k.key_names) or c = any (rowrelay.attribute_names(k.relation, k.key_columns))));
  if name is not null then
    raise exception 'column "%" is part of the key of table %, so it cannot be redacted', name, relation
      using errcode = 'invalid_parameter_value', detail = 'The log could no longer tell which row a change belongs to.';
  end if;

  select count(distinct q.change_id), min(t.name) into n, target
    from rowrelay.queue q left join rowrelay.target t on t.id = rowrelay.lane_target(q.lane) and q.lane >= 0
   where q.change_id = any (change_ids);
  if n > 0 then
    raise exception '% changes of that row are not delivered yet%', n, coalesce(' to target "' || target || '"', '')
      using errcode = 'object_not_in_prerequisite_state',
        hint = 'Wait until they are delivered. To see the backlog: '
                 || rowrelay.command('rowrelay status', 'select * from rowrelay.status;');
  end if;
  select count(distinct f.change_id), min(t.name), (array_agg(distinct f.change_id))[:20] into n, target, ids
    from rowrelay.refusal f join rowrelay.target t on t.id = f.target
   where f.change_id = any (change_ids);
  if n > 0 then
    raise exception '% changes of that row were refused by target "%"', n, target
      using errcode = 'object_not_in_prerequisite_state',
        hint = 'Retry or discard them first: '
                 || rowrelay.command(format('rowrelay retry %1$s; or: rowrelay skip %1$s', array_to_string(ids, ' ')),
                                     'select rowrelay.retry(null, %1$L); or: select rowrelay.skip(null, %1$L);',
                                     ids::text);
  end if;
end
$$;
-- Purpose:    gives a sealed change a new salt, so that its old hash does not help to guess the removed values
-- Parameters: change; the caller holds the lock of the chain of seals
-- Result:     the old salt and the new one; null: the change is not sealed
create or replace function rowrelay.resalt(change rowrelay.change, out old_salt bytea, out new_salt bytea)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  seal  rowrelay.seal;
  place integer;
begin
  select s.* into seal from rowrelay.seal s where s.day = change.day and change.id between s.first_id and s.last_id;
  place := array_position(seal.ids, change.id);
  if place is null then
    return;
  end if;
  if seal.salts is null then
    select string_agg(sha256(seal.secret || int8send(u.id)), '' order by u.n) into seal.salts
      from unnest(seal.ids) with ordinality as u(id, n);
  end if;
  old_salt := substr(seal.salts, 32 * place - 31, 32);
  new_salt := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
  update rowrelay.seal s
     set secret = null, salts = overlay(seal.salts placing new_salt from 32 * place - 31)
   where s.position = seal.position;
end
$$;
-- Purpose:    removes values from one change of the log
-- Parameters: change; the record of the redaction, which names the columns
-- Result:     the record with this change added
create or replace function rowrelay.redact_change(change rowrelay.change, redaction rowrelay.redaction)
returns rowrelay.redaction language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  salts       record;
  hash_before bytea;
  marked      text[];
begin
  select r.* into salts from rowrelay.resalt(change) as r;
  hash_before := rowrelay.change_hash(change, salts.old_salt);
  marked := array(select jsonb_array_elements_text(coalesce(change.caveat::jsonb -> 'redacted', '[]'))
                   union select unnest(redaction.columns) order by 1);
  change.old_row := case when rowrelay.has_value(change.old_row, redaction.columns)
                         then rowrelay.redacted_image(change.old_row, redaction.columns) else change.old_row end;
  change.new_row := case when rowrelay.has_value(change.new_row, redaction.columns)
                         then rowrelay.redacted_image(change.new_row, redaction.columns) else change.new_row end;
  change.caveat := coalesce(change.caveat::jsonb, '{}') || jsonb_build_object('redacted', marked);
  update rowrelay.change h
     set old_row = change.old_row, new_row = change.new_row, caveat = change.caveat
   where h.id = change.id and h.day = change.day;
  redaction.change_ids := redaction.change_ids || change.id;
  redaction.hashes_before := redaction.hashes_before || hash_before;
  redaction.hashes_after := redaction.hashes_after || case
    when hash_before is not null then rowrelay.change_hash(change, salts.new_salt) end;
  return redaction;
end
$$;
-- Purpose:    removes values of a row from the log: they become null in every image of it, before and after; other
--             values keep their text. Table rowrelay.redaction records who did it, when, and in which changes;
--             rowrelay.verify_log() accepts that and nothing else. caveat.redacted of a change names the columns. Only
--             the log is changed: clean the row and the targets yourself, the row first, or its next change brings the
--             values back. VACUUM removes the overwritten values from disk (`rowrelay redact` runs it); WAL and backups
--             keep them until they are removed.
-- Parameters: relation; key as the log has it, or in another spelling that is equal: the text of a single column, a
--             JSON array of several; columns by their present or former names; old_keys: also under the keys that the
--             row had before its key was updated; reason, for the record
-- Result:     how many changes had values in these columns
-- Errors:     the table was never captured, has no key, or the log has no change of the row; a column does not exist,
--             or is part of the key; changes of the row are not delivered yet, or were refused
create or replace function rowrelay.redact(relation regclass, key text, columns text[], old_keys boolean default false,
                                           reason text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  captures  integer[] := array(select c.id from rowrelay.capture c where c.relation = redact.relation);
  keys      text[] := array[key];
  ids       bigint[];
  days      date[];
  name      text;
  change    rowrelay.change;
  redaction rowrelay.redaction;
  seal      rowrelay.seal;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the log can only be redacted in a READ COMMITTED transaction'
      using errcode = 'object_not_in_prerequisite_state', detail = 'It has to see what others commit meanwhile.';
  end if;
  if captures = '{}' then
    raise exception 'table % was never captured', relation using errcode = 'undefined_object',
      hint = 'To list the captured tables: '
               || rowrelay.command('rowrelay status --tables', 'select relation from rowrelay.captures;');
  end if;
  if coalesce(cardinality(columns), 0) = 0 or array_position(columns, null) is not null then
    raise exception 'no columns were named' using errcode = 'invalid_parameter_value';
  end if;
  perform from rowrelay.mutex m where m.name = 'seal' for update; -- nothing is sealed meanwhile
  keys := rowrelay.spellings(captures, keys);
  if old_keys then
    keys := rowrelay.former_keys(captures, keys);
  end if;
  select array_agg(h.id order by h.id), array_agg(distinct h.day) into ids, days
    from rowrelay.change h where h.capture = any (captures) and h.key = any (keys);
  if ids is null then
    raise exception 'the log has no change of key "%" of table %', key, relation using errcode = 'undefined_object',
      hint = 'A key of several columns is a JSON array. To see how keys are written: '
               || rowrelay.command('rowrelay log %s', 'select key from rowrelay.history where relation = %L::regclass;',
                                   relation::text);
  end if;
  perform rowrelay.check_redactable(relation, captures, columns, ids);
  foreach name in array columns loop
    if not exists (select from pg_attribute a where a.attrelid = relation and a.attname = name and a.attnum > 0)
       and not exists (select from rowrelay.change h
                        where h.id = any (ids) and h.day = any (days)
                          and (json_typeof(h.old_row -> name) is not null
                               or json_typeof(h.new_row -> name) is not null)) then
      raise exception 'column "%" exists neither in table % nor in the log of this row', name, relation
        using errcode = 'undefined_column';
    end if;
  end loop;

  redaction.redacted_at := clock_timestamp();
  redaction.redacted_by := rowrelay.db_user();
  redaction.reason := reason;
  redaction.relation := relation;
  redaction.relation_name := coalesce(to_regclass(relation::text)::text, relation::text);
  redaction.keys := keys;
  redaction.columns := columns;
  redaction.change_ids := '{}';
  redaction.hashes_before := '{}';
  redaction.hashes_after := '{}';
  for change in
    select h.* from rowrelay.change h
     where h.id = any (ids) and h.day = any (days)
       and (rowrelay.has_value(h.old_row, columns) or rowrelay.has_value(h.new_row, columns))
     order by h.id
  loop
    redaction := rowrelay.redact_change(change, redaction);
  end loop;
  if redaction.change_ids = '{}' then
    return 0; -- nothing to remove
  end if;
  -- a target may have quoted the values when it refused a change that was then discarded
  update rowrelay.receipt r set error = null
   where r.error is not null and r.change_ids && redaction.change_ids
     and int8range(r.first_id, r.last_id, '[]') && (select int8range(min(id), max(id), '[]')
                                                    from unnest(redaction.change_ids) as id);
  insert into rowrelay.redaction (redacted_at, redacted_by, reason, relation, relation_name, keys, columns, change_ids,
                                  hashes_before, hashes_after)
  select redaction.redacted_at, redaction.redacted_by, redaction.reason, redaction.relation, redaction.relation_name,
         redaction.keys, redaction.columns, redaction.change_ids, redaction.hashes_before, redaction.hashes_after
  returning id into redaction.id;
  seal.redaction := redaction.id;
  seal.content := rowrelay.redaction_content(redaction);
  perform rowrelay.add_seal(seal);
  if exists (select from rowrelay.day d where d.archived_at is not null) then
    raise warning 'archives of days of the log may still contain the values'
      using hint = 'Restore these days, redact again and archive them again. '
                   || rowrelay.command('To restore one: rowrelay archive --restore FILE',
                                       'To list them: select day, archive from rowrelay.day '
                                       'where archive is not null;');
  end if;
  return cardinality(redaction.change_ids);
end
$$;
-- Purpose:    tries to create an index on an expression, on an empty table
-- Parameters: as for rowrelay.index_history()
-- Result:     the expression as PostgreSQL writes it
-- Errors:     the expression cannot be indexed; detail is PostgreSQL's message
create or replace function rowrelay.index_expression(expression text, method text) returns text
language plpgsql as $$
declare
  trial text := 'trial_' || pg_backend_pid();
  shown text;
begin
  execute format('create table rowrelay.%I (like rowrelay.change)', trial);
  execute format('create index %I on rowrelay.%I using %I ((%s))', trial || '_index', trial, method, expression);
  shown := pg_get_indexdef(format('rowrelay.%I', trial || '_index')::regclass, 1, true);
  execute format('drop table rowrelay.%I', trial);
  return regexp_replace(shown, E'^\\((.*)\\)$', E'\\1');
exception when syntax_error_or_access_rule_violation or object_not_in_prerequisite_state or undefined_object
            or invalid_object_definition or feature_not_supported or program_limit_exceeded or wrong_object_type then
  raise exception 'the log cannot be indexed by "%" (%)', expression, method
    using errcode = 'invalid_parameter_value', detail = sqlerrm,
          hint = 'Give an expression on columns of rowrelay.change, such as new_row->>''email'', or a column of a '
                 'captured table.';
end
$$;
-- Purpose:    orders an index of the log on an expression that people search by, such as new_row->>'email'. Running
--             processes create it on closed days, one after the other (rowrelay.index_closed_days). Days still written
--             to have none, so that writers do not pay for it; a search scans them. A second call retries the days
--             where it failed.
-- Parameters: expression on the columns of rowrelay.change; or the name of a column of captured tables, for that column
--             in rows before and after; method: btree, or another that suits the expression, such as hash for long
--             texts
-- Result:     the indexed expressions, as conditions have to spell them to use the index
-- Errors:     the expression cannot be indexed
create or replace function rowrelay.index_history(expression text, method text default 'btree') returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  wanted text;
  shown  text;
begin
  foreach wanted in array case
    when expression ~ '^[[:alpha:]_][[:alnum:]_$ ]*$'
         and not exists (select from pg_attribute a where a.attrelid = 'rowrelay.change'::regclass
                         and a.attname = expression and a.attnum > 0)
    then array[format('new_row ->> %L', expression), format('old_row ->> %L', expression)]
    else array[expression] end
  loop
    shown := rowrelay.index_expression(wanted, method);
    insert into rowrelay.history_index as x (expression, method) values (shown, index_history.method)
    on conflict on constraint wanted_once do update set failed = '{}', problem = null;
    return next shown;
  end loop;
end
$$;
-- Purpose:    withdraws what rowrelay.index_history() ordered. Running processes (rowrelay.index_closed_days) drop the
--             indexes when they can lock their partitions for a moment.
-- Parameters: expression or name of a column, as it was given or as rowrelay.history_indexes shows it
-- Result:     number of expressions removed
-- Errors:     the log is not indexed by it
create or replace function rowrelay.unindex_history(expression text) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  n integer;
begin
  delete from rowrelay.history_index x
   where replace(replace(x.expression, ' ', ''), '::text', '')
         = any (array[replace(replace(unindex_history.expression, ' ', ''), '::text', ''),
                      replace(format('new_row->>%L', unindex_history.expression), ' ', ''),
                      replace(format('old_row->>%L', unindex_history.expression), ' ', '')]);
  get diagnostics n = row_count;
  if n = 0 then
    raise exception 'the log is not indexed by "%"', expression
      using errcode = 'undefined_object',
            hint = 'To list the expressions: select expression from rowrelay.history_indexes;';
  end if;
  return n;
end
$$;
-- Purpose:    lists the indexes of closed days that are wanted and missing, and those that are no longer wanted
-- Result:     name of the index; its partition; id in rowrelay.history_index, null: to be dropped; expression, method;
--             day
create or replace function rowrelay.history_index_work() returns table (name text, partition regclass, wanted integer,
                                                                        expression text, method text, day date)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select w.name, p.partition, x.id, x.expression, x.method, p.day
    from rowrelay.history_index x
    cross join rowrelay.partition_days() p
    join rowrelay.day d on d.day = p.day and d.closed_at is not null
    cross join lateral (select format('history_%s_%s', x.id, to_char(p.day, 'YYYYMMDD'))) as w(name)
   where p.day <> all (x.failed)
     and not exists (select from pg_index i join pg_class c on c.oid = i.indexrelid
                      where i.indrelid = p.partition and c.relname = w.name)
  union all
  select c.relname, p.partition, null, null, null, p.day
    from rowrelay.partition_days() p
    join pg_index i on i.indrelid = p.partition
    join pg_class c on c.oid = i.indexrelid and c.relname ~ '^history_[0-9]+_[0-9]{8}$'
   where not exists (select from rowrelay.history_index x where x.id = split_part(c.relname, '_', 2)::integer)
$$;
-- Purpose:    creates one index that is wanted on a closed day, or drops one that is no longer wanted. Nobody writes
--             into such a day, so nobody waits meanwhile. Call it in a transaction of its own, which holds its locks to
--             the end.
-- Result:     one text that says what was done; none: nothing is left to do, or another session does it or has the
--             locks
create or replace function rowrelay.index_closed_days() returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' as $$
declare
  work record;
begin
  perform from rowrelay.mutex m where m.name = 'index' for update skip locked;
  if not found then
    return;
  end if;
  for work in select w.* from rowrelay.history_index_work() w order by w.wanted nulls first, w.day desc loop
    begin
      if work.wanted is null then
        execute format('drop index rowrelay.%I', work.name);
        return next format('dropped index %s', work.name);
      else
        execute format('create index %I on %s using %I ((%s)) where (%s) is not null', work.name, work.partition,
                       work.method,
                       work.expression, work.expression);
        -- the planner needs statistics of the expression
        execute format('analyze %s', work.partition);
        return next format('indexed day %s by %s', work.day, work.expression);
      end if;
      return;
    exception
      when lock_not_available then
        null; -- try another day
      when query_canceled then
        raise;
      when others then
        update rowrelay.history_index x
           set failed = x.failed || work.day, problem = format('day %s: %s', work.day, sqlerrm)
         where x.id = work.wanted;
        return next format('day %s cannot be indexed by %s: %s', work.day, work.expression, sqlerrm);
        return;
    end;
  end loop;
end
$$;
-- Purpose:    returns the LIKE pattern that finds a text anywhere in another
create or replace function rowrelay.like_pattern(words text) returns text
language sql immutable parallel safe as $$
  select '%' || regexp_replace(words, E'([\\\\%_])', E'\\\\\\1', 'g') || '%'
$$;
-- Purpose:    whether a text occurs in one of the values of a row image, rather than in the name of a column
-- Parameters: image; pattern for scalar values; pattern for arrays and objects
create or replace function rowrelay.holds_text(image json, pattern text, json_pattern text) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select exists (select from json_each(image) as e
                  where case when json_typeof(e.value) in ('array', 'object') then e.value::text ilike json_pattern
                             else (image ->> e.key) ilike pattern end)
$$;
-- Purpose:    returns the range of ids and the partitions that contain all changes of some time, by ticks and closed
--             days; without these the range is larger than necessary
-- Parameters: first and last time, null: no bound
-- Result:     ids and days outside of which there is no such change
create or replace function rowrelay.search_range(since timestamptz, until timestamptz, out first_id bigint,
                                                 out last_id bigint,
                                                 out days date[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- a writer may pause between taking a change's id and its time
  leeway constant interval := '1 min';
begin
  select coalesce(max(t.low), 0) into first_id
    from rowrelay.tick t
   where t.id < (select min(n.id) from rowrelay.tick n where n.taken_at >= since - leeway);
  select coalesce(min(t.high), 9223372036854775807) into last_id
    from rowrelay.tick t
   where t.id > (select max(n.id) from rowrelay.tick n where n.taken_at <= until + leeway);
  days := array(select p.day
                  from rowrelay.partition_days() p
                  left join rowrelay.day d on d.day = p.day and d.closed_at is not null
                 where d.day is null or d.last_id > search_range.first_id and d.first_id <= search_range.last_id);
end
$$;
-- Purpose:    lists captured tables that lack triggers, because these were dropped or disabled, or a partition or child
--             is new; or whose triggers are on tables that no longer belong to them. One query for all: one by one,
--             thousands of tables would take seconds.
-- Result:     capture; whether a trigger for rows or statements is missing, or one too many; whether one for TRUNCATE
--             is missing; tables that have its triggers and no longer belong to it, or null. No row for a capture
--             that has all triggers, or whose table is gone.
create or replace function rowrelay.lacking_triggers()
  returns table (capture integer, for_rows boolean, for_truncates boolean, left_over regclass[])
-- resets the planner settings of processes, which suit only the queue
language plpgsql stable set plan_cache_mode = auto set enable_seqscan = on set enable_bitmapscan = on
  set enable_hashjoin = on
set enable_mergejoin = on set jit = off as $$
begin
  return query
    with recursive member(capture, relation, by_statement) as (
      select c.id, c.relation::oid, rowrelay.is_by_statement(c) from rowrelay.capture c where c.released_at is null
      union
      select m.capture, i.inhrelid, m.by_statement from member m join pg_inherits i on i.inhparent = m.relation
    ), present(relation, function, argument, state, n) as (
      select t.tgrelid, p.proname::text, case when p.proname in ('capture_truncate', 'stand_alone') then t.tgargs end,
             t.tgenabled, count(*)
        from pg_trigger t
       -- one function at a time, or the planner may read all triggers for each function
       cross join lateral (select p.proname from pg_proc p
                            where p.oid = t.tgfoid and p.pronamespace = 'rowrelay'::regnamespace offset 0) as p
       group by 1, 2, 3, 4
    ), lacking as (
      select m.capture,
             -- with a row filter there are five triggers instead of one
             coalesce(r.n, 0) < case when c.row_filter is null then 1 else 5 end
               or coalesce(e.n, 0) <> case when m.by_statement then 3 else 0 end
               or m.by_statement and a.n is null as rows,
             coalesce(s.n, 0) < 2 as truncates
        from member m
        join rowrelay.capture c on c.id = m.capture
        join pg_class k on k.oid = m.relation and k.relkind in ('r', 'p')
        left join present r on r.relation = m.relation and r.function = 'capture_' || m.capture
                           and r.state = case when m.by_statement then 'R' else 'A' end
        left join present e on e.relation = m.relation and e.function = rowrelay.statement_name(m.capture)
                           and e.state = 'O'
        left join present a on a.relation = m.relation and a.function = 'stand_alone' and a.state = 'D'
                           and a.argument = convert_to(m.capture::text, 'UTF8') || E'\\x00'::bytea
        left join present s on s.relation = m.relation and s.function = 'capture_truncate' and s.state = 'A'
                           and s.argument = convert_to(m.capture::text, 'UTF8') || E'\\x00'::bytea
    ), surplus as (
      select c.id as capture, p.relation
        from rowrelay.capture c
        join present p on p.function in ('capture_' || c.id, rowrelay.statement_name(c.id))
       where c.released_at is null
      union
      select c.id, p.relation
        from rowrelay.capture c
        join present p on p.argument = convert_to(c.id::text, 'UTF8') || E'\\x00'::bytea
       where c.released_at is null
      except
      select m.capture, m.relation from member m
    )
    select u.capture, coalesce(bool_or(u.rows), false), coalesce(bool_or(u.truncates), false),
           array_agg(u.relation::regclass order by u.relation) filter (where u.relation is not null)
      from (select l.capture, l.rows, l.truncates, null::oid as relation from lacking l
            union all
            select s.capture, false, false, s.relation from surplus s) as u
     group by u.capture
    having bool_or(u.rows) or bool_or(u.truncates) or count(u.relation) > 0;
end
$$;
-- Purpose:    lists what happened to captured tables and needs attention. One query for all, because status is read
--             often and there may be thousands of tables.
-- Result:     capture; note. No row for a capture without a problem.
create or replace function rowrelay.capture_notes() returns table (capture integer, note text)
-- resets the planner settings of processes, which suit only the queue
language plpgsql stable set plan_cache_mode = auto set enable_seqscan = on set enable_bitmapscan = on
  set enable_hashjoin = on
set enable_mergejoin = on set jit = off as $$
begin
  return query
    select n.capture, n.note
      from (select c.id as capture,
                   case
                     when r.oid is null then
                       'the table is gone: release it'
                     when l.for_rows then
                       'triggers are missing or disabled: capture the table again'
                     when l.for_truncates then
                       'a partition has no truncate trigger yet'
                     when cardinality(l.left_over) > 0 then
                       'maintenance will drop its triggers from tables that no longer belong to it: '
                         || array_to_string(l.left_over, ', ')
                     when exists (select from unnest(c.key_columns) as k(number)
                                   where not exists (select from pg_attribute a
                                                      where a.attrelid = c.relation and a.attnum = k.number
                                                        and not a.attisdropped)) then
                       'a key column was dropped: capture the table again'
                     when cardinality(c.key_columns) > 0 and not rowrelay.key_is_unique(c)
                          and rowrelay.key_guard(c.relation, c.key_columns) not in ('table', 'parts') then
                       'its key is no longer unique: rows with the same key are one row in a target'
                     when c.column_state is distinct from s.state then
                       'the table was altered: capture is slower until maintenance replaces its trigger function'
                   end as note
              from rowrelay.capture c
              left join pg_class r on r.oid = c.relation
              left join rowrelay.lacking_triggers() as l on l.capture = c.id
              left join rowrelay.column_states(array(select k.id from rowrelay.capture k
                                                     where k.released_at is null)) as s
                     on s.capture = c.id
             where c.released_at is null) as n
     where n.note is not null;
end
$$;
-- The captured tables and how they are captured; note says what happened to the table and needs attention.
create or replace view rowrelay.captures as
select c.relation,
       c.relation_name,
       rowrelay.attribute_names(c.relation, c.key_columns) as key,
       rowrelay.attribute_names(c.relation, c.lane_columns) as lane,
       case when c.only_columns is not null then i.keep end as columns,
       i.leave_out as exclude,
       nullif(i.masks::jsonb, '{}') as mask,
       c.row_filter,
       c.before,
       c.capture_origin,
       array(select t.name from rowrelay.route r join rowrelay.target t on t.id = r.target
              where r.capture = c.id and r.until_id is null and t.dropped_at is null order by t.name) as targets,
       n.note,
       case when c.keep >= interval '100000 years' then 'forever' else c.keep::text end as keep,
       (select string_agg(format('waits at %s since %s: %s', t.name, to_char(h.since, 'YYYY-MM-DD HH24:MI:SS'),
                                 concat_ws(' -- ', h.message, h.hint)), '; ' order by t.name)
          from rowrelay.hold h join rowrelay.target t on t.id = h.target where h.capture = c.id) as waits,
       rowrelay.is_native(c.id) as native,
       c.per,
       case when c.per = 'statement' then rowrelay.statement_obstacle(c) end as by_row_because
  from rowrelay.capture c
  left join rowrelay.capture_notes() as n on n.capture = c.id
  cross join lateral rowrelay.image_columns(c) as i
 where c.released_at is null;
comment on view rowrelay.captures is 'the tables whose changes are captured, and how';
-- Where changes can go.
create or replace view rowrelay.targets as
select t.name, t.url, t.state, t.reason, t.lanes, t.options, t.created_at
  from rowrelay.target t
 where t.dropped_at is null and not exists (select from rowrelay.document d where d.target = t.id);
comment on view rowrelay.targets is 'where changes can go';
-- Documents: the tables they are built from and the target they go to.
create or replace view rowrelay.documents as
select t.name as document,
       p.name as target,
       r.into_table,
       r.create_table,
       d.key_name as key,
       t.state,
       array(select rowrelay.document_source_text(s_c.relation, s_c.relation_name, s.key_name, s.keys_query,
                                                  s.only_columns)
               from rowrelay.document_source s
               join rowrelay.capture s_c on s_c.id = s.capture
              where s.document = d.target order by s.position) as sources,
       d.columns,
       d.query,
       d.search_path,
       (select string_agg(case when s_c.released_at is not null then format('table %s is no longer captured',
           s_c.relation_name)
                               when rowrelay.full_name(s_c.relation) is null then format('table %s is gone',
                                   s_c.relation_name)
                               else format('column %I of %s is gone', s.key_name, s_c.relation_name) end, '; '
                                 order by s.position)
          from rowrelay.document_source s join rowrelay.capture s_c on s_c.id = s.capture
         where s.document = d.target
           and (s_c.released_at is not null or rowrelay.full_name(s_c.relation) is null
                or s.key_column is not null
                   and (rowrelay.attribute_names(s_c.relation, array[s.key_column]))[1] is null)) as note,
       d.created_at,
       -- as rowrelay.add_document() has written it
       (select array_agg((parse_ident(m.parts[1]))[1] order by m.place)
          from jsonb_array_elements(d.columns) as c
         cross join lateral regexp_matches(c ->> 'type', E'coalesce\\(("(?:[^"]|"")+"|[a-z0-9_$]+), \'', 'g')
                            with ordinality as m(parts, place)
         where c ->> 'name' = 'search' and c ->> 'index' = 'gin') as search
  from rowrelay.document d
  join rowrelay.target t on t.id = d.target
  join rowrelay.target p on p.id = d.delivers_to
  join rowrelay.route r on r.capture = d.capture and r.target = d.target
 where t.dropped_at is null;
comment on view rowrelay.documents is 'documents that are built from several tables, and where they go';
-- The processes that deliver, and those that ended without removing themselves.
create or replace view rowrelay.instances as
select i.id, i.host, i.pid, i.version, i.workers,
       array(select t.name from rowrelay.target t
              where t.dropped_at is null and (i.targets is null or t.id = any (i.targets)) order by t.name) as targets,
       i.started_at,
       i.heartbeat_at,
       case when rowrelay.is_alive(i.heartbeat_at) then 'running' else 'gone' end as state,
       i.doing
  from rowrelay.instance i;
comment on view rowrelay.instances is 'processes that deliver; gone: no heartbeat for half a minute';
-- Refused changes, with the target's message, the changes that wait behind them, and those that wait because the target
-- cannot take their table; only of tables that the caller may read.
create or replace view rowrelay.errors with (security_barrier) as
select t.name as target,
       f.change_id,
       c.relation,
       case h.op when 'i' then 'insert' when 'u' then 'update' when 'd' then 'delete' when 't' then 'truncate'
                 when 'b' then 'barrier' when 'r' then 'refresh' else 'snapshot' end as op,
       f.key,
       f.state,
       f.attempts,
       case when f.state = 'waiting' then w.sqlstate else f.sqlstate end as sqlstate,
       case when f.state = 'waiting' then coalesce(w.message, f.message) else f.message end as message,
       case when f.state = 'waiting' then w.hint else f.detail end as detail,
       f.refused_at,
       h.old_row,
       h.new_row,
       c.relation_name
  from rowrelay.refusal f
  join rowrelay.target t on t.id = f.target
  join rowrelay.capture c on c.id = f.capture
  left join rowrelay.hold w on w.target = f.target and w.capture = f.capture
  left join rowrelay.change h on h.id = f.change_id and h.day = f.day
 where rowrelay.may_read(c.relation);
comment on view rowrelay.errors is 'refused changes and those that wait behind them; see rowrelay.retry() and '
                                   'rowrelay.skip()';
-- Purpose:    returns a change's delivery to each target, for view rowrelay.history. A function, because its plan is
--             cached.
-- Parameters: change; its capture; its caveat; errors of targets: {target's id: message}. The caller passes these,
--             because this function does not know who may read the table.
-- Result:     {target: {"status", "attempts", "process", "host", "pid", "claimed_at", "settled_at", "answer", "error",
--             "actor"}}, null when there is no target. Status: new, in-progress, complete, error; skipped: refused, and
--             discarded by `actor`; superseded: refused, and replaced by a later change of the row; dropped: the target
--             or the route was dropped first. Process, host and pid: of the process that has it, or had it last.
--             Unknown members are left out.
create or replace function rowrelay.delivery_of(change_id bigint, capture_id integer, caveat json, errors jsonb)
returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  goes_to record;
  last    record;          -- its latest receipt
  refused rowrelay.refusal;
  leased  record;
  queued  integer;         -- the lane
  taker   xid;             -- the last transaction that deleted it from the queue, or tried to
  status  text;
  result  jsonb;
begin
  for goes_to in
    select t.id, t.name, t.lanes, t.dropped_at is null and r.until_id is null as is_open, r.is_document
      from (select r.target, r.until_id, false as is_document
              from rowrelay.route r
             where r.capture = capture_id and change_id > r.from_id and change_id <= coalesce(r.until_id, change_id)
               -- a snapshot goes to one target, and so does a change that is queued again
               and r.target = coalesce((caveat ->> 'target')::integer, r.target)
             union all
            -- documents that it may have changed
            select distinct s.document, null::bigint, true from rowrelay.document_source s
              where s.capture = capture_id) as r
      join rowrelay.target t on t.id = r.target
  loop
    select s.*, sum(s.attempts) over () as all_attempts into last
      from rowrelay.receipt s
     where int8range(s.first_id, s.last_id, '[]') @> delivery_of.change_id and s.target = goes_to.id
       and delivery_of.change_id = any (s.change_ids)
     order by s.settled_at desc, s.token desc, s.part limit 1;
    refused := null;
    queued := null;
    select null::uuid as instance, null::timestamptz as claimed_at, null::text as host,
      null::integer as pid into leased;
    status := case when last.outcome in ('delivered', 'copied') then 'complete'
                   when last.outcome in ('skipped', 'superseded') then last.outcome end;
    if status is null then
      select f.* into refused from rowrelay.refusal f where f.target = goes_to.id
        and f.change_id = delivery_of.change_id;
      if refused.target is null then
        select q.lane, q.xmax into queued, taker
          from rowrelay.queue q
         where q.change_id = delivery_of.change_id
           and q.lane = any (array(select rowrelay.lane_number(goes_to.id, n) + room.lane
                                     from (select 0
                                           union select rowrelay.waiting_room(capture_id, goes_to.id)) as room(lane),
                                          generate_series(-1, goes_to.lanes - 1) as n));
      end if;
      continue when goes_to.is_document and coalesce(last.target, refused.lane, queued) is null;
      select l.instance, l.claimed_at, i.host, i.pid into leased
        from rowrelay.lease l left join rowrelay.instance i on i.id = l.instance
       where l.lane = coalesce(queued, refused.lane) and l.lease_until > clock_timestamp();
      status := case
        when leased.instance is not null then 'in-progress'
        when refused.state = 'waiting' then 'new'
        -- with guarantee at-most-once it counts as refused until the target answers
        when refused.target is not null then 'error'
        when queued is null then case when goes_to.is_open then 'complete' else 'dropped' end
        -- the process that delivers it has deleted it and not committed yet
        when exists (select from pg_locks l
                      where l.locktype = 'transactionid' and l.transactionid = taker and l.mode = 'ExclusiveLock'
                        and l.granted) then 'in-progress'
        else 'new' end;
    end if;
    result := coalesce(result, '{}') || jsonb_build_object(goes_to.name, jsonb_strip_nulls(jsonb_build_object(
      'status', status,
      'attempts', coalesce(last.all_attempts, refused.attempts),
      'process', coalesce(leased.instance, last.instance),
      'host', coalesce(leased.host, last.host),
      'pid', coalesce(leased.pid, last.pid),
      'claimed_at', coalesce(leased.claimed_at, last.claimed_at),
      'settled_at', case when status not in ('new', 'in-progress') then coalesce(last.settled_at,
          refused.refused_at) end,
      'answer', last.answer,
      'error', case when status in ('error', 'skipped', 'superseded') then errors -> goes_to.id::text end,
      'actor', last.actor)));
  end loop;
  return result;
end
$$;
-- Every change and its delivery to each target: for the owner and the admin, whose queries can use an index on an
-- expression. People query rowrelay.history, which has the same columns.
create or replace view rowrelay.every_change as
select h.id as change_id,
       c.relation,
       case h.op when 'i' then 'insert' when 'u' then 'update' when 'd' then 'delete' when 't' then 'truncate'
                 when 'b' then 'barrier' when 'r' then 'refresh' else 'snapshot' end as op,
       h.key,
       h.old_row,
       h.new_row,
       case when h.old_row is not null
         and h.new_row is not null then rowrelay.changed(h.old_row, h.new_row) end as changed,
       h.captured_at,
       h.txid,
       coalesce(h.actor, h.db_user) as actor,
       h.db_user,
       h.application_name,
       h.client_addr,
       (select jsonb_object_agg(t.target, t.delivery -> 'status')
        from jsonb_each(d.said) as t(target, delivery)) as status,
       case when d.said @? '$.*.status ? (@ == "error" || @ == "skipped" || @ == "superseded")'
            then rowrelay.delivery_of(h.id, h.capture, h.caveat, (
              select jsonb_object_agg(e.target, e.words)
                from (select f.target, concat_ws(': ', f.message, f.detail)
                        from rowrelay.refusal f
                       where f.change_id = h.id
                         and f.target = any (array(select r.target from rowrelay.route r where r.capture = h.capture))
                       union all
                      select s.target, s.error
                        from rowrelay.receipt s
                       where int8range(s.first_id, s.last_id, '[]') @> h.id and s.error is not null
                         and h.id = any (s.change_ids)
                     ) as e(target, words)))
            else d.said end as deliveries,
       h.caveat ->> 'problem' as problem,
       h.caveat,
       h.day
  from rowrelay.change h
  join rowrelay.capture c on c.id = h.capture
  -- computed once for both columns, and not at all when neither is selected
  cross join lateral (select rowrelay.delivery_of(h.id, h.capture, h.caveat, null) as said offset 0) as d;
comment on view rowrelay.every_change is 'every captured change of all tables, readable or not; people query '
                                         'rowrelay.history';
-- Every change of the tables that the caller may read, and its delivery to each target.
create or replace view rowrelay.history with (security_barrier) as
select e.*
  from rowrelay.every_change e
 where e.relation = any ((select rowrelay.readable_relations())::regclass[]);
comment on view rowrelay.history is 'every captured change of tables that the caller may read: what, when, who, and '
                                    'its status for each target; deliveries: see rowrelay.delivery_of()';
-- Purpose:    returns a snapshot of what is committed and on the disk, so that no crash can undo what is visible in it.
--             What was committed with synchronous_commit = off is visible before it is there: then this waits until it
--             is, at most for the time after which PostgreSQL promises it, three times wal_writer_delay. In a
--             transaction with one snapshot it waits once.
create or replace function rowrelay.durable_snapshot() returns pg_snapshot
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  snapshot constant pg_snapshot := pg_current_snapshot();
  written  constant pg_lsn := pg_current_wal_insert_lsn();
  latest   constant timestamptz := clock_timestamp() + 3 * current_setting('wal_writer_delay')::interval;
begin
  if current_setting('rowrelay.durable_snapshot', true) = snapshot::text then
    return snapshot;
  end if;
  while pg_current_wal_flush_lsn() < written and clock_timestamp() < latest loop
    perform pg_sleep(0.001);
  end loop;
  perform set_config('rowrelay.durable_snapshot', snapshot::text, true);
  return snapshot;
end
$$;
-- Purpose:    refuses a cursor behind which changes were dropped that it has not handed out: its reader would not know
--             that it has lost them. Called after reading, in a statement of its own, which sees what was dropped
--             meanwhile. A closed day has nothing for a cursor that sees all that its last snapshot saw; of a log that
--             is read from its beginning, only what was dropped since then is missing.
-- Parameters: the cursor's snapshots, see rowrelay.changes_since(); up to which id all is read; relations, null: all
--             that the caller may read; whether it is the beginning
-- Errors:     changes were dropped; another session drops a day just now
create or replace function rowrelay.check_log_behind(since pg_snapshot, until pg_snapshot, after bigint,
                                                     relations regclass[], begins boolean) returns void
language plpgsql stable as $$
declare
  asked integer[];
  lost  date;
begin
  if not rowrelay.sees_log() then
    raise exception 'a day of the log is being dropped' using errcode = 'serialization_failure', hint = 'Try again.';
  elsif coalesce(begins, true) or not exists (select from rowrelay.day d where d.dropped_in is not null) then
    return;
  end if;
  asked := case when relations is null then rowrelay.readable_captures()
                else array(select c.id from rowrelay.capture c where c.relation = any (relations)) end;
  select min(d.day) into lost
    from rowrelay.day d
   where d.dropped_in is not null and d.restored_at is null and d.last_id > after
     and case when d.dropped_at is null then asked && (d.gone || d.deleting)
              else d.captures is null or asked && d.captures end
     and case when since::text = '1:1:' then not pg_visible_in_snapshot(d.dropped_in, until)
              else pg_snapshot_xmax(since) < pg_snapshot_xmax(d.closed_in)
                or pg_snapshot_xmax(since) = pg_snapshot_xmax(d.closed_in)
                   and exists (select pg_snapshot_xip(since) except select pg_snapshot_xip(d.closed_in)) end;
  if lost is not null then
    raise exception 'changes behind this cursor are no longer in the log' using
      errcode = 'object_not_in_prerequisite_state',
      detail = format('Those of %s were dropped before they were read.', lost),
      hint = 'Begin again: with an empty cursor, which reads what is left, or with ''now''. Keep the log for longer: '
             || rowrelay.command('rowrelay keep %s', 'select rowrelay.keep(%L);', '90 days');
  end if;
end
$$;
-- Purpose:    hands out the log, each change once, however late its transaction commits: for a consumer that keeps a
--             cursor and needs no target. Ids alone would miss a change: they are assigned while transactions run, so a
--             smaller one may appear after a larger one was read.
--
--             A cursor is a snapshot, up to which all is read, or two: what lies between them is being read, in order
--             of ids, from the one that it names on. What lies between two snapshots is visible in the second and not
--             in the first. Changes of a row are in order: who changes it again has seen the change before, and takes a
--             larger id. Ticks tell from which id to search (rowrelay.tick); without a running process, which takes
--             them, a call reads all of the log since the last one.
--
--             What is handed out cannot be forgotten in a crash: a snapshot is used when it is on the disk. So no
--             change comes twice, and transactions that get the ids of forgotten ones are new.
-- Parameters: cursor, '': the log from its beginning, 'now': what is committed from now on; how many changes at most;
--             of which tables, null: of all that the caller may read
-- Result:     changes as in rowrelay.history, each with the cursor that goes on behind it; then, if there are no more,
--             a row with a cursor alone. Keep the last row's cursor in the transaction that keeps the changes.
-- Errors:     the cursor is not one of this function, or of another server; '' where the log was restored into another
--             server; this server has not begun all transactions that the cursor has seen; the log was dropped before
--             it was read; the caller may not read one of the tables; this server is a standby
create or replace function rowrelay.changes_since(cursor text, max_changes integer default 1000,
                                                  relations regclass[] default null)
  returns table (next_cursor text, change_id bigint, relation regclass, op text, key text, old_row json, new_row json,
                 captured_at timestamptz, txid xid8, actor text, problem text)
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  parts   text[];
  now_era integer;     -- another one if the log was restored from a dump into another server
  since   pg_snapshot; -- up to it all is read
  until   pg_snapshot; -- up to it is being read
  after   bigint := 0; -- from this id on
  known   rowrelay.tick;
  first   bigint;
  low     bigint;
  last    bigint;
  width   bigint := 2000; -- in ids, of which many may be unused
  given   bigint := 0;
  hidden  regclass;
begin
  if pg_is_in_recovery() then
    raise exception 'changes_since() does not work on a standby' using errcode = 'read_only_sql_transaction',
      hint = 'Connect to the primary.';
  end if;
  parts := case coalesce(cursor, '')
    when '' then '{NULL,1:1:,NULL,NULL}'::text[]
    when 'now' then '{NULL,NULL,NULL,NULL}'
    else regexp_match(cursor, '^([0-9]{1,9})/([0-9]{1,19}:[0-9]{1,19}:[0-9,]*)'
                              '(?:/([0-9]{1,19}:[0-9]{1,19}:[0-9,]*)/([0-9]{1,18}))?$') end;
  begin
    since := parts[2];
    until := parts[3];
    after := coalesce(parts[4]::bigint, 0);
  exception when others then
    parts := null;
  end;
  if parts is null then
    raise exception 'this is not a cursor: %', left(cursor, 100) using errcode = 'invalid_parameter_value',
      hint = 'Give what changes_since() returned as next_cursor. An empty text begins with the oldest change, ''now'' '
             'with the next one.';
  end if;
  select t.* into known from rowrelay.tick t order by t.id desc limit 1;
  now_era := coalesce(known.era + (pg_snapshot_xmax(known.snapshot)
                                     > pg_snapshot_xmax(pg_current_snapshot()))::integer, 0);
  if parts[1]::integer <> now_era then
    raise exception 'the log was restored into another server since this cursor' using
      errcode = 'object_not_in_prerequisite_state',
      hint = 'Begin again with ''now'', and read what is older from rowrelay.history.';
  end if;
  -- It would go back to this server's own, or over what this server is still to write.
  if pg_snapshot_xmax(coalesce(until, since)) > pg_snapshot_xmax(pg_current_snapshot()) then
    raise exception 'this cursor is of another server, or this server has lost what the cursor has seen' using
      errcode = 'object_not_in_prerequisite_state',
      hint = 'Begin again with ''now'', and read what is older from rowrelay.history.';
  end if;
  -- Transactions of the former server have other numbers: no snapshot of this one tells which of them it sees.
  if now_era > 0 and coalesce(cursor, '') = '' then
    raise exception 'the log has changes from before it was restored into this server' using
      errcode = 'object_not_in_prerequisite_state',
      detail = 'A cursor cannot tell in which order they were committed.',
      hint = 'Begin with ''now'', and read what is older from rowrelay.history.';
  end if;
  -- they would not come, and the cursor would go past them
  select r into hidden from unnest(relations) as r where not rowrelay.may_read(r) limit 1;
  if hidden is not null then
    raise exception 'permission denied to read the log of table %', hidden using errcode = 'insufficient_privilege',
      hint = format('Grant it: grant select on %s to %I; rows must not be hidden by a policy.', hidden, current_user);
  end if;
  max_changes := coalesce(max_changes, 1000);
  -- most calls find nothing new, and need not wait for the disk
  if until is null and pg_current_snapshot()::text is distinct from since::text then
    until := rowrelay.durable_snapshot();
  end if;
  until := coalesce(until, since);
  since := coalesce(since, until);

  if since::text <> until::text then
    -- Searching begins where a tick says that took place before: xmax grows with time.
    select t.* into known
      from rowrelay.tick t
     where t.era = now_era and pg_snapshot_xmax(t.snapshot) < pg_snapshot_xmax(since)
     order by pg_snapshot_xmax(t.snapshot) desc, t.id desc limit 1;
    -- but for those that wrote then, and have ended between the two snapshots
    select least(known.low, min(w.first)) into first
      from unnest(known.writers, known.writers_from) as w(txid, first)
     where not pg_visible_in_snapshot(w.txid, since) and pg_visible_in_snapshot(w.txid, until);
    if now_era > 0 then -- not into what another server wrote
      first := greatest(first, (select t.high from rowrelay.tick t where t.era < now_era order by t.id desc limit 1));
    end if;
    -- In pieces of the log, small ones first: with a limit alone, each call would read and sort all that is left.
    after := greatest(after, first);
    low := after;
    last := rowrelay.last_change_id();
    while low < last and given < max_changes loop
      for change_id, relation, op, key, old_row, new_row, captured_at, txid, actor, problem in
        select h.change_id, h.relation, h.op, h.key, h.old_row, h.new_row, h.captured_at, h.txid, h.actor, h.problem
          from rowrelay.history h
         where h.change_id > low and h.change_id <= low + width
           and h.day >= coalesce(known.open_from, '-infinity')
           and not pg_visible_in_snapshot(h.txid, since) and pg_visible_in_snapshot(h.txid, until)
           and (relations is null or h.relation = any (relations))
           and h.op = any ('{insert,update,delete,truncate,snapshot}')
         order by h.change_id
         limit max_changes - given
      loop
        given := given + 1;
        next_cursor := concat_ws('/', now_era, since, until, change_id);
        return next;
      end loop;
      low := low + width;
      width := width * 4;
    end loop;
    perform rowrelay.check_log_behind(since, until, after, relations, cursor = '');
  end if;
  if given < max_changes then
    return query select concat_ws('/', now_era, until), null::bigint, null::regclass, null::text, null::text,
                        null::json, null::json, null::timestamptz, null::xid8, null::text, null::text;
  end if;
end
$$;
-- Purpose:    returns chosen rows of rowrelay.history, each found by its id in its partition. The planner gets the
--             partitions as a list, so that it leaves out all others, of which there may be years.
-- Parameters: ids; days: the partition of each
-- Result:     the rows, in no order
create or replace function rowrelay.history_at(ids bigint[], days date[]) returns setof rowrelay.history
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  all_days date[] := array(select distinct d from unnest(days) as d);
begin
  return query
    select h.*
      from unnest(ids, days) as f(id, day)
      cross join lateral (select v.* from rowrelay.history v
                           where v.change_id = f.id and v.day = f.day and v.day = any (all_days) offset 0) as h;
end
$$;
-- Purpose:    returns the history of one row by its key, with what each change did. Where a change has no image before,
--             or not all of it, the row's previous change supplies it.
-- Parameters: relation; key, in any spelling: the text of a single column, a JSON array of several
-- Result:     rows of rowrelay.history, the newest first, with truncates of the table since the oldest
-- Errors:     the table was never captured
create or replace function rowrelay.history_of(relation regclass, key text) returns setof rowrelay.history
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  captures constant integer[] := array(select c.id from rowrelay.capture c where c.relation = history_of.relation);
  keys     text[]; -- all spellings
  ids      bigint[];
  days     date[];
  line     record;
  entry    rowrelay.history;
begin
  if captures = '{}' then
    raise exception 'table % was never captured', relation
      using errcode = 'undefined_object',
        hint = 'Capture it first: '
                 || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);', relation::text);
  end if;
  for spelling in 1 .. 2 loop
    keys := rowrelay.spellings(captures, array[history_of.key]);
    -- the rows are read anyway, and show which changes belong to other keys with the same hash
    with own as materialized (
      select f.change_id, f.day from rowrelay.candidates(captures, keys) as f
    ), found as (
      select o.change_id, o.day from own o
      union all
      select t.change_id, t.day from rowrelay.truncates_of(history_of.relation) as t
       where t.change_id > (select min(o.change_id) from own o)
    )
    select array_agg(f.change_id), array_agg(f.day) into ids, days from found f;
    exit when ids is not null;
    key := rowrelay.key_as_logged(relation, key);
  end loop;

  for line in
    select h as entry,
           -- a truncate may have been of a partition that did not hold the row
           lag(case when h.op <> 'truncate' then h.new_row end)
             over (partition by h.op = 'truncate' and h.new_row is not null order by h.change_id) as was,
           bool_or(h.op <> 'truncate') over (order by h.change_id) as was_there
      from rowrelay.history_at(ids, days) as h
     where h.relation = history_of.relation
       and (h.op = 'truncate' or h.key = any (keys) and h.op not in ('barrier', 'refresh'))
     order by h.change_id desc
  loop
    exit when not line.was_there; -- only earlier truncates remain
    entry := line.entry;
    if entry.op = 'update' and (entry.old_row is null or exists (
         select json_object_keys(entry.new_row) except select json_object_keys(entry.old_row))) then
      entry.changed := rowrelay.changed(line.was, entry.new_row);
    end if;
    return next entry;
  end loop;
end
$$;
-- Purpose:    returns all changes of one transaction
-- Parameters: txid
-- Result:     rows of rowrelay.history, in order
create or replace function rowrelay.transaction(txid xid8) returns setof rowrelay.history
language sql stable as $$
  select h.*
    from (select array_agg(f.change_id) as ids, array_agg(f.day) as days
            from rowrelay.changes_of_transaction(transaction.txid) as f) as found
    cross join lateral rowrelay.history_at(found.ids, found.days) as h
   order by h.change_id
$$;
-- Purpose:    finds changes that contain a text in a value before or after, whatever its case, such as an address. It
--             scans the log: name a table or a time where the log is long.
-- Parameters: words: the text as it appears in the value; relation, null: all; since, until: when it was captured
-- Result:     rows of rowrelay.history, the newest first
-- Errors:     the text is empty
create or replace function rowrelay.search(words text, relation regclass default null, since timestamptz default null,
                                           until timestamptz default null) returns setof rowrelay.history
language plpgsql stable set plan_cache_mode = force_custom_plan set jit = off as $$
declare
  pattern      text := rowrelay.like_pattern(words);
  -- as it stands in JSON
  json_pattern text := rowrelay.like_pattern(substr(to_json(words)::text, 2, length(to_json(words)::text) - 2));
  range        record;
begin
  if coalesce(words, '') = '' then
    raise exception 'the text to search for is empty' using errcode = 'invalid_parameter_value',
      hint = 'For all changes of a time: '
               || rowrelay.command('rowrelay log --since TIME --until TIME',
                                   'select * from rowrelay.history where captured_at between ''TIME'' and ''TIME'';');
  end if;
  select * into range from rowrelay.search_range(since, until);
  return query
    select h.*
      from rowrelay.history h
     where (search.relation is null or h.relation = search.relation)
       and h.change_id between range.first_id and range.last_id and h.day = any (range.days)
       and (since is null or h.captured_at >= since) and (until is null or h.captured_at <= until)
       and (h.new_row::text ilike json_pattern or h.old_row::text ilike json_pattern)
       and (rowrelay.holds_text(h.new_row, pattern, json_pattern)
            or rowrelay.holds_text(h.old_row, pattern, json_pattern))
     order by h.change_id desc;
end
$$;
-- Purpose:    returns a row image for readers that would change its numbers: JavaScript reads 9007199254740993 as
--             9007199254740992 and 900.50 as 900.5
-- Parameters: image
-- Result:     [[column, its value as it is written in JSON, as text], ...] in the order of the image; null for null
create or replace function rowrelay.image_texts(image json) returns json
language sql stable as $$
  select json_agg(json_build_array(e.name, e.value::text) order by e.position)
    from json_each(image) with ordinality as e(name, value, position)
$$;
-- Purpose:    returns the result of rowrelay.changed() for the same readers as rowrelay.image_texts()
-- Parameters: {"column": [before, after]}
-- Result:     [[column, value before, value after], ...], values as text; null for null
create or replace function rowrelay.changed_texts(changed json) returns json
language sql stable as $$
  select json_agg(json_build_array(e.name, (e.value -> 0)::text, (e.value -> 1)::text) order by e.position)
    from json_each(changed) with ordinality as e(name, value, position)
$$;
-- The expressions by which closed days of the log are indexed, and on how many days already.
create or replace view rowrelay.history_indexes as
select x.expression,
       x.method,
       i.days,
       (select count(*) from rowrelay.history_index_work() w where w.wanted = x.id) as days_to_do,
       i.bytes,
       x.problem
  from rowrelay.history_index x
  cross join lateral (
    select count(*) as days, coalesce(sum(pg_relation_size(c.oid)), 0) as bytes
      from pg_class c
     where c.relnamespace = 'rowrelay'::regnamespace and c.relname ~ format('^history_%s_[0-9]{8}$', x.id)) as i;
comment on view rowrelay.history_indexes is 'expressions by which closed days of the log are indexed; see '
                                            'rowrelay.index_history()';
-- Purpose:    the class of the advisory locks of backfills: whoever is at backfill ID, its driver, holds (this, ID) in
--             his session
-- Result:     'rowb' in ASCII
create or replace function rowrelay.backfill_lock() returns integer
language sql immutable as $$
  select x'726f7762'::integer
$$;
-- Purpose:    names who keeps everybody from a backfill without being at work on it: anybody who may log in can take an
--             advisory lock, such as that of a backfill's driver (rowrelay.backfill_lock)
-- Parameters: number of a backfill
-- Result:     for people: the sessions that hold the lock and may not run backfills; null: there are none
create or replace function rowrelay.backfill_stranger(backfill_id integer) returns text
language sql stable as $$
  select format('process %s of user %s, which may not run backfills, holds its lock: select pg_terminate_backend(%s)',
                l.pid, a.usename, l.pid)
    from pg_catalog.pg_locks l
    join pg_catalog.pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'advisory' and l.classid = rowrelay.backfill_lock()::oid and l.objid = backfill_id::oid
     and l.objsubid = 2 and l.granted
     and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database())
     and not pg_catalog.has_function_privilege(a.usesysid, 'rowrelay.backfill_step(integer,integer)', 'execute')
   order by l.pid limit 1
$$;
-- Backfills: the progress of each, which process works on it, and what it waits for.
create or replace view rowrelay.backfills as
select c.relation,
       c.relation_name,
       t.name as target,
       b.state,
       b.rows_queued as rows,
       case when b.state = 'done' then 100
            else least(99,
                       floor(100.0 * b.rows_read / greatest(b.rows_estimated, b.rows_read, 1))) end::integer as percent,
       b.rows_estimated,
       b.row_filter,
       (select l.pid from pg_locks l
         where l.locktype = 'advisory' and l.classid = rowrelay.backfill_lock()::oid and l.objid = b.id::oid
           and l.objsubid = 2 and l.granted
           and l.database = (select d.oid from pg_database d where d.datname = current_database())) as driver,
       b.registered_at,
       b.started_at,
       b.finished_at,
       coalesce(case when b.finished_at is null then rowrelay.backfill_stranger(b.id) end, b.note) as note
  from rowrelay.backfill b
  join rowrelay.capture c on c.id = b.capture
  join rowrelay.target t on t.id = b.target
 where t.dropped_at is null;
comment on view rowrelay.backfills is 'copies of the rows that a table had before it was routed to a target; driver: '
                                      'process id, at the source, of the connection that works on it; see '
                                      'rowrelay.backfill() and rowrelay.cancel_backfill()';
-- The state of each target, one row each.
create or replace view rowrelay.status as
with table_note as materialized ( -- once for all targets
  select w.target,
    string_agg(format('%s: %s', w.relation_name, w.note), '; ' order by w.n) filter (where w.n <= 20) as shown,
         greatest(count(*) - 20, 0) as more
    from (select r.target, c.relation_name, n.note,
          row_number() over (partition by r.target order by c.relation_name, c.id) as n
            from rowrelay.capture_notes() as n
            join rowrelay.capture c on c.id = n.capture
            join rowrelay.route r on r.capture = c.id and r.until_id is null) as w
   group by w.target
)
select t.name as target,
       case
         when t.state <> 'running' then t.state
         when not exists (select from rowrelay.instance i
                           where rowrelay.is_alive(i.heartbeat_at) and (i.targets is null or t.id = any (i.targets)))
           then 'not running'
         when o.target is not null then 'failing'
         else 'running'
       end as state,
       backlog.n as backlog,
       case when first_pending.id is not null then
         clock_timestamp() - (select h.captured_at from rowrelay.change h
                               where h.id = first_pending.id and h.day = first_pending.day) end as oldest_pending,
       coalesce((select round(sum(cardinality(p.change_ids)) / 60.0, 1) from rowrelay.receipt p
                  where p.target = t.id and p.outcome = 'delivered' and p.settled_at between now() - interval '1 min'
                    and now() + interval '1 min'), 0) as rate,
       refused.errors,
       refused.blocked,
       concat_ws('; ',
         t.reason,
         case when o.target is not null then
           format('since %s (%s): %s', to_char(o.since, 'YYYY-MM-DD HH24:MI:SS'),
                  case o.attempts when 1 then '1 attempt' else o.attempts || ' attempts' end,
                  concat_ws(' -- ', o.message, o.hint)) end,
         (select string_agg(format('%s waits since %s (%s): %s', c.relation_name,
                                   to_char(h.since, 'YYYY-MM-DD HH24:MI:SS'),
                                   case h.attempts when 1 then '1 attempt' else h.attempts || ' attempts' end,
                                     concat_ws(' -- ', h.message, h.hint)), '; ' order by c.relation_name)
            from rowrelay.hold h join rowrelay.capture c on c.id = h.capture where h.target = t.id),
         (select format('%s leased by a process that is gone, until %s',
                        case count(*) when 1 then '1 lane is' else count(*) || ' lanes are' end,
                        to_char(max(least(e.lease_until, clock_timestamp() + e.lasts)), 'HH24:MI:SS'))
            from rowrelay.lease e
           where e.lane between rowrelay.lane_number(t.id, -1) and rowrelay.lane_number(t.id, t.lanes - 1)
             and e.lease_until > clock_timestamp()
             and not exists (select from rowrelay.instance i
                              where i.id = e.instance and i.heartbeat_at > now() - interval '30 s')
          having count(*) > 0),
         (select string_agg(concat_ws(', ', format('backfill of %s: %s %%', b.relation_name, b.percent), b.note), '; '
                            order by b.relation_name)
            from rowrelay.backfills b where b.target = t.name and b.state in ('waiting', 'running')),
         (select n.shown from table_note n where n.target = t.id),
         (select format('notes of %s: see %s',
                        case n.more when 1 then '1 more table' else n.more || ' more tables' end,
                        rowrelay.command('rowrelay status --tables', 'view rowrelay.captures'))
            from table_note n where n.target = t.id and n.more > 0)) as note
  from rowrelay.target t
  left join rowrelay.trouble o on o.target = t.id
  -- skips dead rows that VACUUM has not removed yet
  cross join lateral (select coalesce((select f.floor from rowrelay.floor f where f.target = t.id),
                                      0) as up_to) as settled
  -- counted up to a million: status is read often, and beyond that the number does not matter
  cross join lateral (
    select count(*) as n
      from (select from generate_series(-1, t.lanes - 1) as n
              join rowrelay.queue q on q.lane = rowrelay.lane_number(t.id, n)
             where q.change_id > settled.up_to limit 1000000) as q) as backlog
  left join lateral (
    select q.change_id as id, q.day
      from generate_series(-1, t.lanes - 1) as n
      cross join lateral (select q.change_id, q.day from rowrelay.queue q
                           where q.lane = rowrelay.lane_number(t.id, n) and q.change_id > settled.up_to
                           order by q.change_id limit 1) as q
     order by q.change_id limit 1) as first_pending on true
  -- blocked: behind a refused change, or because the target cannot take the table
  cross join lateral (
    select r.errors,
      r.blocked + (select count(*) from (select from rowrelay.refusal f where f.target = t.id and f.state = 'waiting'
                                                         limit 1000000) as w) as blocked
      from (select count(*) filter (where f.state = 'error') as errors,
            count(*) filter (where f.state = 'blocked') as blocked
              from rowrelay.refusal f where f.target = t.id and f.state <> 'waiting') as r) as refused
 where t.dropped_at is null;
comment on view rowrelay.status is 'one row for each target: state, backlog (counted up to a million), age of the '
                                   'oldest pending change, changes per second of the last minute, refused changes';
-- Creates the first partitions of rowrelay.change and rowrelay.partition_day(). Running processes create later ones.
do $$ begin perform rowrelay.maintain_partitions(); end $$;
-- Records which server this is, so that rowrelay.skip_lost_ids() can tell a server restored from a later copy.
update rowrelay.source set server = (rowrelay.this_server()).server where server is null;
-- Grants rights; the last step of every installation. Only the schema's owner has rights here and, where they exist,
-- the roles of schema/roles.sql:
--
--   rowrelay_admin   may call every function and read every table. It writes only to the tables that a worker writes
--                    to; the functions write to the others with the rights of the schema's owner.
--   rowrelay_worker  may do what `rowrelay run` does, by the lists below.
--   rowrelay_reader  may use views that show people only what they may select anyway (rowrelay.may_read), and the
--                    functions that read those views.
--
-- An immutable or stable function that runs with its caller's rights grants nobody anything, so all three may call it.
-- Any other new function or view is the admin's alone until it is named here. Only differences are granted or revoked,
-- so that writers are not disturbed; rights granted to other roles stay.
do $grants$
declare
  wanted_functions constant jsonb := '{
    "rowrelay_reader": [
      "changes_in_transaction", "changes_since", "check_undone", "day_bounds", "delivery_of", "durable_snapshot",
      "is_same_key", "key_days_from_last", "last_change_id", "last_id_up_to", "logged_tables", "row_hashes",
      "search_range", "sees_log", "undo", "undo_apply", "undo_changes", "undo_obstacle", "undo_transaction"],
    "rowrelay_worker": [
      "backfill_holder", "backfill_step", "change_age", "copy_abandon", "copy_finish", "copy_hold", "copy_join",
      "copy_switch", "drop_empty_days", "expand_documents", "index_closed_days", "is_same_key", "is_undecided",
      "last_change_id", "maintain", "maintain_is_due", "maintain_when_due", "prune_is_due", "prune_what_is_due",
      "queue_all_documents", "refuse_documents", "release_held", "retry", "rewind", "ring_doorbell", "row_hashes",
      "seal_is_due", "seal_next", "skip_lost_ids", "tick", "writers"]}';
  -- table, view or sequence: privileges on all of it or on some columns
  wanted_tables constant jsonb := '{
    "rowrelay_reader": {
      "migration": ["select"],
      "source": ["select"],
      "capture": ["select"],
      "row_hashing": ["select"],
      "shape": ["select"],
      "tick": ["select"],
      "day": ["select"],
      "history": ["select"],
      "errors": ["select"],
      "readable_change": ["select"],
      "readable_key": ["select"],
      "readable_truncation": ["select"],
      "key_days": ["select"],
      "change_id": ["select"],
      "prunings": ["select"]},
    "rowrelay_worker": {
      "migration": ["select"],
      "source": ["select"],
      "capture": ["select"],
      "shape": ["select"],
      "route": ["select"],
      "document": ["select"],
      "document_source": ["select"],
      "change": ["select"],
      "target": ["select", {"update": ["state", "reason", "version"]}],
      "backfill": ["select", {"update": ["state", "snapshot", "waits_for", "rows_read", "rows_queued", "note",
                   "retry_at"]}],
      "queue": ["select", "insert", "update", "delete"],
      "refusal": ["select", "insert", "update", "delete"],
      "hold": ["select", "insert", "update"],
      "lane": ["select", "update"],
      "lease": ["select", "insert", "update", "delete"],
      "receipt": ["select", "insert"],
      "floor": ["select", "insert", "update"],
      "trouble": ["select", "insert", "update", "delete"],
      "instance": ["select", "insert", "update", "delete"],
      "day": ["select"],
      "status": ["select"],
      "instances": ["select"],
      "change_id": ["select"],
      "claim_token": ["usage"],
      "doorbell": ["select", "update"]}}';
  own_roles     constant text[] := '{rowrelay_admin,rowrelay_worker,rowrelay_reader}';
  name          text;
  statement     text;
begin
  for name in
    select f.name from jsonb_each(wanted_functions) as w, jsonb_array_elements_text(w.value) as f(name)
     where not exists (select from pg_proc p where p.pronamespace = 'rowrelay'::regnamespace and p.proname = f.name)
     union all
    select t.name from jsonb_each(wanted_tables) as w, jsonb_object_keys(w.value) as t(name)
     where to_regclass(format('rowrelay.%I', t.name)) is null
  loop
    raise exception 'schema/grants.sql grants rights on %, which does not exist', name;
  end loop;

  for statement in
    with role(name, grantee) as (
      select r.rolname::text, r.oid
        from pg_roles r
       where r.rolname = any (own_roles)
         and r.oid <> (select n.nspowner from pg_namespace n where n.nspname = 'rowrelay')
    ), routine as (
      -- nobody may call trigger functions, nor those that capturing or copying a table creates
      select p.oid, p.proname::text as name, p.proacl, p.proowner, p.provolatile <> 'v'
        and not p.prosecdef as is_harmless,
             p.prorettype <> 'trigger'::regtype and p.proname !~ '^(copies|capture)_[0-9]' as is_callable
        from pg_proc p where p.pronamespace = 'rowrelay'::regnamespace
    ), wanted_routine as (
      select f.oid, r.grantee
        from routine f, role r
       where f.is_callable and (f.is_harmless or r.name = 'rowrelay_admin' or wanted_functions -> r.name ? f.name)
    ), present_routine as (
      select f.oid, a.grantee
        from routine f, aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) as a
       where a.grantee = 0 or a.grantee in (select r.grantee from role r)
    ), relation as (
      -- partitions are read through their table
      select c.oid, c.relname::text as name, c.relkind, c.relacl
        from pg_class c
       where c.relnamespace = 'rowrelay'::regnamespace and c.relkind in ('r', 'p', 'v', 'S') and not c.relispartition
    ), listed as (
      select c.oid, r.grantee, r.name as role, p.value as privilege
        from relation c, role r,
             jsonb_array_elements(wanted_tables -> case r.name when 'rowrelay_admin' then 'rowrelay_worker'
                                  else r.name end -> c.name) as p
    ), wanted_relation as (
      select l.oid, l.grantee, upper(l.privilege #>> '{}') as privilege, null::text as name
        from listed l where jsonb_typeof(l.privilege) = 'string'
       union
      select l.oid, l.grantee, upper(u.privilege), a.name
        from (select * from listed where jsonb_typeof(privilege) = 'object') as l,
          jsonb_each(l.privilege) as u(privilege, names),
             jsonb_array_elements_text(u.names) as a(name)
       union
      select c.oid, r.grantee, 'SELECT', null from relation c, role r where r.name = 'rowrelay_admin'
    ), present_relation as (
      select c.oid, a.grantee, a.privilege_type as privilege, null::text as name
        from relation c, aclexplode(c.relacl) as a where a.grantee = 0 or a.grantee in (select r.grantee from role r)
       union
      select c.oid, x.grantee, x.privilege_type, a.attname::text
        from relation c
        join pg_attribute a on a.attrelid = c.oid and a.attacl is not null,
             aclexplode(a.attacl) as x where x.grantee = 0 or x.grantee in (select r.grantee from role r)
    ), difference as (
      select 'revoke' as verb, 'execute on function ' || d.oid::regprocedure as what, d.grantee
        from (table present_routine except table wanted_routine) as d
       union all
      select 'grant', 'execute on function ' || d.oid::regprocedure, d.grantee
        from (table wanted_routine except table present_routine) as d
       union all
      select d.verb, concat(d.privilege, ' (' || quote_ident(d.name) || ')', ' on ',
                            case when c.relkind = 'S' then 'sequence ' end, d.oid::regclass),
             d.grantee
        from (select 'revoke' as verb, p.* from (table present_relation except table wanted_relation) as p
               union all
              select 'grant', w.* from (table wanted_relation except table present_relation) as w) as d
        join relation c on c.oid = d.oid
    )
    select format('grant usage on schema rowrelay to %I', r.name)
      from role r
     where not has_schema_privilege(r.grantee, 'rowrelay', 'usage')
     union all
    select format('%s %s %s %s', d.verb, d.what, case d.verb when 'grant' then 'to' else 'from' end,
                  case d.grantee when 0 then 'public' else d.grantee::regrole::text end)
      from difference d
     order by 1
  loop
    execute statement;
  end loop;
end
$grants$;
commit;
