export function seedOfCommit(): number
