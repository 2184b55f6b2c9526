import { SQLDialect } from '@codemirror/lang-sql'
import { tags } from '@lezer/highlight'
import classes from './sql-colours.module.css'

/** The grammar of one SELECT. `$name` is a slot. */
export const dialect = SQLDialect.define({
  keywords:
    'select distinct from where group by having order limit offset as on using join left right full inner outer cross lateral semi anti asof union intersect except all any some with recursive values case when then else end and or not in is null like ilike between exists asc desc nulls first last filter over partition window rows range unbounded preceding following current row qualify sample unnest interval cast true false exclude replace columns pivot unpivot positional',
  types:
    'integer bigint smallint tinyint hugeint double float decimal varchar text boolean date time timestamp timestamptz json uuid',
  builtin:
    'count sum avg min max median mode quantile stddev round floor ceil abs coalesce nullif greatest least lower upper trim length replace substring contains starts_with strftime strptime date_trunc date_part year month day week quarter now today list string_agg row_number rank dense_rank lag lead first_value last_value arg_max arg_min',
  specialVar: '$',
  doubleQuotedStrings: false,
})

/** Which class a word of SQL has, in the editor and where it is only read. */
export const colours = [
  { tag: tags.keyword, class: classes.keyword ?? '' },
  { tag: [tags.string, tags.special(tags.string)], class: classes.string ?? '' },
  { tag: [tags.number, tags.bool, tags.null], class: classes.number ?? '' },
  { tag: tags.special(tags.name), class: classes.slot ?? '' },
  { tag: [tags.typeName, tags.standard(tags.name)], class: classes.builtin ?? '' },
  { tag: tags.comment, class: classes.comment ?? '' },
]
