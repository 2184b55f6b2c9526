/** The words of one SELECT, for the editor and where SQL is only read. */
export const sqlWords = {
  keywords:
    'select distinct from where group by having order limit offset as on using join left right full inner outer cross lateral semi anti asof union intersect except all any some with recursive values case when then else end and or not in is null like ilike between exists asc desc nulls first last filter over partition window rows range unbounded preceding following current row qualify sample unnest interval cast true false exclude replace columns pivot unpivot positional',
  types:
    'integer bigint smallint tinyint hugeint double float decimal varchar text boolean date time timestamp timestamptz json uuid',
  builtin:
    'count sum avg min max median mode quantile stddev round floor ceil abs coalesce nullif greatest least lower upper trim length replace substring contains starts_with strftime strptime date_trunc date_part year month day week quarter now today list string_agg row_number rank dense_rank lag lead first_value last_value arg_max arg_min',
}

export type SqlPart = { text: string; kind: 'comment' | 'string' | 'number' | 'slot' | 'keyword' | 'builtin' | null }

const keywords = new Set(sqlWords.keywords.split(' '))
const builtin = new Set(`${sqlWords.types} ${sqlWords.builtin}`.split(' '))
const token =
  /(?<comment>--[^\n]*|\/\*[^]*?(?:\*\/|$))|(?<string>'(?:[^']|'')*'?)|(?<slot>\$\w+)|(?<number>\b\d[\w.]*)|"(?:[^"]|"")*"?|(?<word>\w+)/g

/** SQL cut into what has a colour and what has none; together they are the text. */
export function sqlParts(sql: string): SqlPart[] {
  const parts: SqlPart[] = []
  let end = 0
  for (const { 0: text, index, groups = {} } of sql.matchAll(token)) {
    if (index > end) parts.push({ text: sql.slice(end, index), kind: null })
    parts.push({ text, kind: kindOf(groups) })
    end = index + text.length
  }
  return end < sql.length ? [...parts, { text: sql.slice(end), kind: null }] : parts
}

function kindOf(groups: Record<string, string | undefined>): SqlPart['kind'] {
  const word = groups['word']?.toLowerCase()
  if (word !== undefined) return keywords.has(word) ? 'keyword' : builtin.has(word) ? 'builtin' : null
  return (['comment', 'string', 'slot', 'number'] as const).find((kind) => groups[kind] !== undefined) ?? null
}
