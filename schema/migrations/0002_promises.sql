insert into rowrelay.migration (version) values (2);

-- Claims ----------------------------------------------------------------------------------------------------------

-- Processes of the version before lock lanes in another way, so they must not go on beside those of this one. To rename a
-- column that each of their claims reads waits until none is in flight, and ends them with an error at the next.
alter table rowrelay.lease rename column failures to expiries;
alter table rowrelay.lease add lasts interval not null default interval '2 minutes';
alter table rowrelay.lease alter lasts drop default;
comment on column rowrelay.lease.lasts is 'how long it lasts from the moment when it was taken or renewed: so no clock can hold it for longer';

create table rowrelay.lane (
  lane integer primary key
);
comment on table rowrelay.lane is 'the lanes of all targets: who holds the lock of a row here (select ... for update), and nobody else, decides about the order of what is queued in that lane; see schema/README.md';
comment on column rowrelay.lane.lane is 'number among the lanes of all targets, see rowrelay.lane_number()';
insert into rowrelay.lane (lane)
select (t.id << 12) + n from rowrelay.target t, generate_series(0, t.lanes) as n where t.dropped_at is null;

create table rowrelay.mutex (
  name text primary key
);
comment on table rowrelay.mutex is 'work that one session may do at a time: whoever locks the row does it (select ... for update), and nobody without rights here can';
comment on column rowrelay.mutex.name is 'seal: whatever adds to the chain of seals; index: rowrelay.index_closed_days()';
insert into rowrelay.mutex (name) values ('seal'), ('index');

alter table rowrelay.trouble add probe_until timestamptz;
comment on column rowrelay.trouble.probe_until is 'until when one process tries the target, and no other does; null: nobody does';

-- Capture ---------------------------------------------------------------------------------------------------------

-- Only of transactions that are still running does it say anything. After a crash there is none.
create unlogged table rowrelay.follower (
  txid      xid8 not null,
  relation  oid not null,
  version   tid not null,
  change_id bigint not null,
  day       date not null,
  constraint follower_pkey primary key (txid, relation, version)
);
comment on table rowrelay.follower is 'row versions of tables without a key that went in the transaction in which they came: while it runs, what may have been told in the wrong order; see rowrelay.note_follower()';
comment on column rowrelay.follower.txid is 'transaction';
comment on column rowrelay.follower.relation is 'table that held the version: the captured one, a partition or an inheritance child';
comment on column rowrelay.follower.version is 'its place (ctid)';
comment on column rowrelay.follower.change_id is 'the change that says that it went';
comment on column rowrelay.follower.day is 'partition of the change';

drop function if exists rowrelay.awkward_columns(regclass);
drop function if exists rowrelay.image_expression(rowrelay.capture);
drop function if exists rowrelay.has_row_triggers(rowrelay.capture);

-- Keys ------------------------------------------------------------------------------------------------------------

alter table rowrelay.refusal add column row_hash bigint not null default 0;
alter table rowrelay.refusal alter column row_hash drop default;
-- What is 0 may be any row of its table, which is true until it is retried, skipped or superseded.
update rowrelay.refusal f
   set row_hash = coalesce(nullif(hashtextextended(coalesce(f.key, '') collate "C", 0), 0), 1)
  from rowrelay.capture c
 where c.id = f.capture and (c.key_is_exact or f.key is null);
drop index rowrelay.refusal_key;
create index refusal_row on rowrelay.refusal (target, capture, row_hash);
comment on column rowrelay.refusal.row_hash is 'tells rows apart, whatever the length of their keys, and by what is equal rather than written alike: rowrelay.text_hash() or rowrelay.row_hashes(); 0: it may be any row of the table';

drop function if exists rowrelay.former_keys(integer[], text);
drop function if exists rowrelay.backfill_values(regclass, text[], text[]);

-- Rights ----------------------------------------------------------------------------------------------------------

-- They believed a row that the caller had made up; the new ones take its number.
drop function if exists rowrelay.backfill_holder(rowrelay.backfill);
drop function if exists rowrelay.prune_day(rowrelay.day, boolean);
drop function if exists rowrelay.image_expression(rowrelay.capture, regclass);
-- All trigger functions are made anew by the next rowrelay.maintain(), because rowrelay.column_states() has changed: those of
-- before run casts to json and to text that the owner of a captured table has made, with the rights of the schema's owner.

drop function if exists rowrelay.route(regclass, text, text, boolean);
drop function if exists rowrelay.capture_table(regclass, text[], text[], text[], text[], jsonb, text, text, boolean, interval);
alter table rowrelay.capture add column key_is_chosen boolean not null default false;
comment on column rowrelay.capture.key_is_chosen is 'whether somebody said what the key is; else it is found again when the table is captured again';
do $$ -- the function is there where there are captures
begin
  if exists (select from rowrelay.capture) then
    update rowrelay.capture c set key_is_chosen = c.key_columns <> rowrelay.key_of(c.relation)
     where c.released_at is null and exists (select from pg_class r where r.oid = c.relation);
  end if;
end
$$;

alter table rowrelay.capture add column filter_state text;
comment on column rowrelay.capture.filter_state is 'digest of the condition that the triggers were given, to see that nobody has put another in its place; see rowrelay.filter_condition()';
update rowrelay.capture c
   set filter_state = (select encode(sha256(convert_to(t.tgqual::text, getdatabaseencoding())), 'hex') from pg_trigger t
                        where t.tgrelid = c.relation and t.tgname = '!rowrelay_insert')
 where c.row_filter is not null and c.released_at is null;

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
comment on table rowrelay.hold is 'tables that a target cannot take at present, while it takes others: their changes wait in rowrelay.refusal; see replicator/queue/hold.h';
comment on column rowrelay.hold.target is 'which target';
comment on column rowrelay.hold.capture is 'which table';
comment on column rowrelay.hold.since is 'when it began';
comment on column rowrelay.hold.attempts is 'how often it was tried since';
comment on column rowrelay.hold.retry_at is 'when more changes are released to be tried';
comment on column rowrelay.hold.released_to is 'changes up to this id are delivered; those after it wait';
comment on column rowrelay.hold.released is 'how many of those that were released are not settled yet';
comment on column rowrelay.hold.piece is 'how many are released next';
comment on column rowrelay.hold.sqlstate is 'the target''s code, if it is a PostgreSQL';
comment on column rowrelay.hold.message is 'why the target cannot take it';
comment on column rowrelay.hold.hint is 'what to do';

alter table rowrelay.refusal
  drop constraint state_is_known,
  add constraint state_is_known check (state in ('error', 'blocked', 'waiting'));
comment on column rowrelay.refusal.state is 'error: refused; blocked: waits behind a refused change of its key (option on_error=block); waiting: its target cannot take its table at present, see rowrelay.hold';
-- There may be millions that wait, and others are looked for all the time.
create index refusal_waiting on rowrelay.refusal (target, capture, change_id) where state = 'waiting';
create index refusal_refused on rowrelay.refusal (target, lane, state) where state <> 'waiting';

-- Operations ------------------------------------------------------------------------------------------------------
drop function if exists rowrelay.changes_to_undo(regclass, text); -- rowrelay.latest_changes() has taken its place
