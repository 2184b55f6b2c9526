import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileSchemas } from './project/index.ts'

// For the package: the schemas of a project's files, beside the code that reads them.
const folder = process.argv[2] ?? 'schemas'
mkdirSync(folder, { recursive: true })
for (const [name, schema] of fileSchemas()) writeFileSync(join(folder, name), `${JSON.stringify(schema, null, 2)}\n`)
