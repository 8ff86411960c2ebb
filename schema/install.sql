-- Installs schema rowrelay, or upgrades it:  psql -f schema/install.sql
-- `rowrelay init` runs the same files in the same order. It can be repeated, and run by two people at once.
-- Nothing is attached to any table by it, and schema/uninstall.sql removes all of it.
\set ON_ERROR_STOP on
\set QUIET on
begin;
set local client_min_messages = warning;
\ir prepare.sql

select not exists (select from rowrelay.migration where version = 1) as rowrelay_needs_0001 \gset
\if :rowrelay_needs_0001
\ir migrations/0001_initial.sql
\endif

\ir functions/lane_number.sql
\ir functions/last_change_id.sql
\ir functions/take_job.sql
\ir functions/maintain_partitions.sql
\ir functions/matching_tables.sql
\ir functions/captured.sql
\ir functions/target_id.sql
\ir functions/check_target.sql
\ir functions/add_target.sql
\ir functions/index_name.sql
\ir functions/check_indexes.sql
\ir functions/set_target.sql
\ir functions/drop_target.sql
\ir functions/pause.sql
\ir functions/resume.sql
\ir functions/ring_doorbell.sql
\ir functions/rewind.sql
\ir functions/lock_refused_lanes.sql
\ir functions/retry.sql
\ir functions/skip.sql
\ir functions/writers.sql
\ir functions/maintain.sql
\ir ../triggers/attribute_names.sql
\ir ../triggers/attribute_numbers.sql
\ir ../triggers/full_name.sql
\ir ../triggers/base_type.sql
\ir ../triggers/key_of.sql
\ir ../triggers/live_key.sql
\ir ../triggers/image_columns.sql
\ir ../triggers/names_are_current.sql
\ir ../triggers/key_is_exact.sql
\ir ../triggers/key_expression.sql
\ir ../triggers/hash_expression.sql
\ir ../triggers/survives_json.sql
\ir ../triggers/awkward_columns.sql
\ir ../triggers/pin_statements.sql
\ir ../triggers/trim_image.sql
\ir ../triggers/exact_image.sql
\ir ../triggers/document_key.sql
\ir ../triggers/document_key_expression.sql
\ir ../triggers/document_columns.sql
\ir ../triggers/document_lanes.sql
\ir ../triggers/document_statements.sql
\ir ../triggers/keeps_before.sql
\ir ../triggers/key_row.sql
\ir ../triggers/enqueue.sql
\ir ../triggers/add_change.sql
\ir ../triggers/key_and_hash.sql
\ir ../triggers/record_change.sql
\ir ../triggers/captured_tables.sql
\ir ../triggers/own_triggers.sql
\ir ../triggers/has_row_triggers.sql
\ir ../triggers/is_superseded.sql
\ir ../triggers/column_state.sql
\ir ../triggers/lane_state.sql
\ir ../triggers/image_statements.sql
\ir ../triggers/image_expression.sql
\ir ../triggers/trigger_function.sql
\ir ../triggers/make_trigger_function.sql
\ir ../triggers/add_deletes.sql
\ir ../triggers/truncate_trigger.sql
\ir ../triggers/check_capturable.sql
\ir ../triggers/mask_by_number.sql
\ir ../triggers/lock_tables.sql
\ir ../triggers/filter_expression.sql
\ir ../triggers/wanted_triggers.sql
\ir ../triggers/detach_triggers.sql
\ir ../triggers/attach_triggers.sql
\ir ../triggers/capture_table.sql
\ir ../triggers/release_table.sql
\ir functions/type_definitions.sql
\ir functions/route.sql
\ir functions/unroute.sql
\ir functions/goes_to.sql
\ir functions/estimated_rows.sql
\ir functions/backlog.sql
\ir functions/snapshot_statement.sql
\ir functions/backfill_order.sql
\ir functions/backfill_values.sql
\ir functions/backfill_part.sql
\ir functions/backfill_writers.sql
\ir functions/backfill_waits.sql
\ir functions/backfill_piece.sql
\ir functions/backfill_holder.sql
\ir functions/backfill_step.sql
\ir functions/backfill.sql
\ir functions/cancel_backfill.sql
\ir functions/document_key_type.sql
\ir functions/document_key_text.sql
\ir functions/document_id.sql
\ir functions/read_tables.sql
\ir functions/document_source_parts.sql
\ir functions/keys_statement.sql
\ir functions/queue_documents.sql
\ir functions/expand_documents.sql
\ir functions/queue_all_documents.sql
\ir functions/rebuild.sql
\ir functions/check_document_query.sql
\ir functions/document_cost.sql
\ir functions/add_document.sql
\ir functions/drop_document.sql
\ir functions/parsed_keys.sql
\ir functions/same_key.sql
\ir functions/requeue_present.sql
\ir functions/requeue_absent.sql
\ir functions/requeue.sql
\ir views/captures.sql
\ir views/targets.sql
\ir views/documents.sql
\ir views/instances.sql
\ir views/errors.sql
\ir views/history.sql
\ir views/backfills.sql
\ir views/status.sql
do $$ begin perform rowrelay.maintain_partitions(); end $$;
commit;
