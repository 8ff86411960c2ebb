-- Whether table $1 is captured, or once was.
select exists (select from rowrelay.capture c where c.relation = $1::regclass);
