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
    -- the function compares arrays of keys, which may have a gigabyte; an index bounds what a row's key has
    when exists (select from pg_attribute a
                  where a.attrelid = capture.relation and a.attnum = any (rowrelay.live_key(capture))
                    and rowrelay.may_be_large(a.atttypid)
                    and not exists (select from pg_index i
                                     where i.indrelid = a.attrelid and a.attnum = any (i.indkey) and i.indisvalid
                                       and i.indpred is null
                                       and exists (select from pg_class x join pg_am m on m.oid = x.relam
                                                    where x.oid = i.indexrelid and m.amname = 'btree'))) then
      'a column of its key is in no index, and may be large'
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
    when not rowrelay.has_plain_rows(capture) then 'it has columns of types that are captured one by one'
    -- both images of a row would have to take the same form
    when rowrelay.keeps_before(capture)
         and exists (select from rowrelay.awkward_columns(capture.relation)) then
      'it keeps the image before, and has a json column'
  end;
end
$$;
