import { isNullable, slotType, valueType, type DeployedQuery, type ValueType } from './query-types.ts'

/** Types for `createClient<Queries>()` of `sluice/client`. */
export function typescriptOf(queries: DeployedQuery[], environment: string): string {
  const entries = queries.map(({ name, description, input, row: { properties: columns } }) => {
    const parameters = Object.entries(input.properties).map(([slot, schema]) => {
      const isRequired = input.required.includes(slot)
      const type = typeText(slotType(schema)) + (isRequired ? '' : ' | null')
      return `${doc(schema.description, '      ')}      ${keyText(slot)}${isRequired ? '' : '?'}: ${type}`
    })
    const row = Object.entries(columns).map(
      ([column, schema]) =>
        `      ${keyText(column)}: ${typeText(valueType(schema))}${isNullable(schema) ? ' | null' : ''}`,
    )
    const block = (title: string, lines: string[]): string =>
      lines.length === 0 ? `    ${title}: Record<string, never>` : `    ${title}: {\n${lines.join('\n')}\n    }`
    return `${doc(description, '  ')}  ${keyText(name)}: {\n${block('parameters', parameters)}\n${block('row', row)}\n  }`
  })
  return [
    `// Written by \`sluice types\` from what is deployed in ${environment}. Run it again after a release.`,
    '',
    'export type Queries = {',
    entries.join('\n'),
    '}',
    '',
  ].join('\n')
}

function doc(text: string | undefined, indent: string): string {
  if (text === undefined || text === '') return ''
  return `${indent}/** ${text.replaceAll('*/', '*∕').replaceAll(/\s+/g, ' ').trim()} */\n`
}

function keyText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

const plainTypes = {
  text: 'string',
  integer: 'number',
  number: 'number',
  wide: 'number | string',
  boolean: 'boolean',
  any: 'unknown',
} as const

function typeText(type: ValueType): string {
  if (type.kind === 'choice') return type.values.map((value) => JSON.stringify(value)).join(' | ')
  if (type.kind === 'list') return `Array<${typeText(type.of)} | null>`
  if (type.kind === 'map') return `Record<string, ${typeText(type.of)} | null>`
  if (type.kind !== 'record') return plainTypes[type.kind]
  return `{ ${type.fields.map(([name, each]) => `${keyText(name)}: ${typeText(each)} | null`).join('; ')} }`
}
