-- Whoever starts a process has just mended something, perhaps: what is held is tried at once.
update rowrelay.hold h set retry_at = clock_timestamp() where h.retry_at > clock_timestamp();
