-- How the result of a query is drawn; null: as its columns and rows suggest.
alter table queries add column chart json;
alter table query_versions add column chart json;
