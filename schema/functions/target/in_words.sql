-- Purpose:    lists names for people
-- Parameters: names; the word before the last one
-- Result:     such as "a, b and c"
create or replace function rowrelay.in_words(names text[], word text) returns text
language sql immutable as $$
  select case when cardinality(names) > 1
              then concat_ws(' ', array_to_string(names[:cardinality(names) - 1], ', '), word,
                             names[cardinality(names)])
              else names[1] end
$$;
