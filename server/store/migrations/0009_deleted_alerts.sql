-- Set when it is deleted while its channels are still to be told something: it is removed once they are.
alter table alerts add column deleted_at timestamptz;
