import { parseArgs } from 'node:util'
import { keepTickShape, say, openStopRequests, type StopRequests } from './process/index.ts'
import { readConfig } from './config.ts'
import { databaseOptions } from './part-options.ts'
import { beginDatabase } from './store/index.ts'

/** Starts the service and keeps it until a signal asks for its end. */
async function main(): Promise<void> {
  const startedAtMs = performance.now()
  const { values: flags } = parseArgs({ options: { welcome: { type: 'boolean', default: false } } })
  const config = readConfig(process.env)
  if ('mistakes' in config) {
    for (const mistake of config.mistakes) say(`Configuration: ${mistake}.`)
    process.exit(1)
  }
  for (const variable of config.retired) {
    say(`Configuration: ${variable} is no longer a setting and has no effect; its default applies. Remove it.`)
  }
  const requests = hearSignals()
  void keepTickShape()
  // PostgreSQL starts while the rest of the program is read: either takes the better part of a second.
  const store = beginDatabase({ ...databaseOptions(config), claims: true })
  const { serve } = await import('./serve.ts')
  await serve({ config, requests, store, withWelcome: flags.welcome, startedAtMs, end: () => process.exit(0) })
}

/** From the first moment on: a start that is cut in the middle would leave its database behind. */
function hearSignals(): StopRequests {
  const requests = openStopRequests({ end: () => process.exit(1), nowMs: () => performance.now() })
  process.on('SIGTERM', requests.ask)
  process.on('SIGINT', requests.ask)
  // Nobody is at that terminal any more to be impatient.
  process.on('SIGHUP', requests.askOnce)
  // Under `npm start` a channel to the launcher exists; when the launcher is gone, however it went, so are we.
  process.once('disconnect', () => requests.askOnce('SIGTERM'))
  return requests
}

main().catch((error: unknown) => {
  say(`Sluice cannot start: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
})
