-- Purpose:    returns SQL for what is kept of the old row when its image is not: its key, and the keys of documents
--             built from it
-- Parameters: capture
-- Result:     an expression of type json on the row "old"; 'null' when there is nothing to keep
create or replace function rowrelay.key_row(capture rowrelay.capture) returns text
language sql stable as $$
  select coalesce(rowrelay.key_json(capture.relation, array_agg(k.name order by k.position), 'old'), 'null')
    from (select u.name, min(u.position) as position
            from unnest(rowrelay.attribute_names(capture.relation, capture.key_columns)
                          || rowrelay.attribute_names(capture.relation, rowrelay.document_columns(capture.id)))
                   with ordinality as u(name, position)
           where u.name is not null
           group by u.name) as k
$$;
