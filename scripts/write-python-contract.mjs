// `npm run generate -- python-contract`, after a change of the OpenAPI document.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { failures } from '../api/failures.ts'
import { root } from './prepare.mjs'
import { contractFile, pythonContract } from './python-contract.mjs'

const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'))
writeFileSync(join(root, contractFile), pythonContract(document, failures))
