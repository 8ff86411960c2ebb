-- Purpose:    finds another table whose rows are where those of one table go at a target that keeps rows: what empties
--             that place, or takes rows there for wrong because the source does not have them, would hit the other's
-- Parameters: capture, which may be a former one; target
-- Result:     name of that table, or of the document there; null: there is none. A table that came when this one went
--             there no longer is none: the order keeps them apart
create or replace function rowrelay.shares_place(capture integer, target integer) returns text
language sql stable as $$
  select coalesce(rowrelay.full_name(c.relation), c.relation_name)
    from rowrelay.route own
    join rowrelay.target t on t.id = own.target and rowrelay.keeps_state(t)
    join rowrelay.target other on (other.id = t.id or other.url = t.url) and other.dropped_at is null
     and rowrelay.keeps_state(other)
    join rowrelay.route r on r.target = other.id and r.until_id is null
     and (r.capture, r.target) <> (own.capture, own.target)
     and (own.until_id is null or r.from_id < own.until_id)
     and (r.place = own.place
          or t.url ~ '^(elasticsearch|opensearch)[+][a-z]+://[^/?#]+/.*[^/]$') -- all are in that index
    join rowrelay.capture c on c.id = r.capture
   where own.capture = shares_place.capture and own.target = shares_place.target
     and (c.released_at is null and exists (select from pg_class o where o.oid = c.relation)
          or exists (select from rowrelay.document d where d.target = other.id))
   order by c.id
   limit 1
$$;
