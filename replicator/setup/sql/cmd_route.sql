-- Sends table $1 (name or oid) to target $2: $3 the table's name there, $4 whether to make it there, $5 whether several
-- tables may share it, $6 what it is made with there.
select rowrelay.route($1::regclass, $2::text, into_table => $3::text, create_table => $4::boolean,
                      shared => $5::boolean, create_like => $6::text);
