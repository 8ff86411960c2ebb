-- Purpose:    compares the changes of one seal with the log
-- Parameters: position of the seal
-- Result:     one row for each problem, as for rowrelay.verify_log()
create or replace function rowrelay.verify_seal("position" bigint)
returns table (problem text, day date, change_id bigint, relation text, key text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  seal      rowrelay.seal;
  after_id  bigint;
  until_id  bigint;
  of_day    rowrelay.day;
  is_intact boolean;
begin
  select s.* into seal from rowrelay.seal s where s.position = verify_seal.position;
  if seal.day is null then -- a redaction
    return;
  end if;
  select d.* into of_day from rowrelay.day d where d.day = seal.day;
  if rowrelay.day_is_dropped(seal.day) then
    return;
  end if;
  if seal.ids is null then
    return query select 'seal', seal.day, null::bigint, null, null,
      format('seal %s no longer lists its changes', seal.position);
    return;
  end if;
  -- a change inserted between two blocks belongs to the later one
  select coalesce(max(s.last_id), -9223372036854775808) into after_id from rowrelay.seal s where s.day = seal.day
    and s.block = seal.block - 1;
  until_id := case when seal.ends_day then 9223372036854775807 else seal.last_id end;
  -- detoasted once, not for each change
  seal.hashes := seal.hashes || ''::bytea;
  if seal.salts is null then
    execute format(
      'select coalesce(array_agg(b.id order by b.id), ''{}'') = $4 and coalesce(string_agg(b.hash, '''' order by '
      'b.id), '''') = $5'
      '  from (select h.id, rowrelay.change_hash(h, sha256($1 || int8send(h.id))) as hash'
      '          from rowrelay.change h where h.day = %L and h.id > $2 and h.id <= $3 order by h.id) as b', seal.day)
       into is_intact using seal.secret, after_id, until_id, seal.ids, seal.hashes;
    if is_intact then
      return;
    end if;
  end if;
  return query execute format(
    'select p.problem, %1$L::date, p.id, coalesce(to_regclass(c.relation::text)::text, c.relation_name), p.key, null'
    '  from (select coalesce(s.id, h.id) as id, coalesce(h.capture, s.capture) as capture, h.key,'
    '               case when h.id is null then ''removed'' when s.id is null then ''inserted'''
    '                    when rowrelay.change_hash(h, s.salt) is distinct from s.hash then ''changed'' end as problem'
    '          from (select h.* from rowrelay.change h where h.day = %1$L and h.id > $1 and h.id <= $2) as h'
    '          full join rowrelay.sealed_changes($3) as s on s.id = h.id) as p'
    '  left join rowrelay.capture c on c.id = p.capture'
    ' where p.problem is not null'
    '   and not (p.problem = ''removed'' and (p.capture = any ($4.gone) or p.capture = any ($4.deleting) and p.id <= '
    '$4.deleted_to) is true)'
    '   and not (p.problem = ''removed'' and rowrelay.day_is_dropped(%1$L))'
    ' order by p.id', seal.day)
    using after_id, until_id, seal, of_day;
end
$$;
