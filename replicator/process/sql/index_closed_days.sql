-- Makes one index that is wanted on a closed day: what was done; nothing: there is no more to do.
select rowrelay.index_closed_days();
