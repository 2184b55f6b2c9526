export function installPackage(name: string): boolean
export function freePort(): Promise<number>
export function waitForPort(port: number, limitMs: number): Promise<void>
