import { afterAll } from 'vitest'
import { checkEntries } from './check-entries.ts'
import { entryNames } from './contract.ts'

const chosen = (process.env['CATALOG_ENTRIES'] ?? '').split(',').filter((name) => name !== '')
afterAll(() => {
  const { entries, tables, requests, questions, seconds } = counted
  // oxlint-disable-next-line eslint/no-console -- what was counted is what this suite is for
  console.log(
    `\n${entries} entries, ${tables} tables, ${requests} requests checked, ${questions} questions, ${seconds} s\n`,
  )
})
const counted = checkEntries(chosen.length > 0 ? chosen : entryNames)
