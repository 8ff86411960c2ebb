-- What is needed to build a document.
--   $1 the document's own target
-- Gives definition: capture, key_name, build_query, search_path
select d.capture, to_json(d.key_name) as key_name, d.build_query, d.search_path
  from rowrelay.document d where d.target = $1::integer;
