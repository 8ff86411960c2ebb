-- Sets where names of this transaction are looked up: $1.
select set_config('search_path', $1::text, true);
