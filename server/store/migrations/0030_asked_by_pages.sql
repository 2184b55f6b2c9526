-- The token of a page that a question was asked with: pages share a key, and no visitor goes on from what another asked.
alter table questions add column browser_token_id text;
