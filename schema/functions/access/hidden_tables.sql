-- Purpose:    says of which captured tables the caller may not see the changes: to show nothing of them without a word
--             would look as if there were none
-- Parameters: relations: those that were asked for, null: all
-- Result:     message; hint: the statements that give the rights. Both null: nothing is hidden.
create or replace function rowrelay.hidden_tables(relations regclass[] default null, out message text, out hint text)
language sql stable as $$
  with hidden as (
    select distinct on (c.relation, c.relation_name)
           coalesce(rowrelay.full_name(c.relation), c.relation_name) as name,
           rowrelay.right_to_read(c.relation) as remedy
      from rowrelay.capture c
     where (relations is null or c.relation = any (relations))
       and not rowrelay.may_read_all() and not coalesce(rowrelay.may_read(c.relation), false)
     order by c.relation, c.relation_name, c.id desc
  ), counted as (
    select h.*, row_number() over (order by h.name) as place, count(*) over () as many from hidden h
  )
  select format('role %I may not read %s%s, so nothing of %s is shown', current_user,
                string_agg(c.name, ', ' order by c.name) filter (where c.place <= 3),
                case when min(c.many) > 3 then format(' and %s more', min(c.many) - 3) end,
                case when min(c.many) = 1 then 'it' else 'them' end),
         'Ask an administrator: '
           || (select string_agg(r.remedy, '; ')
                 from (select distinct d.remedy from counted d where d.place <= 3 order by 1) as r)
    from counted c
  having count(*) > 0
$$;
