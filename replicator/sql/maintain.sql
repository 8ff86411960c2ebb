select * from rowrelay.maintain();
