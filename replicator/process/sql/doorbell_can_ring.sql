-- Whether writers of this server ring at all: see rowrelay.ring_doorbell().
select current_setting('max_prepared_transactions') = '0';
