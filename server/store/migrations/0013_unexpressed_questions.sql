-- A question of which the nearest query leaves something out is an outcome of its own.
alter table questions drop constraint questions_outcome_check;
alter table questions add constraint questions_outcome_check
  check (outcome in ('answered', 'no_match', 'ambiguous', 'missing_slots', 'unexpressed'));
-- Answers that are right less surely than this share are not given.
alter table question_settings add column min_confidence double precision not null default 0
  check (min_confidence >= 0 and min_confidence < 1);
-- Confidences are shares from now on; what was kept before is of another scale.
update questions set confidence = null where confidence is not null;
