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
