-- What was released to an environment as one act, by whom and why. Never changed once written, but for being rolled back
-- and for what is learned of it while it goes out.
create table releases (
  id text primary key,
  project_id text not null references projects on delete cascade,
  environment text not null,
  status text not null check (status in ('released', 'checked', 'canary', 'shadow', 'rolled_back')),
  act text not null check (act in ('release', 'deploy', 'promote', 'rollback', 'undeploy')),
  message text,
  commit text,
  forced boolean not null,
  promoted_from text,
  rolls_back text references releases on delete set null,
  rolled_back_by text references releases on delete set null,
  -- Each with its versions before and after, what changed for callers, and who they are.
  queries jsonb not null,
  query_names text[] not null,
  breaking_count integer not null,
  -- What stored questions said of it.
  routing jsonb not null,
  -- What recorded calls said of it; how it takes its share of calls; how it runs behind them.
  replay jsonb,
  canary jsonb,
  shadow jsonb,
  created_at timestamptz not null default now(),
  created_by text not null
);
create index releases_by_project on releases (project_id, id desc);
create index releases_rolling_back on releases (rolls_back) where rolls_back is not null;
create index releases_rolled_back on releases (rolled_back_by) where rolled_back_by is not null;
create index releases_checked on releases (created_at) where status = 'checked';

alter table deployment_acts add column release_id text references releases on delete set null;
create index deployment_acts_by_release on deployment_acts (release_id) where release_id is not null;

-- A release is heard once, whatever the number of its queries: each process then reads the environment as a whole.
drop trigger deployments_told on deployments;
drop function tell_deployment();
create function tell_deployments() returns trigger language plpgsql as $$
begin
  perform pg_notify('deployments_changed', json_build_array(project_id, environment)::text)
  from (select distinct project_id, environment from touched) as places;
  return null;
end $$;
create trigger deployments_inserted after insert on deployments
  referencing new table as touched for each statement execute function tell_deployments();
create trigger deployments_updated after update on deployments
  referencing new table as touched for each statement execute function tell_deployments();
create trigger deployments_deleted after delete on deployments
  referencing old table as touched for each statement execute function tell_deployments();
