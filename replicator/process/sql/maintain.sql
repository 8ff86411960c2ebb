select * from rowrelay.maintain_when_due();
