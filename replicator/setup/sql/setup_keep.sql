-- Reads how long changes are kept: $1 as a person writes it. Gives it as the source writes it.
select case when $1::text in ('forever', 'default') then $1::text
            else rowrelay.interval_to_keep($1::text)::text end;
