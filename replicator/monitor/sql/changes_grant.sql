-- The command that lets this connection's user take on a role, or that makes the role, or those of rowrelay first.
--   $1 role
select case when to_regrole('rowrelay_reader') is null then 'rowrelay init --roles'
            when to_regrole(quote_ident($1)) is null then format('create role %I in role rowrelay_reader', $1)
            else format('grant %I to %I', $1, session_user) end;
