export { openTrino, type Trino, type TrinoOptions } from './open.ts'
export { sweepTrino } from './sweep.ts'
