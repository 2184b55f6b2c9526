/** Functions of the engine that authors may not use, by the reason. `pattern` is of a whole name. */
export const refusedFunctions: { pattern: RegExp; reason: string }[] = [
  {
    pattern:
      /^(current_(connection_id|database|query|query_id|role|schema|schemas|setting|transaction_id|user|catalog)|session_user|user)$/,
    reason: 'tells names and settings of the engine',
  },
  {
    pattern:
      /^(getvariable|in_search_path|version|write_log|parse_duckdb_log_message|stats|vector_type|get_block_size|txid_current|setseed)$/,
    reason: 'looks into the engine or changes its state',
  },
  {
    pattern:
      /^(pg_\w+|has_\w*_privilege|inet_\w+|(col|obj|shobj)_description|format_(pg_)?type|map_to_pg_oid|nextval|currval)$/,
    reason: 'reads the catalogs of the engine',
  },
  {
    pattern: /^(query|query_table|json_(de)?serialize_(sql|plan)|json_execute_serialized_sql)$/,
    reason: 'runs or takes apart other SQL',
  },
  { pattern: /^(sleep_ms|pg_sleep)$/, reason: 'waits' },
  {
    pattern:
      /^(json_structure|json_group_structure|json_transform(_strict)?|from_json(_strict)?|json_merge_patch|json_contains|variant_\w+)$/,
    reason: 'recurses without a limit: a deeply nested value ends the process',
  },
  {
    pattern:
      /^(__internal_\w+|finalize|combine|remap_struct|make_type|replace_type|cast_to_type|icu_collate_\w+|create_sort_key|timetz_byte_comparable)$/,
    reason: 'trusts its arguments: states of aggregates, raw encodings, types as values',
  },
  { pattern: /^reservoir_quantile$/, reason: 'fails inside the engine over a window' },
  {
    pattern:
      /^(read_\w+|write_\w+|parquet_\w+|copy\w*|glob|sniff_\w+|getenv|http\w*|load\w*|install\w*|attach\w*|enable_\w+|disable_\w+|checkpoint|duckdb_\w+|pragma_\w+|arrow_\w+|sql_auto\w*)$/,
    reason: 'reaches files',
  },
]
