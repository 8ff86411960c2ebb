-- Removes what `rowrelay init` has made, and commits. Several statements, run as a script after install_lock.sql.
set local lock_timeout = '10s';
set local client_min_messages = warning;
drop schema rowrelay cascade;
commit;
