-- A link to one query is a key that opens nothing else: its values, its end and its limits are those of a key.
alter table projects add column query_links boolean not null default false;
alter table api_keys add column kind text not null default 'key' check (kind in ('key', 'link'));
alter table api_key_uses add column calls bigint not null default 0;
