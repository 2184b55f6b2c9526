import { Command } from 'commander'
import { addCommand } from './commands/project/add.ts'
import { askCommand } from './commands/call/ask.ts'
import { backupCommand, restoreCommand } from './commands/service/backup.ts'
import { callCommand } from './commands/call/call.ts'
import { completionCommand } from './commands/service/completion.ts'
import { continueCommand } from './commands/release/continue.ts'
import { devCommand } from './commands/project/dev.ts'
import { diffCommand } from './commands/project/diff.ts'
import { evaluateCommand } from './commands/release/evaluate.ts'
import { executeCommand } from './commands/data/execute.ts'
import { initCommand } from './commands/project/init.ts'
import { jobsCommand } from './commands/data/jobs.ts'
import { keysCommand } from './commands/call/keys.ts'
import { linksCommand } from './commands/call/links.ts'
import { loginCommand, logoutCommand } from './commands/service/login.ts'
import { logsCommand } from './commands/call/logs.ts'
import { mcpCommand } from './commands/call/mcp.ts'
import { modelsCommand } from './commands/data/models.ts'
import { planCommand } from './commands/release/plan.ts'
import { promoteCommand } from './commands/release/promote.ts'
import { pullCommand } from './commands/project/pull.ts'
import { releaseCommand } from './commands/release/release.ts'
import { releasesCommand } from './commands/release/releases.ts'
import { replayCommand } from './commands/release/replay.ts'
import { rollbackCommand } from './commands/release/rollback.ts'
import { startCommand } from './commands/service/start.ts'
import { testConnectionCommand } from './commands/data/test-connection.ts'
import { testCommand } from './commands/release/test.ts'
import { typesCommand } from './commands/project/types.ts'
import { describeCommand, tablesCommand } from './commands/data/tables.ts'
import { environmentsCommand } from './commands/project/environments.ts'
import { fmtCommand } from './commands/project/fmt.ts'
import { openCommand } from './commands/project/open.ts'
import { projectsCommand } from './commands/project/projects.ts'
import { runCommand, sqlCommand } from './commands/data/sql.ts'
import { validateCommand } from './commands/project/validate.ts'
import { whoamiCommand } from './commands/service/whoami.ts'
import { examples } from './examples.ts'
import { packageVersion } from './context/installation.ts'

const helpWidth = 100

const groups: Array<[title: string, commands: Array<() => Command>]> = [
  [
    'Project as files:',
    [
      initCommand,
      addCommand,
      pullCommand,
      diffCommand,
      validateCommand,
      fmtCommand,
      runCommand,
      testCommand,
      planCommand,
      releaseCommand,
      devCommand,
    ],
  ],
  ['Releases:', [releasesCommand, replayCommand, continueCommand, promoteCommand, rollbackCommand]],
  ['Ask and call:', [callCommand, askCommand, mcpCommand, evaluateCommand, typesCommand]],
  [
    'Data:',
    [tablesCommand, describeCommand, modelsCommand, sqlCommand, testConnectionCommand, executeCommand, jobsCommand],
  ],
  ['Manage:', [projectsCommand, environmentsCommand, keysCommand, linksCommand, logsCommand, openCommand]],
  [
    'Service:',
    [startCommand, loginCommand, logoutCommand, whoamiCommand, backupCommand, restoreCommand, completionCommand],
  ],
]

/** Every command with its help. Nothing happens before it is parsed. */
export function buildProgram(): Command {
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
  program.configureHelp({
    helpWidth: Math.min(helpWidth, process.stdout.columns ?? helpWidth),
    showGlobalOptions: false,
  })
  for (const [title, commands] of groups) {
    for (const make of commands) {
      const command = make().helpGroup(title)
      program.addCommand(command)
      inherit(command, program)
      showExamples(command, command.name())
    }
  }
  return program
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
