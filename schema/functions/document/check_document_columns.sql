-- Purpose:    refuses columns that are left out or masked where the query of a document's source, TABLE:QUERY, uses
--             them: "changed" has rows of the log, so that it would find no documents, and these would stay as they are
-- Parameters: capture
-- Errors:     invalid_parameter_value
create or replace function rowrelay.check_document_columns(capture rowrelay.capture) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  hidden      constant smallint[] := array(
    select a.attnum from pg_attribute a
     where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
       and (a.attnum = any (capture.exclude_columns) or capture.mask ? a.attnum::text
            or a.attnum <> all (capture.only_columns)));
  source      record;
begin
  if hidden = '{}' then
    return;
  end if;
  for source in
    select t.name, coalesce(s.resolved_query, s.keys_query) as keys_query
      from rowrelay.document_source s
      join rowrelay.target t on t.id = s.document and t.dropped_at is null
     where s.capture = capture.id and s.keys_query is not null
  loop
    begin
      execute format('create temporary view rowrelay_keys_check as %s',
                     rowrelay.changed_statement(capture.relation, source.keys_query, 'null', hidden));
      execute 'drop view pg_temp.rowrelay_keys_check';
    exception when undefined_column then
      raise exception 'document "%" needs a column of table % that is left out or masked', source.name,
        capture.relation
        using errcode = 'invalid_parameter_value', detail = format('Its query finds documents by it: %s.', sqlerrm),
              hint = 'Let the query find them by other columns, or leave out and mask others.';
    end;
  end loop;
end
$$;
