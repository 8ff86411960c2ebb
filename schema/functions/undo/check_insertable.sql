-- Purpose:    refuses to insert a deleted row again if the log does not have all of it
-- Parameters: step that inserts a row
-- Errors:     columns were left out or masked when it was captured; a column was added since then, whose values were
--             computed for each row; the table has inheritance children
create or replace function rowrelay.check_insertable(step rowrelay.undo_step) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  lost text;
begin
  if exists (select from pg_inherits i join pg_class p on p.oid = i.inhparent
              where i.inhparent = step.relation and p.relkind = 'r') then
    raise exception 'change % of table % cannot be undone: the log does not say which inheritance child held the row',
                    step.change_id, step.relation using errcode = 'feature_not_supported';
  end if;
  select string_agg(format('"%s"', a.attname), ', ' order by a.attnum)
    into lost
    from rowrelay.capture c
   cross join rowrelay.image_columns(c) as i
    join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   where c.id = step.capture
     and (not step.be ? a.attname::text
            and (a.attname = any (i.leave_out) or a.attname <> all (i.keep)
                 -- what a row that is older than the column has is known only while it is not written into each row
                 or not a.atthasmissing and (a.atthasdef or a.attidentity <> ''))
          or a.attname in (select json_object_keys(i.masks)));
  if lost is not null then
    raise exception 'change % of table % cannot be undone: the log does not have column %', step.change_id,
      step.relation, lost
      using errcode = 'object_not_in_prerequisite_state',
            detail = 'It is left out, masked or newer than the change, and the row would come back without it.',
            hint = 'Insert the row by hand; for its other columns: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         step.relation::text);
  end if;
end
$$;
