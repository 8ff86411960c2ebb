-- A time as people write it: any PostgreSQL timestamp, or an age such as '2 hours' or '3 days ago'.
--   $1 the text
select case when $1::text ~* ('^\s*\d+(\.\d+)?\s*(s|sec|second|m|min|minute|h|hour|d|day|w|week|mon|month|y|year)s?'
                              '(\s+\d.*)?(\s+ago)?\s*$')
            then clock_timestamp() - regexp_replace($1::text, '\s+ago\s*$', '', 'i')::interval
            else $1::text::timestamptz
       end;
