import sax from 'sax'

/** An entity as its service describes it: the properties that tell a row, and the types of all. */
export type EntitySchema = { key: string[]; columns: Array<{ name: string; type: string }> }

type Entity = { base: string | undefined; key: string[]; columns: EntitySchema['columns'] }

/** Types of OData by the name of the type that holds them; others, and moments, whose values say it, are read as they come. */
const types: Record<string, string> = {
  'Edm.String': 'VARCHAR',
  'Edm.Guid': 'VARCHAR',
  'Edm.Boolean': 'BOOLEAN',
  'Edm.Byte': 'BIGINT',
  'Edm.SByte': 'BIGINT',
  'Edm.Int16': 'BIGINT',
  'Edm.Int32': 'BIGINT',
  'Edm.Int64': 'BIGINT',
  'Edm.Single': 'DOUBLE',
  'Edm.Double': 'DOUBLE',
  'Edm.Date': 'DATE',
}
const longestLine = 10

/** Without both, or with a scale that varies, a number is read as it comes. */
function decimal(precision: string | undefined, scale: string | undefined): string | undefined {
  const [width, digits] = [Number(precision), Number(scale)]
  return width >= 1 && width <= 38 && digits >= 0 && digits <= width ? `DECIMAL(${width},${digits})` : undefined
}

/** The entity of an entity set in an OData document of metadata (CSDL as XML); null where it has none of that name. */
export function odataSchema(xml: string, entitySet: string): EntitySchema | null {
  const entities = new Map<string, Entity>()
  const sets = new Map<string, string>()
  let [namespace, alias]: Array<string | undefined> = []
  let entity: Entity | undefined
  const parser = sax.parser(true, { xmlns: false })
  const localName = (name: string) => name.slice(name.indexOf(':') + 1)
  parser.onopentag = ({ name, attributes }) => {
    const value = (attribute: string) => {
      const found = attributes[attribute]
      return typeof found === 'string' ? found : undefined
    }
    const tag = localName(name)
    if (tag === 'Schema') [namespace, alias] = [value('Namespace'), value('Alias')]
    if (tag === 'EntityType') {
      entity = { base: value('BaseType'), key: [], columns: [] }
      for (const space of [namespace, alias]) entities.set(`${space}.${value('Name')}`, entity)
    }
    if (tag === 'PropertyRef') entity?.key.push(value('Name') ?? '')
    const type =
      value('Type') === 'Edm.Decimal' ? decimal(value('Precision'), value('Scale')) : types[value('Type') ?? '']
    if (tag === 'Property' && type !== undefined) entity?.columns.push({ name: value('Name') ?? '', type })
    if (tag === 'EntitySet') sets.set(value('Name') ?? '', value('EntityType') ?? '')
  }
  parser.onclosetag = (name) => {
    if (localName(name) === 'EntityType') entity = undefined
  }
  try {
    parser.write(xml).close()
  } catch {
    return null
  }
  const line: Entity[] = []
  for (let name = sets.get(entitySet); name !== undefined && line.length < longestLine;) {
    const one = entities.get(name)
    if (one === undefined) break
    line.unshift(one)
    name = one.base
  }
  if (line.length === 0) return null
  return { key: line.flatMap(({ key }) => key), columns: line.flatMap(({ columns }) => columns) }
}
