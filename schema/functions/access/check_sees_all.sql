-- Purpose:    refuses to read a table of which row-level security hides rows from whoever reads: they would be taken for
--             rows that are not there. FORCE ROW LEVEL SECURITY binds also who is a member of the table's owner.
-- Parameters: a table
-- Errors:     says whom it hides them from, and what to do
create or replace function rowrelay.check_sees_all(relation regclass) returns void
language plpgsql stable as $$
begin
  if row_security_active(relation) then
    raise exception 'row-level security hides rows of table % from role %', relation, current_user
      using errcode = 'insufficient_privilege', detail = 'They would be taken for rows that are not there.',
            hint = format('Let a superuser run: alter role %I bypassrls. Or let the table''s owner do without FORCE: '
                          'alter table %s no force row level security.', current_user, relation);
  end if;
end
$$;
