-- Documents, to complete what somebody types.
--   $1 what they begin with
select d.document from rowrelay.documents d
 where starts_with(d.document, $1::text) and d.document !~ '[[:cntrl:]]'
 order by d.document limit 500;
