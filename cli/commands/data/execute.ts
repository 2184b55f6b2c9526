import { Command } from 'commander'
import type { z } from 'zod'
import type { datasource } from '../../../api/datasources.ts'
import type { job as jobSchema } from '../../../api/jobs.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { followJob, printDoubts, type Job } from '../../context/follow-job.ts'
import { countText } from '../../terminal/texts.ts'

type Options = { full?: boolean; wait?: boolean }
type Datasource = z.output<typeof datasource>

export function executeCommand(): Command {
  const command = new Command('execute')
    .description(
      'Runs the request of a connection as the service has it, stores what comes as a version of its table, and waits for it.',
    )
    .argument('<table>', 'the name of a table')
    .option('--full', 'load everything again, whatever the mode')
    .option('--no-wait', 'only begin')
  return does<Options>(command, execute)
}

async function execute(context: Context, options: Options, [name = '']: string[]): Promise<void> {
  const [manage, projectId] = [await context.manage(), await context.projectId()]
  const all = await manage.list<Datasource>(`/v1/projects/${projectId}/datasources`)
  const found = all.find((each) => each.table_name === name)
  if (found === undefined) {
    const hint = `There are: ${all.map((each) => each.table_name).join(', ')}. A new file comes with \`sluice release\`.`
    throw new CommandFailure('usage', `The service has no table ${name}.`, { hint })
  }
  const path = `/v1/projects/${projectId}/datasources/${found.id}`
  const begun = await manage.send<z.output<typeof jobSchema>>('POST', `${path}/refresh`, {
    ...(options.full === true && { full: true }),
  })
  if (options.wait === false) {
    if (context.json) context.printJson(begun)
    else context.print(`Begun: sluice jobs watch ${begun.id}`)
    return
  }
  const ended = await followJob(context, begun.id)
  if (context.json) context.printJson(ended)
  if (ended.status !== 'succeeded') {
    throw new CommandFailure('negative', `${name} was not loaded: ${ended.error?.message ?? ended.status}`, {
      fields: { job: ended },
    })
  }
  if (context.json) return
  context.print(`${context.style.good('✓')} ${name} is loaded${loadedText(ended)}.`)
  await printDoubts(context, ended)
}

function loadedText({ details }: Job): string {
  return details === null ? '' : `: ${countText(details.rows, 'row')} on ${countText(details.pages, 'page')}`
}
