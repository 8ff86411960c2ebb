-- Discards refused changes of target $1: $2 change ids; null: all, or those of table $3 (name), also waiting ones.
select case when $3::text is null then rowrelay.skip($1::text, $2::bigint[])
            else rowrelay.skip_table($3, $1) end;
