-- Records which server this is, so that rowrelay.skip_lost_ids() can tell a server restored from a later copy.
-- Of a new log no ids are lost, and with it they begin at 1.
do $$ begin
  if exists (select from rowrelay.source s where s.server is null) then
    perform setval('rowrelay.server_run', rowrelay.server_run());
    update rowrelay.source set server = rowrelay.this_server();
  end if;
  perform rowrelay.note_start();
  if not exists (select from rowrelay.migration m where m.written_by is not null) then
    perform rowrelay.note_origin();
  end if;
end $$;
