-- Purpose:    verifies that the seals and the records of redactions were not tampered with
-- Parameters: a head that was kept elsewhere and must be in the chain (null: none)
-- Result:     one row for each problem, as for rowrelay.verify_log()
-- Errors:     the parameter is not a head
create or replace function rowrelay.verify_chain(head text default null)
returns table (problem text, day date, change_id bigint, relation text, key text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if head !~ '^[0-9a-fA-F]{64}$' then
    raise exception '"%" is not a head of the log', head using errcode = 'invalid_parameter_value',
      hint = 'A head has 64 hexadecimal digits, as shown by: '
               || rowrelay.command('rowrelay seal', 'select rowrelay.seal_head();');
  end if;
  if not exists (select from rowrelay.seal s where s.digest = decode(verify_chain.head, 'hex'))
    and head is not null then
    return query select 'head', null::date, null::bigint, null, null,
                        format('no seal has the digest %s: the log was sealed again, or the last seals were removed',
                               head);
  end if;
  return query
    select 'seal', c.day, null::bigint, null, null,
           format('seal %s %s', c.position,
                  case when c.position <> coalesce(c.before, 0) + 1
                       then format('follows seal %s: those between were removed', coalesce(c.before, 0))
                       when c.digest <> rowrelay.seal_digest(c.seal, c.previous) then 'was altered or inserted'
                       else 'no longer has the content that was sealed' end)
      from (select s.position, s.day, s.digest, s.content, s as seal,
                   lag(s.position) over (order by s.position) as before,
                   lag(s.digest) over (order by s.position) as previous,
                   coalesce(case when s.day is not null then rowrelay.seal_content(s.ids, s.captures, s.hashes)
                                 else rowrelay.redaction_content(r) end, s.content) as present
              from rowrelay.seal s
              left join rowrelay.redaction r on r.id = s.redaction) as c
     where c.position <> coalesce(c.before, 0) + 1
        or c.digest <> rowrelay.seal_digest(c.seal, c.previous)
        or c.content <> c.present
     order by c.position;
  return query
    select 'redaction', null::date, null::bigint,
      coalesce(r.relation_name, 'redaction ' || coalesce(r.id, s.redaction)), null,
           case when s.redaction is null then format('redaction %s was inserted by hand', r.id)
                else format('the record of redaction %s was removed', s.redaction) end
      from rowrelay.redaction r
      full join (select t.redaction from rowrelay.seal t where t.redaction is not null) as s on s.redaction = r.id
     where r.id is null or s.redaction is null;
end
$$;
