-- A value that is equal on two servers whose fast hash functions agree. They do not between processors of different
-- byte order, nor between encodings that have different bytes for a letter. Bytes without an encoding count as UTF-8.
select concat_ws(' ', hashtextextended('rowrelay' collate "C", 0), replace(getdatabaseencoding(), 'SQL_ASCII', 'UTF8'));
