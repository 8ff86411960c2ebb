-- What is needed to build a document.
--   $1 the document's own target
-- Gives definition: capture, key_name, build_query
select d.capture, to_json(d.key_name) as key_name, d.build_query
  from rowrelay.document d where d.target = $1::integer;
