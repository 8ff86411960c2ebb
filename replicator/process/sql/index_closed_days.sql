-- Makes one index that a closed day lacks; gives what was done, or nothing when none is lacking.
select rowrelay.index_closed_days();
