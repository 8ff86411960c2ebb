-- Shows whether two servers' fast hash function gives the same: it does not on processors of another byte order, nor
-- where a letter is stood for by other bytes. Bytes without an encoding are compared as UTF-8.
select concat_ws(' ', hashtextextended('rowrelay' collate "C", 0), replace(getdatabaseencoding(), 'SQL_ASCII', 'UTF8'));
