-- Purpose:    returns the condition of a trigger on its new row as one on its old row
-- Parameters: condition, as PostgreSQL prints it
-- Result:     the condition with old. for new. wherever that is not within quotes
create or replace function rowrelay.condition_on_old(condition text) returns text
language sql immutable as $$
  select string_agg(case when left(m.piece[1], 1) in ('''', '"') then m.piece[1]
                         else regexp_replace(m.piece[1], E'\\mnew\\.', 'old.', 'g') end, '' order by m.place)
    from regexp_matches(condition, '''(?:[^'']|'''')*''|"(?:[^"]|"")*"|[^''"]+', 'g') with ordinality as m(piece, place)
$$;
