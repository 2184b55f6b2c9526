/** Milliseconds since the epoch. Comes in as a value so that a test can move it. */
export type Clock = () => number
