-- Purpose:    refuses to send changes into the table that they are of, or into one at a target that belongs to another
--             table or document: each place has one owner, by whatever target and in whatever way (mirror, append,
--             document) it is written, unless the user allowed that. The only check of that kind.
-- Parameters: capture: of a table, or of a document, which has no relation; target: for a document the one it is
--             delivered to; both also new ones whose id is 0; name of the table there; whether tables may share it
-- Errors:     names the owner and what to do
create or replace function rowrelay.check_into(capture rowrelay.capture, target rowrelay.target, into_table text,
                                               shared boolean) returns void
language plpgsql stable as $$
declare
  place_there constant text := rowrelay.place_of(into_table);
  owner       record;
begin
  if target.url ~ '^postgres(ql)?:$' and capture.relation <> 0 and rowrelay.is_captured_itself(capture, into_table) then
    raise exception 'table % cannot be its own target', capture.relation using errcode = 'invalid_parameter_value',
      detail = format('Target "%s" is this database, so old changes would overwrite newer rows of table %s.',
                      target.name, into_table),
      hint = 'Name another table: '
               || rowrelay.command('rowrelay route --into NAME %s %s',
                                   'select rowrelay.route(%L, %L, into_table => ''NAME'');', capture.relation::text,
                                   target.name);
  end if;
  if not coalesce((select k.overwrites from rowrelay.target_kind(target.url) as k), false) then
    return;
  end if;
  select coalesce(rowrelay.full_name(c.relation), c.relation_name) as name, r.capture = capture.id as is_itself,
         t.name as by_target, d.target is not null as is_document
    into owner
    from rowrelay.route r
    join rowrelay.capture c on c.id = r.capture
    join rowrelay.target t on t.id = r.target and t.dropped_at is null
    left join rowrelay.document d on d.target = t.id
    left join rowrelay.target p on p.id = d.delivers_to -- whose URL a document has
   where r.until_id is null and (t.id = target.id or coalesce(p.url, t.url) = target.url)
     and r.capture <> case when d.target is not null or r.target = target.id then capture.id else -1 end
     and (shared is not true or r.capture = capture.id)
     and r.place = place_there
     and (d.target is not null
          or (c.released_at is null and exists (select from pg_class o where o.oid = c.relation)))
   order by r.capture = capture.id desc, c.id limit 1;
  if owner.is_itself then
    raise exception 'target "%" brings the changes of table % to table % already', owner.by_target, owner.name,
      into_table
      using errcode = 'invalid_parameter_value',
            detail = format('Target "%s" is the same database, and changes of two targets are not kept in order.',
                            target.name),
            hint = 'Remove that route first: '
                     || rowrelay.command('rowrelay route --remove %s %s', 'select rowrelay.unroute(%L, %L);',
                                         capture.relation::text, owner.by_target);
  end if;
  if owner.name is not null then
    raise exception '% into table % of target "%"',
      case when owner.is_document then format('document "%s" already goes', owner.name)
           else format('the changes of table %s already go', owner.name) end, into_table, target.name
      using errcode = 'invalid_parameter_value',
            detail = case when target.options ->> 'mode' = 'append'
                          then 'Nothing in that table would tell the changes of both apart.'
                          else 'A row of one would overwrite the row of the other with the same key.' end,
            hint = case when capture.relation = 0
                        then 'Name another table with '
                               || rowrelay.command('option --into', 'parameter into_table') || '.'
                        else format('Name another table: %s; tables without a key in common may share it: %s',
                               rowrelay.command('rowrelay route --into NAME %s %s',
                                                'select rowrelay.route(%L, %L, into_table => ''NAME'');',
                                                capture.relation::text, target.name),
                               rowrelay.command('rowrelay route --shared --into %3$s %1$s %2$s',
                                                'select rowrelay.route(%L, %L, into_table => %L, shared => true);',
                                                capture.relation::text, target.name, into_table)) end;
  end if;
end
$$;
