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
