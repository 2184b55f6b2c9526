import { isNullable, slotType, valueType, type DeployedQuery, type Schema, type ValueType } from './query-types.ts'

/** Typed functions for the Python client, one for each query. */
export function pythonOf(queries: DeployedQuery[], environment: string): string {
  const blocks = queries.map((query) => blockOf(query))
  return [
    `# Written by \`sluice types\` from what is deployed in ${environment}. Run it again after a release.`,
    'from __future__ import annotations',
    '',
    'from datetime import date, datetime',
    'from decimal import Decimal',
    'from typing import Any, Dict, List, Literal, Optional, TypedDict, Union',
    '',
    'from sluice_client import Answer, Client',
    '',
    ...blocks,
  ].join('\n')
}

function blockOf({ name, description, input, row: { properties: columns } }: DeployedQuery): string {
  const row = `${name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Row`
  const fields = Object.entries(columns).map(([column, schema]) => {
    const type = columnType(schema)
    return `${JSON.stringify(column)}: ${isNullable(schema) ? `Optional[${type}]` : type}`
  })
  const isRequired = (slot: string): boolean => input.required.includes(slot)
  const names = Object.keys(input.properties).toSorted((a, b) => Number(isRequired(b)) - Number(isRequired(a)))
  const parameters = names.map((slot) => {
    const schema = input.properties[slot]
    const type = schema === undefined ? 'Any' : typeText(slotType(schema))
    return isRequired(slot) ? `${argument(slot)}: ${type}` : `${argument(slot)}: Optional[${type}] = None`
  })
  const given = names.map((slot) => `${JSON.stringify(slot)}: ${argument(slot)}`)
  const signature = ['client: Client', ...(parameters.length === 0 ? [] : ['*', ...parameters])].join(', ')
  return [
    '',
    `${row} = TypedDict(${JSON.stringify(row)}, {${fields.join(', ')}})`,
    '',
    '',
    `def ${argument(name)}(${signature}) -> Answer[${row}]:`,
    `    ${JSON.stringify(description === '' ? name : description.replaceAll(/\s+/g, ' ').trim())}`,
    `    given = {${given.join(', ')}}`,
    `    return client.call(${JSON.stringify(name)}, {name: value for name, value in given.items() if value is not None})`,
    '',
  ].join('\n')
}

const keywords = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield client'.split(
    ' ',
  ),
)

function argument(name: string): string {
  return keywords.has(name) ? `${name}_` : name
}

/** The client makes these of what JSON has as text or number. */
const columnTypes: Record<string, string> = { date: 'date', 'date-time': 'datetime', decimal: 'Decimal' }

function columnType(schema: Schema): string {
  const made = schema.format === undefined ? undefined : columnTypes[schema.format]
  if (made !== undefined) return made
  const { kind } = valueType(schema)
  // Whole numbers of any size are such in Python.
  return kind === 'wide' ? 'int' : typeText(valueType(schema))
}

const plainTypes = {
  text: 'str',
  integer: 'int',
  number: 'float',
  wide: 'Union[int, float, str]',
  boolean: 'bool',
  any: 'Any',
  map: 'Dict[str, Any]',
  record: 'Dict[str, Any]',
} as const

function typeText(type: ValueType): string {
  if (type.kind === 'choice') return `Literal[${type.values.map((value) => JSON.stringify(value)).join(', ')}]`
  return type.kind === 'list' ? `List[Optional[${typeText(type.of)}]]` : plainTypes[type.kind]
}
