import { Command } from 'commander'
import type { z } from 'zod'
import type { ownKey } from '../../../api/keys.ts'
import type { project } from '../../../api/projects.ts'
import { openCalls } from '../../context/calls.ts'
import { does } from '../../context/command.ts'
import type { Context } from '../../context/context.ts'
import { CommandFailure } from '../../terminal/exit.ts'
import { countText } from '../../terminal/texts.ts'

export function whoamiCommand(): Command {
  const command = new Command('whoami').description(
    'Says where commands go and with which credentials: the address, what the management token reaches, which project is meant, and the API key of calls. Ends with 5 where the token is not good.',
  )
  return does(command, whoami)
}

async function whoami(context: Context): Promise<void> {
  const { url, print, style } = context
  const manage = await context.manage()
  const projects = await manage.list<z.output<typeof project>>('/v1/projects')
  const id = await context.projectId().catch(() => null)
  const meant = projects.find((each) => each.id === id)
  const key = await keyOf(context)
  if (context.json) return context.printJson({ url, projects, project: meant ?? null, key })
  const roles = [...new Set(projects.map(({ role }) => role))].join(', ')
  const reaches = projects.length === 0 ? 'no project' : `${countText(projects.length, 'project')} as ${roles}`
  const lines = [
    ['Service', url],
    ['Token', `reaches ${reaches}`],
    ['Project', meant === undefined ? style.dim('none is named') : `${meant.name}  ${style.dim(meant.id)}`],
    ['API key', key === null ? style.dim('none; calls need one') : keyText(key)],
  ]
  for (const [what = '', says = ''] of lines) print(`${what.padEnd(8)} ${says}`)
}

type OwnKey = z.output<typeof ownKey>

function keyText({ name, plan, expires_at: end }: OwnKey): string {
  return `${name}, plan ${plan}${end === null ? '' : `, until ${end.slice(0, 10)}`}`
}

/** Nothing where there is none; one that is not good is said, whatever the token is. */
async function keyOf(context: Context): Promise<OwnKey | null> {
  if ((await context.key()) === undefined) return null
  const calls = await openCalls(context, undefined)
  return calls.json<OwnKey>('/v1/key').catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw new CommandFailure('credentials', `The API key is not good: ${why}`, {
      hint: 'Make another: sluice keys create mine --save',
    })
  })
}
