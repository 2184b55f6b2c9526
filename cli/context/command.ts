import type { Command } from 'commander'
import { openContext, type Context, type GlobalOptions } from './context.ts'

/** The body of a command, given its parts, its options and its arguments. */
type Work<Options> = (context: Context, options: Options, args: string[]) => Promise<void>

/** Gives a command its work. */
export function does<Options = object>(command: Command, work: Work<Options>): Command {
  return command.action(async (): Promise<void> => {
    const options = command.optsWithGlobals<GlobalOptions & Options>()
    await work(
      await openContext(options, process.env),
      options,
      command.processedArgs.flat().filter((each): each is string => typeof each === 'string'),
    )
  })
}
