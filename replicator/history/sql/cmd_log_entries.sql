-- What a person wants to know of these changes, the newest first. "session" describes who else was involved;
-- "deliveries" has a line for each target: name, status and the rest, separated by tabs. Deliveries take longer to read
-- than all else, and are read only if asked for: the view computes each column that is named, whatever is done with it
-- afterwards.
--   $1 ids  $2 their days  $3 whether to read deliveries
--   $4 where all are of one key: the same ids and those before them, so that the old row is known where it was not
--      logged;
--   null: not so
-- Gives entry: id, at, op, relation, key, actor, session, txid, old, new, deliveries, problem, redacted
with entry as (
  select h.change_id, h.day, h.relation, h.op, h.key, h.old_row, h.new_row, h.captured_at, h.txid, h.actor, h.db_user,
         h.application_name, h.client_addr, h.problem, h.caveat,
         case when $4::bigint[] is not null
              then lag(case when h.op <> 'truncate' then h.new_row end) over (order by h.change_id) end as was
    from rowrelay.history h
   where h.change_id = any (coalesce($4::bigint[], $1::bigint[]))
     and h.day = any ($2::date[])
)
select e.change_id as id,
       date_trunc('milliseconds', e.captured_at)::text as at,
       e.op,
       coalesce((select c.oid::regclass::text from pg_class c where c.oid = e.relation),
                (select t.relation_name from rowrelay.logged_tables() t where t.relation = e.relation),
                e.relation::text) as relation,
       e.key,
       e.actor,
       nullif(concat_ws(', ', case when e.db_user is distinct from e.actor then 'user ' || e.db_user end,
                              nullif(e.application_name, ''), 'from ' || host(e.client_addr)), '') as session,
       e.txid,
       case when e.op = 'update' and e.was is not null
             and (e.old_row is null
                  or exists (select json_object_keys(e.new_row) except select json_object_keys(e.old_row)))
            then e.was else e.old_row
       end as old,
       e.new_row as new,
       (select string_agg(translate(concat_ws(E'\t', t.key, t.value ->> 'status',
                               nullif(concat_ws('; ', nullif(concat_ws(' ', w.tried, w.who, w.at, w.said), ''),
                                                w.again), '')),
                                      E'\n\r', '  '), E'\n' order by t.key)
            from rowrelay.history h
            cross join lateral jsonb_each(h.deliveries) t
            cross join lateral (
              select case when (t.value ->> 'attempts')::integer > 1
                          then 'after ' || (t.value ->> 'attempts') || ' attempts' end,
                     'by ' || coalesce(t.value ->> 'actor',
                                       (t.value ->> 'host') || coalesce(':' || (t.value ->> 'pid'), '')),
                     date_trunc('milliseconds', (t.value ->> 'settled_at')::timestamptz)::text,
                     '(' || coalesce(t.value ->> 'error', t.value ->> 'answer') || ')',
                     (t.value ->> 'again') || ' by ' || (t.value ->> 'again_by') || ' '
                       || date_trunc('milliseconds', (t.value ->> 'again_at')::timestamptz)::text
            ) as w (tried, who, at, said, again)
           where $3::boolean and h.change_id = e.change_id and h.day = e.day and h.day = any ($2::date[]))
         as deliveries,
       e.problem,
       (select string_agg(c, ', ') from json_array_elements_text(e.caveat -> 'redacted') as c) as redacted
  from entry e
 where e.change_id = any ($1::bigint[])
 order by e.change_id desc;
