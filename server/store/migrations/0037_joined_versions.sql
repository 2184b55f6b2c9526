-- The version from which on each joined the rows of the one before it: what came since one of them is known by its parts.
-- Null for versions of before, and for those that took the place of all.
ALTER TABLE data_objects ADD COLUMN joined_since integer;
