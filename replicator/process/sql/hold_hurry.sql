-- Has all held changes tried at once: who starts a process may just have mended the cause.
update rowrelay.hold h set retry_at = clock_timestamp() where h.retry_at > clock_timestamp();
