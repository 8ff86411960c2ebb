-- Purpose:    seals the next changes of a closed day
-- Parameters: day; number of the block; id of the last change of the previous block; number of changes
-- Result:     the seal
create or replace function rowrelay.seal_block(day date, block integer, after_id bigint, size integer)
  returns rowrelay.seal
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  seal rowrelay.seal;
begin
  seal.day := day;
  seal.block := block;
  -- two random numbers of 122 bits each
  seal.secret := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
  -- planned for this day alone, because there may be years of partitions
  execute format(
    'select coalesce(array_agg(b.id order by b.id), ''{}''), coalesce(array_agg(b.capture order by b.id), ''{}''),'
    '       coalesce(string_agg(b.hash, '''' order by b.id), '''')'
    '  from (select h.id, h.capture, rowrelay.change_hash(h, sha256($1 || int8send(h.id))) as hash'
    '          from rowrelay.change h where h.day = %L and h.id > $2 order by h.id limit $3) as b', day)
     into seal.ids, seal.captures, seal.hashes using seal.secret, after_id, size;
  seal.changes := cardinality(seal.ids);
  seal.ends_day := seal.changes < size;
  seal.first_id := seal.ids[1];
  seal.last_id := seal.ids[seal.changes];
  seal.content := rowrelay.seal_content(seal.ids, seal.captures, seal.hashes);
  perform rowrelay.add_seal(seal);
  return seal;
end
$$;
