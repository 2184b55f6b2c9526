-- A question that would be answered more likely wrongly than its project accepts is an outcome of its own.
alter table questions drop constraint questions_outcome_check;
alter table questions add constraint questions_outcome_check
  check (outcome in ('answered', 'no_match', 'ambiguous', 'missing_slots', 'unexpressed', 'unsure'));
-- By default nothing is answered that is more likely wrong than right. 0 was what nobody had chosen.
alter table question_settings alter column min_confidence set default 0.3;
update question_settings set min_confidence = 0.3 where min_confidence = 0;
