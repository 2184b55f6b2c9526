import { execFileSync } from 'node:child_process'

/** Whether this test may mount: as root, on a system that lets it. */
export const mayMount = canMount()

function canMount(): boolean {
  if (process.getuid?.() !== 0) return false
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** A disk of its own, so small that it can be filled. */
export function mountSmallDisk(folder: string, megabytes: number): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', folder])
}

/** A folder as a mount of its own, whose mode can then be set. */
export function mountOnItself(folder: string): void {
  execFileSync('mount', ['--bind', folder, folder])
}

export function remount(folder: string, mode: 'ro' | 'rw'): void {
  execFileSync('mount', ['-o', `remount,bind,${mode}`, folder])
}

/** Also where something still stands in it. */
export function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder])
}
