#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { compiledFolder } from './context/compiled.ts'

// Before anything else is loaded, which then takes half as long.
enableCompileCache(compiledFolder())
const { run } = await import('./run.ts')
await run()
