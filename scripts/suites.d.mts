export const suites: ReadonlyArray<{ name: string; part: 'gate' | 'all' | 'named' }>
