import { hash, verify } from '@node-rs/argon2'

export type Passwords = {
  hash(password: string): Promise<string>
  matches(stored: string | null, password: string): Promise<boolean>
}

export type PasswordCost = { memoryCost: number; timeCost: number; parallelism: number }

/** OWASP's argon2id floor of 19 MiB and two passes, doubled in memory. The library's default algorithm is argon2id. */
const usualCost: PasswordCost = { memoryCost: 38_912, timeCost: 2, parallelism: 1 }

export function createPasswords(cost = usualCost): Passwords {
  /** Verified against when there is no such user, so that an unknown e-mail takes as long as a wrong password. */
  let decoy: Promise<string> | undefined
  return {
    hash: (password) => hash(password, cost),
    async matches(stored, password) {
      if (stored === null) {
        decoy ??= hash('nobody has this password', cost)
        await verify(await decoy, password)
        return false
      }
      return verify(stored, password)
    },
  }
}
