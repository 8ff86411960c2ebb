-- All documents, for programs.
select coalesce(json_agg(d order by d.document), '[]') from rowrelay.documents d;
