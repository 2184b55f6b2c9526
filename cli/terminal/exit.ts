/** The exit codes of the command line. Documented in `docs/cli.md`, under test. */
export const exitCodes = {
  done: 0,
  /** The service failed, or something that nobody expected; of `diff`: something differs. */
  failed: 1,
  /** The command is written wrongly. */
  usage: 2,
  /** A file of the project is wrong. */
  files: 3,
  /** The service cannot be reached. */
  unreachable: 4,
  /** The credential is missing, not good, or does not reach this. */
  credentials: 5,
  /** The service refused: the change breaks callers, takes questions of others, or contradicts what is there. */
  refused: 6,
  /** The answer is no: a question that is not answered, a connection that does not work, a case that does not pass. */
  negative: 7,
  /** `plan --detailed-exit-code`: there is something to release. */
  changes: 8,
  /** Ended by Ctrl-C. */
  interrupted: 130,
} as const

export type ExitName = keyof typeof exitCodes

/** Ends the command with a sentence for who typed it, and what to do about it. */
export class CommandFailure extends Error {
  readonly exit: ExitName
  readonly hint: string | undefined
  /** For `--json`. */
  readonly fields: Record<string, unknown>

  constructor(
    exit: ExitName,
    message: string,
    more: { hint?: string; fields?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.name = 'CommandFailure'
    this.exit = exit
    this.hint = more.hint
    this.fields = more.fields ?? {}
  }
}
