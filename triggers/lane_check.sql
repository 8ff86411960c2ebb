-- Purpose:    returns SQL that calls rowrelay.lanes_are_known() for the columns that make a capture's keys and lanes
-- Parameters: capture
-- Result:     a condition; null: there are no such columns
create or replace function rowrelay.lane_check(capture rowrelay.capture) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
declare
  key_columns constant smallint[] := rowrelay.live_key(capture);
begin
  return (
    select format('rowrelay.lanes_are_known(%L, %L, %L, %L, %L, %L)', capture.relation::oid,
                  array_agg(a.attnum order by a.attnum), array_agg(a.attname order by a.attnum),
                  array_agg(a.atttypid order by a.attnum), array_agg(a.attcollation order by a.attnum),
                  -- an array with nulls would be read by the session's array_nulls
                  array_agg(case when a.attnum <> all (key_columns)
                                 then rowrelay.column_version(a.atttypmod, a.xmin) else '' end order by a.attnum))
      from pg_attribute a
     where a.attrelid = capture.relation and a.attnum = any (key_columns || capture.lane_columns)
       and not a.attisdropped
    having count(*) > 0);
end
$$;
