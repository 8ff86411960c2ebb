-- Records which server this is, so that rowrelay.skip_lost_ids() can tell a server restored from a later copy.
-- Of a new log no ids are lost, and with it they begin at 1. Records, too, that publications may have its tables.
do $$ begin
  perform setval('rowrelay.server_run', rowrelay.server_run()) from rowrelay.source s
    where s.server is null and pg_sequence_last_value('rowrelay.change_id') is null;
  update rowrelay.source s set server = rowrelay.this_server() where s.server is null;
  if current_setting('rowrelay.publish_anyway', true) = 'on' then
    update rowrelay.source set publish_anyway = true where true;
  end if;
  perform rowrelay.note_start();
end $$;
