-- Every version of a table is a list of parts, also one that was loaded whole: its one part. The copy for speed belongs to
-- the part that it is made of, and is no data object of its own.
insert into data_parts (id, project_id, datasource_id, file_hash, size_bytes, row_count, columns, loads, native_hash,
  native_bytes, created_at)
select 'prt' || substr(whole.id, 4), whole.project_id, whole.datasource_id, whole.file_hash, whole.size_bytes,
  coalesce(whole.row_count, 0), coalesce(whole.columns, '[]'), array[whole.version], copy.file_hash, copy.size_bytes,
  whole.created_at
from data_objects as whole
left join data_objects as copy
  on copy.datasource_id = whole.datasource_id and copy.version = whole.version and copy.kind = 'prepared'
where whole.kind = 'response_data' and whole.load is null;

insert into version_parts (data_object_id, place, part_id)
select id, 0, 'prt' || substr(id, 4) from data_objects where kind = 'response_data' and load is null;

-- Parts are counted where they are.
update data_objects set size_bytes = 0 where kind = 'response_data' and load is null;

delete from lineage where to_id in (select id from data_objects where kind = 'prepared');
delete from data_objects where kind = 'prepared';
alter table data_objects drop constraint data_objects_kind_check;
alter table data_objects add constraint data_objects_kind_check
  check (kind in ('request_config', 'response_data', 'rejected_values'));
alter table data_objects drop constraint data_objects_format_check;
alter table data_objects add constraint data_objects_format_check check (format in ('json', 'parquet'));
