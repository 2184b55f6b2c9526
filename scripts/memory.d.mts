export const serviceFlags: string[]
export const serviceVariables: Record<string, string>
export const executorFlags: string[]
export const executorVariables: Record<string, string>
export const encoderFlags: string[]
export const encoderVariables: Record<string, string>
