-- How people sort what a project holds; no caller notices.
alter table queries add column tags text[] not null default '{}';
alter table datasources add column tags text[] not null default '{}';
-- The tables that a draft reads, and which columns of each, as it was inspected when it was saved. What was saved
-- before is filled in by the next save; until then its newest version tells.
alter table queries add column reads jsonb;
