-- Purpose:    returns the end of a CREATE FUNCTION statement
-- Parameters: language; the function's text
create or replace function rowrelay.function_body(language text, body text) returns text
language plpgsql immutable as $$
declare
  quote text := '$rowrelay$';
begin
  -- A column's name may contain the quote.
  while position(quote in body) > 0 loop
    quote := '$' || replace(quote, '$', '') || '_$';
  end loop;
  return concat_ws(E'\n', format('language %s as %s', language, quote), body, quote);
end
$$;
