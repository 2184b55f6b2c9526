-- Set when a channel is removed while it is still to be told that its alert is over: it goes once it is told.
alter table alert_channels add column removed_at timestamptz;
