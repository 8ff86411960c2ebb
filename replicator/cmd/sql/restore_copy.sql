copy pg_temp.rowrelay_restored from stdin (format csv, quote e'\x01', delimiter e'\x02')
