import { Failure } from '../failure.ts'

/** Waits for an act that writes what must be unique. By the name of the constraint, `conflict` where it is taken. */
export async function refuseTaken<Result>(act: Promise<Result>, constraint: string, message: string): Promise<Result> {
  try {
    return await act
  } catch (error) {
    const isTaken = error instanceof Error && 'constraint' in error && error.constraint === constraint
    throw isTaken ? new Failure('conflict', { reason: 'name_taken', message, cause: error }) : error
  }
}
