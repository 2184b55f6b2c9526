-- Calls are counted by minute, hour and day. Figures by five minutes and by 16 days go: minutes and days hold the same
-- calls for as long, and reports are summed from them.
delete from usage_rollups where grain in ('five', 'five-sum', 'span');
delete from usage_progress where grain in ('five', 'five-sum', 'span');
