-- How many documents of $1 that were queued to be built, up to change $2 (null: so far), still are to be.
-- Gives unbuilt: up_to, documents, state, errors, note
select w.up_to, w.waiting as documents, w.state, w.errors, w.note
  from rowrelay.documents_waiting($1::text, $2::bigint) as w;
