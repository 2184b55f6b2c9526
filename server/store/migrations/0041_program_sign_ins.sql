-- Programs that build for a person: the command line, and assistants with tools to build with. What they get is a
-- management token, which stands where all others do.
create table program_sign_ins (
  id text primary key,
  client_id text not null references oauth_clients on delete cascade,
  -- Null until the person said yes.
  user_id text references users on delete cascade,
  role text,
  -- Null: every project of the person.
  project_id text references projects on delete cascade,
  -- The code that comes back with the browser, or the one that a device asks with.
  code_hash bytea not null unique,
  redirect_uri text,
  code_challenge text,
  -- On the screen of a device; null where the program has a browser.
  user_code text unique,
  address text not null,
  expires_at timestamptz not null,
  refused_at timestamptz,
  asked_at timestamptz,
  -- Null until the code is exchanged.
  token_id text references management_tokens on delete cascade,
  created_at timestamptz not null default now()
);
create index program_sign_ins_by_client on program_sign_ins (client_id);
create index program_sign_ins_by_token on program_sign_ins (token_id) where token_id is not null;

-- The command line is known here without registering. Clients that nobody approved are forgotten by their age.
insert into oauth_clients (id, name, redirect_uris, created_at)
values ('sluice-cli', 'The command line', '{http://127.0.0.1/signed-in}', 'infinity');
