-- Shows whether two servers' fast hash function gives the same: it does not on processors of another byte order.
select hashtextextended('rowrelay' collate "C", 0);
