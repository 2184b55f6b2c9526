import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync, truncateSync, writeFileSync } from 'node:fs'

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

const throttle = '/sys/fs/cgroup/blkio/blkio.throttle'

/** Whether this test may also have a disk of its own that can be slowed down. */
export const mayThrottle = mayMount && existsSync('/dev/loop-control') && existsSync(`${throttle}.write_bps_device`)

export type ThrottledDisk = {
  /** Writes at most so much a second; without limits it is as quick as before. */
  slow: (limits: { bytes: number; writes: number } | null) => void
  remove: () => void
}

/** A disk of its own whose writes can be slowed down, whoever makes them. */
export function mountThrottledDisk(folder: string, megabytes: number): ThrottledDisk {
  const image = `${folder}.img`
  writeFileSync(image, '')
  truncateSync(image, megabytes * 1024 * 1024)
  execFileSync('mkfs.ext4', ['-q', image])
  const device = execFileSync('losetup', ['--find', '--show', image], { encoding: 'utf8' }).trim()
  execFileSync('mount', [device, folder])
  const number = execFileSync('lsblk', ['-no', 'MAJ:MIN', device], { encoding: 'utf8' }).trim()
  const slow: ThrottledDisk['slow'] = (limits) => {
    writeFileSync(`${throttle}.write_bps_device`, `${number} ${limits?.bytes ?? 0}`)
    writeFileSync(`${throttle}.write_iops_device`, `${number} ${limits?.writes ?? 0}`)
  }
  return {
    slow,
    remove: () => {
      slow(null)
      unmount(folder)
      execFileSync('losetup', ['-d', device])
      rmSync(image)
    },
  }
}

/** Whether this test may have a disk that loses its power. */
export const mayCutPower = mayMount && existsSync('/dev/loop-control')

export type CuttableDisk = {
  /** From here on nothing is written any more, and what was written and not synced is lost. */
  cutPower: () => void
  /** Mounts it again, once nobody has a file of it open any more. */
  start: () => void
  remove: () => void
}

/** FS_IOC_SHUTDOWN without the last flush of the journal, by which the tests of ext4 lose its power. */
const shutDown = String.raw`sysopen(F, $ARGV[0], 0) or die $!; $f = pack("I", 2); ioctl(F, 0x8004587d, $f) or die $!`

/**
 * A disk of its own whose power can be cut. Names reach it every second, long before what stands in their files does:
 * a file that nobody synced is there and empty afterwards.
 */
export function mountCuttableDisk(folder: string, megabytes: number): CuttableDisk {
  const image = `${folder}.img`
  writeFileSync(image, '')
  truncateSync(image, megabytes * 1024 * 1024)
  execFileSync('mkfs.ext4', ['-q', image])
  const device = execFileSync('losetup', ['--find', '--show', image], { encoding: 'utf8' }).trim()
  const start = (): void => void execFileSync('mount', ['-o', 'commit=1', device, folder])
  start()
  chmodSync(folder, 0o711)
  return {
    cutPower: () => void execFileSync('perl', ['-e', shutDown, folder]),
    start: () => {
      execFileSync('umount', [folder])
      start()
    },
    remove: () => {
      unmount(folder)
      execFileSync('losetup', ['-d', device])
      rmSync(image)
    },
  }
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
