// The types of the Python client, from the OpenAPI document and the table of failures.

export const contractFile = 'clients/python/src/sluice_client/contract.py'

/** The text of `contract.py`. */
export function pythonContract(document, failures) {
  const classes = []
  const { Answer, QuestionAnswer, Error: envelope, Routing } = document.components.schemas
  const asked = document.paths['/v1/query'].post.requestBody.content['application/json'].schema
  const { query: _, project_id: __, stream: ___, ...options } = asked.properties
  addClass(classes, 'Routing', Routing, 'Why a question went to its query.')
  addClass(classes, 'AnswerFields', Answer, 'The answer of a call, as it travels.')
  addClass(classes, 'QuestionAnswerFields', QuestionAnswer, 'The answer to a question, as it travels.')
  addClass(classes, 'ErrorFields', envelope, 'What every refusal says.')
  addClass(classes, 'AskOptions', { properties: options, required: [] }, 'What may be said beside a question.')
  const codes = [...new Set(Object.entries(failures).map(([code, row]) => row.wire ?? code))]
  return [
    '"""Written by `npm run generate -- python-contract` from docs/openapi.json. Do not edit."""',
    '',
    'from __future__ import annotations',
    '',
    'from typing import Any, Dict, List, Literal, Optional, TypedDict, Union',
    '',
    `ErrorCode = Literal[\n${codes.map((code) => `    "${code}",`).join('\n')}\n]`,
    '',
    ...classes,
  ].join('\n')
}

/** What must be there in one class, what may be there in another: as Python 3.9 can say it. */
function addClass(classes, name, schema, text) {
  const required = new Set(schema.required ?? [])
  const fields = Object.entries(schema.properties).map(([field, each]) => ({
    line: `    ${field}: ${typeOf(classes, each, name + pascal(field))}`,
    isRequired: required.has(field),
  }))
  const certain = fields.filter(({ isRequired }) => isRequired)
  const optional = fields.filter(({ isRequired }) => !isRequired)
  const body = (lines) => (lines.length === 0 ? ['    pass'] : lines.map(({ line }) => line))
  const base = optional.length > 0 && certain.length > 0 ? `_${name}` : name
  if (certain.length > 0) {
    classes.push(
      '',
      `class ${base}(TypedDict):`,
      ...(base === name ? [`    """${text}"""`, ''] : []),
      ...body(certain),
      '',
    )
  }
  if (optional.length > 0 || certain.length === 0) {
    const parents = certain.length > 0 ? `${base}, total=False` : 'TypedDict, total=False'
    classes.push('', `class ${name}(${parents}):`, `    """${text}"""`, '', ...body(optional), '')
  }
}

function typeOf(classes, schema, name) {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)
  if (schema.anyOf !== undefined) return unionOf(schema.anyOf.map((each) => typeOf(classes, each, name)))
  if (schema.enum !== undefined) return `Literal[${schema.enum.map((each) => JSON.stringify(each)).join(', ')}]`
  if (Array.isArray(schema.type)) {
    return unionOf(schema.type.map((type) => typeOf(classes, { ...schema, type }, name)))
  }
  const plain = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[schema.type]
  if (plain !== undefined) return plain
  if (schema.type === 'array') return `List[${typeOf(classes, schema.items, name)}]`
  if (schema.type !== 'object') return 'Any'
  if (schema.properties === undefined) {
    const values = schema.additionalProperties
    return `Dict[str, ${values?.type === undefined ? 'Any' : typeOf(classes, values, name)}]`
  }
  addClass(classes, name, schema, `A part of ${name.replace(/[A-Z][a-z]*$/, '')}.`)
  return name
}

function unionOf(types) {
  const some = [...new Set(types)].filter((type) => type !== 'None')
  const all = some.length === 1 ? some[0] : `Union[${some.join(', ')}]`
  return types.includes('None') ? `Optional[${all}]` : all
}

function pascal(name) {
  return name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
