-- The statements that make the table in which a target records the tables that were copied to it as a whole: see
-- replicator/backfill/copy.h. Schema rowrelay_target is there already. An empty text: so is the table.
select case when to_regclass('rowrelay_target.copied') is null then
  'create table rowrelay_target.copied (
    source    uuid not null,
    target    integer not null,
    capture   integer not null,
    snapshot  text not null,
    rows      bigint not null,
    copied_at timestamptz not null default now(),
    primary key (source, target, capture)
  );
  comment on table rowrelay_target.copied is ''tables that rowrelay has copied as a whole'';
  comment on column rowrelay_target.copied.source is ''from where'';
  comment on column rowrelay_target.copied.target is ''what the source calls this database'';
  comment on column rowrelay_target.copied.capture is ''which table of the source'';
  comment on column rowrelay_target.copied.snapshot is ''as it was then, in transactions of the source'';
  comment on column rowrelay_target.copied.rows is ''how many'';
  comment on column rowrelay_target.copied.copied_at is ''when it began'''
  else '' end;
