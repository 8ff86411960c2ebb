-- Target $1 has been repaired, or nothing is missing there, of capture $2 (null: all), of which changes were noted
-- until $3 to be missing. Who may not say so has only compared.
select rowrelay.close_gap($1::integer, $2::integer, $3::timestamptz)
 where has_function_privilege('rowrelay.close_gap(integer, integer, timestamptz)', 'execute');
