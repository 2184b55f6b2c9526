export const contractFile: string
export function pythonContract(document: unknown, failures: Record<string, object>): string
