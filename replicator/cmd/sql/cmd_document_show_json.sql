-- Document $1, for programs: an array of one.
select coalesce(json_agg(d), '[]') from rowrelay.documents d where d.document = $1::text;
