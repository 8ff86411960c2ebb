-- Purpose:    returns key texts and lane hashes of two row images, as the generated triggers compute them from the rows
-- Parameters: capture; untrimmed row images before and after, null where there is none
-- Result:     old and new key: null when the table has none, or a key column was dropped; old and new hash
create or replace function rowrelay.key_and_hash(capture rowrelay.capture, before_image json, after_image json,
                                                 out old_key text, out old_hash integer, out new_key text,
                                                   out new_hash integer)
language plpgsql as $$
begin
  execute rowrelay.key_and_hash_query(capture, '$1', '$2')
     into old_key, old_hash, new_key, new_hash using before_image, after_image;
end
$$;
