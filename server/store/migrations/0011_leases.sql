-- Who holds something that only one process may do at a time, and until when: by this database's clock, the only one
-- that all processes share. A holder that stops renewing is taken for dead.
create table leases (
  name text primary key,
  holder text not null,
  until timestamptz not null
);
drop table datasource_turns;
