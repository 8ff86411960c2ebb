-- The statement that makes a table for changes; an empty text when the table is there. Several sources may feed one
-- table.
--   $1 table's name, quoted where it must be
select case when to_regclass($1) is null then
  concat(
    (select format('create schema %I; ', (parse_ident($1))[1])
      where cardinality(parse_ident($1)) = 2 and to_regnamespace(quote_ident((parse_ident($1))[1])) is null),
    format('create table %s ('
             'position bigint generated always as identity primary key, '
             'source uuid not null, '
             'change_id bigint not null, '
             'op text not null, '
             'key text, '
             'captured_at timestamptz not null, '
             'txid xid8 not null, '
             'actor text, '
             'old_row json, '
             'new_row json, '
             'unique (change_id, source))', $1))
  else '' end;
