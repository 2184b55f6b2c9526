import { Command } from 'commander'
import type { DefinedModel, DefinedQuery } from '../../../api/definition.ts'
import { overAllRows } from '../../../api/new-rows.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { filesFailure, readDefinition, readFiles } from '../../context/files.ts'
import { openSqlParser, type SqlParser } from '../../context/sql-parser.ts'
import { sqlLine, type Problem, type ProjectFiles } from '../../project/index.ts'
import { countText } from '../../terminal/texts.ts'

export function validateCommand(): Command {
  const command = new Command('validate').description(
    'Reads every file, its SQL with the parser of the engine, its slots and its examples, and reports each mistake with file, line and column. Needs no service and no credentials; ends with 3 where something is wrong. Tables and columns are checked by `sluice plan`, which asks the service.',
  )
  return does(command, validate)
}

async function validate(context: Context): Promise<void> {
  const { definition } = await readDefinition(context)
  const { queries = [], models = [] } = definition
  const files = await readFiles(context.folder)
  const parser = await openSqlParser()
  try {
    const problems = parser === undefined ? [] : await problemsOfSql({ parser, files, queries, models })
    problems.push(...queries.flatMap((query) => problemsOfExamples(query)))
    if (problems.length > 0) throw filesFailure(problems)
  } finally {
    parser?.close()
  }
  if (parser === undefined) context.note('The SQL was not parsed: only the package of the service brings the engine.')
  if (context.json) context.printJson({ files: files.size, parsed: parser !== undefined })
  else context.print(`${context.style.good('✓')} ${countText(files.size, 'file')} without a mistake.`)
}

type Sql = { parser: SqlParser; files: ProjectFiles; queries: DefinedQuery[]; models: DefinedModel[] }

async function problemsOfSql({ parser, files, queries, models }: Sql): Promise<Problem[]> {
  const problems: Problem[] = []
  for (const { name, sql, slots } of queries) {
    const file = `queries/${name}.sql`
    const parsed = await parser.parse(sql)
    if ('message' in parsed)
      problems.push({ file, ...placeOf(files.get(file), sql, parsed.offset), message: parsed.message })
    else if (slots !== undefined) problems.push(...problemsOfSlots(file, parsed.slots, Object.keys(slots.properties)))
  }
  for (const { name, sql } of models) {
    const file = `models/${name}.sql`
    const parsed = await parser.parse(overAllRows(sql))
    if ('message' in parsed)
      problems.push({ file, ...placeOf(files.get(file), sql, parsed.offset), message: parsed.message })
    else if (parsed.slots.length > 0)
      problems.push(problemOf(file, `a model has no slots: take out $${parsed.slots[0]}`))
  }
  return problems
}

function problemsOfSlots(file: string, used: string[], defined: string[]): Problem[] {
  const missing = used.filter((name) => !defined.includes(name))
  const unused = defined.filter((name) => !used.includes(name))
  return [
    ...missing.map((name) => problemOf(file, `the SQL names $${name}, and slots: do not say what it is`)),
    ...unused.map((name) => problemOf(file, `the slot ${name} is not in the SQL`)),
  ]
}

/** Values of examples that no call could have; their types are checked by the service. */
function problemsOfExamples({ name, slots, examples }: DefinedQuery): Problem[] {
  if (slots === undefined) return []
  return (examples ?? []).flatMap(({ question, parameters }) =>
    Object.entries(parameters).flatMap(([slot, value]): Problem[] => {
      const schema = slots.properties[slot]
      const file = `queries/${name}.sql`
      if (schema === undefined) return [problemOf(file, `the example “${question}” fills ${slot}, which is no slot`)]
      const choices: unknown[] | undefined = 'enum' in schema ? schema.enum : undefined
      if (choices === undefined || value === null || choices.includes(value)) return []
      return [
        problemOf(file, `the example “${question}” fills ${slot} with ${JSON.stringify(value)}, which is no choice`),
      ]
    }),
  )
}

function problemOf(file: string, message: string): Problem {
  return { file, line: null, column: null, message }
}

/** An offset of the SQL as a line and a column of its file. */
function placeOf(text: string | undefined, sql: string, offset: number | null): Pick<Problem, 'line' | 'column'> {
  if (text === undefined || offset === null) return { line: null, column: null }
  const before = sql.slice(0, offset).split('\n')
  return { line: sqlLine(text) + before.length - 1, column: (before.at(-1) ?? '').length + 1 }
}
