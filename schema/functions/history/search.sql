-- Purpose:    finds changes that contain a text in a value before or after, whatever its case, such as an address. It
--             scans the log: name a table or a time where the log is long.
-- Parameters: words: the text as it appears in the value; relation, null: all; since, until: when it was captured
-- Result:     rows of rowrelay.history, the newest first
-- Errors:     the text is empty
create or replace function rowrelay.search(words text, relation regclass default null, since timestamptz default null,
                                           until timestamptz default null) returns setof rowrelay.history
language plpgsql stable set plan_cache_mode = force_custom_plan set jit = off as $$
declare
  pattern      text := rowrelay.like_pattern(words);
  -- as it stands in JSON
  json_pattern text := rowrelay.like_pattern(substr(to_json(words)::text, 2, length(to_json(words)::text) - 2));
  range        record;
begin
  if coalesce(words, '') = '' then
    raise exception 'the text to search for is empty' using errcode = 'invalid_parameter_value',
      hint = 'For all changes of a time: '
               || rowrelay.command('rowrelay log --since TIME --until TIME',
                                   'select * from rowrelay.history where captured_at between ''TIME'' and ''TIME'';');
  end if;
  select * into range from rowrelay.search_range(since, until);
  return query
    select h.*
      from rowrelay.history h
     where (search.relation is null or h.relation = search.relation)
       and h.change_id between range.first_id and range.last_id and h.day = any (range.days)
       and (since is null or h.captured_at >= since) and (until is null or h.captured_at <= until)
       and (h.new_row::text ilike json_pattern or h.old_row::text ilike json_pattern)
       and (rowrelay.holds_text(h.new_row, pattern, json_pattern)
            or rowrelay.holds_text(h.old_row, pattern, json_pattern))
     order by h.change_id desc;
end
$$;
