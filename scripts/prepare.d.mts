export function bundleServerIfStale(node: string): Promise<{ program: string; compileCache: string }>
