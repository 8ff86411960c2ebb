-- Purpose:    returns the statement that inserts a deleted row again, unless a row with its key exists
-- Parameters: capture; step
-- Errors:     columns were left out or masked when it was captured; the table has inheritance children
create or replace function rowrelay.undo_insert(capture rowrelay.capture, step rowrelay.undo_step) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off as $$
declare
  lost        text;
  names       text;
  literals    text;
  overriding  text;
  place       text;
begin
  if exists (select from pg_inherits i join pg_class p on p.oid = i.inhparent
              where i.inhparent = step.relation and p.relkind = 'r') then
    raise exception 'change % of table % cannot be undone: the log does not say which inheritance child held the row',
                    step.change_id, step.relation using errcode = 'feature_not_supported';
  end if;
  select string_agg(format('"%s"', a.attname), ', ' order by a.attnum)
    into lost
    from pg_attribute a, rowrelay.image_columns(capture) as i
   where a.attrelid = step.relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     and (a.attname = any (i.leave_out) and not step.be ? a.attname::text
          or a.attname <> all (i.keep) and not step.be ? a.attname::text
          or a.attname in (select json_object_keys(i.masks)));
  if lost is not null then
    raise exception 'change % of table % cannot be undone: the log does not have column %', step.change_id,
      step.relation, lost
      using errcode = 'object_not_in_prerequisite_state',
            detail = 'It is left out or masked, and the row would come back without it.',
            hint = 'Insert the row by hand; for its other columns: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         step.relation::text);
  end if;
  select string_agg(format('%I', a.attname), ', ' order by a.attnum),
         string_agg(rowrelay.typed_literal(step.relation, a.attname,
                      case when step.be ? a.attname::text then step.be ->> a.attname
                           -- added later: the value that rows of that time got
                           when a.atthasmissing then (a.attmissingval::text::text[])[1] end), ', ' order by a.attnum),
         case when bool_or(a.attidentity = 'a') then ' overriding system value' else '' end
    into names, literals, overriding
    from pg_attribute a
   where a.attrelid = step.relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = '';
  place := rowrelay.row_condition(capture, step.be, 't', key_only => true);
  return format('insert into %s (%s)%s select %s', step.relation, names, overriding, literals)
         || case when place <> '' then format(' where not exists (select from %s as t where %s)', step.relation,
                                              place) else '' end;
end
$$;
