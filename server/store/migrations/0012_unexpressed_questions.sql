-- A question of which the nearest query leaves something out is an outcome of its own.
alter table questions drop constraint questions_outcome_check;
alter table questions add constraint questions_outcome_check
  check (outcome in ('answered', 'no_match', 'ambiguous', 'missing_slots', 'unexpressed'));
