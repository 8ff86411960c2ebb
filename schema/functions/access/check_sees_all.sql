-- Purpose:    refuses to read a table when row-level security hides rows of it from the reader, because hidden rows
--             would be taken for missing ones. FORCE ROW LEVEL SECURITY also applies to members of the table's owner.
-- Parameters: a table
-- Errors:     names the role and what to do
create or replace function rowrelay.check_sees_all(relation regclass) returns void
language plpgsql stable as $$
begin
  if row_security_active(relation) then
    raise exception 'row-level security hides rows of table % from role %', relation, current_user
      using errcode = 'insufficient_privilege', detail = 'Hidden rows would be taken for missing ones.',
            hint = format('Have a superuser run: alter role %I bypassrls; or the table''s owner: '
                          'alter table %s no force row level security;', current_user, relation);
  end if;
end
$$;
