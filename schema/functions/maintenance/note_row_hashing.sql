-- Purpose:    notes for which captures changes are indexed under the hashes of their rows from now on, and how these
--             are computed. If that has changed, what was indexed before has to be indexed again
--             (rowrelay.index_older_rows). At most 10 captures are compared in a call, so that many tables do not slow
--             it down.
-- Parameters: up_to: changes with larger ids are not indexed yet; only_new: captures that are noted are not compared
create or replace function rowrelay.note_row_hashing(up_to bigint, only_new boolean) returns void
language plpgsql as $$
begin
  delete from rowrelay.row_hashing r
   where not exists (select from rowrelay.capture c
                      where c.id = r.capture and not c.key_is_exact and cardinality(c.key_columns) > 0);
  insert into rowrelay.row_hashing as r (capture, method, above_id)
  select m.id, m.method, case when m.method is null then 0 else up_to end
    from (select s.id, rowrelay.hash_method(s.capture) as method
            from (select c.id, c as capture
                    from rowrelay.capture c left join rowrelay.row_hashing r on r.capture = c.id
                   where not c.key_is_exact and cardinality(c.key_columns) > 0 and (r.capture is null or not only_new)
                   order by r.capture is not null, random() limit 10) as s) as m
   where not exists (select from rowrelay.row_hashing r
                      where r.capture = m.id and r.method is not distinct from m.method)
  on conflict (capture) do update set method = excluded.method, above_id = excluded.above_id;
end
$$;
