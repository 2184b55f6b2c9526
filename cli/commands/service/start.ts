import { Command, Option } from 'commander'
import { launch } from '../../../scripts/launch.mjs'
import { compiledFolder } from '../../context/compiled.ts'
import { serverProgram } from '../../context/installation.ts'

type Options = { port?: string; host?: string; data?: string; role?: string; service?: boolean }

export function startCommand(): Command {
  const command = new Command('start')
    .description(
      'Starts the service with its own PostgreSQL, prints its address and a sign-in link, and keeps everything in ./data. Ctrl-C stops it. Every setting is an environment variable: docs/configuration.md.',
    )
    .option('-p, --port <port>', 'instead of 4400')
    .option('--host <address>', 'instead of 127.0.0.1')
    .option('--data <folder>', 'instead of ./data')
    .addOption(
      new Option('--role <role>', 'what this process does: answer calls, run jobs, or both').choices([
        'api',
        'worker',
        'all',
      ]),
    )
    .option('--service', 'under a process manager: the whole log, and a sign-in link at the very first start only')
  return command.action(() => start(command.opts<Options>()))
}

function start(options: Options): void {
  launch({
    program: serverProgram('main'),
    cwd: process.cwd(),
    isService: options.service === true,
    compileCache: compiledFolder(),
    environment: {
      ...process.env,
      ...(options.port !== undefined && { PORT: options.port }),
      ...(options.host !== undefined && { HOST: options.host }),
      ...(options.data !== undefined && { SLUICE_DATA_DIR: options.data }),
      ...(options.role !== undefined && { SLUICE_ROLE: options.role }),
    },
  })
}
