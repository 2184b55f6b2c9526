/** Whether a statement failed because a value must be unique, by the name of the constraint. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505' && 'constraint' in error
    ? error.constraint === constraint
    : false
}
