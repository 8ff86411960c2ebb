-- Purpose:    warns of updates that are not undone because all that the log has of them is as before: what they
--             changed is in columns that are left out or masked
-- Parameters: steps
create or replace function rowrelay.tell_not_undone(steps rowrelay.undo_step[]) returns void
language plpgsql as $$
declare
  told record;
begin
  for told in
    select s.relation, min(s.change_id) as first_id, count(*) as many, i.columns
      from unnest(steps) as s
      join rowrelay.capture c on c.id = s.capture
     cross join lateral (
       select string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
         from rowrelay.image_columns(c) as m
         join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
        where a.attname = any (m.leave_out) or a.attname <> all (m.keep) or m.masks::jsonb ? a.attname::text) as i
     where s.was is not null and s.be is not null and i.columns is not null
       and not exists (select from jsonb_each_text(s.be) as e
                        where s.was ? e.key and s.was ->> e.key is distinct from e.value)
     group by s.relation, i.columns
     order by first_id
  loop
    raise warning 'change % of table % cannot be undone: the log has no value that it changed', told.first_id,
      concat(told.relation, ' and ' || nullif(told.many - 1, 0) || ' more')
      using hint = format('Columns that are left out or masked where it is captured are not in the log, so nobody '
                          'knows what they were: %s.', told.columns);
  end loop;
end
$$;
