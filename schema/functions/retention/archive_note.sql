-- Purpose:    records where a day was archived
-- Parameters: day; name of the file; its SHA-256
create or replace function rowrelay.archive_note(day date, archive text, sha256 text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update rowrelay.day d set archive = archive_note.archive, sha256 = archive_note.sha256,
    archived_at = clock_timestamp()
   where d.day = archive_note.day
$$;
