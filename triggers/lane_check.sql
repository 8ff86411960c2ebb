-- Purpose:    returns SQL that calls rowrelay.lanes_are_known() for the columns that make keys and lanes
-- Parameters: relation; attribute numbers, some perhaps twice
-- Result:     a condition; null: there are no such columns
create or replace function rowrelay.lane_check(relation regclass, numbers smallint[]) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select format('rowrelay.lanes_are_known(%L, %L, %L, %L, %L)', relation::oid,
                  array_agg(a.attnum order by a.attnum), array_agg(a.attname order by a.attnum),
                  array_agg(a.atttypid order by a.attnum), array_agg(a.attcollation order by a.attnum))
      from pg_attribute a
     where a.attrelid = relation and a.attnum = any (numbers) and not a.attisdropped
    having count(*) > 0);
end
$$;
