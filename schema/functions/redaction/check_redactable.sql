-- Purpose:    refuses to redact what must not be redacted
-- Parameters: relation; its captures, present and former; columns; changes that may have values in them
-- Errors:     a column is part of the key; one of the changes is not delivered yet, or was refused
create or replace function rowrelay.check_redactable(relation regclass, captures integer[], columns text[],
                                                     change_ids bigint[])
returns void language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  name   text;
  target text;
  n      bigint;
  ids    bigint[];
begin
  select min(c) into name
    from unnest(columns) as c
   where exists (select from rowrelay.capture k
                  where k.id = any (captures)
                    and (c = any (k.key_names) or c = any (rowrelay.attribute_names(k.relation, k.key_columns))));
  if name is not null then
    raise exception 'column "%" is part of the key of table %, so it cannot be redacted', name, relation
      using errcode = 'invalid_parameter_value', detail = 'The log could no longer tell which row a change belongs to.';
  end if;

  select count(distinct q.change_id), min(t.name) into n, target
    from rowrelay.queue q left join rowrelay.target t on t.id = rowrelay.lane_target(q.lane) and q.lane >= 0
   where q.change_id = any (change_ids);
  if n > 0 then
    raise exception 'that row has % change% not delivered yet%', n, case when n = 1 then '' else 's' end,
      coalesce(' to target "' || target || '"', '')
      using errcode = 'object_not_in_prerequisite_state',
        hint = 'Wait until they are delivered. To see the backlog: '
                 || rowrelay.command('rowrelay status', 'select * from rowrelay.status;');
  end if;
  select count(distinct f.change_id), min(t.name), (array_agg(distinct f.change_id))[:20] into n, target, ids
    from rowrelay.refusal f join rowrelay.target t on t.id = f.target
   where f.change_id = any (change_ids);
  if n > 0 then
    raise exception '% changes of that row were refused by target "%"', n, target
      using errcode = 'object_not_in_prerequisite_state',
        hint = 'Retry or discard them first: '
                 || rowrelay.command(format('rowrelay retry %1$s; or: rowrelay skip %1$s', array_to_string(ids, ' ')),
                                     'select rowrelay.retry(null, %1$L); or: select rowrelay.skip(null, %1$L);',
                                     ids::text);
  end if;
end
$$;
