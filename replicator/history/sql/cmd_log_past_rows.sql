-- The next rows of the cursor that cmd_log_past.sql has made.
fetch 500 from past;
