-- Searches order_search for :words again and again until they are there, and says when that was. The first line says
-- that it has begun.
select set_config('find.words', :'words', false) \g /dev/null
\echo searching
do $$
begin
  for look in 1 .. 20000 loop
    if exists (select from order_search
               where search @@ websearch_to_tsquery('simple', current_setting('find.words'))) then
      perform set_config('find.at', extract(epoch from clock_timestamp())::text, false);
      return;
    end if;
    perform pg_sleep(0.0005);
  end loop;
  raise exception 'there is no % in order_search', current_setting('find.words');
end
$$;
select current_setting('find.at');
