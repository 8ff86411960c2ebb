listen rowrelay_doorbell;
