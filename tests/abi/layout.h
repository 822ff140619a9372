/* Size of every struct of the ABI and place of every field, on a machine with 64-bit pointers.
 * While the ABI is 0.x a change here goes with a new minor; from 1.0 on only additions at the end
 * are possible. */
#ifndef TENON_TESTS_ABI_LAYOUT_H
#define TENON_TESTS_ABI_LAYOUT_H
#include <assert.h>

#include "tenon/plugin/abi.h"

#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), "size of " #type)
#define FIELD(type, field, at) \
  static_assert(offsetof(type, field) == (at), "place of " #type "." #field)

#if UINTPTR_MAX == UINT64_MAX
SIZE(tenon_str, 16);
FIELD(tenon_str, data, 0);
FIELD(tenon_str, size, 8);

SIZE(tenon_bytes, 16);
FIELD(tenon_bytes, data, 0);
FIELD(tenon_bytes, size, 8);

SIZE(tenon_pair, 32);
FIELD(tenon_pair, key, 0);
FIELD(tenon_pair, value, 16);

SIZE(tenon_buffer, 32);
FIELD(tenon_buffer, data, 0);
FIELD(tenon_buffer, size, 8);
FIELD(tenon_buffer, release, 16);
FIELD(tenon_buffer, hint, 24);

SIZE(tenon_sink, 16);
FIELD(tenon_sink, ctx, 0);
FIELD(tenon_sink, write, 8);

SIZE(tenon_resource, 40);
FIELD(tenon_resource, name, 0);
FIELD(tenon_resource, address, 16);
FIELD(tenon_resource, amount, 32);

SIZE(tenon_error, 24);
FIELD(tenon_error, struct_size, 0);
FIELD(tenon_error, code, 4);
FIELD(tenon_error, ctx, 8);
FIELD(tenon_error, set, 16);

SIZE(tenon_master_url, 128);
FIELD(tenon_master_url, struct_size, 0);
FIELD(tenon_master_url, reserved, 4);
FIELD(tenon_master_url, raw, 8);
FIELD(tenon_master_url, scheme, 24);
FIELD(tenon_master_url, args, 40);
FIELD(tenon_master_url, rest, 56);
FIELD(tenon_master_url, authority, 72);
FIELD(tenon_master_url, path, 88);
FIELD(tenon_master_url, query, 104);

SIZE(tenon_shape, 80);
FIELD(tenon_shape, struct_size, 0);
FIELD(tenon_shape, profile, 4);
FIELD(tenon_shape, cores, 8);
FIELD(tenon_shape, task_cpus, 12);
FIELD(tenon_shape, memory_bytes, 16);
FIELD(tenon_shape, overhead_bytes, 24);
FIELD(tenon_shape, resources, 32);
FIELD(tenon_shape, task_resources, 56);

SIZE(tenon_module, 32);
FIELD(tenon_module, path, 0);
FIELD(tenon_module, build_id, 16);

SIZE(tenon_file, 64);
FIELD(tenon_file, path, 0);
FIELD(tenon_file, name, 16);
FIELD(tenon_file, hash, 32);
FIELD(tenon_file, size, 48);
FIELD(tenon_file, kind, 56);
FIELD(tenon_file, reserved, 60);

SIZE(tenon_app, 216);
FIELD(tenon_app, struct_size, 0);
FIELD(tenon_app, deploy_mode, 4);
FIELD(tenon_app, name, 8);
FIELD(tenon_app, user, 24);
FIELD(tenon_app, ui_address, 40);
FIELD(tenon_app, program, 56);
FIELD(tenon_app, argv, 72);
FIELD(tenon_app, executor_argv, 96);
FIELD(tenon_app, env, 120);
FIELD(tenon_app, modules, 144);
FIELD(tenon_app, files, 168);
FIELD(tenon_app, executor, 192);
FIELD(tenon_app, driver, 200);
FIELD(tenon_app, instances, 208);
FIELD(tenon_app, flags, 212);

SIZE(tenon_host, 88);
FIELD(tenon_host, struct_size, 0);
FIELD(tenon_host, abi_minor, 4);
FIELD(tenon_host, name, 8);
FIELD(tenon_host, version, 24);
FIELD(tenon_host, conf, 40);
FIELD(tenon_host, ctx, 64);
FIELD(tenon_host, log, 72);
FIELD(tenon_host, get_extension, 80);

SIZE(tenon_args, 48);
FIELD(tenon_args, struct_size, 0);
FIELD(tenon_args, reserved, 4);
FIELD(tenon_args, host, 8);
FIELD(tenon_args, master, 16);
FIELD(tenon_args, app, 24);
FIELD(tenon_args, bootstrap, 32);

SIZE(tenon_executor_info, 144);
FIELD(tenon_executor_info, struct_size, 0);
FIELD(tenon_executor_info, incarnation, 4);
FIELD(tenon_executor_info, id, 8);
FIELD(tenon_executor_info, host, 24);
FIELD(tenon_executor_info, address, 40);
FIELD(tenon_executor_info, cores, 56);
FIELD(tenon_executor_info, profile, 60);
FIELD(tenon_executor_info, memory_bytes, 64);
FIELD(tenon_executor_info, resources, 72);
FIELD(tenon_executor_info, attributes, 96);
FIELD(tenon_executor_info, log_urls, 120);

SIZE(tenon_worker_offer, 104);
FIELD(tenon_worker_offer, executor_id, 0);
FIELD(tenon_worker_offer, host, 16);
FIELD(tenon_worker_offer, address, 32);
FIELD(tenon_worker_offer, free_cores, 48);
FIELD(tenon_worker_offer, queue_slots, 52);
FIELD(tenon_worker_offer, resources, 56);
FIELD(tenon_worker_offer, attributes, 80);

SIZE(tenon_task, 112);
FIELD(tenon_task, id, 0);
FIELD(tenon_task, executor_id, 8);
FIELD(tenon_task, name, 24);
FIELD(tenon_task, cores, 40);
FIELD(tenon_task, attempt, 44);
FIELD(tenon_task, flags, 48);
FIELD(tenon_task, reserved, 52);
FIELD(tenon_task, resources, 56);
FIELD(tenon_task, payload, 80);

SIZE(tenon_task_status, 64);
FIELD(tenon_task_status, id, 0);
FIELD(tenon_task_status, executor_id, 8);
FIELD(tenon_task_status, state, 24);
FIELD(tenon_task_status, reserved, 28);
FIELD(tenon_task_status, data, 32);

SIZE(tenon_loss, 48);
FIELD(tenon_loss, struct_size, 0);
FIELD(tenon_loss, kind, 4);
FIELD(tenon_loss, exit_code, 8);
FIELD(tenon_loss, app_caused, 12);
FIELD(tenon_loss, host_lost, 13);
FIELD(tenon_loss, signal, 14);
FIELD(tenon_loss, host, 16);
FIELD(tenon_loss, message, 32);

SIZE(tenon_registration, 104);
FIELD(tenon_registration, struct_size, 0);
FIELD(tenon_registration, flags, 4);
FIELD(tenon_registration, app_id, 8);
FIELD(tenon_registration, attempt_id, 24);
FIELD(tenon_registration, default_parallelism, 40);
FIELD(tenon_registration, max_task_failures, 44);
FIELD(tenon_registration, max_payload_bytes, 48);
FIELD(tenon_registration, driver_log_urls, 56);
FIELD(tenon_registration, driver_attributes, 80);

SIZE(tenon_scheduler_events, 120);
FIELD(tenon_scheduler_events, struct_size, 0);
FIELD(tenon_scheduler_events, reserved, 4);
FIELD(tenon_scheduler_events, ctx, 8);
FIELD(tenon_scheduler_events, registered, 16);
FIELD(tenon_scheduler_events, ready, 24);
FIELD(tenon_scheduler_events, pending, 32);
FIELD(tenon_scheduler_events, executor_added, 40);
FIELD(tenon_scheduler_events, executor_decommissioning, 48);
FIELD(tenon_scheduler_events, executor_loss_pending, 56);
FIELD(tenon_scheduler_events, executor_removed, 64);
FIELD(tenon_scheduler_events, worker_removed, 72);
FIELD(tenon_scheduler_events, resource_offers, 80);
FIELD(tenon_scheduler_events, status_update, 88);
FIELD(tenon_scheduler_events, acknowledged, 96);
FIELD(tenon_scheduler_events, stopped, 104);
FIELD(tenon_scheduler_events, failed, 112);

SIZE(tenon_host_count, 24);
FIELD(tenon_host_count, host, 0);
FIELD(tenon_host_count, count, 16);

SIZE(tenon_executor_request, 56);
FIELD(tenon_executor_request, struct_size, 0);
FIELD(tenon_executor_request, total, 4);
FIELD(tenon_executor_request, request, 8);
FIELD(tenon_executor_request, shape, 16);
FIELD(tenon_executor_request, locality_aware_tasks, 24);
FIELD(tenon_executor_request, hosts, 32);

SIZE(tenon_scheduler_backend_api, 104);
FIELD(tenon_scheduler_backend_api, struct_size, 0);
FIELD(tenon_scheduler_backend_api, reserved, 4);
FIELD(tenon_scheduler_backend_api, create, 8);
FIELD(tenon_scheduler_backend_api, destroy, 16);
FIELD(tenon_scheduler_backend_api, start, 24);
FIELD(tenon_scheduler_backend_api, stop, 32);
FIELD(tenon_scheduler_backend_api, revive_offers, 40);
FIELD(tenon_scheduler_backend_api, launch_tasks, 48);
FIELD(tenon_scheduler_backend_api, kill_task, 56);
FIELD(tenon_scheduler_backend_api, request_total_executors, 64);
FIELD(tenon_scheduler_backend_api, kill_executors, 72);
FIELD(tenon_scheduler_backend_api, decommission_executors, 80);
FIELD(tenon_scheduler_backend_api, set_excluded_hosts, 88);
FIELD(tenon_scheduler_backend_api, get_extension, 96);

SIZE(tenon_executor_args, 168);
FIELD(tenon_executor_args, struct_size, 0);
FIELD(tenon_executor_args, incarnation, 4);
FIELD(tenon_executor_args, host, 8);
FIELD(tenon_executor_args, master, 16);
FIELD(tenon_executor_args, executor_id, 24);
FIELD(tenon_executor_args, work_dir, 40);
FIELD(tenon_executor_args, cores, 56);
FIELD(tenon_executor_args, profile, 60);
FIELD(tenon_executor_args, memory_bytes, 64);
FIELD(tenon_executor_args, resources, 72);
FIELD(tenon_executor_args, attributes, 96);
FIELD(tenon_executor_args, log_urls, 120);
FIELD(tenon_executor_args, bootstrap, 144);
FIELD(tenon_executor_args, peer, 160);

SIZE(tenon_executor_events, 64);
FIELD(tenon_executor_events, struct_size, 0);
FIELD(tenon_executor_events, reserved, 4);
FIELD(tenon_executor_events, ctx, 8);
FIELD(tenon_executor_events, registered, 16);
FIELD(tenon_executor_events, launch_tasks, 24);
FIELD(tenon_executor_events, kill_task, 32);
FIELD(tenon_executor_events, shutdown, 40);
FIELD(tenon_executor_events, failed, 48);
FIELD(tenon_executor_events, stopped, 56);

SIZE(tenon_executor_backend_api, 72);
FIELD(tenon_executor_backend_api, struct_size, 0);
FIELD(tenon_executor_backend_api, reserved, 4);
FIELD(tenon_executor_backend_api, create, 8);
FIELD(tenon_executor_backend_api, destroy, 16);
FIELD(tenon_executor_backend_api, start, 24);
FIELD(tenon_executor_backend_api, executor_ready, 32);
FIELD(tenon_executor_backend_api, status_update, 40);
FIELD(tenon_executor_backend_api, stop, 48);
FIELD(tenon_executor_backend_api, exit_executor, 56);
FIELD(tenon_executor_backend_api, get_extension, 64);

SIZE(tenon_in_process_executor_api, 16);
FIELD(tenon_in_process_executor_api, struct_size, 0);
FIELD(tenon_in_process_executor_api, reserved, 4);
FIELD(tenon_in_process_executor_api, start, 8);

SIZE(tenon_clock_api, 24);
FIELD(tenon_clock_api, struct_size, 0);
FIELD(tenon_clock_api, reserved, 4);
FIELD(tenon_clock_api, now_ns, 8);
FIELD(tenon_clock_api, call_after, 16);

SIZE(tenon_setting, 72);
FIELD(tenon_setting, key, 0);
FIELD(tenon_setting, default_value, 16);
FIELD(tenon_setting, doc, 32);
FIELD(tenon_setting, check, 48);
FIELD(tenon_setting, type, 64);
FIELD(tenon_setting, flags, 68);

SIZE(tenon_submit_option, 64);
FIELD(tenon_submit_option, option, 0);
FIELD(tenon_submit_option, value_name, 16);
FIELD(tenon_submit_option, key, 32);
FIELD(tenon_submit_option, doc, 48);

SIZE(tenon_description, 104);
FIELD(tenon_description, struct_size, 0);
FIELD(tenon_description, deploy_modes, 4);
FIELD(tenon_description, capabilities, 8);
FIELD(tenon_description, summary, 16);
FIELD(tenon_description, schemes, 32);
FIELD(tenon_description, settings, 56);
FIELD(tenon_description, submit_options, 80);

SIZE(tenon_command, 48);
FIELD(tenon_command, name, 0);
FIELD(tenon_command, help, 16);
FIELD(tenon_command, kind, 32);
FIELD(tenon_command, reserved, 36);
FIELD(tenon_command, run, 40);

SIZE(tenon_commands_api, 32);
FIELD(tenon_commands_api, struct_size, 0);
FIELD(tenon_commands_api, reserved, 4);
FIELD(tenon_commands_api, commands, 8);

SIZE(tenon_submission, 48);
FIELD(tenon_submission, struct_size, 0);
FIELD(tenon_submission, state, 4);
FIELD(tenon_submission, exit_code, 8);
FIELD(tenon_submission, attempt, 12);
FIELD(tenon_submission, app_id, 16);
FIELD(tenon_submission, message, 32);

SIZE(tenon_submitter_api, 40);
FIELD(tenon_submitter_api, struct_size, 0);
FIELD(tenon_submitter_api, reserved, 4);
FIELD(tenon_submitter_api, submit, 8);
FIELD(tenon_submitter_api, status, 16);
FIELD(tenon_submitter_api, kill, 24);
FIELD(tenon_submitter_api, logs, 32);

SIZE(tenon_plugin, 56);
FIELD(tenon_plugin, struct_size, 0);
FIELD(tenon_plugin, abi_major, 4);
FIELD(tenon_plugin, abi_minor, 8);
FIELD(tenon_plugin, reserved, 12);
FIELD(tenon_plugin, name, 16);
FIELD(tenon_plugin, version, 32);
FIELD(tenon_plugin, get_interface, 48);

SIZE(tenon_strs, 24);
FIELD(tenon_strs, data, 0);
FIELD(tenon_strs, count, 8);
FIELD(tenon_strs, element_size, 16);

SIZE(tenon_pairs, 24);
FIELD(tenon_pairs, data, 0);
FIELD(tenon_pairs, count, 8);
FIELD(tenon_pairs, element_size, 16);

SIZE(tenon_resources, 24);
FIELD(tenon_resources, data, 0);
FIELD(tenon_resources, count, 8);
FIELD(tenon_resources, element_size, 16);

SIZE(tenon_modules, 24);
FIELD(tenon_modules, data, 0);
FIELD(tenon_modules, count, 8);
FIELD(tenon_modules, element_size, 16);

SIZE(tenon_files, 24);
FIELD(tenon_files, data, 0);
FIELD(tenon_files, count, 8);
FIELD(tenon_files, element_size, 16);

SIZE(tenon_worker_offers, 24);
FIELD(tenon_worker_offers, data, 0);
FIELD(tenon_worker_offers, count, 8);
FIELD(tenon_worker_offers, element_size, 16);

SIZE(tenon_tasks, 24);
FIELD(tenon_tasks, data, 0);
FIELD(tenon_tasks, count, 8);
FIELD(tenon_tasks, element_size, 16);

SIZE(tenon_task_statuses, 24);
FIELD(tenon_task_statuses, data, 0);
FIELD(tenon_task_statuses, count, 8);
FIELD(tenon_task_statuses, element_size, 16);

SIZE(tenon_host_counts, 24);
FIELD(tenon_host_counts, data, 0);
FIELD(tenon_host_counts, count, 8);
FIELD(tenon_host_counts, element_size, 16);

SIZE(tenon_settings, 24);
FIELD(tenon_settings, data, 0);
FIELD(tenon_settings, count, 8);
FIELD(tenon_settings, element_size, 16);

SIZE(tenon_submit_options, 24);
FIELD(tenon_submit_options, data, 0);
FIELD(tenon_submit_options, count, 8);
FIELD(tenon_submit_options, element_size, 16);

SIZE(tenon_command_list, 24);
FIELD(tenon_command_list, data, 0);
FIELD(tenon_command_list, count, 8);
FIELD(tenon_command_list, element_size, 16);
#endif
#endif
