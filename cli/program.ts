import { Command } from 'commander'
import { examples } from './examples.ts'
import { packageVersion } from './context/installation.ts'

const helpWidth = 100

type Listed = [name: string, summary: string, load: () => Promise<Command>]

const groups: Array<[title: string, commands: Listed[]]> = [
  [
    'Project as files:',
    [
      [
        'init',
        'begin a project as files in this folder',
        async () => (await import('./commands/project/init.ts')).initCommand(),
      ],
      [
        'add',
        'add an API to the files: of the catalog, by curl or from its OpenAPI document',
        async () => (await import('./commands/project/add.ts')).addCommand(),
      ],
      [
        'pull',
        'write what the service has into the files',
        async () => (await import('./commands/project/pull.ts')).pullCommand(),
      ],
      [
        'diff',
        'how the files differ from what the service has',
        async () => (await import('./commands/project/diff.ts')).diffCommand(),
      ],
      [
        'validate',
        'check the files without a service',
        async () => (await import('./commands/project/validate.ts')).validateCommand(),
      ],
      ['fmt', 'write the files in one style', async () => (await import('./commands/project/fmt.ts')).fmtCommand()],
      ['run', 'run a query as its file has it', async () => (await import('./commands/data/sql.ts')).runCommand()],
      ['test', 'run the tests with rows', async () => (await import('./commands/release/test.ts')).testCommand()],
      [
        'plan',
        'show what the files would change',
        async () => (await import('./commands/release/plan.ts')).planCommand(),
      ],
      [
        'release',
        'apply the files and release them as one',
        async () => (await import('./commands/release/release.ts')).releaseCommand(),
      ],
      [
        'dev',
        'release to development on every save',
        async () => (await import('./commands/project/dev.ts')).devCommand(),
      ],
    ],
  ],
  [
    'Releases:',
    [
      [
        'releases',
        'the history of releases, or one of them',
        async () => (await import('./commands/release/releases.ts')).releasesCommand(),
      ],
      [
        'replay',
        'run recorded calls on saved queries beside what answers',
        async () => (await import('./commands/release/replay.ts')).replayCommand(),
      ],
      [
        'continue',
        'roll a canary or shadow out to a larger share of the keys, or to all',
        async () => (await import('./commands/release/continue.ts')).continueCommand(),
      ],
      [
        'promote',
        'let every version of one environment answer in another',
        async () => (await import('./commands/release/promote.ts')).promoteCommand(),
      ],
      [
        'rollback',
        'take a release back as a whole',
        async () => (await import('./commands/release/rollback.ts')).rollbackCommand(),
      ],
    ],
  ],
  [
    'Ask and call:',
    [
      ['call', 'call a deployed query', async () => (await import('./commands/call/call.ts')).callCommand()],
      ['ask', 'ask a question', async () => (await import('./commands/call/ask.ts')).askCommand()],
      [
        'mcp',
        'the service as an MCP server on standard input and output',
        async () => (await import('./commands/call/mcp.ts')).mcpCommand(),
      ],
      [
        'evaluate',
        'ask every evaluation case, and say which do not pass',
        async () => (await import('./commands/release/evaluate.ts')).evaluateCommand(),
      ],
      [
        'types',
        'write types for the clients from what is deployed',
        async () => (await import('./commands/project/types.ts')).typesCommand(),
      ],
    ],
  ],
  [
    'Data:',
    [
      [
        'tables',
        'tables that SQL reads, with their rows and their age',
        async () => (await import('./commands/data/tables.ts')).tablesCommand(),
      ],
      [
        'describe',
        'columns of a table, or slots and columns of a query',
        async () => (await import('./commands/data/tables.ts')).describeCommand(),
      ],
      [
        'models',
        'tables that are built from tables',
        async () => (await import('./commands/data/models.ts')).modelsCommand(),
      ],
      [
        'sql',
        'run a statement over the tables of the project',
        async () => (await import('./commands/data/sql.ts')).sqlCommand(),
      ],
      [
        'test-connection',
        'call an API as a connection says, and store nothing',
        async () => (await import('./commands/data/test-connection.ts')).testConnectionCommand(),
      ],
      [
        'execute',
        'fetch the data of a connection now',
        async () => (await import('./commands/data/execute.ts')).executeCommand(),
      ],
      [
        'jobs',
        'background work: loads and what follows them',
        async () => (await import('./commands/data/jobs.ts')).jobsCommand(),
      ],
    ],
  ],
  [
    'Manage:',
    [
      [
        'projects',
        'projects of the service: list, create, and their engine',
        async () => (await import('./commands/project/projects.ts')).projectsCommand(),
      ],
      [
        'environments',
        'environments of the project: list, create, delete',
        async () => (await import('./commands/project/environments.ts')).environmentsCommand(),
      ],
      ['keys', 'API keys: who may call', async () => (await import('./commands/call/keys.ts')).keysCommand()],
      [
        'links',
        'links to one query, for spreadsheets',
        async () => (await import('./commands/call/links.ts')).linksCommand(),
      ],
      ['logs', 'the calls that were made', async () => (await import('./commands/call/logs.ts')).logsCommand()],
      [
        'open',
        'open the project in the browser',
        async () => (await import('./commands/project/open.ts')).openCommand(),
      ],
    ],
  ],
  [
    'Service:',
    [
      [
        'start',
        'start the service on this machine',
        async () => (await import('./commands/service/start.ts')).startCommand(),
      ],
      ['login', 'sign in to a service', async () => (await import('./commands/service/login.ts')).loginCommand()],
      [
        'logout',
        'end the sign-in to a service',
        async () => (await import('./commands/service/login.ts')).logoutCommand(),
      ],
      [
        'whoami',
        'which service, project, token and key commands use',
        async () => (await import('./commands/service/whoami.ts')).whoamiCommand(),
      ],
      [
        'backup',
        'copy the installation of this machine while it answers',
        async () => (await import('./commands/service/backup.ts')).backupCommand(),
      ],
      [
        'restore',
        'make an installation of a backup',
        async () => (await import('./commands/service/backup.ts')).restoreCommand(),
      ],
      [
        'completion',
        'completion for your shell',
        async () => (await import('./commands/service/completion.ts')).completionCommand(),
      ],
    ],
  ],
]

/**
 * Every command with its help; with `words`, only the one that they name is more than its name and summary. Loading all
 * of them takes longer than many a command does. Nothing happens before it is parsed.
 */
export async function buildProgram(words?: readonly string[]): Promise<Command> {
  const program = newProgram()
  const named = words === undefined ? undefined : program.parseOptions([...words]).operands[0]
  // Completion tells of all of them.
  const isWhole = words === undefined || named === 'completion'
  for (const [title, commands] of groups) {
    for (const [name, summary, load] of commands) {
      const command = isWhole || name === named ? await load() : new Command(name)
      program.addCommand(command.summary(summary).helpGroup(title))
      inherit(command, program)
      showExamples(command, name)
    }
  }
  return program
}

function newProgram(): Command {
  const program = new Command('sluice')
    .description('HTTP APIs flow in as data; questions and calls flow out as answers.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--url <address>', 'where the service is (SLUICE_URL)')
    .option('--project <id>', 'which project is meant (SLUICE_PROJECT)')
    .option('--dir <folder>', 'where the files of the project are')
    .option('--json', 'answer in JSON, for scripts')
    .option('--no-color', 'answer without colours (NO_COLOR)')
    .helpCommand(false)
    .showSuggestionAfterError()
    .showHelpAfterError('(sluice --help says more)')
    .exitOverride()
  return program.configureHelp({
    helpWidth: Math.min(helpWidth, process.stdout.columns ?? helpWidth),
    showGlobalOptions: false,
  })
}

/** Subcommands that are made by themselves do not take these over. */
function inherit(command: Command, from: Command): void {
  command.copyInheritedSettings(from)
  for (const each of command.commands) inherit(each, command)
}

function showExamples(command: Command, words: string): void {
  const line = examples[words]
  if (line !== undefined) command.addHelpText('after', `\nExample:\n  ${line}`)
  for (const each of command.commands) showExamples(each, `${words} ${each.name()}`)
}
