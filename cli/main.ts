#!/usr/bin/env node
import * as modules from 'node:module'
import { compiledFolder } from './context/compiled.ts'

// Before anything else is loaded, which then takes half as long. Node 20 cannot.
;(modules as Partial<typeof modules>).enableCompileCache?.(compiledFolder())
const { run } = await import('./run.ts')
await run()
