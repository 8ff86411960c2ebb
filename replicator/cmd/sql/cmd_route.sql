-- Sends table $1 (oid) to target $2: $3 its table's name there, $4 whether to make that table, $5 whether it may be shared.
select rowrelay.route($1::oid::regclass, $2::text, into_table => $3::text, create_table => $4::boolean,
                      shared => $5::boolean);
