-- Has all held changes tried at once: whoever starts a process may just have mended what was wrong.
update rowrelay.hold h set retry_at = clock_timestamp() where h.retry_at > clock_timestamp();
