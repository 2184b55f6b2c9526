-- A question about a period of which the query's SQL would lose a part.
alter table questions drop constraint questions_outcome_check;
alter table questions add constraint questions_outcome_check
  check (outcome in ('answered', 'no_match', 'ambiguous', 'missing_slots', 'unexpressed', 'unsure', 'period_end'));
