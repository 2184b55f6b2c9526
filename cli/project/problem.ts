/** A mistake in a file, and where; lines and columns count from 1. */
export type Problem = { file: string; line: number | null; column: number | null; message: string }

export type Path = ReadonlyArray<PropertyKey>
