-- Purpose:    returns all spellings of keys in the log: texts of equal keys may differ, as "Ann" and "ann" do in citext
-- Parameters: captures of one table; keys as the log has them, or as a person writes them
-- Result:     these keys and all keys in the log, as far as the caller may read it, that equal one of them
create or replace function rowrelay.spellings(captures integer[], keys text[]) returns text[]
language plpgsql stable as $$
declare
  spelled text[] := keys;
begin
  if exists (select from rowrelay.capture c where c.id = any (captures) and not c.key_is_exact) then
    spelled := spelled || array(
      select distinct o.spelling
        from rowrelay.capture c
       cross join lateral rowrelay.other_spellings(c.id, spellings.keys, 0) as o
       where c.id = any (captures) and not c.key_is_exact and cardinality(c.key_columns) > 0);
  end if;
  return array(select distinct f from unnest(spelled) as f);
end
$$;
