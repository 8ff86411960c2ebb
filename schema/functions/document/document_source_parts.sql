-- Purpose:    parses a source of a document: TABLE:COL, TABLE:COL(columns...), TABLE:QUERY or TABLE(columns...):QUERY
-- Parameters: the text; path: where the table is looked up
-- Result:     relation; number of the column with the document's key, or the query that returns keys for the rows of
--             "changed"; numbers of the columns that the document uses, null: all
-- Errors:     it cannot be parsed; no such table or column
create or replace function rowrelay.document_source_parts(source text, path text, out relation regclass,
                                                          out key_column smallint,
                                                          out keys_query text, out only_columns smallint[])
language plpgsql stable as $$
declare
  part      text[] := regexp_match(source,
                 E'^\\s*((?:"(?:[^"]|"")+"|[^":(\\s])+)\\s*(?:\\(([^()]*)\\))?\\s*:\\s*(.*?)\\s*;?\\s*$');
  col       text[];
  columns   text := part[2];
  leads_to  text := part[3];
begin
  if part is null or leads_to = '' then
    raise exception 'source "%" is neither TABLE:COLUMN nor TABLE:QUERY', source
      using errcode = 'invalid_parameter_value',
            hint = 'COLUMN has the documents'' keys; QUERY returns the keys for the rows of "changed".';
  end if;
  relation := rowrelay.table_named(part[1], path);
  if relation is null then
    raise exception 'table % does not exist', part[1] using errcode = 'undefined_table',
      hint = format('Source "%s" names it.', source);
  end if;
  if leads_to ~* E'^(select|with|values|table)\\M|^\\(' then
    keys_query := leads_to;
  else
    col := regexp_match(leads_to, E'^((?:"(?:[^"]|"")+"|[^"()\\s])+)\\s*(?:\\(([^()]*)\\))?$');
    if col is null then
      raise exception '"%" is neither a column nor a query', leads_to using errcode = 'invalid_parameter_value',
        hint = format('It has to give the documents'' keys for rows of %s.', relation);
    end if;
    columns := coalesce(col[2], columns);
    key_column := (rowrelay.attribute_numbers(relation, parse_ident(col[1]), 'key of the document'))[1];
  end if;
  if columns is not null then
    only_columns := rowrelay.attribute_numbers(relation,
      array(select (parse_ident(c))[1] from unnest(string_to_array(columns, ',')) as c), 'columns of the document');
  end if;
end
$$;
