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
  collations text;
  lanes     text;
begin
  if capture.row_filter is not null or capture.lane_columns is not null or not capture.key_is_exact
     or not rowrelay.key_is_unique(capture) or rowrelay.can_change_lane(capture)
     or (select c.relkind from pg_class c where c.oid = capture.relation) is distinct from 'r'
     or rowrelay.may_have_heirs(capture)
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
                        or a.attgenerated = 'v'
                        or coalesce(nullif(t.typelem, 0), t.oid) = 'interval'::regtype
                           and rowrelay.may_be_long('interval'::regtype)))
  then
    return null;
  end if;

  select string_agg(format('%s:%s', a.attnum, encode(convert_to(a.attname, getdatabaseencoding()), 'hex')), ','
                    order by k.position),
         string_agg(a.attcollation::text, ',' order by k.position)
    into keys, collations
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
    || ' keys=' || keys || ' collations=' || collations || ' lanes=' || lanes;
end
$$;
