-- Purpose:    returns SQL that hashes keys of a capture as the log has them, so that keys that are equal by their
--             types' operators have equal hashes
-- Parameters: capture
-- Result:     a SELECT of the hashes, never 0, of the keys in $1, an array, in its order; null: there is none, because
--             the table is gone, its key was altered, or reading the key would run code of the table's owner: CHECKs of
--             domains in it, or a cast from text
create or replace function rowrelay.hash_statement(capture rowrelay.capture) returns text
language sql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off as $$
  select format('select array_agg(coalesce(nullif(%s, 0), 1)::bigint order by g.n) '
                'from unnest($1) with ordinality as g(key, n) '
                'cross join lateral (select wanted.* from %s) as wanted',
                rowrelay.hash_expression(capture.id, capture.relation, capture.key_columns, 'wanted'), p.keys)
    from rowrelay.parsed_keys(capture, 'array[g.key]') as p(keys)
   where p.keys is not null and not rowrelay.has_domain_parts(capture.relation, capture.key_columns)
     and not rowrelay.has_text_cast(capture.relation, capture.key_columns)
$$;
