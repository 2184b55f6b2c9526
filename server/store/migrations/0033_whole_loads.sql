-- What a load could not show to be whole; null where there is nothing to say.
ALTER TABLE data_objects ADD COLUMN warnings jsonb;
