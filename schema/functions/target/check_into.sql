-- Purpose:    refuses to send a table's changes into that table itself, or into one that another target brings them to,
--             or into a table that receives another one's changes, unless the user allowed that
-- Parameters: capture; target; name of the table there; whether tables may share it
-- Errors:     names the other table and what to do
create or replace function rowrelay.check_into(capture rowrelay.capture, target rowrelay.target, into_table text,
                                               shared boolean) returns void
language plpgsql stable as $$
declare
  other       text;
  by_target   text;
  is_itself   boolean; -- the same table, by another target
  place_there constant text := rowrelay.place_of(into_table);
begin
  if target.url ~ '^postgres(ql)?:$' and rowrelay.is_captured_itself(capture, into_table) then
    raise exception 'table % cannot be its own target', capture.relation using errcode = 'invalid_parameter_value',
      detail = format('Target "%s" is this database, so old changes would overwrite newer rows of table %s.',
                      target.name, into_table),
      hint = 'Name another table: '
               || rowrelay.command('rowrelay route --into NAME %s %s',
                                   'select rowrelay.route(%L, %L, into_table => ''NAME'');', capture.relation::text,
                                   target.name);
  end if;
  if target.options ->> 'mode' = 'append'
     or not coalesce((select k.overwrites from rowrelay.target_kind(target.url) as k), false) then
    return;
  end if;
  select rowrelay.full_name(c.relation), r.capture = capture.id, t.name into other, is_itself, by_target
    from rowrelay.route r
    join rowrelay.capture c on c.id = r.capture and c.released_at is null
    join rowrelay.target t on t.id = r.target and t.dropped_at is null
   where r.until_id is null and (t.id = target.id or t.url = target.url)
     and (r.capture, r.target) <> (capture.id, target.id)
     and (shared is not true or r.capture = capture.id)
     and r.place = place_there and exists (select from pg_class o where o.oid = c.relation)
     and t.options ->> 'mode' is distinct from 'append'
     and not exists (select from rowrelay.document d where d.target = t.id)
   order by r.capture = capture.id desc, c.id limit 1;
  if is_itself then
    raise exception 'target "%" brings the changes of table % to table % already', by_target, other, into_table
      using errcode = 'invalid_parameter_value',
            detail = format('Target "%s" is the same database, and changes of two targets are not kept in order.',
                            target.name),
            hint = 'Remove that route first: '
                     || rowrelay.command('rowrelay route --remove %s %s', 'select rowrelay.unroute(%L, %L);',
                                         capture.relation::text, by_target);
  end if;
  if other is not null then
    raise exception 'the changes of table % already go into table % of target "%"', other, into_table, target.name
      using errcode = 'invalid_parameter_value',
            detail = 'A row of one table would overwrite the row of the other with the same key.',
            hint = format('Name another table: %s; tables without a key in common may share it: %s',
                          rowrelay.command('rowrelay route --into NAME %s %s',
                                           'select rowrelay.route(%L, %L, into_table => ''NAME'');',
                                           capture.relation::text, target.name),
                          rowrelay.command('rowrelay route --shared --into %3$s %1$s %2$s',
                                           'select rowrelay.route(%L, %L, into_table => %L, shared => true);',
                                           capture.relation::text, target.name, into_table));
  end if;
end
$$;
