-- The carriers' file of the night, one line in twenty of it twice. Piped into COPY shop.shipment_events.
copy (select 'TR' || 100000 + n / 5, (array['PU', 'HU', 'OD', 'DE', 'XX'])[1 + n % 5],
             case when n % 3 > 0 then 'Umschlagplatz Łódź\Nord' end,
               localtimestamp::timestamp(0) - interval '1 minute' * n
        from generate_series(1, 5000) n, generate_series(1, case when n % 20 = 0 then 2 else 1 end)) to stdout
