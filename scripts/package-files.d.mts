export const taken: string[]
